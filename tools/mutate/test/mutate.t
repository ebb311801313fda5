#!/usr/bin/env bash
# Mutation testing of the mutation tester. Catches: an operator that misses its case or changes what
# is no code, two mutants that are one, a sample that moves, a check that lets a mistake pass or
# kills a mutant that does the same, an explanation of what is no mutant any more.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
copy=$(mktemp -d)
log=$copy/log
trap 'rm -rf "$copy"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")
unset MAKEFLAGS MAKELEVEL MFLAGS D DTYPE CAUSAL DEVICE ARCH STAGE_DIRS MUTANTS SEED JOBS KEY

# ---- Tokens and operators ------------------------------------------------------------------------
kernel=tools/mutate/test/kernel.cu
build/mutate $kernel >"$log"
ok "the mutants of a kernel are listed" [ $? -eq 0 ]
line() { awk -F'\t' -v n="$1" '$2 == n { print $3 ": " $5 }' "$log"; }
has() { ok "line $1: $2" grep -qFx -- "$2" <(line "$1"); }
only() { ok "line $1: $2 mutants" [ "$(line "$1" | wc -l)" -eq "$2" ]; }

for n in 1 2 3 6 15 35; do only $n 0; done
has 5 'constant: constexpr int TILE = 63;'
only 5 2
has 10 'remove sync: ;'
has 14 'constant: float sum = 1, other = 0.5f;'
has 14 'constant: float sum = 0, other = (2 * 0.5f);'
only 14 2
has 16 'remove sync: ; cudaGridDependencySynchronize();'
has 16 'remove sync: wait_twice(b); ;'
has 17 'remove call: ;'
has 17 'swap arguments: copy<N>(other, sum);'
has 18 'always: if (true) return;'
has 18 'never: if (false) return;'
has 18 'off by one: if (rows >= 3 && N < 4) return;'
has 18 'off by one: if (rows > 3 && N <= 4) return;'
has 18 'negate: if (rows <= 3 && N < 4) return;'
has 18 'and or: if (rows > 3 || N < 4) return;'
has 18 'drop term: if (rows > 3) return;'
has 18 'drop term: if ( N < 4) return;'
has 18 'constant: if (rows > 2 && N < 4) return;'
has 18 'remove jump: if (rows > 3 && N < 4) ;'
has 19 'remove assignment: ;'
has 19 'sign: sum -= from[rows - 1] * other;'
has 19 'sign: sum += from[rows + 1] * other;'
has 19 'drop term: sum += from[rows] * other;'
has 19 'drop term: sum += from[rows - 1];'
has 20 'flip parity: sum = (1 + rows) % 2 ? min(sum, other) : other;'
has 20 'min max: sum = rows % 2 ? max(sum, other) : other;'
has 20 'swap branches: sum = rows % 2 ? other : min(sum, other);'
has 21 'twin: V_at = base + (row ^ (col & 7) * 8) / 2;'
has 21 'twin: K_at = base + (col ^ (col & 7) * 8) / 2;'
has 21 'drop term: K_at = base + (row) / 2;'
has 21 'drop term: K_at = base;'
has 21 'drop term: K_at = base + (row ^ (col) * 8) / 2;'
has 22 'flip parity: V_at = (1 + step / 2) % 2;'
only 24 0
only 26 0
has 29 'remove call: ;'
has 29 'swap arguments: long_call(second, first'

total=$(wc -l <"$log")
lines=$(wc -l <$kernel)
for n in $(seq "$total"); do build/mutate $kernel "$n" >"$copy/$n.cu"; done
ok "each of $total has a text of its own" [ "$(cat <(sha256sum <$kernel) \
    <(for n in $(seq "$total"); do sha256sum <"$copy/$n.cu"; done) | sort -u | wc -l)" -eq \
    $((total + 1)) ]
# Two lines may become one where that is the edit, arguments of two lines that change places.
ok "the lines behind an edit keep their numbers" [ "$(wc -l "$copy"/*.cu |
    awk '$2 != "total" { print $1 }' | sort -u)" = "$lines" ]
