"""The cases: which surface, how it is sampled, and what noise it gets; and their draws."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.noise.folded_surfaces import FOLDED_FAMILIES
from benchmarks.noise.more_surfaces import MORE_FAMILIES
from benchmarks.noise.surfaces import FAMILIES, Array, Surface

# Two splits by family and seed. The constants of `unbend.denoise` were chosen on all families of
# `seen`, and those of `fresh` were measured once, after the last constant was set. The first two
# halves are of smaller and plainer cases: other constants of the library are judged on those. The
# sheets of `folded` are close to each other, as those of rolls are; they are for calibration.
HALVES = {
    "calibration": ("s_curve", "cylinder", "graph_square"),
    "reporting": ("roll", "cap", "graph_holes"),
    "seen": tuple(FAMILIES),
    "fresh": tuple(MORE_FAMILIES),
    "folded": tuple(FOLDED_FAMILIES),
}
SURFACES = FAMILIES | MORE_FAMILIES | FOLDED_FAMILIES
NOISES = ("isotropic", "heavy", "outliers")
# Share of rows that are outliers, where there are any.
OUTLIERS = 0.01
# Rows farther than this share of the gap from the surface have no certain foot point.
REACH = 0.4
# Numbers of rows: most cases lie in the first range, one in eight in the second, one in sixteen in
# the third, of at most two dimensions and ten columns.
SMALL, MIDDLE, LARGE = (500, 6000), (6000, 25_000), (25_000, 200_000)


@dataclass(frozen=True)
class Draw:
    """Noisy rows, the charts of their foot points and of the points they came from."""

    rows: Array
    # Not a number where foot points were not searched.
    foot_chart: Array
    chart: Array
    # Rows with a foot point, near enough to the surface to have a place on it.
    regular: Any
    # Distance of the foot points to the boundary, in the chart.
    depth: Array
    clean: Array


@dataclass(frozen=True)
class Case:
    """A surface with a number of rows, columns, density and noise."""

    half: str
    number: int
    family: str
    d: int
    columns: int
    n: int
    density: float
    noise: str
    share: float

    @property
    def name(self) -> str:
        """Name of the case, unique."""
        return f"{self.half}-{self.number:03d}"

    def describe(self, draw: Draw) -> dict[str, Any]:
        """Return the case as plain values, with the number of rows that were drawn."""
        names = ("family", "d", "columns", "density", "noise")
        return {
            "case": self.name,
            **{name: getattr(self, name) for name in names},
            "n": len(draw.rows),
            "share": round(self.share, 4),
        }

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise of a column."""
        return self.share * self.surface.gap

    @cached_property
    def surface(self) -> Surface:
        """The surface, which the draws share."""
        return SURFACES[self.family](self._rng(0), self.d)

    @cached_property
    def _turn(self) -> Array:
        """Orthonormal rows that turn the surface into its columns."""
        width = self.surface.embed(self.surface.domain.sample(1, self._rng(0))).shape[1]
        square = self._rng(1).normal(size=(max(self.columns, width), width))
        return np.ascontiguousarray(np.linalg.qr(square)[0].T)

    def _rng(self, stream: int) -> np.random.Generator:
        offset = list(HALVES).index(self.half)
        return np.random.default_rng([2024 + offset, self.number, stream])

    def draw(self, number: int, n: int | None = None, most_feet: int | None = None) -> Draw:
        """Draw rows, independently for each number, with so many foot points at most."""
        surface, rng, n = self.surface, self._rng(10 + number), n or self.n
        u = self._parameters(n, rng)
        clean = surface.embed(u)
        turned = clean @ self._turn
        noise = rng.normal(size=turned.shape)
        if self.noise == "heavy":
            # Student's t with two degrees of freedom: half of the rows beyond 0.8 of the scale.
            noise *= np.sqrt(2 / rng.chisquare(2, size=(n, 1)))
        rows = turned + self.sigma * noise
        regular = np.ones(n, dtype=bool)
        if self.noise == "outliers":
            regular[rng.permutation(n)[: max(1, int(OUTLIERS * n))]] = False
            low, high = turned.min(axis=0), turned.max(axis=0)
            rows[~regular] = rng.uniform(low, high, size=rows.shape)[~regular]
        first = np.flatnonzero(regular)[:most_feet]
        inside = rows[first] @ self._turn.T
        feet, depth = np.full(u.shape, np.nan), np.full(n, np.nan)
        feet[first] = surface.feet(inside, u[first])
        depth[first] = surface.domain.depth(feet[first])
        regular[:] = False
        away = np.linalg.norm(inside - surface.embed(feet[first]), axis=1)
        regular[first] = away < REACH * surface.gap
        return Draw(rows, feet, u, regular, depth, turned)

    def _parameters(self, n: int, rng: np.random.Generator) -> Array:
        """Parameters whose density falls by the given ratio along a random direction."""
        u = self.surface.domain.sample(n if self.density == 1 else 8 * n, rng)
        if self.density == 1:
            return u
        along = u @ self._rng(2).normal(size=self.d)
        position = (along - along.min()) / np.ptp(along)
        weights = self.density**-position
        chosen = rng.choice(len(u), n, replace=False, p=weights / weights.sum())
        return u[chosen]


def make_cases(half: str, count: int) -> list[Case]:
    """Make the first cases of a half: always the same."""
    if half not in ("calibration", "reporting"):
        return [_stratified_case(half, number) for number in range(count)]
    cases = []
    for number in range(count):
        rng = np.random.default_rng([7, list(HALVES).index(half), number])
        family = HALVES[half][number % 3]
        d = int(rng.choice((1, 2, 2, 2, 3, 3, 4)))
        least = d + 2 if family != "cap" else d + 1
        columns = int(rng.choice((least, least, 10, 30, 100)))
        n = int(np.exp(rng.uniform(np.log(500), np.log(20_000))))
        if number % 20 == 19:
            n, columns = 200_000, min(columns, 10)
        cases.append(
            Case(
                half=half,
                number=number,
                family=family,
                d=d,
                columns=max(columns, 3, d + 1),
                n=n,
                density=float(rng.choice((1.0, 1.0, 5.0, 20.0))),
                noise=str(rng.choice(NOISES, p=(0.5, 0.25, 0.25))),
                share=float(rng.choice((0.0, *rng.uniform(0.005, 0.15, size=6), 0.2))),
            )
        )
    return cases


def _stratified_case(half: str, number: int) -> Case:
    """Make a case of one of three ranges of numbers of rows."""
    rng = np.random.default_rng([8, list(HALVES).index(half), number])
    family = HALVES[half][number % len(HALVES[half])]
    d = int(rng.choice((1, 2, 2, 2, 3, 3, 4)))
    columns = int(rng.choice((3, 5, 10, 30, 100), p=(0.35, 0.2, 0.25, 0.15, 0.05)))
    place = number % 16
    low, high = LARGE if place == 7 else MIDDLE if place in (3, 12) else SMALL
    if low == LARGE[0]:
        d, columns = min(d, 2), min(columns, 10)
    return Case(
        half=half,
        number=number,
        family=family,
        d=d,
        columns=max(columns, d + 1),
        n=int(np.exp(rng.uniform(np.log(low), np.log(high)))),
        density=float(rng.choice((1.0, 1.0, 5.0, 20.0))),
        noise=str(rng.choice(NOISES, p=(0.5, 0.25, 0.25))),
        share=float(rng.choice((0.0, *rng.uniform(0.005, 0.15, size=7), 0.2))),
    )
