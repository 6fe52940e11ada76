"""Which method suits which data and purpose: one table, read from the top."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from unbend.methods.neighbor_embedding import MOST_COMPONENTS
from unbend.methods.rigid_alignment import STRAINED
from unbend.selection.case import Case, Purpose
from unbend.selection.findings import FLAT, UNLIKE
from unbend.selection.format import pluralize

# Share of the variance outside a plane that is rounding.
EXACT = 1e-9
# Percentages below which a share is not printed, and from which on it has no decimal places.
SHOWN, WHOLE = 0.01, 10


@dataclass(frozen=True)
class Rule:
    """A property of data, and the method that suits it.

    Attributes
    ----------
    purposes : tuple of str
        The purposes for which the rule decides.
    holds : callable
        Whether the data have the property.
    method : callable
        The method.
    why : callable
        The reason, in one sentence.
    others : callable
        Alternatives, best first; None among them is left out.
    """

    purposes: tuple[Purpose, ...]
    holds: Callable[[Case], bool]
    method: Callable[[Case], Any]
    why: Callable[[Case], str]
    others: Callable[[Case], Iterable[Any]]


def decide(case: Case) -> tuple[Any, str, list[Any]]:
    """Return method, reason and alternatives by the first rule that holds."""
    rule = next(r for r in RULES if case.purpose in r.purposes and r.holds(case))
    method = rule.method(case)
    others = [other for other in rule.others(case) if other is not None]
    distinct = {type(other).__name__: other for other in reversed(others)}
    distinct.pop(type(method).__name__, None)
    return method, rule.why(case), list(distinct.values())[::-1]


def describe_clusters(case: Case) -> str:
    """Describe the number of clusters, and what is between them."""
    apart = "disconnected" if case.found.parts > 1 else "connected by thin bridges"
    return f"{case.found.count} clusters that are {apart}"


def _loss(case: Case) -> str:
    """Say that the coordinates are fewer than the dimensions."""
    found, few = case.found, case.coordinates
    if not found.determined:
        return f"{few} coordinates cannot hold all dimensions of the data"
    if found.low <= few:
        return f"{few} coordinates may not hold {found.low} to {found.high} dimensions"
    size = found.low if found.low == found.high else f"{found.low} to {found.high}"
    return f"{few} coordinates cannot hold {size} dimensions"


def _unexplained(case: Case, m: int | None = None) -> str:
    """Say what m coordinates, or as many of them as were measured, leave unexplained."""
    residuals = case.found.residuals
    m = min(m or case.coordinates, len(residuals))
    percent = 100 * residuals[m - 1]
    digits = f"{percent:.0f}" if percent >= WHOLE else f"{percent:.2g}"
    share = f"{digits}%" if percent >= SHOWN else f"less than {SHOWN}%"
    coordinates = pluralize(m, "coordinate")
    return f"{coordinates} leave{'s' * (m == 1)} {share} of the geodesics unexplained"


def _describe_charts(case: Case) -> str:
    """Say which charts were tried, and how far they are from the most rigid one."""
    tried = case.found.charts
    if case.found.relief == "waves" and case.best_chart == "PCA":
        return (
            "the rows rise and fall about a plane, with little noise, and PCA finds the plane. No "
            f"chart keeps all lengths, and PCA differs by {tried['PCA'].error:.2g} of the spread "
            "from the one that keeps them best"
        )
    if case.found.relief == "bowl" and case.best_chart == "LTSA":
        return (
            "the rows lie in a bowl. No chart keeps all its lengths, and LTSA, which keeps those "
            f"from the middle better than others, differs by {tried['LTSA'].error:.2g} of the "
            "spread from the one that keeps most"
        )
    order = sorted(tried, key=lambda name: tried[name].error)
    errors = [f"{tried[name].error:.2g} ({name})" for name in order]
    if tried[order[0]].error > UNLIKE:
        return (
            f"{case.best_chart} is a guess: every chart that was tried differs from the one that "
            f"keeps lengths best by at least {tried[order[0]].error:.2g} of its spread; check its "
            "picture"
        )
    return (
        f"{case.best_chart} lays some rows out best: charts differ from the one that keeps "
        f"lengths best by {', '.join(errors)} of their spread{_strain(case)}"
    )


def _strain(case: Case) -> str:
    """Say how much even the best chart stretches, if that is much."""
    reference = case.found.reference
    if reference is None or reference.error <= STRAINED:
        return ""
    return (
        f". Even that one changes lengths by {reference.error:.0%}: the surface cannot be "
        f"flattened to {pluralize(case.coordinates, 'coordinate')}, or sheets of it are joined"
    )


def _describe_plane(case: Case) -> str:
    """Say that a linear map shows the data."""
    found = case.found
    if found.kind == "points" and found.dimension >= len(found.variances):
        return "the data have as many dimensions as columns that vary: there is nothing to unfold"
    return (
        f"{found.outside:.1%} of the variance lies outside a plane of "
        f"{pluralize(found.dimension, 'dimension')}: the data are flat"
    )


ANY: tuple[Purpose, ...] = ("picture", "features", "chart")

# The first rule that holds decides: a new method is a new line at its place.
RULES = (
    Rule(
        ("clusters",),
        lambda case: case.found.clustered and case.asked is None,
        lambda case: case.make("SpectralClustering", n_clusters=case.found.count),
        lambda case: f"{describe_clusters(case)}: spectral clustering cuts few edges",
        lambda case: (case.make("LaplacianEigenmaps"), case.make("DiffusionMaps")),
    ),
    Rule(
        ("clusters",),
        lambda case: True,
        lambda case: case.make("LaplacianEigenmaps"),
        lambda case: (
            f"{describe_clusters(case)}: Laplacian eigenmaps separate them"
            if case.found.clustered
            else "no gap in the spectrum of the graph: any clusters would be cuts through one "
            "piece; Laplacian eigenmaps show where it is thin"
        ),
        lambda case: (
            case.make("DiffusionMaps"),
            case.make("SpectralClustering", n_clusters=case.coordinates + 1),
        ),
    ),
    Rule(
        ("picture",),
        lambda case: case.lossy and case.explained > 1 - FLAT,
        lambda case: case.first("PCA", "ClassicalMDS", "Isomap"),
        lambda case: f"{case.explained:.0%} of the variance lies in a plane: a linear map shows it",
        lambda case: (case.make("MetricMDS"), case.make("Isomap")),
    ),
    Rule(
        ("picture",),
        lambda case: case.lossy and case.coordinates <= MOST_COMPONENTS,
        lambda case: case.neighbor_embedding(),
        lambda case: (
            f"{_loss(case)}: a neighbour embedding preserves neighbourhoods, not the distances "
            "between clusters"
        ),
        lambda case: (
            case.make("MetricMDS") if case.small else None,
            case.make("PCA"),
            case.make("Isomap"),
        ),
    ),
    Rule(
        ("picture",),
        lambda case: case.lossy,
        lambda case: case.first("PCA", "Isomap", "LandmarkMDS"),
        lambda case: f"{_loss(case)}: a method for any number of coordinates",
        lambda case: (case.make("Isomap"), case.make("DiffusionMaps")),
    ),
    Rule(
        ("picture",),
        lambda case: case.found.clustered and case.small and not case.found.flat,
        lambda case: case.make("MetricMDS"),
        lambda case: (
            f"{describe_clusters(case)}: metric scaling preserves the distances within and between "
            "them, where spectral methods would show a few specks"
        ),
        lambda case: (case.neighbor_embedding(), case.make("PCA"), case.make("Isomap")),
    ),
    Rule(
        ("chart",),
        lambda case: case.found.clustered and case.found.parts > 1 and case.found.kind != "graph",
        lambda case: case.first(*("MetricMDS",) * case.small, "PCA", "LandmarkMDS"),
        lambda case: (
            f"{describe_clusters(case)}: no chart joins them, and this one approximates the "
            "distances within and between them. Ask for a chart of the rows of each cluster"
        ),
        lambda case: (case.make("PCA"), case.make("DiffusionMaps")),
    ),
    Rule(
        ("picture", "chart"),
        lambda case: case.found.clustered,
        lambda case: case.make("DiffusionMaps"),
        lambda case: (
            f"{describe_clusters(case)}: diffusion maps separate them and keep each one together"
        ),
        lambda case: (case.make("LaplacianEigenmaps"), case.make("PCA"), case.make("Isomap")),
    ),
    Rule(
        ("chart",),
        lambda case: (
            case.found.determined
            and case.best_chart is not None
            and not case.found.closed
            and case.found.folded
        ),
        lambda case: case.make_chart(case.best_chart or ""),
        lambda case: (
            "no chart is sure: even the one that keeps lengths best folds, since noise or too few "
            f"rows join sheets of the surface; {case.best_chart} keeps neighbours together best. "
            "Use more rows, or less noisy ones"
        ),
        lambda case: case.other_charts(),
    ),
    Rule(
        ("chart",),
        lambda case: (
            case.best_chart is not None and not case.found.closed and case.found.outside > EXACT
        ),
        lambda case: case.make_chart(case.best_chart or ""),
        _describe_charts,
        lambda case: case.other_charts(),
    ),
    Rule(
        ANY,
        lambda case: case.found.flat and case.found.kind != "graph",
        lambda case: case.first("PCA", "ClassicalMDS"),
        _describe_plane,
        lambda case: (case.make("Isomap"),),
    ),
    Rule(
        ("features",),
        lambda case: not case.found.determined or case.found.clustered,
        lambda case: case.first("PCA", "ClassicalMDS", "Isomap"),
        lambda case: (
            f"{case.explained:.0%} of the variance in "
            f"{pluralize(case.coordinates, 'linear feature')}, and new samples are mapped exactly"
        ),
        lambda case: (case.make("Isomap"), case.make("DiffusionMaps")),
    ),
    Rule(
        ANY,
        lambda case: case.found.closed,
        lambda case: case.make("DiffusionMaps"),
        lambda case: (
            f"{_unexplained(case, case.found.dimension)}, and one more explains most of it: the "
            f"data close up, and need {case.found.dimension + 1} coordinates to be shown "
            "without a tear or an overlap"
        ),
        lambda case: (case.make("Isomap"), case.make("LTSA")),
    ),
    Rule(
        ("chart",),
        lambda case: case.found.surface and case.found.determined and case.denoise() is not None,
        lambda case: case.denoise(),
        lambda case: (
            f"patches show a surface of {pluralize(case.found.dimension, 'dimension')} with noise "
            f"of {case.found.noise:.2g} a column: landmarks on it are fitted where noise is "
            "wide, and holes do no harm"
        ),
        lambda case: (case.hessian_lle(), case.make("Isomap")),
    ),
    Rule(
        ("chart",),
        lambda case: case.hidden and case.make("PCA") is not None,
        lambda case: case.make("PCA"),
        lambda case: (
            f"no patches show a surface of {pluralize(case.found.dimension, 'dimension')}: noise "
            "hides what is bent, and a linear map averages over all rows"
        ),
        lambda case: (case.make("Isomap"), case.make("LaplacianEigenmaps")),
    ),
    Rule(
        ("picture", "features"),
        lambda case: (
            case.found.noisy
            and case.found.surface
            and case.coordinates == case.found.low == case.found.high
            and case.denoise() is not None
        ),
        lambda case: case.denoise(),
        lambda case: (
            f"noise hides a coordinate from local methods ({case.found.hidden:.1f} times what they "
            "can bear), but patches show the surface: landmarks on it are fitted"
        ),
        lambda case: (case.make("Isomap"), case.make("DiffusionMaps")),
    ),
    Rule(
        ANY,
        lambda case: case.found.noisy,
        lambda case: case.make("Isomap"),
        lambda case: (
            f"noise hides a coordinate from local methods ({case.found.hidden:.1f} times what they "
            "can bear): geodesics average over it"
        ),
        lambda case: (case.make("DiffusionMaps"), case.make("LTSA")),
    ),
    Rule(
        ("picture",),
        lambda case: case.overfull and case.neighbor_embedding() is not None,
        lambda case: case.neighbor_embedding(),
        lambda case: (
            f"{_unexplained(case)}, as of data with more dimensions: a neighbour embedding "
            "preserves neighbourhoods, not the distances between clusters"
        ),
        lambda case: (
            case.make("MetricMDS") if case.small else None,
            case.make("PCA"),
            case.make("Isomap"),
        ),
    ),
    Rule(
        ("picture",),
        lambda case: case.found.bent and case.small,
        lambda case: case.make("MetricMDS"),
        lambda case: (
            f"{_unexplained(case)}: metric scaling preserves the distances as well as they can"
        ),
        lambda case: (case.make("Isomap"), case.make("PCA")),
    ),
    Rule(
        ANY,
        lambda case: case.found.bent,
        lambda case: case.make("Isomap"),
        lambda case: f"{_unexplained(case)}: noise or curvature, over which geodesics average",
        lambda case: (case.make("PCA"), case.make("DiffusionMaps")),
    ),
    Rule(
        ANY,
        lambda case: case.found.kind == "graph",
        lambda case: case.make("Isomap"),
        lambda case: f"{_unexplained(case)}: Isomap preserves the lengths of paths along the edges",
        lambda case: (case.make("LaplacianEigenmaps"), case.make("DiffusionMaps")),
    ),
    Rule(
        ANY,
        lambda case: case.found.determined and case.coordinates > case.found.high,
        lambda case: case.make("Isomap"),
        lambda case: (
            f"{_unexplained(case)}: Isomap keeps lengths, where coordinates of local methods "
            f"beyond {pluralize(case.found.high, 'dimension')} would follow the curvature"
        ),
        lambda case: (case.make("MetricMDS") if case.small else None, case.make("PCA")),
    ),
    Rule(
        ANY,
        lambda case: case.found.convex,
        lambda case: case.make("Isomap"),
        lambda case: (
            f"{_unexplained(case)}: a sheet without holes, of which Isomap keeps the lengths"
        ),
        lambda case: (case.make("LTSA"), case.hessian_lle()),
    ),
    Rule(
        ("picture", "chart"),
        lambda case: True,
        lambda case: case.hessian_lle(),
        lambda case: (
            f"{_unexplained(case)}, although the sheet is locally flat: a hole or a notch, around "
            "which Isomap would stretch it, or few rows, which make paths longer"
        ),
        lambda case: (case.make("LTSA"), case.make("Isomap")),
    ),
    Rule(
        ("features",),
        lambda case: True,
        lambda case: case.make("LTSA"),
        lambda case: (
            f"{_unexplained(case)}, although the sheet is locally flat: a hole, a notch or few "
            "rows, which tangent spaces tolerate"
        ),
        lambda case: (case.make("Isomap"), case.make("PCA")),
    ),
)
