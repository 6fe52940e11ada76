"""The findings of a study in sentences, and the commands and code that reproduce them."""

import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from unbend.apps.study.study import NEIGHBORS, RESAMPLES, Asked, Study, classes_of
from unbend.registry import entry_of

# Share of the variance from which one column dominates all distances.
DOMINANT = 0.9
# Trustworthiness and continuity of a good embedding, and of a doubtful point; shares of the
# embedding's radius by which resampling moves points of a stable and of an unstable one.
GOOD, FAIR = 0.95, 0.9
STABLE, UNSTABLE = 0.05, 0.3


def describe_data(found: Study) -> Iterator[str]:
    """Describe the table before any method."""
    row, column = row_and_column(found.asked)
    if len(found.table) < found.kept:
        studied = len(found.table)
        yield f"{studied} of {found.kept} {row}s, sampled without replacement, were studied."
    missing = sum(each.missing for each in found.columns)
    if missing and found.asked.missing == "drop":
        yield f"{_were(missing, 'value')} missing: {found.rows - found.kept} rows were dropped."
    elif missing:
        policy = found.asked.missing
        yield f"{_were(missing, 'value')} missing: imputed by the {policy} of the column."
    constant = sum(each.constant for each in found.columns)
    if constant:
        yield f"{_were(constant, column)} constant, which changes no distance: leave it out."
    if found.duplicates:
        yield f"{_were(found.duplicates, row)} a duplicate of an earlier one."
    heaviest = max(found.columns, key=lambda each: each.share)
    if len(found.columns) > 2 and heaviest.share > DOMINANT:
        yield (
            f"One {column}, {heaviest.name!r}, holds {heaviest.share:.0%} of the variance, so it "
            "dominates all distances: if units differ, standardise first."
        )


def row_and_column(asked: Asked) -> tuple[str, str]:
    """Return what a row is called, and a column."""
    return ("row", "column") if asked.given is None else (asked.given.row, asked.given.column)


def _were(count: int, what: str) -> str:
    return f"1 {what} was" if count == 1 else f"{count} {what}s were"


def describe_dimension(found: Study) -> Iterator[str]:
    """Say how reliable the intrinsic dimension is."""
    choice = found.dimension
    if choice.agreement == 0:
        yield f"No rule estimates {choice.dimension}, their median: the dimension is uncertain."
    else:
        agreed = f"{choice.agreement:.0%} of the rules agree on {choice.dimension}"
        doubt = (
            "" if choice.agreement >= 0.5 else ": fewer than half, so the dimension is uncertain"
        )
        yield f"{agreed}{doubt}."
    if choice.dimension > 2:
        yield (
            f"Two dimensions cannot represent {choice.dimension}-dimensional data: for features, "
            f"use {choice.dimension} components."
        )


def describe_quality(found: Study) -> Iterator[str]:
    """Interpret the quality measures of the best embedding."""
    best, trust = found.best, found.trust
    if best is None or trust is None:
        yield "All methods failed; the table above says why."
        return
    if trust >= GOOD:
        yield (
            f"Neighbours in the embedding are neighbours in the data (trustworthiness {trust:.3f})."
        )
    else:
        doubtful = float(np.mean(trust.local < FAIR))
        yield (
            f"Do not interpret single neighbours: trustworthiness is {trust:.3f}, and "
            f"{doubtful:.0%} of the points have false neighbours."
        )
    continuity = best.measures["continuity"]
    share = "Most" if continuity >= GOOD else "Not all"
    yield f"{share} neighbours in the data stay neighbours (continuity {continuity:.3f})."
    yield (
        f"Neighbourhood preservation over all sizes (R_NX AUC) is {best.measures['r_nx_auc']:.0%}; "
        "100% is perfect, 0% is chance, and unrolling a sheet lowers it."
    )
    if best.measures.get("repeated", 0.0) > 0.8:
        yield "The coordinates are redundant: one is a function of the other."
    yield from _describe_classes(found, best)
    if found.spread is not None:
        word = "stable" if found.spread < STABLE else "fairly stable"
        word = word if found.spread < UNSTABLE else "unstable"
        yield (
            f"The embedding is {word}: resampling moves points by {found.spread:.0%} of the "
            "embedding's radius."
        )


