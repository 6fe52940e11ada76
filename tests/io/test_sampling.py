"""Samples of tables that are not read whole: uniform, reproducible, few bytes."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, kstest

import unbend
from unbend.io.source import Source
from unbend.memory import NotEnoughMemory, memory_limit


class CountingFile(io.FileIO):
    """A file that counts the bytes read from it."""

    count = 0

    def readinto(self, buffer):
        read = super().readinto(buffer)
        self.count += read
        return read


def open_counted(path):
    file = CountingFile(path, "rb")
    return Source(str(path), file, path), file


def frame_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"place": np.arange(n), "x": rng.normal(size=n).round(6)})


def test_rows_of_all_lengths_are_equally_likely(tmp_path):
    # Rows of one kind are thirty times as long as others: a row at a random byte would be long.
    n = 40_000
    rng = np.random.default_rng(1)
    long = rng.random(n) < 0.5
    notes = np.where(long, "x" * 300, "y")
    pd.DataFrame({"place": np.arange(n), "note": notes}).to_csv(tmp_path / "t.csv", index=False)
    counts, places = [], []
    for seed in range(30):
        sample = unbend.io.sample_table(tmp_path / "t.csv", 400, random_state=seed)
        columns = unbend.io.read_frame(sample.reader).columns
        counts.append(sum(len(note) > 1 for note in columns["note"]))
        places.append(columns["place"])
        assert abs(sample.total - n) < 0.1 * n
    share, expected = np.sum(counts) / (30 * 400), long.mean()
    assert abs(share - expected) < 4 * np.sqrt(0.25 / (30 * 400))
    assert kstest(np.concatenate(places) / n, "uniform").pvalue > 1e-3


def test_every_row_of_a_small_table_is_drawn_as_often(tmp_path):
    frame_of(50).to_csv(tmp_path / "t.csv", index=False)
    drawn = [
        unbend.io.read(unbend.io.sample_table(tmp_path / "t.csv", 10, random_state=seed).reader)
        for seed in range(200)
    ]
    counts = np.bincount(np.concatenate([t.values[:, 0] for t in drawn]).astype(int), minlength=50)
    assert chisquare(counts).pvalue > 1e-3
    assert all(len(np.unique(table.values[:, 0])) == 10 for table in drawn)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_samples_are_rows_of_the_table_and_the_same_for_a_seed(suffix, tmp_path):
    frame, path = frame_of(30_000), tmp_path / f"t.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path, row_group_size=500)
    else:
        np.save(path, frame.to_numpy())
    sample = unbend.io.sample_table(path, 300, random_state=5)
    table = unbend.io.read(sample.reader)
    chosen = table.values[:, 0].astype(int)
    np.testing.assert_array_equal(table.values[:, 1], frame["x"].to_numpy()[chosen])
    assert len(set(chosen)) == 300
    assert np.all(np.diff(chosen) > 0)
    again = unbend.io.read(unbend.io.sample_table(path, 300, random_state=5).reader)
    other = unbend.io.read(unbend.io.sample_table(path, 300, random_state=6).reader)
    np.testing.assert_array_equal(again.values, table.values)
    assert not np.array_equal(other.values, table.values)
    assert sample.exact == (suffix != "csv")
    assert abs(sample.total - 30_000) <= (1500 if suffix == "csv" else 0)


def test_quoted_line_ends_do_not_split_rows(tmp_path):
    n = 20_000
    rng = np.random.default_rng(0)
    words = ["plain", 'said "yes",\nthen', "a,b,c", "one\ntwo\nthree, four", ""]
    notes = rng.choice(words, n)
    frame = pd.DataFrame({"place": np.arange(n), "note": notes, "z": rng.normal(size=n).round(4)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for seed in range(5):
        sample = unbend.io.sample_table(tmp_path / "t.csv", 500, random_state=seed)
        columns = unbend.io.read_frame(sample.reader).columns
        chosen = columns["place"].astype(int)
        np.testing.assert_array_equal(columns["z"], frame["z"].to_numpy()[chosen])
        expected = [note or None for note in notes[chosen]]
        assert columns["note"].tolist() == expected


def test_a_sample_larger_than_the_table_is_the_table(tmp_path):
    frame = frame_of(100)
    frame.to_csv(tmp_path / "t.csv", index=False, lineterminator="\r\n")
    sample = unbend.io.sample_table(tmp_path / "t.csv", 1000)
    np.testing.assert_array_equal(unbend.io.read(sample.reader).values, frame.to_numpy())
    assert sample.total == 100


def test_the_last_row_needs_no_line_end(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4")
    sample = unbend.io.sample_table(tmp_path / "t.csv", 5)
    assert unbend.io.read(sample.reader).values.tolist() == [[1, 2], [3, 4]]


def test_what_cannot_be_sampled_is_refused(tmp_path):
    frame_of(100).to_csv(tmp_path / "t.csv.gz", index=False)
    with pytest.raises(ValueError, match="cannot be sampled without being read whole"):
        unbend.io.sample_table(tmp_path / "t.csv.gz", 10)
    with pytest.raises(ValueError, match="rows=0 is not allowed"):
        unbend.io.sample_table(tmp_path / "t.csv.gz", 0)


def write_large(path, megabytes):
    """Write about so many bytes of rows, from one chunk again and again."""
    chunk = frame_of(200_000)
    with open(path, "w") as file:
        chunk.to_csv(file, index=False)
        text = chunk.to_csv(index=False, header=False)
        while file.tell() < megabytes * 1e6:
            file.write(text)


@pytest.mark.parametrize("megabytes", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_few_bytes_of_a_large_text_are_read(megabytes, tmp_path):
    path = tmp_path / "t.csv"
    write_large(path, megabytes)
    source, file = open_counted(path)
    reader = unbend.io.open_table(source)
    with memory_limit(path.stat().st_size // 2):
        with pytest.raises(NotEnoughMemory, match="sample_table"):
            unbend.io.read_frame(reader)
        before = file.count
        sample = unbend.io.sample_table(reader, 1000)
        table = unbend.io.read(sample.reader)
    assert len(table) == 1000
    # The table is one chunk, again and again.
    values = frame_of(200_000)["x"].to_numpy()
    np.testing.assert_array_equal(table.values[:, 1], values[table.values[:, 0].astype(int)])
    rows = path.stat().st_size / len("123456,-0.123456\n")
    assert abs(sample.total / rows - 1) < 0.1
    assert file.count - before < 6e6
    # The encoding is looked for in the first 32 MB.
    assert file.count < 40e6
    path.unlink()


@pytest.mark.parametrize("groups", [64, pytest.param(640, marks=pytest.mark.slow)])
def test_few_bytes_of_a_large_parquet_file_are_read(groups, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path, rows = tmp_path / "t.parquet", 4000 if groups == 64 else 40_000
    rng = np.random.default_rng(0)
    with parquet.ParquetWriter(path, arrow.schema([(f"x{i}", "f8") for i in range(10)])) as writer:
        for group in range(groups):
            values = rng.normal(size=(10, rows))
            values[0] = group * rows + np.arange(rows)
            writer.write_table(arrow.table({f"x{i}": v for i, v in enumerate(values)}))
    source, file = open_counted(path)
    with memory_limit(path.stat().st_size // 2):
        reader = unbend.io.open_table(source)
        with pytest.raises(NotEnoughMemory, match="sample_table"):
            unbend.io.read_frame(reader)
        before = file.count
        sample = unbend.io.sample_table(reader, 1000)
    assert sample.total == groups * rows
    assert file.count - before < 0.3 * path.stat().st_size
    places = unbend.io.read(sample.reader).values[:, 0]
    assert len(np.unique(places)) == 1000
    assert len(np.unique(places // rows)) == min(16, groups // 4)
    path.unlink()
