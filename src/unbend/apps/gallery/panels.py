"""One surface embedded by every method, with the quality of each embedding."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.datasets import SURFACES, Surface
from unbend.quality import procrustes, trustworthiness
from unbend.quality.procrustes import Kind
from unbend.registry import METHODS, Entry
from unbend.validation.parameters import parameters

NEIGHBORS, USUAL = 8, 10

# Random gaps would tear a closed curve open at so few neighbours.
SAMPLING = {"toroidal_helix": "even"}

# Elevation and azimuth, in degrees, from which a surface is seen: nearly along the second axis,
# around which most are bent. The helix winds around the third.
VIEW = (15.0, -78.0)
VIEWS = {"toroidal_helix": (50.0, -78.0)}


@dataclass(frozen=True, eq=False)
class Fit:
    """The embedding of a method, and its quality.

    Parameters
    ----------
    coordinates : ndarray of shape (n, 2)
        The embedding.
    kind : {"similarity", "affine"}
        The maps up to which the method can know the chart: similarities for methods whose
        coordinates have the scale of the data, affine maps for those that normalise them.
    error : float or None
        Procrustes error to the chart up to such maps, of its worst coordinate for affine ones;
        None where no chart is isometric.
    trust : float
        Trustworthiness.
    seconds : float
        Time of the fit alone.
    report : str
        The method's own report.
    """

    coordinates: FloatArray
    kind: Kind
    error: float | None
    trust: float
    seconds: float
    report: str


@dataclass(frozen=True, eq=False)
class Panel:
    """One method on one surface: its fit, or the message of its failure."""

    method: Entry
    fit: Fit | None
    failure: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Row:
    """One surface, a color between 0 and 1 for each of its points, and a panel for each method."""

    surface: Surface
    colors: FloatArray
    panels: tuple[Panel, ...]

    @property
    def title(self) -> str:
        """The surface's name in words."""
        return self.surface.name.replace("_", " ")

    @property
    def view(self) -> tuple[float, float]:
        """Elevation and azimuth, in degrees, from which the surface is recognised."""
        return VIEWS.get(self.surface.name, VIEW)


def embed(name: str, n: int, seed: int, methods: Sequence[Entry] = METHODS) -> Row:
    """Sample a surface and embed it in the plane by each method.

    Parameters
    ----------
    name : str
        One of `unbend.datasets.SURFACES`.
    n : int
        Number of points, uniform by area (evenly spaced on the helix).
    seed : int
        Seed of the points.
    methods : sequence of Entry
        The methods, by default all.

    Returns
    -------
    Row
        A panel for each method, in order; a method that fails does not stop the others.

    Examples
    --------
    >>> row = embed("square", 100, seed=0, methods=METHODS[:1])
    >>> row.panels[0].fit.error < 1e-12
    True
    """
    surface = SURFACES[name](n, sampling=SAMPLING.get(name, "area"), random_state=seed)
    shade = surface.chart[:, 0] if surface.labels is None else surface.labels
    colors = (shade - shade.min()) / max(float(shade.max() - shade.min()), 1e-300)
    return Row(surface, colors, tuple(_panel(surface, method) for method in methods))


def _panel(surface: Surface, method: Entry) -> Panel:
    fit, failure = None, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = _fit(surface, method.load())
        # Whatever goes wrong inside one method is shown in its panel: the others must go on.
        except Exception as error:
            failure = " ".join(f"{type(error).__name__}: {error}".split())
    # A method may warn of the same thing more than once; a dict keeps the order.
    messages = dict.fromkeys(str(warning.message) for warning in caught)
    return Panel(method, fit, failure, tuple(messages))


def _fit(surface: Surface, method: Any) -> Fit:
    values: dict[str, int] = {"n_components": 2}
    # A method that asks for more neighbours than the usual ten by default has its reason.
    if any(p.name == "n_neighbors" and p.default == USUAL for p in parameters(method)):
        values["n_neighbors"] = NEIGHBORS
    estimator = method(**values)
    start = time.perf_counter()
    # Surfaces have no classes: to a supervised method all are unknown.
    classes = np.full(len(surface.points), -1)
    coordinates: FloatArray = estimator.fit_transform(surface.points, classes)
    seconds = time.perf_counter() - start
    kind: Kind = "similarity" if method.isometric else "affine"
    return Fit(
        coordinates,
        kind,
        _error(surface.chart, coordinates, kind) if surface.isometric else None,
        trustworthiness(surface.points, coordinates, n_neighbors=NEIGHBORS),
        seconds,
        str(estimator.report_),
    )


def _error(chart: FloatArray, coordinates: FloatArray, kind: Kind) -> float:
    if kind == "similarity":
        return procrustes(chart, coordinates)
    # Taken together, a long coordinate that is found would hide a short one that is lost.
    return max(procrustes(column[:, None], coordinates, kind="affine") for column in chart.T)
