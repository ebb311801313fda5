#!/usr/bin/env python3
"""Times the stages beside the attention that PyTorch offers, in turn, in one process.

    reference/peers.py [KEY=VALUE]... STAGE_DIR...

The cells are those of `attention bench` (common/cli/bench.h); D CAUSAL DTYPE SEQS REGIME SUSTAINED
INIT STRENGTH SEED REPS and GPU mean the same, INIT=all too. The peers are FlashAttention-2 and
cuDNN through scaled_dot_product_attention, FlashAttention-3 where a package of FLASH_ATTENTION_3 is
installed, FlashAttention-4 where flash-attn-4 is, and FlexAttention compiled by Triton, each in the
layout that it is faster with: [batch, heads, seq, d] or [batch, seq, heads, d] in memory. `matmul`
is the product of two 8192 x 8192 bf16 matrices, a measure of what the tensor cores give.
PEERS=fa3,cudnn takes some of them: fa2 fa3 fa4 cudnn flex matmul.

Each peer decides by itself into how many parts it splits the keys and whether it packs the heads of
a group. All masks are aligned bottom-right; a peer whose mask is not is left out of a causal cell
whose lengths differ.

All work on the same Q, K and V, which are those of the harness bit for bit, and take turns, timed
as common/device/timer.h says: the L2 flushed before each repetition, medians; or sustained, back to
back. The first peer's output is what all others are compared with, before and after the timing;
rms_error is of the harness's rows against its truth in fp64.

stdout: one line about the software, then one object per cell and name with the keys of `attention
bench`. stderr: one line per cell. CUDART names the CUDA runtime that the stages call, TRUTH the
harness as a library (common/cli/library.h; default build/libtruth.so).
Exit: 0, 1 if a stage fails, 2 if there is no GPU or no TRUTH, 64 bad usage.
"""
import ctypes
import datetime
import functools
import importlib.metadata
import itertools
import json
import math
import os
import statistics
import sys
import time

MATMUL = 8192
LEAST_FLUSH = 256 << 20  # bytes
WARM_UP_MS, BUDGET_MS = 50, 2000
MOST_SAMPLES, LEAST_SAMPLES, STABLE_SAMPLES = 1000, 3, 15
MOST_CELLS = 512
MEMORY_CLOCK_RATE, MEMORY_BUS_WIDTH = 36, 37  # of enum cudaDeviceAttr
USAGE, SKIP = 64, 2
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMES = {"fa2": "FlashAttention-2", "fa3": "FlashAttention-3", "fa4": "FlashAttention-4",
         "cudnn": "cuDNN", "flex": "FlexAttention", "matmul": "matmul"}
# The packages that bring FlashAttention-3: the module to import, the operators that it registers.
FLASH_ATTENTION_3 = {"flash_attn_3": ("flash_attn_3._C", "flash_attn_3"),
                     "fa3_fwd": ("fa3_fwd._C", "fa3_fwd"),
                     "xformers": ("xformers.flash_attn_3._C", "flash_attn_3")}
# What the harness is asked for cells and inputs.
OF_HARNESS = "D", "CAUSAL", "SEQS", "REGIME", "SUSTAINED", "INIT", "STRENGTH", "SEED"


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


class Shape(ctypes.Structure):
    """LibraryCell of common/cli/library.h."""
    _fields_ = [("problem", Problem), ("d", ctypes.c_int), ("causal", ctypes.c_bool),
                ("regime", ctypes.c_char_p), ("flops", ctypes.c_double),
                ("bytes", ctypes.c_double)]


class Skip(Exception):
    """Why something cannot run here."""


class Failure(Exception):
    """What went wrong."""


# ---- The command line ----------------------------------------------------------------------------

def stop(code, text):
    print(f"peers.py: {text}", file=sys.stderr)
    sys.exit(code)


def first_line(error):
    return (str(error).strip().splitlines() or ["no message"])[0]


def whole(key, text, allowed):
    if not text.isdecimal() or int(text) not in allowed:
        choice = " and ".join(map(str, allowed)) if len(allowed) == 2 else \
            f"whole numbers from {allowed[0]} to {allowed[-1]}"
        stop(USAGE, f"{key}={text}: allowed are {choice}")
    return int(text)


def chosen_peers(text):
    for name in text.split(","):
        if name not in NAMES:
            stop(USAGE, f"PEERS={text}: allowed are {', '.join(NAMES)} with commas between them")
    return [name for name in NAMES if name in text.split(",")]


