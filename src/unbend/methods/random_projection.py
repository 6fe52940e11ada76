"""Random projection."""

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from unbend.arrays import FloatArray, IntArray, is_sparse, row_chunks
from unbend.eigen import fix_signs
from unbend.estimators.batches import Batches, open_batches, triangular_factor
from unbend.estimators.embedding import seed_param
from unbend.estimators.inputs import check_input
from unbend.estimators.linear import LinearEmbedding
from unbend.extension import Linear, LinearInverse
from unbend.lowrank.sketch import (
    johnson_lindenstrauss,
    orthogonalize,
    random_matrix,
)
from unbend.report import Report, note, stage
from unbend.validation.parameters import (
    FLAG,
    Choice,
    Integer,
    Real,
    declare,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer

# Pairs of rows on which the distortion is measured.
PAIRS = 20_000
# Rows of pairs that are held at a time when rows come in batches.
GATHERED_BYTES = 1 << 28


@final
@declare
class RandomProjection(LinearEmbedding):
    """Random projection: a random linear map that keeps distances, whatever the data.

    y = R x / √k with independent entries of mean 0 and variance 1 in R, so that ‖y‖² has the mean
    ‖x‖². All distances between n rows are kept within 1 ± ε once k reaches the
    Johnson–Lindenstrauss bound, which ``n_components="auto"`` takes. `distortion_` is what was
    measured.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates; no rows after `fit_batches`.
    components_ : array (n_components, n_features)
        The matrix, R / √k, dense.
    distortion_ : dict
        Ratio of squared distances after and before, on pairs of rows drawn at random: `least`,
        `mean`, `largest`, and `within`, the share that lies in 1 ± eps.
    bound_ : int
        The Johnson–Lindenstrauss bound for these rows, `eps` and `beta`.

    References
    ----------
    Johnson and Lindenstrauss (1984); Dasgupta and Gupta (2003); Achlioptas, JCSS 66 (2003). Book
    chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> X = np.random.default_rng(0).standard_normal((100, 5000))
    >>> model = unbend.RandomProjection(n_components="auto", eps=0.5).fit(X)
    >>> model.embedding_.shape[1] == model.bound_, model.distortion_["within"]
    (True, 1.0)
    """

    n_components: Any = param(
        2,
        Integer(1),
        Choice("auto"),
        help="Embedding dimension; 'auto' takes `bound_`.",
        kw_only=False,
    )
    kind: Any = param(
        "gaussian",
        Choice("gaussian", "sign", "sparse"),
        help="Entries: normal (type 1), ±1 (type 2), or ±√3 with probability 1/6 each (type 3).",
    )
    orthogonalize: bool = param(
        False, FLAG, help="Whether rows are made orthogonal and scaled by √(D/k)."
    )
    svd: bool = param(False, FLAG, help="Whether coordinates are turned to their principal axes.")
    eps: float = param(0.2, Real(0), help="Distortion that the bound allows, below 1.")
    beta: float = param(
        1.0, Real(0, closed=True), help="The bound holds with probability 1 − n^−beta."
    )
    random_state: Any = seed_param("the random matrix")

    def fit(self, X: Any, y: None = None) -> "RandomProjection":
        """Draw a projection for the rows of X, which may be sparse.

        Parameters
        ----------
        X : array or sparse array (n_samples, n_features)
            Rows.
        """
        with self._fitting() as report:
            self._check_eps()
            rng = generator(self.random_state)
            rows = check_input(self, X, reset=True, sparse=True)
            bound = johnson_lindenstrauss(rows.shape[0], self.eps, self.beta)
            k = self._dimension(bound, rows.shape[1])
            with stage("coordinates"):
                axes = self._matrix(k, rows.shape[1], rng)
                embedding = np.asarray(rows.astype(np.float64) @ axes.T)
                if self.svd:
                    turn = _principal_turn(embedding - embedding.mean(axis=0))
                    axes = turn @ axes
                    embedding = embedding @ turn.T
            with stage("distortion"):
                pairs = rng.integers(rows.shape[0], size=(2, PAIRS))
                distortion = _distortion(*_squares(rows, embedding, pairs), self.eps)
                note(bound=bound, **distortion)
        self._keep_axes(report, embedding.astype(rows.dtype), axes, distortion, bound)
        return self

    def fit_batches(self, batches: Iterable[Any]) -> "RandomProjection":
        """Draw a projection incrementally, in memory for one batch.

        The result is that of `fit` on all rows, up to rounding, but `embedding_` has no rows: use
        `transform` on each batch. The batches are read twice, once more with `svd`, and
        more often if the pairs for `distortion_` need more than a quarter of a gigabyte.
        """
        with self._fitting() as report:
            self._check_eps()
            rng = generator(self.random_state)
            with stage("mean"):
                rows = open_batches(self, batches)
                bound = johnson_lindenstrauss(rows.n, self.eps, self.beta)
                k = self._dimension(bound, len(rows.mean))
            with stage("coordinates"):
                axes = self._matrix(k, len(rows.mean), rng)
                if self.svd:
                    images = (some @ axes.T for some in rows)
                    axes = _principal_turn(triangular_factor(images, axes @ rows.mean)) @ axes
            with stage("distortion"):
                pairs = rng.integers(rows.n, size=(2, PAIRS))
                distortion = _distortion(*_gathered_squares(rows, axes, pairs), self.eps)
                note(bound=bound, **distortion)
        nothing = np.empty((0, k), dtype=rows.dtype)
        self._keep_axes(report, nothing, axes, distortion, bound)
        return self

    def _check_eps(self) -> None:
        if self.eps >= 1:
            raise ValueError(f"eps={self.eps!r} is not allowed: it must be below 1")

    def _keep_axes(
        self,
        report: Report,
        embedding: FloatArray,
        axes: FloatArray,
        distortion: dict[str, float],
        bound: int,
    ) -> None:
        origin = np.zeros(axes.shape[1])
        self._keep(
            report,
            embedding,
            embedding.dtype,
            Linear(origin, axes),
            LinearInverse(origin, np.linalg.pinv(axes).T),
            components_=axes.astype(embedding.dtype),
            distortion_=distortion,
            bound_=bound,
        )

    def _dimension(self, bound: int, columns: int) -> int:
        if self.n_components != "auto":
            of = f"with {columns} columns"
            return check_integer("n_components", self.n_components, 1, columns, of)
        if bound > columns:
            raise ValueError(
                f"eps={self.eps} and beta={self.beta} ask for {bound} coordinates and X has only "
                f"{columns} columns: raise eps, or give n_components"
            )
        return bound

    def _matrix(self, k: int, columns: int, rng: np.random.Generator) -> FloatArray:
        matrix = random_matrix(k, columns, self.kind, rng)
        if self.orthogonalize:
            matrix = orthogonalize(matrix)
        return np.asarray(matrix / np.sqrt(k))

    def _new_rows(self, X: Any) -> FloatArray:
        rows: FloatArray = check_input(self, X, reset=False, sparse=True)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _principal_turn(centered: FloatArray) -> FloatArray:
    """Principal axes, with signs that do not depend on how they were found."""
    return fix_signs(np.linalg.svd(centered, full_matrices=False)[2].T).T


def _squares(rows: Any, embedding: FloatArray, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
    """Squared distances of pairs of rows before and after."""
    rows, embedding = rows.astype(np.float64), embedding.astype(np.float64)
    first, second = pairs
    before = np.empty(PAIRS)
    for some in row_chunks(PAIRS, 1, 1000):
        difference = rows[first[some]] - rows[second[some]]
        squares = difference.multiply(difference) if is_sparse(difference) else difference**2
        before[some] = np.asarray(squares.sum(axis=1)).ravel()
    return before, np.square(embedding[first] - embedding[second]).sum(axis=1)


def _gathered_squares(
    batches: Batches, axes: FloatArray, pairs: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Do the same for rows that come in batches, for as many pairs at a time as memory allows."""
    before, after = np.empty(PAIRS), np.empty(PAIRS)
    columns = axes.shape[1]
    for some in row_chunks(PAIRS, 32 * columns, GATHERED_BYTES):
        wanted, places = np.unique(pairs[:, some], return_inverse=True)
        held = np.empty((len(wanted), columns))
        start = 0
        for rows in batches:
            low, high = np.searchsorted(wanted, [start, start + len(rows)])
            held[low:high] = rows[wanted[low:high] - start]
            start += len(rows)
        first, second = places.reshape(2, -1)
        difference = held[first] - held[second]
        before[some] = np.square(difference).sum(axis=1)
        after[some] = np.square(difference @ axes.T).sum(axis=1)
    return before, after


def _distortion(before: FloatArray, after: FloatArray, eps: float) -> dict[str, float]:
    """Ratios of squared distances after and before, on pairs that differ."""
    apart = before > 0
    ratios = after[apart] / before[apart] if apart.any() else np.ones(1)
    return {
        "least": float(ratios.min()),
        "mean": float(ratios.mean()),
        "largest": float(ratios.max()),
        "within": float(np.mean(np.abs(ratios - 1) <= eps)),
    }
