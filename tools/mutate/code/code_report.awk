# The report in Markdown. Use: awk -f equivalent.awk -f code_report.awk explained.md FOUND LIST...,
# the list of mutants of each file, called common%truth%check.c.
# Exit: 1 if a mutant survived that explained.md does not explain.

# ---- verdicts
file == 2 { verdict[$1, $2] = $3; test[$1, $2] = $4; next }

# ---- lists
function code_of(text) { gsub(/\|/, "\\|", text); return "`" text "`" }

FNR == 1 {
    path = name
    gsub(/%/, "/", path)
    paths[++path_count] = path
}
{
    v = verdict[path, $1]
    count[path, v]++
    if (v == "survived") {
        e = explanation(path, $4 "\t" $5, $6)
        count[path, e ? "explained" : "unexplained"]++
        reason = e ? "**" title[e] "** (" kind[e] "). " why[e] : "**Unexplained**"
        if (!(reason in survivors)) reasons[++reason_count] = reason
        survivors[reason] = survivors[reason] sprintf("| %s:%d | %s | %s | %s |\n", path, $2, $3,
            code_of($4), code_of($5))
    }
}

function share(part, whole) { return whole ? sprintf("%.1f %%", 100 * part / whole) : "" }

function row(path,    killed, all, how, h) {
    split("failed,crash,no end", how, ",")
    for (h = 1; h <= 3; h++) killed += count[path, how[h]]
    all = killed + count[path, "survived"]
    printf "| %s | %d | %d | %d | %d | %d | %d | %d | %s | %s |\n", path, all, killed,
        count[path, "failed"], count[path, "crash"], count[path, "no end"],
        count[path, "survived"], count[path, "unexplained"], share(killed, all),
        share(killed + count[path, "explained"], all)
    if (path == "all") return
    for (h = 1; h <= 3; h++) count["all", how[h]] += count[path, how[h]]
    for (h = split("survived,explained,unexplained,same code,does not compile", how, ","); h; h--)
        count["all", how[h]] += count[path, how[h]]
}

END {
    print "# Mutants of " code ": would its tests notice a mistake?\n"
    printf "`make mutate CODE=%s%s%s`: %s of every file, one edit each.\n", code,
        mutants == 10 ? "" : " MUTANTS=" mutants, seed == 1 ? "" : " SEED=" seed,
        mutants == "all" ? "all mutants" : "a sample, " mutants
    print "How they are made and judged: [tools/mutate/code](../../tools/mutate/code/README.md).\n"
    print "| file | mutants | killed | failed | crash | no end | survived | unexplained " \
        "| killed | killed or explained |"
    print "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for (i = 1; i <= path_count; i++) row(paths[i])
    row("all")
    printf "\nNot counted: %d that do not compile, warnings being errors, and %d whose machine " \
        "code is the file's own.\n", count["all", "does not compile"], count["all", "same code"]
    print "\n## Survivors, by the reason why nothing kills them"
    if (reason_count == 0) print "\nNone."
    for (i = 1; i <= reason_count; i++) {
        print "\n" reasons[i] "\n\n| where | operator | before | after |\n|---|---|---|---|"
        printf "%s", survivors[reasons[i]]
    }
    exit count["all", "unexplained"] > 0
}
