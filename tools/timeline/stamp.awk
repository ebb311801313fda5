# A copy of a kernel with stamps, the macros of stamp.cuh included:
#   awk -v macros=tools/timeline/stamp.cuh -f stamp.awk MARKS KERNEL
# The copy goes to standard output, what is wrong with a mark to standard error (exit 64). The
# copy's lines keep the numbers of the kernel's.
#
# A mark is a line "label | groups | text": before the line where the text begins a span with this
# label begins. The text is a piece of the kernel's own, in which blanks and line ends count as one
# blank; it must be there once. Groups, of wgmma, may be empty: "+1" says that the
# span issues one, a number or a constant of the kernel that so many at most are still in flight at
# the span's end, which is a wait. A line that begins with # is a comment.
#
# The span of mark 0 begins with the kernel flash_fwd; where the kernel ends, a last span ends.

# Without blanks at its ends, and with one where there are more.
function trim(text) {
    gsub(/[ \t\r]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

function wrong(number, what) {
    printf "%s:%d: %s\n", ARGV[1], number, what >"/dev/stderr"
    bad = 1
}

# A byte-order mark belongs at the beginning of a file, and the copy begins with something else.
FNR == 1 { sub(/^\357\273\277/, "") }

# ---- The marks -----------------------------------------------------------------------------------
FNR == NR {
    if ($0 ~ /^[ \t]*(#|$)/) next
    count = split($0, field, "|")
    if (count < 3) {
        wrong(FNR, "a mark is \"label | groups | text\"")
        next
    }
    marks++
    written[marks] = FNR
    label[marks] = trim(field[1])
    groups[marks] = trim(field[2])
    text[marks] = trim(substr($0, index($0, field[1] "|") + length(field[1] "|" field[2] "|")))
    if (label[marks] !~ /^(copy|QK|softmax|PV|PV\+softmax|wait|store|other)$/)
        wrong(FNR, "there is no label \"" label[marks] "\"; there are copy, QK, softmax, PV, " \
            "PV+softmax, wait, store and other")
    if (groups[marks] !~ /^(\+1|[A-Za-z0-9_]+( [+-] [A-Za-z0-9_]+)*)?$/)
        wrong(FNR, "groups are +1, a number or a constant, not \"" groups[marks] "\"")
    if (text[marks] == "") wrong(FNR, "the mark has no text")
    next
}

# ---- The kernel ----------------------------------------------------------------------------------
{
    line[++lines] = $0
    start[lines] = length(whole)
    if (NF) whole = whole trim($0) " "
}

# The line in which the character of `whole` at a place is.
function line_of(place,    low, high, middle) {
    low = 1
    high = lines
    while (low < high) {
        middle = int((low + high + 1) / 2)
        if (start[middle] < place) low = middle
        else high = middle - 1
    }
    return low
}

# The code of a line: without its comment and blanks.
function code(number,    text) {
    text = line[number]
    sub(/\/\/.*/, "", text)
    return trim(text)
}

# Why no statement can stand before the line; "" if one can.
function obstacle(number,    before) {
    if (line[number] !~ /^([ \t]|#pragma)/) return "it is not inside a function"
    if (code(number) ~ /^(}[ \t]*)?else/) return "it is the else of an if"
    for (before = number - 1; before > 0 && code(before) == ""; before--) {}
    if (code(before) ~ /^#pragma/) return "it is the loop of a #pragma: name that"
    if (code(before) !~ /[;{}:]$|^#/) return "it continues the line before"
    return ""
}

function place_mark(mark,    at, further, number) {
    at = index(whole, text[mark])
    if (text[mark] == "") return
    if (!at) {
        wrong(written[mark], "its text is not in " ARGV[2] ": " text[mark])
        return
    }
    number = line_of(at)
    further = index(substr(whole, at + 1), text[mark])
    if (further)
        wrong(written[mark], "its text is in " ARGV[2] " more than once, in lines " number \
            " and " line_of(at + further) ": " text[mark])
    else if (obstacle(number))
        wrong(written[mark], "no span can begin before line " number " of " ARGV[2] ": " \
            obstacle(number))
    else {
        stamps[number] = stamps[number] "TIMELINE_STAMP(" mark ")\n"
        of_line[mark] = number
    }
}

# Finds flash_fwd: its first line, the one that opens its body, the one that closes it.
function find_kernel(    number) {
    for (number = 1; number <= lines && !closes; number++) {
        if (!begins && line[number] ~ /__global__/) pending = number
        if (!begins && pending && code(number) ~ /(^|[^A-Za-z0-9_])flash_fwd\(/) begins = number
        if (!begins && code(number) ~ /^}/) pending = 0
        if (begins && !opens && code(number) ~ /[{]$/) opens = number
        if (opens && line[number] ~ /^}/) closes = number
    }
    if (closes) return
    printf "%s: there is no kernel flash_fwd\n", ARGV[2] >"/dev/stderr"
    bad = 1
}

function put_macros(path,    text) {
    printf "#line 1 \"%s\"\n", path
    while ((getline text <path) > 0) print text
}

function put_table(    mark) {
    print "extern \"C\" const TimelineMark timeline_marks[] = {"
    printf "    {\"other\", %d, 0, -1},\n", begins
    for (mark = 1; mark <= marks; mark++) {
        printf "#line %d \"%s\"\n", written[mark], ARGV[1]
        printf "    {\"%s\", %d, %d, %s},\n", label[mark], of_line[mark], (groups[mark] == "+1"),
            (groups[mark] ~ /^(\+1)?$/ ? "-1" : groups[mark])
    }
    printf "    {\"end\", %d, 0, -1}, {0, 0, 0, 0}};\n", closes
}

END {
    if (!marks && !bad) wrong(FNR == NR ? NR : 1, "there is no mark")
    if (bad) exit 64
    find_kernel()
    for (mark = 1; mark <= marks; mark++) place_mark(mark)
    if (bad) exit 64
    end = "TIMELINE_STAMP(" marks + 1 ")\n"
    for (number = opens; number < closes; number++)
        if (line[number] ~ /^[ \t]+return;$/ && !obstacle(number))
            stamps[number] = stamps[number] end
    stamps[closes] = stamps[closes] end
    put_macros(macros)
    printf "#line 1 \"%s\"\n", ARGV[2]
    for (number = 1; number <= lines; number++) {
        if (number in stamps) printf "%s#line %d \"%s\"\n", stamps[number], number, ARGV[2]
        print line[number]
        if (number == opens) printf "TIMELINE_BEGIN\n#line %d \"%s\"\n", number + 1, ARGV[2]
    }
    put_table()
}
