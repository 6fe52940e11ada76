"""Gram matrices that are never formed equal those that are, and are repaired by the least."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loops import sampled
from tests.oracles import embeddings as oracle
from tests.oracles.kernels import isomap_kernel
from tests.oracles.neighbors import nearest, pairwise, shortest_paths, union_graph
from tests.stages.drawn import EPS, LAW, rngs
from unbend.datasets import swiss_roll
from unbend.eigen import solve
from unbend.extension import Nystrom
from unbend.gram import FormedGram, Gram, Squares, negative_share
from unbend.graphs import geodesics, undirected
from unbend.neighbors import PointSpace


def formed(gram):
    return gram.operator() @ np.eye(len(gram.distances))


def centring(n):
    return np.eye(n) - 1.0 / n


def dissimilarities(rng, n):
    """Draw symmetric positive numbers: far from any distances of points."""
    half = rng.uniform(0.5, 2, (n, n))
    distances = half + half.T
    np.fill_diagonal(distances, 0.0)
    return distances


def rounding(gram):
    """Bound what n-term sums and centring lose of entries of this size."""
    n = len(gram.distances)
    return 16 * n * EPS * (np.abs(gram.squares(gram.distances)).max() + gram.spectrum_shift)


kinds = st.sampled_from(
    [
        (Squares(), 0.0),
        (Squares(constant=0.7), 0.0),
        (Squares(constant=0.7), 0.245),
        (Squares(), 1.3),
        (Squares(squared=True), 0.0),
        (Squares(squared=True), 2.0),
    ]
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@LAW
@given(rngs, st.integers(2, 30), kinds, st.integers(0, 3))
def test_products_trace_and_means_are_those_of_the_dense_formula(dtype, rng, n, kind, columns):
    squares, lift = kind
    distances = dissimilarities(rng, n).astype(dtype)
    gram = Gram(distances, squares, lift)
    wide = distances.astype(np.float64)
    entries = wide if squares.squared else (wide + squares.constant) ** 2
    h = centring(n)
    expected = -0.5 * h @ entries @ h + lift * h
    slack = rounding(gram)
    np.testing.assert_allclose(formed(gram), expected, 0, slack)
    np.testing.assert_allclose(gram.trace, np.trace(expected), 0, n * slack)
    np.testing.assert_allclose(gram.mean_squares, entries.mean(axis=1), 0, slack)
    vectors = rng.normal(size=(n, columns) if columns else n)
    size = slack * (1 + np.abs(vectors).sum())
    np.testing.assert_allclose(gram.operator() @ vectors, expected @ vectors, 0, size)


@LAW
@given(rngs, st.integers(3, 30), st.integers(1, 4))
def test_euclidean_distances_give_back_the_points(rng, n, d):
    d = min(d, n - 2)
    points = rng.normal(size=(n, d))
    gram = Gram(pairwise(points))
    coordinates = gram.coordinates(solve(gram.problem(), d))
    found, expected = pairwise(coordinates) ** 2, pairwise(points) ** 2
    np.testing.assert_allclose(found, expected, 0, 64 * n * EPS * n * expected.max())


MORE, LESS = 1 + 1e-6, 1 - 1e-6


def shifted_kernel(distances, shift):
    """Form -1/2 H D^2 H of distances that all grew by `shift`, but for the diagonal."""
    n = len(distances)
    grown = distances + shift * (1 - np.eye(n))
    return -0.5 * centring(n) @ grown**2 @ centring(n)


@pytest.mark.parametrize("n", [12, 60, 230])
@sampled("seed", range(2))
def test_the_shift_is_the_least_that_makes_the_kernel_semidefinite(n, seed):
    distances = dissimilarities(np.random.default_rng(seed), n)
    gram = Gram(distances).repair("additive_constant")
    shift, slack = gram.squares.constant, rounding(gram)
    assert np.linalg.eigvalsh(formed(Gram(distances))).min() < -slack
    np.testing.assert_allclose(formed(gram), shifted_kernel(distances, shift), 0, slack)
    # The least eigenvalue changes its sign within a millionth of the shift.
    least = [np.linalg.eigvalsh(shifted_kernel(distances, shift * f)).min() for f in (MORE, LESS)]
    assert least[0] >= -slack
    assert least[1] < -slack
    assert least[1] <= np.linalg.eigvalsh(formed(gram)).min()


@pytest.mark.parametrize("n", [12, 60, 230])
def test_the_lift_raises_the_least_eigenvalue_to_zero_and_moves_no_vector(n):
    distances = dissimilarities(np.random.default_rng(0), n)
    plain, gram = Gram(distances), Gram(distances).repair("spectrum_shift")
    lowest = np.linalg.eigvalsh(formed(plain)).min()
    slack = rounding(gram) * n if n <= 200 else 1e-8 * gram.spectrum_shift
    assert gram.spectrum_shift == pytest.approx(-lowest, abs=slack)
    assert np.linalg.eigvalsh(formed(gram)).min() >= -slack
    np.testing.assert_allclose(
        formed(gram), formed(plain) + gram.spectrum_shift * centring(n), 0, slack
    )


@pytest.mark.parametrize("how", ["additive_constant", "spectrum_shift"])
@pytest.mark.parametrize("n", [12, 60, 230])
def test_distances_of_points_need_no_repair(how, n):
    distances = pairwise(np.random.default_rng(0).normal(size=(n, 3)))
    gram = Gram(distances).repair(how)
    # The zero eigenvalue of the constant is a Jordan block of order two: it rounds to √ε.
    size = np.square(distances).max() * n
    assert abs(gram.squares.constant) <= 8 * np.sqrt(EPS * size)
    assert abs(gram.spectrum_shift) <= 64 * n * EPS * size


def test_what_is_lifted_needs_no_further_lift():
    gram = Gram(dissimilarities(np.random.default_rng(0), 30)).repair("spectrum_shift")
    np.testing.assert_allclose(
        formed(gram.repair("spectrum_shift")), formed(gram), 0, 30 * rounding(gram)
    )


def test_squared_distances_are_lifted_like_the_distances():
    distances = dissimilarities(np.random.default_rng(0), 30)
    plain = Gram(distances).repair("spectrum_shift")
    squared = Gram(distances**2, Squares(squared=True)).repair("spectrum_shift")
    np.testing.assert_allclose(formed(squared), formed(plain), 0, 30 * rounding(plain))


@pytest.mark.parametrize("repair", [None, "additive_constant", "spectrum_shift"])
@LAW
@given(rngs, st.integers(8, 40))
def test_nystrom_weights_reproduce_the_fitted_rows(repair, rng, n):
    distances = dissimilarities(rng, n)
    gram = Gram(distances).repair(repair)
    spectrum = solve(gram.problem(), 2)
    weights = gram.nystrom_weights(spectrum)
    place = Nystrom(lambda new: new, gram.squares, gram.mean_squares, weights)
    own = spectrum.values - gram.spectrum_shift  # what is left of each eigenvalue for new rows
    slack = rounding(gram) * n * np.sqrt(spectrum.values.max()) / own.min()
    np.testing.assert_allclose(place(distances), gram.coordinates(spectrum), 0, slack)


def test_directions_that_exist_for_fitted_rows_only_have_no_weight():
    distances = dissimilarities(np.random.default_rng(0), 20)
    gram = Gram(distances).repair("spectrum_shift")
    spectrum = solve(gram.problem(), 18, "dense")
    weights = gram.nystrom_weights(spectrum)
    assert np.isfinite(weights).all()
    assert (weights[:, spectrum.values <= gram.spectrum_shift] == 0).all()
    assert (np.abs(weights[:, spectrum.values > gram.spectrum_shift]).max(axis=0) > 0).all()


@LAW
@given(rngs, st.integers(3, 40))
def test_the_negative_share_of_few_rows_is_exact(rng, n):
    gram = Gram(dissimilarities(rng, n))
    values = np.linalg.eigvalsh(formed(gram))
    expected = -values[values < 0].sum() / np.abs(values).sum()
    found = negative_share(gram, solve(gram.problem(), 1), rng)
    assert found == pytest.approx(expected, abs=16 * n * EPS)
    points = rng.normal(size=(n, 2))
    euclidean = Gram(pairwise(points))
    assert negative_share(euclidean, solve(euclidean.problem(), 1), rng) <= 16 * n * EPS


@sampled("seed", range(3))
def test_the_negative_share_of_many_rows_is_close(seed):
    points = swiss_roll(1500, random_state=seed).points
    distances = geodesics(undirected(PointSpace(points).nearest(8)).lengths)
    gram = Gram(distances)
    values = np.linalg.eigvalsh(formed(gram))
    expected = -values[values < 0].sum() / np.abs(values).sum()
    found = negative_share(gram, solve(gram.problem(), 2), np.random.default_rng(seed))
    assert found == pytest.approx(expected, rel=0.3)


@LAW
@given(rngs, st.integers(8, 30))
def test_stages_together_are_the_isomap_of_the_definition(rng, n):
    points = np.column_stack((np.linspace(0, 3, n), np.sin(np.linspace(0, 3, n))))
    points = points + 0.01 * rng.normal(size=(n, 2))
    indices, _ = nearest(points, 4)
    graph = undirected(PointSpace(points).nearest(4))
    gram = Gram(geodesics(graph.lengths))
    paths = shortest_paths(union_graph(points, indices))
    np.testing.assert_allclose(gram.distances, paths, 4 * n * EPS)
    expected = isomap_kernel(points, indices)
    np.testing.assert_allclose(formed(gram), expected, 0, 4 * rounding(gram))
    values = np.linalg.eigvalsh(expected)[::-1]
    coordinates = gram.coordinates(solve(gram.problem(), 1))
    angle = 64 * n * rounding(gram) / (values[0] - values[1])
    assert oracle.subspace_angle(coordinates, oracle.top(expected, 1)) <= angle


@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_a_kernel_formed_from_similarities_is_that_of_their_squared_distances(offset):
    points = np.random.default_rng(0).normal(size=(60, 4))
    similarities = np.exp(-0.3 * pairwise(points) ** 2) + offset
    own = similarities.diagonal()
    gram = Gram(own[:, None] + own - 2.0 * similarities, Squares(squared=True))
    kept = FormedGram.of(similarities.copy())
    bound = rounding(gram) * (1.0 + offset)
    np.testing.assert_allclose(kept.form(), gram.form(), rtol=0, atol=bound)
    np.testing.assert_allclose(kept.operator() @ np.eye(60), gram.form(), rtol=0, atol=bound)
    np.testing.assert_allclose(kept.mean_squares, gram.mean_squares, rtol=0, atol=bound)
    assert abs(kept.trace - gram.trace) <= 60 * bound


@pytest.mark.parametrize("n", [301, 450, 600])
def test_top_eigenvectors_between_lapack_and_many_rows_are_those_of_lapack(n):
    """Iterated from 300 rows on: no cliff in accuracy where the solver changes."""
    points = np.random.default_rng(n).normal(size=(n, 5)) * [5.0, 4.0, 3.0, 2.0, 1.0]
    gram = FormedGram.of(np.exp(-(pairwise(points) ** 2) / 50.0))
    found, exact = (solve(gram.problem(), 3, solver) for solver in ("auto", "dense"))
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-10)
    overlap = np.abs(np.sum(found.vectors * exact.vectors, axis=0))
    np.testing.assert_allclose(overlap, 1.0, rtol=0, atol=1e-9)
