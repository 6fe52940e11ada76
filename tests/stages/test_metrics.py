"""Every named distance is what its definition says, and is a distance."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.loops import each
from tests.stages.drawn import EPS, LAW, rngs
from tests.stages.metrics import CASES, COLUMNS, TRIANGLES
from tests.stages.searches import by_sorting
from unbend.neighbors import METRICS, PointSpace, describe_parameters

# The oracles take their time.
FEW = settings(max_examples=settings().max_examples // 4)
every_case = each("case", CASES.values())
FIXED = {"shape", "w", "M", "B", "V", "VI", "weights"}
ANY_COLUMNS = [name for name, case in CASES.items() if not set(case.params) & FIXED]


def rows(rng, n):
    return rng.normal(size=(n, COLUMNS)) + 0.5


def space(case, points):
    return PointSpace(points, case.metric.fit(points))


def test_every_named_distance_is_under_test():
    aliases = {"cityblock": "manhattan", "chebyshev": "template"}
    # Ranges of Gower's distance come from the data: tests/prepare/test_gower.py.
    names = {aliases.get(name, name) for name in METRICS if name != "gower"}
    assert names == {case.name for case in CASES.values()}


def test_every_parameter_is_described():
    for distance in METRICS.values():
        assert all(parameter in describe_parameters() for parameter in distance.parameters)


@every_case
@LAW
@given(rngs)
def test_distances_equal_the_definition(case, rng):
    first, second = rows(rng, 5), rows(rng, 4)
    found = case.metric.fit(first).between(first, second)
    expected = case.between(first, second)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * expected.max())


@every_case
@LAW
@given(rngs)
def test_distances_are_symmetric_and_zero_on_the_same_row(case, rng):
    points = rows(rng, 6)
    distances = case.metric.fit(points).between(points, points)
    assert (distances.diagonal() == 0).all()
    assert (distances[~np.eye(6, dtype=bool)] > 0).all()
    np.testing.assert_array_equal(distances, distances.T)


@each("case", [CASES[name] for name in TRIANGLES])
@LAW
@given(rngs)
def test_no_way_round_is_shorter(case, rng):
    points = rows(rng, 8)
    points[4:] = points[:4] + 1e-3 * rng.normal(size=(4, COLUMNS))
    d = case.metric.fit(points).between(points, points)
    assert (d[:, None] <= d[:, :, None] + d[None] + 64 * EPS * d.max()).all()


@every_case
@FEW
@given(rngs, st.integers(1, 9))
def test_nearest_neighbours_are_those_of_brute_force_by_the_definition(case, rng, k):
    points, new = rows(rng, 12), rows(rng, 3)
    here, fitted = space(case, points), case.between(points, points)
    neighbors = here.nearest(k)
    order, lengths = by_sorting(fitted, k, itself=True)
    slack = 1e-9 * fitted.max()
    np.testing.assert_array_equal(neighbors.indices.reshape(-1, k), order)
    np.testing.assert_allclose(neighbors.distances.reshape(-1, k), lengths, 1e-9, slack)
    indices, distances = here.nearest_of(new, k)
    order, lengths = by_sorting(case.between(new, points), k, itself=False)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(distances, lengths, 1e-9, slack)


@every_case
@FEW
@given(rngs)
def test_a_radius_finds_all_that_brute_force_finds(case, rng):
    points = rows(rng, 12)
    truth = case.between(points, points)
    steps = np.unique(truth[truth > 1e-9])
    at = rng.integers(0, len(steps) - 2)
    radius = (steps[at] + steps[at + 2]) / 2
    found = space(case, points).within(radius).graph().toarray() > 0
    np.testing.assert_array_equal(found, (truth <= radius) & ~np.eye(12, dtype=bool))


@each("case", [CASES[name] for name in ANY_COLUMNS])
def test_few_columns_go_through_a_tree_with_the_same_neighbours(case):
    """The other laws have enough columns for matrix products, and some maps keep few of them."""
    points = np.random.default_rng(0).normal(size=(300, 8)) + 0.5
    metric = case.metric.fit(points)
    order, lengths = by_sorting(metric.between(points, points), 7, itself=True)
    found = PointSpace(points, metric).nearest(7)
    np.testing.assert_array_equal(found.indices.reshape(-1, 7), order)
    np.testing.assert_allclose(found.distances.reshape(-1, 7), lengths, rtol=1e-12)


@every_case
@LAW
@given(rngs, st.integers(1, 200))
def test_a_row_has_the_same_features_alone_and_among_others(case, rng, n):
    points = rows(rng, n)
    metric = case.metric.fit(points)
    together = metric.features(points)
    some = np.unique(rng.integers(0, n, 5))
    for i in some:
        np.testing.assert_array_equal(metric.features(points[i : i + 1])[0], together[i])
    np.testing.assert_array_equal(metric.features(points[some]), together[some])


@every_case
@LAW
@given(rngs)
def test_pairs_parts_and_local_coordinates_have_the_distances_of_the_rows(case, rng):
    points = rows(rng, 10)
    here = space(case, points)
    truth = case.metric.fit(points).between(points, points)
    some = np.array([7, 1, 4])
    np.testing.assert_allclose(here.lengths(some, some[::-1]), truth[some, some[::-1]], 1e-12)
    np.testing.assert_allclose(
        here.take(some).distances_of(points), truth[:, some], 1e-12, 1e-12 * truth.max()
    )
    if case.name in ("mahalanobis", "weighted", "derivative", "fourier", "wavelet"):
        local = here.coordinates(np.array([some]))[0]
        apart = np.linalg.norm(local[:, None] - local, axis=2)
        np.testing.assert_allclose(apart, truth[np.ix_(some, some)], 1e-7, 1e-7 * truth.max())
