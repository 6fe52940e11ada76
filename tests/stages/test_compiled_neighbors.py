"""The compiled neighbour kernels against their plain twins and against sorting everything."""

import pickle
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loops import each
from tests.stages.drawn import EPS, LAW, lattice, random_graph, rngs, sparse
from tests.stages.searches import (
    assert_same,
    by_sorting,
    drawn_points,
    every_kernel,
    kernels,
    kinds,
    native,
)
from unbend._kernels import reference
from unbend._kernels.reference.nearest import sum_of_squares
from unbend.neighbors import DistanceSpace, Metric, PointSpace
from unbend.neighbors.index import brute_force
from unbend.neighbors.index.brute_force import Cloud


@every_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@LAW
@given(rngs, st.integers(1, 6), st.integers(1, 200), st.data())
def test_the_smallest_come_sorted_with_ties_by_column(name, dtype, rng, m, n, data):
    k = data.draw(st.integers(1, n))
    values = rng.integers(0, 6, (m, n)).astype(dtype)
    values[rng.random((m, n)) < 0.2] = np.inf
    for threads in (1, 2, 4):
        indices, keys = np.empty((m, k), np.int32), np.empty((m, k), dtype)
        kernels(name).smallest(values, threads, indices, keys)
        assert_same((indices, keys), by_sorting(values, k, False))


def whole(rng, count, columns, dtype):
    """Small whole numbers, whose products are exact in any precision and full of ties."""
    rows = rng.integers(0, 4, (count, columns)).astype(dtype)
    rounded = brute_force.RoundedPanels.empty(count, columns, dtype)
    rounded.write(0, rows, (rows**2).sum(axis=1))
    return rows, rounded


def squares_between(first, second):
    return ((first[:, None] - second) ** 2).sum(axis=2)


@every_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@LAW
@given(rngs, st.integers(1, 200), st.integers(1, 200), st.integers(1, 9), st.integers(1, 120))
def test_products_fill_the_shortlists_of_rows(name, dtype, rng, m, n, columns, length):
    rows, points = whole(rng, n, columns, dtype)
    new, queries = whole(rng, m, columns, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brute_force, "kernels", kernels(name))
        patch.setattr(brute_force, "TILE", 96)
        for threads in (1, 2):
            lists = brute_force.candidates_within(points, length, threads).sort(n, threads)
            assert_lists(lists, squares_between(rows, rows), True)
            lists = brute_force.candidates_between(queries, points, length, threads)
            assert_lists(lists.sort(m, threads), squares_between(new, rows), False)


def assert_lists(found, squares, itself):
    """Compare with sorting everything; places are free where there is less."""
    length = found[0].shape[1]
    indices, keys = by_sorting(squares, length, itself)
    indices = np.where(np.isinf(keys), np.iinfo(np.int32).max, indices)
    missing = ((0, 0), (0, length - keys.shape[1]))
    keys = np.pad(keys, missing, constant_values=np.inf)
    indices = np.pad(indices, missing, constant_values=np.iinfo(np.int32).max)
    assert_same(found, (keys, indices))


@each("tiles", range(1, 12))
def test_rounds_pair_all_tiles_once_and_none_twice_at_a_time(tiles):
    rounds = list(brute_force._rounds(tiles))
    for pairs in rounds:
        met = [tile for pair in pairs for tile in set(pair)]
        assert len(met) == len(set(met))
    every = sorted(pair for pairs in rounds for pair in pairs)
    assert every == [(i, j) for i in range(tiles) for j in range(i, tiles)]


def exact(new, points, scale):
    """Distances summed as the compiled kernel does."""
    squares = sum_of_squares((points - new[:, None]) * scale)
    return np.sqrt(squares) / scale


def run_cloud(name, points, k, new=None, threads=1):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brute_force, "kernels", kernels(name))
        patch.setattr(brute_force, "TILE", 48)
        patch.setattr(brute_force, "SPARE", 4)
        cloud = Cloud.of(points)
        if new is None:
            return cloud.neighbors(k, threads), cloud.scale
        return cloud.nearest_of(new, k, threads), cloud.scale


