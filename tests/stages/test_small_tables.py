"""What makes small and very wide tables fast: the same results by other ways."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array, eye_array, kron
from scipy.spatial.distance import cdist

import unbend
from tests.stages.drawn import LAW, rngs
from tests.stages.searches import every_kernel, kernels
from unbend._kernels import reference
from unbend._kernels.reference.sparse_graphs import may_be_accepted
from unbend.eigen import ShiftInvert, SpectralProblem, inverse_lanczos, solve
from unbend.gram.kernels import Similarities
from unbend.graphs import laplacian, normalized_cut
from unbend.neighbors import PointSpace
from unbend.quality import trustworthiness
from unbend.quality._spaces import LONG_ROWS, ranks_of


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def random_graph(rng, n, edges):
    """Compressed rows of directed edges, columns not sorted, with loops."""
    keys = rng.permutation(n * n)[:edges]
    rows, columns = np.sort(keys // n), keys[np.argsort(keys // n, kind="stable")] % n
    offsets = np.searchsorted(rows, np.arange(n + 1))
    weights = rng.integers(0, 4, edges).astype(float)
    return offsets.astype(np.int64), columns.astype(np.int32), weights


@every_kernel
@pytest.mark.parametrize("how", [0, 1, 2])
def test_merged_directions_are_those_of_the_dense_matrix(name, how, rng):
    offsets, columns, weights = random_graph(rng, 23, 150)
    dense = csr_array((weights, columns, offsets), shape=(23, 23)).toarray()
    wanted = (np.maximum(dense, dense.T), np.minimum(dense, dense.T), (dense + dense.T) / 2)[how]
    row, column, value = kernels(name).merge_directions(offsets, columns, weights, how)
    found = csr_array((value, column, row), shape=(23, 23))
    assert found.has_canonical_format
    assert np.array_equal(found.toarray(), wanted)
    assert np.all(value != 0)


@every_kernel
def test_scaled_difference_is_that_of_dense_matrices(name, rng):
    n = 31
    row, column, value = reference.merge_directions(*random_graph(rng, n, 200), 2)
    weights = csr_array((value, column, row), shape=(n, n)).toarray()
    assert weights.diagonal().any()
    degree, factor = rng.uniform(1, 2, n), rng.uniform(1, 2, n)
    new = np.empty(n + 1, np.int64), np.empty(len(column) + n, np.int32), np.empty(len(value) + n)
    count = kernels(name).scaled_difference(
        row.astype(np.int64), column, value, degree, factor, *new
    )
    found = csr_array((new[2][:count], new[1][:count], new[0]), shape=(n, n))
    assert found.has_canonical_format
    wanted = factor[:, None] * (np.diag(degree) - weights) * factor
    assert np.allclose(found.toarray(), wanted, rtol=1e-15, atol=0)
    assert count == np.count_nonzero(weights + np.eye(n))


def path_graph(n):
    weights = diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    return csr_array(weights)


@every_kernel
def test_grown_blocks_are_a_krylov_space_of_the_inverse(name, rng):
    own = kernels(name)
    n, width, blocks = 60, 3, 4
    matrix = csr_array(laplacian(path_graph(n)) + 1e-3 * eye_array(n))
    row, column = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    factor = own.factor(own.analyse(row, column, np.inf), row, column, matrix.data, 0.0, 1)
    room = (blocks + 1) * width
    basis, images = np.zeros((room + 1, n)), np.zeros((room, n))
    small = np.zeros((room, room))
    basis[0] = n**-0.5
    start = rng.standard_normal((n, width))
    start = np.linalg.qr(start - start.mean(axis=0))[0]
    added = factor.grow_blocks(basis, 1, 0, images, small, start, blocks, 1e-2, 0.1, 1)
    assert added == blocks
    size = blocks * width
    vectors, inverse = basis[1 : size + 1], np.linalg.inv(matrix.toarray())
    beside = np.eye(n) - 1.0 / n
    assert np.allclose(basis[: size + 1] @ basis[: size + 1].T, np.eye(size + 1), atol=1e-12)
    assert np.allclose(images[:size], vectors @ inverse @ beside, rtol=1e-9, atol=1e-9)
    assert np.allclose(small[:size, :size], vectors @ inverse @ vectors.T, rtol=1e-9, atol=1e-9)
    # The image of every block but the last lies in the space.
    inner = images[: size - width]
    assert np.allclose(inner, inner @ vectors.T @ vectors, atol=1e-9)


@every_kernel
def test_growth_stops_where_the_next_block_is_dependent(name):
    own = kernels(name)
    n = 20
    matrix = csr_array(np.diag(np.arange(1.0, n + 1)))
    row, column = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    factor = own.factor(own.analyse(row, column, np.inf), row, column, matrix.data, 0.0, 1)
    basis, images, small = np.zeros((9, n)), np.zeros((9, n)), np.zeros((9, 9))
    # Unit vectors are eigenvectors: nothing is left of their images.
    start = np.ascontiguousarray(np.eye(n)[:, :3])
    assert factor.grow_blocks(basis, 0, 0, images, small, start, 3, 1e-2, 0.1, 1) == 1
    assert np.allclose(small[:3, :3], np.diag([1, 1 / 2, 1 / 3]))


def weighted_path(rng, n):
    """Laplacian of a path with random weights: its eigenvalues are apart."""
    weights = rng.uniform(0.5, 2.0, n - 1)
    return csr_array(laplacian(csr_array(diags_array([weights, weights], offsets=[-1, 1]))))


@every_kernel
@LAW
@given(rngs, st.integers(1, 4), st.sampled_from([1e-3, 1e-6, 1e-8]))
def test_growth_stops_once_the_wanted_pairs_are_within_the_tolerance(name, rng, wanted, tol):
    own, n, width, most = kernels(name), 80, 3, 14
    matrix = csr_array(weighted_path(rng, n) + 1e-9 * eye_array(n))
    row, column = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    factor = own.factor(own.analyse(row, column, np.inf), row, column, matrix.data, 0.0, 1)
    basis, images = np.zeros((most * width + 1, n)), np.zeros((most * width, n))
    small = np.zeros((most * width, most * width))
    basis[0] = n**-0.5
    start = rng.standard_normal((n, width))
    start = np.linalg.qr(start - start.mean(axis=0))[0]
    rule = (wanted, 2, tol, 1e5, 1e-3)
    added = factor.grow_blocks(basis, 1, 0, images, small, start, most, 1e-2, 0.1, 1, *rule)
    size = added * width
    exact = eigh(matrix.toarray())[1][:, 1 : wanted + 1]
    turn = eigh(small[:size, :size])[1][:, : -wanted - 1 : -1]
    found = np.linalg.qr(images[:size].T @ turn)[0]
    # Fewer than the most: they were accepted. One block less would not have been.
    assert added < most
    assert np.linalg.norm(exact - found @ (found.T @ exact), 2) <= 3 * tol
    if added > 2:
        less = size - width
        inside = small[:less, less - width : less]
        last = images[less - width : less] @ images[less - width : less].T
        assert not may_be_accepted(small[:less, :less], last, inside, wanted, *rule[2:])


@every_kernel
def test_growth_stops_where_eigenvalues_differ_too_much(name, rng):
    own, n = kernels(name), 60
    matrix = csr_array(np.diag(np.concatenate(([1e-6], np.linspace(1.0, 2.0, n - 1)))))
    row, column = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    factor = own.factor(own.analyse(row, column, np.inf), row, column, matrix.data, 0.0, 1)
    basis, images, small = np.zeros((12, n)), np.zeros((12, n)), np.zeros((12, 12))
    start = np.linalg.qr(rng.standard_normal((n, 3)))[0]
    for spread, blocks in ((1e5, 2), (1e9, 4)):
        rule = (2, 2, 1e-15, spread, 1e-3)
        room = (basis, 0, 0, images, small)
        assert factor.grow_blocks(*room, start, 4, 1e-9, 1.0, 1, *rule) == blocks


def torus(side):
    """Laplacian of a square grid that closes up: eigenvalues come four and eight at a time."""
    ring = np.roll(np.eye(side), 1, axis=1)
    ring = csr_array(ring + ring.T)
    return laplacian(csr_array(kron(ring, eye_array(side)) + kron(eye_array(side), ring)))


@pytest.mark.parametrize("count", [2, 5, 12, 15])
def test_narrow_blocks_find_multiple_eigenvalues(count):
    matrix = torus(22)
    assert count + 4 > inverse_lanczos.BLOCK
    problem = SpectralProblem(matrix, "bottom", np.ones((matrix.shape[0], 1)))
    found = solve(problem, count, ShiftInvert())
    exact = eigh(matrix.toarray(), eigvals_only=True)[1 : count + 1]
    assert found.converged
    assert np.allclose(found.values, exact, rtol=1e-9, atol=0)
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(count), atol=1e-10)
    assert found.residuals.max() < 1e-9


@pytest.mark.parametrize("normalization", ["random_walk", "symmetric", "none"])
@pytest.mark.parametrize("symmetrization", ["max", "mean"])
def test_eigenmaps_solve_the_dense_problem(normalization, symmetrization):
    points = unbend.datasets.swiss_roll(400, random_state=3).points
    model = unbend.LaplacianEigenmaps(
        9,
        n_neighbors=8,
        weights="heat",
        normalization=normalization,
        symmetrization=symmetrization,
        eigen_solver="shift_invert",
    ).fit(points)
    graph = model.graph_
    directed = csr_array(graph, copy=True)
    directed.data = model._edge_weight(directed.data)
    dense = directed.toarray()
    weights = np.maximum(dense, dense.T) if symmetrization == "max" else (dense + dense.T) / 2
    degree = weights.sum(axis=1)
    mass = None if normalization == "none" else np.diag(degree)
    exact = eigh(np.diag(degree) - weights, mass, eigvals_only=True)[1:10]
    assert np.allclose(model.eigenvalues_, exact, rtol=1e-8)


def test_normalized_cut_is_computed_when_asked_for():
    points = unbend.datasets.swiss_roll(300, random_state=0).points
    model = unbend.SpectralClustering(3).fit(points)
    assert "ncut_" not in vars(model)
    graph = model._eigenmaps.graph_
    graph.data[:] = 1.0
    wanted = normalized_cut(csr_array(graph.maximum(graph.T)), model.labels_)
    assert model.ncut_ == pytest.approx(wanted, rel=1e-12)
    # Another fit replaces it.
    model.fit(points[:, :2])
    assert model.ncut_ != pytest.approx(wanted, rel=1e-3)


def test_duplicates_are_those_that_sorting_finds(rng):
    points = rng.integers(0, 2, (200, 9)).astype(float)
    points[rng.random(points.shape) < 0.3] *= -1.0  # -0.0 is 0.0
    first, inverse = PointSpace(points).distinct()
    _, place, copy = np.unique(points, axis=0, return_index=True, return_inverse=True)
    assert np.array_equal(first, np.sort(place))
    assert np.array_equal(first[inverse], place[copy.ravel()])
    assert len(first) < 200


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_ranks_of_long_rows_are_those_of_sorted_distances(far, rng):
    points = rng.standard_normal((70, LONG_ROWS + 7)) + far
    points[5], points[40] = points[11], points[11]
    # Near ties, closer than single precision separates them.
    points[60:] = points[50:60] * (1 + 1e-9 * rng.standard_normal((10, 1)))
    space, rows = PointSpace(points), np.arange(70)
    targets = np.argsort(rng.random((70, 70)), axis=1)
    targets = np.array([row[row != i][:12] for i, row in enumerate(targets)])
    wanted = np.empty((70, 12), dtype=np.int32)
    # By sorting squares that are summed in the same order.
    about, slack = np.zeros((70, 70), np.float32), np.zeros(70)
    reference.count_nearer(points, 1.0, rows, about, slack, targets, 1, wanted)
    found = ranks_of(space, rows, targets)
    assert np.array_equal(found, wanted)
    some = ranks_of(space, rows[::3], targets[::3])
    assert np.array_equal(some, found[::3])


def test_trustworthiness_of_wide_rows_does_not_depend_on_threads(rng):
    points = rng.standard_normal((90, 1500))
    plane = points[:, :2]
    one, two = (trustworthiness(points, plane, n_neighbors=7, threads=t) for t in (1, 2))
    assert float(one) == float(two)
    assert np.array_equal(one.local, two.local)


@pytest.mark.parametrize("far", [0.0, 3.0, 1e4])
def test_gaussian_kernels_keep_their_digits_near_and_far_from_the_origin(far, rng):
    points = rng.standard_normal((60, 40)) + far
    points[7] = points[3]
    values = Similarities(points, "rbf", {"gamma": 0.02}).between()
    exact = np.exp(-0.02 * cdist(points, points, "sqeuclidean"))
    assert np.allclose(values, exact, rtol=1e-13, atol=0)
    assert values[3, 7] == 1.0


def test_pre_images_of_classical_mds_follow_the_last_fit(rng):
    first, second = rng.standard_normal((2, 30, 50))
    model = unbend.ClassicalMDS(29).fit(first)
    assert np.allclose(model.inverse_transform(model.embedding_), first)
    model.fit(second)
    assert np.allclose(model.inverse_transform(model.embedding_), second)


@pytest.mark.parametrize("method", ["MetricMDS", "NonmetricMDS"])
def test_scaling_of_wide_rows_is_that_of_their_distances(method, rng):
    wide = rng.standard_normal((60, 1200)) * np.linspace(3, 0.1, 1200)
    narrow = unbend.PCA(59).fit_transform(wide)
    ours, plain = (getattr(unbend, method)(2).fit(rows) for rows in (wide, narrow))
    assert ours.stress_ == pytest.approx(plain.stress_, rel=1e-5)
    distances = [cdist(model.embedding_, model.embedding_) for model in (ours, plain)]
    assert np.allclose(*distances, atol=1e-3 * distances[0].max())
