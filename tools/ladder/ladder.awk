# The table of ladder.sh: first what lines.sh prints, then the objects of `build/sass count`.
# Variables: format (text, markdown or json), shown (the stages that get a row).
# Use: awk -f tools/plot/field.awk -f tools/ladder/ladder.awk LINES OBJECTS

# The sum over all classes of a kernel's instructions: key is "total" or "loop".
function sum_of(object, key,    at, sum) {
    while (at = index(object, "{\"class\":")) {
        object = substr(object, at + 1)
        sum += field(object, key)
    }
    return sum
}

FNR == NR {
    split($0, row, "\t")
    stage[++stages] = row[2]
    lines[row[2]] = row[3]
    most_lines[row[2]] = row[4]
    changed[row[2]] = row[5]
    most_changed[row[2]] = row[6]
    next
}

/^\{/ {
    one = field($0, "stage")
    variant = field($0, "variant")
    compiler = field($0, "compiler")
    arch[one] = field($0, "arch")
    total[one] += sum_of($0, "total")
    loop[one] += sum_of($0, "loop")
}

function null(value) { return value == "-" ? "null" : value }

function print_json(one, before) {
    printf "{\"stage\":\"%s\",\"variant\":\"%s\",\"arch\":\"%s\"", one, variant, arch[one]
    printf ",\"lines\":%s,\"most_lines\":%s", lines[one], null(most_lines[one])
    printf ",\"changed\":%s,\"most_changed\":%s", null(changed[one]), null(most_changed[one])
    printf ",\"instructions\":%d,\"loop\":%d", total[one], loop[one]
    if (before)
        printf ",\"instructions_change\":%d,\"loop_change\":%d}\n", total[one] - total[before],
            loop[one] - loop[before]
    else
        print ",\"instructions_change\":null,\"loop_change\":null}"
}

# "has/allowed", bold in Markdown where that is too much; the row then counts as over budget.
function beside(has, allowed,    much) {
    much = has != "-" && allowed != "-" && has + 0 > allowed + 0
    over = over || much
    if (has == "-") return "-"
    return much && format == "markdown" ? "**" has "/" allowed "**" : has "/" allowed
}

function change(now, before) { return now == before ? "." : sprintf("%+d", now - before) }

function add(text) {
    cell[cells++] = text
    if (length(text) > width[(cells - 1) % COLUMNS]) width[(cells - 1) % COLUMNS] = length(text)
}

function add_row(one, before) {
    over = 0
    add(one)
    add(arch[one])
    add(beside(lines[one], most_lines[one]))
    add(beside(changed[one], most_changed[one]))
    add(total[one])
    add(before ? change(total[one], total[before]) : "-")
    add(loop[one] ? loop[one] : ".")
    add(before ? change(loop[one], loop[before]) : "-")
    is_over[cells / COLUMNS - 1] = over
}

function print_text(    r, c) {
    for (r = 0; r < cells / COLUMNS; r++) {
        for (c = 0; c < COLUMNS; c++)
            printf (c ? "  %" : "%-") width[c] "s", cell[r * COLUMNS + c]
        print is_over[r] ? "  <-- over budget" : ""
    }
}

function print_markdown(    r, c) {
    for (r = 0; r < cells / COLUMNS; r++) {
        for (c = 0; c < COLUMNS; c++) printf "| %s ", cell[r * COLUMNS + c]
        print "|"
        if (r == 0) print "|---|---|---:|---:|---:|---:|---:|---:|"
    }
}

END {
    if (!compiler) exit 1 # build/sass has said why
    COLUMNS = 8
    count = split("stage arch lines changed instructions change loop change", head, " ")
    for (i = 1; i <= count; i++) add(head[i])
    for (i = 1; i <= stages; i++) {
        if (index(" " shown " ", " " stage[i] " ")) {
            if (!(stage[i] in arch) || (i > 1 && !(stage[i - 1] in arch))) {
                print "no counts of " stage[i] " or of the stage before it" >"/dev/stderr"
                exit 1
            }
            if (format == "json") print_json(stage[i], stage[i - 1])
            else add_row(stage[i], stage[i - 1])
        }
    }
    if (format == "json") exit
    print variant ", ptxas " compiler
    print (format == "markdown" ? "\n" : "") "Lines and changed lines: has/allowed. Instructions," \
        " in all and in the main loop: with the change"
    print "since the stage before.\n"
    if (format == "markdown") print_markdown()
    else print_text()
}
