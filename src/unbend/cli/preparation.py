"""Preparation of the columns of a table, and one line that reports it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unbend.cli.messages import say
from unbend.cli.options import DataOptions

if TYPE_CHECKING:
    from unbend.io import Frame
    from unbend.prepare.frames import PreparedFrame


def prepare_rows(frame: "Frame", options: DataOptions, truth: Sequence[str]) -> "PreparedFrame":
    """Return features as the options ask for, and print one line about them."""
    from unbend.prepare import Prepare
    from unbend.prepare.frames import describe_gaps, describe_preparation, prepare_frame

    preparation = Prepare(
        scale=options.scale,
        missing="error" if options.missing == "refuse" else options.missing,
        categories=options.categories,
        kinds=options.kinds,
        weights=None,
    )
    try:
        prepared = prepare_frame(frame, preparation, truth)
    except ValueError as error:
        raise refusal(error, frame.where) from error
    sentences = [*describe_preparation(prepared), *describe_gaps(prepared)]
    if sentences:
        say(" ".join(sentences))
    return prepared


def refusal(error: ValueError, where: str) -> ValueError:
    """Name the table, and list all its problems, each with the option that solves it."""
    from unbend.prepare import UnusableTable
    from unbend.prepare.frames import list_some

    if not isinstance(error, UnusableTable):
        sentence = str(error).replace("of X", f"of {where}")
        return ValueError(sentence if where in sentence else f"{where}: {sentence}")
    listed = [
        f"{problem.what}: {list_some(problem.columns)} [{problem.option}]"
        for problem in sorted(error.problems, key=lambda problem: not problem.fatal)
    ]
    return ValueError(f"{where} cannot be used as it is. {'; '.join(listed)}")
