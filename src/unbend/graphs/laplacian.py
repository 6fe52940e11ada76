"""Laplacians of weighted graphs (book section 3.3)."""

from typing import Literal

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from unbend.arrays import FloatArray


def degrees(weights: csr_array) -> FloatArray:
    """Sum of the weights at each vertex."""
    return np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()


def laplacian(
    weights: csr_array, kind: Literal["plain", "symmetric", "random_walk"] = "plain"
) -> csr_array:
    """Laplacian of symmetric weights: D − W, I − D^-½WD^-½, or I − D⁻¹W.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> laplacian(csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    degree = degrees(weights)
    if kind == "plain":
        return csr_array(diags_array(degree) - weights)
    if kind == "symmetric":
        root = diags_array(1.0 / np.sqrt(degree))
        return csr_array(eye_array(len(degree)) - root @ weights @ root)
    return csr_array(eye_array(len(degree)) - diags_array(1.0 / degree) @ weights)