def parse(arguments):
    """The options, among them what the harness is asked, and the stage folders."""
    options = {"DTYPE": "fp16", "SEED": 1, "REPS": 0, "GPU": 0, "SUSTAINED": 0,
               "PEERS": list(NAMES), "HARNESS": []}
    allowed = {"SEED": range(2**63), "REPS": range(MOST_SAMPLES + 1), "GPU": range(1024),
               "SUSTAINED": range(31)}
    folders = []
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals:
            folders.append(argument)
            continue
        if key in OF_HARNESS:
            options["HARNESS"].append(argument)
        if key in allowed and value:
            options[key] = whole(key, value, allowed[key])
        elif key == "PEERS" and value:
            options[key] = chosen_peers(value)
        elif key == "DTYPE" and value in ("fp16", "bf16"):
            options[key] = value
        elif value and key not in OF_HARNESS and argument not in (
                "FORMAT=json", "FORMAT=text", "DEVICE=gpu", "DEVICE=auto"):
            stop(USAGE, f"{argument}: allowed are {' '.join(OF_HARNESS)} DTYPE REPS GPU PEERS "
                 "FORMAT")
    return options, folders


# ---- The harness ---------------------------------------------------------------------------------

@functools.cache
def harness():
    """The library of common/cli/library.h."""
    path = os.environ.get("TRUTH") or f"{ROOT}/build/libtruth.so"
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        stop(SKIP, f"the harness's library cannot be loaded: make build/libtruth.so: {error}")
    library.library_open.restype = ctypes.c_void_p
    library.library_rows.restype = ctypes.c_size_t
    library.library_rms_error.restype = ctypes.c_double
    return library


def ask(function, kind, most, arguments):
    """The list of `kind` that a function of the library makes of the arguments."""
    reason, found = ctypes.create_string_buffer(1024), (kind * most)()
    texts = (ctypes.c_char_p * len(arguments))(*(text.encode() for text in arguments))
    count = function(len(arguments), texts, most, found, reason)
    if not count:
        stop(USAGE, reason.value.decode())
    return found[:count]


def choose_inputs(arguments):
    """The inputs that INIT=... and STRENGTH=... ask for."""
    return ask(harness().library_inputs, Input, 64, arguments)


def choose_cells(arguments):
    """The shapes that REGIME=..., D=..., ... ask for."""
    return ask(harness().library_cells, Shape, MOST_CELLS, arguments)


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

    def inputs(self, shapes, element):
        """Q, K and V on the GPU."""
        tensors = [torch.empty(shape, dtype=element) for shape in shapes]
        harness().library_copy(self.handle, *(ctypes.c_void_p(x.data_ptr()) for x in tensors))
        return [x.to("cuda") for x in tensors]

    def rms_error(self, output):
        O = output.to("cpu").contiguous()
        return harness().library_rms_error(self.handle, ctypes.c_void_p(O.data_ptr()))

    def close(self):
        harness().library_close(self.handle)


# ---- What is timed -------------------------------------------------------------------------------

class Cell:
    """A problem and an input, with the inputs and outputs of the stages."""

    def __init__(self, options, shape, made):
        self.problem, self.d, self.causal = shape.problem, shape.d, shape.causal
        self.regime, self.flops, self.bytes = shape.regime.decode(), shape.flops, shape.bytes
        self.dtype, self.made, self.sustained = options["DTYPE"], made, options["SUSTAINED"]
        p = self.problem
        self.seq_q, self.seq_kv, self.grouped = p.seq_q, p.seq_kv, p.heads != p.kv_heads
        self.masked = self.causal and p.seq_q > 1  # of a single query, causal hides nothing
        element = {"fp16": torch.float16, "bf16": torch.bfloat16}[self.dtype]
        of_Q = p.batch, p.heads, p.seq_q, self.d
        of_K = p.batch, p.kv_heads, p.seq_kv, self.d
        self.truth = Truth(p, self.d, self.dtype, self.causal, made, options["SEED"])
        self.Q, self.K, self.V = self.truth.inputs((of_Q, of_K, of_K), element)
        self.O = torch.empty_like(self.Q)
        self.LSE = torch.empty(of_Q[:3], device="cuda")
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
    began = ended = None  # of a sustained run

    def __init__(self, name, flops):
        self.name, self.flops = name, flops
        self.samples, self.host = [], []  # milliseconds of the GPU; of Python for a call

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
        except Skip:
            raise
        except Exception as error:  # of many kinds: no such kernel, no Triton, no compiler, ...
            raise Skip(f"{type(error).__name__}: {first_line(error)}") from error

    def run(self):
        self.result = self.function(*self.inputs)

    def output(self):
        self.run()
        return self.result


