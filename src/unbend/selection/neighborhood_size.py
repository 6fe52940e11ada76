"""Choice of the number of neighbours."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.base import clone

from unbend.arrays import FloatArray, IntArray
from unbend.estimators.inputs import check_units
from unbend.estimators.neighborhood import NeighborhoodEmbedding
from unbend.estimators.search import Needs
from unbend.graphs import components, consistency, geodesics, undirected
from unbend.graphs.short_circuits import describe_short_circuits, judge_edges
from unbend.neighborhood_sizes import choose_number
from unbend.neighbors import PointSpace
from unbend.progress import advance, monitoring
from unbend.quality import coranking, residual_variance
from unbend.report import html_table
from unbend.selection.format import describe_remedy
from unbend.selection.inputs import check_estimator, check_points, make_method
from unbend.validation.arrays import check_distinct, column_deviations, column_names
from unbend.validation.scalars import check_choice, check_integer

Criterion: TypeAlias = Literal["spectra", "r_nx", "residual_variance"]

# Beyond this many rows the default method is the one whose memory grows with n only.
MANY = 4000
# Sizes tried, each a third larger than the one before it.
SIZES, GROWTH = 7, 4 / 3
# A residual variance within this of the least is as good.
KNEE = 0.01
# Rows from which criteria look.
ROWS = 1000
# Why no number is consistent where nothing is wrong with the graph in question.
JUMPING = "larger neighbourhoods jump between folds"


@dataclass(frozen=True, eq=False)
class NeighborsChoice:
    """A number of neighbours, and why.

    Attributes
    ----------
    n_neighbors : int
        The choice.
    smallest : int
        By spectra the smallest number that connects the graph; otherwise the smallest that is
        consistent, or connected where none is consistent.
    tried : array (sizes,)
        The numbers that were tried.
    scores : array (sizes,)
        The criterion for each: the share of noise and curvature in the neighbourhoods or the
        residual variance, of which less is better, or the area under R_NX, of which more is.
    criterion : str
        Which of the three.
    reasons : list of str
        What was found, in words.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> choice = unbend.choose_neighbors(roll.points)
    >>> int(choice) == choice.n_neighbors >= choice.smallest
    True
    """

    n_neighbors: int
    smallest: int
    tried: IntArray
    scores: FloatArray
    criterion: Criterion
    reasons: list[str]

    def __int__(self) -> int:
        return self.n_neighbors

    def __str__(self) -> str:
        lines = [f"n_neighbors = {self.n_neighbors}", *(f"  {line}" for line in self.reasons)]
        pairs = zip(self.tried, self.scores, strict=True)
        scores = ", ".join(f"{k}: {score:.4f}" for k, score in pairs if np.isfinite(score))
        return "\n".join([*lines, *([f"  {self.criterion} by k: {scores}"] if scores else [])])

    def _repr_html_(self) -> str:
        pairs = zip(self.tried, self.scores, strict=True)
        rows = [(str(k), f"{score:.4f}") for k, score in pairs]
        title = f"n_neighbors = {self.n_neighbors}"
        return html_table(title, ("n_neighbors", self.criterion), rows, sentences=self.reasons)


def choose_neighbors(
    X: Any, n_components: int = 2, *, method: Any = None, criterion: Criterion = "spectra"
) -> NeighborsChoice:
    """Choose the number of neighbours for a method.

    By default it is the number that ``n_neighbors="auto"`` takes: neighbourhoods of several sizes
    are compared by their largest variance across a surface of `n_components` dimensions over the
    least along it, which noise makes large in small neighbourhoods and curvature in large ones.
    Nothing is embedded.

    The other criteria embed the data for several numbers. First the smallest number with which the
    graph is consistent (connected, wide enough, not ruled by noise: `unbend.graphs.consistency`).
    From there on up to six times as many are tried, and of those whose criterion is as good as the
    best, to within its standard error, the smallest is taken: fewer neighbours jump less from one
    fold to the next.

    They cannot see a graph that jumps between folds everywhere, for no embedding of it is
    good; and R_NX compares with straight lines, so that short circuits cost it little where
    folds are far apart. Where several k have nearly the same score, the choice does not matter.

    Parameters
    ----------
    X : array (n, D)
        Points.
    n_components : int
        Dimensions wanted.
    method : estimator, optional
        Any estimator with a parameter `n_neighbors`; by default Isomap, or LandmarkIsomap beyond
        4000 rows.
    criterion : {"spectra", "r_nx", "residual_variance"}
        Spectra of neighbourhoods; area under R_NX over log k (see `unbend.quality.coranking`), to
        be large; or 1 − R² of graph distances, of the smallest consistent graph, with embedded
        ones, to be small.

    Returns
    -------
    NeighborsChoice
        ``int(choice)`` is the number; printable.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> choice = choose_neighbors(roll.points)
    >>> 5 <= choice.n_neighbors <= 20
    True
    """
    check_choice("criterion", criterion, get_args(Criterion))
    check_integer("n_components", n_components)
    points = check_points(X)
    check_units(points, list(column_names(X)), column_deviations(points))
    n = len(points)
    estimator = _estimator(method, n, n_components)
    if criterion == "spectra":
        return _by_spectra(estimator, points, n_components)
    smallest, reasons = _smallest(points, n_components)
    sizes = np.unique([min(round(smallest * GROWTH**step), n - 1) for step in range(SIZES)])
    judge = _Judge(points, criterion, smallest)
    scores, errors = np.empty(len(sizes)), np.empty(len(sizes))
    for place, k in enumerate(sizes):
        advance("choose neighbors", place, len(sizes))
        scores[place], errors[place] = judge(_embed(estimator, points, int(k)))
    advance("choose neighbors", len(sizes), len(sizes))
    best = int(np.argmax(scores) if criterion == "r_nx" else np.argmin(scores))
    room = max(errors[best], KNEE * abs(scores[best]) if criterion == "r_nx" else KNEE)
    good = np.flatnonzero(np.abs(scores - scores[best]) <= room)
    chosen = int(sizes[good[0]])
    reasons.append(
        f"of {len(sizes)} sizes from {sizes[0]} to {sizes[-1]}, {sizes[best]} has the best "
        f"{criterion} ({scores[best]:.3f}); {chosen} is the smallest as good within {room:.3f}"
    )
    return NeighborsChoice(chosen, smallest, sizes, scores, criterion, reasons)


def _by_spectra(estimator: Any, points: FloatArray, d: int) -> NeighborsChoice:
    """Choose as a fit of the estimator with n_neighbors='auto' does."""
    own = isinstance(estimator, NeighborhoodEmbedding)
    needs = estimator._needs() if own else Needs()
    space = PointSpace(np.unique(points, axis=0))
    check_distinct(space.n, needs.rows(d))
    found = choose_number(
        space,
        d,
        needs.neighbors + 1,
        mutual=needs.mutual or (own and estimator.mutual),
        measured=not needs.sparse,
        glued=needs.glued,
    )
    k, sizes = found.n_neighbors, found.sizes
    reasons = [] if sizes is None else [sizes.reason()]
    if sizes is not None and k < sizes.n_neighbors:
        reasons.append(f"{k} neighbours are taken, since more jump between sheets")
    if found.components > 1:
        reasons.append(
            f"{k} neighbours leave {found.components} components, which no larger number up to "
            "4 log₂ n joins: it is in parts"
        )
    else:
        reasons.append(f"{found.connecting} neighbours connect the graph")
    jumps = len(judge_edges(space, found.neighbors, d))
    if jumps:
        remedy = describe_remedy(estimator)
        reasons.append(f"with {k} neighbours, {describe_short_circuits(jumps)}: {remedy}")
    tried = np.array([k]) if sizes is None else sizes.sizes
    scores = np.full(1, np.nan) if sizes is None else sizes.share
    return NeighborsChoice(k, found.connecting, tried, scores, "spectra", reasons)


class _Judge:
    """Criterion of an embedding and its standard error."""

    def __init__(self, points: FloatArray, criterion: Criterion, smallest: int) -> None:
        self.points, self.criterion = points, criterion
        if criterion == "residual_variance":
            # One yardstick for all sizes: larger graphs only shorten the ways.
            rows = np.unique(np.linspace(0, len(points) - 1, min(len(points), ROWS)).astype(int))
            lengths = undirected(PointSpace(points).nearest(smallest)).lengths
            ways = geodesics(lengths, sources=rows)[:, rows]
            apart = ~np.isfinite(ways)
            ways[apart] = 2 * ways[~apart].max()
            self.rows, self.ways = rows, ways

    def __call__(self, embedding: FloatArray) -> tuple[float, float]:
        if self.criterion == "r_nx":
            area = coranking(self.points, embedding, max_rows=ROWS).r_nx_auc
            return float(area), area.error
        curve = residual_variance(self.ways, embedding[self.rows], metric="precomputed")
        return float(curve[-1]), 0.0


def _embed(estimator: Any, points: FloatArray, k: int) -> FloatArray:
    # What is wrong with the graph is among the reasons; the choice tells of its own progress.
    with monitoring(lambda progress: None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(estimator).set_params(n_neighbors=k).fit(points)
    return np.asarray(fitted.embedding_, dtype=np.float64)


def _estimator(method: Any, n: int, d: int) -> Any:
    if method is None:
        return make_method("Isomap" if n <= MANY else "LandmarkIsomap", n_components=d)
    made = method() if isinstance(method, type) else method
    estimator = clone(check_estimator("method", made))
    if "n_neighbors" not in estimator.get_params():
        raise ValueError(f"{type(estimator).__name__} has no n_neighbors to choose")
    return estimator.set_params(n_components=d)


def _smallest(points: FloatArray, d: int) -> tuple[int, list[str]]:
    """Smallest consistent number of neighbours, or the smallest that connects the graph."""
    n = len(points)
    report = consistency(points, d, min(10, n - 1))
    if report.suggested is not None:
        return report.suggested, [f"{report.suggested} is the smallest consistent number"]
    least = min(2 * d + 2, n - 1)
    connected = _smallest_connected(points, least, min(n - 1, 16 * least))
    if connected is None:
        return least, [f"no number up to {16 * least} connects the graph: it is in parts"]
    problems = "; ".join(report.problems())
    found = f"with {report.n_neighbors} neighbours, {problems}" if problems else JUMPING
    return connected, [f"{connected} is the smallest that connects the graph; {found}"]


def _smallest_connected(points: FloatArray, least: int, most: int) -> int | None:
    """Smallest number of neighbours from `least` to `most` whose graph is connected."""
    space = PointSpace(points)

    def connected(k: int) -> bool:
        return int(components(space.nearest(k).graph()).max()) == 0

    low = high = least
    while not connected(high):
        if high == most:
            return None
        low, high = high + 1, min(2 * high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if connected(middle) else (middle + 1, high)
    return high
