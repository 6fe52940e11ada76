"""Kinds of neighbourhoods: mutual, hybrid, and as many neighbours as the graph needs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from tests.stages.drawn import LAW, lattice, rngs
from unbend.graphs import fewest_neighbors
from unbend.neighbors import PointSpace


def parts_of(neighbors, k, mutual):
    """Count the components of the graph of k neighbours, by dense matrices."""
    edges = neighbors.nearest(np.full(neighbors.n, k)).graph()
    edges.data[:] = 1.0
    dense = edges.toarray() > 0
    return connected_components(dense & dense.T if mutual else dense | dense.T)[0]


@LAW
@given(rngs, st.integers(2, 30), st.integers(1, 12), st.booleans(), st.booleans())
def test_the_fewest_neighbours_join_what_all_do_and_one_fewer_does_not(rng, n, most, mutual, ties):
    points = (
        lattice(rng, n, 2) if ties else rng.normal(size=(n, 2)) + 4 * rng.integers(0, 2, (n, 1))
    )
    neighbors = PointSpace(points).nearest(min(most, n - 1))
    fewest = fewest_neighbors(neighbors, mutual)
    parts = [parts_of(neighbors, k, mutual) for k in range(neighbors.counts.max() + 1)]
    assert fewest.components == parts[-1]
    assert parts[fewest.k] == parts[-1]
    assert fewest.k == 1 or parts[fewest.k - 1] > parts[-1]


@LAW
@given(rngs, st.integers(2, 25), st.integers(1, 8), st.integers(0, 3))
def test_mutual_neighbours_have_each_other_or_are_among_the_nearest(rng, n, k, least):
    neighbors = PointSpace(lattice(rng, n, 2)).nearest(min(k, n - 1))
    stored = {*zip(neighbors.rows.tolist(), neighbors.indices.tolist(), strict=True)}
    place = neighbors.ranks.tolist()
    expected = [
        (i, j)
        for (i, j), p in zip(
            zip(neighbors.rows, neighbors.indices, strict=True), place, strict=True
        )
        if (j, i) in stored or p < least
    ]
    kept = neighbors.mutual(least)
    assert [*zip(kept.rows, kept.indices, strict=True)] == expected
    assert (kept.counts >= min(least, k, n - 1)).all()


@LAW
@given(rngs, st.integers(2, 25), st.integers(1, 8), st.floats(0.1, 3.0))
def test_a_number_within_a_radius_is_what_both_allow(rng, n, k, radius):
    space = PointSpace(rng.normal(size=(n, 2)))
    both = space.nearest(min(k, n - 1)).within(radius)
    assert (both.counts == np.minimum(space.within(radius).counts, k)).all()
    assert (both.distances <= radius).all()
