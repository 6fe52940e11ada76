"""Every parameter: values that are refused, and values that do what they say."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from tests.conformance.cases import (
    CLASSES,
    EVERY,
    EVERY_NEIGHBORHOOD,
    INHERITED,
    NEIGHBORHOOD,
    ORACLES,
    STRICT,
    answered,
    assert_same,
    curve,
    first_declares,
    fit_curve,
    over,
    quietly,
    refused,
    with_parameter,
)
from tests.loops import each
from tests.oracles.embeddings import subspace_angle
from tests.oracles.neighbors import nearest
from unbend.neighbors import NNDescent

pytestmark = STRICT
ORACLE = over([method for method in NEIGHBORHOOD if method.__name__ in ORACLES])

WRONG = [
    *[("n_components", value, TypeError) for value in (True, None)],
    # A float is a share of the variance for PCA, and then of the wrong value.
    ("n_components", 2.5, (TypeError, ValueError)),
    ("n_components", "2", (TypeError, ValueError)),
    *[("n_components", value, ValueError) for value in (0, -1)],
    *[("n_neighbors", value, ValueError) for value in (0, -1)],
    *[("n_neighbors", value, TypeError) for value in (2.5, True)],
    *[("n_neighbors", value, ValueError) for value in ("5", "automatic")],
    ("neighbors_algorithm", "approx", ValueError),
    *[("neighbors_algorithm", value, TypeError) for value in (None, 3, NNDescent)],
    *[("mutual", value, TypeError) for value in (1, None, "yes")],
    *[("radius", value, ValueError) for value in (-1.0, 0, 0.0, np.nan, np.inf)],
    *[("radius", value, TypeError) for value in ("1", True, [1.0])],
    ("metric", "euclidian", ValueError),
    ("metric", 3, TypeError),
    ("metric_params", [("p", 3)], TypeError),
    ("connect", "bridges", ValueError),
    ("connect", None, TypeError),
    ("short_circuits", "cut", ValueError),
    ("short_circuits", False, TypeError),
    ("eigen_solver", "arpak", ValueError),
    ("eigen_solver", 1, TypeError),
    ("random_state", -1, ValueError),
    *[("random_state", value, TypeError) for value in ("0", 1.5, True)],
    ("n_jobs", 0, ValueError),
    *[("n_jobs", value, TypeError) for value in (1.5, "2")],
    ("repair", "shft", ValueError),
    ("reg", -1.0, ValueError),
    ("nonnegative", 1, TypeError),
    ("weights", "head", ValueError),
    ("t", -1.0, ValueError),
    ("symmetrization", "sum", ValueError),
    ("normalization", "randomwalk", ValueError),
    ("svd_solver", "fast", ValueError),
    ("max_iter", 0, ValueError),
    ("tol", np.nan, ValueError),
]


@EVERY
@INHERITED
@each("name, value, error", WRONG)
def test_a_value_that_is_not_allowed_is_refused_with_those_that_are(
    method: type, inherited: bool, name: str, value: Any, error: type[Exception]
) -> None:
    if name in method().get_params() and inherited != first_declares(method, name):
        refused(lambda: method(**{name: value}).fit(curve(50)), name, error=error)


@each("k", [20, 25, 10**6])
@EVERY_NEIGHBORHOOD
def test_more_neighbours_than_rows_are_lowered_with_a_warning(method: type, k: int) -> None:
    fitted, warned = quietly(lambda: method(n_neighbors=k).fit(curve(20)))
    assert "there are 20 distinct rows: n_neighbors was lowered to 19" in warned
    expected, _ = quietly(lambda: method(n_neighbors=19).fit(curve(20)))
    assert np.array_equal(fitted.embedding_, expected.embedding_)


@EVERY_NEIGHBORHOOD
def test_fewer_neighbours_than_a_method_needs_are_raised_with_a_warning(method: type) -> None:
    fitted, warned = quietly(lambda: method(n_components=2, n_neighbors=1).fit(curve()))
    assert np.all(np.isfinite(fitted.embedding_))
    assert warned
    if fitted._needs().neighbors > 1:
        assert "n_neighbors was raised to" in warned[0]


@each("d", [20, 21, 1000])
@EVERY
def test_more_components_than_rows_are_refused(method: type, d: int) -> None:
    refused(lambda: method(n_components=d).fit(np.eye(20)[:, :15]), "n_components", str(d))


@over([m for m in CLASSES if "svd_solver" in m().get_params()])
def test_a_linear_method_gives_as_many_components_as_columns_and_no_more(method: type) -> None:
    assert method(n_components=3).fit_transform(curve()).shape == (200, 3)
    refused(
        lambda: method(n_components=4).fit(curve()), "n_components=4", "at most 3 with 200 rows"
    )


COUNTS = {
    "too few": np.full(199, 8),
    "zero": np.r_[np.full(199, 8), 0],
    "fractions": np.full(200, 8.0),
    "a table": np.full((200, 1), 8),
    "words": ["8"] * 200,
    "none": [],
}


@each("what", COUNTS)
@EVERY_NEIGHBORHOOD
def test_an_array_of_neighbour_counts_must_have_one_for_each_row(method: type, what: str) -> None:
    refused(lambda: method(n_neighbors=COUNTS[what]).fit(curve()), "n_neighbors", "200")


@EVERY_NEIGHBORHOOD
def test_an_array_of_equal_counts_is_the_number(method: type) -> None:
    expected = fit_curve(method, n_neighbors=9)
    for counts in (np.full(200, 9), [9] * 200, np.full(200, 9, dtype=np.uint8)):
        found = method(n_neighbors=counts).fit(curve())
        assert np.array_equal(found.embedding_, expected.embedding_)
        assert np.array_equal(found.transform(curve() + 0.01), expected.transform(curve() + 0.01))


@ORACLE
def test_a_count_for_each_row_gives_the_oracles_coordinates(method: type) -> None:
    points = curve()
    counts = np.random.default_rng(0).integers(8, 14, 200)
    near = [row[:count] for row, count in zip(nearest(points, 13)[0], counts, strict=True)]
    found = method(n_neighbors=counts).fit_transform(points)
    assert subspace_angle(found, ORACLES[method.__name__](points, near, 2)) < 1e-6


@each("most", [None, 12])
@ORACLE
def test_a_radius_alone_or_with_a_count_gives_the_oracles_coordinates(
    method: type, most: int | None
) -> None:
    points = curve()
    indices, distances = nearest(points, 199)
    radius = float(distances[:, 8].max())  # every row has nine neighbours within it
    near = [row[away <= radius][:most] for row, away in zip(indices, distances, strict=True)]
    fitted = method(n_neighbors=most, radius=radius).fit(points)
    assert subspace_angle(fitted.embedding_, ORACLES[method.__name__](points, near, 2)) < 1e-6
    assert_same(fitted.embedding_, fitted.transform(points), 1e-8)


@EVERY_NEIGHBORHOOD
def test_neither_a_count_nor_a_radius_is_refused(method: type) -> None:
    refused(lambda: method(n_neighbors=None).fit(curve()), "radius", "n_neighbors=None")


@each("radius", [1e-9, 0.2])
@EVERY_NEIGHBORHOOD
def test_a_radius_that_leaves_rows_alone_is_bridged_or_refused(method: type, radius: float) -> None:
    for most in (None, 10):
        fitted = answered(lambda m=most: method(n_neighbors=m, radius=radius).fit(curve()))
        if fitted is None:
            refused(lambda m=most: method(n_neighbors=m, radius=radius).fit(curve()), "radius=")
        else:
            assert "components" in fitted.report_.warnings[0]


FUNCTIONS = {
    "one number": lambda d: 1.0,
    "too few": lambda d: d[:3],
    "words": lambda d: ["near"] * len(d),
    "not a number": lambda d: np.nan * d,
    "negative": lambda d: -d,
    "nothing": lambda d: None,
}


@each("what", FUNCTIONS)
@over(with_parameter("weights"))
def test_a_weight_function_must_give_one_weight_for_each_distance(method: type, what: str) -> None:
    refused(lambda: method(weights=FUNCTIONS[what]).fit(curve()), "weight")


GRAPHS = {
    "too small": csr_array((199, 199)),
    "not square": csr_array((200, 199)),
    "dense": np.ones((200, 200)),
    "a list": [[1, 2], [0]],
    "a word": "knn",
}


@each("what", GRAPHS)
@EVERY_NEIGHBORHOOD
def test_a_graph_must_be_a_sparse_square_matrix(method: type, what: str) -> None:
    refused(lambda: method().fit(curve(), graph=GRAPHS[what]), "graph", "sparse matrix (200 x 200)")


@EVERY_NEIGHBORHOOD
def test_a_row_of_the_graph_without_neighbours_is_not_put_at_the_origin(method: type) -> None:
    points = curve()
    near = nearest(points, 10)[0]
    lonely = int(np.argmax(np.abs(fit_curve(method, n_neighbors=10).embedding_[:, 0])))
    owners = np.repeat(np.arange(200), 10)
    keep = owners != lonely  # others still have it as their neighbour
    pairs = (np.ones(keep.sum()), (owners[keep], near.ravel()[keep]))
    graph = csr_array(coo_array(pairs, shape=(200, 200)))
    fitted = answered(lambda: method().fit(points, graph=graph))
    if fitted is not None:
        spread = np.ptp(fitted.embedding_, axis=0).max()
        assert np.linalg.norm(fitted.embedding_[lonely]) > 0.01 * spread


@EVERY_NEIGHBORHOOD
def test_a_graph_beside_a_sparse_matrix_of_distances_is_not_ignored(method: type) -> None:
    near, distances = nearest(curve(), 10)
    rows = csr_array((distances.ravel(), near.ravel(), np.arange(201) * 10), shape=(200, 200))
    fewer = csr_array((np.ones(1200), near[:, :6].ravel(), np.arange(201) * 6), shape=(200, 200))
    fitted = answered(lambda: method(metric="precomputed").fit(rows, graph=fewer))
    if fitted is not None:
        assert fitted.report_.stage("neighbors").facts["edges"] == 1200
