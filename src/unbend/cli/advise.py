"""``suggest``, ``compare`` and ``dimension``: which method, how many dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from unbend.cli.command import Command
from unbend.cli.inputs import Input
from unbend.cli.messages import (
    Misuse,
    emit,
    emit_json,
    next_step,
    shell_word,
    show_progress,
)
from unbend.cli.options import (
    DataOptions,
    Dimension,
    Distances,
    Jobs,
    Json,
    Methods,
    Neighbors,
    Sample,
    Seed,
    StillPicture,
    TableFile,
    Truth,
    class_names,
    option,
    split_names,
)
from unbend.cli.outputs import check_outputs, check_still, save_figure, write_results
from unbend.cli.parameters import parse_value
from unbend.cli.rows import drop_columns, pick_columns
from unbend.registry import CLUSTERINGS, EMBEDDINGS, METHODS, find_entry, option_name

ESTIMATORS = (
    "pca",
    "local_pca",
    "mle",
    "two_nn",
    "u_statistic",
    "multiscale_svd",
    "correlation",
    "capacity",
    "entropic_graph",
)


PURPOSES = ("picture", "features", "chart", "clusters")
# Rows that all of these commands, and the report, look at: their answers then agree.
ROWS = 2000


@dataclass(frozen=True)
class Subject:
    """What advice is asked about: rows or distances, and how the library takes them."""

    values: Any
    keywords: dict[str, Any]
    label: Any = None
    truth: Any = None
    total: int | None = None


def _read(
    given: Input, distances: bool, sample: int, seed: int, truth: Sequence[str] = ()
) -> Subject:
    """Read a sample of the rows, prepared, or all distances."""
    if distances:
        given.options.check_distances("--distances")
        if truth:
            raise Misuse("--truth does not go with --distances: a table holds the true coordinates")
        return Subject(given.read_distances()[1], {"metric": "precomputed"})
    rows = given.read_sample(sample, seed, truth)
    chart = pick_columns(rows, truth, given.name) if truth else None
    # The columns are prepared, and were looked at.
    keywords = {"metric": "euclidean", "scale": "none"}
    values = drop_columns(rows, truth).values
    return Subject(values, keywords, rows.label, chart, given.total_rows)


def suggest(
    table: TableFile,
    data: DataOptions,
    purpose: Annotated[
        str,
        option(
            "--for PURPOSE",
            "What the embedding is for: picture, features, chart or clusters.",
            autocompletion=lambda: list(PURPOSES),
        ),
    ] = "picture",
    components: Annotated[
        int | None,
        option("--components -d", "Embedding dimension; by default the purpose decides.", min=1),
    ] = None,
    dimension: Annotated[
        int | None, option("--dimension", "Intrinsic dimension, if it is known.", min=1)
    ] = None,
    distances: Distances = False,
    sample: Sample = ROWS,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Suggest a method for a table and a purpose, from measurements.

    These are its intrinsic dimension, curvature, clusters, noise, holes and whether it is closed. A
    picture has two coordinates; features are as many as a later model needs; a chart has the
    coordinates of the surface; clusters are counted.
    """
    if purpose not in PURPOSES:
        raise Misuse(f"--for {purpose} is not allowed: it must be one of {', '.join(PURPOSES)}")
    with show_progress():
        import unbend

        subject = _read(Input(table, data), distances, sample, seed)
        found = unbend.suggest(
            subject.values,
            for_=purpose,  # type: ignore[arg-type]  # checked above
            n_components=components,
            dimension=dimension,
            n_rows=subject.total,
            random_state=seed,
            **subject.keywords,
        )
    if json:
        findings = found.findings
        emit_json(
            {
                "for": purpose,
                "method": _method_name(found.estimator),
                "parameters": _changed_parameters(found.estimator),
                "dimension": findings.verdict,
                "reasons": found.reasons,
                "alternatives": [str(other) for other in found.alternatives],
                "findings": vars(findings),
            }
        )
    else:
        emit(*str(found).split("\n"))
    next_step(_next_command(table, found.estimator, data))


