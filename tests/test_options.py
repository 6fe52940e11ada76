"""Options of single methods, each against its formula written out in plain NumPy."""

import pickle

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import unbend
from tests.oracles import embeddings, kernels, neighbors

POINTS = unbend.datasets.s_curve(150, random_state=0).points
NEAR = neighbors.nearest(POINTS, 10)[0]
SOLVERS = ["auto", "full", "covariance_eigh", "arpack", "randomized", "dual", "em", "sensible"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_of_pca_finds_the_axes_variances_and_noise(solver):
    rows = np.random.default_rng(0).normal(size=(60, 8)) * np.arange(8, 0, -1) + 5
    values, axes = np.linalg.eigh(np.cov(rows.T))
    model = unbend.PCA(n_components=3, svd_solver=solver).fit(rows)
    assert embeddings.subspace_angle(axes[:, -3:], model.components_.T) < 1e-7
    np.testing.assert_allclose(model.explained_variance_, values[:-4:-1], rtol=1e-8)
    divisor = 59 / 60 if solver == "sensible" else 1.0
    np.testing.assert_allclose(model.noise_variance_, values[:5].mean() * divisor, rtol=1e-8)
    ratio = values[:-4:-1] / values.sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, ratio, rtol=1e-8)


@pytest.mark.parametrize("repair", [None, "additive_constant", "spectrum_shift"])
def test_the_energy_loss_of_classical_mds_is_the_identity_of_the_book(repair):
    distances = cdist(POINTS, POINTS, "cityblock")
    model = unbend.ClassicalMDS(metric="precomputed", repair=repair).fit(distances)
    facts = model.report_.stage("kernel").facts
    # d + shift between different rows; a lift beyond that of the shift adds twice itself to d².
    more = facts["spectrum_shift"] - facts["additive_constant"] ** 2 / 2
    repaired = (np.square(distances + facts["additive_constant"]) + 2 * more) * (1 - np.eye(150))
    loss = np.sum(repaired - np.square(cdist(model.embedding_, model.embedding_)))
    np.testing.assert_allclose(model.energy_loss_, loss, rtol=1e-9)
    assert (model.negative_share_ > 0.01) == (repair is None)


def test_a_kernel_gives_what_its_distances_give():
    kernel = POINTS @ POINTS.T
    by_kernel = unbend.ClassicalMDS(metric="kernel").fit(kernel)
    by_points = unbend.ClassicalMDS().fit(POINTS)
    np.testing.assert_allclose(by_kernel.embedding_, by_points.embedding_, atol=1e-10)
    new = POINTS[:9] + 0.1
    placed = by_kernel.transform(new @ POINTS.T)
    np.testing.assert_allclose(placed, by_points.transform(new), atol=1e-10)


def test_classical_mds_is_the_decomposition_of_centred_products():
    """−½ H D² H by hand, of points, distances and a kernel, and Gower's formula of new rows."""
    rng = np.random.default_rng(3)
    points, new = rng.normal(size=(60, 5)) * [5, 3, 2, 1, 0.5] + 7, rng.normal(size=(8, 5))
    squares, to_new = (cdist(rows, points, "sqeuclidean") for rows in (points, new))
    centre = np.eye(60) - 1 / 60
    values, vectors = np.linalg.eigh(-0.5 * centre @ squares @ centre)
    values, vectors = values[:-4:-1], vectors[:, :-4:-1]
    expected = vectors * np.sqrt(values)
    placed = -0.5 * (to_new - squares.mean(axis=0)) @ vectors / np.sqrt(values)
    inputs = {
        "euclidean": (points, new),
        "precomputed": (np.sqrt(squares), np.sqrt(to_new)),
        "kernel": (points @ points.T, new @ points.T),
    }
    for metric, (fitted, added) in inputs.items():
        model = unbend.ClassicalMDS(3, metric=metric).fit(fitted)
        signs = np.sign(np.sum(model.embedding_ * expected, axis=0))
        np.testing.assert_allclose(model.embedding_, expected * signs, atol=1e-9, err_msg=metric)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
        np.testing.assert_allclose(model.transform(added), placed * signs, atol=1e-9)


