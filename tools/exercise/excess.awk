# The lines that ask for most beyond what the reference's ask for, in each of `units`, which are
# names of exercise.awk with | between them. Of two kernels' records (tools/ptxsim/report), the
# learner's first. A line is that of the reference which has the same code, but for spaces and
# comments; several of the same code count as one.
# Use: awk -v units="barriers|sectors loaded" -f tools/exercise/excess.awk RECORD RECORD

BEGIN {
    names = split(units, unit, "|")
    classes["tensor-core instructions"] = "mma|wgmma"
    classes["barriers"] = "barrier"
    classes["sectors loaded"] = "global load|cp.async|bulk load (TMA)"
    classes["sectors stored"] = "global store|bulk store (TMA)"
    classes["wavefronts of shared loads"] = "shared load|ldmatrix"
    classes["wavefronts of shared stores"] = "shared store|stmatrix"
    classes["wavefronts of shared atomics"] = "shared atomic"
}

# What an instruction adds to a unit. The counters are those of a record, from 1.
function amount(unit, class, counter) {
    if (unit in classes && !index("|" classes[unit] "|", "|" class "|")) return 0
    return unit ~ /^(sectors|wavefronts)/ ? counter[5] : counter[1]
}

function add(line, class, counter,    key, i, more) {
    key = code[line] == "" ? "(in other files)" : code[line]
    for (i = 1; i <= names; i++) {
        more = amount(unit[i], class, counter)
        sum[i, side, key] += more
        all[i, side] += more
        if (side == 1 && more && !((key, line) in listed)) {
            listed[key, line] = 1
            if (line) lines[key] = lines[key] (lines[key] ? ", " : "") line
        }
    }
    keys[key] = 1
}

{ side = FILENAME == ARGV[1] ? 1 : 2 }

/^[{]"kernel":/ {
    file = $0
    sub(/.*"file":"/, "", file)
    sub(/".*/, "", file)
    split("", code)
    for (line = 1; (getline text <file) > 0; line++) {
        sub(/\/\/.*/, "", text)
        gsub(/[ \t\r]+/, " ", text)
        gsub(/^ | $/, "", text)
        code[line] = text
    }
    close(file)
    ops = 0
}

/^\["/ && match($0, /",[0-9]+,[0-9]+,\[[0-9,]*\]\]/) {
    split(substr($0, RSTART + 2, RLENGTH - 4), fact, /[^0-9]+/)
    class_of[++ops] = fact[1]
    line_of[ops] = fact[2] ? fact[2] : fact[3] + 0 # the innermost of those that led to it
}

/^"classes":/ { split(substr($0, index($0, "[") + 2), class, /","|"\]/) }

/^"run_counters":/ {
    split(substr($0, index($0, "[[") + 2), counters, /\],\[/)
    for (i = 1; i <= ops; i++) {
        split(counters[i], counter, ",")
        add(line_of[i], class[class_of[i] + 1], counter)
    }
}

# The line with the largest excess that is not shown yet, "" if there is none. Where all are too
# few, it is one that is missing.
function next_line(i,    key, more, most, found) {
    for (key in keys) {
        more = sum[i, 1, key] - sum[i, 2, key]
        if (all[i, 1] < all[i, 2]) more = -more
        if (!((i, key) in shown) && (more > most || (more && more == most && key < found))) {
            most = more
            found = key
        }
    }
    shown[i, found] = 1
    return found
}

END {
    for (i = 1; i <= names; i++) {
        printf "%13s %13s  %s\n", "yours", "reference", unit[i]
        for (n = 0; n < 3 && (key = next_line(i)) != ""; n++)
            printf "%13d %13d  %s%s\n", sum[i, 1, key], sum[i, 2, key],
                lines[key] ? "line" (lines[key] ~ /,/ ? "s " : " ") lines[key] ": " : "", key
    }
}
