"""Graphs joined by larger neighbourhoods or by bridges: connected, whatever the input."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.loops import each
from tests.oracles.neighbors import pairwise
from tests.stages.drawn import LAW, blobs, lattice, rngs
from unbend.graphs import bridge, components, enlarge
from unbend.neighbors import DistanceSpace, PointSpace


def spaces(points):
    return PointSpace(points), DistanceSpace(pairwise(points))


def edges_of(neighbors):
    return set(zip(neighbors.rows.tolist(), neighbors.indices.tolist(), strict=True))


def assert_joined(space, neighbors):
    """Check both ways of joining; no edge is lost, and additions are reported."""
    before = components(neighbors.graph())
    enlarged = enlarge(space, neighbors)
    bridged = bridge(space, before).as_edges(neighbors)
    for joined in (enlarged.neighbors, bridged):
        assert (components(joined.graph()) == 0).all()
        assert edges_of(neighbors) <= edges_of(joined)
    assert len(edges_of(enlarged.neighbors)) == len(edges_of(neighbors)) + enlarged.added
    across = {(i, j) for i, j in edges_of(enlarged.neighbors) if before[i] != before[j]}
    assert across == set(zip(enlarged.links.first, enlarged.links.second, strict=True))
    if before.max() == 1:
        assert (enlarged.counts[before == 0] == neighbors.counts[before == 0]).all()


SCENES = {
    "a lattice with duplicates": lambda rng, n: lattice(rng, n, 2),
    "one point many times": lambda rng, n: np.zeros((n, 2)),
    "two points many times": lambda rng, n: np.repeat([[0.0, 0.0], [1.0, 0.0]], n, axis=0)[:n],
    "far clusters": lambda rng, n: rng.normal(size=(n, 2)) + 1e6 * rng.integers(0, 3, (n, 1)),
    "random points": lambda rng, n: rng.normal(size=(n, 3)),
}


@each("scale", [1e-150, 1.0, 1e150])
@each("scene", SCENES)
@LAW
@given(rngs, st.integers(4, 40), st.integers(1, 3))
def test_both_ways_connect_any_points_and_distances(scene, scale, rng, n, k):
    points = SCENES[scene](rng, n)
    points = points * (scale / max(1.0, np.abs(points).max()))
    for space in spaces(points):
        assert_joined(space, space.nearest(k))
        assert_joined(space, space.nearest(k).mutual())
        assert_joined(space, space.within(0.0))


@LAW
@given(rngs, st.integers(1, 3))
def test_larger_neighbourhoods_are_the_nearest_and_no_larger_than_needed(rng, k):
    points, _ = blobs(rng, [12, 7, 5])
    for space in spaces(points):
        neighbors = space.nearest(k)
        before = components(neighbors.graph())
        enlarged = enlarge(space, neighbors)
        nearest = space.nearest(len(points) - 1).nearest(enlarged.counts)
        assert edges_of(enlarged.neighbors) == edges_of(nearest) | edges_of(neighbors)
        if len(np.unique(before)) == 2:
            larger = enlarged.counts > neighbors.counts
            assert 0 < larger.sum() <= k
            fewer = enlarged.counts - larger
            smaller = space.nearest(len(points) - 1).nearest(fewer)
            assert components(smaller.graph()).max() == 1


def test_a_connected_graph_is_left_as_it_is():
    space = PointSpace(np.arange(5.0)[:, None])
    enlarged = enlarge(space, space.nearest(1))
    assert enlarged.added == 0
    assert len(enlarged.links.lengths) == 0
    assert edges_of(enlarged.neighbors) == edges_of(space.nearest(1))


def test_large_components_far_apart_get_few_edges():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 2)) + 1e3 * (np.arange(4000) % 2)[:, None]
    space = PointSpace(points)
    enlarged = enlarge(space, space.nearest(8))
    assert components(enlarged.neighbors.graph()).max() == 0
    assert enlarged.added <= 8 * 2000
