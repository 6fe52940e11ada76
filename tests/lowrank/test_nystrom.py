"""Nyström's approximation: its identities, and exactness where the rank allows it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import unbend
from tests.loops import each
from tests.oracles.embeddings import classical_mds, subspace_angle
from tests.stages.drawn import EPS, LAW, rngs
from unbend import quality
from unbend.datasets import s_curve, swiss_roll
from unbend.eigen import Nystrom, solve
from unbend.eigen.problem import SpectralProblem
from unbend.lowrank import (
    CenteredDistances,
    Eigenfunctions,
    NormalizedAffinities,
    nystrom_extension,
    orthogonal_nystrom,
)


def psd(rng, n, rank):
    rows = rng.normal(size=(n, rank))
    return rows @ rows.T


@LAW
@given(rngs, st.integers(3, 10), st.integers(2, 20))
def test_the_error_is_that_of_the_block_never_seen(rng, m, more):
    """Theorem 15.3: V is orthonormal and ‖G − VΛV'‖ = ‖D − B'A⁻¹B‖ (15.19), in both norms."""
    # More factors than rows: A is far from singular, and its inverse can be trusted.
    gram = psd(rng, m + more, 3 * (m + more))
    block, others = gram[:m, :m], gram[:m, m:]
    values, vectors = orthogonal_nystrom(block, others)
    slack = 1e3 * EPS * np.linalg.cond(block) * len(gram)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(m), 0, slack)
    unseen = gram[m:, m:] - others.T @ np.linalg.solve(block, others)
    for norm in (2, "fro"):
        error = np.linalg.norm(gram - (vectors * values) @ vectors.T, norm)
        np.testing.assert_allclose(error, np.linalg.norm(unseen, norm), slack)
    # S of the theorem has the same eigenvalues.
    w, u = np.linalg.eigh(block)
    root = (u / np.sqrt(w)) @ u.T
    s = block + root @ others @ others.T @ root
    np.testing.assert_allclose(values, np.linalg.eigvalsh(s)[::-1], slack)


@LAW
@given(rngs, st.integers(1, 6), st.integers(0, 4))
def test_both_forms_are_exact_when_the_rank_is_at_most_m(rng, rank, more):
    gram = psd(rng, 40, rank)
    m = rank + more
    split = (gram[:m, :m], gram[:m, m:])
    size = np.linalg.norm(gram, 2)
    slack = 1e4 * EPS * np.linalg.norm(gram, 2) ** 2 / np.linalg.eigvalsh(gram[:m, :m])[-rank]
    for values, vectors in (nystrom_extension(*split), orthogonal_nystrom(*split)):
        np.testing.assert_allclose((vectors * values) @ vectors.T, gram, 0, slack)
    values, _ = orthogonal_nystrom(*split)
    np.testing.assert_allclose(
        values, np.linalg.eigvalsh(gram)[: -rank - 1 : -1], 0, slack + size * EPS
    )


@LAW
@given(rngs, st.integers(2, 8))
def test_the_plain_extension_keeps_the_seen_columns(rng, m):
    gram = psd(rng, 30, 60)
    values, vectors = nystrom_extension(gram[:m, :m], gram[:m, m:])
    slack = 1e3 * EPS * np.linalg.norm(gram, 2) * np.linalg.cond(gram[:m, :m])
    np.testing.assert_allclose(((vectors * values) @ vectors.T)[:, :m], gram[:, :m], 0, slack)


def test_eigenfunctions_are_eigenvectors_at_the_rows_and_smooth_between():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (200, 1))
    kernel = np.exp(-cdist(x, x, "sqeuclidean"))
    found = Eigenfunctions.of(kernel, 4)
    values, vectors = np.linalg.eigh(kernel)
    np.testing.assert_allclose(found.values, values[:-5:-1] / 200, 1e-10)
    at_rows = found(kernel)
    np.testing.assert_allclose(at_rows.T @ at_rows / 200, np.eye(4), 0, 1e-8)
    # Slides (61) at a new row, spelled out.
    new = np.array([[0.3]])
    similarity = np.exp(-cdist(new, x, "sqeuclidean"))
    plain = np.sqrt(200) / values[-2] * (vectors[:, -2] @ similarity[0])
    np.testing.assert_allclose(abs(found(similarity)[0, 1]), abs(plain), 1e-8)


def test_the_kernel_of_distances_is_that_of_classical_scaling_and_extends_it():
    rng = np.random.default_rng(0)
    points, new = rng.normal(size=(50, 3)), rng.normal(size=(5, 3))
    squares = cdist(points, points, "sqeuclidean")
    kernel = CenteredDistances.of(squares)
    centred = points - points.mean(axis=0)
    np.testing.assert_allclose(kernel(squares), centred @ centred.T, 0, 1e-12)
    found = kernel(cdist(new, points, "sqeuclidean"))
    np.testing.assert_allclose(found, (new - points.mean(axis=0)) @ centred.T, 0, 1e-12)


def test_the_kernel_of_affinities_is_the_normalised_one_and_extends_it():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 2))
    affinities = np.exp(-cdist(points, points, "sqeuclidean"))
    kernel = NormalizedAffinities.of(affinities)
    degree = affinities.sum(axis=1)
    expected = affinities / np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(kernel(affinities), expected, 1e-12)
    np.testing.assert_allclose(kernel(affinities[:3]), expected[:3], 1e-12)


@pytest.mark.parametrize("rank", [2, 5, 20])
@pytest.mark.parametrize("trivial", [0, 1])
def test_the_solver_is_lapack_when_the_rank_is_at_most_m(rank, trivial):
    rng = np.random.default_rng(rank)
    rows = rng.normal(size=(300, rank)) * np.linspace(2, 1, rank)
    constant = np.ones((300, trivial))
    rows = rows - trivial * rows.mean(axis=0)
    problem = SpectralProblem(rows @ rows.T, "top", constant)
    exact, found = solve(problem, 2, "dense"), solve(problem, 2, Nystrom(rank + trivial))
    np.testing.assert_allclose(found.values, exact.values, 1e-8)
    assert subspace_angle(exact.vectors, found.vectors) < 1e-6
    # Beyond the rank: vectors of eigenvalue zero, still orthonormal and beside the trivial one.
    more = solve(problem, rank + 2, Nystrom(rank + 10))
    np.testing.assert_allclose(more.values[rank:], 0, 0, 1e-8 * exact.values[0])
    np.testing.assert_allclose(more.vectors.T @ more.vectors, np.eye(rank + 2), 0, 1e-10)
    assert np.abs(constant.T @ more.vectors).max(initial=0.0) < 1e-8


def test_more_columns_come_nearer_to_the_exact_isomap():
    from unbend import Isomap

    roll = swiss_roll(1000, random_state=0)
    exact = Isomap(n_neighbors=8).fit_transform(roll.points)
    errors = [
        quality.procrustes(
            exact, Isomap(n_neighbors=8, eigen_solver=Nystrom(m)).fit_transform(roll.points)
        )
        for m in (20, 100, 1000)
    ]
    assert errors[0] < 0.02
    assert errors[2] < 1e-8 < errors[1] < errors[0]


def test_scaling_by_columns_is_classical_scaling_of_points():
    from unbend import ClassicalMDS

    points = np.random.default_rng(0).normal(size=(400, 3)) * [3.0, 2.0, 1.0]
    model = ClassicalMDS(n_components=3, eigen_solver=Nystrom(4)).fit(points)
    exact = classical_mds(cdist(points, points), 3)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(exact), 0, 1e-10)
    np.testing.assert_allclose(model.transform(points), model.embedding_, 0, 1e-10)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), points, 0, 1e-10)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine", "laplacian"])
def test_kernel_pca_by_all_columns_is_kernel_pca(kernel):
    from unbend import KernelPCA

    points = s_curve(300, random_state=0).points
    exact = KernelPCA(kernel=kernel).fit(points)
    found = KernelPCA(kernel=kernel, eigen_solver=Nystrom(300)).fit(points)
    np.testing.assert_allclose(found.embedding_, exact.embedding_, 0, 1e-6)
    np.testing.assert_allclose(found.eigenvalues_, exact.eigenvalues_, 1e-6)
    new = points[:20] + 0.05
    np.testing.assert_allclose(found.transform(new), exact.transform(new), 0, 1e-6)
    np.testing.assert_allclose(found.energy_loss_, exact.energy_loss_, 1e-6, 1e-6)


def test_kernel_pca_of_low_rank_needs_no_more_columns_than_that():
    from unbend import KernelPCA

    points = np.random.default_rng(0).normal(size=(400, 4)) * [4.0, 3.0, 2.0, 1.0] + 5.0
    exact = KernelPCA(n_components=3, kernel="linear").fit(points)
    found = KernelPCA(n_components=3, kernel="linear", eigen_solver=Nystrom(4)).fit(points)
    np.testing.assert_allclose(found.embedding_, exact.embedding_, 0, 1e-8)
    np.testing.assert_allclose(found.transform(points), found.embedding_, 0, 1e-8)


def test_a_gaussian_far_from_the_origin_is_not_blurred_by_products():
    from unbend import KernelPCA

    points = s_curve(200, random_state=0).points
    near = KernelPCA(gamma=1.0, eigen_solver=Nystrom(60)).fit(points)
    far = KernelPCA(gamma=1.0, eigen_solver=Nystrom(60)).fit(points + 1e6)
    np.testing.assert_allclose(far.embedding_, near.embedding_, 0, 1e-6)
    apart = np.concatenate((points, points + 1e7))
    split = KernelPCA(gamma=1.0, eigen_solver=Nystrom(300)).fit(apart)
    whole = KernelPCA(gamma=1.0).fit(apart)
    np.testing.assert_allclose(split.eigenvalues_, whole.eigenvalues_, 1e-3)


@pytest.mark.parametrize("m", [0, -3, 2.5, "many", True])
def test_a_number_of_columns_that_is_none_is_refused(m):
    with pytest.raises(ValueError, match="integer of at least 1"):
        Nystrom(m)


@each(
    "model",
    [
        unbend.ClassicalMDS(eigen_solver=unbend.Nystrom(10)),
        *(
            unbend.KernelPCA(kernel=kernel, eigen_solver=unbend.Nystrom(10))
            for kernel in ("linear", "rbf", "laplacian", "cosine")
        ),
    ],
)
@each("distinct", [1, 2])
def test_duplicate_rows_have_fewer_coordinates_by_columns_too(model, distinct):
    points = np.repeat(np.random.default_rng(0).normal(size=(distinct, 3)), 50 // distinct, axis=0)
    with pytest.warns(UserWarning, match=f"only {distinct - 1} positive eigenvalues"):
        embedding = model.fit_transform(points)
    np.testing.assert_array_equal(embedding[:, distinct - 1 :], 0.0)
    np.testing.assert_array_equal(model.transform(points)[:, distinct - 1 :], 0.0)
