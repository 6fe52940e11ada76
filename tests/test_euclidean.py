"""Whether distances are Euclidean, the additive constant, strain, and the notes' stress (21)."""

import numpy as np
import pytest
from scipy.linalg import eigvals
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import cdist, pdist

import unbend
from tests.loops import sampled
from unbend.mds import additive_constant, additive_constant_bound, euclidean_dimension
from unbend.quality import strain, stress


@sampled("seed", range(6))
def test_euclidean_distances_have_the_dimension_of_their_points(seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed
    points = rng.normal(size=(20, d)) * rng.uniform(0.5, 3.0, d)
    found = euclidean_dimension(cdist(points, points))
    assert found.euclidean
    assert found.dimension == d
    assert found.rounding == 0


@pytest.mark.parametrize("decimals", [-1, 0, 1, 3])
def test_a_rounded_table_stays_euclidean_within_its_tolerance(decimals):
    rng = np.random.default_rng(0)
    cities = rng.uniform(0, 4000, (25, 2))
    table = np.round(cdist(cities, cities), decimals)
    found = euclidean_dimension(table)
    assert found.rounding == pytest.approx(0.5 * 10.0**-decimals)
    assert found.eigenvalues[-1] < 0
    assert found.euclidean
    assert found.dimension == 2
    exact = np.linalg.eigvalsh(unbend.gram.Gram(cdist(cities, cities)).form())[::-1]
    assert np.abs(found.eigenvalues - exact).max() <= found.tolerance
    # The trap: with the rounding of double precision it would not be, and of 24 dimensions.
    assert not euclidean_dimension(table, error=0).euclidean


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e12])
def test_the_unit_of_a_table_does_not_decide(unit):
    cities = np.random.default_rng(0).uniform(0, 4000, (25, 2))
    distances = cdist(cities, cities)
    found = euclidean_dimension(np.round(distances) * unit)
    assert found.rounding == pytest.approx(0.5 * unit)
    assert (found.euclidean, found.dimension) == (True, 2)
    exact = euclidean_dimension(distances * unit)
    assert exact.rounding < 1e-9 * unit
    assert (exact.euclidean, exact.dimension) == (True, 2)


def test_distances_along_streets_are_not_euclidean():
    points = np.random.default_rng(0).uniform(size=(30, 2))
    found = euclidean_dimension(cdist(points, points, "cityblock"))
    assert not found.euclidean
    assert str(found).startswith("not Euclidean (smallest eigenvalue -")


@pytest.mark.parametrize("wrong", [np.ones((3, 3)), np.zeros((2, 3)), -np.ones((2, 2))])
def test_what_are_no_distances_is_refused(wrong):
    for function in (euclidean_dimension, additive_constant, additive_constant_bound):
        with pytest.raises(ValueError, match=r"square|diagonal|non-negative"):
            function(wrong)


