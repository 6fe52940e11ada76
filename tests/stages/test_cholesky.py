"""Sparse Cholesky and products: the compiled ones and their twins do what dense algebra does."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import block_diag, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from tests.loops import each, sampled
from tests.stages.drawn import EPS, LAW, rngs
from unbend import _kernels
from unbend._kernels import kernels, reference
from unbend.eigen import Auto, solve
from unbend.eigen.problem import SpectralProblem
from unbend.eigen.shift_invert import NotPositiveDefinite, analyse
from unbend.graphs import adjacency, laplacian, symmetrize, weigh
from unbend.mvu.curvature import BlockLayout
from unbend.mvu.edges import Edges
from unbend.neighbors import PointSpace

both = each("kernel", [kernels, reference])
compiled = pytest.mark.skipif(_kernels.name != "native", reason="the plain kernels run here")


def definite(pattern, rng):
    """Draw a symmetric matrix of a pattern, diagonally dominant and so positive definite."""
    pattern = csr_array(pattern, dtype=float)
    values = rng.uniform(-1, 1, pattern.nnz)
    drawn = csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    both_sides = csr_array((drawn + drawn.T) / 2)
    size = np.asarray(abs(both_sides).sum(axis=1)).ravel()
    return csr_array(both_sides + diags_array(size + rng.uniform(0.1, 1, len(size))))


def sprinkled(rng, n):
    return csr_array(rng.random((n, n)) < rng.uniform(0, 6) / n)


def path(rng, n):
    return diags_array([np.ones(n - 1)], offsets=[1], shape=(n, n)) if n > 1 else eye_array(1)


def arrow(rng, n):
    pattern = np.eye(n)
    pattern[rng.integers(n)] = 1
    return pattern


def apart(rng, n):
    parts = [sprinkled(rng, size) for size in (n, 1, n // 2 + 1)]
    return block_diag(parts, format="csr")


SHAPES = {
    "sprinkled": sprinkled,
    "diagonal": lambda rng, n: eye_array(n),
    "dense": lambda rng, n: np.ones((n, n)),
    "path": path,
    "arrow": arrow,
    "apart": apart,
}
every_shape = each("shape", SHAPES)


def shuffled(matrix, rng):
    """Permute rows and columns alike and leave the columns of each row in no order."""
    order = rng.permutation(matrix.shape[0])
    matrix = csr_array(matrix[order][:, order])
    row, column, values = matrix.indptr.astype(np.int64), matrix.indices.copy(), matrix.data.copy()
    for begin, end in itertools.pairwise(row):
        turn = begin + rng.permutation(end - begin)
        column[begin:end], values[begin:end] = column[turn], values[turn]
    return matrix, row, column.astype(np.int32), values


def solved(kernel, row, column, values, right, shift=0.0, threads=1):
    analysis = kernel.analyse(row, column, inf, threads)
    factor = kernel.factor(analysis, row, column, values, shift, threads)
    solution = np.full(right.shape, np.nan)
    factor.solve(right, threads, solution)
    return solution, factor


@both
@every_shape
@LAW
@given(rngs, st.integers(1, 120), st.integers(1, 19), st.sampled_from([0.0, 0.5]))
def test_solutions_are_those_of_dense_algebra(kernel, shape, rng, n, sides, shift):
    matrix, row, column, values = shuffled(definite(SHAPES[shape](rng, n), rng), rng)
    right = rng.normal(size=(matrix.shape[0], sides))
    found, factor = solved(kernel, row, column, values, right, shift)
    dense = matrix.toarray() + shift * np.eye(matrix.shape[0])
    exact = np.linalg.solve(dense, right)
    slack = 8 * len(dense) * EPS * np.linalg.cond(dense)
    np.testing.assert_allclose(found, exact, 0, slack * np.abs(exact).max())
    assert factor.replaced == 0


@both
@every_shape
@LAW
@given(rngs, st.integers(1, 120), st.integers(1, 5), st.floats(0, 1))
def test_signed_pivots_solve_and_count_negative_eigenvalues(kernel, shape, rng, n, sides, share):
    """Diagonally dominant rows whose diagonal has either sign."""
    matrix = definite(SHAPES[shape](rng, n), rng).tolil()
    flipped = rng.random(matrix.shape[0]) < share
    matrix.setdiag(np.where(flipped, -1.0, 1.0) * matrix.diagonal())
    matrix, row, column, values = shuffled(csr_array(matrix), rng)
    right = rng.normal(size=(matrix.shape[0], sides))
    analysis = kernel.analyse(row, column, inf)
    for threads in (1, 2):
        factor = kernel.factor(analysis, row, column, values, 0.0, threads, True)
        assert factor.negative == np.sum(np.linalg.eigvalsh(matrix.toarray()) < 0)
        found = np.full(right.shape, np.nan)
        factor.solve(right, threads, found)
        exact = np.linalg.solve(matrix.toarray(), right)
        slack = 64 * len(right) * EPS * np.linalg.cond(matrix.toarray())
        np.testing.assert_allclose(found, exact, 0, slack * np.abs(exact).max())


@compiled
def test_signed_factors_of_definite_matrices_are_the_plain_ones():
    row, column, values = compressed(roll_laplacian(2000))
    analysis = kernels.analyse(row, column, inf)
    right, found = np.random.default_rng(0).normal(size=(2000, 3)), np.empty((2, 2000, 3))
    for signed in (False, True):
        factor = kernels.factor(analysis, row, column, values, 0.5, 1, signed)
        assert factor.negative == 0
        factor.solve(right, 1, found[int(signed)])
    np.testing.assert_array_equal(found[0], found[1])


@both
@LAW
@given(rngs, st.integers(2, 40), st.floats(0.001, 3.0))
def test_shifted_laplacians_have_as_many_negative_pivots_as_smaller_eigenvalues(kernel, rng, n, at):
    matrix = definite(SHAPES["path"](rng, 10 * n), rng)
    row, column, values = compressed(csr_array(matrix))
    eigenvalues = np.linalg.eigvalsh(matrix.toarray())
    if np.abs(eigenvalues - at).min() < 1e-6:
        return
    factor = kernel.factor(kernel.analyse(row, column, inf), row, column, values, -at, 1, True)
    assert factor.negative == np.sum(eigenvalues < at)


@both
def test_a_pivot_of_zero_is_refused(kernel):
    row, column, values = compressed(csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    with pytest.raises(ValueError, match="singular"):
        kernel.factor(kernel.analyse(row, column, inf), row, column, values, 0.0, 1, True)


@both
@LAW
@given(rngs, st.integers(2, 30), st.integers(1, 6), st.floats(-1, 1))
def test_blocks_of_edges_are_sums_over_the_edges(kernel, rng, n, rank, diagonal):
    pairs = np.argwhere(np.triu(rng.random((n, n)) < 0.3, 1))
    edges = Edges(n, pairs[:, 0], pairs[:, 1], np.ones(len(pairs)))
    layout = BlockLayout.of(edges, rank)
    across, along = rng.normal(size=(2, edges.m))
    delta, values = rng.normal(size=(edges.m, rank)), np.full(len(layout.column), np.nan)
    where = layout.row, layout.own, layout.ends, layout.slots
    kernel.edge_blocks(*where, across, along, delta, diagonal, values)
    exact = diagonal * np.eye(n * rank)
    for (i, j), a, b, d in zip(pairs, across, along, delta, strict=True):
        ends = np.zeros(n)
        ends[i], ends[j] = 1.0, -1.0
        exact += np.kron(np.outer(ends, ends), a * np.eye(rank) + b * np.outer(d, d))
    found = csr_array((values, layout.column, layout.row), shape=exact.shape).toarray()
    np.testing.assert_allclose(found, exact, 0, 16 * n * EPS * (1 + np.abs(exact).max()))


@both
@every_shape
@LAW
@given(rngs, st.integers(1, 120), st.integers(1, 19))
def test_products_are_those_of_dense_algebra(kernel, shape, rng, n, width):
    matrix, row, column, values = shuffled(definite(SHAPES[shape](rng, n), rng), rng)
    block = rng.normal(size=(matrix.shape[0], width))
    images = np.full((2, *block.shape), np.nan)
    for threads in (1, 2):
        kernel.sparse_product(row, column, values, block, threads, images[threads - 1])
    np.testing.assert_array_equal(images[0], images[1])
    size = abs(matrix).toarray() @ np.abs(block)
    np.testing.assert_array_less(abs(images[0] - matrix.toarray() @ block), n * EPS * size + 1e-300)


@compiled
@every_shape
@LAW
@given(rngs, st.integers(1, 60))
def test_predicted_entries_and_operations_are_those_of_a_factor(shape, rng, n):
    _, row, column, values = shuffled(definite(SHAPES[shape](rng, n), rng), rng)
    analysis = kernels.analyse(row, column, inf)
    n = len(row) - 1
    # Between the lower triangle of the matrix and a full one.
    assert (len(column) + n) / 2 <= analysis.entries <= n * (n + 1) / 2
    assert analysis.entries <= analysis.stored
    assert analysis.flops >= analysis.entries**2 / n
    assert analysis.complete
    factor = kernels.factor(analysis, row, column, values, 0.0, 1)
    assert factor.entries == analysis.entries


@compiled
@pytest.mark.parametrize(("shape", "entries"), [("diagonal", 50), ("path", 99), ("arrow", 99)])
def test_matrices_whose_graphs_are_trees_do_not_fill(shape, entries):
    rng = np.random.default_rng(0)
    _, row, column, _ = shuffled(definite(SHAPES[shape](rng, 50), rng), rng)
    assert kernels.analyse(row, column, inf).entries == entries


def roll_laplacian(n, seed=0):
    points = np.random.default_rng(seed).uniform(size=(n, 2)) * [4, 1]
    return laplacian(symmetrize(weigh(PointSpace(points).nearest(10).graph(), adjacency), "max"))


def compressed(matrix):
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


@compiled
@pytest.mark.parametrize("n", [300, 30_000])
def test_the_number_of_threads_does_not_change_a_bit(n):
    row, column, values = compressed(roll_laplacian(n))
    right = np.random.default_rng(1).normal(size=(n, 40))
    one, two, four = (
        solved(kernels, row, column, values, right, 1e-9, threads)[0] for threads in (1, 2, 4)
    )
    assert one.tobytes() == two.tobytes() == four.tobytes()


@compiled
def test_the_order_of_a_large_graph_fills_in_as_little_as_minimum_degree_does():
    """Domains only begin the elimination: SuperLU's minimum degree knows the whole graph."""
    n = 30_000
    matrix = roll_laplacian(n, seed=5)
    shifted = csc_array(matrix + 1e-9 * eye_array(n))
    symmetric = {"SymmetricMode": True}
    whole = splu(shifted, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=symmetric)
    assert analyse(matrix).analysis.entries < 1.05 * whole.L.nnz


