# Which of the words on stdin may have been meant by `word`: " (did you mean run?)", or nothing.
# They are those that take the fewest edits, one for every three letters at most; if none is so
# near, those that have the word in them, or it them. Upper and lower case are the same.

# The letters to add, drop, change or swap with their neighbour.
function distance(a, b,    i, j, cost, d) {
    for (i = 0; i <= length(a); i++) d[i, 0] = i
    for (j = 0; j <= length(b); j++) d[0, j] = j
    for (i = 1; i <= length(a); i++)
        for (j = 1; j <= length(b); j++) {
            cost = substr(a, i, 1) != substr(b, j, 1)
            d[i, j] = least(least(d[i - 1, j], d[i, j - 1]) + 1, d[i - 1, j - 1] + cost)
            if (i > 1 && j > 1 && substr(a, i - 1, 2) == substr(b, j, 1) substr(b, j - 1, 1))
                d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
        }
    return d[length(a), length(b)]
}
function least(a, b) { return a < b ? a : b }

function contains(long, short, shortest) {
    return length(short) >= shortest && index(long, short)
}

BEGIN {
    word = tolower(word)
    farthest = int(length(word) / 3)
    nearest = farthest + 1
}

{
    for (field = 1; field <= NF; field++) {
        other = tolower($field)
        edits = distance(word, other)
        if (edits > farthest && (contains(other, word, 2) || contains(word, other, 3)))
            edits = farthest + 1
        if (edits > nearest) continue
        if (edits < nearest) count = 0
        nearest = edits
        if (edits <= farthest || contains(other, word, 2) || contains(word, other, 3))
            found[++count] = $field
    }
}

END {
    if (count == 0 || count > 4) exit
    printf " (did you mean %s", found[1]
    for (i = 2; i <= count; i++) printf "%s%s", (i < count ? ", " : " or "), found[i]
    printf "?)\n"
}
