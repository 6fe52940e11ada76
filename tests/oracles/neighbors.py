"""Neighbourhoods, components and paths by brute force on dense matrices."""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Neighbors = Sequence[NDArray[np.integer]] | NDArray[np.integer]


def pairwise(points: ArrayLike) -> Floats:
    """Euclidean distances |x_i - x_j|, from differences.

    The shortcut |x|^2 + |y|^2 - 2 x.y is avoided: it cancels for close points and gives
    duplicate rows a distance that is not zero.
    """
    rows = np.asarray(points, dtype=np.float64)
    distances = np.zeros((len(rows), len(rows)))
    for i in range(len(rows)):
        distances[i] = np.sqrt(((rows - rows[i]) ** 2).sum(axis=1))
    return distances


def nearest(points: ArrayLike, k: int) -> tuple[Ints, Floats]:
    """Return the k nearest other points of each point, nearest first, ties by index.

    The point is left out by its index, not by its zero distance: with duplicate rows the
    first entry of a plain sort may be the twin.
    """
    distances = pairwise(points)
    n = len(distances)
    if not 0 < k < n:
        raise ValueError(f"k must lie between 1 and n - 1 = {n - 1}, got {k}")
    indices = np.zeros((n, k), dtype=np.int64)
    for i in range(n):
        order = np.argsort(distances[i], kind="stable")
        indices[i] = order[order != i][:k]
    return indices, np.take_along_axis(distances, indices, axis=1)


def union_graph(points: ArrayLike, neighbors: Neighbors) -> Floats:
    """Lengths of the edges {i, j} with j among the neighbours of i or i among those of j.

    Absent edges are inf, so that an edge between duplicate rows (length zero) is still an edge.
    """
    distances = pairwise(points)
    lengths = np.full(distances.shape, np.inf)
    for i, around in enumerate(neighbors):
        for j in around:
            if i == j:
                raise ValueError(f"point {i} is listed as its own neighbour")
            lengths[i, j] = lengths[j, i] = distances[i, j]
    return lengths


def components(adjacency: ArrayLike) -> Ints:
    """Label of the (weakly) connected component of each node, by breadth-first search.

    An edge in either direction joins. Components are numbered by their first node.
    """
    edges = np.asarray(adjacency).astype(bool)
    edges = edges | edges.T
    labels = np.full(len(edges), -1, dtype=np.int64)
    found = 0
    for start in range(len(edges)):
        if labels[start] >= 0:
            continue
        labels[start] = found
        queue = deque([start])
        while queue:
            for j in np.flatnonzero(edges[queue.popleft()]):
                if labels[j] < 0:
                    labels[j] = found
                    queue.append(int(j))
        found += 1
    return labels


def shortest_paths(lengths: ArrayLike) -> Floats:
    """Lengths of all shortest paths: d_ij = min(d_ij, d_im + d_mj) for m = 1..n in turn.

    Absent edges are inf, and so are the paths between components. Directed if `lengths` is.
    R. W. Floyd, Algorithm 97, CACM 5 (1962); S. Warshall, JACM 9 (1962).
    """
    paths = np.array(lengths, dtype=np.float64)
    np.fill_diagonal(paths, 0.0)
    for m in range(len(paths)):
        paths = np.minimum(paths, paths[:, m][:, None] + paths[m, :][None, :])
    return paths


def shortest_bridges(points: ArrayLike, labels: ArrayLike) -> float:
    """Least total length of edges that make one component of those given by `labels`.

    All pairs of points by length; an edge is taken when it joins two components not yet joined.
    The edges may differ when lengths tie, the total does not.
    J. B. Kruskal, Proc. AMS 7 (1956).
    """
    distances = pairwise(points)
    group = np.array(labels)
    total = 0.0
    rows, columns = np.triu_indices(len(distances), k=1)
    for e in np.argsort(distances[rows, columns], kind="stable"):
        i, j = rows[e], columns[e]
        if group[i] != group[j]:
            total += float(distances[i, j])
            group[group == group[j]] = group[i]
    return total
