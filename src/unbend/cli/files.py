"""Files that appear whole or not at all."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unbend.cli.errors import Misuse
from unbend.cli.interrupts import unfinished
from unbend.cli.output import say
from unbend.cli.tables import PIPE

PAGES = (".html", ".htm")
GRAPHS = (".npz", ".mtx", ".graphml")
ENVI = (".hdr", ".img", ".dat")
IMAGES = (*ENVI, ".png")


def check_files(
    *,
    table: str | None = None,
    picture: str | None = None,
    model: str | None = None,
    page: str | None = None,
    image: bool = False,
    graph: str | None = None,
    read: Sequence[str] = (),
) -> None:
    """Refuse, before any work, names under which the results could not be written.

    Nor may a result take the place of another, or of what it is made from. With `image` the table
    may be an image of pixels as well: ENVI, which takes two files, or PNG.
    """
    from unbend.files import replaceable
    from unbend.io.writing import EXTENSIONS

    if model == PIPE:
        raise Misuse("a model cannot go to stdout: give --model FILE.unbend")
    table = None if table == PIPE else table
    if table is not None:
        _check_ending(table, (*EXTENSIONS, *IMAGES) if image else EXTENSIONS)
    if picture is not None:
        from unbend.plot.saving import KINDS

        _check_ending(picture, KINDS)
    for name, endings in ((page, PAGES), (graph, GRAPHS)):
        if name is not None:
            _check_ending(name, endings)
    taken = {os.path.realpath(name) for name in read if name != PIPE}
    tables = [] if table is None else image_files(table) if is_image(table) else [table]
    for name in (*tables, picture, model, page, graph):
        if name is not None:
            place = os.fspath(replaceable(name))
            if place in taken:
                raise Misuse(f"{name} is named twice, and would be overwritten: give another name")
            taken.add(place)


def is_image(name: str | None) -> bool:
    """Whether a name is that of an image of pixels."""
    return name is not None and Path(name).suffix.lower() in IMAGES


def image_files(name: str) -> list[str]:
    """Return the files that an image is written to: of ENVI the header and the data."""
    path = Path(name)
    if path.suffix.lower() not in ENVI:
        return [name]
    data = path.with_suffix(".img") if path.suffix.lower() == ".hdr" else path
    return [str(path.with_suffix(".hdr")), str(data)]


def write_image(target: str, beside: Callable[[str], str], image: Any, names: list[str]) -> None:
    """Write an image of one band for each coordinate; both files of ENVI appear together."""
    from unbend import io
    from unbend.report import stage

    with stage("writing"), TemporaryDirectory(dir=Path(target).resolve().parent) as folder:
        io.write_cube(Path(folder, Path(target).name), image, names=names)
        for name in image_files(target):
            os.replace(Path(folder, Path(name).name), beside(name))


def _check_ending(name: str, endings: Sequence[str]) -> None:
    if Path(name).suffix.lower() not in endings:
        raise Misuse(f"{name} does not end in one of {', '.join(endings)}, which say the format")


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
