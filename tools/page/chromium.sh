#!/usr/bin/env bash
# For what needs a page as a browser sees it: a Chromium without a window. To be sourced.

# The shell without a window takes half of the time of the whole browser, and draws with the same
# engine.
chromium=$(for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    command -v $name && break
done || true)
dump_py=$(dirname "${BASH_SOURCE[0]}")/dump.py

# dump PAGE FRAGMENT SIZE OUTPUT: the document that a page has become in a window of that size, such
# as 1366,768. What is wrong is said on stderr. The browser stays for further pages of this shell,
# and ends with it.
dump() {
    local made
    [ -n "${CHROMIUM_PID:-}" ] || coproc CHROMIUM { exec "$dump_py" "$chromium"; }
    printf '%s\t%s\t%s\n' "$4" "$3" "file://$(realpath "$1")#$2" >&"${CHROMIUM[1]}" &&
        IFS= read -r made <&"${CHROMIUM[0]}" && [ "$made" = "$4" ]
}
