#!/usr/bin/env bash
# build/sass on small cubins with known answers, and on what is none. Catches: a predicated
# instruction not counted, two kernels taken for one, a loop missed, a message without a remedy.
set -uo pipefail
# shellcheck source=tools/sass/test/lab.sh
. "$(dirname "$0")/lab.sh"
samples=$root/tools/sass/test/samples

# A line of JSON per kernel in the log: their names and their shared memory.
shared_bytes() { sed -n 's/.*"kernel":"\([a-z_ ]*\)".*"shared_bytes":\([0-9]*\).*/\1 \2/p' "$log"; }

# One architecture of each generation that the compiler has: what the text looks like may differ.
for arch in sm_80 sm_90a sm_120; do
    if ! "$NVCC" -cubin -lineinfo -arch=$arch -o "$scratch/$arch.cubin" "$samples/loops.cu" \
        2>"$log"; then
        skip "the compiler has no $arch"
        continue
    fi
    "$sass" count FORMAT=json "$scratch/$arch.cubin" >"$log" 2>&1
    ok "$arch: three kernels, a line of JSON each" [ "$(grep -c '^{.*}$' "$log")" -eq 3 ]
    # field KERNEL KEY REGION: what an opcode or class counts there
    field() {
        sed -n "s/.*\"kernel\":\"$1\".*{\"[a-z]*\":\"$2\"[^}]*\"$3\":\([0-9]*\).*/\1/p" "$log"
    }
    is() { # is NUMBER KERNEL KEY REGION
        ok "$arch: $2 has $1 $3 ($4)" [ "$(field "$2" "$3" "$4")" = "$1" ]
    }
    is 3 straight FFMA total
    is 1 straight FFMA predicated
    is 3 straight FFMA elsewhere
    is 1 nested FFMA loop
    is 1 nested FFMA total
    is 1 nested MUFU.EX2 loop
    is 2 shared_sum LDS loop
    is 1 shared_sum STS prologue
    is 1 shared_sum STG.E epilogue
    is 1 shared_sum barrier prologue
    ok "$arch: the shared memory is the kernel's own" [ "$(shared_bytes | sort | xargs)" = \
        "nested 0 shared_sum 1024 straight 0" ]
    used=$("$CUOBJDUMP" --dump-resource-usage "$scratch/$arch.cubin" 2>&1 |
        sed -n 's/.* REG:\([0-9]*\) .*/\1/p' | sort -n | xargs)
    ok "$arch: registers are those that cuobjdump tells: $used" [ "$used" = \
        "$(sed -n 's/.*"registers":\([0-9]*\).*/\1/p' "$log" | sort -n | xargs)" ]
    is 0 straight other total
    is 0 nested other total
    is 0 shared_sum other total

    "$sass" show "$scratch/$arch.cubin" >"$log" 2>&1
    ok "$arch: a loop is opened" grep -qE '^loop 1, the main loop: [0-9]+ instructions \{$' "$log"
    ok "$arch: and one in it" grep -qE '^    loop 1\.1: [0-9]+ instructions \{$' "$log"
    ok "$arch: as often as closed" [ "$(grep -c '^ *\(back in \)\?loop .*{$' "$log")" -eq \
        "$(grep -c '^ *} loop ' "$log")" ]
    ok "$arch: source lines stand between" says "// 7: if (guard == 7) asm volatile("
    ok "$arch: addresses are there" grep -qE '^0010  ' "$log"
    "$sass" show CLEAN=1 "$scratch/$arch.cubin" >"$log" 2>&1
    ok "$arch: and go on request" not grep -qE '^ *0010  ' "$log"
done

# ---- Jumps through a table -----------------------------------------------------------------------
for arch in sm_80 sm_90a sm_120; do
    table=$scratch/table_$arch.cubin
    "$NVCC" -cubin -lineinfo -arch=$arch -o "$table" "$samples/table.cu" 2>"$log" || continue
    "$NVDISASM" -c "$table" >"$scratch/whole"
    grep -q ' BRX.*BRANCH_TARGETS' "$scratch/whole" || continue
    "$sass" count FORMAT=json "$table" >"$log" 2>&1
    is 1 chosen FFMA loop
    is 1 chosen MUFU.EX2 loop
    is 1 chosen BAR.SYNC.DEFER_BLOCKING loop
    # All branches but the one behind the end that fills it up.
    is $(($(grep -cE ' BRA(\.[A-Z.]*)? ' "$scratch/whole") - 1)) chosen BRA total
done

