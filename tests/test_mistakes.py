"""Frequent mistakes get the sentence that helps, when the line that has them runs."""

import numpy as np
import pytest

import unbend
from tests.cli.program import sentence
from tests.cli.program import unbend as program
from tests.conformance.cases import CLASSES, over
from unbend.dimension.estimators import TwoNN
from unbend.validation.parameters import parameters
from unbend.validation.scalars import SYNONYMS

X = np.random.default_rng(0).normal(size=(8, 3))
Y = np.arange(8) % 2


@pytest.mark.parametrize("fit", ["fit", "fit_transform"])
def test_a_supervised_fit_without_classes_is_refused(fit):
    model = unbend.SupervisedLLE(n_neighbors=4)
    with pytest.raises(ValueError, match=r"requires y .* fit\(X, y\)\. Without classes use LLE"):
        getattr(model, fit)(X)
    # What a fit without classes was.
    known = unbend.LLE(n_neighbors=4).fit_transform(X)
    assert np.array_equal(model.fit_transform(X, np.full(8, -1)), known)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("neighbors", "n_neighbors"),
        ("n_neighbours", "n_neighbors"),
        ("k", "n_neighbors"),
        ("n_component", "n_components"),
        ("dim", "n_components"),
        ("seed", "random_state"),
        ("njobs", "n_jobs"),
        ("solver", "eigen_solver"),
        ("Metric", "metric"),
        ("neighbor_algorithm", "neighbors_algorithm"),
    ],
)
def test_a_parameter_of_another_name_is_named_as_it_is_here(typed, meant):
    with pytest.raises(TypeError, match=f"Isomap has no parameter '{typed}': use {meant}$"):
        unbend.Isomap(**{typed: 5})
    assert typed not in unbend.Isomap().get_params()


@over(CLASSES)
def test_a_letter_too_few_is_found_in_every_parameter_of_every_method(method):
    for parameter in parameters(method):
        if len(parameter.name) > 3:
            typed = parameter.name[:-2] + parameter.name[-1]
            if typed not in SYNONYMS:
                with pytest.raises(TypeError, match=f"'{typed}': use {parameter.name}$"):
                    method(**{typed: 1})


def test_a_name_that_is_near_none_gets_the_list():
    with pytest.raises(TypeError, match="no parameter 'perplexity': its parameters are n_compo"):
        unbend.PCA(perplexity=5)
    with pytest.raises(TypeError, match="no parameter"):
        TwoNN(perplexity=5)


@pytest.mark.parametrize(
    ("model", "end"),
    [
        (unbend.Isomap(precision="float64"), "'single', 'double'; did you mean 'double'?"),
        (unbend.Isomap(precision="float32"), "did you mean 'single'?"),
        (unbend.Isomap(metric="l2"), "did you mean 'euclidean'?"),
        (unbend.Isomap(connect="bridges"), "did you mean 'bridge'?"),
        (unbend.Isomap(connect="zzz"), "'error'"),
    ],
)
def test_a_word_near_an_allowed_one_is_corrected(model, end):
    with pytest.raises(ValueError, match="is not allowed: it must be") as refusal:
        model.fit(X)
    assert str(refusal.value).endswith(end)


def test_the_precision_of_a_file_says_what_it_takes(tmp_path):
    with pytest.raises(ValueError, match="must be 'float32', or None for the precision of the fit"):
        unbend.PCA().fit(X).save(tmp_path / "model.unbend", precision="float64")


@over(CLASSES)
def test_too_many_components_get_one_sentence_whose_number_is_right(method):
    with pytest.raises(ValueError, match="n_components=9 is not allowed: it must be at most ") as r:
        method(n_components=9).fit(X, Y)
    most = int(str(r.value).split("at most ")[1].split()[0])
    assert method(n_components=most).fit(X, Y).embedding_.shape == (8, most)
    with pytest.raises(ValueError, match=f"n_components={most + 1} is not allowed: .* {most} with"):
        method(n_components=most + 1).fit(X, Y)


def test_too_few_rows_for_any_number_of_components_are_named():
    with pytest.raises(ValueError, match=r"2 distinct sample\(s\) while a minimum of 3"):
        unbend.Isomap(n_components=2).fit(X[[0, 1, 1, 0, 0]])


@pytest.fixture
def labelled(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{'xy'[i % 2]}" for i, (a, b) in enumerate(rng.normal(size=(40, 2)))]
    (tmp_path / "iris.csv").write_text("\n".join(["width,height,species", *rows, ""]))
    return tmp_path


def test_a_label_forgotten_on_the_command_line_is_named(labelled):
    words = ("embed", "iris.csv", "--method", "supervised_lle", "-o", "flat.csv")
    done = program(*words, cwd=labelled, code=2)
    assert sentence(done).endswith("lle needs the class of each row: give --label species")
    program(*words, "--label", "species", cwd=labelled)


def test_a_table_without_a_column_of_classes_asks_for_one(tmp_path):
    np.savetxt(tmp_path / "t.csv", np.random.default_rng(0).normal(size=(40, 3)), delimiter=",")
    done = program("embed", "t.csv", "--method", "supervised_lle", cwd=tmp_path, code=2)
    assert sentence(done).endswith("needs the class of each row: give --label COLUMN")


@pytest.mark.parametrize("values", ["words", "numbers"])
def test_a_label_among_the_features_is_mentioned_in_one_line(labelled, values):
    table = labelled / "iris.csv"
    if values == "numbers":
        table.write_text(table.read_text().replace(",x", ",0").replace(",y", ",1"))
    words = ("embed", "iris.csv", "-o", "flat.csv")
    lines = program(*words, cwd=labelled).stderr.decode().splitlines()
    assert [line for line in lines if "looks like a label" in line] == [
        "Column 'species' is a feature and looks like a label: give --label species, or --ignore "
        "species."
    ]
    for option in ("--label", "--ignore"):
        assert b"looks like a label" not in program(*words, option, "species", cwd=labelled).stderr


def test_an_option_of_another_name_is_named_as_it_is_here(labelled):
    done = program("embed", "iris.csv", "--neighbors", "5", cwd=labelled, code=2)
    assert sentence(done).endswith("isomap has no --neighbors: use --n-neighbors")
    done = program("embed", "iris.csv", "--precision", "float64", cwd=labelled, code=2)
    assert sentence(done).endswith("'double'; did you mean 'double'?")
