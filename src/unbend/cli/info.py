"""``unbend info``: what is installed, or what a model is."""

from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.options import Json
from unbend.cli.output import emit, emit_json, next_step
from unbend.cli.steps import named

# Entries of a list that are shown, on a line of its own and beside others.
MOST, FEW = 12, 3


def info(
    model: Annotated[
        str | None, typer.Argument(metavar="[FILE.unbend]", help="A model to describe.")
    ] = None,
    json: Json = False,
) -> None:
    """Show versions, kernels and threads; or what a model is, and what it was fitted to."""
    facts, report = (_installed(), []) if model is None else _described(model)
    if json:
        emit_json(facts | ({"report": "\n".join(report)} if report else {}))
    else:
        if report:
            facts["report"] = report.pop(0)
        width = max(len(name) for name in facts) + 2
        emit(*(f"{name:<{width}}{_shown(value)}" for name, value in facts.items()), *report)
    next_step(
        "unbend methods" if model is None else f"unbend transform {named(model)} TABLE -o OUT.csv"
    )


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_inside(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        # Pixels and words are too many to read.
        more = len(value) - MOST
        return ", ".join(map(str, value[:MOST])) + (f" and {more} more" if more > 0 else "")
    return str(value)


def _inside(value: object) -> str:
    long = isinstance(value, list | tuple) and len(value) > FEW
    return f"({len(value)} of them)" if long else str(value)  # type: ignore[arg-type]


def _installed() -> dict[str, Any]:
    from unbend.validation.threads import available_cores
    from unbend.versions import versions

    return {**versions(), "threads": available_cores()}


def _described(path: str) -> tuple[dict[str, Any], list[str]]:
    """Return the description of a model, and the lines of its report."""
    import unbend

    estimator = unbend.load(path)
    facts = {
        "method": type(estimator).__name__,
        "parameters": estimator.get_params(),
        **estimator.about_,
    }
    return facts, estimator.report_.lines()


COMMAND = Command(info, ("unbend info", "unbend info roll.unbend", "unbend info --json"))
