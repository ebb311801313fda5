#!/usr/bin/env bash
# The Makefile as a user meets it: help, messages for bad values, what is rebuilt and what is not.
# All of it in a folder whose path has a blank, a quote and a letter that is not ASCII. Catches: a
# stage that needs an entry somewhere, a stale variant, a needless rebuild, a program for another
# processor, a typo that nobody mentions, a value that the shell executes, a variable that a command
# takes and does not use, a bad value that is noticed after half an hour of compiling, a path that
# falls apart at its blank, a tool that has moved and is not looked for.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh

work=$(mktemp -d)
copy="$work/jürgen's checkout"
log=$copy/log
shown=("$log")
trap 'rm -rf "$work"' EXIT
mkdir "$copy"
unset MAKEFLAGS MAKELEVEL MFLAGS D DTYPE CAUSAL DEVICE ARCH NVCC
# A copy of the tree with two small stages and the object files of the programs: what is tested is
# the Makefile, not the kernels.
cp -rp Makefile common tools reference "$copy"
mkdir -p "$copy/stages/01_three_pass" "$copy/stages/02_coalesced" "$copy/build"
cp -rp build/toolchain.mk build/flags build/host "$copy/build/"
# The compiler is the simulator's, too, whatever it is here.
sed -n 's/^NVCC := /SIM_NVCC := /p; s/^NVCC_PLAIN := /SIM_PLAIN := /p' build/toolchain.mk \
    >"$copy/build/simulator.mk"
cp tools/test/small_kernel.cu "$copy/stages/01_three_pass/kernel.cu"
cp stages/02_*/kernel.cu "$copy/stages/02_coalesced/"
cd "$copy" || exit 1
run() { make "$@" >"$log" 2>&1; }
built() { grep -c '^nvcc ' "$log"; }

run
ok "bare make succeeds" [ $? -eq 0 ]
ok "and prints help" says "make stage07 run"
(cd / && run -f "$copy/Makefile")
ok "another folder's make ends with 2" [ $? -eq 2 ]
ok "and is told where to go" says "run make in the folder of its Makefile"
run MAKE_VERSION=4.1
ok "a make that cannot read files ends with 2" [ $? -eq 2 ]
ok "and is told which can" says "GNU make 4.2 or newer is needed, and this is 4.1."
run stage99 run
ok "an unknown stage ends with 2" [ $? -eq 2 ]
ok "and the stages there are" says "there is no stage99: the stages are stage01 stage02"
for bad in D=96 DTYPE=fp8 CAUSAL=2 DEVICE=tpu "D=64 128"; do
    run stage01 run "$bad"
    ok "$bad ends with 2" [ $? -eq 2 ]
    ok "and names the allowed values" says "${bad%%=*} must be one of: "
done
while read -r bad meant; do
    run stage01 "$bad"
    ok "$bad, which is no variable, ends with 2" [ $? -eq 2 ]
    ok "and is named, with ${meant:-nothing near}" \
        says "there is no variable ${bad%%=*}${meant:+ (did you mean $meant?)}: bare make lists"
done <<'END'
d=64 D
CASUAL=1 CAUSAL
SEQ=512 SEQS
NK=3 NKV
BATCH=2
KERNELS=none KERNEL
STAGES=01
END
while read -r bad meant; do
    run stage01 "$bad"
    ok "$bad, which is no command, ends with 2" [ $? -eq 2 ]
    ok "and is named, with ${meant:-nothing near}" \
        says "there is no command $bad${meant:+ (did you mean $meant?)}: bare make lists them"
done <<'END'
runn run
RUN run
tset test
sasdiff sass-diff
benchmark bench
02 stage02
sas sass
xyz
KERNELS
END
run planted BUGS=04_no_WAR,99_none
ok "a bug that is not there ends with 2" [ $? -eq 2 ]
ok "and is named" says "there is no planted bug 99_none: tools/mutate/planted/ has them"
for bad in "," ",,"; do
    run -n planted BUGS=$bad
    ok "planted BUGS=$bad, which names none, ends with 2" [ $? -eq 2 ]
    ok "and says what it must be" says "BUGS must be names of planted bugs with commas between"
