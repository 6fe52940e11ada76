"""A table and its embeddings, measured once for the page."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.io import Table
from unbend.io.reading import open_table
from unbend.io.table import Frame, Roles, fill_missing
from unbend.plot.colors import Labels, coloring
from unbend.prepare import Prepare
from unbend.prepare.frames import PreparedFrame, prepare_frame
from unbend.quality import Measure, neighborhood_hit, trustworthiness
from unbend.quality.measure import sample_rows
from unbend.report import stage
from unbend.selection import choose_dimension, compare, stability, suggest
from unbend.selection.comparison import Comparison, Trial
from unbend.selection.dimensions import DimensionChoice
from unbend.selection.suggestion import Suggestion

# Neighbours that the measures look at, and fits to parts of the rows.
NEIGHBORS, RESAMPLES = 10, 5
LEAST_ROWS = 30
# How advice takes the rows studied: points whose columns are prepared.
AS_IT_IS: dict[str, Any] = {"metric": "euclidean", "scale": "none"}
# Bars of the small histogram of a column.
BARS = 16


@dataclass(frozen=True, eq=False)
class Column:
    """A column before missing values were imputed.

    Attributes
    ----------
    name : str
        As the table has it.
    missing : int
        Number of missing values.
    least, mean, most, deviation : float
        Of the other values; NaN where there is none.
    share : float
        Its share of the total variance, and so of squared distances.
    bars : array (16,)
        Counts of values in equal steps from the least to the most.
    kind : str
        Numeric, or another kind of `unbend.prepare`; then only the missing values are counted.
    """

    name: str
    missing: int
    least: float
    mean: float
    most: float
    deviation: float
    share: float
    bars: FloatArray
    kind: str = "numeric"

    @property
    def constant(self) -> bool:
        """Whether all its values are equal."""
        text = np.isnan(self.mean) and self.kind not in ("numeric", "constant")
        return not text and not self.least < self.most


def describe_columns(table: Table) -> list[Column]:
    """Describe the columns of a table that may have missing values.

    Examples
    --------
    >>> from unbend.io import read
    >>> first, second = describe_columns(read({"a": [1.0, 3.0], "b": [7.0, 7.0]}))
    >>> (first.mean, first.share, first.constant), second.constant
    ((2.0, 1.0, False), True)
    """
    values = np.asarray(table.values, dtype=np.float64)
    variances = [_variance(column[np.isfinite(column)]) for column in values.T]
    total = sum(variances) or 1.0
    return [
        _column(name, column, variance / total)
        for name, column, variance in zip(table.columns, values.T, variances, strict=True)
    ]


def describe_frame(frame: Frame, preparation: Prepare) -> list[Column]:
    """Describe columns of any kind: numbers by their distribution, others by their kind."""
    kinds = {column.name: column for column in preparation.columns_}
    numeric = [name for name, column in frame.columns.items() if column.dtype.kind in "biuf"]
    numbers = describe_columns(frame.select(numeric).to_table()) if numeric else []
    described = {column.name: column for column in numbers}
    return [
        replace(described[name], kind=kinds[name].kind)
        if name in described
        else Column(
            name, kinds[name].missing, *(np.nan,) * 4, 0.0, np.zeros(BARS), kinds[name].kind
        )
        for name in frame.columns
    ]


def _variance(known: FloatArray) -> float:
    return float(known.var()) if len(known) else 0.0


def _column(name: str, values: FloatArray, share: float) -> Column:
    known = values[np.isfinite(values)]
    missing = int(np.isnan(values).sum())
    if not len(known):
        return Column(name, missing, *(np.nan,) * 4, share, np.zeros(BARS))
    least, most = float(known.min()), float(known.max())
    # Bounds given as floats far apart may overflow their difference, and equal ones have none.
    bars = np.zeros(BARS)
    if least < most and np.isfinite(most - least):
        bars = np.histogram(known, BARS, (least, most))[0].astype(np.float64)
    return Column(name, missing, least, float(known.mean()), most, float(known.std()), share, bars)


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
        Methods in two dimensions, with the neighbours of the suggestion.
    trust : Measure, or None
        Trustworthiness of the best embedding, of each of its points.
    spread : Measure, or None
        How far resampling moves its points; None where a resample could not be embedded.
    hit : Measure, or None
        Neighbourhood hit of the data themselves, where there are classes.
    prepared : PreparedFrame, or None
        How columns became features; None for arrays, images and texts.
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

    @property
    def best(self) -> Trial | None:
        """The first trial, or None where all failed."""
        first = self.comparison.trials[0]
        return None if first.failure else first

    @property
    def neighbors(self) -> int:
        """Neighbours that the methods take."""
        return self.suggestion.findings.n_neighbors

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the page."""
        return {
            "rows": self.rows,
            "studied": len(self.table),
            "missing": sum(column.missing for column in self.columns),
            "constant": [column.name for column in self.columns if column.constant],
            "duplicates": self.duplicates,
            "dimension": self.dimension.dimension,
            "dimension_verdict": self.dimension.verdict,
            "votes": dict(self.dimension.votes),
            "suggestion": str(self.suggestion.estimator),
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
    scale: str = "auto",
    kinds: dict[str, str] | None = None,
    categories: str = "onehot",
) -> Study:
    """Measure a table and embed it by several methods.

    Parameters
    ----------
    source, label, id, ignore, missing, array, separator
        As for `unbend.io.read`; missing values are counted before they are imputed.
    max_rows : int
        Larger tables are studied by a random sample of so many rows.
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
    (2, 8)
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
        read = _read(source, Roles(label, id, names), preparation, array, separator)
    request = Request(
        name or read.where,
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
        return _measure(request, read, table, n_jobs)


def _measure(request: Request, read: "_Read", table: Table, n_jobs: int | None) -> Study:
    X = np.asarray(table.values, dtype=np.float64)
    random_state = request.random_state
    # The columns are prepared already.
    suggestion = suggest(X, n_rows=len(read.whole), random_state=random_state, **AS_IT_IS)
    classes = classes_of(table.label)
    comparison = compare(
        X,
        parameters={"n_neighbors": [suggestion.findings.n_neighbors]},
        labels=classes,
        n_neighbors=NEIGHBORS,
        n_jobs=n_jobs,
        **AS_IT_IS,
    )
    best = comparison.trials[0]
    found = best.embedding
    return Study(
        request=request,
        columns=read.columns,
        rows=read.rows,
        kept=len(read.whole),
        duplicates=len(X) - len(np.unique(X, axis=0)),
        table=table,
        dimension=choose_dimension(X, **AS_IT_IS),
        suggestion=suggestion,
        comparison=comparison,
        trust=None if found is None else trustworthiness(X, found, n_neighbors=NEIGHBORS),
        spread=None if found is None else _spread(best.estimator, X, random_state),
        hit=None if classes is None else neighborhood_hit(X, classes, n_neighbors=NEIGHBORS),
        prepared=read.prepared,
    )


def classes_of(label: Any) -> Any:
    """Return a class for each row, or None where there is no label or it holds values."""
    if label is None:
        return None
    colors = coloring(label, len(label))
    return np.array(colors.text) if isinstance(colors, Labels) else None


@dataclass(frozen=True, eq=False)
class _Read:
    """All rows as numbers, and their columns as they were before."""

    whole: Table
    columns: list[Column]
    rows: int
    where: str
    prepared: PreparedFrame | None = None


def _read(
    source: Any, roles: Roles, preparation: Prepare, array: str | None, separator: str | None
) -> _Read:
    """Read a table and prepare its columns; arrays, and what was read, have one unit."""
    reader = None
    if not isinstance(source, Table):
        reader = open_table(source, array=array, separator=separator)
        roles = roles.resolve(reader.names, reader.where)
        given = preparation.get_params()
        special = given["scale"] != "auto" or given["kinds"] or given["categories"] != "onehot"
        if reader.tabular or special:
            (frame,) = reader.frames(roles, None)
            made = prepare_frame(frame, preparation)
            columns = describe_frame(frame, preparation)
            return _Read(made.table, columns, len(frame), reader.where, made)
    raw = source if reader is None else next(iter(reader.tables(roles, None)))
    where = "the table" if reader is None else reader.where
    missing = "refuse" if preparation.missing == "error" else preparation.missing
    return _Read(fill_missing(raw, missing, where), describe_columns(raw), len(raw), where)


def _chosen(rows: IntArray, n: int) -> BoolArray:
    chosen = np.zeros(n, dtype=bool)
    chosen[rows] = True
    return chosen


def _spread(estimator: Any, X: Any, random_state: int) -> Measure | None:
    try:
        return stability(estimator, X, n_resamples=RESAMPLES, random_state=random_state)
    except ValueError:
        return None
