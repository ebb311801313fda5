#!/usr/bin/env bash
# The exercises as a learner meets them: `make stageNN start`, `run KERNEL=...`, `grade`.
# Catches: a learner's file overwritten, a kernel that is wrong in some way and gets a crash, a
# silence or praise for an answer, a right one that is refused, another kernel run than is named, a
# kernel from an older ladder that is taken for a stage of today, a grade of one variant of eight, a
# copy of another stage that looks like the learner's work, a line named as at fault that costs the
# reference as much.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
copy=$(mktemp -d)
log=$copy/log
trap 'rm -rf "$copy"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")
unset MAKEFLAGS MAKELEVEL MFLAGS D DTYPE CAUSAL DEVICE ARCH STAGE_DIRS

# A copy of the tree with two small stages, and of what is built of it.
cp -rp Makefile common tools reference "$copy"
mkdir -p "$copy/build" "$copy/stages/01_small" "$copy/stages/02_next"
cp -rp build/toolchain.mk build/flags build/host build/attention build/attention-sim \
    "$copy/build" || exit 1
cp -p build/sass build/disassembler.mk build/simulator.mk "$copy/build" 2>/dev/null
cp tools/test/small_kernel.cu "$copy/stages/01_small/kernel.cu"
cd "$copy" || exit 1
sed '1s,.*,// Stage 02: next,; s/a kernel that compiles quickly, for tests: /the second idea: /
    s/int lanes = 16;/int lanes = 8 * 2;/' stages/01_small/kernel.cu >stages/02_next/kernel.cu
echo 'SHFL > 0' >stages/02_next/expect.sass
mine=work/02_next/kernel.cu
run() {
    make ARCH=sm_80 VARIANTS=d128_fp16_full "$@" >"$log" 2>"$log.err"
    code=$?
    cat "$log.err" >>"$log"
}
change() { # change SED: the learner starts afresh and then edits
    rm -f "$mine"
    make stage02 start >/dev/null && sed -i "$1" "$mine"
}

# ---- start ---------------------------------------------------------------------------------------
run stage02 grade
ok "grade before start ends with 2" [ $code -eq 2 ]
ok "and says what to type" says "$mine is not there: make stage02 start makes one"
run stage02 grade KERNEL=none.cu
ok "as of another file, in one sentence" [ "$(grep -cv '^make: ' "$log.err")" -eq 1 ]
ok "which names the file that start makes" \
    says "none.cu is not there: make stage02 start makes $mine to begin with."
run stage01 start
ok "the first stage has nothing to start from" says "there is none to start from"
tools/exercise/exercise.sh grade 01_small work/01_small/kernel.cu build/attention >"$log" 2>&1
ok "which its grade says, too" says "there is none to start from"
run start
ok "start without a stage" says "start needs one stage"
(trap '' XFSZ && ulimit -f 1 && make ARCH=sm_80 VARIANTS=d128_fp16_full stage02 start) >"$log" 2>&1
ok "start without room for the file fails" [ $? -ne 0 ]
ok "says so" says "work/02_next cannot be written: is the disk full?"
ok "and leaves none" [ -z "$(find work -type f)" ]
run stage02 start
ok "start succeeds" [ $code -eq 0 ]
ok "the file has the stage before in it" cmp -s <(sed '1,/^[^/]/{/^\/\//d}' $mine) \
    <(sed '1,/^[^/]/{/^\/\//d}' stages/01_small/kernel.cu)
ok "and the task, all lines of it" grep -qF "// Task:     the second idea: a warp a row," $mine
ok "to its end" grep -qx "//           and keys straight from global memory." $mine
echo "// a learner's work" >>$mine
cp $mine kept
run stage02 start
ok "start again ends with 2" [ $code -eq 2 ]
ok "says why" says "$mine is there already"
ok "and leaves the file" cmp -s kept $mine
ok "and nothing beside it" [ "$(find work -type f | wc -l)" -eq 1 ]

