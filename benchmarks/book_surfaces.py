"""Run the book's experiments on surfaces and write `docs/book/surfaces.md`.

`python -m benchmarks.book_surfaces` also writes `book_surfaces.json`, which the slow check compares
a fresh run with.
"""

import argparse
import json
import time
from pathlib import Path

from benchmarks.book.page import page
from benchmarks.book.run import run

FIGURES = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parent.parent / "docs" / "book" / "surfaces.md"


def main() -> None:
    """Run, or write the page again from figures kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--only", default="", help="run settings with this in their name")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    asked = parser.parse_args()
    if not asked.page:
        start = time.perf_counter()
        known = json.loads(FIGURES.read_text()) if asked.only else {}
        FIGURES.write_text(json.dumps(known | run(asked.jobs, asked.only), indent=1) + "\n")
        print(f"{time.perf_counter() - start:.0f} s")
    PAGE.write_text(page(json.loads(FIGURES.read_text())))


if __name__ == "__main__":
    main()
