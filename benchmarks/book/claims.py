"""What the book concludes from its figures, as statements that figures can contradict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from benchmarks.book.run import SEEDS, WORKS, Figures

# Colours mixed by more than this: the picture is lost.
FAILS = 0.15
# A second coordinate that repeats the first by more than this lays a surface along a curve.
REPEATED = 0.9
# Affine Procrustes error below which an embedding is the chart.
CHART = 0.01
# Mixing that differs by less than this share is too close to tell.
CLOSE = 0.1

Rule: TypeAlias = Literal[
    "works",
    "does not",
    "shown",
    "a curve",
    "chart",
    "no chart",
    "rises",
    "first least",
    "alike",
    "no result",
]
Verdict: TypeAlias = Literal["holds", "too close to tell", "contradicted"]
Cell: TypeAlias = tuple[str, str]

MEASURES = {
    "shown": "redundancy",
    "a curve": "redundancy",
    "chart": "procrustes",
    "no chart": "procrustes",
    "no result": "failed",
}


@dataclass(frozen=True)
class Check:
    """A rule that the figures of some cells must follow: colour mixing unless it says otherwise."""

    rule: Rule
    cells: Sequence[Cell]

    @property
    def measure(self) -> str:
        """Name of the figures that the rule is about."""
        return MEASURES.get(self.rule, "color_mixing")

    def values(self, figures: Figures) -> list[float]:
        """Figures of the cells; a method that failed has the worst."""
        return [figures[setting][method].get(self.measure, 1.0) for setting, method in self.cells]

    def verdict(self, figures: Figures) -> Verdict:
        """Whether the figures follow the rule, and clearly so."""
        values = self.values(figures)
        low, high, first = min(values), max(values), values[0]
        sure, wrong = {
            "works": (high < WORKS, high >= FAILS),
            "does not": (low >= WORKS, low < WORKS / 2),
            "shown": (high < REPEATED - CLOSE, high >= REPEATED),
            "a curve": (low >= REPEATED, low < REPEATED - CLOSE),
            "chart": (high < CHART, high >= 2 * CHART),
            "no chart": (low >= CHART, low < CHART / 2),
            "rises": (values[-1] > (1 + CLOSE) * first, values[-1] < first / (1 + CLOSE)),
            "first least": (
                min(values[1:], default=1.0) > (1 + CLOSE) * first,
                min(values[1:], default=1.0) < first / (1 + CLOSE),
            ),
            "alike": (high < 1.25 * low, high > 1.5 * low),
            "no result": (low >= len(SEEDS), low == 0),
        }[self.rule]
        return "holds" if sure else "contradicted" if wrong else "too close to tell"


@dataclass(frozen=True)
class Claim:
    """A conclusion, the checks that must all hold, and what explains it if they do not."""

    figure: str
    says: str
    checks: tuple[Check, ...]
    why: str = ""

    def verdict(self, figures: Figures) -> Verdict:
        """Take the worst of the checks."""
        found = {check.verdict(figures) for check in self.checks}
        if "contradicted" in found:
            return "contradicted"
        return "holds" if found == {"holds"} else "too close to tell"

    def telling(self, figures: Figures) -> list[Check]:
        """Find the checks that decide the verdict."""
        verdict = self.verdict(figures)
        return [check for check in self.checks if check.verdict(figures) == verdict]


ROLL, CURVE, SPHERE, CLUSTER = "Swiss roll", "S-curve", "punched sphere", "3-D cluster"
DMAPS = ("GL-Dmaps", "LB-Dmaps")


def on(method: str, *surfaces: str, group: str = "surfaces", suffix: str = "") -> list[Cell]:
    """Cells of one method on several surfaces."""
    return [(f"{group}: {surface}{suffix}", method) for surface in surfaces]


def along(method: str, surface: str, values: Sequence[float], group: str) -> list[Cell]:
    """Cells of one method along heights or lengths."""
    return [(f"{group}: {surface}, {value}", method) for value in values]


def sizes(method: str, surface: str, *values: int) -> list[Cell]:
    """Cells of one method along numbers of neighbours."""
    return [(f"neighbours: {method}, {surface}, k = {k}", method) for k in values]


def widths(method: str) -> list[Cell]:
    """Cells of one method along bandwidths."""
    return [
        (f"bandwidth: {method}, S-curve, t = {t}", method)
        for t in ("1", "2", "5", "10", "12", "inf")
    ]


def noisy(method: str, noise: float, *surfaces: str) -> list[Cell]:
    """Cells of one method under noise."""
    return on(method, *surfaces, group="noise", suffix=f", noise {noise}")


def rivals(cells: Sequence[Cell], *methods: str) -> list[Check]:
    """Check that the method is better than the others in every cell."""
    return [
        Check("first least", [cell, *((cell[0], method) for method in methods)]) for cell in cells
    ]


HEIGHTS, ROLLS, CURVES = (0.5, 0.75, 0.9), (21, 51, 81), (5, 10, 30)


def higher(method: str) -> Check:
    """Check that spheres are mixed more the higher they are."""
    return Check("rises", along(method, SPHERE, HEIGHTS, "height"))


def longer(method: str, surface: str) -> Check:
    """Check that surfaces are mixed more the longer they are."""
    return Check("rises", along(method, surface, ROLLS if surface == ROLL else CURVES, "length"))


def last(method: str, surface: str) -> Check:
    """Check that the longest one is not laid out."""
    return Check("does not", along(method, surface, (81 if surface == ROLL else 30,), "length"))
