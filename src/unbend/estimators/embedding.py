"""Base of all estimators: coordinates, their extension, pre-images, score and model files."""

import inspect
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, is_sparse
from unbend.atomic import atomic_fit
from unbend.docstrings import complete_docstring
from unbend.eigen import SOLVERS
from unbend.estimators.inputs import new_rows
from unbend.extension import Extension
from unbend.graphs.readers import is_graph
from unbend.lazy import by_partitions, is_dask, refuse_dask, routed_fit
from unbend.neighbors import PointSpace, Space
from unbend.neighbors.space import COMPARED, smallest
from unbend.outlyingness import UndefinedScore, score_rows, warn_outliers
from unbend.report import Deferred, Report, recording, stage
from unbend.validation.arrays import check_rows
from unbend.validation.parameters import (
    NOTHING,
    RANDOM,
    SOLVER,
    Choice,
    Integer,
    Threads,
    check_parameters,
    declare,
    first_param,
    param,
)
from unbend.validation.scalars import check_integer

# Parameters of all methods `fit` and `fit_batches`, unless these describe them.
FIT_PARAMETERS = {
    "X": "array (n_samples, n_features)\n    Rows.",
    "y": "ignored\n    Present for scikit-learn's sake.",
    "batches": "iterable of arrays (m, n_features)\n    Can be read again, such as a list or "
    "`unbend.io.batches`; sizes may differ.",
    "graph": "sparse array (n_samples, n_samples), or graph of networkx or igraph, optional\n"
    "    Precomputed graph: the stored entries of row i are its neighbours. Their distances come\n"
    "    from X; `n_neighbors` and `radius` are then not used.",
}
# Name under which a pickle holds a fitted estimator, and attributes that are computed when needed.
PACKED, DEFERRED = "_packed", "_deferred"
# Metric and kernel of estimators that were fitted to similarities.
SIMILARITIES = (("kernel", ""), ("", "precomputed"))
# Neighbours that `score` compares, or as many as fewer rows allow.
NEIGHBORS = 10


def seed_param(what: str) -> Any:
    """Declare `random_state`, the seed for something."""
    text = f"Seed for {what}. None uses a fixed seed, so results are reproducible."
    return param(None, Integer(0), RANDOM, NOTHING, help=text)


def solver_param() -> Any:
    """Declare `eigen_solver`."""
    return param(
        "auto",
        Choice(*SOLVERS),
        SOLVER,
        help="Eigensolver: 'auto', 'dense', 'lanczos', 'shift_invert', or a solver instance. "
        "`report_` records the choice and why.",
    )


def threads_param() -> Any:
    """Declare `n_jobs`."""
    return param(
        None,
        Threads(),
        NOTHING,
        help="Number of threads: None means 1, -1 all available cores, -2 all but one; at most four"
        " per core. The result does not depend on it.",
    )


class TrainingLeftOut(AttributeError, ValueError):
    """The model was saved without its training data, which the requested attribute needs."""


def attribute_entries(text: str) -> dict[str, str]:
    """Entries of the Attributes section of a docstring, by name."""
    _, _, after = inspect.cleandoc(text).partition("Attributes\n----------\n")
    section = re.split(r"\n\n\w+\n-{5,}\n", after)[0] + "\n"
    return {found[1]: found[0] for found in re.finditer(r"([\w, ]+) : .*\n(?:    .*\n)*", section)}


