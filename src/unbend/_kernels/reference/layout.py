"""Forces of a neighbour embedding."""

from collections.abc import Callable

import numpy as np

from unbend.arrays import FloatArray, IntArray


def _splines(place: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """First node, weights (n, 4) and slopes (n, 4) of the cubic B-splines around each place."""
    node = np.floor(place)
    f = place - node
    g = 1.0 - f
    weights = np.stack(
        [g**3, (3 * f - 6) * f**2 + 4, ((-3 * f + 3) * f + 3) * f + 1, f**3], axis=-1
    )
    slopes = np.stack(
        [-0.5 * g**2, (1.5 * f - 2) * f, (-1.5 * f + 1) * f + 0.5, 0.5 * f**2], axis=-1
    )
    return node.astype(np.int64), weights / 6.0, slopes


def _stencil(
    points: FloatArray, origin: FloatArray, spacing: float, nodes: int
) -> tuple[IntArray, FloatArray, list[FloatArray]]:
    """Flat nodes (n, 4^d) around each point, their weights and the slopes along each axis."""
    n, d = points.shape
    parts = [_splines((points[:, a].astype(np.float64) - origin[a]) / spacing) for a in range(d)]
    flat: IntArray = np.zeros((n, 1), dtype=np.int64)
    weight: FloatArray = np.ones((n, 1))
    slopes: list[FloatArray] = [np.ones((n, 1)) for _ in range(d)]
    for axis, (node, weights, slope) in enumerate(parts):
        flat = (flat[:, :, None] * nodes + (node[:, None] + np.arange(4))[:, None]).reshape(n, -1)
        weight = (weight[:, :, None] * weights[:, None]).reshape(n, -1)
        slopes = [
            (s[:, :, None] * (slope if a == axis else weights)[:, None]).reshape(n, -1)
            for a, s in enumerate(slopes)
        ]
    return flat, weight, slopes


def spread_density(
    points: FloatArray,
    origin: FloatArray,
    spacing: float,
    nodes: int,
    threads: int,
    density: FloatArray,
) -> None:
    """Fill a mesh of `nodes` per axis, flat, with the cubic B-splines of all points (n, d)."""
    flat, weight, _ = _stencil(points, origin, spacing, nodes)
    density[:] = np.bincount(flat.ravel(), weight.ravel(), minlength=len(density))


def convolve(
    waves: FloatArray, for_potential: FloatArray, for_sums: FloatArray, threads: int
) -> float:
    """Multiply waves by the factors of the potential; return Σ |wave|² times those of the sum.

    Waves are complex numbers, real and imaginary parts side by side in one flat array.
    """
    parts = waves.reshape(-1, 2)
    total = float(np.sum(np.square(parts.astype(np.float64)).sum(axis=1) * for_sums))
    parts *= for_potential[:, None]
    return total


def gather_forces(
    points: FloatArray,
    origin: FloatArray,
    spacing: float,
    nodes: int,
    potential: FloatArray,
    own_force: float,
    threads: int,
    forces: FloatArray,
) -> None:
    """Fill −½ ∇φ − a sin 2πf (n, d) at each point.

    φ is the spline of the potential on the mesh, f the place of the point in its cell and a
    `own_force`.
    """
    flat, _, slopes = _stencil(points, origin, spacing, nodes)
    places = (points.astype(np.float64) - origin) / spacing
    for axis, slope in enumerate(slopes):
        forces[:, axis] = -0.5 / spacing * np.sum(potential[flat] * slope, axis=1)
    forces -= own_force * np.sin(2.0 * np.pi * places)


def attract(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    points: FloatArray,
    threads: int,
    forces: FloatArray,
) -> None:
    """Fill Σ_j p_ij (y_i − y_j) / (1 + |y_i − y_j|²) over the stored entries of each row."""
    rows = np.repeat(np.arange(len(points)), np.diff(offsets))
    away = points[rows].astype(np.float64) - points[indices]
    pull = weights / (1.0 + np.square(away).sum(axis=1))
    for axis in range(points.shape[1]):
        forces[:, axis] = np.bincount(rows, pull * away[:, axis], minlength=len(points))


def attractive_energy(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    points: FloatArray,
    threads: int,
    energies: FloatArray,
) -> None:
    """Fill Σ_j p_ij log(1 + |y_i − y_j|²) over the stored entries of each row."""
    rows = np.repeat(np.arange(len(points)), np.diff(offsets))
    away = points[rows].astype(np.float64) - points[indices]
    terms = weights * np.log1p(np.square(away).sum(axis=1))
    energies[:] = np.bincount(rows, terms, minlength=len(points))


def renumber(
    offsets: IntArray,
    indices: IntArray,
    weights: FloatArray,
    order: IntArray,
    inverse: IntArray,
    new_offsets: IntArray,
    threads: int,
    new_indices: IntArray,
    new_weights: FloatArray,
) -> None:
    """Fill the entries of a sparse matrix whose rows and columns are in another order.

    Row i is row `order[i]` of the old one, and `inverse` is the inverse of that order; entries of a
    row are sorted by column.
    """
    for row, old in enumerate(order):
        entries = slice(offsets[old], offsets[old + 1])
        columns = inverse[indices[entries]]
        sort = np.argsort(columns)
        place = slice(new_offsets[row], new_offsets[row + 1])
        new_indices[place] = columns[sort]
        new_weights[place] = weights[entries][sort]


def descend(
    attraction: FloatArray,
    repulsion: FloatArray,
    pull: float,
    push: float,
    momentum: float,
    longest: float,
    threads: int,
    velocity: FloatArray,
    gains: FloatArray,
    points: FloatArray,
    box: FloatArray,
) -> None:
    """Move the points (n, d) by one step of momentum descent; update velocity and gains.

    The gradient is pull · attraction − push · repulsion. A coordinate whose velocity points uphill
    has its gain lowered to 0.8 of itself, at least 0.01; others have it raised by 0.2. No point
    moves further than `longest`. The points are then centred, and `box` (2, d) is filled with their
    lowest and highest coordinates.
    """
    slope = pull * attraction - push * repulsion
    uphill = slope * np.sign(velocity) > 0
    gains[:] = np.where(uphill, np.maximum(0.8 * gains, 0.01), gains + 0.2)
    velocity[:] = momentum * velocity - gains * slope
    lengths = np.linalg.norm(velocity, axis=1, keepdims=True)
    velocity *= np.minimum(1.0, longest / np.maximum(lengths, 1e-30))
    points += velocity
    points -= points.mean(axis=0, dtype=np.float64).astype(points.dtype)
    box[:] = points.min(axis=0), points.max(axis=0)


def _place(
    indices: IntArray,
    weights: FloatArray,
    layout: FloatArray,
    force: Callable[[FloatArray], FloatArray],
    push: float,
    most: int,
    placed: FloatArray,
) -> None:
    """Place new points, where `force` is the repulsion of the layout at a place."""
    for row, (near, p) in enumerate(zip(layout[indices].astype(np.float64), weights, strict=True)):
        between = np.square(near[:10, None] - near).sum(axis=2)
        y = near[np.argmax((p / (1.0 + between)).sum(axis=1))]
        for _ in range(most):
            pull = p / (1.0 + np.square(y - near).sum(axis=1))
            move = (pull @ near + push * force(y)) / pull.sum() - y
            length = np.linalg.norm(move)
            y = y + move / max(1.0, float(length))
            if length < 1e-4:
                break
        placed[row] = y


def place_on_mesh(
    indices: IntArray,
    weights: FloatArray,
    layout: FloatArray,
    origin: FloatArray,
    spacing: float,
    nodes: int,
    potential: FloatArray,
    push: float,
    most: int,
    threads: int,
    placed: FloatArray,
) -> None:
    """Place new points (m, d), each alone, against a fixed layout with potential φ on a mesh.

    Each descends Σ_j p_j log(1 + |y − y_j|²) + push · φ(y) over its k neighbours, from the one of
    the first ten whose surroundings weigh most, by at most `most` steps of at most unit length.
    """
    high = origin + spacing * (nodes - 4.001)

    def force(y: FloatArray) -> FloatArray:
        found = np.empty((1, layout.shape[1]))
        inside = np.clip(y, origin, high)[None]
        gather_forces(inside, origin, spacing, nodes, potential, 0.0, 1, found)
        return np.asarray(found[0])

    _place(indices, weights, layout, force, push, most, placed)


def place_by_tree(
    indices: IntArray,
    weights: FloatArray,
    layout: FloatArray,
    opening: float,
    push: float,
    most: int,
    threads: int,
    placed: FloatArray,
) -> None:
    """Place new points as `place_on_mesh`, with the repulsion summed over all of the layout."""

    def force(y: FloatArray) -> FloatArray:
        found = np.empty((1, layout.shape[1]))
        repel_exactly(y[None], layout, 1, found, np.empty(1))
        return np.asarray(found[0])

    _place(indices, weights, layout, force, push, most, placed)


def repel_by_tree(
    points: FloatArray, opening: float, threads: int, forces: FloatArray, normalizers: FloatArray
) -> None:
    """Fill Σ_j w² (y_i − y_j) and Σ_j w, as `repel_exactly`; the compiled one opens few cells.

    A cell counts as one point from the distance width / opening on.
    """
    repel_exactly(points, points, threads, forces, normalizers)


def repel_exactly(
    points: FloatArray,
    others: FloatArray,
    threads: int,
    forces: FloatArray,
    normalizers: FloatArray,
) -> None:
    """Fill Σ_j w² (y_i − z_j) and Σ_j w over all j, with w = 1 / (1 + |y_i − z_j|²)."""
    for i, point in enumerate(points.astype(np.float64)):
        away = point - others
        w = 1.0 / (1.0 + np.square(away).sum(axis=1))
        forces[i] = (w**2) @ away
        normalizers[i] = w.sum()


def sum_weights(points: FloatArray, threads: int) -> float:
    """Return Σ w over all ordered pairs of distinct points."""
    y = points.astype(np.float64)
    return float(sum((1.0 / (1.0 + np.square(y - row).sum(axis=1))).sum() - 1.0 for row in y))
