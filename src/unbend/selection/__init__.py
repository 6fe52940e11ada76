"""Choice of the method, and of neighbours, bandwidth and dimension.

Every choice reports what it measured and the reason in a sentence.
"""

from unbend.selection.bandwidth import BandwidthChoice, choose_bandwidth
from unbend.selection.comparison import Comparison, Trial, compare
from unbend.selection.dimensions import DimensionChoice, choose_dimension
from unbend.selection.findings import Findings
from unbend.selection.neighborhood_size import NeighborsChoice, choose_neighbors
from unbend.selection.resampling import resample, stability
from unbend.selection.suggestion import Suggestion, suggest

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
    "resample",
    "stability",
    "suggest",
]
