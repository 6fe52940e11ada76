"""Random matrices that keep lengths (book chapter 7)."""

from typing import Literal

import numpy as np

from unbend.arrays import FloatArray

Kind = Literal["gaussian", "sign", "sparse"]


def random_matrix(rows: int, columns: int, kind: Kind, rng: np.random.Generator) -> FloatArray:
    """Random (rows, columns) matrix whose entries are independent with mean 0 and variance 1.

    Type 1 "gaussian"; type 2 "sign": ±1 with probability ½ each; type 3 "sparse": ±√3 with
    probability 1/6 each, else 0 (Achlioptas, 2003).
    """
    if kind == "gaussian":
        return rng.standard_normal((rows, columns))
    if kind == "sign":
        return rng.choice((-1.0, 1.0), (rows, columns))
    values = np.array([-np.sqrt(3.0), 0.0, np.sqrt(3.0)])
    return rng.choice(values, (rows, columns), p=[1 / 6, 2 / 3, 1 / 6])


def orthogonalized(matrix: FloatArray) -> FloatArray:
    """Orthogonal rows that span the same space, scaled to keep lengths in the mean.

    A random k-dimensional projection shortens squares by k/D: rows get length √D.
    """
    columns = matrix.shape[1]
    return np.asarray(np.linalg.qr(matrix.T)[0].T * np.sqrt(columns))


def johnson_lindenstrauss(n: int, eps: float, beta: float = 0.0) -> int:
    """Least dimension in which n points keep all squared distances within 1 ± eps.

    k ≥ (4 + 2β) ln n / (ε²/2 − ε³/3) suffices with probability at least 1 − n^−β
    (Achlioptas, 2003); β = 0 only says that such a projection exists (book (7.6)).

    Examples
    --------
    >>> johnson_lindenstrauss(1000, 0.5)
    332
    """
    return int(np.ceil((4 + 2 * beta) * np.log(n) / (eps**2 / 2 - eps**3 / 3)))
