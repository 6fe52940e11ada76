"""The declared parameters of a method as options of a command."""

import difflib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbend.cli.errors import Misuse
from unbend.registry import METHODS, SEVERAL, Entry

if TYPE_CHECKING:
    from unbend.validation.parameters import Parameter

DEFAULT_METHOD = "isomap"
# What embed takes: methods of rows, and of several matrices.
ALL = (*METHODS, *SEVERAL)

# Parameters of many methods, under the names that a command line has for them.
GENERAL = {"n_components": "--components", "random_state": "--seed", "n_jobs": "--jobs"}


def method_entry(name: str, among: Sequence[Entry] = METHODS) -> Entry:
    """Find a method by its name or its class, however its words are joined."""
    wanted = _letters(name)
    for entry in among:
        if wanted in (_letters(entry.name), _letters(entry.class_name)):
            return entry
    names = [entry.name for entry in among]
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(names)}"
    raise Misuse(f"there is no method {name!r}: {hint}")


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def method_names(incomplete: str = "") -> list[tuple[str, str]]:
    """Names that begin so, with what they stand for, for shell completion."""
    return [(entry.name, entry.title) for entry in METHODS if entry.name.startswith(incomplete)]


def every_method_name(incomplete: str = "") -> list[tuple[str, str]]:
    """Names that begin so, those of methods of several matrices among them."""
    return [(entry.name, entry.title) for entry in ALL if entry.name.startswith(incomplete)]


def option_name(parameter: str) -> str:
    """Return the option under which a parameter is given."""
    return GENERAL.get(parameter, f"--{parameter.replace('_', '-')}")


def options_of(entry: Entry) -> list[inspect.Parameter]:
    """Return the parameters that only some methods have, as typer takes them."""
    from unbend.validation.parameters import parameters

    return [
        _option(parameter, panel=f"Parameters of {entry.name}")
        for parameter in parameters(entry.load())
        if parameter.name not in GENERAL
    ]


def _option(parameter: "Parameter", panel: str) -> inspect.Parameter:
    words = choices(parameter)

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    declared = typer.Option(
        option_name(parameter.name),
        metavar="VALUE",
        help=_escaped(f"{parameter.help} {described(parameter)}"),
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


def _escaped(text: str) -> str:
    """Keep rich from reading brackets as markup."""
    return text.replace("[", r"\[")


def described(parameter: "Parameter") -> str:
    """Return the values allowed and the default, in words."""
    return f"({allowed(parameter)}; default {_shown(parameter.default)})"


def _shown(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def allowed(parameter: "Parameter") -> str:
    """Return the values that can be typed, in words."""
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


def choices(parameter: "Parameter") -> tuple[str, ...]:
    """Return the words that a parameter takes."""
    from unbend.validation.parameters import Choice

    return tuple(
        word for kind in parameter.kinds if isinstance(kind, Choice) for word in kind.words
    )


def values_of(entry: Entry, typed: Mapping[str, str | None]) -> dict[str, object]:
    """Read what was typed for a method's parameters; refuse what it does not declare."""
    from unbend.validation.parameters import parameters

    declared = {parameter.name: parameter for parameter in parameters(entry.load())}
    given = {name: text for name, text in typed.items() if text is not None}
    for name in given:
        if name not in declared:
            raise Misuse(no_such_option(entry, option_name(name)))
    return {name: value_of(declared[name], text) for name, text in given.items()}


def no_such_option(entry: Entry, option: str) -> str:
    """Say that a method does not have an option, and which it has."""
    from unbend.validation.parameters import parameters

    names = [option_name(parameter.name) for parameter in parameters(entry.load())]
    return f"{entry.name} has no {option}: it has {', '.join(names)}"


def value_of(parameter: "Parameter", text: str) -> object:
    """Read a value from what was typed: the first reading that the parameter allows."""
    for reading in (*_readings(text), *_solvers(parameter, text)):
        if any(kind.typed(reading) and kind.holds(reading) for kind in parameter.kinds):
            return reading
    raise Misuse(
        f"{option_name(parameter.name)} {text} is not allowed: it must be {allowed(parameter)}"
    )


def _readings(text: str) -> Iterable[object]:
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
    """Read a solver with its number and words, where a parameter takes one."""
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


def with_options(
    function: Callable[..., None], extra: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Return the function with more keywords in the signature that typer reads.

    What a function takes as `data` is made of several options, which are among the more.
    """

    @wraps(function)
    def called(**given: Any) -> None:
        function(**given)

    signature = inspect.signature(function)
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and parameter.name != "data"
    ]
    together = [*own, *extra]
    called.__signature__ = signature.replace(parameters=together)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in together}
    return called