# ---- Folders of an older ladder ------------------------------------------------------------------
# Stage 02 was `small` then, 01 today, and 03 was `gone`.
mv work kept_work
mkdir -p work/02_small work/03_gone
for old in 02_small 03_gone; do echo "// $old, years ago" >work/$old/kernel.cu; done
untouched() {
    local old
    [ "$(find work -type f | wc -l)" -eq "$1" ] || return 1
    for old in work/*; do grep -qx "// ${old#work/}, years ago" "$old/kernel.cu" || return 1; done
}
refused() { # refused FOLDER TEXT ARGUMENT...: make refuses it, in one sentence
    local folder=$1 text=$2
    shift 2
    run "$@"
    ok "make $*: ends with 2" [ $code -eq 2 ]
    ok "and says that work/$folder is old" \
        says "work/$folder is from an older ladder and stays as it is"
    ok "and: $text" says "$text"
    ok "in one sentence, and all else that is said is make's" \
        [ "$(grep -cv '^make: \*\*\* ' "$log")" -eq 1 ]
}
for goal in start grade; do
    refused 02_small "stage 02 is next today, and small is stage 01;" stage02 $goal
done
refused 02_small "rename the folder, for example to work/old_02_small: then make stage01 grade" \
    stage02 run KERNEL=work/02_next/kernel.cu
for goal in run grade annotate; do
    refused 02_small "make stage01 grade KERNEL=work/old_02_small/kernel.cu grades it" \
        stage01 $goal KERNEL=work/02_small/kernel.cu
done
refused 02_small "small is stage 01" stage02 count \
    KERNEL="$PWD/stages/..//work/./02_small/kernel.cu"
refused 03_gone "there is no stage 03 today, and no stage is called gone; to go on, rename" \
    stage01 run KERNEL=work/03_gone/kernel.cu
refused 03_gone "then KERNEL=work/old_03_gone/kernel.cu is taken as the stage that you name" \
    stage01 tune KERNEL=work/03_gone/kernel.cu
for words in "start 02_next" "grade 02_next work/02_next/kernel.cu build/attention" \
    "grade 01_small work/02_small/kernel.cu build/attention" \
    "check 01_small work/02_small/kernel.cu"; do
    # shellcheck disable=SC2086 # words
    tools/exercise/exercise.sh $words >"$log" 2>&1
    ok "exercise.sh $words: exit 64" [ $? -eq 64 ]
done
ok "what was there is there, and nothing else" untouched 2

# After the advice: the old kernel where it is said to go, the new one where the old one was.
cp stages/01_small/kernel.cu work/02_small/
mv work/02_small work/old_02_small
run stage01 run KERNEL=work/old_02_small/kernel.cu DEVICE=sim N=40
ok "a folder that was renamed can be named" [ $code -eq 0 ]
run stage02 start
ok "and start makes the new one" cmp -s kept_work/02_next/kernel.cu \
    <(cat work/02_next/kernel.cu && echo "// a learner's work")
mkdir work/02_lost
run stage02 run KERNEL=$mine DEVICE=sim N=40
ok "a stage's own folder is taken, with an old one beside it" [ $code -eq 0 ]
rm $mine
run stage02 run KERNEL=work/02_none/kernel.cu
ok "a folder that is not there is not called old" \
    says "KERNEL=work/02_none/kernel.cu: there is no such file"
cp stages/01_small/kernel.cu work/02_file.cu
run stage02 run KERNEL=work/02_file.cu DEVICE=sim N=40
ok "nor is a file in work/" [ $code -eq 0 ]
rm -r work
mv kept_work work

# ---- run KERNEL=... ------------------------------------------------------------------------------
run stage02 run KERNEL=$mine DEVICE=sim N=40
ok "the learner's kernel runs" [ $code -eq 0 ]
ok "and it is the one that was compiled" [ -e build/sm_80/work/02_next/d128_fp16_full.so ]
for command in grade "sanitize DEVICE=sim N=8 NKV=8 D=128 DTYPE=fp16 CAUSAL=0 KERNEL=$mine"; do
    read -ra words <<<"$command"
    for where in /dev/full '&-'; do
        eval "make ARCH=sm_80 VARIANTS=d128_fp16_full stage02 ${words[*]} >$where" 2>"$log"
        ok "${words[0]} that cannot write what it found ends with 2" [ $? -eq 2 ]
        ok "and cat says why" says "cat: "
    done
done
sed 's/p.scale/1/' $mine >other.cu
touch -d '1 hour ago' other.cu
run stage02 run KERNEL=other.cu DEVICE=sim N=40
ok "another file, though older, is compiled" says "FAIL"
cp $mine right.cu
touch -d '2 hours ago' right.cu
mv right.cu other.cu
run stage02 run KERNEL=other.cu DEVICE=sim N=40
ok "so is one in its place that is older" [ $code -eq 0 ]
run stage02 KERNEL=other.cu
ok "once" [ "$(grep -c '^nvcc ' "$log")" -eq 0 ]
for file in wrong.cu other.cu; do
    sed 's/p.scale/1/' $mine >wrong.cu
    run stage02 KERNEL=$file
done
ok "and stays, whatever another make builds" [ "$(grep -c '^nvcc ' "$log")" -eq 0 ]
run stage02 run KERNEL=none.cu
ok "a file that is not there" \
    says "KERNEL=none.cu: there is no such file; make stage02 start makes $mine."
run stage02 run KERNEL=work/02_next
ok "a folder is no kernel" \
    says "KERNEL must be a file of CUDA, as in KERNEL=$mine; not 'work/02_next'"
run run KERNEL=$mine
ok "KERNEL without a stage" says "KERNEL needs one stage"

# ---- grade ---------------------------------------------------------------------------------------
# The whole grid takes long: here one variant of it, after a line of progress, for which it looks on
# grade's stderr. Where grade looks for races it asks for other variants than are built here.
mv build/attention-sim build/attention-sim.whole
cat >build/attention-sim <<'END'
#!/bin/bash
echo "$*" >>runs
[[ $* != *RUNS=* ]] || set -- "$@" D=128 DTYPE=fp16
if [ "$1" = grid ]; then
    echo "$*" >>grids
    set -- "$@" D=128 DTYPE=fp16 CAUSAL=0
    echo "grid: case 7 of 49" >&2
    for ((i = 0; i < 100; i++)); do
        grep -qx 'grid: case 7 of 49' log.err && touch shown && break
        sleep 0.1
    done
fi
[[ $* != *COUNTERS=full* || ! -e bounded ]] || exit 2 # one bound is enough
exec "$0.whole" "$@"
END
chmod +x build/attention-sim
run stage02 grade VARIANTS="d128_fp16_full d128_fp16_causal"
ok "a right kernel: grade succeeds" [ $code -eq 0 ]
for what in "holds  it compiles" "holds  no race" "holds  right results on the grid: 49 cases" \
    "holds  the counters" "all holds"; do
    ok "$what" says "$what"
done
ok "the whole grid is asked for, once: no variant is chosen" \
    [ "$(cat grids)" = "grid DEVICE=sim GRID=small build/sm_80/work/02_next" ]
ok "races are looked for in both head sizes, types and masks, with other orders" \
    [ "$(grep -c 'RUNS=2' runs) $(sed -n 's/.* \(CAUSAL.*\) RUNS=2 .*/\1/p' runs |
        tr ' ' '\n' | sort -u | paste -sd' ')" = \
    "3 CAUSAL=0 CAUSAL=1 D=128 D=64 DTYPE=bf16 DTYPE=fp16" ]
