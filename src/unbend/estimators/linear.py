"""Linear embeddings: projections to a subspace, and the distance of samples to it."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, is_sparse
from unbend.estimators.embedding import Embedding
from unbend.extension import Extension, LinearInverse, subspace_distances
from unbend.lazy import by_partitions
from unbend.neighbors import PointSpace
from unbend.neighbors.space import COMPARED
from unbend.outlyingness import UndefinedScore, score_rows
from unbend.validation.parameters import declare

# Fitted rows with which `outlyingness` compares, at most.
REFERENCE_ROWS = 2000
# Up to this size rows are held until what is compared of them is first needed.
HELD_BYTES = 1 << 23


@by_partitions
@declare
class LinearEmbedding(Embedding):
    """Abstract: coordinates are linear in the rows."""

    def subspace_distances(self, X: Any) -> FloatArray:
        """Distance of samples to the fitted subspace: what `inverse_transform` cannot restore.

        Parameters
        ----------
        X : array (m, n_features)
            Samples, as for `transform`.

        Returns
        -------
        array (m,)

        Examples
        --------
        >>> import numpy as np
        >>> import unbend
        >>> model = unbend.PCA(n_components=1).fit(np.outer([0.0, 1.0, 2.0], [3.0, 4.0]))
        >>> model.subspace_distances([[4.0, -3.0], [6.0, 8.0]]).round(12)
        array([5., 0.])
        """
        check_is_fitted(self)
        assert self._preimage is not None
        rows = self._as_stored(self._new_rows(X))
        distances = subspace_distances(rows, self._extension(rows), self._preimage)
        return np.asarray(distances, dtype=self.embedding_.dtype)

    def score_samples(self, X: Any) -> FloatArray:
        """Return minus the distance to the subspace: the higher, the more typical of the fit.

        Parameters
        ----------
        X : array (m, n_features)
            Samples, as for `transform`.

        Returns
        -------
        array (m,)
        """
        return -self.subspace_distances(X)

    def _outlyingness(self, X: Any) -> FloatArray:
        reference = getattr(self, "_reference", None)
        if reference is None:
            raise UndefinedScore(
                "outlyingness compares with fitted rows, and this model holds none: use fit and "
                "not fit_batches, and save it with training=True"
            )
        rows, space = self._as_stored(self._new_rows(X)), PointSpace(reference)
        new = _features(rows, self._extension(rows), self._preimage)
        return score_rows(*space.nearest_of(new, min(COMPARED, space.n)), space.spacing)

    def _keep_reference(self, rows: Any, coordinates: FloatArray) -> None:
        """Keep some of the fitted rows, as `outlyingness` compares them.

        Their features are computed when first asked for, unless the rows take much memory.
        """
        step = reference_step(rows)
        some = rows[::step]
        if is_sparse(some) or some.nbytes > HELD_BYTES:
            self._reference = _features(some, coordinates[::step], self._preimage)
            return
        held = np.array(some), np.array(coordinates[::step]), self._preimage
        self._defer("_reference", partial(_features, *held))


def reference_step(rows: Any) -> int:
    """Return every how many rows one is kept, of at most `REFERENCE_ROWS`."""
    return -(-int(rows.shape[0]) // REFERENCE_ROWS)


def reference_features(rows: Any, coordinates: FloatArray, back: Extension | None) -> FloatArray:
    """Features of at most `REFERENCE_ROWS` of the rows."""
    step = reference_step(rows)
    return _features(rows[::step], coordinates[::step], back)


def _features(rows: Any, coordinates: FloatArray, back: Extension | None) -> FloatArray:
    """Coordinates of rows, and what they do not show: the distance to the subspace.

    For a projection that has no center it is the length of the row, which costs no inverse.
    Neither differs by more than the distance of two rows.
    """
    beside = (
        subspace_distances(rows, coordinates, back)
        if isinstance(back, LinearInverse)
        else _row_lengths(rows.astype(np.float64, copy=False))
    )
    return np.column_stack((coordinates, beside))


def _row_lengths(rows: Any) -> FloatArray:
    """Lengths of rows, which may be sparse."""
    if is_sparse(rows):
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", rows, rows)
    return np.asarray(np.sqrt(squares))
