"""The neighbourhood graph in row blocks: pure functions of NumPy blocks.

A block holds all edges of its rows. Its columns are its own rows first, and then the rows of other
blocks that it has edges with, its halo, whose values are fetched before every product.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components

from unbend.arrays import FloatArray, IntArray
from unbend.graphs.graph import How
from unbend.graphs.weights import Weight, weights_of
from unbend.scale.blocks import hash_rows
from unbend.scale.boxes import BoxNeighbors

# Targets and sources, by number, and lengths of edges that lead to one block.
Parcel = tuple[IntArray, IntArray, FloatArray]


@dataclass(frozen=True, eq=False)
class BlockEdges:
    """Edges from the rows of a block, by place, to row numbers anywhere.

    `twins` are pairs of numbers, of a duplicate row that was left out and of the row that stands
    for it.
    """

    numbers: IntArray
    twins: IntArray
    sources: IntArray
    targets: IntArray
    distances: FloatArray

    def __sizeof__(self) -> int:
        """Bytes, for the scheduler: tasks go where their largest argument is."""
        arrays = (self.numbers, self.twins, self.sources, self.targets, self.distances)
        return sum(array.nbytes for array in arrays)

    def sum_squares(self) -> tuple[float, int]:
        """Sum of the squared lengths of edges, and their number."""
        return float(np.square(self.distances).sum()), len(self.distances)


def merge_boxes(boxes: Sequence[BoxNeighbors]) -> BlockEdges:
    """Put boxes together to one block, with rows by ascending number."""
    numbers = np.concatenate([box.numbers for box in boxes])
    order = np.argsort(numbers)
    distances = np.concatenate([box.distances for box in boxes])[order]
    indices = np.concatenate([box.indices for box in boxes])[order]
    known = np.isfinite(distances)
    sources = np.repeat(np.arange(len(numbers)), known.sum(axis=1))
    twins = np.concatenate([box.twins for box in boxes])
    return BlockEdges(numbers[order], twins, sources, indices[known], distances[known])


def measure_growth(box: BoxNeighbors) -> tuple[float, int]:
    """Sum over rows of the mean log ratio of the k-th distance to others, and the rows counted.

    Its mean is the inverse of the intrinsic dimension (Levina and Bickel, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.neighbors import PointSpace
    >>> none = np.empty((0, 2), dtype=np.int64)
    >>> near, lengths = np.array([[1, 2, 3]]), np.array([[1.0, 2.0, 4.0]])
    >>> box = BoxNeighbors(PointSpace(np.zeros((1, 1))), np.array([0]), near, lengths, none)
    >>> round(float(measure_growth(box)[0] / np.log(2)), 3)
    1.5
    """
    usable = np.isfinite(box.distances[:, -1]) & (box.distances[:, 0] > 0)
    lengths = box.distances[usable]
    ratios = np.log(lengths[:, -1:] / lengths[:, :-1]).mean(axis=1)
    return float(ratios.sum()), len(ratios)


def find_owners(n: int, numbers: Sequence[IntArray]) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Block of each row number; of duplicates that were left out it is meaningless."""
    owner = np.zeros(n, dtype=np.uint8)
    for block, some in enumerate(numbers):
        owner[some] = block
    return owner


def send_edges(edges: BlockEdges, owner: IntArray, block: int) -> dict[int, Parcel]:
    """Edges that lead to other blocks, by block."""
    blocks = owner[edges.targets]
    parcels = {}
    for other in np.unique(blocks).tolist():
        if other != block:
            some = np.flatnonzero(blocks == other)
            sources = edges.numbers[edges.sources[some]]
            parcels[other] = edges.targets[some], sources, edges.distances[some]
    return parcels


@dataclass(frozen=True, eq=False)
class BlockGraph:
    """Rows of a symmetric matrix: `diagonal` less `weights`, columns own rows first, then halo.

    `halo` has, for each other block in ascending order, the numbers of its rows.
    """

    numbers: IntArray
    twins: IntArray
    diagonal: FloatArray
    weights: csr_array
    halo: dict[int, IntArray]

    def __sizeof__(self) -> int:
        """Bytes, for the scheduler: tasks go where their largest argument is."""
        weights = self.weights
        arrays = (self.numbers, self.twins, self.diagonal, *self.halo.values())
        entries = weights.data.nbytes + weights.indices.nbytes + weights.indptr.nbytes
        return int(entries) + sum(array.nbytes for array in arrays)

    def multiply(self, own: FloatArray, pieces: Sequence[FloatArray]) -> FloatArray:
        """Rows of the product with vectors, of which the halo is given block by block."""
        scaled = self.diagonal[:, None] * own
        return np.asarray(scaled - self.weights @ np.concatenate((own, *pieces)))

    def find_places(self, numbers: IntArray) -> IntArray:
        """Places of rows of this block that another one has in its halo."""
        return np.searchsorted(self.numbers, numbers)

    def degrees(self) -> FloatArray:
        """Sum the weights of each row, (n, 1)."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).reshape(-1, 1)

    def divide(self, own: FloatArray, pieces: Sequence[FloatArray]) -> "BlockGraph":
        """Divide weights by a factor of both ends."""
        factors = 1.0 / np.concatenate((own, *pieces)).ravel()
        weights = diags_array(factors[: len(own)]) @ self.weights @ diags_array(factors)
        return replace(self, weights=csr_array(weights))

    def label_components(self) -> IntArray:
        """Component (n, 1) of each row in the graph of the block alone."""
        inside = self.weights[:, : len(self.numbers)]
        return connected_components(inside, directed=False)[1].reshape(-1, 1)

    def link_components(self, own: IntArray, pieces: Sequence[IntArray]) -> IntArray:
        """Distinct links (m, 3) of a component here with another block and its component there."""
        edges = self.weights[:, len(self.numbers) :].tocoo()
        blocks = np.repeat(list(self.halo), [len(some) for some in self.halo.values()])
        if not edges.nnz:
            return np.empty((0, 3), dtype=np.int64)
        labels = np.concatenate(pieces).ravel()
        links = (own[edges.row, 0], blocks[edges.col], labels[edges.col])
        return np.unique(np.column_stack(links), axis=0)

    def cut_clusters(
        self, own: IntArray, pieces: Sequence[IntArray], clusters: int
    ) -> tuple[FloatArray, FloatArray]:
        """Volume of each cluster, and the weight of its edges that stay inside."""
        edges = self.weights.tocoo()
        labels = np.concatenate((own, *pieces)).ravel()
        first, second = labels[edges.row], labels[edges.col]
        inside = np.bincount(first, edges.data * (first == second), clusters)
        return np.bincount(first, edges.data, clusters).astype(np.float64), inside.astype(float)


def assemble_block(
    edges: BlockEdges,
    owner: IntArray,
    block: int,
    parcels: Sequence[Parcel],
    weight: Weight,
    how: How,
    loop: float,
) -> BlockGraph:
    """Symmetric weights of the rows of a block, from its edges and those that lead to it."""
    n, numbers = len(edges.numbers), edges.numbers
    inside = owner[edges.targets] == block
    back = [np.concatenate(arrays) for arrays in zip(*parcels, strict=True)] if parcels else None
    outside = edges.targets[~inside] if back is None else np.append(edges.targets[~inside], back[1])
    others = np.unique(outside)
    order = np.lexsort((others, owner[others]))
    place = np.empty(len(others), dtype=np.int64)
    place[order] = n + np.arange(len(others))

    columns = np.empty(len(edges.targets), dtype=np.int64)
    columns[inside] = np.searchsorted(numbers, edges.targets[inside])
    columns[~inside] = place[np.searchsorted(others, edges.targets[~inside])]
    values = weights_of(edges.distances, weight)
    shape = (n, n + len(others))
    forth = csr_array(coo_array((values, (edges.sources, columns)), shape=shape))
    rows, cols, data = [columns[inside]], [edges.sources[inside]], [values[inside]]
    if back is not None:
        rows.append(np.searchsorted(numbers, back[0]))
        cols.append(place[np.searchsorted(others, back[1])])
        data.append(weights_of(back[2], weight))
    entries = np.concatenate(data), (np.concatenate(rows), np.concatenate(cols))
    reverse = csr_array(coo_array(entries, shape=shape))
    if how == "mean":
        merged = (forth + reverse) / 2
    else:
        merged = forth.maximum(reverse) if how == "max" else forth.minimum(reverse)
    weights = csr_array(merged + loop * eye_array(*shape) if loop else merged)
    weights.eliminate_zeros()
    ordered = others[order]
    halo = {int(c): ordered[owner[ordered] == c] for c in np.unique(owner[ordered])}
    return BlockGraph(numbers, edges.twins, np.zeros(n), weights, halo)


def standard_block(
    graph: BlockGraph, own: FloatArray, pieces: Sequence[FloatArray], degree: FloatArray
) -> BlockGraph:
    """Rows of M^-½ (D − W) M^-½, M the squares of the given roots."""
    scaled = graph.divide(own, pieces)
    return replace(scaled, diagonal=degree.ravel() / np.square(own.ravel()))


def start_block(numbers: IntArray, width: int, seed: int) -> FloatArray:
    """Random vectors whose entries depend on the row number alone."""
    hashes = [hash_rows(numbers, (seed + column) % 2**63) for column in range(width)]
    return np.column_stack(hashes) * 2.0**-64 - 0.5


def project(basis: Sequence[FloatArray], vectors: FloatArray) -> FloatArray:
    """Products of all vectors of a basis, block by block, with some vectors."""
    return np.concatenate([some.T @ vectors for some in basis])


def subtract(vectors: FloatArray, basis: Sequence[FloatArray], by: FloatArray) -> FloatArray:
    """Vectors less a combination of those of the basis."""
    return vectors - combine(basis, by)


def combine(basis: Sequence[FloatArray], by: FloatArray) -> FloatArray:
    """Combine the vectors of a basis."""
    edges = np.cumsum([some.shape[1] for some in basis])[:-1]
    pairs = zip(basis, np.split(by, edges), strict=True)
    return np.asarray(sum(some @ part for some, part in pairs))


def add_up(parts: Sequence[FloatArray]) -> FloatArray:
    """Sum of the parts of all blocks, in their order: the same bits for any number of workers."""
    return np.asarray(sum(parts))


def factor_gram(gram: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """Factor R (r, p) with R'R the Gram matrix, and its pseudoinverse, of lengths above `least`.

    Directions that are shorter are rounding: the Krylov space has no more of them.
    """
    squares, vectors = np.linalg.eigh(gram)
    kept = squares > least**2
    lengths = np.sqrt(squares[kept])
    return lengths[:, None] * vectors[:, kept].T, vectors[:, kept] / lengths


def divide_by_factor(vectors: FloatArray, gram: FloatArray, least: float) -> FloatArray:
    """Vectors times R⁻¹, R'R their Gram matrix: orthonormal but for rounding."""
    return vectors @ factor_gram(gram, least)[1]


def find_peak(vectors: FloatArray) -> FloatArray:
    """Entry of largest magnitude of each column."""
    return np.asarray(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])])


def coordinates_between(
    graph: BlockGraph, coordinates: FloatArray, low: int, high: int
) -> tuple[IntArray, FloatArray]:
    """Numbers from `low` to `high` of a block, duplicates included, and their coordinates."""
    some = slice(*np.searchsorted(graph.numbers, (low, high)))
    twins = graph.twins[(graph.twins[:, 0] >= low) & (graph.twins[:, 0] < high)]
    numbers = np.append(graph.numbers[some], twins[:, 0])
    repeated = coordinates[np.searchsorted(graph.numbers, twins[:, 1])]
    return numbers, np.concatenate((coordinates[some], repeated))


def order_coordinates(pieces: Sequence[tuple[IntArray, FloatArray]], dtype: str) -> FloatArray:
    """Coordinates of the rows of all pieces, by row number."""
    numbers = np.concatenate([piece[0] for piece in pieces])
    return np.concatenate([piece[1] for piece in pieces])[np.argsort(numbers)].astype(dtype)
