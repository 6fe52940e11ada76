"""Repulsion between all points of a layout: exact for few points, on a mesh for many.

With w(r) = 1 / (1 + r²) the repulsion of point i is Σ_j w² (y_i − y_j) = −½ ∇φ(y_i), where the
potential φ(y) = Σ_j w(|y − y_j|) is a convolution of w with the density of the points. The mesh
solver spreads the density by cubic B-splines, convolves it by one FFT and its inverse on a mesh
padded to twice its size, and differentiates the spline of the potential. The transfer function
minimises the mean square error of the forces (Hockney and Eastwood, *Computer Simulation Using
Particles*, 1988, section 8-3).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import fft

from unbend._kernels import kernels
from unbend.arrays import FloatArray

# Points up to which all pairs are summed.
FEW = 1500
# Mesh spacing: the kernel has unit width. Chosen on Gaussian clusters (`benchmarks/picture.py`) for
# an error of the repulsion below 0.04, as openTSNE has by default.
SPACING = 0.5
# Spline nodes that a point touches, and those beyond the last point.
ORDER = 4
# Mesh sizes are multiples of this, so that few transfer functions are needed.
GRAIN = 16


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


@dataclass(eq=False)
class MeshRepulsion:
    """Repulsion by a mesh that follows the layout as it grows.

    Attributes
    ----------
    spacing : float
        Distance of the nodes; the error of the forces falls with its third power.
    threads : int
    """

    spacing: float = SPACING
    threads: int = 1
    _transfer: dict[tuple[int, int], Any] = field(default_factory=dict, repr=False)

    def __call__(self, points: FloatArray) -> tuple[FloatArray, float]:
        """Repulsion (n, d) of every point, and the sum of w over all ordered pairs."""
        field_, normalizer = self.field_of(points)
        return field_.forces(points), normalizer

    def field_of(self, points: FloatArray) -> tuple["Field", float]:
        """Potential of the points on a mesh around them, and the sum of w over ordered pairs."""
        d = points.shape[1]
        low = points.min(axis=0).astype(np.float64)
        width = float((points.max(axis=0).astype(np.float64) - low).max())
        nodes = int(np.ceil(width / self.spacing)) + ORDER + 1
        nodes = -(-nodes // GRAIN) * GRAIN
        # Twice a fast length: even.
        size = 2 * fft.next_fast_len(nodes, real=True)
        density = np.empty(nodes**d, dtype=np.float32)
        kernels.spread_density(points, low, self.spacing, nodes, self.threads, density)
        for_forces, for_sums = self._transfer_of(size, d)
        waves = _forward(density.reshape((nodes,) * d), size, self.threads)
        power = np.square(waves.real) + np.square(waves.imag)
        total = float(np.sum(power * for_sums)) / size**d
        waves *= for_forces
        potential = _backward(waves, size, nodes, self.threads)
        made = Field(potential.ravel(), low, self.spacing, nodes, self.threads)
        return made, total - len(points)

    def _transfer_of(self, size: int, d: int) -> tuple[FloatArray, FloatArray]:
        if (size, d) not in self._transfer:
            # Layouts grow: smaller meshes do not come again.
            self._transfer.clear()
            self._transfer[size, d] = transfer_functions(size, self.spacing, d)
        return self._transfer[size, d]


@dataclass(frozen=True, eq=False)
class Field:
    """Potential of a layout on a mesh."""

    potential: FloatArray
    origin: FloatArray
    spacing: float
    nodes: int
    threads: int

    def forces(self, points: FloatArray) -> FloatArray:
        """Repulsion (n, d) of points inside the mesh."""
        forces = np.empty_like(points)
        kernels.gather_forces(
            points, self.origin, self.spacing, self.nodes, self.potential, self.threads, forces
        )
        return forces


def _forward(density: FloatArray, size: int, threads: int) -> Any:
    """Transform a density padded with zeros; lines of zeros are never transformed."""
    waves = fft.rfft(density, size, axis=-1, workers=threads)
    for axis in range(density.ndim - 2, -1, -1):
        waves = fft.fft(waves, size, axis=axis, workers=threads)
    return waves


def _backward(waves: Any, size: int, nodes: int, threads: int) -> FloatArray:
    """Transform back, keeping the nodes of the mesh without its padding."""
    for axis in range(waves.ndim - 1):
        waves = fft.ifft(waves, size, axis=axis, workers=threads, overwrite_x=True)
        waves = waves[(slice(None),) * axis + (slice(nodes),)]
    return np.ascontiguousarray(fft.irfft(waves, size, axis=-1, workers=threads)[..., :nodes])


def transfer_functions(size: int, spacing: float, d: int) -> tuple[FloatArray, FloatArray]:
    """Factors of the density's transform for the potential and for the sum over pairs.

    The kernel is sampled at half the spacing and transformed; its waves above the mesh's own are
    folded back with the weights of the splines. The second factor counts every wave that the
    transform of real numbers leaves out.
    """
    half = np.arange(size + 1) * (spacing / 2.0)
    squares = sum(np.square(half).reshape(_along(axis, d)) for axis in range(d))
    kernel = fft.dctn(1.0 / (1.0 + squares), type=1, overwrite_x=True) * (spacing / 2.0) ** d
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
        for_forces = _fold(weights * wave_squares * kernel) / (product * slopes)
    for_forces[(0,) * d] = kernel[(0,) * d]
    for_sums = _fold(weights * kernel) / np.square(product)
    counts = np.full(size // 2 + 1, 2.0)
    counts[0] = counts[-1] = 1.0
    scale = 1.0 / spacing**d
    return (
        _mirror(for_forces * scale, size).astype(np.float32),
        _mirror(for_sums * scale, size) * counts,
    )


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
