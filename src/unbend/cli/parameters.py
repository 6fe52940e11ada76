"""The declared parameters of a method as options of a command."""

import difflib
import inspect
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbend.cli.messages import Misuse
from unbend.registry import EMBEDDINGS, GENERAL, METHODS, Entry, find_entry, option_name

if TYPE_CHECKING:
    from unbend.validation.parameters import Parameter

DEFAULT_METHOD = "isomap"
# What other libraries and papers call a method, letters and digits only.
SYNONYMS = {
    "tsne": "neighbor_embedding",
    "umap": "neighbor_embedding",
    "sne": "neighbor_embedding",
    "mds": "metric_mds",
    "smacof": "metric_mds",
    "sammon": "metric_mds",
    "pcoa": "classical_mds",
    "nmds": "nonmetric_mds",
    "kpca": "kernel_pca",
    "svd": "pca",
    "truncatedsvd": "pca",
    "locallylinearembedding": "lle",
    "hlle": "hessian_lle",
    "arap": "rigid_alignment",
    "asrigidaspossible": "rigid_alignment",
    "spectralembedding": "laplacian_eigenmaps",
    "semidefiniteembedding": "mvu",
}


def find_method(name: str, among: tuple[Entry, ...] = METHODS) -> Entry:
    """Find a method by its name or its class, whatever joins the words."""
    entry = find_entry(name, among)
    if entry is not None:
        return entry
    names = [entry.name for entry in among]
    known = SYNONYMS.get("".join(filter(str.isalnum, name.lower())))
    close = [known] if known in names else difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(names)}"
    raise Misuse(f"there is no method {name!r}: {hint}")


def complete_method(incomplete: str = "") -> list[tuple[str, str]]:
    """Complete the name of a method of points."""
    return [(entry.name, entry.title) for entry in METHODS if entry.name.startswith(incomplete)]


def complete_embedding(incomplete: str = "") -> list[tuple[str, str]]:
    """Complete the name of a method, those of several matrices included."""
    return [(entry.name, entry.title) for entry in EMBEDDINGS if entry.name.startswith(incomplete)]


def method_options(entry: Entry, *, describe: bool = True) -> list[inspect.Parameter]:
    """Return the parameters that only some methods have, as typer takes them.

    Only help and completion need their descriptions.
    """
    from unbend.validation.parameters import parameters

    return [
        _option(parameter, f"Parameters of {entry.name}", describe)
        for parameter in parameters(entry.load())
        if parameter.name not in GENERAL
    ]


def _option(parameter: "Parameter", panel: str, describe: bool) -> inspect.Parameter:

    def complete(incomplete: str) -> list[str]:
        return [word for word in parameter.words if word.startswith(incomplete)]

    declared = typer.Option(
        option_name(parameter.name),
        metavar="VALUE",
        help=_escape_markup(f"{parameter.help} {describe_values(parameter)}") if describe else None,
        autocompletion=complete,
        rich_help_panel=panel,
        show_default=False,
    )
    return keyword(parameter.name, Annotated[str | None, declared], None)


def keyword(name: str, annotation: Any, default: object) -> inspect.Parameter:
    """Make a keyword of a signature."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _escape_markup(text: str) -> str:
    """Keep rich from reading brackets as markup."""
    return text.replace("[", r"\[")


def describe_values(parameter: "Parameter") -> str:
    """Describe the allowed values and the default."""
    return f"({describe_kinds(parameter)}; default {_format_value(parameter.default)})"


def _format_value(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def describe_kinds(parameter: "Parameter") -> str:
    """Describe the values that can be typed."""
    from unbend.validation import parameters as params

    # Functions, arrays, generators and indexes cannot be typed.
    of_python = (params.FUNCTION, params.COUNTS, params.INDEX, params.RANDOM)
    typed = {
        params.NOTHING: "none",
        params.FLAG: "true or false",
        params.MAPPING: "JSON {…}",
        params.SOLVER: "nystrom:M or fat:MODE:M:SKETCH, as nystrom:200 or fat:prat:50",
    }
    kinds = [kind for kind in parameter.kinds if kind not in of_python]
    return " or ".join(
        typed[kind] if isinstance(kind, params.Matching) and kind in typed else str(kind)
        for kind in kinds
    )


def parse_values(entry: Entry, typed: Mapping[str, str | None]) -> dict[str, object]:
    """Parse what was typed for a method's parameters; refuse what it does not declare."""
    from unbend.validation.parameters import parameters

    declared = {parameter.name: parameter for parameter in parameters(entry.load())}
    given = {name: text for name, text in typed.items() if text is not None}
    for name in given:
        if name not in declared:
            raise Misuse(unknown_option(entry, option_name(name)))
    return {name: parse_value(declared[name], text) for name, text in given.items()}


def unknown_option(entry: Entry, option: str) -> str:
    """Return the refusal of an option that a method does not have."""
    from unbend.validation.parameters import parameters
    from unbend.validation.scalars import suggest_name

    names = {parameter.name: option_name(parameter.name) for parameter in parameters(entry.load())}
    near = suggest_name(option.lstrip("-"), names)
    meant = f"it has {', '.join(names.values())}" if near is None else f"use {names[near]}"
    return f"{entry.name} has no {option}: {meant}"


def parse_value(parameter: "Parameter", text: str) -> object:
    """Parse a value: the first interpretation that the parameter allows."""
    from unbend.validation.scalars import hint

    for reading in (*_interpretations(text), *_solvers(parameter, text)):
        if any(kind.has_type(reading) and kind.holds(reading) for kind in parameter.kinds):
            if parameter.name == "denoise":
                _check_denoising(reading)
            return reading
    raise Misuse(
        f"{option_name(parameter.name)} {text} is not allowed: it must be "
        f"{describe_kinds(parameter)}{hint(text, parameter.words)}"
    )


def _check_denoising(value: object) -> None:
    """Refuse options of denoising that no rows could be fitted with."""
    from unbend.estimators.denoising_options import DenoiseOptions

    try:
        DenoiseOptions.read(value)
    except (TypeError, ValueError) as error:
        raise Misuse(str(error)) from error


def _interpretations(text: str) -> Iterable[object]:
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        yield words[text.lower()]
    for reading in (int, float, json.loads):
        try:
            yield reading(text)
        except ValueError:
            continue
    yield text


def _solvers(parameter: "Parameter", text: str) -> Iterable[object]:
    """Parse a solver with its arguments, where a parameter takes one."""
    from unbend.eigen import Fat, Nystrom
    from unbend.validation import parameters as params

    name, *words = text.split(":")
    given: list[Any] = [int(word) if word.isdecimal() else word for word in words]
    if params.SOLVER not in parameter.kinds:
        return
    try:
        if name == "nystrom" and len(given) <= 1:
            yield Nystrom(*given)
        elif name == "fat" and 1 <= len(given) <= 3:
            yield Fat(*given)
    except ValueError as error:
        raise Misuse(f"{option_name(parameter.name)} {text} is not allowed: {error}") from error
