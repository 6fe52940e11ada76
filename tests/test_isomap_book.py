"""Isomap against the book: the error of step 4, both rules of step 2, Theorems 8.2 and 8.3."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist

import unbend
from unbend.datasets import s_curve, swiss_roll
from unbend.graphs import geodesic_bounds, geodesics, s_distances, symmetric_geodesics
from unbend.neighbors import PointSpace

CURVE = s_curve(250, random_state=0)


def squares(points):
    return np.square(cdist(points, points))


@pytest.mark.parametrize("repair", [None, "additive_constant", "spectrum_shift"])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_energy_lost_is_the_sum_of_the_eigenvalues_left_out(repair, d):
    model = unbend.Isomap(d, n_neighbors=7, repair=repair).fit(CURVE.points)
    repaired = np.square(model.geodesics_)
    facts = model.report_.stage("kernel").facts
    apart = ~np.eye(len(repaired), dtype=bool)
    repaired[apart] = np.square(model.geodesics_[apart] + facts["additive_constant"])
    repaired[apart] += 2.0 * facts["spectrum_shift"] * (repair == "spectrum_shift")
    lost = np.sum(repaired - squares(model.embedding_))
    assert model.energy_loss_ == pytest.approx(lost, rel=1e-9)
    if repair is None:
        n = len(repaired)
        centre = np.eye(n) - 1.0 / n
        values = np.sort(np.linalg.eigvalsh(-0.5 * centre @ repaired @ centre))[::-1]
        assert model.energy_loss_ == pytest.approx(2 * n * values[d:].sum(), rel=1e-9)


def test_directed_paths_are_the_shorter_of_both_ways():
    space = PointSpace(CURVE.points)
    graph = space.nearest(12).graph()
    there = dijkstra(graph, directed=True)
    expected = np.minimum(there, there.T)
    np.testing.assert_allclose(symmetric_geodesics(graph), expected, rtol=1e-12)
    some = np.array([3, 70, 9])
    np.testing.assert_allclose(symmetric_geodesics(graph, some), expected[some], rtol=1e-12)
    model = unbend.Isomap(n_neighbors=12, directed=True).fit(CURVE.points)
    np.testing.assert_allclose(model.geodesics_, expected, rtol=1e-12)
    union = unbend.Isomap(n_neighbors=12).fit(CURVE.points)
    assert np.all(model.geodesics_ >= union.geodesics_ - 1e-12)
    assert np.any(model.geodesics_ > union.geodesics_ + 1e-3)
    assert unbend.quality.procrustes(union.embedding_, model.embedding_) < 0.01
    scaled = unbend.ClassicalMDS(metric="precomputed").fit(expected)
    np.testing.assert_allclose(model.embedding_, scaled.embedding_, atol=1e-8)


def test_a_reloaded_directed_model_places_new_samples_alike(tmp_path):
    model = unbend.Isomap(n_neighbors=12, directed=True).fit(CURVE.points)
    model.save(tmp_path / "model.unbend")
    again = unbend.load(tmp_path / "model.unbend")
    new = CURVE.points[:9] + 0.01
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    np.testing.assert_array_equal(again.geodesics_, model.geodesics_)


def test_rows_that_no_directed_path_joins_are_refused():
    # Rows look at the middle, from which none is reached.
    points = np.array([[0.0], [0.1], [1.0], [5.0], [9.0], [9.9], [10.0]])
    with pytest.raises(ValueError, match="no directed path either way"):
        unbend.Isomap(1, n_neighbors=1, directed=True, connect="bridge").fit(points)


def quarter_cylinder(n, seed):
    """Sample of [0, π/2] × [0, 1] rolled on a circle of radius one, its chart, and its δ."""
    rng = np.random.default_rng(seed)
    chart = rng.uniform(size=(n, 2)) * [np.pi / 2, 1.0]
    points = np.column_stack((np.cos(chart[:, 0]), np.sin(chart[:, 0]), chart[:, 1]))
    grid = np.stack(np.meshgrid(np.linspace(0, np.pi / 2, 160), np.linspace(0, 1, 100)), -1)
    cells = np.hypot(np.pi / 2 / 159, 1 / 99) / 2
    return points, chart, float(cdist(grid.reshape(-1, 2), chart).min(axis=1).max()) + cells


@pytest.mark.parametrize("seed", range(3))
def test_graph_distances_lie_between_the_bounds_of_theorems_8_2_and_8_3(seed):
    points, chart, delta = quarter_cylinder(1500, seed)
    epsilon = 6.0 * delta
    graph = PointSpace(points).within(epsilon).graph()
    true = cdist(chart, chart)
    stepwise, found = s_distances(graph, true), geodesics(graph)
    bounds = geodesic_bounds(epsilon, delta, graph.data.max(), curvature_radius=1.0)
    # S-distances are shortest sums of distances on the manifold; λ₂ of Theorem 8.3 is 4δ/ε, and
    # λ₁ the least for which no edge is longer than (2/π) r₀ √(24 λ₁).
    edges = graph.tocoo()
    steps = csr_array((true[edges.row, edges.col], (edges.row, edges.col)), shape=graph.shape)
    np.testing.assert_allclose(stepwise[:50], dijkstra(steps, indices=range(50)), rtol=1e-12)
    assert bounds.upper - 1 == pytest.approx(4 * delta / epsilon)
    allowed = 2 / np.pi * np.sqrt(24 * (1 - bounds.lower))
    assert allowed == pytest.approx(graph.data.max())
    apart = true > 0
    assert np.all(true <= stepwise * (1 + 1e-12))
    assert np.all(found <= stepwise * (1 + 1e-12))
    assert np.all(stepwise[apart] <= bounds.upper * true[apart])
    assert np.all(found[apart] >= bounds.lower * true[apart])
    assert 0.9 < bounds.lower < 1 < bounds.upper < 2


def test_bounds_have_the_units_of_the_radius():
    small = geodesic_bounds(0.4, 0.05, 0.3, curvature_radius=2.0, branch_separation=0.35)
    large = geodesic_bounds(4.0, 0.5, 3.0, curvature_radius=20.0, branch_separation=3.5)
    assert (small.lower, small.upper) == pytest.approx((large.lower, large.upper))
    assert small.lower == pytest.approx(1 - (np.pi * 0.3 / 4) ** 2 / 24)


def test_bounds_are_unknown_where_their_conditions_fail():
    coarse = geodesic_bounds(0.4, 0.1, 0.4, curvature_radius=1.0)
    assert np.isnan(coarse.upper)
    assert coarse.lower < 1
    jumps = geodesic_bounds(0.4, 0.01, 0.4, curvature_radius=1.0, branch_separation=0.3)
    assert np.isnan(jumps.lower)
    assert np.isnan(geodesic_bounds(9, 0.1, 9, curvature_radius=1.0).lower)
    for wrong in ({"epsilon": 0}, {"delta": -1}, {"longest": np.inf}):
        arguments = {"epsilon": 0.4, "delta": 0.01, "longest": 0.4} | wrong
        with pytest.raises(ValueError, match="is not allowed"):
            geodesic_bounds(**arguments, curvature_radius=1.0)


def test_the_roll_by_s_distances_is_flat():
    roll = swiss_roll(400, random_state=0)
    true = cdist(roll.chart, roll.chart)
    with pytest.raises(ValueError, match="one row and one column for each vertex"):
        s_distances(PointSpace(roll.points).nearest(8).graph(), true[:5, :5])
