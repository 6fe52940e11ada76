"""A table and its embeddings, measured once for the page."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unbend.apps.study.columns import Column, describe_columns, describe_frame
from unbend.arrays import BoolArray, IntArray
from unbend.io import Table
from unbend.io.reading import TableReader, TableSample, fit_in_memory, open_table
from unbend.io.table import Roles, fill_missing
from unbend.plot.colors import Labels, coloring
from unbend.prepare import Prepare
from unbend.prepare.frames import PreparedFrame, holds_distances, prepare_frame
from unbend.quality import Measure, neighborhood_hit, trustworthiness
from unbend.quality.measure import sample_rows
from unbend.report import stage
from unbend.selection import choose_dimension, compare, stability, suggest
from unbend.selection.case import LOCAL
from unbend.selection.comparison import USUAL, Comparison, Trial
from unbend.selection.dimensions import DimensionChoice
from unbend.selection.inputs import make_method
from unbend.selection.judging import degeneracy
from unbend.selection.suggestion import Suggestion
from unbend.validation.distances import is_distances

# Neighbours that the measures look at, and fits to parts of the rows.
NEIGHBORS, RESAMPLES = 10, 5
LEAST_ROWS = 30
# How advice takes the rows studied: points whose columns are prepared.
AS_IT_IS: dict[str, Any] = {"metric": "euclidean", "scale": "none"}


@dataclass(frozen=True)
class Origin:
    """Data that were no table before they were read, and how to read them again.

    Attributes
    ----------
    row, column : str
        What a row is called, and a column: a document, and a term.
    options : str
        Options of the commands, each after a space.
    code : str
        Python that gives something with `values` and `label`.
    chosen : str
        What follows the chosen rows of those values to make an array.
    size : tuple of int, or None
        Height and width of images, and 3 where they have colours.
    """

    row: str
    column: str
    options: str
    code: str
    chosen: str = ""
    size: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Request:
    """How a table was read and sampled: what the commands on the page repeat."""

    source: str
    label: str | None
    id: str | None
    ignore: tuple[str, ...]
    missing: str
    max_rows: int
    random_state: int
    array: str | None = None
    origin: Origin | None = None
    separator: str | None = None
    scale: str = "auto"
    kinds: dict[str, str] | None = None
    categories: str = "onehot"
    encoding: str | None = None


@dataclass(frozen=True, eq=False)
class Study:
    """Measurements of a table and of its embeddings.

    Attributes
    ----------
    request : Request
        How it was read.
    columns : list of Column
        The columns of numbers, before missing values were imputed.
    rows : int
        Rows of the table before missing values were imputed.
    kept : int
        Rows after that; `table` is sampled from them.
    duplicates : int
        Duplicate rows, among those studied.
    table : Table
        The rows studied.
    dimension : DimensionChoice
        Intrinsic dimension.
    suggestion : Suggestion
        Which method, and why.
    comparison : Comparison
        Methods in two dimensions, the suggested ones with the parameters of the suggestion.
    methods : list of str
        Those compared; empty if they are the usual ones.
    tried : dict of str to list
        Their parameters, as `compare` takes them.
    trust : Measure, or None
        Trustworthiness of the recommended embedding, of each of its points.
    spread : Measure, or None
        How far resampling moves its points; None where a resample could not be embedded.
    hit : Measure, or None
        Neighbourhood hit of the data themselves, where there are classes.
    prepared : PreparedFrame, or None
        How columns became features; None for arrays, images and texts.
    sample : TableSample, or None
        Where the rows came from, of a table that is larger than memory.
    """

    request: Request
    columns: list[Column]
    rows: int
    kept: int
    duplicates: int
    table: Table
    dimension: DimensionChoice
    suggestion: Suggestion
    comparison: Comparison
    trust: Measure | None
    spread: Measure | None
    hit: Measure | None
    prepared: PreparedFrame | None = None
    sample: TableSample | None = None
    methods: list[str] = field(default_factory=list)
    tried: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def best(self) -> Trial | None:
        """The trial that ranks first, or None where all failed."""
        first = self.comparison.trials[0]
        return None if first.failure else first

    @property
    def suggested(self) -> Trial:
        """The trial of the suggested method."""
        return _trial_of(self.suggestion, self.comparison)

    @property
    def recommended(self) -> Trial | None:
        """The suggested method, or the first one where that failed or its picture shows nothing."""
        return _recommend(self.suggestion, self.comparison)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the page."""
        return {
            "rows": self.rows,
            "total": self.rows if self.sample is None else self.sample.total,
            "studied": len(self.table),
            "missing": sum(column.missing for column in self.columns),
            "constant": [column.name for column in self.columns if column.constant],
            "duplicates": self.duplicates,
            "dimension": self.dimension.dimension,
            "dimension_verdict": self.dimension.verdict,
            "votes": dict(self.dimension.votes),
            "suggestion": str(self.suggestion.estimator),
            "recommended": None if self.recommended is None else self.recommended.title,
            "reasons": self.suggestion.reasons,
            "measures": {trial.title: dict(trial.measures) for trial in self.comparison.trials},
            "failures": {t.title: t.failure for t in self.comparison.trials if t.failure},
            "stability": None if self.spread is None else float(self.spread),
            "neighborhood_hit_of_data": None if self.hit is None else float(self.hit),
        }


