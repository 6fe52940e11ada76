"""Forces against their definitions, twins against kernels, and one result for any threads."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist

from unbend._kernels import kernels, reference
from unbend.layout.descent import divergence
from unbend.layout.repulsion import MeshRepulsion, Repulsion, exact_repulsion, tree_repulsion


def clusters(n, d, scale, seed):
    """Points in ten Gaussian clusters."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(10, d)) * scale
    points = centers[rng.integers(0, 10, n)] + rng.normal(size=(n, d)) * scale / 6
    return points.astype(np.float32)


def brute_force(points):
    """Repulsion and the sum of w, by all differences in double precision."""
    y = points.astype(np.float64)
    w = 1.0 / (1.0 + cdist(y, y, "sqeuclidean"))
    forces = (w**2).sum(axis=1)[:, None] * y - (w**2) @ y
    return forces, w.sum() - len(y)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n", [2, 9, 300])
def test_exact_repulsion_is_the_sum_over_all_pairs(n, d):
    points = clusters(n, d, 3.0, seed=n)
    forces, normalizer = exact_repulsion(points)
    expected, total = brute_force(points)
    np.testing.assert_allclose(forces, expected, atol=1e-5 * np.abs(expected).max())
    assert normalizer == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("d", [1, 2])
def test_the_mesh_is_within_four_percent_of_the_sum_over_all_pairs(d):
    # As dense as layouts are: about one point in two units.
    points = clusters(1500, d, {1: 100.0, 2: 14.0}[d], seed=d)
    exact, total = exact_repulsion(points)
    forces, normalizer = MeshRepulsion()(points)
    error = np.linalg.norm(forces / normalizer - exact / total) / np.linalg.norm(exact / total)
    assert error < 0.04
    assert normalizer == pytest.approx(total, rel=2e-3)


def test_the_error_of_the_mesh_falls_with_the_cube_of_its_spacing():
    points = clusters(1000, 2, 10.0, seed=1)
    exact, _ = exact_repulsion(points)
    errors = [np.linalg.norm(MeshRepulsion(h)(points)[0] - exact) for h in (0.6, 0.3)]
    assert errors[0] / errors[1] > 6
    assert errors[1] < 3e-3 * np.linalg.norm(exact)


def test_points_in_one_place_have_no_forces():
    points = np.zeros((1600, 2), dtype=np.float32)
    forces, normalizer = MeshRepulsion()(points)
    assert np.abs(forces).max() < 1e-2
    assert normalizer == pytest.approx(1600 * 1599, rel=1e-3)


@pytest.mark.parametrize("d", [1, 2])
def test_compiled_kernels_agree_with_their_twins(d):
    rng = np.random.default_rng(d)
    points, nodes = clusters(400, d, 3.0, seed=d), 64
    origin, spacing = points.min(axis=0).astype(np.float64), 0.7
    ours, plain = np.empty(nodes**d, np.float32), np.empty(nodes**d)
    kernels.spread_density(points, origin, spacing, nodes, 2, ours)
    reference.spread_density(points, origin, spacing, nodes, 1, plain)
    np.testing.assert_allclose(ours, plain, rtol=2e-6, atol=2e-5)
    assert ours.sum() == pytest.approx(400, rel=1e-5)  # splines sum to one
    potential = rng.normal(size=nodes**d).astype(np.float32)
    one, two = np.empty_like(points), np.empty_like(points)
    kernels.gather_forces(points, origin, spacing, nodes, potential, 0.0, 2, one)
    reference.gather_forces(points, origin, spacing, nodes, potential, 0.0, 1, two)
    np.testing.assert_allclose(one, two, atol=1e-5)
    kernels.gather_forces(points, origin, spacing, nodes, potential, 0.1, 2, one)
    reference.gather_forces(points, origin, spacing, nodes, potential, 0.1, 1, two)
    np.testing.assert_allclose(one, two, atol=5e-4)  # the compiled sine is a polynomial
    graph = csr_array(random_array((400, 400), density=0.06, rng=rng))
    arguments = (
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int32),
        graph.data.astype(np.float32),
        points,
    )
    kernels.attract(*arguments, 2, one)
    reference.attract(*arguments, 1, two)
    np.testing.assert_allclose(one, two, atol=1e-4)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_compiled_sums_over_entries_and_pairs_agree_with_their_twins(d):
    rng = np.random.default_rng(d)
    points = clusters(203, d, 4.0, seed=d)
    graph = csr_array(random_array((203, 203), density=0.05, rng=rng))
    arrays = (
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int32),
        graph.data.astype(np.float32),
    )
    one, two = np.empty(203), np.empty(203)
    kernels.attractive_energy(*arrays, points, 2, one)
    reference.attractive_energy(*arrays, points, 1, two)
    np.testing.assert_allclose(one, two, rtol=2e-6, atol=1e-6)
    total = brute_force(points)[1]
    assert kernels.sum_weights(points, 2) == pytest.approx(total, rel=1e-6)
    assert reference.sum_weights(points, 1) == pytest.approx(total, rel=1e-12)


