"""Spectral cubes on the command line: pixels or bands in, tables or images out."""

import json

import numpy as np
import pytest
from astropy.io import fits
from PIL import Image

import unbend as library
from tests.cli.program import numbers, sentence, table_of, unbend

FLAT = ["pca_1", "pca_2", "pca_3"]
PCA = ("--method", "pca", "-d", 3)


@pytest.fixture
def scene(tmp_path):
    """Make scene.hdr, a cube in which one pixel has no number, and scene.fits, its numbers."""
    rng = np.random.default_rng(0)
    image = rng.random((6, 7, 9)).cumsum(axis=2)
    image[0, 0] = np.nan
    library.io.write_cube(tmp_path / "scene.hdr", image, wavelengths=np.linspace(400, 960, 9))
    fits.PrimaryHDU(image.transpose(2, 0, 1)).writeto(tmp_path / "scene.fits")
    return tmp_path


def expected(scene, name="scene.hdr"):
    cube = library.io.read_cube(scene / name)
    return cube, library.PCA(n_components=3).fit_transform(cube.pixels().values)


@pytest.mark.parametrize("name", ["scene.hdr", "scene.img", "scene.fits"])
def test_pixels_are_embedded_as_the_library_does_and_named_by_their_places(scene, name):
    unbend("embed", name, *PCA, "-o", "flat.csv", cwd=scene)
    header, rows = table_of(scene / "flat.csv")
    assert header == ["pixel", *FLAT]
    assert [rows[0][0], rows[6][0], rows[-1][0]] == ["y0x1", "y1x0", "y5x6"]
    assert np.array_equal(numbers(scene / "flat.csv", FLAT), expected(scene, name)[1])


def test_results_are_written_back_as_an_image_in_envi_and_png(scene):
    unbend("embed", "scene.hdr", *PCA, "-o", "flat.hdr", cwd=scene)
    unbend("embed", "scene.hdr", *PCA, "-o", "flat.png", cwd=scene)
    cube, flat = expected(scene)
    written = library.io.read_cube(scene / "flat.hdr")
    assert written.names == tuple(FLAT)
    assert np.array_equal(written.data, cube.image(flat), equal_nan=True)
    library.io.write_cube(scene / "own.png", cube.image(flat))
    ours, own = (np.asarray(Image.open(scene / name)) for name in ("flat.png", "own.png"))
    assert np.array_equal(ours, own)
    assert ours[0, 0, 3] == 0
    assert {path.name for path in scene.iterdir()} == {
        *("scene.hdr", "scene.img", "scene.fits"),
        *("flat.hdr", "flat.img", "flat.png", "own.png"),
    }


def test_a_picture_of_pixels_shows_each_coordinate_as_an_image(scene):
    unbend("embed", "scene.hdr", *PCA, "--plot", "features.svg", "-o", "flat.csv", cwd=scene)
    drawn = (scene / "features.svg").read_text()
    assert all(f"<!-- PCA {number} -->" in drawn for number in (1, 2, 3))
    assert drawn.count("<image ") == 3
    unbend("embed", "scene.hdr", "--bands", *PCA, "--plot", "bands.svg", cwd=scene)
    assert "<image " not in (scene / "bands.svg").read_text()


def test_bands_are_rows_where_they_are_asked_for(scene):
    unbend(
        "embed", "scene.hdr", "--bands", *PCA, "-o", "flat.csv", "--model", "m.unbend", cwd=scene
    )
    table = library.io.read_cube(scene / "scene.hdr").bands()
    assert table_of(scene / "flat.csv")[0] == ["wavelength", *FLAT]
    model = library.PCA(n_components=3).fit(table.values)
    assert np.array_equal(numbers(scene / "flat.csv", FLAT), model.embedding_)
    unbend("transform", "m.unbend", "scene.hdr", "-o", "again.csv", cwd=scene)
    assert np.array_equal(numbers(scene / "again.csv", FLAT), model.transform(table.values))
    words = ("embed", "scene.hdr", "--bands", *PCA, "-o", "flat.hdr")
    assert "flat.hdr does not end in" in sentence(unbend(*words, cwd=scene, code=2))


