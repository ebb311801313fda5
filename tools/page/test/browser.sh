#!/usr/bin/env bash
# For the tests of pages: TAP, a Chromium without a window, markup. To be sourced; it ends a test
# that finds no Chromium.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh

# shellcheck source=tools/page/chromium.sh
. tools/page/chromium.sh
if ! missing=$(can_look 2>&1); then
    echo "1..0 # SKIP $missing"
    exit 0
fi

# document PAGE [FRAGMENT [SIZE]]: what the page has become, to $scratch/document.
document() { dump "$1" "${2:-}" "${3:-1366,768}" "$scratch/document"; }

# evaluate PAGE STATEMENTS [SIZE]: prints what these return as a function's body on the page, in a
# window of that size, or on a phone.
evaluate() {
    sed "s|<head>|&<base href=\"file://$(realpath "$1")\">|; /<\/body>/,\$d" "$1" \
        >"$scratch/asked.html"
    printf '%s\n' "<script>{ const pre = document.createElement('pre'); pre.id = 'answer';" \
        "pre.textContent = (() => { $2 })(); document.body.append(pre); }</script></body></html>" \
        >>"$scratch/asked.html"
    dump "$scratch/asked.html" "" "${3:-390,844}" "$scratch/document"
    left answer | head -n 1
}

# fits PAGE [SIZE]: no part of it lies beyond the right edge of a window of that size, or a phone.
fits() {
    local beyond size=${2:-390,844}
    beyond=$(evaluate "$1" 'const all = document.documentElement;
        return all.scrollWidth - all.clientWidth;' "$size")
    [ "$beyond" = 0 ]
    result $? "$1: nothing is cut off at $size, ${beyond:-unknown} pixels"
}

# left ID: what the page of $scratch/document left in the element of this name.
left() {
    sed -n '/<pre id="'"$1"'">/,/<\/pre>/p' "$scratch/document" |
        sed 's/.*<pre id="'"$1"'">//; s/<\/pre>.*//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
}

# drive PAGE [FURTHER [SIZE]]: its TAP, numbered anew. FURTHER is what else the page is asked for.
drive() {
    document "$1" "test${2:+&$2}" "${3:-}"
    left tap >"$scratch/tap"
    result "$([ -s "$scratch/tap" ] && grep -q '^1\.\.' "$scratch/tap"; echo $?)" "$1 was driven"
    while IFS= read -r line; do
        case $line in
        ok\ *) echo "ok $((count += 1)) ${line#ok * }" ;;
        'not ok '*) echo "not ok $((count += 1)) ${line#not ok * }" ;;
        '#'*) echo "$line" ;;
        esac
    done <"$scratch/tap"
    named
    result $? "$1: what acts has a name that can be read out" "$scratch/nameless"
}

# named: in $scratch/document every link and button, and all else that takes the keyboard, has a
# name of letters or digits: a sign alone is read out as that.
named() {
    perl -0777 -CSD -ne 's/<(script|style)\b.*?<\/\1>//gs;
        while (/<(a|button)\b([^>]*)>(.*?)<\/\1>/gs) {
            my ($attributes, $text) = ($2, $3); $text =~ s/<[^>]*>//g;
            print "$attributes: $text\n"
                if ($attributes =~ /aria-label="([^"]*)"/ ? $1 : $text) !~ /[A-Za-z0-9]/;
        }
        while (/<((?:div|section|canvas|dialog)\b[^>]*)>/g) {
            my $tag = $1;
            print "$tag\n" if $tag =~ /^(canvas|dialog)|tabindex/ && $tag !~ /aria-(label|hidden)/;
        }' "$scratch/document" >"$scratch/nameless"
    [ ! -s "$scratch/nameless" ]
}

# Tags that are closed in the order in which they were opened.
closed() {
    perl -0777 -ne 's/<(script|style)\b[^>]*>.*?<\/\1>//gs; s/<!.*?>//gs; my @open;
        while (/<(\/?)([a-z0-9]+)[^>]*?(\/?)>/g) {
            next if $3 || $2 =~ /^(meta|link|br|hr|img|input)$/;
            if (!$1) { push @open, $2 }
            elsif (!@open || pop(@open) ne $2) { print "</$2> closes another\n"; exit 1 }
        }
        if (@open) { print "@open: not closed\n"; exit 1 }' "$1" >"$scratch/markup"
}
