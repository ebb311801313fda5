#!/usr/bin/env python3
"""Times the stages beside the attention that PyTorch offers, in turn, in one process.

    reference/peers.py [KEY=VALUE]... STAGE_DIR...

The cells are those of `attention bench` (common/cli/bench.h); D CAUSAL DTYPE SEQS INIT STRENGTH
SEED REPS and GPU mean the same, INIT=all too. The peers are FlashAttention-2 and cuDNN through
scaled_dot_product_attention, FlashAttention-3 where a package of FLASH_ATTENTION_3 is installed,
and FlexAttention compiled by Triton, each in the layout that it is faster with: [batch, heads, seq,
d] or [batch, seq, heads, d] in memory. `matmul` is the product of two 8192 x 8192 bf16 matrices, a
measure of what the tensor cores give.

All work on the same Q, K and V, which are those of the harness bit for bit, and take turns, timed
as common/device/timer.h says: the L2 flushed before each repetition, medians. The first peer's
output is what all others are compared with, before and after the timing; rms_error is of the
harness's rows against its truth in fp64.

stdout: one line about the software, then one object a cell and name with the keys of `attention
bench`. stderr: one line a cell. CUDART names the CUDA runtime that the stages call, TRUTH the
harness as a library (common/cli/library.h; default build/libtruth.so).
Exit: 0, 1 if a stage fails, 2 if there is no GPU, 64 bad usage.
"""
import ctypes
import functools
import importlib.metadata
import itertools
import json
import math
import os
import statistics
import sys

TOKENS, HIDDEN = 16384, 2048
MATMUL = 8192
LEAST_FLUSH = 256 << 20  # bytes
WARM_UP_MS, BUDGET_MS = 50, 2000
MOST_SAMPLES, LEAST_SAMPLES, STABLE_SAMPLES = 1000, 3, 15
USAGE, SKIP = 64, 2
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The packages that bring FlashAttention-3: the module to import, the operators that it registers.
FLASH_ATTENTION_3 = {"flash_attn_3": ("flash_attn_3._C", "flash_attn_3"),
                     "fa3_fwd": ("fa3_fwd._C", "fa3_fwd"),
                     "xformers": ("xformers.flash_attn_3._C", "flash_attn_3")}


class Problem(ctypes.Structure):
    """AttentionProblem of common/attention.h."""
    _fields_ = [(name, ctypes.c_int) for name in ("batch", "heads", "kv_heads", "seq_q", "seq_kv")]
    _fields_ += [("scale", ctypes.c_float)]


class Tensors(ctypes.Structure):
    """AttentionTensors of common/attention.h."""
    _fields_ = [(name, ctypes.c_void_p) for name in ("Q", "K", "V", "O", "LSE")]


class Input(ctypes.Structure):
    """LibraryInput of common/cli/library.h."""
    _fields_ = [("init", ctypes.c_int), ("strength", ctypes.c_double), ("name", ctypes.c_char_p)]

    def __str__(self):
        return self.name.decode() + (f" {self.strength:g}" if self.strength else "")


class Skip(Exception):
    """Why something cannot run here."""


class Failure(Exception):
    """What went wrong."""


# ---- The command line ----------------------------------------------------------------------------

def stop(code, text):
    print(f"peers.py: {text}", file=sys.stderr)
    sys.exit(code)


def whole(key, text, allowed):
    if not text.isdecimal() or int(text) not in allowed:
        choice = " and ".join(map(str, allowed)) if len(allowed) == 2 else \
            f"whole numbers from {allowed[0]} to {allowed[-1]}"
        stop(USAGE, f"{key}={text}: allowed are {choice}")
    return int(text)


def parse(arguments):
    """The options, with lists for what the bench goes through, and the stage folders."""
    options = {"D": [128, 64], "CAUSAL": [0, 1], "SEQS": None, "DTYPE": "fp16", "SEED": 1,
               "REPS": 0, "GPU": 0, "INPUTS": []}
    allowed = {"D": range(64, 129, 64), "CAUSAL": range(2), "SEQS": range(1, TOKENS + 1),
               "SEED": range(2**63), "REPS": range(MOST_SAMPLES + 1), "GPU": range(1024)}
    folders = []
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals:
            folders.append(argument)
        elif key in ("D", "CAUSAL", "SEQS") and value:
            options[key] = [whole(key, item, allowed[key]) for item in value.split(",")]
        elif key in allowed and value:
            options[key] = whole(key, value, allowed[key])
        elif key in ("INIT", "STRENGTH"):
            options["INPUTS"].append(argument)
        elif key == "DTYPE" and value in ("fp16", "bf16"):
            options[key] = value
        elif value and argument not in ("FORMAT=json", "FORMAT=text", "DEVICE=gpu", "DEVICE=auto"):
            stop(USAGE, f"{argument}: allowed are D CAUSAL DTYPE SEQS INIT STRENGTH SEED REPS GPU "
                 "FORMAT")
    if options["SEQS"] is None:
        options["SEQS"] = [4096, 16384] if "INIT=all" in options["INPUTS"] else \
            [512, 1024, 2048, 4096, 8192, 16384]
    return options, folders


