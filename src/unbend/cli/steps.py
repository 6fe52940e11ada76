"""Commands to run next, as they can be pasted into a shell."""

import shlex

from unbend.cli.tables import PIPE, Columns


def named(path: str) -> str:
    """Return a file's name as a word of the shell; what came through a pipe is just a table."""
    if path == PIPE:
        return "TABLE"
    # Behind a dash an option is looked for.
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def column_options(columns: Columns) -> str:
    """Return the options that say which columns are not data, and about missing values."""
    missing = "" if columns.missing == "refuse" else columns.missing
    given = {
        "label": columns.label,
        "id": columns.id,
        "ignore": ",".join(columns.ignore),
        "missing": missing,
    }
    return "".join(f" --{name} {shlex.quote(value)}" for name, value in given.items() if value)