build/mutate $kernel SAMPLE=12 >"$copy/a"
sed 's/float sum = 0, other = 0.5f/float other = 2.0f, sum = 3/' $kernel >"$copy/changed.cu"
build/mutate "$copy/changed.cu" SAMPLE=12 >"$copy/b"
same=$(cat "$copy/a" "$copy/b" | cut -f3-5 | sort | uniq -d | wc -l)
ok "a sample has the size that was asked for" [ "$(wc -l <"$copy/a")" -eq 12 ]
ok "with every synchronisation" [ "$(grep -c 'remove sync' "$copy/a")" -eq 3 ]
ok "an edit elsewhere leaves it nearly as it was ($same of 12)" [ "$same" -ge 9 ]
build/mutate $kernel SAMPLE=12 SEED=2 >"$copy/b"
ok "another seed gives another one" [ "$(cmp -s "$copy/a" "$copy/b"; echo $?)" -eq 1 ]
for bad in "" "$kernel 0" "$kernel $((total + 1))" "$kernel SAMPLE=x" "$kernel x"; do
    # shellcheck disable=SC2086 # a list
    build/mutate $bad >"$log" 2>&1
    ok "mutate '$bad' is a bad use" [ $? -eq 64 ]
done
echo 'int f() { return (1; }' >"$copy/open.cu"
build/mutate "$copy/open.cu" >"$log" 2>&1
ok "a bracket that is not closed is told" grep -q 'open.cu:2: a bracket is not closed' "$log"

# ---- equivalent.md explains only what is there --------------------------------------------------
for stage in stages/[0-9][0-9]_*; do
    build/mutate "$stage/kernel.cu" | sed "s,^,${stage##*/}\t,"
done >"$copy/all"
awk -f tools/mutate/equivalent.awk -f tools/mutate/test/stale.awk \
    tools/mutate/equivalent.md "$copy/all" >"$log"
ok "every explanation belongs to a mutant that there is" [ $? -eq 0 ]

# ---- Checks --------------------------------------------------------------------------------------
# A copy of the tree, so that nothing comes from an earlier run; one variant, so that it is short.
stages=(07_swizzle 14_warp_specialized)
cp -rp Makefile common tools "$copy"
mkdir -p "$copy/build" "$copy/stages" "$copy/notes/results"
cp -rp build/toolchain.mk build/flags build/host build/attention build/attention-sim build/mutate \
    build/sass build/disassembler.mk "$copy/build" 2>/dev/null ||
    { skip "there is no disassembler" && echo "1..$count" && exit; }
cp -rp "${stages[@]/#/stages/}" "$copy/stages"
cd "$copy" || exit 1

# Instead of a sample the mutants of this list: stage, before, after, what has to be found.
cat >chosen <<'END'
07_swizzle|__syncthreads(); // RAW|; // RAW|never written
07_swizzle|key * TX < visible|key * TX <= visible|wrong result
07_swizzle|D + (col ^ (row & 7) * 8)|D + (col)|counters
07_swizzle|inverse = l_i[r] == 0|inverse = m_i[r] == 0|wrong result\trun, infinite
07_swizzle|CUDART_INF_F ? 0 : m_new|CUDART_INF_F ? 1 : m_new|survived
14_warp_specialized|mbarrier_arrive_expect_tx(&ring.full|;|deadlock
14_warp_specialized|1 - n / N % 2|1 - (1 + n / N) % 2|deadlock
14_warp_specialized|fence_mbarrier_init();|;|race
END
make build/mutate >"$log" 2>&1 # so that make does not take the list for out of date
mv build/mutate build/mutate.whole
cat >build/mutate <<'END'
#!/bin/bash
case "$*" in *SEED=*) ;; *) exec "$0.whole" "$@" ;; esac
stage=$(basename "$(dirname "$1")")
"$0.whole" "$1" | awk -F'\t' -v stage="$stage" '
    FILENAME == "chosen" { split($0, part, "|"); if (part[1] == stage) { n++
        before[n] = part[2]; after[n] = part[3] }; next }
    { for (i = 1; i <= n; i++) if (index($4, before[i]) && index($5, after[i])) {
        print; delete before[i]; before[i] = "\t"; next } }' chosen -
