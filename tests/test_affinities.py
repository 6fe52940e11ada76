"""Matrices of similarities as input, and the normalised cut of a clustering."""

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh
from scipy.sparse import csr_array

import unbend
from unbend.graphs import normalized_cut

RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.normal(size=(40, 2)), RNG.normal([4.0, 0.0], 1.0, (30, 2))])
SIMILARITIES = np.exp(-np.square(POINTS[:, None] - POINTS).sum(axis=2) / 2.0)
LOOPLESS = SIMILARITIES - np.eye(70)


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("matrix", [SIMILARITIES, LOOPLESS], ids=["loops", "no loops"])
@pytest.mark.parametrize("normalization", ["random_walk", "symmetric", "none"])
def test_eigenmaps_of_similarities_solve_the_generalised_problem(convert, matrix, normalization):
    model = unbend.LaplacianEigenmaps(3, metric="affinity", normalization=normalization)
    model.fit(convert(matrix))
    degree = matrix.sum(axis=1)
    laplacian = np.diag(degree) - matrix
    mass = np.ones(70) if normalization == "none" else degree
    values, vectors = eigh(laplacian, np.diag(mass))
    np.testing.assert_allclose(model.eigenvalues_, values[1:4], rtol=1e-9)
    scale = np.sqrt(degree)[:, None] if normalization == "symmetric" else 1.0
    cosines = np.sum(model.embedding_ / scale * mass[:, None] * vectors[:, 1:4], axis=0)
    np.testing.assert_allclose(np.abs(cosines), 1.0, atol=1e-9)
    if normalization != "none":
        # Without D the equation may ask for more than a row's degree, and rows are averaged.
        np.testing.assert_allclose(model.transform(convert(matrix)), model.embedding_, atol=1e-9)


@pytest.mark.parametrize("method", ["njw", "shi_malik"])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_clustering_takes_the_eigenvectors_that_its_method_names(method, convert):
    """Shi and Malik: L f = λ D f; Ng, Jordan and Weiss: rows of D^½ f, of unit length."""
    model = unbend.SpectralClustering(3, metric="affinity", method=method)
    model.fit(convert(SIMILARITIES))
    degree = SIMILARITIES.sum(axis=1)
    values, vectors = eigh(np.diag(degree) - SIMILARITIES, np.diag(degree))
    np.testing.assert_allclose(model.eigenvalues_, values[1:3], atol=1e-9)
    expected = vectors[:, :3]
    if method == "njw":
        expected = expected * np.sqrt(degree)[:, None]
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    # Inner products of rows do not depend on the signs of eigenvectors.
    found = model.embedding_ @ model.embedding_.T
    np.testing.assert_allclose(found, expected @ expected.T, atol=1e-8)


@pytest.mark.parametrize("method", ["njw", "shi_malik"])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_clusters_of_similarities_are_found_and_predicted(method, convert):
    model = unbend.SpectralClustering(2, metric="affinity", method=method).fit(
        convert(SIMILARITIES)
    )
    truth = np.repeat([0, 1], [40, 30])
    assert max(np.mean(model.labels_ == truth), np.mean(model.labels_ != truth)) > 0.95
    np.testing.assert_array_equal(model.predict(convert(SIMILARITIES)), model.labels_)
    assert model.ncut_ == pytest.approx(normalized_cut(csr_array(SIMILARITIES), model.labels_))


def test_the_normalised_cut_is_a_trace_and_bounded_by_the_eigenvalues():
    """Slides (37)–(44): ½ tr H'LH with H'DH = I, so half the sum of eigenvalues bounds it."""
    labels = RNG.integers(3, size=70)
    degree = SIMILARITIES.sum(axis=1)
    laplacian = np.diag(degree) - SIMILARITIES
    indicators = (labels[:, None] == np.arange(3)).astype(float)
    indicators /= np.sqrt(degree @ indicators)
    trace = np.trace(indicators.T @ laplacian @ indicators) / 2
    assert normalized_cut(csr_array(SIMILARITIES), labels) == pytest.approx(trace)
    model = unbend.SpectralClustering(3, metric="affinity").fit(SIMILARITIES)
    assert model.eigenvalues_.sum() / 2 <= model.ncut_ <= trace


def test_the_normalised_cut_of_neighbourhood_graphs_uses_the_weights_of_the_fit():
    rows = np.concatenate([POINTS, POINTS[:5]])
    model = unbend.SpectralClustering(2, n_neighbors=6, weights="heat").fit(rows)
    lengths = model.graph_
    near = csr_array(lengths.maximum(lengths.T))
    heat = np.exp(-np.square(near.data) / (2.0 * np.mean(np.square(lengths.data))))
    weights = csr_array((heat, near.indices, near.indptr), shape=near.shape)
    assert model.ncut_ == pytest.approx(normalized_cut(weights, model.labels_))


def test_blocks_of_similarities_are_the_clusters():
    blocks = block_diag(SIMILARITIES[:40, :40], SIMILARITIES[40:, 40:])
    model = unbend.SpectralClustering(2, metric="affinity").fit(blocks)
    assert len(set(model.labels_[:40])) == len(set(model.labels_[40:])) == 1
    assert model.labels_[0] != model.labels_[-1]
    assert model.ncut_ == 0.0


def wrong(change):
    matrix = SIMILARITIES.copy()
    change(matrix)
    return matrix


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "DiffusionMaps", "SpectralClustering"])
@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (SIMILARITIES[:, :5], "must be square"),
        (wrong(lambda m: m.__setitem__((0, 1), 0.5)), "affinity matrix is not symmetric"),
        (-SIMILARITIES, "Affinities must be non-negative"),
        (wrong(lambda m: m.__setitem__((2, 2), np.nan)), "contains NaN"),
        (wrong(lambda m: [m.__setitem__(3, 0), m.__setitem__((..., 3), 0)]), "no edge of positive"),
    ],
)
def test_matrices_that_are_no_similarities_are_refused(name, matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        getattr(unbend, name)(metric="affinity").fit(matrix)


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "SpectralClustering"])
def test_weights_of_distances_are_refused_with_similarities(name):
    with pytest.raises(ValueError, match="has no effect with metric='affinity'"):
        getattr(unbend, name)(metric="affinity", weights="heat").fit(SIMILARITIES)


@pytest.mark.parametrize("option", [{"n_neighbors": 5}, {"radius": 1.0}, {"mutual": True}])
@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "DiffusionMaps", "SpectralClustering"])
def test_neighbourhoods_are_refused_with_similarities(name, option):
    with pytest.raises(ValueError, match="has no effect with metric='affinity'"):
        getattr(unbend, name)(metric="affinity", **option).fit(SIMILARITIES)


def test_new_samples_need_an_affinity():
    model = unbend.LaplacianEigenmaps(metric="affinity").fit(SIMILARITIES)
    with pytest.raises(ValueError, match="no affinity to any fitted sample"):
        model.transform(np.zeros((1, 70)))


def test_saved_models_of_affinities_place_new_samples(tmp_path):
    for name in ("LaplacianEigenmaps", "DiffusionMaps"):
        model = getattr(unbend, name)(metric="affinity").fit(SIMILARITIES)
        model.save(tmp_path / "model.unbend")
        again = unbend.load(tmp_path / "model.unbend")
        np.testing.assert_array_equal(again.transform(SIMILARITIES), model.transform(SIMILARITIES))
