"""What randomised and Nyström functions refuse, in words; extreme sizes that they take."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import unbend
from tests.loops import each
from unbend.lowrank import (
    SKETCHES,
    Eigenfunctions,
    fat,
    fat_rows,
    nystrom_extension,
    orthogonal_nystrom,
    randomized_interpolative,
    randomized_svd,
    rank_revealing_lu,
    single_pass_svd,
    sketch_matrix,
    strong_qr,
    volume_columns,
)

RNG = np.random.default_rng(0)
SQUARE = np.eye(40) + 0.01
every_sketch = each("sketch", SKETCHES)
REDUCED = [
    lambda matrix: randomized_svd(matrix, 2),
    lambda matrix: randomized_svd(matrix, tol=0.1),
    lambda matrix: single_pass_svd(matrix, 2),
    lambda matrix: fat_rows(matrix, 1),
    lambda matrix: fat(matrix, 1),
]
every_way = each("reduced", REDUCED)


@every_way
@each("bad", [np.nan, np.inf])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_entries_that_are_not_finite_are_refused(reduced, bad):
    matrix = SQUARE.copy()
    matrix[3, 4] = matrix[4, 3] = bad
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        reduced(matrix)


@every_way
@each("shape", [(3,), (2, 2, 2), (0, 3), (3, 0)])
def test_what_is_no_matrix_is_refused(reduced, shape):
    with pytest.raises(ValueError, match=r"rows and columns|0 (sample|feature)"):
        reduced(np.ones(shape))


@every_way
def test_complex_numbers_are_refused(reduced):
    with pytest.raises(ValueError, match="Complex data not supported"):
        reduced(SQUARE * 1j)


@pytest.mark.parametrize("reduced", [REDUCED[0], REDUCED[2]])
def test_lists_are_matrices(reduced):
    found = reduced([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(found.to_dense(), [[1, 2], [3, 4]], 0, 1e-9)


@pytest.mark.parametrize(
    "reduced",
    [*REDUCED[:3], lambda matrix: randomized_interpolative(matrix, 2, np.random.default_rng(0))],
)
def test_an_operator_without_adjoint_is_refused_in_words(reduced):
    forward = LinearOperator(SQUARE.shape, matvec=lambda v: SQUARE @ v, dtype=SQUARE.dtype)
    with pytest.raises(TypeError, match="rmatvec"):
        reduced(forward)


@pytest.mark.parametrize("function", [randomized_svd, single_pass_svd])
@pytest.mark.parametrize(
    "given", [{"rank": 0}, {"rank": 2, "oversample": -5}, {"rank": 2, "sketch": "gausian"}]
)
def test_numbers_and_words_are_checked(function, given):
    with pytest.raises(ValueError, match=r"not allowed|is not known"):
        function(SQUARE, **given)


def test_unknown_words_of_sketches_and_modes_are_refused():
    with pytest.raises(ValueError, match="sketch='x'"):
        sketch_matrix(4, 2, "x", RNG)
    with pytest.raises(ValueError, match="sketch='x'"):
        fat(SQUARE, 1, sketch="x")
    for transform in (fat, fat_rows):
        with pytest.raises(ValueError, match="mode='pratt'"):
            transform(SQUARE, 1, "pratt")
        with pytest.raises(ValueError, match="d=0 is not allowed"):
            transform(SQUARE, 0)


def test_kernels_must_be_square_and_symmetric():
    with pytest.raises(ValueError, match="square"):
        fat(np.ones((3, 4)), 1)
    matrix = RNG.normal(size=(60, 60))
    with pytest.raises(ValueError, match="not symmetric"):
        fat(matrix, 2)
    for function in (nystrom_extension, orthogonal_nystrom):
        with pytest.raises(ValueError, match="not symmetric"):
            function(matrix, np.zeros((60, 1)))
        with pytest.raises(ValueError, match="row for each"):
            function(SQUARE, np.zeros((3, 1)))
    with pytest.raises(ValueError, match="NaN"):
        Eigenfunctions.of(SQUARE * np.nan, 1)


def test_zero_spans_no_volume():
    with pytest.raises(ValueError, match="is zero"):
        volume_columns(np.zeros((4, 4)), 1, RNG)


@pytest.mark.parametrize("solver", [unbend.Fat, unbend.Nystrom])
def test_a_solver_is_a_value_not_a_class(solver):
    with pytest.raises(TypeError, match="eigen_solver"):
        unbend.Isomap(eigen_solver=solver).fit(RNG.normal(size=(30, 2)))


@every_sketch
@each("shape", [(1, 1), (7, 1), (20, 4), (4, 20), (9, 6), (6, 6)])
@each("seed", range(5), keep=1)
def test_all_of_a_matrix_is_found_where_the_rank_allows_it(sketch, shape, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=shape)
    for function in (randomized_svd, single_pass_svd):
        found = function(matrix, min(shape), sketch=sketch, rng=rng)
        np.testing.assert_allclose(found.to_dense(), matrix, 0, 1e-8)
    found = randomized_svd(matrix, min(shape), sketch=sketch, power=0, rng=rng)
    np.testing.assert_allclose(found.to_dense(), matrix, 0, 1e-8)


@pytest.mark.parametrize("kind", ["hadamard", "fourier"])
def test_more_mixtures_than_columns_leave_none_out(kind):
    omega = sketch_matrix(6, 20, kind, np.random.default_rng(0))
    assert np.linalg.matrix_rank(omega) == 6


# Sums of 1000 infinite products are NaN in every BLAS, those of 12 only without FMA.
@pytest.mark.parametrize("rows", [12, 1000])
@pytest.mark.parametrize("size", [1e-290, 1e300])
def test_extreme_sizes_neither_overflow_nor_vanish(size, rows):
    matrix = size * np.random.default_rng(1).normal(size=(rows, 9))
    for function in (randomized_svd, single_pass_svd):
        np.testing.assert_allclose(function(matrix, 9).to_dense() / size, matrix / size, 0, 1e-9)


@each("factorise", [strong_qr, rank_revealing_lu])
@each("seed", range(5), keep=1)
def test_tolerance_zero_takes_any_matrix(factorise, seed):
    rng = np.random.default_rng(seed)
    for matrix in (
        rng.normal() * np.ones((4, 4)),
        rng.normal(size=(6, 2)) @ rng.normal(size=(2, 5)),
        np.diag(10.0 ** np.linspace(-300, 300, 13)),
    ):
        found = factorise(matrix, tol=0)
        size = np.abs(matrix).max()
        np.testing.assert_allclose(found.matrix() / size, matrix / size, 0, 1e-12)
