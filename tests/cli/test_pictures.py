"""``unbend pictures`` writes what the library makes, and `embed` reads it."""

import numpy as np
import pytest

from tests.cli.program import numbers, sentence, unbend
from unbend.datasets import PICTURES, turning_object


def test_an_oblong_coloured_grid_is_written_and_embedded(tmp_path):
    words = ("-n", "7x5", "--sampling", "grid", "--fixed-light", "--size", "12x16", "--color")
    unbend("pictures", "turning_object", *words, "-o", "views.npz", cwd=tmp_path)
    views = turning_object((7, 5), size=(16, 12), color=True, light=False, sampling="grid")
    written = np.load(tmp_path / "views.npz")
    assert written["images"].shape == (35, 16, 12, 3)
    np.testing.assert_allclose(written["images"], views.images, atol=1e-7)
    assert np.array_equal(written["chart"], views.chart)
    given = ("views.npz", "--as", "images", "--array", "images", "-m", "pca", "-d", 2)
    unbend("embed", *given, "-o", "flat.csv", cwd=tmp_path)
    assert numbers(tmp_path / "flat.csv", ["pca_1", "pca_2"]).shape == (35, 2)


def test_the_sets_are_listed():
    assert unbend("pictures").stdout.decode().split() == list(PICTURES)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("teapot", "-o", "a.npz"), "choose one of turning_object"),
        (("turning_object",), "give -o FILE.npz"),
        (("turning_object", "-o", "a.csv"), "give -o FILE.npz"),
        (("shifted_pictures", "--shape", "head", "-o", "a.npz"), "has no --shape"),
        (("turning_circle", "--fixed-light", "-o", "a.npz"), "has no --fixed-light"),
        (("turning_object", "-n", "5x", "-o", "a.npz"), "write numbers as in 51x25"),
        (("turning_object", "--size", "5", "-o", "a.npz"), "write numbers as in 75x81"),
        (("turning_object", "-n", "5x5", "-o", "a.npz"), "is a grid and sampling is 'random'"),
    ],
)
def test_misuse_is_answered(words, answer, tmp_path):
    assert answer in sentence(unbend("pictures", *words, cwd=tmp_path, code=2))
