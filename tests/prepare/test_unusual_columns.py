"""Columns as libraries and spreadsheets store them: Decimal, intervals, masks, units, huge."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unbend
from unbend.prepare import UnusableTable


def _number(n=60, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def _kinds(preparation):
    return {column.name: column.kind for column in preparation.columns_}


def test_decimals_are_the_numbers_that_they_write():
    floats = pd.DataFrame({"a": _number(), "price": np.arange(60) ** 2 / 100})
    decimals = floats.assign(price=[Decimal(i**2) / 100 for i in range(60)])
    expected = unbend.Prepare().fit_transform(floats)
    np.testing.assert_allclose(unbend.Prepare().fit_transform(decimals), expected)


def test_masked_entries_are_missing():
    hidden = np.ma.array(np.stack([_number(), _number(seed=1)], axis=1), mask=False)
    hidden[3, 1] = 1e6
    hidden[3, 1] = np.ma.masked
    with pytest.raises(UnusableTable, match=r"'x1' \(1\)"):
        unbend.Prepare().fit(hidden)
    with_nan = hidden.filled(np.nan)
    made, expected = (unbend.Prepare(missing="median").fit_transform(X) for X in (hidden, with_nan))
    np.testing.assert_array_equal(made, expected)
    by_name = unbend.Prepare(missing="median").fit({"a": hidden[:, 0], "b": hidden[:, 1]})
    assert [column.missing for column in by_name.columns_] == [0, 1]


def test_numbers_stored_as_categories_are_categories():
    codes = np.arange(60) % 3 + 1
    table = pd.DataFrame({"a": _number(), "region": pd.Categorical(codes)})
    preparation = unbend.Prepare().fit(table)
    assert _kinds(preparation)["region"] == "category"
    as_words = table.assign(region=[f"r{code}" for code in codes])
    np.testing.assert_array_equal(
        preparation.transform(table), unbend.Prepare().fit_transform(as_words)
    )
    # New samples may hold the same codes as plain integers.
    np.testing.assert_array_equal(
        preparation.transform(table.assign(region=codes)), preparation.transform(table)
    )


def test_intervals_are_ordinal_in_their_order():
    values = _number()
    table = pd.DataFrame({"a": values, "bin": pd.cut(values, 4)})
    preparation = unbend.Prepare().fit(table)
    assert _kinds(preparation)["bin"] == "ordinal"
    places = np.unique(preparation.transform(table)[:, 1], return_inverse=True)[1]
    np.testing.assert_array_equal(places, table["bin"].cat.codes)


def test_periods_are_dates_of_their_beginning():
    periods = pd.period_range("2020-01", periods=60, freq="M")
    table = pd.DataFrame({"a": _number(), "month": periods})
    dates = table.assign(month=periods.to_timestamp())
    np.testing.assert_allclose(
        unbend.Prepare().fit_transform(table), unbend.Prepare().fit_transform(dates)
    )


@pytest.mark.parametrize("size", [1e160, 1e308])
@pytest.mark.filterwarnings("error")
def test_numbers_without_a_square_are_refused_with_their_column(size):
    table = {"a": _number(), "huge": np.where(np.arange(60) % 2, size, -size)}
    with pytest.raises(UnusableTable, match=r"'huge' .*Divide them by a constant"):
        unbend.Prepare().fit(table)
    preparation = unbend.Prepare().fit({"a": _number(), "huge": _number(seed=1)})
    with pytest.raises(UnusableTable, match="'huge'"):
        preparation.transform(table)


@pytest.mark.parametrize("scale", ["standard", "robust", "range", "gower"])
@pytest.mark.parametrize("unit", [1.6e-19, 1e-200])
def test_tiny_units_do_not_make_a_column_constant(scale, unit):
    table = {"a": _number(), "b": _number(seed=1)}
    tiny = {**table, "b": table["b"] * unit}
    made, expected = (unbend.Prepare(scale=scale).fit_transform(X) for X in (tiny, table))
    np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-12)


def test_an_integer_beyond_double_precision_is_refused_with_its_column():
    with pytest.raises(ValueError, match="Column 'b' holds an integer that is too large"):
        unbend.Prepare().fit({"a": [1.0, 2.0], "b": np.array([10**400, 1], dtype=object)})


def test_two_columns_of_one_name_are_refused():
    table = pd.DataFrame(np.ones((3, 3)), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="X has 2 columns named 'a'"):
        unbend.Prepare().fit(table)


@pytest.mark.parametrize(
    ("write", "remark"),
    [
        (lambda i, v: "n.d." if i % 10 == 0 else f"{v:.3f}", "numbers and words, such as 'n.d.'"),
        (lambda i, v: f"{abs(v):.2f} {'%€'[i % 2]}", "several units"),
    ],
)
def test_remarks_numbers_that_words_or_units_keep_from_being_read(write, remark):
    texts = [write(i, v) for i, v in enumerate(_number())]
    preparation = unbend.Prepare().fit(pl.DataFrame({"a": _number(), "m": texts}))
    (problem,) = [p for p in preparation.problems_ if p.what == "Columns to look at"]
    assert problem.columns[0].startswith("'m' holds")
    assert remark in problem.columns[0]


def test_does_not_remark_words_with_few_numbers():
    texts = ["red", "green", "12"] * 20
    preparation = unbend.Prepare().fit({"a": _number(), "m": texts})
    assert not preparation.problems_


@pytest.mark.parametrize("library", [pd, pl])
def test_an_estimator_names_the_columns_that_it_cannot_use(library):
    table = {"a": _number(), "flag": _number() > 0, "city": ["Bonn", "Kiel"] * 30}
    with pytest.raises(TypeError, match=r"Encode 'city' by make_pipeline\(unbend.Prepare\(\)"):
        unbend.Isomap().fit(library.DataFrame(table))
    with pytest.raises(TypeError, match="Convert or drop other values"):
        unbend.Isomap().fit(library.Series(table["city"]))
