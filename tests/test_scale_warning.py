"""Estimators warn of a column in another unit, and of nothing else."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import datasets as sklearn_datasets
from sklearn.decomposition import PCA as ScikitPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

import unbend
from tests.cli.program import unbend as program
from tests.conformance.cases import CLASSES, over
from tests.test_units import spectra
from unbend import sklearn as swapped

WINE = sklearn_datasets.load_wine(as_frame=True)


def scale_warnings(model, X, y=None):
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(one.message) for one in issued if issubclass(one.category, unbend.ScaleWarning)]


def table(n=60, p=5, seed=0, column=3):
    rows = np.random.default_rng(seed).normal(size=(n, p))
    rows[:, column] *= 1000
    return rows


@over([*CLASSES, unbend.SpectralClustering])
def test_every_method_warns_once_and_names_the_column(method):
    model = method()
    X, y = table(), np.arange(60) % 2
    sentences = scale_warnings(model, X, y)
    assert len(sentences) == 1
    assert sentences[0].startswith("Column 3 holds 99.999")
    assert "make_pipeline(unbend.Prepare(), …)" in sentences[0]
    assert sentences[0] in model.report_.warnings


def test_the_share_is_that_of_the_variance_and_the_name_that_of_the_frame():
    share = 100 * WINE.data.var()["proline"] / WINE.data.var().sum()
    (sentence,) = scale_warnings(unbend.Isomap(), WINE.data)
    assert f"Column 'proline' holds {np.floor(10 * share) / 10:.1f} %" in sentence


@pytest.mark.parametrize("method", [unbend.PCA, unbend.RandomProjection])
def test_batches_warn_too(method):
    X = table(600)
    with pytest.warns(unbend.ScaleWarning, match="Column 3 holds"):
        method().fit_batches([X[:300], X[300:]])


def test_the_remedy_silences_the_warning():
    for scale in ("auto", "standard", "robust", "range", "log", "gower"):
        model = make_pipeline(unbend.Prepare(scale=scale), unbend.PCA())
        assert not scale_warnings(model, WINE.data), scale


def test_outliers_after_robust_scaling_are_no_units():
    X = table()
    X[:3, 1] = 1e5
    assert not scale_warnings(unbend.PCA(), RobustScaler().fit_transform(X))


def test_a_table_larger_than_the_sample_is_judged_by_rows_from_all_of_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 4))
    X[100_000:, 2] *= 1000  # the first half alone shows nothing
    assert scale_warnings(unbend.PCA(), X)


@pytest.mark.parametrize(
    "name",
    [
        "clusters_3d",
        "punched_sphere",
        "s_curve",
        "square",
        "swiss_hole",
        "swiss_roll",
        "toroidal_helix",
    ],
)
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_surfaces_are_objects_in_space_however_long(name, axis):
    points = getattr(unbend.datasets, name)(300, random_state=0).points
    if axis is not None:
        points[:, axis] *= 12
    for frame in (points, pd.DataFrame(points, columns=["x", "y", "z"])):
        assert not scale_warnings(unbend.PCA(), frame)


def test_a_surface_with_one_column_in_another_unit_warns():
    points = unbend.datasets.swiss_roll(300, random_state=0).points
    assert scale_warnings(unbend.PCA(), points * [1, 1e6, 1])
    named = pd.DataFrame(points * [1, 20, 1], columns=["age", "income", "height"])
    assert "'income'" in scale_warnings(unbend.PCA(), named)[0]


@pytest.mark.parametrize(
    "values",
    [
        unbend.datasets.rotated_pictures(100, random_state=0).points,
        unbend.datasets.turning_object(100, random_state=0).points,
        sklearn_datasets.load_digits().data,
        spectra() * np.exp(-12 * np.linspace(0, 1, 120)),
        ScikitPCA().fit_transform(WINE.data),
        np.random.default_rng(0).normal(size=(60, 1)),
        np.ones((60, 3)),
    ],
    ids=["pictures", "object", "digits", "steep spectra", "scores", "one column", "constant"],
)
def test_columns_of_one_unit_are_no_reason_to_warn(values):
    assert not scale_warnings(unbend.PCA(n_components=1), values)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (unbend.Isomap(metric="precomputed"), lambda X: cdist(X, X)),
        (unbend.ClassicalMDS(metric="kernel"), lambda X: X @ X.T),
        (unbend.KernelPCA(kernel="precomputed"), lambda X: X @ X.T),
        (unbend.KernelPCA(kernel=lambda a, b: np.exp(-np.abs(a - b).sum())), lambda X: X),
        (unbend.PCA(), csr_array),
        (unbend.Isomap(metric="gower"), lambda X: X),
        (unbend.Isomap(metric="mahalanobis"), lambda X: X),
        (unbend.Isomap(metric_params={"w": np.array([1, 1, 1, 1e-6, 1])}), lambda X: X),
        (swapped.Isomap(), lambda X: X),
    ],
    ids=[
        "distances",
        "similarities",
        "kernel",
        "callable",
        "sparse",
        "gower",
        "mahalanobis",
        "weights",
        "scikit-learn",
    ],
)
def test_input_without_plain_columns_is_no_reason_to_warn(model, rows):
    assert not scale_warnings(model, rows(table()))


def test_new_samples_are_not_judged():
    X = table()
    model = unbend.PCA().fit(X[:, [0, 1, 2, 4]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", unbend.ScaleWarning)
        model.transform(X[:, :4])


def test_the_command_line_names_its_own_option(tmp_path):
    np.save(tmp_path / "table.npy", table())
    words = ("embed", "table.npy", "--method", "pca", "-o", "flat.csv")
    assert b"--scale standard, or give --scale none if" in program(*words, cwd=tmp_path).stderr
    for scale in ("none", "standard"):
        assert b"Warning" not in program(*words, "--scale", scale, cwd=tmp_path).stderr
