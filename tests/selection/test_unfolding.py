"""Charts as rigid as possible: isometric charts of what can be unrolled, strain elsewhere."""

import numpy as np
import pytest

import unbend
from unbend.selection.unfolding import TangentEdges, interpolate


def edges_of(points, d, k=10):
    """Tangent edges of the graph of k neighbours."""
    graph = unbend.Isomap(n_components=d, n_neighbors=k).fit(points).graph_
    return TangentEdges.of(points, graph, 3 * d + 6, d)


def bend(plane):
    """Rows of a part of a cylinder over a plane."""
    return np.column_stack((np.cos(plane[:, 0]), np.sin(plane[:, 0]), plane[:, 1]))


def error(chart, embedding):
    """Root mean square distance to the chart after the best turn and shift, over its spread."""
    one, other = chart - chart.mean(axis=0), embedding - embedding.mean(axis=0)
    left, _, right = np.linalg.svd(other.T @ one)
    return np.linalg.norm(other @ left @ right - one) / np.linalg.norm(one)


def test_a_chart_up_to_an_affine_map_becomes_the_isometric_one():
    plane = np.random.default_rng(0).uniform(0, [4, 2], size=(600, 2))
    found = edges_of(bend(plane), 2).unfold(plane @ np.array([[1.0, 0.4], [-0.2, 3.0]]) + 5)
    assert error(plane, found.chart) < 0.01
    assert found.strain < 0.03


def test_a_crooked_chart_is_straightened_to_a_fifth_of_its_error():
    plane = np.random.default_rng(1).uniform(0, [4, 2], size=(600, 2))
    crooked = np.column_stack((plane[:, 0] + 0.15 * plane[:, 0] ** 2, plane[:, 1]))
    crooked[:, 1] += 0.3 * np.sin(2 * plane[:, 0])
    found = edges_of(bend(plane), 2).unfold(crooked)
    assert error(plane, found.chart) < error(plane, crooked) / 5


@pytest.mark.parametrize("d", [1, 2])
def test_strain_tells_an_unrolled_surface_from_a_folded_one(d):
    plane = np.random.default_rng(2).uniform(0, [4, 2], size=(600, 2))
    points = bend(plane) if d == 2 else bend(plane * [1, 0])
    edges = edges_of(points, d)
    folded = np.column_stack((np.abs(plane[:, 0] - 2), plane[:, 1]))[:, :d]
    assert edges.unfold(folded).strain > 3 * edges.unfold(plane[:, :d]).strain


def test_a_sphere_has_no_chart_without_strain():
    rows = np.random.default_rng(3).normal(size=(700, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert edges_of(rows, 2).unfold(rows[:, :2]).strain > 0.2


def test_points_between_those_of_a_chart_get_their_place():
    rng = np.random.default_rng(4)
    plane, others = rng.uniform(0, [4, 2], size=(800, 2)), rng.uniform([0.3], [3.7, 1.7], (50, 2))
    placed = interpolate(bend(plane), plane, bend(others))
    assert np.abs(placed - others).max() < 0.05
