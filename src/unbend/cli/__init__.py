"""The command line: a table in, coordinates, a picture and a model out.

Nothing here computes: commands read, call the library and write, and the options of a method are
made of the parameters that it declares. NumPy and scikit-learn are imported only when a command
needs them, so that ``--help`` starts quickly.
"""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

INTERRUPTED = 130
WITHOUT_EXTRA = (
    "The command line needs typer and rich, which are not installed: run pip install 'unbend[cli]'."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the program's name; by default the actual ones.

    Returns
    -------
    int
        Exit code: 0 done, 1 failed, 2 misused, 130 interrupted, 141 the reader of a pipe left.

    Examples
    --------
    >>> from unbend.cli import main
    >>> main(["--version"])
    unbend ...
    0
    """
    if find_spec("typer") is None or find_spec("rich") is None:
        print(WITHOUT_EXTRA, file=sys.stderr)
        return 1
    if sys.stdout is None:
        # The shell closed it, as >&- does; results would have nowhere to go.
        print("Error: stdout is closed: open it, or send it to a file", file=sys.stderr)
        return 1
    try:
        from unbend.cli.app import run

        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED and arguments is None:
        # Python would end by the signal itself if it came while text was being executed, as
        # dataclasses do, though we have answered it.
        sys.stderr.flush()
        os._exit(code)
    return code
