# The table of tools/tune/tune.sh, best first. Use:
#     awk -v arch=sm_80 -f tools/plot/field.awk -f tools/tune/tune.awk SHAPES RESULTS
# SHAPES: a line a shape, with tabs: name, registers, spilled bytes, why it was left out. RESULTS:
# the objects of `attention run FORMAT=json` for the others.

# Limits of a multiprocessor: warps, blocks, KiB of shared memory (CUDA C++ Programming Guide,
# "Technical Specifications per Compute Capability"); all have 65,536 registers.
BEGIN {
    split("80 64 32 164  86 48 16 100  87 48 16 164  89 48 24 100  90 64 32 228  100 64 32 228  " \
          "103 64 32 228  120 48 24 100", table, " +")
    version = arch
    gsub(/[^0-9]/, "", version)
    for (i = 1; i in table; i += 4)
        if (table[i] == version) {
            most_warps = table[i + 1]
            most_blocks = table[i + 2]
            most_shared = table[i + 3] * 1024
        }
    SYSTEM = 1024 # bytes of shared memory of each block that the system takes
}

function least(a, b) { return a < b ? a : b }

# Blocks at a time on a multiprocessor. Registers are given to a warp 256 at a time, to the four
# quarters of a multiprocessor evenly.
function blocks(registers, shared, threads,    warps, by_registers) {
    warps = int((threads + 31) / 32)
    by_registers = int(65536 / (int((registers * 32 + 255) / 256) * 256) / 4) * 4
    return least(least(int(by_registers / warps), int(most_warps / warps)),
                 least(most_blocks, int(most_shared / (shared + SYSTEM))))
}

FNR == NR {
    split($0, part, "\t")
    order[++count] = part[1]
    registers[part[1]] = part[2]
    spills[part[1]] = part[3]
    reason[part[1]] = part[4]
    next
}

{
    one = field($0, "name")
    shared[one] = field($0, "shared_bytes")
    threads[one] = field($0, "threads")
    tflops[one] = field($0, "tflops")
    ms[one] = field($0, "ms_median")
    if (field($0, "simulated") == "true") simulated = 1
    if (most_shared && shared[one] + SYSTEM > most_shared)
        reason[one] = sprintf("a block needs %d bytes of shared memory, and %s has %d", shared[one],
                              arch, most_shared - SYSTEM)
    else if (field($0, "status") != "pass") {
        reason[one] = toupper(field($0, "status")) ": " field($0, "reason")
        if (field($0, "status") == "fail") failed = 1
    }
}

function line(one,    resident, warps) {
    printf "%-28s %9s %8s %5s %6s", one, ms[one] == "" ? "-" : sprintf("%.4g", ms[one]),
        tflops[one] == "" ? "-" : sprintf("%.4g", tflops[one]), registers[one], spills[one]
    if (shared[one] == "") {
        print ""
        return
    }
    printf " %7d", shared[one]
    if (most_warps) {
        resident = blocks(registers[one], shared[one], threads[one])
        warps = resident * int((threads[one] + 31) / 32)
        printf " %6d %4.0f%%", resident, 100 * warps / most_warps
    }
    print ""
}

END {
    printf "%-28s %9s %8s %5s %6s %7s %6s %5s\n", "shape", "ms", "TFLOP/s", "regs", "spills",
        "shared", "blocks", "warps"
    for (i = 1; i <= count; i++) {
        best = 0
        for (k = 1; k <= count; k++)
            if (!done[k] && reason[order[k]] == "" && (!best || tflops[order[k]] + 0 > \
                tflops[order[best]] + 0)) best = k
        if (!best) break
        done[best] = 1
        line(order[best])
    }
    for (i = 1; i <= count; i++)
        if (reason[order[i]] != "") printf "%-28s %s\n", order[i], reason[order[i]]
    printf "blocks: at a time on a multiprocessor of %s; warps: of those that it can hold\n", arch
    if (simulated) print "no times: the shapes ran on the simulator, which has none"
    exit failed
}
