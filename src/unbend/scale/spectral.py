"""Spectral methods of the graph of all rows, solved on all workers by block Lanczos."""

from copy import copy
from dataclasses import dataclass
from operator import getitem
from types import SimpleNamespace
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from sklearn.utils.validation import validate_data

from unbend.arrays import FloatArray, IntArray
from unbend.estimators.kernel import note_redundancy
from unbend.graphs.weights import Affinity, Weight, adjacency, heat_kernel
from unbend.methods.diffusion_maps import ALPHAS, eigenvalue_powers
from unbend.methods.laplacian_eigenmaps import LaplacianEigenmaps
from unbend.methods.spectral_clustering import EIGENMAPS
from unbend.report import note, stage, warn
from unbend.scale.blocks import sample_numbers
from unbend.scale.collections import LazyRows, block_meta
from unbend.scale.halo import (
    BlockEdges,
    BlockGraph,
    assemble_block,
    coordinates_between,
    find_owners,
    find_peak,
    measure_growth,
    merge_boxes,
    order_coordinates,
    send_edges,
    standard_block,
)
from unbend.scale.lanczos import BlockMatrix, BlockPairs, least_pairs
from unbend.scale.neighbors import LazyNeighbors
from unbend.scale.workers import compute_all, keep_on_workers, ship
from unbend.validation.random_state import generator

# Bytes of the edges of a block, and the most blocks: every product sends a message for each pair.
BLOCK_BYTES, BLOCKS = 1 << 26, 64
# Bytes of an edge: an index and a weight, both ways.
EDGE_BYTES = 24
# Intrinsic dimension, rounded, from which on few products are enough, and rows per basis column.
LEAST_DIMENSION, LEAST_ROWS = 5, 1000
# Rows whose coordinates are checked for redundancy.
CHECKED = 10_000


@dataclass(frozen=True, eq=False)
class BlockModel:
    """Coordinates of all rows in the blocks of the graph, on the workers; no new samples."""

    header: Any
    graph: list[Any]
    coordinates: list[Any]
    dtype: str

    def collect(self, name: str, rows: LazyRows) -> da.Array:
        """Return a fitted attribute of all rows, lazily, in the partitions of the collection."""
        embedding = self.order_rows(rows, self.coordinates, self.header.embedding_.shape[1])
        clusters = vars(self.header).get("_rounding")
        if clusters is None:
            return embedding
        width = self.header.n_clusters
        if name == "embedding_":
            return embedding.map_blocks(
                _round_rows, clusters, chunks=(embedding.chunks[0], (width,)), dtype=self.dtype
            )
        return embedding.map_blocks(_assign_rows, clusters, drop_axis=1, dtype=np.int64)

    def order_rows(self, rows: LazyRows, blocks: list[Any], width: int) -> da.Array:
        """Return values by row number, in the partitions of the collection."""
        parts = []
        for start, length in zip(rows.starts.tolist(), rows.lengths, strict=False):
            pieces = [
                delayed(coordinates_between)(graph, some, start, start + length)
                for graph, some in zip(self.graph, blocks, strict=True)
            ]
            task = delayed(order_coordinates)(pieces, self.dtype)
            parts.append(da.from_delayed(task, (length, width), self.dtype))
        return da.concatenate(parts)

    def fetch(self) -> Any:
        """Refuse: no worker holds the model."""
        raise ValueError(
            "The graph was solved on all workers, so no process holds a model of it: use "
            "embedding_ or labels_, or fit with graph_solver='gathered' or a sample to transform "
            "or save."
        )


