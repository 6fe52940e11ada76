"""Consistency of data graphs: what is wrong is said, and the number named instead is right."""

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unbend
from tests.loops import each, sampled
from tests.oracles import neighbors as oracle
from tests.stages.drawn import LAW, lattice, rngs
from unbend.datasets import SURFACES
from unbend.graphs import consistency
from unbend.neighbors import DistanceSpace, PointSpace
from unbend.quality import procrustes


@cache
def sample(surface, n, noise, seed):
    return SURFACES[surface](n, noise=noise, random_state=seed)


def recovered(surface, k, **parameters):
    """R² of the chart's coordinate that LTSA shows worst."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = unbend.LTSA(n_neighbors=k, n_jobs=2, **parameters).fit_transform(surface.points)
    return 1 - max(procrustes(c[:, None], found, kind="affine") for c in surface.chart.T)


def assert_noise_is_told_and_the_number_named_is_right(surface, n, noise, seed, k):
    data = sample(surface, n, noise, seed)
    report = consistency(data.points, 2, k)
    assert report.ruled_by_noise
    assert not report.passes
    assert "noise rules the neighbourhoods" in str(report)
    assert f"with room to spare is {report.suggested}" in str(report)
    assert recovered(data, k) < 0.9
    assert recovered(data, report.suggested) >= 0.9
    assert not consistency(data.points, 2, report.suggested).ruled_by_noise


@sampled("seed", range(3))
@pytest.mark.parametrize(
    ("n", "noise", "k"), [(3000, 0.2, 10), (10_000, 0.05, 9), (10_000, 0.1, 12)]
)
def test_where_noise_rules_another_number_of_neighbours_is_named_that_recovers_the_roll(
    n, noise, k, seed
):
    assert_noise_is_told_and_the_number_named_is_right("swiss_roll", n, noise, seed, k)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("noise", [0.02, 0.05])
def test_noise_on_a_hundred_thousand_points_needs_the_number_named(noise):
    assert_noise_is_told_and_the_number_named_is_right("swiss_roll", 100_000, noise, 0, 12)


@sampled("seed", range(3))
@pytest.mark.parametrize("surface", ["swiss_roll", "s_curve"])
def test_clean_surfaces_pass_and_the_smallest_number_named_recovers_them(surface, seed):
    data = sample(surface, 3000, 0.0, seed)
    report = consistency(data.points, 2, 10)
    assert report.passes
    assert report.problems() == []
    assert report.suggested <= 10
    assert recovered(data, 10) > 0.99


@each("seed", range(4), keep=1)
@each("noise", [0.3, 0.4, 0.5])
def test_no_number_is_named_that_would_jump_between_the_turns_of_a_roll(noise, seed):
    """Such noise asks for neighbourhoods about as wide as the gap: a number that is named works."""
    data = sample("swiss_roll", 3000, noise, seed)
    report = consistency(data.points, 2, 14)
    assert report.ruled_by_noise
    assert recovered(data, 14) < 0.9
    if report.suggested is None:
        assert "no n_neighbors up to 224 passes: use denoise='auto'" in str(report)
        assert recovered(data, 14, denoise="auto") >= 0.9
    else:
        assert recovered(data, report.suggested) >= 0.9


@sampled("seed", range(2))
def test_noise_hides_nothing_of_a_sheet_as_wide_as_long(seed):
    """No wave along one side is cheaper than the other side, however small the neighbourhoods."""
    data = sample("square", 3000, 0.02, seed)
    assert not consistency(data.points, 2, 8).ruled_by_noise
    assert recovered(data, 8) >= 0.9


@LAW
@given(rngs, st.integers(20, 60), st.integers(1, 3), st.integers(2, 6))
def test_components_dimensions_and_shares_follow_their_definitions(rng, n, d, k):
    points = rng.normal(size=(n, 3)) * np.r_[1, rng.integers(0, 2, 2)]
    near = oracle.nearest(points, k)[0]
    report = consistency(points, d, k)
    edges = np.zeros((n, n), dtype=bool)
    edges[np.repeat(np.arange(n), k), near.ravel()] = True
    parts = oracle.components(edges | edges.T)
    assert len(report.sizes) == parts.max() + 1
    assert report.sizes.tolist() == sorted(np.bincount(parts), reverse=True)
    for i in range(n):
        block = points[np.append(near[i], i)]
        spread = np.linalg.svd(block - block.mean(axis=0), compute_uv=False)
        assert report.dimension[i] == np.sum(spread > 1e-6 * spread[0])
        share = np.sum(spread[d:] ** 2) / np.sum(spread**2)
        np.testing.assert_allclose(report.outside[i], share, 1e-6, 1e-12)
    assert report.thin.tolist() == np.flatnonzero(report.dimension < d).tolist()


def test_the_report_explains_the_problem_and_names_the_smallest_sufficient_number():
    rng = np.random.default_rng(0)
    two = rng.uniform(0, 1, (100, 2)) + np.where(np.arange(100) < 40, 0.0, 1.5)[:, None]
    report = consistency(two, 2, 4)
    assert not report.connected
    assert report.sizes.tolist() == [60, 40]
    assert "2 components (the largest holds 60 of 100 points)" in str(report)
    space = PointSpace(two)
    connected = [k for k in range(3, 65) if consistency(space, 2, k).connected]
    assert connected[0] <= report.suggested
    assert consistency(two, 2, report.suggested).passes
    line = np.column_stack([np.arange(50.0), np.zeros(50)])
    thin = consistency(line, 2, 4)
    assert len(thin.thin) == 50
    assert "50 neighbourhoods span fewer than 2 directions (the first is that of point 0)" in str(
        thin
    )
    assert thin.suggested is None
    assert "no n_neighbors up to" in thin.advice()


def test_distant_clusters_are_reported_as_disconnected():
    rng = np.random.default_rng(0)
    far = rng.normal(size=(2000, 2)) + 1e6 * (np.arange(2000) % 2)[:, None]
    report = consistency(far, 2, 8)
    assert report.sizes.tolist() == [1000, 1000]
    assert "no n_neighbors up to 128 connects it" in str(report)


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_scale_repetition_and_the_form_of_the_data_change_nothing(scale):
    data = sample("swiss_roll", 400, 0.3, 0).points
    report = consistency(data, 2, 8)
    for other in (
        consistency(scale * data, 2, 8),
        consistency(DistanceSpace(oracle.pairwise(data)), 2, 8),
        consistency(np.repeat(data, 3, axis=0), 2, 8),
        consistency(data, 2, PointSpace(data).nearest(8)),
    ):
        assert other.suggested == report.suggested
        np.testing.assert_allclose(other.hidden, report.hidden, 1e-6)
        assert other.sizes.sum() % 400 == 0


@LAW
@given(rngs, st.integers(4, 30), st.integers(1, 3))
def test_any_lattice_of_duplicates_is_judged(rng, n, d):
    points = lattice(rng, n, 2)
    if len(np.unique(points, axis=0)) >= 3:
        str(consistency(points, d, min(3, n - 1)))


def test_for_a_bare_graph_only_connectivity_is_reported():
    space = PointSpace(np.arange(6.0)[:, None])
    report = consistency(space.nearest(1), 1)
    assert report.dimension is None
    assert report.suggested is None
    assert "give points or distances to estimate" in str(report)
    assert report.sizes.tolist() == np.bincount(report.component).tolist()


def test_questions_that_cannot_be_answered_are_refused():
    points = np.arange(12.0).reshape(6, 2)
    for call, words in [
        (lambda: consistency(points, 0), "integer of at least 1"),
        (lambda: consistency(points, 1, 6), "at most 5 with 6 samples"),
        (lambda: consistency(points * np.nan, 1, 2), "contains NaN"),
        (lambda: consistency(np.zeros((6, 2)), 1, 2), "distinct points"),
        (lambda: consistency(points, 1, PointSpace(points[:4]).nearest(1)), "has 4 points"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("k", [2, 3, 6])
def test_what_is_suggested_does_not_depend_on_too_few_neighbours_asked_about(k):
    cloud = np.random.default_rng(1).normal(size=(100, 3))
    assert consistency(cloud, d=2, n_neighbors=k).suggested == 6


@pytest.mark.parametrize("k", [2.5, "a", None, True])
def test_neighbours_that_are_no_number_are_refused(k):
    with pytest.raises(TypeError, match="integer of at least 1"):
        consistency(np.random.default_rng(1).normal(size=(20, 3)), d=2, n_neighbors=k)
