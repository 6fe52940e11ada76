"""Short circuits: edges that jump, as the chart shows, are found, and no others."""

import warnings
from itertools import product

import numpy as np
import pytest
import sklearn.datasets
import sklearn.manifold
from scipy.sparse import csr_array

import unbend
from tests.loops import each
from unbend.datasets import s_curve, swiss_roll
from unbend.graphs import components, detours, find_short_circuits, tangent_tilts, undirected
from unbend.graphs.edge_pairs import row_quantiles, undirected_pairs
from unbend.graphs.short_circuits import REMEDY, handle_short_circuits
from unbend.neighbors import DistanceSpace, Neighbors, PointSpace
from unbend.quality import procrustes
from unbend.selection.format import describe_remedy

METHODS = [unbend.LTSA, unbend.HessianLLE, unbend.RigidAlignment, unbend.Isomap]


def roll(seed: int, n: int = 500):
    return swiss_roll(n, sampling="parameter", random_state=seed)


def jumps_of(surface, neighbors: Neighbors) -> set[tuple[int, int]]:
    """Edges whose ends are more than three times as far apart in the chart as in space."""
    chart = surface.chart
    apart = np.linalg.norm(chart[neighbors.rows] - chart[neighbors.indices], axis=1)
    far = apart > 3 * neighbors.distances
    ends = np.sort(np.column_stack((neighbors.rows, neighbors.indices))[far], axis=1)
    return set(map(tuple, ends.tolist()))


def pairs(found) -> set[tuple[int, int]]:
    return set(map(tuple, found.edges.tolist()))


@each("seed", range(12))
def test_the_jumps_of_a_coarse_roll_are_found_and_nothing_else(seed):
    surface = roll(seed)
    neighbors = PointSpace(surface.points).nearest(10)
    assert pairs(find_short_circuits(surface.points, 2, 10)) == jumps_of(surface, neighbors)


@each("count", [1, 4, 10])
@each("seed", range(3))
def test_injected_edges_are_found_and_nothing_else(seed, count):
    surface = swiss_roll(1500, random_state=100 + seed)
    points = surface.points
    neighbors = PointSpace(points).nearest(10)
    assert not jumps_of(surface, neighbors)
    rng = np.random.default_rng(seed)
    first, second = [], []
    for row in rng.permutation(len(points)):
        away = np.linalg.norm(points - points[row], axis=1)
        across = np.linalg.norm(surface.chart - surface.chart[row], axis=1) > 4 * away
        across[row] = False
        if across.any() and len(first) < count:
            first.append(row)
            second.append(np.flatnonzero(across)[np.argmin(away[across])])
    lengths = np.linalg.norm(points[first] - points[second], axis=1)
    graph = neighbors.add_edges(np.array(first), np.array(second), lengths)
    found = find_short_circuits(points, 2, graph)
    assert pairs(found) == jumps_of(surface, graph)
    remaining = found.remove_from(graph)
    assert np.array_equal(remaining.indices, neighbors.indices)


@each("seed", range(30))
def test_an_edge_that_turns_the_plane_of_its_own_end_is_found(seed):
    """One to each of the ten nearest rows across, from a row of a coarse roll without jumps."""
    surface = swiss_roll(700, random_state=200 + seed)
    points, chart = surface.points, surface.chart
    neighbors = PointSpace(points).nearest(10)
    own = jumps_of(surface, neighbors)
    row = int(np.random.default_rng(seed).integers(700))
    away = np.linalg.norm(points - points[row], axis=1)
    apart = np.linalg.norm(chart - chart[row], axis=1)
    across = np.flatnonzero(apart > 4 * away)
    for other in across[np.argsort(away[across])[:10]]:
        ends, lengths = np.array([row, other]), np.full(2, away[other])
        graph = neighbors.add_edges(ends, ends[::-1], lengths)
        found = pairs(find_short_circuits(points, 2, graph))
        assert found == own | {(min(row, int(other)), max(row, int(other)))}


