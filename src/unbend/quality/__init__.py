"""Quality of an embedding, with or without the true coordinates."""

from typing import TYPE_CHECKING

from unbend.lazy import lazy_names
from unbend.quality.procrustes import align, procrustes
from unbend.quality.ranks import (
    continuity,
    mean_relative_rank_errors,
    neighborhood_preservation,
    trustworthiness,
)
from unbend.quality.redundancy import coordinate_redundancy, occupancy
from unbend.quality.spread import residual_variance, widest_gap

if TYPE_CHECKING:
    from unbend.quality.corank import CoRanking, coranking, coranking_matrix
    from unbend.quality.geometry import (
        conformality_error,
        density_distortion,
        local_isometry_error,
        noise_amplification,
    )
    from unbend.quality.labels import color_mixing, neighborhood_hit
    from unbend.quality.measure import Measure
    from unbend.quality.stress_measures import Shepard, shepard, strain, stress

__all__ = [
    "CoRanking",
    "Measure",
    "Shepard",
    "align",
    "color_mixing",
    "conformality_error",
    "continuity",
    "coordinate_redundancy",
    "coranking",
    "coranking_matrix",
    "density_distortion",
    "local_isometry_error",
    "mean_relative_rank_errors",
    "neighborhood_hit",
    "neighborhood_preservation",
    "noise_amplification",
    "occupancy",
    "procrustes",
    "residual_variance",
    "shepard",
    "strain",
    "stress",
    "trustworthiness",
    "widest_gap",
]

# Imported when they are first used: fits need none of them.
__getattr__ = lazy_names(
    __name__,
    {
        "corank": ("CoRanking", "coranking", "coranking_matrix"),
        "geometry": (
            "conformality_error",
            "density_distortion",
            "local_isometry_error",
            "noise_amplification",
        ),
        "labels": ("color_mixing", "neighborhood_hit"),
        "measure": ("Measure",),
        "stress_measures": ("Shepard", "shepard", "strain", "stress"),
    },
)


def __dir__() -> list[str]:
    return __all__
