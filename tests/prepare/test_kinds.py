"""Kinds of columns: each table declares what a person would say of its columns."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unbend.prepare import Prepare, infer_kind, read_columns

N = 60
RNG = np.random.default_rng(11)

TABLE = {
    "salary": (RNG.lognormal(10, 1, N), "numeric"),
    "rooms": (RNG.integers(1, 7, N), "numeric"),
    "passenger_id": (np.arange(100, 100 + N), "id"),
    "survived": (RNG.integers(0, 2, N), "boolean"),
    "smoker": (RNG.choice(["Yes", "No"], N), "boolean"),
    "size": (RNG.choice(["S", "M", "L", "XL"], N), "ordinal"),
    "pain": (RNG.choice(["mild", "moderate", "severe"], N), "ordinal"),
    "city": (RNG.choice(["Bonn", "Kiel", "Mainz", "Ulm"], N), "category"),
    "ticket": ([f"A/{i} {7 * i % 97}" for i in range(N)], "id"),
    "joined": ([f"2021-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)], "date"),
    "left": ([f"{1 + i % 28:02d}.{1 + i % 12:02d}.2022" for i in range(N)], "date"),
    "seen": ([f"{1 + i % 12}/{13 + i % 15}/2022" for i in range(N)], "date"),
    "country": (["DE"] * N, "constant"),
    "empty": ([None] * N, "constant"),
    "comment": (
        [f"arrived {i} days late and asked for a refund of {i * 3} euros" for i in range(N)],
        "text",
    ),
}


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"]
)
def test_kinds_agree_with_a_person_in_every_library(make):
    table = make({name: list(values) for name, (values, _) in TABLE.items()})
    found = {column.name: infer_kind(column).kind for column in read_columns(table).columns}
    assert found == {name: kind for name, (_, kind) in TABLE.items()}


def test_levels_ascend_and_dates_keep_their_format():
    columns = {
        c.name: infer_kind(c) for c in read_columns({k: v for k, (v, _) in TABLE.items()}).columns
    }
    assert columns["size"].levels == ("S", "M", "L", "XL")
    assert columns["smoker"].levels == ("No", "Yes")
    assert columns["left"].date_format == "%d.%m.%Y"
    assert columns["seen"].date_format == "%m/%d/%Y"


def test_frames_store_dates_booleans_and_ordered_categoricals():
    order = pd.CategoricalDtype(["cold", "warm", "hot"], ordered=True)
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2020-01-01", periods=5, tz="Europe/Berlin"),
            "flag": [True, False, None, True, False],
            "heat": pd.Categorical(["hot", "cold", "warm", "hot", None], dtype=order),
        }
    )
    when, flag, heat = read_columns(frame).columns
    assert infer_kind(when).kind == "date"
    assert when.values[0] == np.datetime64("2019-12-31T23:00")  # UTC
    assert infer_kind(flag).kind == "boolean"
    assert flag.missing.tolist() == [False, False, True, False, False]
    assert infer_kind(heat).levels == ("cold", "warm", "hot")


def test_a_label_like_code_is_numeric_with_a_remark():
    column = read_columns({"class": RNG.integers(0, 3, N)}).columns[0]
    assert infer_kind(column).kind == "numeric"
    assert "3 classes" in infer_kind(column).remark


def test_kinds_can_be_overridden_and_impossible_ones_are_refused():
    table = {"zip": RNG.choice([53111, 24103, 55116], N), "city": TABLE["city"][0]}
    assert Prepare(kinds={"zip": "category"}).fit(table).columns_[0].features == 3
    with pytest.raises(ValueError, match="'numeric' is not possible"):
        Prepare(kinds={"city": "numeric"}).fit(table)
    with pytest.raises(ValueError, match="'date' is not possible"):
        Prepare(kinds={"zip": "date"}).fit(table)
    with pytest.raises(ValueError, match="not a column"):
        Prepare(kinds={"town": "numeric"}).fit(table)
    with pytest.raises(ValueError, match="Pass one of numeric"):
        Prepare(kinds={"zip": "number"}).fit(table)


def test_objects_that_are_no_values_are_refused_by_column():
    with pytest.raises(TypeError, match="'what'"):
        read_columns({"what": np.array([object(), object()], dtype=object)})


def test_python_dates_in_an_object_column_are_dates():
    days = np.array([datetime.date(2020, 1, d) for d in range(1, 9)], dtype=object)
    assert infer_kind(read_columns({"day": days}).columns[0]).kind == "date"
