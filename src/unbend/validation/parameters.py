"""Parameters of estimators, declared once.

`__init__`, validation, the docs table, the command line and the page all come from these
declarations.
"""

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, TypeVar, dataclass_transform

import numpy as np

from unbend.validation.scalars import (
    at_least,
    explain_arguments,
    hint,
    is_finite,
    is_integer,
    is_real,
    refusal,
)


class Kind(Protocol):
    """A set of allowed values."""

    def has_type(self, value: object) -> bool:
        """Whether the value is of the right type."""

    def holds(self, value: Any) -> bool:
        """Whether a value of the right type is allowed."""

    def __str__(self) -> str: ...


@dataclasses.dataclass(frozen=True)
class Integer:
    """Integers from `low`."""

    low: int

    def has_type(self, value: object) -> bool:
        """Accept Python and NumPy integers, not booleans."""
        return is_integer(value)

    def holds(self, value: Any) -> bool:
        """Compare with the bound."""
        return bool(value >= self.low)

    def __str__(self) -> str:
        return at_least(self.low)


@dataclasses.dataclass(frozen=True)
class Threads:
    """Integers other than zero."""

    def has_type(self, value: object) -> bool:
        """Accept integers."""
        return is_integer(value)

    def holds(self, value: Any) -> bool:
        """Refuse zero."""
        return bool(value != 0)

    def __str__(self) -> str:
        return "an integer other than 0"


@dataclasses.dataclass(frozen=True)
class Real:
    """Finite numbers above `low`, or from `low` where `closed`, up to `high` or below `below`."""

    low: float
    closed: bool = False
    high: float = np.inf
    below: float = np.inf

    def has_type(self, value: object) -> bool:
        """Accept Python and NumPy real numbers, not booleans."""
        return is_real(value)

    def holds(self, value: Any) -> bool:
        """Compare with the bound."""
        above = value > self.low or (self.closed and value == self.low)
        return bool(is_finite(value) and above and value <= self.high and value < self.below)

    def __str__(self) -> str:
        bound = f"a number {'of at least' if self.closed else 'above'} {self.low:g}"
        if self.below < np.inf:
            return f"{bound} and below {self.below:g}"
        return bound if self.high == np.inf else f"{bound} and at most {self.high:g}"


class Choice:
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def has_type(self, value: object) -> bool:
        """Accept strings."""
        return isinstance(value, str)

    def holds(self, value: Any) -> bool:
        """Look the word up."""
        return value in self.words

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(word) for word in self.words)


@dataclasses.dataclass(frozen=True)
class Matching:
    """Values that satisfy a test, described by words."""

    test: Callable[[Any], bool]
    words: str

    def has_type(self, value: object) -> bool:
        """Apply the test."""
        return self.test(value)

    def holds(self, value: Any) -> bool:
        """Accept what passed the test."""
        return True

    def __str__(self) -> str:
        return self.words


NOTHING = Matching(lambda value: value is None, "None")
FUNCTION = Matching(callable, "a callable")
FLAG = Matching(lambda value: isinstance(value, bool | np.bool_), "True or False")
MAPPING = Matching(lambda value: isinstance(value, dict), "a dict")
COUNTS = Matching(
    lambda value: isinstance(value, list | np.ndarray), "an array of one integer for each row"
)
SOLVER = Matching(
    lambda value: hasattr(value, "eigenpairs") and not isinstance(value, type),
    "a solver of unbend.eigen",
)
INDEX = Matching(
    lambda value: (
        hasattr(value, "build") and hasattr(value, "query") and not isinstance(value, type)
    ),
    "an index with methods build and query (NeighborIndex of unbend.neighbors)",
)
RANDOM = Matching(
    lambda value: isinstance(value, np.random.Generator | np.random.RandomState),
    "a numpy Generator or RandomState",
)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A declared parameter."""

    name: str
    default: object
    kinds: tuple[Kind, ...]
    help: str

    def check(self, value: object) -> None:
        """Raise TypeError or ValueError with one sentence if `value` is not allowed."""
        fitting = [kind for kind in self.kinds if kind.has_type(value)]
        if any(kind.holds(value) for kind in fitting):
            return
        error = ValueError if fitting else TypeError
        raise error(refusal(self.name, value, self.allowed) + hint(value, self.words))

    @property
    def words(self) -> tuple[str, ...]:
        """The words among the allowed values."""
        return tuple(word for kind in self.kinds if isinstance(kind, Choice) for word in kind.words)

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return " or ".join(str(kind) for kind in self.kinds)


def param(default: Any, *kinds: Kind, help: str) -> Any:
    """Declare a parameter: its default, the values allowed, and what it does.

    To type checkers the call is itself the default, so that `default` needs no name.
    """
    return dataclasses.field(default=default, metadata={"kinds": kinds, "help": help})


def first_param(*kinds: Kind, default: Any, help: str, kw_only: bool) -> Any:
    """Declare the first parameter of an estimator, which may be given by position.

    ``kw_only=False`` and ``default=`` are written at each call, where type checkers read them.
    """
    metadata = {"kinds": kinds, "help": help}
    return dataclasses.field(default=default, metadata=metadata, kw_only=kw_only)


def inherit(owner: type, name: str, **changed: Any) -> Any:
    """Declare a parameter as another class does, with another `default` if one is given."""
    field = next(field for field in dataclasses.fields(owner) if field.name == name)
    default = changed.get("default", field.default)
    return dataclasses.field(default=default, metadata=field.metadata)


def parameters(cls: type) -> list[Parameter]:
    """List the declared parameters of an estimator class.

    Examples
    --------
    >>> from unbend import LTSA
    >>> parameters(LTSA)[0].name
    'n_components'
    """
    return [
        Parameter(field.name, field.default, field.metadata["kinds"], field.metadata["help"])
        for field in dataclasses.fields(cls)
    ]


@cache
def _declared(cls: type) -> tuple[Parameter, ...]:
    return tuple(parameters(cls))


def check_parameters(estimator: object) -> None:
    """Check every parameter of an estimator, and make NumPy's integers and booleans Python's.

    Arithmetic with eight bits, or without sign, would overflow, and `is False` holds for the
    object of Python alone.
    """
    kind: Any = type(estimator)
    for parameter in _declared(kind):
        value = getattr(estimator, parameter.name)
        if value is parameter.default:
            continue
        parameter.check(value)
        if isinstance(value, np.integer | np.bool_):
            setattr(estimator, parameter.name, value.item())


Class = TypeVar("Class")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(first_param,))
def declare(cls: type[Class]) -> type[Class]:
    """Make a class of its declarations: its `__init__`, and the Parameters of its docstring."""
    made = dataclasses.dataclass(kw_only=True, eq=False, repr=False)(cls)
    made.__init__ = explain_arguments(made.__init__)  # type: ignore[method-assign]
    text = inspect.cleandoc(made.__doc__ or "")
    lines = ["Parameters", "----------"]
    for parameter in parameters(made):
        lines += [
            f"{parameter.name} : {parameter.allowed}, default={parameter.default!r}",
            f"    {parameter.help}",
        ]
    section = "\n".join(lines) + "\n\n"
    place = text.find("Attributes\n----------")
    made.__doc__ = text[:place] + section + text[place:] if place >= 0 else text + "\n\n" + section
    return made
