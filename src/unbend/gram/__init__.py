"""Centered Gram matrices of points, distances and similarities."""

from typing import TYPE_CHECKING

from unbend.gram.centered import Carry, CenteredGram, FormedGram, PointGram, negative_share
from unbend.gram.distances import Gram, SimilaritySquares, Squares, additive_constant
from unbend.lazy import lazy_names

if TYPE_CHECKING:
    from unbend.gram.kernels import BasePointKernel

__all__ = [
    "BasePointKernel",
    "Carry",
    "CenteredGram",
    "FormedGram",
    "Gram",
    "PointGram",
    "SimilaritySquares",
    "Squares",
    "additive_constant",
    "negative_share",
]

# Imported when it is first used: few fits need kernels of points.
__getattr__ = lazy_names(__name__, {"kernels": ("BasePointKernel",)})


def __dir__() -> list[str]:
    return __all__