@pytest.mark.parametrize("shape", [(80, 6), (600, 400), (60, 300)])
def test_principal_components_are_classical_scaling(shape):
    points = np.random.default_rng(0).normal(size=shape) * np.linspace(3, 1, shape[1])
    components = unbend.PCA(n_components=4).fit_transform(points)
    for metric, given in (("euclidean", points), ("precomputed", cdist(points, points))):
        scaled = unbend.ClassicalMDS(4, metric=metric).fit_transform(given)
        signs = np.sign(np.sum(scaled * components, axis=0))
        np.testing.assert_allclose(scaled * signs, components, atol=1e-8)


@pytest.mark.parametrize("repair", ["additive_constant", "spectrum_shift"])
def test_a_repaired_isomap_kernel_has_no_negative_eigenvalues(repair):
    plain = unbend.Isomap().fit(POINTS)
    model = unbend.Isomap(repair=repair).fit(POINTS)
    assert plain.negative_share_ > 0.01
    assert model.negative_share_ < 1e-9
    np.testing.assert_array_equal(model.geodesics_, plain.geodesics_)
    assert model.eigenvalues_[0] > plain.eigenvalues_[0]
    centre = np.eye(150) - 1 / 150
    kernel, halves = (-0.5 * centre @ d @ centre for d in (plain.geodesics_**2, plain.geodesics_))
    if repair == "spectrum_shift":
        kernel = kernel + abs(np.linalg.eigvalsh(kernel)[0]) * centre
    else:
        # Theorem 8.1: the largest eigenvalue of [[0, −S], [−I, 2D]], both centred.
        block = np.block([[np.zeros((150, 150)), 2 * kernel], [-np.eye(150), -4 * halves]])
        shift = np.linalg.eigvals(block).real.max()
        kernel = -0.5 * centre @ np.square(plain.geodesics_ + shift * (1 - np.eye(150))) @ centre
    expected = embeddings.top(kernel, 2)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected), atol=1e-6)


WEIGHTS = {"adjacency": np.ones_like, "heat": lambda d: np.exp(-(d**2) / 0.3)}


@pytest.mark.parametrize("weights", ["adjacency", "heat", "callable"])
@pytest.mark.parametrize("normalization", ["random_walk", "symmetric", "none"])
def test_eigenmaps_solve_the_equation_they_name(weights, normalization):
    function = WEIGHTS.get(weights, lambda d: 1 / (1 + d))
    given = function if weights == "callable" else weights
    model = unbend.LaplacianEigenmaps(weights=given, t=0.3, normalization=normalization)
    found = model.fit_transform(POINTS)
    laplacian, degree = kernels.laplacian(POINTS, NEAR, lambda d: float(function(np.float64(d))))
    mass = np.ones(150) if normalization == "none" else degree
    if normalization == "symmetric":
        found = found / np.sqrt(degree)[:, None]
    values = eigh(laplacian, np.diag(mass), eigvals_only=True)[1:3]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    np.testing.assert_allclose(laplacian @ found, mass[:, None] * found * values, atol=1e-8)


def dense_affinity(kind, bandwidth):
    distances = cdist(POINTS, POINTS)
    near = np.zeros((150, 150), dtype=bool)
    near[np.arange(150)[:, None], NEAR] = True
    if kind == "self_tuning":
        seventh = np.sort(distances, axis=1)[:, 7]
        width = (1.0 if bandwidth is None else bandwidth) * np.outer(seventh, seventh)
    else:
        width = np.mean(np.square(distances[near])) if bandwidth is None else bandwidth
    return np.exp(-np.square(distances) / width) * (near | near.T | np.eye(150, dtype=bool))


