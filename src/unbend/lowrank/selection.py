"""Selection of columns of a positive semidefinite matrix (book 15.1.4, 15.2.4 and (15.46)).

Greedy, pivoted, random, by leverage scores or by volume, and the optimal weights of any selection.
Volume sampling, with probability ∝ det G_J, is exact, by Kulesza and Taskar (Found. Trends Mach.
Learn. 5, 2012): sample k eigenvectors with probability ∝ the product of their eigenvalues, then
columns of the projection on them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.lowrank.cholesky import NOT_SEMIDEFINITE, pivoted_cholesky
from unbend.lowrank.inputs import symmetric_matrix
from unbend.validation.scalars import check_integer


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
    """Sample k columns with probability ∝ their squared volume: O(n³ + nk³).

    Theorem 15.9 bounds the mean error of Nyström's approximation from them.

    Parameters
    ----------
    gram : array (n, n)
        Positive semidefinite, of rank k or more.
    k : int
        Number of columns.
    rng : numpy.random.Generator
        Random generator.

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
    k = check_integer("k", k, 1, n)
    values, vectors = np.linalg.eigh(array.astype(np.float64))
    rounding = n * float(np.finfo(array.dtype).eps) * np.abs(values).max()
    if values[0] < -100 * rounding:
        raise ValueError(NOT_SEMIDEFINITE)
    rank = int(np.sum(values > rounding))
    if rank == 0:
        raise ValueError("the matrix is zero: its columns span no volume. Pass a nonzero matrix")
    if rank < k:
        raise ValueError(
            f"the matrix has rank {rank}, so {k} columns span no volume: use k={rank} or less"
        )
    values, vectors = values[-rank:], vectors[:, -rank:]
    return _sample_rows(vectors[:, _sample_eigenvectors(values, k, rng)], rng)


def _sample_eigenvectors(values: FloatArray, k: int, rng: np.random.Generator) -> list[int]:
    """Sample k values with probability ∝ their product, from the last to the first."""
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