done
ok "nothing was built for them" [ ! -e build/attention ]
run stage01 run SIM_BUDGET=many
ok "SIM_BUDGET=many ends with 2" [ $? -eq 2 ]
ok "and says what it must be" says "SIM_BUDGET must be a whole number from 1; not 'many'"
run -n stage01 run
mv "$log" "$work/plain"
B='' run -n stage01 run ARCH= D= DTYPE= CAUSAL=' ' DEVICE= GPU= KERNEL=
diff "$work/plain" "$log" >"$work/difference"
result $? "an empty value is one that nobody gave" "$work/difference"
# Values that would be commands. Their command would make a file.
N="1'; touch executed; echo '" run -n stage01 run
ok "a quote in the environment ends with 2" [ $? -eq 2 ]
ok "and is named" says "N has a character that no value of it has: ' ;"
# shellcheck disable=SC2016 # neither make nor a shell may expand them
for bad in "N=1'; touch executed; echo '" 'GPU=0;touch executed' 'SEED=$(shell touch executed)' \
    'H=`touch executed`' $'B=1\ntouch executed' 'FROM=01 02' 'GPU=0 1' 'KERNEL=a b' \
    'RESULTS="x' 'SEQS=1|touch executed' 'x;touch${IFS}executed=1'; do
    run stage01 run "$bad"
    ok "${bad//$'\n'/, then } ends with 2" [ $? -eq 2 ]
    ok "and is named" says "${bad%%[=;]*}"
done
# A pattern would be another kernel: the one that was built before.
mkdir -p dir.cu
for bad in KERNEL='half_50%.cu' KERNEL='a*.cu' KERNEL=a?b.cu KERNEL=a:b.cu KERNEL=k=1.cu \
    KERNEL='[b].cu' KERNEL=-top.cu KERNEL=./-top.cu KERNEL=dir.cu; do
    run stage01 run "$bad"
    ok "$bad ends with 2" [ $? -eq 2 ]
    ok "in a sentence" grep -qE "KERNEL( must be a file |=dir.cu: there is no)" "$log"
done
run compare FROM=01 TO='50%.cu'
ok "TO=50%.cu ends with 2" [ $? -eq 2 ]
ok "in a sentence" says "TO must be a file without % in its name; not '50%.cu'"
run stage01 run '";touch executed;"'
ok "a goal with a quote ends with 2" [ $? -eq 2 ]
ok "nothing of them was executed" [ ! -e executed ]

# Variables that a command does not take: the command, what it is given, what it takes.
while read -r command given takes; do
    run -n stage01 "$command" "$given"
    ok "$command $given ends with 2" [ $? -eq 2 ]
    ok "and says which it takes" \
        grep -q "make $command does not take ${given%=*}; it takes.*\b$takes\b" "$log"
done <<'END'
grid N=3 GRID
fuzz B=2 SECONDS
repeat SECONDS=3 RUNS
run GRID=full REPS
run SECONDS=3 N
counters DEVICE=gpu N
counters LIMIT=3 SIM_BUDGET
profile FORCE=1 LIMIT
sass N=3 LINE
count LINE=3 FORMAT
check-sass FORMAT=json ARCH
diff D=64 FROM
trace DEVICE=sim BC
mutate N=3 MUTANTS
plot N=3 RESULTS
sanitize FORMAT=json N
tune FORMAT=json BR
bench JOBS=3 PEERS
roofline SEQS=3 RESULTS
explore REPS=3 BLOCK
timeline RUNS=3 BLOCK
compare FORMAT=json FROM
site N=3 ARCH
help N=1 variable
clean N=3 variable
END
ok "and nothing is removed" [ -e build/toolchain.mk ]
run N=3
ok "without a command none is named" says "make does not take N; it takes no variable"
for command in clean diff plot sass-baseline site trace; do
    run stage01 $command
    ok "a stage beside $command ends with 2" [ $? -eq 2 ]
    ok "and is refused" says "make $command takes no stage, so there can be no stage01 beside it"
done
ok "and nothing is removed" [ -e build/toolchain.mk ]
# In the environment they may be meant for other commands.
for command in help clean; do
    for given in KERNEL=none.cu "N=1;2" "DEVICE=the first"; do
        env "$given" make -n $command >"$log" 2>&1
        ok "make $command goes on with $given in the environment" [ $? -eq 0 ]
    done
done
CODE=x run -n stage01 run
ok "and run with CODE=x" [ $? -eq 0 ]
KERNEL=none.cu run -n stage01 run
ok "what a command takes counts" says "KERNEL=none.cu: there is no such file"
# Formats, before anything is built.
while read -r formats; do
    read -ra words <<<"${formats%%:*}"
    run "${words[@]}" FORMAT=xml
    ok "${words[*]} FORMAT=xml ends with 2" [ $? -eq 2 ]
    ok "and says which there are" says "FORMAT must be one of:${formats#*:}; not 'xml'"
    ok "alone" [ "$(wc -l <"$log")" -eq 1 ]