def study(
    source: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    ignore: Iterable[str] = (),
    missing: str = "median",
    max_rows: int = 2000,
    random_state: int = 0,
    n_jobs: int | None = None,
    name: str | None = None,
    array: str | None = None,
    origin: Origin | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    scale: str = "auto",
    kinds: dict[str, str] | None = None,
    categories: str = "onehot",
) -> Study:
    """Measure a table and embed it by several methods.

    Parameters
    ----------
    source, label, id, ignore, missing, array, separator, encoding
        As for `unbend.io.read`; missing values are counted before they are imputed.
    max_rows : int
        Larger tables are studied by a random sample of so many rows. A table larger than memory is
        not read whole: `unbend.io.sample_table` draws 100 000 rows, or `max_rows` if that is more.
    random_state : int
        Random seed.
    n_jobs : int, optional
        Number of methods that run at the same time, in threads: -1 means all available cores, -2
        all but one. At most four per core are started.
    name : str, optional
        What to call the table; by default its path.
    origin : Origin, optional
        What the rows were, where `source` is a `Table` of images, texts or the like.
    scale, kinds, categories
        As for `unbend.Prepare`, which makes features of the columns of a table; arrays and
        mappings of columns that are not files or data frames stay as they are by default.

    Returns
    -------
    Study
        What `unbend.apps.study.page_html` makes a page of.

    Examples
    --------
    >>> import unbend
    >>> found = study(unbend.datasets.swiss_roll(400, random_state=0).points)
    >>> found.dimension.dimension, len(found.comparison.trials)
    (2, 10)
    """
    names = tuple(ignore)
    with stage("reading"):
        preparation = Prepare(
            scale=scale,
            missing="error" if missing == "refuse" else missing,
            categories=categories,
            kinds=kinds,
            weights=None,
        )
        where, sample = "the table", None
        if not isinstance(source, Table):
            source = open_table(source, array=array, separator=separator, encoding=encoding)
            where = source.where
            source, sample = fit_in_memory(source, max_rows, random_state)
        read = _read(source, Roles(label, id, names), preparation)
    request = Request(
        name or where,
        read.whole.label_name,
        id,
        names,
        missing,
        max_rows,
        random_state,
        array,
        origin,
        separator,
        scale,
        kinds,
        categories,
        encoding,
    )
    whole = read.whole
    rows = sample_rows(len(whole), max_rows, random_state)
    table = whole.take(_chosen(rows, len(whole)))
    if table.shape[1] < 2:
        raise ValueError(f"{request.source} has one column of numbers: there is nothing to reduce")
    if len(table) < LEAST_ROWS:
        raise ValueError(f"{request.source} has {len(table)} rows: a study needs {LEAST_ROWS}")
    with warnings.catch_warnings():
        # Warnings of the fits are kept with them, and shown on the page.
        warnings.simplefilter("ignore")
        return replace(_measure(request, read, table, n_jobs), sample=sample)


def _measure(request: Request, read: "_Read", table: Table, n_jobs: int | None) -> Study:
    X = np.asarray(table.values, dtype=np.float64)
    random_state = request.random_state
    # The columns are prepared already.
    suggestion = suggest(X, n_rows=len(read.whole), random_state=random_state, **AS_IT_IS)
    classes = classes_of(table.label)
    methods, tried = _plan(suggestion)
    comparison = compare(
        X,
        methods or None,
        parameters=tried,
        labels=classes,
        n_neighbors=NEIGHBORS,
        n_jobs=n_jobs,
        **AS_IT_IS,
    )
    chosen = _recommend(suggestion, comparison)
    found = None if chosen is None else chosen.embedding
    return Study(
        request=request,
        columns=read.columns,
        rows=read.rows,
        kept=len(read.whole),
        duplicates=len(X) - len(np.unique(X, axis=0)),
        table=table,
        dimension=comparison.dimension or choose_dimension(X, **AS_IT_IS),
        suggestion=suggestion,
        comparison=comparison,
        methods=methods,
        tried=tried,
        trust=None if found is None else trustworthiness(X, found, n_neighbors=NEIGHBORS),
        spread=None if chosen is None else _spread(chosen.estimator, X, random_state),
        hit=None if classes is None else neighborhood_hit(X, classes, n_neighbors=NEIGHBORS),
        prepared=read.prepared,
    )