@pytest.mark.parametrize(
    ("kind", "alpha", "bandwidth", "power"),
    [
        ("graph_laplacian", None, None, 0.0),
        ("laplace_beltrami", None, None, 1.0),
        ("laplace_beltrami", 0.5, None, 0.5),
        ("graph_laplacian", None, 0.7, 0.0),
        ("laplace_beltrami", None, np.inf, 1.0),
        ("self_tuning", None, None, 0.0),
        ("self_tuning", 1.0, 2.5, 1.0),
    ],
)
def test_diffusion_coordinates_are_eigenvectors_of_the_walk(kind, alpha, bandwidth, power):
    options = {"kind": kind, "alpha": alpha, "bandwidth": bandwidth, "n_neighbors": 10}
    model = unbend.DiffusionMaps(**options, diffusion_time=2).fit(POINTS)
    affinity = dense_affinity(kind, bandwidth)
    density = affinity.sum(axis=1) ** power
    affinity = affinity / np.outer(density, density)
    walk = affinity / affinity.sum(axis=1, keepdims=True)
    values = np.sort(np.linalg.eigvals(walk).real)[::-1][1:3]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    np.testing.assert_allclose(walk @ model.embedding_, model.embedding_ * values, atol=1e-8)
    # φ/φ₀ at time zero has unit length in the stationary distribution.
    stationary = affinity.sum(axis=1) / affinity.sum()
    np.testing.assert_allclose(stationary @ np.square(model.at_time(0)), 1.0, rtol=1e-8)


def test_fractional_times_of_negative_eigenvalues_are_refused():
    rows = np.random.default_rng(0).normal(size=(12, 3))
    options = {"n_components": 10, "n_neighbors": 2, "bandwidth": np.inf}
    model = unbend.DiffusionMaps(**options, diffusion_time=1).fit(rows)
    assert model.eigenvalues_.min() < 0
    with pytest.raises(ValueError, match="fractional"):
        model.at_time(0.5)


def test_spectral_clustering_takes_distances_graphs_float32_and_pickles():
    points, truth = make_moons(300, noise=0.05, random_state=0)
    near = neighbors.nearest(points, 10)[0]
    entries = (np.ones(3000), near.ravel(), np.arange(0, 3001, 10))
    cluster = unbend.SpectralClustering
    found = {
        "distances": cluster(n_clusters=2, metric="precomputed").fit(cdist(points, points)),
        "graph": cluster(n_clusters=2).fit(points, graph=csr_array(entries, shape=(300, 300))),
        "float32": cluster(n_clusters=2).fit(points.astype(np.float32)),
        "generator": cluster(n_clusters=2, random_state=np.random.default_rng(3)).fit(points),
    }
    for model in found.values():
        assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert found["float32"].embedding_.dtype == np.float32
    again = pickle.loads(pickle.dumps(found["graph"]))
    new = points + 0.01
    np.testing.assert_array_equal(again.predict(new), found["graph"].predict(new))


@pytest.mark.parametrize("method", ["shi_malik", "njw"])
def test_clusters_are_found_among_harmonic_eigenfunctions(method):
    """(3.14), L f = λ D f: f itself for Shi and Malik, rows of D^½ f of length one for Ng et al."""
    model = unbend.SpectralClustering(3, method=method, weights="heat", t=0.3).fit(POINTS)
    laplacian, degree = kernels.laplacian(POINTS, NEAR, lambda d: float(np.exp(-(d**2) / 0.3)))
    values, vectors = eigh(laplacian, np.diag(degree), subset_by_index=[0, 2])
    np.testing.assert_allclose(model.eigenvalues_, values[1:], rtol=1e-7)
    if method == "njw":
        vectors = vectors * np.sqrt(degree)[:, None]
        vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    expected, found = vectors @ vectors.T, model.embedding_ @ model.embedding_.T
    np.testing.assert_allclose(found / found[0, 0], expected / expected[0, 0], atol=1e-6)
