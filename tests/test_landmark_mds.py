"""Landmark and pivot scaling: classical scaling where that is what they must be."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import unbend
from tests.conformance.cases import motion_error
from tests.loops import each, sampled
from tests.oracles.embeddings import subspace_angle
from unbend.datasets import square, swiss_roll

VARIANT = each("variant", ["landmark", "pivot"])
HOW = each("landmarks", ["maxmin", "random", "kmeans"])


@VARIANT
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_with_every_row_a_landmark_it_is_classical_scaling(variant, metric):
    points = swiss_roll(150, random_state=0).points
    whole = unbend.ClassicalMDS(metric=metric).fit(points)
    found = unbend.LandmarkMDS(metric=metric, n_landmarks=150, variant=variant).fit(points)
    np.testing.assert_allclose(found.embedding_, whole.embedding_, atol=1e-9 * np.abs(points).max())
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    new = points[:20] + 0.3
    np.testing.assert_allclose(found.transform(new), whole.transform(new), atol=1e-8)


@HOW
@VARIANT
@each("seed", range(3), keep=1)
def test_a_plane_comes_back_exactly_from_few_landmarks(landmarks, variant, seed):
    surface = square(500, random_state=seed)
    options = {"n_landmarks": 6, "landmarks": landmarks, "random_state": seed, "variant": variant}
    found = unbend.LandmarkMDS(**options).fit_transform(surface.points)
    assert motion_error(surface.chart, found) < 1e-10


def test_pivot_coordinates_are_the_singular_vectors_of_the_centred_columns():
    points = swiss_roll(300, random_state=1).points
    fitted = unbend.LandmarkMDS(metric="cityblock", n_landmarks=40, variant="pivot").fit(points)
    squares = cdist(points, points[fitted.landmarks_], "cityblock") ** 2
    centred = -0.5 * (squares - squares.mean(0) - squares.mean(1, keepdims=True) + squares.mean())
    left = np.linalg.svd(centred, full_matrices=False)[0][:, :2]
    assert subspace_angle(left, fitted.embedding_) < 1e-9
    # The lengths are those that give the columns back, in least squares, landmarks centred.
    few = fitted.embedding_[fitted.landmarks_]
    few = few - few.mean(axis=0)
    error = left.T @ centred - left.T @ fitted.embedding_ @ few.T
    assert np.linalg.norm(error) < 0.1 * np.linalg.norm(left.T @ centred)


def test_landmark_coordinates_scale_the_landmarks_and_place_the_others():
    points = swiss_roll(300, random_state=1).points
    fitted = unbend.LandmarkMDS(metric="cityblock", n_landmarks=40).fit(points)
    few = points[fitted.landmarks_]
    alone = unbend.ClassicalMDS(metric="cityblock").fit(few)
    assert motion_error(alone.transform(points), fitted.embedding_) < 1e-9


@VARIANT
@HOW
def test_coordinates_are_centred_in_principal_axes_and_new_samples_follow(variant, landmarks):
    points = swiss_roll(400, random_state=2).points
    fitted = unbend.LandmarkMDS(
        n_components=3, n_landmarks=30, variant=variant, landmarks=landmarks
    ).fit(points)
    gram = fitted.embedding_.T @ fitted.embedding_
    np.testing.assert_allclose(gram, np.diag(fitted.eigenvalues_), atol=1e-7 * gram.max())
    assert np.all(np.diff(fitted.eigenvalues_) <= 0)
    assert np.abs(fitted.embedding_.mean(axis=0)).max() < 1e-9
    np.testing.assert_allclose(fitted.transform(points), fitted.embedding_, atol=1e-9)


@VARIANT
def test_distances_give_what_points_give(variant):
    points = swiss_roll(200, random_state=3).points
    options = {"n_landmarks": 25, "landmarks": "random", "variant": variant}
    by_points = unbend.LandmarkMDS(**options).fit(points)
    distances = cdist(points, points)
    by_distances = unbend.LandmarkMDS(**options, metric="precomputed").fit(distances)
    np.testing.assert_allclose(by_distances.embedding_, by_points.embedding_, atol=1e-8)
    new = points[:5] + 0.1
    np.testing.assert_allclose(
        by_distances.transform(cdist(new, points)), by_points.transform(new), atol=1e-8
    )


@VARIANT
def test_threads_do_not_change_a_bit(variant):
    points = np.random.default_rng(0).normal(size=(60_000, 6))
    one, two = (
        unbend.LandmarkMDS(variant=variant, n_jobs=jobs).fit(points).embedding_ for jobs in (1, 2)
    )
    assert np.array_equal(one, two)


def test_landmarks_far_apart_are_distinct_rows_as_long_as_there_are_any():
    points = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 20, axis=0)
    fitted = unbend.LandmarkMDS(n_landmarks=30).fit(points)
    assert len(np.unique(points[fitted.landmarks_], axis=0)) == 30
    assert len(np.unique(unbend.LandmarkMDS(n_landmarks=50).fit(points).landmarks_)) == 50


@VARIANT
def test_equal_rows_get_equal_coordinates(variant):
    source = np.random.default_rng(0).permutation(np.repeat(np.arange(150), 6))
    found = unbend.LandmarkMDS(variant=variant).fit(swiss_roll(150, random_state=0).points[source])
    _, first = np.unique(source, return_index=True)
    np.testing.assert_allclose(found.embedding_, found.embedding_[first][source], atol=1e-10)


def test_invalid_arguments_raise_a_clear_error():
    points = square(50, random_state=0).points
    with pytest.raises(ValueError, match="2 landmarks are too few for n_components=2"):
        unbend.LandmarkMDS(n_landmarks=2).fit(points)
    graph = unbend.graphs.undirected(unbend.neighbors.PointSpace(points).nearest(5)).lengths
    with pytest.raises(TypeError, match="use LandmarkIsomap"):
        unbend.LandmarkMDS(metric="precomputed").fit(graph)


@pytest.mark.parametrize("variant", ["landmark", "pivot"])
@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e5])
def test_a_coordinate_far_smaller_than_the_first_is_kept(ratio, variant):
    rng = np.random.default_rng(0)
    plane = np.c_[rng.normal(0, ratio, 400), rng.normal(size=400)]
    model = unbend.LandmarkMDS(n_landmarks=30, variant=variant).fit(plane)
    centred = plane - plane.mean(axis=0)
    expected = np.linalg.svd(centred, compute_uv=False) / np.sqrt(400)
    # Kernels square the ratio: their rounding is that of its square.
    np.testing.assert_allclose(model.embedding_.std(axis=0), expected, rtol=1e-14 * ratio**2 + 1e-9)


@sampled("seed", [0, 1])
def test_columns_resolve_a_coordinate_far_smaller_than_the_first(seed):
    rng = np.random.default_rng(seed)
    wide = np.c_[rng.normal(0, 1e6, 1100), rng.normal(size=(1100, 5))]
    exact = unbend.Isomap(n_neighbors=30).fit_transform(wide)
    for m, missed in ((200, 0.05), (1100, 1e-4)):
        solver = unbend.Nystrom(m)
        found = unbend.Isomap(n_neighbors=30, eigen_solver=solver).fit_transform(wide)
        error = np.linalg.norm(found[:, 1] - exact[:, 1]) / np.linalg.norm(exact[:, 1])
        assert error < missed


@VARIANT
@pytest.mark.parametrize("across", [0.0, 1.0])
def test_warns_when_distances_do_not_resolve_a_coordinate(variant, across):
    rng = np.random.default_rng(0)
    # A line, and a strip 1e8 times as long as it is wide: squared distances do not show its width.
    points = np.c_[rng.normal(0, 1e8, 400), across * rng.normal(size=400)]
    with pytest.warns(UserWarning, match="only 1 positive eigenvalues"):
        model = unbend.LandmarkMDS(variant=variant).fit(points)
    np.testing.assert_array_equal(model.embedding_[:, 1], 0.0)
    np.testing.assert_allclose(model.embedding_[:, 0].std(), points[:, 0].std(), rtol=1e-12)
