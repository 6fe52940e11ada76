"""Commands to run next, as they can be pasted into a shell."""

import shlex

from unbend.cli.tables import PIPE


def named(path: str) -> str:
    """Return a file's name as a word of the shell; what came through a pipe is just a table."""
    if path == PIPE:
        return "TABLE"
    # Behind a dash an option is looked for.
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
