"""What the numbers mean, and how to get them again."""

import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from unbend.apps.study.study import NEIGHBORS, RESAMPLES, Asked, Study, classes_of
from unbend.registry import entry_of

# One column beyond this share of the variance rules every distance.
RULES = 0.9
# Shares of points and of radii from which a picture is doubted.
GOOD, FAIR = 0.95, 0.9
STILL, MOVING = 0.05, 0.3


def about_data(found: Study) -> Iterator[str]:
    """Say what is to be known of the table before any method."""
    studied = len(found.table)
    row, column = names_of(found.asked)
    if studied < found.kept:
        yield f"{studied} of {found.kept} {row}s, drawn at random, were studied."
    missing = sum(column.missing for column in found.columns)
    if missing and found.asked.missing == "drop":
        yield f"{_were(missing, 'value')} missing: {found.rows - found.kept} rows were left out."
    elif missing:
        policy = found.asked.missing
        yield f"{_were(missing, 'value')} missing: the {policy} of the column stands there."
    constant = sum(column.constant for column in found.columns)
    if constant:
        yield f"{_were(constant, column)} constant, and can be left out: no distance changes."
    if found.repeated:
        yield f"{_were(found.repeated, row)} equal to an earlier one: the same point twice."
    heaviest = max(found.columns, key=lambda column: column.share)
    if len(found.columns) > 2 and heaviest.share > RULES:
        yield (
            f"One {column}, {heaviest.name!r}, holds {heaviest.share:.0%} of the variance, so "
            "distances are little else than its differences: if units differ, standardise first."
        )


def names_of(asked: Asked) -> tuple[str, str]:
    """Return what a row is called, and a column."""
    return ("row", "column") if asked.given is None else (asked.given.row, asked.given.column)


def _were(count: int, what: str) -> str:
    return f"1 {what} was" if count == 1 else f"{count} {what}s were"


def about_dimension(found: Study) -> Iterator[str]:
    """Say how far the number of dimensions can be trusted."""
    choice = found.dimension
    if choice.agreement == 0:
        yield f"No rule says {choice.dimension}, which is the middle of them: take it as a guess."
    else:
        agreed = f"{choice.agreement:.0%} of the rules agree on {choice.dimension}"
        sure = "" if choice.agreement >= 0.5 else ": fewer than half, so take it as a guess"
        yield f"{agreed}{sure}."
    if choice.dimension > 2:
        yield (
            f"Two coordinates cannot show {choice.dimension} dimensions: as features, keep "
            f"{choice.dimension}."
        )


def about_quality(found: Study) -> Iterator[str]:
    """Say what the measures of the best embedding mean."""
    best, trust = found.best, found.trust
    if best is None or trust is None:
        yield "No method could embed these rows; the table above says why."
        return
    if trust >= GOOD:
        yield f"Neighbours in the picture are neighbours in the data (trustworthiness {trust:.3f})."
    else:
        doubtful = float(np.mean(trust.local < FAIR))
        yield (
            f"Do not read single neighbours from it: trustworthiness {trust:.3f}, and "
            f"{doubtful:.0%} of the points have strangers for neighbours."
        )
    torn = best.measures["continuity"]
    yield f"It tears {'few' if torn >= GOOD else 'many'} neighbours apart (continuity {torn:.3f})."
    yield (
        f"Over neighbourhoods of all sizes it keeps {best.measures['r_nx_auc']:.0%} of what a "
        "perfect picture would keep beyond chance; of a sheet that was rolled up, less is right."
    )
    if best.measures.get("repeated", 0.0) > 0.8:
        yield "One coordinate repeats the other: the picture is a curve in truth."
    yield from _about_classes(found, best)
    if found.spread is not None:
        word = "the same" if found.spread < STILL else "much the same"
        word = word if found.spread < MOVING else "another"
        yield (
            f"Another sample gives {word} picture: points move by {found.spread:.3f} of its radius."
        )


def _about_classes(found: Study, best: Any) -> Iterator[str]:
    if found.hit is None:
        return
    _, counts = np.unique(classes_of(found.table.label), return_counts=True)
    chance = float(np.sum((counts / counts.sum()) ** 2))
    after = best.measures["neighborhood_hit"]
    yield (
        f"Classes: {found.hit:.1%} of the neighbours agree in the data, {after:.1%} in the "
        f"picture, and {chance:.1%} would by chance."
    )


def commands(found: Study) -> list[str]:
    """Return the lines for a shell that give the numbers of the page again."""
    asked = found.asked
    drawn = f" --sample {asked.max_rows} --seed {asked.random_state}"
    # Behind a dash an option would be looked for.
    path = f"./{asked.source}" if asked.source.startswith("-") else asked.source
    table, aside = shlex.quote(path), _aside(asked)
    tried = f" --try n_neighbors={found.neighbors} --neighbors {NEIGHBORS}"
    lines = [
        f"unbend dimension {table}{aside}{drawn}",
        f"unbend suggest {table}{aside}{drawn}",
        f"unbend compare {table}{aside}{drawn}{tried}",
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


def code(found: Study) -> str:
    """Return the lines of Python that give the numbers of the page again."""
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
