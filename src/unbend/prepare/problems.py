"""Everything in a table that a user should know of before an embedding, found in one pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unbend.prepare.columns import Array, Column
from unbend.prepare.kinds import Inference
from unbend.validation.arrays import FARTHEST, largest_magnitude


@dataclass(frozen=True)
class Problem:
    """A property of some columns that changes or prevents an embedding.

    Attributes
    ----------
    what : str
        The property, such as ``"missing values"``.
    columns : tuple of str
        Columns that have it, with a detail each.
    remedy : str
        What to do, as a Python argument.
    option : str
        What to do, as an option of the command line.
    fatal : bool
        Whether a fit is refused because of it.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> columns = unbend.prepare.read_columns(table).columns
    >>> kinds = {column.name: unbend.prepare.infer_kind(column) for column in columns}
    >>> problems = unbend.prepare.find_problems(columns, kinds, "error")
    >>> [problem.columns for problem in problems]
    [("'price' (1)",)]
    """

    what: str
    columns: tuple[str, ...]
    remedy: str
    option: str
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {', '.join(self.columns)}. {self.remedy}"


def find_problems(
    columns: Sequence[Column], inferences: Mapping[str, Inference], missing: str
) -> tuple[Problem, ...]:
    """List missing, infinite and huge values, constant, duplicate, id-like and text columns.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> columns = unbend.prepare.read_columns(table).columns
    >>> kinds = {column.name: unbend.prepare.infer_kind(column) for column in columns}
    >>> problems = unbend.prepare.find_problems(columns, kinds, "error")
    >>> len(problems), len(unbend.prepare.find_problems(columns, kinds, "median"))
    (1, 1)
    """
    used = [c for c in columns if inferences[c.name].kind not in ("id", "text", "constant")]
    names = {column.name for column in columns}
    found = [
        *_problems_of_values(used, inferences, missing),
        *_left_out(inferences),
        Problem(
            "Duplicate columns",
            tuple(_duplicates(used)),
            "They count twice: drop one, or pass weights={column: 0.5}.",
            "--ignore COLUMN",
        ),
        Problem(
            "Columns to look at",
            tuple(f"{n!r} {i.remark}" for n, i in inferences.items() if i.remark and n in names),
            *OTHER_KIND,
        ),
    ]
    return tuple(problem for problem in found if problem.columns)


# The remedy for a column whose kind was inferred wrongly, and its option.
OTHER_KIND = ("Override with kinds={column: kind}.", "--column-kind COLUMN=KIND")


def _problems_of_values(
    used: Sequence[Column], inferences: Mapping[str, Inference], missing: str
) -> Iterator[Problem]:
    """Yield missing, infinite and huge values; a text that is missing has no terms."""
    yield Problem(
        "Columns with missing values",
        tuple(
            f"{c.name!r} ({int(c.missing.sum())})"
            for c in used
            if c.missing.any() and inferences[c.name].kind != "terms"
        ),
        "Pass missing='median', 'mean', 'most_frequent', 'indicator' or 'drop'.",
        "--missing median (or mean, most_frequent, indicator, drop)",
        missing == "error",
    )
    yield Problem(
        "Columns with infinite values",
        tuple(_describe_infinite(c) for c in used if _infinite(c).size),
        "Replace infinity by a number or by NaN.",
        "--ignore, or correct the file",
        True,
    )
    yield Problem(
        "Columns whose squares leave double precision",
        tuple(f"{c.name!r} (up to {size:.1e})" for c in used if (size := _size(c)) > FARTHEST),
        "Divide them by a constant.",
        "--ignore, or rescale in the file",
        True,
    )


def _left_out(inferences: Mapping[str, Inference]) -> Iterator[Problem]:
    """Yield the columns of each kind that `Prepare` does not use."""
    words = (
        "Pass kinds={column: 'terms'} to compare their words.",
        "--column-kind COLUMN=terms adds their words, --text-column COLUMN takes them alone",
    )
    for kind, what, (remedy, option) in (
        ("id", "Columns that identify rows, left out", OTHER_KIND),
        ("text", "Columns of free text, left out", words),
        ("constant", "Columns with one value, left out", OTHER_KIND),
    ):
        names = tuple(f"{n!r} ({i.reason})" for n, i in inferences.items() if i.kind == kind)
        yield Problem(what, names, remedy, option)


def _infinite(column: Column) -> Array:
    """Return the places of infinite values."""
    if column.values.dtype.kind != "f":
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(np.isinf(column.values))


def _size(column: Column) -> float:
    """Return the largest finite magnitude of a column of numbers."""
    if column.values.dtype.kind != "f":
        return 0.0
    finite = column.values[np.isfinite(column.values)]
    return largest_magnitude(finite)


def _describe_infinite(column: Column) -> str:
    places = _infinite(column)
    return f"{column.name!r} ({len(places)}, the first in row {places[0] + 1})"


def _duplicates(columns: Sequence[Column]) -> list[str]:
    """Pairs of columns with equal values."""
    seen: dict[bytes, str] = {}
    pairs = []
    for column in columns:
        values = column.values
        key = values.tobytes() if values.dtype != object else repr(values.tolist()).encode()
        if key in seen:
            pairs.append(f"{column.name!r} = {seen[key]!r}")
        seen.setdefault(key, column.name)
    return pairs


class UnusableTable(ValueError):
    """A table has columns that cannot be used as they are; `problems` lists everything found.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> try:
    ...     unbend.Prepare().fit(table)
    ... except unbend.prepare.UnusableTable as refused:
    ...     print(len(refused.problems))
    1
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        fatal = " ".join(str(problem) for problem in problems if problem.fatal)
        super().__init__(f"X contains NaN, infinity, gaps or numbers out of range. {fatal}")
        self.problems = problems


def refuse_fatal(problems: tuple[Problem, ...]) -> None:
    """Raise an error that lists all problems if a fit cannot go on because of one."""
    if any(problem.fatal for problem in problems):
        raise UnusableTable(problems)
