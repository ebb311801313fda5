# The measurements behind a roofline plot as Markdown.
# Use: awk -f tools/plot/field.awk -f tools/roofline/roofline.awk -f tools/plot/json.awk \
#          -f tools/roofline/roofline_table.awk RESULTS.jsonl

function peak(what, unit) {
    return about["peak_" what] ? about["peak_" what] " " unit : "not there"
}

END {
    printf "# %s: roofline\n\n`%s`, %s; driver %s, CUDA %s; %s.\n%s.\n\n", about["device"],
        about["command"], about["date"], about["driver"], about["toolkit"], about["clocks"], shape
    print "Roofs, measured in the same run by `tools/roofline/peaks.cu`: HBM " peak("hbm", "GB/s") \
        ", FP32 FMA " peak("fma", "TFLOP/s") ", mma.sync " peak("mma", "TFLOP/s") ", wgmma " \
        peak("wgmma", "TFLOP/s") "."
    print "TFLOP/s: medians, stages timed in turn, the L2 flushed before each launch. Bytes: " \
        "counted by Nsight\nCompute in one launch from cold caches. % of HBM: the bytes over the " \
        "time, of the HBM roof.\n"
    print "| stage | TFLOP/s | HBM read MB | written MB | FLOP per byte | GB/s | % of HBM " \
        "| L2 MB | FLOP per byte |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for (i = 1; i <= points; i++) {
        one = counted[i]
        printf "| %s | %.4g | %.4g | %.4g | %.4g | %.4g | %.1f | %.4g | %.4g |\n", one, speed[one],
            hbm_read[one] * 1e-6, hbm_write[one] * 1e-6, intensity[one], hbm_speed[one],
            100 * hbm_speed[one] / about["peak_hbm"], l2[one] * 1e-6, l2_intensity[one]
    }
    for (key in reason)
        if (reason[key] != "") missing = missing "\n- " substr(key, 1, index(key, SUBSEP) - 1) \
            ": " toupper(status[key]) ": " reason[key]
    if (missing) print missing
}
