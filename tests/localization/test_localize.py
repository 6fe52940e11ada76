"""Sensors are placed by their distances, oriented by anchors, and ambiguities are reported."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

import unbend
from tests.localization.networks import network, places, rigid_error
from tests.loops import each, sampled
from unbend.localization import Springs
from unbend.localization.multistart import reweight
from unbend.localization.springs import relative_weights
from unbend.mvu import graph_edges


@each("seed", range(4), keep=1)
@each("dim", [1, 2, 3])
def test_exact_distances_give_exact_positions(dim, seed):
    points = np.random.default_rng(seed).random((80, dim))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    distances[distances > {1: 0.3, 2: 0.45, 3: 0.7}[dim]] = np.nan
    assert rigid_error(points, unbend.localize(distances, dim=dim).positions) < 1e-7


def test_anchors_give_absolute_positions_and_a_mirror_image_too():
    points = places(100, 0)
    graph = network(points, 18, 0.0)
    for target in (points, points * [-1.0, 1.0] + 5.0):
        found = unbend.localize(graph, anchors={i: target[i] for i in (0, 9, 50, 77)})
        assert found.absolute.all()
        assert np.abs(found.positions - target).max() < 1e-6
        assert found.anchor_error < 1e-6


def test_anchors_in_space_give_absolute_positions():
    points = np.random.default_rng(0).random((80, 3))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    distances[distances > 0.7] = np.nan
    for target in (points, points * [1.0, -1.0, 1.0] - 3.0):
        found = unbend.localize(distances, dim=3, anchors={i: target[i] for i in (0, 9, 50, 77, 3)})
        assert found.absolute.all()
        assert np.abs(found.positions - target).max() < 1e-6


def test_warns_when_two_anchors_do_not_fix_a_plane():
    graph = network(places(60, 0), 15, 0.0)
    with pytest.warns(UserWarning, match="fewer than 3 anchors"):
        found = unbend.localize(graph, anchors={0: [0.0, 0.0], 1: [1.0, 0.0]})
    assert not found.absolute.any()


def test_reordering_the_sensors_reorders_the_positions():
    points = places(150, 3)
    graph = network(points, 16, 0.05)
    order = np.random.default_rng(0).permutation(150)
    found = unbend.localize(graph).positions
    again = unbend.localize(csr_array(graph[order][:, order])).positions
    assert rigid_error(found[order], again) < 1e-4


def test_scaling_the_distances_scales_positions_and_errors():
    graph = network(places(100, 1), 15, 0.05)
    one, ten = unbend.localize(graph), unbend.localize(10.0 * graph)
    assert rigid_error(10.0 * one.positions, ten.positions) < 1e-4
    assert ten.expected_error == pytest.approx(10.0 * one.expected_error, rel=1e-4)


def test_components_are_localized_separately_with_a_warning():
    first, second = places(70, 0), places(50, 1)
    graph = csr_array(block_diag((network(second, 14, 0.0), network(first, 14, 0.0))))
    anchors = {i: second[i] for i in range(4)}
    with pytest.warns(UserWarning, match="2 components of 70, 50 sensors"):
        found = unbend.localize(graph, anchors)
    assert np.array_equal(found.component, np.repeat([1, 0], [50, 70]))
    assert np.array_equal(found.absolute, np.repeat([True, False], [50, 70]))
    assert np.abs(found.positions[:50] - second).max() < 1e-6
    assert rigid_error(first, found.positions[50:]) < 1e-6
    assert found.positions[50:, 0].min() > found.positions[:50, 0].max()


def test_warns_when_sensors_have_too_few_distances():
    points = places(40, 0)
    graph = network(points, 12, 0.0).tolil()
    graph.resize((41, 41))
    graph[40, 0] = graph[0, 40] = 0.1
    with pytest.warns(UserWarning, match="1 sensors are not determined"):
        found = unbend.localize(csr_array(graph))
    assert np.array_equal(found.determined, np.arange(41) < 40)
    assert np.linalg.norm(found.positions[40] - found.positions[0]) == pytest.approx(0.1)


@sampled("noise", [0.02, 0.1])
def test_the_expected_error_is_that_of_the_truth_and_so_is_the_noise(noise):
    ratios = []
    for seed in range(5):
        points = places(300, seed)
        found = unbend.localize(network(points, 18, noise, seed))
        ratios.append(rigid_error(points, found.positions) / found.expected_error)
        assert found.noise == pytest.approx(noise, rel=0.2)
    assert 0.7 < np.mean(ratios) < 1.4


def test_refining_reaches_the_minimum_next_to_the_truth():
    points = places(400, 0)
    graph = network(points, 18, 0.1)
    edges, _ = graph_edges(graph)
    springs = Springs(edges, relative_weights(np.sqrt(edges.squares)), 2)
    _, truth = reweight(springs, springs.refine(points))
    found = unbend.localize(graph)
    assert found.stress <= 1.01 * truth.stress


def test_the_gradient_is_that_of_the_stress():
    edges, _ = graph_edges(network(places(30, 0), 8, 0.1))
    springs = Springs(edges, np.ones(edges.m), 2)
    rng = np.random.default_rng(0)
    here, way = rng.random((30, 2)), rng.standard_normal((30, 2))
    slope = (springs.stress(here + 1e-6 * way) - springs.stress(here - 1e-6 * way)) / 2e-6
    assert slope == pytest.approx(float(np.sum(springs.gradient(here) * way)), rel=1e-6)


def test_sensors_at_distance_zero_share_a_place():
    points = places(40, 0)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    distances[0, 1] = distances[1, 0] = 0.0
    distances[1] = distances[:, 1] = distances[0]
    distances[1, 0] = distances[0, 1] = distances[1, 1] = 0.0
    found = unbend.localize(distances)
    assert np.array_equal(found.positions[0], found.positions[1])


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        (np.ones((2, 3)), "must be square"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "must be non-negative"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), "contains infinity"),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), "one direction only"),
        (np.array([[0.0, 2.0], [1.0, 0.0]]), "not symmetric"),
        (np.array([["a", "b"], ["b", "a"]]), "real numbers"),
        (np.zeros((0, 0)), "0 sample"),
        (csr_array(np.array([[1.0, 2.0], [2.0, 0.0]])), "non-zero diagonal"),
    ],
)
def test_invalid_distances_raise_a_clear_error(distances, message):
    with pytest.raises((TypeError, ValueError), match=message):
        unbend.localize(distances)


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ({99: [0.0, 0.0]}, "no sensor"),
        ({"a": [0.0, 0.0]}, "not the number"),
        ({0: [0.0]}, "2 finite coordinates"),
        (np.zeros((3, 2)), "an array 20 x 2"),
    ],
)
def test_what_is_no_anchor_is_refused(anchors, message):
    with pytest.raises(ValueError, match=message):
        unbend.localize(network(places(20, 0), 8, 0.0), anchors)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_sensors_are_no_special_case(n):
    points = places(n, 0)
    found = unbend.localize(np.linalg.norm(points[:, None] - points, axis=2))
    assert rigid_error(points, found.positions) < 1e-6
