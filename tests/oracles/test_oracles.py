"""Laws that the oracles obey, so that they may be trusted to judge the library."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.sparse import csgraph

from tests.loops import each
from tests.oracles import embeddings, kernels, neighbors

SEEDS = each("seed", range(5), keep=1)
TIGHT = 1e-11
Build = Callable[[ArrayLike, neighbors.Neighbors, int], neighbors.Floats]
WEIGHTS: list[Callable[[float], float]] = [lambda d: 1.0, lambda d: float(np.exp(-(d**2)))]


def flat_sheet(seed: int, n: int = 60, d: int = 2) -> tuple[neighbors.Floats, neighbors.Floats]:
    """Return a chart of n uniform points in d dimensions, and the same points laid into R^5."""
    rng = np.random.default_rng(seed)
    chart = rng.uniform(size=(n, d))
    frame = np.linalg.qr(rng.normal(size=(5, 5))).Q[:, :d]
    return chart, chart @ frame.T + rng.normal(size=5)


def quadratics(chart: neighbors.Floats) -> neighbors.Floats:
    d = chart.shape[1]
    return np.column_stack([chart[:, a] * chart[:, b] for a in range(d) for b in range(a, d)])


@SEEDS
def test_no_point_is_its_own_neighbour_even_among_duplicates(seed: int) -> None:
    points = np.repeat(np.random.default_rng(seed).normal(size=(6, 3)), 4, axis=0)
    indices, distances = neighbors.nearest(points, 5)
    assert not (indices == np.arange(24)[:, None]).any()
    assert (distances[:, :3] == 0).all()
    assert (distances[:, 3:] > 0).all()
    assert (np.diff(indices[:, :3]) > 0).all()
    assert (np.diff(distances) >= 0).all()


@SEEDS
def test_components_and_paths_agree_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.where(rng.random((50, 50)) < 0.025, rng.random((50, 50)), np.inf)
    np.fill_diagonal(lengths, np.inf)
    expected = csgraph.connected_components(np.isfinite(lengths), directed=False)[1]
    assert (neighbors.components(np.isfinite(lengths)) == expected).all()
    directed = csgraph.shortest_path(lengths, method="D", directed=True)
    np.testing.assert_allclose(neighbors.shortest_paths(lengths), directed, rtol=1e-13)


def test_an_edge_of_length_zero_still_joins() -> None:
    points = np.array([[0.0], [0.0], [1.0]])
    lengths = neighbors.union_graph(points, [np.array([1]), np.array([2]), np.array([1])])
    assert (neighbors.components(np.isfinite(lengths)) == 0).all()
    assert neighbors.shortest_paths(lengths)[0].tolist() == [0.0, 0.0, 1.0]


@SEEDS
def test_bridges_are_the_spanning_tree_of_the_contracted_graph(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(30, 2)), rng.permutation(np.arange(30) % 4)
    distances = neighbors.pairwise(points)
    between = [[distances[labels == a][:, labels == b].min() for b in range(4)] for a in range(4)]
    expected = csgraph.minimum_spanning_tree(np.array(between)).sum()
    assert neighbors.shortest_bridges(points, labels) == pytest.approx(expected, rel=1e-13)
    assert neighbors.shortest_bridges(points, np.zeros(30)) == 0.0


@SEEDS
def test_classical_mds_inverts_euclidean_distances(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(40, 3))
    embedding = embeddings.classical_mds(neighbors.pairwise(points), 3)
    assert embeddings.procrustes(points, embedding) < TIGHT**2
    before, after = neighbors.pairwise(points), neighbors.pairwise(embedding)
    np.testing.assert_allclose(after, before, atol=1e-12)


@SEEDS
def test_isomap_of_a_line_and_of_a_complete_graph_is_the_centred_gram_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    line, cloud = np.sort(rng.uniform(size=(30, 1)), axis=0), rng.normal(size=(30, 3))
    chain = [np.array([j for j in (i - 1, i + 1) if 0 <= j < 30]) for i in range(30)]
    chained = kernels.isomap_kernel(line, chain)
    complete = kernels.isomap_kernel(cloud, neighbors.nearest(cloud, 29)[0])
    for points, kernel in [(line, chained), (cloud, complete)]:
        centred = points - points.mean(axis=0)
        np.testing.assert_allclose(kernel, centred @ centred.T, atol=1e-12)


@SEEDS
def test_lle_weights_sum_to_one_and_are_least_among_those_that_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3))
    around = neighbors.nearest(points, 6)[0]
    weights = kernels.lle_weights(points, around, reg=0.01)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(kernels.lle_matrix(points, around).sum(axis=1), 0, atol=TIGHT)
    for i in range(30):
        offsets = points[around[i]] - points[i]
        w, shift = weights[i, around[i]], rng.normal(size=6)
        gradient = offsets @ (offsets.T @ w) + 0.01 * (offsets**2).sum() * w
        assert gradient @ (shift - shift.mean()) == pytest.approx(0, abs=TIGHT)


@SEEDS
@each("d", [1, 2, 3])
@each("build", [kernels.ltsa_matrix, kernels.hessian_matrix])
def test_local_kernels_annihilate_affine_functions_of_flat_data(
    seed: int, d: int, build: Build
) -> None:
    chart, points = flat_sheet(seed, d=d)
    matrix = build(points, neighbors.nearest(points, 14)[0], d)
    assert np.abs(matrix @ np.column_stack([np.ones(60), chart])).max() < TIGHT
    assert np.linalg.eigvalsh(matrix)[0] > -TIGHT


@SEEDS
@each("d", [1, 2, 3])
@each("build", [kernels.ltsa_matrix, kernels.hessian_matrix])
def test_local_kernels_annihilate_nothing_else_when_blocks_overlap_freely(
    seed: int, d: int, build: Build
) -> None:
    chart, points = flat_sheet(seed, d=d)
    rng = np.random.default_rng(seed)
    around = [rng.choice(np.delete(np.arange(60), i), 14, replace=False) for i in range(60)]
    matrix = build(points, around, d)
    values = np.linalg.eigvalsh(matrix)
    assert (values > 1e-9).sum() == 60 - d - 1
    # Davis and Kahan: rounding turns a null space by at most its size over the gap above it.
    turn = 60 * np.finfo(float).eps * values[-1] / values[d + 1]
    assert embeddings.affine_error(chart, embeddings.bottom(matrix, d)) < turn**2


@SEEDS
def test_hessian_of_a_line_has_spurious_null_vectors_that_ltsa_has_not(seed: int) -> None:
    # A block gives one equation if d = 1, and the windows of k + 1 sorted points are n - k at most.
    line = np.arange(60)[:, None] + np.random.default_rng(seed).uniform(size=(60, 1))
    around = neighbors.nearest(line, 10)[0]
    hessian, ltsa = kernels.hessian_matrix(line, around, 1), kernels.ltsa_matrix(line, around, 1)
    assert np.linalg.matrix_rank(hessian, tol=1e-9, hermitian=True) <= 60 - 10
    assert np.linalg.matrix_rank(ltsa, tol=1e-9, hermitian=True) == 60 - 2


@SEEDS
@each("d", [1, 2, 3])
def test_hessian_charges_quadratics_as_ltsa_does_and_cubics_less(seed: int, d: int) -> None:
    chart, points = flat_sheet(seed, d=d)
    around = neighbors.nearest(points, 14)[0]
    hessian = kernels.hessian_matrix(points, around, d)
    ltsa = kernels.ltsa_matrix(points, around, d)
    q, cubic = quadratics(chart), chart[:, 0] ** 3
    np.testing.assert_allclose(hessian @ q, ltsa @ q, atol=TIGHT)
    assert np.linalg.eigvalsh(q.T @ hessian @ q)[0] > 1e-6
    assert cubic @ hessian @ cubic < cubic @ ltsa @ cubic * (1 - 1e-6)
    assert np.linalg.eigvalsh(ltsa - hessian)[0] > -TIGHT


@SEEDS
@each("d", [1, 2, 3])
def test_hessian_is_ltsa_when_the_block_is_just_large_enough(seed: int, d: int) -> None:
    points = np.random.default_rng(seed).normal(size=(40, 5))
    least = (d + 1) * (d + 2) // 2
    around = neighbors.nearest(points, least)[0]
    for k, same in [(least - 1, True), (least, False)]:
        hessian = kernels.hessian_matrix(points, around[:, :k], d)
        gap = np.abs(hessian - kernels.ltsa_matrix(points, around[:, :k], d)).max()
        assert gap < TIGHT if same else gap > 1e-3
    with pytest.raises(ValueError, match="too few"):
        kernels.hessian_matrix(points, around[:, : least - 2], d)


@SEEDS
def test_laplacian_is_symmetric_with_rows_that_sum_to_zero(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(40, 3))
    around = neighbors.nearest(points, 5)[0]
    for weight in WEIGHTS:
        matrix, degrees = kernels.laplacian(points, around, weight)
        assert (matrix == matrix.T).all()
        assert (np.diag(matrix) == degrees).all()
        np.testing.assert_allclose(matrix.sum(axis=1), 0, atol=1e-13)
        assert (degrees >= 5 * weight(float(neighbors.pairwise(points).max()))).all()


@SEEDS
def test_generalized_solutions_are_d_orthonormal_and_solve_the_problem(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(40, 3))
    matrix, degrees = kernels.laplacian(points, neighbors.nearest(points, 8)[0])
    f = embeddings.generalized_bottom(matrix, degrees, 39)
    np.testing.assert_allclose(f.T @ (degrees[:, None] * f), np.eye(39), atol=TIGHT)
    np.testing.assert_allclose(degrees @ f, 0, atol=TIGHT)
    values = np.diag(f.T @ matrix @ f)
    np.testing.assert_allclose(matrix @ f, degrees[:, None] * f * values, atol=TIGHT)
    assert (np.diff(values) > -TIGHT).all()


@SEEDS
def test_bottom_is_orthogonal_to_the_constant_within_a_degenerate_null_space(seed: int) -> None:
    labels = np.random.default_rng(seed).permutation(np.arange(12) % 3)
    same = (labels[:, None] == labels[None, :]).astype(float)
    found = embeddings.bottom(np.diag(same.sum(axis=1)) - same, 2)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(same @ found, 4 * found, atol=1e-13)


@SEEDS
@each("angle", [1e-13, 1e-9, 0.5, np.pi / 2 - 1e-9, np.pi / 2])
def test_angles_between_planes_are_right_from_tiny_to_right_angles(seed: int, angle: float) -> None:
    frame = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6))).Q
    tilted = np.cos(angle) * frame[:, 1] + np.sin(angle) * frame[:, 2]
    first, second = frame[:, :2], np.column_stack([frame[:, 0] + tilted, tilted])
    assert embeddings.subspace_angle(first, second) == pytest.approx(angle, abs=1e-14)


@SEEDS
def test_procrustes_ignores_similarities_and_affine_error_ignores_affine_maps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, mix, shift = rng.normal(size=(50, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    turned = 7 * truth @ np.linalg.qr(mix).Q + shift
    assert embeddings.procrustes(truth, turned) < TIGHT**2
    assert embeddings.affine_error(truth, truth @ mix + shift) < TIGHT**2
    noisy = truth + rng.normal(size=truth.shape)
    disparity = embeddings.procrustes(truth, noisy)
    assert disparity == pytest.approx(embeddings.procrustes(noisy, truth), rel=1e-12)
    assert 0 < embeddings.affine_error(truth, noisy) <= disparity < 1