class Model(BaseEstimator, ABC):
    """Abstract: an estimator that can be saved and that shows its report in notebooks.

    Attributes
    ----------
    report_ : Report
        What every stage did.
    """

    # Public attributes that hold training data, or as much: left out of files without them.
    of_training: ClassVar[tuple[str, ...]] = ()
    # Whether private attributes hold training data, too.
    private_is_training: ClassVar[bool] = True

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Make every fit atomic, and document the fitted attributes of the bases.

        An interrupted fit leaves the estimator as it was. Dask collections go to `_fit_dask`.
        """
        super().__init_subclass__(**keywords)
        own = attribute_entries(cls.__doc__ or "")
        entries = dict(own)
        for base in cls.__mro__[1:]:
            if issubclass(base, Model):
                for name, entry in attribute_entries(base.__doc__ or "").items():
                    entries.setdefault(name, entry)
        if own:
            documented, whole = ("".join(some.values()).rstrip() for some in (own, entries))
            cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace(documented, whole)
        for name in ("fit", "fit_batches"):
            if name in vars(cls):
                documented = complete_docstring(FIT_PARAMETERS, "self")(vars(cls)[name])
                setattr(cls, name, atomic_fit(routed_fit(documented)))

    def _fit_dask(self, X: Any) -> Any:
        """Fit to a Dask collection; only estimators that need no row twice can."""
        refuse_dask(X, instead=f"unbend.scale.{type(self).__name__}(sample=20_000)")

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        training: bool = True,
        precision: str | None = None,
        about: dict[str, Any] | None = None,
    ) -> None:
        """Write the fitted model to a file, which `unbend.load` reads.

        Parameters
        ----------
        path : path
            The file, by custom ``*.unbend``; written atomically.
        training : bool, default=True
            Whether the training data are stored. Without them the file is small and holds the
            embedding, but only methods whose extension does not need them (PCA,
            RandomProjection) still have a `transform`.
        precision : None or 'float32', default=None
            'float32' stores numbers in single precision: half the size, about seven digits.
        about : dict, optional
            Anything in JSON to store with the model; it is `about_` after loading.

        Examples
        --------
        >>> import tempfile
        >>> import unbend
        >>> X = unbend.datasets.s_curve(200, random_state=0).points
        >>> model = unbend.Isomap().fit(X)
        >>> path = tempfile.mkdtemp() + "/curve.unbend"
        >>> model.save(path)
        >>> bool((unbend.load(path).transform(X + 0.01) == model.transform(X + 0.01)).all())
        True
        """
        from unbend.storage import save

        save(self, path, training=training, precision=precision, about=about)

    def __getstate__(self) -> Any:
        """Pickle what a file would hold, so that neither is larger; functions only as they are."""
        from unbend.storage import pack

        self._compute_deferred()
        packed = pack(self) if "report_" in vars(self) else None
        return super().__getstate__() if packed is None else {PACKED: packed}

    def __setstate__(self, state: Any) -> None:
        """Restore a pickle."""
        from unbend.storage import unpack

        super().__setstate__(unpack(state[PACKED]) if PACKED in state else state)

    def _forget_file(self) -> None:
        """Drop what a new fit has nothing to do with: the file, and what the last one deferred."""
        for name in ("_left_out", "_precision", DEFERRED):
            self.__dict__.pop(name, None)

    def _defer(self, name: str, compute: Callable[[], Any]) -> None:
        """Set a fitted attribute that is computed when first asked for, or saved."""
        self.__dict__.pop(name, None)
        self.__dict__.setdefault(DEFERRED, {})[name] = compute

    def _compute_deferred(self) -> None:
        """Compute all attributes that were deferred."""
        for name in list(vars(self).get(DEFERRED, ())):
            getattr(self, name)
        self.__dict__.pop(DEFERRED, None)

    def _as_stored(self, new: Any) -> Any:
        """Round new samples as the file rounded the training data: equal rows stay equal."""
        single = vars(self).get("_precision") == "float32"
        return new.astype(np.float32).astype(np.float64) if single else new

    def __getattr__(self, name: str) -> Any:
        """Compute attributes that were deferred, and explain those that are missing."""
        deferred = self.__dict__.get(DEFERRED, {})
        if name in deferred:
            value = deferred[name]()
            setattr(self, name, value)
            # Another thread may have been here meanwhile.
            deferred.pop(name, None)
            if not deferred:
                self.__dict__.pop(DEFERRED, None)
            return value
        if self.__dict__.get("_left_out") and not name.startswith("__"):
            raise TrainingLeftOut(
                f"this {type(self).__name__} was saved without its training data, and what you "
                "asked for needs it: save the model with training=True"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _html_repr(self) -> str:
        """Show scikit-learn's diagram and, once fitted, the report below it."""
        diagram = str(estimator_html_repr(self))
        report = vars(self).get("report_")
        return diagram if report is None else diagram + report._repr_html_()


