"""Residual variance and the widest gap: equal to their definitions, on awkward data too."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import pearsonr

import unbend
from tests.loops import each, sampled
from unbend.quality import residual_variance, widest_gap


@sampled("seed", range(5))
def test_residual_variance_is_one_minus_the_squared_correlation_of_distances(seed):
    rng = np.random.default_rng(seed)
    X, embedding = rng.normal(size=(80, 5)), rng.normal(size=(80, 3))
    expected = [1 - pearsonr(pdist(X), pdist(embedding[:, :j])).statistic ** 2 for j in (1, 2, 3)]
    assert np.allclose(residual_variance(X, embedding), expected, atol=1e-12)
    given = residual_variance(cdist(X, X), embedding, metric="precomputed")
    assert np.allclose(given, expected, atol=1e-12)


def test_a_turned_and_stretched_copy_leaves_nothing_and_an_equal_point_set_everything():
    X = np.random.default_rng(0).normal(size=(60, 3))
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    assert residual_variance(X, 7.0 * X @ turn)[-1] < 1e-12
    assert residual_variance(X, np.ones((60, 2))).tolist() == [1.0, 1.0]


def test_rows_beyond_the_limit_are_left_out_evenly():
    rng = np.random.default_rng(0)
    X, embedding = rng.normal(size=(100, 4)), rng.normal(size=(100, 2))
    rows = np.linspace(0, 99, 30).astype(int)
    assert np.array_equal(
        residual_variance(X, embedding, max_rows=30), residual_variance(X[rows], embedding[rows])
    )


def test_the_curve_of_isomap_is_that_of_its_geodesics():
    roll = unbend.datasets.swiss_roll(400, random_state=0)
    model = unbend.Isomap(n_components=10, n_neighbors=8).fit(roll.points)
    own = residual_variance(model.geodesics_, model.embedding_, metric="precomputed")
    assert np.allclose(model.residual_variance_, own, atol=1e-6)
    upper = np.triu_indices(400, 1)
    for d in (1, 2, 5):
        shown = cdist(model.embedding_[:, :d], model.embedding_[:, :d])[upper]
        expected = 1 - np.corrcoef(model.geodesics_[upper], shown)[0, 1] ** 2
        assert model.residual_variance_[d - 1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("X", "embedding", "options", "sentence"),
    [
        (np.ones((5, 2)), np.ones((4, 2)), {}, "X has 5 rows and embedding has 4"),
        (np.ones((2, 2)), np.ones((2, 2)), {}, r"2 sample\(s\)"),
        (np.ones((5, 4)), np.ones((5, 2)), {"metric": "precomputed"}, "must be square"),
        (np.ones((5, 4)), np.ones((5, 2)), {"metric": "cosinus"}, "'cosinus' is not allowed"),
        (
            np.full((5, 5), np.inf),
            np.ones((5, 2)),
            {"metric": "precomputed"},
            "X contains infinity",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(X, embedding, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        residual_variance(X, embedding, **options)


@each("seed", range(5), keep=1)
@each("rising", [False, True])
def test_the_widest_gap_is_found_where_it_was_made(seed, rising):
    rng = np.random.default_rng(seed)
    made = int(rng.integers(1, 9))
    logs = np.cumsum(rng.uniform(0, 1, 10))
    logs[made:] += 2.0
    values = np.exp(logs if rising else -logs)
    assert widest_gap(values) == made


def test_eigenvalues_that_are_zero_or_negative_are_a_gap_and_not_an_error():
    assert widest_gap([5.0, 4.0, 1e-30, -2.0]) == 2
    assert widest_gap([0.0, 0.0]) == 1
    with pytest.raises(ValueError, match="at least two"):
        widest_gap([1.0])


# Not LTSA and Hessian LLE: their kernels depend on the number of components.
NAMES = ("Isomap", "LLE", "LaplacianEigenmaps", "DiffusionMaps", "ClassicalMDS", "KernelPCA")


@pytest.mark.parametrize("name", NAMES)
def test_the_next_eigenvalue_is_the_first_that_a_longer_fit_finds(name):
    X = unbend.datasets.swiss_roll(300, random_state=0).points
    method = getattr(unbend, name)
    short, long = method(n_components=2).fit(X), method(n_components=3).fit(X)
    assert np.isclose(short.next_eigenvalue_, long.eigenvalues_[2], rtol=1e-6, atol=1e-12)


def test_a_spectrum_without_its_next_value_is_drawn_as_well(tmp_path):
    model = unbend.Isomap().fit(unbend.datasets.swiss_roll(100, random_state=0).points)
    model.save(tmp_path / "small.unbend", training=False)
    figure = unbend.plot.spectrum(unbend.load(tmp_path / "small.unbend"))
    assert figure.axes[0].lines[0].get_ydata().tolist() == model.eigenvalues_.tolist()


def test_the_graph_of_a_fit_has_the_rows_of_the_data_and_the_lengths_of_its_edges():
    X = unbend.datasets.swiss_roll(200, random_state=0).points
    X[50] = X[7]
    model = unbend.Isomap(n_neighbors=6).fit(X)
    edges = model.graph_.tocoo()
    assert model.graph_.shape == (200, 200)
    assert 50 not in edges.coords[0]
    assert np.allclose(edges.data, np.linalg.norm(X[edges.coords[0]] - X[edges.coords[1]], axis=1))
    assert np.all(np.delete(np.diff(model.graph_.indptr), 50) == 6)
    clusters = unbend.SpectralClustering(n_clusters=2, n_neighbors=6).fit(X)
    assert (clusters.graph_ != model.graph_).nnz == 0
