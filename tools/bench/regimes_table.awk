# A bench of regimes, or a sustained one, as Markdown: where the stages stand, then every cell.
# Use: awk -f tools/plot/field.awk -f tools/bench/regimes.awk -f tools/plot/json.awk \
#          -f tools/bench/regimes_table.awk RESULTS.jsonl

function is_peer(one) { return !is_stage[one] && one != "matmul" }

# The time of one in a cell; 0 if it has none. (To ask for an element of an array would make it.)
function time_of(where, shape, one) {
    return (where, shape, one) in ms ? ms[where, shape, one] + 0 : 0
}

# The least time of the stages (want 1) or the peers (want 0) in a cell; 0 if none has one.
function fastest(where, shape, want,    i, value, least) {
    for (i = 1; i <= names; i++) {
        if (want ? !is_stage[name[i]] : !is_peer(name[i])) continue
        value = time_of(where, shape, name[i])
        if (value && (!least || value < least)) least = value
    }
    return least
}

# A peer's time over a stage's, of "" the fastest peer's; 0 if one of them is missing.
function ratio(where, shape, one, peer,    mine, other) {
    mine = time_of(where, shape, one)
    other = peer == "" ? fastest(where, shape, 0) : time_of(where, shape, peer)
    return mine && other ? other / mine : 0
}

# Sets mean (geometric), least and where_least over the cells of a section; returns their number.
function ratios(where, one, peer,    k, value, logs, found) {
    least = 0
    for (k = 1; k <= cells[where]; k++) {
        value = ratio(where, cell[where, k], one, peer)
        if (!value) continue
        logs += log(value)
        if (!found++ || value < least) {
            least = value
            where_least = cell[where, k]
        }
    }
    mean = found ? exp(logs / found) : 0
    return found
}

function standing(where, one,    i, found, line) {
    found = ratios(where, one, "")
    if (!found) return
    line = "| " where " | " one " | " found " | **" sprintf("%.2f", mean) "** | " \
        sprintf("%.2f", least) " | " where_least " |"
    for (i = 1; i <= names; i++) {
        if (!is_peer(name[i])) continue
        found = ratios(where, one, name[i])
        line = line (found ? sprintf(" %.2f [%.2f]", mean, least) : "")
        line = line (found && found < cells[where] ? ", " found " cells |" : " |")
    }
    print line
}

function summary(    s, i, line, rule, peers) {
    for (i = 1; i <= names; i++) {
        if (!is_peer(name[i])) continue
        peers++
        line = line " " name[i] " |"
        rule = rule "---:|"
    }
    if (!peers) return
    print "\n## A peer's time over the stage's\n"
    print "Above 1 the stage is ahead. Geometric means over the cells, and the least in brackets;" \
        " the fastest peer is that of each cell.\n"
    print "| regime | stage | cells | fastest peer | least | where |" line
    print "|---|---|---:|---:|---:|---|" rule
    for (s = 1; s <= sections; s++)
        for (i = 1; i <= names; i++)
            if (is_stage[name[i]]) standing(section[s], name[i])
}

# What a table shows of a place.
function shown(what, place) {
    if (!(place in ms)) return (place in verdict) ? verdict[place] : ""
    if (what == "speed") return sprintf("%.4g", speed[place])
    if (what == "clock")
        return mhz[place] == "" ? "" : sprintf("%.0f MHz, %.0f W", mhz[place], watts[place])
    if (gb_s[place] == "") return ""
    if (share[place] == "") return sprintf("%.4g µs, %.4g GB/s", 1000 * ms[place], gb_s[place])
    return sprintf("%.4g µs, %.4g GB/s, %.0f%%", 1000 * ms[place], gb_s[place], 100 * share[place])
}

function table(what, where, title,    i, k, line, rule, stage, peer) {
    printf "\n## %s: %s\n\n", where, title
    line = "| |"
    rule = "|---|"
    for (i = 1; i <= names; i++) {
        line = line " " name[i] " |"
        rule = rule "---:|"
    }
    print line (what == "speed" ? " fastest stage over fastest peer |" : "")
    print rule (what == "speed" ? "---:|" : "")
    for (k = 1; k <= cells[where]; k++) {
        line = "| " cell[where, k] " |"
        for (i = 1; i <= names; i++)
            line = line " " shown(what, where SUBSEP cell[where, k] SUBSEP name[i]) " |"
        stage = fastest(where, cell[where, k], 1)
        peer = fastest(where, cell[where, k], 0)
        if (what == "speed") line = line (stage && peer ? sprintf(" %.2f |", peer / stage) : " |")
        print line
    }
}

# What was not measured, and why: each reason once a name and regime.
function reasons(where,    i, k, place) {
    for (i = 1; i <= names; i++)
        for (k = 1; k <= cells[where]; k++) {
            place = where SUBSEP cell[where, k] SUBSEP name[i]
            if (why[place] == "" || (where, name[i], why[place]) in told) continue
            told[where, name[i], why[place]] = 1
            missing = missing "\n- " where ": " name[i] ", first at " cell[where, k] ": " \
                ((place in verdict) ? verdict[place] ": " : "") why[place]
        }
}

function details(where) {
    table("speed", where, "TFLOP/s")
    if (kind[where] ~ /^(small|chunk|decode|random)$/)
        table("bytes", where, "microseconds, GB/s and % of what the memory can do, if Q, K, V, O" \
            " and LSE move once")
    if (where ~ /sustained/) table("clock", where, "SM clock and power")
    reasons(where)
}

END {
    printf "# %s: %s, %s%s\n\n", about["device"], about["dtype"],
        sections == 1 ? section[1] : "regimes",
        about["input"] == "normal" ? "" : ", inputs " about["input"]
    gsub(/ and make/, "` and `make", about["command"])
    printf "`%s`", about["command"]
    if (about["date"]) printf ", %s", about["date"]
    printf "; driver %s, CUDA %s; %s.", about["driver"], about["toolkit"], about["clocks"]
    if (about["peers"]) printf " Peers: %s.", about["peers"]
    print ""
    if (taking_turns)
        print "One repetition at a time: those of a command take turns in one run, the L2 flushed" \
            " before each repetition; medians."
    if (seconds)
        print "Sustained: each runs back to back for " seconds " s, one after the other, with no" \
            " flush; means, with the clock and\nthe power of that time. Where the host needs" \
            " longer for a launch than the GPU for the work, it is the host's time."
    print "The shapes: `common/cli/regimes.c`."
    summary()
    for (s = 1; s <= sections; s++) details(section[s])
    if (missing) print missing
}