@every_kernel
@LAW
@given(rngs, st.integers(2, 150), st.sampled_from([1, 16, 17, 40]), kinds, st.data())
def test_products_find_what_sorting_finds_bit_by_bit(name, rng, n, columns, kind, data):
    points = drawn_points(rng, n, columns, kind)
    k = data.draw(st.integers(1, min(n - 1, 12)))
    found, scale = run_cloud(name, points, k)
    assert_same(found, by_sorting(exact(points, points, scale), k, True))
    new = drawn_points(rng, 70, columns, kind)
    new[0] = points[-1]
    found, scale = run_cloud(name, points, k, new)
    assert_same(found, by_sorting(exact(new, points, scale), k, False))


@LAW
@given(rngs, kinds, st.sampled_from([np.float32, np.float64]))
def test_neither_threads_nor_precision_change_a_bit_of_products(rng, kind, dtype):
    points = drawn_points(rng, 300, 20, kind).clip(-1e30, 1e30).astype(dtype)
    one, _ = run_cloud("native", points, 5)
    for threads in (2, 4):
        assert_same(run_cloud("native", points, 5, threads=threads)[0], one)
    assert_same(run_cloud("native", points.astype(np.float64), 5)[0], one)


@pytest.mark.parametrize("outlier", [1.0, 1e3, 1e8, 1e12, 1e25, 1e100])
def test_an_outlier_costs_precision_but_no_neighbour(outlier):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 30))
    points[17] = outlier
    found, scale = run_cloud("native", points, 6)
    assert_same(found, by_sorting(exact(points, points, scale), 6, True))


@LAW
@given(rngs, st.sampled_from([np.float32, np.float64]), st.integers(1, 200), kinds)
def test_keys_are_never_above_the_squared_distance(rng, dtype, columns, kind):
    points = drawn_points(rng, 40, columns, kind)
    cloud = Cloud.of(points)
    rounded = cloud.round_panels(points, dtype)
    everyone = brute_force.candidates_within(rounded, 39, 1).sort(40, 1)
    keys = np.full((40, 40), -np.inf)
    np.put_along_axis(keys, everyone[1], everyone[0], axis=1)
    squares = (exact(points, points, cloud.scale) * cloud.scale) ** 2
    assert (keys <= squares * (1 + 4 * columns * EPS)).all()


