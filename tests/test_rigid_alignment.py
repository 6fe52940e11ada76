"""Rigid alignment of tangent spaces: the dense oracle, isometric surfaces, noise, new samples."""

import warnings
from functools import cache

import numpy as np
import pytest
from benchmarks.noise.rolls import foot_chart
from scipy.sparse import block_array, csr_array
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

import unbend
from tests.loops import each
from tests.oracles import rigid
from unbend.datasets import SURFACES
from unbend.estimators.neighborhood import Component
from unbend.extension import Barycentric, BarycentricOnSheet, Rule
from unbend.methods.rigid_alignment import (
    LANDMARKS,
    Alignment,
    TangentEdges,
    nearest_orthogonal,
)
from unbend.neighbors import open_space
from unbend.quality import procrustes

FLAT = ("swiss_roll", "s_curve", "swiss_hole")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def motion(truth, found):
    """Error that the best rigid motion leaves, relative to the truth, and the best scale."""
    a, b = truth - truth.mean(axis=0), found - found.mean(axis=0)
    left, values, right = np.linalg.svd(b.T @ a)
    error = np.linalg.norm(a - b @ left @ right) / np.linalg.norm(a)
    return float(error), float(values.sum() / np.square(b).sum())


def component(points, k):
    space = open_space(points)
    return Component(space, space.nearest(k), Rule(k), 1, np.arange(len(points)))


def listed(neighbors):
    """Neighbours of each row, as the oracle takes them."""
    return np.split(neighbors.indices, neighbors.offsets[1:-1])


