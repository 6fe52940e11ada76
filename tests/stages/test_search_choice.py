"""The search that "auto" takes: neighbours as by any other, and cheap where it was predicted."""

import numpy as np
import pytest

import unbend
from unbend.neighbors import AutoIndex, PointSpace
from unbend.neighbors.index import choice


def sheet(n, dimension, columns, seed=0):
    """Return a cube of some dimension, turned into more columns."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(columns, dimension)))[0]
    return np.ascontiguousarray(rng.uniform(size=(n, dimension)) @ turn.T)


@pytest.mark.parametrize("dimension", [1, 2, 4, 8])
def test_the_probe_finds_the_dimension_of_cubes(dimension):
    found = choice.probe_dimension(sheet(6000, dimension, 20, seed=dimension), 10)
    # Edges lower the estimate, the more the higher the dimension.
    assert 0.7 * dimension < found < 1.15 * dimension


def test_the_probe_of_duplicates_is_zero():
    assert choice.probe_dimension(np.ones((300, 4)), 10) == 0.0


@pytest.mark.parametrize(
    ("dimension", "columns", "structure"),
    [(2, 30, "tree"), (1, 100, "tree"), (12, 12, "products"), (20, 60, "products")],
)
def test_the_structure_follows_the_intrinsic_dimension(dimension, columns, structure):
    points = sheet(3000, dimension, columns)
    model = unbend.LTSA(1, n_neighbors=10).fit(points) if dimension == 1 else None
    if model is not None:
        assert model.report_.stage("neighbors").facts["structure"] == structure
    assert choice.cheapest(points, 10) == structure


@pytest.mark.parametrize("dimension", [2, 5, 9])
@pytest.mark.parametrize("k", [1, 12])
def test_neighbours_do_not_depend_on_the_structure(dimension, k):
    points = sheet(2500, dimension, 14, seed=k)
    points[7] = points[1900]
    searches = ["auto", "exact", "kd_tree", "brute", AutoIndex()]
    found = [PointSpace(points, index=index).nearest(k) for index in searches]
    new = points[:40] + 0.01
    of_new = [PointSpace(points, index=index).nearest_of(new, k) for index in searches]
    for other, placed in zip(found[1:], of_new[1:], strict=True):
        np.testing.assert_array_equal(other.indices, found[0].indices)
        # Trees and products sum the squares of differences in another order.
        np.testing.assert_allclose(other.distances, found[0].distances, rtol=1e-14)
        np.testing.assert_array_equal(placed[0], of_new[0][0])


def test_a_recall_below_one_allows_descent_and_is_met(monkeypatch):
    rng = np.random.default_rng(4)
    points = rng.normal(size=(4000, 40)) * 0.9 ** np.arange(40)
    dear = dict.fromkeys(choice.CONSTANTS["products"], 1.0)
    monkeypatch.setitem(choice.CONSTANTS, "products", dear)
    monkeypatch.setitem(choice.CONSTANTS, "tree", dict.fromkeys(choice.CONSTANTS["tree"], 1.0))
    exact = PointSpace(points, index="brute").nearest(10).indices.reshape(-1, 10)
    assert choice.cheapest(points, 10, recall=1.0) != "descent"
    assert choice.cheapest(points, 10, recall=0.9) == "descent"
    found = PointSpace(points, index=AutoIndex(recall=0.9)).nearest(10).indices.reshape(-1, 10)
    shared = [len(np.intersect1d(*pair)) for pair in zip(exact, found, strict=True)]
    assert np.mean(shared) / 10 > 0.88


def test_costs_grow_with_rows_columns_and_dimension():
    few, many = (choice.predict_costs(n, 20, 4.0, 10) for n in (5000, 50_000))
    assert all(9 < many[name] / few[name] < 101 for name in few)
    low, high = (choice.predict_costs(50_000, 20, d, 10)["tree"] for d in (2.0, 12.0))
    assert high > 20 * low


@pytest.mark.parametrize("recall", [-0.1, 1.5, float("nan")])
def test_a_recall_outside_its_range_is_refused(recall):
    with pytest.raises(ValueError, match="recall"):
        AutoIndex(recall=recall)


def test_an_index_that_is_not_built_says_so():
    with pytest.raises(ValueError, match="not built"):
        AutoIndex().query_self(3)
