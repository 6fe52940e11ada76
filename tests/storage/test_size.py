"""Files and pickles hold what cannot be computed again, and each array once."""

import io
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.spatial.distance import cityblock

import unbend
from tests.storage.alike import assert_alike
from tests.storage.cases import NEW, POINTS
from unbend.registry import METHODS

ROLL = unbend.datasets.swiss_roll(1200, random_state=0).points


def file_size(model: Any, folder: Path) -> int:
    model.save(folder / "model.unbend")
    return (folder / "model.unbend").stat().st_size


@pytest.fixture(scope="module")
def roll() -> Any:
    return unbend.Isomap(n_neighbors=8).fit(ROLL)


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.class_name)
@pytest.mark.filterwarnings("ignore")
def test_pickles_are_no_larger_than_files_and_answer_alike(entry: Any, tmp_path: Path) -> None:
    model = entry.load()().fit(POINTS)
    size = file_size(model, tmp_path)
    target = io.BytesIO()
    joblib.dump(model, target)
    assert len(target.getvalue()) <= size
    assert len(pickle.dumps(model)) <= size
    again = pickle.loads(pickle.dumps(model))
    assert_alike(again.transform(NEW), model.transform(NEW))


def test_a_model_with_a_function_is_pickled_as_it_is_without_its_geodesics() -> None:
    model = unbend.Isomap(metric=cityblock).fit(ROLL[:300])
    with pytest.raises(TypeError, match="its metric is a function"):
        model.save("never")
    pickled = pickle.dumps(model)
    assert len(pickled) < model.geodesics_.nbytes
    again = pickle.loads(pickled)
    assert again.geodesics_.tobytes() == model.geodesics_.tobytes()
    assert again.transform(NEW).tobytes() == model.transform(NEW).tobytes()


def test_isomap_holds_nothing_that_grows_with_the_square(roll: Any, tmp_path: Path) -> None:
    half = unbend.Isomap(n_neighbors=8).fit(ROLL[::2])
    sizes = [file_size(model, tmp_path) for model in (half, roll)]
    assert sizes[1] < 2.1 * sizes[0]
    assert sizes[1] < roll.geodesics_.nbytes / 5
    assert len(pickle.dumps(roll)) <= sizes[1]


@pytest.mark.parametrize("count", [1, 5, 400])
def test_a_reloaded_isomap_places_new_samples_to_the_last_bit(
    roll: Any, count: int, tmp_path: Path
) -> None:
    """From few neighbours some geodesics are computed, from many all: the same bits."""
    roll.save(tmp_path / "roll.unbend")
    new = unbend.datasets.swiss_roll(count, random_state=1).points
    for again in (unbend.load(tmp_path / "roll.unbend"), pickle.loads(pickle.dumps(roll))):
        computed = "matrix" in vars(again._paths)
        assert not computed
        assert again.transform(new).tobytes() == roll.transform(new).tobytes()
        assert ("matrix" in vars(again._paths)) == (count == 400)
        assert np.array_equal(again.transform(ROLL[:9]), roll.embedding_[:9])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"repair": "additive_constant"},
        {"connect": "components"},
        {"precision": "single"},
        {"eigen_solver": unbend.Nystrom(40)},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
@pytest.mark.filterwarnings("ignore")
def test_what_follows_from_geodesics_is_there_after_loading(
    options: dict[str, Any], tmp_path: Path
) -> None:
    rows = np.concatenate((POINTS, POINTS[:30] + 40.0))
    model = unbend.Isomap(**options).fit(rows)
    model.save(tmp_path / "model.unbend")
    again = unbend.load(tmp_path / "model.unbend")
    assert again.geodesics_.tobytes() == model.geodesics_.tobytes()
    assert again.geodesics_.dtype == model.geodesics_.dtype
    assert again.negative_share_ == model.negative_share_
    assert np.array_equal(again.residual_variance_, model.residual_variance_)
    assert np.array_equal(again.transform(rows + 0.01), model.transform(rows + 0.01))