done <<'END'
run: text json
stage01 grid: text json
stage01 annotate: text json html
stage01 explore: text json
stage01 limits: text json
limits: text markdown json
stage01 count: text markdown json
sass-diff FROM=01 TO=02: text markdown json
END
for bad in "planted JOBS=x" "planted JOBS=0" "mutate JOBS=-1"; do
    read -ra words <<<"$bad"
    run "${words[@]}"
    ok "$bad ends with 2" [ $? -eq 2 ]
    ok "and says what it must be" says "JOBS must be a whole number from 1; not '${bad#*=}'"
done
for bad in nowhere common/none.c /etc tools/page common,tools/limits -delete; do
    run -n mutate CODE=$bad # refused before anything is run
    ok "mutate CODE=$bad ends with 2" [ $? -eq 2 ]
    ok "and says what it must be" says "CODE must be files or folders of C in common, tools/"
done
ok "nothing was built for them" [ ! -e build/attention ]
# Variables that the help promises to a command.
while read -r line; do
    read -ra words <<<"$line"
    run -n "${words[@]}"
    ok "make $line is taken" [ "$(grep -c 'does not take\|there is no variable' "$log")" -eq 0 ]
done <<'END'
bench PEERS=fa3,fa4 INIT=all N=256
bench REGIME=gqa SUSTAINED=1 SEED=3 RESULTS=x.jsonl
roofline N=256 RESULTS=x.jsonl
stage01 tune BR=32 BC=64 WARPS=64,128 N=256
stage01 explore BLOCK=3 FORMAT=json N=64 CAUSAL=1 INIT=peaked STRENGTH=2
stage01 annotate FORMAT=html N=64
stage01 sass LINE=12 INSTR=fma PTX=1 CLEAN=1 FORMAT=json ARCH=sm_90a
stage01 fuzz SECONDS=3 DEVICE=sim
stage01 repeat RUNS=3 LSE=0
stage01 grid GRID=small DEVICE=sim
stage01 run FORCE=1 SIM_BUDGET=200000000 LIMIT=3
stage01 mutate MUTANTS=all SEED=2 JOBS=2
compare FROM=01 TO=02 D=64 N=16 NKV=16
END
mkfifo pipe.cu
timeout 10 make compare FROM=01 TO=pipe.cu >"$log" 2>&1
ok "compare does not wait for a pipe to have a kernel" [ $? -eq 2 ]
ok "but says what it takes" says "or the file of a kernel of these stages; not 'pipe.cu'"
rm pipe.cu
printf '// Exercise 02: coalesced\n' >mine.cu
run -n compare FROM=01 TO=mine.cu
ok "compare takes the kernel of an exercise" [ $? -eq 0 ]
rm mine.cu
run stage01 N=3
ok "a build with a shape ends with 2" grep -q "make stage01 does not take N; it takes" "$log"
run -n stage02 stage01 stage02 check-sass explore
ok "a stage that is named twice is one, and the order stays" \
    [ "$(grep -o 'explore.sh build/attention [0-9]*' "$log" | paste -sd' ')" = \
    "explore.sh build/attention 02 explore.sh build/attention 01" ]
run -n stage01 fuzz repeat SECONDS=3
ok "what one of two commands takes is taken" [ $? -eq 0 ]
run CFLAGS="-O1 -g" stage01 ARCH=sm_80 -n
ok "a value with blanks is one value" [ $? -eq 0 ]
echo 'static int unused;' >>common/base/error.c
run build/host/common/base/error.o CFLAGS=-O1
ok "a warning ends no build: compilers differ in theirs" [ $? -eq 0 ]
ok "and is shown" says Wunused-variable
cp -p "$root/common/base/error.c" common/base/
cp -p "$root"/build/flags/host build/flags/
cp -p "$root"/build/host/common/base/error.o build/host/common/base/
run stage01 run ARCH=sm_80 INIT=sink STRENGTH=30 -n
ok "INIT and STRENGTH reach the program" says "'INIT=sink' 'STRENGTH=30'"
make diff FROM=01 TO=02 2>"$log" | true
ok "a reader that leaves early is no error" [ ! -s "$log" ]
run stage01 stage02 annotate FORMAT=html
ok "a page of two stages ends with 2" [ $? -eq 2 ]
ok "and says that it is of one" says "annotate FORMAT=html needs one stage"
if command -v script >/dev/null; then
    script -qec "make stage01 annotate FORMAT=html" /dev/null >"$log" 2>&1
    ok "a page on a terminal ends with 2" [ $? -eq 2 ]
    ok "and says what to type" \
        says "FORMAT=html is for a file, and this is a terminal: add >page.html"
    script -qec "make -n stage01 annotate FORMAT=html >page.html" /dev/null >"$log" 2>&1
    ok "with that it is made" [ $? -eq 0 ]
    rm page.html
