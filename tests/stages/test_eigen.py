"""Eigensolvers: all of them, at both ends, find the same subspaces as LAPACK."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from tests.loops import each
from tests.oracles.embeddings import perpendicular, subspace_angle
from tests.stages.drawn import EPS, LAW, rngs
from unbend.eigen import Auto, Dense, Lanczos, ShiftInvert, auto, krylov, solve
from unbend.eigen.problem import SpectralProblem
from unbend.eigen.solve import NotConverged
from unbend.graphs import laplacian, undirected, weigh
from unbend.local import affine_bases, align
from unbend.neighbors import PointSpace

SOLVERS = [Dense(), Lanczos(), ShiftInvert(), Auto()]
every_solver = each("solver", SOLVERS)


def products_with(matrix):
    """Give nothing but products."""
    return LinearOperator(matrix.shape, matvec=lambda v: matrix @ v, matmat=lambda v: matrix @ v)


FORMS = {"dense": lambda a: csr_array(a).toarray(), "sparse": csr_array, "products": products_with}
every_form = each("form", FORMS)


@pytest.fixture(autouse=True)
def _auto_avoids_lapack(monkeypatch):
    monkeypatch.setattr(auto, "DENSE_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_FEW_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_TOP_ROWS", 50)


def allowed(solver, form, end):
    return not (isinstance(solver, ShiftInvert) and (end == "top" or form == "products"))


def accuracy(solver, problem, exact, d):
    """Angle that a solver promises for the first d vectors, `exact` all values from the end.

    Rounding and residuals turn vectors by at most residual / gap (Davis and Kahan, 1970). For
    ShiftInvert the error left is what one more pass would turn: it shrinks by the square of the
    ratio of what is wanted to the first value beyond the block.
    """
    size, gap = np.abs(exact).max(), abs(exact[d] - exact[d - 1])
    rounding = 8 * problem.n * EPS * size / gap
    if isinstance(solver, Auto):
        solver = solver.choose(problem.standard(), d)[0]
    if isinstance(solver, Lanczos):
        norm = max(size, problem.standard().norm)
        return rounding + 2 * np.sqrt(d) * solver.tol * norm / gap
    if isinstance(solver, ShiftInvert):
        ratio = (exact[d - 1] / exact[d + solver.guard]) ** 2
        return rounding + 2 * solver.tol * ratio / (1 - ratio)
    return rounding


def strip(rng, n=150):
    """Draw the weighted Laplacian of a long strip: low-dimensional data."""
    points = rng.uniform(size=(n, 2)) * [10, 1]
    points[:, 0] = np.sort(points[:, 0])
    points[:, 0] += 0.1 * np.arange(n)  # no gap wider than the neighbourhoods
    lengths = undirected(PointSpace(points).nearest(8)).lengths
    return laplacian(weigh(lengths, lambda d: np.exp(-np.square(d))))


def assert_solution(solver, problem, truth, exact, d):
    """Right values, right span, unit vectors without trivial part, honest residuals."""
    found = solve(problem, d, solver, np.random.default_rng(0))
    assert found.converged
    angle = accuracy(solver, problem, exact, d)
    assert subspace_angle(found.vectors, truth[:, :d]) <= angle
    size = np.abs(exact).max()
    np.testing.assert_allclose(
        found.values, exact[:d], 0, size * (angle**2 + 8 * problem.n * EPS) + found.residuals.max()
    )
    slack = 8 * problem.n * EPS
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(d), 0, slack)
    trivial = problem.trivial_basis
    if trivial.size:
        assert np.abs(trivial.T @ found.vectors).max() <= slack * np.linalg.norm(trivial)
    errors = np.linalg.norm(problem.matrix @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals * found.norm, errors, 1e-6, slack * size)
    return found


@every_solver
@every_form
@each("d", [1, 2, 5])
@each("seed", range(2), keep=1)
def test_the_bottom_of_a_laplacian_is_that_of_lapack(solver, form, d, seed):
    if not allowed(solver, form, "bottom"):
        pytest.skip("ShiftInvert needs the entries")
    matrix = strip(np.random.default_rng(seed))
    basis = perpendicular(np.ones(150))
    exact, vectors = np.linalg.eigh(basis.T @ matrix @ basis)
    problem = SpectralProblem(FORMS[form](matrix), "bottom", np.ones((150, 1)))
    assert_solution(solver, problem, basis @ vectors, exact, d)


@each("solver", [Dense(), Lanczos(), Auto()])
@every_form
@each("end", ["top", "bottom"])
@settings(max_examples=LAW.max_examples // 3)
@given(rngs, st.integers(1, 4))
def test_ends_of_an_indefinite_matrix_go_by_value_and_not_by_magnitude(solver, form, end, rng, d):
    n = 90
    q = np.linalg.qr(rng.normal(size=(n, n))).Q
    exact = np.concatenate((np.arange(2.0, 9.0), rng.uniform(-0.5, 0.5, n - 21), -np.arange(1, 15)))
    exact = np.sort(exact if rng.random() < 0.5 else -exact)[:: -1 if end == "top" else 1]
    matrix = (q * exact) @ q.T
    problem = SpectralProblem(FORMS[form]((matrix + matrix.T) / 2), end)
    found = assert_solution(solver, problem, q, exact, d)
    # A Ritz value never lies beyond the eigenvalue that it stands for.
    sign, slack = (1 if end == "top" else -1), 8 * n * EPS * 14
    assert sign * found.next_value <= sign * exact[d] + slack


@pytest.mark.parametrize(
    ("solver", "end"),
    [
        (Dense(), "top"),
        (Dense(), "bottom"),
        (Lanczos(depth=4), "top"),
        (Lanczos(depth=4), "bottom"),
        (ShiftInvert(), "bottom"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@LAW
@given(rngs, st.integers(1, 6), st.integers(0, 2), st.integers(1, 60))
# LAPACK's divide and conquer returns oblique vectors of a projected matrix.
@example(np.random.default_rng(737899), 2, 0, 36)
# A random block hides the residuals of the Ritz vectors kept.
@example(np.random.default_rng(106801), 5, 0, 26)
def test_values_of_any_multiplicity_are_found(solver, end, rng, d, trivial, most):
    n = 100
    q = np.linalg.qr(rng.normal(size=(n, n))).Q
    values = np.repeat(np.arange(float(n)), rng.integers(1, most + 1, n))[:n]
    order = rng.permutation(n)
    matrix = (q * values[order]) @ q.T
    problem = SpectralProblem((matrix + matrix.T) / 2, end, q[:, :trivial])
    found = solve(problem, d, solver, rng)
    exact = np.sort(values[order][trivial:])[:: -1 if end == "top" else 1]
    slack = 8 * n * EPS * max(1.0, found.norm)
    residual = found.residuals.max() * found.norm
    np.testing.assert_allclose(found.values, exact[:d], 0, slack + residual)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(d), 0, slack)
    np.testing.assert_allclose(q[:, :trivial].T @ found.vectors, 0, 0, slack)
    # ShiftInvert waits for its vectors to settle, which those of a value repeated beyond its
    # block never do: it then says so, with a residual that is small all the same.
    settles = not isinstance(solver, ShiftInvert) or exact[d + solver.guard] > exact[d - 1]
    assert found.converged or (not settles and residual <= slack)


def cycle(n):
    i = np.arange(n)
    ends = (np.concatenate((i, i)), np.concatenate(((i + 1) % n, (i - 1) % n)))
    return laplacian(csr_array((np.ones(2 * n), ends), shape=(n, n)))


def waves(n, count):
    """Eigenpairs of the cycle but the constant: cosine and sine in turn."""
    frequency = np.arange(2, count + 2) // 2
    angle = 2 * np.pi * np.outer(np.arange(n), frequency) / n
    vectors = np.where(np.arange(count) % 2, np.sin(angle), np.cos(angle)) * np.sqrt(2 / n)
    return 4 * np.sin(np.pi * frequency / n) ** 2, vectors


CYCLES = [(400, s) for s in SOLVERS] + [(3000, ShiftInvert()), (3000, Auto())]


@each(("n", "solver"), CYCLES)
@each("d", range(1, 7))
def test_both_vectors_of_every_double_eigenvalue_of_a_cycle_are_found(n, solver, d):
    exact, vectors = waves(n, 20)
    problem = SpectralProblem(cycle(n), "bottom", np.ones((n, 1)))
    found = solve(problem, d, solver)
    assert found.converged
    # `accuracy` takes the size from the largest value: append it.
    known = np.append(exact, 4.0)
    for pairs in range(2, d + 1, 2):
        angle = accuracy(solver, problem, known, pairs)
        assert subspace_angle(found.vectors[:, :pairs], vectors[:, :pairs]) <= angle
    if d % 2:  # half of a pair: some unit vector of its plane
        plane, last = vectors[:, d - 1 : d + 1], found.vectors[:, -1]
        angle = 2 * accuracy(solver, problem, known, d + 1)
        assert np.linalg.norm(last - plane @ (plane.T @ last)) <= angle
    slack = 4 * 8 * n * EPS + found.residuals.max()
    np.testing.assert_allclose(found.values, exact[:d], 0, slack)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_lanczos_finds_both_vectors_of_double_eigenvalues_at_the_top(d):
    n = 200
    exact, vectors = waves(n, 20)
    problem = SpectralProblem(csr_array(4 * np.eye(n) - cycle(n)), "top", np.ones((n, 1)))
    found = solve(problem, d, Lanczos())
    pairs = d - d % 2
    angle = accuracy(Lanczos(), problem, np.append(4 - exact, 0.0), pairs)
    assert subspace_angle(found.vectors[:, :pairs], vectors[:, :pairs]) <= angle


def test_a_solver_that_does_not_converge_warns_and_reports_its_residuals():
    n = 3000
    problem = SpectralProblem(cycle(n), "bottom", np.ones((n, 1)))
    with pytest.warns(NotConverged, match="did not converge"):
        found = solve(problem, 2, Lanczos(passes=1, tol=1e-15))
    assert not found.converged
    errors = np.linalg.norm(problem.matrix @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals * found.norm, errors, 1e-9)
    assert (found.residuals > 1e-15).all()


@every_solver
def test_trivial_vectors_are_left_out_of_a_null_space_that_holds_more(solver):
    side = 20
    chart = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2) / side
    # Blocks of three by three points, shifted inwards along the border.
    corner = np.clip(np.arange(side) - 1, 0, side - 3)
    offsets = (np.arange(3)[:, None] * side + np.arange(3)).ravel()
    blocks = (corner[:, None] * side + corner).reshape(-1, 1) + offsets
    bases = affine_bases(PointSpace(chart).coordinates(blocks), 2)
    offsets = np.arange(len(blocks) + 1) * blocks.shape[1]
    matrix = align(side**2, offsets, blocks.ravel(), bases.reshape(-1, 3), complement=True)
    basis = perpendicular(np.ones(side**2))
    exact, vectors = np.linalg.eigh(basis.T @ matrix.toarray() @ basis)
    problem = SpectralProblem(matrix, "bottom", np.ones((side**2, 1)), nullity=2)
    found = assert_solution(solver, problem, basis @ vectors, np.maximum(exact, 0.0), 2)
    centred = chart - chart.mean(axis=0)
    angle = accuracy(solver, problem, np.maximum(exact, 0.0), 2)
    assert subspace_angle(found.vectors, centred) <= angle


@pytest.mark.parametrize("end", ["top", "bottom"])
def test_auto_passes_threads_on_to_lanczos(monkeypatch, end):
    """Results do not depend on threads, so what reaches the products is what can be seen."""
    n = 200
    path = csr_array(np.diag(np.ones(n - 1), 1) + np.diag(np.arange(1.0, n + 1)) ** 2)
    problem = SpectralProblem(csr_array(path + path.T), end)
    monkeypatch.setattr(auto, "worth_factorising", lambda *_: 0.0)
    assert isinstance(Auto().choose(problem, 2)[0], Lanczos)
    seen, products = [], krylov.products
    monkeypatch.setattr(
        krylov,
        "products",
        lambda matrix, threads: seen.append(threads) or products(matrix, threads),
    )
    solve(problem, 2, "auto", threads=2)
    assert set(seen) == {2}


@every_solver
def test_solvers_name_what_they_return(solver):
    problem = SpectralProblem(csr_array(np.diag(np.arange(1.0, 101.0))), "bottom")
    found = solver.eigenpairs(problem.standard(), 2, np.random.default_rng(0))
    assert found.converged
    np.testing.assert_allclose(found.values[:2], [1, 2])
    assert found.vectors.shape[0] == problem.n
