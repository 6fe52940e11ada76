"""How good an embedding is, with or without the true coordinates."""

from unbend.quality.directions import repeated_directions
from unbend.quality.procrustes import align, procrustes
from unbend.quality.ranks import continuity, trustworthiness
from unbend.quality.spread import residual_variance, widest_gap

__all__ = [
    "align",
    "continuity",
    "procrustes",
    "repeated_directions",
    "residual_variance",
    "trustworthiness",
    "widest_gap",
]
