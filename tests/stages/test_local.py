"""Local geometry: barycentric weights, and the blocks of LTSA and Hessian LLE."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loops import each
from tests.oracles import kernels as oracle
from tests.oracles import neighbors as brute
from tests.stages.drawn import EPS, LAW, lattice, rngs
from unbend import _kernels
from unbend._kernels import reference
from unbend.local import affine_bases, align, barycentric_weights, quadratic_bases
from unbend.neighbors import DistanceSpace, Neighbors, PointSpace

REG = 1e-3


def tangent_blocks(coordinates, d):
    """LTSA's blocks I − GG'."""
    basis = affine_bases(coordinates, d)
    return np.eye(basis.shape[1]) - basis @ basis.transpose(0, 2, 1)


def hessian_blocks(coordinates, d):
    """Hessian LLE's blocks QQ'."""
    basis = quadratic_bases(coordinates, d)
    return basis @ basis.transpose(0, 2, 1)


dimensions = each("d", [1, 2, 3])
both_blocks = each("build", [tangent_blocks, hessian_blocks])


def full_block(d):
    """Count the points that determine a quadratic function of d coordinates."""
    return (d + 1) * (d + 2) // 2


def gram_of(block):
    """Gram matrix of the differences to the first point, with the ridge."""
    differences = block[1:] - block[0]
    gram = differences @ differences.T
    return gram + REG * np.trace(gram) * np.eye(len(gram))


def surface(rng, n, d):
    """Draw n points of a curved d-dimensional surface in d + 2 dimensions."""
    chart = rng.uniform(-1, 1, (n, d))
    bend = np.column_stack((np.sin(2 * chart.sum(axis=1)), np.square(chart).sum(axis=1)))
    return np.column_stack((chart, 0.3 * bend))


@LAW
@given(rngs, st.integers(1, 10), st.sampled_from([1, 2, 5, 40]))
def test_barycentric_weights_are_the_rows_of_lle(rng, k, columns):
    points = rng.normal(size=(16, columns))
    points[:k] = points[0]  # k - 1 copies: one neighbour lies apart
    indices, _ = brute.nearest(points, k)
    expected = oracle.lle_weights(points, indices, REG)
    blocks = np.column_stack((np.arange(16), indices))
    # The regularised Gram matrix has a condition number below 1 + 1 / reg.
    slack = 64 * k * EPS / REG * (1 + np.abs(expected).max())
    for space in (PointSpace(points), DistanceSpace(brute.pairwise(points))):
        weights = barycentric_weights(space.coordinates(blocks), REG)
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, 0, slack)
        np.testing.assert_allclose(weights, np.take_along_axis(expected, indices, 1), 0, slack)


@pytest.mark.parametrize("columns", [1, 3, 40])
@LAW
@given(rngs, st.integers(1, 8))
def test_neighbours_that_all_equal_the_point_weigh_the_same(columns, rng, k):
    points = np.tile(rng.normal(size=columns), (k + 1, 1))
    for space in (PointSpace(points), DistanceSpace(brute.pairwise(points))):
        weights = barycentric_weights(space.coordinates(np.arange(k + 1)[None]), REG)
        np.testing.assert_allclose(weights, 1 / k, rtol=4 * k * EPS)


@pytest.mark.parametrize("nonnegative", [False, True])
@LAW
@given(rngs, st.integers(1, 8), st.integers(-100, 100))
def test_barycentric_weights_do_not_depend_on_the_unit_of_length(nonnegative, rng, k, power):
    block = rng.normal(size=(3, k + 1, 2))
    weights = barycentric_weights(block, REG, nonnegative)
    scaled = barycentric_weights(block * 2.0**power, REG, nonnegative)
    np.testing.assert_allclose(scaled, weights, 0, 64 * k * EPS / REG)


@pytest.mark.parametrize("reg", [1e-3, 1e-6, 1e-9])
@LAW
@given(rngs, st.integers(1, 3), st.integers(1, 6))
def test_weights_reproduce_affine_functions_as_the_ridge_vanishes(reg, rng, r, spare):
    block = rng.normal(size=(r + 1 + spare, r))
    weights = barycentric_weights(block[None], reg)[0]
    # |error|² + ridge |w|² is least, so at most ridge |v|² for any v that reproduces exactly.
    system = np.vstack((block[1:].T, np.ones(r + spare)))
    exact = np.linalg.lstsq(system, np.append(block[0], 1.0), rcond=None)[0]
    if np.abs(system @ exact - np.append(block[0], 1.0)).max() < 1e-9 * (1 + np.abs(exact).max()):
        ridge = reg * np.square(block[1:] - block[0]).sum()
        error = np.linalg.norm(weights @ block[1:] - block[0])
        assert error <= 1.001 * np.sqrt(ridge) * np.linalg.norm(exact)


def test_without_a_ridge_the_weights_are_those_of_least_squares():
    # The point hovers over the plane of a triangle: its foot is written exactly, in one way.
    block = np.array([[0.0, 0, 0.1], [1, 0, 0], [0, 2, 0], [-3, -1, 0]])
    expected = np.linalg.solve(np.vstack((block[1:, :2].T, np.ones(3))), [0.0, 0.0, 1.0])
    differences = block[1:] - block[0]
    slack = 16 * EPS * np.linalg.cond(differences @ differences.T)
    weights = barycentric_weights(block[None], 0.0)[0]
    np.testing.assert_allclose(weights, expected, 0, slack)


@LAW
@given(rngs, st.integers(1, 10), st.integers(1, 4))
def test_nonnegative_weights_satisfy_the_conditions_of_kuhn_and_tucker(rng, k, columns):
    block = rng.normal(size=(k + 1, columns))
    block[0] += rng.choice([0.0, 2.0])  # inside its neighbours, or outside
    weights = barycentric_weights(block[None], REG, nonnegative=True)[0]
    free = barycentric_weights(block[None], REG)[0]
    gram = gram_of(block)
    slack = 64 * k * EPS / REG
    assert (weights >= 0).all()
    assert abs(weights.sum() - 1) <= slack
    gradient, value = gram @ weights, weights @ gram @ weights
    assert (gradient >= value - slack * np.trace(gram)).all()
    assert np.abs(weights * (gradient - value)).max() <= slack * np.trace(gram)
    if (free > slack).all():
        np.testing.assert_allclose(weights, free, 0, slack)


def aligned(build, points, neighbors, d, at_once=7):
    space, (offsets, members) = PointSpace(points), neighbors.with_self()
    bases_of = affine_bases if build is tangent_blocks else quadratic_bases
    width = 1 + d if build is tangent_blocks else d * (d + 1) // 2
    bases = np.empty((len(members), width))
    for rows, indices in neighbors.blocks(at_once):
        whole = np.column_stack((rows, indices))
        entries = offsets[rows, None] + np.arange(whole.shape[1])
        bases[entries] = bases_of(space.coordinates(whole), d)
    complement = build is tangent_blocks
    return align(len(points), offsets, members, bases, complement=complement).toarray()


def sensitivity(points, indices, d):
    """How far rounding may turn the tangents, and the quadratics built on them."""
    turn = 1.0
    for i, around in enumerate(indices):
        block = points[np.append(i, around)]
        left, values, _ = np.linalg.svd(block - block.mean(axis=0), full_matrices=False)
        beyond = values[d] if len(values) > d else 0.0
        u = left[:, :d]
        pairs = [u[:, a] * u[:, b] for a in range(d) for b in range(a, d)]
        design = np.column_stack((np.ones(len(u)), u, *pairs))
        condition = np.linalg.cond(design / np.linalg.norm(design, axis=0))
        turn = max(turn, condition * values[0] ** 2 / (values[d - 1] ** 2 - beyond**2))
    return turn


@dimensions
@pytest.mark.parametrize(
    ("build", "expected"),
    [(tangent_blocks, oracle.ltsa_matrix), (hessian_blocks, oracle.hessian_matrix)],
)
@LAW
@given(rngs, st.integers(0, 5))
def test_aligned_blocks_equal_the_dense_matrices_of_the_definitions(build, expected, d, rng, more):
    k = full_block(d) - 1 + more
    points = surface(rng, k + 8, d)
    indices, distances = brute.nearest(points, k)
    matrix = aligned(build, points, Neighbors.rectangular(indices, distances), d)
    slack = 16 * k * EPS * len(points) * sensitivity(points, indices, d)
    np.testing.assert_allclose(matrix, expected(points, indices, d), 0, slack)


@both_blocks
@dimensions
@LAW
@given(rngs, st.integers(0, 8))
def test_aligned_blocks_of_flat_data_annihilate_affine_functions(build, d, rng, more):
    n, k = 30, full_block(d) - 1 + more
    chart = rng.uniform(-1, 1, (n, d))
    points = chart @ np.linalg.qr(rng.normal(size=(d + 3, d))).Q.T + rng.normal(size=d + 3)
    indices, distances = brute.nearest(points, k)
    matrix = aligned(build, points, Neighbors.rectangular(indices, distances), d)
    affine = np.column_stack((np.ones(n), chart))
    slack = 64 * k * EPS * n * sensitivity(points, indices, d)
    np.testing.assert_allclose(matrix @ affine, 0.0, 0, slack)
    assert np.linalg.eigvalsh(matrix).min() >= -slack


@dimensions
@LAW
@given(rngs, st.integers(0, 6))
def test_hessian_blocks_see_quadratics_only_and_equal_ltsa_only_at_full_size(d, rng, more):
    s = full_block(d) + more
    block = surface(rng, s, d)
    ltsa, hessian = tangent_blocks(block[None], d)[0], hessian_blocks(block[None], d)[0]
    slack = 64 * s * EPS * sensitivity(block, [np.arange(1, s)], d)
    assert np.trace(ltsa) == pytest.approx(s - 1 - d, abs=slack)
    assert np.trace(hessian) == pytest.approx(d * (d + 1) / 2, abs=slack)
    u = np.linalg.svd(block - block.mean(axis=0))[0][:, :d]
    affine = np.column_stack((np.ones(s), u))
    for pair in zip(*np.triu_indices(d), strict=True):
        quadratic = u[:, pair[0]] * u[:, pair[1]]
        bent = quadratic - affine @ np.linalg.lstsq(affine, quadratic, rcond=None)[0]
        np.testing.assert_allclose(hessian @ quadratic, bent, 0, slack)
        assert np.linalg.norm(bent) > slack
    np.testing.assert_allclose(hessian @ affine, 0.0, 0, slack)
    if more == 0:
        np.testing.assert_allclose(hessian, ltsa, 0, slack)
    else:
        # Projectors of different rank, one inside the other: the difference is a projector.
        assert np.linalg.norm(ltsa - hessian, 2) == pytest.approx(1.0, abs=slack)


def assert_projectors(blocks):
    """Check B' = B, B² = B and B1 = 0 up to the rounding of sums of s terms."""
    slack = 64 * blocks.shape[1] * EPS
    assert np.isfinite(blocks).all()
    np.testing.assert_allclose(blocks, blocks.transpose(0, 2, 1), 0, slack)
    np.testing.assert_allclose(blocks.sum(axis=2), 0.0, 0, slack)
    np.testing.assert_allclose(blocks @ blocks, blocks, 0, slack)


