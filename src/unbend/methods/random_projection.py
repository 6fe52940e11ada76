"""Random projection."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, final

import numpy as np
from scipy.spatial.distance import squareform

from unbend.arrays import FloatArray, IntArray, is_sparse, row_chunks
from unbend.eigen import fix_signs
from unbend.estimators.batches import open_batches
from unbend.estimators.embedding import seed_param
from unbend.estimators.inputs import check_input
from unbend.estimators.linear import LinearEmbedding
from unbend.extension import Extension, Linear, ProjectionInverse, SparseLinear
from unbend.lazy import scale
from unbend.lowrank.bounds import (
    guaranteed_distortion,
    guaranteed_exponent,
    johnson_lindenstrauss,
)
from unbend.lowrank.sketch import orthogonalize, random_matrix, sparse_signs
from unbend.report import Deferred, Report, stage
from unbend.validation.parameters import (
    FLAG,
    NOTHING,
    Choice,
    Integer,
    Real,
    declare,
    first_param,
    param,
)
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer

# Rows between which all distances are compared: at least so many, of long rows fewer, as many as
# cost no more than the projection, and not more than fit into this many bytes.
COMPARED, FEWEST, COMPARED_BYTES = 200, 50, 1 << 28
# Bytes of rows up to which there are as many.
HELD_ROWS = 1 << 22
# Bytes of such rows that a model holds until its distortion is asked for.
HELD_BYTES = 1 << 24
# Bytes of all rows up to which these are held instead.
COPIED_BYTES = 1 << 18
# Squares below this share of the rows' own are recomputed from differences.
CANCELLED = 1e-6
# Density of type 3.
TYPE_3 = 1 / 3


@final
@declare
class RandomProjection(LinearEmbedding):
    """Random projection: a random linear map that keeps distances, whatever the data.

    y = R x / √k with independent entries of mean 0 and variance 1 in R, so that ‖y‖² has the mean
    ‖x‖². All squared distances between n rows are kept within 1 ± ε once k reaches the
    Johnson–Lindenstrauss bound, which ``n_components="auto"`` takes. For another k `guarantee_`
    is the ε that is guaranteed, and `distortion_` what was measured.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates; no rows after `fit_batches`.
    components_ : array or csr_array (n_components, n_features)
        The matrix, R / √k; sparse for ``kind="sparse"`` unless it was orthogonalised or turned.
    singular_values_ : array (n_components,) or None
        With `svd`, singular values of the centered coordinates; else None.
    distortion_ : dict
        Ratio of squared distances after and before: `least`, `mean`, `largest`, `within`, the
        share that lies in 1 ± eps, and `pairs`, how many were compared: all of the rows, or of a
        sample of them that costs no more than the projection.
    bound_ : int
        The Johnson–Lindenstrauss bound for these rows, `eps` and `beta`.
    guarantee_ : float or None
        The ε that n_components guarantee with probability 1 − n^−beta; None where they are too
        few to guarantee any (book (7.6)).
    beta_ : float
        The β for which n_components guarantee `eps`; negative where they do not.

    References
    ----------
    Johnson and Lindenstrauss (1984); Dasgupta and Gupta (2003); Achlioptas, JCSS 66 (2003); very
    sparse matrices: Li, Hastie and Church, KDD (2006). Book chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> X = np.random.default_rng(0).standard_normal((100, 5000))
    >>> model = unbend.RandomProjection(n_components="auto", eps=0.5).fit(X)
    >>> model.embedding_.shape[1] == model.bound_, model.distortion_["within"]
    (True, 1.0)
    """

    n_components: Any = first_param(
        Integer(1),
        Choice("auto"),
        default=2,
        help="Embedding dimension; 'auto' takes `bound_`.",
        kw_only=False,
    )
    kind: Any = param(
        "gaussian",
        Choice("gaussian", "sign", "sparse"),
        help="Entries: normal (type 1), ±1 (type 2), or ±√3 with probability 1/6 each (type 3).",
    )
    density: Any = param(
        None,
        Real(0, high=1),
        Choice("auto"),
        NOTHING,
        help="For 'sparse': share of the entries that are not zero, ±1/√density each. None is 1/3, "
        "type 3; 'auto' is 1/√n_features, which is many times as fast on wide data.",
    )
    orthogonalize: bool = param(
        False, FLAG, help="Whether rows are made orthogonal and scaled by √(D/k)."
    )
    svd: bool = param(False, FLAG, help="Whether coordinates are turned to their principal axes.")
    eps: float = param(0.2, Real(0, below=1), help="Distortion that the bound allows.")
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
            rng = generator(self.random_state)
            rows = check_input(self, X, reset=True, sparse=True)
            bound = johnson_lindenstrauss(rows.shape[0], self.eps, self.beta)
            k = self._dimension(bound, rows.shape[1])
            singular = None
            with stage("coordinates"):
                axes = self._matrix(k, rows.shape[1], rng)
                embedding = _projection(axes)(rows)
                if self.svd:
                    turn, singular = _principal_turn(embedding - embedding.mean(axis=0), k)
                    axes = turn @ axes
                    embedding = embedding @ turn.T
            with stage("distortion"):
                measure = _later_distortion(rows, embedding, self.eps, rng)
        self._keep_axes(
            report, embedding.astype(rows.dtype), axes, singular, measure, bound, rows.shape[0]
        )
        self._keep_reference(rows, embedding)
        return self

    def fit_batches(self, batches: Iterable[Any]) -> "RandomProjection":
        """Draw a projection incrementally, in memory for one batch.

        The result is that of `fit` on all rows, up to rounding, but `embedding_` has no rows: use
        `transform` on each batch. The batches are read twice, and once more with `svd`.
        """
        return self._fit_source(open_batches, batches)

    def _fit_dask(self, X: Any) -> "RandomProjection":
        """Draw a projection for the rows of a Dask collection; `embedding_` has no rows."""
        return self._fit_source(scale().open_rows, X)

    def _fit_source(
        self, open_source: Callable[[Any, Any], Any], source: Any
    ) -> "RandomProjection":
        """Draw a projection for rows that are read some at a time."""
        with self._fitting() as report:
            rng = generator(self.random_state)
            with stage("mean"):
                rows = open_source(self, source)
                bound = johnson_lindenstrauss(rows.n, self.eps, self.beta)
                columns = rows.columns
                k = self._dimension(bound, columns)
            singular = None
            with stage("coordinates"):
                axes = self._matrix(k, columns, rng)
                if self.svd:
                    turn, singular = _principal_turn(rows.factor(_projection(axes)), k)
                    axes = turn @ axes
            with stage("distortion"):
                some = rows.take(_compared_rows(rows.n, columns, k, rng))
                measure = partial(_distortion, some, _projection(axes)(some), self.eps)
        nothing = np.empty((0, k), dtype=rows.dtype)
        self._keep_axes(report, nothing, axes, singular, measure, bound, rows.n)
        return self

    def _keep_axes(
        self,
        report: Report,
        embedding: FloatArray,
        axes: Any,
        singular: FloatArray | None,
        measure: Callable[[], dict[str, float]],
        bound: int,
        n: int,
    ) -> None:
        k = axes.shape[0]
        guarantee = guaranteed_distortion(n, k, self.beta)
        said = f"within 1 ± {guarantee:.3g}" if guarantee < 1 else "none: too few coordinates"
        report.stage("distortion").facts.update(bound=bound, guarantee=said)
        self._keep(
            report,
            embedding,
            embedding.dtype,
            _projection(axes),
            ProjectionInverse(axes),
            components_=axes.astype(embedding.dtype),
            singular_values_=singular,
            bound_=bound,
            guarantee_=None if np.isnan(guarantee) else guarantee,
            beta_=guaranteed_exponent(n, k, self.eps),
        )
        distortion = Deferred(measure)
        report.stage("distortion").defer(distortion)
        self._defer("distortion_", distortion)

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

    def _matrix(self, k: int, columns: int, rng: np.random.Generator) -> Any:
        if self.kind != "sparse":
            if self.density is not None:
                raise ValueError(
                    f"density={self.density!r} has no effect with kind={self.kind!r}: use 'sparse'"
                )
            matrix: Any = random_matrix(k, columns, self.kind, rng)
        else:
            share = columns**-0.5 if self.density == "auto" else self.density or TYPE_3
            matrix = sparse_signs(k, columns, share, rng)
        if self.orthogonalize:
            matrix = orthogonalize(matrix.toarray() if is_sparse(matrix) else matrix)
        return matrix / np.sqrt(k)

    def _new_rows(self, X: Any) -> FloatArray:
        rows: FloatArray = check_input(self, X, reset=False, sparse=True)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _projection(axes: Any) -> Extension:
    """Return x ↦ A x."""
    return SparseLinear(axes) if is_sparse(axes) else Linear(np.zeros(axes.shape[1]), axes)


def _principal_turn(centered: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Principal axes, with signs that do not depend on how they were found, and singular values."""
    _, singular, axes = np.linalg.svd(centered, full_matrices=len(centered) < k)
    values = np.zeros(k)
    values[: len(singular)] = singular
    return fix_signs(axes.T).T, values


