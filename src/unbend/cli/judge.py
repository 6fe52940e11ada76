"""``quality`` and ``graph``: how far an embedding and its neighbourhood graph can be trusted."""

from pathlib import Path
from typing import Annotated, Any

from unbend.cli.command import Command
from unbend.cli.inputs import Input
from unbend.cli.messages import (
    PIPE,
    Misuse,
    emit,
    emit_json,
    next_step,
    say,
    shell_word,
    show_progress,
)
from unbend.cli.options import (
    DataOptions,
    Dimension,
    Distances,
    EmbeddingFile,
    Json,
    Neighbors,
    Seed,
    StillPicture,
    TableFile,
    Truth,
    option,
    split_names,
)
from unbend.cli.outputs import check_outputs, check_still, save_figure, write_results
from unbend.cli.preparation import check_euclidean
from unbend.cli.rows import drop_columns, pick_columns

EXPLAINED = {
    "trustworthiness": "neighbours in the embedding are neighbours in the data (1 is best)",
    "continuity": "neighbours in the data are neighbours in the embedding (1 is best)",
    "redundancy": "how far each coordinate is a function of those before it (0 is best)",
    "neighborhood_hit": "neighbours of the same class (compare it with that of the data)",
    "neighborhood_hit_data": "the same in the data",
    "color_mixing": "variation of the label among neighbours (0 is best)",
    "procrustes_similarity": "error to the truth after the best similarity map (0 is best)",
    "procrustes_affine": "error to the truth after the best affine map (0 is best)",
}