def sdpa(backend, cell):
    def function(Q, K, V):
        if cell.masked and cell.seq_q != cell.seq_kv:
            raise Skip("its causal mask is aligned top-left: left out where seq_q is not seq_kv")
        with torch.nn.attention.sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                Q, K, V, is_causal=cell.masked, enable_gqa=cell.grouped)
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
    """The operator takes [batch, seq, heads, d] with any strides and returns O first. It splits the
    keys as it sees fit: num_splits=0."""
    def function(Q, K, V):
        _, operators = load_flash_attention_3()
        Q, K, V = (x.transpose(1, 2) for x in (Q, K, V))
        return operators.fwd(Q, K, V, is_causal=cell.masked, num_splits=0)[0].transpose(1, 2)
    return function


@functools.cache
def load_flash_attention_4():
    """Imports FlashAttention-4; its version and its function."""
    module = importlib.import_module("flash_attn.cute")
    return importlib.metadata.version("flash-attn-4"), module.flash_attn_func


def flash_attention_4(cell):
    """Takes [batch, seq, heads, d] and returns O first. It can split the keys from compute
    capability 10 on; before, it takes one part and nothing else."""
    splits = 0 if torch.cuda.get_device_capability() >= (10, 0) else 1

    def function(Q, K, V):
        _, attend = load_flash_attention_4()
        Q, K, V = (x.transpose(1, 2) for x in (Q, K, V))
        return attend(Q, K, V, causal=cell.masked, num_splits=splits)[0].transpose(1, 2)
    return function


def flex(cell):
    """FlexAttention, compiled for this cell alone, so that its lengths are constants."""
    shift = cell.seq_kv - cell.seq_q

    def visible(_batch, _head, row, key):
        return row + shift >= key

    @functools.cache
    def compiled():
        torch.compiler.reset()
        mask = flex_attention.create_block_mask(
            visible, None, None, cell.seq_q, cell.seq_kv, device="cuda") if cell.masked else None
        return torch.compile(flex_attention.flex_attention, dynamic=False), mask

    def function(Q, K, V):
        attend, mask = compiled()
        return attend(Q, K, V, block_mask=mask, enable_gqa=cell.grouped)
    return function


def matmul():
    matrices = [torch.randn((MATMUL, MATMUL), device="cuda").to(torch.bfloat16) for _ in range(2)]
    return Peer("matmul", 2 * MATMUL**3, torch.matmul, matrices)


def peers(cell, chosen):
    """Each of the chosen peers twice, once a layout, and the matrix product."""
    backend = torch.nn.attention.SDPBackend
    functions = {"fa2": functools.partial(sdpa, backend.FLASH_ATTENTION),
                 "fa3": flash_attention_3, "fa4": flash_attention_4,
                 "cudnn": functools.partial(sdpa, backend.CUDNN_ATTENTION), "flex": flex}
    layouts = cell.layouts()
    entries = []
    for name in chosen:
        if name == "matmul":
            entries.append(matmul())
        else:
            function = functions[name](cell)
            entries += [Peer(NAMES[name], cell.flops, function, inputs) for inputs in layouts]
    return entries


# ---- Checks and times ----------------------------------------------------------------------------

def attempt(entry, action):
    """Does something with an entry that may fail; what it says becomes the entry's status."""
    try:
        action()
    except Skip as error:
        entry.status, entry.reason = "skip", str(error)
    except Exception as error:  # of many kinds, as in Peer.prepare
        entry.status, entry.reason = "fail", first_line(error)
        try:
            torch.cuda.synchronize()
        except RuntimeError:
            stop(1, f"{entry.name}: {entry.reason}: the GPU takes no more calls from this process; "
                    "look at that stage alone (make stageNN sanitize)")


