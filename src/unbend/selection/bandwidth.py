"""Choice of the bandwidth of a Gaussian kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.spatial.distance import cdist

from unbend.arrays import FloatArray
from unbend.neighbors import PointSpace
from unbend.quality.measure import sample_rows
from unbend.report import html_table
from unbend.selection.inputs import check_points
from unbend.validation.scalars import check_choice, check_neighbors

Rule: TypeAlias = Literal["neighbors", "nearest", "slope", "median"]

# Rows whose distances to all others are looked at, and steps of t in an octave.
ROWS, STEPS = 300, 4


@dataclass(frozen=True, eq=False)
class BandwidthChoice:
    """A bandwidth t of exp(−d²/t), and what other rules would have given.

    Attributes
    ----------
    bandwidth : float
        The choice.
    rule : str
        The rule it comes from.
    rules : mapping of str to float
        What every rule gives.
    t, sums : array (steps,)
        Bandwidths, and the mean of exp(−d²/t) over all pairs: straight on logarithmic axes where
        the kernel sees the surface, flat where it sees single points or everything.
    dimension : float
        Twice the steepest slope of that curve: roughly the dimension, a fifth more on curved
        surfaces and less where there are borders.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> choice = unbend.choose_bandwidth(roll.points)
    >>> choice.bandwidth == choice.rules[choice.rule]
    True
    """

    bandwidth: float
    rule: Rule
    rules: Mapping[str, float]
    t: FloatArray
    sums: FloatArray
    dimension: float

    def __float__(self) -> float:
        return self.bandwidth

    def __str__(self) -> str:
        others = ", ".join(f"{name} {value:.4g}" for name, value in self.rules.items())
        return f"{self._headline}\n  rules: {others}"

    @property
    def _headline(self) -> str:
        return f"bandwidth = {self.bandwidth:.4g} by {self.rule}"

    def _repr_html_(self) -> str:
        rows = [(name, f"{value:.4g}") for name, value in self.rules.items()]
        return html_table(self._headline, ("rule", "bandwidth"), rows)


def choose_bandwidth(
    X: Any, *, rule: Rule = "neighbors", n_neighbors: int = 10, random_state: int = 0
) -> BandwidthChoice:
    """Choose the t of a Gaussian kernel exp(−d²/t).

    - ``"neighbors"``: mean squared distance of the k nearest (book (14.7)); what DiffusionMaps
      takes by itself. Made for kernels that are cut off at k neighbours.
    - ``"nearest"``: mean squared distance to the nearest (Lafon): the smallest with which
      points see one another; gaps and noise show.
    - ``"slope"``: where log Σ exp(−d²/t) is steepest in log t (Coifman, Shkolnisky, Sigworth and
      Singer 2008): the kernel sees the surface and neither points nor everything. Of a surface
      rolled up it may see the roll, which is steep too, and then bridges folds.
    - ``"median"``: median squared distance of all pairs: for blobs; on bent surfaces far too
      wide, since it bridges folds.

    No rule knows what the kernel is for: look at the spread of the rules, and where they differ by
    more than tenfold, compare the results.

    Parameters
    ----------
    X : array (n, D)
        Points.
    rule : {"neighbors", "nearest", "slope", "median"}
        The rule that decides.
    n_neighbors : int
        The k of "neighbors".
    random_state : int
        Seed of the 300 rows whose distances are looked at.

    Returns
    -------
    BandwidthChoice
        ``float(choice)`` is t; printable.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> choice = choose_bandwidth(roll.points)
    >>> bool(1.5 < choice.dimension < 2.5)
    True
    >>> bool(choice.rules["nearest"] < choice.bandwidth < choice.rules["median"])
    True
    """
    check_choice("rule", rule, get_args(Rule))
    points = check_points(X)
    n = len(points)
    check_neighbors(n_neighbors, n)
    near = PointSpace(points).nearest(n_neighbors).distances.reshape(n, -1) ** 2
    rows = sample_rows(n, ROWS, random_state)
    squares = cdist(points[rows], points, "sqeuclidean")
    others = squares[rows[:, None] != np.arange(n)]
    if not others.any():
        raise ValueError("All rows of X are equal. Pass at least two different points.")
    positive = others[others > 0]
    t, sums, slopes = _slopes(others, float(np.median(near[:, 0])) or float(positive.min()))
    steepest = int(np.argmax(slopes))
    rules = {
        "neighbors": float(near.mean()) or float(positive.min()),
        "nearest": float(near[:, 0].mean()) or float(positive.min()),
        "slope": float(np.sqrt(t[steepest] * t[steepest + 1])),
        "median": float(np.median(others)) or float(positive.min()),
    }
    return BandwidthChoice(rules[rule], rule, rules, t, sums, 2 * float(slopes[steepest]))


def _slopes(squares: FloatArray, nearest: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bandwidths, means of the kernel, and slopes of one by the other on logarithmic axes."""
    low, high = np.log2(nearest) - 2, np.log2(squares.max()) + 2
    t = np.exp2(np.linspace(low, high, max(3, int(STEPS * (high - low)) + 1)))
    # The pair of a row with itself keeps the mean above zero where t is small.
    sums = np.array([(np.exp(-squares / width).sum() + 1) / len(squares) for width in t])
    return t, sums, np.diff(np.log(sums)) / np.diff(np.log(t))
