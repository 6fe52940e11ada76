"""Messy tables, generated or from scikit-learn: each with the kinds that a person would name.

`TABLES` maps a name to a `Messy` table: a frame, how it is written to a file, the label column, and
for columns whose kind is not plainly numeric that kind. Nothing here chose a threshold of the
library.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

Writer = Callable[[pd.DataFrame, Path], None]


def _csv(frame: pd.DataFrame, path: Path, **options: object) -> None:
    frame.to_csv(path, **{"index": False, **options})


@dataclass(frozen=True)
class Messy:
    """A table, its file and what a person says of it."""

    frame: pd.DataFrame
    # Name of the file, and how it is written.
    file: str = "table.csv"
    write: Writer = _csv
    label: str | None = None
    # Kinds of the columns that are not numeric.
    kinds: dict[str, str] = field(default_factory=dict)
    # Whether numeric columns have to be standardised.
    standardise: bool = True

    def save(self, folder: Path) -> Path:
        """Write the file and return its path."""
        path = folder / self.file
        self.write(self.frame, path)
        return path


def _bunch(load: Callable[..., object], label: str, **changes: object) -> Messy:
    data = load(as_frame=True)
    frame = data.frame.rename(columns={"target": label})
    return Messy(frame, label=label, **changes)


def _few_values(frame: pd.DataFrame) -> dict[str, str]:
    """Columns of one value, and of nothing but 0 and 1."""
    kinds = {name: "boolean" for name in frame if set(frame[name]) == {0, 1}}
    return kinds | {name: "constant" for name in frame if frame[name].nunique() == 1}


def wine() -> Messy:
    """Chemical measurements in different units."""
    return _bunch(datasets.load_wine, "cultivar")


def breast_cancer() -> Messy:
    """Measurements with an id in front."""
    table = _bunch(datasets.load_breast_cancer, "diagnosis")
    frame = table.frame.copy()
    frame.insert(0, "id", np.random.default_rng(1).permutation(900_000)[: len(frame)] + 100_000)
    frame["diagnosis"] = np.where(frame["diagnosis"] == 1, "benign", "malignant")
    return Messy(frame, label="diagnosis", kinds={"id": "id"})


def diabetes() -> Messy:
    """Columns already on one scale, with a numeric target."""
    return _bunch(datasets.load_diabetes, "progression", standardise=False)


def iris_european() -> Messy:
    """Semicolons and decimal commas."""
    table = _bunch(datasets.load_iris, "species", standardise=False)
    return Messy(
        table.frame, "iris.csv", partial(_csv, sep=";", decimal=","), "species", standardise=False
    )


def iris_tabs() -> Messy:
    """Tabs."""
    table = _bunch(datasets.load_iris, "species", standardise=False)
    return Messy(table.frame, "iris.tsv", partial(_csv, sep="\t"), "species", standardise=False)


def excel_csv() -> Messy:
    """Export of Excel: byte order mark, semicolons, CRLF."""
    table = wine()
    write = partial(_csv, sep=";", decimal=",", encoding="utf-8-sig", lineterminator="\r\n")
    return Messy(table.frame, "export.csv", write, "cultivar")


def index_column() -> Messy:
    """Index without a name, as pandas writes it."""
    table = wine()
    return Messy(table.frame, "wine.csv", partial(_csv, index=True), "cultivar")


def penguins() -> Messy:
    """Species that differ in shape, with gaps and two categories."""
    rng = np.random.default_rng(2)
    n = 150
    kind = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "species": np.array(["Adelie", "Chinstrap", "Gentoo"])[kind],
            "island": rng.choice(["Biscoe", "Dream", "Torgersen"], n),
            "bill_length_mm": np.array([38.8, 48.8, 47.5])[kind] + rng.normal(0, 2.8, n),
            "bill_depth_mm": np.array([18.3, 18.4, 15.0])[kind] + rng.normal(0, 1.1, n),
            "body_mass_g": np.array([3700, 3733, 5076])[kind] + rng.normal(0, 450, n).round(-1),
            "sex": rng.choice(["male", "female"], n),
        }
    )
    for name in ("bill_length_mm", "body_mass_g", "sex"):
        frame.loc[rng.choice(n, 6, replace=False), name] = None
    return Messy(frame, label="species", kinds={"island": "category", "sex": "category"})


def passengers() -> Messy:
    """Ids, names, tickets, a cabin that is mostly missing."""
    rng = np.random.default_rng(3)
    n = 200
    frame = pd.DataFrame(
        {
            "PassengerId": np.arange(1, n + 1),
            "Survived": rng.integers(0, 2, n),
            "Pclass": rng.choice([1, 2, 3], n, p=[0.2, 0.2, 0.6]),
            "Name": [f"Passenger, Mr. {chr(65 + i % 26)}. {i}" for i in range(n)],
            "Sex": rng.choice(["male", "female"], n),
            "Age": rng.normal(30, 14, n).clip(0.5, 80).round(1),
            "Fare": rng.lognormal(3, 1, n).round(4),
            "Ticket": [f"PC {17000 + 7 * i}" for i in range(n)],
            "Embarked": rng.choice(["S", "C", "Q"], n, p=[0.7, 0.2, 0.1]),
        }
    )
    frame.loc[rng.choice(n, 40, replace=False), "Age"] = None
    return Messy(
        frame,
        label="Survived",
        kinds={
            "PassengerId": "id",
            "Name": "id",
            "Ticket": "id",
            "Sex": "category",
            "Embarked": "category",
        },
    )


def houses() -> Messy:
    """Prices, coordinates, a district, a German date."""
    rng = np.random.default_rng(4)
    n = 180
    area = rng.lognormal(4.7, 0.4, n)
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1400, n), "D")
    frame = pd.DataFrame(
        {
            "price": (area * rng.lognormal(8, 0.2, n)).round(),
            "area_m2": area.round(1),
            "rooms": rng.integers(1, 8, n),
            "latitude": rng.normal(50.7, 0.05, n).round(5),
            "longitude": rng.normal(7.1, 0.08, n).round(5),
            "district": rng.choice(["Nord", "Süd", "Mitte", "West"], n),
            "sold": days.strftime("%d.%m.%Y"),
        }
    )
    return Messy(frame, kinds={"district": "category", "sold": "date"})


def houses_latin1() -> Messy:
    """Umlauts in Latin-1."""
    table = houses()
    write = partial(_csv, sep=";", decimal=",", encoding="latin-1")
    return Messy(table.frame, "haeuser.csv", write, kinds=table.kinds)


def survey() -> Messy:
    """Answers on known scales, with refusals left empty."""
    rng = np.random.default_rng(5)
    n = 160
    agree = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    mood = rng.integers(0, 5, n)
    frame = pd.DataFrame(
        {
            "respondent": [f"R{i:04d}" for i in range(n)],
            "age_group": rng.choice(["18-29", "30-44", "45-64", "65+"], n),
            "satisfied": np.array(agree)[mood],
            "would_recommend": np.array(agree)[np.clip(mood + rng.integers(-1, 2, n), 0, 4)],
            "how_often": rng.choice(["never", "rarely", "sometimes", "often", "always"], n),
            "newsletter": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[rng.choice(n, 12, replace=False), "how_often"] = None
    return Messy(
        frame,
        kinds={
            "respondent": "id",
            "age_group": "category",
            "satisfied": "ordinal",
            "would_recommend": "ordinal",
            "how_often": "ordinal",
            "newsletter": "boolean",
        },
    )


def sensor() -> Messy:
    """Hourly series of physical quantities with gaps."""
    rng = np.random.default_rng(6)
    n = 24 * 20
    hours = pd.date_range("2024-03-01", periods=n, freq="h")
    phase = 2 * np.pi * hours.hour / 24
    frame = pd.DataFrame(
        {
            "time": hours.strftime("%Y-%m-%d %H:%M:%S"),
            "temperature_C": 15 + 6 * np.sin(phase) + rng.normal(0, 0.7, n),
            "pressure_Pa": 101_325 + np.cumsum(rng.normal(0, 40, n)),
            "humidity": np.clip(60 - 15 * np.sin(phase) + rng.normal(0, 4, n), 0, 100),
        }
    )
    frame.loc[rng.choice(n, 15, replace=False), "humidity"] = None
    return Messy(frame, kinds={"time": "date"})


def expression() -> Messy:
    """Genes, 300 counts of them, in 60 samples of three tissues."""
    rng = np.random.default_rng(7)
    tissue = rng.integers(0, 3, 60)
    level = rng.lognormal(3, 1.5, 300)
    shift = rng.normal(0, 0.8, (3, 300))
    counts = rng.poisson(level * np.exp(shift[tissue]))
    frame = pd.DataFrame(counts, columns=[f"ENSG{i:08d}" for i in range(300)])
    frame.insert(0, "sample", [f"GSM{100 + i}" for i in range(60)])
    frame.insert(1, "tissue", np.array(["liver", "brain", "heart"])[tissue])
    return Messy(frame, label="tissue", kinds={"sample": "id"})


def spectra() -> Messy:
    """Reflectance at 100 wavelengths, which are the names of the columns."""
    rng = np.random.default_rng(8)
    waves = np.linspace(400, 2400, 100)
    lines = np.exp(-(((waves - rng.uniform(500, 2300, (4, 1))) / 150) ** 2))
    base = np.exp(-waves / 600)
    values = (rng.uniform(0.1, 1, (90, 4)) @ lines + 0.4) * base
    frame = pd.DataFrame(values, columns=[f"{wave:.0f}" for wave in waves])
    return Messy(frame, standardise=False)


def pixels() -> Messy:
    """Digits of 8 x 8 pixels."""
    data = datasets.load_digits()
    frame = pd.DataFrame(data.data[:300], columns=[f"pixel{i}" for i in range(64)])
    kinds = _few_values(frame)
    frame["digit"] = data.target[:300]
    return Messy(frame, label="digit", kinds=kinds, standardise=False)


def packages() -> Messy:
    """Metadata of packages: version strings, sizes with heavy tails, a description."""
    rng = np.random.default_rng(9)
    n = 120
    verbs = ["reads", "writes", "plots", "parses", "compresses"]
    things = ["tables", "images", "archives", "networks", "sequences"]
    frame = pd.DataFrame(
        {
            "package": [f"lib{chr(97 + i % 26)}{i}" for i in range(n)],
            "size_kB": rng.lognormal(5, 2, n).round(),
            "dependencies": rng.poisson(6, n),
            "section": rng.choice(["science", "libs", "utils", "graphics"], n),
            "description": [
                f"library that {rng.choice(verbs)} {rng.choice(things)} and is documented in detail"
                f" {i}"
                for i in range(n)
            ],
        }
    )
    return Messy(
        frame,
        label="section",
        kinds={"package": "id", "description": "text"},
    )


def workbook() -> Messy:
    """Workbook of Excel with dates and a category."""
    rng = np.random.default_rng(10)
    n = 90
    frame = pd.DataFrame(
        {
            "order": np.arange(5000, 5000 + n),
            "date": pd.Timestamp("2023-01-02") + pd.to_timedelta(np.arange(n) * 3, "D"),
            "amount": rng.lognormal(4, 1, n).round(2),
            "discount": rng.choice([0.0, 0.05, 0.1], n),
            "channel": rng.choice(["web", "store", "phone"], n),
        }
    )
    return Messy(
        frame,
        "orders.xlsx",
        partial(pd.DataFrame.to_excel, index=False),
        kinds={"order": "id", "date": "date", "channel": "category"},
    )


def parquet() -> Messy:
    """Parquet with an ordered categorical, dates and booleans."""
    rng = np.random.default_rng(11)
    n = 110
    heat = pd.CategoricalDtype(["cold", "warm", "hot"], ordered=True)
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2020-01-01", periods=n, freq="D"),
            "heat": pd.Categorical(rng.choice(["cold", "warm", "hot"], n), dtype=heat),
            "open": rng.choice([True, False], n),
            "x": rng.normal(size=n),
            "y": rng.normal(size=n) * 300,
        }
    )
    return Messy(
        frame,
        "table.parquet",
        pd.DataFrame.to_parquet,
        kinds={"when": "date", "heat": "ordinal", "open": "boolean"},
    )


def one_huge_column() -> Messy:
    """Wine with one column multiplied by 1e6."""
    table = wine()
    frame = table.frame.copy()
    frame["hue"] = frame["hue"] * 1e6
    return Messy(frame, label="cultivar")


def yes_and_no() -> Messy:
    """Symptoms, all of them yes or no."""
    rng = np.random.default_rng(12)
    n = 130
    group = rng.integers(0, 3, n)
    chance = rng.uniform(0.05, 0.95, (3, 12))
    answers = rng.random((n, 12)) < chance[group]
    frame = pd.DataFrame(
        np.where(answers, "yes", "no"), columns=[f"symptom_{i}" for i in range(12)]
    )
    kinds = dict.fromkeys(frame.columns, "boolean")
    frame["diagnosis"] = np.array(["A", "B", "C"])[group]
    return Messy(frame, label="diagnosis", kinds=kinds)


def accounts() -> Messy:
    """Heavy tails, negative amounts, a currency."""
    rng = np.random.default_rng(13)
    n = 170
    frame = pd.DataFrame(
        {
            "account_id": rng.permutation(10_000)[:n] + 1,
            "balance": rng.standard_t(2, n) * 1e4,
            "turnover": rng.lognormal(9, 2, n),
            "transactions": rng.poisson(30, n),
            "currency": rng.choice(["EUR", "USD", "CHF"], n, p=[0.8, 0.15, 0.05]),
        }
    )
    return Messy(frame, kinds={"account_id": "id", "currency": "category"})


def countries() -> Messy:
    """Latitudes, populations and codes."""
    rng = np.random.default_rng(14)
    n = 140
    frame = pd.DataFrame(
        {
            "code": [f"{chr(65 + i // 26)}{chr(65 + i % 26)}" for i in range(n)],
            "continent": rng.choice(["Africa", "Asia", "Europe", "America"], n),
            "latitude": rng.uniform(-60, 70, n),
            "population": rng.lognormal(16, 2, n).round(),
            "gdp_per_head": rng.lognormal(9, 1, n).round(1),
        }
    )
    frame.loc[rng.choice(n, 9, replace=False), "gdp_per_head"] = None
    return Messy(frame, label="continent", kinds={"code": "id"})


def requests() -> Messy:
    """Log of a server."""
    rng = np.random.default_rng(15)
    n = 250
    start = pd.Timestamp("2024-05-01T00:00:00")
    times = start + pd.to_timedelta(np.sort(rng.integers(0, 14 * 86_400, n)), "s")
    frame = pd.DataFrame(
        {
            "time": times.strftime("%Y-%m-%dT%H:%M:%S"),
            "status": rng.choice([200, 301, 404, 500], n, p=[0.85, 0.05, 0.08, 0.02]),
            "bytes": rng.lognormal(8, 2, n).round(),
            "method": rng.choice(["GET", "POST", "HEAD"], n, p=[0.8, 0.15, 0.05]),
            "seconds": rng.lognormal(-3, 1, n),
        }
    )
    return Messy(frame, kinds={"time": "date", "method": "category"})


def broken_columns() -> Messy:
    """Constant, duplicate and an empty column among usable ones."""
    rng = np.random.default_rng(16)
    n = 100
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n) * 40})
    frame["unit"], frame["again"], frame["notes"] = "kg", frame["b"], None
    return Messy(frame, kinds={"unit": "constant", "notes": "constant"})


def mushrooms() -> Messy:
    """Nothing but categories."""
    rng = np.random.default_rng(17)
    n = 220
    kind = rng.integers(0, 2, n)
    frame = pd.DataFrame({"edible": np.array(["edible", "poisonous"])[kind]})
    for place, levels in enumerate((4, 6, 3, 9, 2)):
        shares = rng.dirichlet(np.ones(levels), 2)
        words = [f"{chr(97 + place)}{level}" for level in range(levels)]
        frame[f"feature_{place}"] = [rng.choice(words, p=shares[k]) for k in kind]
    kinds = {name: "category" for name in frame.columns if name != "edible"}
    return Messy(frame, label="edible", kinds=kinds)


def terms() -> Messy:
    """Document-term matrix of counts."""
    rng = np.random.default_rng(18)
    topic = rng.integers(0, 3, 100)
    rates = rng.dirichlet(np.full(80, 0.08), 3)
    counts = np.stack([rng.multinomial(30, rates[t]) for t in topic])
    used = counts.sum(axis=0) > 0
    frame = pd.DataFrame(counts[:, used], columns=[f"term_{i}" for i in np.flatnonzero(used)])
    kinds = _few_values(frame)
    frame["topic"] = np.array(["law", "sport", "art"])[topic]
    return Messy(frame, label="topic", kinds=kinds, standardise=False)


def commented() -> Messy:
    """Comment lines above the header, and a separator at the end of each row."""
    table = wine()

    def write(frame: pd.DataFrame, path: Path) -> None:
        lines = frame.to_csv(index=False, sep=";").splitlines()
        text = "# laboratory export\n# 178 rows\n" + "\n".join(line + ";" for line in lines) + "\n"
        path.write_text(text)

    return Messy(table.frame, "wine.csv", write, "cultivar")


def quoted() -> Messy:
    """Quoted fields with separators and line breaks."""
    rng = np.random.default_rng(19)
    n = 70
    frame = pd.DataFrame(
        {
            "address": [f"{i} Main Street,\nSpringfield, floor {i % 3}" for i in range(n)],
            "rent": rng.normal(900, 150, n).round(2),
            "surface": rng.normal(60, 12, n).round(1),
            "balcony": rng.choice(["yes", "no"], n),
        }
    )
    return Messy(frame, kinds={"address": "text", "balcony": "boolean"})


def school() -> Messy:
    """Grades on one scale, with a school and a teacher."""
    rng = np.random.default_rng(20)
    n = 190
    talent = rng.normal(0, 1, n)
    frame = pd.DataFrame(
        {
            subject: np.clip(10 + 3 * (0.8 * talent + rng.normal(0, 0.6, n)), 0, 20).round(1)
            for subject in ("maths", "physics", "german", "english", "music")
        }
    )
    frame["school"] = rng.choice(["Gymnasium A", "Gymnasium B", "Realschule"], n)
    return Messy(frame, label="school", standardise=False)


TABLES: dict[str, Callable[[], Messy]] = {
    make.__name__: make
    for make in (
        wine, breast_cancer, diabetes, iris_european, iris_tabs, excel_csv, index_column, penguins,
        passengers, houses, houses_latin1, survey, sensor, expression, spectra, pixels, packages,
        workbook, parquet, one_huge_column, yes_and_no, accounts, countries, requests,
        broken_columns, mushrooms, terms, commented, quoted, school,
    )
}  # fmt: skip
