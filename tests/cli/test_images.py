"""A folder of images on the command line: embedded, placed, measured and reported."""

import json

import numpy as np
import pytest
from PIL import Image

import unbend as library
from tests.cli.program import numbers, sentence, table_of, unbend

FLAT = ["isomap_1", "isomap_2"]


@pytest.fixture
def shapes(tmp_path):
    """Make two folders of grey images: bars that wander across, and down."""
    rng = np.random.default_rng(0)
    for place in range(20):
        for name, bar in (("down", np.s_[:, place // 4]), ("across", np.s_[place // 4])):
            image = rng.integers(0, 60, (6, 7), dtype=np.uint8)
            image[bar] += 150
            (tmp_path / "shapes" / name).mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(tmp_path / "shapes" / name / f"{place}.png")
    return tmp_path


def test_a_folder_of_images_is_embedded_as_the_library_does(shapes):
    unbend("embed", "shapes", "-o", "flat.csv", cwd=shapes)
    images = library.io.read_images(shapes / "shapes")
    header, rows = table_of(shapes / "flat.csv")
    assert header == ["file", *FLAT, "folder"]
    assert [row[0] for row in rows] == images.table.ids.tolist()
    assert [row[3] for row in rows] == images.table.label.tolist()
    found = numbers(shapes / "flat.csv", FLAT).astype(np.float32)
    assert np.array_equal(found, library.Isomap().fit_transform(images.values))


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--color"], {"color": True}),
        (["--invert"], {"invert": True}),
        (["--gray", "--no-invert"], {"color": False, "invert": False}),
    ],
)
def test_colours_and_inversion_reach_the_reader(shapes, words, options):
    unbend("embed", "shapes", *words, "--method", "pca", "-o", "flat.csv", cwd=shapes)
    images = library.io.read_images(shapes / "shapes", **options)
    found = numbers(shapes / "flat.csv", ["pca_1", "pca_2"]).astype(np.float32)
    assert np.array_equal(found, library.PCA(n_components=2).fit_transform(images.values))


def test_new_images_are_inverted_as_the_fitted_ones_were(shapes):
    unbend("embed", "shapes", "--invert", "--model", "m.unbend", cwd=shapes)
    (shapes / "new").mkdir()
    Image.fromarray(np.full((6, 7), 40, dtype=np.uint8)).save(shapes / "new" / "one.png")
    unbend("transform", "m.unbend", "new", "-o", "new.csv", cwd=shapes)
    before = library.io.read_images(shapes / "shapes", invert=True)
    model = library.Isomap().fit(before.values)
    new = library.io.read_images(shapes / "new", like=before)
    found = numbers(shapes / "new.csv", FLAT).astype(np.float32)
    assert np.array_equal(found, model.transform(new.values))
    output = json.loads(unbend("info", "m.unbend", "--json", cwd=shapes).stdout)
    assert output["data"]["size"] == [6, 7]


def test_new_images_of_another_size_or_kind_are_refused(shapes):
    unbend("embed", "shapes", "--model", "m.unbend", cwd=shapes)
    (shapes / "new").mkdir()
    Image.fromarray(np.zeros((5, 5), dtype=np.uint8)).save(shapes / "new" / "one.png")
    output = sentence(unbend("transform", "m.unbend", "new", cwd=shapes, code=1))
    assert "new images are 5 x 5 and those before are 7 x 6" in output
    output = sentence(unbend("transform", "m.unbend", "shapes", "--invert", cwd=shapes, code=2))
    assert "--invert is fixed by m.unbend" in output
    (shapes / "words").mkdir()
    (shapes / "words" / "a.txt").write_text("word")
    output = sentence(unbend("transform", "m.unbend", "words", cwd=shapes, code=1))
    assert "fitted to images, and words is read as texts" in output


def test_an_array_of_images_is_read_where_it_is_said_to_be_one(shapes):
    images = library.io.read_images(shapes / "shapes")
    np.save(shapes / "images.npy", images.pictures)
    assert "3 dimensions" in sentence(unbend("embed", "images.npy", cwd=shapes, code=1))
    unbend("embed", "images.npy", "--as", "images", "-o", "flat.csv", cwd=shapes)
    found = numbers(shapes / "flat.csv", FLAT).astype(np.float32)
    assert np.array_equal(found, library.Isomap().fit_transform(images.values))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--stem"], "--stem is for texts, and shapes is read as images"),
        (["--bands"], "--bands is for cubes"),
        (["--missing", "drop"], "--missing is for tables"),
        (["--ignore", "y0x0"], "--ignore is for tables"),
        (
            ["--label", "kind"],
            "--label kind is not there: shapes is read as images and has 'folder'",
        ),
        (["--as", "photos"], "--as photos is not allowed"),
        (["--method", "pca", "--batches", "5"], "--batches is for tables and pixels"),
    ],
)
def test_options_of_other_data_are_refused_and_not_ignored(shapes, words, part):
    assert part in sentence(unbend("embed", "shapes", *words, cwd=shapes, code=2))


