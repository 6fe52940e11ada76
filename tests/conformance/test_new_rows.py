"""Placing new rows, and going back: what `transform` and `inverse_transform` must do."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from tests.conformance.cases import (
    CHOICES,
    CLASSES,
    EVERY,
    EVERY_NEIGHBORHOOD,
    INHERITED,
    JUMPING,
    STRICT,
    answered,
    assert_clear,
    assert_same,
    curve,
    first_declares,
    fit_curve,
    over,
    quietly,
    refused,
    with_parameter,
)
from tests.loops import each, sampled
from tests.oracles.neighbors import nearest, pairwise
from unbend.datasets import SURFACES
from unbend.estimators.neighborhood import NeighborhoodEmbedding
from unbend.methods.kernel_pca import KERNELS

pytestmark = [STRICT, pytest.mark.filterwarnings("error::UserWarning"), JUMPING]
METRIC = over(with_parameter("metric"))
# Methods whose extension, taken to a fitted row, gives that row's coordinates by itself.
NAMES = {"PCA", "KernelPCA", "ClassicalMDS", "Isomap", "LandmarkIsomap", "RandomProjection"}
EXACT = over([m for m in CLASSES if m.__name__ in NAMES])
INEXACT = over([m for m in CLASSES if m.__name__ not in NAMES])


def distances(rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(rows[:, None] - points).sum(axis=2))


def assert_each_alone(function: Callable[[Any], Any], rows: np.ndarray) -> None:
    """Check that a function of rows gives each of them the same bits in any company."""
    bulk = function(rows)
    np.testing.assert_array_equal(bulk, np.vstack([function(row[None]) for row in rows]))
    np.testing.assert_array_equal(bulk[::-1], function(rows[::-1]))
    np.testing.assert_array_equal(bulk[2:5], function(rows[2:5]))


def determination(truth: np.ndarray, found: np.ndarray) -> np.ndarray:
    """R² of each coordinate."""
    left = np.square(truth - found).sum(axis=0)
    return 1.0 - left / np.square(truth - truth.mean(axis=0)).sum(axis=0)


@each("n", [200, 700])
@EVERY
def test_transform_of_fitted_rows_gives_their_coordinates(method: type, n: int) -> None:
    fitted = fit_curve(method, n)
    assert_same(fitted.embedding_, fitted.transform(curve(n)), 1e-8)


@EVERY
@INHERITED
@each("of, name, word", CHOICES)
def test_every_choice_transforms_fitted_rows_to_their_coordinates(
    method: type, inherited: bool, of: type, name: str, word: Any
) -> None:
    if of is not method or inherited == first_declares(method, name):
        return
    points = curve() + np.array([3.0, 1.0, 0.0])
    fitted = answered(lambda: method(**{name: word}).fit(points))
    if fitted is not None:
        assert_same(fitted.embedding_, fitted.transform(points), 1e-8)
        assert np.all(np.isfinite(fitted.inverse_transform(fitted.embedding_)))


@EXACT
def test_rows_next_to_fitted_rows_get_nearly_their_coordinates(method: type) -> None:
    points = curve()
    fitted = fit_curve(method)
    hair = np.random.default_rng(0).normal(scale=1e-9, size=points.shape)
    assert_same(fitted.embedding_, fitted.transform(points + hair), 1e-7)


@INEXACT
def test_rows_next_to_fitted_rows_are_embedded_near_them(method: type) -> None:
    points = curve(700)
    fitted = fit_curve(method, 700)
    hair = np.random.default_rng(0).normal(scale=1e-9, size=points.shape)
    assert np.all(determination(fitted.embedding_, fitted.transform(points + hair)) >= 0.999)


@EVERY
def test_transform_gives_the_same_bits_for_a_batch_and_row_by_row(method: type) -> None:
    fitted = fit_curve(method)
    new = curve(40, seed=1) + np.random.default_rng(1).normal(scale=0.05, size=(40, 3))
    assert_each_alone(fitted.transform, new)
    assert_each_alone(fitted.inverse_transform, fitted.transform(new))


# Sizes at which BLAS has odd ends, in vectors, in blocks for the cache, or in both.
@each("solver", ["auto", unbend.Nystrom(301)])
@each("kernel", KERNELS)
def test_every_kernel_transforms_a_batch_of_any_size_as_row_by_row(
    kernel: str, solver: Any
) -> None:
    points = np.random.default_rng(0).normal(size=(577, 33)) + 1.0
    fitted = unbend.KernelPCA(n_components=3, kernel=kernel, eigen_solver=solver).fit(points)
    assert_each_alone(fitted.transform, points[::40] + 0.1)


@each(
    "model",
    [
        unbend.PCA(n_components=301),
        unbend.RandomProjection(n_components=511),
        unbend.ClassicalMDS(n_components=7),
        unbend.LandmarkMDS(n_components=3, n_landmarks=301),
        unbend.LandmarkMDS(metric="weighted", metric_params={"M": np.diag(np.arange(1.0, 513))}),
    ],
)
def test_products_of_any_size_transform_a_batch_as_row_by_row(model: Any) -> None:
    points = np.random.default_rng(0).normal(size=(577, 512))
    fitted = model.fit(points)
    assert_each_alone(fitted.transform, points[::40] + 0.1)
    assert_each_alone(fitted.inverse_transform, fitted.transform(points[::40] + 0.1))


@each("tiny", [0.0, 1e-100, 1e-200, 5e-324])
@EVERY
def test_a_row_at_the_origin_is_transformed_alone_as_in_a_batch(method: type, tiny: float) -> None:
    fitted = fit_curve(method)
    row = np.full((1, 3), tiny)
    bulk = fitted.transform(np.vstack([curve(5, seed=1), row]))[-1:]
    assert_same(bulk, fitted.transform(row), 1e-10)


@sampled("seed", range(2))
@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve"])
@EVERY_NEIGHBORHOOD
def test_held_out_rows_are_embedded_as_well_as_the_fitted_ones(
    method: type, surface: str, seed: int
) -> None:
    whole = SURFACES[surface](1500, random_state=seed)
    order = np.random.default_rng(seed).permutation(1500)
    kept, held = order[:1200], order[1200:]
    # Two eigenmaps of a strip are functions of each other: ten hold the chart.
    d = 10 if method.__name__ == "LaplacianEigenmaps" else 2
    # LLE may warn, and rightly, that its second coordinate repeats the first.
    fitted, _ = quietly(lambda: method(n_neighbors=8, n_components=d).fit(whole.points[kept]))
    design = np.column_stack([fitted.embedding_, np.ones(1200)])
    chart = np.linalg.lstsq(design, whole.chart[kept], rcond=None)[0]

    def error(coordinates: np.ndarray, truth: np.ndarray) -> float:
        mapped = np.column_stack([coordinates, np.ones(len(truth))]) @ chart
        return float(np.square(mapped - truth).sum() / np.square(truth - truth.mean(0)).sum())

    placed = error(fitted.transform(whole.points[held]), whole.chart[held])
    assert placed < max(2.0 * error(fitted.embedding_, whole.chart[kept]), 1e-4)
    if method.__name__ in ("Isomap", "LTSA", "HessianLLE", "RigidAlignment"):
        assert placed < 0.002


@each("away", [1e2, 1e6, 1e100])
@EVERY
def test_a_row_far_away_gets_finite_coordinates(method: type, away: float) -> None:
    fitted = fit_curve(method)
    far = [[away, 0.0, -away], [0.0, away, 0.0]]
    try:
        placed, warned = quietly(lambda: fitted.transform(far))
    except ValueError as error:
        assert away > 1e50
        assert_clear(error)
    else:
        assert np.all(np.isfinite(placed))
        searches = isinstance(fitted, NeighborhoodEmbedding)
        assert [text.startswith("2 of 2 new samples are far") for text in warned] == [
            True
        ] * searches


@EVERY_NEIGHBORHOOD
def test_new_samples_beside_a_straight_line_stay_beside_it(method: type) -> None:
    # A line has one dimension and two are asked for: the second must not blow up.
    line = np.outer(np.linspace(0.0, 1.0, 200), [1.0, 2.0, 3.0])
    fitted, _ = quietly(lambda: method(n_components=2).fit(line))
    placed = fitted.transform(line[50:150:7] + np.array([0.01, -0.02, 0.01]))
    assert np.abs(placed).max() <= 2.0 * np.abs(fitted.embedding_).max()


@METRIC
def test_precomputed_distances_embed_new_samples_as_points_do(method: type) -> None:
    points, new = curve(), curve(30, seed=1)
    by_points = fit_curve(method)
    by_distances = method(metric="precomputed").fit(pairwise(points))
    assert_same(by_points.embedding_, by_distances.embedding_, 1e-6)
    placed = by_distances.transform(distances(new, points))
    assert placed.shape == (30, 2)
    assert_same(by_points.transform(new), placed, 1e-6)
    assert_same(by_distances.embedding_, by_distances.transform(pairwise(points)), 1e-8)


@METRIC
def test_precomputed_distances_with_duplicate_rows_embed_new_samples_as_points_do(
    method: type,
) -> None:
    points, new = np.repeat(curve(100), 2, axis=0), curve(30, seed=1)
    placed = method(metric="precomputed").fit(pairwise(points)).transform(distances(new, points))
    assert_same(method().fit(points).transform(new), placed, 1e-6)


def sparse_rows(new: np.ndarray, points: np.ndarray, k: int) -> csr_array:
    away = distances(new, points)
    near = np.argsort(away, axis=1)[:, :k]
    return csr_array(
        (np.take_along_axis(away, near, 1).ravel(), near.ravel(), np.arange(len(new) + 1) * k),
        shape=away.shape,
    )


def sparse_graph(points: np.ndarray, k: int) -> csr_array:
    near, lengths = nearest(points, k)
    offsets = np.arange(len(points) + 1) * k
    return csr_array((lengths.ravel(), near.ravel(), offsets), shape=(len(points),) * 2)


@EVERY_NEIGHBORHOOD
def test_a_precomputed_graph_embeds_new_samples_as_points_do_or_names_what_is_missing(
    method: type,
) -> None:
    points, new = curve(), curve(30, seed=1)
    try:
        fitted = method(metric="precomputed").fit(sparse_graph(points, 10))
    except ValueError as error:
        assert_clear(error, "dense distance matrix")
        return
    expected = fit_curve(method, n_neighbors=10).transform(new)
    assert_same(expected, fitted.transform(sparse_rows(new, points, 20)), 1e-8)


@EVERY_NEIGHBORHOOD
def test_a_new_sample_without_any_distance_is_refused(method: type) -> None:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Eigenvectors keep the shape")
            fitted = method(metric="precomputed").fit(sparse_graph(curve(), 10))
    except ValueError:
        pytest.skip("the method does not take a bare graph")
    refused(lambda: fitted.transform(csr_array((2, 200))))


@over([m for m in CLASSES if m.__name__ in ("PCA", "ClassicalMDS")])
def test_the_preimage_of_a_linear_method_is_the_exact_projection(method: type) -> None:
    points = np.random.default_rng(0).normal(size=(100, 6)) * np.arange(1, 7) + 20.0
    mean = points.mean(axis=0)
    axes = np.linalg.svd(points - mean)[2][:2]
    new = np.random.default_rng(1).normal(size=(10, 6)) * 9.0
    fitted = method(n_components=2).fit(points)
    expected = mean + (new - mean) @ axes.T @ axes
    assert_same(expected, fitted.inverse_transform(fitted.transform(new)), 1e-12)


@EVERY_NEIGHBORHOOD
def test_inverse_transform_of_fitted_coordinates_gives_the_fitted_rows(method: type) -> None:
    fitted = fit_curve(method)
    # Rows with the same neighbours may have the same coordinates: the first of them stands for all.
    places = fitted.embedding_
    first = np.argmax(np.all(places[:, None] == places, axis=2), axis=1)
    assert np.mean(first == np.arange(len(first))) > 0.98
    assert_same(curve()[first], fitted.inverse_transform(places), 1e-8)


@EVERY_NEIGHBORHOOD
def test_preimages_beside_fitted_coordinates_are_within_the_derived_bound(method: type) -> None:
    # The weights minimise |y - sum w_j y_j|² + r|w|²; the nearest row alone is a candidate with
    # value r, so |w| <= 1, |w|_1 <= sqrt(k), and the preimage is off by at most sqrt(k) times the
    # reach of the k rows whose coordinates are nearest.
    points = curve(700)
    fitted = fit_curve(method, 700)
    k = max(getattr(fitted, "n_neighbors", 0) or 10, 6)
    near = np.argsort(pairwise(fitted.embedding_), axis=1, kind="stable")[:, :k]
    reach = np.linalg.norm(points[near] - points[:, None], axis=2).max(axis=1)
    beside = fitted.embedding_ * (1.0 + 1e-9)
    off = np.linalg.norm(fitted.inverse_transform(beside) - points, axis=1)
    assert np.all(off <= 1.01 * np.sqrt(k) * reach)
    exact = ("Isomap", "LandmarkIsomap", "LLE", "LTSA", "HessianLLE", "RigidAlignment")
    if method.__name__ in exact:
        # Measured: 0.02 to 0.03 of the spread; eigenmaps fold the curve and go back to between.
        assert np.square(off).sum() < 0.05**2 * np.square(points - points.mean(axis=0)).sum()


@METRIC
def test_precomputed_distances_have_no_inverse_transform(method: type) -> None:
    fitted = method(metric="precomputed").fit(pairwise(curve()))
    refused(lambda: fitted.inverse_transform(fitted.embedding_), "fit it to points")
