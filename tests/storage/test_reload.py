"""A reloaded model is the one that was saved, to the last bit, however it was fitted."""

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import unbend
from tests.conformance.cases import refused
from tests.loops import each
from tests.storage.alike import assert_alike, assert_same_answers, assert_same_state
from tests.storage.cases import CASES, EVERYONE, NEW, POINTS, Case, given, representative

METHODS = list(dict.fromkeys(case.method for case in CASES))
REPRESENTATIVE = representative()
EVERY = pytest.mark.parametrize("method", EVERYONE, ids=lambda method: method.__name__)


def fitted(case: Case) -> Any:
    with warnings.catch_warnings():
        # Few rows, odd metrics and given seeds: the warnings are the business of other tests.
        warnings.simplefilter("ignore")
        return case.fit()


def reloaded(model: Any, folder: Path, **options: Any) -> Any:
    model.save(folder / "model.unbend", **options)
    return unbend.load(folder / "model.unbend")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
@pytest.mark.parametrize(
    "rest", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["first of each kind", "rest"]
)
@each("case", CASES)
def test_a_reloaded_model_is_the_same_to_the_last_bit(
    method: Any, rest: bool, case: Case, tmp_path: Path
) -> None:
    if case.method is not method or rest == (case.name in REPRESENTATIVE):
        return
    model = fitted(case)
    again = reloaded(model, tmp_path)
    assert_alike(model.get_params(), again.get_params())
    assert_same_state(model, again)
    assert_same_answers(model, again, case.new)


@EVERY
def test_equal_models_are_equal_files_also_after_a_reload(method: Any, tmp_path: Path) -> None:
    model = method(**given(method)).fit(POINTS)
    again = reloaded(model, tmp_path)
    first = (tmp_path / "model.unbend").read_bytes()
    again.save(tmp_path / "again.unbend")
    assert (tmp_path / "again.unbend").read_bytes() == first


@EVERY
def test_names_of_columns_and_output_are_kept(method: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(POINTS, columns=["x", "Größe", "x & <y>"])
    model = method(**given(method))
    if hasattr(model, "transform"):
        model.set_output(transform="pandas")
    again = reloaded(model.fit(frame), tmp_path)
    assert list(again.feature_names_in_) == list(frame.columns)
    new = pd.DataFrame(NEW, columns=frame.columns)
    if hasattr(model, "transform"):
        pd.testing.assert_frame_equal(model.transform(new), again.transform(new))
        refused(lambda: again.transform(new[["x & <y>", "Größe", "x"]]), "feature names")
    else:
        assert_alike(model.predict(new), again.predict(new))


@EVERY
def test_a_reloaded_model_can_be_fitted_cloned_copied_and_pickled(
    method: Any, tmp_path: Path
) -> None:
    model = reloaded(method(**given(method)).fit(POINTS), tmp_path, about={"n": 1})
    joblib.dump(model, tmp_path / "model.joblib")
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    for other in (*copies, joblib.load(tmp_path / "model.joblib")):
        assert_same_state(model, other)
        assert_same_answers(model, other, NEW)
        assert other.about_ == {"n": 1}
    assert_alike(clone(model).fit(POINTS).embedding_, model.embedding_)
    assert not hasattr(model.fit(POINTS), "about_")


def test_metadata_of_a_model_are_kept_also_when_it_is_saved_again(tmp_path: Path) -> None:
    about = {"columns": ["x", "y"], "label": None, "n": 3, "nested": {"ok": [True, 0.1, "ü"]}}
    again = reloaded(unbend.PCA().fit(POINTS), tmp_path, about=about)
    assert again.about_ == about
    assert reloaded(again, tmp_path).about_ == about
    assert reloaded(again, tmp_path, about={}).about_ == {}
    assert reloaded(unbend.PCA().fit(POINTS), tmp_path).about_ == {}


@pytest.mark.parametrize(
    "about", [[1], {1: 2}, {"x": (1, 2)}, {"x": np.nan}, {"x": np.ones(2)}, {"x": {1}}]
)
def test_metadata_of_a_model_must_be_json(about: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.unbend"
    refused(lambda: unbend.PCA().fit(POINTS).save(path, about=about), "about", "JSON")
    assert not list(tmp_path.iterdir())


def steep(distances: Any) -> Any:
    return np.exp(-distances)


@pytest.mark.parametrize(
    ("method", "parameter", "value"),
    [
        (unbend.Isomap, "metric", lambda a, b: float(np.abs(a - b).max())),
        (unbend.ClassicalMDS, "metric", lambda a, b: float(np.abs(a - b).max())),
        (unbend.KernelPCA, "kernel", lambda a, b: float(a @ b)),
        (unbend.LaplacianEigenmaps, "weights", steep),
        (unbend.SpectralClustering, "weights", steep),
    ],
)
def test_a_function_of_the_user_is_refused_by_name(
    method: Any, parameter: str, value: Any, tmp_path: Path
) -> None:
    model = method(**{parameter: value}).fit(POINTS)
    path = tmp_path / "model.unbend"
    refused(lambda: model.save(path), method.__name__, parameter, "function", "joblib")
    assert not list(tmp_path.iterdir())


def test_values_that_no_file_takes_are_refused(tmp_path: Path) -> None:
    model = unbend.PCA().fit(POINTS)
    for value in (object(), {1: 2}, np.array(["x"]), np.array([1j]), np.array([{}])):
        model.odd_ = value
        refused(lambda: model.save(tmp_path / "model.unbend"), "odd_", "saved")
    del model.odd_
    refused(lambda: unbend.PCA().save(tmp_path / "model.unbend"), "not fitted", error=ValueError)
    refused(lambda: model.save(tmp_path / "m", precision="float16"), "precision", "float32")
    refused(lambda: model.save(tmp_path / "nowhere" / "m"), "folder", error=FileNotFoundError)
    refused(lambda: model.save(tmp_path), "folder", error=IsADirectoryError)
