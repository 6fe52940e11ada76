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


def test_the_diagonal_of_distances_does_not_matter():
    points, embedding = drawn(3, coarse=False)
    given = cdist(points, points)
    odd = given + 7 * np.eye(70)
    for measure in (quality.trustworthiness, quality.continuity, quality.stress):
        options = {"metric": "precomputed"}
        assert measure(odd, embedding, **options) == measure(given, embedding, **options)


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
        (np.ones((20, 3)), "precomputed", "square matrix of distances"),
        (-np.ones((20, 20)), "precomputed", "some are negative"),
        (np.ones((20, 3)), "cosine", "'euclidean' or 'precomputed'"),
        (np.ones((19, 19)), "precomputed", "19 and 20 rows"),
    ],
)
def test_what_are_no_distances_is_refused(measure, given, metric, words):
    with pytest.raises(ValueError, match=words):
        measure(given, np.eye(20)[:, :2], metric=metric)
