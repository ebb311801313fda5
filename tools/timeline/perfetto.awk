# A record (README.md) as a Chrome trace, which Perfetto and chrome://tracing show. A process is a
# block, a thread a warp; 1 ns of the trace is one cycle of the SM's clock, or one instruction in
# the simulator's order. The wgmmas that the first warp of a warpgroup has in flight are
# asynchronous slices.

function event(text) {
    printf "%s\n%s", events++ ? "," : "", text
}

function named(what, pid, tid, name) {
    event("{\"ph\":\"M\",\"name\":\"" what "\",\"pid\":" pid ",\"tid\":" tid \
        ",\"args\":{\"name\":\"" name "\"}}")
}

# The number after "key": in a text.
function number_of(text, key) {
    return match(text, "\"" key "\":-?[0-9]+") ? \
        substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : 0
}

function time(cycles) {
    return sprintf("%.3f", cycles / 1000)
}

function flight(phase, id, at) {
    event("{\"ph\":\"" phase "\",\"cat\":\"wgmma\",\"name\":\"wgmma of " flying[id] "\",\"id\":" \
        id ",\"pid\":" block ",\"tid\":" warp ",\"ts\":" time(at) "}")
}

function put_warp(text,    parts, count, i, at, end, mark) {
    block = number_of(text, "block")
    warp = number_of(text, "warp")
    if (!(block in known)) named("process_name", block, 0, "block " block " on SM " sm)
    known[block] = 1
    named("thread_name", block, warp, "warp " warp)
    sub(/.*"stamps":\[/, "", text)
    sub(/\].*/, "", text)
    count = split(text, parts, ",")
    at = 0
    for (i = 1; i + 3 <= count; i += 2) {
        at += parts[i]
        end = at + parts[i + 2]
        mark = parts[i + 1]
        event("{\"ph\":\"X\",\"cat\":\"" label[mark] "\",\"name\":\"" label[mark] \
            "\",\"pid\":" block ",\"tid\":" warp ",\"ts\":" time(at) ",\"dur\":" \
            time(end - at) ",\"args\":{\"line\":" line[mark] "}}")
        if (warp % 4) continue
        if (issues[mark]) {
            flying[++flights] = label[mark]
            flight("b", flights, at)
            open[++last] = flights
        }
        while (keeps[mark] >= 0 && last - first > keeps[mark]) flight("e", open[++first], end)
    }
    while (last > first) flight("e", open[++first], end)
}

/^,"cost":/ { sm = number_of($0, "sm") }

/^"marks":\[\[/ {
    text = $0
    gsub(/^"marks":\[\[|\]\],$|"/, "", text)
    count = split(text, list, /\],\[/)
    for (i = 1; i <= count; i++) {
        split(list[i], field, ",")
        label[i - 1] = field[1]
        line[i - 1] = field[2]
        issues[i - 1] = field[3] + 0
        keeps[i - 1] = field[4] + 0
    }
}

BEGIN { printf "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" }
/^[{]"block":/ { put_warp($0) }
END { print "\n]}" }
