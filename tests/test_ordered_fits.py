"""Fits of many rows sort them by where they are: nothing of it shows in what is fitted."""

import warnings

import numpy as np
import pytest

import unbend
from tests.loops import each
from unbend.estimators import search
from unbend.estimators.neighborhood import NeighborhoodEmbedding
from unbend.neighbors.order import spatial_order
from unbend.registry import METHODS

ROLL = unbend.datasets.swiss_roll(400, noise=0.05, random_state=3).points
# Some rows are duplicates, whose numbers are not in the order of the others.
ROWS = np.concatenate((ROLL, ROLL[[7, 300, 7]]))[np.random.default_rng(0).permutation(403)]
CLASSES = (ROWS[:, 0] > 0).astype(int)
# Methods that sample rows at random, by their numbers, or descend from a start.
SAMPLE = {"LandmarkIsomap", "LandmarkMVU", "NeighborEmbedding", "MVU"}
NAMES = sorted(
    entry.class_name
    for entry in METHODS
    if issubclass(getattr(unbend, entry.class_name), NeighborhoodEmbedding)
    and entry.class_name not in SAMPLE
)


def fit(name, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(unbend, name)(n_neighbors=9, **parameters).fit(ROWS, CLASSES)


def fit_both(monkeypatch, name, **parameters):
    plain = fit(name, **parameters)
    with monkeypatch.context() as patch:
        patch.setattr(search, "ORDERED_ROWS", 100)
        ordered = fit(name, **parameters)
    assert not np.array_equal(ordered._neighborhoods.first, plain._neighborhoods.first)
    return plain, ordered


@each("name", NAMES)
def test_the_order_of_a_fit_does_not_show(monkeypatch, name):
    plain, ordered = fit_both(monkeypatch, name)
    scale = np.abs(plain.embedding_).max()
    signs = np.sign(np.sum(plain.embedding_ * ordered.embedding_, axis=0))
    np.testing.assert_allclose(ordered.embedding_ * signs, plain.embedding_, atol=1e-7 * scale)
    # No two distances are tied, so that the edges are the same.
    assert (ordered.graph_ != plain.graph_).nnz == 0
    new = ROWS[::5] + 0.01
    placed = ordered.transform(new) * signs
    np.testing.assert_allclose(placed, plain.transform(new), atol=1e-6 * scale)
    # A training row keeps its coordinates.
    np.testing.assert_allclose(ordered.transform(ROWS), ordered.embedding_, atol=1e-12 * scale)
    np.testing.assert_allclose(ordered.outlyingness(new), plain.outlyingness(new), rtol=1e-9)


def test_an_ordered_fit_is_saved_and_loaded(monkeypatch, tmp_path):
    _, ordered = fit_both(monkeypatch, "LTSA")
    ordered.save(tmp_path / "model.unbend")
    loaded = unbend.load(tmp_path / "model.unbend")
    assert np.array_equal(loaded.embedding_, ordered.embedding_)
    assert np.array_equal(loaded.transform(ROWS + 0.01), ordered.transform(ROWS + 0.01))
    assert (loaded.graph_ != ordered.graph_).nnz == 0


def test_numbers_of_neighbours_and_components_stay_with_their_rows(monkeypatch):
    counts = np.random.default_rng(1).integers(8, 14, len(ROWS))
    with monkeypatch.context() as patch:
        patch.setattr(search, "ORDERED_ROWS", 100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = unbend.LTSA(n_neighbors=counts).fit(ROWS)
            apart = ROWS + 1e3 * CLASSES[:, None]
            parts = unbend.LTSA(n_neighbors=9, connect="components").fit(apart)
    found = np.diff(model.graph_.indptr)
    first = np.sort(model._neighborhoods.first)
    assert np.array_equal(found[first], counts[first])
    # No component has rows of two classes.
    for component in np.unique(parts.component_):
        assert len(np.unique(CLASSES[parts.component_ == component])) == 1


@each("columns", [1, 2, 3, 8])
@each("dtype", [np.float64, np.float32])
def test_rows_that_follow_each_other_are_near(dtype, columns):
    points = np.random.default_rng(columns).uniform(size=(4000, columns)).astype(dtype)
    order = spatial_order(points)
    assert np.array_equal(np.sort(order), np.arange(4000))
    steps = np.linalg.norm(np.diff(points[order], axis=0), axis=1)
    # Of columns that are ordered a step is about the spacing; the others are random.
    others = max(columns - 3, 0) / 6
    spacing = 4000 ** (-1 / min(columns, 3))
    assert np.median(steps) < np.sqrt((2 * spacing) ** 2 * min(columns, 3) + 1.2 * others)


def test_equal_rows_keep_their_order():
    assert np.array_equal(spatial_order(np.ones((9, 2))), np.arange(9))
    twice = np.tile(np.random.default_rng(0).normal(size=(50, 3)), (2, 1))
    rank = np.empty(100, dtype=int)
    rank[spatial_order(twice)] = np.arange(100)
    assert np.all(rank[:50] < rank[50:])


@pytest.mark.slow
def test_many_rows_are_ordered_and_the_chart_is_right():
    roll = unbend.datasets.swiss_roll(60_000, random_state=0)
    model = unbend.LTSA(n_neighbors=12).fit(roll.points)
    assert not np.array_equal(model._neighborhoods.first, np.arange(60_000))
    design = np.column_stack((np.ones(60_000), model.embedding_))
    residual = roll.chart - design @ np.linalg.lstsq(design, roll.chart, rcond=None)[0]
    assert np.all(residual.var(axis=0) < 1e-4 * roll.chart.var(axis=0))
