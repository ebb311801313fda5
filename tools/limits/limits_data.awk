# Bounds beside recorded times as gnuplot's own commands: what limits.gp reads.
# Use: awk -f tools/plot/field.awk -f tools/limits/limits_data.awk RESULTS.jsonl
#
# String device; stages, how many there are; array name, in the order of the ladder. $cells: a block
# per stage, in it a line per cell: TFLOP/s as recorded and as bound.

/^\{/ && field($0, "bound_tflops") != "" {
    one = field($0, "name")
    if (!(one in lines)) {
        for (i = ++stages; i > 1 && name[i - 1] > one; i--) name[i] = name[i - 1]
        name[i] = one
    }
    lines[one] = lines[one] field($0, "tflops") " " field($0, "bound_tflops") "\n"
    device = field($0, "device")
}

END {
    printf "device = \"%s\"\nstages = %d\narray name[%d]\n", device, stages, stages + 1
    for (i = 1; i <= stages; i++) printf "name[%d] = \"%s\"\n", i, name[i]
    print "$cells << END"
    for (i = 1; i <= stages; i++) print lines[name[i]] "\n"
    print "END"
}
