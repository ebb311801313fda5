#!/usr/bin/env bash
# What `hardware` of tools/profile/nsight.sh adds up, with an ncu that prints what it is told to.
# Catches: the kernels of a second launch counted with the first, a kernel of the first left out, a
# number with a comma cut short, an ncu that failed taken for one that counted nothing.
set -uo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tools/test/tap.sh
. "$root/tools/test/tap.sh"
shown=(log)

# A stage whose list has three kernels, and an ncu that counts as many of $KERNELS as it is told to.
mkdir -p bin stages/03_three
cat >stages/03_three/kernel.cu <<'END'
const AttentionKernel attention_kernels[] = {{"all", (const void *)all, 128, 0},
                                             {"parts", (const void *)parts, 128, 0},
                                             {"merge", (const void *)merge, 128, 0},
                                             {NULL, NULL, 0, 0}};
END
cat >bin/ncu <<'END'
#!/bin/bash
echo "$*" >calls
[ -n "$KERNELS" ] || { echo "==ERROR== no permission" && exit 1; }
while [ "$1" != --launch-count ]; do shift; done
echo "==PROF== Connected"
echo '"ID","Kernel Name","loads.sum","stores.sum"'
echo '"","","inst","inst"'
printf '%s\n' $KERNELS | head -n "$2" | awk '{
    printf "\"%d\",\"void %s(Map, int)\",\"%s\",\"1,000\"\n", NR - 1, $1, 10 ^ (NR - 1) }'
END
chmod +x bin/ncu
PATH=$work/bin:$PATH
# shellcheck source=tools/profile/nsight.sh
source "$root/tools/profile/nsight.sh"
counts() { # counts KERNELS LOADS STORES: what is counted, of these kernels one after the other
    KERNELS=$1 hardware loads.sum,stores.sum program build/03_three N=64 >log 2>&1 &&
        grep -qx "loads.sum $2" log && grep -qx "stores.sum $3" log
}

ok "all kernels of a launch are added up" counts 'all parts merge all' 111 3000
ok "one of them is the launch, if it comes again" counts 'all all all all' 1 1000
ok "or two of them" counts 'parts merge parts merge' 11 2000
ok "a program that launches no more" counts 'all' 1 1000
ok "the first launch alone is run, with the problem asked for" \
    grep -q -- '--launch-count 3 .* program run N=64 REPS=1 DEVICE=gpu build/03_three$' calls
KERNELS='' hardware loads.sum program build/03_three >log 2>&1
ok "what ncu cannot count: exit 2" [ $? -eq 2 ]
ok "with its own words" grep -qx '==ERROR== no permission' log
echo "1..$count"
