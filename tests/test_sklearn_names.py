"""`unbend.sklearn`: the same names and parameters, right and faster."""

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import sklearn.cluster
import sklearn.datasets
import sklearn.decomposition
import sklearn.manifold
import sklearn.metrics
import sklearn.random_projection
from threadpoolctl import threadpool_limits

import unbend
import unbend.sklearn
from tests.loops import each
from unbend.quality import procrustes

HERE = Path(__file__).parent
SUITE = tomllib.loads((HERE / "sklearn_exceptions.toml").read_text())["suite"]
MODULES = (
    sklearn.manifold,
    sklearn.cluster,
    sklearn.decomposition,
    sklearn.random_projection,
)
FILES = (
    "sklearn.manifold.tests.test_isomap",
    "sklearn.manifold.tests.test_locally_linear",
    "sklearn.manifold.tests.test_mds",
    "sklearn.manifold.tests.test_spectral_embedding",
    "sklearn.manifold.tests.test_t_sne",
    "sklearn.cluster.tests.test_spectral",
)


def peer(name):
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


@each("name", unbend.sklearn.__all__)
def test_a_class_has_the_parameters_of_its_peer(name):
    ours, theirs = getattr(unbend.sklearn, name), peer(name)
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert issubclass(ours, theirs)


@pytest.mark.parametrize("angle", [0.0, 0.5])
def test_t_sne_reaches_the_divergence_of_its_peer(angle):
    rows = sklearn.datasets.load_digits().data[:300]
    options = {"random_state": 0, "init": "pca", "angle": angle, "max_iter": 500}
    with threadpool_limits(1):
        ours, theirs = (kind(**options).fit(rows) for kind in (unbend.sklearn.TSNE, peer("TSNE")))
    fitted = {key for key in vars(theirs) if key.endswith("_")}
    assert fitted <= set(vars(ours))
    assert ours.kl_divergence_ <= 1.02 * theirs.kl_divergence_


@pytest.mark.parametrize("name", ["Isomap", "LocallyLinearEmbedding", "SpectralEmbedding"])
def test_a_class_gives_the_coordinates_of_its_peer(name):
    points = unbend.datasets.s_curve(400, random_state=0).points
    options = {"n_neighbors": 12, "n_components": 2}
    ours = getattr(unbend.sklearn, name)(**options).fit(points)
    theirs = peer(name)(**options).fit(points)
    fitted = {key for key in vars(theirs) if key.endswith("_")}
    assert fitted <= set(vars(ours))
    assert procrustes(theirs.embedding_, ours.embedding_) < 1e-6


def test_hessian_lle_is_that_of_donoho_and_grimes_and_not_ltsa():
    roll = unbend.datasets.swiss_roll(800, random_state=0).points
    options = {"n_neighbors": 12, "eigen_solver": "dense"}
    hessian = unbend.sklearn.LocallyLinearEmbedding(method="hessian", **options).fit(roll)
    ltsa = unbend.sklearn.LocallyLinearEmbedding(method="ltsa", **options).fit(roll)
    true = unbend.HessianLLE(n_neighbors=12).fit(roll)
    assert procrustes(true.embedding_, hessian.embedding_, kind="affine") < 1e-8
    assert procrustes(ltsa.embedding_, hessian.embedding_, kind="affine") > 1e-6


@pytest.mark.parametrize("metric_mds", [True, False])
def test_mds_has_no_more_stress_than_its_peer(metric_mds):
    points = sklearn.datasets.load_iris().data
    options = {"metric_mds": metric_mds, "init": "classical_mds", "normalized_stress": True}
    ours = unbend.sklearn.MDS(**options).fit(points)
    theirs = sklearn.manifold.MDS(**options).fit(points)
    assert {key for key in vars(theirs) if key.endswith("_")} <= set(vars(ours))
    assert ours.stress_ <= theirs.stress_


def test_spectral_clustering_finds_what_its_peer_finds():
    points, _ = sklearn.datasets.make_moons(300, noise=0.05, random_state=0)
    options = {"n_clusters": 2, "affinity": "nearest_neighbors", "random_state": 0}
    ours = unbend.sklearn.SpectralClustering(**options).fit(points).labels_
    theirs = sklearn.cluster.SpectralClustering(**options).fit(points).labels_
    assert sklearn.metrics.adjusted_rand_score(theirs, ours) == 1.0


def test_all_eigenvectors_of_a_full_affinity_are_those_of_the_sparse_one():
    points = np.random.default_rng(0).normal(size=(80, 2))
    full = unbend.sklearn.SpectralEmbedding(affinity="rbf").fit(points)
    theirs = sklearn.manifold.SpectralEmbedding(affinity="rbf").fit(points)
    np.testing.assert_allclose(abs(full.embedding_), abs(theirs.embedding_), atol=1e-8)


@pytest.mark.slow
def test_scikit_learns_own_tests_pass_on_our_classes():
    deselected = " and ".join(f"not {name}" for name in SUITE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.sklearn_swap", "-c", "/dev/null"]
    command += ["-p", "no:cacheprovider", "-k", deselected, "--pyargs", *FILES]
    run = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:]
    assert " passed" in run.stdout