@compiled
@pytest.mark.parametrize("task", ["analysis", "factorisation"])
def test_a_second_thread_takes_its_share(task):
    """CPU of the calling thread over that of all: a half, or all where the other only waits."""
    matrix = roll_laplacian(60_000)
    symbolic = analyse(matrix)

    def share():
        whole, own = time.process_time(), time.thread_time()
        if task == "analysis":
            analyse(matrix, threads=2)
        else:
            symbolic.factor(1e-9, 2)
        whole, own = time.process_time() - whole, time.thread_time() - own
        return own / whole

    # The other thread may come late on a busy machine.
    assert min(share() for _ in range(5)) < 0.8


@compiled
def test_solves_at_the_same_time_do_not_disturb_one_another():
    """Two of them share the factor, whose scratch memory only one may use."""
    symbolic = analyse(roll_laplacian(3000))
    factor = symbolic.factor(1e-9)
    sides = np.random.default_rng(0).normal(size=(8, 3000, 5))
    alone = [factor_solution(factor, right) for right in sides]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            together = list(pool.map(lambda right: factor_solution(factor, right), sides))
            assert all(a.tobytes() == b.tobytes() for a, b in zip(alone, together, strict=True))
    # Fewer and more right-hand sides than before: rows of another length in the same memory.
    for count in (1, 3, 7, 2):
        right = np.random.default_rng(count).normal(size=(3000, count))
        fresh = symbolic.factor(1e-9)
        assert factor_solution(factor, right).tobytes() == factor_solution(fresh, right).tobytes()


