"""Help teaches with examples, completion knows the names, and both answer at once."""

import json
import shlex
import subprocess
import sys
import time

import pytest

from tests.cli.program import PROGRAM, sentence, unbend
from unbend.cli.app import COMMANDS, application
from unbend.cli.parameters import GENERAL, find_method, method_options, option_name
from unbend.registry import CLASSIFIERS, CLUSTERINGS, EMBEDDINGS
from unbend.validation.parameters import parameters

ALL = (*EMBEDDINGS, *CLUSTERINGS, *CLASSIFIERS)
NAMES = [
    "embed",
    "transform",
    "cluster",
    "recognize",
    "identify",
    "quality",
    "plot",
    "report",
    "serve",
    "export",
    "suggest",
    "compare",
    "dimension",
    "graph",
    "localize",
    "bench",
    "surface",
    "pictures",
    "methods",
    "demo",
    "info",
    "glossary",
]


def test_the_commands_are_those_that_were_promised():
    assert [command.function.__name__ for command in COMMANDS] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_shows_examples_of_it(name):
    text = unbend(name, "--help").stdout.decode()
    assert f"unbend {name}" in text[text.index("Examples:") :]


def test_the_help_shows_the_first_steps_and_the_exit_codes():
    text = unbend("--help").stdout.decode()
    assert "unbend embed" in text
    assert "130 interrupted" in text
    assert unbend().stdout == unbend("--help").stdout


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_every_example_uses_options_that_exist(command):
    """Each option of each example is one of its command, or a parameter of the method it names."""
    for example in command.examples:
        for line in example.split(" | "):
            first, name, *words = shlex.split(line)
            assert first == "unbend"
            text = unbend(name, "--help", *_method(words)).stdout.decode()
            for word in words:
                if word.startswith("-") and word != "-":
                    assert f"{word} " in text, (example, word)


def _method(words):
    return ["--method", words[words.index("--method") + 1]] if "--method" in words else []


def test_help_loads_neither_numpy_nor_scikit_learn():
    code = """
import sys
from unbend.cli import main
for words in (["--help"], ["embed", "--help"], ["methods"]):
    assert main(words) == 0
print(*sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib"}


def test_help_takes_a_few_times_as_long_as_importing_its_libraries():
    """A ratio in one run, not a time."""

    def seconds(command):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        return time.perf_counter() - start

    runs = range(3)
    base = min(seconds([sys.executable, "-c", "import typer, rich"]) for _ in runs)
    assert min(seconds([*PROGRAM, "embed", "--help"]) for _ in runs) < 10 * base


def test_methods_lists_the_registry():
    lines = unbend("methods").stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == [entry.name for entry in ALL]
    listed = json.loads(unbend("methods", "--json").stdout)
    assert listed == [{"name": entry.name, "title": entry.title} for entry in ALL]


def test_a_method_is_shown_with_every_parameter_it_declares():
    declared = parameters(find_method("laplacian_eigenmaps").load())
    text = unbend("methods", "laplacian_eigenmaps").stdout.decode()
    assert all(f"\n{option_name(parameter.name)} " in text for parameter in declared)
    shown = json.loads(unbend("methods", "laplacian_eigenmaps", "--json").stdout)["parameters"]
    assert {fact["name"]: fact["default"] for fact in shown} == {
        parameter.name: parameter.default for parameter in declared
    }


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_the_options_of_every_method_go_with_the_general_ones(entry):
    """No option may have two meanings; typer would silently take the last."""
    taken = set(GENERAL.values())
    for parameter in method_options(entry):
        assert option_name(parameter.name) not in taken
        taken.add(option_name(parameter.name))
    application(entry)


@pytest.mark.parametrize("name", ["isomap", "Isomap", "ISOMAP"])
def test_methods_are_found_by_name_and_by_class(name):
    assert find_method(name).name == "isomap"
    assert find_method("LaplacianEigenmaps").name == find_method("laplacian-eigenmaps").name


def test_an_unknown_method_is_answered_by_the_nearest_name():
    assert "did you mean isomap?" in sentence(unbend("methods", "ismap", code=2))
    assert "choose one of pca" in sentence(unbend("methods", "zzzz", code=2))


@pytest.fixture
def complete(monkeypatch):
    def completed(words):
        monkeypatch.setenv("_UNBEND_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        return unbend().stdout.decode().split()

    return completed


def test_the_shell_completes_commands_methods_and_their_parameters(complete):
    assert complete("unbend qu") == ["quality"]
    assert complete("unbend methods la") == [
        "landmark_mds",
        "landmark_isomap",
        "landmark_mvu",
        "laplacian_eigenmaps",
    ]
    assert complete("unbend embed t.csv --method hess") == ["hessian_lle"]
    assert "--label" in complete("unbend embed t.csv --la")
    assert complete("unbend embed t.csv --method isomap --n-ne") == ["--n-neighbors"]
    assert complete("unbend embed t.csv --method isomap --connect br") == ["bridge"]
    assert complete("unbend surface swiss") == ["swiss_roll", "swiss_hole"]


def test_a_script_for_the_shell_is_offered(monkeypatch):
    # The shell that runs the tests may be none that is known: then it is named.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    script = unbend("--show-completion", "bash").stdout.decode()
    assert "_UNBEND_COMPLETE" in script