def _later_distortion(
    rows: Any, embedding: FloatArray, eps: float, rng: np.random.Generator
) -> Callable[[], dict[str, float]]:
    """Distortion of some pairs of rows, computed when asked for, unless these take much memory."""
    n, columns = rows.shape

    def measure_sample(rows: Any) -> dict[str, float]:
        some = _compared_rows(n, columns, embedding.shape[1], rng)
        return _distortion(rows[some], embedding[some], eps)

    if not is_sparse(rows) and rows.nbytes <= COPIED_BYTES:
        # Of few numbers a copy takes less time than the choice of some.
        return partial(measure_sample, np.array(rows))
    some = _compared_rows(n, columns, embedding.shape[1], rng)
    measure = partial(_distortion, rows[some], embedding[some], eps)
    return partial(dict, measure()) if 8 * len(some) * columns > HELD_BYTES else measure


def _compared_rows(n: int, columns: int, k: int, rng: np.random.Generator) -> IntArray:
    """Rows whose distances are compared: all, or a sample without replacement."""
    fewest = max(FEWEST, min(COMPARED, HELD_ROWS // (8 * columns)))
    affordable = max(fewest, int(np.sqrt(n * k)))
    count = min(n, affordable, max(2, COMPARED_BYTES // (8 * columns)))
    return np.sort(rng.permutation(n)[:count])


def _uncancelled_squares(rows: FloatArray) -> FloatArray | None:
    """Squared distances of all pairs, or None where products of some rows cancel."""
    rows = rows - rows.mean(axis=0)
    gram = rows @ rows.T
    sums = gram.diagonal()[:, None] + gram.diagonal()
    squares = sums - 2.0 * gram
    # Rows cancel with themselves.
    if np.count_nonzero(squares <= CANCELLED * sums) > len(rows):
        return None
    return np.asarray(squareform(squares, checks=False))


def _pair_squares(rows: Any) -> FloatArray:
    """Squared distances of all pairs of rows, dense or sparse, by one product."""
    if not is_sparse(rows):
        squares = _uncancelled_squares(rows.astype(np.float64))
        if squares is not None:
            return squares
    first, second = np.triu_indices(rows.shape[0], 1)
    rows = rows.astype(np.float64)
    if not is_sparse(rows):
        rows = rows - rows.mean(axis=0)
    gram = rows @ rows.T
    gram = gram.toarray() if is_sparse(gram) else gram
    own = gram.diagonal()
    sums = own[first] + own[second]
    squares = np.asarray(sums - 2.0 * gram[first, second])
    near = np.flatnonzero(squares <= CANCELLED * sums)
    for some in row_chunks(len(near), 32 * rows.shape[1]):
        pairs = near[some]
        difference = rows[first[pairs]] - rows[second[pairs]]
        exact = difference.power(2) if is_sparse(difference) else np.square(difference)
        squares[pairs] = np.asarray(exact.sum(axis=1)).ravel()
    return squares


def _distortion(rows: Any, embedding: FloatArray, eps: float) -> dict[str, float]:
    """Ratios of squared distances after and before, on pairs that differ."""
    before, after = _pair_squares(rows), _pair_squares(embedding)
    apart = before > 0
    ratios = after[apart] / before[apart] if apart.any() else np.ones(1)
    return {
        "least": float(ratios.min()),
        "mean": float(ratios.mean()),
        "largest": float(ratios.max()),
        "within": float(np.mean(np.abs(ratios - 1) <= eps)),
        "pairs": len(before),
    }