def test_quality_and_comparison_know_the_folders_for_classes(shapes):
    unbend("embed", "shapes", "-o", "flat.csv", cwd=shapes)
    words = ("shapes", "flat.csv", "--label", "folder", "--json")
    output = json.loads(unbend("quality", *words, cwd=shapes).stdout)
    images = library.io.read_images(shapes / "shapes")
    flat = numbers(shapes / "flat.csv", FLAT)
    expected = library.quality.trustworthiness(images.values, flat, n_neighbors=5)
    assert output["trustworthiness"] == pytest.approx(float(expected), rel=1e-6)
    hit = library.quality.neighborhood_hit(images.values, images.table.label, n_neighbors=5)
    assert output["neighborhood_hit_data"] == pytest.approx(float(hit))
    output = json.loads(
        unbend("compare", "shapes", "--methods", "pca", "--json", cwd=shapes).stdout
    )
    assert 0 < output["trials"][0]["neighborhood_hit"] <= 1


def test_the_page_shows_images_and_its_code_gives_its_numbers(shapes, monkeypatch):
    done = unbend("report", "shapes", "--gray", "-o", "page.html", "--json", cwd=shapes)
    page = (shapes / "page.html").read_text()
    assert "40 images, 7 x 6 pixels, labelled by &#x27;folder&#x27;" in page
    assert "the mean of all images" in page
    assert "unbend compare shapes --gray --sample 2000" in page
    monkeypatch.chdir(shapes)
    code = page.split("<pre class='python'>")[1].split("</pre>")[0].replace("&#x27;", "'")
    names = {}
    exec(code.rsplit("\n", 1)[0], names)
    output = json.loads(done.stdout)
    for trial in names["compared"].trials:
        assert trial.measures == pytest.approx(output["measures"][trial.title])
    assert names["dimension"].dimension == output["dimension"]


def test_images_are_laid_on_their_points(shapes):
    unbend("embed", "shapes", "-o", "flat.csv", cwd=shapes)
    words = ("plot", "flat.csv", "--id", "file", "--label", "folder")
    unbend(*words, "--images", "shapes", "-o", "with.png", cwd=shapes)
    unbend(*words, "-o", "without.png", cwd=shapes)
    assert (shapes / "with.png").read_bytes() != (shapes / "without.png").read_bytes()
    output = unbend(*words, "--images", "shapes", "-o", "page.html", cwd=shapes, code=2)
    assert "no page" in sentence(output)


def test_a_folder_is_what_most_of_its_files_are(shapes):
    for number in range(3):
        (shapes / "shapes" / f"about{number}.txt").write_text("what these are")
    unbend("embed", "shapes", "-o", "flat.csv", cwd=shapes)
    assert len(table_of(shapes / "flat.csv")[1]) == 40
    (shapes / "empty").mkdir()
    assert "holds no files" in sentence(unbend("embed", "empty", cwd=shapes, code=1))