# ---- What the host code knows of the kernels -----------------------------------------------------
for arch in 80 90a; do
    "$NVCC" -shared -Xcompiler -fPIC -cudart none --compress-mode=none -Icommon \
        -gencode "arch=compute_$arch,code=sm_$arch" -o "$scratch/launches.so" \
        "$samples/launches.cu" 2>"$log" &&
        "$sass" count FORMAT=json "$scratch/launches.so" >"$log" 2>&1
    ok "sm_$arch: names, order and dynamic shared memory are those of its table" \
        [ "$(shared_bytes | xargs)" = "with room 512 without 0" ]
done

# ---- From source line and PTX to SASS ------------------------------------------------------------
"$NVCC" -shared -Xcompiler -fPIC -cudart none --compress-mode=none -lineinfo \
    -gencode 'arch=compute_80,code=[sm_80,compute_80]' -o "$scratch/loops.so" "$samples/loops.cu" \
    2>"$log"
ok "a library with PTX compiles" [ $? -eq 0 ]
"$sass" show LINE=18 "$scratch/loops.so" >"$log" 2>&1
ok "LINE shows the PTX of the line" grep -qE '^ptx +[0-9]+  ex2.approx.ftz.f32' "$log"
bits='B[-0-5]{6} R[-0-5] W[-0-5] [-Y] [0-9]{2}'
ok "and its SASS, with control bits" grep -qE "^ +[0-9a-f]{4}  $bits +MUFU.EX2" "$log"
ok "whose legend stands above" says "// B: scoreboard barriers that it waits for"
"$sass" show LINE=18 CLEAN=1 "$scratch/loops.so" >"$log" 2>&1
ok "CLEAN leaves address and control bits out" grep -qE '^ +MUFU.EX2' "$log"
ok "and what became what" says "1 PTX instruction became 1 MUFU.EX2"
ok "and nothing else" not says FFMA
"$sass" show FORMAT=json "$scratch/loops.so" >"$log" 2>&1
ok "FORMAT=json has both, and the lines" grep -qE \
    "\"text\":\"MUFU.EX2[^\"]*\",\"control\":\"$bits\",\"lines\":\[18" "$log"
ok "whoever reads S2R's result waits for its barrier" grep -qzE \
    'S2R R7, [^"]*","control":"B------ R- W0.*R2, R7, R2[^"]*","control":"B0-----' "$log"
"$sass" show INSTR=fma.rn "$scratch/loops.so" >"$log" 2>&1
ok "INSTR shows an instruction by the start of its name" says "// ptx "
ok "in all kernels" [ "$(grep -cE ' sm_80 (straight|nested|shared_sum)$' "$log")" -eq 3 ]
ok "and counts what it became" says "5 PTX instructions became 5 FFMA"
"$sass" show PTX=1 "$scratch/loops.so" >"$log" 2>&1
ok "PTX=1 puts PTX between" grep -qE '// ptx [0-9]+: ex2.approx.ftz.f32' "$log"

# ---- Signatures ----------------------------------------------------------------------------------
mkdir -p "$scratch/build/loops" "$scratch/stages/loops"
cp "$scratch/loops.so" "$scratch/build/loops/d64_fp16_full.so"
check() { # check LINE: the signature is that line
    echo "$1" >"$scratch/stages/loops/expect.sass"
    "$sass" check STAGES="$scratch/stages" "$scratch/build/loops/d64_fp16_full.so" >"$log" 2>&1
    status=$?
}
check "kernels == 3"
ok "a signature that holds ends with 0" [ $status -eq 0 ]
ok "and says ok" says "ok 1 - loops d64_fp16_full sm_80: 1 of 1 assertions hold"
check "nested: loop FFMA == 2"
ok "one that does not ends with 1" [ $status -eq 1 ]
ok "and says not ok" says "not ok 1 - loops d64_fp16_full sm_80: 0 of 1 assertions hold"
ok "what was expected and found" says "#   expected == 2, found 1"
ok "and the source line of each" says "       1  line 17: for (int j = 0; j < m; j++) asm"
check "nested: loop FFMA = 2"
ok "one that makes no sense ends with 64" [ $status -eq 64 ]
ok "and says where" says "stages/loops/expect.sass:1: "
rm "$scratch/stages/loops/expect.sass"
"$sass" check STAGES="$scratch/stages" "$scratch/build/loops/d64_fp16_full.so" >"$log" 2>&1
ok "a stage without a signature does not pass" [ $? -eq 64 ]
ok "and says which file is missing" says "stages/loops/expect.sass cannot be read"

# ---- Without a main loop -------------------------------------------------------------------------
"$NVCC" -cubin -lineinfo -arch=sm_80 -DAPART -o "$scratch/apart.cubin" "$samples/loops.cu" 2>"$log"
"$sass" count "$scratch/apart.cubin" >"$log" 2>&1
ok "a kernel without loops says so" says "no main loop: no loop holds tensor or FMA instructions"
ok "one whose loops share the work, why none is it" says \
    "no main loop: no loop holds a third of both the products and the exponentials"

