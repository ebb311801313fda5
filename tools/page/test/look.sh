#!/usr/bin/env bash
# The Look sections of the chapters, on the pages that they speak of: what a section quotes is said
# by the page after a click on the line that it links to, or on a bar. Catches: a line that moved, a
# sentence or a number that is no longer what one sees, a link to a line that no warp executes. To
# be sourced, after browser.sh.
: "${scratch:?}"

# look_section STAGE: to $scratch/section.
look_section() { sed -n '/^## Look/,/^## Measure/p' "notes/$1.md" >"$scratch/section"; }

# said_of STAGE: what its page is asked for, the lines that its section links to.
said_of() {
    look_section "$1"
    echo "said=$(grep -o '#L[0-9]*)' "$scratch/section" | tr -dc '0-9\n' | sort -u | paste -sd,)"
}

# look_at STAGE PAGE: PAGE has been made without variables and was asked for what it says.
look_at() {
    local stage=$1 page=$2 plain="make stage${1%%_*} explore" words
    look_section "$stage"
    read -ra words < <(grep -o 'make stage[0-9]* explore[A-Z0-9= ]*' "$scratch/section")
    [[ "${words[*]} " = "$plain "* ]]
    result $? "$stage: Look begins with its page: ${words[*]}"
    if [ "${words[*]}" != "$plain" ]; then
        "${words[@]}" >"$scratch/log" 2>&1
        result $? "$stage: it is made" "$scratch/log"
        document "$page" "$(said_of "$stage")"
    fi
    if ! grep -q '^CUDA_VERSION := 13\.0' build/toolchain.mk; then
        result 0 "$stage: the page says what is quoted # SKIP quoted from CUDA 13.0"
        return
    fi
    left said >"$scratch/said"
    check_section "$page"
    result $? "$stage: the page says what is quoted" "$scratch/wrong"
}

# check_section PAGE: the links and quotes of $scratch/section against what the page says.
check_section() {
    perl -CSD -e '
        my ($section, $said, $page) = @ARGV; local $/;
        open my $in, "<", $section; my $text = <$in>; $text =~ s/\s+/ /g;
        open $in, "<", $said; my (%lines, @bars);
        for (split /\n/, <$in>) {
            s/\s+/ /g;
            push @{$lines{$1}}, $_ if /^line (\d+): /;
            push @bars, $_ if /^bar: /;
        }
        my $line = 0; my $quotes = 0;
        while ($text =~ /\[(\d+)\]\(\S+?#L(\d+)\)|"([^"]+)"/g) {
            if (defined $1) {
                $line = $2;
                print "line $1 links to line $2\n" if $1 != $2;
                print "$page: no click on line $line\n" unless $lines{$line};
                next;
            }
            my $quote = $3; $quotes++;
            print "$page: neither line $line nor a bar says \"$quote\"\n"
                unless grep { index($_, $quote) >= 0 } @{$lines{$line} || []}, @bars;
        }' "$scratch/section" "$scratch/said" "$1" >"$scratch/wrong"
    [ ! -s "$scratch/wrong" ]
}
