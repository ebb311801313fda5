# A stage's JSON line with the bytes that Nsight Compute counted. Input: lines `metric total`, then
# the line. Use: awk -f tools/plot/field.awk -f tools/roofline/bytes.awk COUNTERS LINE

!/^\{/ { count[$1] = $2 }

/^\{/ {
    read = count["dram__bytes_read.sum"]
    written = count["dram__bytes_write.sum"]
    flops = field($0, "tflops") * field($0, "ms_median") * 1e9
    if (!read || !count["lts__t_bytes.sum"]) {
        print "ncu counted no bytes for " field($0, "name") >"/dev/stderr"
        exit 1
    }
    sub(/}$/, "")
    printf "%s,\"flops\":%.6g,\"hbm_read_bytes\":%.0f,\"hbm_write_bytes\":%.0f,", $0, flops, read,
        written
    printf "\"hbm_bytes\":%.0f,\"l2_bytes\":%.0f}\n", read + written, count["lts__t_bytes.sum"]
}
