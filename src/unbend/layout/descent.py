"""Gradient descent on the Kullback–Leibler divergence of a layout."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, row_chunks
from unbend.layout.repulsion import FEW, MeshRepulsion, exact_repulsion
from unbend.progress import advance

# Early exaggeration gathers clusters before they are laid out (van der Maaten and Hinton 2008).
EARLY, EARLY_STEPS, EARLY_MOMENTUM, MOMENTUM = 12.0, 250, 0.5, 0.8
# Gains of the coordinates: raised where the gradient keeps its sign, lowered where it turns.
RAISE, LOWER, LEAST_GAIN = 0.2, 0.8, 0.01
# Longest step of a point, in units of the kernel.
LONGEST = 5.0
# The divergence is looked at so often, and must have fallen by this share.
CHECK, FALL = 50, 1e-4


@dataclass(frozen=True, eq=False)
class Layout:
    """A layout and its divergence.

    Attributes
    ----------
    points : array (n, d)
    divergence : float
        Kullback–Leibler divergence with the exact normaliser.
    iterations : int
    converged : bool
        Whether the divergence fell by less than `FALL` in the last `CHECK` iterations.
    """

    points: FloatArray
    divergence: float
    iterations: int
    converged: bool


def minimize(
    affinities: csr_array,
    start: FloatArray,
    *,
    exaggeration: float,
    max_iter: int,
    spacing: float,
    threads: int,
    callback: Callable[[int, FloatArray], None] | None = None,
) -> Layout:
    """Lay points out by momentum descent from a start of standard deviation 1e-4.

    Parameters
    ----------
    affinities : csr_array (n, n)
        Symmetric probabilities that sum to one.
    start : array (n, d)
    exaggeration : float
        Factor of the attraction: 1 is t-SNE, about 4 resembles UMAP.
    max_iter : int
        Iterations after early exaggeration, at most.
    spacing : float
        Spacing of the mesh.
    threads : int
    callback : callable, optional
        Called with the iteration and the layout.
    """
    state = _Descent(affinities, start, spacing, threads)
    total = EARLY_STEPS + max_iter
    early = max(EARLY, exaggeration)
    last, converged = np.inf, False
    step = 0
    for step in range(1, total + 1):
        first = step <= EARLY_STEPS
        state.move(early if first else exaggeration, EARLY_MOMENTUM if first else MOMENTUM)
        if callback is not None:
            callback(step, state.points)
        advance("layout", step, total)
        if not first and (step - EARLY_STEPS) % CHECK == 0:
            value = state.divergence(exaggeration)
            converged = bool(last - value < FALL * abs(last))
            last = value
            if converged:
                break
    return Layout(state.points, divergence(affinities, state.points, threads), step, converged)


class _Descent:
    """Layout, velocities and gains."""

    def __init__(
        self, affinities: csr_array, start: FloatArray, spacing: float, threads: int
    ) -> None:
        n = len(start)
        self.points = np.ascontiguousarray(start, dtype=np.float32)
        self.velocity = np.zeros_like(self.points)
        self.gains = np.ones_like(self.points)
        self.attraction = np.empty_like(self.points)
        self.offsets = affinities.indptr.astype(np.int64)
        self.indices = affinities.indices.astype(np.int32)
        self.weights = affinities.data.astype(np.float32)
        self.affinities = affinities
        self.threads = threads
        mesh = MeshRepulsion(spacing, threads)
        self.repel = mesh if n > FEW else lambda points: exact_repulsion(points, threads)
        self.normalizer = 1.0

    def move(self, exaggeration: float, momentum: float) -> None:
        """Take one step with the learning rate n / exaggeration (Belkina et al. 2019)."""
        kernels.attract(
            self.offsets, self.indices, self.weights, self.points, self.points, self.threads,
            self.attraction,
        )  # fmt: skip
        forces, self.normalizer = self.repel(self.points)
        rate = np.float32(max(50.0, len(self.points) / exaggeration))
        gradient = self.attraction * np.float32(4.0 * exaggeration)
        gradient -= forces * np.float32(4.0 / self.normalizer)
        turned = (gradient > 0) == (self.velocity > 0)
        self.gains = np.where(
            turned, self.gains * np.float32(LOWER), self.gains + np.float32(RAISE)
        )
        np.maximum(self.gains, np.float32(LEAST_GAIN), out=self.gains)
        self.velocity *= np.float32(momentum)
        self.velocity -= rate * self.gains * gradient
        lengths = np.sqrt(np.einsum("ij,ij->i", self.velocity, self.velocity))
        longest = float(lengths.max())
        if longest > LONGEST:
            shrink = np.minimum(np.float32(1.0), np.float32(LONGEST) / np.maximum(lengths, 1e-30))
            self.velocity *= shrink[:, None].astype(np.float32)
        self.points += self.velocity
        self.points -= self.points.mean(axis=0, dtype=np.float64).astype(np.float32)

    def divergence(self, exaggeration: float) -> float:
        """Objective of the exaggerated problem, up to a constant, with the mesh's normaliser."""
        return exaggeration * _attractive(self.affinities, self.points) + float(
            np.log(self.normalizer)
        )


def _attractive(affinities: csr_array, points: FloatArray) -> float:
    """Σ p log(1 + |y_i − y_j|²)."""
    total = 0.0
    y = points.astype(np.float64)
    width = max(1, affinities.nnz // max(1, len(y)))
    for rows in row_chunks(len(y), 64 * width):
        span = slice(affinities.indptr[rows.start], affinities.indptr[rows.stop])
        ends = np.repeat(
            np.arange(rows.start, rows.stop), np.diff(affinities.indptr[rows.start : rows.stop + 1])
        )
        away = y[ends] - y[affinities.indices[span]]
        total += float(affinities.data[span] @ np.log1p(np.einsum("ij,ij->i", away, away)))
    return total


def divergence(affinities: csr_array, points: FloatArray, threads: int = 1) -> float:
    """Kullback–Leibler divergence of a layout, with the normaliser summed over all pairs."""
    y = np.ascontiguousarray(points, dtype=np.float32)
    normalizer = exact_repulsion(y, threads)[1]
    p = affinities.data[affinities.data > 0]
    return float(p @ np.log(p)) + _attractive(affinities, y) + float(np.log(normalizer))
