"""Input of `localize`: distances between sensors, and anchors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend.arrays import FloatArray, is_sparse
from unbend.graphs.readers import is_graph, lengths_of, read_graph
from unbend.validation.arrays import check_rows, check_shape, real_array
from unbend.validation.distances import check_distances


def symmetric_lengths(distances: Any) -> csr_array:
    """Check distances; every pair that was measured is stored both ways, also those of zero."""
    distances = lengths_of(distances)
    sparse = is_sparse(distances)
    if sparse and distances.format == "coo":
        check_shape(distances, "distances")
        _check_once(distances)
    # Of any scale: `localize` works in units of the distances.
    values = check_rows(
        distances, "distances", min_rows=1, sparse=True, missing=not sparse, scale=False
    )
    check_distances(values, "distances", missing=True)
    if sparse:
        entries = coo_array(values)
        rows, columns = (ends.astype(np.int64) for ends in entries.coords)
        lengths = entries.data
    else:
        rows, columns = np.nonzero(~np.isnan(values))
        lengths = values[rows, columns]
    apart = rows != columns
    rows, columns, lengths = rows[apart], columns[apart], lengths[apart].astype(np.float64)
    n = values.shape[0]
    # A pair may be given one way or both; either way it is stored once each way.
    keys = np.concatenate((rows * n + columns, columns * n + rows))
    unique, first = np.unique(keys, return_index=True)
    data = np.concatenate((lengths, lengths))[first]
    return csr_array((data, (unique // n, unique % n)), shape=(n, n))


def without_names(distances: Any) -> tuple[Any, Sequence[Any] | None]:
    """Distances, and the names of the sensors where a graph, a table or a data frame has some."""
    if is_graph(distances):
        return distances, read_graph(distances, "length").labels
    if hasattr(distances, "names") and hasattr(distances, "values"):
        return distances.values, distances.names
    index, columns = (getattr(distances, part, None) for part in ("index", "columns"))
    if columns is not None and list(index if index is not None else columns) == list(columns):
        return distances, list(columns)
    return distances, None


def by_number(anchors: Any, names: Sequence[Any] | None) -> Any:
    """Give anchors that are named as the sensors are the numbers of these."""
    if names is None or not isinstance(anchors, Mapping):
        return anchors
    places = {name: number for number, name in enumerate(names)}
    for name in anchors:
        if name not in places:
            raise ValueError(f"anchor {name!r} is no sensor: name one, as {names[0]!r}")
    return {places[name]: position for name, position in anchors.items()}


def _check_once(graph: Any) -> None:
    """Refuse a pair with several entries, which SciPy would add up."""
    rows, columns = (np.asarray(ends, dtype=np.int64) for ends in graph.coords)
    keys, count = np.unique(rows * graph.shape[1] + columns, return_counts=True)
    if (count > 1).any():
        row, column = divmod(int(keys[np.argmax(count > 1)]), graph.shape[1])
        raise ValueError(
            f"the sparse matrix has several distances from sensor {row} to {column}: give one, "
            "for example their mean"
        )


def anchor_positions(anchors: Any, n: int, dim: int) -> FloatArray:
    """Known positions (n, dim), NaN for all other sensors."""
    known = np.full((n, dim), np.nan)
    if anchors is None:
        return known
    if not isinstance(anchors, Mapping):
        given = np.asarray(real_array(anchors, "anchors"), dtype=np.float64)
        if given.shape != known.shape:
            raise ValueError(
                f"anchors must be a mapping from sensors to positions, or an array {n} x {dim} "
                f"with NaN for all other sensors: got {given.shape}"
            )
        partly = np.isnan(given).any(axis=1) & ~np.isnan(given).all(axis=1)
        if partly.any() or np.isinf(given).any():
            raise ValueError("an anchor has a coordinate that is not finite: give all or none")
        return given.copy()
    for sensor, position in anchors.items():
        if isinstance(sensor, bool) or not isinstance(sensor, int | np.integer):
            raise ValueError(f"anchor {sensor!r} is not the number of a sensor")
        if not 0 <= sensor < n:
            raise ValueError(f"anchor {sensor} is no sensor: they are numbered 0 to {n - 1}")
        found = np.asarray(real_array(position, f"anchor {sensor}"), dtype=np.float64)
        if found.shape != (dim,) or not np.isfinite(found).all():
            raise ValueError(f"anchor {sensor} needs {dim} finite coordinates")
        known[int(sensor)] = found
    return known