@both_blocks
@dimensions
@LAW
@given(rngs, st.integers(1, 12), st.integers(1, 4), st.integers(1, 4), st.sampled_from([0.0, 0.1]))
def test_degenerate_blocks_are_projectors_that_annihilate_constants(
    build, d, rng, s, columns, values, offset
):
    # With one value all points coincide; with two or three many do, or lie on a line.
    assert_projectors(build(lattice(rng, s, columns, values)[None] + offset, d))


@both_blocks
@dimensions
@each("value", [0.0, 0.1, 1 / 3, 7.7])
def test_coincident_points_leave_only_the_constant_undetermined(build, d, value):
    for s in range(1, 13):
        blocks = build(np.full((1, s, 2), value), d)
        assert_projectors(blocks)
        # No direction exists, so LTSA aligns everything but the constant and Hessian LLE nothing.
        rank = s - 1 if build is tangent_blocks else 0
        assert np.trace(blocks[0]) == pytest.approx(rank, abs=64 * s * EPS)


@both_blocks
@each("thickness", [1e-4, 1e-6, 1e-8, 1e-9, 1e-12, 0.0])
@LAW
@given(rngs, st.integers(3, 14))
def test_blocks_of_a_thin_oblique_strip_are_projectors(build, thickness, rng, s):
    along, across = rng.normal(size=(2, s, 1))
    points = along * [1.0, 2.0] + thickness * across * [-2.0, 1.0]
    assert_projectors(build(PointSpace(points).coordinates(np.arange(s)[None]), 2))