@by_partitions
@declare
class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):
    """Abstract estimator: rows in, as many rows of `n_components` coordinates out."""

    n_components: int = first_param(
        Integer(1), default=2, help="Embedding dimension.", kw_only=False
    )

    # Whether coordinates have the scale of the data; else every vector has unit length.
    isometric: ClassVar[bool] = True

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> "Embedding":
        """Fit to the rows of X; y is ignored."""

    @abstractmethod
    def _new_rows(self, X: Any) -> FloatArray:
        """Validate new samples and give them the form that the extension takes."""

    def fit_transform(self, X: Any, y: None = None, **fit_params: Any) -> FloatArray:
        """Fit to X and return its coordinates.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows to embed, as in `fit`.
        y : ignored
            Present for scikit-learn's sake.
        **fit_params
            Passed to `fit`.

        Returns
        -------
        array (n_samples, n_components)
        """
        fitted = self.fit(X, y, **fit_params)
        return fitted.transform(X) if is_dask(X) else fitted.embedding_

    def transform(self, X: Any, *, return_outlyingness: bool = False) -> Any:
        """Embed new samples by the out-of-sample extension, each independently of the others.

        Parameters
        ----------
        X : array (m, n_features), or a Dask array or data frame
            New samples; with ``metric="precomputed"`` their distances to the fitted rows (m, n).
            Of Dask collections the result is one, too, computed when asked for.
        return_outlyingness : bool
            Whether to return the `outlyingness` of each sample, too. Methods that look for
            neighbours of new samples have it at no cost.

        Returns
        -------
        array (m, n_components)
            A sample that equals a fitted row gets that row's coordinates.
        array (m,)
            Outlyingness, if asked for.

        Warns
        -----
        OutOfDistributionWarning
            If more than 1 % of the samples are far outside the fitted rows, by methods that look
            for their neighbours anyway. `outlyingness` gives the score of each sample.
        """
        check_is_fitted(self)
        with stage("transform"):
            placed, scores = self._place(X)
            if return_outlyingness and scores is None:
                scores = self._outlyingness(X)
        if scores is not None:
            warn_outliers(scores)
        coordinates = np.asarray(placed, dtype=self.embedding_.dtype)
        return (coordinates, scores) if return_outlyingness else coordinates

    def outlyingness(self, X: Any) -> FloatArray:
        """Score how far new samples are outside the fitted rows, each independently.

        Mean distance to the five nearest fitted rows, over the mean distance of these to their own
        five nearest: about 1 for samples like the fitted ones. Above 5 a sample is far outside, and
        its coordinates are extrapolated; of samples like the fitted ones hardly one in 500 is.
        Linear methods compare with up to 2000 fitted rows, by coordinates and by the distance to
        the subspace (PCA) or the length (RandomProjection).

        Parameters
        ----------
        X : array (m, n_features)
            New samples, as for `transform`.

        Returns
        -------
        array (m,)

        Examples
        --------
        >>> import unbend
        >>> roll = unbend.datasets.swiss_roll(500, random_state=0).points
        >>> model = unbend.Isomap(n_neighbors=8).fit(roll)
        >>> bool(model.outlyingness(roll + 0.01).max() < 5)
        True
        >>> bool(model.outlyingness([[1e4, 0.0, 0.0]])[0] > 1000)
        True
        """
        check_is_fitted(self)
        return self._outlyingness(X)

    def _place(self, X: Any) -> tuple[FloatArray, FloatArray | None]:
        """Coordinates of new samples, and their outlyingness where it costs nothing more."""
        return self._extension(self._as_stored(self._new_rows(X))), None

    def _outlyingness(self, X: Any) -> FloatArray:
        if (getattr(self, "metric", ""), getattr(self, "kernel", "")) in SIMILARITIES:
            raise UndefinedScore(
                "outlyingness needs distances, and similarities give none: pass points"
            )
        space: Space = self._space
        new = self._as_stored(new_rows(self, X, space))
        return score_rows(*space.nearest_of(new, min(COMPARED, space.n)), space.spacing)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Reconstruct rows from coordinates.

        Parameters
        ----------
        X : array (m, n_components)
            Coordinates.

        Returns
        -------
        array (m, n_features)
            Exact for linear methods on the fitted subspace; for the others each row is a
            combination of the rows whose coordinates are nearest, with barycentric weights.
        """
        check_is_fitted(self)
        if self._preimage is None:
            raise ValueError(
                f"{type(self).__name__} was fitted to distances, so there are no rows to "
                "reconstruct: fit it to points"
            )
        coordinates = check_rows(X, min_rows=1, new=True)
        width = self.embedding_.shape[1]
        if coordinates.shape[1] != width:
            raise ValueError(f"X has {coordinates.shape[1]} columns and the embedding has {width}")
        return np.asarray(self._preimage(coordinates), dtype=self.embedding_.dtype)

    def score(self, X: Any, y: None = None) -> float:
        """Neighbourhood preservation of the embedding of X, corrected for chance.

        The criterion is `unbend.quality.neighborhood_preservation` with ten neighbours: among the
        rows of X, which are best held out of the fit, or with ``metric="precomputed"`` among the
        fitted rows. 1 is perfect and 0 as good as chance, so `GridSearchCV` can use it. It
        judges neighbourhoods only: between numbers of components, more is nearly always better.

        Parameters
        ----------
        X : array (m, n_features)
            Rows, as for `transform`; at least three.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        float
            At most 1.
        """
        return _preserved_neighbors(self, X)

    @contextmanager
    def _fitting(self) -> Iterator[Report]:
        """Validate parameters and record a fit."""
        check_parameters(self)
        with recording(type(self).__name__) as report:
            yield report

    def _keep(
        self,
        report: Report,
        embedding: FloatArray,
        dtype: np.dtype[Any],
        extension: Extension,
        preimage: Extension | Deferred | None,
        **fitted: Any,
    ) -> None:
        """Set the fitted attributes."""
        self._forget_file()
        self.embedding_ = embedding.astype(dtype)
        self.report_ = report
        self._extension = extension
        for name, value in {"_preimage": preimage, **fitted}.items():
            if isinstance(value, Deferred):
                self._defer(name, value)
            else:
                setattr(self, name, value)

    def _passes(self, columns: Any) -> Any:
        """Return columns of a kernel, summed over more rows where X is a sample of these."""
        return vars(self).get("_all_rows", lambda own: own)(columns)

    def _check_dimension(self, n: int) -> None:
        """Refuse more coordinates than n objects can span."""
        check_integer("n_components", self.n_components, 1, n - 1, f"with {n} rows")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metric = getattr(self, "metric", None)
        tags.input_tags.pairwise = metric in ("precomputed", "kernel", "affinity")
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


@declare
class SpectralEmbedding(Embedding):
    """Abstract: an embedding by eigenvectors."""

    @property
    def next_eigenvalue_(self) -> float:
        """The solver's estimate of the first eigenvalue left out; NaN where there is none."""
        check_is_fitted(self)
        return float(self._next_eigenvalue)


