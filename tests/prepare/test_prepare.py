"""Features against scikit-learn's transformers, Gower's definition, and the inverse transform."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import unbend
from unbend.prepare import Prepare, UnseenCategoryWarning


def messy(n=80, seed=3, gaps=True):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n),
            "age": rng.integers(18, 90, n).astype(float),
            "city": rng.choice(["Bonn", "Kiel", "Mainz"], n, p=[0.6, 0.3, 0.1]),
            "size": rng.choice(["small", "medium", "large"], n),
            "member": rng.choice([True, False], n),
            "joined": pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), "D"),
            "id": np.arange(n),
        }
    )
    if gaps:
        for name in ("age", "city", "joined"):
            frame.loc[rng.choice(n, 7, replace=False), name] = None
    return frame


def test_numbers_and_categories_equal_those_of_scikit_learn_up_to_the_weight():
    frame = messy(gaps=False)[["income", "age", "city"]]
    ours = Prepare("standard").fit(frame)
    peer = ColumnTransformer(
        [
            ("n", StandardScaler(), ["income", "age"]),
            ("c", OneHotEncoder(sparse_output=False), ["city"]),
        ]
    ).fit_transform(frame)
    shares = frame["city"].value_counts(normalize=True)
    weight = 1 / np.sqrt(1 - np.sum(shares**2))
    np.testing.assert_allclose(
        ours.transform(frame), peer * [1, 1, weight, weight, weight], atol=1e-12
    )
    assert list(ours.get_feature_names_out()) == [
        "income",
        "age",
        "city=Bonn",
        "city=Kiel",
        "city=Mainz",
    ]


@pytest.mark.parametrize("scale", ["standard", "log"])
@pytest.mark.parametrize("missing", ["median", "indicator"])
def test_every_column_has_total_variance_one(scale, missing):
    frame = messy()
    prepare = Prepare(scale, missing=missing).fit(frame)
    variance = pd.Series(prepare.transform(frame).var(axis=0))
    owners = [name.split("=")[0].split(":")[0] for name in prepare.get_feature_names_out()]
    totals = variance.groupby(owners).sum()
    assert set(totals.index) == set(frame.columns) - {"id"}
    # A column with imputed values and no indicator has a little less.
    gaps = {"age"} if missing == "median" else set()
    for name, total in totals.items():
        assert total == pytest.approx(1.0, abs=0.15 if name in gaps else 1e-9), name


def test_a_fifty_level_category_does_not_dominate():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=500), "code": rng.integers(0, 50, 500).astype(str)})
    features = Prepare("standard", kinds={"code": "category"}).fit_transform(frame)
    assert features[:, 1:].var(axis=0).sum() == pytest.approx(1.0)


def gower(frame, numeric, words):
    """Gower (1971): mean over columns of |x − y| / range, or of 0 and 1 for categories."""
    total = np.zeros((len(frame),) * 2)
    for name in numeric:
        x = frame[name].to_numpy(dtype=float)
        total += np.abs(x[:, None] - x) / np.ptp(x)
    for name in words:
        x = frame[name].to_numpy()
        total += x[:, None] != x
    return total / (len(numeric) + len(words))


def test_city_block_distances_of_gower_features_are_gowers():
    frame = messy(gaps=False)
    frame["rank"] = frame["size"].map({"small": 0, "medium": 1, "large": 2})
    frame["days"] = (frame["joined"] - frame["joined"].min()).dt.days
    features = Prepare("gower").fit_transform(frame.drop(columns=["id", "rank", "days"]))
    expected = gower(frame, ["income", "age", "rank", "days"], ["city", "member"])
    np.testing.assert_allclose(cdist(features, features, "cityblock"), expected, atol=1e-12)


@pytest.mark.parametrize("scale", ["none", "standard", "robust", "range", "log", "gower"])
@pytest.mark.parametrize("missing", ["median", "indicator"])
def test_inverse_transform_returns_the_columns_in_their_units(scale, missing):
    frame = messy()
    prepare = Prepare(scale, missing=missing).fit(frame)
    back = prepare.inverse_transform(prepare.transform(frame))
    assert isinstance(back, pd.DataFrame)
    whole = frame.notna().all(axis=1)
    np.testing.assert_allclose(back["income"], frame["income"], rtol=1e-9)
    np.testing.assert_allclose(back["age"][whole], frame["age"][whole], rtol=1e-9)
    assert (back["city"][whole] == frame["city"][whole]).all()
    assert (back["size"] == frame["size"]).all()
    assert (back["member"].astype(str) == frame["member"].astype(str)).all()
    gap = (back["joined"][whole] - frame["joined"][whole]).abs().max()
    assert gap < pd.Timedelta("1s")
    if missing == "indicator":
        assert (back["age"].isna() == frame["age"].isna()).all()
        assert (back["city"].isna() == frame["city"].isna()).all()
        assert (back["joined"].isna() == frame["joined"].isna()).all()


@pytest.mark.parametrize(
    ("missing", "expected"), [("mean", 30.0), ("median", 20.0), ("most_frequent", 10.0)]
)
def test_gaps_are_imputed_by_the_named_statistic(missing, expected):
    frame = pd.DataFrame({"x": [10.0, 10.0, 20.0, 50.0, 60.0, np.nan]})
    prepare = Prepare("none", missing=missing).fit(frame)
    assert prepare.transform(frame)[-1, 0] == pytest.approx(expected)


def test_rows_with_gaps_are_dropped_on_request():
    frame = messy()
    prepare = Prepare(missing="drop").fit(frame)
    whole = np.flatnonzero(frame.notna().all(axis=1))
    np.testing.assert_array_equal(prepare.kept_rows_, whole)
    np.testing.assert_array_equal(
        prepare.transform(frame), Prepare().fit(frame.iloc[whole]).transform(frame.iloc[whole])
    )


def test_one_error_names_all_columns_with_gaps_and_infinity():
    frame = messy()
    frame.loc[0, "income"] = np.inf
    with pytest.raises(
        ValueError, match=r"'age' \(7\), 'city' \(7\), 'joined' \(7\).*missing='median'.*'income'"
    ):
        Prepare().fit(frame)


def test_problems_list_everything_in_one_pass():
    frame = messy()
    frame["again"] = frame["income"]
    frame["unit"] = "EUR"
    what = {p.what: p for p in Prepare(missing="median").fit(frame).problems_}
    assert what["Duplicate columns"].columns == ("'again' = 'income'",)
    assert "'unit'" in what["Columns with one value, left out"].columns[0]
    assert "'id'" in what["Columns that identify rows, left out"].columns[0]
    assert len(what["Columns with missing values"].columns) == 3


def test_dates_have_elapsed_time_and_the_phase_of_the_year():
    days = pd.date_range("2015-01-01", "2019-12-31", freq="D")
    prepare = Prepare("standard").fit(pd.DataFrame({"day": days}))
    names = list(prepare.get_feature_names_out())
    assert names == ["day:elapsed"] + [
        f"day:{c}_{p}" for c in ("week", "year") for p in ("cos", "sin")
    ]
    features = pd.DataFrame(
        prepare.transform(pd.DataFrame({"day": days})), columns=names, index=days
    )
    year = features[["day:year_cos", "day:year_sin"]]
    near = np.linalg.norm(year.loc["2016-12-31"] - year.loc["2018-01-01"])
    far = np.linalg.norm(year.loc["2016-07-01"] - year.loc["2018-01-01"])
    assert far > 50 * near


def test_new_categories_warn_and_get_no_feature():
    frame = messy(gaps=False)[["income", "city"]]
    prepare = Prepare().fit(frame)
    new = frame.head(2).assign(city="Ulm")
    with pytest.warns(UnseenCategoryWarning, match="'Ulm'"):
        features = prepare.transform(new)
    assert not features[:, 1:].any()


def test_columns_are_matched_by_name_and_absent_ones_named():
    frame = messy(gaps=False)
    prepare = Prepare().fit(frame)
    shuffled = frame[frame.columns[::-1]].assign(extra=1.0)
    np.testing.assert_array_equal(prepare.transform(shuffled), prepare.transform(frame))
    with pytest.raises(ValueError, match="lacks columns that the fit used: 'age', 'city'"):
        prepare.transform(frame.drop(columns=["age", "city"]))


def test_a_multiplied_column_changes_nothing_after_standardising():
    X = load_wine().data
    factor = np.ones(13)
    factor[3] = 1e6
    plain = make_pipeline(Prepare(), unbend.PCA()).fit_transform(X)
    scaled = make_pipeline(Prepare(), unbend.PCA()).fit_transform(X * factor)
    np.testing.assert_allclose(np.abs(scaled), np.abs(plain), atol=1e-8)


def test_pipelines_embed_a_frame_with_categories():
    frame = messy()
    embedding = make_pipeline(Prepare(missing="median"), unbend.Isomap()).fit_transform(frame)
    trust = unbend.quality.trustworthiness(
        Prepare(missing="median").fit_transform(frame), embedding, n_neighbors=5
    )
    assert embedding.shape == (80, 2)
    assert trust > 0.7


def test_saved_preparation_gives_the_same_bits(tmp_path):
    frame = messy()
    prepare = Prepare(missing="indicator").fit(frame)
    prepare.save(tmp_path / "prepare.unbend")
    loaded = unbend.load(tmp_path / "prepare.unbend")
    np.testing.assert_array_equal(loaded.transform(frame), prepare.transform(frame))
    assert loaded.columns_ == prepare.columns_
