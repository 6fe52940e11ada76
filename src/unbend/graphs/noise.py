"""Local spectra: deviation of neighbourhoods from d-planes, and where noise dominates it.

Local methods look for functions that are affine in every neighbourhood. Noise of variance σ²
across the tangent plane tilts the plane that a neighbourhood of s points sees, and a function of
unit slope then misses being affine by Σσ⁴/τ², with τ² its variance along one tangent direction; a
function with second derivative one misses it by sτ⁴/4. Over the whole sample the first acts as a
Laplacian with weight α, the second as the energy of a bent plate with weight β. Of data with
variances V₁ ≥ … ≥ V_d the last coordinate costs about α/V_d, and the first wave along the longest
direction, a function of the first coordinate, about α/V₁ + β/V₁²: once the wave is cheaper, it
takes the place of the coordinate, as it does in Laplacian eigenmaps.
"""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.graphs.geodesics import Paths
from unbend.graphs.graph import Graph
from unbend.neighbors.neighbors import Neighbors
from unbend.neighbors.space import Space, centered_gram

# A sheet of length ℓ has ℓ² = 12 V. The coordinate costs what the first mode of a string does,
# π²/12, the wave what its second does, (2π)²/12. Bending costs it 4.73⁴/12² = 3.5 as a free beam
# where all neighbourhoods are round discs. Fitted to where LTSA loses the width of noisy rolls of
# 3000 and 10 000 points it is 7.3; on other rolls, of 5000 and 20 000 points, LTSA then kept both
# coordinates in all of 11 cases below 0.95 and lost one in all of 21 above 1.1.
COORDINATE, STRING, BEAM = 0.82, 3.29, 7.3
# Eigenvalues below this share of the largest are rounding: the neighbourhood has no such direction.
FLAT = 1e-12
# Exponent of growth, 1 along the data and 2 for curvature, from which on a direction is curvature.
# On curves without noise (9 kinds, 200 to 2000 rows, 6 to 16 neighbours, 2 seeds) it was 1.85 or
# more, on 16 kinds of surfaces 1.41 or less, noise included; no data set of the library was used.
# On 13 other families (benchmarks/local_dimension.json) it is above the threshold for 99.4 % of 540
# directions that are curvature, and at most 1.32 for 1350 along the data, with noise up to 10 %.
CURVED = 1.65
# Logarithm of the growth of λ₁ from which on an exponent is meaningful.
LEAST_GROWTH = 0.1
# Neighbourhoods looked at when many sizes are compared, and sources of the geodesics that measure
# how long and how wide the data are, with the points placed from them.
SAMPLE, LANDMARKS, CROWD = 192, 128, 4096


@dataclass(frozen=True, eq=False)
class LocalSpectra:
    """Variances of each neighbourhood along its principal directions, largest first (n, r)."""

    variances: FloatArray
    sizes: IntArray

    def dimension(self) -> IntArray:
        """Count the directions that each neighbourhood spans."""
        largest = self.variances[:, :1]
        spanned: IntArray = np.sum((self.variances > FLAT * largest) & (largest > 0), axis=1)
        return spanned

    def outside(self, d: int) -> FloatArray:
        """Share of the variance outside the best d-plane, zero where there is no variance."""
        total, beyond = self.variances.sum(axis=1), self.variances[:, d:].sum(axis=1)
        return np.asarray(np.divide(beyond, total, out=np.zeros_like(total), where=total > 0))

    def energies(self, d: int) -> tuple[float, float]:
        """Mean α and β: what a unit slope and a unit second derivative cost a neighbourhood.

        The best plane takes d + 1 of the s degrees of freedom, from the variances outside it and
        from what can be seen of bending.
        """
        tangent = self.variances[:, :d].mean(axis=1)
        noise = np.square(self.variances[:, d:]).sum(axis=1)
        cost = np.divide(noise, tangent, out=np.zeros_like(noise), where=tangent > 0)
        free = np.maximum(self.sizes - d - 1, 0.5)
        slope, bend = cost * self.sizes / free, free * np.square(tangent) / 4
        return float(slope.mean()), float(bend.mean())


