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
    if (field($0, "replayed") + 0 > 0) {
        replay[row, at] = 100 * field($0, "replayed")
        replayed[row]
    }
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

# The shares of the rows, or of those that have a replay.
function put_rows(value, chosen, last,    i, k) {
    printf "| stage | |"
    for (k = 1; k <= seqs; k++) printf " %s |", seq[k]
    printf "%s\n|---|---|", last ? " bound by |" : ""
    for (k = 1; k <= seqs; k++) printf "---:|"
    print last ? "---|" : ""
    for (i = 1; i <= rows; i++) {
        if (!(order[i] in chosen)) continue
        printf "| %s |", order[i]
        for (k = 1; k <= seqs; k++)
            if ((order[i], seq[k]) in value) printf " %.1f |", value[order[i], seq[k]]
            else printf " |"
        print last ? " " binding[order[i]] " |" : ""
    }
}

END {
    if (!cells) exit 1
    sort_lengths()
    printf "# %s: limits\n\n`make limits`: the time of the bound over the recorded one, %%, in" \
        " %d cells.\nWhat is missing to 100 is the error of the bound; the largest share is" \
        " %.1f.\nHow bounds are computed, and what they leave out: [limits.md](../limits.md).\n\n",
        device, cells, most
    put_rows(share, binding, 1)
    any = 0
    for (i in replayed) any = 1
    if (!any) exit
    print "\n## The replay\n\nIts time over the recorded one, %; of the stages that it is offered" \
        " for.\n"
    put_rows(replay, replayed, 0)
}
