#!/usr/bin/env bash
# The times for the chart, from the results of benches: a JavaScript object per line. Usage:
# results.sh FILE.jsonl... Of each card the first file counts, in the order of names without their
# endings: card.jsonl before card_stage16.jsonl, whose times are those of another run.
set -euo pipefail
export LC_ALL=C # numbers have points and letters their usual case
declare -A drawn
while IFS= read -r file; do
    case $file in *_inputs.jsonl | *_roofline.jsonl) continue ;; esac
    device=$(head -n 1 "$file" | sed -n 's/.*"device":"\([^"]*\)".*/\1/p')
    if [ -z "$device" ] || [ -n "${drawn[$device]:-}" ]; then continue; fi
    drawn[$device]=1
    awk '
        function field(key,    rest) { # the value of a key of this line, without quotes
            if (!match($0, "\"" key "\":")) return ""
            rest = substr($0, RSTART + RLENGTH)
            sub(/^"/, "", rest); sub(/[",}].*/, "", rest)
            return rest
        }
        /"status":"pass"/ && /"simulated":false/ && /"dtype":"fp16"/ {
            printf "{name: \"%s\", device: \"%s\", mask: \"%s\", batch: %d, seq: %d, d: %d, ",
                field("name"), field("device"), field("causal") == "true" ? "causal" : "full",
                field("batch"), field("seq_q"), field("d")
            printf "ms: %.4g, tflops: %.4g},\n", field("ms_median"), field("tflops")
        }' "$file"
done < <(printf '%s\n' "${@%.jsonl}" | sort | sed 's/$/.jsonl/')
