#!/usr/bin/env bash
# The stages held to tools/ladder/budget.txt: no file longer, no step between neighbours larger, a
# row for every stage and a stage for every row. Then the same on planted ladders, which must fail.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset STAGE_FOLDER LADDER_BUDGET
scratch=$(mktemp -d)
log=$scratch/log
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
shown=("$log")

# hold: what holds of $STAGE_FOLDER under $LADDER_BUDGET, "ok" or "not ok" and a sentence a line.
hold() {
    tools/ladder/lines.sh | awk -F'\t' '
        function say(holds, text) { print (holds ? "ok\t" : "not ok\t") text }
        $2 == "-" { say(0, "the budget has a row " $1 ", and no stage has that number"); next }
        {
            say($4 != "-" && $3 + 0 <= $4 + 0, $2 ": " $3 "/" $4 " lines")
            if (before)
                say($6 != "-" && $5 + 0 <= $6 + 0, before " to " $2 ": " $5 "/" $6 " changed lines")
            before = $2
        }'
}

hold >"$log"
ok "the lines of the stages can be counted" [ $? -eq 0 ]
ok "and there are stages" [ "$(wc -l <"$log")" -gt 1 ]
while IFS=$'\t' read -r result text; do
    echo "$result $((count += 1)) - $text"
done <"$log"

# ---- A ladder that fits its budget exactly, and then a fault at a time ---------------------------
export STAGE_FOLDER=$scratch/stages LADDER_BUDGET=$scratch/budget
mkdir "$STAGE_FOLDER"
for kernel in stages/*/kernel.cu; do
    mkdir "$STAGE_FOLDER/$(basename "$(dirname "$kernel")")"
    cp "$kernel" "$STAGE_FOLDER/$(basename "$(dirname "$kernel")")/"
done
: >"$LADDER_BUDGET"
fits=$(tools/ladder/lines.sh | awk -F'\t' '{ print $1, $3, $5 }')
mapfile -t names < <(cd "$STAGE_FOLDER" && printf '%s\n' *)
last=${names[-1]}

fresh() { # a budget without slack and the stages as they are
    echo "$fits" >"$LADDER_BUDGET"
    cp "stages/$last/kernel.cu" "$STAGE_FOLDER/$last/"
}
judged() { # judged PATTERN...: all holds but what these match, one line each
    local pattern
    hold >"$log" 2>&1 || return 1
    [ "$(grep -c '^not ok' "$log")" -eq $# ] || return 1
    for pattern; do [ "$(grep -cE "^not ok[[:blank:]]$pattern\$" "$log")" -eq 1 ] || return 1; done
}
length=$(grep -c '' "stages/$last/kernel.cu")
fresh
ok "a ladder that fits to the line holds" judged
ok "all of it is held: a line for each file, one for each pair" \
    [ "$(wc -l <"$log")" -eq $((2 * ${#names[@]} - 1)) ]

fresh
echo "// one more" >>"$STAGE_FOLDER/$last/kernel.cu"
ok "a line more is too long, and too far from the stage before" \
    judged "$last: $((length + 1))/$length lines" ".* to $last: .* changed lines"
fresh
printf '// no newline at its end' >>"$STAGE_FOLDER/$last/kernel.cu"
ok "also one without a newline" \
    judged "$last: $((length + 1))/$length lines" ".* to $last: .* changed lines"
fresh
sed -i '1s/$/ altered/' "$STAGE_FOLDER/$last/kernel.cu"
sed -i "s/^\(${last%%_*} [0-9]*\) .*/\1 1/" "$LADDER_BUDGET"
ok "a step can be too large where the file is no longer" \
    judged ".* to $last: [0-9]*/1 changed lines"
fresh
mkdir "$STAGE_FOLDER/98_unheard_of"
cp "stages/$last/kernel.cu" "$STAGE_FOLDER/98_unheard_of/"
ok "a stage without a row" judged "98_unheard_of: $length/- lines" \
    "$last to 98_unheard_of: 0/- changed lines"
