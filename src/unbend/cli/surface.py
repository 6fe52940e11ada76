"""``unbend surface``: artificial data with known coordinates."""

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
from unbend.cli.options import Output, Seed
from unbend.cli.output import emit, next_step
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, write_rows

if TYPE_CHECKING:
    from unbend.datasets import Surface


def _names(incomplete: str = "") -> list[str]:
    from unbend.datasets import SURFACES

    return [name for name in SURFACES if name.startswith(incomplete)]


def surface(
    name: Annotated[
        str | None,
        typer.Argument(help="A surface; without one, list them.", autocompletion=_names),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, help="Points.")] = 1000,
    noise: Annotated[float, typer.Option(help="Standard deviation of the noise.")] = 0.0,
    seed: Seed = 0,
    sampling: Annotated[
        str, typer.Option(help="Uniform by 'area', or by 'parameter' as the book draws them.")
    ] = "area",
    length: Annotated[float | None, typer.Option(help="Length of a roll or a square.")] = None,
    height: Annotated[float | None, typer.Option(help="Height of the punched sphere.")] = None,
    turns: Annotated[int | None, typer.Option(help="Turns of the helix.")] = None,
    output: Output = None,
) -> None:
    """Write points of a surface with the coordinates they were drawn from.

    The columns are x, y, z, then the true coordinates chart_1, chart_2, which an embedding should
    find again, and the part that a point belongs to if the surface has parts.
    """
    from unbend.datasets import SURFACES

    if name is None:
        emit(*SURFACES)
        return
    if name not in SURFACES:
        raise Misuse(f"there is no surface {name!r}: choose one of {', '.join(SURFACES)}")
    check_files(table=output)
    shape = _shape(name, length=length, height=height, turns=turns)
    try:
        drawn = SURFACES[name](rows, noise=noise, sampling=sampling, random_state=seed, **shape)
    except ValueError as error:
        raise Misuse(str(error)) from error
    _write(output, drawn)
    if output not in (None, "-"):
        label, *others = [*_charts(drawn), *(["part"] if drawn.labels is not None else [])]
        aside = f"--label {label}" + (f" --ignore {','.join(others)}" if others else "")
        given = f"{named(str(output))} --method isomap {aside}"
        next_step(f"unbend embed {given} -o flat.csv --plot flat.png")


def _shape(name: str, **options: float | None) -> dict[str, Any]:
    """Return the options given; refuse those that the surface does not have."""
    from unbend.datasets import SURFACES

    known = inspect.signature(SURFACES[name]).parameters
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in known:
            own = [f"--{other}" for other in options if other in known]
            raise Misuse(f"{name} has no --{option}" + (f": it has {own[0]}" if own else ""))
    return given


def _charts(drawn: "Surface") -> list[str]:
    return [f"chart_{number + 1}" for number in range(drawn.chart.shape[1])]


def _write(output: str | None, drawn: "Surface") -> None:
    import numpy as np

    from unbend.io import Table

    values = np.hstack([drawn.points, drawn.chart])
    columns = ("x", "y", "z", *_charts(drawn))
    part = None if drawn.labels is None else "part"
    everyone = np.arange(len(values))
    table = Table(values, columns, drawn.labels, part, None, None, everyone)
    with appearing_together() as beside:
        write_rows(output or PIPE, beside, values, columns, table)


COMMAND = Command(
    surface,
    (
        "unbend surface",
        "unbend surface swiss_roll -n 2000 --noise 0.05 --seed 0 -o roll.csv",
        "unbend surface s_curve | unbend embed - --method ltsa --ignore chart_1,chart_2",
    ),
)
