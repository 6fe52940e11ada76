"""Every public name has a docstring with an example, and the examples run."""

import doctest
import inspect
from importlib import import_module

import pytest

import unbend

MODULES = ["unbend", *(f"unbend.{name}" for name in sorted(unbend._MODULES)), "unbend.sklearn"]
# Examples inside `src/` are collected by pytest; those of generated classes are run here.
GENERATED = "unbend.scale"


def public_names():
    """Return every public function and class once, by its first path."""
    found, seen = {}, set()
    for module_name in MODULES:
        if module_name == GENERATED:
            pytest.importorskip("dask")
        module = import_module(module_name)
        for name in module.__all__:
            value = getattr(module, name)
            foreign = getattr(value, "__module__", "").startswith("sklearn")
            if callable(value) and name[0] != "_" and not foreign and id(value) not in seen:
                seen.add(id(value))
                found[f"{module_name}.{name}"] = value
    return found


def test_every_public_name_has_a_docstring_with_an_example():
    names = public_names()
    assert len(names) > 300
    assert [path for path, value in names.items() if not inspect.getdoc(value)] == []
    lacking = [path for path, value in names.items() if ">>>" not in (inspect.getdoc(value) or "")]
    assert lacking == []


def test_every_public_method_and_module_has_a_docstring():
    lacking = [name for name in MODULES if not import_module(name).__doc__]
    for path, value in public_names().items():
        if not inspect.isclass(value):
            continue
        for name, member in vars(value).items():
            described = inspect.isfunction(member) or isinstance(member, property | classmethod)
            if described and name[0] != "_" and not inspect.getdoc(getattr(value, name)):
                lacking.append(f"{path}.{name}")
    assert lacking == []


def run_example(path, value):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(value.__doc__, {}, path, None, 0)
    failed, tried = doctest.DocTestRunner(optionflags=flags, verbose=False).run(test)
    assert tried > 0
    assert failed == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name", ["PCA", pytest.param("every", marks=pytest.mark.slow)], ids=["PCA", "every"]
)
def test_examples_of_generated_classes_run(name):
    pytest.importorskip("dask")
    from unbend.scale.estimators import CLASSES

    for class_name in CLASSES if name == "every" else [name]:
        run_example(f"unbend.scale.{class_name}", CLASSES[class_name])
