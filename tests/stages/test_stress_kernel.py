"""Stress and its gradient: the compiled kernel against its plain twin and against differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stages.drawn import LAW, rngs
from unbend._kernels import reference

precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])
losses = pytest.mark.parametrize("loss", [0, 1, 2])
THREADS = (1, 2, 5)


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def called(kernel, values, weights, loss, x, threads=1, spread=True):
    gradient, each = np.full(x.shape, np.nan), np.full(len(x) if spread else 0, np.nan)
    total = kernel(values, weights, loss, x, threads, gradient, each)
    return total, gradient, each


def drawn(rng, n, d, dtype, weighted):
    values = rng.uniform(0, 3, n * (n - 1) // 2).astype(dtype)
    values[rng.random(len(values)) < 0.05] = 0.0
    weights = rng.uniform(0, 2, len(values)).astype(dtype) if weighted else values[:0]
    x = rng.normal(size=(n, d))
    x[n // 2] = x[0]  # two objects in one place
    return values, weights, x


@precisions
@losses
@LAW
@given(rngs, st.integers(1, 600), st.integers(1, 5), st.booleans(), st.booleans())
def test_stress_equals_the_twin_for_any_threads(native, dtype, loss, rng, n, d, weighted, spread):
    values, weights, x = drawn(rng, n, d, dtype, weighted)
    values = np.where(values > 0, np.maximum(values, 0.01), 0).astype(dtype)
    expected = called(reference.stress, values, weights, loss, x, spread=spread)
    found = [called(native.stress, values, weights, loss, x, t, spread) for t in THREADS]
    # Sizes of what is summed for each object, times the rounding of its parts.
    slack = 60 * np.finfo(dtype).eps * (1 + n * 100.0 * (1 + np.abs(x).max()) ** 4)
    assert abs(found[0][0] - expected[0]) <= slack * n
    assert np.abs(found[0][1] - expected[1]).max() <= slack
    assert np.abs(found[0][2] - expected[2]).max(initial=0.0) <= slack
    for other in found[1:]:
        assert other[0] == found[0][0]
        assert other[1].tobytes() == found[0][1].tobytes()
        assert other[2].tobytes() == found[0][2].tobytes()


@losses
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_gradient_is_the_derivative_of_the_stress(native, loss, d):
    rng = np.random.default_rng(0)
    values, weights, x = drawn(rng, 30, d, np.float64, True)
    x[15] += 1.0
    _, gradient, spread = called(native.stress, values, weights, loss, x)
    direction = rng.normal(size=x.shape)
    after, before = (
        called(native.stress, values, weights, loss, x + h * direction)[0] for h in (1e-6, -1e-6)
    )
    assert np.vdot(gradient, direction) == pytest.approx((after - before) / 2e-6, rel=1e-6)
    assert spread.sum() == pytest.approx(2 * called(native.stress, values, weights, loss, x)[0])


def test_the_gradient_moves_no_centre(native):
    values, weights, x = drawn(np.random.default_rng(1), 500, 2, np.float32, False)
    gradient = called(native.stress, values, weights, 0, x)[1]
    assert np.abs(gradient.sum(axis=0)).max() < 1e-5 * np.abs(gradient).sum()


def monotone(kernels, pairs, ties, x, threads=1):
    first, second = pairs.copy()
    count = len(first)
    distances, sums = np.full((2, count), np.nan)
    starts, gradient = np.full(count, -1), np.full(x.shape, np.nan)
    residual, size, blocks = kernels.monotone_stress(
        first, second, ties, x, threads, distances, sums, starts, gradient
    )
    sizes = np.diff(np.append(starts[:blocks], count))
    fitted = np.repeat(sums[:blocks] / sizes, sizes)
    return (residual, size), distances, fitted, gradient, (first, second)


@LAW
@given(rngs, st.integers(2, 40), st.integers(1, 4), st.booleans(), st.booleans())
def test_monotone_stress_equals_the_twin(native, rng, n, d, tied, together):
    pairs = np.stack(np.triu_indices(n, 1)).astype(np.int32)
    pairs = np.ascontiguousarray(pairs[:, rng.permutation(pairs.shape[1])])
    borders = np.unique(rng.integers(0, pairs.shape[1] + 1, 6)) if tied else np.zeros(1, int)
    ties = np.column_stack((borders[:-1], borders[1:])).astype(np.int64)
    x = np.zeros((n, d)) if together else rng.normal(size=(n, d))
    x[n // 2] = x[0]
    found, expected = (monotone(kernels, pairs, ties, x) for kernels in (native, reference))
    np.testing.assert_allclose(found[0], expected[0], 1e-12, 1e-13)
    for one, other in zip(found[1:4], expected[1:4], strict=True):
        np.testing.assert_allclose(one, other, 1e-10, 1e-12)
    assert (np.diff(found[2]) >= 0).all()
    for begin, end in ties:
        assert (np.diff(found[1][begin:end]) >= 0).all()
    # Only the order within ties changes: distances are those of the pairs.
    away = x[found[4][0]] - x[found[4][1]]
    np.testing.assert_allclose(found[1], np.linalg.norm(away, axis=1), 1e-12, 1e-13)
    key = np.sort(np.stack(found[4]), axis=1)
    assert (key == np.sort(pairs, axis=1)).all()


def test_the_gradient_of_monotone_stress_is_that_of_differences(native):
    rng = np.random.default_rng(5)
    pairs = np.stack(np.triu_indices(12, 1)).astype(np.int32)
    pairs = np.ascontiguousarray(pairs[:, rng.permutation(66)])
    x, none = rng.normal(size=(12, 2)), np.zeros((0, 2), dtype=np.int64)

    def value(x):
        residual, size = monotone(native, pairs, none, x)[0]
        return residual / size

    gradient = monotone(native, pairs, none, x)[3]
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        slope = (value(x + step) - value(x - step)) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_monotone_stress_of_many_pairs_equals_the_twin_for_any_threads(native):
    """Parts of the pairs are pooled one by one; blocks may span all of them, or none."""
    rng = np.random.default_rng(6)
    n = 400
    pairs = np.stack(np.triu_indices(n, 1)).astype(np.int32)
    count = pairs.shape[1]
    for noise in (0.0, 0.1, 3.0, np.inf):
        x = rng.normal(size=(n, 2))
        near = np.linalg.norm(x[pairs[0]] - x[pairs[1]], axis=1)
        given = -near if noise == np.inf else near + rng.normal(size=count) * noise
        ordered = np.ascontiguousarray(pairs[:, np.argsort(given)])
        tied = np.array([[0, 3], [count // 2, count // 2 + 9000]])
        for ties in (tied[:0], tied):
            expected = monotone(reference, ordered, ties, x)
            found = [monotone(native, ordered, ties, x, threads) for threads in THREADS]
            np.testing.assert_allclose(found[0][0], expected[0], 1e-12, 1e-20)
            for one, other in zip(found[0][1:4], expected[1:4], strict=True):
                np.testing.assert_allclose(one, other, 1e-9, 1e-12)
            for other in found[1:]:
                assert other[0] == found[0][0]
                for one, same in zip(found[0][1:4], other[1:4], strict=True):
                    np.testing.assert_array_equal(one, same)
