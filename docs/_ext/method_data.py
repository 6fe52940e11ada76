"""Data of the pictures on the pages of methods."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_circles, make_moons

import unbend


@dataclass(frozen=True)
class Data:
    """Rows, their colours, a title, labels that a fit takes, and an image to show them by."""

    rows: np.ndarray
    colors: Any
    title: str
    labels: tuple[Any, ...] = ()
    image: np.ndarray | None = None


def _surface(name: str, title: str, n: int = 1000, **options: Any) -> Callable[[], Data]:
    def make() -> Data:
        surface = getattr(unbend.datasets, name)(n, random_state=0, **options)
        return Data(surface.points, surface.chart[:, 0], title)

    return make


def _digits(labelled: bool = False) -> Data:
    rows, target = load_digits(return_X_y=True)
    colors = [f"C{label}" for label in target[:1000]]
    sheet = rows[:100].reshape(10, 10, 8, 8).swapaxes(1, 2).reshape(80, 80)
    labels = (target[:1000],) if labelled else ()
    return Data(rows[:1000], colors, "1000 images of digits", labels, sheet)


def _rings() -> Data:
    rows, label = make_circles(500, noise=0.05, factor=0.4, random_state=0)
    return Data(rows, label, "two rings")


def _moons() -> Data:
    rows, label = make_moons(500, noise=0.06, random_state=0)
    return Data(rows, label, "two moons")


def _plane(n: int = 40) -> np.ndarray:
    return np.random.default_rng(0).uniform(size=(n, 2)) * (2, 1)


def _distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points, axis=2)


def _cities(monotone: bool = False) -> Data:
    points = _plane()
    table = _distances(points)
    if monotone:
        table = np.expm1(2 * table)
    title = "dissimilarities of 40 places" if monotone else "distances between 40 places"
    order = np.argsort(points[:, 0])
    return Data(table, points[:, 0], title, image=-table[np.ix_(order, order)])


def _three_groups() -> Data:
    group = np.repeat(np.arange(3), 12)
    noise = _distances(np.random.default_rng(0).uniform(size=(36, 2)))
    table = np.where(group[:, None] == group, 0.2 * noise, 1 + noise)
    np.fill_diagonal(table, 0)
    colors = [f"C{one}" for one in group]
    return Data(table, colors, "dissimilarities of 3 × 12 objects", image=-table)


def _judges(weights: tuple[tuple[float, float], ...], title: str) -> Data:
    points = _plane()
    rng = np.random.default_rng(1)
    tables = np.array(
        [_distances((points + rng.normal(0, 0.02, points.shape)) * one) for one in weights]
    )
    order = np.argsort(points[:, 0])
    sheet = np.hstack([-table[np.ix_(order, order)] for table in tables[:2]])
    return Data(tables, points[:, 0], title, image=sheet)


ALIKE = ((1.0, 1.0),) * 4
DIFFERENT = ((1.5, 0.3), (1.2, 0.8), (0.8, 1.2), (0.3, 1.5))

MAKERS: dict[str, Callable[[], Data]] = {
    "swiss_roll": _surface("swiss_roll", "Swiss roll"),
    "swiss_roll_small": _surface("swiss_roll", "Swiss roll, 400 points", n=400),
    "swiss_roll_long": _surface("swiss_roll", "long Swiss roll", length=8),
    "square_roll": _surface("s_curve", "S-curve"),
    "noisy_roll": _surface("swiss_roll", "noisy Swiss roll, σ = 0.5", n=4000, noise=0.5),
    "swiss_hole": _surface("swiss_hole", "Swiss roll with a hole"),
    "punched_sphere": _surface("punched_sphere", "punched sphere"),
    "s_curve": _surface("s_curve", "S-curve"),
    "helix": _surface("toroidal_helix", "toroidal helix"),
    "digits": _digits,
    "digits_labels": lambda: _digits(labelled=True),
    "rings": _rings,
    "moons": _moons,
    "cities": _cities,
    "cities_ranked": lambda: _cities(monotone=True),
    "three_groups": _three_groups,
    "judges": lambda: _judges(DIFFERENT, "two of four judges, who differ"),
    "judges_alike": lambda: _judges(ALIKE, "two of four judges, who agree"),
}


@cache
def make_data(name: str) -> Data:
    """Return the data of a name."""
    return MAKERS[name]()
