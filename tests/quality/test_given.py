"""Measures of data that are known by their distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

import unbend
from tests.loops import each
from unbend import quality

RANKED = [quality.trustworthiness, quality.continuity, quality.neighborhood_preservation]
PAIRED = [quality.shepard, quality.stress]


def drawn(seed, coarse):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(70, 4))
    embedding = points[:, :2] + 0.5 * rng.normal(size=(70, 2))
    return (points.round(), embedding.round()) if coarse else (points, embedding)


@each("coarse", [False, True])
@each("max_rows", [None, 30])
@each("measure", RANKED)
def test_distances_give_the_same_ranks_as_the_points_they_come_from(measure, max_rows, coarse):
    points, embedding = drawn(0, coarse)
    by_points = measure(points, embedding, max_rows=max_rows)
    given = cdist(points, points)
    by_distances = measure(given, embedding, metric="precomputed", max_rows=max_rows)
    assert by_distances == by_points
    np.testing.assert_array_equal(by_distances.local, by_points.local)


@pytest.mark.parametrize("coarse", [False, True])
def test_distances_give_the_same_curves_and_errors(coarse):
    points, embedding = drawn(1, coarse)
    given = cdist(points, points)
    curves = [
        quality.coranking(points, embedding),
        quality.coranking(given, embedding, metric="precomputed"),
    ]
    np.testing.assert_array_equal(curves[0].q_nx, curves[1].q_nx)
    errors = quality.mean_relative_rank_errors(points, embedding)
    assert quality.mean_relative_rank_errors(given, embedding, metric="precomputed") == errors
    matrix = quality.coranking_matrix(given, embedding, metric="precomputed")
    np.testing.assert_array_equal(matrix, quality.coranking_matrix(points, embedding))


def test_trustworthiness_of_distances_is_that_of_scikit_learn():
    points, embedding = drawn(2, coarse=False)
    given = cdist(points, points, "cityblock")
    ours = quality.trustworthiness(given, embedding, metric="precomputed")
    theirs = sklearn_trustworthiness(given, embedding, metric="precomputed")
    assert ours == pytest.approx(theirs, abs=1e-14)


def test_geodesics_see_that_a_roll_laid_out_is_right_at_all_sizes():
    roll = unbend.datasets.swiss_roll(600, random_state=0)
    true = cdist(roll.chart, roll.chart)
    given = {"metric": "precomputed"}
    assert quality.coranking(true, roll.chart, **given).r_nx_auc == pytest.approx(1)
    assert quality.coranking(roll.points, roll.chart).r_nx_auc < 0.9
    assert (
        quality.stress(true, roll.chart, **given) < 1e-12 < quality.stress(roll.points, roll.chart)
    )
    correlation = quality.shepard(true, roll.points, **given).pearson
    variance = quality.residual_variance(true, roll.points, metric="precomputed")[-1]
    assert 1 - correlation**2 == pytest.approx(variance)


@each("measure", [*RANKED, *PAIRED, quality.coranking])
@each(
    ("given", "metric", "words"),
    [
        (np.ones((20, 3)), "precomputed", "must be square"),
        (-np.ones((20, 20)), "precomputed", "must be non-negative"),
        (np.ones((20, 20)), "precomputed", "non-zero diagonal"),
        (np.triu(np.ones((20, 20)), 1), "precomputed", "not symmetric"),
        (np.ones((20, 3)), "cosinus", "metric='cosinus' is not allowed"),
        (1 - np.eye(19), "precomputed", "X has 19 rows and embedding has 20"),
    ],
)
def test_what_are_no_distances_is_refused(measure, given, metric, words):
    with pytest.raises(ValueError, match=words):
        measure(given, np.eye(20)[:, :2], metric=metric)


def _modulus(first, second, power):
    return float((np.abs(first - second) ** power).sum())


METRICS = {
    "cosine": ("cosine", {}, lambda X: cdist(X, X, "cosine")),
    "angular": ("angular", {}, lambda X: np.arccos(np.clip(1 - cdist(X, X, "cosine"), -1, 1))),
    "correlation": ("correlation", {}, lambda X: cdist(X, X, "correlation")),
    "manhattan": ("manhattan", {}, lambda X: cdist(X, X, "cityblock")),
    "minkowski": ("minkowski", {"p": 3}, lambda X: cdist(X, X, "minkowski", p=3)),
    "mahalanobis": ("mahalanobis", {}, lambda X: cdist(X, X, "mahalanobis")),
    "derivative": ("derivative", {}, lambda X: cdist(np.diff(X), np.diff(X))),
    "callable": (_modulus, {"power": 1.5}, lambda X: cdist(X, X, lambda a, b: _modulus(a, b, 1.5))),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("max_rows", [None, 25])
def test_any_metric_gives_what_its_distances_give(name, max_rows):
    metric, params, distances = METRICS[name]
    rng = np.random.default_rng(0)
    X, embedding = rng.normal(size=(70, 6)), rng.normal(size=(70, 2))
    square = distances(X)
    square = (square + square.T) / 2
    np.fill_diagonal(square, 0.0)
    by_name = {"metric": metric, "metric_params": params, "max_rows": max_rows}
    by_distance = {"metric": "precomputed", "max_rows": max_rows}
    for measure in (*RANKED, quality.mean_relative_rank_errors):
        expected = np.asarray(measure(square, embedding, **by_distance))
        assert np.array_equal(np.asarray(measure(X, embedding, **by_name)), expected), measure
    expected = quality.coranking(square, embedding, **by_distance).q_nx
    assert np.array_equal(quality.coranking(X, embedding, **by_name).q_nx, expected)
    for measure in (quality.stress, lambda *a, **o: quality.shepard(*a, **o).pearson):
        expected = measure(square, embedding, **by_distance)
        assert measure(X, embedding, **by_name) == pytest.approx(expected, rel=1e-6)


def test_an_embedding_by_cosines_is_judged_by_cosines():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * rng.uniform(1, 100, (200, 1))
    model = unbend.ClassicalMDS(n_components=5, metric="cosine").fit(X)
    judged = quality.trustworthiness(X, model.embedding_, metric="cosine")
    assert judged > 0.99 > quality.trustworthiness(X, model.embedding_)
