#!/usr/bin/env bash
# The scripts when the world fails them: a full disk, Ctrl-C.
# Catches: results half-written or lost, an exit code that says nothing, temporary files left
# behind, a command that does not end or leaves programs running.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir -p "$work/bin" "$TMPDIR" "$work/tree/stages/01_small"
cd "$work/tree" || exit 1
shown=("$work/err")
says() { grep -qiF -- "$1" "$work/err"; }
run() { # run COMMAND...: code, $work/out, $work/err
    code=0
    "$@" >"$work/out" 2>"$work/err" || code=$?
}
full() { # full COMMAND...: the same with a full disk for stdout
    code=0
    "$@" >/dev/full 2>"$work/err" || code=$?
}
interrupted() { # interrupted SECONDS COMMAND...: the same, with Ctrl-C after so many seconds
    run timeout --preserve-status -s INT -k 10 "$@"
}
pressed() { # pressed SECONDS COMMAND...: the same, with ten of them, a millisecond apart
    local seconds=$1 job
    shift
    set -m # a process group of its own, and timeout's child does not ignore what this one may
    timeout --preserve-status 60 "$@" >"$work/out" 2>"$work/err" &
    job=$!
    set +m
    sleep "$seconds"
    for _ in 0 1 2 3 4 5 6 7 8 9; do kill -INT -$job 2>/dev/null && sleep 0.001; done
    code=0
    wait $job || code=$?
}
clean() { [ -z "$(find "$TMPDIR" -type f)" ]; }

# ---- a GPU and a program, both of them scripts ---------------------------------------------------
cat >"$work/bin/nvidia-smi" <<'END'
#!/bin/sh
case $* in
*query-gpu=name*) echo 'Fake' ;;
*utilization*) exec sleep 60 ;;
*) echo '1, 2, 3' ;;
esac
END
# Three lines of results, then SLEEP. It leaves its process id.
cat >"$work/program" <<'END'
#!/bin/bash
echo $$ >"$TMPDIR/../pid"
for seq in 512 1024 2048; do
    printf '{"stage":1,"name":"01_small","device":"Fake","dtype":"fp16","causal":false,'
    printf '"seq_q":%d,' $seq
    printf '"d":128,"status":"pass","reason":null,"tflops":30,"filler":"%0512d"}\n' 0
done
exec sleep "${SLEEP:-0}"
END
cp "$work/program" "$work/program-sim"
chmod +x "$work/bin/nvidia-smi" "$work/program" "$work/program-sim"
PATH=$work/bin:$PATH
ended() { # true if the program has ended
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -0 "$(cat "$work/pid")" 2>/dev/null || return 0
        sleep 0.5
    done
    return 1
}
results=notes/results/fake.jsonl

# ---- bench ---------------------------------------------------------------------------------------
run "$root/tools/bench/bench.sh" "$work/program" a
ok "a bench to begin with" [ -s $results ]
cp $results "$work/whole"
full "$root/tools/bench/bench.sh" "$work/program" a
ok "a bench that cannot print fails" [ $code -eq 1 ]
ok "and says why" says 'no space left'
# shellcheck disable=SC2016 # the other shell expands it
run bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' bash "$root/tools/bench/bench.sh" \
    "$work/program" a
ok "a bench whose disk is full fails" [ $code -ne 0 ]
ok "and says why" says 'file too large'
ok "the results before it stay as they were" cmp -s $results "$work/whole"
ok "nothing else is there" [ "$(find notes/results -mindepth 1 | grep -cv 'fake[._]')" -eq 0 ]
SLEEP=60 interrupted 2 "$root/tools/bench/bench.sh" "$work/program" a
ok "an interrupted bench ends with 130" [ $code -eq 130 ]
ok "the results before it stay" cmp -s $results "$work/whole"
ok "nothing else is there" [ "$(find notes/results -mindepth 1 | grep -cv 'fake[._]')" -eq 0 ]
ok "the program has ended" ended

# ---- plot ----------------------------------------------------------------------------------------
printf '#!/bin/sh\necho "mktemp: failed" >&2; exit 1\n' >"$work/bin/mktemp"
chmod +x "$work/bin/mktemp"
run "$root/tools/plot/plot.sh" $results
ok "a plot whose folder cannot be written ends with 2" [ $code -eq 2 ]
ok "and says so, in one line" [ "$(cat "$work/err")" = \
    "notes/results cannot be written, and the table and the plots go there" ]
rm "$work/bin/mktemp"

# ---- tune, sanitize ------------------------------------------------------------------------------
cp "$root/tools/test/small_kernel.cu" stages/01_small/kernel.cu
cat >"$work/bin/nvcc" <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
touch "$2"
END
chmod +x "$work/bin/nvcc"
export NVCC=nvcc NVCC_FLAGS='' MACROS='' VARIANT=d128_fp16_full
SLEEP=60 interrupted 3 "$root/tools/tune/tune.sh" "$work/program" build/sm_80/01_small
ok "an interrupted tune ends with 130" [ $code -eq 130 ]
ok "and prints no table" [ ! -s "$work/out" ]
ok "the program has ended" ended
full "$root/tools/tune/tune.sh" "$work/program" build/sm_80/01_small
ok "a tune that cannot print fails" [ $code -eq 1 ]
SLEEP=60 interrupted 2 "$root/tools/sanitize/sanitize.sh" "$work/program" DEVICE=sim \
    build/sm_80/01_small
