"""Few directions or columns that hold most of a matrix, and bounds of what they leave."""

from unbend.lowrank.blocks import RowBlocks
from unbend.lowrank.cholesky import Columnwise, PivotedCholesky, pivoted_cholesky
from unbend.lowrank.fat import fat, fat_rows
from unbend.lowrank.interpolative import Interpolative, interpolative, randomized_interpolative
from unbend.lowrank.lu import RankRevealingLU, rank_revealing_lu
from unbend.lowrank.norms import largest_eigenvalue, largest_singular
from unbend.lowrank.nystrom import (
    CenteredDistances,
    Eigenfunctions,
    NormalizedAffinities,
    nystrom_extension,
    orthogonal_nystrom,
)
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
from unbend.lowrank.sketch import SKETCHES, random_matrix, sketch_matrix, sketched
from unbend.lowrank.svd import Svd, randomized_svd, single_pass_svd
from unbend.lowrank.ulv import ULV, ulv
from unbend.lowrank.urv import URV, urv
from unbend.lowrank.volume import volume_columns
from unbend.lowrank.vsv import VSV, SignedTriangle, vsv

__all__ = [
    "SKETCHES",
    "ULV",
    "URV",
    "VSV",
    "CenteredDistances",
    "Columnwise",
    "Eigenfunctions",
    "Interpolative",
    "NormalizedAffinities",
    "PivotedCholesky",
    "RankRevealingLU",
    "RankRevealingQR",
    "RowBlocks",
    "SignedTriangle",
    "Svd",
    "WeightedColumns",
    "fat",
    "fat_rows",
    "greedy_columns",
    "interpolative",
    "largest_eigenvalue",
    "largest_singular",
    "leverage_columns",
    "leverage_scores",
    "nystrom_extension",
    "orthogonal_nystrom",
    "pivoted_cholesky",
    "pivoted_columns",
    "random_columns",
    "random_matrix",
    "randomized_interpolative",
    "randomized_svd",
    "rank_revealing_lu",
    "single_pass_svd",
    "sketch_matrix",
    "sketched",
    "strong_qr",
    "ulv",
    "urv",
    "volume_columns",
    "vsv",
    "weighted_columns",
]