def _plan(suggestion: Suggestion) -> tuple[list[str], dict[str, list[Any]]]:
    """Return what `compare` takes so that suggested methods are tried as they were suggested."""
    usual = USUAL["points"]
    name = type(suggestion.estimator).__name__
    methods = [] if name in usual else [*usual, name]
    tried: dict[str, list[Any]] = {}
    k = suggestion.findings.n_neighbors
    for each in LOCAL:
        if each in (methods or usual) and make_method(each).n_neighbors != k:
            tried[f"{each}__n_neighbors"] = [k]
    for estimator in (*suggestion.alternatives, suggestion.estimator):
        kind = type(estimator)
        if kind.__name__ in (methods or usual):
            own, default = estimator.get_params(), kind().get_params()
            changed = {key: own[key] for key in own if own[key] != default[key]}
            changed.pop("n_components", None)
            tried |= {f"{kind.__name__}__{key}": [value] for key, value in changed.items()}
    return methods, tried


def _trial_of(suggestion: Suggestion, comparison: Comparison) -> Trial:
    """Return the trial of the suggested method, which is always among those compared."""
    kind = type(suggestion.estimator)
    return next(trial for trial in comparison.trials if type(trial.estimator) is kind)


def _recommend(suggestion: Suggestion, comparison: Comparison) -> Trial | None:
    """Return the suggested trial, or the first where that failed or shows nothing."""
    own, first = _trial_of(suggestion, comparison), comparison.trials[0]
    if not own.failure and degeneracy(own.measures) <= degeneracy(first.measures):
        return own
    return None if first.failure else first


def classes_of(label: Any) -> Any:
    """Return a class for each row, None where it is missing; None if the label holds values."""
    if label is None:
        return None
    colors = coloring(label, len(label))
    if not isinstance(colors, Labels):
        return None
    # The code −1 of missing labels indexes the last entry.
    return np.array([*colors.names, None], dtype=object)[colors.codes]


@dataclass(frozen=True, eq=False)
class _Read:
    """All rows as numbers, and their columns as they were before."""

    whole: Table
    columns: list[Column]
    rows: int
    prepared: PreparedFrame | None = None


def _read(source: Table | TableReader, roles: Roles, preparation: Prepare) -> _Read:
    """Read a table and prepare its columns; arrays, and what was read, have one unit."""
    missing = "refuse" if preparation.missing == "error" else preparation.missing
    if isinstance(source, Table):
        filled = fill_missing(source, missing, "the table")
        return _Read(filled, describe_columns(source), len(source))
    roles = roles.resolve(source.names, source.where)
    given = preparation.get_params()
    special = given["scale"] != "auto" or given["kinds"] or given["categories"] != "onehot"
    if source.tabular or special:
        (frame,) = source.frames(roles, None)
        _refuse_distances(holds_distances(frame), source.where)
        made = prepare_frame(frame, preparation)
        columns = describe_frame(frame, preparation)
        return _Read(made.table, columns, len(frame), made)
    (raw,) = source.tables(roles, None)
    _refuse_distances(is_distances(raw.values), source.where)
    filled = fill_missing(raw, missing, source.where)
    return _Read(filled, describe_columns(raw), len(raw))


def _refuse_distances(distances: bool, where: str) -> None:
    if distances:
        raise ValueError(
            f"{where} is square and symmetric with a zero diagonal, as distances are, and a study "
            "is of points: embed it with metric='precomputed'"
        )


def _chosen(rows: IntArray, n: int) -> BoolArray:
    chosen = np.zeros(n, dtype=bool)
    chosen[rows] = True
    return chosen


def _spread(estimator: Any, X: Any, random_state: int) -> Measure | None:
    try:
        return stability(estimator, X, n_resamples=RESAMPLES, random_state=random_state)
    except ValueError:
        return None
