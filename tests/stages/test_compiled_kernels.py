"""Products, places, bases and alignment: each compiled kernel against its plain twin."""

import os
import signal
import sys
from threading import Timer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from tests.stages.drawn import EPS, LAW, rngs
from unbend._kernels import reference
from unbend.rounding import kmeans

precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])
THREADS = (1, 2, 5)


def silent(done, total):
    """Hear of progress."""


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def filled(shape, kernel, *arguments):
    """Call a kernel whose last argument is its result."""
    result = np.full(shape, np.nan)
    kernel(*arguments, silent, result)
    return result


@precisions
@LAW
@given(rngs, st.integers(1, 40), st.integers(1, 1100), st.integers(0, 9), st.booleans())
def test_products_with_squares_equal_the_twin(native, dtype, rng, rows, columns, width, squared):
    distances = rng.uniform(0, 3, (rows, columns)).astype(dtype)
    vectors = rng.normal(size=(columns, width))
    arguments = (distances, squared, 0.3, vectors)
    expected = filled((rows, width), reference.squared_products, *arguments, 1)
    found = [filled((rows, width), native.squared_products, *arguments, t) for t in THREADS]
    sums = np.square(distances.astype(float) + 0.3) @ np.abs(vectors)
    assert (np.abs(found[0] - expected) <= 4 * columns * EPS * (sums + 1)).all()
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@precisions
@LAW
@given(rngs, st.integers(1, 30), st.integers(1, 1100), st.integers(1, 9), st.integers(0, 40))
def test_places_by_paths_equal_the_twin(native, dtype, rng, rows, ends, k, new):
    paths = rng.uniform(0, 3, (rows, ends)).astype(dtype)
    neighbors = rng.integers(0, rows, (new, k)).astype(np.int32)
    distances = rng.uniform(0, 1, (new, k)).astype(dtype)
    distances[:, 1:][rng.random((new, k - 1)) < 0.3] = np.inf
    weights = rng.normal(size=(2, ends))
    arguments = (paths, neighbors, distances, 0.2, weights)
    expected = filled((new, 2), reference.place_by_paths, *arguments, 1)
    found = [filled((new, 2), native.place_by_paths, *arguments, t) for t in THREADS]
    np.testing.assert_allclose(found[0], expected, 0, 4 * ends * EPS * 20 * np.abs(weights).sum())
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@precisions
@LAW
@given(rngs, st.integers(1, 30), st.integers(1, 700), st.integers(1, 14), st.integers(0, 20))
def test_inner_products_of_neighborhoods_equal_the_twin(
    native, dtype, rng, rows, columns, size, count
):
    points = (1e3 + rng.normal(size=(rows, columns))).astype(dtype)
    members = rng.integers(0, rows, (count, size)).astype(np.int32)
    expected = np.full((count, size, size), np.nan)
    reference.local_gram(points, members, 1, expected)
    found = [np.full_like(expected, np.nan) for _ in THREADS]
    for threads, gram in zip(THREADS, found, strict=True):
        native.local_gram(points, members, threads, gram)
    length = np.sqrt(np.einsum("mii->mi", expected))
    slack = 4 * columns * EPS * length[:, :, None] * length[:, None]
    assert (np.abs(found[0] - expected) <= slack).all()
    assert (found[0] == found[0].transpose(0, 2, 1)).all()
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_inner_products_of_long_rows_can_be_interrupted(native):
    count, size = 10_000, 20
    points, gram = np.ones((size, 20_000)), np.full((count, size, size), np.nan)
    members = np.tile(np.arange(size, dtype=np.int32), (count, 1))

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, stop)
    timer = Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            native.local_gram(points, members, 1, gram)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    # It was not after all the work that the signal came through.
    assert np.isnan(gram[count // 2]).all()


@precisions
@LAW
@given(rngs, st.integers(5, 60), st.integers(1, 40), st.integers(1, 4), st.integers(0, 14))
def test_sines_with_tangent_planes_equal_the_twin(native, dtype, rng, n, columns, d, most):
    """Variances fall by a factor of four or more from one direction to the next."""
    scales = 0.5 ** np.arange(columns) * rng.uniform(0.5, 1, columns)
    points = (rng.normal(size=(n, columns)) * scales).astype(dtype)
    counts = rng.integers(0, min(most, n - 1) + 1, n)
    offset = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    chosen = [rng.permutation(np.delete(np.arange(n), i))[:count] for i, count in enumerate(counts)]
    member = np.concatenate([np.empty(0), *chosen]).astype(np.int32)
    used = rng.random(len(member)) < 0.9
    rows = np.flatnonzero(rng.random(n) < 0.7).astype(np.int32)
    other = np.concatenate(([0], np.cumsum(rng.integers(0, 4, len(rows))))).astype(np.int64)
    start, end = rng.integers(0, n, (2, other[-1])).astype(np.int32)
    graph = (points, offset, member, used, rows, other, start, end)

    def compared(kernels, threads):
        share = np.full((len(rows), d), np.nan)
        inner, outer = np.full(len(member), np.nan), np.full(len(end), np.nan)
        kernels.tangent_sines(*graph, threads, silent, share, inner, outer)
        return share, inner, outer

    expected, found = compared(reference, 1), [compared(native, threads) for threads in THREADS]
    # Planes whose last direction is hardly longer than the next may be turned.
    gaps = np.array([plane_gap(points, member, used, offset, row, d) for row in rows])
    np.testing.assert_allclose(found[0][0], expected[0], 0, 1e-6)
    clear = np.zeros(n, dtype=bool)
    clear[rows] = gaps > 0.05
    inside = clear[np.repeat(np.arange(n), counts)]
    np.testing.assert_allclose(found[0][1][inside], expected[1][inside], 0, 1e-5)
    outside = np.repeat(gaps > 0.05, np.diff(other))
    np.testing.assert_allclose(found[0][2][outside], expected[2][outside], 0, 1e-5)
    untouched = ~np.isin(np.repeat(np.arange(n), counts), rows)
    assert np.isnan(found[0][1][untouched]).all()
    for one, two, three in zip(*found, strict=True):
        assert one.tobytes() == two.tobytes() == three.tobytes()


def plane_gap(points, member, used, offset, row, d):
    """Gap between the variances in and outside a plane, as a share of the d-th."""
    entries = slice(offset[row], offset[row + 1])
    block = points[np.append(row, member[entries][used[entries]])].astype(np.float64)
    values = np.square(np.linalg.svd(block - block.mean(axis=0), compute_uv=False))
    values = np.append(values, np.zeros(d + 1))
    # Planes that hold everything are determined, whatever their directions are.
    whole = values[d] <= 1e-20 * values[0]
    return 1.0 if whole else (values[d - 1] - values[d]) / values[d - 1]


@pytest.mark.parametrize("quadratic", [False, True])
@LAW
@given(rngs, st.integers(1, 3), st.integers(0, 5), st.integers(-100, 100))
def test_local_bases_span_what_the_twin_spans(native, quadratic, rng, d, spare, power):
    s = (d + 1) * (d + 2) // 2 + spare
    chart = rng.uniform(-1, 1, (70, s, d))
    bend = 0.1 * np.square(chart).sum(axis=2, keepdims=True)
    points = np.concatenate((chart, bend), axis=2) * 10.0**power
    shape = (70, s, d * (d + 1) // 2 if quadratic else 1 + d)
    expected = filled(shape, reference.local_bases, points, d, quadratic, 1)
    found = [filled(shape, native.local_bases, points, d, quadratic, t) for t in THREADS]
    rows, members = points.reshape(-1, d + 1), np.arange(70 * s, dtype=np.int32).reshape(70, s)
    relative = filled(shape, native.local_bases, points - points[:, :1], d, quadratic, 1)
    for kernels in (reference, native):
        gathered = filled(shape, kernels.gathered_bases, rows, members, d, quadratic, 1)
        if kernels is native:
            assert gathered.tobytes() == relative.tobytes()
    gaps = np.linalg.svd(chart - chart.mean(axis=1, keepdims=True), compute_uv=False)
    # Tangents turn by rounding over the gap of the singular values, quadratics more.
    turn = 1e5 if quadratic else 1e3
    slack = turn * EPS * (gaps[:, 0] / gaps[:, -1]) ** 2
    error = found[0] @ found[0].transpose(0, 2, 1) - expected @ expected.transpose(0, 2, 1)
    assert (np.abs(error).max(axis=(1, 2)) <= slack).mean() > 0.95
    np.testing.assert_allclose(
        found[0].transpose(0, 2, 1) @ found[0],
        np.eye(shape[2])[None] + np.zeros((70, 1, 1)),
        0,
        64 * s * EPS,
    )
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@LAW
@given(rngs, st.integers(1, 60), st.integers(0, 60), st.integers(1, 4), st.booleans())
def test_alignment_equals_the_twin_and_is_symmetric_to_the_bit(
    native, rng, n, blocks, width, complement
):
    members = [rng.choice(n, rng.integers(1, min(n, 7) + 1), replace=False) for _ in range(blocks)]
    offset = np.concatenate(([0], np.cumsum([len(m) for m in members]))).astype(np.int64)
    member = np.concatenate([np.empty(0, np.int32), *members]).astype(np.int32)
    bases = rng.normal(size=(len(member), width))

    def aligned(kernels, threads):
        row = np.empty(n + 1, dtype=np.int64)
        kernels.align_rows(offset, member, threads, row)
        column, value = np.empty(row[-1], dtype=np.int32), np.empty(row[-1])
        kernels.align(offset, member, bases, complement, threads, silent, row, column, value)
        return row, column, value

    if not blocks:
        assert aligned(native, 1)[0][-1] == 0
        return
    expected, found = aligned(reference, 1), [aligned(native, t) for t in THREADS]
    assert (found[0][0] == expected[0]).all()
    assert (found[0][1] == expected[1]).all()
    np.testing.assert_allclose(found[0][2], expected[2], 0, 64 * blocks * width * EPS * 20)
    assert found[0][2].tobytes() == found[1][2].tobytes() == found[2][2].tobytes()
    dense = np.zeros((n, n))
    dense[np.repeat(np.arange(n), np.diff(found[0][0])), found[0][1]] = found[0][2]
    assert (dense == dense.T).all()


@LAW
@given(rngs, st.integers(1, 30), st.integers(1, 90), st.integers(1, 2))
def test_products_with_few_axes_equal_the_twin_and_depend_on_no_other_row(native, rng, n, d, count):
    rows, center, axes = (rng.normal(size=shape) for shape in ((n, d), d, (count, d)))
    found, expected, alone = np.full((3, n, count), np.nan)
    native.thin_products(rows, center, axes, found)
    reference.thin_products(rows, center, axes, expected)
    size = np.abs(rows - center) @ np.abs(axes).T
    assert (np.abs(found - expected) <= 2 * d * EPS * size).all()
    for row in range(n):
        native.thin_products(rows[row : row + 1], center, axes, alone[row : row + 1])
    assert alone.tobytes() == found.tobytes()


def lloyd(rows, centers):
    """Labels and inertia of some centers."""
    squares = np.square(rows[:, None] - centers).sum(axis=2)
    return squares.argmin(axis=1), squares.min(axis=1).sum()


@LAW
@given(rngs, st.integers(1, 120), st.integers(1, 6), st.integers(1, 9), st.booleans())
def test_kmeans_equals_the_twin_and_ends_where_no_center_moves(native, rng, n, d, clusters, coarse):
    rows, numbers = rng.normal(size=(n, d)), rng.random((3, clusters, 2))
    rows = np.round(rows) if coarse else rows
    centers, twin = np.full((2, clusters, d), np.nan)
    inertia, iterations = native.kmeans(rows, numbers, 300, 0.0, centers)
    assert (inertia, iterations) == pytest.approx(
        reference.kmeans(rows, numbers, 300, 0.0, twin), rel=1e-9, abs=1e-12
    )
    assert iterations < 300
    np.testing.assert_allclose(centers, twin, 0, 1e-9)
    labels, exact = lloyd(rows, centers)
    assert inertia == pytest.approx(exact, rel=1e-9, abs=1e-12)
    for label in np.unique(labels):
        np.testing.assert_allclose(centers[label], rows[labels == label].mean(axis=0), 0, 1e-9)


def test_threads_share_the_runs_of_kmeans_and_find_the_same(native):
    rng = np.random.default_rng(0)
    rows, numbers = rng.normal(size=(4000, 5)), rng.random((10, 8, 4))
    one, many = np.full((2, 8, 5), np.nan)
    found = native.kmeans(rows, numbers, 300, 1e-4, one)
    for threads in (2, 5):
        assert native.kmeans(rows, numbers, 300, 1e-4, many, threads) == found
        assert one.tobytes() == many.tobytes()


def test_kmeans_finds_what_scikit_learn_finds(native):
    rng = np.random.default_rng(0)
    for clusters in (2, 5, 12):
        rows = (
            rng.normal(size=(800, 4))
            + 4 * rng.normal(size=(clusters, 4))[np.arange(800) % clusters]
        )
        peer = KMeans(clusters, n_init=10, random_state=0).fit(rows)
        found = kmeans(rows, clusters, rng)
        assert found.inertia <= 1.001 * peer.inertia_
        assert found.converged
        assert adjusted_rand_score(peer.labels_, lloyd(rows, found.centers)[0]) > 0.98


def test_kmeans_can_be_cut_short(native):
    rows = np.random.default_rng(0).normal(size=(500, 2))
    centers = np.empty((5, 2))
    assert native.kmeans(rows, np.random.default_rng(1).random((1, 5, 2)), 1, 0.0, centers)[1] == 1
