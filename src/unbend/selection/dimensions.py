"""Choice of the embedding dimension."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend import dimension
from unbend.arrays import FloatArray
from unbend.quality import widest_gap
from unbend.quality.measure import sample_rows
from unbend.selection._common import check_points, make_method
from unbend.validation.scalars import check_integer

# Estimators of `unbend.dimension` that vote, each of another kind.
ESTIMATORS = ("local_pca", "mle", "two_nn", "u_statistic", "multiscale_svd", "correlation")
# Those that look at the smallest distances there are, where noise is largest.
BY_DISTANCES = ("mle", "two_nn", "u_statistic", "correlation")
# Noise has more dimensions than the data, and less of a share in larger neighbourhoods. From so
# many neighbours to so many (at most an eighth of the rows) `mle` falls to this share or below with
# it; without, at d = 1, …, 6, to 0.89 at least, by edges and curvature.
NEAR, WIDE, FALL = 8, 64, 0.87
# Of the residual variance that the first coordinate leaves, as much as may be left at the knee;
# below the second number nothing is left to explain.
KNEE, NOTHING = 0.1, 0.01


@dataclass(frozen=True, eq=False)
class DimensionChoice:
    """A number of dimensions, and who voted for what.

    Attributes
    ----------
    dimension : int
        The number that half the votes agree on, the smaller of two; or else the median vote.
    votes : mapping of str to float
        What each rule found, before rounding.
    abstained : mapping of str to float
        What was found by estimators that do not vote, since they saw noise: it fills any space,
        and tells nothing of the data. Those that saw every column; and where the dimension falls
        as neighbourhoods grow, those by the smallest distances that saw more than at last, if the
        rest agree.
    eigenvalues, residual_variance : array (m,)
        The curves of Isomap that two of the votes were read from.
    """

    dimension: int
    votes: Mapping[str, float]
    abstained: Mapping[str, float]
    eigenvalues: FloatArray
    residual_variance: FloatArray

    @property
    def agreement(self) -> float:
        """Share of the votes for the choice; below one half, look at the curves."""
        return float(np.mean([_round(vote) == self.dimension for vote in self.votes.values()]))

    @property
    def rival(self) -> int | None:
        """Another number with at least as many votes, or None: where there is one, look at both."""
        counts = Counter(_round(vote) for vote in self.votes.values())
        others = {d: count for d, count in counts.items() if d != self.dimension}
        most = max(others.values(), default=0)
        if most == 0 or most < counts[self.dimension]:
            return None
        return min(d for d, count in others.items() if count == most)

    def __int__(self) -> int:
        return self.dimension

    def __str__(self) -> str:
        split = "" if self.rival is None else f" or {self.rival}, the votes are split"
        lines = [
            f"dimension = {self.dimension}{split}, agreed by {self.agreement:.0%}",
            f"  votes: {_list(self.votes)}",
        ]
        if self.abstained:
            lines.append(f"  saw noise, and abstained: {_list(self.abstained)}")
        return "\n".join(lines)


def choose_dimension(
    X: Any, *, n_neighbors: int = 10, max_dimension: int = 10, max_rows: int = 1000
) -> DimensionChoice:
    """Choose the number of dimensions by a vote of rules that fail in different ways.

    The rules: the widest gap of Isomap's eigenvalues (fails on long strips), the knee of its
    residual variance (fails on closed surfaces), and estimators of intrinsic dimension from
    `unbend.dimension`, of which those by distances fail high with noise and low in high
    dimensions. Estimators that see as many dimensions as there are columns abstain: noise may be
    all they saw. Where the dimension falls as neighbourhoods grow, those by the smallest distances
    that see more than at last abstain if the rest agree: they are four, and would outvote them. A
    vote cannot see that data have different dimensions in different places: look
    at the `local` values of `unbend.dimension` for that. A closed curve or surface has fewer
    dimensions than the coordinates it needs.

    Parameters
    ----------
    X : array (n, D)
        Points.
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
    >>> int(choose_dimension(unbend.datasets.s_curve(1000, random_state=0).points))
    2
    """
    points = np.unique(check_points(X), axis=0)
    points = points[sample_rows(len(points), max_rows, 0)]
    n = len(points)
    k = min(check_integer("n_neighbors", n_neighbors), n - 1)
    most = max(2, min(check_integer("max_dimension", max_dimension), n - 2))
    # Dense: of a curve all eigenvalues but one are nearly zero, and iterations look for them long.
    model = make_method("Isomap", n_components=most, n_neighbors=k, eigen_solver="dense").fit(
        points
    )
    curve = model.residual_variance_
    estimated = _estimates(points)
    votes = _without_noise(
        {
            "spectrum gap": float(widest_gap(model.eigenvalues_)),
            "residual variance knee": float(_knee(curve)),
            **{name: d for name, d in estimated.items() if _round(d) < points.shape[1]},
        },
        _ceiling(points),
    )
    noise = {name: vote for name, vote in estimated.items() if name not in votes}
    return DimensionChoice(_majority(votes), votes, noise, model.eigenvalues_, curve)


def _consensus(votes: Mapping[str, float]) -> int | None:
    """Find the number that half the votes agree on, if there is one."""
    counts = Counter(_round(vote) for vote in votes.values())
    count = max(counts.values())
    # Of two with equal votes the smaller: noise adds dimensions, and takes none away.
    return min(d for d in counts if counts[d] == count) if 2 * count >= len(votes) else None


def _majority(votes: Mapping[str, float]) -> int:
    """Find the number that half the votes agree on, or else the median vote."""
    agreed = _consensus(votes)
    return _round(float(np.median(list(votes.values())))) if agreed is None else agreed


def _without_noise(votes: Mapping[str, float], ceiling: float) -> Mapping[str, float]:
    """Leave out votes by distances above the ceiling, if the rest agree.

    If they do not, the dimension may fall for another reason, as with clusters.
    """
    calm = {name: d for name, d in votes.items() if name not in BY_DISTANCES or d <= ceiling}
    return votes if _consensus(calm) is None else calm


def _knee(curve: FloatArray) -> int:
    """Coordinates after which little of what the first one left is left."""
    enough = np.flatnonzero(
        (curve <= curve.min() + KNEE * (curve[0] - curve.min())) | (curve < NOTHING)
    )
    return int(enough[0]) + 1


def _estimates(points: FloatArray) -> dict[str, float]:
    """Ask the estimators of intrinsic dimension; one that these data give no answer to abstains."""
    found = {}
    for name in ESTIMATORS:
        try:
            found[name] = float(getattr(dimension, name)(points).dimension)
        except ValueError:
            continue
    return found


def _ceiling(points: FloatArray) -> float:
    """Bound the dimension by that of wide neighbourhoods, if it falls as they grow."""
    wide = min(WIDE, len(points) // 8)
    if wide < 2 * NEAR:
        return np.inf
    try:
        curve = dimension.mle(points, n_neighbors=wide).curve
    except ValueError:
        return np.inf
    near, seen = (float(curve.y[curve.x == k][0]) for k in (NEAR, wide))
    return _round(seen) + 0.5 if seen <= FALL * near else np.inf


def _round(vote: float) -> int:
    return max(1, round(vote))


def _list(votes: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {vote:.1f}" for name, vote in votes.items())
