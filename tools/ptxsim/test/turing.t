#!/usr/bin/env bash
# The stages that a T4 can run, from PTX for compute capability 7.5, in the simulator. Catches: an
# instruction that the compiler uses for that alone and that the simulator does not know or gets
# wrong, such as the conversions of bf16, which this generation does in integers.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
count=0
read -ra files <<<"${SIGNED:-$(echo build/sm_75/*/*.so)}"
for file in "${files[@]}"; do
    [[ $file == */sm_75/* ]] || continue
    count=$((count + 1))
    variant=$(basename "$file" .so)
    IFS=_ read -r d type mask <<<"$variant"
    causal=0
    [ "$mask" = causal ] && causal=1
    if build/attention-sim run D="${d#d}" DTYPE="$type" CAUSAL=$causal H=2 HKV=1 N=130 NKV=200 \
        "$(dirname "$file")" >"$log" 2>&1 && grep -q 'PASS$' "$log"; then
        echo "ok $count - $file"
    else
        echo "not ok $count - $file"
        sed 's/^/# /' "$log"
    fi
done
# A stage needs one line of its header to be among them.
stages=$(grep -lw 'needs sm_75' stages/*/kernel.cu | wc -l)
count=$((count + 1))
if [ "$stages" -ge 5 ] && [ $count -gt "$stages" ]; then
    echo "ok $count - all $stages stages that need no more than sm_75"
else
    echo "not ok $count - $stages stages need no more than sm_75, and $((count - 1)) files were run"
fi
echo "1..$count"