# ---- Two files side by side ----------------------------------------------------------------------
older=$scratch/sm_80.cubin
"$NVCC" -cubin -lineinfo -arch=sm_80 -DUNROLLED -o "$scratch/unrolled.cubin" "$samples/loops.cu"
unrolled=$scratch/unrolled.cubin
"$sass" diff "$older" "$unrolled" >"$log" 2>&1
ok "diff shows what one iteration of the loops has more" \
    grep -qE '^FFMA +2 +5 +\+3 +5 +[0-9]+ +\+[0-9]+ +fma$' "$log"
ok "the largest change first" [ "$(grep -cE '^[A-Z].* (fma|mufu|shared)$' "$log")" -gt 0 ]
changes=$(sed -n '/^opcode/,$p' "$log" | awk '$4 ~ /^[-+]/ { print substr($4, 2) }')
ok "and then the smaller ones" [ "$changes" = "$(sort -rn <<<"$changes")" ]
ok "what did not change is one line" grep -qE '^[0-9]+ opcodes unchanged\.$' "$log"
ok "a file without a signature predicts nothing" says "nothing: it has none"
"$sass" diff FORMAT=markdown "$older" "$unrolled" >"$log" 2>&1
ok "diff as Markdown" says "|---|---:|---:|---:|---:|---:|---:|"
"$sass" diff FORMAT=json "$older" "$unrolled" >"$log" 2>&1
ok "diff as JSON, an opcode a line" grep -q '"opcode":"FFMA","class":"fma","loop_from":2,' "$log"
"$sass" diff "$older" "$older" >"$log" 2>&1
ok "a file beside itself has no changes" not grep -qE ' [-+][0-9]+ ' "$log"
"$sass" ladder "$older" "$unrolled" "$older" >"$log" 2>&1
ok "ladder has a column a file" grep -qE '^  FFMA +2 +5 +2$' "$log"
printf '%s\n' '{"name":"sm_80.cubin","simulated":true,"counters":{"barriers":128}}' \
    '{"name":"unrolled.cubin","simulated":true,"counters":{"barriers":64}}' >"$scratch/runs"
"$sass" page RUNS="$scratch/runs" "$older" "$unrolled" >"$log" 2>&1
ok "the page has the machine code" says "<tr><td>FFMA</td><td>2</td><td>5</td><td"
ok "the counters" says "<td>barriers</td><td>128</td><td>64</td><td>0.5</td>"
ok "no times that nobody took" not says "<h2>Times"
ok "and needs nothing but itself" not grep -qE 'https?:|src=|url\(' "$log"

# ---- Bad input -----------------------------------------------------------------------------------
refused() { # refused EXIT TEXT ARGUMENT...
    local exit=$1 text=$2 got
    shift 2
    "$sass" "$@" >"$log" 2>&1
    got=$?
    ok "sass $(basename -a "$@" | xargs): exit $exit" [ $got -eq "$exit" ]
    ok "one sentence" [ "$(grep -c . "$log")" -eq 1 ]
    ok "that says: $text" says "$text"
}
cubin=$scratch/sm_80.cubin
: >"$scratch/empty.cubin"
echo "no cubin" >"$scratch/text.so"
"$NVCC" -cubin -arch=sm_80 -o "$scratch/none.cubin" "$samples/no_kernel.cu"
refused 64 "usage: sass show|count|diff|ladder|check|page" frobnicate "$cubin"
refused 64 "usage: sass show|count|diff|ladder|check|page" count
refused 64 "usage: sass show|count|diff|ladder|check|page" diff "$cubin"
refused 64 "FORMAT must be one of: text markdown json; not 'xml'" count FORMAT=xml "$cubin"
refused 64 "PTX must be one of: 0 1; not '2'" show PTX=2 "$cubin"
refused 64 "LINE must be the number of a line; not 'x'" show LINE=x "$cubin"
refused 64 "LINE must be a line of" show LINE=1 "$cubin"
refused 64 "INSTR must be a PTX instruction that" show INSTR=wgmma \
    "$scratch/loops.so"
refused 64 "No such file or directory" count "$scratch/missing.so"
refused 1 "holds no machine code" count "$scratch/empty.cubin"
refused 1 "holds no machine code" count "$scratch/text.so"
refused 1 "holds no kernel" count "$scratch/none.cubin"
CUOBJDUMP=/nowhere/cuobjdump NVDISASM=/nowhere/nvdisasm \
    refused 2 "on PATH, or run \`tools/toolchain/toolchain.sh --disassembler" count "$cubin"
ok "and nothing is left behind" [ -z "$(ls -A "$TMPDIR")" ]
echo "1..$count"
