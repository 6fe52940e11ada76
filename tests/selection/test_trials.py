"""Trials on a sample: a surface is laid out by the method whose chart fits it best."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.noise.cases import make_cases

import unbend
from tests.loops import sampled
from unbend.methods.rigid_alignment import STRAINED
from unbend.selection.case import Case
from unbend.selection.findings import LAID_OUT, TOGETHER
from unbend.selection.inputs import Sample
from unbend.selection.rules import decide
from unbend.selection.trials import (
    CHARTS,
    FOLDED,
    chart_error,
    compare_charts,
    continues,
    measure_chart,
)


def spiral(n, noise, seed=0):
    """Two turns of a spiral in five columns, and the arc length of each row."""
    rng = np.random.default_rng(seed)
    fine = np.linspace(np.pi, 5 * np.pi, 20_000)
    curve = np.column_stack((fine * np.cos(fine), fine * np.sin(fine), *np.zeros((3, len(fine)))))
    lengths = np.append(0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    s = rng.uniform(0, lengths[-1], n)
    points = np.column_stack([np.interp(s, lengths, column) for column in curve.T])
    return points + rng.normal(scale=noise, size=points.shape), s


def bend(plane):
    """Rows of a half cylinder over a plane."""
    return np.column_stack((np.cos(plane[:, 0]), np.sin(plane[:, 0]), plane[:, 1]))


def error(chart, embedding):
    """Worse share of a coordinate of the chart that the best affine map leaves."""
    functions = np.column_stack((np.ones(len(chart)), embedding))
    rest = chart - functions @ np.linalg.lstsq(functions, chart, rcond=None)[0]
    return np.sqrt((rest.var(axis=0) / chart.var(axis=0)).max())


def test_misfits_know_no_affine_map_and_see_what_is_folded_or_repeated():
    plane = np.random.default_rng(0).uniform(0, [4, 1], size=(600, 2))
    lengths = np.linalg.norm(plane[:150, None] - plane[:150], axis=2)
    right = measure_chart(plane, bend(plane), lengths, np.arange(150))
    assert right[0] < 1e-9
    turned = measure_chart(
        plane @ np.array([[1.0, 0.3], [0.5, -2.0]]) + 7, bend(plane), lengths, np.arange(150)
    )
    assert turned[0] < 1e-9
    assert turned[1] == pytest.approx(right[1])
    folded = np.column_stack((np.abs(plane[:, 0] - 2), plane[:, 1]))
    repeated = np.column_stack((plane[:, 0], plane[:, 0] ** 2))
    for wrong in (folded, repeated):
        geodesics, neighbors = measure_chart(wrong, bend(plane), lengths, np.arange(150))
        assert geodesics > 1e-2
        assert neighbors > 2 * right[1]
    constant = np.column_stack((plane[:, 0], np.ones(600)))
    assert measure_chart(constant, bend(plane), lengths, np.arange(150)) == (np.inf, np.inf)


def test_rows_that_are_misplaced_have_no_part_in_the_error_of_a_chart():
    rng = np.random.default_rng(0)
    plane = rng.uniform(size=(400, 2))
    chart = plane @ np.array([[1.0, 0.3], [0.5, -2.0]]) + 0.01 * rng.normal(size=(400, 2))
    usual = chart_error(plane, chart)
    chart[:8] = chart[8:16]
    assert chart_error(plane, chart) < 2 * usual
    chart[:200, 0] *= -1
    assert chart_error(plane, chart) > 10 * usual


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_estimated_errors_of_charts_are_those_of_the_truth(noise):
    # The charts know the truth up to an affine map, smooth errors and rough ones of three sizes.
    rng = np.random.default_rng(1)
    plane = rng.uniform(0, [4, 2], size=(800, 2))
    rows = bend(plane) + rng.normal(scale=noise, size=(800, 3))
    # From −1 on, since noise moves rows at the edge below zero.
    angle = (np.arctan2(rows[:, 1], rows[:, 0]) + 1) % (2 * np.pi) - 1
    feet = np.column_stack((angle, rows[:, 2]))
    charts = {}
    for size in (0.05, 0.15, 0.4):
        crooked = feet + size * np.column_stack((np.sin(feet[:, 1] * 2), np.cos(feet[:, 0])))
        rough = feet + rng.normal(scale=size / 2, size=feet.shape)
        charts[f"crooked {size}"] = crooked @ np.array([[1.0, 0.3], [0.5, -2.0]])
        charts[f"rough {size}"] = rough @ np.array([[1.0, 0.3], [0.5, -2.0]])
    found = compare_charts(charts, unbend.denoise(rows, 2, patch_size=40), 2)
    for name, chart in charts.items():
        assert found.charts[name].error == pytest.approx(error(feet, chart), rel=0.15, abs=0.01)
    assert found.reference.error < 0.1


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_chart_of_a_curve_is_its_arc_length(noise):
    points, s = spiral(600, noise)
    suggestion = unbend.suggest(points, for_="chart", scale="none")
    found = suggestion.findings
    assert found.verdict == "1"
    assert not found.closed
    best = min(found.charts, key=lambda name: found.charts[name].error)
    assert type(suggestion.estimator).__name__ == best
    position = suggestion.estimator.fit(points).embedding_[:, 0]
    assert abs(np.corrcoef(position, s)[0, 1]) > 0.99


def test_a_ring_closes_with_noise_and_a_noisy_arc_does_not():
    rng = np.random.default_rng(0)
    for turn, closed in ((2 * np.pi, True), (1.4 * np.pi, False)):
        angle = rng.uniform(0, turn, 600)
        points = np.column_stack((np.cos(angle), np.sin(angle), *np.zeros((2, 600))))
        points += rng.normal(scale=0.06, size=points.shape)
        suggestion = unbend.suggest(points, for_="chart", scale="none", dimension=1)
        assert suggestion.findings.closed == closed
        assert suggestion.estimator.n_components == 1 + closed


@sampled("seed", range(3))
def test_the_suggested_chart_is_among_the_best_of_those_tried(seed):
    rng = np.random.default_rng(seed)
    plane = rng.uniform(0, [4, 3], size=(600, 2))
    flat = np.column_stack((plane, np.zeros(600)))
    for points, noise in ((flat, 0.05), (bend(plane), 0.0), (bend(plane), 0.1)):
        noisy = points + rng.normal(scale=noise, size=points.shape)
        suggestion = unbend.suggest(noisy, for_="chart", scale="none", dimension=2)
        errors = {}
        for name in suggestion.findings.charts:
            model = getattr(unbend, name)(n_components=2, **CHARTS[name])
            errors[name] = error(plane, model.fit(noisy).embedding_)
        own = error(plane, suggestion.estimator.fit(noisy).embedding_)
        assert own <= max(1.25 * min(errors.values()), 0.01)
        assert own < 0.5 * max(errors.values()) or points is flat


def test_a_cap_that_is_nearly_flat_is_bent_all_the_same():
    # 97 % of the variance lies in a plane, but the height is a function of the place.
    rng = np.random.default_rng(0)
    radius, angle = 0.6 * np.sqrt(rng.uniform(size=800)), rng.uniform(0, 2 * np.pi, 800)
    turn = np.column_stack((np.cos(angle), np.sin(angle)))
    cap = np.column_stack((np.sin(radius)[:, None] * turn, np.cos(radius)))
    found = unbend.suggest(cap, for_="chart", scale="none")
    assert found.findings.outside < 0.03
    assert type(found.estimator).__name__ != "PCA"
    chart = radius[:, None] * turn
    assert error(chart, found.estimator.fit(cap).embedding_) < 0.7 * error(chart, cap[:, :2])


def test_closed_surfaces_have_no_chart_that_lays_them_out():
    rng = np.random.default_rng(3)
    sphere = rng.normal(size=(700, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    ring = sphere[:, :2] / np.linalg.norm(sphere[:, :2], axis=1, keepdims=True)
    tube = np.column_stack((ring, rng.uniform(0, 2, 700)))
    for points, d in ((sphere, 2), (np.column_stack((ring, np.zeros(700))), 1), (tube, 2)):
        found = unbend.suggest(points, for_="chart", scale="none", dimension=d).findings
        assert found.closed
        best = found.reference
        assert best.geodesics > LAID_OUT or best.neighbors > TOGETHER


@pytest.mark.parametrize(("half", "number"), [("fresh", 2125), ("folded", 3043)])
def test_the_reference_keeps_neighbours_together_though_a_folded_chart_has_less_strain(
    half, number
):
    """Cases for calibration on which the chart of least strain folds, and is far from the truth."""
    case = make_cases(half, number + 1)[number]
    draw = case.draw(0, min(case.n, 1000))
    found = unbend.suggest(draw.rows, for_="chart", scale="none", dimension=case.d).findings
    assert found.reference.neighbors < FOLDED
    charts = {}
    for name in ("PCA", found.chart):
        model = getattr(unbend, name)(n_components=case.d, **CHARTS[name]).fit(draw.rows)
        charts[name] = error(draw.foot_chart[draw.regular], model.embedding_[draw.regular])
    assert charts[found.chart] < 0.7 * charts["PCA"]


def test_where_every_chart_folds_the_answer_says_so():
    """But only as many coordinates are named as there are known to be dimensions."""
    found = unbend.suggest(
        unbend.datasets.swiss_roll(300, random_state=0).points, for_="chart"
    ).findings
    folded = replace(found, reference=replace(found.reference, neighbors=0.9))
    for name in ("Isomap", "PCA"):
        # Distances from a folded reference mean nothing.
        together = replace(found.charts[name], error=0.9, neighbors=0.0)
        charts = {**found.charts, name: together}
        method, why, _ = decide(Case(replace(folded, charts=charts), "chart", None, "euclidean"))
        assert (type(method).__name__, method.n_components) == (name, 2)
        assert "no chart is sure" in why
        assert f"{name} keeps neighbours together best" in why
    unknown = replace(folded, low=1, high=13, dimension=13)
    assert "folds" not in decide(Case(unknown, "chart", None, "euclidean"))[1]


def test_the_chart_nearest_to_the_reference_is_named():
    points, _ = spiral(300, 0.0)
    found = unbend.suggest(points, for_="chart", scale="none").findings
    near = replace(found.charts["LTSA"], error=0.1)
    charts = {"LTSA": near, "PCA": replace(near, error=0.12)}
    method, why, others = decide(Case(replace(found, charts=charts), "chart", None, "euclidean"))
    assert type(method).__name__ == "LTSA"
    assert why.startswith("LTSA lays some rows out best")
    assert "0.1 (LTSA), 0.12 (PCA)" in why
    assert [type(other).__name__ for other in others] == ["PCA"]


def test_a_method_is_a_guess_where_every_chart_is_unlike_the_reference():
    points, _ = spiral(300, 0.0)
    found = unbend.suggest(points, for_="chart", scale="none").findings
    unlike = replace(found.charts["LTSA"], error=0.96)
    charts = {"LTSA": unlike, "PCA": replace(unlike, error=0.97)}
    _, why, _ = decide(Case(replace(found, charts=charts), "chart", None, "euclidean"))
    assert why.startswith("LTSA is a guess")
    assert "at least 0.96 of its spread" in why


def test_strain_that_no_chart_avoids_is_stated():
    """A torus has no flat chart, and distances from the least strained one do not show that."""
    first, second = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(2, 1000))
    out = 2 + 0.7 * np.cos(second)
    torus = np.column_stack((out * np.cos(first), out * np.sin(first), 0.7 * np.sin(second)))
    strained = unbend.suggest(torus, for_="chart", scale="none")
    assert strained.findings.reference.error > STRAINED
    assert f"changes lengths by {strained.findings.reference.error:.0%}" in strained.reasons[1]
    assert "cannot be flattened to 2 coordinates" in strained.reasons[1]
    points, _ = spiral(300, 0.0)
    assert "flattened" not in unbend.suggest(points, for_="chart", scale="none").reasons[1]


def test_an_outlier_makes_no_bowl_of_a_plane():
    roll = unbend.datasets.swiss_roll(600, random_state=0).points
    suggestion = unbend.suggest(np.concatenate((roll, [[1e9, 0.0, 0.0]])), for_="chart")
    charts = suggestion.findings.charts
    assert charts[type(suggestion.estimator).__name__].error < 0.1
    assert "bowl" not in suggestion.reasons[1]


def arcs(gap, shift=0.0, n=300):
    """Two pieces of a circle with a gap, the second moved outwards; and their angles."""
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 2.4, n))
    angle[n // 2 :] += gap
    points = np.column_stack((np.cos(angle), np.sin(angle), 0.1 * np.sin(3 * angle)))
    points[n // 2 :] += shift * np.array([np.cos(1.2), np.sin(1.2), 0.0])
    return points, angle


def test_a_curve_with_a_gap_is_a_curve_and_not_two_clusters():
    points, angle = arcs(0.5)
    suggestion = unbend.suggest(points, for_="chart", scale="none")
    assert suggestion.findings.parts == 2
    assert not suggestion.findings.clustered
    chart = suggestion.estimator.fit(points).embedding_
    assert error(angle[:, None], chart) < 0.03
    apart = unbend.suggest(arcs(0.0, 4.0)[0], for_="chart", scale="none")
    assert apart.findings.clustered
    assert "2 clusters" in apart.reasons[1]


@pytest.mark.parametrize("purpose", ["chart", "picture"])
def test_many_small_pieces_of_curves_get_an_answer(purpose):
    rng = np.random.default_rng(0)
    pieces = np.linspace(0, 0.3, 25)[:, None] * rng.normal(size=(80, 1, 2))
    points = (pieces + rng.uniform(0, 100, size=(80, 1, 2))).reshape(-1, 2)
    suggestion = unbend.suggest(points, for_=purpose)
    assert suggestion.findings.parts == 0
    assert not suggestion.findings.charts


def test_parts_that_no_bridges_join_do_not_continue_each_other():
    angle = np.linspace(0, 3, 800)
    arc = np.column_stack((np.cos(angle), np.sin(angle)))
    outliers = np.random.default_rng(0).normal(scale=0.01, size=(12, 2)) + 6
    assert not continues(Sample(np.concatenate((arc, outliers)), "euclidean"), 1, 8)


def test_a_chart_has_fewer_coordinates_than_columns_where_the_dimension_allows(monkeypatch):
    monkeypatch.setattr("unbend.selection.findings.decide_dimension", lambda data: (3, 2, 3))
    plane = np.random.default_rng(0).uniform(0, 2, size=(300, 2))
    suggestion = unbend.suggest(bend(plane), for_="chart", scale="none")
    assert "intrinsic dimension between 2 and 3: 2 coordinates" in suggestion.reasons[0]
    assert suggestion.estimator.n_components == 2
    assert suggestion.findings.charts
    assert unbend.suggest(bend(plane), for_="features").estimator.n_components == 3


def test_charts_of_many_or_unknown_dimensions_are_not_tried(monkeypatch):
    monkeypatch.setattr("unbend.selection.findings.try_charts", lambda *_: pytest.fail("tried"))
    rows = np.random.default_rng(0).normal(size=(200, 9))
    for answer in ((5, 5, 5), (4, 1, 9)):
        monkeypatch.setattr(
            "unbend.selection.findings.decide_dimension", lambda data, answer=answer: answer
        )
        assert not unbend.suggest(rows, for_="chart").findings.charts


def heights(plane, kind):
    """Rows of a sheet over a plane: waves, a bowl of a sphere, or an arc that unrolls."""
    x, y = plane.T
    if kind == "waves":
        return np.column_stack((plane, 0.25 * np.sin(2 * x + 0.5) * np.cos(1.5 * y + 1)))
    if kind == "bowl":
        return np.column_stack((plane, np.sqrt(16 - x**2 - y**2)))
    return np.column_stack((2 * np.sin(x / 2), 2 * np.cos(x / 2), y))


@sampled("seed", range(3))
def test_waves_about_a_plane_get_the_plane_and_other_sheets_do_not(seed):
    rng = np.random.default_rng(seed)
    plane = rng.uniform(-2, 2, size=(700, 2))
    waves = unbend.suggest(heights(plane, "waves"), for_="chart", scale="none")
    assert type(waves.estimator).__name__ == "PCA"
    assert "rise and fall about a plane" in waves.reasons[1]
    rows = heights(plane, "waves")
    found = error(plane, waves.estimator.fit(rows).embedding_)
    other = error(plane, unbend.LTSA(denoise="auto").fit(rows).embedding_)
    assert found < 0.9 * other
    arc = unbend.suggest(heights(plane, "arc"), for_="chart", scale="none")
    assert arc.findings.relief == ""
    noisy = heights(plane, "waves") + rng.normal(scale=0.05, size=(700, 3))
    assert unbend.suggest(noisy, for_="chart", scale="none").findings.relief == ""


@sampled("seed", range(3))
def test_a_bowl_is_not_taken_for_its_ground(seed):
    rng = np.random.default_rng(seed)
    away = rng.normal(size=(800, 2))
    away *= np.sqrt(rng.uniform(size=(800, 1))) / np.linalg.norm(away, axis=1, keepdims=True)
    angle = np.linalg.norm(away, axis=1, keepdims=True)
    rows = np.column_stack((np.sin(angle) / angle * away, np.cos(angle)))
    rows += rng.normal(scale=0.02, size=rows.shape)
    found = unbend.suggest(rows, for_="chart", scale="none")
    assert found.findings.relief == "bowl"
    assert type(found.estimator).__name__ == "LTSA"
    assert "the rows lie in a bowl" in found.reasons[1]
    assert error(away, found.estimator.fit(rows).embedding_) < error(away, rows[:, :2])


@sampled("seed", range(3))
def test_the_chart_of_clusters_that_are_apart_fits_without_a_warning(seed):
    rng = np.random.default_rng(seed)
    centers = 12 * rng.normal(size=(5, 5))
    points = centers[np.repeat(np.arange(5), 80)] + rng.normal(size=(400, 5))
    suggestion = unbend.suggest(points, for_="chart", scale="none")
    assert suggestion.findings.parts == 5
    assert "no chart joins them" in suggestion.reasons[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = suggestion.estimator.fit(points).embedding_
    assert np.isfinite(found).all()


@sampled("seed", range(3))
def test_a_bent_cube_of_four_dimensions_gets_a_chart_that_keeps_lengths(seed):
    """Tangent planes of wide neighbourhoods miss the curvature, which LTSA shows."""
    cube = np.random.default_rng(seed).uniform(0, [4, 1, 1, 1], size=(1000, 4))
    angle = 1.2 * cube[:, 0]
    rows = np.column_stack((np.cos(angle), np.sin(angle), cube[:, 1:]))
    suggestion = unbend.suggest(rows, for_="chart", scale="none", dimension=4)
    planes = unbend.LTSA(n_components=4, denoise="auto", n_neighbors="auto").fit(rows)
    found = error(cube, suggestion.estimator.fit(rows).embedding_)
    assert found < 0.95 * error(cube, planes.embedding_)


def test_sheets_that_noise_joins_are_charted_without_short_circuits():
    """On a roll where all charts failed, edges between sheets are removed."""
    case = make_cases("reporting", 1189)[1188]
    draw = case.draw(0, 1000)
    suggestion = unbend.suggest(draw.rows, for_="chart")
    assert suggestion.estimator.short_circuits == "remove"
    truth = draw.foot_chart[draw.regular]
    found = error(truth, suggestion.estimator.fit(draw.rows).embedding_[draw.regular])
    for name in ("LTSA", "Isomap"):
        parameters = {**CHARTS[name], "short_circuits": "keep"}
        other = getattr(unbend, name)(n_components=2, **parameters).fit(draw.rows)
        assert found < 0.6 * error(truth, other.embedding_[draw.regular])
