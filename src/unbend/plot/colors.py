"""Colours of rows by label, by value or by a chart, distinguishable for colour-blind readers."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.datasets import Surface
from unbend.plot.inputs import one_a_row

# Okabe and Ito's palette, low contrast on white last, and two of Tol's colours that differ from all
# of these for colour-blind readers too.
PALETTE = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#E69F00",  # orange
    "#56B4E9",  # sky blue
    "#000000",  # black
    "#F0E442",  # yellow
    "#332288",  # indigo
    "#882255",  # wine
)
GREY = "#B0B0B0"
# A new marker every eight classes, since more colours are hard to distinguish. Names in matplotlib
# and in plotly, which has no others in three dimensions.
EIGHT = 8
MARKERS = (("o", "circle"), ("D", "diamond"), ("s", "square"), ("X", "x"), ("P", "cross"))
MOST_CLASSES = EIGHT * len(MARKERS)
# Integers with at most this many distinct values are labels.
MOST_NUMBERS = 20
MISSING = "missing"
LONGEST_NAME = 24

# Corners of the bivariate colour map: blue to yellow and dark to light, which most colour-blind
# readers distinguish.
CORNERS = np.array(
    [[[0.00, 0.18, 0.45], [0.48, 0.80, 1.00]], [[0.62, 0.22, 0.00], [1.00, 0.84, 0.40]]]
)


@dataclass(frozen=True)
class Group:
    """Rows with one colour and marker: an entry of the legend."""

    name: str
    color: str
    markers: tuple[str, str]
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Plain:
    """All rows in one colour."""

    n: int

    @property
    def text(self) -> list[str] | None:
        """Hover text of each row, if any."""
        return None


@dataclass(frozen=True, eq=False)
class Labels:
    """Classes: `codes` are indices into `names`; −1 is missing."""

    codes: IntArray
    names: tuple[str, ...]
    title: str = ""

    @property
    def text(self) -> list[str]:
        """The label of each row."""
        return [*np.array([*self.names, MISSING], dtype=object)[self.codes]]

    def groups(self) -> list[Group]:
        """Entries of the legend; if there are too many classes, the smallest share one."""
        sizes = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        kept = np.arange(len(self.names))
        if len(kept) > MOST_CLASSES:
            kept = np.sort(np.argsort(-sizes, kind="stable")[: MOST_CLASSES - 1])
        place = np.full(len(self.names) + 1, len(kept))
        place[kept] = np.arange(len(kept))
        # The code −1 of missing labels indexes the last entry.
        place[-1] = len(kept) + 1
        places = place[self.codes]
        order = np.argsort(places, kind="stable")
        bounds = np.searchsorted(places[order], np.arange(len(kept) + 3))
        names = [self.names[number] for number in kept]
        names += [f"{len(self.names) - len(kept)} other classes", MISSING]
        made = [
            Group(
                _short(name),
                *_appearance(number, len(kept)),
                order[bounds[number] : bounds[number + 1]],
            )
            for number, name in enumerate(names)
        ]
        return [group for group in made if len(group.rows)]


@dataclass(frozen=True, eq=False)
class Values:
    """Numbers, not finite where missing."""

    values: FloatArray
    title: str = ""

    @property
    def known(self) -> BoolArray:
        """Rows with a value."""
        return np.isfinite(self.values)

    @property
    def text(self) -> list[str]:
        """The value of each row."""
        return [f"{value:.4g}" if np.isfinite(value) else MISSING for value in self.values]


@dataclass(frozen=True, eq=False)
class Chart:
    """Two coordinates, shown by a bivariate colour map."""

    chart: FloatArray
    titles: tuple[str, str] = ("chart 1", "chart 2")

    @property
    def text(self) -> list[str]:
        """Both coordinates of each row."""
        return [f"({first:.4g}, {second:.4g})" for first, second in self.chart]

    @property
    def colors(self) -> FloatArray:
        """RGB colour of each row, from 0 to 1; grey where a coordinate is missing."""
        known = np.isfinite(self.chart).all(axis=1)
        colors = np.full((len(self.chart), 3), int(GREY[1:3], 16) / 255)
        if known.any():
            least, most = self.chart[known].min(axis=0), self.chart[known].max(axis=0)
            extent = np.where(most > least, most - least, 1.0)
            colors[known] = bivariate((self.chart[known] - least) / extent)
        return colors


Coloring = Plain | Labels | Values | Chart


def bivariate(shares: FloatArray) -> FloatArray:
    """RGB colours of points of the unit square, interpolated between its corners.

    Examples
    --------
    >>> bool(np.all(bivariate(np.array([[0.0, 1.0]])) == CORNERS[0, 1]))
    True
    """
    u, v = shares[:, :1], shares[:, 1:]
    below = (1 - u) * CORNERS[0, 0] + u * CORNERS[1, 0]
    above = (1 - u) * CORNERS[0, 1] + u * CORNERS[1, 1]
    return np.asarray((1 - v) * below + v * above)


def coloring(color: Any, n: int) -> Coloring:
    """Decide whether colours are labels, values or a chart.

    Examples
    --------
    >>> type(coloring(["a", "b", "a"], 3)).__name__, type(coloring([0.1, 0.2, 0.4], 3)).__name__
    ('Labels', 'Values')
    >>> type(coloring([[0, 1], [1, 2], [5, 7]], 3)).__name__
    'Chart'
    """
    if color is None:
        return Plain(n)
    if isinstance(color, Surface):
        color = color.chart if color.labels is None else color.labels
    values, title = one_a_row("color", color, n), str(getattr(color, "name", None) or "")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        return _chart(values, getattr(color, "columns", None))
    if values.ndim > 2:
        raise ValueError(f"color must have one or two columns; its shape is {values.shape}")
    if values.dtype.kind in "mM":
        raise TypeError("color holds dates or times: pass numbers, or strings as labels")
    if values.dtype.kind == "O":
        values = _unbox(values)
    if values.dtype.kind in "iuf" and not _few_integers(values):
        return Values(values.astype(np.float64), title)
    if values.dtype.kind == "c":
        raise TypeError("color is complex: pass real numbers, or two columns as a chart")
    return _labels(values, title)


def _chart(values: np.ndarray[Any, Any], columns: Any) -> Chart:
    if values.shape[1] != 2 or values.dtype.kind not in "biuf":
        raise ValueError(
            f"color has {values.shape[1]} columns of {values.dtype}: pass one column of labels or "
            "values, or two numeric columns as a chart"
        )
    if columns is None:
        return Chart(values.astype(np.float64))
    first, second = map(str, columns)
    return Chart(values.astype(np.float64), (first, second))


def _unbox(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Convert objects to floats, None to NaN, where all are numbers."""
    if any(isinstance(value, str | bool | np.bool_) for value in values):
        return values
    try:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        return values


