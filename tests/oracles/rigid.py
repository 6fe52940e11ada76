"""Rigid alignment of tangent spaces, edge by edge and with dense systems.

O. Sorkine, M. Alexa, Symposium on Geometry Processing (2007); L. Liu et al., Computer Graphics
Forum 27 (2008). `neighbors` holds one array of indices for each point, without the point itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tests.oracles import embeddings, kernels
from tests.oracles.neighbors import Floats, Ints, Neighbors, shortest_paths, union_graph


@dataclass(frozen=True)
class Edges:
    """Edges i -> j, their coordinates t in the tangent plane of i, and their weights."""

    n: int
    ends: Ints
    along: Floats
    weights: Floats


def tangent_edges(points: ArrayLike, neighbors: Neighbors, d: int) -> Edges:
    """Return all edges, t the projection on the d principal axes of the neighbourhood of i.

    t has the length of the edge in space, unless that is more than 1.5 times as long, and the
    weight is 1/|t|^2 in units of the median; edges below 0.3 of it weigh no more than at 0.3.
    """
    rows = np.asarray(points, dtype=np.float64)
    ends, along = [], []
    for i, around in enumerate(neighbors):
        block = np.vstack([rows[[i]], rows[np.asarray(around)]])
        axes = np.linalg.svd(block - block.mean(axis=0), full_matrices=False)[2][:d]
        for j in around:
            step = rows[j] - rows[i]
            inside = axes @ step
            length = np.linalg.norm(inside)
            if length > 0:
                inside *= min(np.linalg.norm(step) / length, 1.5)
            ends.append((i, j))
            along.append(np.concatenate([inside, np.zeros(d - len(inside))]))
    table = np.array(along)
    lengths = np.linalg.norm(table, axis=1)
    unit = np.median(lengths)
    weights = 1.0 / np.maximum(lengths / unit, 0.3) ** 2
    return Edges(len(rows), np.array(ends), table, weights)


def energy(edges: Edges, chart: Floats, turns: Floats) -> float:
    """Sum of w |y_j - y_i - R_i t|^2 over all edges."""
    total = 0.0
    for (i, j), t, w in zip(edges.ends, edges.along, edges.weights, strict=True):
        total += w * np.sum((chart[j] - chart[i] - turns[i] @ t) ** 2)
    return float(total)


def best_turns(edges: Edges, chart: Floats) -> Floats:
    """Return the orthogonal R_i with the least energy: UV' of the SVD of sum w (y_j - y_i) t'."""
    d = chart.shape[1]
    products = np.zeros((edges.n, d, d))
    for (i, j), t, w in zip(edges.ends, edges.along, edges.weights, strict=True):
        products[i] += w * np.outer(chart[j] - chart[i], t)
    left, _, right = np.linalg.svd(products)
    turns: Floats = left @ right
    return turns


def best_chart(edges: Edges, turns: Floats) -> Floats:
    """Return the centred chart with the least energy: least squares, of the least norm."""
    roots = np.sqrt(edges.weights)
    first, second = edges.ends.T
    design = np.zeros((len(roots), edges.n))
    design[np.arange(len(roots)), second] += roots
    design[np.arange(len(roots)), first] -= roots
    target = np.array([turns[i] @ t for i, t in zip(first, edges.along, strict=True)])
    normal = design.T @ design
    chart: Floats = np.linalg.pinv(normal, hermitian=True) @ (design.T @ (roots[:, None] * target))
    return chart


def scaled(edges: Edges, chart: Floats) -> Floats:
    """Map a chart linearly so that the mean of its metrics is the identity; of curves the median.

    The metric of a point is S'S of the slopes S with y_j - y_i ~ S't, a ridge of 1e-6 of the trace
    added to their normal equations, in units of the median length.
    """
    d = chart.shape[1]
    along = edges.along / np.median(np.linalg.norm(edges.along, axis=1))
    metrics = np.zeros((edges.n, d, d))
    for i in range(edges.n):
        own = edges.ends[:, 0] == i
        t, w = along[own], edges.weights[own][:, None]
        gram = t.T @ (w * t)
        gram += 1e-6 * np.trace(gram) * np.eye(d)
        slopes = np.linalg.solve(gram, t.T @ (w * (chart[edges.ends[own, 1]] - chart[i])))
        metrics[i] = slopes.T @ slopes
    middle = np.median(metrics, axis=0) if d == 1 else metrics.mean(axis=0)
    values, axes = np.linalg.eigh(middle)
    mapped: Floats = (chart - chart.mean(axis=0)) @ axes / np.sqrt(values)
    return mapped * np.median(np.linalg.norm(edges.along, axis=1))


def strain(edges: Edges, chart: Floats) -> float:
    """Root of the energy over the sum of w |t|^2."""
    total = float(edges.weights @ (edges.along**2).sum(axis=1))
    return float(np.sqrt(energy(edges, chart, best_turns(edges, chart)) / total))


def align(edges: Edges, start: Floats, max_iter: int = 500, tol: float = 1e-4) -> Floats:
    """Alternate until the chart moves by less than tol of its norm and the energy falls by 10 tol.

    Nesterov's momentum, which begins anew where the energy of chart and rotations would rise.
    Y. E. Nesterov, Soviet Math. Dokl. 27 (1983); B. O'Donoghue, E. Candes, Found. Comput. Math. 15
    (2015).
    """
    charts, theta, least = [scaled(edges, start)], 1.0, np.inf
    begin, total = charts[0], float(edges.weights @ (edges.along**2).sum(axis=1))
    for _ in range(max_iter):
        turns = best_turns(edges, begin)
        chart = best_chart(edges, turns)
        reached = energy(edges, chart, turns)
        if reached > least and theta > 1.0:
            begin, theta = charts[-1], 1.0
            continue
        charts.append(chart)
        still = np.linalg.norm(chart - charts[-2]) <= tol * np.linalg.norm(chart)
        if still and least - reached <= 10 * tol * max(reached, 1e-12 * total):
            break
        after = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        begin = chart + (theta - 1) / after * (chart - charts[-2])
        theta, least = after, reached
    return charts[-1]


def embedding(points: ArrayLike, neighbors: Neighbors, d: int) -> Floats:
    """Return the better chart of those that begin with LTSA and, above 0.01, with Isomap."""
    edges = tangent_edges(points, neighbors, d)
    chart = align(edges, embeddings.bottom(kernels.ltsa_matrix(points, neighbors, d), d))
    if strain(edges, chart) > 0.01:
        paths = shortest_paths(union_graph(points, neighbors))
        other = align(edges, embeddings.classical_mds(paths, d))
        if strain(edges, other) < strain(edges, chart):
            chart = other
    values, axes = np.linalg.eigh(chart.T @ chart)
    turned: Floats = chart @ axes[:, np.argsort(values)[::-1]]
    return turned
