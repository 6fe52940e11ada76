"""Repulsion between all points of a layout: over all pairs, on a mesh or by a tree.

With w(r) = 1 / (1 + r²) the repulsion of point i is Σ_j w² (y_i − y_j) = −½ ∇φ(y_i), where the
potential φ(y) = Σ_j w(|y − y_j|) is a convolution of w with the density of the points. The mesh
solver spreads the density by cubic B-splines, convolves it by one FFT and its inverse on a mesh
padded to twice its size, and differentiates the spline of the potential. The transfer function
minimises the mean square error of the forces (Hockney and Eastwood, *Computer Simulation Using
Particles*, 1988, section 8-3).
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy import fft

from unbend._kernels import kernels
from unbend.arrays import FloatArray
from unbend.cached import cached_property

# Error of the repulsion, relative to its size, with this spacing of the mesh or this opening of the
# tree, at most, on layouts without clumps. It falls with the third power of the spacing, and faster
# than the square of the opening.
ERROR, SPACING, OPENING = 0.04, 0.5, 0.5
# Inside of a clump, points narrower than the spacing, forces cancel and errors of the mesh add up.
# So its error is measured on some points, and the mesh refined to this share of the error asked
# for, by quarters of an octave and so many at most; it is made coarser where that leaves the other.
SAMPLED, REFINE, COARSEN, FINEST = 256, 0.7, 0.4, 24
# Nanoseconds of one thread: for a pair and dimension of all pairs; for a node of the padded mesh
# with both transforms, and for a node that a point touches; for a point of the tree, times d² and
# the logarithm of their number. Measured once: results must not depend on the machine.
PAIR, NODE, TOUCH, BRANCH = 0.13, 8.0, 3.0, 6.0
# A mesh that costs so many times as much as another method is not measured.
DEAR = 4.0
# Spline nodes that a point touches, and those beyond the last point.
ORDER = 4
# Mesh sizes are multiples of this, so that few transfer functions are needed.
GRAIN = 16
# Cells across a layout at least: in a small one forces nearly cancel, and need a finer mesh.
CELLS = 20
# Cells across a layout at most, for which a mesh is considered: wider ones diverge.
WIDEST = 2**24
# Nodes along an axis of a mesh whose transforms are worth two threads.
SHARED = 256
# Positions in a cell at which the force of a point on itself is measured.
POSITIONS = 8


def exact_repulsion(points: FloatArray, threads: int = 1) -> tuple[FloatArray, float]:
    """Repulsion (n, d) of every point, and the sum of w over all ordered pairs.

    Examples
    --------
    >>> import numpy as np
    >>> forces, normalizer = exact_repulsion(np.array([[0.0], [1.0]], dtype=np.float32))
    >>> forces.ravel().tolist(), normalizer
    ([-0.25, 0.25], 1.0)
    """
    forces = np.empty_like(points)
    sums = np.empty(len(points))
    kernels.repel_exactly(points, points, threads, forces, sums)
    return forces, float(sums.sum() - len(points))


def box_of(points: FloatArray) -> FloatArray:
    """Lowest and highest coordinates (2, d)."""
    return np.stack([points.min(axis=0), points.max(axis=0)]).astype(np.float64)


def tree_repulsion(
    points: FloatArray, opening: float = OPENING, threads: int = 1
) -> tuple[FloatArray, float]:
    """Repulsion (n, d) and the sum of w by Barnes and Hut's tree.

    A cell counts as one point from the distance width / opening on.
    """
    forces = np.empty_like(points)
    sums = np.empty(len(points))
    kernels.repel_by_tree(points, opening, threads, forces, sums)
    return forces, float(sums.sum() - len(points))


def sampled_error(points: FloatArray, forces: FloatArray, threads: int = 1) -> float:
    """Error of forces relative to their size, on some points of the layout."""
    step = -(-len(points) // SAMPLED)
    some = np.ascontiguousarray(points[::step])
    exact, sums = np.empty_like(some), np.empty(len(some))
    kernels.repel_exactly(some, points, threads, exact, sums)
    size = float(np.linalg.norm(exact.astype(np.float64)))
    return float(np.linalg.norm(forces[::step] - exact)) / max(size, 1e-30)


@dataclass(frozen=True, eq=False)
class Repulsion:
    """Repulsion to a relative error, by whatever takes the least time for a layout.

    Layouts of three dimensions fill little of a mesh, so that it is used in one and two only; in
    one it is always fast, and there is no tree.

    Attributes
    ----------
    error : float
    threads : int
    """

    error: float = ERROR
    threads: int = 1

    @property
    def opening(self) -> float:
        """Opening of the tree."""
        return float(OPENING * (self.error / ERROR) ** 0.4)

    @cached_property
    def mesh(self) -> "MeshRepulsion":
        """The mesh, whose spacing `adjust` changes."""
        return MeshRepulsion(SPACING * (self.error / ERROR) ** (1.0 / 3.0), self.threads)

    def method(self, points: FloatArray, box: FloatArray | None = None) -> str:
        """Name the method that is expected to be the fastest: "pairs", "mesh" or "tree"."""
        costs = self._costs(points, box)
        return min(costs, key=lambda name: costs[name])

    def adjust(self, points: FloatArray, box: FloatArray | None = None) -> bool:
        """Refine the mesh, or make it coarser, by its error on some points of this layout.

        Returns whether it was refined.
        """
        before = self.mesh.finer
        self.measure(points, box)
        return self.mesh.finer > before

    def measure(
        self, points: FloatArray, box: FloatArray | None = None, forces: FloatArray | None = None
    ) -> float:
        """Adjust the mesh, and return the error that it had; infinity where it is not measured.

        `forces` are those of the mesh, where they are known.
        """
        costs = self._costs(points, box)
        if "mesh" not in costs or (min(costs.values()) < costs["mesh"] and not self.mesh.finer):
            return np.inf
        if costs["mesh"] > DEAR * min(costs.values()):
            # Not worth measuring, but layouts spread.
            self.mesh.finer -= 1
            return np.inf
        found = self.mesh(points, box)[0] if forces is None else forces
        error = sampled_error(points, found, self.threads)
        before = self.mesh.finer
        if error > REFINE * self.error:
            self.mesh.finer = min(before + _quarters(error / (REFINE * self.error)), FINEST)
        elif before:
            self.mesh.finer = max(
                before - int(4 / 3 * _log2(COARSEN * self.error / max(error, 1e-30))), 0
            )
        return error

    def _costs(self, points: FloatArray, box: FloatArray | None) -> dict[str, float]:
        """Nanoseconds of each method."""
        n, d = points.shape
        costs = {"pairs": PAIR * d * n**2}
        if d > 1:
            costs["tree"] = BRANCH * d**2 * n * np.log2(n) * OPENING / self.opening
        box = box_of(points) if box is None else box
        if d < 3 and float((box[1] - box[0]).max()) < WIDEST * self.mesh.spacing:
            *_, size = self.mesh.mesh_of(box)
            costs["mesh"] = NODE * size**d + TOUCH * n * ORDER**d
        return costs

    def __call__(
        self, points: FloatArray, box: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """Repulsion (n, d) of every point, and the sum of w over all ordered pairs.

        `box` (2, d) holds the lowest and highest coordinates, where they are known.
        """
        box = box_of(points) if box is None else box
        method = self.method(points, box)
        if method == "mesh":
            return self.mesh(points, box)
        if method == "tree":
            return tree_repulsion(points, self.opening, self.threads)
        return exact_repulsion(points, self.threads)


@dataclass(frozen=True, eq=False)
class Field:
    """Potential φ of a layout on a mesh, less a constant.

    Attributes
    ----------
    potential : array (nodes^d,)
        Coefficients of the splines, in single precision.
    constant : float
        What has to be added to the spline.
    origin : array (d,)
        Place of the first node.
    spacing : float
    nodes : int
        Nodes along each axis.
    own_force : float
        Amplitude of the force that a point of the layout exerts on itself through the mesh, which
        is a sine of its place in the cell and is subtracted.
    """

    potential: FloatArray
    constant: float
    origin: FloatArray
    spacing: float
    nodes: int
    own_force: float

    def forces(self, points: FloatArray, threads: int = 1) -> FloatArray:
        """Repulsion (n, d) of the points of the layout, −½ ∇φ."""
        forces = np.empty_like(points)
        kernels.gather_forces(
            points, self.origin, self.spacing, self.nodes, self.potential, self.own_force, threads,
            forces,
        )  # fmt: skip
        return forces


@dataclass(eq=False)
class MeshRepulsion:
    """Repulsion by a mesh that follows the layout as it grows.

    Attributes
    ----------
    spacing : float
        Distance of the nodes, for layouts of more than `CELLS` of it.
    threads : int
    finer : int
        Quarters of an octave by which the nodes are nearer to one another.
    """

    spacing: float = SPACING
    threads: int = 1
    finer: int = 0
    _transfer: tuple[Any, ...] = field(default=(), repr=False)

    def __call__(
        self, points: FloatArray, box: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """Repulsion (n, d) of every point, and the sum of w over all ordered pairs."""
        field_, normalizer = self.field_of(points, box_of(points) if box is None else box)
        return field_.forces(points, self.threads), normalizer

    def field_of(self, points: FloatArray, box: FloatArray) -> tuple[Field, float]:
        """Potential of the points on a mesh around them, and the sum of w over ordered pairs."""
        n, d = points.shape
        low, spacing, nodes, size = self.mesh_of(box)
        small = spacing < self._widest
        density = np.empty(nodes**d, dtype=np.float32)
        kernels.spread_density(points, low, spacing, nodes, self.threads, density)
        for_forces, for_sums, own_force = self._transfer_of(size, spacing, d, small)
        waves = _forward(density.reshape((nodes,) * d), size, self.threads)
        flat = waves.reshape(-1).view(np.float32)
        total = kernels.convolve(flat, for_forces, for_sums, self.threads) / size**d
        potential = _backward(waves, size, nodes, self.threads)
        constant = float(n) if small else 0.0
        return Field(potential.ravel(), constant, low, spacing, nodes, own_force), total - n

    @property
    def _widest(self) -> float:
        """Spacing of layouts that are not small."""
        return float(self.spacing * 2.0 ** (-self.finer / 4))

    def mesh_of(self, box: FloatArray) -> tuple[FloatArray, float, int, int]:
        """First node, spacing, nodes along an axis and their number with padding.

        The spacing is halved until there are enough cells.
        """
        low, width = box[0], float((box[1] - box[0]).max())
        halvings = np.ceil(np.log2(CELLS * self._widest / max(width, 1e-6)))
        spacing = self._widest / 2.0 ** max(halvings, 0.0)
        nodes = int(np.ceil(width / spacing)) + ORDER + 1
        nodes = -(-nodes // GRAIN) * GRAIN
        # Twice a fast length: even.
        return low, spacing, nodes, 2 * fft.next_fast_len(nodes, real=True)

    def _transfer_of(
        self, size: int, spacing: float, d: int, small: bool
    ) -> tuple[FloatArray, FloatArray, float]:
        """Transfer functions of this mesh; layouts grow, so only the last ones are kept."""
        key = (size, spacing, d)
        if not self._transfer or self._transfer[0] != key:
            functions = transfer_functions(size, spacing, d, small)
            self._transfer = (key, *functions, 0.0 if small else _own_force(spacing, d))
        return self._transfer[1:]


@cache
def _own_force(spacing: float, d: int) -> float:
    """Amplitude of the force of a single point on itself, by its place in the cell.

    Ballenegger, Cerdà and Holm (J. Chem. Theory Comput. 8, 2012) subtract the same of Ewald sums.
    """
    nodes = GRAIN
    size = 2 * nodes
    for_forces, _ = transfer_functions(size, spacing, d)
    phases = np.arange(POSITIONS) / POSITIONS
    origin, forces = np.zeros(d), np.empty(POSITIONS)
    for number, phase in enumerate(phases):
        # Halfway between nodes along the other axes, where they have no say.
        point = np.full((1, d), (nodes // 2 - 2) * spacing + spacing / 4, dtype=np.float32)
        point[0, 0] = (nodes // 2 - 2 + phase) * spacing
        density = np.empty(nodes**d, dtype=np.float32)
        kernels.spread_density(point, origin, spacing, nodes, 1, density)
        waves = _forward(density.reshape((nodes,) * d), size, 1)
        waves *= for_forces.reshape(waves.shape)
        potential = _backward(waves, size, nodes, 1).ravel()
        forces[number] = Field(potential, 0.0, origin, spacing, nodes, 0.0).forces(point)[0, 0]
    return float(2.0 * np.mean(forces * np.sin(2.0 * np.pi * phases)))


def _forward(density: FloatArray, size: int, threads: int) -> Any:
    """Transform a density padded with zeros; lines of zeros are never transformed."""
    threads = threads if size >= SHARED else 1
    waves = fft.rfft(density, size, axis=-1, workers=threads)
    for axis in range(density.ndim - 2, -1, -1):
        waves = fft.fft(waves, size, axis=axis, workers=threads)
    return waves


def _backward(waves: Any, size: int, nodes: int, threads: int) -> FloatArray:
    """Transform back, keeping the nodes of the mesh without its padding."""
    threads = threads if size >= SHARED else 1
    for axis in range(waves.ndim - 1):
        waves = fft.ifft(waves, size, axis=axis, workers=threads, overwrite_x=True)
        waves = waves[(slice(None),) * axis + (slice(nodes),)]
    return np.ascontiguousarray(fft.irfft(waves, size, axis=-1, workers=threads)[..., :nodes])


def transfer_functions(
    size: int, spacing: float, d: int, small: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Factors of the density's transform for the potential and for the sum over pairs, flat.

    In a small layout w is nearly one everywhere: the potential is then that of w − 1, of which
    single precision keeps the digits.

    The kernel is sampled at half the spacing and transformed; its waves above the mesh's own are
    folded back with the weights of the splines. The second factor counts every wave that the
    transform of real numbers leaves out.
    """
    half = np.arange(size + 1) * (spacing / 2.0)
    squares = sum(np.square(half).reshape(_along(axis, d)) for axis in range(d))
    volume = (spacing / 2.0) ** d
    kernel = fft.dctn(1.0 / (1.0 + squares), type=1) * volume
    shown = fft.dctn(-squares / (1.0 + squares), type=1) * volume if small else kernel
    k = np.pi * np.arange(size + 1) / (size * spacing / 2.0)
    spline = np.sinc(k * spacing / (2.0 * np.pi)) ** (2 * ORDER)
    weights = np.ones((1,) * d)
    wave_squares = np.zeros((1,) * d)
    for axis in range(d):
        weights = weights * spline.reshape(_along(axis, d))
        wave_squares = wave_squares + np.square(k).reshape(_along(axis, d))
    plain, curved = _fold(spline), _fold(np.square(k) * spline)
    product = np.ones((1,) * d)
    slopes = np.zeros((1,) * d)
    for axis in range(d):
        others = np.ones((1,) * d)
        for other in range(d):
            line = curved if other == axis else plain
            others = others * line.reshape(_along(other, d))
        slopes = slopes + others
        product = product * plain.reshape(_along(axis, d))
    with np.errstate(invalid="ignore"):
        for_forces = _fold(weights * wave_squares * shown) / (product * slopes)
    for_forces[(0,) * d] = shown[(0,) * d]
    for_sums = _fold(weights * kernel) / np.square(product)
    counts = np.full(size // 2 + 1, 2.0)
    counts[0] = counts[-1] = 1.0
    scale = 1.0 / spacing**d
    return (
        _mirror(for_forces * scale, size).astype(np.float32).ravel(),
        (_mirror(for_sums * scale, size) * counts).astype(np.float32).ravel(),
    )


def _log2(ratio: float) -> float:
    """Logarithm of a ratio of errors; nothing is lost where there is no error."""
    return float(np.log2(min(max(ratio, 1.0), 1e30)))


def _quarters(ratio: float) -> int:
    """Quarters of an octave that divide an error by a ratio: it falls with the cube."""
    return int(np.ceil(4 / 3 * _log2(ratio)))


def _along(axis: int, d: int) -> tuple[int, ...]:
    return tuple(-1 if other == axis else 1 for other in range(d))


def _fold(values: FloatArray) -> FloatArray:
    """Add to each wave its alias, along every axis: c and size − c for c up to size / 2."""
    for axis in range(values.ndim):
        half = (values.shape[axis] - 1) // 2
        lines = np.moveaxis(values, axis, 0)
        values = np.moveaxis(lines[: half + 1] + lines[::-1][: half + 1], 0, axis)
    return values


def _mirror(values: FloatArray, size: int) -> FloatArray:
    """Continue an even function of the wave number in all axes but the last."""
    places = np.minimum(np.arange(size), size - np.arange(size))
    for axis in range(values.ndim - 1):
        values = np.take(values, places, axis=axis)
    return np.ascontiguousarray(values)
