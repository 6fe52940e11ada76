"""Files that hold several arrays by name: which of them are the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from unbend.io.numerals import Array


class Held(Protocol):
    """An array that is in memory, or still in its file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of entries along each dimension."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: Any) -> Array: ...


@dataclass(frozen=True)
class Chosen:
    """The matrix of a file, by its name, and the columns that stand beside it."""

    matrix: str | None
    columns: tuple[str, ...]


def chosen(arrays: Mapping[str, Held], array: str | None, where: str) -> Chosen:
    """Take the array that is asked for, or the one matrix with the columns of its length.

    Without a matrix, arrays of one dimension and one length are the columns.
    """
    if array is not None:
        if array not in arrays:
            raise ValueError(f"{where} has no array {array!r}: it holds {listed(arrays)}")
        return Chosen(array, ())
    matrices = [name for name, held in arrays.items() if len(held.shape) == 2]
    if len(matrices) > 1:
        raise ValueError(
            f"{where} holds several matrices ({listed(arrays, matrices)}): name the one that is "
            "the table by array="
        )
    columns = [name for name, held in arrays.items() if len(held.shape) == 1]
    if matrices:
        n = len(arrays[matrices[0]])
        return Chosen(matrices[0], tuple(name for name in columns if len(arrays[name]) == n))
    if len({len(arrays[name]) for name in columns}) == 1:
        return Chosen(None, tuple(columns))
    raise ValueError(
        f"{where} holds no matrix that could be the table, but {listed(arrays)}: name an array by "
        "array=, or save a matrix with one row for each point"
    )


def listed(arrays: Mapping[str, Held], names: list[str] | None = None, most: int = 5) -> str:
    """Names of arrays with their sizes, for a sentence."""
    names = list(arrays) if names is None else names
    if not names:
        return "no array of numbers"
    sizes = [(name, " x ".join(map(str, arrays[name].shape)) or "one number") for name in names]
    shown = ", ".join(f"{_short(name)} {size}" for name, size in sizes[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _short(name: str) -> str:
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return plain if len(plain) <= 30 else plain[:27] + "..."
