"""The page on plots: every kind is rendered once, kept, and small."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_picture_of_the_page_is_made_by_its_script_and_small():
    shown = re.findall(r"!\[[^]]*\]\(plots/(\w+)\.png\)", (DOCS / "plots.md").read_text("utf-8"))
    made = re.findall(r'yield "(\w+)"', (DOCS / "plots" / "make.py").read_text("utf-8"))
    kept = {path.stem: path.stat().st_size for path in (DOCS / "plots").glob("*.png")}
    assert sorted(shown) == sorted(made) == sorted(kept)
    assert max(kept.values()) < 60_000
