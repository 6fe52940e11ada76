"""Approximate eigensolvers, typed with their numbers."""

import json

import numpy as np
import pytest

import unbend as library
from tests.cli.program import numbers, sentence, unbend
from unbend import Fat, Nystrom

ROLL = ("embed", "roll.csv", "--label", "kind", "--id", "row", "--method", "isomap")
pytestmark = pytest.mark.filterwarnings("ignore:the coordinates may be")


@pytest.mark.parametrize(
    ("typed", "solver"),
    [
        ("nystrom:60", Nystrom(60)),
        ("nystrom", Nystrom()),
        ("fat:irat:50", Fat("irat", 50)),
        ("fat:prat:40:sign", Fat("prat", 40, "sign")),
        ("fat:gat", Fat("gat")),
        ("lanczos", "lanczos"),
    ],
)
def test_a_solver_is_typed_with_its_numbers(folder, roll, typed, solver):
    words = ("--eigen-solver", typed, "-o", "flat.csv", "--model", "roll.unbend")
    unbend(*ROLL, *words, cwd=folder)
    expected = library.Isomap(eigen_solver=solver).fit(roll.points)
    assert np.array_equal(
        numbers(folder / "flat.csv", ["isomap_1", "isomap_2"]), expected.embedding_
    )
    assert library.load(folder / "roll.unbend").eigen_solver == solver


@pytest.mark.parametrize(
    ("typed", "output"),
    [
        ("fat", "fat:MODE:M"),
        ("fat:pratt:5", "'pratt' is not known"),
        ("fat:prat:0", "at least 1"),
        ("fat:prat:50:sign:true", "nystrom:M"),
        ("nystrom:few", "at least 1"),
        ("nystrom:5:5", "nystrom:M"),
        ("arpack", "nystrom:200"),
    ],
)
def test_solvers_that_are_none_are_refused(folder, typed, output):
    assert output in sentence(unbend(*ROLL, "--eigen-solver", typed, cwd=folder, code=2))


def test_only_solvers_are_read_as_such(folder):
    words = ("--connect", "nystrom:50")
    assert "--connect nystrom:50 is not allowed" in sentence(
        unbend(*ROLL, *words, cwd=folder, code=2)
    )


def test_the_list_of_parameters_describes_them(folder):
    listed = json.loads(unbend("methods", "isomap", "--json", cwd=folder).stdout)
    text = json.dumps(listed)
    assert "nystrom:200" in text
