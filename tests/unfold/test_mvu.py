"""The estimator: what it recovers, what it claims, and what it does with graphs and copies."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from tests.unfold.graphs import cycle, lengths, of_points
from unbend.datasets import SURFACES, s_curve, swiss_roll


def test_a_roll_is_unrolled_and_certified():
    roll = swiss_roll(500, random_state=0)
    mvu = unbend.MVU(n_neighbors=6).fit(roll.points)
    assert (mvu.status_, mvu.dimension_) == ("certified", 2)
    assert unbend.quality.procrustes(roll.chart, mvu.embedding_) < 0.02
    assert mvu.lower_bound_ <= mvu.upper_bound_
    assert mvu.gap_ == (mvu.upper_bound_ - mvu.lower_bound_) / mvu.upper_bound_


def test_the_factor_is_that_of_the_kernel_and_keeps_every_length():
    points = s_curve(150, random_state=0).points
    mvu = unbend.MVU(n_neighbors=6).fit(points)
    edges = of_points(points, 6)
    assert np.all(edges.stretch(mvu.kernel_) <= 1e-12)
    assert mvu.edge_residual_ == 0.0
    values = np.linalg.eigvalsh(mvu.kernel_ @ mvu.kernel_.T)[::-1]
    assert mvu.eigenvalues_ == pytest.approx(values[:2])
    assert np.sum(values) == pytest.approx(mvu.lower_bound_)


@pytest.mark.parametrize("constraint", ["inequality", "soft", "equality"])
@pytest.mark.parametrize(
    "surface", ["swiss_roll", "s_curve", "punched_sphere", "clusters_3d", "toroidal_helix"]
)
def test_every_surface_gets_finite_coordinates_and_true_bounds(surface, constraint):
    points = SURFACES[surface](60, random_state=1).points
    with np.errstate(all="raise", under="ignore"):
        mvu = unbend.MVU(n_neighbors=4, constraint=constraint).fit(points)
    assert np.all(np.isfinite(mvu.embedding_))
    assert mvu.lower_bound_ <= mvu.upper_bound_
    assert mvu.gap_ < 1e-3


@pytest.mark.parametrize("k", range(3, 9))
def test_noise_and_every_number_of_neighbours_are_certified(k):
    points = swiss_roll(80, noise=1.0, random_state=k).points
    assert unbend.MVU(n_neighbors=k).fit(points).status_ == "certified"


def test_a_sparse_matrix_of_local_distances_is_as_good_as_points():
    points = s_curve(120, random_state=0).points
    graph = lengths(of_points(points, 6))
    given = unbend.MVU(metric="precomputed").fit(graph)
    found = unbend.MVU(n_neighbors=6).fit(points)
    assert given.lower_bound_ == pytest.approx(found.lower_bound_, rel=1e-7)


def test_new_rows_of_a_graph_are_placed_by_their_distances():
    grid = np.stack(np.meshgrid(np.arange(7.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    points = grid + 0.1 * np.random.default_rng(0).normal(size=grid.shape)
    mvu = unbend.MVU(metric="precomputed").fit(lengths(of_points(points, 8)))
    new = points[20:23] + np.array([0.2, 0.1])
    placed = mvu.transform(np.linalg.norm(new[:, None] - points, axis=2))
    near = np.argsort(np.linalg.norm(new[:, None] - points, axis=2), axis=1)[:, :3]
    expected = np.take_along_axis(np.linalg.norm(new[:, None] - points, axis=2), near, 1)
    reached = np.linalg.norm(placed[:, None] - mvu.embedding_[near], axis=2)
    assert np.allclose(reached, expected, atol=0.25)


def test_edges_of_length_zero_join_rows():
    graph = lengths(cycle(8)).tolil()
    graph.resize((9, 9))
    graph = graph.tocoo()
    rows = np.append(graph.row, [0, 8])
    columns = np.append(graph.col, [8, 0])
    values = np.append(graph.data, [0.0, 0.0])
    mvu = unbend.MVU(metric="precomputed").fit(csr_array((values, (rows, columns)), shape=(9, 9)))
    assert np.allclose(mvu.embedding_[0], mvu.embedding_[8])
    assert mvu.report_.stage("kernel").facts["merged"] == 1


def test_a_locally_complete_graph_holds_angles():
    points = s_curve(80, random_state=0).points
    plain = unbend.MVU(n_neighbors=4).fit(points)
    whole = unbend.MVU(n_neighbors=4, complete=True).fit(points)
    assert whole.status_ == "certified"
    assert whole.lower_bound_ < plain.lower_bound_


def test_a_result_that_is_not_proved_says_so():
    with pytest.warns(UserWarning, match="not certified"):
        mvu = unbend.MVU(n_neighbors=5, tol=1e-15).fit(s_curve(80, random_state=0).points)
    assert mvu.status_ == "not certified"


@pytest.mark.parametrize(("n", "k", "seed"), [(60, 5, 2), (60, 3, 4), (100, 8, 1), (120, 5, 3)])
def test_equality_keeps_every_length(n, k, seed):
    points = unbend.datasets.swiss_roll(n, random_state=seed).points
    mvu = unbend.MVU(n_neighbors=k, constraint="equality").fit(points)
    graph = mvu.graph_.tocoo()
    unfolded = np.linalg.norm(mvu.kernel_[graph.row] - mvu.kernel_[graph.col], axis=1)
    assert mvu.status_ == "certified"
    assert np.abs(unfolded / graph.data - 1).max() < 1e-3
