"""What a fit or a transform of many rows costs, before machines are rented."""

from dataclasses import dataclass

from unbend.validation.scalars import check_choice, check_integer

# Seconds of one core of the machine of `benchmarks/scale.json`.
PER_BYTE = 0.5e-9  # reading and checking
PER_FLOP = 0.3e-9  # triangular factors: 2 D² operations a row
PER_PRODUCT = 0.045e-9  # one of D differences, in searches by all pairs
PER_PLACE = 3.5e-6  # out-of-sample extension of a row in few columns
PER_NEIGHBOR = 0.3e-6  # exact neighbour of a row in few columns
PER_EDGE = 3e-6  # bottom of the Laplacian of a surface, for each edge
PER_BASIS_BYTE = 1.7e-9  # of the basis and edges that a product of block Lanczos reads
# Rows of a cell of approximate searches and the cells of a row, as in `scale/neighbors.py`.
CELL_ROWS, OVERLAP = 20_000, 3
# Columns beyond which all pairs are compared, and memory of a process without any rows.
TREE_COLUMNS, IDLE = 15, 0.25e9
# Partitions that a worker holds at a time: the one read, its copy, and the next.
HELD = 3
# Block Lanczos, as in `scale/lanczos.py` and `scale/spectral.py`: products, vectors of each for
# two coordinates, columns of the basis at most and in the mean, and the most blocks.
PRODUCTS, WIDTH, BASIS, MEAN_BASIS, BLOCKS = 130, 5, 64, 43, 64
# Edges of a row and neighbour once the graph is symmetric, and bytes of an edge.
SYMMETRIC, EDGE_BYTES = 1.5, 12
STEPS = ("pca", "transform", "neighbors", "approximate", "graph", "lanczos")


@dataclass(frozen=True)
class Cost:
    """An estimate, within about a factor of two on a machine like that of the benchmarks.

    Attributes
    ----------
    cpu_hours : float
        Of all workers together.
    hours : float
        From begin to end, if tasks keep all workers busy; what one worker does alone is added.
    worker_gb : float
        Memory of each worker.
    largest_gb : float
        Memory of the worker that solves a graph, or that numbers its blocks; otherwise as the
        others.
    read_gb : float
        What is read from storage.

    Examples
    --------
    >>> from unbend.scale import estimate_cost
    >>> cost = estimate_cost("pca", 10**9, 100, workers=100, item_bytes=4)
    >>> cost.hours < 0.1
    True
    """

    cpu_hours: float
    hours: float
    worker_gb: float
    largest_gb: float
    read_gb: float


def estimate_cost(
    step: str,
    rows: int,
    columns: int,
    *,
    workers: int = 1,
    sample: int = 20_000,
    n_neighbors: int = 10,
    item_bytes: int = 8,
    partition_bytes: int = 100_000_000,
) -> Cost:
    """Estimate time and memory of one step on a cluster of workers with one core each.

    Parameters
    ----------
    step : {"pca", "transform", "neighbors", "approximate", "graph", "lanczos"}
        A fit of PCA, the transform of a model of `sample` rows, exact or approximate neighbours of
        all rows, the graph of all rows with its eigenvectors, for a surface on one worker, or by
        block Lanczos on all workers (64 at most) for five dimensions or more.
    rows, columns : int
        Size of the data.
    workers : int
        Processes of one core.
    sample : int
        Rows of the model of a transform.
    n_neighbors : int
        Neighbours of a row.
    item_bytes : int
        Bytes of a number: 4 or 8.
    partition_bytes : int
        Bytes of a partition.

    Returns
    -------
    Cost

    Examples
    --------
    >>> cost = estimate_cost("pca", 10**9, 100, workers=100, item_bytes=4)
    >>> cost.hours < 0.1, cost.worker_gb < 2
    (True, True)
    """
    check_choice("step", step, STEPS)
    for name, value in (("rows", rows), ("columns", columns), ("workers", workers)):
        check_integer(name, value, 1)
    if step == "lanczos":
        workers = min(workers, BLOCKS)
    size = rows * columns * item_bytes
    passes = 1 if step in ("pca", "transform") else 2
    seconds, alone = _seconds(step, rows, columns, sample, n_neighbors)
    seconds += passes * size * PER_BYTE
    shared, one = _bytes(step, rows, columns, n_neighbors)
    own = IDLE + HELD * partition_bytes * 8 / item_bytes + shared / workers
    return Cost(
        (seconds + alone) / 3600,
        (seconds / workers + alone) / 3600,
        own / 1e9,
        max(own, IDLE + one + (shared / workers if step == "lanczos" else 0.0)) / 1e9,
        passes * size / 1e9,
    )


def _bytes(step: str, rows: int, columns: int, k: int) -> tuple[float, float]:
    """Bytes that workers share, and bytes that one worker needs."""
    if step in ("pca", "transform"):
        return 0.0, 0.0
    lists = 2.0 * rows * (8 * columns + 20 * k)
    if step == "graph":
        return lists, rows * (24.0 * columns + 96 * k)
    if step == "lanczos":
        # Basis, a product before and after orthogonalisation; the graph and its scaled copy; the
        # numbers of all rows and their blocks on the worker that puts them together.
        basis = 8.0 * rows * (BASIS + 2 * WIDTH)
        return lists + basis + 2 * rows * k * SYMMETRIC * EDGE_BYTES, 9.0 * rows
    return lists, 0.0


def _seconds(step: str, rows: int, columns: int, sample: int, k: int) -> tuple[float, float]:
    """Seconds that workers share, and seconds of one worker alone."""
    few = columns <= TREE_COLUMNS
    if step == "pca":
        return 2 * rows * columns**2 * PER_FLOP, 0.0
    if step == "transform":
        return rows * (PER_PLACE if few else sample * columns * PER_PRODUCT), 0.0
    if step == "approximate":
        return rows * OVERLAP * min(rows, CELL_ROWS) * columns * PER_PRODUCT, 0.0
    search = rows * k * PER_NEIGHBOR * max(1.0, columns / TREE_COLUMNS)
    if step == "lanczos":
        # The basis is read four times, to project and to subtract, twice.
        read = 4 * 8 * MEAN_BASIS + k * SYMMETRIC * EDGE_BYTES
        return search + PRODUCTS * rows * read * PER_BASIS_BYTE, 0.0
    return search, rows * k * PER_EDGE if step == "graph" else 0.0