else
    for _ in 1 2 3; do skip "there is no program script to make a terminal"; done
fi
run diff FROM=01
ok "diff without TO ends with 2" [ $? -eq 2 ]
ok "and names TO" says "TO must be one of: 01 02"
run diff FROM=01 TO=02
ok "diff succeeds where stages differ" [ $? -eq 0 ]
ok "and shows the difference" says "+// Stage 02: coalesced"

# ---- Nowhere to write ----------------------------------------------------------------------------
mv build kept
touch build work
for goals in "stage01 run" "stage01 sass" "test"; do
    read -ra words <<<"$goals"
    run "${words[@]}"
    ok "$goals with a file in place of build/ ends with 2" [ $? -eq 2 ]
    ok "and says so" says "*** build cannot be written: it is a file, or a folder of another user"
    ok "and nothing else" [ "$(wc -l <"$log")" -eq 1 ]
done
run diff FROM=01 TO=02
ok "what needs no build/ goes on" [ $? -eq 0 ]
rm build
mv kept build
TMPDIR=$work/none run stage01 run
ok "a TMPDIR that is not there ends with 2" [ $? -eq 2 ]
ok "and says so" says "TMPDIR must be a folder that can be written; not '$work/none'"
# shellcheck disable=SC2016 # make expands it
echo 'any/environment: ; @env' >environment.mk
TMPDIR='' CDPATH=$work GIT_DIR=$work bash -o noclobber -O nullglob -c '
    export SHELLOPTS BASHOPTS; make "$@" >|"$0" 2>&1' \
    "$log" -f Makefile -f environment.mk any/environment
ok "an empty TMPDIR is none, and CDPATH, a hook's GIT_DIR, options of bash are not for scripts" \
    [ "$(grep -c '^TMPDIR=\|^CDPATH=\|^GIT_DIR=\|^SHELLOPTS=\|^BASHOPTS=' "$log")" -eq 0 ]
ok "which all else is" grep -q '^PATH=' "$log"
rm environment.mk
run stage02 start
ok "a file in place of work/" says "*** work cannot be written: it is a file"
rm work

# ---- What is missing, and what is given in vain --------------------------------------------------
mkdir farm && ln -s /usr/bin/* farm/ && rm -f farm/prove
PATH=$PWD/farm run test -n
ok "without prove make test ends before it compiles" [ $? -eq 2 ]
ok "and says so" says "prove was not found: install perl"
rm -f farm/cmp
PATH=$PWD/farm run stage01 run -n
ok "without cmp nothing is built" [ $? -eq 2 ]
ok "and diffutils is what to install" says "cmp was not found: install diffutils"
rm -r farm
mkdir 'a"b' && ln -s ../Makefile ../common ../tools ../stages ../reference ../build 'a"b/'
run -C 'a"b' stage01 run -n
ok "a path that ptxas cannot read ends with 2" [ $? -eq 2 ]
ok "and is told" says 'ptxas cannot read a path with a quotation mark'
rm -r 'a"b'
NVCC=/nonexistent run stage01 run -n
ok "an NVCC that comes too late is said to be" says "NVCC=/nonexistent is not used: "
NVCC=$(sed -n 's/^NVCC := //p' build/toolchain.mk) run stage01 run -n
ok "and nothing of the one that is used" [ "$(grep -c 'is not used' "$log")" -eq 0 ]
run stage01 run -n NVCC=/bin/false DEVICE=sim
ok "nor is one on the command line passed over in silence by the simulator" \
    says "NVCC=/bin/false is not used: "
run -t stage01
ok "make -t, which would leave an empty file for a kernel, ends with 2" [ $? -eq 2 ]
ok "and is refused" says "make -t is no way to build anything here: leave out -t"
# shellcheck disable=SC2016 # make expands it
echo 'any/compiler: ; @echo "it is $(CC)"' >compiler.mk
CC='' run -f Makefile -f compiler.mk any/compiler
ok "an empty CC is none" says "it is gcc"
rm compiler.mk

# ---- Which architecture --------------------------------------------------------------------------
mkdir stages/06_later bin
sed 's/needs sm_75/needs sm_80/' stages/02_coalesced/kernel.cu >stages/06_later/kernel.cu
on() { # on CAPABILITY: what `make run` would build beside such a GPU
    printf '#!/bin/sh\necho %s\n' "$1" >bin/nvidia-smi && chmod +x bin/nvidia-smi
    PATH=$PWD/bin:$PATH run run -n
}
builds() { says "code=[sm_$2,compute_$2] " && says "-o build/sm_$2/$1/d128_fp16_full.so"; }
on 7.5
ok "a GPU of 7.5 gets the early stages for it" builds 01_three_pass 75
ok "and the later ones for the simulator" builds 06_later 80
on 8.9
ok "a newer one gets both for it" builds 01_three_pass 89
ok "the later ones, too" builds 06_later 89
# shellcheck disable=SC2016 # the program expands it
printf '#!/bin/sh\n[ "$2" = 7 ] && echo 8.9 || echo 7.5\n' >bin/nvidia-smi
CUDA_VISIBLE_DEVICES=5,7 PATH=$PWD/bin:$PATH run run -n GPU=1
ok "GPU is an index among the cards that CUDA sees" builds 01_three_pass 89
on 6.1
ok "an older one gets both for the simulator" builds 01_three_pass 80
printf '#!/bin/sh\nexit 1\n' >bin/nvidia-smi
PATH=$PWD/bin:$PATH run run -n
ok "without a GPU they are PTX alone" says ",code=compute_80 "
ok "in a folder of their own" \
    grep -q " build/attention run .* build/sim/sm_80/01_three_pass build/sim/" "$log"
ok "a first run has the others built by another make" says "run BUILD_ALONE=yes"
ok "in folders that are there before" \
    grep -q "mkdir -p .*/02_coalesced .*; env .* run BUILD_ALONE=yes" "$log"
