"""Spectral embedding and clustering of all pairs from a few columns (slides (69))."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from tests.loops import sampled
from tests.oracles.embeddings import subspace_angle
from unbend.gram.columns import SimilarityColumns
from unbend.gram.kernels import GaussianSimilarities
from unbend.gram.spectral import spectral_columns


def gaussian_columns(points, few, gamma):
    return SimilarityColumns(points, few, GaussianSimilarities.of(points[few], gamma))


def exact_walk(points, gamma, count):
    weights = np.exp(-gamma * cdist(points, points, "sqeuclidean"))
    values, vectors = eigh(weights, np.diag(weights.sum(axis=1)))
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1], weights.sum(axis=1)


@pytest.mark.parametrize("m", [100, 400])
def test_few_columns_give_the_eigenvectors_of_the_whole_walk(m):
    rng = np.random.default_rng(0)
    points = rng.uniform(0, [2.0, 1.0], (400, 2))
    values, vectors, degree = exact_walk(points, 1.0, 4)
    found = spectral_columns(gaussian_columns(points, np.arange(m), 1.0), 4)
    np.testing.assert_allclose(found.values, values, 1e-6)
    np.testing.assert_allclose(found.degree, degree, 1e-6)
    root = np.sqrt(degree)[:, None]
    assert subspace_angle(root * vectors, root * found.vectors) < 1e-4
    np.testing.assert_allclose(
        found.vectors.T @ (degree[:, None] * found.vectors), np.eye(4), 0, 1e-5
    )
    # The first is constant, to the eigenvalue one.
    assert np.ptp(found.vectors[:, 0]) < 1e-6 * np.abs(found.vectors[0, 0])


def test_fitted_rows_taken_as_new_ones_stay_where_they_are():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 2))
    columns = gaussian_columns(points, np.arange(60), 0.5)
    found = spectral_columns(columns, 3)
    affinities = np.exp(-0.5 * cdist(points, points[:60], "sqeuclidean"))
    np.testing.assert_allclose(found(affinities), found.vectors, 0, 1e-9)


@sampled("seed", range(5))
def test_groups_of_many_rows_are_separated_by_few_columns(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    labels = rng.integers(4, size=5000)
    points = centres[labels] + rng.normal(size=(5000, 2))
    few = np.sort(rng.choice(5000, 100, replace=False))
    vectors = spectral_columns(gaussian_columns(points, few, 0.5), 4).vectors
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    groups = KMeans(4, n_init=10, random_state=0).fit_predict(rows)
    agreeing = sum(np.bincount(labels[groups == group]).max() for group in range(4))
    # As many as the nearest centre gets right, less a few near the borders.
    nearest = np.sum(cdist(points, centres).argmin(axis=1) == labels)
    assert agreeing >= nearest - 10
