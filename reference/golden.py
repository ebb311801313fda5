"""Writes golden/*.txt: small problems with their answers in fp64, for tests without Python.

Line 1 of a file: batch heads kv_heads seq_q seq_kv d causal scale. Then the numbers of Q, K, V, O
and LSE in order, in full precision, eight on a line.
"""
import pathlib

import numpy as np

from attention import three_pass

FOLDER = pathlib.Path(__file__).parent / "golden"

# name: batch, heads, kv_heads, seq_q, seq_kv, d, causal, size of the logits
PROBLEMS = {
    "one_key": (1, 1, 1, 1, 1, 2, False, 1),
    "one_query": (2, 2, 2, 1, 9, 4, False, 1),
    "full": (1, 2, 2, 7, 7, 8, False, 1),
    "causal": (1, 2, 2, 7, 7, 8, True, 1),
    "grouped": (2, 6, 3, 5, 8, 4, False, 1),
    "multi_query": (1, 4, 1, 6, 6, 4, True, 1),
    "more_keys": (1, 2, 1, 4, 11, 4, True, 1),
    "rows_without_keys": (1, 2, 1, 11, 4, 4, True, 1),
    "huge_logits": (1, 1, 1, 6, 6, 4, False, 1000),
    "ragged": (1, 1, 1, 17, 33, 3, True, 4),
}


def problem(name):
    """Q, K, V, the mask and the scale of a problem: the same for everybody who asks."""
    batch, heads, kv_heads, seq_q, seq_kv, d, causal, size = PROBLEMS[name]
    rng = np.random.default_rng(list(PROBLEMS).index(name))
    Q = rng.standard_normal((batch, heads, seq_q, d)) * size
    K = rng.standard_normal((batch, kv_heads, seq_kv, d))
    V = rng.standard_normal((batch, kv_heads, seq_kv, d))
    # Values that fp16 holds, so that a program that rounds its inputs starts from the same ones.
    return (*(np.float64(np.float16(M)) for M in (Q, K, V)), causal, 1 / np.sqrt(d))


def text(name):
    batch, heads, kv_heads, seq_q, seq_kv, d, causal, _ = PROBLEMS[name]
    Q, K, V, _, scale = problem(name)
    flat = np.concatenate([M.ravel() for M in (Q, K, V, *three_pass(Q, K, V, causal, scale))])
    lines = [f"{batch} {heads} {kv_heads} {seq_q} {seq_kv} {d} {int(causal)} {scale:.17g}"]
    lines += [" ".join(f"{x:.17g}" for x in flat[i:i + 8]) for i in range(0, flat.size, 8)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in PROBLEMS:
        (FOLDER / f"{name}.txt").write_text(text(name))