PATH=$PWD/bin:$PATH run run sass-diff FROM=01 TO=02 -n
ok "beside a second command it builds them itself" [ "$(grep -c BUILD_ALONE "$log")" -eq 0 ]
PATH=$PWD/bin:$PATH run stage01 sass -n
ok "machine code is made where it is asked for" builds 01_three_pass 80
mkdir -p build/sm_80/01_three_pass && touch build/sm_80/01_three_pass/d128_fp16_full.so
PATH=$PWD/bin:$PATH run stage01 run -n
ok "and serves the simulator, too" says "build/sm_80/01_three_pass ||"
rm -r build/sm_80
# shellcheck disable=SC2016 # make expands it
echo 'any/jobs: ; @echo "jobs: $(MAKEFLAGS)"' >jobs.mk
run -f Makefile -f jobs.mk any/jobs
ok "all cores compile" grep -qE "^jobs: .*-j$(nproc)( --jobserver|$)" "$log"
run -f Makefile -f jobs.mk any/jobs -j1
ok "unless the user says how many" grep -q "^jobs: .*-j1" "$log"
printf '#!/bin/sh\necho "nproc: write error" >&2; exit 1\n' >bin/nproc && chmod +x bin/nproc
PATH=$PWD/bin:$PATH run -f Makefile -f jobs.mk any/jobs
ok "if nproc fails, one, without a word of it" grep -qE "^jobs: .*-j1( |$)" "$log"
ok "which is all that is said" [ "$(wc -l <"$log")" -eq 1 ]
rm bin/nproc
rm jobs.mk
run stage06 ARCH=sm_75
ok "a stage that needs more than ARCH=sm_75 ends with 2" [ $? -eq 2 ]
ok "and says so" says "06_later needs sm_80 or newer: ARCH must not be sm_75"
on 7.5
PATH=$PWD/bin:$PATH run roofline
ok "so does the roofline of such a GPU" says "roofline needs compute capability 8.0 or newer"
touch README.md
PATH=$PWD/bin:$PATH run -n site
ok "its site has the later stages for the simulator" \
    says "-o build/sm_80/06_later/d128_fp16_full.so"
rm README.md

# ---- A compiler for the GPU and another for the simulator ----------------------------------------
# What each command compiles with which, and where it looks for kernels, beside a GPU of 7.5.
old_nvcc=$work/old/nvcc new_nvcc=$work/new/nvcc
mkdir "$work/old" "$work/new" && touch "$old_nvcc" "$new_nvcc" "$work/new/cuobjdump"
cp -p build/toolchain.mk build/one.mk && cp -p build/simulator.mk build/one_sim.mk
sed "s,^NVCC := .*,NVCC := $old_nvcc,; s,^NVCC_PLAIN := .*,NVCC_PLAIN := --no-compress," \
    build/one.mk >build/toolchain.mk
printf '%s\n' "SIM_NVCC := $new_nvcc" 'SIM_PLAIN := --compress-mode=none' >build/simulator.mk
printf '%s\n' "CUOBJDUMP := $work/new/cuobjdump" "NVDISASM := $work/new/cuobjdump" \
    >build/disassembler.mk
