"""``unbend localize``: positions of sensors from distances between neighbours."""

import time
from typing import Annotated, Any

from unbend.cli.command import Command
from unbend.cli.inputs import Input
from unbend.cli.messages import PIPE, Misuse, emit_json, next_step, say, shell_word, show_progress
from unbend.cli.options import (
    READABLE,
    DataOptions,
    Json,
    Output,
    Seed,
    Separator,
    Symmetrize,
    argument,
    option,
)
from unbend.cli.outputs import check_outputs, write_results, write_rows
from unbend.cli.rows import object_table

DistancesFile = Annotated[
    str,
    argument(
        "DISTANCES",
        "Two names or numbers and a distance, or a square matrix, empty where missing: "
        f"{READABLE}; '-' is stdin.",
    ),
]
Anchors = Annotated[
    str | None,
    option(
        "--anchors FILE",
        "Known positions: columns with the name or number of a sensor, as in DISTANCES, and its "
        "coordinates.",
    ),
]
Dim = Annotated[int, option("--dim -d", "Number of coordinates.", min=1)]
Start = Annotated[
    str,
    option(
        "--start NAME", "isomap, patches, mvu; auto: the better of the first two; best: of all."
    ),
]
Weights = Annotated[
    str, option("--weights NAME", "Errors of distances: relative to them, or equal.")
]


def localize(
    distances: DistancesFile,
    anchors: Anchors = None,
    output: Output = None,
    dim: Dim = 2,
    start: Start = "auto",
    weights: Weights = "relative",
    symmetrize: Symmetrize = False,
    separator: Separator = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find positions of sensors from noisy distances between neighbours.

    Sensors have the names of DISTANCES, or numbers from 0, or from 1 where no 0 occurs. Written,
    one row a sensor, are the coordinates, the expected error, the component, whether anchors fix
    it, and whether its distances determine its position. The components of a disconnected network
    are localized separately, with a warning.
    """
    from unbend.localization import localize as find
    from unbend.localization.localization import WEIGHTS
    from unbend.localization.multistart import STARTS

    if start not in STARTS:
        raise Misuse(f"--start {start} is not allowed: it must be one of {', '.join(STARTS)}")
    if weights not in WEIGHTS:
        raise Misuse(f"--weights {weights} is not allowed: it must be {' or '.join(WEIGHTS)}")
    if distances == anchors == PIPE:
        raise Misuse("only one of the two can come through the pipe")
    check_outputs(table=output, read=[distances, *([anchors] if anchors else [])])
    data = DataOptions(typed_separator=separator)
    given = Input(distances, data)
    known_positions = None if anchors is None else Input(anchors, data)
    began = time.perf_counter()
    with show_progress(), write_results():
        measured = given.read_named_distances(symmetrize)
        known = known_positions and _read_anchors(known_positions, dim, measured)
        found = find(measured.values, known, dim, start=start, weights=weights, random_state=seed)
        if output is not None or not json:
            _write(found, measured, output or PIPE)
    seconds = time.perf_counter() - began
    say(
        f"{len(found.positions)} sensors in {seconds:.1f} s, expected error "
        f"{found.expected_error:.3g}"
    )
    if json:
        emit_json(_facts(found, seconds))
    if output not in (None, PIPE):
        next_step(f"unbend plot {shell_word(str(output))} -o positions.png")


def _read_anchors(given: Input, dim: int, measured: Any) -> dict[int, Any]:
    """Positions by the place of a sensor, where they are named or numbered as the distances are."""
    name, (sensors, positions) = given.name, _named_rows(given, dim, measured.names is not None)
    first, n = measured.first, len(measured)
    labels = range(first, first + n) if measured.names is None else measured.names
    places = {label: place for place, label in enumerate(labels)}
    known: dict[int, Any] = {}
    for sensor, position in zip(sensors, positions, strict=True):
        shown = sensor if isinstance(sensor, str) else f"{sensor:g}"
        if sensor not in places:
            those = (
                f"numbered {first} to {first + n - 1}"
                if measured.names is None
                else f"named as {labels[0]!r}"
            )
            raise ValueError(
                f"the first column of {name} holds {shown}, which is not a sensor: those of the "
                f"distances are {those}"
            )
        if places[sensor] in known:
            raise ValueError(f"{name} has two positions of sensor {shown}: keep one")
        known[places[sensor]] = position
    return known


def _named_rows(given: Input, dim: int, named: bool) -> tuple[list[Any], list[list[float]]]:
    """Sensors, by name or number, and their coordinates."""
    from unbend import io

    columns = given.reader.names
    if len(columns) != 1 + dim:
        raise ValueError(
            f"{given.name} has {len(columns)} columns: anchors are the name or number of a sensor "
            f"and {dim} coordinates"
        )
    if named:
        table = io.read(given.source, id=columns[0], separator=given.options.separator)
        assert table.ids is not None
        return [str(sensor) for sensor in table.ids.tolist()], table.values.tolist()
    table = given.read_table()
    return table.values[:, 0].tolist(), table.values[:, 1:].tolist()


def _write(found: Any, measured: Any, target: str) -> None:
    import numpy as np

    columns = (
        *(f"position_{number + 1}" for number in range(found.positions.shape[1])),
        "expected_error",
        "component",
        "absolute",
        "determined",
    )
    facts = (found.errors, found.component, found.absolute, found.determined)
    values = np.column_stack((found.positions, *facts))
    write_rows(target, values, columns, object_table(measured.names, len(measured)))


def _facts(found: Any, seconds: float) -> dict[str, Any]:
    return {
        "sensors": len(found.positions),
        "components": int(found.component.max()) + 1,
        "absolute": int(found.absolute.sum()),
        "undetermined": int((~found.determined).sum()),
        "expected_error": found.expected_error,
        "noise": found.noise,
        "anchor_error": found.anchor_error,
        "stress": found.stress,
        "seconds": round(seconds, 3),
        "report": found.report.to_dict(),
    }


COMMAND = Command(
    localize,
    (
        "unbend localize distances.csv --anchors anchors.csv -o positions.csv",
        "unbend localize distances.npz --dim 3 --start best --json",
    ),
)
