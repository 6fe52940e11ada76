"""How every method behaves as an estimator: containers, frames, copies, pipelines."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as ScikitPCA
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap as ScikitIsomap
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unbend
from tests.conformance.cases import (
    EVERY,
    JUMPING,
    STRICT,
    assert_same,
    curve,
    fit_curve,
    quietly,
    refused,
)
from tests.loops import each

pytestmark = [STRICT, pytest.mark.filterwarnings("error::UserWarning"), JUMPING]


@each("form", ["fortran", "strided", "reversed", "read-only", "list", "memmap"])
@EVERY
def test_the_layout_of_the_input_does_not_matter(method: type, form: str, tmp_path: Any) -> None:
    points = curve()
    wide = np.zeros((400, 6))
    wide[::2, ::2] = points
    locked = points.copy()
    locked.flags.writeable = False
    np.save(tmp_path / "points.npy", points)
    forms = {
        "fortran": np.asfortranarray(points),
        "strided": wide[::2, ::2],
        "reversed": points[::-1].copy()[::-1],
        "read-only": locked,
        "list": points.tolist(),
        "memmap": np.load(tmp_path / "points.npy", mmap_mode="r"),
    }
    plain, other = fit_curve(method), method().fit(forms[form])
    assert_same(plain.embedding_, other.embedding_)
    assert_same(plain.transform(points + 0.01), other.transform(forms[form] + np.array(0.01)))


@each("dtype", [np.int32, np.int64, np.uint8, np.float16, bool])
@EVERY
def test_other_number_types_are_taken_as_float64(method: type, dtype: type) -> None:
    rows = np.random.default_rng(0).integers(0, 200, (60, 5)).astype(dtype)
    if dtype is bool:
        rows = np.array([[bool(i >> b & 1) for b in range(6)] for i in range(64)])
    found, _ = quietly(lambda: method().fit(rows))
    expected, _ = quietly(lambda: method().fit(rows.astype(np.float64)))
    assert found.embedding_.dtype == np.float64
    assert np.array_equal(found.embedding_, expected.embedding_)


@EVERY
def test_a_frame_keeps_its_index_and_gets_the_names(method: type) -> None:
    frame = pd.DataFrame(curve(), index=[f"row {i}" for i in range(200)], columns=list("xyz"))
    fitted = method(n_components=2).set_output(transform="pandas")
    coordinates = fitted.fit_transform(frame)
    names = [f"{method.__name__.lower()}{i}" for i in range(2)]
    assert list(coordinates.columns) == names == list(fitted.get_feature_names_out())
    assert list(coordinates.index) == list(frame.index)
    placed = fitted.transform(frame.iloc[5:9] + 0.01)
    assert list(placed.columns) == names
    assert list(placed.index) == ["row 5", "row 6", "row 7", "row 8"]
    assert list(fitted.feature_names_in_) == ["x", "y", "z"]
    assert_same(coordinates.to_numpy(), fit_curve(method).embedding_)


@EVERY
def test_renamed_columns_of_a_frame_raise_a_clear_error(method: type) -> None:
    frame = pd.DataFrame(curve(), columns=list("xyz"))
    fitted = method().fit(frame)
    refused(lambda: fitted.transform(frame[["z", "y", "x"]]), "feature names")


@EVERY
def test_a_clone_has_the_parameters_and_gives_the_same_bits(method: type) -> None:
    # Three coordinates of a surface: some methods warn that one is too many.
    original, _ = quietly(lambda: method(n_components=3).fit(curve()))
    copy = clone(original)
    assert copy.get_params() == original.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(curve())
    again, _ = quietly(lambda: copy.fit_transform(curve()))
    assert np.array_equal(again, original.embedding_)


@EVERY
def test_a_pickled_estimator_transforms_new_samples_to_the_same_bits(method: type) -> None:
    fitted = fit_curve(method)
    new = curve(50, seed=9)
    before = fitted.transform(new)
    back = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(back.transform(new), before)
    assert np.array_equal(back.inverse_transform(before), fitted.inverse_transform(before))
    assert str(back.report_) == str(fitted.report_)


@EVERY
def test_fit_transform_is_fit_and_then_the_embedding(method: type) -> None:
    fresh = method()
    assert np.array_equal(fresh.fit_transform(curve()), fit_curve(method).embedding_)
    assert fresh.fit(curve()) is fresh


@EVERY
def test_a_second_fit_forgets_the_first(method: type) -> None:
    used = method().fit(np.hstack([curve(300, seed=5)] * 2)).fit(curve())
    fresh = fit_curve(method)
    assert np.array_equal(used.embedding_, fresh.embedding_)
    assert np.array_equal(used.transform(curve() + 0.01), fresh.transform(curve() + 0.01))
    for model in (used, fresh):
        model._compute_deferred()
    assert set(vars(used)) == set(vars(fresh))


@EVERY
def test_neither_fit_nor_transform_writes_into_its_input(method: type) -> None:
    points, new = curve(), curve(seed=4)
    fitted = method().fit(points)
    coordinates = fitted.transform(new)
    fitted.inverse_transform(coordinates)
    assert np.array_equal(points, curve())
    assert np.array_equal(new, curve(seed=4))


@EVERY
def test_writing_into_the_data_after_the_fit_does_not_change_transform(method: type) -> None:
    points = curve()
    fitted = method().fit(points)
    before = fitted.transform(curve(seed=4))
    points[:] = 0.0
    assert np.array_equal(fitted.transform(curve(seed=4)), before)


@EVERY
def test_writing_into_the_coordinates_does_not_change_transform(method: type) -> None:
    fitted = method().fit(curve())
    before = fitted.transform(curve())
    fitted.embedding_[:] = 0.0
    assert np.array_equal(fitted.transform(curve()), before)


@EVERY
def test_every_method_works_at_the_end_of_a_pipeline(method: type) -> None:
    pipeline = make_pipeline(StandardScaler(), method())
    assert_same(pipeline.fit_transform(curve()), pipeline.transform(curve()), 1e-8)


@pytest.mark.parametrize(
    ("method", "peer"),
    [
        (unbend.PCA(n_components=20), ScikitPCA(20, svd_solver="full")),
        (
            unbend.Isomap(n_components=8, n_neighbors=12),
            ScikitIsomap(n_components=8, n_neighbors=12),
        ),
    ],
)
def test_a_classifier_behind_a_method_errs_as_behind_its_peer(method: Any, peer: Any) -> None:
    """Training data develop the method, the errors on testing data measure it (book 1.5.4)."""
    images, labels = load_digits(n_class=6, return_X_y=True)
    split = train_test_split(images[:600], labels[:600], test_size=0.4, random_state=0)
    train, test, known, truth = split
    found = make_pipeline(method, KNeighborsClassifier(3)).fit(train, known).predict(test)
    expected = make_pipeline(peer, KNeighborsClassifier(3)).fit(train, known).predict(test)
    # Shortest paths and eigenvectors are the same but for rounding.
    assert np.mean(found != expected) <= 0.005
    assert np.mean(found != truth) < 0.05
    name = f"{type(method).__name__.lower()}__n_components"
    search = GridSearchCV(make_pipeline(method, KNeighborsClassifier(3)), {name: [1, 6]}, cv=3)
    assert search.fit(train, known).best_params_ == {name: 6}
