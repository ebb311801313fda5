"""FlashAttention-4: flash_attn_func on [batch, seq, heads, d], O first. It talks on stdout, as its
compiler may."""
import os

import torch

if os.environ.get("FAKE_PACKAGES") == "0":
    raise ModuleNotFoundError("No module named 'flash_attn'")
print("compiling")


def flash_attn_func(Q, K, V, causal, num_splits):
    assert os.environ.get("FAKE_PACKAGES") != "broken"
    assert num_splits == 1  # all that it can below compute capability 10
    torch.state["ms"] += 3
    Q, K, V = (x.transpose(1, 2) for x in (Q, K, V))
    return torch.exact(Q, K, V, causal).transpose(1, 2), None
