# A bench of regimes, or a sustained one, as gnuplot's own commands: what regimes.gp reads.
# Use: awk -f tools/plot/field.awk -f tools/bench/regimes.awk -f tools/plot/json.awk \
#          -f tools/bench/regimes_data.awk RESULTS.jsonl
#
# Strings device and dtype; names, sections and stages, how many there are; arrays name (what was
# measured: stages, then the peers), section and unit (of its values), with an empty one at the end,
# for gnuplot looks at it even where a loop over the others is empty. $cells: a block a section, in
# it a line per cell: its mark, then the value of each name; of decode GB/s, else TFLOP/s.

function quoted(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}

function array(what, list, count,    i, text) {
    for (i = 1; i <= count; i++) text = text quoted(list[i]) ", "
    printf "array %s[%d] = [%s\"\"]\n%ss = %d\n", what, count + 1, text, what, count
}

# Adds the stages, or the peers, to order[1 .. ordered].
function put(stage,    i) {
    for (i = 1; i <= names; i++)
        if (measured[name[i]] && is_stage[name[i]] == stage && name[i] != "matmul")
            order[++ordered] = name[i]
}

END {
    put(1)
    stages = ordered + 0
    put(0)
    printf "device = %s\ndtype = %s\nstages = %d\n", quoted(about["device"]),
        quoted(about["dtype"]), stages
    for (s = 1; s <= sections; s++)
        unit[s] = kind[section[s]] == "decode" ? "GB/s" : "TFLOP/s"
    array("name", order, ordered)
    array("section", section, sections)
    array("unit", unit, sections)
    print "$cells << END"
    for (s = 1; s <= sections; s++) {
        for (k = 1; k <= cells[section[s]]; k++) {
            line = quoted(mark[section[s], cell[section[s], k]])
            for (i = 1; i <= ordered; i++) {
                place = section[s] SUBSEP cell[section[s], k] SUBSEP order[i]
                value = unit[s] == "GB/s" ? gb_s[place] : speed[place]
                line = line " " (value == "" ? "NaN" : value)
            }
            print line
        }
        print "\n"
    }
    print "END"
}
