#!/usr/bin/env bash
# For what needs a page as a browser sees it: a Chromium without a window. To be sourced.

# The shell without a window takes half of the time of the whole browser, and draws with the same
# engine.
chromium=$(for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    command -v $name && break
done || true)
dump_py=$(dirname "${BASH_SOURCE[0]}")/dump.py

# can_look: whether a page can be looked at here. If not, a sentence on stderr says what is missing.
can_look() {
    if [ -z "$chromium" ]; then
        echo "a picture needs a Chromium, such as Debian's package chromium-headless-shell" >&2
    elif ! command -v python3 >/dev/null; then
        echo "a picture needs python3, which tells Chromium what to open" >&2
    else
        return 0
    fi
    return 1
}

# dump PAGE FRAGMENT SIZE OUTPUT: the document that a page has become in a window of that size, such
# as 1366,768. What is wrong is said on stderr. The browser stays for further pages of this shell,
# and ends with it.
dump() {
    local made
    [ -n "${CHROMIUM_PID:-}" ] || coproc CHROMIUM { trap '' INT; exec "$dump_py" "$chromium"; }
    { (trap '' PIPE; printf '%s\t%s\t%s\n' "$4" "$3" "file://$(realpath "$1")#$2"); } \
        2>/dev/null 1>&"${CHROMIUM[1]:--}" && # one that has ended takes no job, and has said why
        IFS= read -r made 2>/dev/null <&"${CHROMIUM[0]:--}" && [ "$made" = "$4" ]
}
