"""Volume sampling: columns J drawn with probability ∝ det G_J (book (15.46)).

Exact, by Kulesza and Taskar (Found. Trends Mach. Learn. 5, 2012): draw k eigenvectors with
probability ∝ the product of their eigenvalues, then columns of the projection on them.
"""

from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.lowrank.cholesky import NOT_SEMIDEFINITE
from unbend.lowrank.inputs import symmetric_matrix, whole_number


def log_elementary(values: FloatArray, k: int) -> FloatArray:
    """Logarithms of the elementary symmetric polynomials e₀ … e_k of the first 0 … n values.

    Row i is for the first i values: e_j(i) = e_j(i − 1) + λᵢ e_{j−1}(i − 1).
    """
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(values, dtype=np.float64))
    table = np.full((len(logs) + 1, k + 1), -np.inf)
    table[:, 0] = 0
    for i, log in enumerate(logs):
        table[i + 1, 1:] = np.logaddexp(table[i, 1:], log + table[i, :-1])
    return table


def volume_columns(gram: Any, k: int, rng: np.random.Generator) -> IntArray:
    """Draw k columns with probability ∝ the squared volume that they span: O(n³ + nk³).

    Theorem 15.9 bounds the mean error of Nyström's approximation from them.

    Parameters
    ----------
    gram : array (n, n)
        Positive semidefinite, of rank k or more.
    k : int
        Number of columns.
    rng : numpy.random.Generator
        Draws them.

    Returns
    -------
    array (k,)

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import volume_columns
    >>> twins = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> draws = [volume_columns(twins, 2, np.random.default_rng(s)).tolist() for s in range(20)]
    >>> all(2 in drawn for drawn in draws)
    True
    """
    array, _ = symmetric_matrix(gram)
    n = len(array)
    k = whole_number("k", k, n)
    values, vectors = np.linalg.eigh(array.astype(np.float64))
    rounding = n * float(np.finfo(array.dtype).eps) * np.abs(values).max()
    if values[0] < -100 * rounding:
        raise ValueError(NOT_SEMIDEFINITE)
    rank = int(np.sum(values > rounding))
    if rank == 0:
        raise ValueError("the matrix is zero, and columns of it span no volume")
    if rank < k:
        raise ValueError(
            f"the matrix has rank {rank}, so {k} columns span no volume: ask for {rank} or fewer"
        )
    values, vectors = values[-rank:], vectors[:, -rank:]
    return _projected(vectors[:, _chosen(values, k, rng)], rng)


def _chosen(values: FloatArray, k: int, rng: np.random.Generator) -> list[int]:
    """Draw k values with probability ∝ their product, from the last to the first."""
    table = log_elementary(values, k)
    chosen: list[int] = []
    for i in range(len(values), 0, -1):
        j = k - len(chosen)
        if j == 0:
            break
        taken = np.log(values[i - 1]) + table[i - 1, j - 1] - table[i, j]
        if np.log(rng.random()) < taken:
            chosen.append(i - 1)
    return chosen


def _projected(basis: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw as many rows of an orthonormal basis as it has columns, ∝ their squared volume.

    Each row with probability ∝ its squared distance to the span of those before: the residual
    diagonal of a Cholesky factorisation of the projection BB', a column at a time.
    """
    n, k = basis.shape
    left = np.sum(basis**2, axis=1)
    factor = np.zeros((k, n))
    drawn: list[int] = []
    for step in range(k):
        left[drawn] = 0
        row = int(rng.choice(n, p=left / left.sum()))
        column = basis @ basis[row] - factor[:step, row] @ factor[:step]
        factor[step] = column / np.sqrt(left[row])
        left = np.maximum(left - factor[step] ** 2, 0)
        drawn.append(row)
    return np.array(drawn, dtype=np.intp)
