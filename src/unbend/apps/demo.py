"""Embed each artificial surface by each method: a table, a contact sheet and a page.

Run as ``python -m unbend.apps.demo --output DIR``.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from unbend.apps.gallery.panels import NEIGHBORS, Row, embed
from unbend.apps.gallery.summary import draw_sheet, table_text
from unbend.apps.gallery.viewer import page_html
from unbend.datasets import SURFACES
from unbend.registry import METHODS

SHEET, PAGE = "contact_sheet.png", "index.html"
# Trustworthiness compares fewer than half of the rows; below that no surface has a shape anyway.
FEWEST_ROWS = 5 * NEIGHBORS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line without the program's name; by default the actual one.

    Returns
    -------
    int
        Exit code: 0, or 1 where matplotlib is missing.
    """
    options = _parse_arguments(arguments)
    if find_spec("matplotlib") is None:
        print(
            "The demo draws with matplotlib, which is not installed: "
            "run pip install 'unbend[plot]'.",
            file=sys.stderr,
        )
        return 1
    rows = []
    for number, name in enumerate(SURFACES, start=1):
        print(f"[{number}/{len(SURFACES)}] {name}: {len(METHODS)} methods", file=sys.stderr)
        rows.append(embed(name, options.rows, options.seed))
    written = write(rows, options.output)
    print(table_text(rows))
    for path in written:
        print(f"wrote {path}")
    return 0


def write(rows: Sequence[Row], folder: Path) -> tuple[Path, Path]:
    """Write the contact sheet and the page into a folder, made if it is not there.

    Parameters
    ----------
    rows : sequence of Row
        The surfaces, all embedded by the same methods.
    folder : Path
        Where to write.

    Returns
    -------
    tuple of Path
        The contact sheet and the page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sheet, page = folder / SHEET, folder / PAGE
    draw_sheet(rows, sheet)
    page.write_text(page_html(rows), encoding="utf-8")
    return sheet, page


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m unbend.apps.demo", description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
    parser.add_argument("--rows", type=int, default=1000, help="points on each surface (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the surfaces (0)")
    options = parser.parse_args(arguments)
    if options.rows < FEWEST_ROWS:
        parser.error(f"--rows must be at least {FEWEST_ROWS}, but it is {options.rows}")
    if options.seed < 0:
        parser.error(f"--seed must not be negative, but it is {options.seed}")
    if options.output.exists() and not options.output.is_dir():
        parser.error(f"--output must be a folder, but {options.output} is a file")
    return options


if __name__ == "__main__":
    sys.exit(main())