ok "of a kernel that compiles in all of them" says "holds  it compiles in all 2 variants"
ok "code that is still the stage's before is called so" \
    says "note   but for comments and spaces its code is still that of stage 01, small"
ok "the progress of the grid is shown while it runs" [ -e shown ]
ok "once, outside the answer" [ "$(grep -c 'grid: case 7 of 49' "$log")" -eq 1 ]
touch bounded
lab=$(grep -c -- '--     the signature' "$log") # 1: there is no disassembler to be had
if [ "$lab" -eq 0 ]; then
    ok "holds  the signature" says "holds  the signature"
    ok "the bound is that of the stage, but for what differs" grep -qE \
        'bound  on NVIDIA A100.* your kernel is bound by .*, 1\.0[0-9] x the bound of' "$log"
    echo 'LDS > 0 # the idea' >stages/02_next/expect.sass
else
    skip "there is no disassembler"
fi

cp -r stages/01_small stages/03_last
change 's/int lanes = 16;/int lanes=8*2;/; s,// the tail,// mine,'
run stage02 grade
ok "a copy of the stage, with other comments, is called so" \
    says "note   but for comments and spaces its code is that of the stage itself"
change 's/int lanes = 16;/int lanes = 17 - 1;/'
sed 's/int lanes = 16;/int lanes = 17 - 1;/' stages/01_small/kernel.cu >stages/03_last/kernel.cu
run stage02 grade
ok "so is a copy of the stage after" \
    says "note   but for comments and spaces its code is that of stage 03, last"
