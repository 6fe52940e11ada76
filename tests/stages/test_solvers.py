"""What every solver must do beside finding the span: mass, signs, refusals, reasons, bits."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from tests.loops import each
from tests.stages.drawn import EPS, LAW
from unbend.eigen import SOLVERS, Auto, Dense, Lanczos, ShiftInvert, auto, fix_signs, solve
from unbend.eigen.problem import SpectralProblem
from unbend.graphs import adjacency, degrees, laplacian, symmetrize, weigh
from unbend.neighbors import PointSpace
from unbend.report import recording, stage

every_solver = each("solver", SOLVERS)


def products_with(matrix):
    return LinearOperator(matrix.shape, matvec=lambda v: matrix @ v, matmat=lambda v: matrix @ v)


def graph_weights(points, k=8):
    return symmetrize(weigh(PointSpace(points).nearest(k).graph(), adjacency))


def strip_weights(n, seed=0):
    """Put unit weights on a long strip, connected since its points advance evenly."""
    across = np.random.default_rng(seed).uniform(size=n)
    return graph_weights(np.column_stack((0.1 * np.arange(n), across)))


@every_solver
@each("form", [csr_array, csr_array.toarray, products_with])
@each("d", [1, 4])
def test_mass_problems_are_solved_in_the_mass_norm(solver, form, d):
    if form is products_with and solver == "shift_invert":
        pytest.skip("ShiftInvert needs the entries")
    n = 150
    weights = strip_weights(n)
    matrix, mass = laplacian(weights), degrees(weights) * np.linspace(1, 3, n)
    problem = SpectralProblem(form(matrix), "bottom", np.ones((n, 1)), mass)
    found = solve(problem, d, solver)
    exact = eigh(matrix.toarray(), np.diag(mass), eigvals_only=True)[1 : d + 1]
    np.testing.assert_allclose(found.values, exact, 0, 8 * n * EPS + found.residuals.max())
    slack = 8 * n * EPS
    f = found.vectors
    np.testing.assert_allclose(f.T @ (mass[:, None] * f), np.eye(d), 0, slack)
    assert np.abs(mass @ f).max() <= slack * np.sqrt(mass.sum())
    # Lanczos promises 1e-9 of the size of the matrix, ShiftInvert an angle of 1e-7.
    errors = np.linalg.norm(matrix @ f - mass[:, None] * f * found.values, axis=0)
    assert errors.max() <= 1e-7 * degrees(weights).max()
    standard = (matrix @ f - mass[:, None] * f * found.values) / np.sqrt(mass)[:, None]
    np.testing.assert_allclose(
        found.residuals * found.norm, np.linalg.norm(standard, axis=0), 1e-6, slack
    )


@pytest.mark.parametrize("solver", ["dense", "lanczos", "auto"])
def test_the_top_of_a_mass_problem_is_that_of_lapack(solver):
    n = 150
    weights = strip_weights(n)
    mass = degrees(weights)
    problem = SpectralProblem(weights, "top", np.ones((n, 1)), mass)
    found = solve(problem, 3, solver)
    exact = eigh(weights.toarray(), np.diag(mass), eigvals_only=True)[::-1][1:4]
    np.testing.assert_allclose(found.values, exact, 0, 8 * n * EPS + found.residuals.max())


@LAW
@given(
    npst.arrays(
        float,
        npst.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-10, 10, width=16),
    )
)
def test_the_largest_entry_of_every_vector_is_positive_and_only_signs_change(vectors):
    turned = fix_signs(vectors)
    assert (turned[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])] >= 0).all()
    for before, after in zip(vectors.T, turned.T, strict=True):
        assert (after == before).all() or (after == -before).all()
    assert (fix_signs(-vectors) == turned).all()


@pytest.mark.parametrize("rounding", [-1e-12, 0.0, 1e-12])
def test_rounding_does_not_decide_the_sign_of_equal_and_opposite_entries(rounding):
    vector = np.array([[0.1, 0.7, -0.7 * (1 + rounding), 0.2]]).T
    np.testing.assert_array_equal(fix_signs(vector), vector)
    np.testing.assert_array_equal(fix_signs(-vector), vector)


@every_solver
def test_solve_fixes_the_signs(solver):
    matrix = laplacian(strip_weights(150))
    vectors = solve(SpectralProblem(matrix, "bottom", np.ones((150, 1))), 4, solver).vectors
    assert (vectors[np.argmax(np.abs(vectors), axis=0), np.arange(4)] > 0).all()


@every_solver
def test_the_same_seed_gives_the_same_bits(solver):
    problem = SpectralProblem(laplacian(strip_weights(700)), "bottom", np.ones((700, 1)))
    one, same = (solve(problem, 3, solver, np.random.default_rng(7)) for _ in range(2))
    assert one.vectors.tobytes() == same.vectors.tobytes()
    assert one.values.tobytes() == same.values.tobytes()
    default, again = (solve(problem, 3, solver) for _ in range(2))
    assert default.vectors.tobytes() == again.vectors.tobytes()


def test_shift_invert_refuses_the_top_and_names_solvers_that_can():
    with pytest.raises(ValueError, match=r"bottom.*needs the top.*'lanczos' or 'dense'"):
        solve(SpectralProblem(np.eye(100), "top"), 2, ShiftInvert())


def test_shift_invert_refuses_products_and_names_solvers_that_can():
    problem = SpectralProblem(products_with(laplacian(strip_weights(150))), "bottom")
    with pytest.raises((TypeError, ValueError), match=r"lanczos|dense"):
        solve(problem, 2, ShiftInvert())


@every_solver
@pytest.mark.parametrize("trivial", [0, 2])
def test_a_matrix_of_zeros_has_zero_eigenvalues_and_no_trivial_ones(solver, trivial):
    n = 100
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(n, 2))).Q[:, :trivial]
    found = solve(SpectralProblem(csr_array((n, n)), "bottom", basis), 2, solver)
    assert (np.abs(found.values) <= n * EPS).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), 0, 8 * n * EPS)
    np.testing.assert_allclose(basis.T @ found.vectors, 0, 0, 8 * n * EPS)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_lapack_gives_as_many_pairs_as_were_asked_for(d):
    # Its driver for parts of a spectrum returns fewer, or none, where eigenvalues are equal.
    for n in range(d + 2, 130):
        found = solve(SpectralProblem(np.eye(n) - 1.0 / n, "top"), d, "dense")
        np.testing.assert_allclose(found.values, np.ones(d), 0, 8 * n * EPS)
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(d), 0, 8 * n * EPS)


@each("solver", ["dense", "lanczos", "auto"])
@each("form", [np.asarray, products_with])
@each("end", ["top", "bottom"])
def test_an_end_that_vanishes_converges_relative_to_the_size_of_the_matrix(
    solver, form, end, monkeypatch
):
    monkeypatch.setattr(auto, "DENSE_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_FEW_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_TOP_ROWS", 50)
    rows = np.random.default_rng(0).normal(size=(200, 3))
    gram = rows @ rows.T * (1 if end == "bottom" else -1)
    found = solve(SpectralProblem(form(gram), end), 2, solver)
    size = np.linalg.norm(gram, 2)
    assert found.converged
    assert found.norm >= size / 200  # what residuals are relative to
    assert found.residuals.max() <= Lanczos().tol
    np.testing.assert_allclose(found.values, 0.0, 0, Lanczos().tol * size)


def chosen(problem, d=2):
    solver, reason = Auto().choose(problem.standard(), d)
    return type(solver), reason


def laplacian_problem(weights):
    n = weights.shape[0]
    return SpectralProblem(laplacian(weights), "bottom", np.ones((n, 1)), degrees(weights))


def test_auto_chooses_by_size_end_and_shape_and_gives_its_reason():
    high = graph_weights(np.random.default_rng(0).uniform(size=(6000, 20)), k=12)
    kind, reason = chosen(laplacian_problem(high))
    assert kind is Lanczos
    assert "a factorisation would take over" in reason
    kind, reason = chosen(laplacian_problem(strip_weights(1000)))
    assert kind is ShiftInvert
    assert "a factor of" in reason
    kind, reason = chosen(laplacian_problem(strip_weights(200)))
    assert kind is Dense
    assert "200 rows" in reason
    dense = np.eye(1000)
    assert chosen(SpectralProblem(dense, "top"))[0] is Lanczos
    assert chosen(SpectralProblem(dense, "bottom"))[0] is Dense
    assert chosen(SpectralProblem(dense, "top"), d=200)[0] is Dense


def test_auto_writes_its_choice_and_reason_into_the_report():
    with recording("test") as report, stage("spectrum"):
        solve(laplacian_problem(strip_weights(1000)), 2, "auto")
    facts = json.loads(report.to_json())["stages"][0]["facts"]
    assert facts["solver"].startswith("ShiftInvert")
    assert "a factor of" in facts["because"]
    assert facts["converged"] is True
    assert len(facts["residuals"]) == facts["wanted"] == 2


@each("form", ["csr", "csc", "coo", "dia", "lil"])
@every_solver
def test_a_sparse_matrix_may_come_in_any_format(solver, form, monkeypatch):
    monkeypatch.setattr(auto, "DENSE_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_FEW_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_TOP_ROWS", 50)
    matrix = laplacian(strip_weights(150))
    problem = SpectralProblem(matrix.asformat(form), "bottom", np.ones((150, 1)))
    exact = np.linalg.eigvalsh(matrix.toarray())[1:3]
    found = solve(problem, 2, solver)
    np.testing.assert_allclose(found.values, exact, 0, 1200 * EPS * 20 + found.residuals.max())


@pytest.mark.parametrize("alone", [0, 70, 149])
def test_auto_copes_with_rows_that_hold_nothing(alone, monkeypatch):
    monkeypatch.setattr(auto, "DENSE_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_FEW_ROWS", 50)
    monkeypatch.setattr(auto, "DENSE_TOP_ROWS", 50)
    weights = strip_weights(150).toarray()
    weights[alone] = weights[:, alone] = 0.0
    matrix = laplacian(csr_array(weights))
    assert np.diff(matrix.indptr)[alone] == 0
    found = solve(SpectralProblem(matrix, "bottom", np.ones((150, 1))), 2)
    exact = np.linalg.eigvalsh(matrix.toarray())[1:3]
    np.testing.assert_allclose(found.values, exact, 0, 1200 * EPS * 20 + found.residuals.max())
