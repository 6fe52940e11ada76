"""Approximate solvers in the estimators: near the exact coordinates, saved, and never n × n."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

import unbend
from tests.loops import each
from tests.oracles.embeddings import subspace_angle
from unbend import Fat, Nystrom, quality
from unbend.datasets import s_curve, swiss_roll
from unbend.memory import NotEnoughMemory

pytestmark = pytest.mark.filterwarnings("ignore:the coordinates may be")
METHODS = [
    "Isomap", "KernelPCA", "ClassicalMDS", "DiffusionMaps", "LLE", "LTSA", "LaplacianEigenmaps",
    "HessianLLE", "SupervisedLLE", "LandmarkIsomap",
]  # fmt: skip
SOLVERS = [Fat("gat"), Fat("irat"), Fat("prat"), Fat("prat", 40, "sparse")]
COLUMNS = [Nystrom(60), Fat("irat", 60, columns_only=True)]
every_method = each("name", METHODS)


def fitted(name, solver, points, **given):
    model = getattr(unbend, name)(eigen_solver=solver, **given)
    # Part of the labels, for the method that takes them.
    labels = np.where(np.arange(len(points)) % 3 == 0, 0, -1)
    return model.fit(points, labels if name == "SupervisedLLE" else None)


@cache
def exact(name):
    return fitted(name, "dense", s_curve(400, random_state=0).points).embedding_


@every_method
@each("solver", SOLVERS)
def test_coordinates_are_as_near_to_the_exact_ones_as_the_report_says(name, solver):
    model = fitted(name, solver, s_curve(400, random_state=0).points)
    bound = model.report_.stage("spectrum").facts["deviation_bound"]
    # Scaling of columns, for example by √λ of the two solvers, turns a span a little more.
    assert subspace_angle(exact(name), model.embedding_) <= 3 * bound + 1e-6
    if solver.m:
        assert subspace_angle(exact(name), model.embedding_) < 0.05


@every_method
@each("solver", COLUMNS)
def test_columns_alone_come_near_the_exact_coordinates(name, solver):
    model = fitted(name, solver, s_curve(400, random_state=0).points)
    facts = model.report_.stage("spectrum").facts
    if "deviation_bound" in facts:  # where products with the kernel are there as well
        assert subspace_angle(exact(name), model.embedding_) <= 3 * facts["deviation_bound"] + 1e-6
    else:
        assert subspace_angle(exact(name), model.embedding_) < 0.1
    assert model.report_.stage("spectrum").facts["converged"]


@every_method
def test_all_columns_are_exact(name):
    points = s_curve(200, random_state=0).points
    full, model = (fitted(name, solver, points) for solver in ("dense", Nystrom(200)))
    # The kernel of geodesics is indefinite: what is no larger than its most negative eigenvalue
    # is left out, and the rest is exact.
    assert subspace_angle(full.embedding_, model.embedding_) < (1e-4 if "iso" in name else 1e-5)


@every_method
@each("solver", [Fat("prat", 30), *COLUMNS])
def test_a_fitted_model_transforms_new_samples_and_is_saved_and_cloned(name, solver, tmp_path):
    points = s_curve(300, random_state=0).points
    model = fitted(name, solver, points)
    again = model.transform(points)
    scale = np.abs(model.embedding_).max()
    np.testing.assert_allclose(again, model.embedding_, 0, 1e-5 * scale)
    model.save(tmp_path / "model.unbend")
    loaded = unbend.load(tmp_path / "model.unbend")
    assert loaded.eigen_solver == solver
    new = points[:30] + 0.01
    assert (loaded.transform(new) == model.transform(new)).all()
    assert clone(model).eigen_solver == solver


@pytest.mark.parametrize("solver", [Fat("prat", 40), Nystrom(60)], ids=repr)
@pytest.mark.parametrize("method", ["njw", "shi_malik"])
def test_clusters_are_found_by_approximate_solvers(solver, method):
    rng = np.random.default_rng(0)
    points = np.concatenate(
        [rng.normal(size=(80, 2)) + centre for centre in ((0, 0), (9, 0), (0, 9))]
    )
    model = unbend.SpectralClustering(n_clusters=3, method=method, eigen_solver=solver)
    labels = model.fit_predict(points)
    found = [set(labels[first : first + 80]) for first in (0, 80, 160)]
    assert [len(group) for group in found] == [1, 1, 1]
    assert len(set.union(*found)) == 3


@pytest.mark.parametrize("name", ["Isomap", "KernelPCA", "ClassicalMDS"])
@pytest.mark.parametrize("solver", COLUMNS, ids=repr)
def test_columns_alone_never_take_the_memory_of_the_kernel(name, solver):
    points = swiss_roll(2000, random_state=0).points
    with unbend.memory_limit(16_000_000):
        # Classical scaling of points needs products with them only; of other distances all pairs.
        options = {"Isomap": {"precision": "double"}, "ClassicalMDS": {"metric": "manhattan"}}
        with pytest.raises(NotEnoughMemory):
            fitted(name, "auto", points, **options.get(name, {}))
        model = fitted(name, solver, points)
    assert len(model.landmarks_) == 60
    assert model.embedding_.shape == (2000, 2)


@pytest.mark.parametrize("solver", [Fat("irat", 100, columns_only=True), Nystrom(100)], ids=repr)
def test_isomap_by_columns_unrolls_the_roll(solver):
    roll = swiss_roll(3000, random_state=0)
    model = unbend.Isomap(n_neighbors=8, eigen_solver=solver).fit(roll.points)
    exact = unbend.Isomap(n_neighbors=8).fit(roll.points)
    truth = quality.procrustes(roll.chart, exact.embedding_)
    # Landmark Isomap by another name: as near to the truth as Isomap itself, and to it.
    assert quality.procrustes(roll.chart, model.embedding_) < truth + 1e-3
    assert quality.procrustes(exact.embedding_, model.embedding_) < 1e-3
    assert 0 <= model.negative_share_ < 0.1
    assert model.residual_variance_[1] < 0.01
    assert model.geodesics_.shape == (3000, 100)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, 0.05)
    np.testing.assert_allclose(model.next_eigenvalue_, exact.next_eigenvalue_, 0.5)


@pytest.mark.parametrize("metric", ["precomputed", "kernel"])
def test_columns_of_given_matrices_are_enough_for_their_rank(metric):
    points = np.random.default_rng(0).normal(size=(200, 3)) * [3.0, 2.0, 1.0]
    given = points @ points.T
    if metric == "precomputed":
        given = np.linalg.norm(points[:, None] - points, axis=2)
    exact = unbend.ClassicalMDS(metric=metric).fit_transform(given)
    found = unbend.ClassicalMDS(metric=metric, eigen_solver=Nystrom(10)).fit_transform(given)
    np.testing.assert_allclose(found, exact, 0, 1e-8)
    kernel = unbend.KernelPCA(kernel="precomputed", eigen_solver=Nystrom(10)).fit_transform(
        points @ points.T
    )
    np.testing.assert_allclose(kernel, unbend.ClassicalMDS().fit_transform(points), 0, 1e-8)


def test_a_repair_without_all_geodesics_is_refused():
    model = unbend.Isomap(repair="spectrum_shift", eigen_solver=Nystrom(20))
    with pytest.raises(ValueError, match="repair='spectrum_shift' needs all geodesics"):
        model.fit(s_curve(200, random_state=0).points)


def test_too_few_columns_are_refused():
    with pytest.raises(ValueError, match="fewer columns than the 3 vectors"):
        unbend.Isomap(n_components=3, eigen_solver=Nystrom(2)).fit(s_curve(200).points)