def folded(n: int, radius: float, seed: int) -> np.ndarray:
    """Two plates joined by a half cylinder at negative x, not wider than neighbourhoods."""
    rng = np.random.default_rng(seed)
    along = rng.uniform(-2 - np.pi / 2 * radius, 2 + np.pi / 2 * radius, n)
    angle = np.clip(along / radius, -np.pi / 2, np.pi / 2)
    beyond = np.abs(along - radius * angle)
    return np.column_stack(
        (beyond - radius * np.cos(angle), radius * np.sin(angle), rng.uniform(0, 1.3, n))
    )


def test_a_bend_as_tight_as_neighbourhoods_rarely_loses_edges():
    torn = []
    for n, radius, seed in product((350, 500, 700), (0.12, 0.15, 0.2, 0.25), range(20)):
        points = folded(n, radius, seed)
        found = find_short_circuits(points, 2, 10)
        torn.append(np.any(points[found.edges, 0] < 0))
    assert np.mean(torn) <= 0.05


def ring(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack((np.cos(angle), np.sin(angle)))


def harmless(name: str, seed: int, n: int = 800) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if name == "circle":
        return ring(rng, n)
    if name == "cylinder":
        return np.column_stack((ring(rng, n), rng.uniform(0, 3, n)))
    if name == "sphere":
        points = rng.normal(size=(n, 3))
        return points / np.linalg.norm(points, axis=1)[:, None]
    if name == "torus":
        tube = rng.uniform(0, 2 * np.pi, n)
        wide = (2 + 0.8 * np.cos(tube))[:, None] * ring(rng, n)
        return np.column_stack((wide, 0.8 * np.sin(tube)))
    flat = rng.uniform(-1, 1, (n, 2))
    if name == "crease":
        return np.column_stack((flat, np.abs(flat[:, 0])))
    if name == "hole":
        flat = flat[np.linalg.norm(flat, axis=1) > 0.4]
        return np.column_stack((flat, np.sin(2 * flat[:, 0])))
    if name == "uneven":
        along = (np.sqrt(1 + rng.random(n) * 399) - 1) / 19
        return np.column_stack((along, flat[:, 0] / 4, np.sin(3 * along)))
    if name == "clusters":
        return rng.normal(size=(5, 6))[rng.integers(5, size=n)] * 4 + rng.normal(size=(n, 6))
    assert name == "noise"
    return np.column_stack((flat, 0.1 * rng.normal(size=n)))


HARMLESS = [
    "circle", "cylinder", "sphere", "torus", "crease", "hole", "uneven", "clusters", "noise",
]  # fmt: skip


@each("name", HARMLESS)
def test_loops_holes_creases_clusters_and_noise_lose_no_edge(name):
    for seed in range(3):
        assert not len(find_short_circuits(harmless(name, seed), 2, 10))


def test_sheets_that_only_jumps_join_stay_joined():
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(500, 2))
    plates = np.column_stack((flat, 0.14 * rng.integers(2, size=500)))
    neighbors = PointSpace(plates).nearest(10)
    across = plates[neighbors.rows, 2] != plates[neighbors.indices, 2]
    assert across.any()
    remaining = find_short_circuits(plates, 2, neighbors).remove_from(neighbors)
    assert components(remaining.graph()).max() == components(neighbors.graph()).max() == 0


@each("seed", range(4))
def test_removal_is_symmetric_and_keeps_components(seed):
    surface = roll(seed)
    neighbors = PointSpace(surface.points).nearest(10)
    found = find_short_circuits(surface.points, 2, neighbors)
    remaining = found.remove_from(neighbors)
    assert components(remaining.graph()).max() == components(neighbors.graph()).max()
    edges = undirected(remaining).lengths
    assert not any(edges[i, j] or edges[j, i] for i, j in found.edges)
    assert len(neighbors.indices) - len(remaining.indices) <= 2 * len(found)


