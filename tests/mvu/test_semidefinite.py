"""General semidefinite programs against closed forms, linear programs and unfolding (book 9.2)."""

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tests.loops import sampled
from tests.mvu.graphs import of_points
from unbend.datasets import swiss_roll
from unbend.mvu import Edges, solve_semidefinite, unfold


def symmetric(rng, n):
    matrix = rng.normal(size=(n, n))
    return matrix + matrix.T


def pair(n, i, j, value=1.0):
    matrix = np.zeros((n, n))
    matrix[i, j] = matrix[j, i] = value
    return matrix


def unit(n, i):
    return np.diag(np.eye(n)[i])


def assert_proved(found, optimum, tolerance=1e-8):
    """Both bounds enclose the optimum, are near it, and the matrix attains the upper one."""
    size = abs(optimum)
    assert found.lower <= optimum + 1e-12 * size
    assert optimum <= found.upper + 1e-12 * size
    assert found.gap <= tolerance
    assert found.residual < 1e-10
    assert np.linalg.eigvalsh(found.matrix)[0] >= -1e-12 * np.abs(found.matrix).max()


@sampled("seed", range(6))
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_least_eigenvalue_is_that_of_lapack(seed, scale):
    rng = np.random.default_rng(seed)
    cost = scale * symmetric(rng, 4 + 3 * seed)
    found = solve_semidefinite(cost, [np.eye(len(cost))], [7.0])
    values, vectors = np.linalg.eigh(cost)
    assert_proved(found, 7 * values[0])
    assert np.sum(cost * found.matrix) == pytest.approx(found.upper, rel=1e-12)
    assert found.multipliers == pytest.approx(values[:1], rel=1e-7)
    expected = 7 * np.outer(vectors[:, 0], vectors[:, 0])
    np.testing.assert_allclose(found.matrix, expected, atol=1e-3)


def lovasz(graph):
    n = len(graph)
    constraints = [np.eye(n), *(pair(n, i, j) for i, j in graph.edges)]
    return solve_semidefinite(-np.ones((n, n)), constraints, [1.0] + [0.0] * len(graph.edges))


@pytest.mark.parametrize("n", [5, 7, 9])
def test_odd_cycles_have_their_lovasz_number(n):
    optimum = n * np.cos(np.pi / n) / (1 + np.cos(np.pi / n))
    assert n != 5 or optimum == pytest.approx(np.sqrt(5))
    assert_proved(lovasz(nx.cycle_graph(n)), -optimum)


def test_lovasz_numbers_of_graph_and_complement_multiply_to_the_number_of_vertices():
    graph = nx.petersen_graph()
    first, second = lovasz(graph).upper, lovasz(nx.complement(graph)).upper
    assert first == pytest.approx(-4, rel=1e-8)
    assert first * second == pytest.approx(10, rel=1e-7)


@pytest.mark.parametrize("n", [5, 9])
def test_odd_cycles_have_their_cut_bound(n):
    """Goemans and Williamson: max ¼⟨L, X⟩ with ones on the diagonal is n cos²(π/2n)."""
    laplacian = nx.laplacian_matrix(nx.cycle_graph(n)).toarray() * 1.0
    found = solve_semidefinite(-laplacian / 4, [unit(n, i) for i in range(n)], np.ones(n))
    assert_proved(found, -n * np.cos(np.pi / (2 * n)) ** 2)


def unfolding(edges, relation):
    """(9.15): −I for the trace, the sum of all entries zero, and one row an edge."""
    n = edges.n
    constraints = [np.ones((n, n))]
    for i, j in zip(edges.first, edges.second, strict=True):
        difference = np.eye(n)[i] - np.eye(n)[j]
        constraints.append(csr_array(np.outer(difference, difference)))
    values = [0.0, *edges.squares]
    return solve_semidefinite(-np.eye(n), constraints, values, ["=="] + [relation] * edges.m)


@pytest.mark.parametrize("relation", ["==", "<="])
def test_a_path_unfolds_to_a_line(relation):
    edges = Edges(6, np.arange(5), np.arange(1, 6), np.ones(5))
    found = unfolding(edges, relation)
    line = np.arange(6) - 2.5
    assert_proved(found, -np.sum(line**2))
    np.testing.assert_allclose(found.matrix, np.outer(line, line), atol=1e-3)
    assert found.multipliers[0] == 0


@sampled("seed", range(3))
def test_unfolding_is_one_of_these_programs(seed):
    edges = of_points(swiss_roll(25, random_state=seed).points, 4)
    proof = unfold(edges).certificate
    found = unfolding(edges, "<=")
    assert found.gap <= 1e-8
    # Both enclose one optimum.
    assert -found.upper <= proof.upper * (1 + 1e-12)
    assert proof.lower <= -found.lower * (1 + 1e-12)
    assert -found.upper == pytest.approx(proof.lower, rel=1e-6)


