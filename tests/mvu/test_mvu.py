"""The estimator: what it recovers, what it claims, and what it does with graphs and copies."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

import unbend
from tests.loops import each
from tests.mvu.graphs import cycle, lengths, of_points
from tests.oracles.neighbors import nearest
from unbend.datasets import SURFACES, s_curve, swiss_roll
from unbend.methods import mvu as module
from unbend.mvu import Certificate, Edges, unfold
from unbend.mvu.sdp import STIFF


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


@each("constraint", ["inequality", "soft", "equality"])
@each("surface", ["swiss_roll", "s_curve", "punched_sphere", "clusters_3d", "toroidal_helix"])
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
    # Closed form: 12 edges of length one become a regular polygon of radius 1/(2 sin π/12).
    ring = unbend.MVU(metric="precomputed").fit(lengths(cycle(12)))
    radius = 1 / (2 * np.sin(np.pi / 12))
    np.testing.assert_allclose(np.linalg.norm(ring.embedding_, axis=1), radius, rtol=1e-4)
    assert ring.upper_bound_ == pytest.approx(12 * radius**2, rel=1e-5)


def test_new_samples_of_a_graph_are_embedded_by_their_distances():
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
    # η'η > 0: rows that lie in one neighbourhood, each with its centre, keep their distance.
    member = np.eye(80)
    member[np.arange(80)[:, None], nearest(points, 4)[0]] = 1
    together = np.argwhere(np.triu(member.T @ member > 0, 1))
    assert len(together) > 1.5 * len(of_points(points, 4).squares)
    kept, true = (
        np.linalg.norm(rows[together[:, 0]] - rows[together[:, 1]], axis=1)
        for rows in (whole.kernel_, points)
    )
    assert np.all(kept <= true * (1 + 1e-9))
    others = np.argwhere(np.triu(member.T @ member == 0, 1))
    grown = np.linalg.norm(whole.kernel_[others[:, 0]] - whole.kernel_[others[:, 1]], axis=1)
    assert np.any(grown > np.linalg.norm(points[others[:, 0]] - points[others[:, 1]], axis=1) + 0.1)


def test_a_result_without_certificate_reports_it():
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


@pytest.mark.parametrize("constraint", ["soft", "equality"])
def test_the_residual_is_the_largest_relative_error_of_a_length(constraint):
    # Springs this loose let long edges grow and short ones shrink by much.
    points = swiss_roll(60, noise=1.0, random_state=0).points
    mvu = unbend.MVU(n_neighbors=6, constraint=constraint, slack=1.0).fit(points)
    graph = mvu.graph_.tocoo()
    reached = np.linalg.norm(mvu.kernel_[graph.row] - mvu.kernel_[graph.col], axis=1)
    assert mvu.edge_residual_ == pytest.approx(np.abs(reached / graph.data - 1).max(), rel=1e-6)


def test_one_part_that_is_not_proved_takes_the_certificate_from_all(monkeypatch):
    def without_proof_for_few(edges, *arguments, **options):
        found = unfold(edges, *arguments, **options)
        if edges.n > 30:
            return found
        loose = Certificate(found.certificate.lower, 2.0 * found.certificate.upper)
        return replace(found, certificate=loose)

    monkeypatch.setattr(module, "unfold", without_proof_for_few)
    roll = s_curve(60, random_state=0).points
    points = np.vstack((roll, roll[:25] + 100.0))
    with pytest.warns(UserWarning, match="not certified"):
        mvu = unbend.MVU(n_neighbors=6, connect="components").fit(points)
    assert mvu.gap_ <= mvu.tol
    assert mvu.status_ == "not certified"


def test_rows_that_all_touch_are_one_point_and_proved():
    ring = np.arange(8)
    graph = csr_array((np.zeros(8), (ring, np.roll(ring, 1))), shape=(8, 8))
    mvu = unbend.MVU(metric="precomputed", n_components=1).fit(graph)
    assert np.all(mvu.embedding_ == 0)
    assert (mvu.gap_, mvu.status_) == (0.0, "certified")


@pytest.mark.parametrize("constraint", ["inequality", "soft"])
def test_the_report_records_the_remaining_gradient(constraint):
    mvu = unbend.MVU(n_neighbors=6, constraint=constraint).fit(s_curve(150, random_state=0).points)
    assert 0 <= mvu.report_.stage("kernel").facts["gradient"] <= 1e-6


@pytest.mark.parametrize("constraint", ["inequality", "soft", "equality"])
def test_rows_that_differ_by_rounding_are_one(constraint):
    points = swiss_roll(60, random_state=0).points
    twins = np.vstack((points, points + 1e-9))
    mvu = unbend.MVU(n_neighbors=9, constraint=constraint).fit(twins)
    assert mvu.report_.stage("kernel").facts["merged"] == 60
    assert mvu.status_ == "certified"
    assert np.abs(mvu.embedding_[:60] - mvu.embedding_[60:]).max() < 1e-9
    assert np.linalg.norm(np.ptp(mvu.embedding_, axis=0)) > 20


def test_where_the_kernel_itself_is_not_proved_its_factors_are_tried():
    lengths_of_edges = 10.0 ** np.random.default_rng(0).uniform(-5, 0, 19)
    where = np.cumsum(np.append(0.0, lengths_of_edges))
    edges = Edges(20, np.arange(19), np.arange(1, 20), lengths_of_edges**2)
    found = unfold(edges)
    assert found.certificate.gap <= 1e-6
    assert found.eigenvalues.sum() == pytest.approx(20 * where.var(), rel=1e-6)


def objective(points, edges, squares, nu):
    """Value of tr K − ν Σ (|yᵢ − yⱼ|² − d²)² of the book's (9.19), each edge once."""
    centred = points - points.mean(axis=0)
    lengths = np.square(points[edges[:, 0]] - points[edges[:, 1]]).sum(axis=1)
    return np.square(centred).sum() - nu * np.square(lengths - squares).sum()