def test_a_row_between_two_sheets_stays_with_the_nearer_one():
    rng = np.random.default_rng(0)
    # Two plates 1 apart, joined by a half cylinder at x = 0, and a row in the gap.
    x, y = rng.uniform(0, 8, 2400), rng.uniform(0, 4, 2400)
    angle = rng.uniform(-np.pi / 2, np.pi / 2, 450)
    fold = np.column_stack((-0.5 * np.cos(angle), rng.uniform(0, 4, 450), 0.5 * np.sin(angle)))
    level = np.where(np.arange(2400) < 1200, -0.5, 0.5)
    points = np.vstack((np.column_stack((x, y, level)), fold, [[6.0, 2.0, 0.05]]))
    neighbors = PointSpace(points).nearest(10)
    remaining = find_short_circuits(points, 2, neighbors).remove_from(neighbors)
    graph = undirected(remaining).lengths
    side = points[graph[[len(points) - 1]].indices, 2]
    assert len(side)
    assert np.ptp(side) == 0


@each("seed", [0, 1])
def test_distances_show_the_same_jumps_as_points(seed):
    points = roll(seed).points
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    neighbors = PointSpace(points).nearest(10)
    by_points = find_short_circuits(points, 2, neighbors)
    assert len(by_points)
    assert pairs(find_short_circuits(DistanceSpace(distances), 2, neighbors)) == pairs(by_points)


@each("scale", [1e-30, 1.0, 1e30])
def test_units_and_rotations_change_nothing(scale):
    points = roll(0).points
    turned = points @ np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0] * scale
    assert pairs(find_short_circuits(turned, 2)) == pairs(find_short_circuits(points, 2))


def test_numbers_of_duplicate_rows_are_those_of_the_first():
    points = roll(0).points
    twice = np.repeat(points, 2, axis=0)
    once = find_short_circuits(points, 2)
    assert np.array_equal(find_short_circuits(twice, 2).edges, 2 * once.edges)


def test_of_a_bare_graph_only_long_edges_are_found():
    n = 60
    rows = np.repeat(np.arange(n), 4)
    columns = (rows + np.tile([1, 2, -1, -2], n)) % n
    lengths = np.tile([1.0, 2.0, 1.0, 2.0], n)
    ring_of_triangles = csr_array((lengths, (rows, columns)), shape=(n, n))
    assert not len(find_short_circuits(Neighbors.from_edges(n, rows, columns, lengths)))
    chord = ring_of_triangles.tolil()
    chord[3, 33] = 6.0
    edges = chord.tocoo()
    found = find_short_circuits(Neighbors.from_edges(n, edges.row, edges.col, edges.data))
    assert pairs(found) == {(3, 33)}
    assert found.reasons == ("length",)
    assert found.d is None


def worst_share(method, surface, policy: str) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat = method(n_neighbors=10, short_circuits=policy).fit_transform(surface.points)
    return max(procrustes(c[:, None], flat, kind="affine") for c in surface.chart.T)


@each("method", METHODS)
def test_fits_of_coarse_rolls_recover_the_chart(method):
    for seed in range(4):
        surface = roll(seed)
        if jumps_of(surface, PointSpace(surface.points).nearest(10)):
            assert worst_share(method, surface, "keep") > 0.2
        assert worst_share(method, surface, "remove") < 0.04


def test_each_policy_reports_what_it_did():
    points = roll(0).points
    with pytest.warns(UserWarning, match="4 edges jump between sheets.*they were removed"):
        removed = unbend.LTSA(n_neighbors=10, short_circuits="remove").fit(points)
    with pytest.warns(UserWarning, match="may fold or tear there. Pass short_circuits='remove'"):
        warned = unbend.LTSA(n_neighbors=10, short_circuits="warn").fit(points)
    kept = unbend.LTSA(n_neighbors=10, short_circuits="keep").fit(points)
    assert removed.report_.stage("graph").facts["short_circuits"] == 4
    assert "short_circuits" not in kept.report_.stage("graph").facts
    assert np.array_equal(warned.embedding_, kept.embedding_)
    assert removed.graph_.nnz < kept.graph_.nnz
    assert np.allclose(removed.transform(points), removed.embedding_, atol=1e-8)


