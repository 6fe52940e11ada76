"""Suggestion of a method from measured properties of the data."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.progress import advance
from unbend.quality.measure import sample_rows
from unbend.selection._common import check_points, make_method
from unbend.selection.findings import Findings, measure
from unbend.validation.arrays import check_distinct
from unbend.validation.scalars import check_integer

# Rows beyond which no n × n matrix is proposed.
MANY = 6000
# Different rows that spectra and neighbourhoods of a few dimensions need.
DIFFERENT = 10


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A suggested method, with the reasons.

    Attributes
    ----------
    estimator : estimator
        The method with its parameters, not fitted.
    reasons : list of str
        Findings and conclusions, as sentences.
    alternatives : list of estimator
        What else to try, best first.
    findings : Findings
        What was measured.
    """

    estimator: Any
    reasons: list[str]
    alternatives: list[Any]
    findings: Findings

    def __str__(self) -> str:
        lines = [f"{self.estimator}", *(f"  {reason}" for reason in self.reasons)]
        others = ", ".join(str(other) for other in self.alternatives)
        return "\n".join([*lines, f"  also: {others}"])


def suggest(
    X: Any, *, dimension: int | None = None, max_rows: int = 1500, random_state: int = 0
) -> Suggestion:
    """Suggest a method for the data, from measurements.

    It measures the intrinsic dimension, the variance outside a plane, connectivity and clusters,
    noise, and whether geodesic distances are Euclidean, which they are not if there is a hole or
    the surface is closed. The conclusions follow from the theory of the methods: Isomap needs a
    convex chart, local methods tolerate holes but no noise, and diffusion maps separate clusters
    and represent closed surfaces.

    It cannot see what the embedding is for. Thresholds are calibrated on surfaces of one and
    two dimensions: in more, take the result as a first guess and check it with `compare`.

    Parameters
    ----------
    X : array (n, D)
        Points.
    dimension : int, optional
        Intrinsic dimension, where it is known.
    max_rows : int
        Above this number of rows, a random sample of that many is measured.
    random_state : int
        Seed of the sampling.

    Returns
    -------
    Suggestion
        `estimator` is ready to be fitted; printable.

    Examples
    --------
    >>> import unbend
    >>> print(type(suggest(unbend.datasets.square(800, random_state=0).points).estimator).__name__)
    PCA
    >>> holed = suggest(unbend.datasets.swiss_hole(1500, random_state=0).points)
    >>> type(holed.estimator).__name__
    'HessianLLE'
    """
    if dimension is not None:
        dimension = check_integer("dimension", dimension)
    points = check_points(X, min_rows=30)
    sample = points[sample_rows(len(points), max_rows, random_state)]
    # Duplicate rows carry no further information.
    sample = sample[np.sort(np.unique(sample, axis=0, return_index=True)[1])]
    if len(sample) == 1:
        raise ValueError("All rows of X are equal. Pass at least two different points.")
    check_distinct(len(sample), DIFFERENT)
    advance("suggest", 0, 1)
    with warnings.catch_warnings():
        # The reasons include what the fits warn about.
        warnings.simplefilter("ignore")
        found = measure(points, sample, dimension)
    advance("suggest", 1, 1)
    reasons = [
        f"{found.n} rows of {found.columns} columns, intrinsic dimension {_dimension_text(found)}"
    ]
    chosen, why, others = _decide(found)
    return Suggestion(chosen, [*reasons, *why], others, found)


def _dimension_text(found: Findings) -> str:
    split = f" or {found.rival}: the rules disagree, and noise may inflate the larger estimate"
    return f"{found.dimension}{'' if found.rival is None else split}"


def _decide(found: Findings) -> tuple[Any, list[str], list[Any]]:
    """Find method, reasons and alternatives; the first rule that holds decides."""
    d, size = found.dimension, {"n_neighbors": found.n_neighbors}
    isomap = _isomap(found)
    ltsa = make_method("LTSA", n_components=d, **size)
    shown = {"n_components": max(2, d)}
    if found.clustered:
        many = max(found.parts, found.clusters)
        held = "are disconnected" if found.parts > 1 else "are connected by thin bridges"
        why = (
            f"{many} clusters that {held}: diffusion maps separate them and keep each one together"
        )
        return (
            make_method("DiffusionMaps", **shown),
            [why],
            [make_method("LaplacianEigenmaps", **shown), make_method("PCA", **shown)],
        )
    if found.flat:
        why = f"{found.outside:.1%} of the variance lies outside a plane: the data are flat"
        return make_method("PCA", n_components=d), [why], [isomap]
    if found.closed:
        why = (
            f"{d} coordinates leave {found.residual:.0%} of the geodesics unexplained: the data "
            f"close up or curve, and need {d + 1} coordinates to be shown without a tear"
        )
        more = {"n_components": d + 1}
        return make_method("DiffusionMaps", **more), [why], [_isomap(found, d + 1), ltsa]
    if found.noisy:
        why = (
            f"noise hides a coordinate from local methods ({found.hidden:.1f} times what they "
            "can bear): geodesics average over it"
        )
        return isomap, [why], [make_method("DiffusionMaps", **shown), ltsa]
    if found.convex:
        why = (
            f"{found.residual:.2%} of the geodesics is left unexplained by {d} coordinates: a "
            "sheet without holes, of which Isomap keeps the lengths"
        )
        return (
            isomap,
            [why, *_size_advice(found)],
            [ltsa, make_method("HessianLLE", n_components=d, **size)],
        )
    why = (
        f"geodesics are bent ({found.residual:.1%} unexplained) although the sheet is locally "
        "flat: a hole or a notch, around which Isomap would stretch it"
    )
    least = (d + 1) * (d + 2) // 2
    hessian = make_method("HessianLLE", n_components=d, n_neighbors=max(found.n_neighbors, least))
    return hessian, [why], [ltsa, isomap]


def _isomap(found: Findings, d: int | None = None) -> Any:
    name = "Isomap" if found.n <= MANY else "LandmarkIsomap"
    return make_method(name, n_components=d or found.dimension, n_neighbors=found.n_neighbors)


def _size_advice(found: Findings) -> list[str]:
    return [f"{found.n} rows: landmarks, since n × n distances are many"] * (found.n > MANY)
