"""Tables with columns of any kind: text, dates, categories, and workbooks."""

import io
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

import unbend
from tests.tables.corpus import TABLES
from unbend.prepare import Prepare

LETTERS = pd.DataFrame(
    {"city": ["Köln", "Besançon", "Málaga", "plain"] * 30_000, "price_€": range(120_000)}
)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_detected(encoding, late, tmp_path):
    frame = LETTERS.rename(columns={"price_€": "price"}) if late else LETTERS[:50]
    if late:
        # The first letter outside ASCII lies beyond the sample that shows the dialect.
        frame = pd.concat([frame.assign(city="plain"), frame], ignore_index=True)
    path = tmp_path / "cities.csv"
    frame.to_csv(path, index=False, encoding=encoding)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        read = unbend.io.read_frame(path)
    assert list(read.columns) == list(frame)
    assert read.columns["city"].tolist() == frame["city"].tolist()
    told = [str(warning.message) for warning in raised]
    assert len(told) == (encoding == "cp1252")
    assert all("Windows-1252" in sentence and "encoding=" in sentence for sentence in told)


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("encoding", ["latin-1", "shift_jis", "utf-16-le"])
def test_an_encoding_may_be_given(encoding, arrow, tmp_path, monkeypatch):
    if not arrow:
        monkeypatch.setattr("unbend.io.delimited.import_pyarrow", lambda: None)
    city = "東京" if encoding == "shift_jis" else "Köln"
    path = tmp_path / "cities.csv"
    pd.DataFrame({"city": [city, "b"], "n": [1.5, 2.5]}).to_csv(
        path, index=False, encoding=encoding
    )
    frame = unbend.io.read_frame(path, encoding=encoding)
    assert frame.columns["city"].tolist() == [city, "b"]
    assert frame.columns["n"].tolist() == [1.5, 2.5]


def test_a_wrong_encoding_is_named(tmp_path):
    path = tmp_path / "cities.csv"
    path.write_bytes("city,n\nKöln,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"not in UTF-8 .*0xf6.*encoding="):
        unbend.io.read_frame(path, encoding="utf-8")
    with pytest.raises(ValueError, match="encoding='klingon' is not known"):
        unbend.io.read_frame(path, encoding="klingon")
    with pytest.raises(ValueError, match="encoding='utf-8' is for text files"):
        unbend.io.read_frame({"a": [1.0]}, encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore:.*Windows-1252")
def test_files_have_the_kinds_a_person_names(name, tmp_path):
    table = TABLES[name]()
    frame = unbend.io.read_frame(table.save(tmp_path), label=table.label)
    prepare = Prepare(missing="median").fit(frame)
    assert {c.name: c.kind for c in prepare.columns_ if c.kind != "numeric"} == table.kinds
    assert prepare.scale_ == ("standard" if table.standardise else "none")


@pytest.mark.parametrize("name", ["passengers", "parquet", "workbook", "houses"])
def test_file_and_frame_give_the_same_features(name, tmp_path):
    table = TABLES[name]()
    rows = table.frame.drop(columns=[table.label] if table.label else [])
    frame = unbend.io.read_frame(table.save(tmp_path), label=table.label)
    of_frame = Prepare(missing="median").fit_transform(rows)
    np.testing.assert_allclose(Prepare(missing="median").fit_transform(frame), of_frame)


def test_without_pyarrow_the_columns_are_the_same(tmp_path, monkeypatch):
    path = TABLES["passengers"]().save(tmp_path)
    fast = unbend.io.read_frame(path)
    monkeypatch.setattr("unbend.io.delimited.import_pyarrow", lambda: None)
    slow = unbend.io.read_frame(path)
    assert list(fast.columns) == list(slow.columns)
    for name, column in fast.columns.items():
        assert column.dtype == slow.columns[name].dtype
        assert str(column.tolist()) == str(slow.columns[name].tolist())


def test_text_below_many_numbers_keeps_all_as_text(monkeypatch):
    monkeypatch.setattr("unbend.io.delimited.LINES", 10)
    monkeypatch.setattr("unbend.io.delimited.import_pyarrow", lambda: None)
    content = b"code,v\n" + b"007,1\n" * 30 + b"x,2\n"
    frame = unbend.io.read_frame(io.BytesIO(content))
    assert frame.columns["code"].tolist() == ["007"] * 30 + ["x"]


def test_numbers_of_a_frame_are_those_of_a_table(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame(np.eye(4, dtype=np.float32), columns=list("abcd")).to_parquet(path)
    table, frame = unbend.io.read(path, label="d"), unbend.io.read_frame(path, label="d")
    assert frame.to_table().values.dtype == table.values.dtype == np.float32
    np.testing.assert_array_equal(frame.to_table().values, table.values)
    np.testing.assert_array_equal(frame.rest.label, table.label)


def workbook(sheets):
    content = io.BytesIO()
    with pd.ExcelWriter(content) as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=False)
    return content.getvalue()


def test_sheet_of_a_workbook_by_name():
    numbers = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [2, 3, 4]})
    content = workbook({"cover": pd.DataFrame({"title": ["x"]}), "data": numbers})
    table = unbend.io.read(io.BytesIO(content), array="data", missing="drop")
    assert table.columns == ("a", "b")
    assert table.values.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="no sheet 'else': it has cover, data"):
        unbend.io.read(io.BytesIO(content), array="else")


def test_workbook_that_unpacks_to_more_than_memory_is_refused():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 20_000_000)
    with pytest.raises(MemoryError), unbend.memory_limit(10_000_000):
        unbend.io.read(io.BytesIO(content.getvalue()))


def test_damaged_workbook_is_refused():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("xl/workbook.xml", b"no XML")
    with pytest.raises(ValueError, match="damaged or cut off XLSX file"):
        unbend.io.read(io.BytesIO(content.getvalue()))