@LAW
@given(rngs, st.integers(30, 120), st.integers(1, 300), st.integers(1, 6), kinds)
def test_products_of_long_rows_find_the_same_neighbours(rng, n, columns, k, kind):
    points = drawn_points(rng, n, columns, kind)
    panels, scale = run_cloud("native", points, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brute_force, "LONG_ROWS", 1)
        assert_same(run_cloud("native", points, k)[0], panels)
        keys, indices = brute_force.candidates_of_long_rows(Cloud.of(points), None, n - 1)
        between = brute_force.candidates_of_long_rows(Cloud.of(points), points[: n // 2], n)
    squares = (exact(points, points, scale) * scale) ** 2
    below = np.take_along_axis(squares, indices, axis=1) * (1 + 4 * columns * EPS)
    assert (keys <= below).all()
    assert (np.diff(keys, axis=1) >= 0).all()
    everyone = np.sort(np.column_stack((indices, np.arange(n))), axis=1)
    assert (everyone == np.arange(n)).all()
    below = np.take_along_axis(squares[: n // 2], between[1], axis=1) * (1 + 4 * columns * EPS)
    assert (between[0] <= below).all()
    assert (np.diff(between[0], axis=1) >= 0).all()
    assert (np.sort(between[1], axis=1) == np.arange(n)).all()


@LAW
@given(rngs, st.integers(40, 120), st.integers(1, 300), st.integers(1, 6), kinds)
def test_products_of_long_rows_find_the_neighbours_of_new_samples(rng, n, columns, k, kind):
    points = drawn_points(rng, n, columns, kind)
    new = points[:7] + 0.1 * (points[7:14] - points[:7])
    cloud = Cloud.of(points)
    panels = cloud.nearest_of(new, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brute_force, "LONG_ROWS", 1)
        assert_same(cloud.nearest_of(new, k), panels)


@every_kernel
@LAW
@given(rngs, st.integers(1, 30), st.integers(0, 5))
def test_both_ways_give_every_pair_with_both_values(name, rng, n, edges):
    lengths = random_graph(rng, n, edges * n)
    graph = sparse(lengths)
    row, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    offsets, columns, forth, back = kernels(name).both_ways(row, column, graph.data, np.inf)
    rows = np.repeat(np.arange(n), np.diff(offsets))
    every = np.argwhere(np.isfinite(lengths) | np.isfinite(lengths.T)).reshape(-1, 2)
    assert (np.column_stack((rows, columns)) == every).all()
    assert columns.dtype == np.int32
    assert (forth == lengths[rows, columns]).all()
    assert (back == lengths[columns, rows]).all()


@LAW
@given(rngs, st.integers(1, 40), st.integers(0, 40))
def test_components_are_those_of_the_twin(rng, n, edges):
    graph = sparse(random_graph(rng, n, edges))
    row, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    labels = np.empty((2, n), dtype=np.int32)
    native().components(row, column, labels[0])
    reference.components(row, column, labels[1])
    assert (labels[0] == labels[1]).all()


@LAW
@given(rngs, st.integers(2, 60), st.integers(1, 9), st.integers(0, 4), st.sampled_from([0, 1, 5]))
def test_spanning_trees_are_those_of_the_twin(rng, n, k, samples, digits):
    # Rounded lengths are tied; those that differ far behind the comma share their leading bits.
    points = rng.uniform(1, 2, n) if digits else 1 + 1e-9 * rng.uniform(size=n)
    lengths = np.abs(np.subtract.outer(points, points))
    lengths = (np.round(lengths, digits) if digits else lengths) + 1.0
    np.fill_diagonal(lengths, np.inf)
    order = np.argsort(lengths, axis=1, kind="stable")[:, : min(k, n - 1)]
    indices = np.ascontiguousarray(order, dtype=np.int32)
    distances = np.take_along_axis(lengths, order, axis=1)
    inside = rng.random((samples, n)) < 0.7
    widths = rng.integers(1, indices.shape[1] + 1, samples)
    counts, totals = np.empty((2, samples), dtype=np.int64), np.empty((2, samples))
    native().spanning_trees(indices, distances, inside, widths, counts[0], totals[0])
    reference.spanning_trees(indices, distances, inside, widths, counts[1], totals[1])
    assert (counts[0] == counts[1]).all()
    np.testing.assert_allclose(totals[0], totals[1], rtol=n * EPS)


@LAW
@given(rngs, st.integers(1, 9), st.integers(1, 14), st.integers(1, 5), st.integers(-300, 300))
def test_compiled_weights_are_those_of_lapack(rng, m, others, columns, power):
    blocks = rng.normal(size=(m, others + 1, columns))
    blocks[0, 1:] = blocks[0, 0]
    scaled = blocks * 2.0**power
    found, expected = np.empty((2, m, others))
    reference.barycentric_weights(blocks, 1e-3, 1, expected)
    for threads in (1, 2, 4):
        native().barycentric_weights(scaled, 1e-3, threads, found)
        # The ridge bounds the condition of the equations by 1 / reg.
        np.testing.assert_allclose(found, expected, 0, 1e5 * others * EPS * abs(expected).max())


@pytest.mark.parametrize("metric", [Metric(), Metric("cityblock"), Metric("minkowski", {"p": 3})])
@pytest.mark.parametrize("columns", [2, 20])
def test_ties_go_to_the_first_row_in_every_space(metric, columns):
    points = lattice(np.random.default_rng(0), 60, columns, 2)
    between = metric.between(points, points)
    expected, _ = by_sorting(between, 7, True)
    for space in (PointSpace(points, metric), DistanceSpace(between)):
        assert (space.nearest(7).indices.reshape(60, 7) == expected).all()
        indices, _ = space.nearest_of(space.rows(np.arange(60)), 7)
        assert (indices == by_sorting(between, 7, False)[0]).all()


@pytest.mark.parametrize("columns", [3, 20])
def test_a_space_with_its_tree_can_be_pickled(columns):
    points = np.random.default_rng(0).normal(size=(100, columns))
    space = PointSpace(points)
    before = space.nearest(5)
    again = pickle.loads(pickle.dumps(space)).nearest(5)
    assert_same((again.indices, again.distances), (before.indices, before.distances))


def test_an_interrupt_stops_the_search_within_a_second():
    native()
    points = np.random.default_rng(0).normal(size=(400_000, 6))
    stop = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
    stop.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        PointSpace(points).nearest(30)
    assert time.perf_counter() - start < 5  # the whole search takes far longer