def fit_blocks(local: Any, rows: LazyRows, found: LazyNeighbors) -> BlockModel:
    """Solve the graph of the neighbours of all rows in blocks on all workers."""
    check_supported(local, rows.n)
    if hasattr(local, "n_clusters"):
        return _fit_clusters(local, rows, found)
    with stage("kernel"):
        check_dimension(found)
        kernel = BlockKernel(local, rows, found)
        count = kernel.weights.count_components()
        note(blocks=len(kernel.weights.blocks), components=count)
        if count > 1:
            raise ValueError(
                f"The neighbourhood graph has {count} connected components, and block Lanczos "
                "needs one. Increase n_neighbors, or use graph_solver='gathered' or a sample."
            )
    with stage("spectrum"):
        pairs = kernel.solve()
        note(
            solver="block Lanczos",
            products=pairs.products,
            converged=pairs.converged,
            residual=float(pairs.residuals.max()),
        )
        if not pairs.converged:
            warn(
                f"Block Lanczos did not converge in {pairs.products} products (residual "
                f"{pairs.residuals.max():.1g}). Use graph_solver='gathered' or a sample."
            )
        coordinates = kernel.embed(pairs)
        model = BlockModel(copy(local), kernel.weights.blocks, coordinates, str(rows.dtype))
        _set_attributes(model, kernel, pairs, rows)
    return model


def check_supported(local: Any, n: int) -> None:
    """Refuse parameters that need the whole graph in one memory."""
    problems = {
        "kind": "self_tuning",
        "n_components": "auto",
        "mutual": True,
        "connect": "components",
    }
    for name, value in problems.items():
        if getattr(local, name, None) == value:
            raise ValueError(
                f"{name}={value!r} needs the graph in one memory: use graph_solver='gathered' or "
                "a sample"
            )
    if getattr(local, "threshold", 0.0) > 0 or getattr(local, "denoise", False) not in (
        False,
        "auto",
    ):
        raise ValueError(
            "threshold and denoise need the graph in one memory: use graph_solver='gathered' or a "
            "sample"
        )
    if n < LEAST_ROWS:
        raise ValueError(
            f"graph_solver='distributed' is for at least {LEAST_ROWS} rows and X has {n}: use "
            "graph_solver='gathered'"
        )


def check_dimension(found: LazyNeighbors) -> None:
    """Refuse curves and surfaces, where Lanczos needs thousands of products."""
    if found.k < 3:
        raise ValueError(
            f"graph_solver='distributed' needs n_neighbors of at least 3, not {found.k}"
        )
    sums = compute_all([delayed(measure_growth)(box) for box in found.boxes])
    total, count = np.sum(sums, axis=0)
    dimension = count / total if total > 0 else np.inf
    note(intrinsic_dimension=float(dimension))
    if round(dimension) < LEAST_DIMENSION:
        raise ValueError(
            f"The rows have an intrinsic dimension of about {dimension:.1f}, and below "
            f"{LEAST_DIMENSION} Lanczos needs thousands of products with the graph: use "
            "graph_solver='gathered', which factorises it on one worker, or a sample such as "
            "sample=20_000."
        )