rm -r stages/03_last

change 's/int lanes = 16; lanes > 0/int lanes = 16; lanes > 1/'
run stage02 grade
ok "a kernel of one's own is not called a copy" [ "$(grep -c '^  note ' "$log")" -eq 0 ]
ok "a wrong result: it fails" [ $code -eq 2 ]
ok "and does not hold but for its signature" [ "$(grep -c '^all ' "$log")" -eq 0 ]
ok "and says where" says "expected"
ok "with the task that is left" says "the grid and the counters: first the above"
if [ "$lab" -eq 0 ]; then
    ok "a signature that does not hold" says "stages/02_next/expect.sass:1: LDS > 0"
    ok "is explained by its comment" says "# the idea"
    ok "another variant says the same" grep -qx " *and 1 more variant" "$log"
    run stage02 grade VARIANTS="d128_fp16_full d64_fp16_full"
    ok "or two" grep -qx " *and 2 more variants" "$log"
    rm build/sm_80/work/02_next/d64_*
else
    for ((i = 0; i < 4; i++)); do skip "there is no disassembler"; done
fi

# With a counter in it the signature needs results, and with another kernel's name it cannot hold.
signed=$(cat stages/02_next/expect.sass)
echo 'warp_instructions > 0' >>stages/02_next/expect.sass
run stage02 grade
if [ "$lab" -eq 0 ]; then
    ok "a signature that counts what runs waits for right results" \
        says "--     the signature: it counts what runs, so first the above"
    change 's/flash_fwd/another/'
    sed -i 's/flash_fwd/another/g' $mine
    echo 'warp_instructions of shared > 0' >stages/02_next/expect.sass
    run stage02 grade
    ok "a signature that cannot be evaluated does not hold either" \
        says "FAILS  the signature, stages/02_next/expect.sass"
    ok "and why is said" says "stages/02_next/expect.sass:1: "
    echo 'flash_fwd: SHFL > 0' >stages/02_next/expect.sass
    run stage02 grade
    ok "a signature about a kernel that is not there does not hold" [ $code -eq 2 ]
    ok "and that is said" \
        says "it speaks of the kernel 'flash_fwd': no kernel of yours has that name"
    ok "with all else as it should be" [ "$(grep -c FAILS "$log")" -eq 1 ]
    ok "which is said, too" says "all but the signature holds: "
else
    for ((i = 0; i < 7; i++)); do skip "there is no disassembler"; done
fi
echo "$signed" >stages/02_next/expect.sass

