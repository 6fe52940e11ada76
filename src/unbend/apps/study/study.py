"""A table and its embeddings, measured once for the page."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.io import Table
from unbend.io.reading import TableReader, TableSample, fit_in_memory, open_table
from unbend.io.table import Frame, Roles, fill_missing
from unbend.plot.colors import Labels, coloring
from unbend.prepare import Prepare
from unbend.prepare.frames import PreparedFrame, holds_distances, prepare_frame, typed_columns
from unbend.prepare.kinds import UNUSED
from unbend.quality import Measure, neighborhood_hit, trustworthiness
from unbend.quality.measure import sample_rows
from unbend.report import stage
from unbend.selection import choose_dimension, compare, stability, suggest
from unbend.selection.comparison import Comparison, Trial
from unbend.selection.dimensions import DimensionChoice
from unbend.selection.suggestion import Suggestion
from unbend.validation.distances import is_distances

# Neighbours that the measures look at, and fits to parts of the rows.
NEIGHBORS, RESAMPLES = 10, 5
LEAST_ROWS = 30
# How advice takes the rows studied: points whose columns are prepared.
AS_IT_IS: dict[str, Any] = {"metric": "euclidean", "scale": "none"}
# Bars of the small histogram of a column.
BARS = 16
# Relative rounding error of the mean of a column.
ROUNDING = 1e-14


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
        Of the other finite values; NaN where there is none. Of dates only the first and the last,
        of anything else nothing.
    share : float
        Its share of the variance of all numbers that are used, before they are scaled; NaN for a
        column that is no number or is left out.
    bars : array (16,)
        Counts of values in equal steps from the least to the most.
    kind : str
        Numeric, or another kind of `unbend.prepare`.
    levels : int
        Number of different values, of a column that is neither numbers nor dates.
    """

    name: str
    missing: int
    least: Any
    mean: float
    most: Any
    deviation: float
    share: float
    bars: FloatArray
    kind: str = "numeric"
    levels: int = 0

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return bool(np.isfinite(self.mean))

    @property
    def constant(self) -> bool:
        """Whether it has no two different values."""
        return self.kind == "constant" or (self.kind == "numeric" and not self.least < self.most)


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
    return _share_variance(
        [_number(name, column) for name, column in zip(table.columns, values.T, strict=True)]
    )


def describe_frame(frame: Frame, preparation: Prepare) -> list[Column]:
    """Describe columns of any kind: numbers and dates by their values, others by their kind."""
    kinds = {column.name: column.kind for column in preparation.columns_}
    columns = (
        _column(name, values, kinds[name])
        for name, values in typed_columns(frame, preparation).items()
    )
    return _share_variance(list(columns))


def _column(name: str, values: Any, kind: str) -> Column:
    if values.dtype.kind == "f":
        return replace(_number(name, values), kind=kind)
    if values.dtype.kind == "M":
        known = values[~np.isnat(values)]
        first, last = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
        missing = len(values) - len(known)
        return Column(name, missing, first, np.nan, last, np.nan, np.nan, np.zeros(BARS), kind)
    held = [value for value in values.tolist() if value is not None]
    missing, levels = len(values) - len(held), len(set(held))
    return Column(name, missing, *(np.nan,) * 5, np.zeros(BARS), kind, levels)


def _number(name: str, values: FloatArray) -> Column:
    known = values[np.isfinite(values)]
    missing = int(np.isnan(values).sum())
    if not len(known):
        return Column(name, missing, *(np.nan,) * 5, np.zeros(BARS))
    least, most = float(known.min()), float(known.max())
    # Bounds given as floats far apart may overflow their difference, and equal ones have none.
    bars = np.zeros(BARS)
    if least < most and np.isfinite(most - least):
        bars = np.histogram(known, BARS, (least, most))[0].astype(np.float64)
    mean = float(known.mean())
    # A mean within its rounding error of zero has no digit that means anything.
    if abs(mean) <= ROUNDING * max(abs(least), abs(most)):
        mean = 0.0
    return Column(name, missing, least, mean, most, float(known.std()), np.nan, bars)


def _share_variance(columns: list[Column]) -> list[Column]:
    """Divide the variance among the columns of numbers that give features."""
    used = [column.numeric and column.kind not in UNUSED for column in columns]
    pairs = zip(columns, used, strict=True)
    total = sum(column.deviation**2 for column, counts in pairs if counts) or 1.0
    return [
        replace(column, share=column.deviation**2 / total) if counts else column
        for column, counts in zip(columns, used, strict=True)
    ]


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
        Methods in two dimensions, with the neighbours of the suggestion.
    trust : Measure, or None
        Trustworthiness of the best embedding, of each of its points.
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
            "total": self.rows if self.sample is None else self.sample.total,
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
    (2, 9)
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
