"""Model files kept in the repository load, and answer as on the day they were written."""

import json
from pathlib import Path

import numpy as np
import pytest

import unbend
from tests.storage.keep import KEPT, answers
from unbend.storage.model import VERSION

FILES = sorted(KEPT.glob("*.unbend"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kept_model_answers_as_it_did(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    model = unbend.load(path)
    assert model.about_ == {"kept": path.stem.split("-")[1]}
    assert np.array_equal(model.embedding_, np.array(expected["embedding"]))
    assert model.report_.stage("spectrum").seconds > 0
    found = answers(model, np.array(expected["new"]))
    assert set(found) == set(expected) - {"new", "embedding"}
    for name, values in found.items():
        given = np.array(expected[name])
        # BLAS and LAPACK round in their own ways; nothing else may differ.
        tolerance = 1e-12 if model.embedding_.dtype == np.float64 else 1e-6
        assert np.abs(np.array(values) - given).max() <= tolerance * max(1.0, np.abs(given).max())


def test_kept_files_have_the_current_format_and_are_small() -> None:
    versions = {path.stem.split("-")[0] for path in FILES}
    assert versions == {f"v{VERSION}"}
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < 50_000
