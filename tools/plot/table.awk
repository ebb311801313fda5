# The results as Markdown: a table for each head size and mask, then each stage over each peer.
# Use: awk -f tools/plot/field.awk -f tools/plot/json.awk -f tools/plot/table.awk RESULTS.jsonl

function shown(one, where, at) {
    if ((one, where, at) in tflops) return sprintf("%.4g", tflops[one, where, at])
    return (one, where, at) in status ? toupper(status[one, where, at]) : ""
}

function head(first, last,    i, line) {
    line = first
    for (i = 1; i <= seqs; i++) line = line " " seq[i] " |"
    print line last
    gsub(/[^|]+/, "---", first)
    for (i = 1; i <= seqs; i++) first = first "---:|"
    gsub(/[^|]+/, "---:", last)
    print first last
}

function speeds(where,    i, k, line) {
    printf "\n## %s: TFLOP/s\n\n", where
    head("| |", "")
    for (i = 1; i <= names; i++) {
        line = "| " name[i] " |"
        for (k = 1; k <= seqs; k++) line = line " " shown(name[i], where, seq[k]) " |"
        print line
    }
}

# Mean (geometric) and least ratio of a stage over a peer in the groups first .. last; sets mean,
# least and where_least; returns the number of cells that both have.
function ratios(one, peer, first, last,    g, k, cells, logs, value) {
    least = 0
    for (g = first; g <= last; g++)
        for (k = 1; k <= seqs; k++) {
            if (!((one, group[g], seq[k]) in tflops)) continue
            if (!((peer, group[g], seq[k]) in tflops)) continue
            value = tflops[one, group[g], seq[k]] / tflops[peer, group[g], seq[k]]
            logs += log(value)
            if (!cells++ || value < least) {
                least = value
                where_least = group[g] ", " seq[k]
            }
        }
    mean = cells ? exp(logs / cells) : 0
    return cells
}

function ratio_line(one, peer, g,    k, line) {
    line = "| " one " | " group[g] " |"
    for (k = 1; k <= seqs; k++)
        line = line (((one, group[g], seq[k]) in tflops) && ((peer, group[g], seq[k]) in tflops) ? \
            sprintf(" %.2f |", tflops[one, group[g], seq[k]] / tflops[peer, group[g], seq[k]]) : \
            " |")
    if (ratios(one, peer, g, g)) printf "%s %.2f | %.2f |\n", line, mean, least
}

function versus(peer,    i, g, k, line, cells) {
    printf "\n## Stages over %s\n\n", peer
    print "Mean: geometric. Stages below half of its speed in the mean are left out.\n"
    head("| stage | |", " mean | least |")
    for (i = 1; i <= names; i++) {
        cells = is_stage[name[i]] ? ratios(name[i], peer, 1, groups) : 0
        if (!cells || mean < 0.5) continue
        line = "| **" name[i] "** | **all " cells "** |"
        for (k = 1; k <= seqs; k++) line = line " |"
        printf "%s **%.2f** | **%.2f** (%s) |\n", line, mean, least, where_least
        for (g = 1; g <= groups; g++) ratio_line(name[i], peer, g)
    }
}

# What was not measured, and why: each reason once a name.
function reasons(    i, g, k, text) {
    for (i = 1; i <= names; i++)
        for (g = 1; g <= groups; g++)
            for (k = 1; k <= seqs; k++) {
                text = reason[name[i], group[g], seq[k]]
                if (text == "" || (name[i], text) in told) continue
                told[name[i], text] = 1
                if (!any++) print ""
                printf "- %s, first at %s, %s: %s: %s\n", name[i], group[g], seq[k],
                    toupper(status[name[i], group[g], seq[k]]), text
            }
}

END {
    sort_numbers(seq, seqs)
    printf "# %s: %s, 16,384 tokens in all, hidden size 2048%s\n\n", about["device"], \
        about["dtype"], about["input"] == "normal" ? "" : ", inputs " about["input"]
    gsub(/ and make/, "` and `make", about["command"])
    printf "`%s`", about["command"]
    if (about["date"]) printf ", %s", about["date"]
    printf "; driver %s, CUDA %s; %s.", about["driver"], about["toolkit"], about["clocks"]
    if (about["peers"]) printf " Peers: %s.", about["peers"]
    print "\nColumns: sequence length. Those of a command take turns in one run, the L2 flushed" \
        " before each repetition; medians."
    for (i = 1; i <= groups; i++) speeds(group[i])
    reasons()
    for (i = 1; i <= names; i++)
        if (!is_stage[name[i]] && measured[name[i]] && name[i] != "matmul") versus(name[i])
}
