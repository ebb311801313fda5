# Counters side by side, from the objects of the learner's kernel and of the reference; <-- where
# there are 5 % more (of tensor-core instructions, also where there are 5 % less), and then exit 1.
# Kernels that do not store all of O, or issue nothing, have not computed the result: exit 1, too.
# Use: awk -f tools/plot/field.awk -f tools/exercise/exercise.awk

{ object[NR] = $0 }

# A rare counter has its row only if it is not 0.
function row(key, text, rare,    yours, reference, mark) {
    yours = field(object[1], key) + 0
    reference = field(object[2], key) + 0
    if (rare && !yours && !reference) return
    mark = yours > 1.05 * reference || (key ~ /^mma/ && yours < 0.95 * reference)
    printf "%-28s %13d %13d%s\n", text, yours, reference, mark ? "  <--" : ""
    worse += mark
}

# The sectors that O fills, of 16 elements each.
function of_O(object) {
    return field(object, "batch") * field(object, "heads") * field(object, "seq_q") * \
        field(object, "d") / 16
}

END {
    if (NR != 2) exit 2
    printf "%-28s %13s %13s\n", "", "yours", "reference"
    row("warp_instructions", "instructions of warps")
    row("mma_instructions", "tensor-core instructions")
    row("barriers", "barriers")
    row("global_load_units", "sectors loaded")
    row("global_store_units", "sectors stored")
    row("shared_load_units", "wavefronts of shared loads")
    row("shared_store_units", "wavefronts of shared stores")
    row("shared_atomic_units", "wavefronts of shared atomics", 1)
    if (field(object[1], "warp_instructions") + 0 == 0) {
        print "attention_launch launches no kernel: the result was computed on the host"
        worse++
    } else if (field(object[1], "global_store_units") + 0 < of_O(object[1])) {
        printf "no kernel of yours stores O, which has %d sectors: ", of_O(object[1])
        print "the result was computed on the host"
        worse++
    }
    exit worse > 0
}
