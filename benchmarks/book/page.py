"""The page: which method works where, and where measurement contradicts the book."""

from benchmarks.book.claims import CHART, CLOSE, FAILS, REPEATED, Cell, Check
from benchmarks.book.conclusions import claims
from benchmarks.book.run import SEEDS, WORKS, Figures
from benchmarks.book.settings import METHODS, Setting, settings

TITLES = {
    "surfaces": "Surfaces (1000 points, k = 10)",
    "sampling": "Surfaces sampled uniformly in the parameter, as in the book",
    "noise": "Noise",
    "height": "Height of the punched sphere",
    "length": "Length",
    "hole": "A hole",
}
HEADS = {
    "contradicted": "Where measurement contradicts the book",
    "too close to tell": "Where measurement does not decide",
    "holds": "Where measurement agrees",
}
SPOKEN = {
    "redundancy": "redundancy",
    "color_mixing": "mixing",
    "procrustes": "Procrustes error",
    "failed": "samples without a result",
}
HEAD = f"""# Methods on the book's surfaces

`python -m benchmarks.book_surfaces` writes this page; `make check-slow` repeats a part of it.

The book applies its methods to artificial surfaces (figures 5.1–14.12) and judges the pictures by
eye: a method works if it does not mix colours. This page repeats the experiments with
`unbend.compare` on {len(SEEDS)} samples of each surface, uniform by area, and measures
`color_mixing`: how much the colours of neighbours in the picture differ. It is 0 if they do not
differ and 1 if colours are random. The colour is the true chart. Sphere and cluster have no chart;
their colour is the position in space before noise. All figures are medians over the samples.

| mark | meaning |
|---|---|
| ✓ | works: mixing below {WORKS} |
| · | works in part |
| ✗ | fails: mixing of {FAILS} or more |
| \\* | recovers the chart up to a linear map: affine Procrustes error below {CHART} |
| (2/5) | samples in which colours are mixed, where samples differ |

Leigs are Laplacian eigenmaps; GL-, LB- and ST-Dmaps are diffusion maps with the graph Laplacian,
Laplace–Beltrami and self-tuning kernels. Maximum variance unfolding (MVU) is tried with three and
five neighbours, as in the book: see [Number of neighbours](#number-of-neighbours).
"""


def page(figures: Figures) -> str:
    """Write everything as Markdown."""
    planned = list(settings())
    parts = [HEAD]
    for group, title in TITLES.items():
        parts.append(f"## {title}\n\n{_table([s for s in planned if s.group == group], figures)}\n")
    for group, title in (("neighbours", "Number of neighbours"), ("bandwidth", "Bandwidth")):
        parts.append(
            f"## {title}\n\n{_series([s for s in planned if s.group == group], figures)}\n"
        )
    parts.append(_verdicts(figures))
    return "\n".join(parts)


def _table(rows: list[Setting], figures: Figures) -> str:
    """Set settings against methods."""
    methods = [name for name in METHODS if name in rows[0].methods]
    lines = [f"| | {' | '.join(methods)} |", "|---" * (len(methods) + 1) + "|"]
    for row in rows:
        marks = (_mark(figures[row.name][method]) for method in methods)
        lines.append(f"| {row.title} | {' | '.join(marks)} |")
    seen = ", ".join(dict.fromkeys(", ".join(row.figures for row in rows).split(", ")))
    return "\n".join(lines) + f"\n\nFigures {seen} of the book."


def _series(rows: list[Setting], figures: Figures) -> str:
    """One line for each method, its settings side by side."""
    lines: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        method = row.methods[0]
        value = row.title.split(", ")[-1]
        mark = _mark(figures[row.name][method])
        surface = row.title.split(", ")[1]
        lines.setdefault((f"{method}, {surface}", row.figures), []).append(f"{value}: {mark}")
    return "\n".join(
        f"- {title} (figure {figure}): {'; '.join(marks)}"
        for (title, figure), marks in lines.items()
    )


def _mark(values: dict[str, float]) -> str:
    if "color_mixing" not in values:
        return "no result"
    mixing = values["color_mixing"]
    grade = "✓" if mixing < WORKS else "·" if mixing < FAILS else "✗"
    star = "\\*" if values.get("procrustes", 1.0) < CHART else ""
    # A median that works may hide samples that do not, and the other way round.
    lost = int(values["lost"])
    split = f" ({lost}/{len(SEEDS)})" if 0 < lost < len(SEEDS) else ""
    return f"{grade}{star} {mixing:.3f}{split}"


def _verdicts(figures: Figures) -> str:
    """List the conclusions by their verdicts, with figures."""
    lines: dict[str, list[str]] = {verdict: [] for verdict in HEADS}
    for claim in claims():
        told = "; ".join(_told(check, figures) for check in claim.telling(figures))
        verdict = claim.verdict(figures)
        why = f" {claim.why}" if claim.why and verdict == "contradicted" else ""
        lines[verdict].append(f"- **{claim.figure}** {claim.says}. Measured: {told}.{why}")
    total = sum(len(found) for found in lines.values())
    return "\n\n".join(
        f"## {head}\n\n{len(lines[verdict])} of {total} conclusions.\n\n"
        + "\n".join(lines[verdict])
        for verdict, head in HEADS.items()
    ) + (
        f"\n\nMixing of {FAILS} or more contradicts the claim that a method works, mixing below "
        f"{WORKS / 2} the claim that it fails. A difference of {CLOSE:.0%} in the other direction "
        f"contradicts a comparison. No picture in the plane can keep the spheres of the cluster; "
        f"there a method fails if it puts the whole chain on a curve: if the redundancy of the "
        f"second coordinate is {REPEATED} or more.\n"
    )


def _told(check: Check, figures: Figures) -> str:
    """Figures with what they belong to; what all have in common is said once."""
    told = [
        f"{_name(cell)}: {value:.3f}"
        for cell, value in zip(check.cells, check.values(figures), strict=True)
    ]
    return f"{SPOKEN[check.measure]} of " + "; ".join(told)


def _name(cell: Cell) -> str:
    setting, method = cell
    title = setting.split(": ", 1)[1]
    return title if title.startswith(method) else f"{method}, {title}"
