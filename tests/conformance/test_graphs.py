"""Given graphs and repeated rows: the same answer as for neighbours that the method finds."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, lil_array

from tests.conformance.cases import (
    EVERY,
    EVERY_NEIGHBORHOOD,
    NEIGHBORHOOD,
    STRICT,
    answered,
    assert_alike,
    assert_same,
    curve,
    fit_curve,
    over,
    quietly,
    refused,
    with_parameter,
)
from tests.loops import each
from tests.oracles.neighbors import components, nearest, pairwise

pytestmark = [STRICT, pytest.mark.timeout(60)]


def graph_of(points: np.ndarray, k: int, lengths: bool = True) -> csr_array:
    near, distances = nearest(points, k)
    values = distances.ravel() if lengths else np.ones(near.size)
    offsets = np.arange(len(points) + 1) * k
    return csr_array((values, near.ravel(), offsets), shape=(len(points),) * 2)


@each("form", [csr_array, csc_array, coo_array, lil_array, csr_matrix])
@EVERY_NEIGHBORHOOD
def test_a_graph_passed_with_points_gives_the_same_fit(method: type, form: Any) -> None:
    expected = fit_curve(method, n_neighbors=9)
    given = method().fit(curve(), graph=form(graph_of(curve(), 9, lengths=False)))
    assert_same(expected.embedding_, given.embedding_)
    assert_same(expected.transform(curve(50, seed=1)), given.transform(curve(50, seed=1)))


@EVERY_NEIGHBORHOOD
def test_a_graph_passed_with_distances_gives_the_same_fit(method: type) -> None:
    graph = graph_of(curve(), 9, lengths=False)
    expected = method(n_neighbors=9, metric="precomputed").fit(pairwise(curve()))
    given = method(metric="precomputed").fit(pairwise(curve()), graph=graph)
    assert_same(expected.embedding_, given.embedding_)


@each("form", [csr_array, csc_array, coo_array, csr_matrix])
@EVERY_NEIGHBORHOOD
def test_sparse_distances_give_the_fit_to_points_or_name_what_is_missing(
    method: type, form: Any
) -> None:
    fitted = answered(lambda: method(metric="precomputed").fit(form(graph_of(curve(), 9))))
    assert (fitted is None) == method.local_blocks
    if fitted is not None:
        assert_same(fit_curve(method, n_neighbors=9).embedding_, fitted.embedding_)


@EVERY_NEIGHBORHOOD
def test_stored_loops_and_repeated_entries_of_a_graph_change_nothing(method: type) -> None:
    near = nearest(curve(), 9)[0]
    rows = np.r_[np.repeat(np.arange(200), 9), np.arange(200), np.repeat(np.arange(200), 9)]
    columns = np.r_[near.ravel(), np.arange(200), near.ravel()]
    graph = coo_array((np.zeros(len(rows)), (rows, columns)), shape=(200, 200))
    expected = fit_curve(method, n_neighbors=9).embedding_
    assert_same(expected, method().fit(curve(), graph=graph).embedding_)


@each("order", ["adjacent", "shuffled"])
@EVERY
def test_duplicate_rows_get_equal_coordinates(method: type, order: str) -> None:
    source = np.repeat(np.arange(150), 6)
    if order == "shuffled":
        source = np.random.default_rng(0).permutation(source)
    fitted = method().fit(curve(150)[source])
    _, first = np.unique(source, return_index=True)
    assert_same(fitted.embedding_[first][source], fitted.embedding_, 1e-10)
    assert_alike(method, fit_curve(method, 150).embedding_, fitted.embedding_[first], 1e-6)
    assert_same(fitted.embedding_, fitted.transform(curve(150)[source]), 1e-8)


@each("order", ["adjacent", "shuffled"])
@over(with_parameter("metric"))
def test_distances_of_duplicate_rows_give_equal_coordinates(method: type, order: str) -> None:
    source = np.repeat(np.arange(60), 6)
    if order == "shuffled":
        source = np.random.default_rng(0).permutation(source)
    distances = pairwise(curve(60)[source])
    fitted = method(metric="precomputed").fit(distances)
    _, first = np.unique(source, return_index=True)
    assert_same(fitted.embedding_[first][source], fitted.embedding_, 1e-9)
    assert_same(fitted.embedding_, fitted.transform(distances), 1e-8)


@EVERY_NEIGHBORHOOD
def test_duplicate_rows_of_a_graph_get_coordinates_close_to_each_other(method: type) -> None:
    points = np.repeat(curve(100), 2, axis=0)
    fitted = answered(lambda: method().fit(points, graph=graph_of(points, 16, lengths=False)))
    warned = fitted is not None and any("not unique" in text for text in fitted.report_.warnings)
    if fitted is not None and not warned:
        apart = np.linalg.norm(fitted.embedding_[::2] - fitted.embedding_[1::2], axis=1)
        assert apart.max() < 0.1 * np.ptp(fitted.embedding_, axis=0).max()


@over(with_parameter("symmetrize"))
def test_the_policy_looks_at_the_graph_that_the_method_uses(method: type) -> None:
    # Six rows have neighbours in a crowd that has none in them: when both ends must agree on an
    # edge, the graph falls apart, and the policy must see it.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(106, 3)) + 20.0 * (np.arange(106) >= 100)[:, None]
    edges = graph_of(points, 8, lengths=False).toarray()
    parts = components(edges * edges.T)
    both = {"n_neighbors": 8, "symmetrize": "min"}
    refused(lambda: method(**both, connect="error").fit(points), f"{parts.max() + 1} components")
    fitted, _ = quietly(lambda: method(**both, connect="components").fit(points))
    pairs = np.unique(np.column_stack([fitted.component_, parts]), axis=0)
    assert len(pairs) == parts.max() + 1


@over(with_parameter("threshold"))
def test_the_policy_looks_at_the_graph_above_the_threshold(method: type) -> None:
    # A neck of long edges, whose weights lie below the threshold, joins two crowds.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(100, 3)) + 12.0 * (np.arange(100) >= 50)[:, None]
    points[48:50] = [[6.0, 6.0, 6.0], [9.0, 9.0, 9.0]]
    assert method(n_neighbors=49, connect="error").fit(points).component_.max() == 0
    cut = {"n_neighbors": 49, "threshold": 0.3}
    refused(lambda: method(**cut, connect="error").fit(points), "components")


@over([method for method in NEIGHBORHOOD if method.supervised])
def test_classes_may_have_any_names_but_must_be_one_for_each_row(method: type) -> None:
    classes = np.arange(200) // 70
    expected = method().fit(curve(), classes).embedding_
    for names in (classes.astype(str), list(classes * 10), classes.astype(float), classes + 5):
        assert_same(expected, method().fit(curve(), names).embedding_)
    for wrong in (classes[:-1], classes[:, None], np.eye(3)[classes], 3, {"a": 1}):
        refused(lambda y=wrong: method().fit(curve(), y), "one value for each of 200 rows")
    unknown = method().fit(curve(), np.full(200, -1)).embedding_
    assert_same(unknown, method().fit(curve()).embedding_)


@EVERY_NEIGHBORHOOD
def test_one_coordinate_orders_the_points_of_an_arc_or_says_that_it_does_not(method: type) -> None:
    angle = np.linspace(0.0, 3.0, 200)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    fitted, warned = quietly(lambda: method(n_components=1).fit(arc))
    ranks = np.argsort(np.argsort(fitted.embedding_[:, 0]))
    assert warned or abs(np.corrcoef(ranks, np.arange(200))[0, 1]) > 0.999


@EVERY_NEIGHBORHOOD
def test_new_samples_at_the_rim_of_a_star_stay_near_it(method: type) -> None:
    # The Laplacian of a star has the eigenvalue one, where its extension divides by zero.
    rim = np.arange(1, 30)
    star = coo_array((np.ones(29), (np.zeros(29, dtype=int), rim)), shape=(30, 30))
    points = np.random.default_rng(0).normal(size=(30, 3))
    fitted = answered(lambda: method().fit(points, graph=csr_array(star + star.T)))
    if fitted is not None:
        placed, _ = quietly(lambda: fitted.transform(points + 0.01))
        assert np.abs(placed).max() < 100.0 * np.abs(fitted.embedding_).max()


def documented(method: Any) -> list[str]:
    section = re.split(r"\n\w+\n-{5,}\n", method.__doc__.split("Attributes\n----------\n")[1])[0]
    names = re.findall(r"^(\w+_(?:, \w+_)*) :", section, flags=re.MULTILINE)
    return [name for group in names for name in group.split(", ")]


@EVERY
def test_every_documented_attribute_exists_and_every_other_is_documented(method: type) -> None:
    fitted = fit_curve(method)
    for name in documented(method):
        value = getattr(fitted, name)
        assert not isinstance(value, float | np.ndarray) or np.all(np.isfinite(value)), name
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert public - set(documented(method)) <= {"n_features_in_"}


@each("policy", ["bridge", "largest", "components"])
@EVERY_NEIGHBORHOOD
def test_every_documented_attribute_exists_when_the_parts_are_tiny(
    method: type, policy: str
) -> None:
    pairs = np.repeat(1000.0 * np.arange(6), 2)[:, None] + np.tile([[0.0], [1.0]], (6, 1))
    options = {"n_components": 1, "n_neighbors": None, "radius": 5.0, "connect": policy}
    fitted = answered(lambda: method(**options).fit(np.hstack([pairs, pairs])))
    if fitted is not None:
        for name in documented(method):
            value, _ = quietly(lambda name=name: getattr(fitted, name))
            assert not isinstance(value, float | np.ndarray) or np.all(np.isfinite(value)), name
