# The results as gnuplot's own commands: what lines.gp and ladder.gp read.
# Use: awk -f tools/plot/field.awk -f tools/plot/json.awk -f tools/plot/data.awk RESULTS.jsonl
#
# Strings device, dtype and ladder_cell; the lengths shortest and longest; names, groups and stages,
# how many there are; arrays name (what was measured: stages, then the others) and group, with an
# empty one at the end, for gnuplot looks at it even where a loop over the others is empty. $cells:
# a block a group, in it a line a length: the length, then TFLOP/s a name. $ladder: a line a name,
# at ladder_cell.

function value(one, where, at) {
    return (one, where, at) in tflops ? tflops[one, where, at] : "NaN"
}

# The cell of the ladder: seq 4096 of the first group, or the longest there is below.
function ladder_seq(    k, at) {
    for (k = 1; k <= seqs; k++) if (k == 1 || seq[k] + 0 <= 4096) at = seq[k]
    return at
}

function quoted(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}

function array(what, list, count,    i, text) {
    for (i = 1; i <= count; i++) text = text quoted(list[i]) ", "
    printf "array %s[%d] = [%s\"\"]\n%ss = %d\n", what, count + 1, text, what, count
}

# Adds the stages, or the others, to order[1 .. ordered].
function put(stage,    i) {
    for (i = 1; i <= names; i++)
        if (measured[name[i]] && is_stage[name[i]] == stage) order[++ordered] = name[i]
}

END {
    sort_numbers(seq, seqs)
    put(1)
    stages = ordered + 0
    put(0)
    printf "device = %s\ndtype = %s\n", quoted(about["device"]), quoted(about["dtype"])
    printf "stages = %d\nshortest = %d\nlongest = %d\n", stages, seq[1], seq[seqs]
    array("name", order, ordered)
    array("group", group, groups)
    print "$cells << END"
    for (g = 1; g <= groups; g++) {
        for (k = 1; k <= seqs; k++) {
            line = seq[k]
            for (i = 1; i <= ordered; i++) line = line " " value(order[i], group[g], seq[k])
            print line
        }
        print "\n"
    }
    at = ladder_seq()
    printf "END\nladder_cell = \"%s, seq %s\"\n$ladder << END\n", group[1], at
    for (i = 1; i <= ordered; i++) print order[i], value(order[i], group[1], at)
    print "END"
}
