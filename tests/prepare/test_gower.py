"""Gower's distance as a metric of every search, against its definition."""

import numpy as np
import pytest

import unbend
from unbend.neighbors import Metric, PointSpace

RNG = np.random.default_rng(7)
X = np.column_stack(
    [
        RNG.lognormal(3, 1, 150),
        RNG.integers(0, 4, 150),
        RNG.normal(size=150),
        RNG.integers(0, 3, 150),
    ]
)
PARAMS = {"categorical": [1, 3]}


def definition(A, B, weights=(1, 1, 1, 1)):
    width = np.ptp(X, axis=0)
    parts = [
        np.abs(A[:, None, 0] - B[:, 0]) / width[0],
        A[:, None, 1] != B[:, 1],
        np.abs(A[:, None, 2] - B[:, 2]) / width[2],
        A[:, None, 3] != B[:, 3],
    ]
    return np.average(np.stack(parts), axis=0, weights=weights)


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.0, 5.0]])
def test_distances_are_those_of_the_definition(weights):
    params = PARAMS if weights is None else {**PARAMS, "weights": weights}
    metric = Metric("gower", params).fit(X)
    np.testing.assert_allclose(
        metric.between(X, X), definition(X, X, weights or (1,) * 4), atol=1e-12
    )


def test_a_new_category_differs_from_all_others():
    new = X[:3].copy()
    new[:, 1] = 99
    metric = Metric("gower", PARAMS).fit(X)
    np.testing.assert_allclose(metric.between(new, X), definition(new, X), atol=1e-12)
    np.testing.assert_allclose(metric.between(new, new), definition(new, new), atol=1e-12)


def test_searches_find_the_neighbors_of_the_definition():
    space = PointSpace(X, Metric("gower", PARAMS).fit(X))
    found = space.nearest(6).distances.reshape(-1, 6)
    every = definition(X, X)
    np.fill_diagonal(every, np.inf)
    np.testing.assert_allclose(found, np.sort(every, axis=1)[:, :6], atol=1e-12)


def test_a_mask_and_indices_agree_and_bad_ones_are_refused():
    mask = Metric("gower", {"categorical": np.array([False, True, False, True])}).fit(X)
    np.testing.assert_array_equal(mask.between(X, X), Metric("gower", PARAMS).fit(X).between(X, X))
    for bad in ([4], [-1], ["city"], [0.5]):
        with pytest.raises(ValueError, match="categorical="):
            Metric("gower", {"categorical": bad}).fit(X)


@pytest.mark.parametrize("name", ["Isomap", "LaplacianEigenmaps", "ClassicalMDS", "MetricMDS"])
def test_methods_take_it_and_agree_with_given_distances(name):
    method = getattr(unbend, name)
    points = method(metric="gower", metric_params=PARAMS).fit_transform(X)
    distances = method(metric="precomputed").fit_transform(definition(X, X))
    assert unbend.quality.procrustes(distances, points) < 1e-4
