"""One table of every method, size and peer: `python -m benchmarks.summary` writes `summary.md`.

With one log–log plot a method in `summary/`. Reads what `python -m benchmarks` and `python -m
benchmarks.small` measured. A ratio is the CPU time of the peer over ours: above 1 ours is faster.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.plots import draw_methods
from benchmarks.table import accuracy

FOLDER = Path(__file__).parent
PAGE = FOLDER / "summary.md"
# Files that hold ratios.
SOURCES = ("results.json", "small.json", "two_threads.json")
# Parts of `small.json` that compare nothing with a peer's fit.
APART = ("unfolding", "first")


@dataclass(frozen=True)
class Ratio:
    """CPU time of a peer over ours for one method on one table."""

    method: str
    size: str
    peer: str
    ratio: float
    ours: str = ""
    theirs: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What is compared from one run to another."""
        return self.method, self.size, self.peer


def read(folder: Path = FOLDER) -> dict[str, Any]:
    """Read the results that are there."""
    return {
        name: json.loads((folder / name).read_text())
        for name in SOURCES
        if (folder / name).exists()
    }


def ratios(found: dict[str, Any]) -> list[Ratio]:
    """List all ratios of results by file."""
    large = _large(found.get("results.json", {}))
    return [*large, *_small(found.get("small.json", {}))]


def _large(results: dict[str, Any]) -> Iterator[Ratio]:
    for case in results.get("cases", {}).values():
        contenders = case["contenders"]
        ours = contenders.get("unbend", {"status": "missing"})
        if ours["status"] != "ok":
            continue
        placed = f" + {case['new']} new" if case["new"] else ""
        variant = f" {case['variant']}" if case["variant"] else ""
        for peer, one in contenders.items():
            if peer != "unbend" and one["status"] == "ok":
                yield Ratio(
                    case["panel"],
                    f"{case['data']} {case['n']}{placed}{variant}",
                    peer,
                    one["cpu"] / ours["cpu"],
                    accuracy(ours),
                    accuracy(one),
                )


def _small(results: dict[str, Any]) -> Iterator[Ratio]:
    for part, methods in results.items():
        if part in APART:
            continue
        for method, one in methods.items():
            known = dict(one["accuracy"])
            theirs = known.pop("scikit_learn", None)
            ours = ", ".join(f"{name} {value:.3g}" for name, value in known.items())
            beside = "" if theirs is None else f"{theirs:.3g}"
            yield Ratio(method, part, "scikit-learn", one["ratio"], ours, beside)


def page(found: list[Ratio], plots: dict[str, str] | None = None) -> str:
    """Return table and plots (files by panel) as Markdown, methods in order of their names."""
    lines = [
        "# Every method, size and peer",
        "",
        "CPU time of the peer over ours, one thread: above 1 ours is faster. Written by",
        "`python -m benchmarks.summary`; how it was measured: `docs/benchmarks.md`.",
        "",
        "| method | size | peer | peer / ours | accuracy | of the peer |",
        "|---|---|---|---|---|---|",
    ]
    for one in sorted(found, key=lambda ratio: (ratio.method.lower(), ratio.size, ratio.peer)):
        shown = f"{one.ratio:.2f}" if one.ratio >= 1 else f"**{one.ratio:.2f}**"
        cells = (one.method, one.size, one.peer, shown, one.ours, one.theirs)
        lines.append("| " + " | ".join(cells) + " |")
    if plots:
        lines += ["", "# Time and memory against n", ""]
        lines += [
            "Both axes logarithmic: rolls of `small.json`, then the cases of `results.json`.",
            "",
        ]
    for panel, name in sorted((plots or {}).items(), key=lambda item: item[0].lower()):
        lines += [f"## {panel}", "", f"![{panel}](summary/{name})", ""]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page and its plots."""
    found = read()
    large, small = found.get("results.json", {"cases": {}}), found.get("small.json", {})
    plots = draw_methods(large, small, FOLDER / "summary")
    PAGE.write_text(page(ratios(found), plots))


if __name__ == "__main__":
    main()