# ---- The harness ---------------------------------------------------------------------------------

@functools.cache
def harness():
    """The library of common/cli/library.h."""
    library = ctypes.CDLL(os.environ.get("TRUTH") or f"{ROOT}/build/libtruth.so")
    library.library_open.restype = ctypes.c_void_p
    library.library_rows.restype = ctypes.c_size_t
    library.library_rms_error.restype = ctypes.c_double
    return library


def choose_inputs(arguments):
    """The inputs that INIT=... and STRENGTH=... ask for."""
    reason, inputs = ctypes.create_string_buffer(1024), (Input * 64)()
    texts = (ctypes.c_char_p * len(arguments))(*(text.encode() for text in arguments))
    count = harness().library_inputs(len(arguments), texts, len(inputs), inputs, reason)
    if not count:
        stop(USAGE, reason.value.decode())
    return inputs[:count]


class Truth:
    """Inputs, rows and fp64 truth of a cell, until it is closed."""

    def __init__(self, problem, d, dtype, causal, made, seed):
        reason = ctypes.create_string_buffer(1024)
        self.handle = ctypes.c_void_p(harness().library_open(
            ctypes.byref(problem), d, ctypes.c_bool(dtype == "bf16"), ctypes.c_bool(causal),
            ctypes.byref(made), ctypes.c_uint64(seed), reason))
        if not self.handle:
            stop(SKIP, reason.value.decode())
        self.rows = harness().library_rows(self.handle)

    def inputs(self, shape, element):
        """Q, K and V on the GPU."""
        tensors = [torch.empty(shape, dtype=element) for _ in range(3)]
        harness().library_copy(self.handle, *(ctypes.c_void_p(x.data_ptr()) for x in tensors))
        return [x.to("cuda") for x in tensors]

    def rms_error(self, output):
        O = output.to("cpu").contiguous()
        return harness().library_rms_error(self.handle, ctypes.c_void_p(O.data_ptr()))

    def close(self):
        harness().library_close(self.handle)


# ---- What is timed -------------------------------------------------------------------------------

class Cell:
    """A head size, a mask, a length and an input, with the inputs and outputs of the stages."""

    def __init__(self, options, d, causal, seq, made):
        self.d, self.causal, self.seq, self.dtype = d, bool(causal), seq, options["DTYPE"]
        self.batch, self.heads = TOKENS // seq, HIDDEN // d
        pairs = seq * (seq + 1) // 2 if causal else seq**2
        self.flops = 4 * self.batch * self.heads * d * pairs
        element = {"fp16": torch.float16, "bf16": torch.bfloat16}[self.dtype]
        shape = self.batch, self.heads, seq, d
        self.problem = Problem(self.batch, self.heads, self.heads, seq, seq, 1 / math.sqrt(d))
        self.made = made
        self.truth = Truth(self.problem, d, self.dtype, self.causal, made, options["SEED"])
        self.Q, self.K, self.V = self.truth.inputs(shape, element)
        self.O = torch.empty_like(self.Q)
        self.LSE = torch.empty(shape[:3], device="cuda")
        self.workspace = self.new_workspace(0)

    def new_workspace(self, size):
        return torch.empty(size, dtype=torch.uint8, device="cuda")

    def enlarge_workspace(self, needed):
        """One workspace serves all stages of the cell: the largest that one of them asks for."""
        if needed <= self.workspace.numel():
            return
        self.workspace = None
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info()[0]
        self.workspace = self.new_workspace(needed if needed <= free else 0)
        if needed > free:
            raise Skip(f"its workspace needs {needed} bytes of device memory, {free} are free")

    def layouts(self):
        """Q, K and V as [batch, heads, seq, d], in both orders of memory."""
        turned = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (self.Q, self.K, self.V)]
        return (self.Q, self.K, self.V), turned


