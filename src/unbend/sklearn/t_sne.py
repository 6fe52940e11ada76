"""t-SNE under scikit-learn's name."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.manifold import TSNE as ScikitTSNE
from sklearn.manifold._t_sne import _gradient_descent

from unbend._kernels import kernels
from unbend.arrays import FloatArray
from unbend.atomic import atomic_fit
from unbend.layout.descent import attractive_energy
from unbend.layout.repulsion import ERROR, OPENING, Repulsion, exact_repulsion
from unbend.validation.threads import threads

# Error of the repulsion below which single precision has none of its own to add, so all pairs are
# summed; and coordinates whose squares it cannot hold.
LEAST_ERROR, LARGEST = 1e-6, 1e18
DIVERGED = "t-SNE diverged: the layout overflows. Lower learning_rate or early_exaggeration."


class TSNE(ScikitTSNE):
    """scikit-learn's `TSNE` with our repulsion: exact for few rows, then on a mesh or by a tree.

    Affinities, start and descent are scikit-learn's, and so are the parameters; `angle` sets the
    accuracy of the repulsion, as the opening of a tree does. ``method="exact"`` and three
    components, for which scikit-learn has another kernel, are inherited.
    `unbend.NeighborEmbedding` is faster still, needs no seed and embeds new samples.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from unbend.sklearn import TSNE
    >>> X = load_digits().data[:300]
    >>> TSNE(random_state=0).fit_transform(X).shape
    (300, 2)
    """

    @atomic_fit
    def fit_transform(self, X: Any, y: None = None) -> FloatArray:
        """Fit to the rows of X and return their coordinates.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows, or distances with ``metric="precomputed"``.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        array (n_samples, n_components)
        """
        return np.asarray(super().fit_transform(X))

    @atomic_fit
    def fit(self, X: Any, y: None = None) -> "TSNE":
        """Fit to the rows of X.

        Parameters
        ----------
        X : array (n_samples, n_features) or (n_samples, n_samples)
            Rows, or distances with ``metric="precomputed"``.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def _tsne(
        self,
        P: Any,
        degrees_of_freedom: int,
        n_samples: int,
        X_embedded: FloatArray,
        neighbors: Any = None,
        skip_num_points: int = 0,
    ) -> FloatArray:
        """Run both phases of scikit-learn's descent on our gradient."""
        if self.method != "barnes_hut" or degrees_of_freedom != 1:
            return np.asarray(
                super()._tsne(
                    P, degrees_of_freedom, n_samples, X_embedded, neighbors, skip_num_points
                )
            )
        early, late = self._EXPLORATION_MAX_ITER, self.max_iter
        options = {
            "n_iter_check": self._N_ITER_CHECK,
            "min_grad_norm": self.min_grad_norm,
            "learning_rate": self.learning_rate_,
            "verbose": self.verbose,
        }
        workers, angle = threads(self.n_jobs), float(self.angle)
        gather = _Objective(P, self.early_exaggeration, angle, workers)
        params, divergence, it = _gradient_descent(
            gather, X_embedded.ravel(), it=0, n_iter_without_progress=early, max_iter=early,
            momentum=0.5, **options,
        )  # fmt: skip
        if self.verbose:
            print(  # noqa: T201 (as scikit-learn does)
                f"[t-SNE] KL divergence after {it + 1} iterations with early exaggeration: "
                f"{divergence:f}"
            )
        if it < early or late > early:
            lay_out = _Objective(P, 1.0, angle, workers)
            params, divergence, it = _gradient_descent(
                lay_out, params, it=it + 1, max_iter=late, momentum=0.8,
                n_iter_without_progress=self.n_iter_without_progress, **options,
            )  # fmt: skip
        self.n_iter_ = it
        if self.verbose:
            # As scikit-learn does.
            print(f"[t-SNE] KL divergence after {it + 1} iterations: {divergence:f}")  # noqa: T201
        self.kl_divergence_ = divergence
        return np.asarray(params.reshape(n_samples, self.n_components))


class _Objective:
    """Divergence and gradient as scikit-learn's descent calls them."""

    def __init__(self, affinities: Any, exaggeration: float, angle: float, workers: int) -> None:
        with np.errstate(over="ignore"):
            weights = (affinities.data * exaggeration).astype(np.float32)
        self.affinities = csr_array(
            (weights, affinities.indices, affinities.indptr), shape=affinities.shape
        )
        self.shape = (affinities.shape[0], -1)
        error = ERROR * (angle / OPENING) ** 2.5
        self.repulsion = Repulsion(error, workers) if error > LEAST_ERROR else None
        self.workers = workers

    def __call__(self, params: FloatArray, compute_error: bool = True) -> tuple[float, FloatArray]:
        points = np.ascontiguousarray(params.reshape(self.shape), dtype=np.float32)
        if not np.abs(points).max(initial=0.0) < LARGEST:
            raise ValueError(DIVERGED)
        gradient = np.empty_like(points)
        kernels.attract(
            self.affinities.indptr.astype(np.int64),
            self.affinities.indices.astype(np.int32, copy=False),
            self.affinities.data, points, self.workers, gradient,
        )  # fmt: skip
        if self.repulsion is None:
            forces, normalizer = exact_repulsion(points, self.workers)
        else:
            forces, normalizer = self.repulsion(points)
        if normalizer <= 0:
            # All points are so far apart that nothing is left of their kernels.
            raise ValueError(DIVERGED)
        gradient -= forces * (1.0 / normalizer)
        gradient *= 4.0
        error = self._divergence(points, normalizer) if compute_error else np.nan
        return error, gradient.ravel()

    def _divergence(self, points: FloatArray, normalizer: float) -> float:
        weights = self.affinities.data
        p = weights[weights > 0].astype(np.float64)
        pull = attractive_energy(self.affinities, points, self.workers)
        return float(np.sum(p * np.log(p)) + pull + p.sum() * np.log(normalizer))
