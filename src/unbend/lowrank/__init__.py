"""Few directions or columns that hold most of a matrix, and bounds of what they leave."""

from unbend.lowrank.cholesky import Columnwise, PivotedCholesky, pivoted_cholesky
from unbend.lowrank.interpolative import Interpolative, interpolative, randomized_interpolative
from unbend.lowrank.lu import RankRevealingLU, rank_revealing_lu
from unbend.lowrank.norms import largest_eigenvalue, largest_singular
from unbend.lowrank.principal import PrincipalAxes, dual_axes, em_axes, sensible_axes
from unbend.lowrank.qr import RankRevealingQR, strong_qr
from unbend.lowrank.selection import (
    WeightedColumns,
    greedy_columns,
    leverage_columns,
    leverage_scores,
    pivoted_columns,
    random_columns,
    weighted_columns,
)
from unbend.lowrank.ulv import ULV, ulv
from unbend.lowrank.urv import URV, urv
from unbend.lowrank.volume import volume_columns
from unbend.lowrank.vsv import VSV, SignedTriangle, vsv

__all__ = [
    "ULV",
    "URV",
    "VSV",
    "Columnwise",
    "Interpolative",
    "PivotedCholesky",
    "PrincipalAxes",
    "RankRevealingLU",
    "RankRevealingQR",
    "SignedTriangle",
    "WeightedColumns",
    "dual_axes",
    "em_axes",
    "greedy_columns",
    "interpolative",
    "largest_eigenvalue",
    "largest_singular",
    "leverage_columns",
    "leverage_scores",
    "pivoted_cholesky",
    "pivoted_columns",
    "random_columns",
    "randomized_interpolative",
    "rank_revealing_lu",
    "sensible_axes",
    "strong_qr",
    "ulv",
    "urv",
    "volume_columns",
    "vsv",
    "weighted_columns",
]
