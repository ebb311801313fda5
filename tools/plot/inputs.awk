# Reads the JSON lines of a bench of several inputs (INIT=all), with json.awk after it, for
# inputs_table.awk: input[1 .. inputs] as they came, "sink 12"; ms[name, group, seq, input] and
# rms[...], of what passed; verdict[...] of what did not.

/^\{/ && field($0, "name") {
    made = input_of($0)
    for (i = 1; i <= inputs && input[i] != made; i++);
    if (i > inputs) input[++inputs] = made
    place = field($0, "name") SUBSEP "d" field($0, "d") " " \
        (field($0, "causal") == "true" ? "causal" : "full") SUBSEP field($0, "seq_q") SUBSEP made
    if (field($0, "status") == "pass") {
        if (field($0, "ms_median") != "") ms[place] = field($0, "ms_median")
        if (field($0, "rms_error") != "") rms[place] = field($0, "rms_error")
    } else {
        verdict[place] = toupper(field($0, "status"))
        if (!((field($0, "name"), field($0, "reason")) in told)) {
            told[field($0, "name"), field($0, "reason")] = 1
            missing = missing "\n- " field($0, "name") ", first on " made ": " verdict[place] ": " \
                field($0, "reason")
        }
    }
}
