"""Files that appear whole or not at all."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from unbend.cli.interrupts import unfinished
from unbend.cli.output import say


@contextmanager
def appearing_together() -> Iterator[Callable[[str], str]]:
    """Give a function from a file's name to the name under which to write it meanwhile.

    All files get their names at the end of the block; if it fails or is interrupted, none does.
    """
    from unbend.io import replacing

    named: list[str] = []
    with ExitStack() as stack:

        def beside(path: str) -> str:
            temporary = stack.enter_context(replacing(path))
            named.append(path)
            return stack.enter_context(unfinished(str(temporary)))

        yield beside
    for path in named:
        say(f"wrote {path}")