def _few_integers(values: np.ndarray[Any, Any]) -> bool:
    known = values[np.isfinite(values)]
    if not len(known) or np.any(known != np.round(known)):
        return False
    # A sample first: sorting a million values to count distinct ones is slow.
    if len(np.unique(known[:1000])) > MOST_NUMBERS:
        return False
    return len(np.unique(known)) <= min(MOST_NUMBERS, len(values) // 2)


def _labels(values: np.ndarray[Any, Any], title: str) -> Labels:
    known = np.array([_is_known(value) for value in values.tolist()])
    if values.dtype.kind == "f":
        values = np.where(known, values, 0).astype(np.int64)
    codes = np.full(len(values), -1, dtype=np.intp)
    if values.dtype.kind == "O":
        values = values.astype(str)
    different, codes[known] = np.unique(values[known], return_inverse=True)
    names = [str(value) for value in different.tolist()]
    order = sorted(range(len(names)), key=lambda number: _natural(names[number]))
    place = np.empty(len(names) + 1, dtype=np.intp)
    place[order], place[-1] = np.arange(len(names)), -1
    return Labels(place[codes], tuple(names[number] for number in order), title)


def _is_known(value: object) -> bool:
    try:
        return value is not None and bool(value == value)
    except TypeError:
        # Comparisons of pandas.NA have no truth value.
        return False


def _natural(name: str) -> tuple[int, float, list[tuple[int, str]]]:
    """Sort key in natural order: numbers by value, then text, 'day 2' before 'day 10'."""
    pieces = [
        (int(piece) if piece.isdecimal() else -1, piece) for piece in re.split(r"(\d+)", name)
    ]
    try:
        number = float(name)
    except ValueError:
        number = np.nan
    return (0, number, pieces) if np.isfinite(number) else (1, 0.0, pieces)


def _appearance(number: int, classes: int) -> tuple[str, tuple[str, str]]:
    if number >= classes:
        return GREY, MARKERS[0]
    return PALETTE[number % len(PALETTE)], MARKERS[number // EIGHT]


def _short(name: str) -> str:
    words = " ".join(name.split()) or "(empty)"
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"
