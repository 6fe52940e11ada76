"""Null spaces and multiple eigenvalues: no eigenvector missing, none twice, no error silent."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import block_diag, csr_array

from tests.loops import each
from unbend.eigen import Lanczos, ShiftInvert, inverse_lanczos, krylov, shift_invert, solve
from unbend.eigen.problem import SpectralProblem
from unbend.eigen.shift_invert import NULL_RESIDUAL
from unbend.eigen.solve import NotConverged


def graph_laplacian(n, rng):
    """Draw the Laplacian of a random weighted graph with a tenth of all edges."""
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.1), 1)
    weights += weights.T
    return np.diag(weights.sum(axis=1)) - weights


def with_null_space(n, nullity, seed):
    laplacian = graph_laplacian(n, np.random.default_rng(seed))
    matrix = csr_array(block_diag([csr_array(laplacian), csr_array((nullity, nullity))]))
    return SpectralProblem(matrix, "bottom")


def drawn(seed):
    """Draw a problem and a count: rows without entries or several components, perhaps with mass."""
    rng = np.random.default_rng((7, seed))
    n, nullity, count = rng.integers([60, 1, 2], [131, 8, 11])
    if seed % 2:
        problem = with_null_space(n, nullity, seed)
    else:
        sizes = np.diff(np.linspace(0, n, nullity + 1).astype(int))
        parts = [csr_array(graph_laplacian(size, rng)) for size in sizes]
        problem = SpectralProblem(csr_array(block_diag(parts)), "bottom")
    if seed % 3 == 0:
        mass = rng.uniform(0.5, 3.0, problem.n)
        problem = SpectralProblem(problem.matrix, "bottom", mass=mass)
    return problem, int(count)


def angle_left(exact, count, last):
    """Angle that the solvers promise, `last` counting the values up to the last eigenspace.

    ShiftInvert stops when the wanted vectors turn by its tolerance in one pass; a pass shrinks
    their errors by the square of the ratio of what is wanted to the first value beyond the block.
    In a null space wider than the block it stops at residuals of 1e-10 (Davis and Kahan, 1970).
    """
    width = count + ShiftInvert().guard
    beyond = exact[min(max(width, last), len(exact) - 1)]
    turning = 2 * ShiftInvert().tol / (1 - (exact[count - 1] / beyond) ** 2)
    wide = NULL_RESIDUAL * np.sqrt(count) * exact[-1] / beyond
    return max(turning, wide) if last > width else turning


def assert_complete(problem, count, solver):
    """Compare with LAPACK: values, M-orthonormal vectors, the spans of the eigenspaces."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = solve(problem, count, solver)
    assert found.converged
    mass = np.ones(problem.n) if problem.mass is None else problem.mass
    exact, vectors = eigh(problem.matrix.toarray(), np.diag(mass))
    norm = np.abs(exact).max()
    np.testing.assert_allclose(found.values, exact[:count], 0, 1e-9 * norm)
    root = np.sqrt(mass)[:, None]
    spanned, vectors = root * found.vectors, root * vectors
    np.testing.assert_allclose(spanned.T @ spanned, np.eye(count), 0, 1e-10)
    # Of the last eigenspace any vectors will do; those before must be there as a whole.
    whole = exact < exact[count - 1] - 1e-7 * norm
    last = int(np.sum(exact <= exact[count - 1] + 1e-7 * norm))
    allowed, angle = vectors[:, :last], angle_left(exact, count, last)
    beside = spanned - allowed @ (allowed.T @ spanned)
    lacking = vectors[:, whole] - spanned @ (spanned.T @ vectors[:, whole])
    assert np.linalg.norm(beside, 2) <= angle
    assert not whole.any() or np.linalg.norm(lacking, 2) <= angle


@each(
    ("n", "nullity", "seed", "count"),
    [(80, 3, 200, 5), (118, 6, 58, 9), (102, 5, 162, 8), (113, 6, 173, 9)],
)
@each("solver", ["shift_invert", "lanczos", "dense"])
def test_null_vectors_do_not_hide_others(n, nullity, seed, count, solver):
    assert_complete(with_null_space(n, nullity, seed), count, solver)


@each("solver", ["shift_invert", "lanczos"])
@each("part", range(8), keep=3)
def test_random_spectra_are_those_of_lapack(part, solver):
    for seed in range(25 * part, 25 * (part + 1)):
        assert_complete(*drawn(seed), solver)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["shift_invert", "lanczos"])
def test_two_thousand_random_spectra_are_those_of_lapack(solver):
    for seed in range(200, 2125):
        assert_complete(*drawn(seed), solver)