beside() { PATH=$PWD/bin:$PATH run -n -o build/disassembler.mk "$@"; }
compiles() { # compiles NVCC OPTION OUTPUT
    grep -qE "$1 .* $2 .* -o $3/d128_fp16_full.so" "$log"
}
only() { # only NVCC: nothing is compiled by the other one
    grep -q "$1 " "$log" && ! grep -E "$work/(old|new)/nvcc " "$log" | grep -vq "$1 "
}
old() { compiles "$old_nvcc" --no-compress "build/$1"; }
new() { compiles "$new_nvcc" --compress-mode=none "build/$1"; }
whole() { grep -qE "$new_nvcc .*code=\[sm_[^ ]* .*-o build/sim_whole/" "$log"; }
on 7.5
beside run
ok "the GPU's compiler makes its stages" old sm_75/01_three_pass
ok "and the simulator's those that are simulated" new sm_80/06_later
beside stage01 run DEVICE=sim
ok "what runs in the simulator alone is made apart" new sim_whole/sm_75/01_three_pass
ok "and run from there" \
    grep -q "^build/attention run .*'DEVICE=sim'.* build/sim_whole/sm_75/01_three_pass" "$log"
beside stage01 counters
ok "the counters, too" says "COUNTERS=full build/sim_whole/sm_75/01_three_pass"
for command in explore grade mutate check-sass "sanitize DEVICE=sim" "grid DEVICE=sim" annotate; do
    mkdir -p work/01_three_pass && cp stages/01_three_pass/kernel.cu work/01_three_pass/
    read -ra words <<<"$command"
    beside stage01 "${words[@]}"
    [ "$command" = mutate ] || ok "$command has the simulator's compiler alone" only "$new_nvcc"
done
beside stage01 explore
ok "with machine code, for what shows it" whole
beside planted BUGS=04_no_WAR
ok "planted builds nothing with the GPU's" [ "$(grep -c "$old_nvcc" "$log")" -eq 0 ]
for command in sanitize grid bench profile tune sass; do
    beside stage01 $command
    ok "$command on the GPU has nothing of the simulator's" \
        [ "$(grep -c "$new_nvcc" "$log")" -eq 0 ]
done
beside compare FROM=01 TO=02
ok "compare has the GPU's kernels" old sm_75/02_coalesced
ok "and the simulator's" new sim_whole/sm_75/02_coalesced
beside stage01 validate
ok "validate has both" old sm_75/01_three_pass
ok "of the same stage" new sim_whole/sm_75/01_three_pass
beside stage01 test
ok "test has the GPU's kernels" old sm_75/01_three_pass
ok "and the simulator's" new sim_whole/sm_75/01_three_pass
beside stage01 run counters
ok "one command cannot have both ways" says "so counters needs a make of its own"
rm build/simulator.mk
# shellcheck disable=SC2016 # the script expands it
printf '#!/bin/sh\necho "asked $1" >&2; exit 2\n' >tools/toolchain/toolchain.sh
touch -d '1 hour ago' tools/toolchain/toolchain.sh
mkdir -p build/host && printf '#!/bin/sh\n' >build/attention-sim
PATH=$PWD/bin:$PATH run stage01 run -n
ok "no second compiler is looked for where the GPU runs all" [ $? -eq 0 ]
PATH=$PWD/bin:$PATH run -n run
ok "and one is where it does not" says "asked --simulator"
PATH=$PWD/bin:$PATH run -n stage01 sass
ok "nor for machine code" [ "$(grep -c asked "$log")" -eq 0 ]
ok "nor for a disassembler" [ "$(grep -c -e --disassembler "$log")" -eq 0 ]
rm "$work/new/cuobjdump"
PATH=$PWD/bin:$PATH run -n stage01 sass
ok "a disassembler that is gone is looked for again" says "toolchain.sh --disassembler build/"
ok "and no compiler" [ "$(grep -c "asked build/toolchain.mk" "$log")" -eq 0 ]
mv "$old_nvcc" "$work/moved"
PATH=$PWD/bin:$PATH run -n stage01 run
ok "so is a compiler, such as that of a checkout which has moved" says "asked build/toolchain.mk"
mv "$work/moved" "$old_nvcc"
printf '#!/bin/sh\nexit 1\n' >bin/nvidia-smi
PATH=$PWD/bin:$PATH run stage01 validate
ok "nor for what needs a GPU and has none" [ "$(grep -c asked "$log")" -eq 0 ]
ok "which is all that is said" says "validate needs a GPU, and nvidia-smi finds none"
PATH=$PWD/bin:$PATH run stage01 validate diff FROM=stage01 TO=stage02
ok "and of what needs none nothing" says "validate needs a GPU, and nvidia-smi finds none"
for command in bench roofline validate; do
    PATH=$PWD/bin:$PATH run -j4 stage01 $command D=64
    ok "$command says so, and make nothing but that it failed" \
        [ "$(grep -c '^make' "$log") $(wc -l <"$log")" = "1 2" ]
