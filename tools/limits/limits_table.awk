# Bounds beside recorded times as Markdown.
# Use: awk -f tools/plot/field.awk -f tools/limits/limits_table.awk RESULTS.jsonl

# Adds a cell to a row: one stage, head size and mask.
/^\{/ && field($0, "bound_tflops") != "" {
    row = field($0, "name") " | d" field($0, "d") " " \
        (field($0, "causal") == "true" ? "causal" : "full")
    at = field($0, "seq_q")
    if (!(row in binding)) order[++rows] = row
    if (!(at in seen)) seq[++seqs] = at
    seen[at]
    binding[row] = field($0, "bound_by")
    share[row, at] = 100 * field($0, "explained")
    device = field($0, "device")
    cells++
    most = share[row, at] > most ? share[row, at] : most
}

function sort_lengths(    i, j, value) {
    for (i = 2; i <= seqs; i++) {
        value = seq[i]
        for (j = i - 1; j >= 1 && seq[j] + 0 > value + 0; j--) seq[j + 1] = seq[j]
        seq[j + 1] = value
    }
}

END {
    if (!cells) exit 1
    sort_lengths()
    printf "# %s: limits\n\n`make limits`: the time of the bound over the recorded one, %%, in" \
        " %d cells.\nWhat is missing to 100 is the error of the bound; the largest share is" \
        " %.1f.\nHow bounds are computed, and what they leave out: [limits.md](../limits.md).\n\n",
        device, cells, most
    printf "| stage | |"
    for (k = 1; k <= seqs; k++) printf " %s |", seq[k]
    printf " bound by |\n|---|---|"
    for (k = 1; k <= seqs; k++) printf "---:|"
    print "---|"
    for (i = 1; i <= rows; i++) {
        printf "| %s |", order[i]
        for (k = 1; k <= seqs; k++)
            if ((order[i], seq[k]) in share) printf " %.1f |", share[order[i], seq[k]]
            else printf " |"
        printf " %s |\n", binding[order[i]]
    }
}
