# Reads the JSON lines of `attention bench` and reference/peers.py, one flat object per line.
#
# A line with a "name" is a result: a stage, a peer or the matrix product in one cell (d, mask,
# length). Any other line says something about a run: about["device"], about["date"], ...; a file
# may hold several runs.
# After the input: about["input"], the kind of Q, K and V (of the last line); name[1 .. names],
# group[1 .. groups] ("d128 full") and seq[1 .. seqs] as they came; tflops[name, group, seq]
# (absent: not measured), status[...], reason[...]; is_stage[name]; measured[name], if a cell has
# its tflops.

# Adds `value` to list[1 .. count] if it is not there; the new count.
function add(list, count, value,    i) {
    for (i = 1; i <= count; i++) if (list[i] == value) return count
    list[count + 1] = value
    return count + 1
}

function sort_numbers(list, count,    i, j, value) {
    for (i = 2; i <= count; i++) {
        value = list[i]
        for (j = i - 1; j >= 1 && list[j] + 0 > value + 0; j--) list[j + 1] = list[j]
        list[j + 1] = value
    }
}

function refuse(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why >"/dev/stderr"
    exit 1
}

# A run that was cut off leaves half a line.
NF && !/^\{.*\}[ \t\r]*$/ { refuse("not a JSON object") }

field($0, "tflops") field($0, "ms_median") !~ /^[0-9.eE+-]*$/ {
    refuse("tflops and ms_median must be numbers or null")
}

/^\{/ && !field($0, "name") {
    rest = $0
    while (match(rest, /"[a-z_]+":/)) {
        key = substr(rest, RSTART + 1, RLENGTH - 3)
        rest = substr(rest, RSTART)
        text = field(rest, key)
        if (!index(" and " about[key] " and ", " and " text " and "))
            about[key] = about[key] (about[key] ? " and " : "") text
        rest = substr(rest, length(key) + length(text))
    }
    next
}

/^\{/ {
    one = field($0, "name")
    where = "d" field($0, "d") " " (field($0, "causal") == "true" ? "causal" : "full")
    at = field($0, "seq_q")
    names = add(name, names, one)
    groups = add(group, groups, where)
    seqs = add(seq, seqs, at)
    is_stage[one] = field($0, "stage") != ""
    status[one, where, at] = field($0, "status")
    reason[one, where, at] = field($0, "reason")
    if (field($0, "tflops") != "" && field($0, "status") == "pass") {
        tflops[one, where, at] = field($0, "tflops")
        measured[one] = 1
    }
    about["device"] = about["device"] ? about["device"] : field($0, "device")
    about["input"] = input_of($0)
    about["dtype"] = about["dtype"] ? about["dtype"] : field($0, "dtype")
}