class Entry:
    """One thing that takes turns. `prepare` readies it, `run` enqueues it, `output` is O."""
    number = None
    status, reason = "pass", None
    error = allowed = rms_error = None

    def __init__(self, name, flops):
        self.name, self.flops, self.samples = name, flops, []

    def median(self):
        return statistics.median(self.samples) if self.samples else math.inf


class Stage(Entry):
    """A stage's variant, called through the interface of common/attention.h."""

    def __init__(self, folder, cell):
        super().__init__(os.path.basename(os.path.normpath(folder)), cell.flops)
        number = self.name.split("_")[0]
        self.number = int(number) if number.isdigit() else None
        self.path = f"{folder}/d{cell.d}_{cell.dtype}_{'causal' if cell.causal else 'full'}.so"
        self.cell = cell
        self.problem = cell.problem
        self.tensors = Tensors(*(x.data_ptr() for x in (cell.Q, cell.K, cell.V, cell.O, cell.LSE)))

    def prepare(self):
        try:
            library = ctypes.CDLL(os.path.abspath(self.path))
        except OSError as error:
            raise Failure(str(error)) from error
        library.attention_supports.restype = ctypes.c_char_p
        library.attention_workspace_bytes.restype = ctypes.c_size_t
        major, minor = torch.cuda.get_device_capability()
        unsupported = library.attention_supports(ctypes.byref(self.problem), 10 * major + minor)
        if unsupported:
            raise Skip(unsupported.decode())
        self.cell.enlarge_workspace(library.attention_workspace_bytes(ctypes.byref(self.problem)))
        self.launch = library.attention_launch

    def run(self):
        code = self.launch(ctypes.byref(self.problem), ctypes.byref(self.tensors),
                           ctypes.c_void_p(self.cell.workspace.data_ptr()),
                           ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if code:
            raise Failure(f"attention_launch: error {code} of the CUDA runtime")

    def output(self):
        self.cell.O.fill_(math.nan)
        self.run()
        return self.cell.O


class Peer(Entry):
    """A function of PyTorch and its inputs."""

    def __init__(self, name, flops, function, inputs):
        super().__init__(name, flops)
        self.function, self.inputs = function, inputs

    def prepare(self):
        try:
            self.run()
            torch.cuda.synchronize()
        except Exception as error:  # of many kinds: no such kernel, no Triton, no compiler, ...
            raise Skip(f"{type(error).__name__}: {str(error).strip().splitlines()[0]}") from error

    def run(self):
        self.result = self.function(*self.inputs)

    def output(self):
        self.run()
        return self.result


def sdpa(backend, cell):
    def function(Q, K, V):
        with torch.nn.attention.sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=cell.causal)
    return function


@functools.cache
def load_flash_attention_3():
    """Imports the first package of FlashAttention-3; its name and version, and its operators."""
    for package, (module, operators) in FLASH_ATTENTION_3.items():
        try:
            importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        return f"{package} {importlib.metadata.version(package)}", getattr(torch.ops, operators)
    raise ModuleNotFoundError(f"no package {', '.join(FLASH_ATTENTION_3)}")


def flash_attention_3(cell):
    """The operator takes [batch, seq, heads, d] with any strides and returns O first."""
    def function(Q, K, V):
        _, operators = load_flash_attention_3()
        Q, K, V = (x.transpose(1, 2) for x in (Q, K, V))
        return operators.fwd(Q, K, V, is_causal=cell.causal, num_splits=1)[0].transpose(1, 2)
    return function


def flex(cell):
    """FlexAttention, compiled for this cell alone, so that its lengths are constants."""
    def visible(_batch, _head, row, key):
        return row >= key

    def function(Q, K, V):
        return compiled(Q, K, V, block_mask=mask)

    torch.compiler.reset()
    compiled = torch.compile(flex_attention.flex_attention, dynamic=False)
    mask = flex_attention.create_block_mask(
        visible, None, None, cell.seq, cell.seq, device="cuda") if cell.causal else None
    return function


