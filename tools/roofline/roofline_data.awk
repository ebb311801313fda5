# A roofline as gnuplot's own commands: what roofline.gp reads.
# Use: awk -f tools/plot/field.awk -f tools/roofline/roofline.awk -f tools/plot/json.awk \
#          -f tools/roofline/roofline_data.awk RESULTS.jsonl
#
# Strings device and shape; numbers hbm (GB/s), left, right, low and high (the ranges), bottom_roof
# and top_roof (TFLOP/s) and stages, how many there are. $roofs: one line per roof: TFLOP/s, the
# side of its label (1 above, -1 below), its name. $points: one line per stage: its place, FLOP per
# byte, TFLOP/s, the height of its label, its name.

function log10(x) { return log(x) / log(10) }

function quoted(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}

# Heights `gap` apart or more and as near to y[1 .. n], ascending, as can be: neighbours that are
# too near form a block, which stands at the mean of what its members want.
function spread(y, n, gap, at,    k, i, blocks, sum, size) {
    for (k = 1; k <= n; k++) {
        sum[++blocks] = y[k] - k * gap
        size[blocks] = 1
        while (blocks > 1 && sum[blocks - 1] / size[blocks - 1] > sum[blocks] / size[blocks]) {
            sum[blocks - 1] += sum[blocks]
            size[blocks - 1] += size[blocks]
            blocks--
        }
    }
    k = 0
    for (i = 1; i <= blocks; i++)
        for (n = 0; n < size[i]; n++) {
            k++
            at[k] = sum[i] / size[i] + k * gap
        }
}

# Places 1 .. n by ascending speed.
function by_speed(order, n,    i, j, moved) {
    for (i = 1; i <= n; i++) {
        for (j = i - 1; j >= 1 && speed[counted[order[j]]] > speed[counted[i]]; j--)
            order[j + 1] = order[j]
        order[j + 1] = i
    }
}

function roof(what, name, side) {
    if (about["peak_" what] == "") return
    lines = lines about["peak_" what] " " side " " quoted(name) "\n"
    if (about["peak_" what] + 0 > top) top = about["peak_" what] + 0
    if (!bottom || about["peak_" what] + 0 < bottom) bottom = about["peak_" what] + 0
}

END {
    if (!points || !about["peak_hbm"]) {
        print FILENAME ": there is no counted stage or no roof in it" >"/dev/stderr"
        exit 1
    }
    roof("fma", "FP32 FMA", 1)
    roof("mma", "mma.sync", about["peak_wgmma"] ? -1 : 1)
    roof("wgmma", "wgmma", 1)
    by_speed(order, points)
    left = 1000 * bottom / about["peak_hbm"]
    for (i = 1; i <= points; i++) {
        one = counted[i]
        if (intensity[one] < left) left = intensity[one]
        if (intensity[one] > right) right = intensity[one]
    }
    low = speed[counted[order[1]]] / 3
    high = top * 2.5
    for (i = 1; i <= points; i++) wanted[i] = log10(speed[counted[order[i]]])
    spread(wanted, points, log10(high / low) / 30, height)
    printf "device = %s\nshape = %s\nstages = %d\nhbm = %s\n", quoted(about["device"]),
        quoted(shape), points, about["peak_hbm"]
    printf "bottom_roof = %g\ntop_roof = %g\n", bottom, top
    printf "left = %g\nright = %g\nlow = %g\nhigh = %g\n", left / 3, right * 2.5, low, high
    printf "$roofs << END\n%sEND\n$points << END\n", lines
    for (i = 1; i <= points; i++) {
        one = counted[order[i]]
        printf "%d %g %g %g %s\n", order[i], intensity[one], speed[one], 10 ^ height[i], quoted(one)
    }
    print "END"
}