change 's/    const double row_tiles/    if (p->seq_q % 64) return "lengths are of 64";\n&/'
run stage02 grade
ok "a problem that is refused is named, with the kernel's own words" \
    says '02_next: attention_supports refuses this problem ("lengths are of 64"), but the contract'

change 's,    const int head = blockIdx.x / row_tiles;,&\n    if (p.seq_q == 1) return;,'
run stage02 grade
ok "a case of the grid that fails is repeated by make, with the learner's file" \
    says "repeat: make stage02 run KERNEL=$mine DEVICE=sim B="
repeat=$(sed -nE 's/^ *repeat: make //p' "$log" | head -n 1)
# shellcheck disable=SC2086 # words
run $repeat
ok "which fails as the grid did" [ $code -eq 2 ]
ok "for the same reason" says "elements of O are wrong"

change 's/^    if (row >= p.seq_q) return;.*//'
run stage02 grade
ok "rows that belong to the next head are a race with its block" says "data race between blocks"

change 's/((size_t)head \* p.seq_q + row) \* D;/((size_t)(head + 1) * p.seq_q + row) * D;/'
run stage02 grade
ok "an access out of bounds is named with its line" \
    says "$mine:$(grep -n 'S += (float)q' $mine | cut -d: -f1)"

change 's/((size_t)head \* p.seq_q + row) \* D;/(head * p.seq_q + row) * D;/'
run stage02 grade
ok "an index of 32 bits is said to be one" says "FAILS  indices of 64 bits: B=1"
ok "with its line" says "$mine:$(grep -n 'element .q = Q' $mine | cut -d: -f1)"

# The signature asks for counters, so the kernel would run once more for it.
echo 'warp_instructions > 0' >>stages/02_next/expect.sass
change 's/j < end; j++/j < end; j += 0/'
rm -f runs
SIM_BUDGET=100000 run stage02 grade
ok "an endless loop" says "an endless loop?"
ok "that it ends is what does not hold" says "FAILS  it ends: B=1"
ok "in the simulator's words alone" [ "$(grep -c 'simulated PTX\| FAIL: ' "$log")" -eq 0 ]
ok "what would run it again is left out" \
    says "the grid, the counters and the signature: first it has to run to its end"
ok "and does not" [ "$(wc -l <runs)" -eq 1 ]
sed -i '$d' stages/02_next/expect.sass

change 's/^    float O_i.*/    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");\n&/'
run stage02 grade
ok "a deadlock is no end either" says "FAILS  it ends: B=1"
ok "and is said to be one" says "ptxsim: deadlock: no warp of the block can go on"

change 's/^    float O_.*/    int i;\n    asm volatile("vadd.s32.s32.s32 %0, 1, 2;" : "=r"(i));\n&/'
run stage02 grade
ok "an instruction that the simulator does not know" says "FAILS  the simulator can run it: B=1"
ok "with its line" grep -q "unsupported instruction .*kernel.cu:$(grep -n vadd $mine |
    cut -d: -f1)): vadd" "$log"
ok "and nothing else fails" [ "$(grep -c FAILS "$log")" -eq 1 ]
run stage02 sanitize DEVICE=sim D=128 DTYPE=fp16 CAUSAL=0 KERNEL=$mine
ok "sanitize says so once, too" \
    [ "$(grep -c 'unsupported instruction' "$log") $(grep -c found "$log")" = "1 0" ]

# Faults of host code, in one kernel: FAULT is the one that it has. `remembers` is right the first
# time alone, because then the tensors are elsewhere; on a GPU the host cannot do what `reads` does.
cat >faults <<'END'
    const char *fault = getenv("FAULT") ? getenv("FAULT") : "";
    if (!strcmp(fault, "remembers")) {
        static const AttentionTensors first = *t;
        t = &first;
    }
    if (!strcmp(fault, "reads") && *(const unsigned short *)t->Q == 0x7fff) return cudaSuccess;
    if (!strcmp(fault, "crashes")) *(volatile int *)8 = 0;
    if (!strcmp(fault, "exit(0)")) exit(0);
    if (!strcmp(fault, "_exit(0)")) _exit(0);
    if (!strcmp(fault, "ends one case") && p->seq_q == 17) _exit(0);
    while (!strcmp(fault, "prints")) printf("%4000s\n", "here");
    if (!strcmp(fault, "hangs")) pause();
