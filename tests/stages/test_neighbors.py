"""One suite of laws for every space: however distances are given, they mean the same."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loops import each
from tests.stages.drawn import EPS, LAW, lattice, rngs
from unbend.neighbors import DistanceSpace, Metric, Neighbors, PointSpace


def euclidean(first, second):
    return np.sqrt(((first[:, None] - second) ** 2).sum(axis=2))


def manhattan(first, second):
    return np.abs(first[:, None] - second).sum(axis=2)


def largest(first, second):
    return np.abs(first[:, None] - second).max(axis=2)


@dataclass(frozen=True)
class Case:
    """A kind of space: columns of its points, their distances by brute force, how it is made."""

    columns: int
    between: object
    metric: object = None

    def space(self, points):
        if self.metric is None:
            return DistanceSpace(self.between(points, points))
        return PointSpace(points, self.metric)

    def new(self, points, new):
        return self.between(new, points) if self.metric is None else new

    def slack(self, points):
        """Bound the rounding of one distance: of each coordinate when centred, and of the sum."""
        spread = np.abs(points - points.mean(axis=0)).max() + 1.0
        return 4 * self.columns * EPS * spread


CASES = {
    "tree": Case(3, euclidean, Metric()),
    "products": Case(40, euclidean, Metric()),
    "manhattan tree": Case(3, manhattan, Metric("manhattan")),
    "manhattan blocks": Case(40, manhattan, Metric("manhattan")),
    "callable": Case(3, largest, Metric(lambda a, b: float(np.abs(a - b).max()))),
    "distances": Case(3, euclidean),
}
EUCLIDEAN = ("tree", "products", "distances")
every_space = each("case", CASES.values())
every_euclidean_space = pytest.mark.parametrize(
    "case", [CASES[name] for name in EUCLIDEAN], ids=EUCLIDEAN
)


def assert_nearest(case, points, k):
    """Right distances in ascending order, that belong to their indices, and nobody itself."""
    neighbors = case.space(points).nearest(k)
    assert (neighbors.counts == k).all()
    n, truth, slack = len(points), case.between(points, points), case.slack(points)
    indices, distances = neighbors.indices.reshape(n, k), neighbors.distances.reshape(n, k)
    assert not (indices == np.arange(n)[:, None]).any()
    assert all(len(set(row)) == k for row in indices)
    assert (np.diff(distances) >= 0).all()
    np.testing.assert_allclose(distances, np.take_along_axis(truth, indices, 1), 0, slack)
    others = truth[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    np.testing.assert_allclose(distances, np.sort(others)[:, :k], 0, slack)


@every_space
@LAW
@given(rngs, st.integers(2, 30), st.data())
def test_nearest_neighbours_equal_those_of_brute_force(case, rng, n, data):
    assert_nearest(case, rng.normal(size=(n, case.columns)), data.draw(st.integers(1, n - 1)))


@every_space
@LAW
@given(rngs, st.integers(2, 30), st.integers(1, 4), st.data())
def test_a_point_is_never_its_own_neighbour_among_duplicates(case, rng, n, distinct, data):
    points = lattice(rng, distinct, case.columns)[rng.integers(0, distinct, n)]
    assert_nearest(case, points, data.draw(st.integers(1, n - 1)))


@every_space
@each("k", [1, 3, 8])
def test_more_than_k_duplicate_rows_are_neighbours_of_each_other(case, k):
    points = np.repeat(lattice(np.random.default_rng(k), 2, case.columns, 100), k + 3, axis=0)
    assert_nearest(case, points, k)
    assert (case.space(points).nearest(k).distances == 0).all()


@every_space
@LAW
@given(rngs, st.integers(2, 30))
def test_within_a_radius_are_all_that_brute_force_finds(case, rng, n):
    points = rng.normal(size=(n, case.columns))
    truth = case.between(points, points)
    # Half-way between two distances, so that rounding decides nothing.
    steps = np.unique(truth)
    at = rng.integers(0, len(steps) - 1)
    assert_within(case, points, truth, (steps[at] + steps[at + 1]) / 2)


@every_space
@LAW
@given(rngs, st.integers(2, 30))
def test_a_radius_includes_points_at_exactly_that_distance(case, rng, n):
    points = lattice(rng, n, case.columns)
    truth = case.between(points, points)
    assert_within(case, points, truth, rng.choice(truth.ravel()))


def assert_within(case, points, truth, radius):
    found = case.space(points).within(radius)
    near = (truth <= radius) & ~np.eye(len(points), dtype=bool)
    for i, row in enumerate(near):
        mine = slice(found.offsets[i], found.offsets[i + 1])
        assert sorted(found.indices[mine]) == list(np.flatnonzero(row))
        expected = truth[i, found.indices[mine]]
        np.testing.assert_allclose(found.distances[mine], expected, 0, case.slack(points))
        assert (np.diff(found.distances[mine]) >= 0).all()


@every_space
@LAW
@given(rngs, st.integers(1, 30), st.integers(1, 5), st.data())
def test_new_samples_find_the_nearest_fitted_rows(case, rng, n, m, data):
    points, new = rng.normal(size=(n, case.columns)), rng.normal(size=(m, case.columns))
    new[0] = points[-1]  # a new row may equal a fitted one, which then counts
    k = data.draw(st.integers(1, n))
    indices, distances = case.space(points).nearest_of(case.new(points, new), k)
    truth, slack = case.between(new, points), case.slack(np.vstack((points, new)))
    np.testing.assert_allclose(distances, np.sort(truth)[:, :k], 0, slack)
    np.testing.assert_allclose(distances, np.take_along_axis(truth, indices, 1), 0, slack)
    assert distances[0, 0] == 0


# Multiples of 2^-20: shifting them by 2^20 is exact, so distances do not change.
def fine_points(rng, n, columns):
    return np.round(rng.normal(size=(n, columns)) * 2**20) / 2**20


@every_space
@LAW
@given(rngs)
def test_data_far_from_the_origin_keep_their_neighbours(case, rng):
    assert_nearest(case, fine_points(rng, 40, case.columns) + 2.0**20, 5)


@every_space
@each("far", [2.0**20, 2.0**30])
@LAW
@given(rngs)
def test_two_groups_far_apart_keep_their_neighbours(case, far, rng):
    points = fine_points(rng, 40, case.columns)
    points[::2] += far
    assert_nearest(case, points, 5)


@every_space
@each("far", [2.0**20, 2.0**36])
@LAW
@given(rngs)
def test_one_outlier_does_not_change_the_neighbours_of_the_rest(case, far, rng):
    points = fine_points(rng, 40, case.columns)
    points[7] = far
    assert_nearest(case, points, 5)


@every_euclidean_space
@LAW
@given(rngs, st.integers(2, 12), st.booleans())
def test_local_coordinates_have_the_distances_of_their_block(case, rng, s, twins):
    points = rng.normal(size=(15, case.columns)) + 100.0
    if twins:
        points[1::2] = points[0]
    blocks = np.stack([rng.permutation(15)[:s] for _ in range(4)])
    local = case.space(points).coordinates(blocks)
    for block, rows in zip(blocks, local, strict=True):
        assert_same_distances(rows, points[block])


@every_euclidean_space
@LAW
@given(rngs, st.integers(1, 12))
def test_local_coordinates_of_new_samples_put_the_new_sample_first(case, rng, s):
    points, new = rng.normal(size=(15, case.columns)), rng.normal(size=(4, case.columns))
    blocks = np.stack([rng.permutation(15)[:s] for _ in range(4)])
    local = case.space(points).coordinates_of(case.new(points, new), blocks)
    for row, block, rows in zip(new, blocks, local, strict=True):
        assert_same_distances(rows, np.vstack((row, points[block])))


def assert_same_distances(rows, points):
    """Squares are compared: they come from a Gram matrix, whose entries round by s eps |G|."""
    expected = euclidean(points, points) ** 2
    found = euclidean(rows, rows) ** 2
    size = len(points) * (expected.max() + EPS * np.square(points).max())
    np.testing.assert_allclose(found, expected, 0, 32 * len(points) * EPS * size)


@every_space
@LAW
@given(rngs, st.integers(3, 20), st.data())
def test_some_rows_of_a_space_are_the_space_of_those_rows(case, rng, n, data):
    points, new = rng.normal(size=(n, case.columns)), rng.normal(size=(3, case.columns))
    rows = rng.permutation(n)[: data.draw(st.integers(2, n))]
    space, some, slack = case.space(points), points[rows], case.slack(points)
    part = space.take(rows)
    assert (space.n, part.n) == (n, len(rows))
    truth = case.between(some, points)
    np.testing.assert_allclose(space.distances_of(space.rows(rows)), truth, 0, slack)
    narrowed = space.narrow(space.rows(rows), rows)
    np.testing.assert_allclose(part.distances_of(narrowed), truth[:, rows], 0, slack)
    _, distances = part.nearest_of(space.narrow(case.new(points, new), rows), 1)
    expected = case.between(new, some).min(axis=1)
    np.testing.assert_allclose(distances[:, 0], expected, 0, case.slack(np.vstack((points, new))))
    i, j = rng.integers(0, len(rows), (2, 10))
    np.testing.assert_allclose(part.lengths(i, j), truth[i, rows[j]], 0, slack)


@every_space
@LAW
@given(rngs, st.integers(1, 25), st.integers(1, 5))
def test_equal_rows_are_grouped_in_order_of_first_occurrence(case, rng, n, distinct):
    points = lattice(rng, distinct, case.columns)[rng.integers(0, distinct, n)]
    points[(points == 0) & (rng.random(points.shape) < 0.5)] = -0.0  # the same value as 0.0
    first, copy = case.space(points).distinct()
    seen = []
    for row in points.tolist():
        if row not in seen:
            seen.append(row)
    assert points[first].tolist() == seen
    assert (np.diff(first) > 0).all()
    assert (points[first][copy] == points).all()
    assert [points.tolist().index(row) for row in seen] == first.tolist()


@given(rng=rngs)
def test_added_edges_give_the_graph_that_all_edges_give(rng):
    """As when all edges are sorted at once: ties by index, of repeated edges the shortest."""
    points = lattice(rng, 30, 2)
    near = PointSpace(points).nearest(4)
    count = int(rng.integers(0, 12))
    rows = rng.integers(0, 10, count)
    columns = (rows + rng.integers(1, 30, count)) % 30
    lengths = rng.integers(0, 6, count).astype(float)
    added = near.add_edges(rows, columns, lengths)
    whole = Neighbors.from_edges(
        30,
        np.concatenate((near.rows, rows)),
        np.concatenate((near.indices, columns)),
        np.concatenate((near.distances, lengths)),
    )
    np.testing.assert_array_equal(added.offsets, whole.offsets)
    np.testing.assert_array_equal(added.indices, whole.indices)
    np.testing.assert_array_equal(added.distances, whole.distances)


@LAW
@given(rngs, st.integers(8, 30), st.integers(1, 60))
def test_coordinates_of_long_rows_do_not_depend_on_how_many_are_computed_at_once(rng, n, columns):
    space = PointSpace(rng.normal(size=(n, columns)))
    blocks = rng.integers(0, n, (n, 5))
    whole = space.coordinates(blocks)
    alone = np.concatenate([space.coordinates(block[None]) for block in blocks])
    assert alone.tobytes() == whole.tobytes()
    points = space.points[blocks]
    gram = (points - points[:, :1]) @ (points - points[:, :1]).mT
    products = whole - whole[:, :1]
    np.testing.assert_allclose(products @ products.mT, gram, 0, 1e-10 * (1 + np.abs(gram).max()))
