"""Attention in four ways, all the same function:

    S = scale * Q K^T + mask        P = softmax(S), row by row        O = P V
    LSE_i = log sum_j exp(S_ij)

three_pass  the formula: all of S, then all of P, then O
online      one row at a time over tiles of keys: S is never whole, l_i and O_i are mended as
            the running maximum m_i grows
flash1      FlashAttention-1: tiles of keys outside, tiles of queries inside; O is normalised in
            every step and goes back to memory
flash2      FlashAttention-2: tiles of queries outside, so O_i, m_i and l_i stay on the chip;
            O_i is divided by l_i once, at the end

Each takes Q [batch, heads, seq_q, d] and K, V [batch, kv_heads, seq_kv, d], computes in fp64 and
returns O [batch, heads, seq_q, d] and LSE [batch, heads, seq_q]. Head h reads KV head
h / (heads / kv_heads). With causal=True query i sees keys j <= i + seq_kv - seq_q. A row that sees
no key gives O = 0 and LSE = -inf. Lengths need not be multiples of a tile.

Line numbers are those of Algorithm 1 of FlashAttention-2 (Dao 2023, arXiv:2307.08691); FA-1 marks
those of Algorithm 1 of FlashAttention (Dao et al. 2022, arXiv:2205.14135).
"""
import functools

import numpy as np


def every_head(one_head):
    """Lifts a function of one head, scaled Q [seq_q, d] and K, V [seq_kv, d], to all of them."""

    @functools.wraps(one_head)
    def attention(Q, K, V, causal=False, scale=None, **tile_sizes):
        batch, heads, seq_q, d = Q.shape
        group = heads // K.shape[1]  # query heads that share a KV head
        if scale is None:
            scale = 1 / np.sqrt(d)
        Q, K, V = (np.asarray(M, dtype=np.float64) for M in (Q, K, V))
        O, LSE = np.empty((batch, heads, seq_q, d)), np.empty((batch, heads, seq_q))
        for b, h in np.ndindex(batch, heads):
            O[b, h], LSE[b, h] = one_head(
                scale * Q[b, h], K[b, h // group], V[b, h // group], causal, **tile_sizes)
        return O, LSE

    return attention


def tiles(length, size):
    """0 .. length - 1 cut into slices of `size`; the last may be shorter."""
    return [slice(first, min(first + size, length)) for first in range(0, length, size)]


def scores(Q, K, i, j, causal):
    """S_ij = Q_i K_j^T for query tile i and key tile j; -inf where the mask hides a key."""
    S_ij = Q[i] @ K[j].T
    row, col = np.arange(len(Q))[i, None], np.arange(len(K))[j]
    return np.where(col <= row + len(K) - len(Q), S_ij, -np.inf) if causal else S_ij


def exp(x, m):
    """e^(x - m) for x <= m. While no key was seen m is -inf, and so is x: that weighs 0."""
    return np.exp(x - np.where(m == -np.inf, 0, m))


def divide(O, l):
    """diag(l)^-1 O; a row that saw no key has l = 0 and O = 0, and keeps its 0."""
    return O / np.where(l == 0, 1, l)[..., None]


def logsumexp(m, l):
    """LSE = m + log l; a row that saw no key has l = 0 and gets -inf."""
    with np.errstate(divide="ignore"):
        return m + np.log(l)


@every_head
def three_pass(Q, K, V, causal):
    S = scores(Q, K, slice(None), slice(None), causal)  # [seq_q, seq_kv]
    m = S.max(axis=1)                                   # [seq_q]
    P = exp(S, m[:, None])                              # [seq_q, seq_kv], not yet normalised
    l = P.sum(axis=1)                                   # [seq_q]
    return divide(P, l) @ V, logsumexp(m, l)


def online_row(Q, K, V, i, causal, BC):
    """The online softmax of row i: yields S_ij, m_i, l_i and O_i after each tile of BC keys."""
    m_i, l_i, O_i = -np.inf, 0.0, np.zeros(V.shape[1])                # line 5: nothing seen yet
    for j in tiles(len(K), BC):                                       # line 6
        S_ij = scores(Q, K, slice(i, i + 1), j, causal)[0]            # line 8          [BC]
        m_new = np.maximum(m_i, S_ij.max())                           # line 9
        P_ij = exp(S_ij, m_new)                                       # line 9          [BC]
        scale_i = exp(m_i, m_new)  # l_i and O_i so far are relative to the old maximum
        l_i = scale_i * l_i + P_ij.sum()                              # line 9
        O_i = scale_i * O_i + P_ij @ V[j]                             # line 10         [d]
        m_i = m_new
        yield S_ij, m_i, l_i, O_i


@every_head
def online(Q, K, V, causal, BC=16):
    O, LSE = np.empty(Q.shape), np.empty(len(Q))
    for i in range(len(Q)):
        *_, (_, m_i, l_i, O_i) = online_row(Q, K, V, i, causal, BC)   # the last state
        O[i], LSE[i] = divide(O_i, l_i), logsumexp(m_i, l_i)          # lines 12, 13
    return O, LSE


@every_head
def flash1(Q, K, V, causal, BR=16, BC=16):
    O, l, m = np.zeros(Q.shape), np.zeros(len(Q)), np.full(len(Q), -np.inf)  # FA-1 line 2
    for j in tiles(len(K), BC):                                       # FA-1 line 5: keys outside
        for i in tiles(len(Q), BR):                                   # FA-1 line 7
            S_ij = scores(Q, K, i, j, causal)                         # FA-1 line 9     [BR, BC]
            m_ij = S_ij.max(axis=1)                                   # FA-1 line 10    [BR]
            P_ij = exp(S_ij, m_ij[:, None])                           # FA-1 line 10    [BR, BC]
            m_new = np.maximum(m[i], m_ij)                            # FA-1 line 11    [BR]
            seen = exp(m[i], m_new) * l[i]  # what the keys before this tile weigh
            tile = exp(m_ij, m_new)         # P_ij is relative to the maximum of its tile
            l_new = seen + tile * P_ij.sum(axis=1)                    # FA-1 line 11    [BR]
            O[i] = divide(                                            # FA-1 line 12    [BR, d]
                seen[:, None] * O[i] + tile[:, None] * (P_ij @ V[j]), l_new)
            l[i], m[i] = l_new, m_new                                 # FA-1 line 13
    return O, logsumexp(m, l)


@every_head
def flash2(Q, K, V, causal, BR=16, BC=16):
    O, LSE = np.empty(Q.shape), np.empty(len(Q))
    for i in tiles(len(Q), BR):                                       # line 3: queries outside
        O_i = np.zeros(Q[i].shape)                                    # line 5          [BR, d]
        l_i, m_i = np.zeros(len(O_i)), np.full(len(O_i), -np.inf)     # line 5          [BR]
        for j in tiles(len(K), BC):                                   # line 6
            S_ij = scores(Q, K, i, j, causal)                         # line 8          [BR, BC]
            m_new = np.maximum(m_i, S_ij.max(axis=1))                 # line 9          [BR]
            P_ij = exp(S_ij, m_new[:, None])                          # line 9          [BR, BC]
            scale_i = exp(m_i, m_new)                                 # lines 9, 10     [BR]
            l_i = scale_i * l_i + P_ij.sum(axis=1)                    # line 9          [BR]
            O_i = scale_i[:, None] * O_i + P_ij @ V[j]                # line 10         [BR, d]
            m_i = m_new
        O[i] = divide(O_i, l_i)                                       # lines 12, 14
        LSE[i] = logsumexp(m_i, l_i)                                  # lines 13, 15
    return O, LSE
