"""Tables 15.1–15.6 of the book: deviations and eigenvalues beside those that it prints."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.book_tables import SIZES, TABLES, by_fat, exact, measured, verdicts

from tests.loops import each

KEPT = Path(__file__).parents[2] / "benchmarks" / "book_tables.json"
# At m = 17 the gap of our sample of clusters is narrower than the book's (docs/fast.md).
WORSE = {("15.3", "IRAT", 17), ("15.3", "PRAT", 17)}


def assert_as_good(surface):
    """Run every line on one sample."""
    problem = exact(surface, 0, full=False)
    for table in TABLES:
        if table.surface != surface:
            continue
        for row in table.rows:
            for m in SIZES:
                found = np.array(measured(by_fat, row, m, problem, 0, table.by_plane))
                good = verdicts(table, row, m, found)
                assert good["eigenvalues"], (table.number, row.name, m)
                known = (table.number, row.name, m) in WORSE
                assert good["deviation"] or known, (table.number, row.name, m, found[0])


@pytest.mark.slow
def test_lines_on_the_s_curve_are_as_good_as_the_books():
    """Tables 15.2 (GAT, I-RAT, P-RAT) and 15.5 (P-RAT of types 1 to 3)."""
    assert_as_good("s_curve")


@pytest.mark.slow
@each("surface", ["swiss_roll", "clusters_3d", "punched_sphere"])
def test_lines_on_other_surfaces_are_as_good_as_the_books(surface):
    assert_as_good(surface)


def test_the_medians_of_ten_samples_are_as_good_as_the_books():
    lines = json.loads(KEPT.read_text(encoding="utf-8"))["lines"]
    assert len(lines) == 36
    worse = {
        (line["table"], line["algorithm"], line["m"])
        for line in lines
        if not all(line["as_good"].values())
    }
    assert worse == WORSE
