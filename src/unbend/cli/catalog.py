"""``methods``, ``info``, ``glossary``, ``surface`` and ``demo``: what the library has."""

import inspect
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.messages import FAILED, PIPE, Misuse, emit, emit_json, next_step, shell_word
from unbend.cli.options import Json, Output, Seed
from unbend.cli.outputs import check_outputs, write_results, write_rows
from unbend.cli.parameters import (
    complete_embedding,
    describe_kinds,
    describe_values,
    find_method,
)
from unbend.glossary import explain, read_terms
from unbend.registry import CLASSIFIERS, CLUSTERINGS, EMBEDDINGS, Entry, option_name

if TYPE_CHECKING:
    from unbend.datasets import Surface

ALL = (*EMBEDDINGS, *CLUSTERINGS, *CLASSIFIERS)
# Entries of a list that are shown, on a line of its own and beside others.
MOST, FEW = 12, 3


def methods(
    name: Annotated[
        str | None,
        typer.Argument(help="A method: show its parameters.", autocompletion=complete_embedding),
    ] = None,
    json: Json = False,
) -> None:
    """List the methods, or the parameters of one."""
    if name is None:
        _show_all(json)
        next_step("unbend methods isomap    (its parameters)")
    else:
        entry = find_method(name, ALL)
        _show_one(entry, json)
        next_step(_usage(entry))


def _usage(entry: Entry) -> str:
    if entry in CLUSTERINGS:
        return "unbend cluster TABLE --clusters 3 -o OUT.csv"
    if entry in CLASSIFIERS:
        return "unbend recognize TABLE --model FILE.unbend"
    return f"unbend embed TABLE --method {entry.name} -o OUT.csv"


def _show_all(json: bool) -> None:
    if json:
        emit_json([{"name": entry.name, "title": entry.title} for entry in ALL])
        return
    width = max(len(entry.name) for entry in ALL)
    emit(*(f"{entry.name:<{width}}  {entry.title}" for entry in ALL))


def _show_one(entry: Entry, json: bool) -> None:
    from unbend.validation.parameters import parameters

    method = entry.load()
    declared = parameters(method)
    if json:
        facts = [
            {
                "name": parameter.name,
                "option": option_name(parameter.name),
                "default": parameter.default,
                "allowed": describe_kinds(parameter),
                "help": parameter.help,
            }
            for parameter in declared
        ]
        emit_json({"name": entry.name, "title": entry.title, "parameters": facts})
        return
    wide = TextWrapper(get_terminal_size().columns, subsequent_indent="    ")
    lines = [(method.__doc__ or "").partition("\n")[0], ""]
    for parameter in declared:
        lines += wide.wrap(f"{option_name(parameter.name)}  {describe_values(parameter)}")
        lines += wide.wrap(f"    {parameter.help}")
    emit(*lines)


METHODS = Command(methods, ("unbend methods", "unbend methods isomap", "unbend methods lle --json"))


def glossary(
    term: Annotated[str | None, typer.Argument(help="A term, such as trustworthiness.")] = None,
    json: Json = False,
) -> None:
    """Define a term of the reports, or list all terms."""
    terms = read_terms()
    if term is None:
        emit_json(terms) if json else emit(", ".join(terms))
        next_step("unbend glossary trustworthiness")
        return
    try:
        name, definition = explain(term)
    except KeyError as error:
        near = error.args[0]
        advice = f"did you mean {near}?" if near else "unbend glossary lists all terms."
        raise Misuse(f"{term!r} is not in the glossary: {advice}") from None
    if json:
        emit_json({name: definition})
    else:
        emit(*TextWrapper(get_terminal_size().columns).wrap(f"{name}: {definition}"))


GLOSSARY = Command(
    glossary, ("unbend glossary", "unbend glossary redundancy", "unbend glossary --json")
)


def info(
    model: Annotated[
        str | None, typer.Argument(metavar="[FILE.unbend]", help="A model to describe.")
    ] = None,
    json: Json = False,
) -> None:
    """Show versions, kernels and threads; or a saved model and its training data."""
    facts, report = (_installation(), []) if model is None else _describe(model)
    if json:
        emit_json(facts | ({"report": "\n".join(report)} if report else {}))
    else:
        if report:
            facts["report"] = report.pop(0)
        width = max(len(name) for name in facts) + 2
        emit(*(f"{name:<{width}}{_show(value)}" for name, value in facts.items()), *report)
    next_step(
        "unbend methods"
        if model is None
        else f"unbend transform {shell_word(model)} TABLE -o OUT.csv"
    )


