"""Files without training data, and in single precision."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unbend
from tests.conformance.cases import CLASSES, curve, over, refused
from tests.storage.alike import assert_alike
from tests.storage.cases import EVERYONE, NEW, POINTS, given
from tests.storage.test_reload import reloaded
from unbend.estimators.embedding import TrainingLeftOut
from unbend.storage.model import VERSION

EVERY = over(EVERYONE)
EVERY_EMBEDDING = over(CLASSES)
FREE = (unbend.PCA, unbend.RandomProjection)


def bytes_of_arrays(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    return sum(size for name, size in sizes.items() if name != "model.json")


@EVERY
def test_without_training_data_the_embedding_stays_and_the_rows_go(
    method: Any, tmp_path: Path
) -> None:
    rows, width = curve(300), 0
    model = method(**given(method)).fit(rows)
    path = tmp_path / "model.unbend"
    again = reloaded(model, tmp_path, training=False)
    assert_alike(model.embedding_, again.embedding_)
    assert_alike(model.get_params(), again.get_params())
    assert str(model.report_) == str(again.report_)
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_") and name not in method.of_training:
            assert_alike(value, getattr(again, name))
            width += value.nbytes if isinstance(value, np.ndarray) else 0
    # Public attributes, the headers of their arrays, and what a linear map takes.
    assert bytes_of_arrays(path) < width + 3000
    for array in arrays(path):
        assert not np.array_equal(array, rows)


def arrays(path: Path) -> list[Any]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return [np.load(archive.open(name), allow_pickle=False) for name in names]


@EVERY
def test_without_training_data_only_linear_methods_transform_new_samples(
    method: Any, tmp_path: Path
) -> None:
    model = method(**given(method)).fit(POINTS)
    again = reloaded(model, tmp_path, training=False)
    place = "predict" if hasattr(model, "predict") else "transform"
    if method in FREE:
        assert_alike(model.transform(NEW), again.transform(NEW))
        assert_alike(
            model.inverse_transform(model.embedding_), again.inverse_transform(model.embedding_)
        )
        return
    refused(lambda: getattr(again, place)(NEW), method.__name__, "training data", error=ValueError)
    # Saved once more it still lacks them, and says so; fitted anew it is whole.
    once_more = reloaded(again, tmp_path)
    refused(lambda: getattr(once_more, place)(NEW), "training=True", error=TrainingLeftOut)
    assert_alike(getattr(once_more.fit(POINTS), place)(NEW), getattr(model, place)(NEW))


def test_an_inverse_transform_that_needs_no_rows_stays(tmp_path: Path) -> None:
    model = unbend.ClassicalMDS().fit(POINTS)
    again = reloaded(model, tmp_path, training=False)
    assert_alike(
        model.inverse_transform(model.embedding_), again.inverse_transform(model.embedding_)
    )
    curved = reloaded(unbend.Isomap().fit(POINTS), tmp_path, training=False)
    refused(lambda: curved.inverse_transform(curved.embedding_), "training data")


@pytest.mark.parametrize("name", ["geodesics_", "negative_share_", "residual_variance_"])
def test_attributes_made_of_training_data_say_where_they_are(name: str, tmp_path: Path) -> None:
    again = reloaded(unbend.Isomap().fit(POINTS), tmp_path, training=False)
    assert not hasattr(again, name)
    refused(lambda: getattr(again, name), "Isomap", "training=True", error=AttributeError)
    assert hasattr(reloaded(unbend.Isomap().fit(POINTS), tmp_path), name)


@EVERY_EMBEDDING
def test_single_precision_halves_the_numbers_and_keeps_their_digits(
    method: Any, tmp_path: Path
) -> None:
    model = method().fit(POINTS)
    whole = reloaded(model, tmp_path)
    size = bytes_of_arrays(tmp_path / "model.unbend")
    again = reloaded(model, tmp_path, precision="float32")
    assert bytes_of_arrays(tmp_path / "model.unbend") < size
    assert not [a for a in arrays(tmp_path / "model.unbend") if a.dtype == np.float64]
    assert again.embedding_.dtype == whole.embedding_.dtype == np.float64
    scale = float(np.abs(model.embedding_).max())
    assert np.abs(again.transform(NEW) - model.transform(NEW)).max() < 1e-6 * scale
    # Fitted rows are recognised, though they were rounded: Laplacian coordinates would jump.
    assert np.abs(again.transform(POINTS) - model.embedding_).max() < 1e-6 * scale
    # The ways back solve systems with a ridge of 1e-3.
    back = again.inverse_transform(model.embedding_[:9] * 0.99)
    expected = model.inverse_transform(model.embedding_[:9] * 0.99)
    assert np.abs(back - expected).max() < 1e-4 * float(np.abs(POINTS).max())


def test_clusters_are_the_same_in_single_precision(tmp_path: Path) -> None:
    model = unbend.SpectralClustering(n_clusters=3).fit(POINTS)
    again = reloaded(model, tmp_path, precision="float32")
    assert_alike(model.predict(POINTS), again.predict(POINTS))
    assert_alike(model.predict(NEW), again.predict(NEW))


@pytest.mark.parametrize("factor", [1e50, 1e-40])
def test_numbers_that_leave_single_precision_are_refused(factor: float, tmp_path: Path) -> None:
    model = unbend.PCA().fit(POINTS * factor)
    path = tmp_path / "model.unbend"
    refused(lambda: model.save(path, precision="float32"), "single precision")
    model.save(path)
    assert_alike(unbend.load(path).transform(NEW * factor), model.transform(NEW * factor))


def test_a_file_can_be_read_without_the_library(tmp_path: Path) -> None:
    model = unbend.LTSA(n_neighbors=8).fit(POINTS)
    model.save(tmp_path / "model.unbend", about={"label": "kind"})
    with zipfile.ZipFile(tmp_path / "model.unbend") as archive:
        assert archive.testzip() is None
        document = json.loads(archive.read("model.json"))
        number = document["state"]["embedding_"]["array"]
        embedding = np.load(archive.open(f"arrays/{number}.npy"), allow_pickle=False)
    assert (document["format"], document["version"]) == ("unbend", VERSION)
    assert document["class"] == "LTSA"
    assert document["parameters"]["n_neighbors"] == 8
    assert document["about"] == {"label": "kind"}
    assert np.array_equal(embedding, model.embedding_)


def test_an_interrupted_save_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.unbend"
    model = unbend.PCA().fit(POINTS)
    model.save(path)
    os.chmod(path, 0o640)
    before = path.read_bytes()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("unbend.storage.archive.write_array", interrupt)
        with pytest.raises(KeyboardInterrupt):
            unbend.PCA(n_components=1).fit(POINTS).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    link = tmp_path / "link.unbend"
    link.symlink_to(path)
    unbend.PCA(n_components=1).fit(POINTS).save(link)
    assert link.is_symlink()
    assert unbend.load(path).n_components == 1
    assert path.stat().st_mode & 0o777 == 0o640