END
change 's/#include <limits.h>/&\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>/
    s/#include <math_constants.h>/&\n#include <unistd.h>/
    /^    flash_fwd<<</e cat faults'
FAULT=remembers run stage02 grade
ok "a launch that remembers its tensors" says "FAILS  the same bits in each run: B=1"
FAULT=reads run stage02 grade
ok "a host that reads a tensor" says "or the device's memory?"
FAULT=crashes run stage02 grade
ok "host code that crashes" says "the program crashed (signal SEGV): what runs on the host is at"
for call in 'exit(0)' '_exit(0)'; do
    FAULT=$call run stage02 grade
    ok "host code that calls $call" says "FAILS  its host code returns: B=1"
    ok "and is said to" says "         02_next ended the program: does its host code call exit?"
    ok "runs once" says "the grid, the counters and the signature: first it has to run to its end"
done
FAULT='ends one case' run stage02 grade
ok "host code that ends one case of the grid" says "FAILS  right results on the grid"
ok "is said to" says "         02_next ended the program: does its host code call exit?"
FAULT=prints run stage02 grade
ok "host code that prints without end" says "it wrote a file of more than 64 MiB"
FAULT=hangs STEP_LIMIT=10 run stage02 grade
ok "host code that hangs" says "it did not end within 10 s"

change 's/float S = 0;/float S = nothing;/'
run stage02 grade
ok "a kernel that does not compile" says "FAILS  it compiles"
ok "the compiler's message, with the line" \
    says "$mine($(grep -n 'nothing;' $mine | cut -d: -f1)): error: identifier \"nothing\""
run stage02 run KERNEL=$mine DEVICE=sim
ok "run shows it too, and ends with 2" [ $code -eq 2 ]
ok "as nvcc gives it" says 'error: identifier "nothing" is undefined'

change 's/int c = lane; c < D; c += 32/int c = lane * (D \/ 32), n = 0; n < D \/ 32; c++, n++/'
run stage02 grade KERNEL=$mine
ok "more sectors than the reference" grep -q 'sectors loaded .*<--' "$log"
ok "that alone of the results" says "holds  right results on the grid"
ok "and the lines to look at" says "lines to look at (make stage02 annotate KERNEL=$mine shows all)"
ok "which is the one that the reference has not, and none that both have" \
    [ "$(sed '1,/lines to look at/d; /^ .* line/!d' "$log" | sed -E 's/^ +[1-9][0-9]+ +0 +//')" = \
    "line $(grep -n 'n < D / 32; c++' $mine | sed -E 's/: +/: /')" ]
if [ "$lab" -eq 0 ]; then
    ok "the signature too, where KERNEL names the file" \
        says "stages/02_next/expect.sass:1: LDS > 0"
else
    skip "there is no disassembler"
fi

# The counters of a launch that computes on the host, as the simulator lets it.
printf '%s\n' '{"counters":null}' '{"counters":{"warp_instructions":7}}' |
    awk -f tools/plot/field.awk -f tools/exercise/exercise.awk >"$log"
ok "a result without a kernel does not hold" [ $? -eq 1 ]
ok "and that is said" says "attention_launch launches no kernel"
sizes='"batch":1,"heads":2,"seq_q":256,"d":128'
for units in 4095 4096; do
    for instructions in 7 8; do
        counters="\"warp_instructions\":$instructions,\"global_store_units\":$units"
        echo "{$sizes,\"counters\":{$counters}}"
    done | awk -f tools/plot/field.awk -f tools/exercise/exercise.awk >"$log"
    ok "$units sectors stored: exit $((units < 4096))" [ $? -eq $((units < 4096)) ]
    [ $units = 4096 ] || ok "and why" says "no kernel of yours stores O, which has 4096 sectors"
