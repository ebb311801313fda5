#!/usr/bin/env bash
# Mutants of the harness and the tools. Catches: a place of C where no mistake is planted, a test
# that is not asked or asked too late, a mutant that its test lets pass and that is called killed, a
# survivor that nobody explains and that succeeds, an explanation of what is no mutant any more; and
# in a sample of files whose tests kill what they are given, a test that does so no longer.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")
unset MAKEFLAGS MAKELEVEL MFLAGS MUTANTS SEED JOBS CODE
code=tools/mutate/code

# ---- Where mistakes are planted ------------------------------------------------------------------
build/mutate tools/mutate/test/sample.c >"$log"
line() { awk -F'\t' -v n="$1" '$2 == n { print $3 ": " $5 }' "$log"; }
has() { ok "line $1: $2" grep -qFx -- "$2" <(line "$1"); }
only() { ok "line $1: $2 mutants" [ "$(line "$1" | wc -l)" -eq "$2" ]; }
has 4 'constant: enum { ROWS = 11, COLUMNS };'
has 4 'constant: enum { ROWS = 13, COLUMNS };'
only 4 2
has 5 'constant: static const double limit = (2 * 0.5);'
only 5 1
has 6 'constant: static const int lengths[] = {1, 65};'
only 6 4
for n in 7 8 9 10; do only $n 0; done
has 12 'off by one: static bool wait_for(const Place *place) { return place->row >= 3; }'
has 16 'remove call: ;'
has 17 'remove assignment: ;'
ok "nothing in C synchronises a kernel" [ "$(grep -c 'remove sync' "$log")" -eq 0 ]

# ---- Which tests are asked -----------------------------------------------------------------------
cat >"$work/seconds" <<'END'
9 build/test/common/truth/test/test_slow
1 build/test/common/cli/test/test_fuzz
9 build/test/common/cli/test/test_late
1 build/test/common/truth/test/test_rows
2 build/test/common/truth/test/test_check
1 build/test/tools/sass/analysis/test/test_flow
END
owners() {
    awk -v house="$1" -v file="$2" -f $code/owners.awk "$work/seconds" >"$log"
    sed 's,.*/,,; s,test_,,' "$log" | paste -sd ' '
}
ok "its own, its room's, those of the rooms above, what is slow left out" \
    [ "$(owners common common/truth/check.c)" = "check rows fuzz" ]
ok "also what is slow, if it is its own" [ "$(owners common common/truth/slow.c)" = \
    "slow rows check fuzz" ]
ok "for whole programs the scripts as well" \
    [ "$(owners common common/cli/trial.c)" = "fuzz run_cli.t faulty_stages.t" ]
ok "none of C where there is a main" \
    [ "$(owners common common/cli/main.c)" = "run_cli.t faulty_stages.t" ]
ok "the script of a command is that of its files" \
    [ "$(owners common common/cli/spans.c)" = "fuzz timeline.t run_cli.t faulty_stages.t" ]
ok "none of another house, but its script" \
    [ "$(owners tools/sass tools/sass/analysis/flow.c)" = "flow commands.t cubins.t" ]
ok "the simulator's" [ "$(owners tools/ptxsim tools/ptxsim/ops/mma.c)" = bugs.t ]

