"""What each distance leaves out of account, and when it is the Euclidean one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tests.loops import each
from tests.stages.drawn import LAW, rngs
from unbend.neighbors import Metric, PointSpace


def distances(points, name, **params):
    return Metric(name, params).fit(points).between(points, points)


def assert_same_distances(first, second, name, rtol=1e-9, **params):
    expected = distances(first, name, **params)
    found = distances(second, name, **params)
    np.testing.assert_allclose(found, expected, rtol, rtol * expected.max())


def rows(rng, n=7, columns=24):
    return rng.normal(size=(n, columns)) + 0.5


sizes = st.integers(2, 40)
scales = st.floats(1e-3, 1e3)


@LAW
@given(rngs, scales)
def test_directions_do_not_depend_on_the_size_of_rows(rng, largest):
    points = rows(rng)
    scaled = points * rng.uniform(1e-3, largest + 1e-3, (7, 1))
    for name in ("angular", "cosine", "correlation"):
        assert_same_distances(points, scaled, name)
    assert_same_distances(points, scaled + rng.normal(size=(7, 1)), "correlation", 1e-7)


@LAW
@given(rngs, scales)
def test_derivatives_do_not_depend_on_a_constant_added_to_a_row(rng, spread):
    points = rows(rng)
    moved = points + spread * rng.normal(size=(7, 1))
    assert_same_distances(points, moved, "derivative")
    assert_same_distances(points, moved, "derivative", shape=(4, 6))


@pytest.mark.parametrize("name", ["fourier_phase", "fourier_phase_difference"])
@LAW
@given(rngs)
def test_phases_do_not_depend_on_the_amplitude_of_any_frequency(name, rng):
    points = rows(rng)
    amplified = np.fft.irfft(np.fft.rfft(points) * rng.uniform(0.1, 9.0, (7, 13)), 24)
    assert_same_distances(points, amplified, name, keep=13)
    pictures = points.reshape(-1, 4, 6)
    blur = np.abs(np.fft.fft2(rng.normal(size=(4, 6)))) + 0.1
    blurred = np.fft.ifft2(np.fft.fft2(pictures) * blur).real.reshape(7, -1)
    assert_same_distances(points, blurred, name, shape=(4, 6))


@LAW
@given(rngs, st.integers(-12, 12), st.integers(2, 12))
def test_phase_differences_measure_how_far_a_signal_was_shifted_round(rng, steps, keep):
    """All phase differences of a shifted row turn by the same angle."""
    row = rows(rng, 1)
    pair = np.concatenate((row, np.roll(row, steps)))
    found = distances(pair, "fourier_phase_difference", keep=keep)[0, 1]
    expected = np.sqrt(keep - 1) * 2 * np.pi * abs(steps) / 24
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@LAW
@given(rngs)
def test_phase_differences_do_not_depend_on_the_sign_of_a_row(rng):
    points = rows(rng)
    signs = rng.choice([-1.0, 1.0], (7, 1))
    assert_same_distances(points, signs * points, "fourier_phase_difference", keep=13)


@LAW
@given(rngs)
def test_mahalanobis_does_not_depend_on_an_affine_map_of_the_data(rng):
    points = rng.normal(size=(30, 4))
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    moved = points @ basis * rng.uniform(0.1, 1e4, 4) + 1e3 * rng.normal(size=4)
    assert_same_distances(points, moved, "mahalanobis", 1e-6)
    covariance = np.cov(points, rowvar=False)
    expected = cdist(points, points, "mahalanobis", VI=np.linalg.inv(covariance))
    np.testing.assert_allclose(distances(points, "mahalanobis"), expected, 1e-8, 1e-8)


@LAW
@given(rngs)
def test_weights_unless_given_make_all_columns_alike(rng):
    points = rng.normal(size=(30, 4))
    moved = points * rng.uniform(1e-4, 1e4, 4) + rng.normal(size=4)
    assert_same_distances(points, moved, "weighted", 1e-7)
    expected = cdist(points, points, "seuclidean", V=points.var(axis=0, ddof=1))
    np.testing.assert_allclose(distances(points, "weighted"), expected, 1e-10)
    with_constant = np.column_stack((points, np.full(30, 0.1)))
    np.testing.assert_allclose(distances(with_constant, "weighted"), expected, 1e-10)


@LAW
@given(rngs, st.integers(3, 40), st.data())
def test_frequencies_that_were_cut_off_do_not_count(rng, columns, data):
    keep = data.draw(st.integers(1, columns // 2))
    points = rows(rng, 7, columns)
    spectrum = np.fft.rfft(rng.normal(size=(7, columns)))
    spectrum[:, :keep] = 0
    noisy = points + np.fft.irfft(spectrum, columns)
    assert_same_distances(points, noisy, "fourier", keep=keep)


@LAW
@given(rngs, st.sampled_from(["haar", "db2", "sym4"]))
def test_wavelet_details_that_were_cut_off_do_not_count(rng, wavelet):
    pywt = pytest.importorskip("pywt")
    points = rows(rng)
    details = pywt.idwt(None, rng.normal(size=(7, 12)), wavelet, "periodization", axis=1)
    assert_same_distances(points, points + details, "wavelet", wavelet=wavelet)


@LAW
@given(rngs, sizes, st.integers(1, 5))
def test_all_frequencies_together_give_the_euclidean_distance(rng, columns, height):
    points = rows(rng, 7, columns * height)
    expected = cdist(points, points)
    everything = {
        "signals": {"keep": columns * height // 2 + 1},
        "pictures": {"keep": (height // 2 + 1, columns // 2 + 1), "shape": (height, columns)},
    }
    for params in everything.values():
        np.testing.assert_allclose(distances(points, "fourier", **params), expected, 1e-11)


@LAW
@given(rngs, sizes, st.integers(1, 9), st.sampled_from(["haar", "db2", "db7", "sym8", "coif3"]))
def test_all_wavelet_bands_together_give_the_euclidean_distance(rng, columns, height, wavelet):
    points = rows(rng, 7, columns * height)
    expected = cdist(points, points)
    least = columns if height == 1 else min(columns, height)
    for level in range(1, int(np.log2(least)) + 1):
        params = {"wavelet": wavelet, "level": level, "keep": level + 1, "shape": (height, columns)}
        np.testing.assert_allclose(distances(points, "wavelet", **params), expected, 1e-9)


@LAW
@given(rngs)
def test_more_bands_and_more_frequencies_never_bring_rows_nearer(rng):
    points = rows(rng)
    for name, params in (("fourier", {}), ("wavelet", {"level": 3})):
        last = 4 if name == "wavelet" else 13
        found = [distances(points, name, keep=keep, **params) for keep in range(1, last + 1)]
        assert (np.diff(found, axis=0) >= -1e-9).all()


@LAW
@given(rngs)
def test_nothing_weighed_is_euclidean(rng):
    points = rows(rng, 7, 5)
    expected = cdist(points, points)
    unit = np.eye(5)
    for name, params in (
        ("weighted", {"M": unit}),
        ("weighted", {"B": unit, "weights": np.ones(5)}),
        ("mahalanobis", {"V": unit}),
        ("mahalanobis", {"VI": unit}),
        ("minkowski", {}),
    ):
        np.testing.assert_allclose(distances(points, name, **params), expected, 1e-12)


@each("angle", [1e-12, 1e-8, 1e-3, 1.5, np.pi - 1e-3, np.pi - 1e-8, np.pi])
@each("columns", [3, 30])
def test_angles_keep_their_digits_near_zero_and_near_a_half_turn(angle, columns):
    points = np.zeros((2, columns))
    points[0, 0] = 5.0
    points[1, :2] = -np.cos(np.pi - angle) * 1e-3, np.sin(np.pi - angle) * 1e-3
    if angle < 1:
        points[1, :2] = 1e200 * np.cos(angle), 1e200 * np.sin(angle)
    space = PointSpace(points, Metric("angular"))
    for found in (
        space.distances_of(points)[0, 1],
        space.lengths(np.array([0]), np.array([1]))[0],
        space.nearest(1).distances[0],
        space.nearest_of(points[:1], 2)[1][0, 1],
    ):
        assert abs(found - angle) <= 4e-16 * angle + 1e-28
        away = np.pi - angle
        assert abs((np.pi - found) - away) <= 4.5e-16


def test_opposite_directions_are_sorted_by_their_angle():
    turned = np.pi - np.array([3e-9, 1e-9, 2e-9])
    points = np.column_stack((np.cos(turned), np.sin(turned)))
    indices, angles = PointSpace(points, Metric("angular")).nearest_of(np.array([[1.0, 0.0]]), 3)
    assert indices.tolist() == [[0, 2, 1]]
    assert (np.diff(angles) > 0).all()