END
chmod +x build/mutate
run() { make VARIANTS=d64_fp16_causal mutate "$@" >"$log" 2>&1; code=$?; }
# A compiler that fails without a word on the source: nothing is said of a mutant, and nothing kept.
printf '#!/bin/sh\necho "cc1plus: fatal error: no room" >&2\nexit 1\n' >full && chmod +x full
for number in 0 1; do
    NVCC=./full NVCC_FLAGS='' VARIANTS=d64_fp16_causal CHECK=true KEY=1 tools/mutate/check.sh \
        build/attention build/sm_80/07_swizzle $number host >"$log" 2>&1
    ok "mutant $number, no room for the compiler: no verdict" [ $? -eq 2 ]
    ok "and why" grep -qF \
        "the compiler itself failed (not because of the mutant): cc1plus: fatal" "$log"
    ok "and none is kept" [ -z "$(find build/mutants -type f)" ]
done
echo 'None yet.' >tools/mutate/equivalent.md
run JOBS=2
ok "a survivor that nobody explains makes it fail" [ $code -eq 2 ]
ok "it says how many stages it begins with" \
    grep -qE '^mutate: the stages as they are \([0-9]+\), then mutants of each, 2 at a time$' "$log"
while IFS='|' read -r stage before after verdict; do
    number=$(build/mutate "stages/$stage/kernel.cu" SEED=1 | awk -F'\t' -v before="$before" \
        -v after="$after" 'index($4, before) && index($5, after) { print $1; exit }')
    ok "$stage: $before -> $after: $verdict" \
        grep -qP "^$stage\t$number\t$verdict(\t|\$)" build/mutants/verdicts
done <chosen
ok "the report counts them" grep -q '^| all | 8 | 7 | 2 | 1 | 1 | 0 | 2 |' notes/results/mutants.md
line=$(grep -n 'const float m_safe' stages/07_swizzle/kernel.cu | cut -d: -f1)
ok "and lists the survivor with its line" grep -q "^| 07_swizzle:$line | constant | " \
    build/mutants/report.md

cat >tools/mutate/equivalent.md <<'END'
## No key yet

kind: equivalent; stages: 07_swizzle

exp(-inf - 1) is 0
as well.

    - const float m_safe = m_new == -CUDART_INF_F ? 0 : m_new; // no key yet: exp(-inf) = 0
    + const float m_safe = m_new == -CUDART_INF_F ? 1 : m_new; // no key yet: exp(-inf) = 0
END
run JOBS=1
ok "an explained one does not" [ $code -eq 0 ]
ok "its reason is in the report" \
    grep -q '^\*\*No key yet\*\* (equivalent). exp(-inf - 1) is 0 as well.$' "$log"
cp build/mutants/verdicts before
flock build/mutants/lock make VARIANTS=d64_fp16_causal mutate >"$log" 2>&1
ok "a second one at the same time is refused" [ $? -eq 2 ]
ok "says so" grep -q '^another make mutate runs in this folder: wait for its end$' "$log"
ok "and changes nothing" cmp -s before build/mutants/verdicts
run MUTANTS=some
ok "a bad value is named" grep -q "MUTANTS must be a number from 1, or all; not 'some'" "$log"
sed -i 's/S_ij\[r\]\[key\] += q/S_ij[r][key] += 2 * q/' stages/07_swizzle/kernel.cu
run stage07 JOBS=2
ok "a stage that is wrong itself is no yardstick" grep -q 'stage 07 itself does not pass: wrong' \
    "$log"
echo "1..$count"
