"""Files of columns and arrays; content before extension."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import unbend
from tests.io.conftest import MATRIX, arrow, csv_lines, npy, npz, parquet

CONTENT = {"parquet": parquet, "arrow": arrow, "npy": npy, "csv": csv_lines}


def stream_format() -> bytes:
    out = io.BytesIO()
    table = pa.table(dict(zip("abcd", MATRIX.T, strict=True)))
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=70)
    return out.getvalue()


@pytest.mark.parametrize("make", [*CONTENT.values(), stream_format, lambda: npz(any=MATRIX)])
@pytest.mark.parametrize("name", ["t", "t.dat", "t.csv", "t.txt"])
def test_the_content_says_the_format_whatever_the_name(make, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(make())
    assert np.array_equal(unbend.io.read(path).values, MATRIX)
    assert np.array_equal(unbend.io.read(str(path)).values, MATRIX)
    assert np.array_equal(unbend.io.read(io.BytesIO(make())).values, MATRIX)


@pytest.mark.parametrize("kind", ["parquet", "feather", "npy"])
def test_single_precision_stays_single(kind, tmp_path):
    single = MATRIX.astype(np.float32)
    path = tmp_path / f"t.{kind}"
    unbend.io.write(path, single)
    table = unbend.io.read(path)
    assert table.values.dtype == np.float32
    assert np.array_equal(table.values, single)


@pytest.mark.parametrize(
    "type_", ["i1", "u8", "f2", "f4", "f8", ">f8", "?", "i8", ">i4", "longdouble"]
)
def test_every_kind_of_number_is_read(type_):
    matrix = np.array([[0, 1], [1, 0], [1, 1]], dtype=type_)
    for order in "CF":
        table = unbend.io.read(io.BytesIO(npy(np.array(matrix, order=order))))
        assert table.values.tolist() == [[0, 1], [1, 0], [1, 1]]
        assert table.values.dtype in (np.float32, np.float64)


def test_columns_of_parquet_keep_their_roles(tmp_path):
    frame = pa.table(
        {
            "n": pa.array([1, None, 3], pa.int32()),
            "flag": [True, False, None],
            "money": pa.array([1, 2, 3], pa.decimal128(8, 2)),
            "kind": pa.array(["a", "b", None]).dictionary_encode(),
            "day": pa.array([1, 2, 3], pa.date32()),
            "__index_level_0__": [7, 8, 9],
        }
    )
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(frame, path)
    table = unbend.io.read(path, label="kind", ignore=["day"], missing="drop")
    assert table.columns == ("n", "flag", "money")
    assert table.values.tolist() == [[1, 1, 1]]
    assert (table.label.tolist(), table.ids.tolist()) == (["a"], [7])
    with pytest.raises(ValueError, match=r"column 'day' .* holds dates or times, not numbers"):
        unbend.io.read(path, label="kind")
    with pytest.raises(ValueError, match=r"column 'kind' .* text such as 'a'"):
        unbend.io.read(path, label="day")
    assert unbend.io.read(path, label="day", ignore=["kind"], missing="mean").values[1, 0] == 2


def test_arrays_beside_the_matrix_are_columns_of_npz(tmp_path):
    path = tmp_path / "t.npz"
    path.write_bytes(npz(X=MATRIX, kind=np.array(["a", "b"] * 250), weight=np.arange(500)))
    table = unbend.io.read(path, label="kind")
    assert table.columns == ("x0", "x1", "x2", "x3", "weight")
    assert np.array_equal(table.values[:, :4], MATRIX)
    assert np.array_equal(table.values[:, 4], np.arange(500))
    assert table.label[:2].tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"column 'kind' .* text such as 'a'"):
        unbend.io.read(path)


def test_fields_of_a_structured_array_are_columns():
    fields = [("a", "i4"), ("b", "f8"), ("c", "U1")]
    records = np.array([(1, 2.5, "u"), (3, 4.5, "v")], dtype=fields)
    table = unbend.io.read(io.BytesIO(npy(records)), id="c")
    assert (table.columns, table.values.tolist()) == (("a", "b"), [[1, 2.5], [3, 4.5]])
    assert table.ids.tolist() == ["u", "v"]


def test_a_table_does_not_change_with_its_file(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, MATRIX)
    table = unbend.io.read(path)
    np.save(path, np.zeros_like(MATRIX))
    assert np.array_equal(table.values, MATRIX)


def test_estimators_take_a_table_for_its_values():
    table = unbend.io.read(io.BytesIO(csv_lines()))
    expected = unbend.PCA().fit_transform(MATRIX)
    assert np.array_equal(unbend.PCA().fit_transform(table), expected)
    assert np.asarray(table) is table.values
    assert np.asarray(table, dtype=np.float32).dtype == np.float32
