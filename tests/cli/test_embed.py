"""``unbend embed``: the numbers of the library, in the files that were asked for."""

import json

import numpy as np
import pytest

import unbend as library
from tests.cli.program import numbers, sentence, table_of, unbend
from unbend.registry import METHODS

ASIDE = ("--label", "kind", "--id", "row")


def test_one_command_writes_coordinates_a_model_and_a_picture(folder, roll, kinds):
    unbend(
        *("embed", "roll.csv", "--method", "isomap", *ASIDE, "--n-neighbors", 8),
        *("-o", "flat.csv", "--model", "roll.unbend", "--plot", "flat.png"),
        cwd=folder,
    )
    header, rows = table_of(folder / "flat.csv")
    assert header == ["row", "isomap_1", "isomap_2", "kind"]
    assert [row[0] for row in rows] == [f"r{number}" for number in range(300)]
    assert [row[3] for row in rows] == kinds.tolist()
    expected = library.Isomap(n_neighbors=8).fit(roll.points)
    found = numbers(folder / "flat.csv", ["isomap_1", "isomap_2"])
    assert np.array_equal(found, expected.embedding_)
    model = library.load(folder / "roll.unbend")
    assert np.array_equal(model.transform(roll.points[:9]), expected.transform(roll.points[:9]))
    assert (folder / "flat.png").read_bytes().startswith(b"\x89PNG")
    names = {"roll.csv", "flat.csv", "roll.unbend", "flat.png"}
    assert {file.name for file in folder.iterdir()} == names


def test_denoising_that_was_asked_for_is_reported_with_the_reason_if_it_declined(folder):
    noisy = ("surface", "swiss_roll", "-n", 1200, "--noise", 0.4, "--seed", 1, "-o", "noisy.csv")
    unbend(*noisy, cwd=folder)
    words = ("embed", "noisy.csv", "--method", "ltsa", "--ignore", "chart_1,chart_2", "--json")
    done = unbend(*words, "--denoise", "auto", cwd=folder)
    stages = json.loads(done.stdout)["report"]["stages"]
    facts = next(stage["facts"] for stage in stages if stage["name"] == "denoise")
    told = f"Denoised: {facts['landmarks']} landmarks, noise {facts['noise']:.3g}"
    assert told in done.stderr.decode()
    assert "enoised" not in unbend(*words, "--n-neighbors", 25, cwd=folder).stderr.decode()
    clean = ("embed", "roll.csv", "--method", "ltsa", *ASIDE, "-o", "flat.csv")
    done = unbend(*clean, "--denoise", "auto", cwd=folder)
    assert "Not denoised: noise is narrow against neighbourhoods." in done.stderr.decode()
    lost = unbend(*words, cwd=folder)
    assert "Increase n_neighbors, give --denoise auto, or lower" in lost.stderr.decode()


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.name)
def test_every_method_gives_the_coordinates_of_the_library(entry, folder, roll, kinds):
    done = unbend("embed", "roll.csv", "--method", entry.name, *ASIDE, "-o", "flat.csv", cwd=folder)
    assert done.stdout == b""
    columns = [f"{entry.name}_1", f"{entry.name}_2"]
    expected = entry.load()().fit_transform(roll.points, kinds)
    assert np.array_equal(numbers(folder / "flat.csv", columns), expected)