def peers(cell):
    """Each peer twice, once a layout, and the matrix product."""
    backend = torch.nn.attention.SDPBackend
    functions = {"FlashAttention-2": sdpa(backend.FLASH_ATTENTION, cell),
                 "FlashAttention-3": flash_attention_3(cell),
                 "cuDNN": sdpa(backend.CUDNN_ATTENTION, cell),
                 "FlexAttention": flex(cell)}
    layouts = cell.layouts()
    matrices = [torch.randn((MATMUL, MATMUL), device="cuda").to(torch.bfloat16) for _ in range(2)]
    return [Peer(name, cell.flops, function, inputs)
            for name, function in functions.items() for inputs in layouts
            ] + [Peer("matmul", 2 * MATMUL**3, torch.matmul, matrices)]


# ---- Checks and times ----------------------------------------------------------------------------

def attempt(entry, action):
    """Does something with an entry that may fail; what it says becomes the entry's status."""
    try:
        action()
    except Skip as error:
        entry.status, entry.reason = "skip", str(error)
    except (Failure, RuntimeError) as error:
        entry.status, entry.reason = "fail", str(error).strip().splitlines()[0]
        try:
            torch.cuda.synchronize()
        except RuntimeError:
            stop(1, f"{entry.name}: {entry.reason}: the GPU takes no more calls from this process; "
                    "look at that stage alone (make stageNN sanitize)")


def compare(entry, expected, truth):
    """Measures an output against the truth, and compares it with the first peer's. Each side rounds
    P and O, so 4 units in the last place of a row's largest element are allowed in that row. Keeps
    error and allowance of the row that comes closest to it or exceeds it the most."""
    allowed = 4 * torch.finfo(expected.dtype).eps * expected.float().abs().amax(-1).flatten()
    output = entry.output()
    entry.rms_error = truth.rms_error(output)
    error = (output.float() - expected.float()).abs().amax(-1).flatten()
    ratio = torch.nan_to_num(error / allowed, nan=math.inf)
    row = int(ratio.argmax())
    entry.error, entry.allowed = float(error[row]), float(allowed[row])
    if not entry.error <= entry.allowed:
        raise Failure(f"O differs from the first peer's by {entry.error:.3g} in row {row} of all "
                      f"{len(error)}, where {entry.allowed:.3g} is allowed")


def stable(samples):
    """True if the 95% confidence interval of the median is narrower than 1% of it."""
    count, ordered = len(samples), sorted(samples)
    low = math.floor((count - 1) / 2 - 1.96 * math.sqrt(count) / 2)
    high = math.ceil((count - 1) / 2 + 1.96 * math.sqrt(count) / 2)
    return (count >= STABLE_SAMPLES and
            ordered[high] - ordered[low] <= 0.01 * statistics.median(samples))


def finished(samples, reps):
    if reps or len(samples) == MOST_SAMPLES:
        return len(samples) >= reps
    return len(samples) >= LEAST_SAMPLES and (sum(samples) >= BUDGET_MS or stable(samples))


class Timer:
    """Takes turns as common/device/timer.c does."""

    def __init__(self):
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        size = max(LEAST_FLUSH, 2 * properties.L2_cache_size)
        self.flush = torch.empty(size, dtype=torch.uint8, device="cuda")
        self.writes = 1  # of the flush buffer, before a repetition
        self.start, self.stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def once(self, entry):
        """Milliseconds of one run. If the GPU was done with the flush before Python had enqueued
        the run, it stood idle: then it is taken again, with more to write before it."""
        while True:
            for _ in range(self.writes):
                self.flush.zero_()
            self.start.record()
            entry.run()
            idle = self.start.query()
            self.stop.record()
            self.stop.synchronize()
            if not idle or self.writes == 64:
                return self.start.elapsed_time(self.stop)
            self.writes *= 2

    def warm_up(self, entry):
        total = runs = 0
        while runs < 20 and total < WARM_UP_MS:
            total += self.once(entry)
            runs += 1

    def take_turns(self, entries, reps):
        for entry in entries:
            attempt(entry, lambda: self.warm_up(entry))
        entries = passed(entries)
        while entries:
            for entry in entries:
                attempt(entry, lambda: entry.samples.append(self.once(entry)))
            entries = [entry for entry in passed(entries) if not finished(entry.samples, reps)]


# ---- A cell --------------------------------------------------------------------------------------

