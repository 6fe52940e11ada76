"""A bar for each stage, with the time left, where somebody is there to see it."""

from collections.abc import Iterator
from contextlib import contextmanager

from unbend.cli.output import at_terminal


@contextmanager
def watched() -> Iterator[None]:
    """Show the stages of the work in the block, if stderr is a terminal."""
    if not at_terminal():
        yield
        return
    from unbend.bars import Stages, stage_bars
    from unbend.progress import monitoring

    with stage_bars() as bars, monitoring(Stages(bars)):
        yield
