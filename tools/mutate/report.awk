# The report in Markdown. Use: awk -f equivalent.awk -f report.awk equivalent.md VERDICTS LIST...,
# the list of mutants of each stage.
# Exit: 1 if a mutant survived that equivalent.md does not explain.

BEGIN {
    columns = split("wrong result,race,never written,bounds,deadlock,no end,other fault,refused," \
        "crash,counters,signature", cause, ",")
}

# ---- verdicts
file == 2 { verdict[$1, $2] = $3; check[$1, $2] = $4; next }

# ---- lists
function code(text) { gsub(/\|/, "\\|", text); return "`" text "`" }

FNR == 1 { stage[++stage_count] = name }
{
    v = verdict[name, $1]
    count[name, v]++
    if (v == "survived") {
        e = explanation(name, $4 "\t" $5, $6)
        count[name, e ? kind[e] : "unexplained"]++
        reason = e ? "**" title[e] "** (" kind[e] "). " why[e] : "**Unexplained**"
        line = sprintf("| %s:%d | %s | %s | %s |", name, $2, $3, code($4), code($5))
        if (!(reason in survivors)) reasons[++reason_count] = reason
        survivors[reason] = survivors[reason] line "\n"
    }
}

function share(part, whole) { return whole ? sprintf("%.1f %%", 100 * part / whole) : "" }

function row(name, title,    i, killed, survived, text, explained) {
    for (i = 1; i <= columns; i++) {
        text = text " " (count[name, cause[i]] + 0) " |"
        killed += count[name, cause[i]]
        if (name != "all") count["all", cause[i]] += count[name, cause[i]]
    }
    survived = count[name, "survived"] + 0
    explained = survived - count[name, "unexplained"]
    printf "| %s | %d | %d |%s %d | %d | %s | %s |\n", title, killed + survived, killed, text,
        survived, survived - explained, share(killed, killed + survived),
        share(killed + explained, killed + survived)
    if (name == "all") return
    count["all", "survived"] += survived
    count["all", "unexplained"] += count[name, "unexplained"]
    count["all", "same code"] += count[name, "same code"]
    count["all", "does not compile"] += count[name, "does not compile"]
}

END {
    print "# Mutants: would the checks notice a mistake?\n"
    printf "`make mutate%s%s`: %s of every stage, one edit each, in the simulator.\n",
        mutants == 60 ? "" : " MUTANTS=" mutants, seed == 1 ? "" : " SEED=" seed,
        mutants == "all" ? "all mutants" : \
            "every removed synchronisation and a sample, " mutants " mutants or more"
    print "How they are made and judged: [tools/mutate](../../tools/mutate/README.md).\n"
    printf "| stage | mutants | killed |"
    for (i = 1; i <= columns; i++) printf " %s |", cause[i]
    print " survived | unexplained | killed | killed or explained |"
    printf "|---|---:|---:|"
    for (i = 1; i <= columns; i++) printf "---:|"
    print "---:|---:|---:|---:|"
    for (i = 1; i <= stage_count; i++) row(stage[i], stage[i])
    row("all", "all")
    printf "\nNot counted: %d that do not compile, and %d that compile to the stage's own code " \
        "in all variants,\nwhich proves them equivalent.\n", count["all", "does not compile"],
        count["all", "same code"]
    print "\n## Survivors, by the reason why nothing kills them"
    if (reason_count == 0) print "\nNone."
    for (i = 1; i <= reason_count; i++) {
        print "\n" reasons[i] "\n\n| where | operator | before | after |\n|---|---|---|---|"
        printf "%s", survivors[reasons[i]]
    }
    exit count["all", "unexplained"] > 0
}