class BlockKernel:
    """The generalised problem of a method in blocks: weights, degrees, and roots of the masses."""

    def __init__(self, local: Any, rows: LazyRows, found: LazyNeighbors) -> None:
        self.local, self.rows = local, rows
        self.diffusion = hasattr(local, "diffusion_time")
        self.weights = self._assemble(found)
        self.degree = self._degrees(self.weights)
        if self.diffusion:
            alpha = ALPHAS[local.kind] if local.alpha is None else local.alpha
            densities = keep_on_workers([delayed(np.power)(some, alpha) for some in self.degree])
            self.weights = self.weights.replace_blocks(
                self.weights.map_with_halo(BlockGraph.divide, densities)
            )
            self.degree = self._degrees(self.weights)
            note(alpha=alpha, bandwidth=self.bandwidth)
        plain = not self.diffusion and local.normalization == "none"
        root = _ones if plain else np.sqrt
        self.roots = keep_on_workers([delayed(root)(some) for some in self.degree])
        pairs = zip(self.degree, self.roots, strict=True)
        sizes = compute_all([delayed(_measure_degrees)(*some) for some in pairs])
        self.volume, square = np.sum(sizes, axis=0)[:2].tolist()
        self.length = float(np.sqrt(square))
        self.size = 2.0 * float(np.max(sizes, axis=0)[2]) if plain else 2.0

    def _assemble(self, found: LazyNeighbors) -> BlockMatrix:
        boxes = found.boxes
        wanted = max(1, min(BLOCKS, -(-self.rows.n * found.k * EDGE_BYTES // BLOCK_BYTES)))
        together = -(-len(boxes) // min(wanted, len(boxes)))
        groups = [boxes[i : i + together] for i in range(0, len(boxes), together)]
        edges = keep_on_workers([delayed(merge_boxes)(group) for group in groups])
        owner = delayed(find_owners)(self.rows.n, [delayed(_numbers)(some) for some in edges])
        (owner,) = keep_on_workers([owner])
        parcels = keep_on_workers(
            [delayed(send_edges)(some, owner, block) for block, some in enumerate(edges)]
        )
        receivers = compute_all([delayed(list)(parcel) for parcel in parcels])
        weight, loop = self._weight(edges)
        how = getattr(self.local, "symmetrization", "max")
        shipped = ship(weight)
        tasks = []
        for block, some in enumerate(edges):
            arriving = [
                delayed(getitem)(parcels[source], block)
                for source, others in enumerate(receivers)
                if block in others
            ]
            tasks.append(delayed(assemble_block)(some, owner, block, arriving, shipped, how, loop))
        return BlockMatrix(keep_on_workers(tasks))

    def _weight(self, edges: list[Any]) -> tuple[Weight, float]:
        """Weight function of the edges, and the weight of a row with itself."""
        local = self.local
        sums = compute_all([delayed(BlockEdges.sum_squares)(some) for some in edges])
        total, count = np.sum(sums, axis=0)
        if self.diffusion:
            if callable(local.weights):
                affinity = Affinity(np.nan, function=local.weights)
            else:
                affinity = Affinity(total / count if local.bandwidth is None else local.bandwidth)
            self.bandwidth = affinity.t
            return AffinityWeight(affinity), affinity.own
        if local.weights == "adjacency":
            return adjacency, 0.0
        if local.weights == "heat":
            return heat_kernel(np.empty(0), local.t or 2.0 * total / count), 0.0
        return local.weights, 0.0

    @staticmethod
    def _degrees(weights: BlockMatrix) -> list[Any]:
        degree = keep_on_workers([delayed(BlockGraph.degrees)(block) for block in weights.blocks])
        alone = sum(compute_all([delayed(_count_alone)(some) for some in degree]))
        if alone:
            raise ValueError(
                f"{alone} rows have no edge of positive weight: remove them, or use a larger "
                "bandwidth, more neighbours or symmetrization='max'"
            )
        return degree

    def solve(self) -> BlockPairs:
        """Find the least eigenpairs of M^-½ (D − W) M^-½ beside the trivial one."""
        halo = self.weights.fetch_halo(self.roots)
        blocks = zip(self.weights.blocks, self.roots, halo, self.degree, strict=True)
        matrix = self.weights.replace_blocks([delayed(standard_block)(*some) for some in blocks])
        trivial = keep_on_workers([delayed(_divide)(some, self.length) for some in self.roots])
        numbers = [delayed(_numbers)(block) for block in self.weights.blocks]
        seed = int(generator(self.local.random_state).integers(2**63))
        return least_pairs(matrix, trivial, numbers, self.local.n_components, seed, self.size)

    def embed(self, pairs: BlockPairs) -> list[Any]:
        """Coordinates of the distinct rows from the eigenvectors, block by block."""
        peaks = np.array(compute_all([delayed(find_peak)(some) for some in self._divided(pairs)]))
        top = peaks[np.argmax(np.abs(peaks), axis=0), np.arange(peaks.shape[1])]
        scales = np.where(top < 0, -1.0, 1.0)
        if self.diffusion:
            powers = eigenvalue_powers(
                1.0 - pairs.values, self.local.diffusion_time, "diffusion_time"
            )
            scales = scales * powers * np.sqrt(self.volume)
        scaled = self.local.normalization == "symmetric"
        # φ₀ is D^½ / √vol, and D^½ f of Laplacian eigenmaps are the vectors themselves.
        by = 1.0 / np.sqrt(self.volume) if scaled and self.diffusion else 1.0
        blocks = pairs.vectors if scaled else self._divided(pairs)
        return keep_on_workers([delayed(np.multiply)(some, scales * by) for some in blocks])

    def _divided(self, pairs: BlockPairs) -> list[Any]:
        blocks = zip(pairs.vectors, self.roots, strict=True)
        return [delayed(np.divide)(some, root) for some, root in blocks]


@dataclass(frozen=True)
class AffinityWeight:
    """An affinity without scales of rows, as a function of distances."""

    affinity: Affinity

    def __call__(self, distances: FloatArray) -> FloatArray:
        """Weigh distances."""
        return self.affinity(distances, np.ones(1), np.ones(1))


def _set_attributes(
    model: BlockModel, kernel: BlockKernel, pairs: BlockPairs, rows: LazyRows
) -> None:
    """Set the fitted attributes that are not of rows."""
    header, count = model.header, len(pairs.values)
    validate_data(header, block_meta(rows.collection), reset=True, skip_check_array=True)
    header.embedding_ = np.empty((0, count), dtype=rows.dtype)
    values, following = pairs.values, pairs.next_value
    if kernel.diffusion:
        values, following = 1.0 - values, 1.0 - following
        header.bandwidth_ = kernel.bandwidth
    else:
        header.volume_ = kernel.volume
    header.eigenvalues_, header._next_eigenvalue = values, following
    embedding = LazyRows(model.collect("embedding_", rows))
    numbers = sample_numbers(rows.n, min(rows.n, CHECKED), 0)
    header.redundancy_ = note_redundancy(embedding.take(np.sort(numbers)).astype(np.float64))


def _fit_clusters(local: Any, rows: LazyRows, found: LazyNeighbors) -> BlockModel:
    """Embed, gather the coordinates (8 bytes for each row and cluster) and round them."""
    given = {name: getattr(local, name) for name in EIGENMAPS}
    eigenmaps = LaplacianEigenmaps(n_components=max(1, local.n_clusters - 1), **given)
    model = fit_blocks(eigenmaps, rows, found)
    rounding = copy(local)
    rounding._eigenmaps = SimpleNamespace(volume_=model.header.volume_)
    parts = list(model.collect("embedding_", rows).to_delayed().ravel())
    (fitted,) = keep_on_workers([delayed(_fit_rounding)(ship(rounding), parts)])
    header = copy(model.header)
    header._rounding, header.n_clusters = fitted, local.n_clusters
    header.labels_ = np.empty(0, dtype=np.int64)
    matrix = BlockMatrix(model.graph)
    labels = keep_on_workers(
        [delayed(_assign_column)(some, fitted, model.dtype) for some in model.coordinates]
    )
    cuts = compute_all(matrix.map_with_halo(BlockGraph.cut_clusters, labels, local.n_clusters))
    volumes, inside = np.sum(cuts, axis=0)
    some = volumes > 0
    header.ncut_ = float(((volumes - inside)[some] / volumes[some]).sum() / 2)
    return BlockModel(header, model.graph, model.coordinates, model.dtype)


def _fit_rounding(clustering: Any, parts: list[FloatArray]) -> Any:
    fitted = copy(clustering)
    rows = fitted._rows_to_round(np.concatenate(parts))
    fitted._turn, fitted._centers = fitted._round(rows)
    return fitted


def _round_rows(coordinates: FloatArray, clustering: Any) -> FloatArray:
    rows: FloatArray = clustering._rows_to_round(coordinates)
    return rows


def _assign_rows(coordinates: FloatArray, clustering: Any) -> IntArray:
    return np.asarray(clustering._nearest(_round_rows(coordinates, clustering)), dtype=np.int64)


def _assign_column(coordinates: FloatArray, clustering: Any, dtype: str) -> IntArray:
    return _assign_rows(coordinates.astype(dtype), clustering).reshape(-1, 1)


def _numbers(block: Any) -> IntArray:
    numbers: IntArray = block.numbers
    return numbers


def _ones(values: FloatArray) -> FloatArray:
    return np.ones_like(values)


def _divide(values: FloatArray, by: float) -> FloatArray:
    return values / by


def _measure_degrees(degree: FloatArray, root: FloatArray) -> tuple[float, float, float]:
    return float(degree.sum()), float(np.square(root).sum()), float(degree.max(initial=0.0))


def _count_alone(degree: FloatArray) -> int:
    return int(np.sum(degree <= 0))
