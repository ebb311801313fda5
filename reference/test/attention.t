#!/usr/bin/env python3
"""The four ways agree with each other, with the definition, and with the C oracle.

Catches: a wrong line in any of the loops or in the oracle, a KV head read by the wrong query head,
a mask aligned to the wrong corner, a row without keys that is not 0 and -inf, a tile that runs past
the end. Without ORACLE_DUMP (the program's path) the comparison with C is skipped.
"""
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import golden  # noqa: E402
from attention import flash1, flash2, online, three_pass  # noqa: E402
from tap import error, ok  # noqa: E402

WAYS = (three_pass, online, flash1, flash2)
# batch, heads, kv_heads, seq_q, seq_kv, d, causal
PROBLEMS = [
    (1, 1, 1, 1, 1, 2, False), (2, 3, 3, 16, 16, 8, False), (1, 4, 2, 17, 33, 4, False),
    (2, 6, 1, 15, 31, 8, False), (1, 2, 2, 16, 16, 8, True), (1, 4, 2, 17, 50, 4, True),
    (2, 6, 3, 50, 17, 4, True), (1, 1, 1, 5, 1, 4, True), (1, 1, 1, 1, 1, 1, False),
    (1, 8, 2, 40, 40, 16, True),
]


def by_definition(Q, K, V, causal, scale):
    """One element at a time, straight from the contract, with no maximum subtracted."""
    batch, heads, seq_q, d = Q.shape
    kv_heads, seq_kv = K.shape[1:3]
    O, LSE = np.zeros(Q.shape), np.full(Q.shape[:3], -np.inf)
    for b, h, i in np.ndindex(batch, heads, seq_q):
        g = h // (heads // kv_heads)
        seen = min(max(i + 1 + seq_kv - seq_q, 0), seq_kv) if causal else seq_kv
        weights = [np.exp(scale * (Q[b, h, i] @ K[b, g, j])) for j in range(seen)]
        if seen:
            O[b, h, i] = sum(w * V[b, g, j] for j, w in enumerate(weights)) / sum(weights)
            LSE[b, h, i] = np.log(sum(weights))
    return O, LSE


def make(seed, batch, heads, kv_heads, seq_q, seq_kv, d, causal):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((batch, heads, seq_q, d)),
            rng.standard_normal((batch, kv_heads, seq_kv, d)),
            rng.standard_normal((batch, kv_heads, seq_kv, d)))


for seed, shape in enumerate(PROBLEMS):
    Q, K, V = make(seed, *shape)
    causal, scale = shape[-1], 1 / np.sqrt(shape[-2])
    expected = by_definition(Q, K, V, causal, scale)
    for way in WAYS:
        off = max(error(*pair) for pair in zip(way(Q, K, V, causal, scale), expected))
        ok(off <= 1e-12, f"{way.__name__} {shape}: the definition, {off:.1e}")

Q, K, V = make(99, 1, 2, 1, 20, 37, 8, True)
expected = three_pass(1000 * Q, K, V, True)
for way in WAYS[1:]:
    off = max(error(*pair) for pair in zip(way(1000 * Q, K, V, True), expected))
    ok(off <= 1e-12, f"{way.__name__}: logits in the thousands, {off:.1e}")
for sizes in ({"BC": 1}, {"BC": 7}, {"BC": 100}):
    got = online(Q, K, V, True, **sizes)
    off = max(error(*pair) for pair in zip(got, three_pass(Q, K, V, True)))
    ok(off <= 1e-12, f"online with {sizes}: {off:.1e}")
for BR, BC in ((1, 1), (3, 5), (64, 64)):
    for way in (flash1, flash2):
        got = way(Q, K, V, True, BR=BR, BC=BC)
        off = max(error(*pair) for pair in zip(got, three_pass(Q, K, V, True)))
        ok(off <= 1e-12, f"{way.__name__} with BR={BR} BC={BC}: {off:.1e}")

for name in golden.PROBLEMS:
    stored = np.array((golden.FOLDER / f"{name}.txt").read_text().split(), dtype=float)
    off = error(stored, np.array(golden.text(name).split(), dtype=float))
    ok(off <= 1e-12, f"golden/{name}.txt is what golden.py writes, {off:.1e}")


def oracle(batch, heads, kv_heads, seq_q, seq_kv, d, causal, dtype, init):
    """Q, K, V, O and LSE of the C oracle."""
    shapes = [(batch, heads, seq_q, d), (batch, kv_heads, seq_kv, d), (batch, kv_heads, seq_kv, d),
              (batch, heads, seq_q, d), (batch, heads, seq_q)]
    raw = subprocess.run(
        [os.environ["ORACLE_DUMP"], f"B={batch}", f"H={heads}", f"HKV={kv_heads}", f"N={seq_q}",
         f"NKV={seq_kv}", f"D={d}", f"CAUSAL={int(causal)}", f"DTYPE={dtype}", f"INIT={init}"],
        check=True, stdout=subprocess.PIPE).stdout
    flat, arrays = np.frombuffer(raw, "<f8"), []
    for shape in shapes:
        arrays.append(flat[:np.prod(shape)].reshape(shape))
        flat = flat[np.prod(shape):]
    assert flat.size == 0, "more numbers than expected"
    return arrays


if not os.environ.get("ORACLE_DUMP"):
    ok(True, "# SKIP the C oracle: ORACLE_DUMP names no program")
else:
    for shape in PROBLEMS + [(1, 2, 1, 65, 130, 64, True), (1, 2, 2, 30, 70, 128, False)]:
        for dtype, init in (("fp16", "normal"), ("bf16", "uniform"), ("fp16", "large"),
                            ("bf16", "tiny"), ("fp16", "equal"), ("bf16", "dominant")):
            Q, K, V, O, LSE = oracle(*shape, dtype, init)
            scale = 1 / np.sqrt(shape[-2])
            # A score is known to a unit in its last place, and so is its weight.
            scores = scale * Q @ np.repeat(K, shape[1] // shape[2], axis=1).swapaxes(-1, -2)
            allowed = 1e-12 + np.abs(scores).max() * np.finfo(float).eps
            for way in WAYS:
                got = way(Q, K, V, shape[-1], scale)
                off = max(error(got[0], O), error(got[1], LSE))
                ok(off <= allowed,
                   f"{way.__name__}, the C oracle, {shape} {dtype} {init}: {off:.1e}")
