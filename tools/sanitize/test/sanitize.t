#!/usr/bin/env bash
# What `make sanitize` runs, with a program that only writes down how it was called, and a GPU and a
# compute-sanitizer that do the same. Catches: a run without the search for races, copies that land
# in one order alone, a shape or a tool left out, a finding that ends with 0 or without its words, a
# machine with neither tool that is called clean.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
calls=$work/calls log=$work/log
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log" "$calls")
called() { [ "$(grep -cE -- "$2" "$calls")" -eq "$1" ]; } # called TIMES PATTERN

mkdir "$work/bin"
# Fails, with what it found, in the call whose line matches FINDS.
cat >"$work/program-sim" <<'END'
#!/bin/bash
line="race=${SIM_RACE:-} async=${SIM_ASYNC:-} index=${SIM_INDEX:-} \
sms=${SIM_MULTIPROCESSORS:-} $*"
echo "$line" >>"$CALLS"
if [[ -z ${FINDS:-} || ! $line =~ $FINDS ]]; then
    for word; do [[ $word != */* ]] || echo "${word##*/}  PASS"; done
    exit
fi
eval "${WORDS:-echo a data race at line 7}"
exit "${CODE:-1}"
END
cat >"$work/bin/compute-sanitizer" <<'END'
#!/bin/bash
echo "$*" >>"$CALLS"
echo "01_one  PASS"
[[ -n ${FINDS:-} && "$*" =~ $FINDS ]] || exit 0
eval "${WORDS:-echo an invalid access at line 9}"
exit 1
END
cat >"$work/nvidia-smi" <<'END'
#!/bin/bash
[ "$1" = -L ]
END
printf '#!/bin/sh\nexit 9\n' >"$work/bin/nvidia-smi" # as where there is no GPU
chmod +x "$work/program-sim" "$work"/bin/* "$work/nvidia-smi"
export CALLS=$calls PATH=$work/bin:$PATH
sanitize() {
    : >"$calls"
    tools/sanitize/sanitize.sh "$work/program" "$@" >"$log" 2>&1
    code=$?
}

# ---- a bad value ---------------------------------------------------------------------------------
CODE=64 FINDS=. sanitize DEVICE=sim LIMIT=3 build/01_one
ok "a bad value ends with 64" [ $code -eq 64 ]
ok "at once" called 1 LIMIT=3
ok "and its message is all that is said" [ "$(cat "$log")" = "a data race at line 7" ]

# ---- what cannot run -----------------------------------------------------------------------------
export WORDS='echo too large to simulate'
CODE=2 FINDS=. sanitize DEVICE=sim build/01_one
ok "no run is possible: exit 2" [ $code -eq 2 ]
ok "with the reason" says "too large to simulate"
says "found something"
ok "and nothing was found" [ $? -ne 0 ]
CODE=2 FINDS=index=32767 sanitize DEVICE=sim build/01_one
ok "one that cannot run beside others: exit 0" [ $code -eq 0 ]
unset WORDS

# ---- in the simulator ----------------------------------------------------------------------------
sanitize DEVICE=sim DTYPE=bf16 build/01_one build/02_two
ok "a clean run succeeds" [ $code -eq 0 ]
ok "it says what it runs first, one value of each name" [ "$(sed -n '2,3p' "$log")" = \
    "B=1 H=2 HKV=1 N=130 NKV=383 CAUSAL=0 D=128 SCALE=0.3 DTYPE=bf16
copies late clean" ]
ok "it says so of each run" [ "$(grep -c ' clean$' "$log")" -eq "$(wc -l <"$calls")" ]
ok "races are looked for in every run" called 0 '^race=[^1]|^race= '
ok "at least three shapes with copies late" [ "$(grep -c 'async=late' "$calls")" -ge 3 ]
ok "and the same with copies early" cmp -s <(sed -n 's/.*async=late//p' "$calls") \
    <(sed -n 's/.*async=early//p' "$calls")
ok "each is a run of all stages, with what the user said" \
    called "$(wc -l <"$calls")" ' run .*DTYPE=bf16 build/01_one build/02_two DEVICE=sim$'
ok "more keys than two tiles, the last one full but for a key, with a scale of its own" \
    called 2 'NKV=383 CAUSAL=0 .* SCALE=0.3 '
ok "one without LSE, with a P that ends beyond fp16" called 2 'INIT=sink STRENGTH=13 LSE=0 '
ok "one with rows that have one score, of -inf" called 2 'N=70 NKV=1 CAUSAL=1 .* INIT=infinite '
ok "one whose first rows see no key" called 2 'N=400 NKV=100 CAUSAL=1'
ok "one with few queries and many keys" called 2 'N=16 NKV=1700'
ok "one with the plan of many multiprocessors" called 1 'sms=132 .*N=40 NKV=1700'
ok "and one with pieces that see no key" called 1 'sms=132 .*N=420 NKV=420 CAUSAL=1'
ok "one in which no index may be computed in 32 bits" \
    called 1 'index=32767 .*B=2 .*HKV=2 N=264 NKV=264'
ok "one in which a block takes several pieces" called 2 'H=3 HKV=3 N=129 NKV=1025 CAUSAL=1 D=128'
ok "one with several groups of heads" called 2 'B=3 H=11 HKV=11 N=400 NKV=130 CAUSAL=1 D=64'
ok "one with as many pieces as there are" called 1 'sms=132 .*N=1 NKV=70000'
ok "all others with heads that share keys" called $(($(wc -l <"$calls") - 5)) 'H=[2-9] HKV=[12] '
for mask in 0 1; do for d in 64 128; do for type in fp16 bf16; do
    ok "d$d $type with CAUSAL=$mask" grep -q "CAUSAL=$mask D=$d DTYPE=$type" "$calls"
done; done; done
ok "six kinds of inputs and more" [ "$(grep -o 'INIT=[a-z]*' "$calls" | sort -u | wc -l)" -ge 6 ]
runs=$(wc -l <"$calls")
for finds in 'async=late .*NKV=383 CAUSAL=0' 'async=early .*NKV=383 CAUSAL=0' \
    'async=late .*N=400 NKV=100' 'async=early .*1700' 'index=3' 'sms=132 .*N=40 ' \
    'sms=132 .*N=420'; do
    FINDS=$finds sanitize DEVICE=sim build/01_one
    ok "a finding in $finds: exit 1" [ $code -eq 1 ]
    ok "with its words" says "a data race at line 7"
    ok "once" [ "$(grep -c 'found something (exit 1)' "$log")" -eq 1 ]
    ok "and the rest is looked at as well" [ "$(wc -l <"$calls")" -eq "$runs" ]
done

# ---- a mistake that many runs find ---------------------------------------------------------------
in_full() { grep -c 'found something (exit 1):$' "$log"; }
again() { grep -c 'found the same again (exit 1)$' "$log"; }
# shellcheck disable=SC2016 # for the program
race='echo "ptxsim: a race (address 0x$RANDOM)
  in block $RANDOM
    at a/kernel.cu:7
    at a/kernel.cu:9"'
FINDS=. WORDS=$race sanitize DEVICE=sim build/01_one
ok "a race that every run finds: exit 1" [ $code -eq 1 ]
ok "in full once" [ "$(in_full)" -eq 1 ]
ok "the others say that it is the same" [ "$(again)" -eq $((runs - 1)) ]
ok "and the end how many" [ "$(tail -n 1 "$log")" = \
    "$runs of $runs runs found something; the words above have all of it" ]
ok "the first words are the program's" [ "$(grep -c 'kernel.cu:9$' "$log")" -eq 1 ]
# new TIMES WHAT WORDS: those runs are shown in full in which it says so
new() {
    FINDS=. WORDS=$3 sanitize DEVICE=sim build/01_one
    ok "$2 is shown in full" [ "$(in_full)" -eq "$1" ]
    ok "and nothing else: $((runs - $1))" [ "$(again)" -eq $((runs - $1)) ]
}
new 2 "another line" "$race; case \$line in *N=400*=100*) echo \"ptxsim: a race (5)
    at a/kernel.cu:7
    at a/kernel.cu:8\" ;; esac"
new 2 "the same line of another kernel" "case \$line in *N=400*=100*) echo 'ptxsim: x, 5
    at b/kernel.cu:7' ;; *) echo 'ptxsim: x, 6
    at a/kernel.cu:7' ;; esac"
new 2 "another kind at the same line" "case \$line in *N=400*=100*) echo 'ptxsim: x, 5
    at a/kernel.cu:7' ;; *) echo 'ptxsim: y, 6
    at a/kernel.cu:7' ;; esac"
new 3 "a wrong result beside it, each time," "$race; echo '01 FAIL (see above)'
    case \$line in *N=400*=100*) echo '02  1e-3 FAIL' ;; esac"
new "$runs" "what names no line" 'echo "ptxsim: it hangs"'

CODE=0 FINDS='async=late .*N=400' WORDS='echo "01_one  PASS"' \
    sanitize DEVICE=sim build/01_one build/02_two
ok "a program that ends with 0 before each verdict is no clean one" [ $code -eq 1 ]
ok "and says so" says "the program ended early: does a stage's host code end it?"

# ---- a kernel that the simulator cannot run ------------------------------------------------------
unknown='echo "ptxsim: unsupported instruction in kernel f (a.cu:7): frob
01_one  FAIL: attention_launch: cudaErrorInvalidPtx (the simulator cannot run this PTX, see above)"'
FINDS=. WORDS=$unknown sanitize DEVICE=sim build/01_one
ok "an instruction that it does not know: exit 2" [ $code -eq 2 ]
ok "with it and its line, and nothing else of what was said" [ "$(sed '1,/ not run,/d' "$log")" = \
    "ptxsim: unsupported instruction in kernel f (a.cu:7): frob" ]
ok "nothing was found" [ "$(grep -c found "$log")" -eq 0 ]
ok "and nothing is run again" [ "$(wc -l <"$calls")" -eq 1 ]
FINDS=. WORDS="echo '02  1e-3 FAIL'; $unknown" sanitize DEVICE=sim build/01_one build/02_two
ok "another stage's wrong result beside it is found" [ "$code $(in_full)" = "1 $runs" ]
FINDS=. WORDS="[[ \$line = *late* ]] || { $unknown; exit 1; }; $race" \
    sanitize DEVICE=sim build/01_one
ok "so is what a run before found" [ $code -eq 1 ]
ok "which is said, too" [ "$(tail -n 1 "$log")" = \
    "1 of 2 runs found something; the words above have all of it" ]
CODE=139 FINDS=. WORDS=$unknown sanitize DEVICE=sim build/01_one
ok "a crash is something found" [ $code -eq 1 ]

# ---- on a GPU ------------------------------------------------------------------------------------
mv "$work/bin/nvidia-smi" "$work/none"
mv "$work/nvidia-smi" "$work/bin"
sanitize build/01_one
ok "where there is a GPU, it runs there" called 0 'DEVICE=sim'
for tool in memcheck racecheck initcheck synccheck; do
    ok "under $tool" called 10 \
        "^--tool $tool --error-exitcode 1 .*/program run .* build/01_one DEVICE=gpu"
done
ok "and nothing else" [ "$(wc -l <"$calls")" -eq 40 ]
ok "clean" [ $code -eq 0 ]
FINDS='racecheck.*1700' sanitize build/01_one
ok "a finding there is one" [ $code -eq 1 ]
ok "with its words, too" says "an invalid access at line 9"
# shellcheck disable=SC2016 # for the program
FINDS=racecheck WORDS='echo "========= COMPUTE-SANITIZER
========= Error: Race reported between Read access at f(float *)+0x$RANDOM in a/kernel.cu:7
=========     and Write access at f(float *)+0x10 in a/kernel.cu:9 [$RANDOM hazards]
========= ERROR SUMMARY: $RANDOM errors"' sanitize build/01_one
ok "the same race once in full" [ "$(in_full) $(again)" = "1 9" ]
FINDS=racecheck WORDS='echo "========= COMPUTE-SANITIZER"' sanitize build/01_one
ok "a run that says nothing is shown each time" [ "$(in_full) $(again)" = "10 0" ]
sanitize DEVICE=sim build/01_one
ok "DEVICE=sim leaves the GPU alone" called 0 'DEVICE=gpu'
mkdir "$work/path"
for tool in bash mktemp rm cat; do ln -s "$(command -v $tool)" "$work/path"; done
ln -s "$work/bin/nvidia-smi" "$work/path"
PATH=$work/path sanitize build/01_one
ok "a GPU without compute-sanitizer: exit 2" [ $code -eq 2 ]
ok "and a sentence" says "compute-sanitizer was not found"
mv "$work/none" "$work/bin/nvidia-smi"
sanitize DEVICE=gpu build/01_one
ok "DEVICE=gpu without one: exit 2" [ $code -eq 2 ]
rm "$work/program-sim"
sanitize build/01_one
ok "neither GPU nor simulator: exit 2" [ $code -eq 2 ]
ok "which is not called clean" [ "$(grep -c clean "$log")" -eq 0 ]
echo "1..$count"