def test_parameters_are_read_as_the_method_declares_them(folder, roll):
    done = unbend(
        *("embed", "roll.csv", "--method", "laplacian-eigenmaps", *ASIDE, "-d", 3, "--json"),
        *("--n-neighbors", "12", "--weights", "heat", "--t", "2.5", "--metric", "minkowski"),
        *("--metric-params", '{"p": 3}', "--radius", "none", "--seed", "4", "--jobs", "1"),
        cwd=folder,
    )
    output = json.loads(done.stdout)
    expected = {"n_components": 3, "n_neighbors": 12, "weights": "heat", "t": 2.5, "n_jobs": 1}
    expected |= {"metric": "minkowski", "metric_params": {"p": 3}, "radius": None}
    assert output["parameters"].items() >= {**expected, "random_state": 4}.items()
    assert (output["method"], output["rows"], output["components"]) == (
        "laplacian_eigenmaps",
        300,
        3,
    )
    assert output["report"]["stages"][0]["name"] == "neighbors"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("--method", "pca", "--n-neighbors", 3), "pca has no --n-neighbors: it has --components"),
        (("--method", "random_projection", "--jobs", 2), "random_projection has no --jobs"),
        (("--n-neighbors", "0"), "--n-neighbors 0 is not allowed: it must be an integer of at"),
        (
            ("--method", "neighbor_embedding", "--exaggeration", "1e308"),
            "--exaggeration 1e308 is not allowed: it must be a number above 0 and at most 1e+15",
        ),
        (
            ("--method", "neighbor_embedding", "--perplexity", "inf"),
            "--perplexity inf is not allowed: it must be a number above 1 and at most 1e+09",
        ),
        (("--connect", "glue"), "--connect glue is not allowed: it must be one of 'bridge'"),
        (("--metod", "pca"), "isomap has no --metod"),
        (("--n-neighbors",), "--n-neighbors"),
        (("--method", "t-SNE"), "no method 't-SNE': did you mean neighbor_embedding?"),
        (("--method", "umap"), "no method 'umap': did you mean neighbor_embedding?"),
        (("--method", "lle", "--batches", 10), "LLE needs all rows at once"),
        (("--method", "pca", "--distances"), "pca does not take distances"),
        (("--memory", "much"), "--memory much is not a size"),
        (("--json", "-o", "-"), "cannot both go to stdout"),
    ],
)
def test_misuse_is_answered_by_one_sentence_and_exit_code_2(folder, words, answer):
    assert answer in sentence(unbend("embed", "roll.csv", *ASIDE, *words, cwd=folder, code=2))


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("none.csv",), "none.csv"),
        (("roll.csv", "--label", "color"), "'color'"),
        (("roll.csv", "--ignore", "kinds"), "did you mean 'kind'?"),
        (("roll.csv", "--label", "kinds"), "did you mean 'kind'?"),
        (("roll.csv", "--ignore", "row", "--column-kind", "kind=date"), "'kind'"),
        (("roll.csv", *ASIDE, "--memory", "100kB"), "0.1 MB are available"),
        (("roll.csv", *ASIDE, "-o", "no/flat.csv"), "no/flat.csv"),
    ],
)
def test_failed_work_is_answered_by_one_sentence_and_exit_code_1(folder, words, answer):
    output = sentence(unbend("embed", *words, "--model", "roll.unbend", cwd=folder, code=1))
    assert answer in output
    assert [file.name for file in folder.iterdir()] == ["roll.csv"]


def test_debug_shows_where_an_error_came_from(folder):
    output = unbend("embed", "none.csv", "--debug", cwd=folder, code=1).stderr.decode()
    assert "Traceback" in output
    assert output.splitlines()[-1].startswith("Error: ")


def test_warnings_of_the_library_are_one_line_each(folder):
    output = unbend("embed", "roll.csv", *ASIDE, "--n-neighbors", 400, "--json", cwd=folder)
    (line,) = [line for line in output.stderr.decode().splitlines() if "Warning" in line]
    assert line == "Warning: there are 300 distinct rows: n_neighbors was lowered to 299"
    assert json.loads(output.stdout)["report"]["warnings"] == [line.removeprefix("Warning: ")]


def test_distances_are_embedded_as_the_points_they_come_from(folder, roll):
    between = np.linalg.norm(roll.points[:40, None] - roll.points[:40], axis=2)
    np.savetxt(folder / "distances.csv", between, delimiter=",", fmt="%.17g")
    words = ("--distances", "--method", "classical_mds", "-o", "flat.csv")
    unbend("embed", "distances.csv", *words, cwd=folder)
    found = numbers(folder / "flat.csv", ["classical_mds_1", "classical_mds_2"])
    expected = library.PCA().fit_transform(roll.points[:40])
    assert library.quality.procrustes(expected, found) < 1e-12


def test_a_table_in_batches_gives_the_coordinates_of_the_whole(folder, roll):
    words = ("embed", "roll.csv", "--method", "pca", *ASIDE)
    unbend(*words, "--batches", 70, "-o", "parts.csv", "--model", "parts.unbend", cwd=folder)
    expected = library.PCA().fit_transform(roll.points)
    found = numbers(folder / "parts.csv", ["pca_1", "pca_2"])
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())
    assert "r299" in (folder / "parts.csv").read_text()


def test_rows_with_missing_values_are_refused_or_dropped(folder):
    text = (folder / "roll.csv").read_text().splitlines()
    text[7] = "r6,,1.0,2.0,in"
    (folder / "gaps.csv").write_text("\n".join(text) + "\n")
    words = ("embed", "gaps.csv", *ASIDE, "-o", "flat.csv")
    assert "'x'" in sentence(unbend(*words, cwd=folder, code=1))
    unbend(*words, "--missing", "drop", cwd=folder)
    names = [row[0] for row in table_of(folder / "flat.csv")[1]]
    assert names == [f"r{number}" for number in range(300) if number != 6]


def test_a_model_can_be_kept_small(folder):
    words = ("embed", "roll.csv", "--method", "ltsa", *ASIDE)
    unbend(*words, "--model", "double.unbend", cwd=folder)
    unbend(*words, "--model", "single.unbend", "--float32", cwd=folder)
    double, single = ((folder / f"{name}.unbend").stat().st_size for name in ("double", "single"))
    assert single < double
