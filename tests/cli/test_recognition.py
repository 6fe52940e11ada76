"""``unbend recognize`` and ``identify`` answer as the library does, for images and tables."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import unbend as library
from tests.cli.program import sentence, unbend
from unbend.datasets import turning_object


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Make folders: of six people, of two others, and of noise; a person is a blend of parts."""
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(0)
    views = turning_object(40, size=16, random_state=0).images
    parts = rng.normal(size=(8, 16, 16))
    for number in range(8):
        name = folder / ("train" if number < 6 else "strangers") / f"person {number}"
        (folder / "test" / name.name).mkdir(parents=True, exist_ok=True)
        name.mkdir(parents=True)
        for place, view in enumerate(views[5 * number : 5 * number + 5]):
            image = 128 + 30 * parts[number] + 20 * view + 3 * rng.normal(size=(16, 16))
            where = folder / "test" / name.name if place == 4 and number < 6 else name
            Image.fromarray(image.clip(0, 255).astype(np.uint8)).save(where / f"{place}.png")
    (folder / "noise").mkdir()
    noise = rng.integers(0, 255, (16, 16), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "noise" / "one.png")
    return folder


def test_people_are_identified_by_their_folders(people):
    words = ("--false-acceptance", 0.2, "--model", "p.unbend", "--json")
    facts = json.loads(unbend("recognize", "train", *words, cwd=people).stdout)
    train = library.io.read_images(people / "train")
    model = library.SubspaceRecognizer(false_acceptance=0.2)
    model.fit(train.values, train.table.label.astype(str))
    assert (facts["rows"], facts["classes"]) == (24 + 0, 6)
    assert facts["example_threshold"] == model.example_threshold_
    unbend("identify", "p.unbend", "test", "-o", "who.csv", cwd=people)
    test = library.io.read_images(people / "test", like=train)
    found, written = model.identify(test.values), pd.read_csv(people / "who.csv").fillna("")
    assert list(written.columns) == [
        "file", "subspace_distance", "example_distance", "folder", "status", "identity",
    ]  # fmt: skip
    assert written["status"].tolist() == found.status.tolist()
    assert written["identity"].tolist() == [label or "" for label in found.label]
    assert written["example_distance"].tolist() == found.example_distance.tolist()
    known = written["status"] == "known"
    assert known.mean() > 0.5
    assert (written["identity"] == written["folder"])[known].all()


def test_strangers_and_noise_are_counted(people):
    unbend("recognize", "train", "--model", "q.unbend", cwd=people)
    facts = json.loads(unbend("identify", "q.unbend", "strangers", "--json", cwd=people).stdout)
    assert facts["known"] == 0
    assert facts["new"] + facts["not_of_this_kind"] == 10
    facts = json.loads(unbend("identify", "q.unbend", "noise", "--json", cwd=people).stdout)
    assert facts["not_of_this_kind"] == 1


def test_tables_are_standardized_as_at_the_fit(folder):
    words = ("--label", "kind", "--id", "row", "--false-acceptance", 0.3, "--model", "m.unbend")
    unbend("recognize", "roll.csv", *words, cwd=folder)
    unbend("identify", "m.unbend", "roll.csv", "--label", "kind", "-o", "who.npz", cwd=folder)
    written = np.load(folder / "who.npz")
    known = written["status"] == "known"
    assert known.any()
    assert np.array_equal(written["identity"][known], written["kind"][known])


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("recognize", "roll.csv", "--label", "kind"), "--model is missing"),
        (("recognize", "roll.csv", "--ignore", "row,kind", "--model", "m.unbend"), "--label"),
        (("identify", "flat.unbend", "roll.csv"), "holds a PCA"),
        (("transform", "who.unbend", "roll.csv"), "use unbend identify who.unbend"),
    ],
)
def test_misuse_is_answered(folder, words, answer):
    unbend(
        "recognize", "roll.csv", "-l", "kind", "--id", "row", "--model", "who.unbend", cwd=folder
    )
    rest = ("--ignore", "row,kind", "-m", "pca", "--model", "flat.unbend")
    unbend("embed", "roll.csv", *rest, cwd=folder)
    assert answer in sentence(unbend(*words, cwd=folder, code=2))
