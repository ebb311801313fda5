#!/usr/bin/env bash
# Stamped copies of kernels (stamp.awk).
# Catches: a copy that is not the kernel with stamps added, a stamp at another line, line numbers
# that move, a mark whose text is missing, is there twice or stands where no statement can, a label
# or a group that does not exist.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tools/test/tap.sh
. tools/test/tap.sh
stamp() { # stamp MARKS KERNEL
    awk -v macros=tools/timeline/stamp.cuh -f tools/timeline/stamp.awk "$1" "$2"
}

# ---- The stages ----------------------------------------------------------------------------------
# Each stamp of a copy as "line label": the line that follows it, the label of its mark.
stamps_of() {
    awk 'FNR == NR { if (/^    \{"/) label[marks++] = $1; next }
        /^TIMELINE_STAMP\(/ { match($0, /[0-9]+/); mark = substr($0, RSTART, RLENGTH) }
        /^#line/ && mark != "" { print $2, label[mark] }
        !/^TIMELINE_STAMP/ { mark = "" }' "$1" "$1" | tr -d '{",'
}
for marks in stages/*/timeline.marks; do
    stage=$(basename "$(dirname "$marks")")
    kernel=stages/$stage/kernel.cu
    stamp "$marks" "$kernel" >"$scratch/copy" 2>"$scratch/said"
    result $? "$stage: its marks are places of the kernel" "$scratch/said"
    awk '/^#line 1 "stages/ { copied = 1 }
        /^extern "C" const TimelineMark/ { exit }
        copied && !/^(TIMELINE_|#line )/' "$scratch/copy" | diff "$kernel" - >"$scratch/changed"
    result $? "$stage: without its stamps the copy is the kernel" "$scratch/changed"
    awk '/^#line [0-9]+ "stages.*kernel/ { line = $2; next }
        /^extern "C" const TimelineMark/ { exit }
        line { if (!/^TIMELINE_/) print line ":" $0; line++ }' "$scratch/copy" |
        diff <(awk '{ print FNR ":" $0 }' "$kernel") - >"$scratch/changed"
    result $? "$stage: its lines keep their numbers" "$scratch/changed"
done

# A kernel as an editor may write it, with a byte-order mark.
{ printf '\xef\xbb\xbf'; cat stages/06_cp_async/kernel.cu; } >"$scratch/kernel.cu"
stamp stages/06_cp_async/timeline.marks "$scratch/kernel.cu" >"$scratch/copy" 2>"$scratch/said"
[ ! -s "$scratch/said" ] && ! LC_ALL=C grep -q $'\xef\xbb\xbf' "$scratch/copy"
result $? "a byte-order mark stays out of the copy" "$scratch/said"

# ---- The records of the notes --------------------------------------------------------------------
# A record is of the kernel as it stands: its marks have the labels and lines of today's.
for record in notes/results/timeline/*.json; do
    [ -e "$record" ] || continue
    stage=$(basename "$record" .json)
    stamp "stages/$stage/timeline.marks" "stages/$stage/kernel.cu" |
        grep -oE '\{"[A-Za-z+]+", [0-9]+,' | tr -d '{ ' >"$scratch/today"
    grep '^"marks"' "$record" | grep -oE '"[A-Za-z+]+",[0-9]+,' | diff "$scratch/today" - \
        >"$scratch/changed"
    result $? "$record is of today's kernel and marks" "$scratch/changed"
done

# ---- Where a stamp goes --------------------------------------------------------------------------
cat >"$scratch/kernel.cu" <<'CODE'
// A kernel
static __device__ void wait_here(int n) {
    spin(n); // until it is there
}

static __global__ void flash_fwd(const int *from, // [rows]
                                 int rows) {
    int sum = 0;
    if (threadIdx.x == 96) {
        wait_here(1);
        return;
    }
    for (int row = 0; row < rows; row++) {
        wait_here(0);
        __syncthreads(); // RAW: the first
        sum += from[row] +
               row;
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum += i;
        wait_here(0);
        __syncthreads(); // RAW: the second
        if (sum > 9) {
            sum = 0;
        } else
            sum++;
    }
}

int after(void) { return 0; }
CODE
cat >"$scratch/marks" <<'MARKS'
# label | groups | text

wait    |           | wait_here(0); __syncthreads(); // RAW: the first
softmax | +1        | #pragma unroll for (int i
wait    | GROUPS - 1 | wait_here(0);   __syncthreads(); // RAW: the second
copy    |           | spin(n);
MARKS
stamp "$scratch/marks" "$scratch/kernel.cu" >"$scratch/copy" 2>"$scratch/said"
result $? "a kernel with marks" "$scratch/said"
stamps_of "$scratch/copy" >"$scratch/stamps"
printf '%s\n' '3 copy' '11 end' '14 wait' '18 softmax' '21 wait' '28 end' |
    diff - "$scratch/stamps" >"$scratch/changed"
result $? "a stamp stands before the line where its text begins, ends at every way out" \
    "$scratch/changed"
grep -A1 '^ *int rows) {' "$scratch/copy" | grep -q '^TIMELINE_BEGIN'
result $? "stamps begin with the kernel's body" "$scratch/copy"
grep -A1 '^#line 4 .*marks"' "$scratch/copy" | grep -q '{"softmax", 18, 1, -1}' &&
    grep -q '{"wait", 21, 0, GROUPS - 1}' "$scratch/copy"
result $? "groups that are issued and kept are in the table, a wrong one has the mark's line" \
    "$scratch/copy"

# ---- What is refused -----------------------------------------------------------------------------
refuses() { # refuses MARK TEXT...: exit 64, each text is said, and nothing is copied
    local status=0 text
    echo "$1" >"$scratch/bad"
    stamp "$scratch/bad" "$scratch/kernel.cu" >"$scratch/copy" 2>"$scratch/said"
    [ $? -eq 64 ] && [ ! -s "$scratch/copy" ] || status=1
    for text in "${@:2}"; do grep -qF -- "$text" "$scratch/said" || status=1; done
    result $status "refused: $1" "$scratch/said"
}
refuses 'wait | | no such text' 'bad:1: its text is not in ' 'no such text'
refuses 'wait | | wait_here(0);' 'more than once, in lines 14 and 21'
refuses 'wait | | row; #pragma' 'before line 17' 'it continues the line before'
refuses 'wait | | for (int i' 'the loop of a #pragma'
refuses 'wait | | sum += i;' 'before line 20' 'it continues the line before'
refuses 'wait | | } else sum++' 'it is the else of an if'
refuses 'wait | | sum++;' 'before line 26' 'it continues the line before'
refuses 'wait | | static __device__' 'it is not inside a function'
refuses 'nap  | | sum = 0; } else' 'there is no label "nap"' 'softmax'
refuses 'wait | ++ | spin(n);' 'groups are +1, a number or a constant, not "++"'
refuses 'wait | |' 'the mark has no text'
refuses 'wait: spin(n);' 'a mark is "label | groups | text"'
refuses '# nothing' 'there is no mark'
sed -i 's/flash_fwd/flash/' "$scratch/kernel.cu"
refuses 'copy | | spin(n);' 'there is no kernel flash_fwd'
echo "1..$count"
