"""Which sensors the distances hold in place, by the kernel of a random stress.

Tensions that balance at every sensor are a stress, and its matrix Ω = B diag(ω) B' has every affine
function of the positions in its kernel. A generic network is determined up to rigid motions if and
only if a random stress has nothing else there (Connelly, 2005; Gortler, Healy and Thurston, 2010).
Where it has more, vectors of the kernel are still affine on every part determined in itself.
"""

import numpy as np
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import splu

from unbend.arrays import BoolArray, FloatArray, IntArray
from unbend.localization.springs import Springs
from unbend.mvu.edges import Edges

# Positions are shaken by this share of the usual length: on a grid, say, they are not generic.
SHAKEN = 0.1
# Shifts, relative, that make singular matrices regular, and how often what they did is taken back.
RIDGE, SHIFT, ROUNDS = 1e-11, 1e-11, 3
# Largest deviation from an affine function, relative to the largest value.
AFFINE = 1e-5
# Sensors whose neighbourhoods are tried as the beginning of a part; random vectors of the kernel.
SEEDS, VECTORS = 64, 2


def held(
    edges: Edges, positions: FloatArray, favoured: BoolArray, rng: np.random.Generator
) -> BoolArray:
    """Whether each sensor is in the largest part that its distances determine, up to rigid motions.

    A part with as many favoured sensors as fix it is preferred to a larger one.

    Examples
    --------
    Five sensors in the plane, all joined but two: these are determined by the other three. One
    distance less, and one of them may be mirrored.

    >>> import numpy as np
    >>> first, second = np.triu_indices(5, 1)
    >>> rng, nobody = np.random.default_rng(0), np.zeros(5, dtype=bool)
    >>> places = rng.random((5, 2))
    >>> edges = Edges(5, first[:9], second[:9], np.ones(9))
    >>> held(edges, places, nobody, rng)
    array([ True,  True,  True,  True,  True])
    >>> held(Edges(5, first[:8], second[:8], np.ones(8)), places, nobody, rng).sum()
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
    found[rows[_affine_part(inside, shaken, kernel, favoured[rows], rng)]] = True
    return found


def _core(edges: Edges, dim: int) -> IntArray:
    """Leave out, again and again, sensors with `dim` distances to the others or fewer."""
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
    """Edges between some vertices, which are counted anew."""
    place = np.full(edges.n, -1)
    place[rows] = np.arange(len(rows))
    first, second = place[edges.first], place[edges.second]
    both = (first >= 0) & (second >= 0)
    return Edges(len(rows), first[both], second[both], edges.squares[both])


def _stress(edges: Edges, positions: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Random forces along the edges that balance, each over the length of its edge."""
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
    favoured: BoolArray,
    rng: np.random.Generator,
) -> BoolArray:
    """Most sensors on which the kernel is one affine function of the positions."""
    n, dim = positions.shape
    around = edges.incidence @ edges.incidence.T
    known = np.column_stack((positions - positions.mean(axis=0), np.ones(n)))
    best, most = np.zeros(n, dtype=bool), (0, 0)
    seeds = np.concatenate((rng.permutation(np.flatnonzero(favoured))[:SEEDS], rng.permutation(n)))
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
        fixing = int(favoured[agree].sum())
        size = (fixing if fixing > dim else 0, int(agree.sum()))
        if size > most:
            best, most = agree, size
        if 2 * most[1] > n and not favoured[~best].any():
            break
    return best