def compare(entry, expected, truth):
    """Measures an output against the truth, and compares it with the first peer's. Each side rounds
    P and O, so 4 units in the last place of a row's largest element are allowed in that row. Keeps
    error and allowance of the row that comes closest to it or exceeds it the most. Where no peer
    ran, there is nothing to compare with."""
    output = entry.output()
    entry.rms_error = truth.rms_error(output)
    if expected is None:
        return
    allowed = 4 * torch.finfo(expected.dtype).eps * expected.float().abs().amax(-1).flatten()
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
        """Milliseconds of one run, and in entry.host those until Python had it enqueued. If the GPU
        was done with the flush before, it stood idle: then it is taken again, with more to write
        before it."""
        while True:
            for _ in range(self.writes):
                self.flush.zero_()
            self.start.record()
            began = time.perf_counter()
            entry.run()
            host = 1e3 * (time.perf_counter() - began)
            idle = self.start.query()
            self.stop.record()
            self.stop.synchronize()
            if not idle or self.writes == 64:
                entry.host.append(host)
                return self.start.elapsed_time(self.stop)
            self.writes *= 2

    def warm_up(self, entry):
        """Returns the mean."""
        total = runs = 0
        while runs < 20 and total < WARM_UP_MS:
            total += self.once(entry)
            runs += 1
        return total / runs

    def take_turns(self, entries, reps):
        for entry in entries:
            attempt(entry, lambda: self.warm_up(entry))
        entries = passed(entries)
        while entries:
            for entry in entries:
                attempt(entry, lambda: entry.samples.append(self.once(entry)))
            entries = [entry for entry in passed(entries) if not finished(entry.samples, reps)]

    def run(self, entries, options):
        if options["SUSTAINED"]:
            self.sustain_all(entries, options["SUSTAINED"])
        else:
            self.take_turns(entries, options["REPS"])

    def back_to_back(self, entry, count):
        """Milliseconds of `count` runs together."""
        self.start.record()
        for _ in range(count):
            entry.run()
        self.stop.record()
        self.stop.synchronize()
        return self.start.elapsed_time(self.stop)

    def sustain(self, entry, seconds):
        """Rounds of more and more runs; the first that takes long enough counts."""
        ms, count, wanted = 0, 1, 1000 * seconds
        while ms < wanted:
            entry.began = moment()
            ms = self.back_to_back(entry, count)
            entry.ended = moment()
            entry.samples = [ms / count]
            count = math.ceil(count * min(1.05 * wanted / max(ms, 1e-3), 10))

    def sustain_all(self, entries, seconds):
        """One entry after the other. Of a peer's layouts, the one that is faster on its own."""
        for entry in entries:
            attempt(entry, lambda: entry.samples.append(self.warm_up(entry)))
        chosen = fastest(passed(entries))
        for entry in entries:
            entry.samples, entry.host = [], []
        for entry in chosen:
            attempt(entry, lambda: self.sustain(entry, seconds))


def moment():
    """The time of day as nvidia-smi prints it."""
    return datetime.datetime.now().strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]


@functools.cache
def peak_gb_s():
    """What the memory can do, as in common/device/device.c: two transfers a clock; 0: unknown."""
    runtime = ctypes.CDLL(os.environ.get("CUDART", "libcudart.so"))
    values = []
    for attribute in MEMORY_CLOCK_RATE, MEMORY_BUS_WIDTH:
        value = ctypes.c_int(0)
        runtime.cudaDeviceGetAttribute(ctypes.byref(value), attribute, torch.cuda.current_device())
        values.append(value.value)
    return 1e-6 * values[0] * 2 * values[1] / 8


# ---- A cell --------------------------------------------------------------------------------------

def report(cell, entry):
    """The object of an entry, keys as in common/cli/report.h."""
    timed = entry.status == "pass" and entry.samples
    p = cell.problem
    moved = timed and entry.name != "matmul"  # of which the cell's bytes are
    gb_s = cell.bytes / entry.median() * 1e-6 if moved else None
    answer = {"stage": entry.number, "name": entry.name, "device": torch.cuda.get_device_name(),
              "simulated": False, "dtype": cell.dtype, "causal": cell.causal, "batch": p.batch,
              "heads": p.heads, "kv_heads": p.kv_heads, "seq_q": p.seq_q, "seq_kv": p.seq_kv,
              "d": cell.d, "regime": cell.regime, "init": cell.made.name.decode(),
              "strength": cell.made.strength or None,
              "status": entry.status, "reason": entry.reason,
              "max_error": entry.error, "tolerance": entry.allowed, "rms_error": entry.rms_error,
              "checked_rows": None if entry.rms_error is None else cell.truth.rows,
              "ms_median": entry.median() if timed else None,
              "ms_min": min(entry.samples) if timed else None,
              "host_us": 1e3 * statistics.median(entry.host) if timed and entry.host else None,
              "tflops": entry.flops / entry.median() * 1e-9 if timed else None,
              "gb_s": gb_s, "hbm_share": gb_s / peak_gb_s() if moved and peak_gb_s() else None,
              "sustained": cell.sustained or None,
              "began": entry.began if timed else None, "ended": entry.ended if timed else None}
    for key in "max_error", "rms_error":  # JSON has neither NaN nor infinity
        if answer[key] is not None and not math.isfinite(answer[key]):
            answer[key] = None
    for key in "registers", "threads", "shared_bytes", "spill_bytes", "counters":
        answer[key] = None
    return answer


