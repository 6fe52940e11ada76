"""The compiled neighbour kernels against their plain twins and against sorting everything."""

import pickle
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stages.drawn import EPS, LAW, lattice, random_graph, rngs, sparse
from unbend._kernels import reference
from unbend._kernels.reference.neighbors import sum_of_squares
from unbend.neighbors import DistanceSpace, Metric, PointSpace, products
from unbend.neighbors.products import Cloud


def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def kernels(name):
    return native() if name == "native" else reference


every_kernel = pytest.mark.parametrize("name", ["native", "reference"])
every_norm = pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])


def drawn_points(rng, n, columns, kind):
    points = rng.normal(size=(n, columns))
    if kind == "ties":
        return lattice(rng, n, columns)
    if kind == "copies":
        points[: n // 2] = points[0]
    elif kind == "equal":
        points[:] = points[0]
    elif kind == "flat":
        points[:, 1:] = 7.0
    elif kind == "huge":
        points *= 1e150
    elif kind == "tiny":
        points *= 1e-200
    elif kind == "far":
        points += 1e4
    elif kind == "columns":
        points *= 10.0 ** rng.integers(-12, 12, columns)
    return points


kinds = st.sampled_from(
    ["plain", "ties", "copies", "equal", "flat", "huge", "tiny", "far", "columns"]
)


def by_sorting(distances, k, itself):
    """Sort everything by (distance, index)."""
    distances = distances.copy()
    if itself:
        np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def column_by_column(new, points, norm):
    """Distances summed in the order of the columns, with squares kept in range."""
    scale = 2.0 ** -np.frexp(max(np.abs(points).max(), np.abs(new).max(), 1e-300))[1]
    powers = np.zeros((len(new), len(points)))
    for a, b in zip((new * scale).T, (points * scale).T, strict=True):
        difference = np.abs(b - a[:, None])
        if norm == np.inf:
            powers = np.maximum(powers, difference)
        else:
            powers += difference**norm
    return (np.sqrt(powers) if norm == 2 else powers) / scale


def neighbors(kernel, points, norm, k, threads=1):
    tree = kernel.KdTree(points, norm)
    indices, distances = np.empty((len(points), k), np.int32), np.empty((len(points), k))
    middle = tree.leaves // 2
    for part in ((0, middle), (middle, tree.leaves)):
        tree.neighbors(*part, threads, indices, distances)
    return indices, distances


def nearest_of(kernel, points, new, norm, k, threads=1):
    indices, distances = np.empty((len(new), k), np.int32), np.empty((len(new), k))
    kernel.KdTree(points, norm).nearest_of(new, threads, indices, distances)
    return indices, distances


def assert_same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@every_kernel
@every_norm
@LAW
@given(rngs, st.integers(2, 90), st.sampled_from([1, 2, 3, 7, 15]), kinds, st.data())
def test_a_tree_finds_what_sorting_finds_bit_by_bit(name, norm, rng, n, columns, kind, data):
    points = drawn_points(rng, n, columns, kind)
    k = data.draw(st.integers(1, n - 1))
    truth = column_by_column(points, points, norm)
    assert_same(neighbors(kernels(name), points, norm, k), by_sorting(truth, k, True))
    new = drawn_points(rng, 9, columns, kind)
    new[0] = points[-1]
    truth = column_by_column(new, points, norm)
    assert_same(nearest_of(kernels(name), points, new, norm, k), by_sorting(truth, k, False))


@every_norm
@pytest.mark.parametrize("kind", ["plain", "ties", "copies", "equal"])
def test_threads_do_not_change_a_bit_of_a_tree(norm, kind):
    points = drawn_points(np.random.default_rng(0), 3000, 3, kind)
    one = neighbors(native(), points, norm, 12)
    new = points[::3] + 0.01
    placed = nearest_of(native(), points, new, norm, 12)
    for threads in (2, 4):
        assert_same(neighbors(native(), points, norm, 12, threads), one)
        assert_same(nearest_of(native(), points, new, norm, 12, threads), placed)


@every_kernel
@pytest.mark.parametrize("far", [1e155, 1e300])
def test_rows_from_afar_are_as_far_from_all(name, far):
    points = np.random.default_rng(0).normal(size=(40, 3))
    indices, distances = nearest_of(kernels(name), points, np.full((2, 3), far), 2.0, 5)
    assert (indices == np.arange(5)).all()
    np.testing.assert_allclose(distances, np.sqrt(3) * far, 4 * EPS)


@every_kernel
def test_rows_that_are_not_finite_are_refused(name):
    points = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match="finite"):
        kernels(name).KdTree(np.where(points > 2, np.nan, np.full_like(points, np.inf)), 2.0)
    with pytest.raises(ValueError, match="finite"):
        nearest_of(kernels(name), points, np.full((1, 3), np.nan), 2.0, 1)


@pytest.mark.parametrize("kind", ["equal", "copies", "flat"])
def test_many_coinciding_rows_cost_no_more_than_others(kind):
    points = drawn_points(np.random.default_rng(0), 60_000, 3, kind)
    start = time.process_time()
    indices, distances = neighbors(native(), points, 2.0, 10)
    assert time.process_time() - start < 3  # comparing all pairs would take minutes
    if kind == "equal":
        assert (distances == 0).all()
        assert (indices[5000] == np.arange(10)).all()
        assert (indices[3] == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]).all()


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@LAW
@given(rngs, st.integers(1, 40), st.integers(1, 40), st.integers(1, 9), st.booleans())
def test_tiles_fill_the_lists_of_rows_and_columns(dtype, rng, m, n, length, to_columns):
    arguments = [
        rng.integers(0, 5, (m, n)).astype(dtype),
        rng.integers(0, 5, m).astype(dtype),
        rng.integers(0, 5, n).astype(dtype),
        0 if to_columns else 3,
        m if to_columns else 0,
        to_columns,
    ]
    filled = []
    for kernel, threads in ((reference, 1), (native(), 1), (native(), 2), (native(), 4)):
        lists = products._lists(n if to_columns else m, length, dtype)
        for _ in range(2):
            kernel.offer(*arguments, threads, *lists)
            arguments[4] += 50  # a second tile, of other columns
        arguments[4] -= 100
        filled.append(lists)
    for lists in filled[1:]:
        assert_same(lists, filled[0])


def exact(new, points, scale):
    """Distances summed as the compiled kernel does."""
    squares = sum_of_squares((points - new[:, None]) * scale)
    return np.sqrt(squares) / scale


def run_cloud(name, points, k, new=None, threads=1):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "kernels", kernels(name))
        patch.setattr(products, "TILE", 64)
        patch.setattr(products, "SPARE", 4)
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
    rounded = cloud.rounded(points, dtype)
    product = rounded.rows @ rounded.rows.T
    keys = (rounded.squares[:, None] + rounded.squares) - 2 * product
    squares = (exact(points, points, cloud.scale) * cloud.scale) ** 2
    assert (keys <= squares * (1 + 4 * columns * EPS)).all()


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
