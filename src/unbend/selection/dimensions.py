"""The intrinsic dimension of data, by a vote: the one verdict that all advice uses."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend import dimension
from unbend.arrays import FloatArray
from unbend.denoising.reduction import reduce_columns
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName, PointSpace
from unbend.quality import widest_gap
from unbend.report import html_table
from unbend.selection.bounded_directions import bounded_directions
from unbend.selection.filled_directions import NEAREST, count_filled, is_layered
from unbend.selection.inputs import PARAMETERS, Data, Sample, open_data
from unbend.selection.noise_directions import directions_along
from unbend.shown_dimension import MOST_DIMENSIONS, SMALL, ShownDimension, shown_dimension
from unbend.validation.scalars import check_integer

# Estimators of `unbend.dimension` that vote, each of another kind.
ESTIMATORS = ("local_pca", "mle", "two_nn", "u_statistic", "multiscale_svd", "correlation")
# Rules that count coordinates, not dimensions.
BY_SPECTRUM = ("spectrum gap", "residual variance knee")
# Those that look at the smallest distances there are, where noise is largest.
BY_DISTANCES = ("mle", "two_nn", "u_statistic", "correlation")
# Noise has more dimensions than the data, and less of a share in larger neighbourhoods. From so
# many neighbours to so many (at most an eighth of the rows) `mle` falls to this share or below with
# it; without, at d = 1, …, 6, to 0.89 at least, by edges and curvature.
NEAR, WIDE, FALL = 8, 64, 0.87
# Of the residual variance that the first coordinate leaves, as much as may be left at the knee;
# below the second number nothing is left to explain.
KNEE, NOTHING = 0.1, 0.01
# A range of dimensions is narrow up to this difference or this factor. Chosen with the quartiles on
# cubes, Gaussians, flat tori and mixtures of 1 to 7 dimensions.
ROOM, FACTOR = 2, 2
# Rows from which on neighbourhoods should show the dimension that votes agree on.
SHOWING = 300
# Directions that stand out of the noise at least where dimensions are looked for along them alone.
FEWEST_DIRECTIONS = 2
# Dimensions of sheets, at least, that neighbourhoods may take for a body.
FEWEST_LAYERED = 2
# Rows that are looked at, at most: by all rules, and by neighbourhoods of points.
ROWS, SHOWN_ROWS = 1000, 5000


@dataclass(frozen=True, eq=False)
class DimensionChoice:
    """The intrinsic dimension of data: what the rules agree on, and the vote of each.

    Attributes
    ----------
    dimension : int
        The number that neighbourhoods show, or of the directions that rows fill in more columns
        of noise. Where they show none, the number that more than half of the votes agree on, or
        the median of the estimators where that is smaller; otherwise the median vote.
    low, high : int
        The range that the rules leave: from the estimators' median to the number that more than
        half of the votes agree on, which mostly are one; otherwise the middle half of the votes.
    votes : mapping of str to float
        What each rule found, before rounding.
    abstained : mapping of str to float
        What was found by estimators that do not vote, since they saw noise, which fills any
        space. Those that saw every column; and where the dimension falls as neighbourhoods grow,
        those by the smallest distances that saw more than at last, if the rest agree.
    eigenvalues, residual_variance : array (m,)
        The curves of Isomap that two of the votes were read from.
    scaling : str
        How the columns were scaled before, and why; empty if they were not.
    shown : ShownDimension or None
        The dimension after which the spectra of neighbourhoods fall, and the size of these; None
        where no size shows one.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> choice = unbend.choose_dimension(roll.points)
    >>> choice.low <= choice.dimension <= choice.high
    True
    """

    dimension: int
    low: int
    high: int
    votes: Mapping[str, float]
    abstained: Mapping[str, float]
    eigenvalues: FloatArray
    residual_variance: FloatArray
    scaling: str = ""
    shown: ShownDimension | None = None

    @property
    def determined(self) -> bool:
        """Whether the rules leave one number, or a narrow range."""
        return is_narrow(self.low, self.high)

    @property
    def verdict(self) -> str:
        """The dimension in words: ``"2"``, ``"between 5 and 8"`` or ``"not determined"``."""
        return describe_dimension(self.low, self.high)

    @property
    def agreement(self) -> float:
        """Share of the votes for `dimension`."""
        return float(np.mean([_round(vote) == self.dimension for vote in self.votes.values()]))

    def __int__(self) -> int:
        return self.dimension

    @property
    def headline(self) -> str:
        """The verdict, and whether the rules agree."""
        agreed = f", agreed by {self.agreement:.0%} of the rules"
        open_ = ": the rules disagree"
        if self.shown is not None:
            agreed = f", shown by neighbourhoods of {self.shown.n_neighbors} rows"
            reason = "bends within neighbourhoods"
            if self.shown.fills or self.shown.narrow:
                reason = "noise about it" if self.shown.fills else "other sheets near it"
            open_ = f": a surface of {self.low} with {reason}, or one of {self.high}"
        return f"intrinsic dimension {self.verdict}" + (agreed if self.low == self.high else open_)

    def __str__(self) -> str:
        lines = [self.headline, self.scaling, f"votes: {_list(self.votes)}"]
        if self.abstained:
            lines.append(f"saw noise, and abstained: {_list(self.abstained)}")
        return "\n  ".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        rows = [(name, f"{vote:.1f}", "") for name, vote in self.votes.items()]
        rows += [(name, f"{vote:.1f}", "abstained") for name, vote in self.abstained.items()]
        notes = [self.scaling] if self.scaling else []
        return html_table(self.headline, ("rule", "dimension", ""), rows, sentences=notes)


def describe_dimension(low: int, high: int) -> str:
    """Put a range of dimensions in words.

    Examples
    --------
    >>> [describe_dimension(*found) for found in ((2, 2), (5, 8), (1, 9))]
    ['2', 'between 5 and 8', 'not determined']
    """
    if low == high:
        return str(low)
    return f"between {low} and {high}" if is_narrow(low, high) else "not determined"


@complete_docstring(PARAMETERS)
def choose_dimension(
    X: Any,
    *,
    metric: MetricName | None = None,
    scale: str = "auto",
    missing: str = "error",
    n_neighbors: int = 10,
    max_dimension: int = 10,
    max_rows: int = ROWS,
) -> DimensionChoice:
    """Choose the intrinsic dimension by neighbourhoods, or by a vote of rules.

    Neighbourhoods that grow until they are wider than the noise show the dimension: their spectra
    fall after as many variances as there are dimensions, by more than those of as many points in a
    ball. In many columns they are looked for along the principal directions that stand out of the
    noise, and where rows fill these, their number bounds the dimension. Where a smaller dimension
    is possible too, since the surface may bend within neighbourhoods, both are stated. Where no
    neighbourhood up to a fifth of the rows shows one, rules vote that fail in different ways.

    The rules: the widest gap of Isomap's eigenvalues (fails on long strips), the knee of its
    residual variance (fails on closed surfaces), and estimators of intrinsic dimension from
    `unbend.dimension`, of which those by distances fail high with noise and low in high
    dimensions. Estimators that see as many dimensions as there are columns abstain: noise may be
    all they saw. Where the dimension falls as neighbourhoods grow, those by the smallest distances
    that see more than at last abstain if the rest agree: they are four, and would outvote them.

    Where no number has more than half of the votes, the verdict is the range of the middle half
    of them, and where that is wide (more than two numbers and a factor of two) the dimension is not
    determined. `suggest`, `compare` and the report use this verdict.

    A vote cannot see that data have different dimensions in different places: look at the `local`
    values of `unbend.dimension` for that. A closed curve or surface has fewer dimensions than the
    coordinates it needs.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of the graph and of local rules.
    max_dimension : int
        Most coordinates looked at by the first two rules.
    max_rows : int
        Above this number of rows, that many are used, drawn at random.

    Returns
    -------
    DimensionChoice
        ``int(choice)`` is the number; printable.

    Examples
    --------
    >>> import unbend
    >>> choice = choose_dimension(unbend.datasets.s_curve(1000, random_state=0).points)
    >>> int(choice), choice.verdict
    (2, '2')
    """
    k = check_integer("n_neighbors", n_neighbors)
    most = check_integer("max_dimension", max_dimension)
    check_integer("max_rows", max_rows)
    return vote_on_dimension(open_data(X, metric, scale, missing), k, most, max_rows)


def vote_on_dimension(
    data: Data, n_neighbors: int = 10, max_dimension: int = 10, max_rows: int = ROWS
) -> DimensionChoice:
    """Let the rules vote on the dimension of checked data."""
    sample = data.sample(max_rows, 0)
    n = len(sample)
    # One distinct row is refused by the fit, which says so.
    k = max(1, min(n_neighbors, n - 1))
    most = max(2, min(max_dimension, n - 2))
    # Dense: of a curve all eigenvalues but one are nearly zero, and iterations look for them long.
    # Its graph is one vote of several: what it warns of is not the user's embedding.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sample.fit(
            "Isomap", n_components=most, n_neighbors=k, eigen_solver="dense", short_circuits="keep"
        )
    curve = model.residual_variance_
    estimated = _estimates(sample)
    # Geodesics may need more coordinates than there are columns, and have no more dimensions.
    counted = (widest_gap(model.eigenvalues_), _knee(curve))
    votes = _without_noise(
        {
            **{
                name: float(min(d, sample.columns))
                for name, d in zip(BY_SPECTRUM, counted, strict=True)
            },
            **{name: d for name, d in estimated.items() if _round(d) < sample.columns},
        },
        _ceiling(sample),
    )
    noise = {name: vote for name, vote in estimated.items() if name not in votes}
    shown = _show(data)
    verdict = _shown_range(shown) if shown else _doubt(weigh_votes(votes), sample)
    return DimensionChoice(*verdict, votes, noise, model.eigenvalues_, curve, data.scaling, shown)


def decide_dimension(data: Data) -> tuple[int, int, int]:
    """Return the dimension and its range, as `choose_dimension` has them.

    Votes, which take longer, are asked for only where neighbourhoods do not show it.
    """
    shown = _show(data)
    if shown is not None:
        return _shown_range(shown)
    choice = vote_on_dimension(data)
    return choice.dimension, choice.low, choice.high


def _show(data: Data) -> ShownDimension | None:
    """Ask neighbourhoods for the dimension, of more rows than vote: sheets are then apart."""
    if data.kind != "points" or data.metric != "euclidean":
        return shown_dimension(data.sample(ROWS, 0).space)
    sample = data.sample(SHOWN_ROWS, 0)
    shown = _show_points(sample.spanned)
    if shown is None and sample.spanned is not sample:
        # What fills its span, without noise across, has as many dimensions.
        return shown_dimension(sample.space)
    return shown


def _show_points(sample: Sample) -> ShownDimension | None:
    """Ask neighbourhoods of points, and all rows where noise fills the neighbourhoods."""
    shown = _shown_by_neighborhoods(sample)
    if shown is not None and not shown.fills:
        return _without_layers(shown, sample.values)
    # Noise fills the neighbourhoods, but perhaps not all directions.
    if shown is None:
        return _along_all_rows(sample.values)
    for count in (count_filled, directions_along, bounded_directions):
        d = count(sample.values)
        if d is not None and (count is count_filled or shown.dimension <= d <= shown.high):
            return ShownDimension(d, len(sample) - 1, d)
    return shown


def _along_all_rows(rows: FloatArray) -> ShownDimension | None:
    """Dimension that all rows together show where noise fills every neighbourhood."""
    d = directions_along(rows)
    if d is None:
        layers = _layers(rows)
        if layers is not None:
            return layers
        d = bounded_directions(rows)
    return None if d is None else ShownDimension(d, len(rows) - 1, d)


def _without_layers(shown: ShownDimension, rows: FloatArray) -> ShownDimension:
    """Take one dimension less where neighbourhoods show the span of several sheets.

    A surface that is narrow in its last direction and has no sheets has the larger dimension.
    """
    d = shown.high
    if d > FEWEST_LAYERED and is_layered(rows, d):
        d -= 1
    elif not shown.narrow:
        return shown
    return ShownDimension(d, shown.n_neighbors, d)


def _layers(rows: FloatArray) -> ShownDimension | None:
    """Dimension of sheets that fill all columns."""
    d = rows.shape[1] - 1
    found = FEWEST_LAYERED <= d < MOST_DIMENSIONS and is_layered(rows, d + 1)
    return ShownDimension(d, NEAREST[-1], d) if found else None


def _shown_by_neighborhoods(sample: Sample) -> ShownDimension | None:
    """Dimension that neighbourhoods show along the directions that stand out of the noise."""
    # Rows in the middle have no direction.
    with np.errstate(over="ignore"):
        reduction = reduce_columns(sample.values, 0)
    if reduction is None or reduction.axes.shape[1] < FEWEST_DIRECTIONS:
        return shown_dimension(sample.space)
    if reduction.is_lossless(sample.values):
        # Constant or repeated columns are left out, and there is no noise to stand out of.
        return shown_dimension(sample.space)
    directions = reduction.axes.shape[1]
    shown = shown_dimension(PointSpace(reduction.narrow(sample.values)))
    if shown is not None and shown.high < directions - 1:
        return shown
    full = shown_dimension(sample.space)
    # Walls of a body that fills the directions make its last variance small in wide neighbourhoods.
    if shown is not None and (shown.n_neighbors <= SMALL or _same(shown, full)):
        return shown
    if shown is None and full is not None and full.high == directions:
        return full
    # Rows that fill the directions may lie about a surface of one dimension less.
    return ShownDimension(directions - 1, len(sample) - 1, directions, fills=True)


def _same(one: ShownDimension, other: ShownDimension | None) -> bool:
    return other is not None and (one.dimension, one.high) == (other.dimension, other.high)


def _shown_range(shown: ShownDimension) -> tuple[int, int, int]:
    return shown.high if shown.fills else shown.dimension, shown.dimension, shown.high


def weigh_votes(votes: Mapping[str, float]) -> tuple[int, int, int]:
    """Return the dimension, and the range that the votes leave.

    The spectrum and the knee count coordinates, of which closed surfaces need more than they have
    dimensions: where fewer than half of the estimators agree with the majority, their median is
    the lower end.

    Examples
    --------
    >>> weigh_votes({"mle": 2.1, "two_nn": 2.0, "correlation": 3.0})
    (2, 2, 2)
    >>> weigh_votes({"mle": 5.0, "two_nn": 6.0, "correlation": 7.0, "local_pca": 8.0})
    (6, 6, 7)
    """
    values = list(votes.values())
    most, count = Counter(map(_round, values)).most_common(1)[0]
    if 2 * count > len(values):
        local = [vote for name, vote in votes.items() if name not in BY_SPECTRUM]
        if 2 * sum(_round(vote) == most for vote in local) >= len(local):
            return most, most, most
        least = min(most, _round(float(np.median(local))))
        return least, least, most
    low, high = _middle_half(values)
    return min(max(_round(float(np.median(values))), low), high), low, high


def _doubt(verdict: tuple[int, int, int], sample: Sample) -> tuple[int, int, int]:
    """Leave the dimension open where votes agree on one that no neighbourhood shows.

    Of enough rows some neighbourhood shows the dimension of a surface, unless noise hides it. Rows
    that fill their columns show none either: they may have one dimension less, and noise.
    """
    d, low, high = verdict
    if low < high or len(sample) < SHOWING or np.isinf(sample.columns):
        return verdict
    if d >= sample.columns:
        return d, (d - 1 if d > 2 else d), d
    return d, 1, int(sample.columns)


def _middle_half(values: Sequence[float]) -> tuple[int, int]:
    low, high = np.percentile(values, [25, 75])
    return _round(float(low)), _round(float(high))


def is_narrow(low: int, high: int) -> bool:
    """Whether a range of dimensions says something."""
    return high - low <= ROOM or high <= FACTOR * low


def _without_noise(votes: Mapping[str, float], ceiling: float) -> Mapping[str, float]:
    """Leave out votes by distances above the ceiling, if the rest agree.

    If they do not, the dimension may fall for another reason, as with clusters.
    """
    calm = {name: d for name, d in votes.items() if name not in BY_DISTANCES or d <= ceiling}
    count = Counter(_round(vote) for vote in calm.values()).most_common(1)[0][1]
    agree = 2 * count >= len(calm) and is_narrow(*_middle_half(list(calm.values())))
    return calm if agree else votes


def _knee(curve: FloatArray) -> int:
    """Coordinates after which little of what the first one left is left."""
    enough = np.flatnonzero(
        (curve <= curve.min() + KNEE * (curve[0] - curve.min())) | (curve < NOTHING)
    )
    return int(enough[0]) + 1


def _estimates(sample: Sample) -> dict[str, float]:
    """Ask the estimators of intrinsic dimension; one that these data give no answer to abstains."""
    found = {}
    for name in ESTIMATORS:
        try:
            found[name] = float(getattr(dimension, name)(sample.space).dimension)
        except ValueError:
            continue
    return found


def _ceiling(sample: Sample) -> float:
    """Bound the dimension by that of wide neighbourhoods, if it falls as they grow."""
    wide = min(WIDE, len(sample) // 8)
    if wide < 2 * NEAR:
        return np.inf
    try:
        curve = dimension.mle(sample.space, n_neighbors=wide).curve
    except ValueError:
        return np.inf
    near, seen = (float(curve.y[curve.x == k][0]) for k in (NEAR, wide))
    return _round(seen) + 0.5 if seen <= FALL * near else np.inf


def _round(vote: float) -> int:
    return max(1, round(vote))


def _list(votes: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {vote:.1f}" for name, vote in votes.items())
