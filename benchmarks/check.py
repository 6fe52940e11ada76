"""Compare measured ratios with the committed ones: `python -m benchmarks.check [REVISION]`.

Run after `make bench`, or after one of its parts: whatever is more than 20 % worse than in REVISION
(HEAD unless given) is listed, and the exit status is 1. Compared are CPU times of peers over ours
and the gain of a second thread, of stages and of methods. Ratios of times taken in turns in one run
hardly depend on the machine; on a busy one small tables scatter by a tenth, and gains of threads by
more.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks.summary import FOLDER, SOURCES, Ratio, ratios, read

# Share of a ratio that may be lost before it is flagged.
ALLOWED = 0.2


@dataclass(frozen=True)
class Change:
    """A ratio before and after."""

    before: Ratio
    after: Ratio

    @property
    def lost(self) -> float:
        """Share of the ratio that was lost; negative where it grew."""
        return 1.0 - self.after.ratio / self.before.ratio

    @property
    def cells(self) -> tuple[str, ...]:
        """Line of the table."""
        before, after = self.before, self.after
        ratios = f"{before.ratio:.2f}", f"{after.ratio:.2f}", f"{-self.lost:+.0%}"
        return before.method, before.size, before.peer, *ratios


HEAD = ("method", "size", "ours against", "before", "now", "change")


def shown(found: list[Change]) -> str:
    """Return changes as a table of aligned columns."""
    lines = [HEAD, *(change.cells for change in found)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def all_ratios(found: dict[str, Any]) -> list[Ratio]:
    """List ratios to peers, and of one thread to two, of stages and of methods."""
    stages = found.get("results.json", {}).get("stages", {})
    methods = found.get("two_threads.json", {})
    gains = [
        Ratio(name, f"{one['rows']} rows", "one thread", one["speedup"])
        for name, one in (stages | methods).items()
    ]
    return [*ratios(found), *gains]


def changes(before: list[Ratio], after: list[Ratio]) -> list[Change]:
    """Pair the ratios of two runs; what only one of them has is left out."""
    known = {one.key: one for one in before}
    return [Change(known[one.key], one) for one in after if one.key in known]


def worse(found: list[Change], allowed: float = ALLOWED) -> list[Change]:
    """List ratios that lost more than a share, worst first."""
    lost = [change for change in found if change.lost > allowed]
    return sorted(lost, key=lambda change: -change.lost)


def committed(revision: str) -> dict[str, Any]:
    """Read the results of a revision; files that it does not have are left out."""
    found = {}
    for name in SOURCES:
        stored = subprocess.run(
            ["git", "show", f"{revision}:./{name}"], cwd=FOLDER, capture_output=True, check=False
        )
        if stored.returncode == 0:
            found[name] = json.loads(stored.stdout)
    return found


def main() -> int:
    """Print what became worse; return 1 if anything did."""
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    before = committed(revision)
    if not before:
        print(f"{revision} has no results to compare with: name a revision that has.")
        return 2
    found = changes(all_ratios(before), all_ratios(read()))
    flagged = worse(found)
    if flagged:
        print(shown(flagged))
    print(f"{len(found)} ratios compared with {revision}, {len(flagged)} more than 20 % worse")
    return 1 if flagged else 0


if __name__ == "__main__":
    sys.exit(main())
