"""Laplacians, their spectra, the diameter and bounds of the graph eigenvalue (book 3.3)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, diags_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, sorted_rows
from unbend.docstrings import complete_docstring
from unbend.eigen import solve
from unbend.eigen.problem import SpectralProblem
from unbend.graphs.geodesics import Paths
from unbend.graphs.graph import (
    PARAMETERS,
    CompressedRows,
    How,
    as_edges,
    check_word,
    components,
    symmetrize,
)
from unbend.graphs.quantities import as_undirected, volume, volumes
from unbend.memory import reserve
from unbend.validation.scalars import is_integer


def degrees(weights: csr_array) -> FloatArray:
    """Sum of the weights at each vertex.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> graphs.degrees(path)
    array([1., 2., 1.])
    """
    edges = as_edges(weights, meaning="similarity")
    return np.asarray(edges.sum(axis=1), dtype=np.float64).ravel()


def laplacian(
    weights: csr_array,
    kind: Literal["plain", "symmetric", "random_walk"] = "plain",
    *,
    symmetrization: How | None = None,
) -> csr_array:
    """Laplacian of symmetric weights: D − W, I − D^-½WD^-½, or I − D⁻¹W.

    Parameters
    ----------
    weights : csr_array
        Weights of the edges, not negative.
    kind : {"plain", "symmetric", "random_walk"}
        Which of the three.
    symmetrization : {"max", "min", "mean"}, optional
        A directed graph has the Laplacian of max(W, W'), min(W, W') or (W + W')/2, whichever is
        named here; None where the weights are symmetric already.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> laplacian(csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    check_word("kind", kind, ("plain", "symmetric", "random_walk"))
    if symmetrization is None:
        weights = as_undirected(weights)
    else:
        weights = symmetrize(weights, symmetrization)
    degree = degrees(weights)
    if kind == "plain":
        plain = difference(degree, weights)
        plain.eliminate_zeros()
        return plain
    # A vertex without edges is a component of its own: its row is zero in every Laplacian.
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    present = diags_array((degree > 0).astype(np.float64))
    if kind == "symmetric":
        root = diags_array(np.sqrt(inverse))
        return csr_array(present - root @ weights @ root)
    return csr_array(present - diags_array(inverse) @ weights)


def difference(
    degree: FloatArray, weights: csr_array | CompressedRows, factors: FloatArray | None = None
) -> csr_array:
    """D − W, or with factors F D F − F W F for their diagonal matrix F; all diagonals are stored.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> edge = csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> difference(np.array([2.0, 2.0]), edge, np.array([0.5, 1.0])).toarray()
    array([[ 0.5, -1. ],
           [-1. ,  2. ]])
    """
    n = len(degree)
    rows = CompressedRows.of(weights) if isinstance(weights, csr_array) else weights
    size = len(rows.columns) + n
    offsets, columns = np.empty(n + 1, dtype=np.int64), np.empty(size, dtype=np.int32)
    values = np.empty(size)
    count = kernels.scaled_difference(
        *rows,
        degree,
        np.ones(n) if factors is None else factors,
        offsets,
        columns,
        values,
    )
    return sorted_rows(offsets, columns[:count], values[:count])


@complete_docstring(PARAMETERS)
def incidence(weights: csr_array) -> csr_array:
    """Matrix S, one row an edge, with S'S the symmetric Laplacian (Theorem 3.1 of the book).

    The row of the edge between i < j has √w/√dᵢ at i and −√w/√dⱼ at j, so that ‖S g‖² is the
    numerator of the Rayleigh quotient of D^-½ g. Loops have no row.

    Parameters
    ----------
    weights : csr_array
        Symmetric weights.

    Returns
    -------
    csr_array (edges, n)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> incidence(csr_array(np.array([[0.0, 4.0], [4.0, 0.0]]))).toarray()
    array([[ 1., -1.]])
    """
    weights = as_undirected(weights)
    degree = degrees(weights)
    edges = weights.tocoo()
    upper = (edges.row < edges.col) & (edges.data > 0)
    first, second, root = edges.row[upper], edges.col[upper], np.sqrt(edges.data[upper])
    number = np.arange(len(root))
    values = np.concatenate((root / np.sqrt(degree[first]), -root / np.sqrt(degree[second])))
    places = (np.concatenate((number, number)), np.concatenate((first, second)))
    return csr_array((values, places), shape=(len(root), len(degree)))


# Distances are sums with rounding: bounds of the diameter that agree to this share are one number.
ROUNDING = 1e-12


@complete_docstring(PARAMETERS)
def spectrum(weights: csr_array, count: int | None = None) -> FloatArray:
    """Eigenvalues λ₀ ≤ λ₁ ≤ … of the symmetric Laplacian I − D^-½WD^-½ (book section 3.3.1).

    They lie between 0 and 2, and as many vanish as the graph has components. The random-walk
    Laplacian has the same ones.

    Parameters
    ----------
    count : int, optional
        How many, from the smallest; by default all, by a dense solver. With a number a sparse one
        is used, the zeros being known from the components.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> triangle = csr_array(1.0 - np.eye(3))
    >>> np.abs(spectrum(triangle)).round(6)
    array([0. , 1.5, 1.5])
    """
    weights = as_undirected(weights)
    n = weights.shape[0]
    if count is None:
        reserve(16 * n * n, f"all {n} eigenvalues", "ask for count=10 or so")
        return np.linalg.eigvalsh(laplacian(weights, "symmetric").toarray())
    if not is_integer(count) or not 1 <= count <= n:
        raise ValueError(
            f"count must be an integer from 1 to the number of vertices, {n}: it is {count!r}"
        )
    zeros, further = _harmonic(weights, count)
    return np.concatenate((np.zeros(zeros), further))[:count]


def _harmonic(weights: csr_array, count: int) -> tuple[int, FloatArray]:
    """Find the number of components and the least eigenvalues of L f = λ D f beyond their zeros."""
    degree = volumes(weights)
    joined = weights.copy()
    joined.eliminate_zeros()
    zeros = int(components(joined).max()) + 1
    alone = degree == 0
    # A vertex without edges has the eigenvalue zero, which its component already counts.
    kept = np.flatnonzero(~alone)
    wanted = min(count, len(weights.indptr) - 1) - zeros
    if wanted <= 0:
        return zeros, np.zeros(0)
    part = csr_array(joined[kept][:, kept]) if alone.any() else joined
    label = components(part)
    indicators = (label[:, None] == np.arange(label.max() + 1)).astype(np.float64)
    problem = SpectralProblem(laplacian(part), "bottom", indicators, degree[kept])
    return zeros, np.maximum(solve(problem, wanted).values, 0.0)


def graph_eigenvalue(weights: csr_array) -> float:
    """λ_G, the second smallest eigenvalue of the Laplacian: zero if the graph is disconnected.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> round(graph_eigenvalue(csr_array(1.0 - np.eye(4))), 6)
    1.333333
    """
    if as_edges(weights).shape[0] < 2:
        raise ValueError("a graph of one vertex has no second eigenvalue")
    return float(spectrum(weights, 2)[1])


@complete_docstring(PARAMETERS)
def diameter(lengths: csr_array, *, threads: int = 1) -> float:
    """Longest of all shortest paths: infinite if the graph is disconnected.

    Exact up to rounding, mostly from a few dozen sources: each one bounds how far the others can
    be from anything, and only those that could still be farther are asked (Takes and Kosters,
    Algorithms 6 (2013)).

    Parameters
    ----------
    lengths : csr_array
        Symmetric edge lengths, not negative; a stored zero is an edge of length zero. For the
        number of edges, pass ``weigh(lengths, adjacency)``.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> diameter(csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]])))
    3.0
    """
    lengths = as_undirected(as_edges(lengths, "lengths", "length"))
    n = lengths.shape[0]
    if n == 0 or components(lengths).max() > 0:
        return np.inf if n else 0.0
    paths = Paths(lengths)
    longest, lower, upper = 0.0, np.zeros(n), np.full(n, np.inf)
    while True:
        open_ = np.flatnonzero(upper > longest * (1 + ROUNDING))
        if not len(open_):
            return longest
        # The most hopeful vertex, and the most central one, which bounds all others best.
        asked = np.unique([open_[np.argmax(upper[open_])], open_[np.argmin(lower[open_])]])
        rows = np.empty((len(asked), n))
        paths.fill(rows, asked, threads)
        for row in rows:
            farthest = float(row.max())
            longest = max(longest, farthest)
            np.maximum(lower, np.maximum(row, farthest - row), out=lower)
            np.minimum(upper, farthest + row, out=upper)
        upper[asked] = 0.0


@dataclass(frozen=True)
class EigenvalueBounds:
    """Bounds of λ_G: `lower` by Lemma 3.2 and `upper` by Lemma 3.1 of the book.

    `resistance` is the largest over all pairs of the least Σ 1/w along a path, which for unit
    weights is the diameter.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from unbend import graphs
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> bounds = graphs.eigenvalue_bounds(path)
    >>> bounds.lower <= graphs.graph_eigenvalue(path) <= bounds.upper
    True
    """

    lower: float
    upper: float
    resistance: float
    volume: float


@complete_docstring(PARAMETERS)
def eigenvalue_bounds(weights: csr_array, *, threads: int = 1) -> EigenvalueBounds:
    """Bound the graph eigenvalue: 1/(D vol G) ≤ λ_G ≤ 1, or n/(n − 1) if all pairs are edges.

    D is the diameter; with weights the longest of the shortest paths where an edge has length
    1/w, as the proof by Cauchy and Schwarz needs.

    Parameters
    ----------
    weights : csr_array
        Symmetric weights; stored zeros are no edges.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> bounds = eigenvalue_bounds(path)
    >>> bounds.lower, round(graph_eigenvalue(path), 6), bounds.upper
    (0.125, 1.0, 1.0)
    """
    weights = as_undirected(weights)
    n = weights.shape[0]
    if n < 2:
        raise ValueError("a graph of one vertex has no second eigenvalue")
    edges = weights.astype(np.float64)
    edges.setdiag(0.0)
    edges.eliminate_zeros()
    total = volume(weights)
    resistance = diameter(
        csr_array((1.0 / edges.data, edges.indices, edges.indptr), shape=edges.shape),
        threads=threads,
    )
    complete = edges.nnz == n * (n - 1)
    lower = 0.0 if np.isinf(resistance) else 1.0 / (resistance * total)
    return EigenvalueBounds(lower, n / (n - 1) if complete else 1.0, resistance, total)
