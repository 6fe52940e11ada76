"""Which columns of a positive semidefinite matrix stand for all of it (book 15.1.4 and 15.2.4).

Five ways to choose k columns, and the weights that make the best of any choice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.lowrank.cholesky import NOT_SEMIDEFINITE, pivoted_cholesky
from unbend.lowrank.inputs import symmetric_matrix, whole_number


def greedy_columns(gram: Any, k: int) -> IntArray:
    """Choose the k longest columns, longest first (15.1.4 Step 1): O(n²).

    Near copies of a long column are all chosen; `pivoted_columns` does better.

    Examples
    --------
    >>> from unbend.lowrank import greedy_columns
    >>> greedy_columns([[1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 2.0]], 2).tolist()
    [1, 2]
    """
    array, _ = symmetric_matrix(gram)
    k = whole_number("k", k, len(array))
    return np.argsort(-np.linalg.norm(array, axis=0), kind="stable")[:k]


def pivoted_columns(gram: Any, k: int) -> IntArray:
    """Choose each column where those before leave most of the diagonal: O(nk²).

    Fewer than k where these hold the whole matrix; `gram` may be `Columnwise`.

    Examples
    --------
    >>> from unbend.lowrank import pivoted_columns
    >>> pivoted_columns([[3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 2.0]], 2).tolist()
    [0, 2]
    """
    return pivoted_cholesky(gram, rank=k).pivots


def random_columns(n: int, k: int, rng: np.random.Generator) -> IntArray:
    """Choose k of n columns, all sets alike.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import random_columns
    >>> len(set(random_columns(10, 4, np.random.default_rng(0)).tolist()))
    4
    """
    return rng.choice(n, whole_number("k", k, n), replace=False)


def leverage_scores(gram: Any, k: int) -> FloatArray:
    """Squared lengths of the rows of the k leading eigenvectors: they sum to k.

    Examples
    --------
    >>> from unbend.lowrank import leverage_scores
    >>> leverage_scores([[4.0, 0.0], [0.0, 1.0]], 1).tolist()
    [1.0, 0.0]
    """
    array, _ = symmetric_matrix(gram)
    k = whole_number("k", k, len(array))
    vectors = np.linalg.eigh(array)[1][:, -k:]
    return np.asarray(np.sum(vectors**2, axis=1))


def leverage_columns(gram: Any, k: int, rng: np.random.Generator) -> IntArray:
    """Choose k columns one after another, with probabilities ∝ leverage scores (O(n³)).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import leverage_columns
    >>> leverage_columns([[4.0, 0.0], [0.0, 1.0]], 1, np.random.default_rng(0)).tolist()
    [0]
    """
    scores = leverage_scores(gram, k).astype(np.float64)
    # Gumbel's trick: the k largest of log p + noise are draws without replacement, in order.
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
    """Weights for chosen columns, and the error that they leave (Theorem 15.4).

    With Q = G∘G = [Q_k Y; Y' Z] in the order chosen, others: w = Q_k⁻¹[Q_k Y]1, and the squared
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
        raise ValueError("indices must be a vector of different whole numbers")
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= n:
        raise ValueError(f"indices must name columns, from 0 to {n - 1}, at least one")
    # Least squares of Q = G∘G on the chosen rows; equal columns share their weight.
    squares = array.astype(np.float64)[chosen] ** 2
    others = np.setdiff1d(np.arange(n), chosen)
    ones = np.linalg.lstsq(squares[:, chosen], squares[:, others].sum(axis=1), rcond=None)[0]
    weights = 1 + ones
    block = array.astype(np.float64)[np.ix_(others, others)] ** 2
    left = block.sum() - squares[:, others].sum(axis=1) @ ones
    error = np.sqrt(max(float(left), 0.0)) * scale
    return WeightedColumns(chosen.astype(np.intp), weights.astype(array.dtype), float(error))
