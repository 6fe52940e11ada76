"""``unbend dimension``: how many dimensions a table has."""

from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
from unbend.cli.kinds import files_read
from unbend.cli.options import (
    Id,
    Ignore,
    Json,
    Label,
    Missing,
    Sample,
    Seed,
    StillPicture,
    TableFile,
    listed,
)
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.pictures import check_still, save
from unbend.cli.progress import watched
from unbend.cli.reading import read_sample
from unbend.cli.steps import named
from unbend.cli.tables import Columns

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


def dimension(
    table: TableFile,
    data: Data,
    estimators: Annotated[
        list[str] | None,
        typer.Option(
            "--estimators",
            metavar="NAMES",
            help=f"Some of {', '.join(ESTIMATORS)}; all if not given.",
            autocompletion=lambda: list(ESTIMATORS),
        ),
    ] = None,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    missing: Missing = "refuse",
    sample: Sample = 2000,
    seed: Seed = 0,
    plot: StillPicture = None,
    json: Json = False,
) -> None:
    """Estimate the intrinsic dimension of a table, by several rules that fail differently.

    First the number that most rules agree on, then each estimate with its standard error, which
    says nothing of bias.
    """
    names = _known(listed(estimators)) or ESTIMATORS
    check_still(plot, "fits are drawn as stills")
    check_files(picture=plot, read=files_read(table, data))
    columns = Columns(label, id, listed(ignore), missing, data)
    with watched(), appearing_together() as beside:
        import unbend

        rows = read_sample(table, columns, sample, seed)
        choice = unbend.choose_dimension(rows.values)
        found, refused = _estimates(rows.values, names)
        if plot is not None:
            save(unbend.plot.dimension_fits(_some(found, refused)), beside(plot))
    if json:
        emit_json(_facts(len(rows), choice, found, refused))
    else:
        emit(*str(choice).split("\n"), *_lines(found, refused))
    next_step(f"unbend suggest {named(table)}{columns.words()} --dimension {choice.dimension}")


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in ESTIMATORS:
            raise Misuse(f"there is no estimator {name!r}: choose from {', '.join(ESTIMATORS)}")
    return names


def _some(found: dict[str, Any], refused: dict[str, str]) -> list[Any]:
    """Estimates to draw, of which there must be one."""
    if not found:
        raise ValueError(
            f"no estimator gave an answer; the first said: {next(iter(refused.values()))}"
        )
    return list(found.values())


def _lines(found: dict[str, Any], refused: dict[str, str]) -> list[str]:
    estimates = [
        f"  {name:<16}{value.dimension:6.2f} ± {value.uncertainty:.2f}"
        for name, value in found.items()
    ]
    silent = [f"  {name:<16}no answer: {why}" for name, why in refused.items()]
    return ["estimates, with standard errors:", *estimates, *silent]


def _estimates(values: Any, names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what each estimator found, or why it gave no answer."""
    from unbend import dimension as functions
    from unbend.progress import advance

    found, refused = {}, {}
    for number, name in enumerate(names):
        advance("estimates", number, len(names))
        try:
            found[name] = getattr(functions, name)(values)
        except ValueError as error:
            refused[name] = str(error)
    advance("estimates", len(names), len(names))
    return found, refused


def _facts(
    rows: int, choice: Any, found: dict[str, Any], refused: dict[str, str]
) -> dict[str, Any]:
    return {
        "rows": rows,
        "dimension": choice.dimension,
        "agreement": choice.agreement,
        "votes": dict(choice.votes),
        "abstained": dict(choice.abstained),
        "estimates": {
            name: {"dimension": value.dimension, "uncertainty": value.uncertainty}
            for name, value in found.items()
        },
        "refused": refused,
    }


COMMAND = Command(
    dimension,
    (
        "unbend dimension iris.csv --label species",
        "unbend dimension roll.csv --ignore chart_1,chart_2 --plot fits.png",
        "unbend dimension roll.csv --estimators mle,two_nn --ignore chart_1,chart_2 --json",
    ),
)
