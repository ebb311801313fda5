#!/usr/bin/env bash
# `make limits` on real stages. Catches: a GPU, a stage or a variable that is taken though it makes
# no sense; a machine's file that is wrong and is believed; counts of small problems that do not
# grow as the simulator's own; a record that is not of this PTX; a bound that was beaten and is not
# told, or that is beaten because counts are of tiles of two sizes; a replay that is far from what
# was measured, or that is offered for what it does not model.
set -uo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "$0")/../../sass/test/lab.sh"
# make takes its variables from the environment as well.
unset MAKEFLAGS MAKELEVEL MFLAGS D DTYPE CAUSAL DEVICE ARCH FORMAT KERNEL GPU B H N
machines=tools/limits/machines
stage=09_ldmatrix
library=build/sm_80/$stage/d128_fp16_causal.so

refused() { # refused TEXT ARGUMENT...
    local text=$1
    shift
    make "$@" >"$log" 2>&1
    ok "make $*: ends with 2" [ $? -eq 2 ]
    ok "and says: $text" says "$text"
}
refused "GPU of limits must be one of: a100 " limits GPU=0
refused "GPU of limits must be one of: a100 " stage01 limits GPU=../h200
refused "limits does not take B" limits B=2
refused "limits does not take ARCH" stage01 limits ARCH=sm_80
refused "limits does not take NKV" stage01 limits NKV=1000
refused "t4 is sm_75 and cannot run 06_cp_async of sm_80" stage06 limits GPU=t4
refused "rtx4090 is sm_89 and cannot run 12_wgmma of sm_90a" stage12 limits GPU=rtx4090
refused "t4 is sm_75 and cannot run 06_cp_async of sm_80, 12_wgmma of sm_90a.  Stop." \
    stage06 stage12 limits GPU=t4
make -n limits GPU=t4 2>/dev/null | grep 'build/sass errors' >"$log"
ok "the ladder of a T4 ends with stage 05" grep -qE '/05_[a-z_]*/d128_fp16_causal.so \|\|' "$log"

for kernel in "" "KERNEL=stages/$stage/kernel.cu"; do
    make -n stage09 limits $kernel 2>/dev/null | grep 'build/sass limits' >"$log"
    ok "recorded times are of the stage's own file: ${kernel:-without KERNEL}" \
        [ "$(grep -c RESULTS=notes/results "$log")" -eq "$([ -n "$kernel" ]; echo $?)" ]
done

make stage09 limits GPU=a100 CAUSAL=1 >"$log" 2>&1
ok "make stage09 limits succeeds" [ $? -eq 0 ]
ok "it says which unit binds" grep -qE '^bound: .* ms, .* TFLOP/s: [a-z]' "$log"
ok "and that nothing is recorded" says "no time of this problem is recorded for NVIDIA A100"

# Its plan makes tiles as large as the problem; counts of tiles of two sizes foretold 113 %.
make stage16 limits GPU=h200 D=64 CAUSAL=1 B=1 H=32 N=16384 FORMAT=json >"$log" 2>&1
ok "stage 16: the bound of its longest recorded problem is below its time" \
    grep -qE '"explained":0\.[6-9]' "$log"

# What the replay says of stages 07 and 08 is near what was measured; of stage 12 it says nothing.
near='"replayed":(0\.8[5-9]|0\.9|1\.0|1\.1[0-4])'
make stage07 limits GPU=h200 FORMAT=json >"$log" 2>&1
ok "stage 07: its replay is within 15 % of its time" grep -qE "$near" "$log"
make stage08 limits GPU=h100 D=64 CAUSAL=1 B=4 H=32 N=4096 FORMAT=json >"$log" 2>&1
ok "stage 08, whose causal blocks are of many lengths, on another card" grep -qE "$near" "$log"
make stage07 limits GPU=h200 >"$log" 2>&1
ok "it is printed beside the bound" grep -qE '^replay: .* % of the measured time' "$log"
ok "with what its warps wait for" grep -qE "^another warp's turn +[0-9.]+ %" "$log"
# Two commands may count the same stage at once: what one has counted so far stays.
twice() {
    local library status=0
    library=$(ls build/sm_90/07_swizzle/d128_fp16_full.so) || return
    tools/limits/count.sh build/attention "$scratch/twice" "$library" &
    tools/limits/count.sh build/attention "$scratch/twice" "$library" || status=1
    wait $! || status=1
    [ $status -eq 0 ] && [ "$(ls "$scratch/twice/sm_90/07_swizzle")" = d128_fp16_full ] &&
        [ "$(find "$scratch/twice" -type f | wc -l)" -eq 11 ]
}
ok "two that count at once both end with all of it" twice
make stage12 limits GPU=h200 >"$log" 2>&1
ok "stage 12 has none, and the reason" says "replay:   none, not modelled: "

