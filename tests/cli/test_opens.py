"""A command opens its source once, detects its format once, and writes each result once."""

import gzip
import os
import sys
from collections import Counter
from functools import cached_property

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io

from tests.cli.program import unbend
from unbend.io import Source, write_cube

POINTS = np.random.default_rng(0).normal(size=(60, 3))
FRAME = pd.DataFrame(POINTS, columns=list("xyz"))
# Audit hooks cannot be removed: this one records only while a test wants it to.
EVENTS: list[tuple[str, tuple]] | None = None


def _record(event, args):
    if EVENTS is not None and event in ("open", "os.rename") and not isinstance(args[0], int):
        EVENTS.append((event, tuple(map(os.path.abspath, args[: 1 + (event == "os.rename")]))))


@pytest.fixture
def events(monkeypatch):
    if not _record.__dict__.get("added"):
        sys.addaudithook(_record)
        _record.added = True
    recorded = []
    monkeypatch.setattr(sys.modules[__name__], "EVENTS", recorded)
    return recorded


def _hdf5(path):
    with h5py.File(path, "w") as file:
        file["points"] = POINTS


FILES = {
    "table.csv": lambda path: FRAME.to_csv(path, index=False),
    "table.csv.gz": lambda path: path.write_bytes(
        gzip.compress(FRAME.to_csv(index=False).encode())
    ),
    "table.txt": lambda path: np.savetxt(path, POINTS),
    "table.parquet": FRAME.to_parquet,
    "table.feather": FRAME.to_feather,
    "table.npy": lambda path: np.save(path, POINTS),
    "table.npz": lambda path: np.savez(path, a=POINTS),
    "table.h5": _hdf5,
    "table.mat": lambda path: scipy.io.savemat(path, {"a": POINTS}),
    "table.mtx": lambda path: scipy.io.mmwrite(path, POINTS),
}
RESULTS = ("flat.csv", "m.unbend", "flat.png")
WRITE = ("--method", "pca", "-o", RESULTS[0], "--model", RESULTS[1], "--plot", RESULTS[2])


def opened(events):
    """Return how often each path was opened."""
    return Counter(args[0] for event, args in events if event == "open")


@pytest.mark.parametrize("name", FILES)
def test_the_source_is_opened_and_its_format_detected_once(name, tmp_path, events, monkeypatch):
    FILES[name](tmp_path / name)
    detect, detected = Source.format.func, []

    def count(source):
        detected.append(source.name)
        return detect(source)

    counted = cached_property(count)
    counted.__set_name__(Source, "format")
    monkeypatch.setattr(Source, "format", counted)
    events.clear()
    unbend("embed", name, *WRITE, cwd=tmp_path)
    assert opened(events)[str(tmp_path / name)] == 1
    assert detected == [name]


def test_every_result_has_one_temporary_file_and_one_rename(tmp_path, events):
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    events.clear()
    unbend("embed", "table.csv", *WRITE, cwd=tmp_path)
    hidden = {path for path in opened(events) if path.startswith(f"{tmp_path}/.")}
    (journal,) = {path for path in hidden if path.endswith(".journal")}
    written = hidden - {journal}
    renames = [args for event, args in events if event == "os.rename"]
    assert {source for source, _ in renames} == written
    assert sorted(os.path.basename(target) for _, target in renames) == sorted(RESULTS)
    kinds = [event for event, args in events if args[0] in written]
    assert kinds.index("os.rename") == len(kinds) - len(RESULTS)
    assert not any(opened(events)[str(tmp_path / name)] for name in RESULTS)


def test_both_files_of_a_cube_are_opened_once_and_written_once(tmp_path, events):
    write_cube(tmp_path / "scene.hdr", np.random.default_rng(0).random((8, 9, 5)))
    events.clear()
    unbend("embed", "scene.hdr", "--method", "pca", "-d", 2, "-o", "flat.hdr", cwd=tmp_path)
    count = opened(events)
    assert count[str(tmp_path / "scene.hdr")] == count[str(tmp_path / "scene.img")] == 1
    renames = [os.path.basename(args[1]) for event, args in events if event == "os.rename"]
    # The header describes the data, and is renamed after them.
    assert renames == ["flat.img", "flat.hdr"]


def test_no_result_is_written_if_one_cannot_be(tmp_path, monkeypatch):
    FRAME.to_csv(tmp_path / "table.csv", index=False)

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("unbend.io.writing._write_text", refuse)
    unbend("embed", "table.csv", *WRITE, cwd=tmp_path, code=1)
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]
