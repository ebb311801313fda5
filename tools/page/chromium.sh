#!/usr/bin/env bash
# For what needs a page as a browser sees it: a Chromium without a window. To be sourced.

# The shell without a window takes half of the time of the whole browser, and draws with the same
# engine.
chromium=$(for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    command -v $name && break
done || true)

# dump PAGE FRAGMENT SIZE: the document that a page has become in a window of that size, such as
# 1366,768. What the browser says goes to stderr. A page is gone before threads that compile and
# collect for its scripts would pay. (--single-process saves more, and crashes one time in thirty.)
dump() {
    local profile code=0
    profile=$(mktemp -d)
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --window-size="$3" \
        --js-flags=--single-threaded \
        --disable-extensions --disable-background-networking --disable-component-update \
        --user-data-dir="$profile" --virtual-time-budget=60000 --dump-dom \
        "file://$(realpath "$1")#$2" || code=$?
    rm -rf "$profile"
    return $code
}
