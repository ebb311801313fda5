# A bench of several inputs as Markdown: the time on each over the time on the first, and the RMS
# error of O on each.
# Use: awk -f tools/plot/field.awk -f tools/plot/inputs.awk -f tools/plot/json.awk \
#          -f tools/plot/inputs_table.awk RESULTS.jsonl

function head(first, from, last,    i, line) {
    line = first
    for (i = from; i <= inputs; i++) line = line " " input[i] " |"
    print line last
    gsub(/[^|]+/, "---", first)
    for (i = from; i <= inputs; i++) first = first "---:|"
    gsub(/[^|]+/, "---", last)
    print first last
}

# The value of a cell, 0 if there is none.
function milliseconds(one, where, at, i) {
    return (one, where, at, input[i]) in ms ? ms[one, where, at, input[i]] : 0
}
function error(one, where, at, i) {
    return (one, where, at, input[i]) in rms ? rms[one, where, at, input[i]] : 0
}

# Time over the time on the first input; 0 if one of them is missing.
function slower(one, where, at, i,    usual) {
    usual = milliseconds(one, where, at, 1)
    return usual ? milliseconds(one, where, at, i) / usual : 0
}

# RMS error over the least of the peers; 0 if one of them is missing.
function less_exact(one, where, at, i,    n, least, value) {
    for (n = 1; n <= names; n++) {
        value = is_stage[name[n]] ? 0 : error(name[n], where, at, i)
        if (value && (!least || value < least)) least = value
    }
    return least ? error(one, where, at, i) / least : 0
}

# One line a name: the largest ratio of each input over all cells, and where the largest of all is.
function worst(what, one, from,    i, g, k, line, value, most, of_all, at) {
    line = "| " one " |"
    for (i = from; i <= inputs; i++) {
        most = 0
        for (g = 1; g <= groups; g++)
            for (k = 1; k <= seqs; k++) {
                value = what == "time" ? slower(one, group[g], seq[k], i) : \
                    less_exact(one, group[g], seq[k], i)
                if (value > most) most = value
                if (value <= of_all) continue
                of_all = value
                at = input[i] ", " group[g] ", " seq[k]
            }
        line = line (most ? sprintf(" %.3f |", most) : " |")
    }
    if (of_all) print line " " at " |"
}

function summary(    n, peers) {
    printf "\n## Time over that on %s: the largest of all cells\n\n", input[1]
    head("| |", 2, " largest |")
    for (n = 1; n <= names; n++) {
        worst("time", name[n], 2)
        peers += !is_stage[name[n]]
    }
    if (!peers) return
    print "\n## RMS error over that of the most exact peer: the largest of all cells\n"
    head("| |", 1, " largest |")
    for (n = 1; n <= names; n++) worst("error", name[n], 1)
}

# A cell of the table: a number, or why there is none.
function cell(one, where, at, i, format, number) {
    if (number) return sprintf(" " format " |", number)
    return (one, where, at, input[i]) in verdict ? " " verdict[one, where, at, input[i]] " |" : " |"
}

function times(where,    n, k, i, line) {
    printf "\n## %s: milliseconds on %s, and the time on the others over them\n\n", where, input[1]
    head("| | seq |", 1, "")
    for (n = 1; n <= names; n++)
        for (k = 1; k <= seqs; k++) {
            if (!((name[n], where, seq[k]) in status)) continue
            line = "| " name[n] " | " seq[k] " |" \
                cell(name[n], where, seq[k], 1, "%.4g", milliseconds(name[n], where, seq[k], 1))
            for (i = 2; i <= inputs; i++)
                line = line cell(name[n], where, seq[k], i, "%.3f", \
                    slower(name[n], where, seq[k], i))
            print line
        }
}

function errors(where,    n, k, i, line) {
    printf "\n## %s: RMS error of O, in units of 10^-6\n\n", where
    head("| | seq |", 1, "")
    for (n = 1; n <= names; n++)
        for (k = 1; k <= seqs; k++) {
            if (name[n] == "matmul" || !((name[n], where, seq[k]) in status)) continue
            line = "| " name[n] " | " seq[k] " |"
            for (i = 1; i <= inputs; i++)
                line = line cell(name[n], where, seq[k], i, "%.4g", \
                    1e6 * error(name[n], where, seq[k], i))
            print line
        }
}

END {
    sort_numbers(seq, seqs)
    printf "# %s: %s, %d kinds of inputs\n\n", about["device"], about["dtype"], inputs
    printf "`%s`", about["command"]
    if (about["date"]) printf ", %s", about["date"]
    printf "; driver %s, CUDA %s; %s.", about["driver"], about["toolkit"], about["clocks"]
    if (about["peers"]) printf " Peers: %s.", about["peers"]
    print "\n16,384 tokens in all, hidden size 2048. Inputs: see `common/truth/inputs.h`;" \
        " the number is the STRENGTH. Each takes its turn in one run,\n" \
        "the L2 flushed before each repetition; medians. RMS error: against fp64 on the checked" \
        " rows, the same Q, K and V for all."
    if ("matmul" in is_stage) print "matmul takes none of them: it shows how the clock drifted."
    summary()
    for (g = 1; g <= groups; g++) {
        times(group[g])
        errors(group[g])
    }
    if (missing) print missing
}
