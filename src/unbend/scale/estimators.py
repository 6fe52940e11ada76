"""Estimators of Dask collections, with the names and parameters of those in `unbend`."""

import dataclasses
import os
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unbend.arrays import FloatArray, IntArray
from unbend.atomic import atomic_fit
from unbend.eigen import Nystrom, column_solver
from unbend.estimators.landmarks import landmarks_of_space
from unbend.lazy import is_dask
from unbend.neighbors import PointSpace
from unbend.registry import CLUSTERINGS, METHODS, Entry
from unbend.report import Report, note, recording, stage, warn
from unbend.scale.blocks import sample_numbers
from unbend.scale.collections import LazyRows, open_rows, take_labels
from unbend.scale.columns import LazyColumns
from unbend.scale.graphs import RemoteModel, fit_graph
from unbend.scale.mapping import map_rows
from unbend.scale.representativeness import Agreement, compare_halves, preserved_share
from unbend.scale.spectral import BlockModel
from unbend.validation.parameters import (
    NOTHING,
    Choice,
    Integer,
    check_parameters,
    declare,
    param,
)
from unbend.validation.random_state import generator

# Rows of a sample, where the cost of a method grows faster than about m log m.
SAMPLES = {"Isomap": 5000, "MVU": 500, "LandmarkMVU": 5000, "MetricMDS": 2000, "NonmetricMDS": 1000}
SAMPLE = 20_000
# Methods that fit all rows in one pass, and those whose graph of all rows one worker can solve.
EXACT = ("PCA", "RandomProjection")
GRAPHS = ("LaplacianEigenmaps", "DiffusionMaps", "SpectralClustering")
# Rows among which a farthest-first sample is chosen, for each of its rows.
AMONG = 4
# A loss of preserved neighbours, and a disagreement of halves, from which on a fit warns.
LARGE_LOSS, LARGE_DISAGREEMENT = 0.1, 0.1


class ScaledEstimator(BaseEstimator):
    """Abstract: an estimator of a Dask collection; `local_` is the plain one, fitted.

    Attributes
    ----------
    local_ : estimator
        The fitted estimator of `unbend` with the same name: save it, or transform arrays.
    report_ : Report
        What was done, with the tier: 'exact', 'sample' or 'graph'.
    """

    entry: ClassVar[Entry]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the rows of a collection.

        Parameters
        ----------
        X : Dask array or data frame, or path of a folder of Parquet or Zarr
            Rows.
        y : array or Dask array or series (n_samples,), optional
            Classes, for supervised methods only.

        Returns
        -------
        self
        """
        raise NotImplementedError

    def transform(self, X: Any, **options: Any) -> Any:
        """Embed rows, lazily: same partitions, order and index; rows in memory at once.

        Parameters
        ----------
        X : Dask array or data frame, path of a folder, or array (m, n_features)
            Rows.
        **options
            As for `transform` of the plain estimator.

        Returns
        -------
        Dask array or data frame, or array
        """
        return self._apply("transform", X, options)

    def inverse_transform(self, X: Any) -> Any:
        """Reconstruct rows from coordinates, lazily as `transform`.

        Parameters
        ----------
        X : Dask array or data frame, path of a folder, or array (m, n_components)
            Coordinates.

        Returns
        -------
        Dask array or data frame, or array
        """
        return self._apply("inverse_transform", X, {})

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to X and return its coordinates, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or path of a folder
            Rows.
        y : array, optional
            As for `fit`.

        Returns
        -------
        Dask array or data frame
        """
        return self.fit(X, y).transform(X)

    def predict(self, X: Any) -> Any:
        """Assign rows to the clusters, lazily as `transform`; of clusterings only.

        Parameters
        ----------
        X : Dask array or data frame, path of a folder, or array (m, n_features)
            Rows.

        Returns
        -------
        Dask array or series, or array
        """
        return self._apply("predict", X, {})

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write `local_` to a file, which `unbend.load` reads; as `save` of the plain estimator.

        Parameters
        ----------
        path : path
            The file.
        **options
            As for `save` of the plain estimator.
        """
        check_is_fitted(self)
        self.local_.save(path, **options)

    def _apply(self, method: str, X: Any, options: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if not hasattr(self.entry.load(), method):
            raise AttributeError(f"{self.entry.class_name} has no method {method!r}")
        if is_dask(X) or isinstance(X, str) or hasattr(X, "__fspath__"):
            if isinstance(self._local, BlockModel):
                self._local.fetch()
            return map_rows(self._local, method, X, **options)
        return getattr(self.local_, method)(X, **options)

    @property
    def local_(self) -> Any:
        """The plain estimator, fitted; one of the graph of all rows is fetched from its worker."""
        check_is_fitted(self)
        remote = isinstance(self._local, RemoteModel | BlockModel)
        return self._local.fetch() if remote else self._local

    def _make_local(self) -> Any:
        """Return the plain estimator, unfitted, with the parameters of this one."""
        kind = self.entry.load()
        names = [field.name for field in dataclasses.fields(kind)]
        return kind(**{name: getattr(self, name) for name in names})

    def _keep(self, report: Report, rows: LazyRows, local: Any) -> None:
        self.report_, self._local, self._rows = report, local, rows


class ExactEstimator(ScaledEstimator):
    """Abstract: a method that fits all rows exactly."""

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to all rows; see `ScaledEstimator.fit`."""
        rows = open_rows(self, X)
        local = self._make_local().fit(rows.collection)
        local.report_.stages[0].facts["tier"] = "exact"
        self._keep(local.report_, rows, local)
        return self


