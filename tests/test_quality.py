"""Measures of quality: equal to their definitions, on easy data and on awkward data."""

import numpy as np
import pytest
import scipy.spatial
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from tests.loops import each, sampled
from unbend.quality import (
    _spaces,
    align,
    continuity,
    coordinate_redundancy,
    neighborhood_hit,
    occupancy,
    procrustes,
    trustworthiness,
)


def plain_trustworthiness(X, embedding, k):
    """Follow the definition point by point, ranks by (distance, row number)."""
    n, penalty = len(X), 0
    for i in range(n):
        orders = []
        for points in (X, embedding):
            squares = ((np.asarray(points, float) - points[i]) ** 2).sum(axis=1)
            orders.append([j for j in np.lexsort((np.arange(n), squares)) if j != i])
        penalty += sum(max(0, orders[0].index(j) + 1 - k) for j in orders[1][:k])
    return 1 - 2 * penalty / (n * k * (2 * n - 3 * k - 1))


def random_pair(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, X[:, :2] + 0.1 * rng.normal(size=(n, 2))


@each("seed", range(5), keep=1)
@each("k", [1, 5, 30, 99])
def test_trustworthiness_and_continuity_equal_those_of_scikit_learn(seed, k):
    X, embedding = random_pair(seed)
    expected = sklearn_trustworthiness(X, embedding, n_neighbors=k)
    assert np.isclose(trustworthiness(X, embedding, n_neighbors=k), expected, atol=1e-13)
    expected = sklearn_trustworthiness(embedding, X, n_neighbors=k)
    assert np.isclose(continuity(X, embedding, n_neighbors=k), expected, atol=1e-13)


def test_trustworthiness_of_digits_equals_that_of_scikit_learn():
    X = load_digits().data
    # Integer pixels give many equal distances, which scikit-learn orders as they come.
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    embedding = X @ np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2].T
    expected = sklearn_trustworthiness(X, embedding, n_neighbors=12)
    assert np.isclose(trustworthiness(X, embedding, n_neighbors=12), expected, atol=1e-12)


@sampled("seed", range(5))
def test_ties_and_duplicates_are_ordered_by_row_number(seed):
    rng = np.random.default_rng(seed)
    X, embedding = rng.integers(0, 3, (60, 3)), rng.integers(0, 4, (60, 2))
    for k in (1, 4, 29):
        expected = plain_trustworthiness(X, embedding, k)
        assert trustworthiness(X, embedding, n_neighbors=k) == expected
        assert continuity(X, embedding, n_neighbors=k) == plain_trustworthiness(embedding, X, k)


def test_all_points_equal_is_a_perfect_embedding_of_itself():
    assert trustworthiness(np.zeros((30, 2)), np.zeros((30, 1))) == 1


def test_any_similarity_is_trustworthy_and_continuous():
    X, _ = random_pair(0)
    moved = 3 * X @ np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0] + 100
    assert trustworthiness(X, moved) == continuity(X, moved) == 1


def test_trustworthiness_sees_false_neighbours_and_continuity_sees_tears():
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    folded, torn = circle[:, :1], angle[:, None]
    assert continuity(circle, folded) > trustworthiness(circle, folded)
    assert trustworthiness(circle, torn) > continuity(circle, torn)


def test_data_far_from_the_origin_lose_no_accuracy():
    X, embedding = random_pair(0)
    assert trustworthiness(X + 2.0**20, embedding) == pytest.approx(
        trustworthiness(X, embedding), abs=1e-5
    )


@pytest.mark.parametrize("columns", [6, 30])
def test_the_blocks_do_not_change_the_result(monkeypatch, columns):
    rng = np.random.default_rng(0)
    X, embedding = rng.normal(size=(200, columns)), rng.normal(size=(200, 2))
    whole = trustworthiness(X, embedding)
    monkeypatch.setattr(_spaces, "TILE_BYTES", 4 * 200 * 7)
    assert trustworthiness(X, embedding) == whole