@pytest.mark.parametrize("nu", [0.5, 5.0])
def test_the_books_penalty_is_maximised(nu):
    n = 9
    edges = np.column_stack((np.arange(n), (np.arange(n) + 1) % n))
    squares = np.square(np.random.default_rng(0).uniform(0.5, 2.0, n))
    ends = (edges[:, 0], edges[:, 1])
    graph = csr_array((np.sqrt(squares), ends), shape=(n, n))
    mvu = unbend.MVU(metric="precomputed", constraint="soft", nu=nu).fit(graph + graph.T)
    found = objective(mvu.kernel_, edges, squares, nu)
    assert mvu.lower_bound_ == pytest.approx(found)
    assert mvu.status_ == "certified"
    starts = np.random.default_rng(1).normal(size=(8, 4 * n))
    best = max(
        -minimize(lambda y: -objective(y.reshape(n, 4), edges, squares, nu), start).fun
        for start in starts
    )
    assert best == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize("constraint", ["inequality", "soft", "equality"])
def test_bounds_are_those_of_the_objective_and_not_of_the_variance(constraint):
    points = s_curve(150, random_state=0).points
    mvu = unbend.MVU(n_neighbors=5, constraint=constraint, slack=0.05).fit(points)
    variance = np.square(mvu.kernel_).sum()
    edges = of_points(points, 5)
    scaled, size = edges.normalize()
    if constraint == "inequality":
        penalty = 0.0
    else:
        # Springs ½ κ d² c² with κ = 1/(λ₂ slack), λ₂ of the Laplacian of weights 1/d².
        least = np.linalg.eigvalsh(scaled.laplacian(np.ones(edges.m)).toarray())[1]
        slack = 0.05 if constraint == "soft" else STIFF
        stretch = scaled.stretch(mvu.kernel_ / np.sqrt(size))
        penalty = size * 0.5 * scaled.squares @ np.square(stretch) / (least * slack)
    assert mvu.lower_bound_ == pytest.approx(variance - penalty, rel=1e-9)
    assert mvu.lower_bound_ <= mvu.upper_bound_
    assert (variance > mvu.upper_bound_) == (constraint != "inequality")


def test_a_penalty_without_springs_is_refused():
    with pytest.raises(ValueError, match=r"nu=1.0 has no effect"):
        unbend.MVU(nu=1.0).fit(s_curve(50, random_state=0).points)


def test_the_books_graph_unfolds_with_four_neighbours():
    """Figure 9.2: 1000 points, k = 4, the locally complete graph."""
    roll = swiss_roll(1000, random_state=0)
    whole = unbend.MVU(n_neighbors=4, complete=True).fit(roll.points)
    assert unbend.quality.procrustes(roll.chart, whole.embedding_) < 0.03
