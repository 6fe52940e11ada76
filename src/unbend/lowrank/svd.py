"""Randomised singular value decomposition (book section 15.2.3).

A random sketch AΩ nearly spans the leading singular vectors; a few products with A'A improve it
(Halko, Martinsson and Tropp, 2011). Matrices in blocks of rows are read again for every product,
never held as a whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unbend.arrays import FloatArray
from unbend.lowrank.inputs import adjoint_product, as_operand, check_product
from unbend.lowrank.rank_revealing import orthonormal_columns
from unbend.lowrank.sketch import Sketch, apply_sketch, check_sketch, sketch_matrix
from unbend.validation.scalars import check_integer

# Columns of the sketch beyond the rank, power iterations, and random vectors of an error estimate.
OVERSAMPLE, POWER, PROBES = 10, 2, 10


class Svd(NamedTuple):
    """A ≈ U diag(s) V': orthonormal columns `left` (m, k), `singular` (k,), `right` (n, k).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import randomized_svd
    >>> matrix = np.outer([3.0, 4.0], [1.0, 0.0, 0.0])
    >>> found = randomized_svd(matrix, 1)
    >>> found.singular.round(6), bool(np.allclose(found.to_dense(), matrix))
    (array([5.]), True)
    """

    left: FloatArray
    singular: FloatArray
    right: FloatArray

    def to_dense(self) -> FloatArray:
        """Return U diag(s) V'."""
        return np.asarray((self.left * self.singular) @ self.right.T)


@dataclass(frozen=True, eq=False)
class _Products:
    """A and A' as products, whatever A is."""

    matrix: Any

    def along(self, vectors: FloatArray) -> FloatArray:
        return check_product(np.asarray(self.matrix @ vectors))

    def across(self, vectors: FloatArray) -> FloatArray:
        if isinstance(self.matrix, RowBlocks):
            return check_product(self.matrix.across(vectors))
        return check_product(adjoint_product(self.matrix, vectors))


def randomized_svd(
    matrix: Any,
    rank: int | None = None,
    *,
    tol: float | None = None,
    oversample: int = OVERSAMPLE,
    power: int = POWER,
    sketch: Sketch = "gaussian",
    rng: np.random.Generator | None = None,
) -> Svd:
    """Leading singular triplets from a few passes over a matrix.

    Parameters
    ----------
    matrix : array, sparse array, LinearOperator or RowBlocks (m, n)
        Only products with it and its transpose are used; float32 is kept.
    rank : int, optional
        Number of triplets; the largest number with `tol`.
    tol : float, optional
        Least rank with ‖A − UΣV'‖ ≤ tol·‖A‖, estimated on random vectors, which underestimate the
        error with probability at most 1e-10.
    oversample : int
        Columns of the sketch beyond the rank.
    power : int
        Power iterations with A'A, of two passes each, for slowly decaying spectra.
    sketch : {"gaussian", "sign", "sparse", "hadamard", "fourier"}
        Distribution of the sketch.
    rng : Generator, optional
        By default a fixed seed.

    Returns
    -------
    Svd
        `left`, `singular`, `right`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 3)) @ np.ones((3, 50)) * np.arange(50)
    >>> found = randomized_svd(rows, 1)
    >>> bool(np.allclose(found.to_dense(), rows))
    True
    >>> len(randomized_svd(rows, tol=1e-10).singular)
    1
    """
    rng = np.random.default_rng(0) if rng is None else rng
    if not isinstance(matrix, RowBlocks):
        matrix = as_operand(matrix)
    if tol is not None:
        return _to_tolerance(matrix, rank, tol, power, sketch, rng)
    if rank is None:
        raise ValueError("rank=None is not allowed: pass a rank of at least 1, or a tol")
    products = _Products(matrix)
    width = min(_width(rank, oversample), _columns(matrix))
    basis = orthonormal_columns(_sketch(matrix, width, sketch, rng))
    for _ in range(check_integer("power", power, 0)):
        # Singular vectors, not any basis: their images are nearly orthogonal, and cheap to
        # orthonormalise on the long side.
        right = np.linalg.svd(products.across(basis), full_matrices=False)[0]
        basis = orthonormal_columns(products.along(right))
    return _in_span(basis, products.across(basis), rank)


def single_pass_svd(
    matrix: Any,
    rank: int,
    *,
    oversample: int = OVERSAMPLE,
    sketch: Sketch = "gaussian",
    rng: np.random.Generator | None = None,
) -> Svd:
    """Leading singular triplets from a single pass (Tropp, Yurtsever, Udell and Cevher, 2017).

    With Y = AΩ = QR and W = ΨA, A ≈ Q (ΨQ)⁺ W. Ω has ``rank + oversample`` columns and Ψ twice as
    many rows. Less accurate than two passes unless the spectrum decays fast.

    Parameters
    ----------
    matrix : array, sparse array or RowBlocks (m, n)
        The blocks may be an iterator, which is read once.
    rank : int
        Number of triplets.
    oversample, sketch, rng
        As for `randomized_svd`.

    Returns
    -------
    Svd

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 3)) @ np.ones((3, 50))
    >>> once = RowBlocks(lambda: iter([rows[:90], rows[90:]]))
    >>> bool(np.allclose(single_pass_svd(once, 1).to_dense(), rows))
    True
    """
    rng = np.random.default_rng(0) if rng is None else rng
    blocks = iter(matrix) if isinstance(matrix, RowBlocks) else iter((as_operand(matrix),))
    most = _width(rank, oversample)
    images, parts, omega, total = [], [], None, None
    for block in blocks:
        if omega is None:
            width = min(most, block.shape[1])
            omega = _random_columns(block, width, sketch, rng)
        # Every block of rows has independent columns of Ψ.
        if block.shape[0] <= 2 * width and not isinstance(matrix, RowBlocks):
            psi = np.eye(block.shape[0], 2 * width, dtype=omega.dtype)
        else:
            psi = sketch_matrix(block.shape[0], 2 * width, sketch, rng).astype(omega.dtype)
        images.append(check_product(np.asarray(block @ omega)))
        part = check_product(adjoint_product(block, psi))
        total = part if total is None else total + part
        parts.append(psi)
    if omega is None or total is None:
        raise ValueError("the matrix has no blocks: pass at least one")
    basis = orthonormal_columns(np.concatenate(images))
    done, mixed = 0, np.zeros((2 * omega.shape[1], basis.shape[1]), dtype=omega.dtype)
    for psi in parts:
        mixed += psi.T @ basis[done : done + len(psi)]
        done += len(psi)
    coefficients = np.linalg.lstsq(mixed, total.T, rcond=None)[0]
    return _in_span(basis, coefficients.T, rank)


