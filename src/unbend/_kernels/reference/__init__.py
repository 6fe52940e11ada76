"""Reference implementations of the compiled kernels: test oracles, and the fallback.

They document both, and mypy reads their signatures; `threads` is mostly ignored.
"""

from unbend._kernels.reference.layout import (
    attract,
    descend,
    gather_forces,
    place_points,
    repel_exactly,
    spread_density,
)
from unbend._kernels.reference.local_kernels import (
    align,
    align_rows,
    barycentric_weights,
    distinct_rows,
    local_bases,
    near_centred,
    near_products,
    ridged_gram,
)
from unbend._kernels.reference.nearest import (
    KdTree,
    count_nearer,
    join,
    offer_columns,
    offer_pairs,
    propose,
    rank,
    smallest,
    sort_shortlists,
)
from unbend._kernels.reference.sparse_graphs import (
    Analysis,
    Factor,
    ShortestPaths32,
    ShortestPaths64,
    analyse,
    both_ways,
    components,
    factor,
    place_by_paths,
    spanning_trees,
    sparse_product,
    squared_products,
)
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
    "descend",
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
    "place_points",
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