def _method_name(estimator: Any) -> str:
    kind = type(estimator).__name__
    known = (entry for entry in (*EMBEDDINGS, *CLUSTERINGS) if entry.class_name == kind)
    return next((entry.name for entry in known), kind)


def _changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    usual = type(estimator)().get_params()
    return {name: value for name, value in estimator.get_params().items() if value != usual[name]}


def _next_command(table: str, estimator: Any, data: DataOptions) -> str:
    """Return the command that embeds a table, or finds its clusters, as an estimator would."""
    parameters = _changed_parameters(estimator)
    distances = " --distances" if parameters.pop("metric", None) == "precomputed" else ""
    given = "".join(f" {option_name(name)} {value}" for name, value in parameters.items())
    words = f"{shell_word(table)}{data.words()}{distances}"
    if not hasattr(estimator, "n_components"):
        return f"unbend cluster {words}{given}"
    return f"unbend embed {words} --method {_method_name(estimator)}{given}"


SUGGEST = Command(
    suggest,
    (
        "unbend suggest iris.csv --label species",
        "unbend suggest iris.csv --label species --for features",
        "unbend suggest cities.csv --distances --for chart",
        "unbend suggest roll.csv --ignore chart_1,chart_2 --json",
    ),
)


def compare(
    table: TableFile,
    data: DataOptions,
    methods: Methods = None,
    grid: Annotated[
        list[str] | None,
        option("--try NAME=VALUES", "Values of a parameter: n_neighbors=8,12"),
    ] = None,
    components: Dimension = 2,
    truth: Truth = None,
    neighbors: Neighbors = 10,
    distances: Distances = False,
    sample: Sample = ROWS,
    seed: Seed = 0,
    jobs: Jobs = None,
    plot: StillPicture = None,
    json: Json = False,
) -> None:
    """Fit several methods to the same rows, and rank them by several quality measures.

    A label of classes adds the neighbourhood hit, the truth adds Procrustes errors. The best method
    is first, by the mean of its ranks; methods with redundant coordinates or a picture of a few
    specks come after all others. That ranks methods, and does not say that any is good.
    """
    check_still(plot, "contact sheets are not interactive")
    names, parameters = class_names(methods), _parse_grid(grid or ())
    given, true_names = Input(table, data), split_names(truth)
    check_outputs(picture=plot, read=[given])
    with show_progress(), write_results():
        import unbend
        from unbend.apps.study.study import classes_of

        subject = _read(given, distances, sample, seed, true_names)
        found = unbend.compare(
            subject.values,
            names,
            n_components=components,
            parameters=parameters,
            truth=subject.truth,
            labels=classes_of(subject.label),
            n_neighbors=neighbors,
            n_jobs=jobs,
            **subject.keywords,
        )
        if plot is not None:
            colors = subject.label if subject.truth is None else subject.truth
            save_figure(found.contact_sheet(colors), plot)
    if json:
        trials = [
            {
                "title": trial.title,
                **trial.measures,
                "seconds": round(trial.seconds, 3),
                "mean_rank": None if trial.failure else trial.mean_rank,
                "degenerate": trial.degenerate,
                "failure": trial.failure or None,
                "warnings": trial.warnings,
                "reason": trial.reason,
            }
            for trial in found.trials
        ]
        verdict = None if found.dimension is None else found.dimension.verdict
        rows = subject.values.shape[0]
        emit_json({"rows": rows, "neighbors": neighbors, "dimension": verdict, "trials": trials})
    else:
        emit(*str(found).split("\n"))
    left_out = replace(data, ignore=(*data.ignore, *true_names))
    next_step(f"{_next_command(table, found.best, left_out)} -o flat.csv --plot flat.png")