def _sample_rows(basis: FloatArray, rng: np.random.Generator) -> IntArray:
    """Sample as many rows of an orthonormal basis as it has columns, ∝ their squared volume.

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


def greedy_columns(gram: Any, k: int) -> IntArray:
    """Select the k columns of largest norm, in descending order (15.1.4 Step 1): O(n²).

    Nearly parallel columns are all selected; `pivoted_columns` avoids that.

    Examples
    --------
    >>> from unbend.lowrank import greedy_columns
    >>> greedy_columns([[1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 2.0]], 2).tolist()
    [1, 2]
    """
    array, _ = symmetric_matrix(gram)
    k = check_integer("k", k, 1, len(array))
    return np.argsort(-np.linalg.norm(array, axis=0), kind="stable")[:k]


def pivoted_columns(gram: Any, k: int) -> IntArray:
    """Select the columns of largest residual diagonal, one after another: O(nk²).

    Fewer than k if these span the whole matrix; `gram` may be `Columnwise`.

    Examples
    --------
    >>> from unbend.lowrank import pivoted_columns
    >>> pivoted_columns([[3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 2.0]], 2).tolist()
    [0, 2]
    """
    return pivoted_cholesky(gram, rank=k).pivots


def random_columns(n: int, k: int, rng: np.random.Generator) -> IntArray:
    """Sample k of n columns uniformly without replacement.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import random_columns
    >>> len(set(random_columns(10, 4, np.random.default_rng(0)).tolist()))
    4
    """
    return rng.choice(n, check_integer("k", k, 1, n), replace=False)


def leverage_scores(gram: Any, k: int) -> FloatArray:
    """Squared lengths of the rows of the k leading eigenvectors: they sum to k.

    Examples
    --------
    >>> from unbend.lowrank import leverage_scores
    >>> leverage_scores([[4.0, 0.0], [0.0, 1.0]], 1).tolist()
    [1.0, 0.0]
    """
    array, _ = symmetric_matrix(gram)
    k = check_integer("k", k, 1, len(array))
    vectors = np.linalg.eigh(array)[1][:, -k:]
    return np.asarray(np.sum(vectors**2, axis=1))


def leverage_columns(gram: Any, k: int, rng: np.random.Generator) -> IntArray:
    """Sample k columns without replacement, with probabilities ∝ leverage scores (O(n³)).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import leverage_columns
    >>> leverage_columns([[4.0, 0.0], [0.0, 1.0]], 1, np.random.default_rng(0)).tolist()
    [0]
    """
    scores = leverage_scores(gram, k).astype(np.float64)
    # Gumbel's trick: the k largest of log p + noise are a sample without replacement, in order.
    with np.errstate(divide="ignore"):
        keys = np.log(scores) + rng.gumbel(size=len(scores))
    return np.argsort(-keys, kind="stable")[:k]


@dataclass(frozen=True, eq=False)
class WeightedColumns:
    """The best approximation Σⱼ wⱼ aⱼaⱼ' of G = Σ aᵢaᵢ' by some of its terms (15.24).

    Attributes
    ----------
    indices : array (k,)
        The columns J.
    weights : array (k,)
        w = Q_J⁻¹ r.
    error : float
        ‖G − matrix(G)‖ in Frobenius' norm, by Theorem 15.4.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import weighted_columns
    >>> found = weighted_columns(np.diag([3.0, 2.0, 1.0]), [0, 1])
    >>> found.indices, found.weights, found.error
    (array([0, 1]), array([1., 1.]), 1.0)
    """

    indices: IntArray
    weights: FloatArray
    error: float

    def matrix(self, gram: Any) -> FloatArray:
        """Return the approximation; aᵢ are the columns of the symmetric root of G."""
        array, scale = symmetric_matrix(gram)
        values, vectors = np.linalg.eigh(array)
        root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        chosen = root[:, self.indices]
        return np.asarray(chosen * self.weights @ chosen.T * scale)


def weighted_columns(gram: Any, indices: Any) -> WeightedColumns:
    """Optimal weights of selected columns, and the error (Theorem 15.4).

    With Q = G∘G = [Q_k Y; Y' Z] in the order selected, others: w = Q_k⁻¹[Q_k Y]1, and the squared
    error is the sum of all entries of Z − Y'Q_k⁻¹Y. Costs O(nk²) and one pass over G.

    Parameters
    ----------
    gram : array (n, n)
        Positive semidefinite.
    indices : array (k,)
        Different columns.

    Returns
    -------
    WeightedColumns

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import weighted_columns
    >>> found = weighted_columns(np.diag([3.0, 2.0, 1.0]), [0, 1])
    >>> found.weights.tolist(), found.error
    ([1.0, 1.0], 1.0)
    """
    array, scale = symmetric_matrix(gram)
    if np.diagonal(array).min() < -np.sqrt(np.finfo(array.dtype).eps):
        raise ValueError(NOT_SEMIDEFINITE)
    chosen = np.asarray(indices)
    n = len(array)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or len(set(chosen.tolist())) < len(chosen):
        raise ValueError("indices must be a vector of distinct integers")
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= n:
        raise ValueError(f"indices must hold at least one column, from 0 to {n - 1}")
    # Least squares of Q = G∘G on the selected rows; equal columns share their weight.
    squares = array.astype(np.float64)[chosen] ** 2
    others = np.setdiff1d(np.arange(n), chosen)
    ones = np.linalg.lstsq(squares[:, chosen], squares[:, others].sum(axis=1), rcond=None)[0]
    weights = 1 + ones
    block = array.astype(np.float64)[np.ix_(others, others)] ** 2
    left = block.sum() - squares[:, others].sum(axis=1) @ ones
    error = np.sqrt(max(float(left), 0.0)) * scale
    return WeightedColumns(chosen.astype(np.intp), weights.astype(array.dtype), float(error))
