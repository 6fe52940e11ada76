"""The methods of `unbend` on Dask arrays and data frames, for rows beyond one machine."""

try:
    import dask  # noqa: F401
    import distributed  # noqa: F401
except ImportError:
    raise ImportError("unbend.scale needs Dask: pip install 'unbend[dask]'") from None

from typing import Any

from unbend.scale.collections import Partitions, open_rows
from unbend.scale.cost import Cost, estimate_cost
from unbend.scale.estimators import CLASSES
from unbend.scale.mapping import map_rows
from unbend.scale.neighbors import nearest_neighbors
from unbend.scale.quality import SampledQuality, measure_quality

__all__ = [
    "Cost",
    "Partitions",
    "SampledQuality",
    "estimate_cost",
    "map_rows",
    "measure_quality",
    "nearest_neighbors",
    "open_rows",
    *CLASSES,
]


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return CLASSES[name]
    raise AttributeError(f"module 'unbend.scale' has no attribute {name!r}")