RUINED = [
    unbend.Isomap, unbend.LandmarkIsomap, unbend.LTSA, unbend.HessianLLE, unbend.RigidAlignment,
    unbend.LLE, unbend.SupervisedLLE, unbend.MVU, unbend.LandmarkMVU,
]  # fmt: skip
SPARED = [unbend.LaplacianEigenmaps, unbend.DiffusionMaps, unbend.NeighborEmbedding]


@each("method", RUINED)
def test_methods_whose_charts_a_jump_ruins_warn_by_default(method):
    surface = roll(0, 300 if method is unbend.MVU else 500)
    jumps = jumps_of(surface, PointSpace(surface.points).nearest(10))
    assert jumps
    said = rf"^{len(jumps)} edges jump between sheets.*Pass short_circuits='remove', or use fewer"
    with pytest.warns(UserWarning, match=said):
        model = method(n_neighbors=10).fit(surface.points, np.arange(len(surface.points)) % 3)
    assert model.report_.stage("graph").facts["short_circuits"] == len(jumps)


@each("method", SPARED)
def test_other_methods_search_only_when_asked(method):
    points = roll(0).points
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*between sheets of the data")
        plain = method(n_neighbors=10).fit(points)
    assert "short_circuits" not in plain.report_.stage("graph").facts
    with pytest.warns(UserWarning, match="4 edges jump between sheets"):
        method(n_neighbors=10, short_circuits="warn").fit(points)


@each("name", HARMLESS)
def test_default_fits_of_data_without_jumps_do_not_warn_of_them(name):
    for seed, k in product(range(10, 13), (8, 10, 14)):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*between sheets of the data")
            unbend.LTSA(n_neighbors=k).fit(harmless(name, seed, 500))


@each("data", ["digits", "swiss_roll", "s_curve", "square", "punched_sphere", "turning_circle"])
def test_default_fits_of_known_data_do_not_warn_of_jumps(data):
    if data == "digits":
        points = sklearn.datasets.load_digits().data
    else:
        points = getattr(unbend.datasets, data)(800, random_state=0).points
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*between sheets of the data")
        model = unbend.LLE().fit(points)
    assert model.report_.stage("graph").facts["short_circuits"] in (0, "not determined")


