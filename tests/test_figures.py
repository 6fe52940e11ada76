"""Sections of the documentation with measured figures name the script that produces them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *(
        path
        for path in sorted(ROOT.glob("docs/**/*.md"))
        if not {"generated", "gallery", "_build"} & set(path.relative_to(ROOT).parts)
        and path.name not in ("changelog.md", "contributing.md")
    ),
]
# A number with a unit that somebody measured.
UNIT = re.compile(
    r"\d(?: ?(?:%|×(?! ?\d)|GB\b|MB\b|kB\b)| (?:CPU-s|CPU seconds|s|ms|µs|seconds|minutes)\b"
    r"| times (?:as|faster|slower|larger|less)\b)"
)
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+")
SOURCE = re.compile(
    r"python -m (benchmarks[\w.]*)|(?<![(/\w])((?:benchmarks|tests|examples)/[\w/.]*\w)"
    r"|make (bench|book-tables)"
)
WHOLE_PAGE = re.compile(r"`python -m benchmarks[\w.]*` writes this page")
# Sections whose figures are settings, limits or numbers of theorems, with all of these figures.
SETTINGS = {
    ("docs/choices.md", "What is the embedding for?"): {
        "0.3 %",
        "2 %",
        "25 %",
        "4 %",
        "95 %",
        "97 %",
    },
    ("docs/cli.md", "From a table to a model"): {"1 %"},
    ("docs/dimension.md", "Which estimator"): {"5 %"},
    ("docs/graphs.md", "Quantities"): {"3.1", "3.12", "3.2"},
    ("docs/guide.md", "Columns in different units"): {"90 %", "99.9 %"},
    ("docs/io.md", "Formats"): {"32 MB"},
    ("docs/page.md", "Compare"): {"95 %"},
    ("docs/scale.md", "A real cluster"): {"200 MB"},
}


def sections(text: str) -> list[tuple[str, str]]:
    """Return the title and the text of each section, without blocks of code."""
    text = re.sub(r"^```(?!\{).*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"^(?: {4}.*\n)+", "", text, flags=re.M)
    parts = re.split(r"^(?=#{1,2} )", text, flags=re.M)
    return [(part.split("\n")[0].lstrip("# "), part) for part in parts if part.strip()]


def measured(text: str) -> set[str]:
    """Return the figures of a section: numbers with units, and tables of decimal numbers."""
    text = re.sub(r"`[^`]*`", "", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    decimals = DECIMAL.findall(" ".join(rows))
    found = {number_at(text, match) for match in UNIT.finditer(text)}
    return found | (set(decimals) if len(decimals) >= 4 else set())


def number_at(text: str, match: re.Match[str]) -> str:
    """Return the number that ends in the matched digit, with its unit."""
    start = re.search(r"[\d.,]*$", text[: match.start() + 1])
    assert start is not None
    return " ".join((start.group() + match.group()[1:]).split())


def sources(text: str) -> list[str]:
    """Return the scripts that a section names."""
    return [next(filter(None, found)) for found in SOURCE.findall(text)]


def lacking(page: Path) -> list[str]:
    """Return sections with figures that name no script."""
    name, content = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    wrong = []
    for title, text in sections("" if WHOLE_PAGE.search(content) else content):
        unexplained = measured(text) - SETTINGS.get((name, title), set())
        if unexplained and not sources(text):
            wrong.append(f"{name}, {title!r}: {sorted(unexplained)}")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_name_the_script_that_produces_them(page):
    wrong = lacking(page)
    assert not wrong, "name the script, or list settings in SETTINGS:\n" + "\n".join(wrong)


def exists(source: str) -> bool:
    """Whether a script, a module or a file of figures is there; `NAME` stands for any."""
    if source in ("bench", "book-tables") or "NAME" in source:
        return True
    path = ROOT / (source.replace(".", "/") if source.startswith("benchmarks.") else source)
    return path.exists() or path.with_suffix(".py").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_scripts_exist(page):
    named = sources(page.read_text(encoding="utf-8"))
    assert [one for one in named if not exists(one)] == []


def test_settings_are_those_of_the_pages():
    for (name, title), figures in SETTINGS.items():
        texts = dict(sections((ROOT / name).read_text(encoding="utf-8")))
        assert title in texts, f"{name} has no section {title!r}"
        assert figures <= measured(texts[title]), f"{name}, {title!r}"


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("A fit takes 1.5 CPU-s and 0.53 GB.", {"1.5 CPU-s", "0.53 GB"}),
        ("It is 15× faster on 28 × 28 pixels.", {"15×"}),
        ("It is right in 90 %\nof the cases, 3 times as often.", {"90 %", "3 times as"}),
        ("| a | 0.1 | 0.2 |\n| b | 0.3 | .4 |", {"0.1", "0.2", "0.3", ".4"}),
        ("Set `--memory 4 GB`, with 12 neighbours of 2000 rows in section 4.1.", set()),
    ],
)
def test_figures_are_detected(text, figures):
    assert measured(text) == figures


def test_a_section_without_a_script_is_detected():
    text = "# One\n\nfast: 3 ms\n\n## Two\n\n3 ms (`python -m benchmarks.small`)\n"
    found = [(title, sources(part)) for title, part in sections(text) if measured(part)]
    assert found == [("One", []), ("Two", ["benchmarks.small"])]