class SampledEstimator(ScaledEstimator):
    """Abstract: fitted on a sample of the rows, and extended to the others.

    Attributes
    ----------
    sample_ : array (m,)
        Numbers of the rows of the fit, ascending.
    held_out_ : Agreement or None
        Neighbourhood preservation of further rows, and disagreement of two halves of the sample.
    """

    sample: int | None
    sampling: str
    held_out: int
    graph_solver: str
    random_state: Any
    sample_: IntArray
    held_out_: Agreement | None

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a sample of the rows; see `ScaledEstimator.fit`."""
        check_parameters(self)
        name = self.entry.class_name
        refuse_pairwise(self)
        with recording(name) as report:
            rows = open_rows(self, X)
            if self.sample is None:
                self.sample_, self.held_out_ = np.arange(0), None
                local = self._fit_graph(rows)
            else:
                local = self._fit_sample(rows, y)
        whole = report
        if not isinstance(local, BlockModel):
            whole = local.header.report_ if isinstance(local, RemoteModel) else local.report_
            whole.stages[:0] = report.stages
            whole.warnings[:] = dict.fromkeys((*whole.warnings, *report.warnings))
        self._keep(whole, rows, local)
        return self

    @property
    def embedding_(self) -> Any:
        """Coordinates of all rows, lazily, with ``sample=None``; otherwise use `transform`."""
        return self._of_all_rows("embedding_")

    @property
    def labels_(self) -> Any:
        """Clusters of all rows, lazily, with ``sample=None``; otherwise use `predict`."""
        return self._of_all_rows("labels_")

    def _of_all_rows(self, name: str) -> Any:
        local = vars(self).get("_local")
        if not isinstance(local, RemoteModel | BlockModel) or not hasattr(local.header, name):
            raise AttributeError(
                f"{name} of all rows is known after a fit with sample=None: use transform"
            )
        return local.collect(name, self._rows)

    def _fit_graph(self, rows: LazyRows) -> Any:
        if self.entry.class_name not in GRAPHS:
            raise ValueError(
                f"sample=None asks for an exact {self.entry.class_name} of all rows, which needs "
                "them in one memory. Give a sample, such as sample=20_000, or use "
                f"{', '.join(GRAPHS)} with sample=None, whose graph one worker solves."
            )
        return fit_graph(self._make_local(), rows, self.graph_solver)

    def _fit_sample(self, rows: LazyRows, y: Any) -> Any:
        with stage("sample"):
            own, further = self._choose(rows)
            note(tier="sample", rows=rows.n, sample=len(own), held_out=len(further))
            taken = rows.take(np.concatenate((own, further)))
        classes = None if y is None else take_labels(y, rows, own)
        points, others = taken[: len(own)], taken[len(own) :]
        local = self._make_local()
        if uses_columns(local):
            local._all_rows = lambda columns: LazyColumns(columns, rows)
        _fit_named(local, points, classes, rows)
        vars(local).pop("_all_rows", None)
        self.sample_ = own
        self.held_out_ = None if not len(others) else self._judge(local, points, others, classes)
        return local

    def _choose(self, rows: LazyRows) -> tuple[IntArray, IntArray]:
        """Numbers of the rows of the fit, and of further ones to judge it by, ascending."""
        n, rng = rows.n, generator(self.random_state)
        seed = int(rng.integers(2**63))
        count = min(n, self.sample or n)
        among = min(n, AMONG * count) if self.sampling == "farthest" else count
        numbers = sample_numbers(n, min(n, among + self.held_out), seed)
        own, further = np.sort(numbers[:among]), np.sort(numbers[among:])
        if among > count:
            space = PointSpace(rows.take(own).astype(np.float64))
            own = own[landmarks_of_space("maxmin", count, space, rng)]
        return own, further

    def _judge(self, local: Any, points: FloatArray, others: FloatArray, classes: Any) -> Agreement:
        """Measure what the sample says of other rows, and warn where that is little."""
        with stage("held out"):
            shares = preserved_share(local, points, others)
            disagreement = compare_halves(self._make_local(), points, others, classes)
            found = Agreement(*shares, disagreement)
            note(**dataclasses.asdict(found))
            if found.fitted - found.preserved > LARGE_LOSS:
                warn(
                    f"Held-out rows keep {found.preserved:.2f} of their neighbours in the sample "
                    f"and fitted rows {found.fitted:.2f}: the sample misses part of the data. "
                    "Increase sample."
                )
            if found.disagreement > LARGE_DISAGREEMENT:
                warn(
                    f"Two halves of the sample place held-out rows differently: "
                    f"{100 * found.disagreement:.0f} % of the variance remains after alignment. "
                    "Increase sample or n_neighbors, or lower n_components."
                )
        return found


def uses_columns(local: Any) -> bool:
    """Whether a method sums m columns of its kernel over all rows."""
    if type(local).__name__ == "LandmarkMDS":
        return True
    solver = column_solver(getattr(local, "eigen_solver", None))
    if type(local).__name__ in ("KernelPCA", "ClassicalMDS"):
        return solver is not None
    eigenmaps = type(local).__name__ == "LaplacianEigenmaps"
    return eigenmaps and solver is not None and local.n_neighbors is local.radius is None


def refuse_pairwise(estimator: Any) -> None:
    """Refuse matrices of distances or similarities, whose columns are as many as the rows."""
    for name in ("metric", "kernel"):
        value = getattr(estimator, name, None)
        if isinstance(value, str) and value in ("precomputed", "affinity", "kernel"):
            raise ValueError(
                f"{name}={value!r} needs a matrix of all pairs. Pass rows, with another {name}."
            )


def _fit_named(local: Any, points: FloatArray, classes: Any, rows: LazyRows) -> None:
    """Fit rows in memory, with the names of their columns in the collection."""
    X: Any = points
    if hasattr(rows.collection, "columns"):
        X = type(rows.collection._meta)(points, columns=rows.collection.columns)
    local.fit(X) if classes is None else local.fit(X, classes)


EXAMPLE = """Examples
--------
>>> import dask.array as da
>>> import unbend
>>> roll = unbend.datasets.swiss_roll(200, random_state=0)
>>> rows = da.from_array(roll.points, chunks=(100, 3))
{prepared}>>> model = unbend.scale.{name}({parameters}).fit({fitted})
>>> model.{method}(rows).compute().shape
{shape}
"""


def _example(name: str) -> str:
    """Write an example that fits a collection of two partitions."""
    labelled = name == "SupervisedLLE"
    prepared = ">>> classes = da.from_array((roll.chart[:, 0] > 60).astype(int), chunks=100)\n"
    clusters = name == "SpectralClustering"
    return EXAMPLE.format(
        name=name,
        prepared=prepared if labelled else "",
        fitted="rows, classes" if labelled else "rows",
        parameters={"RandomProjection": "n_components=2", "SpectralClustering": "n_clusters=3"}.get(
            name, ""
        ),
        method="predict" if clusters else "transform",
        shape="(200,)" if clusters else "(200, 2)",
    )


def _make_class(entry: Entry) -> type:
    """Make the class of a method from the declarations of the plain one."""
    local = entry.load()
    sampled = entry.class_name not in EXACT
    fields = {
        field.name: dataclasses.field(
            default=field.default, metadata=field.metadata, kw_only=field.kw_only
        )
        for field in dataclasses.fields(local)
    }
    if entry.class_name in ("KernelPCA", "ClassicalMDS"):
        solver = next(f for f in dataclasses.fields(local) if f.name == "eigen_solver")
        fields["eigen_solver"] = dataclasses.field(default=Nystrom(500), metadata=solver.metadata)
    if sampled:
        fields |= _sample_parameters(entry.class_name)
    base = SampledEstimator if sampled else ExactEstimator
    title = f"{entry.title} of a Dask collection; see `unbend.{entry.class_name}`."
    text = f"{title}\n\n{base.__doc__}\n\n{_example(entry.class_name)}"
    namespace = {
        "__annotations__": dict.fromkeys(fields, Any),
        "__doc__": text.replace("Abstract: a", "A").replace("Abstract: f", "F"),
        "__module__": "unbend.scale",
        "entry": entry,
        **fields,
    }
    return declare(type(entry.class_name, (base,), namespace))


def _sample_parameters(name: str) -> dict[str, Any]:
    """Declare the parameters of a sample; `random_state` where the method has none."""
    all_rows = " None: the graph of all rows; see graph_solver." if name in GRAPHS else ""
    solver = param(
        "auto",
        Choice("auto", "gathered", "distributed"),
        help="With sample=None, where the graph is solved: 'gathered' on one worker, 'distributed' "
        "on all by block Lanczos, for intrinsic dimensions of five and more; 'auto': gathered if "
        "it fits in the memory of a worker.",
    )
    return {
        **({"graph_solver": solver} if name in GRAPHS else {}),
        "sample": param(
            SAMPLES.get(name, SAMPLE),
            Integer(2),
            NOTHING,
            help="Rows of the fit, the same for any partitioning; the others are placed by the "
            f"out-of-sample extension.{all_rows}",
        ),
        "sampling": param(
            "hash",
            Choice("hash", "farthest"),
            help="Rows with the smallest hashes of their number, or, among four times as many of "
            "these, each farthest from those before.",
        ),
        "held_out": param(
            2000,
            Integer(0),
            help="Further rows by which the fit is judged; 0 saves two fits of half the sample.",
        ),
    }


CLASSES = {entry.class_name: _make_class(entry) for entry in (*METHODS, *CLUSTERINGS)}
