"""The findings of a study in sentences, and the commands and code that reproduce them."""

import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from unbend.apps.study.study import AS_IT_IS, NEIGHBORS, RESAMPLES, Request, Study, classes_of
from unbend.io.reading import SAMPLED_ROWS
from unbend.io.table import POLICIES
from unbend.prepare.frames import describe_gaps, describe_preparation
from unbend.registry import entry_of, option_name
from unbend.validation.arrays import known_labels

# Share of the variance from which one column dominates all distances.
DOMINANT = 0.9
# Trustworthiness of a point that is in doubt below it.
DOUBTFUL = 0.9


def sentence(words: str) -> str:
    """Return words as a sentence.

    Examples
    --------
    >>> sentence("fewest false neighbours")
    'Fewest false neighbours.'
    """
    return words[:1].upper() + words[1:] + "." * (not words.endswith("."))


def describe_size(found: Study) -> str:
    """Say how many rows and columns there are, and what labels them."""
    row, column = row_and_column(found.request)
    origin = found.request.origin
    size = None if origin is None else origin.size
    mixed = not all(each.numeric for each in found.columns)
    width = f"{len(found.columns)} {column}s" if size is None else f"{size[1]} x {size[0]} pixels"
    rows = f"{found.rows} {row}s" if found.sample is None else f"Sampled {found.sample}"
    label = found.request.label
    return (
        f"{rows}, {width}"
        + " of numbers" * (origin is None and not mixed)
        + ("" if label is None else f", labelled by {label!r}")
    )


def describe_data(found: Study) -> Iterator[str]:
    """Describe the table before any method."""
    row, column = row_and_column(found.request)
    if found.sample is not None:
        yield (
            f"The table is larger than memory: sampled {found.sample}, and all numbers are those "
            "of the sample."
        )
    if len(found.table) < found.kept:
        studied = len(found.table)
        yield f"{studied} of {found.kept} {row}s, sampled without replacement, were studied."
    yield from _describe_missing(found)
    if found.prepared is not None:
        preparation = found.prepared.preparation
        if preparation.scale_ == "none" and preparation.scale == "auto":
            yield f"Not scaled: {preparation.scale_reason_}."
        yield from describe_preparation(preparation, identity=found.prepared.identity)
    constant = sum(each.constant for each in found.columns)
    # The preparation has named those that it left out.
    if constant and not is_prepared(found):
        them = "it" if constant == 1 else "them"
        yield f"{_were(constant, column)} constant, which changes no distance: leave {them} out."
    if found.duplicates:
        same = "1 is a duplicate" if found.duplicates == 1 else f"{found.duplicates} are duplicates"
        yield f"Of the {row}s studied, {same} of an earlier one in all features."
    heaviest = max(found.columns, key=lambda each: np.nan_to_num(each.share))
    scaled = found.prepared is not None and found.prepared.preparation.scale_ != "none"
    if len(found.columns) > 2 and heaviest.share > DOMINANT and not scaled:
        yield (
            f"One {column}, {heaviest.name!r}, holds {heaviest.share:.0%} of the variance, so it "
            "dominates all distances: if units differ, standardise first."
        )


def _describe_missing(found: Study) -> Iterator[str]:
    missing = sum(each.missing for each in found.columns)
    if not missing:
        return
    count = _were(missing, "value")
    if found.prepared is not None:
        prepared = found.prepared
        yield " ".join(
            [f"{count} missing.", *describe_gaps(prepared.preparation, prepared.dropped)]
        )
    elif found.request.missing == "drop":
        yield f"{count} missing. Dropped {found.rows - found.kept} rows."
    else:
        yield f"{count} missing. Imputed by {found.request.missing} of the column."


def is_prepared(found: Study) -> bool:
    """Whether the numbers studied are features, not the columns themselves."""
    return found.prepared is not None and not found.prepared.identity


