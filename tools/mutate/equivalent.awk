# Reads equivalent.md, the first file: which survivors are no gap in the checks, and why. It comes
# before the program that asks for explanations.

BEGIN { FS = "\t" }
FNR == 1 { file++; name = FILENAME; sub(/.*\//, "", name) }
file == 1 && /^## / { title[++entry] = substr($0, 4); next }
file == 1 && !entry { next }
file == 1 && /^kind: [a-z]+; (stages|files): / {
    split($0, part, /[:;] */)
    kind[entry] = part[2]
    stages[entry] = " " part[4] " "
    next
}
file == 1 && /^    - / { before = substr($0, 7); next }
file == 1 && /^    \+/ {
    edit = before "\t" substr($0, 7)
    if (!((entry, edit) in below)) entries[edit] = entries[edit] " " entry
    below[entry, edit] = ""
    next
}
file == 1 && /^    @ / { below[entry, edit] = substr($0, 7); next }
file == 1 { if ($0 != "") why[entry] = why[entry] (why[entry] == "" ? "" : " ") $0; next }

# The entry that explains a mutant, 0 if there is none. `edit` is the line before and after, with a
# tab between, `above` the line above it.
function explanation(stage, edit, above,    n, i, e, list) {
    n = split(entries[edit], list, " ")
    for (i = 1; i <= n; i++) {
        e = list[i]
        if (stages[e] != " * " && !index(stages[e], " " stage " ")) continue
        if (below[e, edit] != "" && below[e, edit] != above) continue
        used[e, edit]++
        return e
    }
    return 0
}