def placed_by(kernel, stored, values, new, near, reg):
    placed = np.empty((len(new), values.shape[1]))
    kernel.place_barycentric(stored, values, new, near, reg, 1, placed)
    return placed


@each("dtype", [np.float64, np.float32])
@LAW
@given(rngs, st.integers(1, 6), st.integers(0, 9), st.sampled_from([1e-6, 1e-3, 1.0]))
def test_points_are_placed_by_the_weights_that_write_them(dtype, rng, columns, more, reg):
    """By equations of as few unknowns as there are columns, against those of all neighbours."""
    k = columns + more
    stored = rng.normal(size=(40, columns)).astype(dtype)
    values = rng.normal(size=(40, 2))
    near = np.array([rng.permutation(40)[:k] for _ in range(23)], dtype=np.int32)
    # Inside, outside and far outside of their neighbours, and on the same point as all of them.
    new = stored[near].mean(axis=1) * 10.0 ** rng.integers(-1, 4, (23, 1)).astype(np.float64)
    near[-1], new[-1] = near[-1, 0], stored[near[-1, 0]]
    found = placed_by(_kernels.kernels, stored, values, new, near, reg)
    expected = placed_by(reference, stored.astype(np.float64), values, new, near, reg)
    # Weights solve equations of condition 1/reg, relative to the sizes of weights and values.
    blocks = np.concatenate((new[:, None], stored[near]), axis=1)
    sizes = np.abs(barycentric_weights(blocks, reg)).sum(axis=1)
    error = np.abs(found - expected).max(axis=1)
    assert np.all(error <= 200 * EPS / reg * sizes * np.abs(values).max())
    np.testing.assert_allclose(found[-1], values[near[-1]].mean(axis=0), atol=1e-12)
    # Four at once, and each for itself.
    alone = [placed_by(_kernels.kernels, stored, values, new[[i]], near[[i]], reg) for i in (0, 7)]
    assert np.array_equal(np.concatenate(alone), found[[0, 7]])
