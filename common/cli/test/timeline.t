#!/usr/bin/env bash
# The program's command timeline, on a fake runtime, with fake stages and stamped copies of known
# stamps (fake_stamped.c).
# Catches: stamps read in the wrong order or left from an earlier launch, a clock that overflows, a
# block beside the chosen one that is missing, not cut to its life or of another SM, a cost that is
# wrong or not said, a copy that computes something else or writes outside its memory, a block or a
# folder that does not exist.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../../test/fake.sh"

build 01_none 02_element || { echo "Bail out! the programs do not build"; exit 1; }
mv "$work/simulator" "$work/attention-sim"
copy() { # copy STAMPS [BUG]: the folder stamped_STAMPS/01_none
    local folder=$work/stamped_$1/01_none
    mkdir -p "$folder"
    "$cc" "${flags[@]}" -fPIC -shared -DBUG="BUG_${2:-NONE}" -DHEAD_DIM=128 -DELEMENT_BF16=0 \
        -DCAUSAL=0 -Dattention_launch=plain_launch -c test/fake_stage.c -o "$work/stage.o" &&
        "$cc" "${flags[@]}" -fPIC -shared -DSTAMPS="STAMPS_$1" test/fake_stamped.c \
            "$work/stage.o" -o "$folder/d128_fp16_full.so" && rm "$work/stage.o"
}
for kind in GOOD SLOW NONE BEYOND GUARD FEWER MANY; do
    copy $kind || { echo "Bail out! the fake copy does not build"; exit 1; }
done
small=(timeline B=1 H=2 HKV=1 N=40 REPS=3)

# ---- What is written -----------------------------------------------------------------------------
FAKE_TERMINAL=1 run attention "${small[@]}" BLOCK=2 01_none stamped_GOOD/01_none
steps "a timeline" 'timing the stage and its stamped copy'
exits 0 "a block in the middle" '"block":2,"blocks":6,"sm":0,"cycles":1000,' \
    'the stamps cost 0.0 %' '"cost":0.00000'
exits 0 "its marks" \
    '"marks":[["other",1,0,-1],["QK",10,1,-1],["wait",20,0,0],["softmax",30,0,-1],["end",40,0,-1]]'
exits 0 "its own stamps, in order" \
    '{"block":2,"warp":1,"full":false,"stamps":[0,0,10,1,190,2,700,3,100,4]}'
exits 0 "the block before it on the SM, from the last stamp before on" \
    '{"block":0,"warp":0,"full":false,"stamps":[-400,2,700,3,100,4]}'
exits 0 "the block after it, up to the first stamp beyond" \
    '{"block":4,"warp":0,"full":false,"stamps":[600,0,10,1,190,2,700,3]}'
[ "$(grep -c '^{"block":' "$work/out")" -eq 6 ]
result $? "no other blocks: those were on another SM"
python3 -m json.tool "$work/out" >/dev/null
result $? "it is JSON"
run attention "${small[@]}" 01_none stamped_GOOD/01_none
exits 0 "without BLOCK the one before the middle" '"block":2,"blocks":6'
run attention "${small[@]}" BLOCK=5 01_none stamped_GOOD/01_none
exits 0 "the last block" '"block":5,"blocks":6,"sm":1' \
    '{"block":3,"warp":0,"full":false,"stamps":[-400,2,700,3,100,4]}'
! grep -q '"block":1,' "$work/out"
result $? "a block that had ended is not beside it"
run attention-sim "${small[@]}" BLOCK=2 01_none stamped_GOOD/01_none
exits 0 "simulated: no times" '"plain":' 'null' '"cost":null'
[ "$(grep -c '^{"block":' "$work/out")" -eq 2 ]
result $? "and no blocks beside it"

run attention "${small[@]}" BLOCK=2 01_none stamped_FEWER/01_none
exits 0 "the stamps are those of the last launch alone" \
    '{"block":2,"warp":0,"full":false,"stamps":[0,0,10,1,190,2]}'

# ---- What it costs -------------------------------------------------------------------------------
run attention "${small[@]}" 01_none stamped_SLOW/01_none
exits 0 "stamps that double the time" 'the stamps cost 100.0 %, so the picture is distorted'
times='s/^.*: \([0-9.]*\) ms, with stamps \([0-9.]*\) ms.*/\1 \2/p'
read -r plain stamped <<<"$(sed -n "$times" "$work/err")"
awk -v plain="$plain" -v stamped="$stamped" 'BEGIN { exit !(plain > 0 && stamped == 2 * plain) }'
result $? "and both times are named: $plain, $stamped"
run attention "${small[@]}" 01_none stamped_MANY/01_none
exits 0 "a warp with more stamps than there is memory for" \
    'what they did after those is not shown' '"full":true'
grep -q '^6 warps had more than 65535 stamps; ' "$work/err"
result $? "and how many these are"

# ---- What is refused -----------------------------------------------------------------------------
run attention "${small[@]}" BLOCK=6 01_none stamped_GOOD/01_none
exits 64 "a block that does not exist" 'BLOCK=6: allowed are 0 to 5'
run attention "${small[@]}" BLOCK=-1 01_none stamped_GOOD/01_none
exits 64 "a negative block" 'BLOCK=-1: allowed are whole numbers from 0'
run attention "${small[@]}" 01_none
exits 64 "one folder" 'timeline takes two folders'
run attention "${small[@]}" 01_none 01_none
exits 64 "a copy without stamps" '01_none is not a stamped copy of a stage'
# With one of the two names under which the program looks for what a copy has.
for name in timeline_marks timeline_buffers; do
    mkdir -p "$work/half/01_none" && cp "$work/stamped_GOOD/01_none/d128_fp16_full.so" \
        "$work/half/01_none/" && sed -i "s/$name/${name%?}_/g" "$work/half/01_none/"*.so
    run attention "${small[@]}" 01_none half/01_none
    exits 64 "a copy without $name" '01_none is not a stamped copy of a stage'
done
run attention "${small[@]}" 02_element stamped_GOOD/01_none
exits 1 "a stage that is wrong" 'attention: 02_element: 1 of 10240 elements of O are wrong: '
run attention "${small[@]}" 01_none stamped_NONE/01_none
exits 1 "a copy that writes no stamp" 'the stamped copy has written no stamp'
run attention "${small[@]}" 01_none stamped_BEYOND/01_none
exits 1 "a mark that does not exist" 'wrote a stamp with mark 6, but there are only 5 marks'
run attention "${small[@]}" 01_none stamped_GUARD/01_none
exits 1 "a stamp outside the memory" 'a kernel wrote outside the stamps'
copy GOOD ELEMENT
run attention "${small[@]}" 01_none stamped_GOOD/01_none
exits 1 "a copy that computes something else" '01_none, the stamped copy: '
[ ! -s "$work/out" ]
result $? "nothing is written of it"

echo "1..$count"
