"""The summary of a study: the data, the dimension, the method and how far to trust it."""

from collections.abc import Iterator, Mapping

import numpy as np

from unbend.apps.study.sentences import describe_size, is_prepared, sentence
from unbend.apps.study.study import Study
from unbend.selection.comparison import Trial
from unbend.selection.format import HEADS
from unbend.selection.judging import BETTER, REDUNDANT, SPECKS, WEIGHTS

# Trustworthiness and continuity of a good embedding and of a fair one; shares of the embedding's
# radius by which resampling moves points of a stable and of an unstable one.
GOOD, FAIR = 0.95, 0.9
STABLE, UNSTABLE = 0.05, 0.3
ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def summarize(found: Study) -> Iterator[tuple[str, str]]:
    """Yield the four answers of a page, each with what it answers."""
    yield "Data", _summarize_data(found)
    yield "Intrinsic dimension", _summarize_dimension(found)
    yield "Method", " ".join(describe_choice(found))
    yield "Trust", " ".join(_summarize_trust(found))


def _summarize_data(found: Study) -> str:
    text = f"{describe_size(found)}."
    if is_prepared(found):
        prepared = found.prepared
        assert prepared is not None
        scaled = prepared.preparation.scale_ != "none"
        text += f" They give {found.table.shape[1]} features" + ", standardised" * scaled + "."
    missing = sum(column.missing for column in found.columns)
    studied = len(found.table)
    if studied < found.kept:
        text += f" {studied} rows, drawn at random, were studied."
    gaps = "No value is" if not missing else f"{missing} value{' is' if missing == 1 else 's are'}"
    return f"{text} {gaps} missing."


def _summarize_dimension(found: Study) -> str:
    choice, findings = found.dimension, found.suggestion.findings
    if not choice.determined:
        return (
            "Not determined: the rules disagree. Two coordinates may lose much; the measures below "
            "say how much."
        )
    if choice.low > 2:
        return f"{sentence(choice.verdict)} Two coordinates cannot show all of it."
    if choice.high > 2 or findings.bent or findings.closed:
        return f"{sentence(choice.verdict)} Two coordinates may not show all of it."
    return f"{sentence(choice.verdict)} Two coordinates are enough."


def describe_choice(found: Study) -> Iterator[str]:
    """Say which method is recommended, why, and how it ranks."""
    chosen, own, first = found.recommended, found.suggested, found.best
    if chosen is None or first is None:
        yield "None: all methods failed, for the reasons below."
        return
    suggested = f"The properties of the data suggest {own.title}"
    if chosen is not own:
        why = "it failed on these rows" if own.failure else why_degenerate(own.measures)
        yield f"{chosen.title}. {suggested}, but {why}; {chosen.title} ranks first of all methods."
    elif chosen is first:
        count = len(found.comparison.trials)
        yield f"{sentence(chosen.title)} {sentence(found.suggestion.reasons[1])}"
        yield f"It also ranks first of {count} methods by the quality measures."
    else:
        yield f"{sentence(chosen.title)} {sentence(found.suggestion.reasons[1])}"
        yield _compare(chosen, first, found.comparison.trials.index(chosen))
    if chosen.degenerate:
        yield "No method gave a usable picture: all are redundant, a few specks or failed."


def why_degenerate(measures: Mapping[str, float]) -> str:
    """Say why a picture shows little."""
    if measures["occupancy"] < SPECKS:
        return "most of its points coincide in a few specks"
    assert measures["redundancy"] > REDUNDANT
    return "one of its coordinates is a function of the other"


def _compare(chosen: Trial, first: Trial, place: int) -> str:
    """Say why the method recommended is not the one that ranks first."""
    better: dict[bool, list[str]] = {True: [], False: []}
    for name, weight in WEIGHTS.items():
        if weight and name in chosen.measures:
            ours, theirs = (round(trial.measures[name], 3) for trial in (chosen, first))
            if ours != theirs:
                better[(ours > theirs) == BETTER[name]].append(HEADS[name][1])
    also = f", {chosen.title} by {_listed(better[True])}" if better[True] else ""
    # Equal by all measures, either may come first.
    why = f"is better by {_listed(better[False])}{also}" if better[False] else "is listed before it"
    return (
        f"{first.title} ranks first by the quality measures and {chosen.title} {_ordinal(place)}, "
        f"since {first.title} {why}: look at both."
    )


def _ordinal(place: int) -> str:
    """Name a place, counted from zero; many methods may be compared.

    >>> _ordinal(0), _ordinal(10)
    ('first', 'number 11')
    """
    return ORDINALS[place] if place < len(ORDINALS) else f"number {place + 1}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _summarize_trust(found: Study) -> Iterator[str]:
    chosen, trust = found.recommended, found.trust
    if chosen is None or trust is None:
        yield "There is no embedding to judge."
        return
    lost, moved = grade_neighborhoods(found), grade_stability(found)
    yield f"Neighbourhoods: {lost}. Arrangement: {moved}."
    near = f"(trustworthiness {trust:.3f}, continuity {chosen.measures['continuity']:.3f})"
    if lost == "good":
        yield f"What is close in the picture is close in the data, and conversely {near}."
    elif lost == "fair":
        yield f"Most of what is close in the picture is close in the data, and conversely {near}."
    else:
        yield f"Points close in the picture may be far apart in the data, or conversely {near}."
    if found.spread is not None:
        so = ": do not interpret where groups lie" if moved == "poor" else ""
        yield f"Resampling moves points by {found.spread:.0%} of the embedding's radius{so}."


def grade_neighborhoods(found: Study) -> str:
    """Grade the neighbourhoods of the recommended embedding: good, fair or poor."""
    chosen, trust = found.recommended, found.trust
    assert chosen is not None
    assert trust is not None
    worst = min(float(trust), chosen.measures["continuity"])
    return ("poor", "fair", "good")[int(worst >= FAIR) + int(worst >= GOOD)]


def grade_stability(found: Study) -> str:
    """Grade how far resampling moves the points: good, fair, poor or unknown."""
    if found.spread is None or not np.isfinite(found.spread):
        return "unknown"
    moved = float(found.spread)
    return ("good", "fair", "poor")[int(moved >= STABLE) + int(moved >= UNSTABLE)]
