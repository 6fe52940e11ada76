"""Laplacians of weighted graphs (book section 3.3)."""

from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, diags_array

from unbend.arrays import FloatArray
from unbend.graphs.graph import How, as_edges, check_word, symmetrize
from unbend.graphs.quantities import as_undirected


def degrees(weights: csr_array) -> FloatArray:
    """Sum of the weights at each vertex."""
    return np.asarray(as_edges(weights, meaning="similarity").sum(axis=1), dtype=np.float64).ravel()


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
        return difference(degree, weights)
    # A vertex without edges is a component of its own: its row is zero in every Laplacian.
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    present = diags_array((degree > 0).astype(np.float64))
    if kind == "symmetric":
        root = diags_array(np.sqrt(inverse))
        return csr_array(present - root @ weights @ root)
    return csr_array(present - diags_array(inverse) @ weights)


def difference(degree: FloatArray, weights: csr_array) -> csr_array:
    """D − W."""
    n = len(degree)
    diagonal: Any = csr_array((degree, np.arange(n), np.arange(n + 1)), shape=(n, n))
    return csr_array(diagonal - weights)
