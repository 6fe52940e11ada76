"""What is written is read again, bit for bit, or is not there at all."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import unbend
from unbend import files

EXTENSIONS = ["csv", "tsv", "parquet", "feather", "arrow", "npy", "npz"]
TABLE = unbend.io.read(
    {"v": [1.0, 2.0, 3.0], "name": ["a", 'b "quoted", x', "ç"], "k": [3, 1, 2]},
    id="name",
    label="k",
)
COORDINATES = np.array([[0.1, -0.0], [1e-310, 1e300], [1 / 3, -2.5]])

MATRICES = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 4)),
    elements=st.floats(allow_nan=False),
)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(
    lambda word: word == word.strip() and not word.isascii()
)


@pytest.mark.parametrize("extension", EXTENSIONS)
@settings(max_examples=25, deadline=None)
@given(matrix=MATRICES, data=st.data())
def test_numbers_come_back_bit_for_bit(tmp_path_factory, extension, matrix, data):
    path = tmp_path_factory.mktemp("round") / f"t.{extension}"
    words = data.draw(st.lists(WORDS, min_size=len(matrix), max_size=len(matrix)))
    source = unbend.io.read({"v": np.zeros(len(matrix)), "wörter": np.array(words)}, label="wörter")
    unbend.io.write(path, matrix, table=source)
    label = None if extension == "npy" else "wörter"
    table = unbend.io.read(path, label=label)
    assert table.values.tobytes() == matrix.tobytes()
    if label:
        assert table.label.tolist() == words
        assert table.columns == tuple(f"y{place}" for place in range(matrix.shape[1]))


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_ids_and_label_stand_beside_the_coordinates(tmp_path, extension):
    path = tmp_path / f"t.{extension}"
    unbend.io.write(path, COORDINATES, columns=["u", "v"], table=TABLE)
    if extension == "npy":
        assert np.array_equal(np.load(path), COORDINATES)
        return
    table = unbend.io.read(path, id="name", label="k")
    assert table.columns == ("u", "v")
    assert table.values.tobytes() == COORDINATES.tobytes()
    assert table.ids.tolist() == TABLE.ids.tolist()
    assert table.label.tolist() == [3, 1, 2]


def test_text_has_a_header_and_a_line_for_each_row():
    out = io.BytesIO()
    unbend.io.write(out, COORDINATES, columns=["u", "v"], table=TABLE)
    assert out.getvalue().decode().splitlines() == [
        "name,u,v,k",
        "a,0.1,-0.0,3",
        '"b ""quoted"", x",1e-310,1e+300,1',
        "ç,0.3333333333333333,-2.5,2",
    ]
    assert not out.closed
    single = io.BytesIO()
    unbend.io.write(single, COORDINATES[:1].astype(np.float32))
    assert single.getvalue() == b"y0,y1\n0.1,-0.0\n"


def test_labels_that_are_missing_stay_missing(tmp_path):
    source = unbend.io.read(io.BytesIO(b"v,k\n1,a\n2,\n"), label="k")
    for extension in ("csv", "parquet", "feather"):
        unbend.io.write(tmp_path / f"t.{extension}", source.values, table=source)
        again = unbend.io.read(tmp_path / f"t.{extension}", label="k")
        assert again.label.tolist() == ["a", None]
    unbend.io.write(tmp_path / "t.npz", source.values, table=source)
    assert unbend.io.read(tmp_path / "t.npz", label="k").label.tolist() == ["a", ""]


def test_what_cannot_be_written_is_refused_before_anything_is(tmp_path):
    refused = [
        ("t.csv", {"columns": ["k", "v"], "table": TABLE}, "two columns would be named 'k'"),
        ("t.csv", {"columns": ["u", "u"]}, "two columns would be named 'u'"),
        ("t.csv", {"columns": ["u"]}, "1 names for 2 coordinates"),
        ("t.xlsx", {}, r"extension that is not written: use one of \.csv"),
    ]
    for name, options, words in refused:
        with pytest.raises(ValueError, match=words):
            unbend.io.write(tmp_path / name, COORDINATES, **options)
    with pytest.raises(ValueError, match="has 3 entries and there are 1 rows"):
        unbend.io.write(tmp_path / "t.csv", COORDINATES[:1], table=TABLE)
    with pytest.raises(ValueError, match="two dimensions"):
        unbend.io.write(tmp_path / "t.csv", np.zeros(3))
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        unbend.io.write(tmp_path / "no" / "t.csv", COORDINATES)
    (tmp_path / "t.npy").mkdir()
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        unbend.io.write(tmp_path / "t.npy", COORDINATES)
    assert [path.name for path in tmp_path.iterdir()] == ["t.npy"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path, failure):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def fail():
        with unbend.io.atomic_write(path) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        fail()
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]
    assert path.read_text() == "old"


def test_replacing_keeps_links_and_permissions(tmp_path):
    target, link = tmp_path / "t.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with unbend.io.atomic_write(link) as temporary:
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".csv")
        temporary.write_text("new")
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no devices here")
def test_a_device_is_written_to_not_replaced():
    with unbend.io.atomic_write(os.devnull) as temporary:
        assert str(temporary) == os.devnull


WITHOUT = """
import sys
sys.modules.update({"pyarrow": None, "pyarrow.csv": None})
import io, numpy as np, unbend
print(unbend.io.read(io.BytesIO(b"a,b\\n1,2\\n")).values.tolist())
for action in (lambda: unbend.io.read(io.BytesIO(b"PAR1" * 9)),
               lambda: unbend.io.read(io.BytesIO(b"ARROW1\\x00\\x00" * 9)),
               lambda: unbend.io.write("t.parquet", np.eye(2))):
    try:
        action()
    except ImportError as error:
        print(error)
print(sorted({"sklearn", "narwhals", "pandas", "polars"} & set(sys.modules)))
"""


def test_without_pyarrow_text_is_read_and_the_rest_says_what_is_needed(tmp_path):
    out = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert out.stdout.splitlines() == [
        "[[1.0, 2.0]]",
        "reading Parquet needs pyarrow: pip install 'unbend[io]'",
        "reading Arrow needs pyarrow: pip install 'unbend[io]'",
        "writing Parquet needs pyarrow: pip install 'unbend[io]'",
        "[]",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [OSError(13, "Permission denied"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("last", [1, 2, 3])
def test_files_renamed_before_a_failure_are_restored(tmp_path, monkeypatch, error, existing, last):
    names = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for name in names if existing else []:
        name.write_text("old")
    rename, calls = os.replace, []

    def fail_later(source, target):
        calls.append(target)
        if len(calls) == last:
            raise error
        rename(source, target)

    def write():
        with files.write_together():
            for name in names:
                with files.atomic_write(name) as temporary:
                    temporary.write_text("new")

    monkeypatch.setattr(os, "replace", fail_later)
    with pytest.raises(type(error)):
        write()
    assert sorted(tmp_path.iterdir()) == (names if existing else [])
    assert all(name.read_text() == "old" for name in tmp_path.iterdir())
    assert not files.TEMPORARIES


def test_names_of_many_bytes_can_be_written(tmp_path):
    path = tmp_path / ("漢" * 83 + ".csv")
    unbend.io.write(path, np.eye(2))
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
