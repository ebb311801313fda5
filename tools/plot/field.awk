# The input of a result: "sink 12", or "normal", also where a line says nothing of it.
function input_of(line,    init, strength) {
    init = field(line, "init")
    strength = field(line, "strength")
    return (init == "" ? "normal" : init) (strength == "" ? "" : " " strength)
}

# The value of a key in a flat JSON object: a string without its quotes, a number, or "" for null
# and for an absent key.
function field(line, key,    at, rest) {
    at = index(line, "\"" key "\":")
    if (!at) return ""
    rest = substr(line, at + length(key) + 3)
    sub(/^ +/, "", rest)
    if (match(rest, /^"([^"\\]|\\.)*"/)) {
        rest = substr(rest, 2, RLENGTH - 2)
        gsub(/\\"/, "\"", rest)
        return rest
    }
    match(rest, /^[^,}]*/)
    rest = substr(rest, 1, RLENGTH)
    return rest == "null" ? "" : rest
}