done

for units in 0,0 8,8 9,8; do
    for of in "${units%,*}" "${units#*,}"; do
        counters="\"warp_instructions\":7,\"global_store_units\":4096,\"shared_atomic_units\":$of"
        echo "{$sizes,\"counters\":{$counters}}"
    done | awk -f tools/plot/field.awk -f tools/exercise/exercise.awk >"$log"
    code=$?
    found=$(sed -nE 's/^wavefronts of shared atomics +([0-9]+) +([0-9]+)( +<--)?$/\1,\2\3/p' "$log")
    case $units in
        0,0) ok "no atomics: no row of theirs" [ "$code$found" = 0 ] ;;
        8,8) ok "as many as the reference" [ "$code $found" = "0 8,8" ] ;;
        *) ok "more" [ "$code $found" = "1 9,8  <--" ] ;;
    esac
done

# Loads that nobody needs, though each is as it should be.
change 's/^        float S = 0;/        for (int c = lane; c < D; c += 32)\
            asm volatile("" ::"f"((float)k[(j + 1 < end ? D : 0) + c]));\
&/'
run stage02 grade
ok "more sectors without a line at fault" grep -q 'sectors loaded .*<--' "$log"
ok "the line that is new counts whole" grep -qE "^ +[1-9][0-9]+ +0  line $(grep -n 'asm vol' $mine |
    cut -d: -f1): asm volatile" "$log"

# record FILE LINE... <OPS: the record of a kernel of these lines; an op is CLASS LINE EXECUTIONS,
# and UNITS if it has any.
record() {
    printf '%s\n' "${@:2}" >"$1"
    awk -v file="$1" '{ ops = ops comma "[\"op\"," $1 "," $2 ",[]]"
            counters = counters substr(comma, 1, 1) "[" $3 ",0,0,0," $4 + 0 ",0,0,0]"
            comma = ",\n" }
        END { print "{\"kernel\":\"f\",\"file\":\"" file "\",\"block\":[0],\n\"ops\":[\n" ops "],"
            print "\"classes\":[\"mma\",\"barrier\",\"shared atomic\",\"other\"],"
            print "\"run_counters\":[" counters "],"}'
}
record a.cu '    x  = 1;// mine' 'y();' 'y();' <<<$'0 1 2\n1 2 3\n1 3 4\n1 0 1' >a.record
record b.cu 'x = 1; // another' 'y();' 'z();' <<<$'0 1 5\n0 3 7\n1 2 3' >b.record
awk -v units="tensor-core instructions|barriers" -f tools/exercise/excess.awk a.record b.record |
    sed -E 's/^ +//; s/ +/ /g' >"$log"
ok "lines are the same by their code; what is missing is shown where there is too little" \
    [ "$(<"$log")" = "yours reference tensor-core instructions
0 7 z();
2 5 line 1: x = 1;
yours reference barriers
7 3 lines 2, 3: y();
1 0 (in other files)" ]

# Every row of the counters has its classes: what is in none of them is a line of none.
units=$(sed -nE 's/^    row\("[a-z_]+", "([^"]+)".*/\1/p' tools/exercise/exercise.awk |
    grep -v '^instructions of warps$' | paste -sd'|')
record a.cu 'x();' 'y();' <<<$'3 1 9 9\n2 2 5 160' >a.record
awk -v units="$units" -f tools/exercise/excess.awk a.record b.record | sed -E 's/^ +//; s/ +/ /g' |
    grep -A1 'atomics$\|line 1' >"$log"
ok "each row of the counters counts its own classes alone" \
    [ "$(<"$log")" = "yours reference wavefronts of shared atomics
160 0 line 2: y();" ]
echo "1..$count"
