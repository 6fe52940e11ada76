"""Random matrices that preserve lengths (book chapter 7), and products with them."""

from typing import Any, Literal, get_args

import numpy as np
from scipy.fft import dct
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, is_sparse
from unbend.validation.scalars import check_choice

Kind = Literal["gaussian", "sign", "sparse"]
Sketch = Literal["gaussian", "sign", "sparse", "hadamard", "fourier"]
SKETCHES: tuple[str, ...] = get_args(Sketch)


def random_matrix(rows: int, columns: int, kind: Kind, rng: np.random.Generator) -> FloatArray:
    """Random (rows, columns) matrix whose entries are independent with mean 0 and variance 1.

    Type 1 "gaussian"; type 2 "sign": ±1 with probability ½ each; type 3 "sparse": ±√3 with
    probability 1/6 each, else 0 (Achlioptas, 2003).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import random_matrix
    >>> signs = random_matrix(50, 40, "sign", np.random.default_rng(0))
    >>> sorted(set(signs.ravel().tolist()))
    [-1.0, 1.0]
    """
    if kind == "gaussian":
        return rng.standard_normal((rows, columns))
    if kind == "sign":
        return rng.choice((-1.0, 1.0), (rows, columns))
    values = np.array([-np.sqrt(3.0), 0.0, np.sqrt(3.0)])
    return rng.choice(values, (rows, columns), p=[1 / 6, 2 / 3, 1 / 6])


def orthogonalize(matrix: FloatArray) -> FloatArray:
    """Orthogonal rows with the same span, scaled to preserve lengths in the mean.

    A random k-dimensional projection reduces squares by k/D: rows have length √D.
    """
    columns = matrix.shape[1]
    return np.asarray(np.linalg.qr(matrix.T)[0].T * np.sqrt(columns))


def sparse_signs(rows: int, columns: int, density: float, rng: np.random.Generator) -> csr_array:
    """Random sparse matrix: ±1/√p with probability p/2 each, else 0; p = 1/3 is type 3.

    Only the entries that are not zero are drawn and stored (Li, Hastie and Church, 2006, for p
    down to 1/√columns).

    Examples
    --------
    >>> import numpy as np
    >>> matrix = sparse_signs(50, 400, 0.1, np.random.default_rng(0))
    >>> bool(abs(matrix.nnz / 20000 - 0.1) < 0.01), sorted(set(matrix.data.round(4).tolist()))
    (True, [-3.1623, 3.1623])
    """
    counts = rng.binomial(columns, density, size=rows)
    chosen = [np.sort(rng.choice(columns, count, replace=False, shuffle=False)) for count in counts]
    signs = rng.choice((-1.0, 1.0), int(counts.sum())) / np.sqrt(density)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return csr_array((signs, np.concatenate(chosen), offsets), shape=(rows, columns))


def sketch_matrix(n: int, m: int, kind: Sketch, rng: np.random.Generator) -> FloatArray:
    """Random (n, m) matrix Ω with E ΩΩ'/m = I, to multiply another matrix from the right.

    "gaussian", "sign" and "sparse" are the types 1–3 of `random_matrix`. "hadamard" and "fourier"
    have random signs times m columns of a Hadamard or a real Fourier (cosine) matrix, sampled
    without replacement as long as possible: the columns are orthogonal up to repetitions, and
    `apply_sketch` multiplies by them in n log n operations (Woolfe, Liberty, Rokhlin and Tygert,
    2008).

    Examples
    --------
    >>> import numpy as np
    >>> omega = sketch_matrix(8, 8, "hadamard", np.random.default_rng(0))
    >>> bool(np.allclose(omega @ omega.T, 8 * np.eye(8)))
    True
    """
    check_sketch(kind)
    if kind in ("gaussian", "sign", "sparse"):
        return random_matrix(n, m, kind, rng)
    signs, chosen = _mixing(n, m, kind, rng)
    rows = np.arange(n)
    if kind == "fourier":
        angles = np.pi * (rows[:, None] + 0.5) * chosen / n
        return signs[:, None] * np.where(chosen == 0, 1.0, np.sqrt(2.0)) * np.cos(angles)
    odd = np.bitwise_count(rows[:, None] & chosen) & 1
    return np.asarray(signs[:, None] * np.where(odd == 1, -1.0, 1.0))


def apply_sketch(matrix: Any, m: int, kind: Sketch, rng: np.random.Generator) -> FloatArray:
    """Return A Ω for the Ω that `sketch_matrix` samples with the same generator.

    Arrays are mixed by a fast transform for "hadamard" and "fourier", and multiplied by a sparse Ω
    for "sparse"; sparse matrices and linear operators are multiplied by Ω itself.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(1).normal(size=(5, 12))
    >>> fast = apply_sketch(rows, 4, "fourier", np.random.default_rng(0))
    >>> bool(np.allclose(fast, rows @ sketch_matrix(12, 4, "fourier", np.random.default_rng(0))))
    True
    """
    check_sketch(kind)
    n = int(matrix.shape[1])
    dense = not is_sparse(matrix) and not isinstance(matrix, LinearOperator)
    if dense and kind in ("hadamard", "fourier"):
        signs, chosen = _mixing(n, m, kind, rng)
        if kind == "hadamard":
            mixed = _hadamard(matrix * signs)
        else:
            # The columns of this cosine matrix have mean square 1.
            mixed = dct(matrix * signs, axis=1, norm="ortho") * np.sqrt(n)
        return np.asarray(mixed[:, chosen])
    omega: Any = sketch_matrix(n, m, kind, rng)
    dtype = np.float32 if matrix.dtype == np.float32 else np.float64
    omega = omega.astype(dtype, copy=False)
    if dense and kind == "sparse":
        return np.asarray((csc_array(omega).T @ matrix.T).T)
    return np.asarray(matrix @ omega)


def check_sketch(kind: str) -> None:
    """Raise if `kind` is not a kind of sketch."""
    check_choice("sketch", kind, SKETCHES)


def _mixing(
    n: int, m: int, kind: str, rng: np.random.Generator
) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.int64]]]:
    """Signs of the n rows, and which columns of the orthogonal matrix are kept."""
    signs = rng.choice((-1.0, 1.0), n)
    size = n if kind == "fourier" else 1 << max(n - 1, 0).bit_length()
    # If there are too few, all are repeated equally often.
    rounds, rest = divmod(m, size)
    every = np.tile(np.arange(size), rounds)
    return signs, np.concatenate((every, rng.choice(size, rest, replace=False)))


def _hadamard(rows: FloatArray) -> FloatArray:
    """Rows, zero-padded to a power of two, times Sylvester's Hadamard matrix."""
    count, n = rows.shape
    size = 1 << max(n - 1, 0).bit_length()
    mixed = np.zeros((count, size), dtype=rows.dtype)
    mixed[:, :n] = rows
    half = 1
    while half < size:
        pairs = mixed.reshape(count, size // (2 * half), 2, half)
        mixed = np.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2)
        mixed = mixed.reshape(count, size)
        half *= 2
    return mixed
