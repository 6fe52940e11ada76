"""Global rigidity of a network, by the kernel of a random equilibrium stress.

The matrix Ω = B diag(ω) B' of an equilibrium stress has every affine function of the positions in
its kernel. A generic network is globally rigid if and only if the kernel of a random stress has
nothing else (Connelly, 2005; Gortler, Healy and Thurston, 2010).
Otherwise vectors of the kernel are affine on every globally rigid part.
"""

import numpy as np
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import splu

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.localization.springs import Springs
from unbend.mvu.edges import Edges

# Perturbation relative to the median length: positions on a grid, say, are not generic.
SHAKEN = 0.1
# Relative shifts of singular matrices, and steps of iterative refinement.
RIDGE, SHIFT, ROUNDS = 1e-11, 1e-11, 3
# Tolerance of affine functions, relative to the largest value.
AFFINE = 1e-5
# Neighbourhoods that are tried as seeds of a rigid part; random vectors of the kernel.
SEEDS, VECTORS = 64, 2


def rigid_sensors(
    edges: Edges, positions: FloatArray, preferred: BoolArray, rng: np.random.Generator
) -> BoolArray:
    """Whether each sensor is in the largest globally rigid part of the network.

    A part with enough preferred sensors to fix it takes precedence over a larger one.

    Examples
    --------
    Five sensors in the plane with all but one distance are rigid. Without another one, a sensor may
    be reflected.

    >>> import numpy as np
    >>> first, second = np.triu_indices(5, 1)
    >>> rng, nobody = np.random.default_rng(0), np.zeros(5, dtype=bool)
    >>> places = rng.random((5, 2))
    >>> edges = Edges(5, first[:9], second[:9], np.ones(9))
    >>> rigid_sensors(edges, places, nobody, rng)
    array([ True,  True,  True,  True,  True])
    >>> rigid_sensors(Edges(5, first[:8], second[:8], np.ones(8)), places, nobody, rng).sum()
    np.int64(4)
    """
    n, dim = positions.shape
    rows = _core(edges, dim)
    found = np.zeros(n, dtype=bool)
    if len(rows) < dim + 2:
        return found
    inside = _among(edges, rows)
    usual = float(np.median(np.sqrt(inside.squares)))
    shaken = positions[rows] + SHAKEN * usual * rng.standard_normal((len(rows), dim))
    kernel = _kernel(inside, _stress(inside, shaken, rng), rng)
    found[rows[_affine_part(inside, shaken, kernel, preferred[rows], rng)]] = True
    return found


def _core(edges: Edges, dim: int) -> IntArray:
    """Remove sensors with at most `dim` distances, until there are none."""
    kept = np.ones(edges.n, dtype=bool)
    while True:
        between = kept[edges.first] & kept[edges.second]
        degree = np.bincount(edges.first[between], minlength=edges.n)
        degree += np.bincount(edges.second[between], minlength=edges.n)
        few = kept & (degree <= dim)
        if not few.any():
            return np.flatnonzero(kept)
        kept &= ~few


def _among(edges: Edges, rows: IntArray) -> Edges:
    """Edges of an induced subgraph, renumbered."""
    place = np.full(edges.n, -1)
    place[rows] = np.arange(len(rows))
    first, second = place[edges.first], place[edges.second]
    both = (first >= 0) & (second >= 0)
    return Edges(len(rows), first[both], second[both], edges.squares[both])


def _stress(edges: Edges, positions: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Random equilibrium stress: forces along the edges over their lengths."""
    springs = Springs(edges, np.ones(edges.m), positions.shape[1])
    matrix = springs.curvature(positions, 0.0)
    solver = springs.solver(matrix, RIDGE * float(matrix.diagonal().mean()))
    differences = edges.differences(positions)
    lengths = np.linalg.norm(differences, axis=1)
    units = differences / lengths[:, None]
    forces = rng.standard_normal(edges.m)
    for _ in range(ROUNDS):
        move = solver.solve(edges.incidence @ (forces[:, None] * units))
        forces -= np.sum(units * edges.differences(move), axis=1)
    return np.asarray(forces / lengths)


def _kernel(edges: Edges, stress: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Random vectors (n, q) of the kernel of the stress matrix, by inverse iteration."""
    matrix = csc_array((edges.incidence * stress) @ edges.incidence.T)
    size = max(float(abs(matrix).sum(axis=0).max()), np.finfo(float).tiny)
    factor = splu(csc_array(matrix / size + SHIFT * eye_array(edges.n)))
    found = rng.standard_normal((edges.n, VECTORS))
    for _ in range(ROUNDS):
        found = factor.solve(found)
        found /= np.abs(found).max(axis=0)
    return np.asarray(found)


def _affine_part(
    edges: Edges,
    positions: FloatArray,
    kernel: FloatArray,
    preferred: BoolArray,
    rng: np.random.Generator,
) -> BoolArray:
    """Largest set of sensors on which the kernel is an affine function of the positions."""
    n, dim = positions.shape
    around = edges.incidence @ edges.incidence.T
    known = np.column_stack((positions - positions.mean(axis=0), np.ones(n)))
    best, most = np.zeros(n, dtype=bool), (0, 0)
    seeds = np.concatenate((rng.permutation(np.flatnonzero(preferred))[:SEEDS], rng.permutation(n)))
    for seed in seeds[: 2 * SEEDS]:
        part = around.indices[around.indptr[seed] : around.indptr[seed + 1]]
        agree = np.zeros(n, dtype=bool)
        for _ in range(ROUNDS):
            slopes, *_ = np.linalg.lstsq(known[part], kernel[part], rcond=None)
            agree = np.abs(kernel - known @ slopes).max(axis=1) <= AFFINE
            if not agree[part].all() or agree.sum() < dim + 2:
                agree[:] = False
                break
            part = np.flatnonzero(agree)
        fixing = int(preferred[agree].sum())
        size = (fixing if fixing > dim else 0, int(agree.sum()))
        if size > most:
            best, most = agree, size
        if 2 * most[1] > n and not preferred[~best].any():
            break
    return best