@pytest.mark.parametrize(("n", "seed"), [(63, 538), (122, 1894)])
def test_a_null_space_wider_than_the_block_converges(n, seed):
    assert_complete(with_null_space(n, 7, seed), 2, "shift_invert")


def miss_at_first(module, lost, monkeypatch):
    """Make the first iteration start beside a vector, to which it then never comes."""
    iterate, calls = krylov.iterate, []

    def misses(problem, start, count, iteration):
        if not calls:
            problem = replace(problem, trivial=np.hstack([problem.trivial_basis, lost]))
        calls.append(count)
        return iterate(problem, start, count, iteration)

    monkeypatch.setattr(module, "iterate", misses)
    monkeypatch.setattr(krylov, "iterate", misses)
    return calls


@pytest.mark.parametrize("solver", [ShiftInvert(), Lanczos()], ids=["ShiftInvert", "Lanczos"])
@pytest.mark.parametrize("missing", [0, 2, 4])
def test_a_vector_that_an_iteration_misses_is_found(solver, missing, monkeypatch):
    problem, count = with_null_space(120, 1, 3), 5
    vectors = np.linalg.eigh(problem.matrix.toarray())[1]
    monkeypatch.setattr(shift_invert, "inverse_lanczos", lambda *_: None)
    calls = miss_at_first(krylov, vectors[:, [missing]], monkeypatch)
    assert_complete(problem, count, solver)
    assert calls[:3] == [count, 1, count]  # iteration, search, iteration with what it found


@pytest.mark.parametrize("missing", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_a_vector_that_the_inverse_misses_is_found(missing, seed, monkeypatch):
    matrix, count = graph_laplacian(150, np.random.default_rng((8, seed))), 5
    constant = np.full((150, 1), 150**-0.5)
    problem = SpectralProblem(csr_array(matrix), "bottom", trivial=constant)
    lost = np.linalg.eigh(matrix)[1][:, [missing]]
    calls = miss_at_first(inverse_lanczos, lost, monkeypatch)
    found = solve(problem, count, "shift_invert")
    assert found.converged
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(matrix)[1 : count + 1], 1e-10)
    assert calls[:3] == [count, 1, count]


@each("seed", range(40), keep=12)
def test_the_inverse_finds_what_lapack_finds(seed):
    rng = np.random.default_rng((9, seed))
    n, count = int(rng.integers(100, 400)), int(rng.integers(1, 6))
    # A ring, whose eigenvalues are double, or a random graph, whose eigenvalues are crowded.
    ring = np.roll(np.eye(n), 1, axis=1)
    matrix = graph_laplacian(n, rng) if seed % 2 else 2 * np.eye(n) - ring - ring.T
    mass = rng.uniform(0.1, 3.0, n) if seed % 3 else np.ones(n)
    problem = SpectralProblem(csr_array(matrix), "bottom", np.ones((n, 1)), mass)
    exact, vectors = eigh(matrix, np.diag(mass))
    found = solve(problem, count, "shift_invert")
    assert found.converged
    np.testing.assert_allclose(found.values, exact[1 : count + 1], 1e-9)
    last = int(np.sum(exact <= exact[count] * (1 + 1e-6)))
    root = np.sqrt(mass)[:, None]
    spanned, allowed = root * found.vectors, (root * vectors)[:, 1:last]
    np.testing.assert_allclose(spanned.T @ spanned, np.eye(count), 0, 1e-10)
    gap = (exact[last] - exact[count]) / exact[last]
    beside = np.linalg.norm(spanned - allowed @ (allowed.T @ spanned), 2)
    assert beside <= ShiftInvert().tol * max(1.0, 1e-2 / gap)


def test_a_search_that_always_finds_something_is_reported(monkeypatch):
    for module in (krylov, shift_invert):
        monkeypatch.setattr(module, "find_missed", lambda *_: np.eye(123, 2))
    with pytest.warns(NotConverged, match="did not converge"):
        found = solve(with_null_space(120, 3, 0), 3, "shift_invert")
    assert not found.converged


def test_vectors_that_are_not_orthonormal_are_reported():
    class Oblique:
        def eigenpairs(self, problem, count, rng, threads=1):
            vectors = np.eye(problem.n)[:, [0, 0, 1]]
            return np.zeros(3), vectors, True

    problem = SpectralProblem(csr_array((10, 10)), "bottom")
    with pytest.warns(NotConverged, match=r"orthogonality error 1\.0e\+00.*eigen_solver='dense'"):
        found = solve(problem, 3, Oblique())
    assert not found.converged
