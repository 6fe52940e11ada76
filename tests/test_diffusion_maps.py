"""Diffusion maps against the dense kernel of the book: chapter 14, Lemma 14.1, (14.7)–(14.13)."""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import unbend
from tests.loops import each

RNG = np.random.default_rng(0)
# Densities that differ fortyfold: the first eigenfunction is far from constant.
CLOUD = np.concatenate([0.3 * RNG.normal(size=(60, 2)), 2.0 * RNG.normal(size=(60, 2)) + 3.0])
SQUARES = np.square(cdist(CLOUD, CLOUD))
GAUSSIAN = np.exp(-SQUARES / 4.0)


def symmetric_kernel(affinity, alpha):
    """K = D^-½ W D^-½ of affinities divided by (q q')^α."""
    density = affinity.sum(axis=1) ** alpha
    weights = affinity / np.outer(density, density)
    degree = weights.sum(axis=1)
    return weights / np.sqrt(np.outer(degree, degree))


def lemma(kernel, level):
    """D_m of Lemma 14.1, from the power of the kernel."""
    power = np.linalg.matrix_power(kernel, level)
    squares = power.diagonal()[:, None] + power.diagonal() - 2.0 * power
    return np.sqrt(np.maximum(squares, 0.0))


@cache
def all_pairs(d, **options):
    return unbend.DiffusionMaps(d, n_neighbors=119, bandwidth=4.0, **options).fit(CLOUD)


@each("level", [1, 2, 3, 4, 20, 200])
@each("kind", ["graph_laplacian", "laplace_beltrami"])
def test_distances_of_every_level_are_those_of_lemma_14_1(kind, level):
    model = all_pairs(119, kind=kind)
    kernel = symmetric_kernel(GAUSSIAN, float(kind == "laplace_beltrami"))
    expected = lemma(kernel, level)
    np.testing.assert_allclose(model.diffusion_distances(level=level), expected, atol=1e-9)
    some = np.array([3, 70, 5])
    found = model.diffusion_distances(some, level=level)
    np.testing.assert_allclose(found, expected[np.ix_(some, some)], atol=1e-9)


def test_a_few_coordinates_and_the_density_give_high_levels():
    model = all_pairs(6, kind="graph_laplacian")
    expected = lemma(symmetric_kernel(GAUSSIAN, 0.0), 200)
    np.testing.assert_allclose(model.diffusion_distances(level=200), expected, atol=1e-8)


def test_odd_levels_take_no_root_of_negative_eigenvalues():
    # A path without loops: the walk has the eigenvalue −1.
    path = np.diag(np.ones(7), 1) + np.diag(np.ones(7), -1)
    model = unbend.DiffusionMaps(7, metric="affinity", kind="graph_laplacian").fit(path)
    assert model.eigenvalues_.min() < -0.9
    kernel = symmetric_kernel(path, 0.0)
    np.testing.assert_allclose(model.diffusion_distances(level=2), lemma(kernel, 2), atol=1e-12)
    with pytest.warns(UserWarning, match="positive semidefinite"):
        found = model.diffusion_distances(level=3)
    np.testing.assert_allclose(found, lemma(kernel, 3), atol=1e-7)
    with pytest.raises(ValueError, match=r"level=1.5 is fractional"):
        model.diffusion_distances(level=1.5)


def test_coifman_and_lafons_distance_is_between_rows_of_the_walk():
    model = all_pairs(119, kind="graph_laplacian")
    degree = GAUSSIAN.sum(axis=1)
    for time in (1, 3):
        walk = np.linalg.matrix_power(GAUSSIAN / degree[:, None], time)
        rows = walk / np.sqrt(degree / degree.sum())
        found = model.diffusion_distances(time=time)
        np.testing.assert_allclose(found, cdist(rows, rows), atol=1e-9)
    with pytest.raises(ValueError, match="give one"):
        model.diffusion_distances(time=1, level=2)


@pytest.mark.parametrize("factor", [None, 2.5])
@pytest.mark.parametrize("number", [None, 3, 40])
def test_self_tuning_scales_are_distances_to_a_neighbour_of_a_number(number, factor):
    options = {"kind": "self_tuning", "scale_neighbor": number, "bandwidth": factor}
    model = unbend.DiffusionMaps(3, n_neighbors=119, **options).fit(CLOUD)
    scale = np.sort(np.sqrt(SQUARES), axis=1)[:, number or 7]
    affinity = np.exp(-SQUARES / (np.outer(scale, scale) * (factor or 1.0)))
    values = np.linalg.eigvalsh(symmetric_kernel(affinity, 0.0))
    np.testing.assert_allclose(model.eigenvalues_, values[[-2, -3, -4]], rtol=1e-9)
    walk = affinity / affinity.sum(axis=1, keepdims=True)
    moved = model.embedding_ * model.eigenvalues_
    np.testing.assert_allclose(walk @ model.embedding_, moved, atol=1e-8)
    np.testing.assert_allclose(model.transform(CLOUD + 1e-10), model.embedding_, atol=1e-6)