def _show(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_show_item(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        # Pixels and words are too many to read.
        more = len(value) - MOST
        return ", ".join(map(str, value[:MOST])) + (f" and {more} more" if more > 0 else "")
    return str(value)


def _show_item(value: object) -> str:
    long = isinstance(value, list | tuple) and len(value) > FEW
    return f"({len(value)} of them)" if long else str(value)  # type: ignore[arg-type]


def _installation() -> dict[str, Any]:
    from unbend.validation.threads import available_cores
    from unbend.versions import versions

    return {**versions(), "threads": available_cores()}


def _describe(path: str) -> tuple[dict[str, Any], list[str]]:
    """Return the description of a model, and the lines of its report."""
    import unbend

    estimator = unbend.load(path)
    facts = {
        "method": type(estimator).__name__,
        "parameters": estimator.get_params(),
        **estimator.about_,
    }
    return facts, estimator.report_.lines()


INFO = Command(info, ("unbend info", "unbend info roll.unbend", "unbend info --json"))


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
    """Write points of a surface with the true coordinates of each.

    The columns are x, y, z, then the true coordinates chart_1, chart_2, which an embedding should
    find again, and the part that a point belongs to if the surface has parts.
    """
    from unbend.datasets import SURFACES

    if name is None:
        emit(*SURFACES)
        return
    if name not in SURFACES:
        raise Misuse(f"there is no surface {name!r}: choose one of {', '.join(SURFACES)}")
    check_outputs(table=output)
    shape = _shape(name, length=length, height=height, turns=turns)
    try:
        surface = SURFACES[name](rows, noise=noise, sampling=sampling, random_state=seed, **shape)
    except ValueError as error:
        raise Misuse(str(error)) from error
    _write(output, surface)
    if output not in (None, "-"):
        label, *others = [*_charts(surface), *(["part"] if surface.labels is not None else [])]
        aside = f"--label {label}" + (f" --ignore {','.join(others)}" if others else "")
        given = f"{shell_word(str(output))} --method isomap {aside}"
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


def _charts(surface: "Surface") -> list[str]:
    return [f"chart_{number + 1}" for number in range(surface.chart.shape[1])]


def _write(output: str | None, surface: "Surface") -> None:
    import numpy as np

    from unbend.io import Table

    values = np.hstack([surface.points, surface.chart])
    columns = ("x", "y", "z", *_charts(surface))
    part = None if surface.labels is None else "part"
    everyone = np.arange(len(values))
    table = Table(values, columns, surface.labels, part, None, None, everyone)
    with write_results():
        write_rows(output or PIPE, values, columns, table)


def pictures(
    name: Annotated[
        str | None, typer.Argument(help="A set of pictures; without one, list them.")
    ] = None,
    count: Annotated[
        str, typer.Option("--rows", "-n", metavar="NUMBER", help="Pictures, or a grid as 51x25.")
    ] = "400",
    size: Annotated[
        str | None, typer.Option(metavar="WIDTHxHEIGHT", help="Size of a picture, as 75x81.")
    ] = None,
    color: Annotated[bool, typer.Option("--color", help="Red, green and blue channels.")] = False,
    shape: Annotated[str | None, typer.Option(help="Object that turns: head or rabbit.")] = None,
    fixed_light: Annotated[
        bool, typer.Option("--fixed-light", help="Light from the front; of turning_object.")
    ] = False,
    noise: Annotated[float, typer.Option(help="Standard deviation of the noise.")] = 0.0,
    sampling: Annotated[str | None, typer.Option(help="random, grid or shuffled.")] = None,
    seed: Seed = 0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.npz", help="Where to write.")
    ] = None,
) -> None:
    """Write pictures with known parameters, such as views of a turning head.

    The file has two arrays: images, and chart, the true parameters that an embedding should find
    again.
    """
    import numpy as np

    from unbend.datasets import PICTURES
    from unbend.files import atomic_write

    if name is None:
        emit(*PICTURES)
        return
    if name not in PICTURES:
        raise Misuse(f"there is no set {name!r}: choose one of {', '.join(PICTURES)}")
    if output is None or not output.lower().endswith(".npz"):
        raise Misuse("pictures are written to a file: give -o FILE.npz")
    check_outputs(table=output)
    options: dict[str, Any] = {"color": color, "noise": noise, "random_state": seed}
    options |= {} if size is None else {"size": _numbers("--size", size, 2)[::-1]}
    options |= {} if shape is None else {"shape": shape}
    options |= {} if sampling is None else {"sampling": sampling}
    options |= {"light": False} if fixed_light else {}
    grid = _numbers("--rows", count)
    for option in set(options) - set(inspect.signature(PICTURES[name]).parameters):
        raise Misuse(f"{name} has no --{'fixed-light' if option == 'light' else option}")
    try:
        made = PICTURES[name](grid if len(grid) > 1 else grid[0], **options)
    except ValueError as error:
        raise Misuse(str(error)) from error
    with write_results(), atomic_write(output) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, images=made.images.astype(np.float32), chart=made.chart)
    next_step(
        f"unbend embed {shell_word(output)} --as images --array images --method isomap "
        f"-d {made.chart.shape[1]} -o flat.csv"
    )


def _numbers(option: str, typed: str, count: int | None = None) -> tuple[int, ...]:
    """Parse numbers with an x between them."""
    words = typed.lower().split("x")
    if not all(word.isdecimal() for word in words) or count not in (None, len(words)):
        example = "51x25" if count is None else "75x81"
        raise Misuse(f"{option} {typed} is not allowed: write numbers as in {example}")
    return tuple(map(int, words))


PICTURES = Command(
    pictures,
    (
        "unbend pictures",
        "unbend pictures turning_object -n 698 -o head.npz",
        "unbend pictures turning_object -n 51x25 --sampling grid --fixed-light --size 75x81 "
        "--color -o views.npz",
    ),
)
SURFACE = Command(
    surface,
    (
        "unbend surface",
        "unbend surface swiss_roll -n 2000 --noise 0.05 --seed 0 -o roll.csv",
        "unbend surface s_curve | unbend embed - --method ltsa --ignore chart_1,chart_2",
    ),
)


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write into.")
    ] = "unbend-demo",
    rows: Annotated[int, typer.Option("--rows", "-n", help="Points on each surface.")] = 1000,
    seed: Seed = 0,
) -> None:
    """Embed every artificial surface by every method: a table, a contact sheet and a page."""
    from unbend.apps.demo import main

    if main(["--output", output, "--rows", str(rows), "--seed", str(seed)]):
        raise typer.Exit(FAILED)
    next_step(f"open {output}/index.html")


DEMO = Command(demo, ("unbend demo", "unbend demo -n 300 -o small"))
