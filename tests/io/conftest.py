"""Files that are wrong in one way each, and both ways of reading text."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from unbend.io import delimited

MATRIX = np.random.default_rng(0).standard_normal((500, 4))


def parquet() -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(dict(zip("abcd", MATRIX.T, strict=True))), out)
    return out.getvalue()


def arrow() -> bytes:
    out = io.BytesIO()
    pyarrow.feather.write_feather(pa.table(dict(zip("abcd", MATRIX.T, strict=True))), out)
    return out.getvalue()


def npy(array=MATRIX) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(**arrays) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def archive(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as held:
        held.writestr(name, "1,2\n")
    return out.getvalue()


def csv_lines() -> bytes:
    lines = "\n".join(",".join(map(repr, row)) for row in MATRIX.tolist())
    return f"a,b,c,d\n{lines}\n".encode()


def objects() -> np.ndarray:
    return np.array([[1, "a"], [None, {}]], dtype=object)


# name of the file, its bytes, and words of the one sentence that it must be refused with
MALFORMED = {
    "empty": ("t.csv", b"", "is empty"),
    "blank": ("t.csv", b"\n\r\n\n", "nothing but empty lines"),
    "header only": ("t.csv", b"a,b\n", "has a header and no rows"),
    "short line": ("t.csv", b"a,b\n1,2\n3\n", "line 3 of .* has 1 field where the first has 2"),
    "long line": ("t.csv", b"a,b\n1,2\n\n3,4,5\n", "line 4 of .* has 3 fields"),
    "cut-off line": ("t.csv", csv_lines()[:-60], "line 501 of .* has [123] field"),
    "text column": ("t.csv", b"a,city\n1,Paris\n", "column 'city' of .*text such as 'Paris'"),
    "late text": ("t.csv", b"a,b\n" + b"1,2\n" * 9000 + b"1,x y\n", "'b' of .*text such as 'x y'"),
    "dates": ("t.csv", b"day,v\n2020-01-01,1\n", "column 'day' of .* not numbers"),
    "times": ("t.csv", b"v,at\n1,12:30\n", "column 'at' of .* not numbers"),
    "digits apart": ("t.csv", b"a,b\n1_000,2\n", "column 'a' of .*'1_000'"),
    "hexadecimal": ("t.csv", b"a,b\n0x10,2\n", "column 'a' of .*'0x10'"),
    "missing": ("t.csv", b"a,b\n1,2\n3,\n", "a value is missing in .* row 2 and column 'b'"),
    "two missing": (
        "t.csv",
        b"a,b\n1,NA\n3,?\n",
        "2 values are missing.* row 1 and column 'b'",
    ),
    "twice": ("t.csv", b"a,a\n1,2\n", "more than one column named 'a'"),
    "no encoding": ("t.csv", b"a,n\x81\n1,2\n", "not in cp1252 .*0x81"),
    "late encoding": ("t.csv", b"a,b\n" + b"1,2\n" * 99_999 + b"1,\x81\n", "not in cp1252 .*0x81"),
    "open quote": ("t.csv", b'a,b\n1,2\n1,"3\n4,5\n', "column 'b' of .* holds text"),
    "open long quote": ("t.csv", b'a,b\n1,"3\n' + b"4,5\n" * 90_000, "quotation mark|holds text"),
    "one long word": ("t.csv", b"word" * 90_000, "has a header and no rows"),
    "garbage": ("t.csv", bytes(range(256)), "neither a table of text"),
    "late zeros": ("t.csv", b"a,b\n" + b"1,2\n" * 2000 + b"\x00", "zero bytes"),
    "page": ("t.csv", b"<!DOCTYPE html>\n<p>no, no</p>\n", "line 2 of|holds text"),
    "cut-off gzip": ("t.csv.gz", gzip.compress(csv_lines())[:-100], "cannot be unpacked"),
    "broken gzip": ("t.csv.gz", b"\x1f\x8b" + b"x" * 50, "cannot be unpacked"),
    "cut-off parquet": ("t.parquet", parquet()[:-100], "damaged or cut off Parquet file"),
    "short parquet": ("t.parquet", b"PAR1", "damaged or cut off Parquet file"),
    "text as parquet": ("t.parquet", b"a,b\n1,2\n", "does not begin as a Parquet file"),
    "cut-off arrow": ("t.feather", arrow()[:-100], "damaged or cut off Arrow file"),
    "garbage as npy": ("t.npy", b"garbage" * 9, "does not begin as a NPY file"),
    "cut-off npy": ("t.npy", npy()[:-100], "damaged or cut off NPY file"),
    "cut-off npy header": ("t.npy", npy()[:30], "damaged or cut off NPY file"),
    "objects": ("t.npy", npy(objects()), "pickled objects, which are never read"),
    "objects in npz": ("t.npz", npz(a=objects()), "pickled objects, which are never read"),
    "words": ("t.npy", npy(np.array([["a", "b"]])), "holds text such as 'a', not numbers"),
    "complex": ("t.npy", npy(MATRIX * 1j), "complex numbers"),
    "three dimensions": ("t.npy", npy(np.zeros((2, 2, 2))), "has 3 dimensions"),
    "no rows": ("t.npy", npy(np.zeros((0, 2))), "has no rows"),
    "cut-off npz": ("t.npz", npz(a=MATRIX)[:-100], "damaged or cut off NPZ file"),
    "two matrices": ("t.npz", npz(a=MATRIX, b=MATRIX), "several matrices .a 500 x 4, b 500 x 4."),
    "lengths": ("t.npz", npz(a=MATRIX, b=np.zeros(3)), "'b' of .* has 3 entries"),
    "archive": ("t.zip", archive("table.csv"), "a zip archive without arrays"),
    "workbook": ("t.xlsx", archive("[Content_Types].xml"), "an Excel workbook"),
    "pickle": ("t.npy", pickle.dumps(MATRIX), "a pickle, which is never read"),
    "hdf5": ("t.h5", b"\x89HDF\r\n\x1a\n" + b"\x00" * 99, "damaged or cut off HDF5 file"),
}


@pytest.fixture(params=["pyarrow", "plain"])
def engine(request, monkeypatch):
    """Read text by pyarrow, and as if there were none."""
    if request.param == "plain":
        monkeypatch.setattr(delimited, "import_pyarrow", lambda: None)
    return request.param


@pytest.fixture(params=list(MALFORMED))
def malformed(request, tmp_path):
    """Give the path of a file that is wrong, and the words of the refusal."""
    name, content, words = MALFORMED[request.param]
    path = tmp_path / name
    path.write_bytes(content)
    return path, words