done
cp -p "$root/tools/toolchain/toolchain.sh" tools/toolchain/
mv build/one.mk build/toolchain.mk && mv build/one_sim.mk build/simulator.mk
rm -r stages/06_later bin build/attention-sim build/disassembler.mk work

run -j4 stage01 ARCH=sm_80
ok "a stage builds, with -j" [ $? -eq 0 ]
ok "one variant of it" [ "$(built)" -eq 1 ]
if command -v script >/dev/null; then
    touch stages/01_three_pass/kernel.cu
    script -qec "make stage01 ARCH=sm_80" /dev/null >"$log" 2>&1
    ok "on a terminal what is built is one line" grep -qF $'\033[Knvcc  01_three_pass' "$log"
    ok "which is gone in the end" [ "$(tail -c 4 "$log")" = $'\r\033[K' ]
else
    for _ in 1 2; do skip "there is no program script to make a terminal"; done
fi
run stage01 ARCH=sm_80
ok "built again: nothing to do" [ "$(grep -cE '^(nvcc|cc|link) ' "$log")" -eq 0 ]
run stage01 ARCH=sm_80 CAUSAL=1 D=64 <&-
ok "another variant builds beside it, also without stdin" [ "$(built)" -eq 1 ]
ok "both are there" [ -e build/sm_80/01_three_pass/d64_fp16_causal.so ]
run stage01 ARCH=sm_80
ok "and the first is still up to date" [ "$(built)" -eq 0 ]
# The machine code, with a disassembler whose path has a blank, too.
disassembler=$(sed -n 's/^CUOBJDUMP := //p' "$root/build/disassembler.mk" 2>/dev/null)
if [ -n "$disassembler" ]; then
    ln -s "$(dirname "$disassembler")" build/bin
    printf '%s := %s\n' CUOBJDUMP "$copy/build/bin/cuobjdump" NVDISASM "$copy/build/bin/nvdisasm" \
        >build/disassembler.mk
    echo 'SHFL > 0' >stages/01_three_pass/expect.sass
    for command in sass count check-sass; do
        run stage01 ARCH=sm_80 VARIANTS=d128_fp16_full $command
        ok "$command in a folder with a blank" [ $? -eq 0 ]
    done
else
    for command in sass count check-sass; do skip "there is no disassembler"; done
fi
# A compiler that says where it writes, and takes its time; one that writes nothing.
cat >"$work/slow" <<'END'
#!/bin/bash
while [ "$1" != -o ]; do shift; done
echo "$2" >>written; sleep 1; echo whole >"$2"
END
printf '#!/bin/sh\nexit 0\n' >"$work/nothing"
chmod +x "$work/slow" "$work/nothing"
make stage01 DTYPE=bf16 NVCC="$work/slow" >"$log" 2>&1 & other=$!
run stage01 DTYPE=bf16 NVCC="$work/slow"
ok "two makes build the same kernel at once" [ $? -eq 0 ]
ok "each" wait $other
ok "in a file of its own" [ "$(sort -u written | wc -l)" -eq 2 ]
rm written
printf '#!/bin/sh\nexit 1\n' >"$work/silent" && chmod +x "$work/silent"
run stage01 DTYPE=bf16 CAUSAL=1 NVCC="$work/silent"
ok "one that fails without a word: the disk may be full" says "is the disk of build/ full?"
run stage01 DTYPE=bf16 CAUSAL=1 NVCC="$work/nothing"
ok "a kernel that the compiler did not write ends with 2" [ $? -eq 2 ]
# A learner's kernel that includes a file beside it.
mkdir -p mine
{ echo '#include "beside.cuh"'; cat stages/01_three_pass/kernel.cu; } >mine/kernel.cu
touch mine/beside.cuh
run stage01 KERNEL=mine/kernel.cu
ok "a kernel that includes a file builds" [ "$(built)" -eq 1 ]
run stage01 KERNEL=mine/kernel.cu
ok "built again: nothing to do" [ "$(built)" -eq 0 ]
sleep 0.1 # files have the time of the last tick of the clock
touch mine/beside.cuh
run stage01 KERNEL=mine/kernel.cu
ok "if that file changes it is built again" [ "$(built)" -eq 1 ]
cp stages/01_three_pass/kernel.cu other.cu && rm -r mine
run stage01 KERNEL=other.cu
ok "one elsewhere is built where these are gone" [ "$(built)" -eq 1 ]
rm other.cu
run stage01 ARCH=sm_80
touch stages/02_coalesced/kernel.cu
run stage01 ARCH=sm_80
ok "another stage's change rebuilds nothing" [ "$(built)" -eq 0 ]
objects=(build/host/common/cli/test/test_{fuzz,options}.o)
run "${objects[@]}"
sleep 0.1 # files have the time of the last tick of the clock
touch common/test/digest.h
run "${objects[@]}"
ok "a changed header of the harness rebuilds what includes it, and nothing else" \
    [ "$(grep '^cc ' "$log")" = "cc    common/cli/test/test_fuzz.c" ]
