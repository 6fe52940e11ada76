"""What the coordinates of every method must do when the data are moved, scaled or reordered."""

from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import (
    CLASSES,
    EVERY,
    JUMPING,
    ORACLES,
    STRICT,
    assert_alike,
    assert_clear,
    assert_same,
    curve,
    fit_curve,
    isometric,
    over,
    quietly,
    with_parameter,
)
from tests.loops import each
from tests.oracles import neighbors
from tests.oracles.embeddings import subspace_angle
from unbend.eigen import SOLVERS, Dense, ShiftInvert

pytestmark = [STRICT, pytest.mark.filterwarnings("error::UserWarning"), JUMPING]
SEEDS = each("seed", range(3), keep=1)
# Rounding of the data (1e-16) over the least relative gap below the wanted eigenvalues, which is
# LLE's: about 1e-7 here.
ROUNDING = 1e-6


def turned(points: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return points @ rotation + rng.normal(scale=10.0, size=3)


def oracle_of(method: type, points: np.ndarray) -> np.ndarray:
    if method.__name__ not in ORACLES:
        pytest.skip("the method has no line in cases.ORACLES")
    k = method().get_params().get("n_neighbors", 10)
    return ORACLES[method.__name__](points, neighbors.nearest(points, k)[0], 2)


@each("d", [1, 2, 3])
@EVERY
def test_as_many_rows_come_out_as_went_in_and_all_are_finite(method: type, d: int) -> None:
    # The surface has two dimensions: other numbers may be warned of.
    coordinates, warned = quietly(lambda: method(n_components=d).fit_transform(curve()))
    assert d != 2 or not warned
    assert coordinates.shape == (200, d)
    assert np.all(np.isfinite(coordinates))


@EVERY
def test_coordinates_are_centred_and_every_one_varies(method: type) -> None:
    coordinates = fit_curve(method).embedding_
    spread = np.ptp(coordinates, axis=0)
    assert np.all(spread > 1e-3 * spread.max())
    if isometric(method):
        assert_same(coordinates, coordinates - coordinates.mean(axis=0))


# Methods whose coordinates are orthonormal (4.8), and those with lengths √λ (4.9).
ORTHONORMAL = ("LLE", "LTSA", "HessianLLE", "SupervisedLLE")
SCALED = ("PCA", "ClassicalMDS", "KernelPCA", "Isomap", "LandmarkIsomap", "MVU")


@over([m for m in CLASSES if m.__name__ in ORTHONORMAL + SCALED])
def test_coordinates_are_centred_and_orthogonal(method: type) -> None:
    """Book (4.7)–(4.9): Y1 = 0 and YY' = I, or diagonal with the eigenvalues."""
    fitted = fit_curve(method)
    coordinates = fitted.embedding_
    size = np.linalg.norm(coordinates, axis=0)
    assert np.abs(coordinates.sum(axis=0) / size).max() < 1e-6
    products = coordinates.T @ coordinates
    if method.__name__ in ORTHONORMAL:
        assert_same(products[0, 0] * np.eye(2), products, 1e-6)
        return
    assert abs(products[0, 1]) < 1e-6 * size[0] * size[1]
    if hasattr(fitted, "eigenvalues_"):
        assert_same(fitted.eigenvalues_, np.square(size), 1e-6)


@SEEDS
@EVERY
def test_coordinates_are_those_of_the_dense_oracle_up_to_sign(method: type, seed: int) -> None:
    points = curve(seed=seed)
    expected = oracle_of(method, points)
    found = fit_curve(method, seed=seed).embedding_
    assert subspace_angle(found, expected) < ROUNDING
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_same(expected * signs, found, ROUNDING)


@EVERY
def test_beyond_the_dense_solver_coordinates_are_still_the_oracles(method: type) -> None:
    points = curve(700)
    expected = oracle_of(method, points)
    assert subspace_angle(fit_curve(method, 700).embedding_, expected) < ROUNDING


@SEEDS
@EVERY
def test_moving_and_turning_the_data_only_turns_the_coordinates(method: type, seed: int) -> None:
    points = curve(seed=seed)
    before = fit_curve(method, seed=seed).embedding_
    assert_alike(method, before, method().fit_transform(turned(points, seed)), ROUNDING)


@each("factor", [1e-6, 37.0, 1e6])
@EVERY
def test_scaling_the_data_scales_isometric_coordinates_and_no_others(
    method: type, factor: float
) -> None:
    before = fit_curve(method).embedding_
    after = method().fit_transform(factor * curve())
    assert_alike(method, before * (factor if isometric(method) else 1.0), after, ROUNDING)
    if not isometric(method):
        np.testing.assert_allclose(
            np.linalg.norm(after, axis=0), np.linalg.norm(before, axis=0), rtol=ROUNDING
        )


@SEEDS
@EVERY
def test_reordering_the_rows_reorders_the_coordinates(method: type, seed: int) -> None:
    points = curve(seed=seed)
    order = np.random.default_rng(seed).permutation(len(points))
    before = fit_curve(method, seed=seed).embedding_
    assert_alike(method, before[order], method().fit_transform(points[order]), ROUNDING)


@EVERY
def test_columns_of_zeros_change_nothing(method: type) -> None:
    points = curve()
    wider = np.hstack([points, np.zeros((len(points), 2))])
    assert_alike(method, fit_curve(method).embedding_, method().fit_transform(wider), ROUNDING)


@EVERY
def test_forty_columns_give_what_three_did_when_they_hold_a_turned_copy(method: type) -> None:
    # More than fifteen columns: neighbours come from matrix products and not from a tree.
    points = curve()
    frame = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 3)))[0]
    wide = points @ frame.T + 3.0
    assert_alike(method, fit_curve(method).embedding_, method().fit_transform(wide), ROUNDING)