def test_compiled_waves_and_renumbering_agree_with_their_twins():
    rng = np.random.default_rng(0)
    graph = csr_array(random_array((150, 150), density=0.1, rng=rng, dtype=np.float32))
    order = rng.permutation(150)
    inverse = np.argsort(order).astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(np.diff(graph.indptr)[order]))).astype(np.int64)
    expected = graph.toarray()[np.ix_(order, order)]
    for kernel in (kernels, reference):
        columns, weights = np.empty(graph.nnz, np.int32), np.empty(graph.nnz, np.float32)
        arrays = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data)
        kernel.renumber(*arrays, order, inverse, offsets, 2, columns, weights)
        found = csr_array((weights, columns, offsets), shape=(150, 150))
        np.testing.assert_array_equal(found.toarray(), expected)
        assert all(np.all(np.diff(columns[a:b]) > 0) for a, b in pairwise(offsets))
    parts = rng.normal(size=20000).astype(np.float32)
    factors = rng.normal(size=(2, 10000)).astype(np.float32)
    one, two = parts.copy(), parts.copy()
    sums = kernels.convolve(one, *factors, 2), reference.convolve(two, *factors, 1)
    np.testing.assert_allclose(one, two, rtol=1e-6)
    assert sums[0] == pytest.approx(sums[1], rel=1e-5)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 33, 1000])
