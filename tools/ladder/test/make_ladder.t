#!/usr/bin/env bash
# `make ladder` on the first stages, beside what wc, diff and the SASS lab's own table say of them.
# Catches: a difference to the wrong stage, a variant or a kernel that is not the one asked for.
set -uo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "$0")/../../sass/test/lab.sh"
# make takes its variables from the environment as well.
unset MAKEFLAGS MAKELEVEL MFLAGS D DTYPE CAUSAL DEVICE ARCH KERNEL FORMAT
mapfile -t stages < <(basename -a stages/[0-9][0-9]_* | head -n 3)
one=${stages[0]} two=${stages[1]} three=${stages[2]}
ladder() { # ladder STAGE... [KEY=VALUE]...: of the stages with these names
    local words=("$@") i
    for i in "${!words[@]}"; do
        [[ ${words[i]} != [0-9][0-9]_* ]] || words[i]=stage${words[i]%%_*}
    done
    make ARCH=sm_80 "${words[@]}" ladder >"$log" 2>"$log.err"
    code=$?
    cat "$log.err" >>"$log"
}

# What the lab's own table says, first of the main loop and then of all: all[VARIANT loop STAGE]
declare -A all
for variant in d128_fp16_full d64_bf16_causal; do
    files=("build/sm_80/"{"$one","$two","$three"}"/$variant.so")
    make -s ARCH=sm_80 "${files[@]}" >"$log" 2>&1
    "$sass" ladder "${files[@]}" >>"$log" 2>&1
    ok "the lab counts $variant" [ $? -eq 0 ]
    for where in loop total; do
        read -r _ a b c
        all[$variant $where $one]=${a/#./0}
        all[$variant $where $two]=${b/#./0}
        all[$variant $where $three]=${c/#./0}
    done < <(grep '^all ' "$log")
done

# has VARIANT STAGE BEFORE KERNEL: is there the row, without what the budget allows?
has() {
    local want where now old
    want="$2 sm_80 $(wc -l <"$4") $(diff "stages/$3/kernel.cu" "$4" | grep -c '^[<>]')"
    for where in total loop; do
        now=${all[$1 $where $2]} old=${all[$1 $where $3]}
        want+=" $now $([ "$now" -eq "$old" ] && echo . || printf '%+d' $((now - old)))"
    done
    echo "wanted: $want" >>"$log"
    sed -E 's, +, ,g; s,/[0-9]+,,g; s, <-- .*,,' "$log" | grep -qxF -- "$want"
}

ladder "$two" "$three"
ok "make ladder succeeds" [ $code -eq 0 ]
ok "with the stages that are named" [ "$(grep -c ' sm_80 ' "$log")" -eq 2 ]
for pair in "$two $one" "$three $two"; do
    read -r stage before <<<"$pair"
    ok "$stage: lines, instructions and changes" \
        has d128_fp16_full "$stage" "$before" "stages/$stage/kernel.cu"
done
ladder "$three"
ok "one stage alone is compared with the one before it too" \
    has d128_fp16_full "$three" "$two" "stages/$three/kernel.cu"
ladder "$three" D=64 DTYPE=bf16 CAUSAL=1
ok "D, DTYPE and CAUSAL choose the variant" \
    has d64_bf16_causal "$three" "$two" "stages/$three/kernel.cu"
ok "which is named" says "d64_bf16_causal, ptxas "
ladder "$one" FORMAT=json
total=${all[d128_fp16_full total $one]} loop=${all[d128_fp16_full loop $one]}
ok "the first stage, as JSON" says "\"changed\":null,\"most_changed\":null,\"instructions\":$total,\
\"loop\":$loop,\"instructions_change\":null,\"loop_change\":null}"
{ cat "stages/$two/kernel.cu" && echo "// one line more"; } >"$scratch/mine.cu"
ladder "$two" KERNEL="$scratch/mine.cu"
ok "KERNEL is counted in place of the stage" \
    has d128_fp16_full "$two" "$one" "$scratch/mine.cu"
ladder FORMAT=xml "$one"
ok "an unknown format ends with 2" [ $code -eq 2 ]
ok "and is named" says "FORMAT must be one of: text markdown json; not 'xml'"
make ARCH=sm_80 "stage${one%%_*}" ladder 2>"$log" | true
ok "a reader that leaves early is no error" [ ! -s "$log" ]
echo "1..$count"