def local_spectra(space: Space, neighbors: Neighbors, unit: float = 1.0) -> LocalSpectra:
    """Spectra of all neighbourhoods, the point itself included.

    Lengths are divided by `unit` first, so that no square leaves the range of numbers.
    """
    at_once = max(1, (1 << 22) // (int(neighbors.counts.max(initial=0)) + 1) ** 2)
    found = [
        (points, _block_spectra(space, np.column_stack((points, others)), unit))
        for points, others in neighbors.blocks(at_once)
    ]
    variances = np.zeros((neighbors.n, max(spectra.shape[1] for _, spectra in found)))
    for points, spectra in found:
        variances[points, : spectra.shape[1]] = spectra
    return LocalSpectra(variances, neighbors.counts + 1)


def _block_spectra(space: Space, blocks: IntArray, unit: float) -> FloatArray:
    return principal_variances(space.coordinates(blocks) / unit)


def principal_variances(local: FloatArray) -> FloatArray:
    """Variances along the principal directions of each block (m, s, r) of points, descending."""
    local = local - local.mean(axis=1, keepdims=True)
    # The smaller of both products has all the values that are not zero.
    wide = local.shape[2] > local.shape[1]
    products = local @ local.mT if wide else local.mT @ local
    values = np.linalg.eigvalsh(products)[:, ::-1] / local.shape[1]
    return np.asarray(np.maximum(values, 0.0))


def growth_exponents(space: Space, d: int, k: int) -> FloatArray:
    """How λ₁, …, λ_d of neighbourhoods grow from k to 2k neighbours: d log λⱼ / d log λ₁.

    Along the data variances grow as r², an exponent of 1; curvature adds r⁴, an exponent of 2, and
    noise none. Of 2k neighbours half are drawn: the smallest variances of few points are too
    small, and so equally small in both. The median over a sample of rows; not a number where
    most neighbourhoods have no such direction, or there are too few rows.
    """
    k = min(k, (space.n - 1) // 2)
    exponents = np.full(d, np.nan)
    if k < max(d + 1, 3):
        return exponents
    rows = sample_rows(space.n, SAMPLE)
    nearest, _ = space.nearest_of(space.rows(rows), 2 * k + 1)
    # Not every second: on an evenly sampled curve these would all lie on one side.
    ranks = np.tile(np.arange(1, 2 * k + 1), (len(rows), 1))
    half = np.random.default_rng(0).permuted(ranks, axis=1)[:, :k]
    half = np.column_stack((np.zeros(len(rows), dtype=np.intp), half))
    growth = np.full((len(rows), d), np.nan)
    for chunk in row_chunks(len(rows), 64 * k**2):
        local = space.differences(nearest[chunk])
        drawn = np.take_along_axis(local, half[chunk, :, None], axis=1)
        small, large = principal_variances(local[:, : k + 1]), principal_variances(drawn)
        r = min(d, small.shape[1])
        small, large = small[:, :r], large[:, :r]
        shown = (small > FLAT * small[:, :1]) & (small[:, :1] > 0)
        ratio = np.divide(large, small, out=np.full_like(small, np.nan), where=shown)
        growth[chunk, :r] = np.log(ratio, out=np.full_like(small, np.nan), where=ratio > 0)
    seen = np.mean(np.isfinite(growth), axis=0) > 0.5
    exponents[seen] = np.nanmedian(growth[:, seen], axis=0)
    # Neighbourhoods that hardly grow, as on a lattice, show no exponent.
    return exponents / exponents[0] if exponents[0] > LEAST_GROWTH else np.full(d, np.nan)


def local_dimension(exponents: FloatArray) -> int:
    """Count the directions before the first that grows as curvature does."""
    curved = np.flatnonzero(exponents > CURVED)
    return int(curved[0]) if len(curved) else len(exponents)


def extents(graph: Graph, d: int, unit: float = 1.0) -> FloatArray:
    """Variances of the d longest directions of the largest component, by geodesics.

    Classical scaling of some landmarks, from whose distances a larger crowd is then placed
    (landmark MDS): the variances are those of the crowd.
    """
    inside = np.flatnonzero(graph.components == 0)
    marks, crowd = (
        inside[sample_rows(len(inside), LANDMARKS)],
        inside[sample_rows(len(inside), CROWD)],
    )
    paths, squares = Paths(graph.lengths), np.empty((len(marks), len(crowd)))
    between = np.empty((len(marks), len(marks)))
    for chunk in row_chunks(len(marks), 8 * graph.n):
        row = np.empty((chunk.stop - chunk.start, graph.n))
        paths.fill(row, marks[chunk])
        between[chunk], squares[chunk] = row[:, marks] / unit, np.square(row[:, crowd] / unit)
    values, vectors = np.linalg.eigh(centered_gram(between[None])[0])
    positive = np.flatnonzero(values > FLAT * max(values[-1], 0.0))[::-1][:d]
    heights = squares - squares.mean(axis=1, keepdims=True)
    placed = -0.5 * vectors[:, positive].T @ heights / np.sqrt(values[positive])[:, None]
    variances = np.zeros(d)
    variances[: len(positive)] = np.sort(placed.var(axis=1))[::-1]
    return variances


def hiding_ratio(alpha: FloatArray, beta: FloatArray, variances: FloatArray) -> FloatArray:
    """Cost of the last coordinate over that of the first wave, which hides it where above one."""
    if variances[-1] <= 0:
        return np.zeros_like(alpha)
    longest = variances[0]
    wave = STRING * alpha / longest + BEAM * beta / longest**2
    costs = COORDINATE * alpha / variances[-1]
    return np.asarray(np.divide(costs, wave, out=np.zeros_like(alpha), where=wave > 0))


def energies_by_size(
    space: Space, sizes: IntArray, d: int, unit: float
) -> tuple[FloatArray, FloatArray]:
    """α and β of neighbourhoods of each number of neighbours, by a sample of the rows."""
    rows = sample_rows(space.n, SAMPLE)
    most = int(sizes.max()) + 1
    nearest, _ = space.nearest_of(space.rows(rows), most)
    sums = np.zeros((len(sizes), 2))
    for chunk in row_chunks(len(rows), 32 * most**2):
        # Smaller neighbourhoods are the beginning of larger ones, in the same coordinates.
        local = space.coordinates(nearest[chunk]) / unit
        for place, size in enumerate(sizes):
            counts = np.full(len(local), size + 1)
            spectra = LocalSpectra(principal_variances(local[:, : size + 1]), counts)
            sums[place] += len(local) * np.array(spectra.energies(d))
    alpha, beta = sums.T / len(rows)
    return alpha, beta


def sample_rows(n: int, most: int) -> IntArray:
    """Draw at most `most` of n rows by a fixed seed: their order may mean something."""
    drawn: IntArray = np.random.default_rng(0).permutation(n)[:most]
    return np.sort(drawn)
