"""The compiled trees against sorting everything, whatever the threads."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from tests.loops import each
from tests.stages.drawn import EPS, LAW, rngs
from tests.stages.searches import (
    assert_same,
    by_sorting,
    drawn_points,
    every_kernel,
    every_norm,
    kernels,
    kinds,
    native,
)


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
    tree = kernel.KdTree(points, norm, threads)
    indices, distances = np.empty((len(points), k), np.int32), np.empty((len(points), k))
    middle = tree.leaves // 2
    for part in ((0, middle), (middle, tree.leaves)):
        tree.neighbors(*part, threads, indices, distances)
    return indices, distances


def nearest_of(kernel, points, new, norm, k, threads=1):
    indices, distances = np.empty((len(new), k), np.int32), np.empty((len(new), k))
    kernel.KdTree(points, norm, threads).nearest_of(new, threads, indices, distances)
    return indices, distances


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
@each("kind", ["plain", "ties", "copies", "equal"])
def test_threads_do_not_change_a_bit_of_a_tree(norm, kind):
    points = drawn_points(np.random.default_rng(0), 3000, 3, kind)
    one = neighbors(native(), points, norm, 12)
    new = points[::3] + 0.01
    placed = nearest_of(native(), points, new, norm, 12)
    for threads in (2, 4):
        assert_same(neighbors(native(), points, norm, 12, threads), one)
        assert_same(nearest_of(native(), points, new, norm, 12, threads), placed)


def test_a_tree_grown_by_several_threads_is_the_same():
    # Enough rows for two levels of tasks, a third of them equal, the others on a grid.
    points = drawn_points(np.random.default_rng(0), 150_000, 3, "plain").round(2)
    points[::3] = points[0]
    one = neighbors(native(), points, 2.0, 4)
    for threads in (2, 3):
        assert_same(neighbors(native(), points, 2.0, 4, threads), one)
    found = cKDTree(points[1::3]).query(points[1::300], 5)[0][:, 1:]
    np.testing.assert_allclose(
        neighbors(native(), points[1::3].copy(), 2.0, 4, 2)[1][::100], found, rtol=1e-12
    )


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
        kernels(name).KdTree(np.where(points > 2, np.nan, np.full_like(points, np.inf)), 2.0, 1)
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


@every_norm
@LAW
@given(rngs, st.integers(30, 400), st.sampled_from([1, 2, 3, 5, 7]), kinds, st.booleans())
def test_new_rows_find_the_same_alone_and_among_many(norm, rng, n, columns, kind, single):
    """Many new rows are sorted by leaves and searched together; a few are not."""
    points = drawn_points(rng, n, columns, kind)
    if single and np.abs(points).max() < 1e30:
        points = points.astype(np.float32)
    near = points[rng.integers(n, size=200)] * (1 + 0.1 * rng.normal(size=(200, 1)))
    away = np.abs(points).max() * 10.0 ** rng.integers(-3, 4, (60, 1))
    far = away * rng.normal(size=(60, columns))
    remote = np.full((1, columns), 1e300)
    new = np.ascontiguousarray(np.concatenate((points[:40], near, far, remote)), dtype=np.float64)
    k = int(rng.integers(1, min(n, 30)))
    for threads in (1, 2):
        found = nearest_of(kernels("native"), points, new, norm, k, threads)
        alone = [nearest_of(kernels("native"), points, new[[i]], norm, k) for i in range(len(new))]
        for many, single_ones in zip(found, zip(*alone, strict=True), strict=True):
            assert np.array_equal(many, np.concatenate(single_ones))
