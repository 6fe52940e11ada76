"""Centered Gram matrices of points, distances and similarities."""

from unbend.gram.centered import Carry, CenteredGram, FormedGram, PointGram, negative_share
from unbend.gram.distances import Gram, SimilaritySquares, Squares, additive_constant
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