def factor_solution(factor, right):
    """Solve for some right-hand sides."""
    solution = np.empty_like(right)
    factor.solve(np.ascontiguousarray(right), 1, solution)
    return solution


@compiled
def test_the_twin_solves_the_same():
    row, column, values = compressed(roll_laplacian(2000))
    right = np.random.default_rng(1).normal(size=(2000, 3))
    ours, twin = (solved(k, row, column, values, right, 1e-3)[0] for k in (kernels, reference))
    np.testing.assert_allclose(ours, twin, 1e-9)


@both
@pytest.mark.parametrize("matrix", [[[1.0, 2], [2, 1]], [[-1.0, 0], [0, 1]], [[0.0, 1], [1, 0]]])
def test_an_indefinite_matrix_is_refused(kernel, matrix):
    matrix = csr_array(np.kron(np.eye(30), np.array(matrix)) + 0.0)
    row, column, values = compressed(matrix)
    with pytest.raises(ValueError, match="not positive definite"):
        solved(kernel, row, column, values, np.ones((60, 1)))


@compiled
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_not_finite_are_refused(bad):
    row, column, values = compressed(csr_array(np.array([[2.0, 1], [1, bad]])))
    with pytest.raises(ValueError, match="not positive definite"):
        solved(kernels, row, column, values, np.ones((2, 1)))