def _width(rank: int, oversample: int) -> int:
    """Return the number of columns of a sketch."""
    return check_integer("rank", rank, 1) + check_integer("oversample", oversample, 0)


def _random_columns(
    matrix: Any, width: int, sketch: Sketch, rng: np.random.Generator
) -> FloatArray:
    """Ω in the precision of a matrix; the identity if it would be square.

    Random square matrices, of signs in particular, may be singular.
    """
    columns = matrix.shape[1]
    check_sketch(sketch)
    omega = np.eye(columns) if width == columns else sketch_matrix(columns, width, sketch, rng)
    return omega.astype(np.float32 if matrix.dtype == np.float32 else np.float64)


def _sketch(matrix: Any, width: int, sketch: Sketch, rng: np.random.Generator) -> FloatArray:
    first = matrix.first if isinstance(matrix, RowBlocks) else matrix
    if isinstance(matrix, RowBlocks) or width == first.shape[1]:
        return check_product(np.asarray(matrix @ _random_columns(first, width, sketch, rng)))
    return check_product(apply_sketch(matrix, width, sketch, rng))


def _columns(matrix: Any) -> int:
    if isinstance(matrix, RowBlocks):
        return int(matrix.first.shape[1])
    return int(min(matrix.shape))


def _in_span(basis: FloatArray, image: FloatArray, rank: int) -> Svd:
    """Singular triplets of QQ'A from Q and A'Q."""
    right, singular, turn = np.linalg.svd(image, full_matrices=False)
    return Svd(basis @ turn[:rank].T, singular[:rank], right[:, :rank])


def _to_tolerance(
    matrix: Any, most: int | None, tol: float, power: int, sketch: Sketch, rng: np.random.Generator
) -> Svd:
    """Double the sketch until the error is within tolerance; then truncate.

    If ‖E g‖ ≤ x for all of PROBES Gaussian vectors g, ‖E‖ ≤ 10√(2/π)·x except with probability
    10^-PROBES (Halko, Martinsson and Tropp, 2011, section 4.3).
    """
    if not 0 < tol < 1:
        raise ValueError(f"tol={tol} is not allowed: it must be between 0 and 1")
    limit = _columns(matrix)
    limit = limit if most is None else min(limit, most)
    width = min(limit, 2 * PROBES)
    while True:
        found = randomized_svd(matrix, width, power=power, sketch=sketch, rng=rng)
        size = float(found.singular[0])
        left = _error_bound(matrix, found, rng)
        beyond = np.append(found.singular[1:], 0.0) + left
        enough = np.flatnonzero(beyond <= tol * size)
        if size == 0 or len(enough) or width == limit:
            rank = 1 if size == 0 else int(enough[0]) + 1 if len(enough) else width
            return Svd(found.left[:, :rank], found.singular[:rank], found.right[:, :rank])
        width = min(2 * width, limit)


def _error_bound(matrix: Any, found: Svd, rng: np.random.Generator) -> float:
    """Probable bound of ‖A − UΣV'‖ from products with random vectors."""
    probes = rng.standard_normal((len(found.right), PROBES)).astype(found.right.dtype)
    image = np.asarray(matrix @ probes)
    image = image - (found.left * found.singular) @ (found.right.T @ probes)
    return float(10.0 * np.sqrt(2.0 / np.pi) * np.linalg.norm(image, axis=0).max())


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """A matrix as blocks of rows, dense or sparse.

    Parameters
    ----------
    source : sequence of arrays, or function that returns an iterable of them
        The blocks, top to bottom; a function is called for every pass.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.arange(12.0).reshape(6, 2)
    >>> blocks = RowBlocks([matrix[:2], matrix[2:]])
    >>> bool(np.all(blocks @ np.eye(2) == matrix))
    True
    """

    source: Sequence[Any] | Callable[[], Iterable[Any]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.source() if callable(self.source) else self.source)

    @property
    def first(self) -> Any:
        """The first block."""
        for block in self:
            return block
        raise ValueError(
            "there are no blocks of rows in this pass: pass a function that returns the same "
            "blocks every time; an iterator can be read once, for single_pass_svd only"
        )

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        return np.concatenate([np.asarray(block @ vectors) for block in self])

    def across(self, vectors: FloatArray) -> FloatArray:
        """Return A'·vectors."""
        total, done = None, 0
        for block in self:
            part = np.asarray(block.T @ vectors[done : done + block.shape[0]])
            total, done = part if total is None else total + part, done + block.shape[0]
        if total is None or done != len(vectors):
            raise ValueError(
                f"the blocks have {done} rows in this pass and had {len(vectors)} before: pass a "
                "function that returns the same blocks every time"
            )
        return np.asarray(total)
