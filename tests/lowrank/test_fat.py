"""Anisotropic transformations: exact on low rank, within their bound elsewhere, on every kernel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from tests.oracles.embeddings import subspace_angle
from tests.stages.drawn import LAW, rngs
from unbend.eigen import Fat, solve
from unbend.eigen.problem import SpectralProblem
from unbend.graphs import adjacency, degrees, laplacian, symmetrize, weigh
from unbend.lowrank import SKETCHES, fat, fat_rows
from unbend.neighbors import PointSpace
from unbend.report import recording, stage

MODES = ["gat", "irat", "prat"]
pytestmark = pytest.mark.filterwarnings("ignore:the coordinates may be")
every_mode = pytest.mark.parametrize("mode", MODES)


def products_with(matrix):
    return LinearOperator(matrix.shape, matvec=lambda v: matrix @ v, matmat=lambda v: matrix @ v)


def rotated(values, rng):
    basis = np.linalg.qr(rng.normal(size=(len(values), len(values)))).Q
    return (basis * values) @ basis.T, basis


def noted(problem, count, solver):
    """Solve, and return the bound that the report has too."""
    with recording("a test") as report, stage("spectrum"):
        found = solve(problem, count, solver)
    return found, report.stage("spectrum").facts


@every_mode
@pytest.mark.parametrize("form", [np.asarray, csr_array, products_with])
def test_low_rank_is_exact_whatever_the_signs(mode, form):
    rng = np.random.default_rng(0)
    values = np.concatenate(([6.0, -5.0, 4.0, 3.0, -2.0], np.zeros(295)))
    kernel, basis = rotated(values, rng)
    found = solve(SpectralProblem(form(kernel), "top"), 3, Fat(mode, 10))
    np.testing.assert_allclose(found.values, [6, 4, 3], 1e-10)
    assert subspace_angle(basis[:, [0, 2, 3]], found.vectors) < 1e-7


@pytest.mark.parametrize("sketch", SKETCHES)
def test_every_sketch_serves(sketch):
    rng = np.random.default_rng(0)
    kernel, basis = rotated(0.5 ** np.arange(200.0), rng)
    found, facts = noted(SpectralProblem(kernel, "top"), 2, Fat("prat", sketch=sketch))
    assert subspace_angle(basis[:, :2], found.vectors) <= facts["deviation_bound"] < 1e-6
    assert facts["wrapping"] == 17


@every_mode
@LAW
@given(rngs, st.integers(1, 4), st.floats(0.3, 0.9))
def test_the_deviation_stays_below_its_bound(mode, rng, count, decay):
    values = decay ** np.arange(120.0) * rng.choice((1.0, 1.0, -1.0), 120)
    values[: count + 1] = np.abs(values[: count + 1])
    kernel, _ = rotated(values, rng)
    exact = solve(SpectralProblem(kernel, "top"), count, "dense")
    found, facts = noted(SpectralProblem(kernel, "top"), count, Fat(mode, count + 8))
    angle = subspace_angle(exact.vectors, found.vectors)
    assert angle <= facts["deviation_bound"] + 1e-7


def test_equal_eigenvalues_of_either_sign_are_not_mixed():
    """Singular values of K cannot tell λ from −λ; v'Kv can."""
    rng = np.random.default_rng(0)
    kernel, basis = rotated(np.concatenate(([3.0, -3.0, 2.0, -2.0], np.zeros(96))), rng)
    found = solve(SpectralProblem(kernel, "top"), 2, Fat("prat"))
    np.testing.assert_allclose(found.values, [3, 2], 1e-10)
    assert subspace_angle(basis[:, [0, 2]], found.vectors) < 1e-7


def strip(n, seed=0):
    across = np.random.default_rng(seed).uniform(size=n)
    points = np.column_stack((0.1 * np.arange(n), across))
    return symmetrize(weigh(PointSpace(points).nearest(8).graph(), adjacency))