@pytest.mark.parametrize("measure", [trustworthiness, continuity])
@pytest.mark.parametrize(
    ("k", "error", "words"),
    [
        (100, ValueError, "at most 99 with 200 samples"),
        (0, ValueError, "integer of at least 1"),
        (2.0, TypeError, "must be an integer"),
        (True, TypeError, "must be an integer"),
    ],
)
def test_impossible_numbers_of_neighbours_are_refused(measure, k, error, words):
    with pytest.raises(error, match=words):
        measure(*random_pair(0), n_neighbors=k)


@each("measure", [trustworthiness, continuity, procrustes, align])
@each(
    ("first", "second", "error", "words"),
    [
        (np.ones((9, 2)), np.full((9, 2), np.nan), ValueError, "embedding contains NaN"),
        (np.full((9, 2), np.inf), np.ones((9, 2)), ValueError, "contains infinity"),
        (np.ones((9, 2)), np.ones((8, 2)), ValueError, "has 9 rows and embedding has 8"),
        (np.ones(9), np.ones((9, 2)), ValueError, "must be a 2D array"),
        (np.ones((9, 0)), np.ones((9, 2)), ValueError, "0 feature"),
        (np.ones((9, 2)), [["a", "b"]] * 9, TypeError, "embedding must be an array of real"),
        (np.ones((9, 2)), 1j * np.ones((9, 2)), ValueError, "Complex data not supported"),
    ],
)
def test_points_that_cannot_be_compared_are_refused(measure, first, second, error, words):
    with pytest.raises(error, match=words):
        measure(first, second)


@sampled("seed", range(5))
def test_similarity_procrustes_is_the_disparity_of_scipy(seed):
    rng = np.random.default_rng(seed)
    truth, embedding = rng.normal(size=(50, 3)) + 5, rng.normal(size=(50, 3))
    expected = scipy.spatial.procrustes(truth, embedding)[2]
    assert np.isclose(procrustes(truth, embedding), expected, rtol=1e-12)


def test_procrustes_forgives_scale_rotation_reflection_and_translation():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(40, 2)) + 3
    reflection = np.array([[0.6, 0.8], [0.8, -0.6]])
    embedding = 1e-3 * truth @ reflection + [7, -2]
    assert procrustes(truth, embedding) < 1e-20
    assert np.allclose(align(truth, embedding), truth, atol=1e-10)


@pytest.mark.parametrize(("wide", "narrow"), [(3, 2), (4, 1)])
def test_columns_that_one_side_lacks_count_as_zeros(wide, narrow):
    rng = np.random.default_rng(0)
    broad, slim = rng.normal(size=(30, wide)), rng.normal(size=(30, narrow))
    padded = np.pad(slim, ((0, 0), (0, wide - narrow)))
    assert np.isclose(procrustes(broad, slim), scipy.spatial.procrustes(broad, padded)[2])
    assert np.isclose(procrustes(slim, broad), scipy.spatial.procrustes(padded, broad)[2])
    assert align(slim, broad).shape == align(broad, slim).shape == (30, wide)
    assert align(slim, broad, kind="affine").shape == (30, narrow)


def test_affine_procrustes_is_the_share_of_variance_left_by_regression():
    rng = np.random.default_rng(0)
    truth, embedding = rng.normal(size=(60, 2)) + 4, rng.normal(size=(60, 3)) - 8
    design = np.column_stack([embedding, np.ones(60)])
    left = np.linalg.lstsq(design, truth, rcond=None)[1].sum()
    expected = left / ((truth - truth.mean(axis=0)) ** 2).sum()
    assert np.isclose(procrustes(truth, embedding, kind="affine"), expected, rtol=1e-10)


def test_affine_procrustes_forgives_stretching_and_repeated_columns():
    truth = np.random.default_rng(0).normal(size=(40, 2))
    stretched = truth * [1, 50] + 3
    repeated = np.column_stack([stretched, stretched, np.ones(40)])
    assert procrustes(truth, stretched) > 0.1
    assert procrustes(truth, stretched, kind="affine") < 1e-20
    assert procrustes(truth, repeated, kind="affine") < 1e-20


