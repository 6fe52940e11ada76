"""Approximate neighbours: the kernels against their twins, and what the search promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import unbend
from tests.stages.drawn import LAW, blobs, rngs
from tests.stages.searches import every_kernel, kernels, native
from unbend._kernels import reference
from unbend.neighbors import NNDescent, PointSpace
from unbend.neighbors.index import cells
from unbend.neighbors.index.brute_force import Cloud
from unbend.neighbors.index.cells import CellIndex, PackedCells
from unbend.neighbors.index.nn_descent import FREE
from unbend.report import recording, stage

N, K = 3000, 12


def empty_lists(n, length):
    keys = np.full((n, length), np.inf, dtype=np.float32)
    return keys, np.full((n, length), FREE, np.int32), np.zeros((n, length), np.uint8)


def drawn_rows(rng, n, columns, ties):
    rows = rng.integers(0, 3, (n, columns)) if ties else rng.normal(size=(n, columns))
    return rows.astype(np.float32)


def descent(kernel, rows, groups, length, limit, threads):
    """All that two rounds after some groups leave behind."""
    n = len(rows)
    lists = empty_lists(n, length)
    counts = np.full(len(groups), groups.shape[1], np.int32)
    kernel.join(rows, groups, counts, counts, threads, *lists)
    left = [*(a.copy() for a in lists)]
    for seed in (2**63 + 7, 3):
        members = np.zeros((n, 2 * limit), np.int32)
        some, counts = np.empty(n, np.int32), np.empty(n, np.int32)
        kernel.propose(lists[1], seed, threads, lists[2], members, some, counts)
        members[np.arange(2 * limit) >= counts[:, None]] = 0
        left += [members, some, counts, lists[2].copy()]
        kernel.join(rows, members, some, counts, threads, *lists)
        left += [a.copy() for a in lists]
    return left


@LAW
@given(rngs, st.integers(2, 60), st.sampled_from([8, 40, 64, 160]), st.booleans(), st.data())
def test_the_descent_takes_the_way_of_its_twin_to_the_bit(rng, n, columns, ties, data):
    rows = drawn_rows(rng, n, columns, ties)
    width = data.draw(st.integers(1, min(n, 40)))
    groups = np.array([rng.permutation(n)[:width] for _ in range(6)], dtype=np.int32)
    length, limit = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    expected = descent(reference, rows, groups, length, limit, 1)
    for threads in (1, 3):
        found = descent(native(), rows, groups, length, limit, threads)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@every_kernel
@LAW
@given(rngs, st.integers(2, 50), st.integers(1, 60), st.booleans())
def test_joining_all_rows_gives_the_nearest_by_sorting(name, rng, n, length, ties):
    rows = drawn_rows(rng, n, 32, ties)
    everyone, count = np.arange(n, dtype=np.int32)[None], np.array([n], np.int32)
    keys, indices, fresh = empty_lists(n, length)
    kernels(name).join(rows, everyone, count, count, 1, keys, indices, fresh)
    squares = squares_between(rows)
    numbers = np.broadcast_to(np.arange(n), (n, n))
    order = np.lexsort((numbers, squares), axis=1)[:, : min(length, n - 1)]
    assert np.array_equal(indices[:, : n - 1], order)
    assert np.array_equal(keys[:, : n - 1], np.take_along_axis(squares, order, axis=1))
    assert np.isinf(keys[:, n - 1 :]).all()
    assert (fresh == np.isfinite(keys)).all()


def squares_between(rows):
    """Squared distances in the order of summation of 32 columns, infinite on the diagonal."""
    squares = np.square(rows[:, None] - rows)
    lanes = (squares[..., :8] + squares[..., 8:16]) + (squares[..., 16:24] + squares[..., 24:])
    halves = lanes[..., :4] + lanes[..., 4:]
    sums = (halves[..., 0] + halves[..., 1]) + (halves[..., 2] + halves[..., 3])
    np.fill_diagonal(sums, np.inf)
    return sums


@every_kernel
@LAW
@given(rngs, st.integers(2, 90), st.integers(1, 30), st.booleans(), st.booleans())
def test_cells_fill_lists_with_the_nearest_that_share_one(name, rng, n, length, ties, far):
    """Also of rows far from the origin, relative to their distances."""
    rows = drawn_rows(rng, n, 32, ties) + np.float32(4096 if far else 0)
    cells = [np.flatnonzero(rng.random(n) < 0.5).astype(np.int32) for _ in range(4)]
    first = np.concatenate(([0], np.cumsum([len(c) for c in cells])))
    squares, together = squares_between(rows), np.zeros((n, n), bool)
    for cell in cells:
        together[np.ix_(cell, cell)] = True
    squares[~together] = np.inf
    expected = np.sort(squares, axis=1)[:, :length]
    for threads in (1, 3):
        keys, indices, fresh = empty_lists(n, length)
        kernels(name).join_cells(rows, np.concatenate(cells), first, threads, keys, indices, fresh)
        # Tied rows may be exchanged: which are proposed is decided by products.
        assert np.array_equal(keys[:, : expected.shape[1]], expected)
        row, place = np.nonzero(np.isfinite(keys))
        assert np.array_equal(squares[row, indices[row, place]], keys[row, place])
        assert all(len(set(own[own != FREE])) == np.sum(own != FREE) for own in indices)
        assert (fresh == np.isfinite(keys)).all()


@every_kernel
@LAW
@given(rngs, st.integers(30, 200), st.integers(1, 9), st.sampled_from([3, 17, 40]))
def test_probing_all_cells_finds_the_nearest_of_all_rows(name, rng, n, length, columns):
    points, new = rng.normal(size=(n, columns)), rng.normal(size=(12, columns))
    index = CellIndex.build(Cloud.of(points), 10, 2, rng, 1)
    packed = PackedCells.of(index)
    queries = index.projection.map(new)
    keys, found = np.empty((12, length), np.float32), np.empty((12, length), np.int32)
    probes = np.tile(np.arange(len(index.centers), dtype=np.int32), (12, 1))
    kernels(name).probe_cells(
        queries, probes, packed.panels, packed.squares, index.centers, packed.first, 1, keys, found
    )
    # Keys order the rows, to rounding: near ties may be exchanged.
    scale = index.projection.cloud.scale
    away = np.take_along_axis(PointSpace(points).distances_of(new), packed.places[found], axis=1)
    exact = PointSpace(points).nearest_of(new, length)[1]
    largest = np.abs(queries).max() ** 2 * columns
    assert (keys <= np.square(away * scale) * (1 + 1e-6)).all()
    np.testing.assert_allclose(keys, np.square(away * scale), rtol=0, atol=1e-4 * largest)
    np.testing.assert_allclose(
        np.square(away * scale), np.square(exact * scale), rtol=0, atol=1e-4 * largest
    )
    assert all(len(set(row)) == length for row in found.tolist())


def decaying(rng):
    return rng.normal(size=(N, 60)) * 0.9 ** np.arange(60)


KINDS = {
    "decaying": decaying,
    "shifted": lambda rng: decaying(rng) + 1e4,
    "wide": lambda rng: decaying(rng) @ rng.normal(size=(60, 400)),
    "clusters": lambda rng: blobs(rng, [N // 10] * 10, columns=20, gap=1e5)[0],
    "repeated": lambda rng: np.repeat(decaying(rng)[: N // 5], 5, axis=0),
    "outliers": lambda rng: np.append(decaying(rng)[1:], np.full((1, 60), 1e30), axis=0),
    "tiny": lambda rng: 1e-100 * decaying(rng),
}


def searched(points, **options):
    """Approximate and exact neighbours, and the facts of the report."""
    with recording("search") as report, stage("neighbors"):
        found = PointSpace(points, index=NNDescent(**options)).nearest(K)
    exact = PointSpace(points).nearest(K)
    return found, exact, report.stage("neighbors").facts


def shares(found, exact):
    """Per row, the share found of the neighbours: as near as the last exact one, to rounding."""
    near, true = (x.distances.reshape(-1, K) for x in (found, exact))
    return np.mean(near <= true[:, -1:] * (1 + 1e-9), axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_nearly_all_neighbours_are_found_and_the_report_says_how_many(kind):
    found, exact, facts = searched(KINDS[kind](np.random.default_rng(0)))
    assert facts["search"] == "approximate"
    recall = shares(found, exact)
    assert recall.mean() >= 0.98
    # The sample's error, as known from all rows: its own may happen to be zero.
    error = np.std(recall) / np.sqrt(NNDescent().sample)
    assert abs(facts["recall"] - recall.mean()) <= 5 * error + 1e-12
    assert facts["recall_error"] <= 3 * error + 1e-12


@pytest.mark.parametrize("kind", [*KINDS, "noise"])
def test_what_is_found_has_its_own_distance_and_is_sorted(kind):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(N, 200)) if kind == "noise" else KINDS[kind](rng)
    found, exact, _ = searched(points)
    expected = PointSpace(points).lengths(found.rows, found.indices)
    np.testing.assert_allclose(found.distances, expected, rtol=1e-12)
    assert (found.indices != found.rows).all()
    rows = found.indices.reshape(N, K)
    assert all(len(set(row)) == K for row in rows.tolist())
    away = found.distances.reshape(N, K)
    assert (np.lexsort((rows, away), axis=1) == np.arange(K)).all()
    assert (away >= exact.distances.reshape(N, K)).all()


def test_recall_is_reported_where_the_search_is_hard():
    """Noise in all directions has no neighbourhoods: the report must not promise them."""
    points = np.random.default_rng(0).normal(size=(N, 300))
    found, exact, facts = searched(points, recall=0.0, overlap=2)
    recall = shares(found, exact)
    assert recall.mean() < 0.9
    assert abs(facts["recall"] - recall.mean()) <= 5 * facts["recall_error"]
    more, _, _ = searched(points, recall=1.0, overlap=2)
    assert shares(more, exact).mean() > recall.mean() + 0.05


def test_a_search_repeats_for_any_number_of_threads_and_changes_with_the_seed():
    points = np.random.default_rng(0).normal(size=(N, 60))
    found = [PointSpace(points, workers=w, index=NNDescent()).nearest(K) for w in (1, 2, 3)]
    assert all(np.array_equal(f.indices, found[0].indices) for f in found)
    assert all(np.array_equal(f.distances, found[0].distances) for f in found)
    other = PointSpace(points, index=NNDescent(seed=1)).nearest(K)
    assert not np.array_equal(other.indices, found[0].indices)


@pytest.mark.parametrize(("n", "columns", "k"), [(500, 40, 12), (N, 3, 12), (N, 20, 800)])
def test_few_rows_few_columns_and_many_neighbours_are_searched_exactly(n, columns, k):
    points = np.random.default_rng(0).normal(size=(n, columns))
    found = PointSpace(points, index=NNDescent()).nearest(k)
    exact = PointSpace(points).nearest(k)
    assert np.array_equal(found.indices, exact.indices)
    assert np.array_equal(found.distances, exact.distances)


def test_identical_rows_are_neighbours_of_each_other():
    found, _, facts = searched(np.full((N, 30), 7.0))
    assert (found.distances == 0).all()
    assert (found.indices != found.rows).all()
    assert facts["recall"] == 1.0


def test_an_estimator_reports_the_recall_and_transforms_its_rows():
    points = KINDS["decaying"](np.random.default_rng(0))
    model = unbend.LaplacianEigenmaps(neighbors_algorithm="approximate", random_state=3).fit(points)
    facts = model.report_.stage("neighbors").facts
    assert facts["recall"] > 0.98
    assert "recall_error" in facts
    np.testing.assert_allclose(model.transform(points), model.embedding_, atol=1e-8)
    again = clone(model).set_params(n_jobs=2).fit(points)
    assert np.array_equal(again.embedding_, model.embedding_)
    own = unbend.LaplacianEigenmaps(neighbors_algorithm=NNDescent(overlap=3)).fit(points)
    assert own.report_.stage("neighbors").facts["search"] == "approximate"


@pytest.mark.parametrize("kind", [*KINDS, "noise"])
def test_new_samples_get_nearly_all_their_neighbours(kind):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(N, 200)) if kind == "noise" else KINDS[kind](rng)
    scale = 1e-3 * np.median(np.abs(points - np.median(points, axis=0)))
    new = points[::7] + scale * rng.normal(size=points[::7].shape)
    index = NNDescent().build(points)
    found, away = index.query(new, K)
    reach = PointSpace(points).nearest_of(new, K)[1]
    assert np.mean(away <= reach[:, -1:] * (1 + 1e-9)) >= 0.96
    assert all(len(set(row)) == K for row in found.tolist())
    assert (np.lexsort((found, away), axis=1) == np.arange(K)).all()
    lengths = PointSpace(points).distances_of(new)
    np.testing.assert_allclose(away, np.take_along_axis(lengths, found, axis=1), rtol=1e-9)
    again = NNDescent(threads=3).build(points).query(new, K)
    assert np.array_equal(again[0], found)


def test_the_report_has_the_recall_of_new_samples():
    points = decaying(np.random.default_rng(0))
    new = decaying(np.random.default_rng(1))
    with recording("search") as report, stage("new"):
        _, away = NNDescent(recall=0.9, cell=60).build(points).query(new, K)
    facts = report.stage("new").facts
    reach = PointSpace(points).nearest_of(new, K)[1][:, -1:]
    recall = np.mean(away <= reach * (1 + 1e-9))
    assert recall < 1.0
    assert facts["recall"] == pytest.approx(recall, abs=0.05)
    assert 0 < facts["cells"] < N // 60


def test_fitted_rows_find_themselves_and_far_rows_are_compared_exactly():
    points = decaying(np.random.default_rng(0))
    index = NNDescent(cell=40).build(points)
    own, away = index.query(points, 3)
    assert np.array_equal(own[:, 0], np.arange(N))
    assert (away[:, 0] == 0).all()
    far = points[:5] + 1e200
    assert np.array_equal(index.query(far, 3)[0], PointSpace(points).nearest_of(far, 3)[0])


def test_an_estimator_searches_new_samples_in_the_same_cells():
    rng = np.random.default_rng(4)
    turn = rng.normal(size=(4, 40))
    rows, new = (np.sin(rng.normal(size=(n, 4)) @ turn) for n in (N, 200))
    exact = unbend.LLE(neighbors_algorithm="brute").fit(rows)
    model = unbend.LLE(neighbors_algorithm="approximate").fit(rows)
    space = model._neighborhoods.space
    found = space.nearest_of(new, K)[1]
    reach = exact._neighborhoods.space.nearest_of(new, K)[1][:, -1:]
    assert np.mean(found <= reach * (1 + 1e-9)) > 0.96
    assert space._built_index._probes[K][0] >= 2
    np.testing.assert_allclose(model.transform(rows), model.embedding_, atol=1e-7)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lists_are_longer_where_a_projection_pushes_neighbors_out_of_them(seed, monkeypatch):
    """Few axes hold too little of the distances for the usual lists: no descent could mend that."""
    monkeypatch.setattr(cells, "AXES", 32)
    monkeypatch.setattr(cells, "ENOUGH", 0.0)
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(N, 64)) * np.arange(1, 65) ** -0.6
    exact = PointSpace(points).nearest(K).indices.reshape(N, K)
    built = NNDescent(recall=0.9, seed=seed).build(points)
    sample = built._sample(K)
    assert sample.length > K + built.spare
    # The neighbours of the sample, ranked by distances in the projection.
    rows = built._index.rows.astype(float)
    held = {}
    for length in (K + built.spare, sample.length):
        near = [
            np.argsort(np.linalg.norm(rows - rows[place], axis=1))[1 : length + 1]
            for place in sample.places
        ]
        shared = [np.isin(own, some).mean() for own, some in zip(sample.near, near, strict=True)]
        held[length] = np.mean(shared)
    assert held[K + built.spare] < 0.95 <= held[sample.length] + 0.005
    found = built.query_self(K)[0]
    assert np.mean([np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)]) > 0.88


@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize("repeat", [1, 5])
def test_the_sample_has_exact_neighbors_and_the_shortest_lists_that_hold_them(
    seed, repeat, monkeypatch
):
    """Where a projection holds little of the distances, most rows are candidates of a neighbour."""
    monkeypatch.setattr(cells, "AXES", 16)
    monkeypatch.setattr(cells, "ENOUGH", 0.0)
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(N // repeat, 64)) * np.arange(1, 65) ** -0.5
    points = np.repeat(points, repeat, axis=0)
    built = NNDescent(recall=0.8, seed=seed).build(points)
    index, sample = built._index, built._sample(K)
    own, near = index.order[sample.places], index.order[sample.near]
    exact = PointSpace(points).nearest(K)
    assert np.array_equal(near, exact.indices.reshape(N, K)[own])
    np.testing.assert_allclose(sample.reach, exact.distances.reshape(N, K)[own, -1], rtol=1e-12)
    rows = index.rows.astype(float)
    # Products round: rows as far as the neighbour, such as duplicates, may be before or behind it.
    before, behind = np.empty((2, *near.shape))
    for low, high, place, others in zip(before, behind, sample.places, sample.near, strict=True):
        away = np.linalg.norm(rows - rows[place], axis=1)
        away[place] = np.inf
        low[:] = [np.sum(away < (1 - 1e-5) * one) for one in away[others]]
        high[:] = [np.sum(away < (1 + 1e-5) * one) - 1 for one in away[others]]

    def shortest(ranks):
        lengths = range(K + built.spare, K + 8 * built.spare)
        return next((i for i in lengths if np.mean(ranks < i) >= 0.9), lengths.stop)

    assert shortest(before) <= sample.length <= shortest(behind)
