"""Pure functions of blocks: scatters, samples, boxes and cells, without Dask."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")


import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.neighbors import nearest as nearest_oracle
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.scale import boxes as b
from unbend.scale.blocks import Scatter, hash_rows, sample_numbers

rng = np.random.default_rng(0)


@given(
    cuts=st.lists(st.integers(0, 60), max_size=6),
    offset=st.sampled_from([0.0, 1e3, 1e8]),
    columns=st.integers(1, 5),
)
def test_merged_scatters_are_those_of_all_rows(cuts, offset, columns):
    rows = np.random.default_rng(columns).normal(size=(60, columns)) + offset
    parts = np.split(rows, sorted(cuts))
    merged = Scatter.of(parts[0])
    for part in parts[1:]:
        merged = merged.merge(Scatter.of(part))
    whole = Scatter.of(rows)
    assert merged.n == 60
    assert merged.mean == pytest.approx(whole.mean, rel=1e-15)
    singular = [np.linalg.svd(one.factor, compute_uv=False) for one in (merged, whole)]
    assert np.abs(singular[0] - singular[1]).max() <= 1e-14 * singular[1][0]


def test_a_scatter_keeps_singular_values_that_a_covariance_loses():
    rows = np.linalg.qr(rng.normal(size=(500, 3)))[0] * [1.0, 1e-6, 1e-12]
    rows -= rows.mean(axis=0)
    exact = np.linalg.svd(rows, compute_uv=False)
    found = Scatter.of(rows[:100]).merge(Scatter.of(rows[100:]))
    assert np.linalg.svd(found.factor, compute_uv=False) == pytest.approx(exact, rel=1e-3)


def test_the_sample_is_uniform_nested_and_without_repetition():
    chosen = sample_numbers(3_000_000, 30_000, 5)
    assert len(set(chosen.tolist())) == 30_000
    assert np.array_equal(sample_numbers(3_000_000, 100, 5), chosen[:100])
    counts = np.histogram(chosen, bins=30, range=(0, 3_000_000))[0]
    assert np.square((counts - 1000) / np.sqrt(1000)).sum() < 60  # chi², 29 degrees of freedom
    other = sample_numbers(3_000_000, 30_000, 6)
    assert len(np.intersect1d(chosen, other)) < 500  # 300 by chance


def test_the_sample_has_the_smallest_hashes_of_all():
    hashes = hash_rows(np.arange(5000), 3)
    assert np.array_equal(sample_numbers(5000, 40, 3), np.argsort(hashes)[:40])


def search(parts, splitting, k, metric, distinct=False):
    """Search boxes as the tasks do, every box asking all others."""
    starts = np.cumsum([0, *(len(part) for part in parts)])
    split = [
        b.split_part(part, start, splitting) for part, start in zip(parts, starts, strict=False)
    ]
    alone = [
        b.search_box([pieces[i] for pieces in split], k, metric, distinct).separate()
        for i in range(splitting.count)
    ]
    whole = []
    for one, lists in alone:
        others = [other for other, _ in alone if other is not one and other.space.n]
        questions = [b.ask_box(one, *other.measure_bounds()[:2]) for other in others]
        answers = [b.answer_box(o, q, k) for o, q in zip(others, questions, strict=True)]
        whole.append(b.merge_answers(one, lists, questions, answers))
    return b.order_rows([b.rows_between(box, 0, sum(map(len, parts))) for box in whole]), whole


@given(
    seed=st.integers(0, 1000),
    columns=st.integers(1, 4),
    count=st.sampled_from([1, 2, 8]),
    k=st.integers(1, 7),
)
def test_neighbours_by_boxes_are_the_nearest_with_ties_by_number(seed, columns, count, k):
    draw = np.random.default_rng(seed)
    rows = np.round(draw.normal(size=(50, columns)), 1)  # duplicates and ties
    splitting = b.split_boxes(rows[:20], count)
    (indices, distances), _ = search(np.split(rows, [7, 7, 31]), splitting, k, EUCLIDEAN)
    expected_indices, expected_distances = nearest_oracle(rows, k)
    assert np.array_equal(indices, expected_indices)
    assert distances == pytest.approx(expected_distances, rel=1e-15)


def test_duplicates_in_different_partitions_are_searched_once():
    rows = rng.normal(size=(60, 3))
    rows[40:50] = rows[:10]
    splitting = b.split_boxes(rows, 4)
    (indices, _), whole = search(np.split(rows, [20, 45]), splitting, 4, EUCLIDEAN, distinct=True)
    distinct = np.delete(np.arange(60), np.arange(40, 50))
    expected, _ = nearest_oracle(rows[distinct], 4)
    assert np.array_equal(indices, distinct[expected])
    twins = np.concatenate([box.twins for box in whole])
    assert sorted(twins.tolist()) == [[40 + i, i] for i in range(10)]


def test_cells_find_neighbours_that_their_rows_share():
    rows = rng.normal(size=(400, 2))
    centers = rows[:8]
    split = [
        b.split_cells(part, start, centers, 3)
        for part, start in ((rows[:150], 0), (rows[150:], 150))
    ]
    cells = [
        b.take_home(b.search_box([pieces[c] for pieces in split], 5, EUCLIDEAN, False), centers)
        for c in range(8)
    ]
    whole = [
        b.merge_cells(
            cells[h][h], [cell[h] for c, cell in enumerate(cells) if c != h and h in cell]
        )
        for h in range(8)
        if h in cells[h]
    ]
    indices, distances = b.order_rows([b.rows_between(box, 0, 400) for box in whole])
    expected, _ = nearest_oracle(rows, 5)
    assert len(indices) == 400
    assert all(len(set(row)) == 5 for row in indices.tolist())
    assert np.mean(indices == expected) > 0.97
    recomputed = np.linalg.norm(rows[:, None] - rows[indices], axis=2)
    assert distances == pytest.approx(recomputed, rel=1e-14)
