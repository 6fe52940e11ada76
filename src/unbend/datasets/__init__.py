"""Artificial data with known true coordinates.

Every surface function (book 1.5.4, 13.3 and 14.5.1) returns a `Surface`: points in space and the
chart they were sampled from, so that an embedding can be compared with the truth. Every picture
function (8.4.2, 14.5.2 and 14.5.3) returns `Pictures`: pictures, grey or in colour, and the
parameters they were rendered from. `SURFACES` and `PICTURES` list the functions by name.
"""

from collections.abc import Callable

from unbend.datasets.containers import Pictures, Surface
from unbend.datasets.image_sets import (
    rotated_pictures,
    shifted_pictures,
    turning_circle,
    turning_object,
)
from unbend.datasets.surfaces import (
    clusters_3d,
    punched_sphere,
    s_curve,
    square,
    swiss_hole,
    swiss_roll,
    toroidal_helix,
)

SURFACES: dict[str, Callable[..., Surface]] = {
    "swiss_roll": swiss_roll,
    "s_curve": s_curve,
    "punched_sphere": punched_sphere,
    "clusters_3d": clusters_3d,
    "square": square,
    "swiss_hole": swiss_hole,
    "toroidal_helix": toroidal_helix,
}

PICTURES: dict[str, Callable[..., Pictures]] = {
    "turning_object": turning_object,
    "turning_circle": turning_circle,
    "shifted_pictures": shifted_pictures,
    "rotated_pictures": rotated_pictures,
}

__all__ = [
    "PICTURES",
    "SURFACES",
    "Pictures",
    "Surface",
    "clusters_3d",
    "punched_sphere",
    "rotated_pictures",
    "s_curve",
    "shifted_pictures",
    "square",
    "swiss_hole",
    "swiss_roll",
    "toroidal_helix",
    "turning_circle",
    "turning_object",
]