@cache
def fit_surface(name, n, seed, noise=0.0, **options):
    surface = SURFACES[name](n, noise=noise, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return surface, unbend.RigidAlignment(**options).fit(surface.points)


@pytest.mark.parametrize(("d", "columns"), [(1, 3), (2, 3), (3, 4), (2, 30), (4, 3)])
def test_edges_rotations_charts_and_their_energy_are_those_of_the_oracle(d, columns, rng):
    tangent = rng.uniform(size=(80, 3))
    points = np.tanh(tangent @ rng.normal(size=(3, columns))) + 0.01 * rng.normal(
        size=(80, columns)
    )
    rows = component(points, 9)
    edges = TangentEdges.of(rows, d)
    expected = rigid.tangent_edges(points, listed(rows.neighbors), d)
    # Axes have any sign and, where variances are equal, any turn: lengths and products have none.
    np.testing.assert_array_equal(np.column_stack((edges.first, edges.second)), expected.ends)
    np.testing.assert_allclose(edges.weights, expected.weights, rtol=1e-6)
    inner, outer = (along.reshape(80, 9, d) for along in (edges.unit * edges.along, expected.along))
    products = [along @ along.transpose(0, 2, 1) for along in (inner, outer)]
    np.testing.assert_allclose(products[0], products[1], atol=1e-6 * np.abs(products[1]).max())

    same = rigid.Edges(80, expected.ends, edges.along, edges.weights)
    chart = rng.normal(size=(80, d))
    turns = edges._turns(chart)
    # Directions that a plane does not have are turned anyhow: edges are compared.
    whole = rigid.best_turns(same, chart)[edges.first] @ edges.along[:, :, None]
    turned = edges._turn(turns)
    np.testing.assert_allclose(turned, whole[:, :, 0], atol=1e-9)
    np.testing.assert_allclose(
        edges._join(turned), rigid.best_chart(same, turns.transpose(0, 2, 1)), atol=1e-9
    )
    energy = rigid.energy(same, chart, turns.transpose(0, 2, 1))
    assert edges._energy(chart, turned) == pytest.approx(energy, rel=1e-12)


@each("d", [1, 2, 3])
def test_orthogonal_factors_are_those_of_the_decomposition(d, rng):
    matrices = rng.normal(size=(200, d, d)) * np.exp(rng.uniform(-20, 20, size=(200, 1, 1)))
    left, _, right = np.linalg.svd(matrices)
    np.testing.assert_allclose(nearest_orthogonal(matrices), left @ right, atol=1e-12)


@each("d", [1, 2, 3])
def test_orthogonal_factors_of_singular_matrices_are_orthogonal_and_best(d, rng):
    lines = rng.normal(size=(50, d, 1)) @ rng.normal(size=(50, 1, d))
    matrices = np.concatenate([np.zeros((1, d, d)), lines])
    found = nearest_orthogonal(matrices)
    np.testing.assert_allclose(
        found @ found.transpose(0, 2, 1), np.broadcast_to(np.eye(d), found.shape), atol=1e-12
    )
    kept = np.einsum("nij,nij->n", found, matrices)
    np.testing.assert_allclose(kept, np.linalg.svd(matrices)[1].sum(axis=1), atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_energy_never_rises_over_rounds_and_falls_in_the_end(noise):
    roll = SURFACES["swiss_hole"](1000, noise=noise, random_state=0)
    rows = component(roll.points, 10)
    edges = TangentEdges.of(rows, 2)
    start = unbend.PCA().fit_transform(roll.points)
    found = [edges.align(start, rounds, 0.0) for rounds in range(1, 40)]
    strains = np.array([one.strain for one in found])
    assert np.all(np.diff(strains) <= 1e-9 * strains[:-1])
    assert found[-1].strain < 0.9 * found[0].strain
    assert [one.rounds for one in found] == list(range(1, 40))


def test_momentum_needs_fewer_rounds_than_plain_turns():
    """Plain turns took 709 rounds to converge here."""
    _, model = fit_surface("swiss_hole", 4000, 1, noise=0.5)
    assert model.n_iter_ < 150
    assert model.report_.stage("alignment").facts["converged"]


def test_a_long_strip_is_unbent_before_the_alignment_ends(rng):
    """Rounds move it by less than 1e-4 long before; its second coordinate in LTSA is the first."""
    strip = rng.uniform(size=(3000, 2)) * [200, 2]
    around = strip[:, 0] / 10
    rows = np.column_stack((10 * np.cos(around), 10 * np.sin(around), 3 * around, strip[:, 1]))
    model = unbend.RigidAlignment(max_iter=1500).fit(rows)
    assert not model.report_.warnings
    truth = strip * [np.sqrt(1.09), 1]
    assert motion(truth, model.embedding_)[0] < 1e-3
    assert model.strain_ < 1e-3


@each("name", FLAT)
def test_an_isometric_surface_is_recovered_with_its_lengths(name):
    """Edges are chords: what they are too short by falls as the number of rows grows."""
    fits = [fit_surface(name, 4000, seed, n_neighbors=8) for seed in range(5)]
    found = [motion(surface.chart, model.embedding_) for surface, model in fits]
    errors, scales = zip(*found, strict=True)
    assert np.abs(np.array(scales) - 1).max() < 1e-3
    assert max(errors) < 5e-3


@each("name", FLAT)
def test_a_similarity_leaves_less_than_hessian_lle_and_isomap_do(name):
    own, hessian, isomap = [], [], []
    for seed in range(5):
        surface, model = fit_surface(name, 1000, seed, n_neighbors=8)
        own.append(procrustes(surface.chart, model.embedding_))
        affine = unbend.HessianLLE(n_neighbors=8).fit_transform(surface.points)
        hessian.append(procrustes(surface.chart, affine, kind="affine"))
        geodesic = unbend.Isomap(n_neighbors=8).fit_transform(surface.points)
        isomap.append(procrustes(surface.chart, geodesic))
    assert np.median(own) < 0.5 * np.median(hessian)
    assert np.median(own) < 0.05 * np.median(isomap)


def test_a_long_curve_keeps_its_length():
    """A ridge on the whole system would shrink it."""
    t = np.linspace(0, 300, 20_000)
    curve = np.column_stack((np.cos(t), np.sin(t), 0.3 * t))
    found = unbend.RigidAlignment(1).fit_transform(curve)
    length = t * np.sqrt(1.09)
    error, scale = motion(length[:, None], found)
    assert abs(scale - 1) < 1e-4
    assert error < 1e-4


@each("factor", [2.0**-60, 1e-3, 7.0, 2.0**60])
def test_the_chart_has_the_units_of_the_data(factor):
    surface, model = fit_surface("swiss_roll", 1000, 0, noise=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = unbend.RigidAlignment().fit(factor * surface.points)
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(other.embedding_ / factor, model.embedding_, atol=1e-6 * size)
    assert other.strain_ == pytest.approx(model.strain_, rel=1e-6)


@each("change", ["turned", "permuted"])
def test_motions_and_the_order_of_rows_do_not_change_the_chart_of_landmarks(change, rng):
    surface, model = fit_surface("swiss_roll", 2000, 0, noise=0.3)
    assert len(surface.points) > LANDMARKS
    assert model.report_.stage("alignment").facts["start"] == "geodesics to landmarks"
    order = rng.permutation(2000) if change == "permuted" else np.arange(2000)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0] if change == "turned" else np.eye(3)
    other = unbend.RigidAlignment().fit(surface.points[order] @ turn)
    error, scale = motion(model.embedding_[order], other.embedding_)
    assert error < 1e-6
    assert scale == pytest.approx(1.0, abs=1e-6)


@each("d", [1, 2, 3])
def test_flat_data_have_no_strain_and_are_recovered_exactly(d, rng):
    flat = rng.uniform(size=(400, d)) * np.arange(d, 0, -1)
    if d == 1:  # without gaps, across which neighbourhoods would share too few rows
        flat = np.cumsum(rng.uniform(0.5, 1.5, size=(400, 1)), axis=0)
    axes = np.linalg.qr(rng.normal(size=(5, 5)))[0][:d]
    model = unbend.RigidAlignment(d).fit(flat @ axes + 3.0)
    assert model.strain_ < 1e-7
    assert motion(flat, model.embedding_)[0] < 1e-7
    assert not model.report_.warnings


def test_the_strain_is_the_root_mean_square_error_of_the_edges():
    surface, model = fit_surface("s_curve", 500, 0, noise=0.1)
    graph = csr_array(model.graph_)
    around = np.split(graph.indices, graph.indptr[1:-1])
    edges = rigid.tangent_edges(surface.points, around, 2)
    assert model.strain_ == pytest.approx(rigid.strain(edges, model.embedding_), rel=1e-6)
    assert 0.01 < model.strain_ < 0.5
    assert model.strain_ == model.report_.stage("alignment").facts["strain"]


def test_a_few_torn_edges_do_not_shrink_a_curve():
    """The metric of a curve is the median of all points: the mean is that of the tear."""
    curve = np.arange(300.0)[:, None] * [[0.6, 0.8]]
    edges = TangentEdges.of(component(curve, 6), 1)
    torn = 3.0 * np.arange(300.0)[:, None]
    torn[150:] += 1e6
    scaled = edges.unit * edges._scale(torn)
    np.testing.assert_allclose(np.diff(scaled[:140], axis=0), 1.0, rtol=1e-4)


def test_coordinates_that_the_data_do_not_have_are_warned_of():
    line = np.arange(300.0)[:, None] * [[1.0, 2.0, 3.0]]
    with pytest.warns(UserWarning, match="Coordinate 2 is a function of earlier ones"):
        unbend.RigidAlignment().fit(line)


def test_a_row_with_too_few_neighbours_in_a_graph_is_refused(rng):
    sheet = rng.uniform(size=(60, 2))
    graph = open_space(sheet).nearest(8).graph().tolil()
    graph[7] = 0
    with pytest.raises(ValueError, match=r"1 rows have fewer than the 3 neighbours .*add edges"):
        unbend.RigidAlignment().fit(sheet, graph=csr_array(graph))


def test_pieces_that_one_edge_joins_are_not_unique(rng):
    """Two sheets that one edge joins: each may turn about it."""
    sheets = rng.uniform(size=(2, 60, 2))
    bow = np.vstack([-0.1 - sheets[0], 0.1 + sheets[1]])
    graph = open_space(sheets[0]).nearest(8).graph()
    graph = block_array([[graph, None], [None, open_space(sheets[1]).nearest(8).graph()]]).tolil()
    graph[0, 60] = graph[60, 0] = np.linalg.norm(bow[0] - bow[60])
    with pytest.warns(UserWarning, match="zero eigenvalues") as caught:
        unbend.RigidAlignment().fit(bow, graph=csr_array(graph))
    assert any("rigid pieces" in str(one.message) for one in caught)


def test_the_reach_of_a_row_is_the_distance_of_its_farthest_neighbour_in_the_chart(rng):
    sheet = rng.uniform(size=(100, 2))
    rows = component(sheet, 5)
    found = BarycentricOnSheet.of(rows.space, rows.rule, sheet, rows.neighbors)
    np.testing.assert_allclose(found.reach, KDTree(sheet).query(sheet, 6)[0][:, -1])


def test_axes_are_principal_and_eigenvalues_their_sums_of_squares():
    _, model = fit_surface("swiss_roll", 1000, 0, n_neighbors=8)
    products = model.embedding_.T @ model.embedding_
    np.testing.assert_allclose(np.diag(products), model.eigenvalues_, rtol=1e-12)
    assert abs(products[0, 1]) < 1e-9 * products[0, 0]
    assert model.eigenvalues_[0] > model.eigenvalues_[1]


def test_closed_data_warn_of_strain_and_say_what_to_do(rng):
    ball = rng.normal(size=(600, 3))
    sphere = ball / np.linalg.norm(ball, axis=1, keepdims=True)
    with pytest.warns(UserWarning, match=r"lengths of edges by \d\d% \(strain\).*choose_dimension"):
        model = unbend.RigidAlignment().fit(sphere)
    assert model.strain_ > 0.15
    with pytest.warns(UserWarning, match=r"use fewer neighbours or more rows\.") as caught:
        unbend.RigidAlignment(short_circuits="remove", denoise=True).fit(sphere)
    assert not any("short_circuits='remove'" in str(one.message) for one in caught)


@each("kind", ["graph", "radius", "counts", "distances", "other metric"])
def test_a_strained_chart_asks_for_nothing_that_the_input_rules_out(kind, rng):
    ball = rng.normal(size=(600, 3))
    sphere = ball / np.linalg.norm(ball, axis=1, keepdims=True)
    graph = open_space(sphere).nearest(10).graph()
    fit, words = {
        "graph": (lambda: unbend.RigidAlignment().fit(sphere, graph=graph), "a graph without"),
        "radius": (
            lambda: unbend.RigidAlignment(n_neighbors=None, radius=0.35).fit(sphere),
            "remove', a smaller radius or more rows.",
        ),
        "counts": (
            lambda: unbend.RigidAlignment(n_neighbors=np.full(600, 10)).fit(sphere),
            "remove', fewer neighbours or more rows.",
        ),
        "distances": (
            lambda: unbend.RigidAlignment(metric="precomputed").fit(cdist(sphere, sphere)),
            "remove', fewer neighbours or more rows.",
        ),
        "other metric": (
            lambda: unbend.RigidAlignment(metric="manhattan").fit(sphere),
            "remove', fewer neighbours or more rows.",
        ),
    }[kind]
    with pytest.warns(UserWarning, match=r"\(strain\)") as caught:
        fit()
    said = next(str(one.message) for one in caught if "(strain)" in str(one.message))
    assert words in said
    assert "denoise" not in said
    assert ("short_circuits=" in said) is (kind != "graph")


def test_too_few_rounds_are_reported():
    curve = SURFACES["s_curve"](400, random_state=0)
    with pytest.warns(UserWarning, match="did not converge in 1 iterations. Increase max_iter"):
        model = unbend.RigidAlignment(max_iter=1).fit(curve.points)
    assert model.n_iter_ == 1


@each("seed", range(3))
def test_geodesics_rescue_a_fit_that_begins_with_a_folded_chart(seed):
    """The width of a noisy roll is a function of its length in the chart of LTSA."""
    surface, model = fit_surface("swiss_roll", 2000, seed, noise=0.4)
    assert model.report_.stage("alignment").facts["start"] == "geodesics to landmarks"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = unbend.LTSA().fit_transform(surface.points)
    folded = TangentEdges.of(component(surface.points, 10), 2).align(start, 100, 1e-4)
    assert isinstance(folded, Alignment)
    assert procrustes(surface.chart, folded.chart) > 0.05
    assert procrustes(surface.chart, model.embedding_) < 0.01
    assert model.strain_ < folded.strain


@each("name", FLAT)
def test_new_samples_on_the_surface_are_placed_near_their_chart(name):
    surface, model = fit_surface(name, 2000, 0)
    fresh = SURFACES[name](500, random_state=1)
    a, b = surface.chart.mean(axis=0), model.embedding_.mean(axis=0)
    left, _, right = np.linalg.svd((model.embedding_ - b).T @ (surface.chart - a))
    placed = (model.transform(fresh.points) - b) @ left @ right + a
    away = np.linalg.norm(placed - fresh.chart, axis=1)
    reach = np.median(KDTree(surface.chart).query(surface.chart, 11)[0][:, -1])
    assert np.sqrt(np.mean(away**2)) < 0.05 * reach
    assert away.max() < 0.2 * reach


def between_sheets(roll, count, rng):
    """Points half-way between a row and the row beyond it on the next turn."""
    tree, points = KDTree(roll.points), roll.points
    radius = np.hypot(points[:, 0], points[:, 2])
    inner = rng.choice(np.flatnonzero(radius < radius.max() - 7), count, replace=False)
    outward = 1 + 2 * np.pi / radius[inner, None]
    beyond = points[inner] * np.column_stack((outward, np.ones(count), outward))
    return (points[inner] + points[tree.query(beyond)[1]]) / 2


def test_a_sample_between_two_sheets_is_placed_on_one_of_them(rng):
    roll, model = fit_surface("swiss_roll", 3000, 0)
    new = between_sheets(roll, 60, rng)
    near = KDTree(roll.points).query(new, 10)[1]
    assert all(np.ptp(roll.chart[rows, 0]) > 20 for rows in near)

    def nearest(placed):
        """Distance to the nearest chart of the ten nearest rows."""
        return np.linalg.norm(model.embedding_[near] - placed[:, None], axis=2).min(axis=1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unbend.OutOfDistributionWarning)
        assert nearest(model.transform(new)).max() < 2.0
    # Weights over both sheets place all of them in the middle, turns away from either.
    plain = Barycentric(open_space(roll.points), Rule(10), model.embedding_)
    assert nearest(plain(new)).min() > 10.0


def test_samples_near_one_sheet_have_the_weights_of_all_their_neighbours(rng):
    roll, model = fit_surface("swiss_roll", 3000, 0)
    new = roll.points[:50] + 0.01 * rng.normal(size=(50, 3))
    plain = Barycentric(open_space(roll.points), Rule(10), model.embedding_)
    np.testing.assert_allclose(model.transform(new), plain(new), atol=1e-9)


def test_a_saved_model_places_samples_between_sheets_as_before(tmp_path, rng):
    roll, model = fit_surface("swiss_roll", 3000, 0)
    new = between_sheets(roll, 20, rng)
    model.save(tmp_path / "roll.unbend")
    again = unbend.load(tmp_path / "roll.unbend")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unbend.OutOfDistributionWarning)
        np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.strain_ == model.strain_


@each("seed", range(2))
def test_a_denoised_chart_is_nearer_to_the_foot_points_than_that_of_ltsa(seed):
    roll, model = fit_surface("swiss_roll", 3000, seed, noise=0.5, denoise="auto")
    feet, certain = foot_chart(roll.points)
    other = unbend.LTSA(denoise="auto").fit_transform(roll.points)
    assert certain.mean() > 0.9
    own = procrustes(feet[certain], model.embedding_[certain])
    # Even the best affine map of LTSA's leaves more than a similarity of this one.
    assert 10 * own < procrustes(feet[certain], other[certain], kind="affine")
    assert motion(feet[certain], model.embedding_[certain])[1] == pytest.approx(1.0, abs=0.02)
