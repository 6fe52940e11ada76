"""Every estimator fits, embeds new samples and survives a file on this installation."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unbend
from tests.conformance.cases import CLASSES, curve
from unbend import _kernels
from unbend.arrays import FloatArray, IntArray
from unbend.storage import classes

ESTIMATORS = [*CLASSES, unbend.SpectralClustering]


def test_compiled_kernels_are_used_unless_the_environment_says_otherwise() -> None:
    assert os.environ.get("UNBEND_KERNELS", "native") == _kernels.name


@pytest.mark.parametrize("method", ESTIMATORS, ids=lambda method: method.__name__)
def test_models_reload_from_files_and_pickles_with_the_same_bits(
    method: Any, tmp_path: Path
) -> None:
    options = {"n_clusters": 3} if method is unbend.SpectralClustering else {}
    # Two classes, of which supervised methods need some.
    model = method(**options).fit(curve(90), np.arange(90) % 2)
    new = curve(30, seed=1)
    answer = model.transform(new) if hasattr(model, "transform") else model.predict(new)
    model.save(tmp_path / "model.unbend")
    for again in (unbend.load(tmp_path / "model.unbend"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.embedding_, model.embedding_)
        repeated = again.transform(new) if hasattr(again, "transform") else again.predict(new)
        assert np.array_equal(repeated, answer)


@pytest.mark.parametrize("name", classes.VALUES)
def test_every_declared_field_type_can_be_checked_when_a_model_is_loaded(name: str) -> None:
    """NumPy 2.5 changed what `NDArray[...]` is, and no model could be loaded any more."""
    for hint in classes.get_type_hints(classes.value_class(name)).values():
        fits_nothing, accepts_anything = classes.fits(object(), hint), hint is Any
        assert fits_nothing == accepts_anything, hint


def test_array_types_are_distinguished() -> None:
    integers, floats = np.arange(3), np.arange(3.0)
    assert classes.fits(floats, FloatArray)
    assert classes.fits(integers, IntArray | None)
    assert classes.fits(None, IntArray | None)
    assert not classes.fits(integers, FloatArray)
    assert not classes.fits(floats, IntArray | None)
    assert not classes.fits([1.0], FloatArray)


def test_the_chart_of_a_swiss_roll_is_recovered() -> None:
    roll = unbend.datasets.swiss_roll(1000, random_state=0)
    for method, kind in ((unbend.Isomap, "similarity"), (unbend.LTSA, "affine")):
        embedding = method(n_neighbors=8).fit_transform(roll.points)
        assert unbend.quality.procrustes(roll.chart, embedding, kind=kind) < 0.01