@pytest.mark.parametrize("kind", ["similarity", "affine"])
def test_an_embedding_in_one_point_explains_nothing(kind):
    truth = np.random.default_rng(0).normal(size=(40, 2))
    assert np.isclose(procrustes(truth, np.full((40, 2), 0.1), kind=kind), 1)


def test_procrustes_refuses_a_truth_in_one_point_and_an_unknown_kind():
    points = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(ValueError, match="at least two different points"):
        procrustes(np.full((10, 2), 0.1), points)
    with pytest.raises(ValueError, match="must be one of 'similarity', 'affine'"):
        procrustes(points, points, kind="projective")


@sampled("seed", range(5))
def test_harmonics_are_repeated_directions_and_independent_ones_are_not(seed):
    x, y = np.random.default_rng(seed).uniform(0, np.pi, (2, 1000))
    shares = coordinate_redundancy(np.column_stack([np.cos(x), np.cos(2 * x), np.cos(3 * x), y]))
    assert shares[0] == 0
    assert np.all(shares[1:3] > 0.95)
    assert shares[3] < 0.3


@sampled("seed", range(5))
def test_two_independent_columns_are_not_repeated(seed):
    columns = np.random.default_rng(seed).uniform(size=(1000, 2))
    assert np.all(coordinate_redundancy(columns) < 0.3)


@sampled("seed", range(5))
def test_a_circle_takes_both_of_its_directions(seed):
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, 1000)
    for turn in (angle, np.linspace(0, 2 * np.pi, 1000, endpoint=False)):
        circle = np.column_stack([np.cos(turn), np.sin(turn)])
        assert np.all(coordinate_redundancy(circle) < 0.5)
        second_turn = np.column_stack([circle, np.cos(2 * turn), np.sin(2 * turn)])
        assert np.all(coordinate_redundancy(second_turn)[2:] > 0.95)


@sampled("seed", range(5))
def test_a_product_of_two_earlier_directions_is_repeated(seed):
    x, y = np.random.default_rng(seed).uniform(0, np.pi, (2, 2000))
    modes = np.column_stack([np.cos(x), np.cos(y), np.cos(x) * np.cos(y)])
    shares = coordinate_redundancy(modes)
    assert shares[1] < 0.3
    assert shares[2] > 0.95


def test_the_scale_of_a_coordinate_does_not_matter():
    x, y = np.random.default_rng(0).uniform(0, np.pi, (2, 500))
    modes = np.cos(np.column_stack([x, y, 2 * y]))
    assert np.allclose(
        coordinate_redundancy(modes),
        coordinate_redundancy(modes * [2**10, 2**-10, 8] + 4),
        atol=1e-6,
    )


def test_points_that_coincide_predict_nothing():
    """A circle wound eight times, each point eightfold up to rounding or a little noise."""
    turn = 2 * np.pi * np.arange(1000) / 1000
    wound = np.column_stack([np.cos(8 * turn + 0.3), np.sin(8 * turn + 0.3)])
    assert np.all(coordinate_redundancy(wound) < 0.3)
    noise = np.random.default_rng(0).normal(size=wound.shape)
    assert np.all(coordinate_redundancy(wound + 1e-5 * noise) < 0.3)
    # What repeats still does: cos 2u of cos u, each point eightfold.
    strip = np.column_stack([np.cos(8 * turn + 0.3), np.cos(16 * turn + 0.6)])
    assert coordinate_redundancy(strip)[1] > 0.99


def test_one_point_many_times_repeats_itself():
    np.testing.assert_array_equal(coordinate_redundancy(np.ones((30, 3))), [0.0, 1.0, 1.0])


def test_a_constant_coordinate_and_coinciding_points_are_no_obstacle():
    x = np.random.default_rng(0).uniform(size=(300, 1))
    shares = coordinate_redundancy(np.column_stack([x, np.full(300, 0.1), x**2]))
    assert np.allclose(shares, [0, 1, 1], atol=1e-3)
    same = np.column_stack([np.zeros(300), x])
    assert coordinate_redundancy(same)[1] < 0.3
    levels = np.repeat(np.linspace(0.0, 9.0, 100), 5)
    assert coordinate_redundancy(np.column_stack([levels, np.sin(levels)]))[1] > 0.95


