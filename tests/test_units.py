"""Whether columns share a unit, on data that chose no threshold."""

import numpy as np
import pytest
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer

from unbend.units import decide_scale


def _names(p):
    return [f"c{i}" for i in range(p)]


def spectra(n=200, p=120, seed=0):
    """Absorption lines of random strength on a smooth baseline that falls by a factor of 100."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, p)
    lines = np.exp(-(((x - rng.uniform(0, 1, (5, 1))) / 0.08) ** 2))
    return (rng.uniform(0.2, 1, (n, 5)) @ lines + 0.5) * np.exp(-5 * x)


@pytest.mark.parametrize("load", [datasets.load_wine, datasets.load_breast_cancer])
def test_tables_of_measurements_in_different_units_are_standardised(load):
    data = load()
    assert decide_scale(data.data, data.feature_names).scale == "standard"


@pytest.mark.parametrize(
    "values",
    [
        datasets.load_iris().data,
        datasets.load_digits().data,
        spectra(),
        PCA().fit_transform(datasets.load_breast_cancer().data),
        TfidfVectorizer()
        .fit_transform([datasets.load_wine().DESCR[i : i + 200] for i in range(0, 3000, 50)])
        .toarray(),
        datasets.load_sample_image("china.jpg")[:100, :20].reshape(100, -1).astype(float),
    ],
    ids=["iris", "digits", "spectra", "scores", "tf-idf", "photograph"],
)
def test_tables_with_one_unit_are_left_alone(values):
    assert decide_scale(values, _names(values.shape[1])).scale == "none"


def test_one_column_in_other_units_is_named():
    X = datasets.load_iris().data * [1, 1, 1e6, 1]
    decision = decide_scale(X, datasets.load_iris().feature_names)
    assert decision.scale == "standard"
    assert "petal length (cm)" in decision.reason


def test_numbers_and_categories_share_no_unit():
    assert decide_scale(datasets.load_iris().data, _names(4), ["city"]).scale == "standard"


def test_shuffled_columns_of_heterogeneous_units_are_no_spectrum():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 30)) * 10.0 ** rng.uniform(-3, 3, 30)
    assert decide_scale(X, _names(30)).scale == "standard"
