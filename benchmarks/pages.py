"""Tables of the documentation that are written from results: `python -m benchmarks.pages`.

A table stands between the comments `<!-- from FILE, NAME: begin -->` and `end` of its page.
`make bench` writes them anew; a test compares page and file.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.descent_curves import ratios_at_equal_recall

FOLDER = Path(__file__).parent
DOCS, README = FOLDER.parent / "docs", FOLDER.parent / "README.md"
ASKED = 1.6
MARKED = re.compile(
    r"(<!-- from ([\w.]+), ([\w ]+): begin -->\n).*?(<!-- from \2, \3: end -->)", re.S
)


def rows_of(head: list[str], rows: list[list[str]]) -> str:
    """Markdown of a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def milliseconds(seconds: float) -> str:
    """Two or three digits."""
    return f"{1e3 * seconds:.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.1f} ms"


def stages(results: dict[str, Any]) -> str:
    """Bound of every compiled stage, our share of it, and the gain of a second thread."""
    head = ["stage", "rows", "one thread", "bound", "bound by", "share", "two threads", "left out"]
    rows = [
        [
            name,
            f"{stage['rows']:,}".replace(",", " "),
            milliseconds(stage["one"]),
            milliseconds(stage["limit"]["seconds"]),
            stage["limit"]["by"],
            f"{100 * stage['limit']['fraction']:.0f} %",
            f"{stage['speedup']:.2f} ×",
            stage["limit"]["why"],
        ]
        for name, stage in results["stages"].items()
    ]
    return rows_of(head, rows)


def two_threads(found: dict[str, Any]) -> str:
    """Gain of every method, and the stages that keep it below what is asked."""
    head = [
        "method",
        "rows",
        "one thread",
        "two threads",
        "gain",
        "undivided, bound",
        "two processes",
        "stages that gain less",
    ]
    rows = []
    for name, one in found.items():
        # Seconds beyond what two threads ought to take, by stage.
        lost = {
            stage: (alone, two)
            for stage, (alone, two) in one["stages"].items()
            if alone < ASKED * two and two - alone / 2 > 0.03 * one["two"]
        }
        shown = ", ".join(f"{stage} {a:.2f} → {b:.2f} s" for stage, (a, b) in lost.items())
        rows.append(
            [
                name,
                f"{one['rows']:,}".replace(",", " "),
                f"{one['one']:.2f} s",
                f"{one['two']:.2f} s",
                f"{one['speedup']:.2f} ×",
                f"{100 * one['undivided']:.0f} %, {2 / (1 + one['undivided']):.2f} ×",
                f"{one['copies']:.2f} ×",
                shown,
            ]
        )
    return rows_of(head, rows)


SMALL_TABLES = {
    "wine": "wine, 178 × 13",
    "roll 300": "roll 300",
    "breast cancer": "breast cancer, 569 × 30",
    "roll 1000": "roll 1000",
    "digits": "digits, 1797 × 64",
    "roll 3000": "roll 3000",
    "words": "words, 3000 × 100",
    "faces": "faces, 400 × 10 304",
}


# Rows of the README's table, and the cases that they show.
HOW_FAST = {
    "`Isomap`, 2000 rows": "Isomap n=2000",
    "`Isomap`, 10 000 rows": "Isomap n=10000",
    "`LLE`, 10 000 rows": "LLE n=10000",
    "`LTSA`, 10 000 rows": "LTSA n=10000",
    "`HessianLLE`, 10 000 rows (scikit-learn's is LTSA)": "HessianLLE n=10000",
    "`LaplacianEigenmaps`, 10 000 rows": "LaplacianEigenmaps n=10000",
    "`LTSA.transform`, 100 000 new samples": "LTSA transform n=10000",
    "`LTSA`, 100 000 rows": "LTSA n=100000",
    "`LaplacianEigenmaps`, 1 000 000 rows": "LaplacianEigenmaps n=1000000",
}


def how_fast(results: dict[str, Any]) -> str:
    """CPU seconds and peak memory of both in a few cases; a dash where the peer has none."""
    head = ["Swiss roll, k = 12", "scikit-learn", "unbend", "ratio", "peak memory of both"]
    rows = []
    for name, key in HOW_FAST.items():
        contenders = results["cases"][key]["contenders"]
        ours, theirs = contenders["unbend"], contenders.get("scikit-learn", {})
        cells = [three_digits(ours["cpu"]) + " s", "", gigabytes(ours)]
        if theirs.get("status") == "ok":
            cells[1] = f"{theirs['cpu'] / ours['cpu']:.2g}×"
            cells[2] = f"{gigabytes(theirs)} : {cells[2]}"
            rows.append([name, three_digits(theirs["cpu"]) + " s", *cells])
        else:
            rows.append([name, "–", *cells])
    return rows_of(head, rows)


