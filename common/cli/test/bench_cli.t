#!/usr/bin/env bash
# The command bench end to end, on a fake runtime and fake stages (fake_runtime.c, fake_stage.c).
# Catches: a variant, an input or a length left out, a figure that is computed wrongly, a shape of a
# regime that is not said, an option that is taken and changes nothing.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../../test/fake.sh"

# The program `short` has squares of 1024 tokens, not of 16384.
build_short() {
    sed 's/TOKENS = 16384/TOKENS = 1024/' cli/regimes.c >"$work/regimes.c" &&
        "$cc" "${flags[@]}" -c "$work/regimes.c" -o "$work/regimes.o" &&
        link short $runtime "$work/regimes.o"
}
if ! build 01_none 12_unsupported || ! build_causal 01_none 12_unsupported || ! build_short; then
    echo "Bail out! the programs do not build"
    exit 1
fi
mv "$work/simulator" "$work/attention-sim"

run short bench SEQS=1 REPS=1 INIT=sink STRENGTH=30 D=128 01_none 12_unsupported
exits 0 "bench" 'd128_fp16_causal seq     1  sink 30 0.0001398 SKIP' '"tflops":0.000139810133,' \
    '"batch":1024,"heads":16,' '"causal":true' '"init":"sink","strength":30,' \
    '"regime":"square",' '"sustained":null,"began":null,"ended":null,' \
    '"gb_s":0.280712533,"hbm_share":0.000280712533,'
[ "$(grep -c '^{.*}$' "$work/out")" -eq 4 ] && [ "$(wc -l <"$work/out")" -eq 4 ]
result $? "an object for each mask and stage"
FAKE_MEMORY=1000 run attention bench REPS=1 INIT=all D=128 CAUSAL=0 01_none
exits 2 "all inputs at two lengths" 'seq  4096 normal: ' 'seq  4096 sink 30: ' \
    'seq 16384 primacy 100: '
[ "$(grep -c 'seq ' "$work/err")" -eq 20 ]
result $? "and no other"
FAKE_MEMORY=1000 run short bench SEQS=1 REPS=1 INIT=ramp CAUSAL=0 01_none
exits 2 "bench covers both head sizes" 'd128_fp16_full   seq     1 ramp: ' \
    'd64_fp16_full    seq     1 ramp: '
run short bench SEQS=1 D=128 CAUSAL=1 SUSTAINED=1 01_none
exits 0 "bench, sustained" '"ms_median":60,"ms_min":60,' '"sustained":1,"began":"20'
[ "$(grep -c '"began":"20.*","ended":"20' "$work/out")" -eq 1 ]
result $? "from one time to another"
run attention bench REGIME=decode D=64 01_none
exits 1 "another regime" '"regime":"decode",' \
    'decode  d64_fp16_full    B=8 H=32 HKV=8 N=1 NKV=8192  FAIL' 'd64_fp16_full.so is missing'
run attention bench REGIME=small D=64 CAUSAL=1 99_missing
exits 64 "an unknown stage ends it" '"status":"fail","reason":"99_missing: no such stage'
[ "$(wc -l <"$work/out")" -eq 1 ]
result $? "with the first cell"
run attention bench REGIME=prefill CAUSAL=0 01_none
exits 64 "a regime without such a shape" 'REGIME=prefill has no shape with this D and CAUSAL'
run attention run REGIME=gqa 01_none
exits 64 "a regime in run" 'REGIME: allowed with bench, not with run'
run attention bench N=100 01_none
exits 64 "bench with a length" 'bench chooses the shapes itself'
run attention-sim bench SEQS=1 01_none
exits 2 "bench on the simulator" 'it needs a GPU'

echo "1..$count"
