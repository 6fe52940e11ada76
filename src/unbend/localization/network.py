"""The gate: distances and anchors as users give them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend.arrays import FloatArray, is_sparse
from unbend.estimators.inputs import check_both_ways, check_distances, check_not_negative
from unbend.graphs.given import is_graph, lengths_of, read_graph


def symmetric_lengths(distances: Any) -> csr_array:
    """Check distances; every pair that was measured is stored both ways, also those of zero."""
    distances = lengths_of(distances)
    lengths = _sparse(distances) if is_sparse(distances) else _dense(distances)
    rows, columns = lengths.coords
    apart = rows != columns
    if lengths.data[~apart].any():
        raise ValueError("a sensor is at a distance other than zero from itself: leave these out")
    rows, columns, values = rows[apart], columns[apart], lengths.data[apart]
    n = lengths.shape[0]
    # A pair may be given one way or both; either way it is stored once each way.
    keys = np.concatenate((rows * n + columns, columns * n + rows))
    unique, first = np.unique(keys, return_index=True)
    data = np.concatenate((values, values))[first]
    return csr_array((data, (unique // n, unique % n)), shape=(n, n))


def by_number(anchors: Any, distances: Any) -> Any:
    """Give anchors that are named by the vertices of a graph the numbers of these."""
    if not is_graph(distances) or not isinstance(anchors, Mapping):
        return anchors
    labels = read_graph(distances, "length").labels
    places = {label: number for number, label in enumerate(labels)}
    for name in anchors:
        if name not in places:
            raise ValueError(
                f"anchor {name!r} is no vertex of the graph: name one, as {labels[0]!r}"
            )
    return {places[name]: position for name, position in anchors.items()}


def _sparse(distances: Any) -> coo_array:
    _check_square(distances.shape)
    if distances.format == "coo":
        _check_once(distances)
    graph = csr_array(distances)
    values = _numbers(graph.data)
    if not np.isfinite(values).all():
        raise ValueError("a distance is not finite: leave out pairs that were not measured")
    check_not_negative(values)
    graph = csr_array((values, graph.indices, graph.indptr), shape=graph.shape)
    check_both_ways(graph)
    found = coo_array(graph)
    rows, columns = found.coords
    return coo_array((found.data, (rows.astype(np.int64), columns.astype(np.int64))), graph.shape)


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


def _dense(distances: Any) -> coo_array:
    if isinstance(distances, np.ma.MaskedArray):
        # What is masked was not measured: as a plain array its numbers would count.
        distances = np.where(np.ma.getmaskarray(distances), np.nan, np.ma.getdata(distances))
    values = _numbers(np.asarray(distances))
    _check_square(values.shape)
    if np.isinf(values).any():
        raise ValueError("a distance is infinite: write NaN for pairs that were not measured")
    known = ~np.isnan(values)
    if (known != known.T).any():
        raise ValueError("a distance is NaN in one direction only: give it both ways, or neither")
    check_not_negative(values[known])
    check_distances(np.where(known, values, 0.0))
    rows, columns = np.nonzero(known)
    return coo_array((values[rows, columns], (rows, columns)), shape=values.shape)


def _numbers(values: Any) -> FloatArray:
    if values.dtype.kind not in "fiub":
        raise ValueError(f"distances must be real numbers, not of type {values.dtype}")
    return np.asarray(values, dtype=np.float64)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        shown = " x ".join(map(str, shape)) or "a number"
        raise ValueError(
            f"distances must be a square matrix, sparse or with NaN where not measured: got {shown}"
        )


def _coordinates(given: Any, who: str) -> FloatArray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{who} must have coordinates that are numbers: got {given!r:.60}"
        ) from error


def anchor_positions(anchors: Any, n: int, dim: int) -> FloatArray:
    """Known positions (n, dim), NaN for all other sensors."""
    known = np.full((n, dim), np.nan)
    if anchors is None:
        return known
    if not isinstance(anchors, Mapping):
        given = _coordinates(anchors, "anchors")
        if given.shape != known.shape:
            raise ValueError(
                f"anchors must be a mapping from sensors to positions, or an array {n} x {dim} "
                f"with NaN for sensors that are none: got {given.shape}"
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
        found = _coordinates(position, f"anchor {sensor}")
        if found.shape != (dim,) or not np.isfinite(found).all():
            raise ValueError(f"anchor {sensor} needs {dim} finite coordinates")
        known[int(sensor)] = found
    return known