@EVERY
def test_float32_stays_float32_and_close_to_float64(method: type) -> None:
    points = curve().astype(np.float32)
    single, double = method().fit(points), method().fit(points.astype(np.float64))
    assert single.embedding_.dtype == np.float32
    assert single.transform(points[:5]).dtype == np.float32
    assert single.inverse_transform(single.embedding_[:5]).dtype == np.float32
    assert double.embedding_.dtype == np.float64
    # Not more than float32 rounding, 1e-7, of the largest entry times the least gap's share.
    assert_alike(method, double.embedding_, single.embedding_.astype(np.float64), 1e-5)


@EVERY
def test_an_offset_of_1e8_does_not_change_the_span(method: type) -> None:
    # The data keep 8 digits, so the span may turn by 1e-8 over the least gap.
    near, far = fit_curve(method).embedding_, method().fit_transform(curve() + 1e8)
    assert subspace_angle(near - near.mean(axis=0), far - far.mean(axis=0)) < 1e-5


@each("n_jobs", [2, 1, -1], keep=1)
@over(with_parameter("n_jobs"))
def test_the_same_seed_gives_the_same_bits_for_any_n_jobs(method: type, n_jobs: int) -> None:
    points = curve(700)
    alone = fit_curve(method, 700, random_state=3)
    shared = method(random_state=3, n_jobs=n_jobs).fit(points)
    assert np.array_equal(alone.embedding_, shared.embedding_)
    assert np.array_equal(alone.transform(points + 0.01), shared.transform(points + 0.01))


@EVERY
def test_fitting_twice_gives_the_same_bits(method: type) -> None:
    points = curve(700)
    assert np.array_equal(fit_curve(method, 700).embedding_, method().fit_transform(points))


@each(
    "state",
    [None, 0, np.int64(5), np.random.default_rng(1), np.random.RandomState(1)],
)
@over(with_parameter("random_state"))
def test_every_kind_of_random_state_gives_the_same_span(method: type, state: Any) -> None:
    points = curve(700)
    expected = fit_curve(method, 700).embedding_
    assert_alike(method, expected, method(random_state=state).fit_transform(points), ROUNDING)


@each("solver", [*SOLVERS, Dense(), ShiftInvert(guard=6)])
@over(with_parameter("eigen_solver"))
def test_every_eigen_solver_spans_the_same_or_says_that_it_cannot(
    method: type, solver: Any
) -> None:
    points = curve(150)
    expected = fit_curve(method, 150, eigen_solver="dense").embedding_
    try:
        found, warned = quietly(lambda: method(eigen_solver=solver).fit(points))
    except ValueError as error:
        assert_clear(error, "eigen_solver=")
        return
    converged = found.report_.stage("spectrum").facts["converged"]
    assert converged == (not any("converge" in message for message in warned))
    if converged:
        assert_alike(method, expected, found.embedding_, 1e-5)


@each(
    "solver", ["auto", "full", "covariance_eigh", "arpack", "randomized", "dual", "em", "sensible"]
)
@over([method for method in CLASSES if "svd_solver" in method().get_params()])
def test_every_svd_solver_finds_the_same_axes(method: type, solver: str) -> None:
    points = curve(300) + 50.0
    expected = method(svd_solver="full").fit_transform(points)
    assert_alike(method, expected, method(svd_solver=solver).fit_transform(points), ROUNDING)


@each("n", [120, 700])
@each("solver", SOLVERS)
@over(with_parameter("eigen_solver"))
def test_a_circle_keeps_both_of_its_equal_eigenvalues(method: type, solver: str, n: int) -> None:
    angle = 2.0 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    try:
        fitted, warned = quietly(lambda: method(eigen_solver=solver).fit(circle))
    except ValueError as error:
        assert_clear(error, "eigen_solver=")
        return
    if not warned:
        assert subspace_angle(circle, fitted.embedding_) < 1e-5
