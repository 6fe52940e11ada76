"""Ranks by counting, and the measures made of them, against sorting everything."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

import unbend
from tests.loops import each
from tests.oracles import quality as oracle
from tests.stages.drawn import LAW, rngs
from tests.stages.searches import every_kernel, kernels
from unbend.neighbors import PointSpace
from unbend.quality import (
    Measure,
    _spaces,
    continuity,
    mean_relative_rank_errors,
    neighborhood_hit,
    trustworthiness,
)


def drawn(rng, n, columns, coarse):
    """Points; coarse ones lie on a lattice, with many ties and copies."""
    return rng.integers(0, 4, (n, columns)) * 1.0 if coarse else rng.normal(size=(n, columns))


@every_kernel
@LAW
@given(rngs, st.integers(3, 40), st.sampled_from([1, 2, 3, 15, 16, 40]), st.booleans())
def test_counted_ranks_are_those_of_sorting(name, rng, n, columns, coarse):
    points = drawn(rng, n, columns, coarse)
    targets = np.array([rng.permutation(np.delete(np.arange(n), i)) for i in range(n)])
    expected = np.take_along_axis(oracle.rank_matrix(points), targets, axis=1)
    rows = rng.permutation(n)[: rng.integers(1, n + 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_spaces, "kernels", kernels(name))
        for threads in (1, 3):
            found = _spaces.ranks_of(PointSpace(points, workers=threads), rows, targets[rows])
            assert (found == expected[rows]).all()


@each("columns", [3, 60])
@each("shift", [0.0, 2.0**20])
@each("unit", [2.0**-500, 1.0, 2.0**500])
def test_many_ranks_do_not_depend_on_units_or_place(columns, shift, unit):
    points = np.random.default_rng(1).integers(0, 9, (1500, columns)) * 1.0
    rows = np.arange(0, 1500, 31)
    targets = np.random.default_rng(2).integers(0, 1500, (len(rows), 20))
    targets = np.where(targets == rows[:, None], (targets + 1) % 1500, targets)
    expected = np.take_along_axis(_sorted_ranks(points, rows), targets, axis=1)
    assert (_spaces.ranks_of(PointSpace((points + shift) * unit), rows, targets) == expected).all()


def _sorted_ranks(points, rows):
    squares = ((points[rows, None] - points) ** 2).sum(axis=2)
    squares[np.arange(len(rows)), rows] = -1
    return np.argsort(np.argsort(squares, axis=1, kind="stable"), axis=1)


@LAW
@given(rngs, st.integers(8, 30), st.booleans(), st.data())
def test_the_measures_are_those_of_the_coranking_matrix(rng, n, coarse, data):
    X, embedding = drawn(rng, n, 4, coarse), drawn(rng, n, 2, coarse)
    k = data.draw(st.integers(1, (n - 1) // 2))
    Q = oracle.coranking(X, embedding)
    assert trustworthiness(X, embedding, n_neighbors=k) == pytest.approx(
        oracle.trustworthiness(Q, k), abs=1e-13
    )
    assert continuity(X, embedding, n_neighbors=k) == pytest.approx(
        oracle.trustworthiness(Q.T, k), abs=1e-13
    )
    errors = mean_relative_rank_errors(X, embedding, n_neighbors=k)
    assert errors == pytest.approx(oracle.relative_rank_errors(Q, k), abs=1e-13)
    for measure in errors:
        assert measure == pytest.approx(measure.local.mean())


def test_relative_rank_errors_are_none_for_a_similarity():
    line = np.arange(20.0)[:, None] ** 2
    assert mean_relative_rank_errors(line, 3 * line + 1) == (0, 0)


@pytest.mark.parametrize("columns", [3, 50])
def test_trustworthiness_equals_that_of_scikit_learn_at_more_points(columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, columns))
    embedding = X[:, :2]
    for k in (5, 40):
        expected = sklearn_trustworthiness(X, embedding, n_neighbors=k)
        assert trustworthiness(X, embedding, n_neighbors=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", [trustworthiness, continuity])
def test_a_sample_errs_by_about_its_standard_error(measure):
    roll = unbend.datasets.swiss_roll(3000, random_state=0)
    squashed = roll.points[:, :2]
    exact = measure(roll.points, squashed)
    assert exact.error == 0
    assert len(exact.local) == 3000
    assert exact == pytest.approx(exact.local.mean(), abs=1e-12)
    parts = [measure(roll.points, squashed, max_rows=200, random_state=s) for s in range(40)]
    scores = np.array([(part - exact) / part.error for part in parts])
    # The mean square of forty such ratios lies in this range but for one time in a thousand.
    assert 0.4 < np.mean(scores**2) < 2
    for part in parts[:3]:
        assert np.allclose(part.local, exact.local[part.rows])


def test_points_with_many_copies_are_sampled_without_themselves():
    X = np.repeat(np.arange(4.0), 30)[:, None]
    part = trustworthiness(X, X, n_neighbors=3, max_rows=20)
    assert part == 1
    assert (part.local == 1).all()


@LAW
@given(rngs, st.integers(3, 30), st.booleans(), st.data())
def test_neighborhood_hit_counts_equal_labels(rng, n, coarse, data):
    embedding, labels = drawn(rng, n, 2, coarse), rng.choice(list("abc"), n)
    k = data.draw(st.integers(1, n - 1))
    found = neighborhood_hit(embedding, labels, n_neighbors=k)
    assert found == pytest.approx(oracle.neighborhood_hit(embedding, labels, k))


def test_labels_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="one value for each of 5 rows"):
        neighborhood_hit(np.zeros((5, 2)), [1, 2])
    with pytest.raises(ValueError, match="at most 4 with 5 samples"):
        neighborhood_hit(np.zeros((5, 2)), [1] * 5)


def test_a_measure_is_a_number_that_keeps_its_points_when_pickled():
    measure = Measure(0.25, np.arange(3.0), np.array([2, 5, 7]), 0.01)
    again = pickle.loads(pickle.dumps(measure))
    assert again == measure == 0.25
    assert isinstance(again, float)
    assert again.error == 0.01
    assert (again.rows == [2, 5, 7]).all()
    assert (again.local == measure.local).all()
    assert repr(again) == "0.25 ± 0.01"
