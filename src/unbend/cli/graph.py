"""``unbend graph``: the neighbourhood graph of a table, and whether it can be trusted."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unbend.cli.command import Command
from unbend.cli.data import Data
from unbend.cli.errors import Misuse
from unbend.cli.files import appearing_together, check_files
from unbend.cli.kinds import files_read
from unbend.cli.options import (
    Distances,
    Id,
    Ignore,
    Json,
    Label,
    Missing,
    Size,
    StillPicture,
    TableFile,
    listed,
)
from unbend.cli.output import emit, emit_json, next_step, say
from unbend.cli.pictures import check_still, save
from unbend.cli.progress import watched
from unbend.cli.reading import read_distances, read_table
from unbend.cli.steps import named
from unbend.cli.tables import PIPE, Columns


def graph(
    table: TableFile,
    data: Data,
    neighbors: Size = 10,
    components: Annotated[
        int, typer.Option("--components", "-d", min=1, help="Dimensions that it shall show.")
    ] = 2,
    label: Label = None,
    id: Id = None,
    ignore: Ignore = None,
    missing: Missing = "refuse",
    distances: Distances = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The edges: .npz .mtx .graphml"),
    ] = None,
    plot: StillPicture = None,
    json: Json = False,
) -> None:
    """Make the neighbourhood graph of a table, and say whether it can be trusted.

    Told are components, degrees and lengths of edges, whether neighbourhoods span the dimensions
    wanted, and whether noise rules them. Edges are written once for both directions, with their
    lengths, as a SciPy matrix, in Matrix Market or in GraphML with the ids.
    """
    if output == PIPE:
        raise Misuse("a graph cannot go to stdout: give -o FILE.npz, FILE.mtx or FILE.graphml")
    check_still(plot, "the report is drawn as a still")
    columns = Columns(label, id, listed(ignore), missing, data)
    check_files(graph=output, picture=plot, read=files_read(table, data))
    with watched(), appearing_together() as beside:
        from unbend.graphs import consistency, undirected

        space, ids = _space(table, columns, distances)
        lengths = undirected(space.nearest(_checked(neighbors, space.n, table))).lengths
        found = consistency(space, components, neighbors)
        if output is not None:
            write_graph(beside(output), lengths, ids)
        if plot is not None:
            from unbend import plot as plots

            save(plots.consistency(found), beside(plot))
    facts = _facts(lengths, found, neighbors)
    if json:
        emit_json(facts)
    else:
        emit(*_lines(facts), *str(found).split("\n"))
    say("; ".join(found.problems()) or "nothing is wrong with it")
    k = found.suggested or neighbors
    given = f"{named(table)}{' --distances' if distances else ''}{columns.words()}"
    next_step(f"unbend embed {given} --method isomap --n-neighbors {k} -o flat.csv")


def _space(table: str, columns: Columns, distances: bool) -> tuple[Any, Any]:
    from unbend.neighbors import DistanceSpace, PointSpace

    if distances:
        columns.data.check_none("--distances")
        if columns != Columns(data=columns.data):
            raise Misuse("--distances stands alone: the table holds nothing else")
        return DistanceSpace(read_distances(table, columns.data.mark)), None
    import numpy as np

    rows = read_table(table, columns)
    return PointSpace(np.ascontiguousarray(rows.values, dtype=np.float64)), rows.ids


def _checked(neighbors: int, n: int, table: str) -> int:
    if neighbors >= n:
        raise ValueError(f"{table} has {n} rows: --neighbors must be less, and it is {neighbors}")
    return neighbors


def _facts(lengths: Any, found: Any, neighbors: int) -> dict[str, Any]:
    import numpy as np

    degrees = np.diff(lengths.indptr)
    return {
        "rows": lengths.shape[0],
        "neighbors": neighbors,
        "edges": lengths.nnz // 2,
        "components": found.sizes.tolist(),
        "degree_least": int(degrees.min()),
        "degree_median": float(np.median(degrees)),
        "degree_most": int(degrees.max()),
        "length_median": float(np.median(lengths.data)),
        "length_most": float(lengths.data.max()),
        "thin": len(found.thin),
        "hidden": found.hidden,
        "suggested_neighbors": found.suggested,
        "passes": found.passes,
        "problems": found.problems(),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    return [
        f"graph of {facts['rows']} points: {facts['edges']} edges",
        f"  degrees         {facts['degree_least']} to {facts['degree_most']}, median "
        f"{facts['degree_median']:g}",
        f"  lengths         median {facts['length_median']:.4g}, longest "
        f"{facts['length_most']:.4g}",
    ]


def write_graph(path: str, lengths: Any, ids: Any) -> None:
    """Write a symmetric sparse matrix in the format that the name ends in."""
    kind = Path(path).suffix.lower()
    if kind == ".npz":
        from scipy.sparse import save_npz

        save_npz(path, lengths)
    elif kind == ".mtx":
        from scipy.io import mmwrite

        with open(path, "wb") as file:
            mmwrite(file, lengths, symmetry="symmetric")
    else:
        with open(path, "w", encoding="utf-8") as text:
            text.writelines(graphml(lengths, ids))


def graphml(lengths: Any, ids: Any) -> Any:
    """Give the lines of a GraphML file: nodes with their ids, edges with their lengths."""
    from xml.sax.saxutils import escape

    from scipy.sparse import triu

    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="name" for="node" attr.name="name" attr.type="string"/>\n'
    yield '<key id="length" for="edge" attr.name="length" attr.type="double"/>\n'
    yield '<graph edgedefault="undirected">\n'
    for row in range(lengths.shape[0]):
        name = "".join(c for c in str(row if ids is None else ids[row]) if c.isprintable())
        yield f'<node id="n{row}"><data key="name">{escape(name)}</data></node>\n'
    upper = triu(lengths, format="coo")
    for i, j, length in zip(
        upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True
    ):
        yield f'<edge source="n{i}" target="n{j}"><data key="length">{length!r}</data></edge>\n'
    yield "</graph>\n</graphml>\n"


COMMAND = Command(
    graph,
    (
        "unbend graph iris.csv --label species -k 8",
        "unbend graph roll.csv --ignore chart_1,chart_2 -o roll.graphml --plot noise.png",
        "unbend graph between.csv --distances --json",
    ),
)
