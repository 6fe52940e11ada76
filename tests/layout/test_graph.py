"""The graph of a layout and its Laplacian: dense algebra as oracle, one result for any threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from sklearn.datasets import load_digits

from tests.stages.drawn import EPS, LAW, rngs
from unbend._kernels import kernels, reference
from unbend.eigen import krylov
from unbend.eigen.krylov import KrylovSpace
from unbend.eigen.problem import SpectralProblem
from unbend.gram.principal import column_products
from unbend.layout.affinities import Affinities, add_transpose, joint_probabilities
from unbend.layout.start import AffinityLaplacian, eigenmaps_start, growth_bound
from unbend.lowrank.rank_revealing import orthonormal_columns
from unbend.neighbors import Metric, PointSpace

BOTH = pytest.mark.parametrize("kernel", [kernels, reference], ids=["native", "reference"])


def random_graph(rng, n, density=0.2):
    """Draw a matrix of positive numbers, its rows not sorted, some of them empty."""
    matrix = csr_array(random_array((n, n), density=density, rng=rng))
    for row in range(n):
        some = slice(matrix.indptr[row], matrix.indptr[row + 1])
        order = rng.permutation(some.stop - some.start)
        matrix.indices[some], matrix.data[some] = (
            matrix.indices[some][order],
            matrix.data[some][order],
        )
    offsets, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return matrix.toarray(), offsets, indices, matrix.data


@LAW
@given(rngs, st.integers(1, 80), st.floats(0, 1))
def test_a_matrix_is_added_to_its_transpose(rng, n, density):
    dense, *rows = random_graph(rng, n, density)
    sums = [add_transpose(*rows, threads) for threads in (1, 2, 5)]
    np.testing.assert_array_equal(sums[0].toarray(), dense + dense.T)
    assert sums[0].nnz == np.count_nonzero(dense + dense.T)
    for other in sums[1:]:
        np.testing.assert_array_equal(other.indices, sums[0].indices)
        np.testing.assert_array_equal(other.data, sums[0].data)


def test_many_entries_are_added_by_threads_to_the_same_bits():
    _, *rows = random_graph(np.random.default_rng(0), 3000, 0.02)
    one, two = (add_transpose(*rows, threads) for threads in (1, 2))
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert abs(one - one.T).max() == 0


@BOTH
@LAW
@given(rngs, st.integers(1, 60), st.integers(1, 11))
def test_products_with_a_laplacian_are_those_of_dense_algebra(kernel, rng, n, width):
    dense, offsets, indices, data = random_graph(rng, n)
    weights = data.astype(np.float32)
    dense[dense > 0] = dense[dense > 0].astype(np.float32)
    diagonal, scale, block = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(n, width))
    images = np.full((2, n, width), np.nan)
    for threads in (1, 2):
        kernel.laplacian_product(
            offsets, indices, weights, diagonal, scale, block, threads, images[threads - 1]
        )
    np.testing.assert_array_equal(*images)
    scaled = scale[:, None] * dense * scale
    expected = diagonal[:, None] * block - scaled @ block
    size = np.abs(diagonal)[:, None] * np.abs(block) + np.abs(scaled) @ np.abs(block)
    np.testing.assert_array_less(np.abs(images[0] - expected), (n + 4) * EPS * size + 1e-300)


@BOTH
@LAW
@given(rngs, st.integers(1, 1100), st.integers(1, 9), st.integers(1, 9))
def test_products_with_long_vectors_are_those_of_dense_algebra(kernel, rng, n, count, width):
    basis, block = rng.normal(size=(count, n)), rng.normal(size=(n, width))
    products, grams = np.full((2, count, width), np.nan), np.full((2, width, width), np.nan)
    turned = np.full((2, n, width), np.nan)
    factors, sums = rng.normal(size=(count, width)), np.stack([block, block])
    for threads in (1, 2):
        kernel.inner_products(basis, block, threads, products[threads - 1])
        kernel.add_combinations(basis, factors, threads, sums[threads - 1])
        kernel.gram(block, threads, grams[threads - 1])
        kernel.turn_rows(block, grams[0], threads, turned[threads - 1])
        stored = np.full((width, n), np.nan)
        kernel.store_columns(block, threads, stored)
        np.testing.assert_array_equal(stored, block.T)
    np.testing.assert_array_equal(*products)
    np.testing.assert_array_equal(*sums)
    np.testing.assert_array_equal(*grams)
    np.testing.assert_array_equal(*turned)
    size = np.abs(block) @ np.abs(grams[0])
    np.testing.assert_array_less(np.abs(turned[0] - block @ grams[0]), 20 * EPS * size + 1e-300)
    size = np.abs(block.T) @ np.abs(block)
    np.testing.assert_array_less(np.abs(grams[0] - block.T @ block), n * EPS * size + 1e-300)
    size = np.abs(basis) @ np.abs(block)
    np.testing.assert_array_less(np.abs(products[0] - basis @ block), n * EPS * size + 1e-300)
    expected, size = block + basis.T @ factors, np.abs(block) + np.abs(basis.T) @ np.abs(factors)
    np.testing.assert_array_less(np.abs(sums[0] - expected), (count + 2) * EPS * size + 1e-300)


def digits_graph():
    rows = load_digits(return_X_y=True)[0]
    joint = joint_probabilities(PointSpace(rows).nearest(90), Affinities(30.0))
    return csr_array(joint.astype(np.float32))


def test_an_iterated_start_is_that_of_lapack():
    joint = digits_graph()
    degree = joint.toarray().astype(np.float64).sum(axis=1)
    dense = np.eye(len(degree)) - joint.toarray() / np.sqrt(np.outer(degree, degree))
    values, vectors = np.linalg.eigh(dense)
    start, found = eigenmaps_start(joint, 2, np.random.default_rng(0), 1)
    np.testing.assert_allclose(found[:2], values[1:3], rtol=0.01)
    basis = np.linalg.qr(start * np.sqrt(degree)[:, None])[0]
    cosines = np.linalg.svd(basis.T @ vectors[:, 1:3])[1]
    assert np.degrees(np.arccos(min(1.0, cosines.min()))) < 5


def test_growth_bounds_are_those_of_the_dense_laplacian():
    joint = digits_graph()
    dense = joint.toarray().astype(np.float64)
    laplacian = np.diag(dense.sum(axis=1)) - dense
    start = np.linalg.eigh(laplacian)[1][:, 1:3]
    largest = np.linalg.eigvalsh(start.T @ laplacian @ start)[-1]
    assert growth_bound(joint, start) == pytest.approx(1 / ((len(dense) - 1) * largest), rel=1e-9)


def test_a_row_without_affinities_keeps_its_vector():
    pair = csr_array(np.array([[0.0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]], dtype=np.float32))
    laplacian = AffinityLaplacian(pair, threads=2)
    np.testing.assert_array_equal(
        laplacian @ np.eye(3), [[0.5, -0.5, 0], [-0.5, 0.5, 0], [0, 0, 0]]
    )
    np.testing.assert_array_equal(laplacian.normalized() @ np.eye(3)[2], [0, 0, 1])


@pytest.mark.parametrize("tall", [0, 10**9])
def test_a_krylov_space_is_orthonormal_whoever_multiplies(monkeypatch, tall):
    monkeypatch.setattr(krylov, "TALL", tall)
    rng = np.random.default_rng(0)
    matrix = csr_array(np.diag(np.arange(700.0)))
    trivial = np.linalg.qr(rng.normal(size=(700, 2)))[0]
    space = KrylovSpace(SpectralProblem(matrix, "bottom", trivial), 3, 5, 2, threads=2)
    block = space.orthonormal(rng.normal(size=(700, 3)))
    for _ in range(4):
        block = space.orthonormal(space.add(block))
    basis = np.hstack([trivial, space.vectors(space.ritz(3, np.eye(3)))])
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-13)
    pairs = space.ritz(3, np.eye(3))
    vectors = space.vectors(pairs)
    residuals = np.linalg.norm(matrix @ vectors - vectors * pairs.values[:3], axis=0)
    np.testing.assert_allclose(pairs.residuals, residuals, rtol=1e-9)


@LAW
@given(rngs, st.integers(1, 50), st.integers(1, 12))
def test_hashes_are_those_of_their_twins(rng, n, bits):
    _, offsets, indices, weights = random_graph(rng, n)
    points = rng.normal(size=(n, 5)).round(1)
    points[rng.random(points.shape) < 0.2] = -0.0
    factors, state = rng.integers(0, 2**63, 5, np.uint64), rng.integers(0, 2**63, n, np.uint64)
    rows, entries = np.empty((3, n), np.uint64), np.empty((3, n), np.uint64)
    for number, (kernel, threads) in enumerate([(kernels, 1), (kernels, 2), (reference, 1)]):
        kernel.hash_rows(points, factors, threads, rows[number])
        kernel.hash_neighbors(offsets, indices, weights, bits, state, threads, entries[number])
    for hashes in (rows, entries):
        np.testing.assert_array_equal(hashes[0], hashes[1])
        np.testing.assert_array_equal(hashes[0], hashes[2])
    kernels.hash_rows(points + 0.0, factors, 1, rows[1])
    np.testing.assert_array_equal(rows[0], rows[1])


def test_products_that_threads_share_have_the_same_bits():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(5000, 60))
    one, two = (column_products(rows, threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, rows.T @ rows, atol=1e-10)
    constants = {"center": rows.mean(axis=0), "matrix": rng.normal(size=(60, 7))}
    metric = Metric("weighted", constants=constants)
    features = [metric.features(rows, threads) for threads in (1, 3)]
    np.testing.assert_array_equal(*features)
    expected = (rows - constants["center"]) @ constants["matrix"]
    np.testing.assert_allclose(features[0], expected, atol=1e-12)
    np.testing.assert_array_equal(metric.features(rows[4321:4322]), features[0][4321:4322])


def test_well_conditioned_columns_need_no_householder_reflections(monkeypatch):
    block = np.random.default_rng(0).normal(size=(200, 4))

    def refuse(_):
        raise AssertionError("decomposed")

    monkeypatch.setattr(np.linalg, "qr", refuse)
    found = orthonormal_columns(orthonormal_columns(block))
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-15)
    np.testing.assert_allclose(found @ (found.T @ block), block, atol=1e-13)
    with pytest.raises(AssertionError, match="decomposed"):
        orthonormal_columns(np.hstack([block, block @ np.ones((4, 1))]))