# ---- A compiler that does nothing twice ----------------------------------------------------------
cat >"$work/compiler" <<'END'
#!/bin/bash
echo once >>"$CALLS"
exec cc "$@"
END
chmod +x "$work/compiler"
compiled() { # compiled FLAG...: how often the real one compiled so far
    COMPILER=$work/compiler KEPT=$work/kept CALLS=$work/calls $code/compiler.sh "$@" \
        -c "$work/a.c" -o "$work/a.o" && wc -l <"$work/calls"
}
echo 'int a = NUMBER;' >"$work/a.c"
ok "the first time it compiles" [ "$(compiled -DNUMBER=1)" = 1 ]
ok "the second time it has it" [ "$(compiled -DNUMBER=1)" = 1 ]
ok "with other flags it compiles" [ "$(compiled -DNUMBER=2)" = 2 ]
echo 'int a = NUMBER + 1;' >"$work/a.c"
ok "and with another text" [ "$(compiled -DNUMBER=1)" = 3 ]
echo 'int b;' >"$work/b.c" && cc -c "$work/b.c" -o "$work/b.o"
linked() { # linked: with b.o, whatever that is now
    COMPILER=$work/compiler KEPT=$work/kept CALLS=$work/calls $code/compiler.sh -shared -fPIC \
        "$work/a.c" "$work/b.o" -DNUMBER=1 -o "$work/a.so" && wc -l <"$work/calls"
}
ok "with an object it compiles" [ "$(linked)" = 4 ]
ok "once" [ "$(linked)" = 4 ]
echo 'int c;' >"$work/b.c" && cc -c "$work/b.c" -o "$work/b.o"
ok "and with another one of that name again" [ "$(linked)" = 5 ]
echo 'int a = NUMBER' >"$work/a.c"
compiled -DNUMBER=1 >/dev/null 2>"$log"
ok "an error is one" [ $? -ne 0 ]
mkdir -p "$work/place/tree/tools"
cat >"$work/place/tree/tools/script.t" <<'END'
echo '#include "bug.cu"' >tools/all.c
"$NVCC" -c tools/all.c -o tools/all.o && echo 1..1
END
included() { # included TEXT: how often it compiled so far for a script, if this is what is included
    echo "$1" >"$work/place/tree/tools/bug.cu"
    NVCC=$work/compiler CALLS=$work/for_script scratch=$work/place log=$work/place/log bash -c \
        '. tools/make/within.sh; . tools/mutate/code/place.sh; run_script tools/script.t' &&
        wc -l <"$work/for_script"
}
text="int bug = $$;"
ok "what a source includes is compiled once" [ "$(included "$text"):$(included "$text")" = 1:1 ]
ok "and anew where it has changed" [ "$(included "$text /* */")" = 2 ]

# ---- What becomes of a mutant --------------------------------------------------------------------
# The tests of bits.c do not see what is wrong in rows.c, and those of rows.c do.
export CC=${CC:-cc}
mutants() { # mutants CODE CTEST...
    MUTANTS=8 JOBS=2 $code/code.sh "$1" "${@:2}" >"$log" 2>&1
    code_of=$?
}
truth=build/test/common/truth/test
mutants common/truth/rows.c $truth/test_bits
ok "a survivor that nobody explains makes it fail" [ $code_of -eq 1 ]
ok "and is listed with its line" grep -qE '^\| common/truth/rows.c:[0-9]+ \| ' "$log"
ok "as unexplained" says '**Unexplained**'
mutants common/nothing.c $truth/test_bits
ok "a file that is not there" [ $code_of -eq 64 ]
mutants reference $truth/test_bits
ok "code of another language" says "CODE must be files or folders of C in common, tools/ptxsim or"
make stage07 mutate CODE=common >"$log" 2>&1
ok "CODE beside a stage" says "so there can be no stage beside it"
make stage07 planted BUGS=none >"$log" 2>&1
ok "planted beside a stage" says "make planted takes no stage, so there can be no stage07 beside it"
printf '#!/bin/bash\nexit 1\n' >"$work/failing" && chmod +x "$work/failing"
mutants common/truth/rows.c "$work/failing"
ok "a test that fails without any mutant is no yardstick" says "$work/failing itself fails"

sample=common/truth/check.c,common/base/progress.c,common/base/element.c
sample+=,tools/ptxsim/machine/memory/banks.c,tools/sass/replay/path.c
tests=$(echo common/{base/test/test_{progress,element},truth/test/test_{check,rows}} \
    tools/{ptxsim/machine/test/test_{banks,race},sass/replay/test/test_{path,replay}} |
    sed 's,[^ ]*,build/test/&,g')
make -s mutate CODE=$sample MUTANTS=2 JOBS=2 C_TESTS="$tests" >"$log" 2>&1
ok "a sample: every survivor is explained" [ $? -eq 0 ]
killed=$(sed -n 's/^| all | \([0-9]*\) | \([0-9]*\) .*/\2/p' "$log")
ok "${killed:-none} were killed" [ "${killed:-0}" -ge 6 ]

# ---- explained.md explains only what is there ----------------------------------------------------
sed -n 's/^kind: .*; files: //p' $code/explained.md | tr ' ' '\n' | sort -u >"$work/files"
while read -r file; do
    build/mutate "$file" | sed "s,^,$file\t,"
done <"$work/files" >"$work/all"
awk -f tools/mutate/equivalent.awk -f tools/mutate/test/stale.awk $code/explained.md \
    "$work/all" >"$log"
ok "every explanation belongs to a mutant that there is" [ $? -eq 0 ]
echo "1..$count"
