"""Linear extensions: projections onto axes, and their inverses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, is_sparse, row_chunks, row_products
from unbend.cached import cached_property
from unbend.extension.extension import Extension

# Rows that are made dense at a time.
BLOCK_BYTES = 1 << 26
# Axes up to which, and columns from which on, rows are multiplied one by one: blocks for BLAS are
# filled up to eight axes, which takes about twice as long for two axes of 64 to 10 304 columns.
MOST_AXES, LONG_ROWS = 2, 16
# Density from which on BLAS is faster on a sparse matrix made dense: at 1/3 it took a fifth to a
# ninth of the time of a sparse product.
DENSE_FROM = 1 / 20


@dataclass(frozen=True, eq=False)
class Linear:
    """y = A (x − mean)."""

    mean: FloatArray
    axes: FloatArray

    def __call__(self, new: FloatArray) -> FloatArray:
        """Project new samples, which may be sparse."""
        if is_sparse(new):
            return np.asarray(new @ self.axes.T - self.mean @ self.axes.T)
        few, columns = self.axes.shape
        if 0 < few <= MOST_AXES and columns >= LONG_ROWS:
            return self._of_long_rows(new)
        return row_products(new, self.axes.T, self.mean if self.mean.any() else None)

    def _of_long_rows(self, new: FloatArray) -> FloatArray:
        """Project samples so that each is read once; none depends on the others either."""
        rows = np.ascontiguousarray(new, dtype=np.float64)
        found = np.empty((len(rows), len(self.axes)))
        mean, axes = (np.ascontiguousarray(one, np.float64) for one in (self.mean, self.axes))
        kernels.thin_products(rows, mean, axes, found)
        return found

    def place(self, centered: FloatArray) -> FloatArray:
        """Project samples from which the mean was subtracted."""
        return row_products(centered, self.axes.T)


@dataclass(frozen=True, eq=False)
class LinearInverse:
    """x = A'y + mean."""

    mean: FloatArray
    axes: FloatArray

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Reconstruct rows."""
        return np.asarray(row_products(coordinates, self.axes) + self.mean)


@dataclass(frozen=True, eq=False)
class SparseLinear:
    """y = A x with a sparse A."""

    axes: csr_array

    def __call__(self, new: Any) -> FloatArray:
        """Project new samples, which may be sparse."""
        rows, columns = self.axes.shape
        if self.axes.nnz > DENSE_FROM * rows * columns:
            axes = self.axes.toarray()
            if is_sparse(new):
                return np.asarray(new.astype(np.float64) @ axes.T)
            return row_products(new.astype(np.float64, copy=False), axes.T)
        if is_sparse(new):
            return np.asarray((new.astype(np.float64) @ self.axes.T).toarray())
        return np.asarray((self.axes @ new.astype(np.float64, copy=False).T).T)


@dataclass(frozen=True, eq=False)
class ProjectionInverse:
    """x = A⁺ y: the shortest row with these coordinates; A⁺ is found when first needed."""

    axes: FloatArray | csr_array

    @cached_property
    def _inverse_gram(self) -> FloatArray:
        gram: Any = self.axes @ self.axes.T
        return np.linalg.pinv(gram.toarray() if is_sparse(gram) else gram, hermitian=True)

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Reconstruct rows."""
        weights = row_products(coordinates, self._inverse_gram)
        if isinstance(self.axes, np.ndarray):
            return row_products(weights, self.axes)
        return np.asarray((self.axes.T @ weights.T).T)


def subspace_distances(rows: Any, coordinates: FloatArray, inverse: Extension) -> FloatArray:
    """Distances of rows, which may be sparse, to the subspace that they have coordinates in.

    From differences: ‖x‖² − ‖y‖² would lose the distances of rows near the subspace.
    """
    distances = np.empty(rows.shape[0])
    for some in row_chunks(rows.shape[0], 24 * rows.shape[1], BLOCK_BYTES):
        dense = rows[some].toarray() if is_sparse(rows) else rows[some]
        off = dense - inverse(coordinates[some])
        distances[some] = np.einsum("ij,ij->i", off, off)
    return np.sqrt(distances)
