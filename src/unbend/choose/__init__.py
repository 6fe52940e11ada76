"""Choices made for the user: neighbours, bandwidth, dimensions, method.

Every choice measures, says what it measured, and gives the reason in words.
"""

from unbend.choose.bandwidth import BandwidthChoice, choose_bandwidth
from unbend.choose.comparison import Comparison, Trial, compare
from unbend.choose.dimensions import DimensionChoice, choose_dimension
from unbend.choose.findings import Findings
from unbend.choose.neighbors import NeighborsChoice, choose_neighbors
from unbend.choose.resampling import resampled, stability
from unbend.choose.suggestion import Suggestion, suggest

__all__ = [
    "BandwidthChoice",
    "Comparison",
    "DimensionChoice",
    "Findings",
    "NeighborsChoice",
    "Suggestion",
    "Trial",
    "choose_bandwidth",
    "choose_dimension",
    "choose_neighbors",
    "compare",
    "resampled",
    "stability",
    "suggest",
]
