"""Affinities: the entropy asked for, ties, and scikit-learn's own search."""

import numpy as np
import pytest
from sklearn.manifold import _utils as sklearn_utils

import unbend
from unbend.layout.affinities import Affinities, joint_probabilities
from unbend.neighbors import PointSpace


def entropy(p):
    return -np.sum(np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0), axis=1)


@pytest.mark.parametrize("perplexity", [2.0, 5.0, 30.0, 80.0])
def test_rows_have_the_perplexity_asked_for(perplexity):
    X = unbend.datasets.swiss_roll(400, random_state=0).points
    distances = PointSpace(X).nearest(90).distances.reshape(-1, 90)
    p = Affinities(perplexity).of_rows(distances)
    np.testing.assert_allclose(np.exp(entropy(p)), perplexity, rtol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e100])
def test_weights_do_not_depend_on_the_unit(scale):
    distances = np.sort(np.random.default_rng(0).uniform(1, 3, (20, 40)), axis=1)
    np.testing.assert_allclose(
        Affinities(10.0).of_rows(distances * scale), Affinities(10.0).of_rows(distances), rtol=1e-6
    )


def test_weights_agree_with_scikit_learn():
    distances = np.sort(np.random.default_rng(1).uniform(1, 3, (80, 60)), axis=1)
    theirs = sklearn_utils._binary_search_perplexity(
        np.square(distances).astype(np.float32), 15.0, 0
    )
    np.testing.assert_allclose(Affinities(15.0).of_rows(distances), theirs, atol=2e-5)


def test_tied_distances_give_uniform_weights():
    p = Affinities(5.0).of_rows(np.ones((3, 12)))
    np.testing.assert_allclose(p, 1 / 12)
    tied = np.concatenate([np.ones((1, 8)), np.full((1, 4), 2.0)], axis=1)
    q = Affinities(4.0).of_rows(tied)
    np.testing.assert_allclose(q[0, :8], 1 / 8, rtol=1e-6)


def test_joint_probabilities_are_symmetric_and_sum_to_one():
    X = unbend.datasets.s_curve(200, random_state=0).points
    neighbors = PointSpace(X).nearest(20)
    p = Affinities(6.0).of_rows(neighbors.distances.reshape(-1, 20))
    joint = joint_probabilities(neighbors, Affinities(6.0))
    dense = joint.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert dense.sum() == pytest.approx(1.0)
    conditional = np.zeros((200, 200))
    conditional[np.arange(200)[:, None], neighbors.indices.reshape(-1, 20)] = p
    np.testing.assert_allclose(dense, (conditional + conditional.T) / 400, atol=1e-15)


def test_rows_of_different_length_are_calibrated_each():
    distances = np.sort(np.random.default_rng(2).uniform(1, 3, (4, 30)), axis=1)
    lengths = [30, 12, 5, 30]
    ragged = distances.copy()
    for row, length in enumerate(lengths):
        ragged[row, length:] = np.inf
    weights = Affinities(8.0).of_rows(ragged)
    for row, length in enumerate(lengths):
        assert np.all(weights[row, length:] == 0)
        expected = min(8.0, length)  # fewer neighbours than the perplexity are weighted equally
        assert np.exp(entropy(weights[row : row + 1])) == pytest.approx(expected, rel=1e-6)


def test_a_row_does_not_depend_on_the_others():
    distances = np.sort(np.random.default_rng(3).exponential(size=(50, 40)), axis=1)
    together = Affinities(7.0).of_rows(distances)
    alone = np.concatenate([Affinities(7.0).of_rows(row[None]) for row in distances])
    np.testing.assert_array_equal(together, alone)