def report(cell, entry):
    """The object of an entry, keys as in common/cli/report.h."""
    timed = entry.status == "pass" and entry.samples
    answer = {"stage": entry.number, "name": entry.name, "device": torch.cuda.get_device_name(),
              "simulated": False, "dtype": cell.dtype, "causal": cell.causal, "batch": cell.batch,
              "heads": cell.heads, "kv_heads": cell.heads, "seq_q": cell.seq, "seq_kv": cell.seq,
              "d": cell.d, "init": cell.made.name.decode(),
              "strength": cell.made.strength or None,
              "status": entry.status, "reason": entry.reason,
              "max_error": entry.error, "tolerance": entry.allowed, "rms_error": entry.rms_error,
              "checked_rows": None if entry.rms_error is None else cell.truth.rows,
              "ms_median": entry.median() if timed else None,
              "ms_min": min(entry.samples) if timed else None,
              "tflops": entry.flops / entry.median() * 1e-9 if timed else None}
    for key in "max_error", "rms_error":  # JSON has neither NaN nor infinity
        if answer[key] is not None and not math.isfinite(answer[key]):
            answer[key] = None
    for key in "registers", "threads", "shared_bytes", "spill_bytes", "counters":
        answer[key] = None
    return answer


def passed(entries):
    return [entry for entry in entries if entry.status == "pass"]


def fastest(entries):
    """One entry a name: of a peer's layouts the one that ran, and of two the faster."""
    best = {}
    for entry in sorted(entries, key=lambda entry: (entry.status != "pass", entry.median())):
        best.setdefault(entry.name, entry)
    return [entry for entry in entries if best[entry.name] is entry]


def measure(cell, folders, timer, reps):
    """Checks, times and checks again; the entries, stages first."""
    stages, others = [Stage(folder, cell) for folder in folders], peers(cell)
    entries = stages + others
    for entry in entries:
        attempt(entry, entry.prepare)
    compared = [entry for entry in others + stages if entry.name != "matmul"]
    expected = next((entry.output().clone() for entry in passed(compared)
                     if isinstance(entry, Peer)), None)
    for again in False, True:
        for entry in passed(compared) if expected is not None else []:
            attempt(entry, lambda: compare(entry, expected, cell.truth))
        if not again:
            timer.take_turns(passed(entries), reps)
    return fastest(entries)


def bench_cell(options, d, causal, seq, made, folders, timer):
    """Measures a cell and prints it; true if no stage failed."""
    cell = Cell(options, d, causal, seq, made)
    entries = measure(cell, folders, timer, options["REPS"])
    speeds = []
    for entry in entries:
        answer = report(cell, entry)
        print(json.dumps(answer, separators=(",", ":")), flush=True)
        speeds.append(f"{answer['tflops']:.4g}" if answer["tflops"] else entry.status.upper())
    mask = "causal" if causal else "full"
    which = [] if str(made) == "normal" else [made]
    print(f"d{d}_{cell.dtype}_{mask:6} seq {seq:5} ", *which, *speeds, file=sys.stderr)
    cell.truth.close()
    return all(entry.status != "fail" for entry in entries if isinstance(entry, Stage))


def bench(options, folders):
    """Goes through the cells; true if no stage failed."""
    timer = Timer()
    cells = itertools.product(options["D"], options["CAUSAL"], options["SEQS"],
                              options["INPUTS"])
    return all([bench_cell(options, *cell, folders, timer) for cell in cells])


def software():
    cudnn = torch.backends.cudnn.version() or 0
    parts = [f"PyTorch {torch.__version__}", f"cuDNN {cudnn // 10000}.{cudnn // 100 % 100}"]
    for optional in (lambda: f"FlashAttention-3 of {load_flash_attention_3()[0]}",
                     lambda: f"Triton {importlib.import_module('triton').__version__}"):
        try:
            parts.append(optional())
        except Exception:  # of many kinds; Peer.prepare tells it
            pass
    return ", ".join(parts)


def main():
    global torch, flex_attention
    options, folders = parse(sys.argv[1:])
    options["INPUTS"] = choose_inputs(options["INPUTS"])
    # Before PyTorch: the stages find this runtime first, even if PyTorch brings an older one.
    ctypes.CDLL(os.environ.get("CUDART", "libcudart.so"), ctypes.RTLD_GLOBAL)
    import torch
    from torch.nn.attention import flex_attention
    if options["GPU"] >= torch.cuda.device_count():
        stop(SKIP, f"GPU={options['GPU']}: PyTorch sees {torch.cuda.device_count()} GPUs")
    torch.cuda.set_device(options["GPU"])
    print(json.dumps({"peers": software()}), flush=True)
    with torch.no_grad():
        sys.exit(0 if bench(options, folders) else 1)


if __name__ == "__main__":
    main()