@compiled
def test_pivots_that_are_rounding_of_zero_are_raised_and_counted():
    row, column, values = compressed(roll_laplacian(1000))
    solution, factor = solved(kernels, row, column, values, np.ones((1000, 1)))
    assert factor.replaced == 1  # the constant vector, exactly singular
    assert np.isfinite(solution).all()


@both
def test_a_pattern_that_is_not_symmetric_is_refused(kernel):
    row, column, _ = compressed(csr_array(np.array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]])))
    with pytest.raises(ValueError, match="not symmetric"):
        kernel.analyse(row, column, inf)


def test_a_pattern_that_rounding_made_one_sided_is_symmetrized():
    matrix = csr_array(np.array([[2.0, 1e-17, 1], [0, 2, 1], [1, 1, 2]]))
    factor = analyse(matrix).factor(0.0)
    solution = np.empty((3, 1))
    factor.solve(np.ones((3, 1)), 1, solution)
    np.testing.assert_allclose(solution, [[0.5], [0.5], [0.0]], 0, 100 * EPS)


@compiled
def test_another_matrix_than_the_one_analysed_is_refused():
    row, column, _ = compressed(csr_array(np.eye(4)))
    analysis = kernels.analyse(row, column, inf)
    row, column, values = compressed(csr_array(np.eye(4) * 3 + 1))
    with pytest.raises(ValueError, match="not analysed"):
        kernels.factor(analysis, row, column, values, 0.0, 1)


@both
def test_an_analysis_gives_up_beyond_its_limit(kernel):
    rng = np.random.default_rng(0)
    row, column, _ = compressed(definite(np.ones((100, 100)), rng))
    assert kernel.analyse(row, column, 1e6).complete
    assert not kernel.analyse(row, column, 1e4).complete


def test_auto_takes_lanczos_where_a_matrix_turns_out_indefinite():
    n = 2000
    matrix = csr_array(diags_array(np.concatenate(([-3.0, -2.0], np.linspace(1, 2, n - 2)))))
    assert Auto().choose(SpectralProblem(matrix, "bottom"), 2)[0] is not None
    with pytest.raises(NotPositiveDefinite, match="lanczos"):
        analyse(matrix).factor(0.0)
    np.testing.assert_allclose(solve(SpectralProblem(matrix, "bottom"), 2).values, [-3, -2])


@compiled
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@sampled("threads", [1, 2])
def test_a_long_factorisation_can_be_interrupted(threads):
    code = f"""
        import numpy as np
        from math import inf
        from unbend._kernels import kernels
        n = 9000
        row = np.arange(0, n * n + 1, n, dtype=np.int64)
        column = np.tile(np.arange(n, dtype=np.int32), n)
        values = np.ones(n * n)
        analysis = kernels.analyse(row, column, inf)
        try:
            print("ready", flush=True)
            kernels.factor(analysis, row, column, values, float(n), {threads})
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == "interrupted\n"
    assert process.returncode == 0


@compiled
@sampled("threads", [1, 2])
def test_one_large_front_is_factorised(threads):
    n, rng = 400, np.random.default_rng(0)
    matrix = rng.standard_normal((n, n))
    matrix = matrix @ matrix.T + n * np.eye(n)
    row = np.arange(0, n * n + 1, n, dtype=np.int64)
    column = np.tile(np.arange(n, dtype=np.int32), n)
    factor = kernels.factor(
        kernels.analyse(row, column, inf), row, column, matrix.ravel(), 0.0, threads
    )
    right, solved = rng.standard_normal((n, 2)), np.empty((n, 2))
    factor.solve(right, threads, solved)
    assert np.allclose(matrix @ solved, right, atol=1e-9)