touch common/attention.h
run stage01 ARCH=sm_80
ok "a changed header rebuilds the variant" [ "$(built)" -eq 1 ]
cat >"$work/nvcc" <<'END'
#!/bin/bash
if [ "$1" = --list-gpu-code ]; then echo sm_80; else echo whole >"${*: -1}"; fi
END
chmod +x "$work/nvcc"
for call in "NVCC=$work/nvcc" ""; do
    run stage01 ARCH=sm_80 ${call:+"$call"}
    ok "${call:+an}other compiler builds it anew" [ "$(built)" -eq 1 ]
    run stage01 ARCH=sm_80 ${call:+"$call"}
    ok "and once" [ "$(built)" -eq 0 ]
done
make trace N=4 >"$log.trace" 2>/dev/null
make -j4 trace diff N=4 FROM=stage01 TO=stage02 >"$log" 2>/dev/null
ok "of two commands the first ends before the second begins, however slow" \
    cmp -s "$log.trace" <(head -n "$(wc -l <"$log.trace")" "$log")
ok "which comes, too" says "diff --git"
cp -r stages/01_three_pass stages/42_new
run stage42 ARCH=sm_80
ok "a new folder under stages/ is a stage" [ -e build/sm_80/42_new/d128_fp16_full.so ]
mkdir stages/43_empty && touch stages/44_file.zip && cp -r stages/42_new stages/42_new.bak
run stage42 sass
ok "two with one number end with 2" [ $? -eq 2 ]
ok "and are named" says \
    "stage42 is more than one folder: stages/42_new stages/42_new.bak; move one away"
rm -r stages/42_new.bak
run stage42 ARCH=sm_80
ok "what has no kernel.cu is none" [ $? -eq 0 ]
ok "of which nothing is said" [ ! -s "$log" ]
rm -r stages/43_empty stages/44_file.zip
echo "not CUDA" >>stages/42_new/kernel.cu
run stage42 ARCH=sm_80 D=64
ok "a kernel that does not compile ends with 2" [ $? -eq 2 ]
ok "and leaves nothing half-written" [ ! -e build/sm_80/42_new/d64_fp16_full.so ]
# The level of the processor, which decides what is compiled.
object=build/host/common/base/error.o
run $object PROCESSOR=sse2
ok "an old processor needs no option" [ "$(grep -c march build/flags/host)" -eq 0 ]
run $object PROCESSOR=sse2
ok "on the same processor nothing is built again" [ "$(grep -c '^cc ' "$log")" -eq 0 ]
run build/flags/host PROCESSOR="fma movbe abm avx2 bmi1 f16c bmi2 sse2"
ok "one with AVX2 has level 3" grep -q -- '-march=x86-64-v3$' build/flags/host
run build/flags/host PROCESSOR="fma movbe abm avx2 bmi1 f16c sse2"
ok "if it has all of that level" [ "$(grep -c march build/flags/host)" -eq 0 ]
if grep -qw avx2 /proc/cpuinfo; then
    run $object
    ok "on another one it is built anew" says "cc    common/base/error.c"
else
    skip "this processor is of the lowest level"
fi
run clean
ok "clean removes build/" [ ! -e build ]
mkdir -p bin
printf '#!/bin/sh\nprintf "rm: cannot remove it\\n%%.s" 1 2 3 >&2; exit 1\n' >bin/rm
chmod +x bin/rm
PATH=$PWD/bin:$PATH run clean
ok "what clean cannot remove is an error" [ $? -eq 2 ]
ok "in a sentence" says "build cannot be removed whole: "
ok "without a line per file" [ "$(wc -l <"$log")" -eq 3 ]
rm bin/rm
run clean
ok "without one it looks for no compiler first" [ "$(cat "$log")" = "rm -rf build" ]
cd "$root" || exit 1
echo "1..$count"
