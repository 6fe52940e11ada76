"""Arrays by name, and several matrices of the same objects, on the command line."""

import json

import h5py
import numpy as np
import pytest
import scipy.io

import unbend as library
from tests.cli.program import numbers, sentence, table_of, unbend
from unbend.cli.app import COMMANDS
from unbend.cli.options import PANEL, DataOptions, data_parameters
from unbend.cli.parameters import GENERAL, method_options
from unbend.registry import EMBEDDINGS

FLAT = ["isomap_1", "isomap_2"]


@pytest.fixture
def arrays(tmp_path, roll):
    first, second = roll.points[:60], roll.points[60:160]
    np.savez(tmp_path / "two.npz", a=first, b=second)
    scipy.io.savemat(tmp_path / "two.mat", {"a": first, "b": second})
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a"], file["run/b"] = first, second
    return tmp_path


@pytest.mark.parametrize(("file", "name"), [("npz", "b"), ("mat", "b"), ("h5", "run/b")])
def test_the_array_that_is_named_is_the_table(arrays, roll, file, name):
    output = sentence(unbend("embed", f"two.{file}", cwd=arrays, code=1))
    assert "name the one that is the table by --array" in output
    words = ("embed", f"two.{file}", "--array", name)
    unbend(*words, "-o", "flat.csv", "--model", "m.unbend", cwd=arrays)
    model = library.Isomap().fit(roll.points[60:160])
    assert np.array_equal(numbers(arrays / "flat.csv", FLAT), model.embedding_)
    unbend("transform", "m.unbend", f"two.{file}", "--array", "a", "-o", "new.csv", cwd=arrays)
    expected = model.transform(roll.points[:60])
    assert np.array_equal(numbers(arrays / "new.csv", FLAT), expected)
    given = ("quality", f"two.{file}", "flat.csv", "--array", name, "--json")
    assert json.loads(unbend(*given, cwd=arrays).stdout)["rows"] == 100


def test_the_page_of_an_array_names_it(arrays):
    unbend("report", "two.h5", "--array", "run/b", "-o", "page.html", cwd=arrays)
    page = (arrays / "page.html").read_text()
    assert "--array run/b" in page
    assert "array=&#x27;run/b&#x27;" in page


def test_an_array_that_is_not_there_and_one_of_a_table_of_text_are_refused(arrays, folder):
    output = sentence(unbend("embed", "two.npz", "--array", "c", cwd=arrays, code=1))
    assert "no array 'c': it holds a 60 x 3, b 100 x 3" in output
    output = sentence(unbend("embed", "roll.csv", "--array", "c", cwd=folder, code=1))
    assert "roll.csv is none" in output


@pytest.fixture
def judges(tmp_path):
    """Make a folder of three matrices that stretch the axes of one configuration."""
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(12, 2)), rng.uniform(0.3, 2.0, (3, 2))
    (tmp_path / "judges").mkdir()
    names = [f"city{place}" for place in range(12)]
    for judge, weight in enumerate(weights):
        scaled = points * np.sqrt(weight)
        distances = np.linalg.norm(scaled[:, None] - scaled, axis=2)
        lines = [",".join(["", *names])]
        rows = zip(names, distances.tolist(), strict=True)
        lines += [",".join([name, *map(repr, row)]) for name, row in rows]
        (tmp_path / "judges" / f"judge{judge}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("method", "kind"), [("weighted_mds", "WeightedMDS"), ("ReplicatedMDS",) * 2]
)
def test_several_matrices_are_scaled_as_the_library_does(judges, method, kind):
    words = ("embed", "judges", "--method", method, "--seed", 0, "-o", "flat.csv")
    done = unbend(*words, "--json", "--plot", "flat.png", cwd=judges)
    matrices = library.io.read_matrices(judges / "judges")
    model = getattr(library, kind)(random_state=0).fit(matrices.values)
    header, rows = table_of(judges / "flat.csv")
    assert header[0] == "object"
    assert [row[0] for row in rows] == list(matrices.objects)
    assert np.allclose(numbers(judges / "flat.csv", header[1:]), model.embedding_, atol=1e-9)
    output = json.loads(done.stdout)["matrices"]
    assert [each["name"] for each in output] == ["judge0.csv", "judge1.csv", "judge2.csv"]
    if kind == "WeightedMDS":
        assert np.allclose([each["weights"] for each in output], model.weights_)
        assert min(each["variance_accounted"] for each in output) > 0.999
    else:
        assert np.allclose([each["stress"] for each in output], model.stress_per_matrix_)
    assert "judge0.csv: " in done.stderr.decode()


def test_what_several_matrices_do_not_have_is_refused(judges):
    words = ("embed", "judges", "--method", "weighted_mds")
    for more, part in (
        (["--label", "kind"], "--label does not go with --method weighted_mds"),
        (["--metric", "euclidean"], "--metric does not go with --method weighted_mds"),
        (["--stem"], "--stem is for texts, and judges is read as several matrices"),
    ):
        assert part in sentence(unbend(*words, *more, cwd=judges, code=2))
    assert "--method replicated_mds" in sentence(unbend("embed", "judges", cwd=judges, code=1))
    unbend(*words, "--model", "m.unbend", cwd=judges)
    output = sentence(unbend("transform", "m.unbend", "judges", cwd=judges, code=1))
    assert "use transform in Python" in output


def spelled(parameters, panel=None):
    return [
        word
        for parameter in parameters
        for declared in parameter.annotation.__metadata__
        if panel is None or declared.rich_help_panel == panel
        for name in declared.param_decls
        for word in name.split("/")
    ]


def test_no_option_of_data_has_another_meaning():
    own = spelled(data_parameters({}))
    assert len(set(own)) == len(own)
    for entry in EMBEDDINGS:
        assert not set(own) & {*spelled(method_options(entry)), *GENERAL.values()}


def test_every_command_that_reads_data_has_the_same_options():
    reading = {"embed", "transform", "quality", "report", "suggest", "compare", "dimension"}
    for command in COMMANDS:
        name = command.function.__name__
        text = unbend(name, "--help").stdout.decode()
        there = name in reading | {"graph", "bench"}
        assert all((f"{word} " in text) == there for word in spelled(data_parameters({}), PANEL)), (
            name
        )


def test_options_are_repeated_as_they_were_typed():
    data = DataOptions(kind="texts", color=False, stem=True, text_column="a b", fits_part=0)
    assert data.words() == " --as texts --gray --text-column 'a b' --stem --fits-part 0"
