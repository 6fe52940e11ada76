"""What chapter 15 prints and what is true: each erratum that the code departs from, by numbers."""

import numpy as np

from tests.lowrank.drawn import orthonormal_basis
from unbend.lowrank import interpolative, weighted_columns
from unbend.lowrank.primitives import rotation


def definite(rng, n):
    vectors = orthonormal_basis(rng, n, n)
    return (vectors * rng.uniform(0.5, 2, n)) @ vectors.T


def test_15_26_needs_the_inverse():
    gram = definite(np.random.default_rng(0), 6)
    squares, k = gram**2, 3
    found = weighted_columns(gram, np.arange(k))
    side, rest = squares[:k, k:], squares[k:, k:]
    printed = np.sum(rest - side.T @ squares[:k, :k] @ side)
    meant = np.sum(rest - side.T @ np.linalg.solve(squares[:k, :k], side))
    apart = np.linalg.norm(gram - found.matrix(gram)) ** 2
    np.testing.assert_allclose(meant, apart, 1e-10)
    assert abs(printed - apart) > 1e-3 * apart


def test_15_24_needs_the_symmetric_root():
    """With Cholesky's root the same weights do not leave the error of the theorem."""
    gram = definite(np.random.default_rng(1), 6)
    found = weighted_columns(gram, np.arange(3))
    lower = np.linalg.cholesky(gram)[:, :3]
    apart = np.linalg.norm(gram - (lower * found.weights) @ lower.T)
    assert abs(apart - found.error) > 1e-3 * found.error


def test_steps_5_and_6_of_15_1_4_build_another_approximation():
    """U spans the columns whatever their weights: the projection ignores w."""
    gram = definite(np.random.default_rng(2), 6)
    found = weighted_columns(gram, np.arange(3))
    results = []
    for weights in (found.weights, np.ones(3)):
        u = np.linalg.svd(gram[:, :3] * weights, full_matrices=False)[0]
        results.append(u @ u.T @ gram @ u @ u.T)
    np.testing.assert_allclose(results[0], results[1], 0, 1e-12)
    assert np.linalg.norm(results[0] - found.matrix(gram)) > 1e-2


def test_step_3_of_15_2_2_is_a_choice_of_columns():
    matrix = np.random.default_rng(3).standard_normal((8, 6))
    found = interpolative(matrix, 3)
    product = matrix @ found.interpolation.T
    assert np.linalg.norm(product - found.basis) > 0.1 * np.linalg.norm(found.basis)


def test_rotations_of_l_ulv_go_from_the_last_plane_to_the_first():
    """In the printed order, P₁₂ first, the vector ends as a multiple of the last axis."""
    vector = np.random.default_rng(4).standard_normal(5)
    upwards, printed = vector.copy(), vector.copy()
    for j in range(4, 0, -1):
        upwards[j - 1 : j + 1] = rotation(*upwards[j - 1 : j + 1]) @ upwards[j - 1 : j + 1]
    for j in range(1, 5):
        first, second = printed[j - 1 : j + 1]
        printed[j - 1 : j + 1] = rotation(second, -first) @ printed[j - 1 : j + 1]
    assert np.allclose(np.abs(upwards), np.linalg.norm(vector) * np.eye(5)[0])
    assert np.allclose(np.abs(printed), np.linalg.norm(vector) * np.eye(5)[4])


def test_the_printed_vsv_step_forgets_a_block_and_the_shape_of_the_signature():
    """Q' acts on whole rows of L, so also on those left of the block; Q'ΩQ is not diagonal."""
    rng, n, d = np.random.default_rng(5), 5, 2
    lower, omega = np.tril(rng.standard_normal((n, n))), np.diag([1.0, -1.0, 1.0, -1.0, 1.0])
    matrix = lower.T @ omega @ lower
    turn = orthonormal_basis(rng, n - d, n - d)
    v = np.eye(n)
    v[d:, d:] = turn
    q, r = np.linalg.qr((lower[d:, d:] @ turn)[:, ::-1])
    q, r = q[:, ::-1], r[::-1, ::-1]
    printed, meant = lower.copy(), lower.copy()
    printed[d:, d:] = meant[d:, d:] = r
    meant[d:, :d] = q.T @ lower[d:, :d]
    omega[d:, d:] = q.T @ omega[d:, d:] @ q
    assert np.allclose(v @ (meant.T @ omega @ meant) @ v.T, matrix)
    assert not np.allclose(v @ (printed.T @ omega @ printed) @ v.T, matrix)
    assert np.abs(np.triu(omega, 1)).max() > 1e-2