def test_the_sum_over_pairs_is_that_of_all_pairs_whatever_their_number(n):
    points = clusters(n, 2, 100.0, seed=n)
    assert kernels.sum_weights(points, 1) == pytest.approx(brute_force(points)[1], rel=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_compiled_step_and_placement_agree_with_their_twins(d):
    rng = np.random.default_rng(d)
    n, nodes = 300, 64
    points = clusters(n, d, 2.0, seed=d)
    forces = [rng.normal(size=(n, d)).astype(np.float32) for _ in range(2)]
    states = []
    for kernel in (kernels, reference):
        seed = np.random.default_rng(9)
        state = [seed.normal(size=(n, d)).astype(np.float32) for _ in range(3)]
        state[1] = np.abs(state[1])
        state.append(np.empty((2, d)))
        kernel.descend(*forces, 0.7, 0.4, 0.8, 1.5, 1, *state)
        states.append(state)
    for one, two in zip(*states, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
    indices = rng.integers(0, n, (20, 15)).astype(np.int32)
    weights = rng.dirichlet(np.ones(15), size=20).astype(np.float32)
    found = [np.empty((20, d), dtype=np.float32) for _ in range(2)]
    for kernel, placed in zip((kernels, reference), found, strict=True):
        kernel.place_by_tree(indices, weights, points, 0.05, 0.01, 30, 1, placed)
    np.testing.assert_allclose(*found, atol=2e-3)
    if d < 3:
        potential = rng.normal(size=nodes**d).astype(np.float32)
        mesh = (points.min(axis=0).astype(np.float64) - 1.0, 0.5, nodes, potential)
        for kernel, placed in zip((kernels, reference), found, strict=True):
            kernel.place_on_mesh(indices, weights, points, *mesh, 0.01, 30, 1, placed)
        np.testing.assert_allclose(*found, atol=2e-3)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("scale", [1e-4, 1e-2, 0.3, 2.0])
def test_forces_of_small_layouts_are_as_accurate(scale, d):
    # The start of a descent: forces nearly cancel there.
    points = clusters(2000, d, scale, seed=1)
    exact, total = exact_repulsion(points)
    forces, normalizer = MeshRepulsion()(points)
    assert np.linalg.norm(forces - exact) < 5e-3 * np.linalg.norm(exact)
    assert normalizer == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("error", [0.04, 0.001])
@pytest.mark.parametrize("scale", [1e-4, 0.1, 3.0, 10.0, 30.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_error_is_below_the_one_asked_for(d, scale, error):
    points = clusters(2500, d, scale, seed=2)
    exact, total = exact_repulsion(points)
    repulsion = Repulsion(error)

    def by_tree(points):
        return tree_repulsion(points, repulsion.opening)

    ways = {1: [repulsion.mesh], 2: [repulsion.mesh, by_tree], 3: [by_tree]}[d]
    for way in ways:
        forces, normalizer = way(points)
        assert np.linalg.norm(forces - exact) < error * np.linalg.norm(exact)
        assert normalizer == pytest.approx(total, rel=error)


def test_the_fastest_way_is_chosen():
    few, many = clusters(200, 2, 5.0, seed=0), clusters(20000, 2, 30.0, seed=0)
    sparse = clusters(5000, 2, 1000.0, seed=0)
    space = clusters(5000, 3, 10.0, seed=0)
    names = [Repulsion().method(points) for points in (few, many, sparse, space)]
    assert names == ["pairs", "mesh", "tree", "tree"]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_threads_change_no_bit(d):
    # As many as it takes until every kernel shares its work.
    points = clusters(70_000, d, {1: 300.0, 2: 60.0, 3: 6.0}[d], seed=0)
    few = points[:5000]
    for way in (
        lambda threads: MeshRepulsion(threads=threads)(points if d < 3 else points[:, :2].copy()),
        lambda threads: exact_repulsion(few, threads),
        lambda threads: tree_repulsion(few, threads=threads),
        lambda threads: (few, kernels.sum_weights(few, threads)),
        lambda threads: step_of(points, threads),
    ):
        results = [way(threads) for threads in (1, 2, 5)]
        for forces, number in results[1:]:
            np.testing.assert_array_equal(forces, results[0][0])
            np.testing.assert_array_equal(number, results[0][1])


def step_of(points, threads):
    """One step of a descent: the points and their box."""
    pull, push = (np.random.default_rng(seed).normal(size=points.shape) for seed in (1, 2))
    moved, box = points.copy(), np.empty((2, points.shape[1]))
    kernels.descend(
        pull.astype(np.float32), push.astype(np.float32), 0.7, 0.4, 0.8, 1.5, threads,
        np.zeros_like(points), np.ones_like(points), moved, box,
    )  # fmt: skip
    return moved, box


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 7, 9, 100, 3000])
def test_a_tree_that_opens_every_cell_sums_all_pairs(n, d):
    # Points in few places: cells can be halved no further and hold many.
    places = clusters(max(n // 3, 1), d, 3.0, seed=n)
    points = places[np.arange(n) % len(places)]
    forces, normalizer = tree_repulsion(points, opening=1e-6)
    expected, total = brute_force(points)
    np.testing.assert_allclose(forces, expected, atol=2e-5 * max(1.0, np.abs(expected).max()))
    assert normalizer == pytest.approx(total, rel=1e-5)


def plain_divergence(p, y):
    """Kullback–Leibler divergence over all pairs, in double precision."""
    w = 1.0 / (1.0 + cdist(y, y, "sqeuclidean"))
    np.fill_diagonal(w, 0.0)
    q, some = w / w.sum(), p > 0
    return float(np.sum(p[some] * np.log(p[some] / q[some])))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_gradient_is_that_of_the_divergence(d):
    rng = np.random.default_rng(4)
    n = 30
    affinities = random_array((n, n), density=0.2, rng=rng)
    affinities = affinities + affinities.T
    affinities = csr_array(affinities / affinities.sum())
    affinities.setdiag(0)
    affinities.eliminate_zeros()
    affinities = csr_array(affinities / affinities.sum())
    points = (rng.normal(size=(n, d)) * 2).astype(np.float32)
    attraction = np.empty_like(points)
    offsets, indices = affinities.indptr.astype(np.int64), affinities.indices.astype(np.int32)
    kernels.attract(offsets, indices, affinities.data.astype(np.float32), points, 1, attraction)
    forces, normalizer = exact_repulsion(points)
    gradient = 4.0 * attraction - 4.0 / normalizer * forces
    p, y, step = affinities.toarray(), points.astype(np.float64), 1e-5
    slopes = np.empty_like(y)
    for place in np.ndindex(*y.shape):
        shift = np.zeros_like(y)
        shift[place] = step
        ahead, behind = (plain_divergence(p, y + s * shift) for s in (1, -1))
        slopes[place] = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(gradient, slopes, atol=1e-5 * np.abs(slopes).max())
    assert divergence(affinities, points) == pytest.approx(plain_divergence(p, y), rel=1e-6)