def row_and_column(request: Request) -> tuple[str, str]:
    """Return what a row is called, and a column."""
    return (
        ("row", "column") if request.origin is None else (request.origin.row, request.origin.column)
    )


def _were(count: int, what: str) -> str:
    return f"1 {what} was" if count == 1 else f"{count} {what}s were"


def describe_dimension(found: Study) -> Iterator[str]:
    """Say how reliable the intrinsic dimension is."""
    choice = found.dimension
    if choice.low == choice.high:
        agreed = round(choice.agreement * len(choice.votes))
        yield f"{agreed} of {len(choice.votes)} rules agree on {choice.dimension}."
    else:
        yield f"The rules disagree: the intrinsic dimension is {choice.verdict}."
    if choice.low > 2 and choice.determined:
        yield (
            f"For features of a later model, rather than a picture, use {choice.high} components."
        )
    if choice.abstained:
        yield "Rules that saw noise, which fills every dimension, are not counted."


def describe_quality(found: Study) -> Iterator[str]:
    """Interpret the quality measures of the recommended embedding."""
    chosen, trust = found.recommended, found.trust
    if chosen is None or trust is None:
        yield "All methods failed; the table above says why."
        return
    doubtful = float(np.mean(trust.local < DOUBTFUL))
    yield (
        f"The trustworthiness is {trust:.3f}: 1 means that all neighbours in the picture are "
        f"neighbours in the data. It is below {DOUBTFUL} at {doubtful:.0%} of the points."
    )
    yield (
        f"The continuity is {chosen.measures['continuity']:.3f}: 1 means that all neighbours in "
        "the data stay close."
    )
    yield (
        f"The neighbourhood preservation over all sizes (R_NX AUC) is "
        f"{chosen.measures['r_nx_auc']:.3f}: 1 is perfect, 0 is chance, and unrolling a sheet "
        "lowers it."
    )
    yield from _describe_classes(found, chosen)
    if found.spread is not None:
        yield (
            f"Fits to {RESAMPLES} samples of the rows move points by {found.spread:.0%} of the "
            "embedding's radius, on average."
        )


def _describe_classes(found: Study, best: Any) -> Iterator[str]:
    if found.hit is None:
        return
    classes = classes_of(found.table.label)
    _, counts = np.unique(classes[known_labels(classes)], return_counts=True)
    chance = float(np.sum((counts / counts.sum()) ** 2))
    after = best.measures["neighborhood_hit"]
    yield (
        f"Classes: {found.hit:.1%} of the neighbours have the same class in the data, {after:.1%} "
        f"in the embedding, {chance:.1%} by chance."
    )
    missing = len(classes) - counts.sum()
    if missing:
        yield f"{missing} rows have no class and are left out of these shares."


def shell_commands(found: Study) -> list[str]:
    """Return the shell commands that reproduce the numbers of the page."""
    request = found.request
    sample = f" --sample {request.max_rows} --seed {request.random_state}"
    # Behind a dash an option would be looked for.
    path = f"./{request.source}" if request.source.startswith("-") else request.source
    table, aside = shlex.quote(path), _aside(request)
    tried = f" --methods {','.join(found.methods)}" if found.methods else ""
    tried += "".join(f" --try {name}={value}" for name, (value,) in found.tried.items())
    tried += f" --neighbors {NEIGHBORS}"
    lines = [
        f"unbend dimension {table}{aside}{sample}",
        f"unbend suggest {table}{aside}{sample}",
        f"unbend compare {table}{aside}{sample}{tried}",
    ]
    chosen = found.recommended
    if chosen is not None:
        entry = entry_of(chosen.estimator)
        assert entry is not None
        own = (key.partition("__") for key in found.tried)
        names = [name for method, _, name in own if method == entry.class_name]
        given = ((option_name(name), chosen.estimator.get_params()[name]) for name in names)
        options = "".join(f" {name} {value}" for name, value in given)
        some = "" if found.sample is None else f" --sample {request.max_rows}"
        method = f"--method {entry.name}{options}"
        lines.append(f"unbend embed {table}{aside} {method}{some} -o flat.csv")
    return lines


