"""Dataframes of every library give the same table."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unbend

COLUMNS = {
    "height": [1.5, None, 3.5],
    "count": [1, 2, 3],
    "gap": [None, 5, 6],
    "flag": [True, False, True],
    "kind": ["a", "b", None],
    "code": ["p", "q", "r"],
}

FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
}


@pytest.fixture(params=FRAMES.values(), ids=FRAMES)
def frame(request):
    return request.param


def test_every_dataframe_gives_the_same_table(frame):
    table = unbend.io.read(frame(COLUMNS), label="kind", id="code", missing="mean")
    assert table.columns == ("height", "count", "gap", "flag")
    expected = [[1.5, 1, 5.5, 1], [2.5, 2, 5, 0], [3.5, 3, 6, 1]]
    assert table.values.tolist() == expected
    assert table.values.dtype == np.float64
    assert table.label.tolist() == ["a", "b", None]
    assert table.ids.tolist() == ["p", "q", "r"]


def test_every_dataframe_is_cut_into_batches(frame):
    parts = list(
        unbend.io.batches(frame(COLUMNS), rows=2, label="kind", ignore=["code"], missing="drop")
    )
    assert [part.rows.tolist() for part in parts] == [[2]]
    assert parts[0].values.tolist() == [[3.5, 3, 6, 1]]


def test_columns_that_are_not_numbers_are_refused_by_name(frame):
    with pytest.raises(ValueError, match=r"column 'kind' of the dataframe holds text such as 'a'"):
        unbend.io.read(frame(COLUMNS), id="code")
    days = {"v": [1.0, 2.0], "day": [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)]}
    with pytest.raises(ValueError, match="column 'day' of the dataframe holds dates or times"):
        unbend.io.read(frame(days))
    assert unbend.io.read(frame(days), label="day").label[1] == np.datetime64("2020-01-02")


def test_missing_values_are_refused_by_row_and_column(frame):
    with pytest.raises(ValueError, match=r"2 values are missing .* row 1 and column 'gap'"):
        unbend.io.read(frame(COLUMNS), label="kind", id="code")


def test_single_precision_stays_single(frame):
    table = unbend.io.read(frame({"a": np.array([0.1, 2], dtype=np.float32)}))
    assert table.values.dtype == np.float32
    assert table.values[0, 0] == np.float32(0.1)


def test_names_of_columns_become_text_and_must_differ():
    assert unbend.io.read(pd.DataFrame(np.eye(2))).columns == ("0", "1")
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        unbend.io.read(pd.DataFrame(np.eye(2), columns=["a", "a"]))
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        unbend.io.read(pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]))


def test_categories_are_labels_not_numbers():
    for frame in (
        pd.DataFrame({"v": [1.0, 2.0], "k": pd.Categorical([3, 4])}),
        pl.DataFrame({"v": [1.0, 2.0], "k": ["3", "4"]}).cast({"k": pl.Categorical}),
    ):
        with pytest.raises(ValueError, match="column 'k' of the dataframe"):
            unbend.io.read(frame)
        assert [str(kind) for kind in unbend.io.read(frame, label="k").label] == ["3", "4"]


def test_arrays_lists_and_dicts_are_tables():
    assert unbend.io.read([[1, 2], [3, 4]]).values.tolist() == [[1, 2], [3, 4]]
    assert unbend.io.read(np.arange(3)).values.tolist() == [[0], [1], [2]]
    assert unbend.io.read({"a": [1, 2], "b": [True, False]}).values.tolist() == [[1, 1], [2, 0]]
    with pytest.raises(ValueError, match="must have one length: they have a 2, b 1"):
        unbend.io.read({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match="the array holds text such as 'x'"):
        unbend.io.read(np.array([["x", "y"]]))
    with pytest.raises(ValueError, match="the dataframe has no rows"):
        unbend.io.read(pd.DataFrame({"a": np.zeros(0)}))


@pytest.mark.parametrize(
    ("columns", "output"),
    [
        ({}, "no columns"),
        ({"a": 1, "b": 2}, "column 'a' of the table has 0 dimensions"),
        ({"a": [1, 2], "b": np.ones((2, 2))}, "column 'b' of the table has 2 dimensions"),
        ({1: [1, 2], "1": [3, 4]}, "more than one column named '1'"),
    ],
)
def test_columns_that_make_no_table_are_refused(columns, output):
    with pytest.raises(ValueError, match=output):
        unbend.io.read(columns)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="rows of different lengths"):
        unbend.io.read([[1, 2], [3]])


@pytest.mark.parametrize("kind", [float, int])
def test_what_a_masked_array_hides_is_missing(kind):
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]], dtype=kind)
    with pytest.raises(ValueError, match="row 1 and column 'x1'"):
        unbend.io.read(masked)
    assert unbend.io.read(masked, missing="drop").values.tolist() == [[3, 4]]
