"""Plain twins of the compiled kernels: the oracle of their tests, and the fallback."""

from unbend._kernels.reference.alignment import align, align_rows, local_bases
from unbend._kernels.reference.cholesky import analyse, factor
from unbend._kernels.reference.paths import (
    ShortestPaths32,
    ShortestPaths64,
    place_by_paths,
    squared_products,
)

__all__ = [
    "ShortestPaths32",
    "ShortestPaths64",
    "align",
    "align_rows",
    "analyse",
    "factor",
    "local_bases",
    "place_by_paths",
    "squared_products",
]
