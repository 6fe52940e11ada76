"""Parts of NumPy work that the threads of a fit share."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from unbend._kernels import kernels

Part = TypeVar("Part")
Result = TypeVar("Result")


def map_in_team(
    function: Callable[[Part], Result], parts: Sequence[Part], threads: int
) -> list[Result]:
    """Results of a function for every part, in their order, by the team that a fit keeps.

    Like `arrays.map_parts`, for work of milliseconds: new threads would come when it is done.

    Examples
    --------
    >>> with kernels.Team(2):
    ...     map_in_team(abs, [-1, 2, -3], threads=2)
    [1, 2, 3]
    """
    results: dict[int, Result] = {}

    def run(number: int) -> None:
        results[number] = function(parts[number])

    kernels.run_parts(run, len(parts), threads)
    return [results[number] for number in range(len(parts))]
