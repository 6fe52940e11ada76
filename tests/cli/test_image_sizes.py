"""Images of different sizes, and arrays of images and matrices by name, on the command line."""

import json

import numpy as np
import pytest
from PIL import Image

import unbend as library
from tests.cli.program import numbers, sentence, unbend
from unbend.io.images import read_thumbnails

FLAT = ["pca_1", "pca_2"]


@pytest.fixture
def shapes(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "set").mkdir()
    for place in range(20):
        pixels = rng.integers(0, 256, (6 + place % 3, 9), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "set" / f"{place}.png")
    return tmp_path


def test_images_are_brought_to_one_size_and_new_ones_too(shapes):
    words = ("embed", "set", "--method", "pca")
    output = sentence(unbend(*words, cwd=shapes, code=1))
    assert "bring all to one by --size" in output
    unbend(*words, "--size", "8x5", "-o", "flat.csv", "--model", "m.unbend", cwd=shapes)
    images = library.io.read_images(shapes / "set", size=(5, 8))
    model = library.PCA(n_components=2).fit(images.values)
    assert np.array_equal(numbers(shapes / "flat.csv", FLAT).astype("f4"), model.embedding_)
    unbend("transform", "m.unbend", "set", "-o", "new.csv", cwd=shapes)
    found = numbers(shapes / "new.csv", FLAT).astype("f4")
    assert np.array_equal(found, model.transform(images.values))
    output = sentence(unbend("transform", "m.unbend", "set", "--size", "8x5", cwd=shapes, code=2))
    assert "--size is fixed by" in output
    for size in ("8", "0x5", "8x5x3", "8,5"):
        output = sentence(unbend(*words, "--size", size, cwd=shapes, code=2))
        assert "it must be a width and a height in pixels, as 32x24" in output


def test_an_array_of_images_is_named_and_the_page_says_which(shapes, monkeypatch):
    pictures = np.random.default_rng(0).random((40, 6, 9))
    np.savez(shapes / "two.npz", a=pictures, b=pictures[::-1])
    words = ("two.npz", "--as", "images")
    output = sentence(unbend("embed", *words, cwd=shapes, code=1))
    assert "name one by --array" in output
    unbend("embed", *words, "--array", "b", "--method", "pca", "-o", "flat.csv", cwd=shapes)
    flat = library.PCA(n_components=2).fit_transform(pictures[::-1].reshape(40, -1))
    assert np.allclose(numbers(shapes / "flat.csv", FLAT), flat, atol=1e-9)
    unbend("report", *words, "--array", "b", "--size", "5x4", "-o", "page.html", cwd=shapes)
    page = (shapes / "page.html").read_text()
    assert "--array b --size 5x4" in page
    assert "size=(4, 5), array=&#x27;b&#x27;" in page


def test_matrices_are_named(shapes):
    points = np.random.default_rng(0).random((3, 12, 2))
    stack = np.linalg.norm(points[:, :, None] - points[:, None], axis=3)
    np.savez(shapes / "heard.npz", near=stack[:2], far=stack)
    words = ("embed", "heard.npz", "--method", "weighted_mds", "--seed", 0, "--json")
    done = unbend(*words, "--array", "near", "-o", "flat.csv", cwd=shapes)
    assert len(json.loads(done.stdout)["matrices"]) == 2
    assert "no array 'x'" in sentence(unbend(*words, "--array", "x", cwd=shapes, code=1))


def test_images_of_different_sizes_are_laid_on_their_points(shapes):
    words = ("embed", "set", "--size", "8x5", "--method", "pca")
    unbend(*words, "-o", "flat.csv", cwd=shapes)
    unbend("plot", "flat.csv", "--id", "file", "--images", "set", "-o", "with.png", cwd=shapes)
    unbend("plot", "flat.csv", "--id", "file", "-o", "without.png", cwd=shapes)
    assert (shapes / "with.png").read_bytes() != (shapes / "without.png").read_bytes()


def test_images_that_are_drawn_are_small_and_keep_their_proportions(shapes):
    Image.fromarray(np.full((600, 300, 3), 9, dtype=np.uint8)).save(shapes / "set" / "a.png")
    shown = read_thumbnails(shapes / "set")
    assert sorted(image.shape for image in shown)[-1] == (128, 64, 3)
    assert {image.shape for image in shown} == {(6, 9), (7, 9), (8, 9), (128, 64, 3)}
