"""Batches: the same rows as the whole table, without holding it."""

import io
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import unbend
from tests.io.conftest import MATRIX, arrow, csv_lines, npy, npz, parquet

CONTENT = {
    "t.parquet": parquet,
    "t.feather": arrow,
    "t.csv": csv_lines,
    "t.npy": npy,
    "t.npz": lambda: npz(any=MATRIX),
}


@pytest.fixture(params=CONTENT)
def path(request, tmp_path, engine):
    file = tmp_path / request.param
    file.write_bytes(CONTENT[request.param]())
    return file


@pytest.mark.parametrize("rows", [7, 64, 499, 500, 501])
def test_batches_are_the_table_in_order_any_number_of_times(path, rows):
    parts = unbend.io.batches(path, rows=rows)
    for _ in range(2):
        tables = list(parts)
        assert [len(table) for table in tables[:-1]] == [rows] * (len(tables) - 1)
        assert np.array_equal(np.concatenate([table.values for table in tables]), MATRIX)
        assert np.concatenate([table.rows for table in tables]).tolist() == list(range(500))
        assert {table.columns for table in tables} == {parts.columns}


def test_small_groups_of_rows_are_put_together(tmp_path):
    table = pa.table(dict(zip("abcd", MATRIX.T, strict=True)))
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=17)
    pyarrow.feather.write_feather(table, str(tmp_path / "t.feather"), chunksize=17)
    for name in ("t.parquet", "t.feather"):
        parts = list(unbend.io.batches(tmp_path / name, rows=200))
        assert [len(part) for part in parts] == [200, 200, 100]
        assert np.array_equal(np.concatenate([part.values for part in parts]), MATRIX)


def test_roles_hold_in_every_batch(engine):
    content = b"k,a,b,out\n" + b"".join(b"c%d,%d,1,x\n" % (row % 3, row) for row in range(10))
    parts = unbend.io.batches(io.BytesIO(content), rows=4, label="k", ignore=["out"])
    assert parts.columns == ("a", "b")
    assert [part.label.tolist() for part in parts][2] == ["c2", "c0"]
    assert [part.values[:, 0].tolist() for part in parts] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_number_that_pyarrow_cannot_read_does_not_break_a_stream():
    """The plain way goes on where pyarrow stopped, and no row is lost or given twice."""
    rows = [f"{row},{row / 8}" for row in range(600_000)]
    rows[550_000] = "+550000,68750.0"
    content = "a,b\n" + "\n".join(rows) + "\n"
    seen = [part.values for part in unbend.io.batches(io.BytesIO(content.encode()), rows=70_000)]
    together = np.concatenate(seen)
    assert np.array_equal(together[:, 0], np.arange(600_000))
    assert np.array_equal(together[:, 1], np.arange(600_000) / 8)


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, "all"])
def test_rows_must_be_a_count(rows):
    with pytest.raises(ValueError, match=r"rows=.* is not allowed"):
        unbend.io.batches(MATRIX, rows=rows)


ROWS, WIDTH = 1_600_000, 2
WHOLE_BYTES = ROWS * WIDTH * 8


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Give files of 25.6 MB of numbers that no compression makes smaller."""
    folder = tmp_path_factory.mktemp("large")
    matrix = np.random.default_rng(1).standard_normal((ROWS, WIDTH))
    table = pa.table({f"x{place}": matrix[:, place] for place in range(WIDTH)})
    # One group of rows, the worst case: all of it would be read at once.
    pyarrow.parquet.write_table(table, folder / "one.parquet", row_group_size=ROWS)
    pyarrow.parquet.write_table(table, folder / "many.parquet", row_group_size=80_000)
    pyarrow.feather.write_feather(table, str(folder / "t.feather"), chunksize=80_000)
    np.save(folder / "t.npy", matrix)
    pyarrow.csv.write_csv(table.slice(0, ROWS // 2), folder / "t.csv")
    return folder


@pytest.mark.parametrize("name", ["one.parquet", "many.parquet", "t.feather", "t.npy", "t.csv"])
def test_a_file_is_never_held_whole(large, name):
    """The most that NumPy, Python and pyarrow hold at a time stays far below the file."""
    path = large / name
    parts = unbend.io.batches(path, rows=50_000)
    assert path.stat().st_size > WHOLE_BYTES * 0.9
    pool = pa.default_memory_pool()
    before, most = pool.bytes_allocated(), 0
    tracemalloc.start()
    try:
        count = 0
        for part in parts:
            count += len(part)
            most = max(most, pool.bytes_allocated() - before)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == (ROWS // 2 if name == "t.csv" else ROWS)
    assert most + peak < WHOLE_BYTES / 2


def test_a_fit_to_batches_does_not_hold_the_file(large):
    parts = unbend.io.batches(large / "one.parquet", rows=50_000)
    # Fitted once before: the modules that a first fit imports are not what is measured.
    model = unbend.PCA(n_components=2).fit_batches([MATRIX])
    tracemalloc.start()
    try:
        model.fit_batches(parts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < WHOLE_BYTES / 2
    expected = unbend.PCA(n_components=2).fit(np.load(large / "t.npy"))
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-9)