def test_many_coordinates_do_not_make_noise_look_repeated():
    noise = np.random.default_rng(0).normal(size=(1000, 15))
    assert np.all(coordinate_redundancy(noise) < 0.3)


def test_above_max_rows_evenly_spaced_rows_are_used():
    x = np.random.default_rng(0).uniform(0, np.pi, 3001)
    modes = np.cos(np.column_stack([x, 2 * x]))
    assert np.array_equal(
        coordinate_redundancy(modes, max_rows=1001),
        coordinate_redundancy(modes[::3], max_rows=1001),
    )
    assert np.array_equal(coordinate_redundancy(modes), coordinate_redundancy(modes))


def test_one_coordinate_repeats_nothing():
    assert coordinate_redundancy(np.arange(20.0)[:, None]).tolist() == [0]


@pytest.mark.parametrize(
    ("embedding", "options", "error", "words"),
    [
        (np.ones((10, 2)), {}, ValueError, "at most 9 with 10 samples"),
        (np.ones((50, 2)), {"max_rows": 10}, ValueError, "at most 9 with 10 samples"),
        (np.ones((50, 2)), {"n_neighbors": 0}, ValueError, "integer of at least 1"),
        (np.ones((50, 2)), {"max_rows": 10.0}, TypeError, "max_rows=10.0 .* must be an integer"),
        (np.full((50, 2), np.nan), {}, ValueError, "embedding contains NaN"),
        (np.ones(50), {}, ValueError, "embedding must be a 2D array"),
    ],
)
def test_repeated_directions_refuses_what_it_cannot_use(embedding, options, error, words):
    with pytest.raises(error, match=words):
        coordinate_redundancy(embedding, **options)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_occupancy_counts_the_cells_that_hold_most_points(d):
    """An oracle that counts in a dictionary, and the same whatever the scales of the axes."""
    rng = np.random.default_rng(d)
    points = rng.normal(size=(700, d)) ** 3
    low, high = points.min(axis=0), points.max(axis=0)
    cells: dict[tuple[int, ...], int] = {}
    for point in points:
        places = (min(99, int(100 * share)) for share in (point - low) / (high - low))
        cell = tuple(places)
        cells[cell] = cells.get(cell, 0) + 1
    needed, held = 0, 0
    for count in sorted(cells.values(), reverse=True):
        needed, held = needed + 1, held + count
        if held >= 0.8 * 700:
            break
    assert occupancy(points) == pytest.approx(needed / (0.8 * min(700, 100**d)))
    assert occupancy(points * 2.0 ** np.arange(d) + 8) == pytest.approx(occupancy(points), rel=0.02)


def test_occupancy_is_low_for_specks_and_outliers_and_not_for_curves_and_clusters():
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(500, 2))
    assert occupancy(spread) > 0.7
    assert occupancy(np.vstack((spread, [[500.0, 500.0]]))) < 0.1
    assert occupancy(np.repeat(np.eye(2), 250, axis=0)) == pytest.approx(2 / 400)
    angle = rng.uniform(0, 2 * np.pi, 500)
    assert 0.2 < occupancy(np.column_stack((np.cos(angle), np.sin(angle)))) < 0.6
    clusters = 8 * rng.normal(size=(4, 2))[rng.integers(0, 4, 500)] + spread
    assert occupancy(clusters) > 0.4


@pytest.mark.parametrize("missing", [None, np.nan])
def test_points_without_a_label_are_left_out_of_the_hit(missing):
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(60, 2)), np.array([*"abc"] * 20, dtype=object)
    unknown = rng.permutation(60)[:15]
    labels[unknown] = missing
    kept = np.setdiff1d(np.arange(60), unknown)
    hit = neighborhood_hit(points, labels)
    expected = neighborhood_hit(points[kept], labels[kept].astype(str))
    assert float(hit) == float(expected)
    assert np.array_equal(hit.rows, kept)
