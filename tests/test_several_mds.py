"""Several matrices of the same objects: one configuration, replicated or weighted."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from tests.loops import each
from unbend import MetricMDS, NonmetricMDS, ReplicatedMDS, WeightedMDS
from unbend.quality import procrustes

CENTRE = np.eye(40) - 1 / 40
SEEDS = each("seed", range(5), keep=1)


def noisy(distances, rng, size):
    off = np.triu(rng.normal(scale=size, size=distances.shape), 1)
    return np.abs(distances + off + off.T)


@pytest.mark.parametrize("transformation", ["ratio", "interval", "monotone"])
def test_one_configuration_serves_matrices_with_curves_of_their_own(transformation):
    plane = np.random.default_rng(0).normal(size=(40, 2))
    exact = squareform(pdist(plane))
    curves = {
        "ratio": [exact, 3 * exact, 0.1 * exact],
        "interval": [exact, (1 + 2 * exact) * (1 - np.eye(40)), 0.1 * exact],
        "monotone": [exact, exact**2, np.expm1(exact)],
    }[transformation]
    fitted = ReplicatedMDS(transformation=transformation).fit(curves)
    assert fitted.stress_ < 1e-4
    assert procrustes(plane, fitted.embedding_) < 1e-3
    assert np.all(fitted.stress_per_matrix_ < 1e-4)
    assert len(fitted.shepard(1).distances) == 780


def test_one_matrix_replicated_is_that_matrix_alone():
    points = np.random.default_rng(1).normal(size=(40, 5))
    given = squareform(pdist(points))
    alone = NonmetricMDS(metric="precomputed", transformation="ratio").fit(given)
    for count in (1, 3):
        several = ReplicatedMDS().fit(np.stack([given] * count))
        assert several.stress_ == pytest.approx(alone.stress_, rel=1e-8)
        assert procrustes(alone.embedding_, several.embedding_) < 1e-8


@SEEDS
def test_noise_of_several_matrices_averages_out(seed):
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=(30, 2))
    given = [noisy(squareform(pdist(plane)), rng, 0.5) for _ in range(8)]
    one = procrustes(plane, MetricMDS(metric="precomputed").fit_transform(given[0]))
    assert procrustes(plane, ReplicatedMDS().fit_transform(given)) < one / 2


def test_a_pair_missing_from_one_matrix_is_taken_from_another():
    plane = np.random.default_rng(2).normal(size=(30, 2))
    given = [squareform(pdist(plane)), 2 * squareform(pdist(plane))]
    hidden = np.triu(np.random.default_rng(3).random((30, 30)) < 0.4, 1)
    hidden |= hidden.T
    given[0] = np.where(hidden, np.nan, given[0])
    fitted = ReplicatedMDS().fit(given)
    assert procrustes(plane, fitted.embedding_) < 1e-8
    smacof = ReplicatedMDS(solver="smacof").fit(given)
    assert np.all(np.diff(smacof.history_) <= 1e-10)


def test_new_objects_of_replicated_matrices_are_placed():
    rng = np.random.default_rng(4)
    plane, new = rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
    given, rows = squareform(pdist(plane)), cdist(new, plane)
    fitted = ReplicatedMDS().fit([given, 2 * given])
    placed = pickle.loads(pickle.dumps(fitted)).transform([rows, 2 * rows])
    both = np.vstack([fitted.embedding_, placed])
    assert procrustes(np.vstack([plane, new]), both) < 1e-8
    np.testing.assert_allclose(fitted.transform([given, 2 * given]), fitted.embedding_)


def individual(seed, noise, d=3, n=40, k=8):
    rng = np.random.default_rng(seed)
    group, weights = rng.normal(size=(n, d)), rng.uniform(0.1, 2.0, size=(k, d))
    exact = [squareform(pdist(group * np.sqrt(row))) for row in weights]
    return group, weights, [noisy(distances, rng, noise) for distances in exact]


@each("noise", [0.0, 0.05, 0.2])
@SEEDS
def test_weighted_scaling_recovers_configuration_and_weights(seed, noise):
    group, weights, given = individual(seed, noise)
    fitted = WeightedMDS(n_components=3).fit(given)
    alike = np.abs(np.corrcoef(group.T, fitted.embedding_.T)[:3, 3:])
    partner = alike.argmax(axis=1)
    assert sorted(partner) == [0, 1, 2]
    assert alike[np.arange(3), partner].min() >= 0.99
    true = weights * group.var(axis=0)
    assert np.corrcoef(true.ravel(), fitted.weights_[:, partner].ravel())[0, 1] >= 0.99
    assert np.all(fitted.weights_ >= 0)
    products = [-0.5 * CENTRE @ distances**2 @ CENTRE for distances in given]
    true_share = [
        1 - np.sum((product - (CENTRE @ group * row) @ group.T @ CENTRE) ** 2) / np.sum(product**2)
        for product, row in zip(products, weights, strict=True)
    ]
    # The fit is the best of all models, of which the truth is one.
    assert fitted.variance_accounted_.mean() >= np.mean(true_share) - 1e-9
    np.testing.assert_allclose(fitted.embedding_.var(axis=0), 1.0)
    np.testing.assert_allclose(fitted.embedding_.mean(axis=0), 0.0, atol=1e-12)
    assert np.all(np.diff(fitted.weights_.sum(axis=0)) <= 0)
    assert np.all(np.diff(fitted.history_) <= 1e-12)


def test_the_variance_accounted_for_is_that_of_the_scalar_products():
    _, _, given = individual(0, 0.3)
    fitted = WeightedMDS(n_components=2).fit(given)
    for matrix, share in enumerate(fitted.variance_accounted_):
        products = -0.5 * CENTRE @ given[matrix] ** 2 @ CENTRE
        own = fitted.configuration(matrix)
        left = np.sum((products - own @ own.T) ** 2) / np.sum(products**2)
        assert share == pytest.approx(1 - left)


def test_a_matrix_that_does_not_use_an_axis_gets_no_weight_for_it():
    group, weights, _ = individual(1, 0.0)
    weights[0, 1] = 0.0
    fitted = WeightedMDS(n_components=3).fit(
        [squareform(pdist(group * np.sqrt(row))) for row in weights]
    )
    assert fitted.weights_[0].min() < 1e-6 * fitted.weights_[0].max()


def test_new_objects_of_weighted_matrices_are_placed():
    group, weights, given = individual(2, 0.0)
    fitted = WeightedMDS(n_components=3).fit(given)
    new = np.random.default_rng(9).normal(size=(5, 3))
    rows = [cdist(new * np.sqrt(row), group * np.sqrt(row)) for row in weights]
    placed = fitted.transform(rows)
    chart = np.linalg.lstsq(np.column_stack([fitted.embedding_, np.ones(40)]), group, rcond=None)[0]
    np.testing.assert_allclose(np.column_stack([placed, np.ones(5)]) @ chart, new, atol=1e-6)


@pytest.mark.parametrize("method", [ReplicatedMDS, WeightedMDS])
def test_input_other_than_several_matrices_raises_a_clear_error(method):
    given = squareform(pdist(np.random.default_rng(0).normal(size=(10, 3))))
    with pytest.raises(ValueError, match="same objects"):
        method().fit([given, given[:5, :5]])
    with pytest.raises(ValueError, match="list of matrices"):
        method().fit([])
    with pytest.raises(ValueError, match="list of matrices"):
        method().fit("matrices")
    with pytest.raises(ValueError, match="at most 9 with 10 rows"):
        method(n_components=10).fit([given, given])
    fitted = method().fit([given, given])
    with pytest.raises(ValueError, match="one matrix for each of the 2"):
        fitted.transform([given])


def test_weighted_scaling_refuses_missing_pairs_and_warns_when_there_is_one_matrix():
    given = squareform(pdist(np.random.default_rng(0).normal(size=(10, 3))))
    holed = given.copy()
    holed[0, 1] = holed[1, 0] = np.nan
    with pytest.raises(ValueError, match="use ReplicatedMDS"):
        WeightedMDS().fit([given, holed])
    with pytest.warns(UserWarning, match="One matrix does not determine the axes"):
        WeightedMDS().fit(given)
