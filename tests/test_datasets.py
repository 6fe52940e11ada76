"""Surfaces: their points lie where they should, as densely as they should, and so do the charts."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.stats import kstest

from tests.loops import each, sampled
from unbend.datasets import (
    SURFACES,
    clusters_3d,
    punched_sphere,
    s_curve,
    square,
    swiss_hole,
    swiss_roll,
    toroidal_helix,
)
from unbend.datasets.surfaces import THETA_RANGE, _arc_length, _theta_at

SEEDS = range(5)
ISOMETRIC = [swiss_roll, s_curve, square, swiss_hole]


def assert_follows(values, law):
    assert kstest(values, law).pvalue > 1e-4


def uniform(low, high):
    return lambda x: np.clip((x - low) / (high - low), 0, 1)


def theta_of(surface):
    return np.hypot(surface.points[:, 0], surface.points[:, 2])


@pytest.mark.parametrize("name", SURFACES)
def test_every_surface_in_the_registry_has_its_name_and_the_number_of_points_asked_for(name):
    for n in (1, 2, 7, 100):
        surface = SURFACES[name](n, random_state=0)
        assert surface.name == name
        assert surface.points.shape == (n, 3)
        assert len(surface.chart) == n
        assert surface.points.dtype == surface.chart.dtype == np.float64


@pytest.mark.parametrize("make", ISOMETRIC)
def test_nearby_points_are_as_far_apart_in_an_isometric_chart_as_in_space(make):
    surface = make(50_000, random_state=0)
    assert surface.isometric
    apart, pairs = cKDTree(surface.chart).query(surface.chart, 2)
    close = np.argsort(apart[:, 1])[:1000]
    difference = np.diff(surface.points[pairs[close]], axis=1)[:, 0]
    # A chord misses at most (arc)^3/24 of its arc, since no curvature exceeds 1 here.
    shortfall = apart[close, 1] - np.linalg.norm(difference, axis=1)
    assert np.all(np.abs(shortfall) <= apart[close, 1] ** 3 / 24 + 1e-12)


@pytest.mark.parametrize("length", [1, 21, 51])
def test_the_swiss_roll_satisfies_its_equation(length):
    roll = swiss_roll(2000, length=length, random_state=0)
    theta = theta_of(roll)
    assert np.all((theta >= THETA_RANGE[0] - 1e-12) & (theta <= THETA_RANGE[1] + 1e-12))
    assert np.allclose(roll.points[:, 0], theta * np.cos(theta), atol=1e-11)
    assert np.allclose(roll.points[:, 2], theta * np.sin(theta), atol=1e-11)
    assert np.all((roll.points[:, 1] >= 0) & (roll.points[:, 1] <= length))
    assert np.array_equal(roll.points[:, 1], roll.chart[:, 1])


def test_the_swiss_roll_chart_is_the_length_of_the_spiral():
    for upper in (6.0, 9.0, 14.0):
        length, _ = quad(lambda theta: np.hypot(1, theta), THETA_RANGE[0], upper)
        found = np.diff(_arc_length(np.array([THETA_RANGE[0], upper])))[0]
        assert np.isclose(found, length, rtol=1e-12)


def test_the_inverse_of_the_arc_length_is_exact_to_rounding():
    theta = np.linspace(*THETA_RANGE, 10_001)
    assert np.allclose(_theta_at(_arc_length(theta)), theta, rtol=4e-16 * 4, atol=0)


@pytest.mark.parametrize("length", [1, 5])
def test_the_s_curve_satisfies_its_equation(length):
    """(1.6), with 1.5πt the arc length of the chart."""
    curve = s_curve(2000, length=length, random_state=0)
    t, s = curve.chart[:, 0] / (1.5 * np.pi), curve.chart[:, 1]
    assert_follows(t, uniform(0, 2))
    assert_follows(s, uniform(0, length))
    turn = 1.5 * np.pi * t
    z = np.where(t <= 1, -np.sin(turn), 2 + np.sin(turn))
    expected = np.column_stack((-np.cos(turn), s, z))
    np.testing.assert_allclose(curve.points, expected, atol=1e-14)


def test_the_square_lies_in_a_plane_that_contains_no_axis():
    plane = square(500, length=3, random_state=0)
    normal = np.linalg.svd(plane.points)[2][2]
    assert np.allclose(plane.points @ normal, 0, atol=1e-12)
    assert np.all(np.abs(normal) > 0.1)
    assert np.all(plane.chart <= [1, 3])


@pytest.mark.parametrize("height", [0.1, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("sampling", ["area", "parameter"])
def test_the_punched_sphere_is_a_sphere_cut_at_its_height(height, sampling):
    cap = punched_sphere(2000, height=height, sampling=sampling, random_state=0)
    assert np.allclose(np.linalg.norm(cap.points - [0, 0, 0.5], axis=1), 0.5, atol=1e-14)
    assert height * 0.99 < cap.points[:, 2].max() <= height + 1e-15


def test_the_punched_sphere_chart_keeps_directions_and_distances_from_the_bottom_pole():
    cap = punched_sphere(2000, random_state=0)
    chord = np.linalg.norm(cap.points, axis=1)
    assert np.allclose(np.linalg.norm(cap.chart, axis=1), np.arcsin(chord), atol=1e-8)
    assert np.allclose(
        np.arctan2(cap.chart[:, 1], cap.chart[:, 0]),
        np.arctan2(cap.points[:, 1], cap.points[:, 0]),
        atol=1e-12,
    )


@pytest.mark.parametrize("turns", [1, 8])
def test_the_toroidal_helix_lies_on_its_torus_and_closes(turns):
    helix = toroidal_helix(1000, turns=turns, sampling="even")
    x, y, z = helix.points.T
    assert np.allclose((np.hypot(x, y) - 2) ** 2 + z**2, 1, atol=1e-12)
    steps = np.linalg.norm(np.diff(helix.points, axis=0, append=helix.points[:1]), axis=1)
    assert steps.max() < 1.1 * 2 * np.pi * np.hypot(turns, 3) / 1000
    assert np.allclose(helix.chart[:, 0], 2 * np.pi * np.arange(1000) / 1000, atol=1e-14)


def test_the_clusters_are_spheres_and_segments_between_them():
    chain = clusters_3d(2000, random_state=0)
    centres = np.array([[-4, 0, 0], [0, 0, 3], [4, 0, 0]])
    for label, centre in enumerate(centres):
        radii = np.linalg.norm(chain.points[chain.labels == label] - centre, axis=1)
        assert np.allclose(radii, 1.5, atol=1e-12)
    for label in (3, 4):
        ends = centres[label - 3 : label - 1]
        part = chain.points[chain.labels == label]
        to_ends = np.linalg.norm(part[:, None] - ends, axis=2)
        assert np.allclose(to_ends.sum(axis=1), 5, atol=1e-12)
        assert to_ends.min() >= 1.5 - 1e-12
    assert np.array_equal(chain.chart, chain.points[:, [0, 2]])


def test_the_clusters_share_the_points_as_documented_in_random_order():
    chain = clusters_3d(1000, random_state=0)
    assert np.bincount(chain.labels).tolist() == [300, 300, 300, 50, 50]
    assert np.any(np.diff(chain.labels) < 0)


@pytest.mark.parametrize("n", [500, 1000, 2000])
def test_the_clusters_are_connected_by_ten_neighbours(n):
    assert all(_is_connected(clusters_3d(n, random_state=seed).points) for seed in range(10))


def _is_connected(points, k=10):
    tree = cKDTree(points)
    distances, _ = tree.query(points, k + 1)
    near = tree.sparse_distance_matrix(tree, distances.max(), output_type="coo_matrix").tocsr()
    rows = np.repeat(np.arange(len(points)), np.diff(near.indptr))
    near.data *= near.data <= distances[rows, k]
    near.eliminate_zeros()
    return connected_components(near, directed=False)[0] == 1


@sampled("seed", SEEDS)
def test_area_sampling_is_uniform_by_area(seed):
    options = {"n": 4000, "random_state": seed}
    shortest, longest = _arc_length(np.array(THETA_RANGE))
    roll = swiss_roll(**options)
    assert_follows(roll.chart[:, 0], uniform(shortest, longest))
    assert_follows(_arc_length(theta_of(roll)), uniform(shortest, longest))
    assert_follows(roll.chart[:, 1], uniform(0, 21))
    assert_follows(s_curve(**options).chart[:, 0], uniform(0, 3 * np.pi))
    assert_follows(s_curve(**options).chart[:, 1], uniform(0, 5))
    assert_follows(square(**options, length=3).chart[:, 1], uniform(0, 3))
    assert_follows(punched_sphere(**options).points[:, 2], uniform(0, 0.75))
    chain = clusters_3d(**options)
    for coordinate in range(3):
        first = chain.points[chain.labels == 0][:, coordinate] - (-4, 0, 0)[coordinate]
        assert_follows(first, uniform(-1.5, 1.5))
    assert_follows(chain.points[chain.labels == 4][:, 0], uniform(4 * 0.3, 4 * 0.7))


@each("seed", SEEDS, keep=1)
@each("turns", [1, 8])
def test_area_sampling_of_the_helix_is_uniform_by_arc_length(seed, turns):
    u = toroidal_helix(4000, turns=turns, random_state=seed).chart[:, 0]
    grid = np.linspace(0, 2 * np.pi, 20_001)
    speed = CubicSpline(grid, np.hypot(turns, 2 + np.cos(turns * grid))).antiderivative()
    assert_follows(u, lambda x: speed(x) / speed(2 * np.pi))


@sampled("seed", SEEDS)
def test_area_sampling_of_the_holed_roll_is_that_of_the_roll_outside_the_hole(seed):
    arc, s = swiss_hole(4000, random_state=seed).chart.T
    shortest, longest, hole_start, hole_end = _arc_length(np.array([*THETA_RANGE, 9, 12]))
    beside = (s <= 9) | (s >= 14)
    assert_follows(arc[beside], uniform(shortest, longest))
    before = arc <= hole_start
    assert_follows(s[before], uniform(0, 21))
    area_beside, hole = 16 * (longest - shortest), 5 * (hole_end - hole_start)
    expected = area_beside / (21 * (longest - shortest) - hole)
    assert abs(beside.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / 4000)


@sampled("seed", SEEDS)
def test_parameter_sampling_follows_the_law_of_the_book(seed):
    options = {"n": 4000, "sampling": "parameter", "random_state": seed}
    assert_follows(theta_of(swiss_roll(**options)), uniform(*THETA_RANGE))
    assert_follows(s_curve(**options).chart[:, 0], uniform(0, 3 * np.pi))
    cap = punched_sphere(**options)
    assert_follows(2 * np.linalg.norm(cap.chart, axis=1), uniform(0, np.arccos(-0.5)))
    assert_follows(toroidal_helix(**options).chart[:, 0], uniform(0, 2 * np.pi))
    chain = clusters_3d(**options)
    polar = np.arccos(np.clip(chain.points[chain.labels == 0][:, 2] / 1.5, -1, 1))
    assert_follows(polar, uniform(0, np.pi))
    beside = swiss_hole(**options)
    beside = theta_of(beside)[(beside.chart[:, 1] <= 9) | (beside.chart[:, 1] >= 14)]
    assert_follows(beside, uniform(*THETA_RANGE))


@pytest.mark.parametrize("sampling", ["area", "parameter"])
def test_the_hole_is_empty_and_its_surroundings_are_not(sampling):
    sheet = swiss_hole(20_000, sampling=sampling, random_state=0)
    theta, s = theta_of(sheet), sheet.chart[:, 1]
    inside = 1e-9
    assert not np.any(
        (theta > 9 + inside) & (theta < 12 - inside) & (s > 9 + inside) & (s < 14 - inside)
    )
    around = (theta > 8.5) & (theta < 12.5) & (s > 8.5) & (s < 14.5)
    assert np.count_nonzero(around) > 100


@pytest.mark.parametrize("name", SURFACES)
def test_the_same_seed_gives_the_same_bits(name):
    first, second = (SURFACES[name](300, noise=0.1, random_state=7) for _ in range(2))
    other = SURFACES[name](300, noise=0.1, random_state=8)
    assert first.points.tobytes() == second.points.tobytes()
    assert first.chart.tobytes() == second.chart.tobytes()
    assert first.points.tobytes() != other.points.tobytes()


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_used_and_moved_on(kind):
    generator = kind(3)
    first, second = swiss_roll(50, random_state=generator), swiss_roll(50, random_state=generator)
    again = swiss_roll(50, random_state=kind(3))
    assert np.array_equal(first.points, again.points)
    assert not np.array_equal(first.points, second.points)


def test_without_a_seed_two_surfaces_differ():
    assert not np.array_equal(swiss_roll(50).points, swiss_roll(50).points)


@pytest.mark.parametrize("name", SURFACES)
def test_noise_is_isotropic_of_the_stated_size_and_leaves_the_chart_alone(name):
    n, noise = 20_000, 0.3
    clean = SURFACES[name](n, random_state=0)
    noisy = SURFACES[name](n, noise=noise, random_state=0)
    added = noisy.points - clean.points
    assert np.array_equal(noisy.chart, clean.chart)
    for column in added.T:
        assert kstest(column / noise, "norm").pvalue > 1e-4
    covariance = np.cov(added.T) / noise**2
    assert np.allclose(covariance, np.eye(3), atol=5 * np.sqrt(2 / n))
