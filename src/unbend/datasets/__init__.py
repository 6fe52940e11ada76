"""Artificial surfaces that come with their true coordinates (book 1.5.4, 13.3 and 14.5.1).

Every function returns a `Surface`: points in space and the chart they were drawn from, so that an
embedding can be measured against the truth. `SURFACES` lists the functions by name.
"""

from collections.abc import Callable

from unbend.datasets.flat import square
from unbend.datasets.helix import toroidal_helix
from unbend.datasets.rolls import s_curve, swiss_hole, swiss_roll
from unbend.datasets.spheres import clusters_3d, punched_sphere
from unbend.datasets.surface import Surface

SURFACES: dict[str, Callable[..., Surface]] = {
    "swiss_roll": swiss_roll,
    "s_curve": s_curve,
    "punched_sphere": punched_sphere,
    "clusters_3d": clusters_3d,
    "square": square,
    "swiss_hole": swiss_hole,
    "toroidal_helix": toroidal_helix,
}

__all__ = [
    "SURFACES",
    "Surface",
    "clusters_3d",
    "punched_sphere",
    "s_curve",
    "square",
    "swiss_hole",
    "swiss_roll",
    "toroidal_helix",
]
