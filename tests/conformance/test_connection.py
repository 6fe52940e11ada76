"""Graphs that fall apart: every policy answers rightly or in one sentence, and never hangs."""

import functools
import json
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.conformance.cases import (
    EVERY_NEIGHBORHOOD,
    STRICT,
    answered,
    assert_alike,
    assert_same,
    motion_error,
    quietly,
    refused,
)
from tests.loops import each
from tests.oracles.embeddings import subspace_angle
from tests.oracles.neighbors import pairwise

pytestmark = [STRICT, pytest.mark.timeout(60)]
POLICY = each("policy", ["bridge", "enlarge", "largest", "components"])


def blobs(*sizes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian clouds of the given sizes, 100 apart, rows shuffled, and the cloud of each row."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(labels), 3)) + 100.0 * labels[:, None] * [1.0, 0.0, 0.0], labels


def grid() -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers on a line, with two gaps."""
    line = np.r_[0:40, 100:130, 200:220].astype(float)
    return line[:, None], np.repeat([0, 1, 2], [40, 30, 20])


SCENES = {
    "two blobs": (*blobs(60, 60), 2),
    "three blobs": (*blobs(60, 50, 40), 2),
    "grid": (*grid(), 1),
}
SCENE = each("scene", SCENES)


@functools.cache
def fit_scene(method: Any, scene: str, policy: str) -> tuple[Any, list[str]]:
    """Fit a method once; return the fit, which the laws share, and its warnings."""
    points, _, d = SCENES[scene]
    model = method(n_components=d, n_neighbors=8, connect=policy)
    return quietly(lambda: model.fit(points))


def by_size(labels: np.ndarray) -> np.ndarray:
    """Labels numbered by size, the largest first, equal ones by their first row."""
    _, first, inverse, counts = np.unique(labels, True, True, True)
    rank = np.argsort(np.lexsort((first, -counts)))
    return rank[inverse]


def gap(points: np.ndarray, labels: np.ndarray) -> float:
    """Longest of the shortest ways between neighbouring components on a line of components."""
    between = pairwise(points)
    steps = range(labels.max())
    return max(between[np.ix_(labels == i, labels == i + 1)].min() for i in steps)


def determined(fitted: Any) -> bool:
    """Whether the method did not itself say that its coordinates mean nothing."""
    return not any("embedding is not unique" in warning for warning in fitted.report_.warnings)


def assert_same_parts(first: Any, second: Any) -> None:
    """Compare spans component by component: each may be turned on its own."""
    assert np.array_equal(first.component_, second.component_)
    for part in range(first.component_.max() + 1):
        a, b = (f.embedding_[first.component_ == part] for f in (first, second))
        assert subspace_angle(a - a.mean(axis=0), b - b.mean(axis=0)) < 1e-5


@POLICY
@SCENE
@EVERY_NEIGHBORHOOD
def test_every_policy_gives_every_row_finite_coordinates_and_its_component(
    method: type, scene: str, policy: str
) -> None:
    points, labels, d = SCENES[scene]
    fitted, warned = fit_scene(method, scene, policy)
    assert fitted.embedding_.shape == (len(points), d)
    assert np.all(np.isfinite(fitted.embedding_))
    assert np.array_equal(fitted.component_, by_size(labels))
    json.loads(fitted.report_.to_json(), parse_constant=lambda word: pytest.fail(word))
    output = [message for message in warned if "components" in message]
    count, largest = labels.max() + 1, np.bincount(labels).max()
    assert f"has {count} components (the largest holds {largest} rows)" in output[0]
    if policy == "bridge":
        assert f"up to {gap(points, labels):.4g} long" in output[0]
        assert fitted.report_.stage("graph").facts["bridges"] == count - 1
    if policy == "enlarge":
        facts = fitted.report_.stage("graph").facts
        assert f"added {facts['added_edges']} edges" in output[0]
        # Rows at the rim of each component but the largest, no more than a row has neighbours.
        assert count - 1 <= facts["enlarged"] <= 8 * (count - 1)


@SCENE
@EVERY_NEIGHBORHOOD
def test_the_policy_error_raises_with_the_number_of_components(method: type, scene: str) -> None:
    points, labels, d = SCENES[scene]
    strict = method(n_components=d, n_neighbors=8, connect="error")
    refused(lambda: strict.fit(points), f"{labels.max() + 1} components", "more neighbours")


@POLICY
@SCENE
@EVERY_NEIGHBORHOOD
def test_after_every_policy_new_samples_can_be_transformed(
    method: type, scene: str, policy: str
) -> None:
    points = SCENES[scene][0]
    fitted, _ = fit_scene(method, scene, policy)
    assert_same(fitted.embedding_, fitted.transform(points), 1e-8)
    new = points + 0.05
    placed = fitted.transform(new)
    assert np.all(np.isfinite(placed))
    assert_same(placed, np.vstack([fitted.transform(row[None]) for row in new]), 1e-10)
    assert np.all(np.isfinite(fitted.inverse_transform(placed)))


@SCENE
@EVERY_NEIGHBORHOOD
def test_components_do_not_overlap_and_are_as_if_fitted_alone(method: type, scene: str) -> None:
    points, _, d = SCENES[scene]
    options = {"n_components": d, "n_neighbors": 8}
    fitted, _ = fit_scene(method, scene, "components")
    parts = [np.flatnonzero(fitted.component_ == c) for c in range(fitted.component_.max() + 1)]
    end = -np.inf
    for part in parts:
        first = fitted.embedding_[part, 0]
        assert first.min() > end
        end = first.max()
        alone, _ = quietly(functools.partial(method(**options).fit, points[part]))
        if determined(alone):
            centred = fitted.embedding_[part] - fitted.embedding_[part].mean(axis=0)
            expected = alone.embedding_ - alone.embedding_.mean(axis=0)
            assert subspace_angle(expected, centred) < 1e-6
            if method.isometric:
                assert motion_error(expected, centred) < 1e-6


@each("scene", ["three blobs", "grid"])
@EVERY_NEIGHBORHOOD
def test_the_largest_is_fitted_as_if_alone_and_the_others_are_placed(
    method: type, scene: str
) -> None:
    points, _, d = SCENES[scene]
    options = {"n_components": d, "n_neighbors": 8}
    fitted, _ = fit_scene(method, scene, "largest")
    largest = fitted.component_ == 0
    alone, _ = quietly(lambda: method(**options).fit(points[largest]))
    if determined(alone):
        assert_same(alone.embedding_, fitted.embedding_[largest], 1e-8)
        assert_same(alone.transform(points[~largest]), fitted.embedding_[~largest], 1e-8)


@POLICY
@SCENE
@EVERY_NEIGHBORHOOD
def test_disconnected_precomputed_distances_are_connected_as_points_are(
    method: type, scene: str, policy: str
) -> None:
    points, _, d = SCENES[scene]
    options: dict[str, Any] = {"n_components": d, "n_neighbors": 8, "connect": policy}
    by_points, _ = fit_scene(method, scene, policy)
    distances = pairwise(points)
    given, _ = quietly(lambda: method(**options, metric="precomputed").fit(distances))
    assert np.array_equal(given.component_, by_points.component_)
    if determined(by_points) and policy == "components":
        assert_same_parts(by_points, given)
    elif determined(by_points):
        assert_alike(method, by_points.embedding_, given.embedding_, 1e-5)
    assert_same(given.embedding_, given.transform(distances), 1e-8)


@each("policy", ["bridge", "enlarge", "largest", "components", "error"])
@EVERY_NEIGHBORHOOD
def test_blobs_and_an_isolated_point_are_embedded_or_refused(method: type, policy: str) -> None:
    points, labels = blobs(60, 50, 40)
    points = np.vstack([points, [[0.0, 500.0, 0.0]]])
    options = {"n_neighbors": 8, "radius": 5.0, "connect": policy}
    fitted = answered(lambda: method(**options).fit(points))
    if policy == "error":
        refused(lambda: method(**options).fit(points))
    elif fitted is not None:
        assert np.array_equal(fitted.component_, by_size(np.append(labels, 3)))
        assert "4 components" in fitted.report_.warnings[0]
        assert_same(fitted.embedding_, fitted.transform(points), 1e-8)
        assert np.all(np.isfinite(fitted.transform(points + 0.1)))


@each("policy", ["bridge", "enlarge", "largest", "components", "error"])
@EVERY_NEIGHBORHOOD
def test_a_disconnected_precomputed_graph_is_embedded_by_components_or_refused(
    method: type, policy: str
) -> None:
    points, labels = blobs(60, 50)
    distances = pairwise(points)
    graph = csr_array(np.where(distances < 20.0, distances, 0.0))  # two cliques: all pairs known
    options = {"metric": "precomputed", "connect": policy}
    fitted = answered(lambda: method(**options).fit(graph))
    if policy != "components":
        refused(lambda: quietly(lambda: method(**options).fit(graph)), "component")
    else:
        assert np.array_equal(fitted.component_, by_size(labels))
        same, _ = quietly(
            lambda: method(n_neighbors=None, radius=20.0, connect="components").fit(points)
        )
        if determined(same):
            assert_same_parts(same, fitted)


@POLICY
@EVERY_NEIGHBORHOOD
def test_components_smaller_than_the_method_needs_are_embedded_too(
    method: type, policy: str
) -> None:
    # Pairs, a triangle and a single row, all far from each other.
    starts = 1000.0 * np.repeat(np.arange(6), [2, 2, 2, 2, 3, 1])[:, None]
    points = starts + np.random.default_rng(0).normal(size=(12, 3))
    options = {"n_neighbors": None, "radius": 50.0, "connect": policy, "n_components": 2}
    fitted = answered(lambda: method(**options).fit(points))
    if fitted is not None:
        assert len(np.unique(fitted.component_)) == 6
        assert np.all(np.isfinite(fitted.transform(points + 0.1)))


@EVERY_NEIGHBORHOOD
def test_isolated_rows_lie_apart_even_in_float32(method: type) -> None:
    points = np.arange(24.0, dtype=np.float32).reshape(8, 3)
    options = {"n_neighbors": None, "radius": 0.5, "connect": "components"}
    fitted = answered(lambda: method(**options).fit(points))
    if fitted is not None:
        assert len(np.unique(fitted.embedding_[:, 0])) == 8
