"""Measures of quality, straight from their definitions: loops over points, ranks by sorting."""

import numpy as np


def rank_matrix(points):
    """R[i, j] = 1, 2, … is the rank of j as seen from i by (distance, row number); R[i, i] = 0."""
    points = np.asarray(points, dtype=float)
    n = len(points)
    ranks = np.zeros((n, n), dtype=int)
    for i in range(n):
        squares = ((points - points[i]) ** 2).sum(axis=1)
        others = sorted((squares[j], j) for j in range(n) if j != i)
        for place, (_, j) in enumerate(others):
            ranks[i, j] = place + 1
    return ranks


def coranking(X, embedding):
    """Q[k - 1, l - 1] = number of pairs with rank k in X and rank l in the embedding."""
    before, after = rank_matrix(X), rank_matrix(embedding)
    n = len(before)
    counts = np.zeros((n - 1, n - 1), dtype=int)
    for i in range(n):
        for j in range(n):
            if i != j:
                counts[before[i, j] - 1, after[i, j] - 1] += 1
    return counts


def q_nx(Q):
    """Share of the upper left k × k block."""
    n = len(Q) + 1
    return np.array([Q[:k, :k].sum() / (k * n) for k in range(1, n)])


def lcmc(Q):
    """As coRanking for R has it: Q_NX − k/(n − 1)."""
    n = len(Q) + 1
    return np.array([k / (1 - n) + Q[:k, :k].sum() / n / k for k in range(1, n)])


def r_nx(Q):
    """As coRanking for R has it: ((n − 1) Q_NX − k)/(n − 1 − k) for k < n − 1."""
    n = len(Q) + 1
    kept = q_nx(Q)
    return np.array([((n - 1) * kept[k - 1] - k) / (n - 1 - k) for k in range(1, n - 1)])


def auc_ln_k(curve):
    """As coRanking for R has it: mean with weights 1/k."""
    k = np.arange(1, len(curve) + 1)
    return (curve / k).sum() / (1 / k).sum()


def relative_rank_errors(Q, size):
    """Sum over the first columns, and over the first rows, of the co-ranking matrix."""
    n = len(Q) + 1
    worst = n * sum(abs(n - 2 * k) / k for k in range(1, size + 1))
    found = true = 0.0
    for k in range(1, n):
        for m in range(1, n):
            if m <= size:
                found += abs(k - m) / m * Q[k - 1, m - 1]
            if k <= size:
                true += abs(k - m) / k * Q[k - 1, m - 1]
    return found / worst, true / worst


def trustworthiness(Q, size):
    """From the co-ranking matrix: what is among the first columns but not the first rows."""
    n = len(Q) + 1
    penalty = sum((k - size) * Q[k - 1, :size].sum() for k in range(size + 1, n))
    return 1 - 2 * penalty / (n * size * (2 * n - 3 * size - 1))


def neighborhood_hit(embedding, labels, size):
    """Share of equal labels among the nearest."""
    ranks = rank_matrix(embedding)
    n = len(ranks)
    hits = [labels[i] == labels[j] for i in range(n) for j in range(n) if 1 <= ranks[i, j] <= size]
    return np.mean(hits)
