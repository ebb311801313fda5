# Reads the JSON lines of roofline.sh, with ../plot/json.awk after it, for roofline_table.awk and
# roofline_data.awk: what is counted of a stage, by its name, and `shape`, the problem in words.

/^\{/ && field($0, "name") {
    shape = sprintf("%s, d %d, %s, batch %d, heads %d, seq %d", field($0, "dtype"),
        field($0, "d"), field($0, "causal") == "true" ? "causal" : "full", field($0, "batch"),
        field($0, "heads"), field($0, "seq_q"))
    if (field($0, "kv_heads") != field($0, "heads"))
        shape = shape sprintf(", %d KV heads", field($0, "kv_heads"))
    if (field($0, "seq_kv") != field($0, "seq_q")) shape = shape ", keys " field($0, "seq_kv")
}

/^\{/ && field($0, "hbm_bytes") != "" {
    one = field($0, "name")
    counted[++points] = one
    ms[one] = field($0, "ms_median") + 0
    speed[one] = field($0, "tflops") + 0
    hbm_read[one] = field($0, "hbm_read_bytes")
    hbm_write[one] = field($0, "hbm_write_bytes")
    l2[one] = field($0, "l2_bytes")
    intensity[one] = field($0, "flops") / field($0, "hbm_bytes")
    l2_intensity[one] = field($0, "flops") / l2[one]
    hbm_speed[one] = field($0, "hbm_bytes") / ms[one] * 1e-6 # GB/s
}