# ---- Machines ------------------------------------------------------------------------------------
limits() { "$sass" limits "$@" "$library" >"$log" 2>&1; }
for file in "$machines"/*.txt; do
    name=$(basename "$file" .txt)
    limits GPU="$name"
    code=$?
    ! says "its code is for compute capability 8.0, and " || code=$((code - 2))
    ok "$name: its file is read, and code for sm_80 runs there or is refused" [ $code -eq 0 ]
done
mkdir "$scratch/machines"
planted() { # planted TEXT SED: the file of the A100 with a mistake
    sed "$2" "$machines/a100.txt" >"$scratch/machines/a100.txt"
    limits GPU=a100 MACHINES="$scratch/machines"
    ok "a machine's file after $2: exit 1" [ $? -eq 1 ]
    ok "and says: $1" says "$1"
}
planted "a100.txt: 'mufu' is missing" /^mufu/d
planted "sms must be a number from 1 to 1000; not '-3'" 's/^sms 108/sms -3/'
planted "'alu' has no source" 's/^alu.*/alu 64/'
planted "there is no key 'tensor'" 's/^mma /tensor /'
limits GPU=b100
ok "a machine that has no file: exit 64" [ $? -eq 64 ]
ok "and says which have one" says "GPU must be one of: a100 "
sed 's/^sms 108/sms 54/' "$machines/a100.txt" >"$scratch/machines/a100.txt"
number() { grep -o "\"$1\":[0-9.e+]*" "$log" | cut -d: -f2; } # number KEY: of the JSON
limits GPU=a100 FORMAT=json
whole=$(number bound_ms) tensor=$(number tensor)
limits GPU=a100 FORMAT=json MACHINES="$scratch/machines"
ok "half the SMs have twice the work" \
    awk -v a="$tensor" -v b="$(number tensor)" 'BEGIN { exit !(b > 1.999 * a && b < 2.001 * a) }'

# ---- What is counted -----------------------------------------------------------------------------
(trap '' XFSZ && ulimit -f 4 &&
    tools/limits/count.sh build/attention "$scratch/full" "$library") >"$log" 2>&1
