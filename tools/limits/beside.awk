# One sentence about two kernels' bounds, from two lines of `build/sass limits FORMAT=json`.
# Use: awk -v mine="your kernel" -v other="the stage" -f tools/plot/field.awk \
#          -f tools/limits/beside.awk; exit 1 if there are not two lines.

/^[{]/ { line[++lines] = $0 }

END {
    if (lines != 2) exit 1
    ms = field(line[1], "bound_ms") + 0 # a number: as text, 2 would not be less than 1000
    least = sprintf(ms < 1000 ? "%.3g" : "%.0f", ms)
    times = ms / field(line[2], "bound_ms")
    printf "on %s (batch %d, heads %d, seq %d) %s is bound by %s: %s ms at least, " \
        "%s x the bound of %s (%s)\n", field(line[1], "device"), field(line[1], "batch"),
        field(line[1], "heads"), field(line[1], "seq_q"), mine, field(line[1], "bound_by"), least,
        sprintf(times < 0.1 ? "%.2g" : "%.2f", times), other, field(line[2], "bound_by")
}