@pytest.mark.parametrize("kind", ["graph_laplacian", "laplace_beltrami"])
def test_weights_below_the_threshold_are_left_out(kind):
    """Remark 14.1, which keeps weights above τ and not, as printed, below."""
    kept = np.where(GAUSSIAN >= 0.1, GAUSSIAN, 0.0)
    model = all_pairs(2, kind=kind, threshold=0.1)
    kernel = symmetric_kernel(kept, float(kind == "laplace_beltrami"))
    values = np.linalg.eigvalsh(kernel)
    np.testing.assert_allclose(model.eigenvalues_, values[[-2, -3]], rtol=1e-9)
    assert abs(values[-2] - np.linalg.eigvalsh(symmetric_kernel(GAUSSIAN, 0.0))[-2]) > 1e-3


@pytest.mark.parametrize("time", [0.5, 1.0, 4.0])
def test_coordinates_of_a_time_have_the_length_of_its_eigenvalues(time):
    """λᵗ φ/φ₀ has the length λᵗ in the stationary distribution, fitted so or read so."""
    degree = GAUSSIAN.sum(axis=1)
    values = np.linalg.eigvalsh(symmetric_kernel(GAUSSIAN, 0.0))[[-2, -3]]
    fitted = all_pairs(2, kind="graph_laplacian", diffusion_time=time).embedding_
    for coordinates in (fitted, all_pairs(2, kind="graph_laplacian").at_time(time)):
        lengths = np.sqrt(degree / degree.sum() @ np.square(coordinates))
        np.testing.assert_allclose(lengths, values**time, rtol=1e-9)


def eta(distances):
    """Matérn's kernel of order 3/2: a Fourier transform of a positive measure."""
    return (1.0 + distances) * np.exp(-distances)


def test_affinities_may_be_any_function_of_the_distance():
    options = {"weights": eta, "kind": "graph_laplacian"}
    model = unbend.DiffusionMaps(2, n_neighbors=119, **options).fit(CLOUD)
    values = np.linalg.eigvalsh(symmetric_kernel(eta(np.sqrt(SQUARES)), 0.0))
    np.testing.assert_allclose(model.eigenvalues_, values[[-2, -3]], rtol=1e-9)


def test_unscaled_coordinates_are_eigenvectors_of_the_symmetric_kernel():
    kernel = symmetric_kernel(GAUSSIAN, 1.0)
    model = all_pairs(3, normalization="symmetric", diffusion_time=0)
    values = np.linalg.eigvalsh(kernel)[[-2, -3, -4]]
    np.testing.assert_allclose(kernel @ model.embedding_, model.embedding_ * values, atol=1e-10)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(model.at_time(2), model.embedding_ * values**2, atol=1e-10)
    np.testing.assert_allclose(model.transform(CLOUD + 1e-10), model.embedding_, atol=1e-7)


@pytest.mark.parametrize(("time", "delta"), [(1.0, 0.3), (3.0, 0.3), (1.0, None), (1.0, 0.99)])
def test_the_dimension_follows_from_delta(time, delta):
    model = unbend.DiffusionMaps(
        "auto", delta=delta, diffusion_time=time, n_neighbors=119, bandwidth=4.0
    ).fit(CLOUD)
    values = np.sort(np.linalg.eigvalsh(symmetric_kernel(GAUSSIAN, 1.0)))[::-1][1:]
    expected = max(1, int(np.sum(np.maximum(values, 0) ** (2 * time) >= (delta or 0.1))))
    assert model.embedding_.shape == (120, expected)
    assert model.next_eigenvalue_ == pytest.approx(values[expected], rel=1e-6)
    assert model.transform(CLOUD[:2]).shape == (2, expected)


def test_a_repeated_coordinate_is_in_the_attribute_and_the_report():
    roll = unbend.datasets.swiss_roll(1000, random_state=0)
    model = unbend.DiffusionMaps(2).fit(roll.points)
    assert model.redundancy_[1] > 0.99
    facts = model.report_.stage("spectrum").facts
    assert facts["redundancy"] == pytest.approx(list(model.redundancy_))


def test_the_redundancy_of_many_coordinates_is_that_of_the_first_ten():
    many, few = all_pairs(119, kind="graph_laplacian"), all_pairs(6, kind="graph_laplacian")
    assert many.redundancy_.shape == (10,)
    np.testing.assert_allclose(many.redundancy_[:6], few.redundancy_, atol=1e-6)
    expected = unbend.quality.coordinate_redundancy(many.embedding_[:, :10])
    np.testing.assert_allclose(many.redundancy_, expected, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"scale_neighbor": 5},
        {"weights": eta, "bandwidth": 1.0},
        {"weights": eta, "kind": "self_tuning"},
        {"delta": 0.2},
        {"n_components": "auto", "connect": "components"},
    ],
)
def test_parameters_that_would_change_nothing_are_refused(options):
    with pytest.raises(ValueError, match=r"no effect|leave weights out|give a number"):
        unbend.DiffusionMaps(**options).fit(CLOUD)


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("kind", ["graph_laplacian", "laplace_beltrami"])
def test_an_affinity_matrix_gives_what_its_rows_give(convert, kind):
    for normalization in ("random_walk", "symmetric"):
        options = {"kind": kind, "normalization": normalization}
        rows = all_pairs(3, **options)
        model = unbend.DiffusionMaps(3, metric="affinity", **options).fit(convert(GAUSSIAN))
        np.testing.assert_allclose(model.embedding_, rows.embedding_, atol=1e-10)
        found = model.transform(convert(GAUSSIAN))
        np.testing.assert_allclose(found, model.embedding_, atol=1e-10)