ok "counts that are not written whole: exit 1" [ $? -eq 1 ]
ok "and that is said" says "$scratch/full cannot be written: is the disk full?"
ok "nothing of them stays" [ -z "$(find "$scratch/full" -type f)" ]
# The same from two heads of 1536 rows, which the bound at 1536 must agree with.
counted=build/limits/${library#build/}
counted=${counted%.so}
direct=$scratch/counted/${library#build/}
direct=${direct%.so}
mkdir -p "$direct"
cp "$counted"/* "$direct"
read -r least _ <"$counted/lengths"
SIM_RECORD=$direct/1536.json SIM_BLOCK=none build/attention-sim run DEVICE=sim B=1 H=2 HKV=2 \
    N=1536 CAUSAL=1 COUNTERS=full FORMAT=json "$(dirname "$library")" 2>"$direct/1536.txt" >"$log"
ok "1536 rows are counted" [ -s "$direct/1536.json" ]
echo "$least $((2 * least)) 1536" >"$direct/lengths"
cycles() { grep -o '"cycles":{[^}]*}' "$log"; }
limits GPU=a100 FORMAT=json B=1 H=2 N=1536
foretold=$(cycles)
limits GPU=a100 FORMAT=json B=1 H=2 N=1536 COUNTED="$scratch/counted"
direct_cycles=$(cycles)
printf '%s\n' "$foretold" "$direct_cycles" >"$log"
cat >"$scratch/agree.awk" <<'EOF'
    { gsub(/[^0-9.e+:,-]/, ""); n = split($0, part, ","); units = n }
    { for (i = 1; i <= n; i++) { sub(/.*:/, "", part[i]); value[NR, i] = part[i] } }
    END {
        for (i = 1; i <= units; i++) {
            off = value[1, i] - value[2, i]
            if (off * off > (0.002 * value[2, i]) ^ 2) bad = 1
        }
        exit bad || NR != 2 || units < 9
    }
EOF
ok "counts of three small problems foretell those of 1536 rows" \
    awk -f "$scratch/agree.awk" "$log"
sed -i '0,/\["ldmatrix/s//["ldmatriy/' "$direct/$least.json"
limits GPU=a100 COUNTED="$scratch/counted"
ok "a record of another PTX: exit 2" [ $? -eq 2 ]
ok "and says so" says "the PTX of kernel flash_fwd is not what the simulator counted"
rm "$direct/lengths"
limits GPU=a100 COUNTED="$scratch/counted"
ok "counts that are not there are named" says "lengths cannot be read"

# ---- Beside what was recorded --------------------------------------------------------------------
mkdir "$scratch/results"
cell() { # cell MS: a recorded time of 4 x 16 x 4096
    echo '{"stage":9,"name":"'$stage'","device":"NVIDIA A100-SXM4-80GB","dtype":"fp16",' \
        '"causal":true,"batch":4,"heads":16,"kv_heads":16,"seq_q":4096,"seq_kv":4096,"d":128,' \
        '"init":"normal","status":"pass","ms_median":'"$1"'}' >"$scratch/results/card.jsonl"
}
errors() { "$sass" errors GPU=a100 RESULTS="$scratch/results" "$@" "$library" >"$log" 2>&1; }
cell "$(awk -v ms="$whole" 'BEGIN { print 2 * ms }')"
errors
ok "a time that is twice the bound: exit 0" [ $? -eq 0 ]
ok "half of it is explained" grep -qE "^$stage d128 causal +50\.0 +[a-z]" "$log"
limits GPU=a100 RESULTS="$scratch/results"
ok "the stage alone says it, too" says "the bound explains 50.0 % of it"
ok "and that overlap decides" says "Overlap decides"
cell "$(awk -v ms="$whole" 'BEGIN { print 0.9 * ms }')"
errors
ok "a bound that is beaten: exit 1" [ $? -eq 1 ]
ok "with the cell" says "$stage, d 128, causal, seq 4096 explained 111.1 %"
errors FORMAT=json
grep '^{' "$log" >"$scratch/results/bounds.jsonl"
tools/plot/plot.sh "$scratch/results/bounds.jsonl" >"$log" 2>&1
ok "the plot and the table of it are drawn" [ -s "$scratch/results/bounds.md" ]
cp "$scratch/results/bounds.md" "$log"
ok "with the cell" says "| $stage | d128 causal | 111.1 | "
echo '{}' >"$scratch/results/card.jsonl"
errors
ok "nothing that is recorded: exit 0" [ $? -eq 0 ]
ok "and the bound alone" grep -qE "^$stage d128 causal +[0-9.]+ +[0-9.]+ +[a-z]" "$log"
errors FORMAT=json
ok "with nothing where the time would be" says '"measured_ms":null'
printf '{"bound_ms":%s}\n' 2.166 1.86 | awk -v mine=a -v other=b -f tools/plot/field.awk \
    -f tools/limits/beside.awk >"$log"
ok "one bound beside another has three digits" says ": 2.17 ms at least, 1.16 x the bound of b"
printf '{"bound_ms":%s}\n' 0.664 612 | awk -v mine=a -v other=b -f tools/plot/field.awk \
    -f tools/limits/beside.awk >"$log"
ok "and one that is far below it still two" says ": 0.664 ms at least, 0.0011 x the bound of b"
limits FORMAT=markdown
ok "a format that it has not: exit 64" [ $? -eq 64 ]
echo "1..$count"
