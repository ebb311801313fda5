"""As much of PyTorch as reference/peers.py asks for, on NumPy and without a GPU.

Time does not pass by itself: each kind of work takes a fixed number of milliseconds, a stage one.
Of the two layouts FlashAttention-2 is faster with [batch, seq, heads, d], cuDNN with [batch, heads,
seq, d], FlashAttention-3 and 4 (the modules fa3_fwd._C and flash_attn.cute beside this one) with
either; FlexAttention cannot run. The causal masks of the first two are aligned top-left, and they
are never asked for one where that matters. More than half a second in one piece makes the GPU so
hot that it takes twice as long.

    FAKE_GPUS=0    no GPU    FAKE_LATE=n    the first n repetitions find the GPU idle
    FAKE_PACKAGES=0, broken    no FlashAttention-3 or 4, or ones that do not work
"""
import os
import sys
import types

import numpy as np

__version__ = "0.fake"
float16, bfloat16, uint8 = np.float16, np.float32, np.uint8
state = {"ms": 0, "late": int(os.environ.get("FAKE_LATE", 0)), "writes": 0}


class Tensor:
    """A NumPy array with the method names of PyTorch."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.dtype, self.shape = self.array.dtype.type, self.array.shape

    def to(self, where):
        return self if isinstance(where, str) else Tensor(self.array.astype(where))

    def float(self):
        return self.to(np.float32)

    def abs(self):
        return Tensor(np.abs(self.array))

    def amax(self, axis):
        return Tensor(self.array.max(axis))

    def flatten(self):
        return Tensor(self.array.reshape(-1))

    def argmax(self):
        return self.array.argmax()

    def transpose(self, one, other):
        return Tensor(self.array.swapaxes(one, other))

    def contiguous(self):
        return Tensor(np.ascontiguousarray(self.array))

    def clone(self):
        return Tensor(self.array.copy())

    def data_ptr(self):
        return self.array.ctypes.data

    def numel(self):
        return self.array.size

    def fill_(self, value):
        self.array[...] = value

    def zero_(self):
        state["writes"] += 1

    def __sub__(self, other):
        return Tensor(self.array - other.array)

    def __truediv__(self, other):
        return Tensor(self.array / other.array)

    def __rmul__(self, number):
        return Tensor(number * self.array)

    def __getitem__(self, index):
        return self.array[index]

    def __len__(self):
        return len(self.array)


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        print(f"flush: {state['writes']} writes, time: {state['ms']} ms", file=sys.stderr)


class Event:
    def __init__(self, enable_timing):
        assert enable_timing
        self.ms = 0.0

    def record(self):
        self.ms = state["ms"]

    def query(self):
        state["late"] -= 1
        return state["late"] >= 0

    def synchronize(self):
        state["ms"] += 1

    def elapsed_time(self, stop):
        ms = stop.ms - self.ms
        return 2 * ms if ms > 500 else ms


def randn(_shape, device):
    """A matrix, whose product nobody looks at."""
    return Tensor(np.zeros(1))


def empty(shape, dtype=np.float32, device=None):
    return Tensor(np.empty(shape if isinstance(shape, tuple) else min(shape, 1 << 20), dtype))


def empty_like(tensor):
    return Tensor(np.empty_like(tensor.array))


def matmul(_left, _right):
    state["ms"] += 10


def nan_to_num(tensor, nan):
    return Tensor(np.nan_to_num(tensor.array, nan=nan))


def finfo(dtype):
    return types.SimpleNamespace(eps=float(np.finfo(dtype).eps))


def compile(function, dynamic):
    assert dynamic is False
    return function


def attention(Q, K, V, is_causal, enable_gqa):
    assert enable_gqa == (Q.shape[1] != K.shape[1])
    assert not is_causal or Q.shape[2] == K.shape[2]
    bhsd = Q.array.flags.c_contiguous
    state["ms"] += {"flash": 4, "cudnn": 8}[state["backend"]] + bhsd * {"flash": 2, "cudnn": -2}[
        state["backend"]]
    return exact(Q, K, V, is_causal)


results = {}


def exact(Q, K, V, is_causal):
    """Causal masks are aligned bottom-right. What is asked of the same tensors again and again, to
    be timed, is computed once."""
    tensors = [x.array for x in (Q, K, V)]
    key = (is_causal, *((x.ctypes.data, x.shape, x.strides, x.dtype) for x in tensors))
    if key not in results:
        results[key] = compute(Q, K, V, is_causal), tensors  # which so keep their addresses
    return results[key][0]


def compute(Q, K, V, is_causal):
    K, V = (np.repeat(x.float().array, Q.shape[1] // x.shape[1], 1) for x in (K, V))
    S = np.einsum("bhid,bhjd->bhij", Q.float().array, K) / np.sqrt(Q.shape[-1])
    if is_causal:
        rows, keys = S.shape[-2:]
        S = np.where(np.tri(rows, keys, keys - rows, dtype=bool), S, -np.inf)
    P = np.exp(S - S.max(-1, keepdims=True))
    O = np.einsum("bhij,bhjd->bhid", P / P.sum(-1, keepdims=True), V)
    return Tensor(O.astype(Q.dtype))


def current_stream():
    """A stage asks for it when it is launched."""
    state["ms"] += 1
    return types.SimpleNamespace(cuda_stream=0)


class sdpa_kernel:
    def __init__(self, backend):
        self.backend = backend

    def __enter__(self):
        state["backend"] = self.backend

    def __exit__(self, *_):
        state["backend"] = None


def flex_attention(Q, K, V, block_mask, enable_gqa):
    raise RuntimeError("no Triton here\nand a trace")


def module(name, **content):
    """Makes `name` a module that `import` finds."""
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


cuda = module(
    "torch.cuda", Event=Event, synchronize=lambda: None, empty_cache=lambda: None,
    is_available=lambda: True, set_device=lambda index: None, current_device=lambda: 0,
    device_count=lambda: int(os.environ.get("FAKE_GPUS", 1)), get_device_name=lambda: "Fake GPU",
    get_device_capability=lambda: (9, 0), mem_get_info=lambda: (1 << 34, 1 << 34),
    get_device_properties=lambda index: types.SimpleNamespace(L2_cache_size=1 << 20),
    current_stream=current_stream)
ops = types.SimpleNamespace()  # of packages that extend PyTorch
compiler = module("torch.compiler", reset=lambda: None)
backends = module("torch.backends", cudnn=types.SimpleNamespace(version=lambda: 91901))
nn = module("torch.nn")
nn.functional = module("torch.nn.functional", scaled_dot_product_attention=attention)
nn.attention = module(
    "torch.nn.attention", sdpa_kernel=sdpa_kernel,
    SDPBackend=types.SimpleNamespace(FLASH_ATTENTION="flash", CUDNN_ATTENTION="cudnn"))
nn.attention.flex_attention = module(
    "torch.nn.attention.flex_attention", flex_attention=flex_attention,
    create_block_mask=lambda mask, batch, heads, rows, keys, device: mask)