ok "an interrupted sanitize ends with 130" [ $code -eq 130 ]
ok "and leaves no temporary files" clean

# ---- the disassembler ----------------------------------------------------------------------------
printf '#!/bin/sh\nexec sleep 60\n' >"$work/bin/slow" && chmod +x "$work/bin/slow"
: >a.so
CUOBJDUMP=slow interrupted 1 "$root/build/sass" count a.so
ok "an interrupted disassembly ends with 130" [ $code -eq 130 ]
ok "and leaves no folder" [ -z "$(find "$TMPDIR" -name 'sass.*')" ]
rm a.so

# ---- grade ---------------------------------------------------------------------------------------
cat >"$work/bin/slow_make" <<'END'
#!/bin/sh
echo $$ >"$TMPDIR/../pid"
exec sleep 60
END
chmod +x "$work/bin/slow_make"
MAKE=slow_make VARIANTS=d128_fp16_full DIR=build/sm_80/work/01_small interrupted 2 \
    "$root/tools/exercise/exercise.sh" grade 01_small stages/01_small/kernel.cu "$work/program"
ok "an interrupted grade ends with 130" [ $code -eq 130 ]
ok "and leaves no temporary files" clean
ok "what it ran has ended" ended
MAKE=slow_make VARIANTS=d128_fp16_full DIR=build/sm_80/work/01_small pressed 1 \
    "$root/tools/exercise/exercise.sh" grade 01_small stages/01_small/kernel.cu "$work/program"
ok "a grade interrupted ten times over ends with 130" [ $code -eq 130 ]
ok "and leaves no temporary files" clean

# ---- compare -------------------------------------------------------------------------------------
# Its record is there at once; what counts for the limits takes longer than one waits.
cat >"$work/bin/recorder" <<'END'
#!/bin/sh
echo {} | tee "$SIM_RECORD"
END
cp "$work/program-sim" "$work/bin/recorder-sim"
chmod +x "$work/bin/recorder"
LAB_RUN=true SLEEP=60 interrupted 2 "$root/tools/page/compare/compare.sh" "$work/bin/recorder" \
    build/sm_80/01_small/$VARIANT.so build/sm_80/01_small/$VARIANT.so page.html
ok "an interrupted compare ends with 130" [ $code -eq 130 ]
ok "and makes no page" [ ! -e page.html ]
ok "nor leaves anything half-counted" [ -z "$(find build/limits -type f)" ]
ok "the program has ended" ended

# ---- mutate --------------------------------------------------------------------------------------
NVCC=slow_make VARIANTS=$VARIANT KEY='' interrupted 2 \
    "$root/tools/mutate/check.sh" "$work/program" build/sm_80/01_small 0 host
ok "an interrupted check of a mutant ends with 130" [ $code -eq 130 ]
ok "and leaves no verdict nor anything else" [ -z "$(find build/mutants -type f)" ]
ok "what it ran has ended" ended

printf '%s\n' 'bug x' 'stage 01_small' "variant $VARIANT" 'check run' 'says x' \
    'before attention_launch' 'after attention_launch' >"$work/x.bug"
SLEEP=60 interrupted 2 "$root/tools/mutate/planted.sh" --one "$work/program" "$work/x.bug"
ok "an interrupted check of a planted bug ends with 130" [ $code -eq 130 ]
ok "and finds nothing" [ ! -s "$work/out" ]
ok "what it ran has ended" ended

# ---- what else prints ----------------------------------------------------------------------------
cd "$root" || exit 1
full make --no-print-directory help
ok "make help" [ $code -ne 0 ]
full make --no-print-directory diff FROM=01 TO=16
ok "make diff" [ $code -ne 0 ]
ok "says why" says 'no space left'
python=$(tools/toolchain/python.sh build/python 2>/dev/null)
full "$python" reference/trace.py N=4 D=2
ok "the trace" [ $code -eq 1 ]
ok "says why, in one line" [ "$(cat "$work/err")" = \
    "trace: the output cannot be written: No space left on device" ]
full "$python" reference/trace.py N=64 D=8
ok "a long trace, too" [ "$code, $(wc -l <"$work/err")" = "1, 1" ]
make trace N=64 D=8 2>"$work/err" | head -n 1 >/dev/null
ok "which ends quietly where head has enough of it" [ "$(grep -vc '^numpy ' "$work/err")" -eq 0 ]
if [ -x build/sass ] && [ -e build/disassembler.mk ] && [ -n "${BASELINE:-}" ]; then
    while read -r line; do export "${line?}"; done < <(sed 's/ := /=/' build/disassembler.mk)
    for command in count show check; do
        full build/sass $command "${BASELINE%% *}"
        ok "sass $command" [ $code -eq 1 ]
        ok "says why" says 'the output cannot be written'
    done
else
    skip "build/sass, build/disassembler.mk or BASELINE is not there"
fi
echo "1..$count"
