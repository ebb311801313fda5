"""The operator fa3_fwd.fwd: [batch, seq, heads, d], O first."""
import os
import types

import torch

if os.environ.get("FAKE_PACKAGES") == "0":
    raise ModuleNotFoundError("No module named 'fa3_fwd'")
if os.environ.get("FAKE_PACKAGES") == "broken":
    raise OSError("made for another PyTorch")


def fwd(Q, K, V, is_causal, num_splits):
    assert num_splits == 0  # as many as it sees fit
    torch.state["ms"] += 2
    Q, K, V = (x.transpose(1, 2) for x in (Q, K, V))
    return torch.exact(Q, K, V, is_causal).transpose(1, 2), None


torch.ops.fa3_fwd = types.SimpleNamespace(fwd=fwd)
