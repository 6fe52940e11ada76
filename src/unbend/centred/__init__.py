"""Centred Gram matrices: what they share, those of points, and how much of one is negative."""

from unbend.centred.matrix import Carry, CentredGram
from unbend.centred.negative import negative_share
from unbend.centred.points import PointGram

__all__ = ["Carry", "CentredGram", "PointGram", "negative_share"]
