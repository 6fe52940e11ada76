"""Low-rank approximation: factorisations, sketches, column selection, and error bounds."""

from typing import TYPE_CHECKING

from unbend.lazy import lazy_names
from unbend.lowrank.fat import fat, fat_rows
from unbend.lowrank.interpolative import Interpolative, interpolative, randomized_interpolative
from unbend.lowrank.nystrom import (
    CenteredDistances,
    Eigenfunctions,
    NormalizedAffinities,
    nystrom_extension,
    orthogonal_nystrom,
)
from unbend.lowrank.primitives import largest_eigenvalue, largest_singular
from unbend.lowrank.rank_revealing import (
    RankRevealingLU,
    RankRevealingQR,
    rank_revealing_lu,
    strong_qr,
)
from unbend.lowrank.sketch import (
    SKETCHES,
    apply_sketch,
    random_matrix,
    sketch_matrix,
    sparse_signs,
)

if TYPE_CHECKING:
    from unbend.lowrank.bounds import (
        LengthTails,
        guaranteed_distortion,
        guaranteed_exponent,
        johnson_lindenstrauss,
        length_tails,
    )
    from unbend.lowrank.cholesky import Columnwise, PivotedCholesky, pivoted_cholesky
    from unbend.lowrank.selection import (
        WeightedColumns,
        greedy_columns,
        leverage_columns,
        leverage_scores,
        pivoted_columns,
        random_columns,
        volume_columns,
        weighted_columns,
    )
    from unbend.lowrank.svd import RowBlocks, Svd, randomized_svd, single_pass_svd
    from unbend.lowrank.utv import ULV, URV, VSV, SignedTriangle, ulv, urv, vsv

__all__ = [
    "SKETCHES",
    "ULV",
    "URV",
    "VSV",
    "CenteredDistances",
    "Columnwise",
    "Eigenfunctions",
    "Interpolative",
    "LengthTails",
    "NormalizedAffinities",
    "PivotedCholesky",
    "RankRevealingLU",
    "RankRevealingQR",
    "RowBlocks",
    "SignedTriangle",
    "Svd",
    "WeightedColumns",
    "apply_sketch",
    "fat",
    "fat_rows",
    "greedy_columns",
    "guaranteed_distortion",
    "guaranteed_exponent",
    "interpolative",
    "johnson_lindenstrauss",
    "largest_eigenvalue",
    "largest_singular",
    "length_tails",
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
    "sparse_signs",
    "strong_qr",
    "ulv",
    "urv",
    "volume_columns",
    "vsv",
    "weighted_columns",
]

# Imported when they are first used: fits need none of them.
__getattr__ = lazy_names(
    __name__,
    {
        "bounds": (
            "LengthTails",
            "guaranteed_distortion",
            "guaranteed_exponent",
            "johnson_lindenstrauss",
            "length_tails",
        ),
        "cholesky": ("Columnwise", "PivotedCholesky", "pivoted_cholesky"),
        "selection": (
            "WeightedColumns",
            "greedy_columns",
            "leverage_columns",
            "leverage_scores",
            "pivoted_columns",
            "random_columns",
            "volume_columns",
            "weighted_columns",
        ),
        "svd": ("RowBlocks", "Svd", "randomized_svd", "single_pass_svd"),
        "utv": ("ULV", "URV", "VSV", "SignedTriangle", "ulv", "urv", "vsv"),
    },
)


def __dir__() -> list[str]:
    return __all__
