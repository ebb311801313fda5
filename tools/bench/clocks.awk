# The JSON lines of a sustained bench, each with the mean clock and power while it ran. Input: lines
# of nvidia-smi, `load, MHz, time, watts`, then the JSON lines.
# Use: awk -F ', *' -f tools/plot/field.awk -f tools/bench/clocks.awk SAMPLES LINES

function mean(values,    i, sum, count) {
    for (i = 1; i <= samples; i++) {
        if (time[i] < began || time[i] > ended || values[i] !~ /^[0-9.]+$/) continue
        sum += values[i]
        count++
    }
    return count ? sprintf("%.0f", sum / count) : "null"
}

!/^\{/ {
    time[++samples] = $3
    mhz[samples] = $2
    watts[samples] = $4
}

/^\{/ && field($0, "sustained") {
    began = field($0, "began")
    ended = field($0, "ended")
    sub(/}$/, "")
    $0 = $0 ",\"sm_mhz\":" mean(mhz) ",\"watts\":" mean(watts) "}"
}

/^\{/
