"""Centred Gram matrices of points, distances and similarities."""

from unbend.gram.centered import Carry, CentredGram
from unbend.gram.distances import Gram, SimilaritySquares, Squares, additive_constant
from unbend.gram.negative import negative_share
from unbend.gram.points import PointGram

__all__ = [
    "Carry",
    "CentredGram",
    "Gram",
    "PointGram",
    "SimilaritySquares",
    "Squares",
    "additive_constant",
    "negative_share",
]