@every_mode
@pytest.mark.parametrize("mass", [False, True])
def test_duality_the_bottom_of_a_laplacian_is_the_top_of_its_inverse(mode, mass):
    weights = strip(400)
    weight = degrees(weights) if mass else None
    problem = SpectralProblem(laplacian(weights), "bottom", np.ones((400, 1)), weight)
    exact = solve(problem, 2, "dense")
    found, facts = noted(problem, 2, Fat(mode, 40))
    assert facts["dual"] == "inverse"
    assert (exact.values <= found.values * (1 + 1e-9)).all()  # Ritz values lie on the inner side
    if mode != "gat":  # the largest columns of a strip all come from its ends
        np.testing.assert_allclose(found.values, exact.values, 1e-3)
    root = np.sqrt(weight)[:, None] if mass else 1.0
    angle = subspace_angle(root * exact.vectors, root * found.vectors)
    assert angle <= facts["deviation_bound"] + 1e-7
    assert np.abs((weight if mass else np.ones(400)) @ found.vectors).max() < 1e-8


def test_duality_without_entries_takes_the_complement():
    values = np.concatenate(([0.0, 0.1, 0.2], np.linspace(2.0, 3.0, 197)))
    kernel, basis = rotated(values, np.random.default_rng(0))
    found, facts = noted(SpectralProblem(products_with(kernel), "bottom"), 3, Fat("prat"))
    assert facts["dual"] == "complement"
    np.testing.assert_allclose(found.values, values[:3], 0, 0.1)
    assert 0 < subspace_angle(basis[:, :3], found.vectors) <= facts["deviation_bound"] < 0.3


def test_warns_when_eigenvalues_crowd_at_the_end_of_the_spectrum():
    kernel, _ = rotated(np.linspace(1, 2, 200), np.random.default_rng(0))
    with pytest.warns(UserWarning, match=r"from those of the kernel.*larger m"):
        solve(SpectralProblem(kernel, "top"), 2, Fat("irat"))


@every_mode
def test_a_diffusion_kernel_loses_its_trivial_vector_and_is_divided_by_it(mode):
    weights = strip(300).toarray() + np.eye(300)
    weights = np.linalg.matrix_power(weights, 60)
    weights /= weights.max()
    degree = weights.sum(axis=1)
    kernel = weights / np.sqrt(np.outer(degree, degree))
    values, vectors, bound = fat(kernel, 2, mode, m=40, diffusion=True)
    exact, basis = np.linalg.eigh(kernel)
    np.testing.assert_allclose(values, exact[-2:-4:-1], 1e-6)
    walk = (basis / basis[:, -1:])[:, -2:-4:-1]
    assert subspace_angle(walk, vectors) < 1e-4
    assert bound < 1e-3


@every_mode
@pytest.mark.parametrize("sketch", ["gaussian", "hadamard"])
def test_on_rows_themselves_it_is_principal_components(mode, sketch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3)) * [3.0, 2.0, 1.0] @ rng.normal(size=(3, 60)) + 7.0
    found = fat_rows(rows, 3, mode, m=6, sketch=sketch)
    centred = rows - rows.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found), np.abs(left[:, :3] * singular[:3]), 0, 1e-9)


def test_more_vectors_than_rows_are_all_rows_and_exact():
    kernel, basis = rotated(np.arange(30.0), np.random.default_rng(0))
    found = solve(SpectralProblem(kernel, "top"), 2, Fat("prat", 100))
    assert subspace_angle(basis[:, -2:], found.vectors) < 1e-7


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "best"},
        {"mode": "prat", "m": 0},
        {"mode": "prat", "m": 2.5},
        {"mode": "prat", "sketch": "uniform"},
        {"mode": "prat", "columns_only": True},
    ],
)
def test_invalid_arguments_raise_a_clear_error(given):
    with pytest.raises(ValueError, match=r"Fat .*(use|needs)"):
        Fat(**given)


def test_too_few_vectors_are_refused_and_the_number_named():
    with pytest.raises(ValueError, match="use at least 3"):
        solve(SpectralProblem(np.eye(50), "top"), 3, Fat("prat", 2))