def _aside(request: Request) -> str:
    """Return the options that say which columns are not data, and about missing values."""
    if request.origin is not None:
        return request.origin.options
    given = {"label": request.label, "id": request.id, "ignore": ",".join(request.ignore)}
    given |= {"array": request.array, "separator": request.separator}
    given |= {"encoding": request.encoding}
    options = [f" --{name} {shlex.quote(value)}" for name, value in given.items() if value]
    if request.scale != "auto":
        options.append(f" --scale {request.scale}")
    pairs = (f"{column}={kind}" for column, kind in (request.kinds or {}).items())
    options += [f" --column-kind {shlex.quote(pair)}" for pair in pairs]
    if request.categories != "onehot":
        options.append(f" --categories {request.categories}")
    return "".join(options) + f" --missing {request.missing}"


def _reading(found: Study) -> list[str]:
    """Return the lines that make `table`, with its label, and `values`."""
    request = found.request
    if request.origin is not None:
        return [f"table = {request.origin.code}", "values = table.values"]
    roles = {"label": request.label, "id": request.id, "ignore": list(request.ignore)}
    file = {"array": request.array, "separator": request.separator, "encoding": request.encoding}
    source, options = repr(request.source), _keywords(roles | file)
    if found.sample is not None:
        drawn = f"{max(request.max_rows, SAMPLED_ROWS)}, random_state={request.random_state}"
        source = f"unbend.io.sample_table({source}, {drawn}{_keywords(file)}).reader"
        options = _keywords(roles)
    if found.prepared is None or found.prepared.identity:
        # Without gaps the policy has no effect, and `read` knows fewer.
        policy = request.missing if request.missing in POLICIES else "refuse"
        read = f"unbend.io.read({source}{options}, missing={policy!r})"
        return [f"table = {read}", "values = table.values"]
    return [
        f"frame = unbend.io.read_frame({source}{options})",
        f"prepare = unbend.{found.prepared.preparation!r}.fit(frame)".replace("\n", ""),
        "values = prepare.transform(frame)",
        "table = frame.take(prepare.kept_rows_).rest",
    ]


def _keywords(given: dict[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in given.items() if value)


def python_code(found: Study) -> str:
    """Return the Python code that reproduces the numbers of the page."""
    request = found.request
    array = "" if request.origin is None else request.origin.chosen
    classes = "" if found.hit is None else ", labels=table.label[rows]"
    methods = f", {found.methods!r}" if found.methods else ""
    lines = [
        "import numpy as np",
        "import unbend",
        "",
        *_reading(found),
        f"rows = np.arange({found.kept})",
    ]
    if len(found.table) < found.kept:
        draw = f"choice({found.kept}, {request.max_rows}, replace=False)"
        lines[-1] = f"rows = np.sort(np.random.default_rng({request.random_state}).{draw})"
    whole = f"n_rows={found.kept}, " if len(found.table) < found.kept else ""
    lines += [
        f"X = values[rows]{array}",
        "",
        f"prepared = {AS_IT_IS}",
        "dimension = unbend.choose_dimension(X, **prepared)",
        f"suggestion = unbend.suggest(X, {whole}random_state={request.random_state}, **prepared)",
        f"tried = {found.tried!r}",
        f"options = {{'n_neighbors': {NEIGHBORS}, **prepared}}",
        f"compared = unbend.compare(X{methods}, parameters=tried{classes}, **options)",
    ]
    chosen = found.recommended
    if found.spread is not None and chosen is not None:
        place = found.comparison.trials.index(chosen)
        again = f"n_resamples={RESAMPLES}, random_state={request.random_state}"
        lines.append(f"chosen = compared.trials[{place}].estimator")
        lines.append(f"moved = unbend.stability(chosen, X, {again})")
    return "\n".join([*lines, "print(dimension, suggestion, compared, sep='\\n')"])
