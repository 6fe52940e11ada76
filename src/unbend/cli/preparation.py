"""Preparation of the columns of a table, and one line that reports it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unbend.cli.messages import Misuse, say
from unbend.cli.options import DataOptions

if TYPE_CHECKING:
    from unbend.io import Frame, Table
    from unbend.prepare import Prepare
    from unbend.prepare.frames import PreparedFrame


def prepare_rows(frame: "Frame", options: DataOptions, truth: Sequence[str]) -> "PreparedFrame":
    """Return features as the options ask for, and print one line about them."""
    from unbend.prepare.frames import describe_gaps, describe_preparation, prepare_frame

    preparation = make_preparation(options)
    try:
        prepared = prepare_frame(frame, preparation, truth)
    except ValueError as error:
        raise refusal(error, frame.where) from error
    sentences = [
        *describe_preparation(preparation, identity=prepared.identity),
        *describe_gaps(preparation, prepared.dropped),
    ]
    if sentences:
        say(" ".join(sentences))
    return prepared


def make_preparation(options: DataOptions) -> "Prepare":
    """Return the preparation that the options describe."""
    from unbend.prepare import Prepare

    return Prepare(
        scale=options.scale,
        missing="error" if options.missing == "refuse" else options.missing,
        categories=options.categories,
        kinds=options.kinds,
        weights=None,
    )


@dataclass(frozen=True)
class PreparedBatches:
    """Features of a table larger than memory, batch by batch, any number of times."""

    frames: "Iterable[Frame]"
    preparation: "Prepare"
    where: str

    @classmethod
    def fit(cls, frames: "Iterable[Frame]", options: DataOptions, where: str) -> "PreparedBatches":
        """Fit a preparation in two readings, and print one line about it."""
        from unbend.prepare.frames import describe_gaps, describe_preparation

        preparation = make_preparation(options)
        try:
            preparation.fit_batches(frames)
        except ValueError as error:
            raise refusal(error, where) from error
        sentences = [*describe_preparation(preparation), *describe_gaps(preparation, 0)]
        if sentences:
            say(" ".join(sentences))
        return cls(frames, preparation, where)

    def __iter__(self) -> "Iterator[Table]":
        columns = tuple(self.preparation.get_feature_names_out().tolist())
        for frame in self.frames:
            keep = self.preparation.complete_rows(frame)
            if keep.any():
                rows = frame.take(keep)
                try:
                    values = self.preparation.transform(rows)
                except ValueError as error:
                    raise refusal(error, self.where) from error
                yield replace(rows.rest, values=values, columns=columns)


def check_euclidean(options: DataOptions) -> None:
    """Refuse Gower's distance where rows are compared by the Euclidean one."""
    if options.scale == "gower":
        raise Misuse(
            "--scale gower is a distance of embed, and this command compares rows by the Euclidean "
            "one: leave it out"
        )


def refusal(error: ValueError, where: str) -> ValueError:
    """Name the table, and list all its problems, each with the option that solves it."""
    from unbend.prepare import UnusableTable
    from unbend.prepare.frames import abbreviate_list

    if not isinstance(error, UnusableTable):
        sentence = str(error).replace("of X", f"of {where}")
        return ValueError(sentence if where in sentence else f"{where}: {sentence}")
    listed = [
        f"{problem.what}: {abbreviate_list(problem.columns)} [{problem.option}]"
        for problem in sorted(error.problems, key=lambda problem: not problem.fatal)
    ]
    return ValueError(f"{where} cannot be used as it is. {'; '.join(listed)}")