@sampled("seed", range(5))
def test_the_additive_constant_is_the_eigenvalue_of_theorem_8_1_and_below_its_bound(seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(size=(14, 2))
    distances = cdist(points, points, "cityblock") + 0.2 * (1 - np.eye(14)) * rng.random()
    centre = np.eye(14) - 1 / 14
    squares, plain = (centre @ m @ centre for m in (np.square(distances), distances))
    block = np.block([[np.zeros((14, 14)), -squares], [-np.eye(14), 2 * plain]])
    largest = eigvals(block).real.max()
    found = additive_constant(distances)
    if found > 0:
        assert found == pytest.approx(largest, rel=1e-7)
    bound = additive_constant_bound(distances)
    assert bound >= found * (1 - 1e-12)
    # (8.9): least eigenvalues of −HD²H and −HDH on vectors of sum zero.
    basis = np.linalg.qr(np.column_stack((np.ones(14), np.eye(14)[:, 1:])))[0][:, 1:]
    least, lowest = (np.linalg.eigvalsh(-basis.T @ m @ basis)[0] for m in (squares, plain))
    assert bound == pytest.approx(np.sqrt(lowest**2 - least) - lowest)
    for tau in (found, bound):
        shifted = distances + tau * (1 - np.eye(14))
        values = np.linalg.eigvalsh(-0.5 * centre @ np.square(shifted) @ centre)
        assert values[0] >= -1e-9
    assert additive_constant_bound(cdist(points, points)) == 0


def test_classical_scaling_has_the_strain_of_the_eigenvalues_left_out():
    rng = np.random.default_rng(0)
    for metric in ("euclidean", "cityblock"):
        points = rng.normal(size=(40, 5))
        distances = cdist(points, points, metric)
        flat = unbend.ClassicalMDS(2, metric="precomputed").fit_transform(distances)
        centre = np.eye(40) - 1 / 40
        values = np.linalg.eigvalsh(-0.5 * centre @ np.square(distances) @ centre)[::-1]
        expected = np.square(values[2:]).sum()
        found = strain(distances, flat, metric="precomputed")
        assert found == pytest.approx(expected, rel=1e-9)
        share = strain(distances, flat, metric="precomputed", normalized=True)
        assert share == pytest.approx(expected / np.square(values).sum(), rel=1e-9)
        other = flat + 0.01 * rng.normal(size=flat.shape)
        assert strain(distances, other, metric="precomputed") > found


def test_strain_is_that_of_scalar_products():
    rng = np.random.default_rng(1)
    points, flat = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    centred, placed = points - points.mean(axis=0), flat - flat.mean(axis=0)
    expected = np.square(centred @ centred.T - placed @ placed.T).sum()
    assert strain(points, flat) == pytest.approx(expected)
    # Neither a shift nor a rotation of the embedding changes it.
    turned = (flat + 3.0) @ np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert strain(points, turned) == pytest.approx(expected)


def test_the_stress_of_the_notes_fits_a_function_of_embedded_distances():
    """Notes (21): d_x against an increasing function of d_y, in the units of d_x."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(25, 3))
    flat = points[:, :2] + 0.2 * rng.normal(size=(25, 2))
    before, after = pdist(points), pdist(flat)
    order = np.argsort(after)
    fitted = np.empty_like(before)
    fitted[order] = isotonic_regression(before[order]).x
    expected = np.sqrt(np.sum((before - fitted) ** 2) / np.sum(before**2))
    found = stress(points, flat, kind="inverse")
    assert float(found) == pytest.approx(expected)
    # An increasing function of the embedded distances changes nothing, one of the data's does.
    assert float(stress(points, 7 * flat, kind="inverse")) == pytest.approx(expected)
    assert float(stress(points, flat, kind="nonmetric")) != pytest.approx(expected, rel=1e-3)


def test_matrices_have_configurations_of_their_own():
    rng = np.random.default_rng(0)
    group, weights = rng.normal(size=(25, 2)), rng.uniform(0.2, 2.0, size=(4, 2))
    distances = [cdist(group * np.sqrt(row), group * np.sqrt(row)) for row in weights]
    model = unbend.WeightedMDS(2).fit(distances)
    for number, given in enumerate(distances):
        own = model.configuration(number)
        np.testing.assert_allclose(cdist(own, own), given, atol=1e-5 * given.max())


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_the_base_point_form_is_positive_definite_where_the_kernel_is_conditionally(power):
    """Proposition 2.22 of the slides."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 3))

    def negative(x, y):
        return -(np.linalg.norm(x - y) ** power)

    kernel = unbend.gram.BasePointKernel(negative, points[4])
    gram = np.array([[kernel(x, y) for y in points] for x in points])
    assert np.linalg.eigvalsh(gram)[0] > -1e-10
    whole = np.array([[negative(x, y) for y in points] for x in points])
    based_on = (whole - whole[:, [4]] - whole[[4]] + whole[4, 4]) / 2
    np.testing.assert_allclose(gram, based_on, atol=1e-12)
    assert np.linalg.eigvalsh(whole)[0] < -1
    plain = unbend.KernelPCA(2, kernel=negative).fit_transform(points)
    based = unbend.KernelPCA(2, kernel=kernel).fit_transform(points)
    np.testing.assert_allclose(plain, np.sqrt(2) * based, atol=1e-8)


def test_the_base_point_form_shows_what_is_not_conditionally_definite():
    points = np.random.default_rng(0).normal(size=(30, 3))
    kernel = unbend.gram.BasePointKernel(lambda x, y: -np.sum((x - y) ** 4), points[0])
    gram = np.array([[kernel(x, y) for y in points] for x in points])
    assert np.linalg.eigvalsh(gram)[0] < -1


def test_the_report_of_classical_scaling_decides_whether_distances_are_euclidean():
    points = np.random.default_rng(0).uniform(0, 900, (30, 2))
    table = np.round(cdist(points, points))
    model = unbend.ClassicalMDS(metric="precomputed").fit(table)
    facts = model.report_.stage("kernel").facts
    assert facts["distances"] == str(euclidean_dimension(table))
    assert facts["distances"] == "Euclidean, of dimension 2; distances are taken as right to ±0.5"