rm -r "$STAGE_FOLDER/98_unheard_of"
fresh
mkdir "$STAGE_FOLDER/${last%%_*}_zzz"
cp "stages/$last/kernel.cu" "$STAGE_FOLDER/${last%%_*}_zzz/"
ok "a second stage of one number" judged "${last%%_*}_zzz: $length/- lines" \
    "$last to ${last%%_*}_zzz: 0/- changed lines"
rm "$STAGE_FOLDER/${last%%_*}_zzz/kernel.cu"
hold >"$log" 2>&1
ok "a stage without a file ends the count" [ $? -eq 64 ]
rm -r "$STAGE_FOLDER/${last%%_*}_zzz"
fresh
echo "99 100 10" >>"$LADDER_BUDGET"
ok "a row without a stage" judged "the budget has a row 99, and no stage has that number"
for row in "99 many 10" "99 100" "9 100 10" "99 100 10 1" "${last%%_*} 100 10"; do
    fresh
    echo "$row" >>"$LADDER_BUDGET"
    hold >"$log" 2>&1
    ok "the row '$row' is refused" [ $? -eq 64 ]
    ok "and named" grep -qF "$LADDER_BUDGET:$((${#names[@]} + 1)): " "$log"
done
unset STAGE_FOLDER LADDER_BUDGET

# ---- ladder.sh, on counts with known sums --------------------------------------------------------
first=${names[0]} second=${names[1]}
object() { # object STAGE TOTAL LOOP: a kernel of two classes, with as much in each
    local class="\"prologue\":7,\"loop\":$3,\"total\":$2,\"predicated\":0"
    echo "{\"stage\":\"$1\",\"variant\":\"v\",\"arch\":\"sm_0\",\"compiler\":\"1.2\"," \
        "\"classes\":[{\"class\":\"a\",$class},{\"class\":\"b\",$class}]," \
        "\"opcodes\":[{\"opcode\":\"A\",\"class\":\"a\",$class}]}"
}
objects() {
    object "$first" 10 4
    object "$first" 5 0
    object "$second" 9 5
}
says() { grep -qE -- "$1" "$log"; }
objects | tools/ladder/ladder.sh FORMAT=json "$first" "$second" >"$log" 2>&1
ok "the kernels of a stage are added up" says "\"$first\".*\"instructions\":30,\"loop\":8,"
ok "the first has nothing before it" \
    says "\"$first\".*\"changed\":null,.*\"instructions_change\":null,\"loop_change\":null}"
ok "the change is that since the stage before" \
    says "\"$second\".*:18,\"loop\":10,\"instructions_change\":-12,\"loop_change\":2}"
objects | tools/ladder/ladder.sh "$second" >"$log" 2>&1
ok "only the stages that are named have a row" [ "$(grep -c 'sm_0' "$log")" -eq 1 ]
ok "with the same change" says "^$second +sm_0 .* 18 +-12 +10 +\+2( |$)"
sed 100q "stages/$second/kernel.cu" >"$scratch/mine.cu"
objects | tools/ladder/ladder.sh KERNEL="$scratch/mine.cu" "$second" >"$log" 2>&1
ok "KERNEL is what is counted" says \
    " 100/[0-9]+ +$(diff "stages/$first/kernel.cu" "$scratch/mine.cu" | grep -c '^[<>]')/"
yes | head -n 1000 >"$scratch/mine.cu"
objects | tools/ladder/ladder.sh KERNEL="$scratch/mine.cu" "$second" >"$log" 2>&1
ok "what exceeds the budget is marked" says " 1000/.*<-- over budget$"
objects | tools/ladder/ladder.sh FORMAT=markdown KERNEL="$scratch/mine.cu" "$second" >"$log" 2>&1
ok "in Markdown too" says "^\| $second \| sm_0 \| \*\*1000/[0-9]+\*\* \|"
object "$second" 1 1 | tools/ladder/ladder.sh "$second" >"$log" 2>&1
ok "without the stage before: exit 1" [ $? -eq 1 ]
ok "and that is said" says "no counts of $second or of the stage before it"
objects | tools/ladder/ladder.sh FORMAT=xml "$second" >"$log" 2>&1
ok "an unknown format: exit 64" [ $? -eq 64 ]
ok "and the allowed ones" says "FORMAT must be one of: text markdown json; not 'xml'"
echo "1..$count"