def test_batches_give_the_same_pixels(scene):
    unbend("embed", "scene.hdr", *PCA, "--batches", 5, "-o", "flat.hdr", cwd=scene)
    cube, flat = expected(scene)
    written = library.io.read_cube(scene / "flat.hdr").data
    assert np.allclose(written, cube.image(flat), rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("batches", [100_000, 5])
def test_pixels_of_another_scene_are_placed_and_written_as_an_image(scene, batches):
    unbend("embed", "scene.hdr", *PCA, "--model", "m.unbend", cwd=scene)
    rng = np.random.default_rng(1)
    image = rng.random((4, 5, 9)).cumsum(axis=2)
    library.io.write_cube(scene / "new.hdr", image, wavelengths=np.linspace(400, 960, 9))
    words = ("transform", "m.unbend", "new.hdr", "--batches", batches)
    unbend(*words, "-o", "placed.hdr", cwd=scene)
    unbend(*words, "-o", "placed.csv", cwd=scene)
    model = library.PCA(n_components=3).fit(expected(scene)[0].pixels().values)
    placed = model.transform(image.reshape(20, 9))
    written = library.io.read_cube(scene / "placed.hdr").data.reshape(20, 3)
    assert np.allclose(written, placed, rtol=0, atol=1e-12)
    assert table_of(scene / "placed.csv")[0] == ["pixel", *FLAT]
    assert np.allclose(numbers(scene / "placed.csv", FLAT), placed, rtol=0, atol=1e-12)


def test_other_bands_than_the_fitted_ones_are_refused_or_left_out(scene):
    unbend("embed", "scene.hdr", "--ignore", "400", *PCA, "--model", "m.unbend", cwd=scene)
    output = sentence(unbend("transform", "m.unbend", "scene.fits", cwd=scene, code=1))
    assert "features" in output or "column" in output
    unbend("transform", "m.unbend", "scene.hdr", "--ignore", "400", "-o", "p.csv", cwd=scene)
    rows = library.io.read_cube(scene / "scene.hdr").pixels().values[:, 1:]
    expected = library.PCA(n_components=3).fit_transform(rows)
    assert np.allclose(numbers(scene / "p.csv", FLAT), expected, rtol=0, atol=1e-9)


def test_a_result_never_takes_the_place_of_the_header_or_the_data(scene):
    before = (scene / "scene.img").read_bytes()
    for target in ("scene.hdr", "scene.img"):
        for source in ("scene.hdr", "scene.img"):
            words = ("embed", source, *PCA, "-o", target)
            assert "would be overwritten" in sentence(unbend(*words, cwd=scene, code=2))
    assert (scene / "scene.img").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--method", "pca", "-o", "flat.png"], "would have 2 bands and a picture has 1 or 3"),
        (["--missing", "drop"], "--missing is for tables, and scene.hdr is read as a cube"),
        (["--label", "kind"], "--label kind is not there"),
        (["--stem"], "--stem is for texts"),
    ],
)
def test_what_a_cube_does_not_have_is_refused(scene, words, part):
    assert part in sentence(unbend("embed", "scene.hdr", *words, cwd=scene, code=2))


def test_data_and_parts_that_lie_elsewhere_are_named(scene):
    (scene / "scene.img").rename(scene / "numbers.raw")
    output = sentence(unbend("embed", "scene.hdr", *PCA, cwd=scene, code=1))
    assert "--envi-data" in output
    words = ("--envi-data", "numbers.raw", "-o", "flat.csv")
    unbend("embed", "scene.hdr", *PCA, *words, cwd=scene)
    assert len(table_of(scene / "flat.csv")[1]) == 41
    unbend("embed", "scene.fits", *PCA, "--fits-part", 0, "-o", "again.csv", cwd=scene)
    assert (scene / "again.csv").read_text() == (scene / "flat.csv").read_text()
    output = sentence(unbend("embed", "scene.fits", *PCA, "--fits-part", 4, cwd=scene, code=1))
    assert "scene.fits" in output


def test_quality_reads_the_cube_and_the_page_describes_pixels(scene):
    unbend("embed", "scene.hdr", *PCA, "-o", "flat.csv", cwd=scene)
    output = json.loads(unbend("quality", "scene.hdr", "flat.csv", "--json", cwd=scene).stdout)
    cube, flat = expected(scene)
    found = library.quality.trustworthiness(cube.pixels().values, flat, n_neighbors=5)
    assert output["trustworthiness"] == pytest.approx(float(found))
    unbend("report", "scene.hdr", "-o", "page.html", cwd=scene)
    assert "41 pixels, 9 bands" in (scene / "page.html").read_text()