def _describe_classes(found: Study, best: Any) -> Iterator[str]:
    if found.hit is None:
        return
    _, counts = np.unique(classes_of(found.table.label), return_counts=True)
    chance = float(np.sum((counts / counts.sum()) ** 2))
    after = best.measures["neighborhood_hit"]
    yield (
        f"Classes: {found.hit:.1%} of the neighbours have the same class in the data, {after:.1%} "
        f"in the embedding, {chance:.1%} by chance."
    )


def shell_commands(found: Study) -> list[str]:
    """Return the shell commands that reproduce the numbers of the page."""
    asked = found.asked
    sample = f" --sample {asked.max_rows} --seed {asked.random_state}"
    # Behind a dash an option would be looked for.
    path = f"./{asked.source}" if asked.source.startswith("-") else asked.source
    table, aside = shlex.quote(path), _aside(asked)
    tried = f" --try n_neighbors={found.neighbors} --neighbors {NEIGHBORS}"
    lines = [
        f"unbend dimension {table}{aside}{sample}",
        f"unbend suggest {table}{aside}{sample}",
        f"unbend compare {table}{aside}{sample}{tried}",
    ]
    best = found.best
    if best is not None:
        entry = entry_of(best.estimator)
        assert entry is not None
        k = best.estimator.get_params().get("n_neighbors")
        size = "" if k is None else f" --n-neighbors {k}"
        lines.append(f"unbend embed {table}{aside} --method {entry.name}{size} -o flat.csv")
    return lines


def _aside(asked: Asked) -> str:
    """Return the options that say which columns are not data, and about missing values."""
    if asked.given is not None:
        return asked.given.options
    given = {"label": asked.label, "id": asked.id, "ignore": ",".join(asked.ignore)}
    given |= {"array": asked.array, "separator": asked.separator}
    options = [f" --{name} {shlex.quote(value)}" for name, value in given.items() if value]
    return "".join(options) + f" --missing {asked.missing}"


def _reading(asked: Asked) -> str:
    if asked.given is not None:
        return asked.given.code
    given = {"label": asked.label, "id": asked.id, "ignore": list(asked.ignore)}
    given |= {"array": asked.array, "separator": asked.separator}
    options = "".join(f", {name}={value!r}" for name, value in given.items() if value)
    return f"unbend.io.read({asked.source!r}{options}, missing={asked.missing!r})"


def python_code(found: Study) -> str:
    """Return the Python code that reproduces the numbers of the page."""
    asked = found.asked
    read, array = _reading(asked), "" if asked.given is None else asked.given.chosen
    classes = "" if found.hit is None else ", labels=table.label[rows].astype(str)"
    lines = [
        "import numpy as np",
        "import unbend",
        "",
        f"table = {read}",
        f"rows = np.arange({found.kept})",
    ]
    if len(found.table) < found.kept:
        draw = f"choice({found.kept}, {asked.max_rows}, replace=False)"
        lines[-1] = f"rows = np.sort(np.random.default_rng({asked.random_state}).{draw})"
    lines += [
        f"X = table.values[rows]{array}",
        "",
        "dimension = unbend.choose_dimension(X)",
        f"suggestion = unbend.suggest(X, random_state={asked.random_state})",
        f"tried = {{'n_neighbors': [{found.neighbors}]}}",
        f"compared = unbend.compare(X, parameters=tried{classes}, n_neighbors={NEIGHBORS})",
    ]
    if found.spread is not None:
        again = f"n_resamples={RESAMPLES}, random_state={asked.random_state}"
        lines.append(f"moved = unbend.stability(compared.best, X, {again})")
    return "\n".join([*lines, "print(dimension, suggestion, compared, sep='\\n')"])
