"""The online softmax by hand: m_i, l_i and O_i after every tile of keys, beside the three passes.

    make trace [N=4] [D=2] [BC=1] [CAUSAL=0] [SEED=1]

N rows of Q and K, D columns, BC keys per tile. The inputs have one decimal, so that every line can
be worked out on paper. For each row i and tile j:

    m_i = max(m_old, max S_ij)      P_ij = exp(S_ij - m_i)
    l_i = exp(m_old - m_i) l_i + sum P_ij      O_i = exp(m_old - m_i) O_i + P_ij V_j
"""
import errno
import os
import signal
import sys

import numpy as np

from attention import online_row, three_pass

DEFAULTS = {"N": 4, "D": 2, "BC": 1, "CAUSAL": 0, "SEED": 1}
ALLOWED = {"N": (1, 64), "D": (1, 8), "BC": (1, 64), "CAUSAL": (0, 1), "SEED": (0, 2**32 - 1)}


def options(arguments):
    """KEY=VALUE arguments over DEFAULTS; a bad one ends the program with 64."""
    values = dict(DEFAULTS)
    for argument in arguments:
        key, _, text = argument.partition("=")
        if key not in DEFAULTS:
            usage(f"there is no {key}: the variables are {', '.join(DEFAULTS)}")
        low, high = ALLOWED[key]
        digits = text.lstrip("0") or text[-1:]  # int() refuses thousands of digits
        if not (text.isascii() and text.isdigit() and len(digits) <= len(str(high))
                and low <= int(digits) <= high):
            shown = text if len(text) <= 40 else text[:40] + "..."
            usage(f"{key} must be a whole number from {low} to {high}, not '{shown}'")
        values[key] = int(digits)
    return values


def usage(sentence):
    print(f"trace: {sentence}", file=sys.stderr)
    sys.exit(64)


def numbers(values):
    return " ".join(f"{value:8.4f}" for value in np.atleast_1d(values))


def print_matrix(name, matrix):
    for i, row in enumerate(matrix):
        print(f"{name if i == 0 else '':>6} {' '.join(f'{value:5.1f}' for value in row)}")


def trace(N, D, BC, CAUSAL, SEED):
    rng = np.random.default_rng(SEED)
    Q, K, V = np.round(rng.uniform(-2, 2, (3, N, D)), 1) + 0.0  # + 0.0: no -0.0
    scale = 1 / np.sqrt(D)
    O, LSE = three_pass(Q[None, None], K[None, None], V[None, None], bool(CAUSAL), scale)

    print(f"N = {N}, d = {D}, scale = 1 / sqrt({D}) = {scale:.4f}, tiles of {BC}"
          + (", causal" if CAUSAL else ""))
    for name, matrix in (("Q", Q), ("K", K), ("V", V)):
        print_matrix(name, matrix)
    for i in range(N):
        print(f"\nrow {i}")
        print(f"{'tile':>6} {'S_ij':^{9 * BC}} {'m_i':>8} {'l_i':>8}   O_i, not yet divided by l_i")
        for j, (S_ij, m_i, l_i, O_i) in enumerate(online_row(scale * Q, K, V, i, CAUSAL, BC)):
            print(f"{j:>6} {numbers(S_ij):<{9 * BC}} {numbers(m_i)} {numbers(l_i)}  ", numbers(O_i))
        print(f"  online      O_i / l_i = {numbers(O_i / l_i)}   m_i + log l_i = "
              f"{numbers(m_i + np.log(l_i))}")
        print(f"  three-pass        O_i = {numbers(O[0, 0, i])}           LSE_i = "
              f"{numbers(LSE[0, 0, i])}")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make trace | head` ends quietly
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        trace(**options(sys.argv[1:]))
        print(end="", flush=True)
    except OSError as error:
        print(f"trace: the output cannot be written: {error.strerror}", file=sys.stderr)
        os._exit(1)  # sys.exit would try to write it once more
