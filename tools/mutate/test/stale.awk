# What equivalent.md explains although it is no mutant of its stages. Use: awk -f equivalent.awk -f
# stale.awk equivalent.md LIST, the mutants of all stages with the name of the stage before each.

{ explanation($1, $5 "\t" $6, $7) }
END {
    for (e = 1; e <= entry; e++)
        if (kind[e] !~ /^(equivalent|speed|beyond|choice)$/ || stages[e] == "" || why[e] == "")
            bad = bad title[e] ": its kind, stages or reason are missing\n"
    for (key in below)
        if (!(key in used)) {
            split(key, part, SUBSEP)
            bad = bad title[part[1]] ": no mutant of" stages[part[1]] "does this: " part[2] "\n"
        }
    printf "%s", bad
    exit bad != ""
}
