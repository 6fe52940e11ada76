"""Initial positions from local maps of neighbourhoods, synchronised and glued.

Unlike shortest paths, local maps are not distorted by holes in the network.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import bsr_array, csr_array, diags_array, eye_array

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks
from unbend.eigen import solve
from unbend.eigen.problem import SpectralProblem
from unbend.eigen.shift_invert import analyse
from unbend.graphs import components
from unbend.localization.springs import relative_weights
from unbend.mvu.edges import Edges

# Largest neighbourhood, its centre included.
MOST_MEMBERS = 30
ITERATIONS = 60
# Rounds in which maps are turned as those that they overlap with have it: the entries of faintly
# connected maps in the eigenvectors are rounding.
VOTES = 3
# Least relative width of the common sensors of two maps that are aligned.
LEAST_WIDTH = 0.05
# Weight of the graph's own springs, for sensors that are in no map.
FAINT = 1e-6


@dataclass(frozen=True, eq=False)
class Maps:
    """Neighbourhoods of all sensors: `members` (n, s) ascending, padded with n; `places`."""

    members: IntArray
    places: FloatArray

    @property
    def kept(self) -> BoolArray:
        """Mask of entries that are not padding."""
        return np.asarray(self.members < len(self.members))


def from_patches(edges: Edges, dim: int) -> FloatArray:
    """Coordinates (n, dim) by gluing local maps of neighbourhoods.

    References
    ----------
    Shang and Ruml, INFOCOM (2004) for maps of neighbourhoods; Cucuringu, Lipman and Singer, ACM
    Transactions on Sensor Networks 8 (2012) for eigenvector synchronisation.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.mvu import graph_edges
    >>> grid = np.array([[i, j] for i in range(6) for j in range(6)], dtype=float)
    >>> apart = np.linalg.norm(grid[:, None] - grid, axis=2)
    >>> edges, _ = graph_edges(csr_array(np.where(apart < 2.5, apart, 0.0)))
    >>> found = from_patches(edges, 2)
    >>> bool(np.abs(edges.stretch(found)).max() < 0.1)
    True
    """
    maps = local_maps(edges, dim)
    return glue_maps(edges, synchronize_maps(edges, maps))


def local_maps(edges: Edges, dim: int) -> Maps:
    """Embed every neighbourhood by the distances known within it."""
    members = _neighborhoods(edges, dim)
    n, width = members.shape
    places = np.zeros((n, width, dim))
    for rows in row_chunks(n, 64 * width**2, 1 << 25):
        lengths = _among(edges, members[rows])
        kept = _rigid(lengths, members[rows] < n, members[rows] == np.arange(n)[rows, None], dim)
        places[rows] = _majorize(
            np.where(kept[:, :, None] & kept[:, None], lengths, 0.0), kept, dim
        )
        members[rows] = np.where(kept, members[rows], n)
    order = np.argsort(members, axis=1, kind="stable")
    return Maps(
        np.take_along_axis(members, order, axis=1),
        np.take_along_axis(places, order[:, :, None], axis=1),
    )


def _neighborhoods(edges: Edges, least: int) -> IntArray:
    """Each sensor and its nearest neighbours, ascending, padded with n."""
    n, every = edges.n, np.arange(edges.n)
    center = np.concatenate((every, edges.first, edges.second))
    member = np.concatenate((every, edges.second, edges.first))
    order = np.lexsort((np.concatenate((np.zeros(n), np.tile(edges.squares, 2))), center))
    center, member = center[order], member[order]
    begin = np.searchsorted(center, every)
    rank = np.arange(len(center)) - begin[center]
    width = max(min(int(rank.max()) + 1, MOST_MEMBERS), least)
    members = np.full((n, width), n)
    near = rank < width
    members[center[near], rank[near]] = member[near]
    return np.sort(members, axis=1)


def _among(edges: Edges, members: IntArray) -> FloatArray:
    """Distances (b, s, s) between the members of neighbourhoods, zero where unknown."""
    stride = edges.n + 1
    key = np.concatenate((edges.first * stride + edges.second, edges.second * stride + edges.first))
    order = np.argsort(key)
    wanted = members[:, :, None] * stride + members[:, None]
    found = np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)
    where = order[found]
    return np.where(key[where] == wanted, np.sqrt(np.tile(edges.squares, 2))[where], 0.0)


def _rigid(lengths: FloatArray, kept: BoolArray, center: BoolArray, dim: int) -> BoolArray:
    """Keep members with more than `dim` distances, as long as the centre is one of them."""
    while True:
        links = np.sum((lengths > 0) & kept[:, None], axis=2)
        loose = kept & (links <= dim)
        if not loose.any():
            return np.asarray(kept & np.any(kept & center, axis=1, keepdims=True))
        kept = kept & ~loose


def _majorize(lengths: FloatArray, kept: BoolArray, dim: int) -> FloatArray:
    """Minimise the stress of every neighbourhood, from its shortest paths (b, s, dim)."""
    size = np.maximum(kept.sum(axis=1), 1)[:, None, None]
    both = (kept[:, :, None] & kept[:, None]) / size
    places = _by_paths(lengths, both, dim)
    known = lengths > 0
    weights = np.zeros_like(lengths)
    weights[known] = relative_weights(lengths[known]) if known.any() else 0.0
    tension = np.eye(kept.shape[1]) * (weights.sum(axis=2) + ~kept)[:, :, None] - weights
    inverse = np.linalg.inv(tension + both)
    wanted, least = weights * lengths, np.where(known, np.square(1e-9 * lengths), 1.0)
    for _ in range(ITERATIONS):
        squares = np.zeros_like(lengths)
        for axis in range(dim):
            squares += np.square(places[:, :, None, axis] - places[:, None, :, axis])
        pull = wanted / np.sqrt(np.maximum(squares, least))
        places = inverse @ (pull.sum(axis=2)[:, :, None] * places - pull @ places)
    return np.where(kept[:, :, None], places, 0.0)


def _by_paths(lengths: FloatArray, both: FloatArray, dim: int) -> FloatArray:
    """Classical scaling of shortest paths within each neighbourhood."""
    every = np.arange(lengths.shape[1])
    paths = np.where(lengths > 0, lengths, np.inf)
    paths[:, every, every] = 0.0
    for through in every:
        np.minimum(paths, paths[:, :, through, None] + paths[:, None, through], out=paths)
    centring = np.eye(len(every)) * (both > 0) - both
    squares = np.square(np.where(both > 0, paths, 0.0))
    values, vectors = np.linalg.eigh(-0.5 * centring @ squares @ centring)
    return np.asarray(vectors[:, :, -dim:] * np.sqrt(np.maximum(values[:, None, -dim:], 0.0)))


def synchronize_maps(edges: Edges, maps: Maps) -> Maps:
    """Rotate or reflect all maps so that overlapping ones agree; drop uninformative ones.

    The orthogonal matrices are read from the top eigenvectors of the block matrix of pairwise
    alignments.
    """
    n = len(maps.members)
    weights, turns = _between(edges, maps)
    ends = np.concatenate((edges.first, edges.second)), np.concatenate((edges.second, edges.first))
    label = components(csr_array((np.tile(weights, 2), ends), shape=(n, n)))
    part = np.flatnonzero(label == np.argmax(np.bincount(label)))
    number = np.full(n, -1)
    number[part] = np.arange(len(part))
    used = (weights > 0) & (number[edges.first] >= 0)
    if not used.any():
        return Maps(np.full_like(maps.members, n), np.zeros_like(maps.places))
    found = _synchronize(
        number[edges.first[used]], number[edges.second[used]], weights[used], turns[used], len(part)
    )
    members = np.full_like(maps.members, n)
    members[part] = maps.members[part]
    places = np.zeros_like(maps.places)
    places[part] = maps.places[part] @ found
    return Maps(members, places)


def _synchronize(
    first: IntArray, second: IntArray, weights: FloatArray, turns: FloatArray, n: int
) -> FloatArray:
    """Orthogonal matrices R (n, dim, dim) for which R_first ≈ turn R_second."""
    dim = turns.shape[2]
    degree = np.bincount(np.concatenate((first, second)), np.tile(weights, 2), n)
    blocks = (weights / np.sqrt(degree[first] * degree[second]))[:, None, None] * turns
    both = np.concatenate((blocks, np.swapaxes(blocks, 1, 2)))
    rows, columns = np.concatenate((first, second)), np.concatenate((second, first))
    order = np.lexsort((columns, rows))
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    matrix = bsr_array((both[order], columns[order], starts), shape=(dim * n, dim * n))
    disagreement = SpectralProblem(csr_array(eye_array(dim * n) - matrix), "bottom")
    found = _nearest_turns(solve(disagreement, dim).vectors, dim)
    roots = np.repeat(np.sqrt(degree), dim)[:, None]
    for _ in range(VOTES):
        found = _nearest_turns(matrix @ (roots * found.reshape(dim * n, dim)), dim)
    return found


def _nearest_turns(blocks: FloatArray, dim: int) -> FloatArray:
    """Orthogonal matrices (n, dim, dim) nearest to blocks (n * dim, dim) up to their size."""
    left, _, right = np.linalg.svd(blocks.reshape(-1, dim, dim))
    return np.asarray(left @ right)


def _between(edges: Edges, maps: Maps) -> tuple[FloatArray, FloatArray]:
    """For each edge, a weight and the matrix that aligns the maps of its ends.

    For rows: x_second @ block' is near x_first, so that R_first = block R_second.
    """
    n, dim = len(maps.members), maps.places.shape[2]
    key = (np.arange(n)[:, None] * (n + 1) + maps.members).ravel()
    misfit, weights = np.zeros(edges.m), np.zeros(edges.m)
    turns = np.zeros((edges.m, dim, dim))
    flat = maps.places.reshape(-1, dim)
    for rows in row_chunks(edges.m, 64 * maps.members.shape[1] * dim, 1 << 25):
        members = maps.members[edges.first[rows]]
        wanted = edges.second[rows, None] * (n + 1) + members
        where = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        shared = (key[where] == wanted) & (members < n)
        count = shared.sum(axis=1)
        here = _center(maps.places[edges.first[rows]], shared)
        there = _center(flat[where], shared)
        left, values, right = np.linalg.svd(np.swapaxes(here, 1, 2) @ there)
        turns[rows] = left @ right
        size = np.maximum(np.square(here).sum(axis=(1, 2)), np.finfo(float).tiny)
        error = np.square(here @ turns[rows] - there).sum(axis=(1, 2)) / size
        good = (count > dim + 1) & (values[:, -1] > LEAST_WIDTH * values[:, 0])
        misfit[rows], weights[rows] = error, np.where(good, count, 0)
    usual = float(np.median(misfit[weights > 0])) if np.any(weights > 0) else 1.0
    return weights / (1.0 + np.square(misfit / max(usual, np.finfo(float).tiny))), turns


def _center(places: FloatArray, shared: BoolArray) -> FloatArray:
    count = np.maximum(shared.sum(axis=1), 1)[:, None, None]
    taken = np.where(shared[:, :, None], places, 0.0)
    return np.where(shared[:, :, None], taken - taken.sum(axis=1, keepdims=True) / count, 0.0)


def glue_maps(edges: Edges, maps: Maps) -> FloatArray:
    """Positions in least squares over all maps, each up to a translation."""
    n, kept = edges.n, maps.kept
    size = np.maximum(kept.sum(axis=1), 1)
    member = maps.members[kept]
    which = np.nonzero(kept)[0]
    contains = csr_array((1.0 / np.sqrt(size[which]), (which, member)), shape=(n, n))
    faint = edges.laplacian(FAINT * edges.squares)
    matrix = diags_array(np.bincount(member, minlength=n).astype(float)) - contains.T @ contains
    wanted = _center(maps.places, kept)[kept]
    sums = [np.bincount(member, column, n) for column in wanted.T]
    pull: FloatArray = np.stack(sums, axis=1).astype(np.float64)
    found = np.empty_like(pull)
    analyse(csr_array(matrix + faint)).factor(1e-3 * FAINT).solve(pull, 1, found)
    return found