def _parse_grid(typed: Sequence[str]) -> dict[str, list[object]]:
    """Parse parameters and their values: n_neighbors=8,12, or isomap__n_neighbors=8,12."""
    from unbend.validation.parameters import parameters

    grid: dict[str, list[object]] = {}
    for text in typed:
        name, separator, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not separator or not split_names([values]):
            raise Misuse(f"--try {text} has no values: write --try n_neighbors=8,12")
        method, _, own = name.rpartition("__")
        entry = find_entry(method, METHODS) if method else None
        declared = (
            parameter
            for each in ((entry,) if entry else METHODS)
            for parameter in parameters(each.load())
            if parameter.name == (own if entry else name)
        )
        parameter = next(declared, None)
        if parameter is None:
            raise Misuse(f"no method has a parameter {name!r}: unbend methods NAME lists them")
        key = f"{entry.class_name}__{own}" if entry else name
        grid[key] = [parse_value(parameter, value) for value in split_names([values])]
    return grid


COMPARE = Command(
    compare,
    (
        "unbend compare iris.csv --label species --plot sheet.png",
        "unbend compare roll.csv --methods isomap,ltsa --try n_neighbors=8,12 --ignore chart_2",
        "unbend compare roll.csv --truth chart_1,chart_2 --json",
    ),
)


def dimension(
    table: TableFile,
    data: DataOptions,
    estimators: Annotated[
        list[str] | None,
        option(
            "--estimators NAMES",
            f"Some of {', '.join(ESTIMATORS)}; all by default.",
            autocompletion=lambda: list(ESTIMATORS),
        ),
    ] = None,
    distances: Distances = False,
    sample: Sample = ROWS,
    seed: Seed = 0,
    plot: StillPicture = None,
    json: Json = False,
) -> None:
    """Estimate the intrinsic dimension of a table, by several rules that fail differently.

    First the dimension that the rules agree on, or the range that they leave, which suggest,
    compare and report use; then each estimate with its standard error, which does not include bias.
    """
    names = split_names(estimators) or ESTIMATORS
    for name in names:
        if name not in ESTIMATORS:
            raise Misuse(f"there is no estimator {name!r}: choose from {', '.join(ESTIMATORS)}")
    check_still(plot, "plots of the fits are not interactive")
    given = Input(table, data)
    check_outputs(picture=plot, read=[given])
    with show_progress(), write_results():
        import unbend

        subject = _read(given, distances, sample, seed)
        choice = unbend.choose_dimension(subject.values, **subject.keywords)
        estimates, failures = _estimate(subject.values, names, subject.keywords["metric"])
        if plot is not None:
            if not estimates:
                first = next(iter(failures.values()))
                raise ValueError(f"no estimator succeeded; the first failed because {first}")
            save_figure(unbend.plot.dimension_fits(list(estimates.values())), plot)
    if json:
        facts = {
            "rows": subject.values.shape[0],
            "dimension": choice.dimension,
            "verdict": choice.verdict,
            "range": [choice.low, choice.high],
            "agreement": choice.agreement,
            "votes": dict(choice.votes),
            "abstained": dict(choice.abstained),
            "estimates": {
                name: {"dimension": value.dimension, "uncertainty": value.uncertainty}
                for name, value in estimates.items()
            },
            "refused": failures,
        }
        emit_json(facts)
    else:
        lines = [
            f"  {name:<16}{str(value).removeprefix(f'{name}: ')}"
            for name, value in estimates.items()
        ]
        lines += [f"  {name:<16}failed: {why}" for name, why in failures.items()]
        emit(*str(choice).split("\n"), "estimates, with standard errors:", *lines)
    words = f"{shell_word(table)}{data.words()}{' --distances' * distances}"
    next_step(f"unbend suggest {words}")


def _estimate(
    values: Any, names: tuple[str, ...], metric: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the estimate of each estimator, or why it failed."""
    from unbend import dimension as functions
    from unbend.progress import advance

    estimates, failures = {}, {}
    for number, name in enumerate(names):
        advance("estimates", number, len(names))
        try:
            estimates[name] = getattr(functions, name)(values, metric=metric)
        except (TypeError, ValueError) as error:
            failures[name] = str(error)
    advance("estimates", len(names), len(names))
    return estimates, failures


DIMENSION = Command(
    dimension,
    (
        "unbend dimension iris.csv --label species",
        "unbend dimension roll.csv --ignore chart_1,chart_2 --plot fits.png",
        "unbend dimension roll.csv --estimators mle,two_nn --ignore chart_1,chart_2 --json",
    ),
)
