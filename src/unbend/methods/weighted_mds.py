"""Weighted multidimensional scaling (individual differences)."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray
from unbend.estimators.dissimilarities import DistanceInput, count_missing
from unbend.estimators.scaling import MultiScaling
from unbend.mds.indscal import ScalarProducts, indscal
from unbend.memory import reserve
from unbend.report import Report, note, stage, warn
from unbend.validation.parameters import declare
from unbend.validation.random_state import generator


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Place rows (k, m, n) by their scalar products with the group configuration.

    With b_k = −½ (δ_k² − its mean) centered, b_k ≈ X diag(w_k) y for every matrix k.
    """

    configuration: FloatArray
    weights: FloatArray
    mean_squares: FloatArray

    def __call__(self, new: FloatArray) -> FloatArray:
        """Place new samples."""
        if np.isnan(new).any():
            raise ValueError(
                "WeightedMDS needs all distances of new samples and some are NaN: fill them in, or "
                "use ReplicatedMDS"
            )
        x, w = self.configuration, self.weights
        products = -0.5 * (np.square(new) - self.mean_squares[:, None])
        sums = np.einsum("kmn,na,ka->ma", products, x, w)
        normal = (x.T @ x) * (w.T @ w)
        placed = sums @ np.linalg.pinv(normal, hermitian=True)
        joined = np.all(new == 0, axis=0)
        own = joined.any(axis=1)
        placed[own] = x[joined[own].argmax(axis=1)]
        return np.asarray(placed)


def _scalar_products(distances: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Scalar products −½ H D² H of each matrix (k, n, n), and the mean squares of rows (k, n)."""
    products = np.empty((len(distances), *distances[0].shape))
    means = np.empty(products.shape[:2])
    for own, squares, mean in zip(distances, products, means, strict=True):
        np.square(own, dtype=np.float64, out=squares)
        mean[:] = squares.mean(axis=1)
        squares -= mean[:, None]
        squares -= mean - mean.mean()
        squares *= -0.5
    return products, means


@final
@declare
class WeightedMDS(MultiScaling):
    """Weighted multidimensional scaling: each matrix stretches the axes of one configuration.

    The INDSCAL model: d²_k(i, j) = Σ_a w_ka (x_ia − x_ja)², with a group configuration X and
    weights w_k ≥ 0 for each matrix k, fitted to scalar products by alternating least squares.
    Unlike other scalings the axes cannot be turned: differences between the matrices fix them.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Group configuration, centered, of unit variance along each axis; the axes of greatest
        total weight first.
    weights_ : array (k, n_components)
        Weights of the axes in each matrix, in squared units of its distances.
    variance_accounted_ : array (k,)
        Share of each matrix's squared scalar products that the model accounts for.
    history_ : array
        Mean share not accounted for, after every iteration.

    References
    ----------
    Carroll and Chang, Psychometrika 35 (1970). Book chapter 6, notes.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> rng = np.random.default_rng(0)
    >>> X, w = rng.normal(size=(30, 2)), rng.uniform(0.2, 2.0, size=(5, 2))
    >>> D = [np.linalg.norm((X[:, None] - X) * np.sqrt(row), axis=2) for row in w]
    >>> mds = unbend.WeightedMDS().fit(D)
    >>> bool(mds.variance_accounted_.min() > 0.9999)
    True
    """

    isometric: ClassVar[bool] = False

    def _fit_all(self, report: Report, given: list[DistanceInput]) -> None:
        n, k = given[0].pairs.n, len(given)
        if any(np.any(one.pairs.weights != 1) for one in given if one.pairs.weights is not None):
            lacking = sum(count_missing(one.pairs) for one in given)
            raise ValueError(
                f"WeightedMDS needs every distance at weight one ({lacking} pairs are not known): "
                "use ReplicatedMDS, or fill them in"
            )
        with stage("kernel"):
            reserve(32 * k * n**2, f"{k} matrices of {n} x {n} scalar products", "use fewer rows")
            products, squares = _scalar_products([one.pairs.square() for one in given])
            if k == 1:
                warn("One matrix does not determine the axes. Pass two or more to WeightedMDS.")
        with stage("stress"):
            rng = generator(self.random_state)
            tol = 1e-9 if self.tol == "auto" else self.tol
            found = indscal(ScalarProducts(products), self.n_components, tol, self.max_iter, rng)
            note(iterations=len(found.history), converged=found.converged)
            if not found.converged:
                warn(f"INDSCAL did not converge in {self.max_iter} iterations. Increase max_iter.")
        with stage("coordinates"):
            place = LeastSquares(found.configuration.copy(), found.weights.copy(), squares)
            note(variance_accounted=[float(share) for share in found.accounted])
        self._keep(
            report,
            found.configuration,
            given[0].dtype,
            place,
            None,
            weights_=found.weights,
            variance_accounted_=found.accounted,
            history_=found.history,
            n_iter_=len(found.history),
            _points=[one.points for one in given],
        )

    def configuration(self, matrix: int) -> FloatArray:
        """Return the configuration of one matrix: the group's, stretched by its weights.

        Parameters
        ----------
        matrix : int
            Its place in the list that was fitted.

        Returns
        -------
        array (n_samples, n_components)
            Its distances are those that the model gives the matrix.
        """
        check_is_fitted(self)
        return np.asarray(self.embedding_ * np.sqrt(self.weights_[matrix]))