def three_digits(seconds: float) -> str:
    """Seconds with three digits, or with one decimal from ten on."""
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.{2 if seconds >= 1 else 3}f}"


def gigabytes(contender: dict[str, Any]) -> str:
    """Peak memory of the process of a contender."""
    return f"{contender['peak_mb'] / 1000:.2f} GB"


def first_fit(found: dict[str, Any]) -> str:
    """CPU of the first fit of Isomap in a new process, imports included."""
    rows = [
        [name, *(f"{one[who]:.2f} s" for who in ("scikit_learn", "unbend")), f"{one['more']:+.0%}"]
        for name, one in found["first"].items()
    ]
    return rows_of(["first fit", "scikit-learn", "unbend", "more"], rows)


def unfolding(found: dict[str, Any]) -> str:
    """CPU and certified gap of the semidefinite programs."""
    rows = [
        [name.replace("_", " "), f"{one['seconds']:.2f} s", f"{one['gap']:.0e}"]
        for name, one in found["unfolding"].items()
    ]
    return rows_of(["1000 points", "CPU", "gap"], rows)


def small(found: dict[str, Any]) -> str:
    """CPU time of scikit-learn's class over ours, of every method on every small table."""
    methods = list(dict.fromkeys(name for table in SMALL_TABLES for name in found[table]))
    rows = []
    for method in methods:
        ratios = [found[table].get(method, {}).get("ratio") for table in SMALL_TABLES]
        shown = ["–" if r is None else f"{r:.0f}" if r >= 10 else f"{r:.2g}" for r in ratios]
        rows.append([method, *shown])
    return rows_of(["", *SMALL_TABLES.values()], rows)


def vector_width(found: dict[str, Any]) -> str:
    """CPU of every stage by the build as it is and by that for AVX-512."""
    rows = [
        [name, milliseconds(one["seconds"]), milliseconds(one["x86-64-v4"]), f"{one['ratio']:.2f}"]
        for name, one in found["stages"].items()
    ]
    return rows_of(["stage", "as it is", "x86-64-v4", "ratio"], rows)


def curves(found: dict[str, Any]) -> str:
    """CPU, recall, and the same of new queries, of every search on every table.

    And CPU over that of NN-descent at the same recall.
    """
    head = ["table", "search", "CPU s", "recall", "ratio", "new query µs", "recall of new", "ratio"]
    rows = []
    for table, searches in found.items():
        built = ratios_at_equal_recall(searches)
        asked = ratios_at_equal_recall(searches, "new_us", "new_recall")
        for number, (search, one) in enumerate(searches.items()):
            new = (
                [f"{one['new_us']:.0f}", f"{one['new_recall']:.3f}"]
                if "new_us" in one
                else ["", ""]
            )
            first = table.replace(" x ", " × ") if number == 0 else ""
            cells = [f"{one['cpu']:.1f}", f"{one['recall']:.3f}", ratio(built.get(search))]
            rows.append([first, search, *cells, *new, ratio(asked.get(search))])
    return rows_of(head, rows)


def ratio(value: tuple[float, bool] | None) -> str:
    """Write a ratio, or a lower bound of one."""
    return "" if value is None else f"{'> ' * value[1]}{value[0]:.1f}"


TABLES: dict[tuple[str, str], Callable[[dict[str, Any]], str]] = {
    ("results.json", "how fast"): how_fast,
    ("results.json", "stages"): stages,
    ("two_threads.json", "methods"): two_threads,
    ("small.json", "tables"): small,
    ("small.json", "first fit"): first_fit,
    ("small.json", "unfolding"): unfolding,
    ("descent_curves.json", "curves"): curves,
    ("vector_width.json", "ratios"): vector_width,
}


def filled(text: str) -> str:
    """Return a page with its tables as the results have them."""

    def table(match: re.Match[str]) -> str:
        begin, file, name, end = match.groups()
        written = TABLES[file, name](json.loads((FOLDER / file).read_text()))
        return f"{begin}\n{written}\n\n{end}"

    return MARKED.sub(table, text)


def pages() -> list[Path]:
    """List the pages that have such a table."""
    found = [README, *sorted(DOCS.glob("*.md"))]
    return [page for page in found if MARKED.search(page.read_text())]


def main() -> None:
    """Write the tables of all pages."""
    for page in pages():
        page.write_text(filled(page.read_text()))


if __name__ == "__main__":
    main()
