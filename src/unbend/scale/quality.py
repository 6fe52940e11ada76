"""Quality of an embedding of a Dask collection: sampled rows, compared with all others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.neighbors.index.protocol import drop_self
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.quality import Measure
from unbend.quality.measure import mean_measure
from unbend.quality.ranks import agreement
from unbend.scale.blocks import sample_numbers
from unbend.scale.collections import LazyRows, open_collection
from unbend.scale.neighbors import exact_neighbors
from unbend.scale.workers import compute_all, ship
from unbend.validation.random_state import generator
from unbend.validation.scalars import check_integer, check_neighbors


@dataclass(frozen=True)
class SampledQuality:
    """Measures of neighbourhood preservation, with their standard errors from sampling.

    Attributes
    ----------
    neighborhood_preservation, trustworthiness, continuity : Measure
        As the functions of `unbend.quality`; `rows` are the numbers of the sampled rows.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import unbend
    >>> rows = da.from_array(np.random.default_rng(0).normal(size=(60, 3)), chunks=(20, 3))
    >>> found = unbend.scale.measure_quality(rows, rows, sample=20)
    >>> float(found.trustworthiness), float(found.continuity)
    (1.0, 1.0)
    """

    neighborhood_preservation: Measure
    trustworthiness: Measure
    continuity: Measure


def measure_quality(
    X: Any, embedding: Any, *, n_neighbors: int = 10, sample: int = 1000, random_state: Any = None
) -> SampledQuality:
    """Measure how well an embedding preserves neighbourhoods of a Dask collection.

    Neighbours and ranks of the sampled rows are exact, among all rows: only the average is an
    estimate. Four passes over both collections; the time grows with the sample times the rows.

    Parameters
    ----------
    X, embedding : Dask array or data frame, or path of a folder of Parquet or Zarr
        Rows and their coordinates, in the same order; partitions may differ.
    n_neighbors : int
        Neighbours that are compared, less than half of the rows.
    sample : int
        Number of rows whose neighbours are compared, chosen by a hash of their number.
    random_state : int, Generator or RandomState, optional
        Seed of the sample. None uses a fixed seed, so results are reproducible.

    Returns
    -------
    SampledQuality

    Examples
    --------
    >>> import dask.array as da
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(600, random_state=0)
    >>> chunks = da.from_array(roll.points, chunks=(200, 3))
    >>> flat = da.from_array(roll.chart, chunks=(300, 2))
    >>> measure_quality(chunks, flat, sample=100).trustworthiness > 0.99
    True
    """
    data, coordinates = LazyRows(open_collection(X)), LazyRows(open_collection(embedding))
    n = data.n
    if coordinates.n != n:
        raise ValueError(
            f"X has {n} rows and embedding has {coordinates.n}. Pass the same samples in the same "
            "order."
        )
    k = check_neighbors(n_neighbors, n, high=(n - 1) // 2)
    count = min(n, check_integer("sample", sample, 2))
    seed = int(generator(random_state).integers(2**63))
    numbers = np.sort(sample_numbers(n, count, seed))
    before, after = (_nearest_others(side, numbers, k) for side in (data, coordinates))
    preserved = mean_measure(agreement(before, after, n - 1), numbers, n)
    return SampledQuality(
        preserved, _score(data, numbers, after, n), _score(coordinates, numbers, before, n)
    )


def _nearest_others(rows: LazyRows, numbers: IntArray, k: int) -> IntArray:
    return drop_self(*exact_neighbors(rows, numbers, k + 1), numbers)[0]


def _score(reference: LazyRows, numbers: IntArray, neighbors: IntArray, n: int) -> Measure:
    """Penalise neighbours by how far down the ranks of the reference they are."""
    k = neighbors.shape[1]
    ranks = _ranks(reference, numbers, neighbors)
    penalties = np.maximum(ranks - k, 0).sum(axis=1)
    return mean_measure(1 - 2 / (k * (2 * n - 3 * k - 1)) * penalties, numbers, n)


def _ranks(rows: LazyRows, numbers: IntArray, targets: IntArray) -> IntArray:
    """Rank (m, k) of targets among all others as seen from their rows; the nearest is 1."""
    queries = rows.take(numbers).astype(np.float64)
    distinct, place = np.unique(targets, return_inverse=True)
    points = rows.take(distinct).astype(np.float64)
    lengths = np.concatenate(
        [
            EUCLIDEAN.norm.between(query[None], points[some])
            for query, some in zip(queries, place.reshape(targets.shape), strict=True)
        ]
    )
    shared = ship((queries, numbers, lengths, targets))
    counts = compute_all(rows.map_parts(count_nearer, shared))
    return np.asarray(1 + np.sum(counts, axis=0))


def count_nearer(
    rows: FloatArray, start: int, asked: tuple[FloatArray, IntArray, FloatArray, IntArray]
) -> IntArray:
    """Count the rows of a partition that are nearer to queries than their targets (m, k) are.

    Equal distances are ordered by row number; neither the query itself nor the target counts.

    Examples
    --------
    >>> import numpy as np
    >>> asked = np.zeros((1, 1)), np.array([0]), np.array([[3.0]]), np.array([[3]])
    >>> count_nearer(np.array([[0.0], [1.0], [2.0], [3.0], [3.0]]), 0, asked)
    array([[2]])
    """
    queries, numbers, lengths, targets = asked
    counts = np.zeros(targets.shape, dtype=np.int64)
    for some in row_chunks(len(rows), 32 * len(queries)):
        own = start + np.arange(some.start, some.stop)
        between = EUCLIDEAN.norm.between(queries, rows[some].astype(np.float64))
        between[own == numbers[:, None]] = np.inf
        for j in range(targets.shape[1]):
            length, target = lengths[:, j, None], targets[:, j, None]
            nearer = (between < length) | ((between == length) & (own < target))
            nearer &= own != target
            counts[:, j] += nearer.sum(axis=1)
    return counts
