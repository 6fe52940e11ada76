"""Plain twins of the compiled kernels: the oracle of their tests, and the fallback.

They document what both do, and mypy reads their signatures; `threads` is accepted and mostly not
used.
"""

from unbend._kernels.reference.alignment import (
    align,
    align_rows,
    barycentric_weights,
    local_bases,
    ridged_gram,
)
from unbend._kernels.reference.cholesky import Analysis, Factor, analyse, factor
from unbend._kernels.reference.descent import join, propose
from unbend._kernels.reference.graphs import both_ways, components, spanning_trees, sparse_product
from unbend._kernels.reference.layout import (
    attract,
    gather_forces,
    repel_exactly,
    spread_density,
)
from unbend._kernels.reference.moments import distinct_rows, near_centred, near_products
from unbend._kernels.reference.neighbors import KdTree, count_nearer, rank, smallest
from unbend._kernels.reference.paths import (
    ShortestPaths32,
    ShortestPaths64,
    place_by_paths,
    squared_products,
)
from unbend._kernels.reference.products import offer_columns, offer_pairs, sort_shortlists
from unbend._kernels.reference.stress import stress

__all__ = [
    "Analysis",
    "Factor",
    "KdTree",
    "ShortestPaths32",
    "ShortestPaths64",
    "align",
    "align_rows",
    "analyse",
    "attract",
    "barycentric_weights",
    "both_ways",
    "components",
    "count_nearer",
    "distinct_rows",
    "factor",
    "gather_forces",
    "join",
    "local_bases",
    "near_centred",
    "near_products",
    "offer_columns",
    "offer_pairs",
    "place_by_paths",
    "propose",
    "rank",
    "repel_exactly",
    "ridged_gram",
    "smallest",
    "sort_shortlists",
    "spanning_trees",
    "sparse_product",
    "spread_density",
    "squared_products",
    "stress",
]
