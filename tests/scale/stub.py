"""The stub of `unbend.scale`, whose classes are made at run time: `python -m tests.scale.stub`."""

import dataclasses
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from unbend import scale
from unbend.scale.estimators import CLASSES, ExactEstimator, SampledEstimator

STUB = Path(scale.__file__).with_suffix(".pyi")
HEAD = """# Written by `python -m tests.scale.stub` from the declared parameters; a test compares.

from typing import Any, Literal

from unbend.scale.collections import Partitions as Partitions
from unbend.scale.collections import open_rows as open_rows
from unbend.scale.cost import Cost as Cost
from unbend.scale.cost import estimate_cost as estimate_cost
from unbend.scale.estimators import ExactEstimator, SampledEstimator
from unbend.scale.mapping import map_rows as map_rows
from unbend.scale.neighbors import nearest_neighbors as nearest_neighbors
from unbend.scale.quality import SampledQuality as SampledQuality
from unbend.scale.quality import measure_quality as measure_quality
"""


def type_text(kind: Any) -> str:
    """Write a type as a stub does."""
    if kind is Any:
        return "Any"
    if kind is type(None):
        return "None"
    if isinstance(kind, types.UnionType) or get_origin(kind) is Union:
        return " | ".join(type_text(part) for part in get_args(kind))
    if get_origin(kind) is Literal:
        words = ", ".join('"' + word + '"' for word in get_args(kind))
        return f"Literal[{words}]"
    if get_origin(kind) is not None:
        return f"{kind.__origin__.__name__}[{', '.join(map(type_text, get_args(kind)))}]"
    return kind.__name__ if kind.__module__ == "builtins" else "Any"


def class_text(name: str, kind: type) -> str:
    """Write a class: its base, and its parameters with the types of the plain estimator."""
    known = {
        **get_type_hints(CLASSES[name].entry.load()),
        "sample": int | None,
        "sampling": str,
        "held_out": int,
        "graph_solver": str,
    }
    fields = dataclasses.fields(kind)
    types_ = {field.name: type_text(known.get(field.name, Any)) for field in fields}
    placed = [field.name for field in fields if not field.kw_only]
    named = [field.name for field in fields if field.kw_only]
    arguments = [
        "self",
        *(f"{name}: {types_[name]} = ..." for name in placed),
        "*",
        *(f"{name}: {types_[name]} = ..." for name in named),
    ]
    base = SampledEstimator if issubclass(kind, SampledEstimator) else ExactEstimator
    lines = [f"class {name}({base.__name__}):"]
    lines += [f"    {parameter}: {text}" for parameter, text in types_.items()]
    lines.append("    def __init__(")
    lines += [f"        {part}," for part in arguments]
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def stub_text() -> str:
    """Write the whole stub."""
    classes = [class_text(name, kind) for name, kind in CLASSES.items()]
    return "\n".join([HEAD, *classes])


if __name__ == "__main__":
    STUB.write_text(stub_text(), encoding="utf-8")