def label(cell):
    """The variant and the shape; of a square cell its length says all."""
    variant = f"d{cell.d}_{cell.dtype}_{'causal' if cell.causal else 'full'}"
    p = cell.problem
    if cell.regime == "square":
        return f"{variant:16} seq {p.seq_q:5}"
    return (f"{cell.regime:7} {variant:16} B={p.batch} H={p.heads} HKV={p.kv_heads} N={p.seq_q} "
            f"NKV={p.seq_kv}")


def passed(entries):
    return [entry for entry in entries if entry.status == "pass"]


def fastest(entries):
    """One entry a name: of a peer's layouts the one that ran, and of two the faster."""
    best = {}
    for entry in sorted(entries, key=lambda entry: (entry.status != "pass", entry.median())):
        best.setdefault(entry.name, entry)
    return [entry for entry in entries if best[entry.name] is entry]


def measure(cell, folders, timer, options):
    """Checks, times and checks again; the entries, stages first."""
    stages, others = [Stage(folder, cell) for folder in folders], peers(cell, options["PEERS"])
    entries = stages + others
    for entry in entries:
        attempt(entry, entry.prepare)
    compared = [entry for entry in others + stages if entry.name != "matmul"]
    expected = next((entry.output().clone() for entry in passed(compared)
                     if isinstance(entry, Peer)), None)
    for again in False, True:
        for entry in passed(compared):
            attempt(entry, lambda: compare(entry, expected, cell.truth))
        if not again:
            timer.run(passed(entries), options)
    return fastest(entries)


def bench_cell(options, shape, made, folders, timer):
    """Measures a cell and prints it; true if no stage failed."""
    cell = Cell(options, shape, made)
    entries = measure(cell, folders, timer, options)
    speeds = []
    for entry in entries:
        answer = report(cell, entry)
        print(json.dumps(answer, separators=(",", ":")), file=options["LINES"], flush=True)
        speeds.append(f"{answer['tflops']:.4g}" if answer["tflops"] else entry.status.upper())
    which = [] if str(made) == "normal" else [made]
    print(f"{label(cell)} ", *which, *speeds, file=sys.stderr)
    cell.truth.close()
    return all(entry.status != "fail" for entry in entries if isinstance(entry, Stage))


def bench(options, folders):
    """Goes through the cells; true if no stage failed."""
    timer = Timer()
    cells = itertools.product(options["CELLS"], options["INPUTS"])
    return all([bench_cell(options, *cell, folders, timer) for cell in cells])


def take_stdout():
    """A stream to stdout for the lines alone: what packages print there goes to stderr from now."""
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return lines


def software(chosen):
    cudnn = torch.backends.cudnn.version() or 0
    parts = [f"PyTorch {torch.__version__}", f"cuDNN {cudnn // 10000}.{cudnn // 100 % 100}"]
    optional = {"fa3": lambda: f"FlashAttention-3 of {load_flash_attention_3()[0]}",
                "fa4": lambda: f"FlashAttention-4 {load_flash_attention_4()[0]}",
                "flex": lambda: f"Triton {importlib.import_module('triton').__version__}"}
    for name in (name for name in optional if name in chosen):
        try:
            parts.append(optional[name]())
        except Exception:  # of many kinds; Peer.prepare tells it
            pass
    return ", ".join(parts)


def main():
    global torch, flex_attention
    options, folders = parse(sys.argv[1:])
    options["INPUTS"] = choose_inputs(options["HARNESS"])
    options["CELLS"] = choose_cells(options["HARNESS"])
    options["LINES"] = take_stdout()
    # Before PyTorch: the stages find this runtime first, even if PyTorch brings an older one.
    ctypes.CDLL(os.environ.get("CUDART", "libcudart.so"), ctypes.RTLD_GLOBAL)
    import torch
    from torch.nn.attention import flex_attention
    if options["GPU"] >= torch.cuda.device_count():
        stop(SKIP, f"GPU={options['GPU']}: PyTorch sees {torch.cuda.device_count()} GPUs")
    torch.cuda.set_device(options["GPU"])
    print(json.dumps({"peers": software(options["PEERS"])}), file=options["LINES"], flush=True)
    with torch.no_grad():
        sys.exit(0 if bench(options, folders) else 1)


if __name__ == "__main__":
    main()
