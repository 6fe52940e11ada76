"""The code on the pages of the documentation runs, top to bottom, and its assertions hold."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("agg")
DOCS = Path(__file__).parent.parent / "docs"
PAGES = [
    DOCS / "start" / "first_ten_minutes.md",
    DOCS / "start" / "install.md",
    DOCS / "choosing.md",
    DOCS / "troubleshooting.md",
    # tests/test_tutorial.py runs table.md with its commands.
    *sorted(set((DOCS / "tutorials").glob("*.md")) - {DOCS / "tutorials" / "table.md"}),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    if page.stem == "cluster":
        pytest.importorskip("dask.array")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
    ):
        exec(compile(block, page.name, "exec"), names)
