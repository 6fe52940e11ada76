"""Linear embeddings: projections to a subspace, and the distance of samples to it."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray
from unbend.estimators.embedding import Embedding
from unbend.extension import subspace_distances
from unbend.validation.parameters import declare


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
        distances = subspace_distances(rows, self._extension, self._preimage)
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
