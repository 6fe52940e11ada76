"""Kinds of columns: each table declares what a person would say of its columns."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unbend
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


def write_german(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


WRITERS = {
    "dollars": lambda value: f"${value:,.2f}",
    "euros": lambda value: f"{write_german(value)} €",
    "francs": lambda value: f"CHF {value:,.2f}".replace(",", "’"),
    "per cent": lambda value: f"{value:.2f} %",
    "per cent with a comma": lambda value: f"{value:.2f}%".replace(".", ","),
    "kilograms": lambda value: f"{value:.2f} kg",
    "square metres": lambda value: f"{write_german(value)}m²",
    "speed": lambda value: f"{value:,.2f} km/h",
    "degrees": lambda value: f"{value:.2f}°C",
    "price of an area": lambda value: f"{value:.2f} €/m2",
    "grouped": lambda value: f"{value:,.2f}",
    "grouped with a comma": write_german,
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_amounts_with_units_are_the_numbers_they_were_written_from(write):
    amounts = np.round(RNG.lognormal(7, 2, N) * RNG.choice([-1, 1], N), 2)
    frame = pd.DataFrame({"amount": [write(value) for value in amounts]})
    frame.loc[3, "amount"] = None
    prepare = Prepare(scale="none", missing="mean").fit(frame)
    assert prepare.columns_[0].kind == "numeric"
    features = prepare.transform(frame).ravel()
    rest = np.arange(N) != 3
    np.testing.assert_array_equal(features[rest], amounts[rest])
    np.testing.assert_array_equal(prepare.transform(frame[5:6]), [[amounts[5]]])


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.234 €", "950 €"], [1234, 950]),
        (["$1,234", "$950"], [1234, 950]),
        (["1.234 %", "9.501 %"], [1.234, 9.501]),
        (["1,234 %", "9,501 %"], [1.234, 9.501]),
    ],
)
def test_one_mark_groups_digits_of_money_and_is_decimal_in_per_cent(texts, numbers):
    prepare = Prepare(scale="none").fit({"amount": texts})
    np.testing.assert_array_equal(prepare.transform({"amount": texts}).ravel(), numbers)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["- 5 €", "+ 7 €"], [-5, 7]),
        (["- 1.234,50", "2,25"], [-1234.5, 2.25]),
        (["- 5", "7", "− 1.5"], [-5, 7, -1.5]),
    ],
)
def test_a_sign_may_stand_apart_from_the_digits(texts, numbers):
    prepare = Prepare(scale="none").fit({"amount": texts})
    np.testing.assert_array_equal(prepare.transform({"amount": texts}).ravel(), numbers)


@pytest.mark.parametrize(
    "texts",
    [
        *(["1,234", "5,678"], ["5 €", "$6"], ["12 345", "67 890"], ["1.2.3", "1.2.4"]),
        *(["1,5e3", "2,5e3"], ["001A", "023A"], ["12A", "7B"], ["5 kg", "6"], ["5 kg", "6 lb"]),
        *(["12 High Street", "7 High Street"], ["1st", "2nd"], ["1,234 kg", "5,678 kg"]),
    ],
)
def test_what_may_be_no_amount_stays_a_category(texts):
    (column,) = read_columns({"code": texts}).columns
    assert infer_kind(column).kind == "category"


def test_a_new_amount_that_cannot_be_parsed_is_named():
    prepare = Prepare().fit({"rent": ["1.200,50 €", "800,00 €", "950,10 €"], "area": [50, 30, 40]})
    with pytest.raises(ValueError, match=r"'rent' was numeric in fit and holds 'on request' now"):
        prepare.transform({"rent": ["on request"], "area": [50]})


@pytest.mark.parametrize(
    ("fitted", "new", "unit"),
    [
        (["€10", "€12.50"], "$10", "€"),
        (["10 %", "12 %"], "10 ‰", "%"),
        (["70 kg", "80 kg"], "154 lb", "kg"),
        (["1.234,5", "2,5"], "2,5 €", "no unit"),
    ],
)
def test_a_new_amount_in_another_unit_is_refused(fitted, new, unit):
    prepare = Prepare().fit({"amount": fitted, "area": [50, 30]})
    with pytest.raises(ValueError, match=f"'amount' was in {unit} in fit and holds '") as refused:
        prepare.transform({"amount": [new], "area": [50]})
    assert repr(new) in str(refused.value)


def test_the_unit_of_a_column_is_saved_with_the_preparation(tmp_path):
    frame = pd.DataFrame({"weight": [f"{60 + i % 17}.5 kg" for i in range(N)]})
    Prepare(scale="none").fit(frame).save(tmp_path / "prepare.unbend")
    again = unbend.load(tmp_path / "prepare.unbend")
    np.testing.assert_array_equal(again.transform({"weight": ["70 kg"]}), [[70.0]])
    with pytest.raises(ValueError, match="was in kg in fit and holds '70 lb' now"):
        again.transform({"weight": ["70 lb"]})


def test_numbered_codes_with_a_letter_identify_rows():
    (column,) = read_columns({"sample": [f"{i + 1}A" for i in range(N)]}).columns
    assert infer_kind(column).kind == "id"


def test_times_of_day_are_remarked():
    times = [f"{RNG.integers(24):02d}:{RNG.integers(60):02d}" for _ in range(N)]
    (column,) = read_columns({"time": times}).columns
    assert "holds times: write them as numbers" in infer_kind(column).remark


def test_distinct_integers_are_remarked_as_a_possible_id():
    (column,) = read_columns({"patient": RNG.permutation(10_000)[:N]}).columns
    assert "leave it out if it identifies rows" in infer_kind(column).remark
    (column,) = read_columns({"visits": RNG.integers(0, 9, N)}).columns
    assert not infer_kind(column).remark