def quality(
    table: TableFile,
    embedding: EmbeddingFile,
    data: DataOptions,
    truth: Truth = None,
    neighbors: Neighbors = 5,
    sample: Annotated[
        int | None, option("--sample ROWS", "Compare a random sample of rows.", min=1)
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure the quality of an embedding of a table.

    Both files hold the same rows in the same order. The label, the ids, ignored columns and all
    columns that both files have are not compared; a label of classes adds the neighbourhood hit.
    The time grows with the square of the number of rows.
    """
    if table == embedding == PIPE:
        raise Misuse("only one of the two can come through the pipe")
    check_euclidean(data)
    given, result = Input(table, data), Input(embedding, DataOptions())
    data.check_for(given.kind, table)
    true_names = split_names(truth)
    aside = (data.label, data.id, *data.ignore, *_common_columns(given, result))
    ignore = tuple(name for name in aside if name is not None and name not in true_names)
    with show_progress():
        parts = _read_both(given, result, ignore, true_names)
        rows = _sample(len(parts[0]), sample, seed)
        points, found, chart, labels = (None if part is None else part[rows] for part in parts)
        facts = _measure(points, found, chart, neighbors)
        if labels is not None:
            facts |= _measure_labels(points, found, labels, neighbors)
    if json:
        emit_json(facts)
    else:
        emit(*(_line(name, value) for name, value in facts.items()))
    options = DataOptions(label=data.label, id=data.id).words()
    next_step(f"unbend plot {shell_word(embedding)}{options} -o flat.png")


def _common_columns(given: Input, result: Input) -> tuple[str, ...]:
    """Return names that both files have: the label and the ids, which are written along."""
    known, names = given.column_names(index=False), result.column_names(index=False)
    common = tuple(name for name in names if name in known)
    return () if len(common) == len(names) else common


def _sample(rows: int, sample: int | None, seed: int) -> Any:
    """Return the rows to compare: all, or a random sample."""
    import numpy as np

    if sample is None or sample >= rows:
        return slice(None)
    return np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))


def _measure(points: Any, found: Any, chart: Any, neighbors: int) -> dict[str, Any]:
    from unbend.quality import continuity, coordinate_redundancy, procrustes, trustworthiness

    facts: dict[str, Any] = {
        "rows": len(found),
        "neighbors": neighbors,
        "trustworthiness": trustworthiness(points, found, n_neighbors=neighbors),
        "continuity": continuity(points, found, n_neighbors=neighbors),
        "redundancy": coordinate_redundancy(found).tolist(),
    }
    if chart.shape[1]:
        facts["procrustes_similarity"] = procrustes(chart, found)
        facts["procrustes_affine"] = procrustes(chart, found, kind="affine")
    return facts


def _read_both(
    given: Input, result: Input, ignore: tuple[str, ...], truth: tuple[str, ...]
) -> tuple[Any, Any, Any, Any]:
    """Return the data, the coordinates, the truth and the label, row by row."""
    label = given.options.label
    table = _read(given, ignore, None if label in truth else label, truth)
    found = _read(result, (*ignore, *truth), label)
    if len(table) != len(found):
        raise ValueError(
            f"{given.name} has {len(table)} rows and {result.name} has {len(found)}: they must "
            "be the same"
        )
    labels = table.label if table.label is not None else found.label
    if label is not None and labels is None:
        labels = pick_columns(table, [label], given.name)[:, 0]
    chart = pick_columns(table, truth, given.name)
    return drop_columns(table, truth).values, found.values, chart, labels


def _read(
    given: Input, ignore: tuple[str, ...], label: str | None, truth: tuple[str, ...] | None = None
) -> Any:
    """Read data prepared as embed does, or coordinates as they are where `truth` is None."""
    names = given.column_names()
    own = label if label in names else None
    ignore = tuple(name for name in ignore if name != own)
    if given.kind != "table":
        # Those columns are not among the features of such data.
        ignore = tuple(name for name in ignore if name not in names)
    chosen = given.with_options(label=own, id=None, ignore=ignore)
    return chosen.read_table() if truth is None else chosen.read_prepared(truth).dense()


def _measure_labels(points: Any, found: Any, label: Any, neighbors: int) -> dict[str, Any]:
    """Measure classes by the neighbourhood hit, and values by their variation."""
    from unbend.apps.study.study import classes_of
    from unbend.quality import color_mixing, neighborhood_hit

    classes = classes_of(label)
    if classes is None:
        return {"color_mixing": color_mixing(found, label, n_neighbors=neighbors)}
    return {
        "neighborhood_hit": neighborhood_hit(found, classes, n_neighbors=neighbors),
        "neighborhood_hit_data": neighborhood_hit(points, classes, n_neighbors=neighbors),
    }


def _line(name: str, value: Any) -> str:
    if isinstance(value, list):
        shown = " ".join(f"{number:.4f}" for number in value)
    else:
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"{name:<22}{shown:<16}{EXPLAINED.get(name, '')}".rstrip()


QUALITY = Command(
    quality,
    (
        "unbend quality iris.csv flat.csv --label species",
        "unbend quality roll.csv flat.csv --truth chart_1,chart_2 --json",
        "unbend quality big.parquet flat.parquet --sample 5000",
    ),
)


def graph(
    table: TableFile,
    data: DataOptions,
    neighbors: Neighbors = 10,
    components: Dimension = 2,
    distances: Distances = False,
    output: Annotated[
        str | None, option("--output -o FILE", "The edges: .npz .mtx .graphml")
    ] = None,
    plot: StillPicture = None,
    json: Json = False,
) -> None:
    """Build the neighbourhood graph of a table, and check whether it can be trusted.

    Reported are components, degrees and edge lengths, whether neighbourhoods span the embedding
    dimension, whether noise dominates them, and edges that look like short circuits.

    Edges are written once for both directions, with their lengths, as a SciPy matrix, in
    Matrix Market or in GraphML with the ids.
    """
    if output == PIPE:
        raise Misuse("a graph cannot go to stdout: give -o FILE.npz, FILE.mtx or FILE.graphml")
    check_still(plot, "plots of the report are not interactive")
    if distances:
        data.check_distances("--distances")
    given = Input(table, data)
    check_outputs(graph=output, picture=plot, read=[table if distances else given])
    with show_progress(), write_results():
        from unbend.graphs import consistency, undirected

        space, ids = _space(given, distances)
        if neighbors >= space.n:
            raise ValueError(
                f"{table} has {space.n} rows: --neighbors must be less, and it is {neighbors}"
            )
        lengths = undirected(space.nearest(neighbors)).lengths
        found = consistency(space, components, neighbors)
        if output is not None:
            from unbend.files import atomic_write

            with atomic_write(output) as temporary:
                write_graph(temporary, lengths, ids)
        if plot is not None:
            from unbend import plot as plots

            save_figure(plots.consistency(found), plot)
    facts = _graph_facts(lengths, found, neighbors)
    if json:
        emit_json(facts)
    else:
        emit(
            f"graph of {facts['rows']} points: {facts['edges']} edges",
            f"  degrees         {facts['degree_least']} to {facts['degree_most']}, median "
            f"{facts['degree_median']:g}",
            f"  lengths         median {facts['length_median']:.4g}, longest "
            f"{facts['length_most']:.4g}",
            *str(found).split("\n"),
        )
    say("; ".join(found.problems()) or "no problems found")
    k = found.suggested or neighbors
    words = f"{shell_word(table)}{' --distances' if distances else ''}{data.words()}"
    next_step(f"unbend embed {words} --method isomap --n-neighbors {k} -o flat.csv")


def _space(given: Input, distances: bool) -> tuple[Any, Any]:
    import numpy as np

    from unbend.arrays import is_sparse
    from unbend.neighbors import DistanceSpace, PointSpace

    if distances:
        objects, matrix = given.read_distances()
        if is_sparse(matrix):
            raise ValueError(
                f"{given.name} lacks the distances of some pairs, and neighbours are found among "
                "all: give every distance"
            )
        return DistanceSpace(matrix), objects.table.ids
    check_euclidean(given.options)
    rows = given.read_prepared().dense()
    return PointSpace(np.ascontiguousarray(rows.values, dtype=np.float64)), rows.ids


def _graph_facts(lengths: Any, found: Any, neighbors: int) -> dict[str, Any]:
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
        "local_dimension": found.local_dimension,
        "hidden": found.hidden,
        "short_circuits": found.short_circuits,
        "suggested_neighbors": found.suggested,
        "passes": found.passes,
        "problems": found.problems(),
    }


def write_graph(path: Path, lengths: Any, ids: Any) -> None:
    """Write the edges in the format of the extension."""
    kind = path.suffix.lower()
    if kind == ".npz":
        from scipy.sparse import save_npz

        save_npz(path, lengths)
    elif kind == ".mtx":
        from scipy.io import mmwrite

        with open(path, "wb") as file:
            mmwrite(file, lengths, symmetry="symmetric")
    else:
        with open(path, "w", encoding="utf-8") as text:
            text.writelines(_graphml(lengths, ids))


def _graphml(lengths: Any, ids: Any) -> Any:
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
        *(part.tolist() for part in (upper.row, upper.col, upper.data)), strict=True
    ):
        yield f'<edge source="n{i}" target="n{j}"><data key="length">{length!r}</data></edge>\n'
    yield "</graph>\n</graphml>\n"


GRAPH = Command(
    graph,
    (
        "unbend graph iris.csv --label species -k 8",
        "unbend graph roll.csv --ignore chart_1,chart_2 -o roll.graphml --plot noise.png",
        "unbend graph between.csv --distances --json",
    ),
)
