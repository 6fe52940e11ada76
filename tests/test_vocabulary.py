"""User-visible text uses the field's terms, not the private words of earlier versions."""

import ast
import re
from pathlib import Path

import pytest

import unbend

PACKAGE = Path(unbend.__file__).parent
ROOT = Path(__file__).parent.parent

# Patterns of private words, and the standard term for each.
PRIVATE = {
    r"\bwhole numbers?\b": "integer",
    r"\bfalls? (apart|into)\b": "is disconnected, has connected components",
    r"\bway back\b": "inverse transform, pre-image",
    r"\bputting back\b": "sampled without replacement",
    r"\bso that (fits|results) repeat\b": "results are reproducible",
    r"\b(is|are|was|were) told\b|\btold of\b": "is reported, is recorded",
    r"\btells? (of|apart|all|them|how|which|whether|so|no)\b": "reports, distinguishes",
    r"\bstill falling\b": "did not converge",
    r"\bequally far\b": "tied distances",
    r"\bnew rows?\b": "new samples",
    r"\blaid among\b": "out-of-sample extension",
    r"\bdo(es)? away with\b": "removes",
    r"\btorn apart\b|\bneighbours kept\b": "neighbourhood preservation",
    r"\bcut into words\b": "tokenise",
    r"\bon one scale\b": "standardise",
    r"\bset aside\b": "hold-out",
    r"\bhow far off\b": "residual, error",
    r"\bfeigns?\b": "is inflated by noise",
    r"\bwhole or not at all\b": "atomic",
    r"\bclaimed as it is\b": "feasible",
    r"\bin no time\b|\bfor nothing\b": "fast, at no cost",
    r"\blaid (on|out|flat|among)\b": "aligned, unrolled, flattened",
    r"\bstrewn\b": "random",
    r"\bas people have\b": "raw",
    r"\bmagnif(y|ies)\b": "amplify",
    r"\bcannot be had\b": "is not available",
    r"\blest\b|\bwhatsoever\b|\bthereof\b": "plain English",
}

PARTS = sorted({path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")})
# Files that still have private words: the list must become empty.
NOT_YET: set[str] = set()
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.glob("docs/**/*.md"))
        if not {"generated", "gallery", "_build"} & set(path.parts)
    ),
]


def strings(path: Path) -> list[tuple[int, str]]:
    """Return docstrings and other string constants of a file, with their lines."""
    return [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def private_words(text: str) -> list[str]:
    """Return the private words of a text, each with the term to use."""
    flat = " ".join(text.split())
    return [
        f"{found.group()!r}: write {term!r}"
        for pattern, term in PRIVATE.items()
        if (found := re.search(pattern, flat, flags=re.IGNORECASE))
    ]


@pytest.mark.parametrize("part", PARTS)
def test_strings_of_the_package_use_standard_terms(part):
    whole = PACKAGE / part
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {word}"
        for path in ([whole] if whole.is_file() else sorted(whole.rglob("*.py")))
        if path.relative_to(PACKAGE).as_posix() not in NOT_YET
        for line, text in strings(path)
        for word in private_words(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES)
def test_pages_use_standard_terms(page):
    wrong = private_words((ROOT / page).read_text(encoding="utf-8"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text", ["The graph falls apart", "new rows are placed", "a whole\nnumber"]
)
def test_private_words_are_detected(text):
    assert private_words(text)