def _preserved_neighbors(estimator: Any, X: Any) -> float:
    """Share of neighbours preserved, corrected for chance: R_NX at ten neighbours."""
    # Imported when a score is asked for: fits need none of it.
    from unbend.quality.ranks import agreement

    check_is_fitted(estimator)
    refuse_dask(X, instead="unbend.scale.measure_quality")
    metric = getattr(estimator, "metric", "euclidean")
    if metric in ("kernel", "affinity"):
        raise ValueError(
            f"score needs points or distances, and metric={metric!r} has neither: pass points"
        )
    if metric == "precomputed" and (is_sparse(X) or is_graph(X)):
        raise ValueError(
            "score needs all distances to the fitted rows and a graph has those of some: pass a "
            "dense matrix, such as unbend.graphs.geodesics of the graph"
        )
    placed = np.asarray(estimator.transform(X), dtype=np.float64)
    if metric == "precomputed":
        fitted = np.asarray(estimator.embedding_, dtype=np.float64)
        k = min(NEIGHBORS, len(fitted) - 1)
        before, _ = smallest(np.ascontiguousarray(X, dtype=np.float64), k)
        after, _ = PointSpace(fitted).nearest_of(placed, k)
        return float(agreement(before, after, len(fitted)).mean())
    rows = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64, order="C")
    if len(rows) < 3:
        raise ValueError(f"score compares neighbours among at least 3 rows, but X has {len(rows)}")
    k = min(NEIGHBORS, len(rows) - 2)
    before = _space(estimator, rows).nearest(k).indices.reshape(-1, k)
    after = PointSpace(placed).nearest(k).indices.reshape(-1, k)
    return float(agreement(before, after, len(rows) - 1).mean())


def _space(estimator: Any, rows: FloatArray) -> Space:
    """Rows under the metric that the estimator was fitted with."""
    neighborhoods = vars(estimator).get("_neighborhoods")
    space = None if neighborhoods is None else neighborhoods.space
    return PointSpace(rows, space.metric) if isinstance(space, PointSpace) else PointSpace(rows)
