#!/usr/bin/env bash
# What the commands of build/sass print, whole, of the two stages in corpus/stages: what nvdisasm,
# cuobjdump and the simulator said of them is there, so none of them runs. WRITE=1 writes the
# expected texts in corpus/commands anew. Catches: a line that is left out, comes twice or in
# another order, a number that stands for another one, an option that is passed over, another exit
# code, memory that is not given back.
set -uo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "$0")/lab.sh"
corpus=$root/tools/sass/test/corpus
include=$(value CUDA_INCLUDE build/toolchain.mk)

# ---- The stages ----------------------------------------------------------------------------------
# A cubin here is named after its stage, and has nothing in it but who compiled it.
cat >"$scratch/cuobjdump" <<'END'
#!/bin/sh
folder=${3%/*} stage=${2##*/}
case $1 in
    --extract-elf) exec cp "$folder/"*.cubin . ;;
    --extract-ptx) [ ! -e "$folder/ptx" ] || exec cp "$folder/ptx" stage.ptx ;;
    --dump-resource-usage) exec cat "${0%/*}/${stage%.cubin}.resources" ;;
    *) exit 1 ;;
esac
END
cat >"$scratch/nvdisasm" <<'END'
#!/bin/sh
stage=${6##*/}
[ "$1 $2 $3 $4 $5" = '-ndf -c -hex -gi -gp' ] || exit 1
exec cat "${0%/*}/${stage%.cubin}"
END
for stage in 01_rows 02_mma 03_paths; do
    cp "$corpus/stages/$stage/sass" "$scratch/$stage"
    cp "$corpus/stages/$stage/resources" "$scratch/$stage.resources"
done
grep -v '^\s*//## File' "$scratch/02_mma" >"$scratch/no_lines"
# A main loop with loops in it, and a kernel without its encoding and its resources.
sed -E '/LDS\.U R4, \[R3\]/s/LDS\.U R4, \[R3\]/MUFU.EX2 R4, R3/
    /MUFU\.EX2 R5, R4/s/MUFU\.EX2/LDS.U/; /text\.plain_c,/,$s,/\* 0x[0-9a-f]* \*/,,' \
    "$scratch/03_paths" >"$scratch/04_outer"
sed '/plain_c/,$d' "$scratch/03_paths.resources" >"$scratch/04_outer.resources"
cp "$scratch/02_mma.resources" "$scratch/no_lines.resources"
cat >"$scratch/simulator" <<'END'
#!/usr/bin/env bash
echo '{"counters":{"barriers":12,"shared_load_units":24,"shared_load_ideal_units":24}}'
echo "$*" >>"$SIMULATED"
END
chmod +x "$scratch"/{cuobjdump,nvdisasm,simulator}
export CORPUS=$corpus CUOBJDUMP=$scratch/cuobjdump NVDISASM=$scratch/nvdisasm
export SIMULATOR=$scratch/simulator SIMULATED=$scratch/simulated
unset LISTINGS

# stage FOLDER OF [KEPT]: a library there of a stage of the corpus, with its PTX unless KEPT is no
stage() {
    mkdir -p "$1"
    cp "$scratch/library.so" "$1/d64_fp16_causal.so"
    cp "$scratch/library.so" "$1/d64_fp16_full.so"
    printf '\177ELF%14s\276\n%s\n' '' 'Cuda compilation tools, release 13.0, V13.0.88' \
        >"$1/$2.cubin"
    [ "${3:-}" = no ] || cp "$corpus/stages/$2/ptx" "$1/ptx"
}
cd "$scratch" || exit 1
${CC:-cc} -shared -fPIC -I"$root/common" -isystem "$include" -o library.so \
    "$root/tools/sass/test/samples/host_part.c" 2>"$log"
ok "the host code compiles" [ $? -eq 0 ]
${CC:-cc} -shared -fPIC -D_GNU_SOURCE -I"$root/common" -o held.so \
    "$root/tools/sass/test/samples/held.c" 2>"$log"
ok "and what counts allocations" [ $? -eq 0 ]
export HELD=$scratch/held
stage build/sm_80/01_rows 01_rows
stage build/sm_80/02_mma 02_mma
stage bare/02_mma 02_mma no
stage bare/03_paths 03_paths no
stage bare/04_outer 03_paths no
mv bare/04_outer/{03_paths,04_outer}.cubin
stage bare/no_lines 02_mma no
mv bare/no_lines/02_mma.cubin bare/no_lines/no_lines.cubin
cp build/sm_80/02_mma/02_mma.cubin .
ln -s "$root/tools" tools
rows=build/sm_80/01_rows/d64_fp16_causal.so
mma=build/sm_80/02_mma/d64_fp16_causal.so
full=build/sm_80/02_mma/d64_fp16_full.so
mkdir -p stages/{01_rows,02_mma} counted/sm_80/02_mma/d64_fp16_{causal,full}
cp "$corpus"/stages/02_mma/counted/* counted/sm_80/02_mma/d64_fp16_causal
cp "$corpus"/stages/02_mma/counted/* counted/sm_80/02_mma/d64_fp16_full

# prints NAME EXIT ARGUMENT...: against corpus/commands/NAME.txt, every allocation fenced, counted
prints() {
    local name=$1 exit=$2 got
    shift 2
    LD_PRELOAD=$scratch/held.so "$sass" "$@" >"$log" 2>&1
    got=$?
    [ -z "${WRITE:-}" ] || cp "$log" "$corpus/commands/$name.txt"
    ok "sass $*: exit $exit" [ $got -eq "$exit" ]
    ok "its text is that of $name.txt" same "$corpus/commands/$name.txt"
    # One is the buffer of stdout.
    ok "and memory is given back: $(<held) allocations are left" [ "$(<held)" -le 1 ]
}
# same FILE: whether the log is; else their difference is shown
same() {
    [ "$(<"$log")" != "$(<"$1")" ] || return 0
    diff "$1" "$log" >difference
    mv difference "$log"
    return 1
}
# says_that TEXT EXIT ARGUMENT...: one line
says_that() {
    local text=$1 exit=$2 got
    shift 2
    LD_PRELOAD=$scratch/held.so "$sass" "$@" >"$log" 2>&1
    got=$?
    ok "sass ${*:1:7}: exit $exit" [ $got -eq "$exit" ]
    ok "that says: $text" [ "$(<"$log")" = "sass: $text" ]
    ok "and memory is given back: $(<held) allocations are left" [ "$(<held)" -le 1 ]
}

# ---- What is in the machine code -----------------------------------------------------------------
prints count 0 count $rows $mma
prints count 0 count BATCH=x HEADS=x NKV=x $rows $mma # keys that it has no use for
prints count 0 count CLEANX=no PTX0=2 LINES=0 FORMATS=xml BB=0 HH=0 NN=0 $rows $mma # unknown keys
prints count_markdown 0 count FORMAT=markdown $rows $mma
prints count_json 0 count FORMAT=json 02_mma.cubin $rows
prints show 0 show $rows 02_mma.cubin
prints show_ptx 0 show CLEAN=1 PTX=1 $mma
prints show_line 0 show LINE=37 $mma
prints show_line_ptx 0 show LINE=14 INSTR=ex2 CLEAN=1 $rows $mma
prints show_instr 0 show INSTR=add $rows
prints show_no_ptx 0 show PTX=1 bare/02_mma/d64_fp16_causal.so
prints show_line_no_ptx 0 show LINE=37 bare/02_mma/d64_fp16_causal.so
says_that "INSTR asks for PTX, and 02_mma has none" 64 show INSTR=ex2 \
    bare/02_mma/d64_fp16_causal.so
says_that "LINE must be a line of stage.cu that became instructions; not '4'" 64 show LINE=4 $mma
says_that "INSTR must be a PTX instruction that 02_mma has and that became SASS; not 'tanh'" \
    64 show INSTR=tanh $mma
says_that "INSTR must be a PTX instruction that 02_mma has on that line and that became SASS; not \
'ex2'" 64 show LINE=13 INSTR=ex2 $mma
prints show_json 0 show FORMAT=json $mma
prints show_json_line 0 show FORMAT=json LINE=37 $mma
prints show_json_instr 0 show FORMAT=json LINE=14 INSTR=ex2 $mma
says_that "LINE must be a line of stage.cu that became instructions; not '4'" 64 \
    show FORMAT=json LINE=4 $mma
says_that "FORMAT must be one of: text json; not 'markdown'" 64 show FORMAT=markdown $mma

# Loops that are left and come back, a function that is called, two instances of a template.
paths=bare/03_paths/d64_fp16_causal.so
prints count_paths 0 count FORMAT=json $paths
prints count_paths_text 0 count $paths
prints show_paths 0 show $paths
prints ladder_paths 0 ladder $paths $mma
outer=bare/04_outer/d64_fp16_causal.so
prints count_outer 0 count $outer
prints count_outer_json 0 count FORMAT=json $outer
prints show_outer 0 show $outer
prints diff_paths 0 diff $paths $outer
prints ladder_outer 0 ladder $outer $mma $paths
says_that "INSTR must be a PTX instruction that 01_rows has and that became SASS; not 'mma'" 64 \
    show INSTR=mma $rows $mma
# Without lines nobody knows where anything is.
prints count_no_lines 0 count bare/no_lines/d64_fp16_causal.so
prints show_no_lines 0 show bare/no_lines/d64_fp16_causal.so
says_that "LINE must be a line of no_lines that became instructions; not '37'" 64 \
    show LINE=37 bare/no_lines/d64_fp16_causal.so
mkdir stages/no_lines
echo 'IMAD == 0' >stages/no_lines/expect.sass
prints check_no_lines 1 check bare/no_lines/d64_fp16_causal.so
mkdir stages/03_paths
echo 'spills == 0' >stages/03_paths/expect.sass
prints check_local 1 check bare/03_paths/d64_fp16_causal.so
rm -r stages/03_paths

# ---- What changed --------------------------------------------------------------------------------
cat >stages/02_mma/expect.sass <<'END'
# Tensor cores <multiply>, and nothing & nobody else:
# two products at a time.
products = 1
loop HMMA == products
flash_fwd: loop FFMA == 0

# Not a part of the idea.
loop MUFU.EX2 == 2
flash_fwd: loop LDS <= 1
END
prints diff 0 diff $rows $mma
prints diff_back 0 diff FORMAT=markdown $mma $rows
prints diff_json 0 diff FORMAT=json $rows 02_mma.cubin
# What concerns the earlier one alone is left out, and one with other kernels says nothing.
mkdir -p variants/02_mma
printf '%s\n' 'full: loop HMMA == 1' 'causal: loop HMMA == 2' 'loop HMMA == 1' \
    >variants/02_mma/expect.sass
prints diff_variants 0 diff STAGES=variants $full $mma
prints diff_apart 0 diff $paths $mma
prints ladder 0 ladder $rows $mma 02_mma.cubin
prints ladder_markdown 0 ladder FORMAT=markdown $mma $rows
prints ladder_json 0 ladder FORMAT=json $rows
# run NAME SIMULATED MORE: a line of `attention run FORMAT=json`
run() {
    echo "{\"name\":\"$1\",\"simulated\":$2,\"batch\":1,\"heads\":2,\"kv_heads\":2,\"seq_q\":64," \
        "\"seq_kv\":96,\"d\":64,$3}"
}
counters='"warp_instructions":566,"mma_instructions":6,"barriers":12,"divergent_branches":null'
{
    run 01_rows false '"ms_median":3,"tflops":1.5'
    run 02_mma false '"ms_median":0.75,"tflops":6'
    run 02_mma true "\"counters\":{$counters,\"shared_load_units\":240000}"
    counters=${counters/566/2436} counters=${counters/null/4} counters=${counters/:6/:0}
    run 01_rows true "\"counters\":{$counters,\"shared_load_units\":198}"
} >runs
prints page 0 page RUNS=runs $rows $mma
# Two kernels of one stage: the first and the second line of it.
sed 's/02_mma/01_rows/' runs >one_stage
prints page_one_stage 0 page RUNS=one_stage $rows $rows
prints page_archs 0 page $mma $paths
prints page_alone 0 page $mma 02_mma.cubin
# Of one of the two there is no time, of the other one nothing is counted.
sed '/01_rows.*false/d; /02_mma.*true/d' runs >some_runs
prints page_some 0 page RUNS=some_runs $rows $mma
prints page_some_back 0 page RUNS=some_runs $mma $rows
says_that "missing.so: No such file or directory" 64 diff $rows missing.so
says_that "missing.so: No such file or directory" 64 page $rows missing.so
says_that "missing.so: No such file or directory" 64 ladder $rows $mma missing.so

# ---- Signatures ----------------------------------------------------------------------------------
echo 'loop HMMA == 0' >stages/01_rows/expect.sass
sed -i /LDS/d stages/02_mma/expect.sass
prints check 0 check $rows $mma
echo 'flash_fwd: loop LDS == 3' >>stages/02_mma/expect.sass
cat >stages/01_rows/expect.sass <<'END'
kernels == 2
IMAD > 100 # an address each
flash_fwd: loop FFMA + loop MUFU.EX2 == 1 + 2
# A block meets twelve times,
# and once more.
barriers == 13
END
prints check_fails 1 check $rows $mma $rows
ok "the simulator is asked for counters" [ "$(sort -u simulated)" = "run DEVICE=sim FORMAT=json \
B=1 H=2 HKV=1 N=300 NKV=330 D=64 DTYPE=fp16 CAUSAL=1 build/sm_80/01_rows" ]
# None at all, and of the first region as many lines as are shown.
cat >stages/01_rows/expect.sass <<'END'
HMMA == 4
prologue move == 99
END
prints check_shown 1 check $rows
echo 'kernels = = 2' >stages/01_rows/expect.sass
prints check_unread 64 check $rows $mma missing.so
prints check_nowhere 64 check STAGES=elsewhere $mma

# ---- Limits --------------------------------------------------------------------------------------
limits=(COUNTED=counted MACHINES="$root/tools/limits/machines")
prints limits 0 limits "${limits[@]}" GPU=a100 N=192 B=1 H=8 $mma
prints limits_both 0 limits "${limits[@]}" GPU=rtx3090 B=1 $mma $full
prints limits_json 0 limits "${limits[@]}" GPU=a100 N=1000 B=3 H=7 FORMAT=json $mma $full
prints limits_own 0 limits "${limits[@]}" FORMAT=json $full
prints limits_skipped 2 limits "${limits[@]}" GPU=t4 $mma $full
mkdir -p counted/bare/02_mma
cp -r counted/sm_80/02_mma/d64_fp16_full counted/bare/02_mma
prints limits_skips 0 limits "${limits[@]}" GPU=a100 B=1 H=1 N=64 bare/02_mma/d64_fp16_full.so $mma
# A name that says no more than the head size; a machine so small that a last round shows in a
# million blocks, of which more are not looked at.
cp library.so build/sm_80/02_mma/d64.so
cp library.so build/sm_80/02_mma/plain.so
cp -r counted/sm_80/02_mma/d64_fp16_full counted/sm_80/02_mma/d64
cp -r counted/sm_80/02_mma/d64_fp16_full counted/sm_80/02_mma/plain
prints errors_name 0 errors "${limits[@]}" GPU=a100 H=2 \
    build/sm_80/02_mma/{d64,plain}.so
prints limits_name 0 limits "${limits[@]}" GPU=a100 N=192 build/sm_80/02_mma/d64.so
mkdir small
sed 's/^sms 108/sms 2/' "$root/tools/limits/machines/a100.txt" >small/a100.txt
for blocks in 1048576:32 2097152:64; do
    prints limits_${blocks%:*} 0 limits COUNTED=counted MACHINES=small B=1024 H=1024 \
        N=${blocks#*:} FORMAT=json $mma
done
# Where memory is slow the first kernel takes longest.
sed -i 's/^hbm_gb_s 2039/hbm_gb_s 50/; s/^sms 2/sms 108/; s/^l2_mib 40/l2_mib 0.5/' small/a100.txt
prints limits_slow 0 limits COUNTED=counted MACHINES=small N=8192 B=1 $mma
# A machine whose latencies are known gets a replay.
keys='barrier_warp|l[ds].*_|widen|l2_port|code_|block_start|launch_us|tensor_mhz'
{
    cat "$root/tools/limits/machines/a100.txt"
    sed -nE "/_latency|^($keys)/p" \
        "$root/tools/limits/machines/h200.txt"
} >small/a100.txt
prints limits_replay 0 limits COUNTED=counted MACHINES=small $mma
prints limits_replay_json 0 limits COUNTED=counted MACHINES=small FORMAT=json $mma
# Without the kernel whose blocks stay a replay is offered.
cp -r counted alone
for record in alone/sm_80/02_mma/d64*/*.json; do
    sed -i '/^{"kernel":"prepare"/,/^{"kernel":"flash/{/^{"kernel":"flash/!d}' "$record"
done
sed -i '/^prepare$/,/^flash_fwd$/{/^flash_fwd$/!d}' alone/sm_80/02_mma/d64*/*.txt
replayed=(COUNTED=alone MACHINES=small)
prints replayed 0 limits "${replayed[@]}" $mma $full
prints replayed_json 0 limits "${replayed[@]}" FORMAT=json $mma
prints replayed_errors 0 errors "${replayed[@]}" FORMAT=json $mma
# Where no two instructions of a loop say the same, how often it runs is a guess.
cp -r alone torn
torn=sm_80/02_mma/d64_fp16_causal/64.json
awk '{ while (sub(/\[6,192/, "[" 5 + 3 * ++n ",x192")); gsub(/,x/, ",") } 1' alone/$torn >torn/$torn
prints limits_torn 0 limits COUNTED=torn MACHINES=small $mma
prints limits_torn_json 0 limits COUNTED=torn MACHINES=small FORMAT=json $mma
prints errors_torn 0 errors COUNTED=torn MACHINES=small $mma $full
mkdir results
cell() { # cell NAME SEQ CAUSAL MS: a time that was recorded of 1 x 4 heads
    echo "{\"stage\":2,\"name\":\"$1\",\"device\":\"NVIDIA A100-SXM4-80GB\",\"dtype\":\"fp16\"," \
        "\"causal\":$3,\"batch\":1,\"heads\":4,\"kv_heads\":4,\"seq_q\":$2,\"seq_kv\":$2," \
        "\"d\":64,\"init\":\"normal\",\"status\":\"pass\",\"ms_median\":$4}"
}
{
    cell 02_mma 4096 true 0.01 && cell 02_mma 1024 true 0.002 && cell 02_mma 1024 false 0.0008
    cell 02_mma 2048 false 0.0032 && cell 03_other 4096 true 7
} >results/one.jsonl
cell 02_mma 8192 true 0.04 >results/two.jsonl
cell 02_mma 64 true 7 >results/notes.txt
# A time of the problem, after those of problems that differ in one thing each.
mkdir others
for other in name:03_other dtype:bf16 d:128 causal:false batch:2 heads:8 seq_q:2048; do
    cell 02_mma 4096 true 7 |
        sed -E "s/\"${other%:*}\":(\"?)[^,\"]*/\"${other%:*}\":\1${other#*:}/" |
        sed -E '/"heads":8/s/"kv_heads":4/"kv_heads":8/; /"seq_q":2048/s/_kv":4096/_kv":2048/'
done >others/a.jsonl
cell 02_mma 4096 true 0.1 >others/b.jsonl
prints limits_others 0 limits "${replayed[@]}" RESULTS=others B=1 H=4 $mma
prints limits_others_json 0 limits "${replayed[@]}" RESULTS=others B=1 H=4 FORMAT=json $mma
prints errors_others 0 errors "${replayed[@]}" RESULTS=others $mma $full
prints errors_others_json 0 errors "${replayed[@]}" RESULTS=others FORMAT=json $mma
# Of two files that follow each other one thing alone is another one, and each has a row.
mkdir rows
files=()
for place in 02_mma/d64_fp16 02_mma/d64_bf16 02_mma/d128_bf16 03_other/d128_bf16; do
    name=${place%/*} d=${place#*/d} type=${place##*_} file=sm_80/${place}_causal
    [ -d "build/sm_80/$name" ] || stage "build/sm_80/$name" 02_mma
    [ -e "build/$file.so" ] || cp library.so "build/$file.so"
    mkdir -p "alone/sm_80/$name"
    [ -d "alone/$file" ] || cp -r alone/sm_80/02_mma/d64_fp16_causal "alone/$file"
    cell "$name" 4096 true 0.${#files[@]}1 |
        sed "s/\"fp16\"/\"$type\"/; s/\"d\":64/\"d\":${d%_*}/" >>rows/a.jsonl
    files+=("build/$file.so")
done
prints errors_rows 0 errors "${replayed[@]}" RESULTS=rows "${files[@]}"
limits+=(GPU=a100)
alone=("${limits[@]}")
limits+=(RESULTS=results B=1 H=4)
prints limits_recorded 0 limits "${limits[@]}" $mma
prints limits_busy 0 limits "${limits[@]}" N=1024 $full $mma
prints limits_recorded_json 0 limits "${limits[@]}" N=2048 FORMAT=json $full
prints errors 0 errors "${limits[@]}" $mma $full
prints errors_markdown 0 errors "${limits[@]}" FORMAT=markdown $full $mma
prints errors_json 0 errors "${limits[@]}" FORMAT=json $mma $full
cell 02_mma 4096 true 0.001 >>results/two.jsonl
prints errors_beaten 1 errors "${limits[@]}" $full $mma
prints limits_beaten 0 limits "${limits[@]}" $mma
# More lengths than a table has columns for; one that stands twice.
mkdir lengths
for ((length = 2240; length > 0; length -= 64)); do
    cell 02_mma $length false 1 && cell 02_mma $length false 2
done >lengths/many.jsonl
prints errors_lengths 0 errors "${limits[@]}" RESULTS=lengths $full
# The length of the second file is before that of the first.
cell 02_mma 4096 true 1 >lengths/many.jsonl
cell 02_mma 512 false 1 >>lengths/many.jsonl
prints errors_shorter 0 errors "${limits[@]}" RESULTS=lengths $mma $full
limits=("${alone[@]}")
prints errors_alone 0 errors "${limits[@]}" B=2 H=8 N=2048 $mma $full
prints errors_alone_json 0 errors "${limits[@]}" FORMAT=json $full
prints errors_skipped 2 errors "${limits[@]}" GPU=t4 $mma $full
says_that "RESULTS=nowhere is no folder" 64 errors "${limits[@]}" RESULTS=nowhere $mma
says_that "02_mma.cubin is no built stage: it does not end with .so" 64 \
    limits "${limits[@]}" 02_mma.cubin

# Counts that are no counts.
counts=counted/sm_80/02_mma/d64_fp16_causal
broken() { # broken TEXT EXIT: and then they are whole again
    says_that "$1" "$2" limits "${limits[@]}" $mma
    cp "$corpus"/stages/02_mma/counted/* $counts
}
for lengths in "64 64 192" "64 192 192" "192 128 64" "0 64 128" "-64 64 128" "64 128"; do
    echo "$lengths" >$counts/lengths
    broken "$counts/lengths does not name three lengths, the least first" 1
done
rm $counts/128.txt
broken "$counts/128.txt cannot be read: No such file or directory" 64
echo '{}' >$counts/second.json
broken "$counts/second.json is no record of the simulator" 1
sed -i 's/"kernel":"prepare"/"kernel":"repair"/' $counts/192.json
broken "02_mma launches other kernels for other lengths" 2
sed -i 's/"grid":\[6,2,1\]/"grid":[7,2,1]/' $counts/192.json
broken "02_mma: the lengths that were simulated are no multiples of its tiles" 2
sed -i '0,/^\["shl.b32/{/^\["shl.b32/d}' $counts/192.json
broken "02_mma launches other kernels for other lengths" 2
sed -i 's/\["ex2/["ex3/' $counts/64.json
broken "02_mma: the PTX of kernel prepare is not what the simulator counted" 2
mv build/sm_80/02_mma/ptx ptx
broken "02_mma was built without its PTX" 2
mv ptx build/sm_80/02_mma/ptx

# ---- The program ---------------------------------------------------------------------------------
usage="usage: sass show|count|diff|ladder|check|page|limits|errors [KEY=VALUE]... FILE..."
for arguments in "" frobnicate count "diff $rows" "page $rows $rows $rows" "limits N=2"; do
    read -ra words <<<"$arguments"
    "$sass" "${words[@]}" >"$log" 2>&1
    ok "sass $arguments: exit 64" [ $? -eq 64 ]
    ok "and the usage" says "sass: $usage"
done
for value in 0 -1 x 1048577 3x; do
    for key in B H N; do
        says_that "$key must be a number from 1 to 1048576; not '$value'" 64 limits $key=$value $mma
    done
done
for value in 1 2147483647; do
    says_that "LINE must be a line of stage.cu that became instructions; not '$value'" 64 \
        show LINE=$value $mma
done
for command in show count limits errors "diff $rows"; do
    # shellcheck disable=SC2086 # words
    says_that "missing.so: No such file or directory" 64 $command missing.so
done
says_that "missing.so: No such file or directory" 64 diff missing.so $rows
prints show_instr 0 show INSTR=add PTX=0 CLEAN=0 $rows
for value in 0 -1 x 2147483648 3x; do
    says_that "LINE must be the number of a line; not '$value'" 64 show LINE=$value $mma
done
says_that "FORMAT must be one of: text markdown json; not 'xml'" 64 count FORMAT=xml $mma
says_that "PTX must be one of: 0 1; not '2'" 64 show PTX=2 $mma
says_that "CLEAN must be one of: 0 1; not 'no'" 64 show CLEAN=no $mma
says_that "FORMAT of limits must be one of: text json; not 'markdown'" 64 \
    limits FORMAT=markdown $mma
many=$(yes missing.so | head -n 512)
# shellcheck disable=SC2086 # words
says_that "missing.so: No such file or directory" 64 ladder $many
# shellcheck disable=SC2086
says_that "at most 512 files" 64 ladder $many missing.so
"$sass" count FORMAT= OTHER=3 $mma 2>"$log" >/dev/full
ok "where there is no room for the output: exit 1" [ $? -eq 1 ]
ok "and the reason" says "sass: the output cannot be written"
echo "1..$count"
