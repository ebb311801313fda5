# Reads the JSON lines of a bench of regimes, or of a sustained one, with json.awk after it, for
# regimes_table.awk and regimes_data.awk.
#
# section[1 .. sections] as they came: "decode", "square, sustained"; kind[section], the regime
# alone; cells[section], and cell[section, 1 .. cells]: "d128 causal, B=1 H=32 HKV=8 N=1 NKV=8192",
# mark[section, cell], the same for a plot. At (section, cell, name), of what passed: ms, speed
# (TFLOP/s), gb_s, share, mhz, watts; of what did not: verdict; of what says why: why.
# seconds: of the sustained runs; taking_turns: true if there are others.

/^\{/ && field($0, "name") {
    where = field($0, "regime")
    if (where == "") where = "square"
    regime = where
    if (field($0, "sustained") != "") {
        where = where ", sustained"
        seconds = field($0, "sustained")
    } else {
        taking_turns = 1
    }
    for (i = 1; i <= sections && section[i] != where; i++);
    if (i > sections) section[++sections] = where
    kind[where] = regime
    mask = "d" field($0, "d") " " (field($0, "causal") == "true" ? "causal" : "full")
    shape = sprintf("%s, B=%d H=%d HKV=%d N=%d NKV=%d", mask, field($0, "batch"),
        field($0, "heads"), field($0, "kv_heads"), field($0, "seq_q"), field($0, "seq_kv"))
    if (!((where, shape) in mark)) {
        cell[where, ++cells[where]] = shape
        mark[where, shape] = sprintf("%s %dx%d/%d %dx%d", mask, field($0, "batch"),
            field($0, "heads"), field($0, "kv_heads"), field($0, "seq_q"), field($0, "seq_kv"))
    }
    place = where SUBSEP shape SUBSEP field($0, "name")
    if (field($0, "reason") != "") why[place] = field($0, "reason")
    if (field($0, "status") != "pass") {
        verdict[place] = toupper(field($0, "status"))
    } else if (field($0, "ms_median") + 0 > 0) {
        ms[place] = field($0, "ms_median")
        speed[place] = field($0, "tflops")
        gb_s[place] = field($0, "gb_s")
        share[place] = field($0, "hbm_share")
        mhz[place] = field($0, "sm_mhz")
        watts[place] = field($0, "watts")
    }
}
