"""Whether neighbourhoods are glued into one chart, against the null space of their alignment."""

import warnings

import numpy as np
import pytest
from benchmarks.noise.cases import make_cases
from benchmarks.noise.run import worst_error
from hypothesis import given
from hypothesis import strategies as st

import unbend
from tests.stages.drawn import LAW, rngs
from unbend._kernels import kernels, reference
from unbend.datasets import SURFACES
from unbend.graphs import consistency
from unbend.graphs.gluing import rigid_pieces
from unbend.neighbors import PointSpace


def nullity(points, neighbors):
    """Count the independent functions that are affine in every neighbourhood."""
    n, rows = len(points), []
    for i in range(n):
        block = np.append(i, neighbors.indices[neighbors.offsets[i] : neighbors.offsets[i + 1]])
        affine = np.column_stack((np.ones(len(block)), points[block]))
        q = np.linalg.qr(affine)[0]
        rows.append((np.eye(len(block)) - q @ q.T) @ np.eye(n)[block])
    return n - np.linalg.matrix_rank(np.concatenate(rows), tol=1e-9)


def clustered(rng, n, d):
    """Points whose spacings differ by orders of magnitude, so that few neighbourhoods overlap."""
    return np.cumsum(np.exp(rng.normal(scale=1.0, size=(n, 1))), axis=0) + rng.normal(size=(n, d))


@LAW
@given(rngs, st.integers(8, 40), st.integers(2, 5))
def test_charts_of_a_line_are_unique_exactly_where_they_are_glued(rng, n, k):
    points = np.cumsum(np.exp(rng.normal(scale=1.5, size=(n, 1))), axis=0)
    points /= np.ptp(points)
    neighbors = PointSpace(points).nearest(k)
    assert (rigid_pieces(neighbors, 1).max() == 0) == (nullity(points, neighbors) == 2)


@LAW
@given(rngs, st.integers(12, 40), st.integers(4, 7))
def test_glued_charts_of_a_plane_are_unique(rng, n, k):
    points = clustered(rng, n, 2)
    neighbors = PointSpace(points / np.ptp(points)).nearest(k)
    if not rigid_pieces(neighbors, 2).any():
        assert nullity(points, neighbors) == 3


@LAW
@given(rngs, st.integers(1, 30), st.integers(1, 30), st.integers(1, 4))
def test_pieces_of_blocks_are_those_of_the_twin(rng, n, blocks, least):
    chosen = [np.flatnonzero(rng.uniform(size=n) < 0.3) for _ in range(blocks)]
    offset = np.concatenate(([0], np.cumsum([len(block) for block in chosen]))).astype(np.int64)
    member = np.concatenate(chosen).astype(np.int32)
    piece = np.empty((2, blocks), dtype=np.int32)
    kernels.glue_blocks(n, offset, member, least, piece[0])
    reference.glue_blocks(n, offset, member, least, piece[1])
    assert (piece[0] == piece[1]).all()


def messages(model, rows):
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        model.fit(rows)
    return [str(one.message) for one in issued]


@pytest.mark.parametrize("number", [52, 54, 210, 268, 321])
@pytest.mark.parametrize("method", [unbend.LTSA, unbend.HessianLLE])
def test_a_curve_with_a_hinge_is_warned_of_and_more_neighbours_remove_it(number, method):
    """Curves without noise on which neighbourhoods of ten rows hardly overlap."""
    draw = make_cases("seen", number + 1)[number].draw(1, most_feet=5)
    model = method(1)
    found = [text for text in messages(model, draw.clean) if "rigid pieces" in text]
    assert len(found) == 1
    assert "n_neighbors='auto'" in found[0]
    assert worst_error(draw.chart, model.embedding_) > 0.1
    report = consistency(draw.clean, 1, 10)
    assert not report.passes
    assert "rigid pieces" in str(report)
    assert report.suggested is not None
    assert "rigid pieces" not in str(consistency(draw.clean, 1, report.suggested))
    for k in ("auto", report.suggested):
        model = method(1, n_neighbors=k)
        assert not any("rigid pieces" in text for text in messages(model, draw.clean))
        if method is unbend.LTSA:
            assert worst_error(draw.chart, model.embedding_) < 0.1


def test_pieces_of_graphs_with_a_count_for_each_row_are_warned_of():
    draw = make_cases("seen", 53)[52].draw(1, most_feet=5)
    model = unbend.LTSA(1, n_neighbors=np.full(len(draw.clean), 10))
    assert sum("rigid pieces" in text for text in messages(model, draw.clean)) == 1


@pytest.mark.parametrize("name", [name for name in SURFACES if name != "toroidal_helix"])
@pytest.mark.parametrize("n", [300, 2000])
def test_surfaces_are_glued(name, n):
    surface = SURFACES[name](n, random_state=0)
    assert not rigid_pieces(PointSpace(surface.points).nearest(10), surface.chart.shape[1]).any()