def linear(seed):
    """Draw a linear program with all relations, which may have no optimum."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 7)), int(rng.integers(1, 7))
    table, cost = rng.normal(size=(m, n)), rng.normal(size=n) + 0.7
    inside = rng.uniform(0.2, 2, n) if seed % 3 else rng.normal(size=n)
    relations = rng.choice(["==", "<=", ">="], m)
    sign = np.select([relations == "<=", relations == ">="], [1, -1], 0)
    return cost, table, table @ inside + sign * rng.uniform(0.1, 1, m), relations


@sampled("seed", range(40), keep=10)
def test_diagonal_programs_are_linear_programs(seed):
    cost, table, values, relations = linear(seed)
    sign = np.where(relations == ">=", -1.0, 1.0)
    equal = relations == "=="
    peer = linprog(
        cost,
        (sign[:, None] * table)[~equal] if np.any(~equal) else None,
        (sign * values)[~equal] if np.any(~equal) else None,
        table[equal] if np.any(equal) else None,
        values[equal] if np.any(equal) else None,
    )
    constraints = [np.diag(row) for row in table]
    words = {2: "No positive semidefinite matrix", 3: "unbounded below"}
    if peer.status in words:
        with pytest.raises(ValueError, match=words[peer.status]):
            solve_semidefinite(np.diag(cost), constraints, values, relations.tolist())
        return
    assert peer.status == 0
    found = solve_semidefinite(np.diag(cost), constraints, values, relations.tolist())
    assert found.upper == pytest.approx(peer.fun, abs=1e-7 * max(1, abs(peer.fun)))
    assert found.lower <= found.upper
    # The multipliers are dual feasible: their signs follow the relations.
    assert np.all(found.multipliers[relations == "<="] <= 0)
    assert np.all(found.multipliers[relations == ">="] >= 0)
    assert np.all(cost - found.multipliers @ table >= 0)
    assert found.multipliers @ values == pytest.approx(found.lower, rel=1e-9, abs=1e-12)


@sampled("seed", range(12), keep=4)
def test_both_bounds_hold_however_early_the_path_ends(seed):
    """The multipliers prove one and the matrix the other, by LAPACK."""
    rng = np.random.default_rng(seed)
    constraints = [np.eye(8), *(symmetric(rng, 8) for _ in range(6))]
    relations = ["==", "==", "<=", "<=", ">=", ">=", "<="]
    inside = np.eye(8) / 8
    room = rng.uniform(0, 0.5, 7) * [0, 0, 1, 1, -1, -1, 1]
    values = [np.sum(one * inside) for one in constraints] + room
    cost = symmetric(rng, 8)
    optimum = solve_semidefinite(cost, constraints, values, relations)
    assert optimum.gap <= 1e-8
    for most in range(1, optimum.steps):
        with pytest.warns(UserWarning, match=r"did not converge in \d+ steps"):
            found = solve_semidefinite(cost, constraints, values, relations, max_iter=most)
        assert found.lower <= optimum.upper
        assert found.upper >= optimum.lower
        if np.isfinite(found.lower):
            assert found.multipliers @ values == pytest.approx(found.lower, rel=1e-12)
            signs = found.multipliers[2:] * [1, 1, -1, -1, 1]
            assert signs.max() <= 0
            dual = cost - np.tensordot(found.multipliers, constraints, 1)
            assert np.linalg.eigvalsh(dual)[0] >= 0
        if np.isfinite(found.upper):
            assert found.residual < 1e-12
            assert np.linalg.eigvalsh(found.matrix)[0] >= 0


def test_what_follows_from_other_constraints_changes_nothing():
    rng = np.random.default_rng(1)
    cost = symmetric(rng, 5)
    first, second = np.eye(5), np.diag(np.arange(5.0))
    plain = solve_semidefinite(cost, [first, second], [1.0, 2.0])
    more = solve_semidefinite(cost, [first, second, first + 3 * second], [1.0, 2.0, 7.0])
    assert more.upper == pytest.approx(plain.upper, rel=1e-8)
    with pytest.raises(ValueError, match="two or more equations contradict each other"):
        solve_semidefinite(cost, [first, second, first + 3 * second], [1.0, 2.0, 8.0])


def test_any_feasible_matrix_solves_a_program_without_cost():
    found = solve_semidefinite(np.zeros((3, 3)), [np.eye(3), pair(3, 0, 1)], [3.0, 1.0])
    assert (found.lower, found.upper, found.gap) == (0, 0, 0)
    assert np.trace(found.matrix) == pytest.approx(3)
    assert found.matrix[0, 1] == pytest.approx(0.5)


def test_a_null_space_may_be_all_that_is_asked_for():
    found = solve_semidefinite(np.eye(3) + pair(3, 1, 2, 0.5), [unit(3, 0)], [0.0])
    assert found.gap <= 1e-8
    assert abs(found.upper) < 1e-10
    with pytest.raises(ValueError, match="unbounded below"):
        solve_semidefinite(pair(3, 1, 2), [unit(3, 0)], [0.0])
    # The entries beside a diagonal of zero are zero as well.
    with pytest.raises(ValueError, match="zero on all matrices that satisfy the others"):
        solve_semidefinite(np.eye(3), [unit(3, 0), pair(3, 0, 1)], [0.0, 1.0])


def test_constraints_may_leave_only_the_zero_matrix():
    found = solve_semidefinite(symmetric(np.random.default_rng(0), 3), [np.eye(3)], [0.0])
    assert not found.matrix.any()
    with pytest.raises(ValueError, match="zero on all matrices that satisfy the others"):
        solve_semidefinite(np.eye(3), [np.eye(3), pair(3, 0, 1)], [0.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((np.eye(2), [np.eye(2)], [-1.0]), "constraint 0 asks for a negative value"),
        ((np.eye(2), [-np.eye(2)], [1.0], ">="), "constraint 0 asks for a negative value"),
        ((np.eye(2), [np.eye(2), unit(2, 0)], [1.0, 2.0]), "No positive semidefinite matrix"),
        ((-np.eye(2), [unit(2, 0)], [1.0]), "is unbounded below. Add a constraint"),
        ((-np.eye(2), [np.eye(2)], [1.0], ">="), "is unbounded below. Add a constraint"),
        ((np.array([[0, 1], [0, 0]]), [np.eye(2)], [1.0]), "matrix cost is not symmetric"),
        ((np.eye(2), [np.eye(3)], [1.0]), r"cost is \(2, 2\) and constraints\[0\] is \(3, 3\)"),
        ((np.eye(2), [np.ones((2, 3))], [1.0]), "must be square"),
        ((np.eye(2), [np.eye(2) * np.nan], [1.0]), r"constraints\[0\] contains NaN"),
        ((np.eye(2), [np.eye(2)], [1.0, 2.0]), "Pass one value for each constraint"),
        ((np.eye(2), [], []), "Pass one value for each constraint"),
        ((np.eye(2), [np.eye(2)], [1.0], "<"), "relations='<' is not allowed"),
        ((np.eye(2), [np.eye(2)], [1.0], ["<=", "<="]), "1 constraints and 2 relations"),
    ],
)
def test_mistakes_and_programs_without_optimum_have_one_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        solve_semidefinite(*arguments)


@sampled("seed", range(4))
def test_what_a_null_space_leaves_of_other_matrices_is_rounding(seed):
    rng = np.random.default_rng(seed)
    v, w = rng.normal(size=(2, 3))
    null, crossed, trace = np.outer(v, v), np.outer(v, w) + np.outer(w, v), np.eye(3)
    # ⟨vv', X⟩ = 0 makes Xv zero, and so ⟨vw' + wv', X⟩.
    with pytest.raises(ValueError, match="is zero on all matrices that satisfy the others"):
        solve_semidefinite(trace, [null, crossed], [0.0, 1.0])
    with pytest.raises(ValueError, match="unbounded below"):
        solve_semidefinite(-trace, [null, crossed], [0.0, 1.0], ["==", "<="])
    found = solve_semidefinite(trace, [null, crossed], [0.0, 1.0], ["==", "<="])
    assert found.lower <= 0 <= found.upper < 1e-8
    found = solve_semidefinite(crossed, [null, trace], [0.0, 1.0])
    assert found.gap <= 1e-8
    assert abs(found.upper) < 1e-8
    assert np.trace(found.matrix) == pytest.approx(1.0)
    assert v @ found.matrix @ v == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("factor", [1e-14, 1e14])
def test_every_constraint_has_a_unit_of_its_own(factor):
    rng = np.random.default_rng(0)
    cost, first = symmetric(rng, 3), unit(3, 0)
    expected = solve_semidefinite(cost, [np.eye(3), first], [1.0, 0.1])
    found = solve_semidefinite(cost, [np.eye(3), factor * first], [1.0, factor * 0.1])
    assert found.matrix[0, 0] == pytest.approx(0.1)
    assert found.upper == pytest.approx(expected.upper, rel=1e-8)
