"""Kernels of neighbourhoods of any kind: k for each point, ε, classes, weights of one sign."""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.distance import cdist

import unbend
from tests.loops import each
from tests.oracles import embeddings, kernels
from unbend.datasets import s_curve

N = 160
POINTS = s_curve(N, random_state=3).points
DISTANCES = cdist(POINTS, POINTS)
ORDER = np.argsort(DISTANCES + np.diag(np.full(N, -1.0)), axis=1)[:, 1:]
COUNTS = 8 + np.arange(N) % 5
RADIUS = 1.02 * np.sort(DISTANCES, axis=1)[:, 7].max()
KINDS = {
    "k": ({"n_neighbors": 9}, [row[:9] for row in ORDER]),
    "k for each point": (
        {"n_neighbors": COUNTS},
        [row[:k] for row, k in zip(ORDER, COUNTS, strict=True)],
    ),
    "ε": (
        {"n_neighbors": None, "radius": RADIUS},
        [np.flatnonzero((row <= RADIUS) & (np.arange(N) != i)) for i, row in enumerate(DISTANCES)],
    ),
}


def dense_kernel(method, near):
    """Return the n × n kernel of the definition, and the end of its spectrum."""
    if method == "Isomap":
        return kernels.isomap_kernel(POINTS, near)
    if method == "LLE":
        return kernels.lle_matrix(POINTS, near)
    build = kernels.ltsa_matrix if method == "LTSA" else kernels.hessian_matrix
    return build(POINTS, near, 2)


@each("kind", list(KINDS))
@each("method", ["Isomap", "LLE", "LTSA", "HessianLLE"])
def test_coordinates_are_those_of_the_dense_kernel(method, kind):
    options, near = KINDS[kind]
    model = getattr(unbend, method)(2, **options).fit(POINTS)
    kernel = dense_kernel(method, near)
    if method == "Isomap":
        expected = embeddings.top(kernel, 2)
    else:
        expected = embeddings.bottom(kernel, 2)
        values = np.linalg.eigvalsh(kernel)
        np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-5, atol=1e-13)
    assert embeddings.subspace_angle(model.embedding_, expected) < 1e-6
    np.testing.assert_allclose(
        np.linalg.norm(model.embedding_, axis=0), np.linalg.norm(expected, axis=0), rtol=1e-8
    )


def weights_of_one_sign(near, reg):
    """Non-negative weights that sum to one and minimise w'(C + r tr C)w, by NNLS.

    The minimum of ‖Aw‖² + (1 − Σw)² over w ≥ 0 is proportional to it.
    """
    weights = np.zeros((N, N))
    for i, around in enumerate(near):
        offsets = POINTS[around] - POINTS[i]
        gram = offsets @ offsets.T
        gram += reg * np.trace(gram) * np.eye(len(around))
        root = np.linalg.cholesky(gram / np.trace(gram)).T
        solution = nnls(
            np.vstack((root, np.ones(len(around)))), np.append(np.zeros(len(around)), 1)
        )
        weights[i, around] = solution[0] / solution[0].sum()
    return weights


def test_lle_with_weights_of_one_sign_is_their_eigenproblem():
    """Remark 10.1: the constrained optimum, and not negative weights clipped at zero."""
    options, near = KINDS["k"]
    model = unbend.LLE(2, nonnegative=True, **options).fit(POINTS)
    errors = np.eye(N) - weights_of_one_sign(near, 1e-3)
    expected = embeddings.bottom(errors.T @ errors, 2)
    assert embeddings.subspace_angle(model.embedding_, expected) < 1e-5
    free = unbend.LLE(2, **options).fit(POINTS)
    assert embeddings.subspace_angle(free.embedding_, expected) > 0.01


@pytest.mark.parametrize("t", [0.3, 0.8])
@pytest.mark.parametrize("labelled", ["all", "some"])
def test_supervised_weights_are_mixed_of_all_neighbours_and_those_of_the_class(t, labelled):
    """W = (1 − t) Wᵉ + t Wᵒ; a row without class, or without neighbours of it, keeps Wᵉ."""
    rng = np.random.default_rng(0)
    classes = (POINTS[:, 2] > np.median(POINTS[:, 2])).astype(int)
    classes[rng.random(N) < 0.2] += 2
    if labelled == "some":
        classes[rng.random(N) < 0.5] = -1
    options, near = KINDS["k"]
    own = []
    for i, around in enumerate(near):
        same = around[(classes[around] == classes[i]) & (classes[i] >= 0)]
        own.append(same if len(same) else around)
    assert any(len(some) < 9 for some in own)
    weights = (1 - t) * kernels.lle_weights(POINTS, near) + t * kernels.lle_weights(POINTS, own)
    errors = np.eye(N) - weights
    model = unbend.SupervisedLLE(2, t=t, **options).fit(POINTS, classes)
    values = np.linalg.eigvalsh(errors.T @ errors)
    np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-5, atol=1e-13)
    expected = embeddings.bottom(errors.T @ errors, 2)
    assert embeddings.subspace_angle(model.embedding_, expected) < 1e-5
