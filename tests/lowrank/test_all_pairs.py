"""Laplacian eigenmaps and spectral clustering of all pairs by a few columns (slides (69))."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.base import clone

import unbend
from tests.loops import sampled
from tests.oracles.embeddings import subspace_angle
from unbend import Fat, LaplacianEigenmaps, Nystrom, SpectralClustering

ALL = {"n_neighbors": None, "weights": "heat"}
POINTS = np.random.default_rng(0).uniform(0, [3.0, 1.0], (300, 2))
NEW = np.random.default_rng(1).uniform(0, [3.0, 1.0], (40, 2))


def exact(points, t, count):
    weights = np.exp(-cdist(points, points, "sqeuclidean") / t)
    degree = weights.sum(axis=1)
    values, vectors = eigh(np.diag(degree) - weights, np.diag(degree))
    return values[1 : count + 1], vectors[:, 1 : count + 1], degree


@pytest.mark.parametrize("solver", [Nystrom(300), Nystrom(80), Fat("irat", 80, columns_only=True)])
@pytest.mark.parametrize("normalization", ["random_walk", "symmetric"])
def test_columns_stand_for_all_pairs(solver, normalization):
    model = LaplacianEigenmaps(t=1.0, normalization=normalization, eigen_solver=solver, **ALL)
    found = model.fit_transform(POINTS)
    values, vectors, degree = exact(POINTS, 1.0, 2)
    root = np.sqrt(degree)[:, None]
    np.testing.assert_allclose(model.eigenvalues_, values, 1e-5)
    np.testing.assert_allclose(model.volume_, degree.sum(), 1e-6)
    expected = vectors * root if normalization == "symmetric" else vectors
    for one, other in zip(found.T, expected.T, strict=True):
        assert subspace_angle(one[:, None], other[:, None]) < 1e-4
    np.testing.assert_allclose(np.linalg.norm(found), np.linalg.norm(expected), 1e-5)


def test_new_samples_get_the_values_of_the_eigenfunctions():
    model = LaplacianEigenmaps(t=1.0, eigen_solver=Nystrom(80), **ALL).fit(POINTS)
    values, vectors, _ = exact(POINTS, 1.0, 2)
    weights = np.exp(-cdist(NEW, POINTS, "sqeuclidean"))
    expected = weights @ vectors / weights.sum(axis=1, keepdims=True) / (1 - values)
    signs = np.sign(np.sum(vectors * model.embedding_, axis=0))
    np.testing.assert_allclose(
        model.transform(NEW), expected * signs, 0, 1e-4 * np.abs(expected).max()
    )
    assert np.array_equal(model.transform(POINTS), model.embedding_)


def test_models_are_cloned_and_saved(tmp_path):
    model = clone(LaplacianEigenmaps(eigen_solver=Nystrom(60), random_state=3, **ALL)).fit(POINTS)
    again = clone(model).set_params(n_jobs=2).fit(POINTS)
    assert np.array_equal(model.embedding_, again.embedding_)
    model.save(tmp_path / "m.unbend")
    loaded = unbend.load(tmp_path / "m.unbend")
    assert np.array_equal(loaded.transform(NEW), model.transform(NEW))
    assert model.report_.stage("kernel").facts["columns"] == 60
    assert model.graph_.nnz == 0
    assert np.linalg.norm(model.inverse_transform(model.embedding_[:5]) - POINTS[:5]) < 1e-9


@sampled("seed", range(3))
@pytest.mark.parametrize("method", ["njw", "shi_malik"])
def test_groups_of_many_rows_are_separated(seed, method):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    labels = rng.integers(4, size=3000)
    points = centres[labels] + rng.normal(size=(3000, 2))
    model = SpectralClustering(
        n_clusters=4, method=method, t=2.0, eigen_solver=Nystrom(100), random_state=seed, **ALL
    )
    groups = model.fit_predict(points)
    agreeing = sum(np.bincount(labels[groups == group]).max() for group in range(4))
    assert agreeing >= np.sum(cdist(points, centres).argmin(axis=1) == labels) - 10
    new = centres[[0, 1, 2, 3]] + 0.3
    assert len(set(model.predict(new).tolist())) == 4


def test_input_without_information_is_refused():
    with pytest.raises(ValueError, match="weights='heat'"):
        LaplacianEigenmaps(n_neighbors=None, eigen_solver=Nystrom(50)).fit(POINTS)
    with pytest.raises(ValueError, match="precomputed"):
        LaplacianEigenmaps(metric="precomputed", eigen_solver=Nystrom(50), **ALL).fit(
            cdist(POINTS, POINTS)
        )
    with pytest.raises(ValueError, match="larger m"):
        LaplacianEigenmaps(n_components=5, t=1e9, eigen_solver=Nystrom(50), **ALL).fit(POINTS)
    with pytest.raises(ValueError, match="needs a radius"):
        LaplacianEigenmaps(eigen_solver=Fat("prat", 50), **ALL).fit(POINTS)
    with pytest.raises(ValueError, match="all equal"):
        LaplacianEigenmaps(eigen_solver=Nystrom(50), **ALL).fit(np.ones((60, 2)))
    for weights in (lambda d: d * np.nan, lambda d: -d, lambda d: d[0]):
        given = {**ALL, "weights": weights}
        with pytest.raises(ValueError, match="weight function"):
            LaplacianEigenmaps(eigen_solver=Nystrom(50), **given).fit(POINTS)