def test_sparse_graphs_are_not_warned_of():
    """With few neighbours edges of a sheet have long ways around, too."""
    points = s_curve(150, random_state=0).points
    assert len(find_short_circuits(points, 2, 5)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = unbend.Isomap(n_neighbors=5).fit(points)
    assert model.report_.stage("graph").facts["short_circuits"] == "not determined"


@each("seed", range(6))
def test_near_detours_acquit_only_what_paths_over_all_rows_acquit(seed, monkeypatch):
    """Half of the pairs are true jumps, of a number of pairs from one on."""
    surface = swiss_roll(3000, random_state=seed)
    points = surface.points
    neighbors = PointSpace(points).nearest(10)
    rng = np.random.default_rng(seed)
    entries = rng.choice(len(neighbors.indices), 1 + seed, replace=False)
    harmless_ones = undirected_pairs(neighbors, entries)
    monkeypatch.setattr(detours, "NEARBY", 0)
    limits = detours._limits(harmless_ones, row_quantiles(neighbors, 0.5))[1]
    near = detours._have_near_detours(neighbors, harmless_ones, limits)
    monkeypatch.setattr(detours, "NEARBY", np.inf)
    assert not len(detours.without_detour(neighbors, harmless_ones)[0])
    assert near
    first = int(rng.integers(3000))
    away = np.linalg.norm(points - points[first], axis=1)
    apart = np.linalg.norm(surface.chart - surface.chart[first], axis=1)
    second = int(np.argmin(np.where(apart > 5 * away, away, np.inf)))
    both, lengths = np.array([first, second]), np.full(2, away[second])
    jumping = neighbors.add_edges(both, both[::-1], lengths)
    place = np.flatnonzero((jumping.rows == first) & (jumping.indices == second))
    jump = undirected_pairs(jumping, place)
    monkeypatch.setattr(detours, "NEARBY", 0)
    assert not detours._have_near_detours(
        jumping, jump, detours._limits(jump, row_quantiles(jumping, 0.5))[1]
    )
    assert len(detours.without_detour(jumping, jump)[0]) == 1


def test_a_search_that_does_not_fit_in_memory_names_the_way_out():
    space = PointSpace(swiss_roll(20_000, random_state=0).points)
    neighbors = space.nearest(10)
    with unbend.memory_limit(3_000_000), pytest.raises(MemoryError, match="short_circuits='keep'"):
        handle_short_circuits(space, neighbors, "warn", 2, 10, False)


def test_a_given_graph_is_not_changed():
    points = roll(0).points
    neighbors = PointSpace(points).nearest(10)
    with pytest.warns(UserWarning, match="Remove them by graphs.find_short_circuits"):
        given = unbend.Isomap(short_circuits="remove").fit(points, graph=neighbors.graph())
    assert given.graph_.nnz == len(neighbors.indices)


def test_rows_that_lose_neighbours_get_those_of_their_neighbours():
    points = roll(3).points
    space = PointSpace(points)
    with pytest.warns(UserWarning, match="they were removed"):
        filled = handle_short_circuits(space, space.nearest(10), "remove", 2, 10, False)
    cut = pairs(find_short_circuits(points, 2))
    assert filled.counts.min() >= 10
    ends = np.sort(np.column_stack((filled.rows, filled.indices)), axis=1)
    assert not cut & set(map(tuple, ends.tolist()))


def test_threads_change_no_bit():
    points = roll(0).points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (
            unbend.LTSA(short_circuits="remove", n_jobs=jobs).fit_transform(points)
            for jobs in (1, 2)
        )
    assert np.array_equal(one, two)


def test_clean_data_give_the_bits_of_kept_edges():
    points = s_curve(1000, random_state=0).points
    assert np.array_equal(
        unbend.LTSA(short_circuits="remove").fit_transform(points),
        unbend.LTSA(short_circuits="keep").fit_transform(points),
    )


def test_what_is_not_determined_is_reported():
    found = find_short_circuits(harmless("noise", 0), 2)
    assert "not determined" in str(found)
    assert "of the edges leave the 2-dimensional tangent planes" in found.undetermined


def test_the_result_prints_edges_and_reasons():
    found = find_short_circuits(roll(1).points, 2)
    text = str(found)
    assert f"{len(found)} edges jump between sheets" in text
    assert text.count("tilt") == 1 + min(len(found), 10)
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"d": 0}, ValueError, "d"),
        ({"d": 1.5}, TypeError, "d"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors"),
        ({"n_neighbors": 500}, ValueError, "n_neighbors"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        find_short_circuits(roll(0).points, **arguments)


def test_a_graph_of_other_points_is_refused():
    with pytest.raises(ValueError, match="the graph has 300 points and X has 500"):
        find_short_circuits(roll(0).points, 2, PointSpace(roll(0, 300).points).nearest(5))


@each("n, sampling, seed", [(500, "parameter", 0), (500, "parameter", 1), (1500, "area", 0)])
def test_advice_counts_the_jumps_of_the_truth_and_is_silent_without(n, sampling, seed):
    surface = swiss_roll(n, sampling=sampling, random_state=seed)
    true = len(jumps_of(surface, PointSpace(surface.points).nearest(10)))
    assert (true > 0) == (sampling == "parameter")
    report = unbend.graphs.consistency(surface.points, 2, n_neighbors=10)
    advice = unbend.suggest(surface.points)
    assert report.short_circuits == advice.findings.short_circuits == true
    for text in (str(report), str(advice)):
        assert text.count("between sheets of the data") == (true > 0)
        assert ("short_circuits='remove'" in text) == (true > 0)
    assert not (true and report.passes)


def test_the_advice_of_consistency_unfolds_the_roll():
    surface = roll(0)
    assert "short_circuits='remove'" in unbend.graphs.consistency(surface.points, 2, 10).advice()
    folded = unbend.Isomap(n_neighbors=10).fit(surface.points)
    with pytest.warns(UserWarning, match="were removed"):
        flat = unbend.Isomap(n_neighbors=10, short_circuits="remove").fit(surface.points)
    errors = [procrustes(surface.chart, one.embedding_) for one in (folded, flat)]
    assert errors[1] < 0.1 * errors[0]


@each("seed", range(4))
def test_the_choice_of_neighbors_names_the_jumps_that_are_left(seed):
    surface = roll(seed)
    choice = unbend.choose_neighbors(surface.points)
    left = len(jumps_of(surface, PointSpace(surface.points).nearest(choice.n_neighbors)))
    assert ("between sheets of the data" in str(choice)) == (left > 0)


def test_duplicate_rows_hide_no_short_circuit_from_the_suggestion():
    surface = roll(0)
    doubled = np.concatenate((surface.points, surface.points[:200]))
    found = unbend.suggest(surface.points).findings.short_circuits
    assert unbend.suggest(doubled).findings.short_circuits == found > 0
    report = unbend.graphs.consistency(doubled, 2, n_neighbors=10)
    assert report.short_circuits == found


def test_the_remedy_is_one_that_the_method_has():
    def remark(method, **wanted):
        return describe_remedy(method.set_params(**wanted), None)

    assert remark(unbend.Isomap()) == REMEDY
    assert "pass" not in remark(unbend.Isomap(), short_circuits="remove")
    assert "methods of neighbourhood graphs" in remark(unbend.MetricMDS())
    choice = unbend.choose_neighbors(roll(1).points, method=sklearn.manifold.Isomap)
    assert "pass short_circuits" not in str(choice)
    few = unbend.suggest(roll(0).points)
    assert few.estimator.n_neighbors < 10
    assert f"the method takes {few.estimator.n_neighbors}" in str(few)
    assert "or use fewer" not in str(few)


def test_advice_on_a_graph_in_parts_asks_for_no_fewer_neighbours():
    """Short circuits want fewer neighbours, components more: only removal serves both."""
    surface = roll(0)
    apart = np.concatenate((surface.points, surface.points + np.array([200.0, 0, 0])))
    report = unbend.graphs.consistency(apart, 2, n_neighbors=10)
    assert report.short_circuits
    assert len(report.sizes) == 2
    assert "short_circuits='remove'" in report.advice()
    assert "fewer neighbours" not in report.advice()


def test_edges_that_are_clearly_disordered_are_not_all_judged(monkeypatch):
    """A sample of planes decides where noise rules: all of them would take most of the time."""
    columns = np.column_stack((swiss_roll(5000, random_state=0).points, np.zeros((5000, 27))))
    noisy = columns + np.random.default_rng(0).normal(scale=0.1, size=columns.shape)
    monkeypatch.setattr(tangent_tilts, "_angles_at_ends", lambda *_: pytest.fail("all judged"))
    assert "leave the 2-dimensional" in find_short_circuits(noisy, 2, 40).undetermined


def test_fits_of_rows_without_tangent_planes_do_not_search(monkeypatch):
    """Rows of ten dimensions are no surface of two, which few neighbourhoods show."""
    searched = []
    monkeypatch.setattr(
        "unbend.graphs.short_circuits.judge_edges", lambda *given: searched.append(given)
    )
    rows = np.random.default_rng(0).normal(size=(300, 10))
    model = unbend.Isomap(n_neighbors=10).fit(rows)
    assert model.report_.stage("graph").facts["short_circuits"] == "not determined"
    assert not searched
