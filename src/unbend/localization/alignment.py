"""Where components lie: on their anchors, or side by side."""

from collections.abc import Sequence

import numpy as np

from unbend.arrays import BoolArray, FloatArray

# Spread of anchors across the flat nearest to them, relative, that is rounding.
ROUNDING = 1e-9
# How much better anchors must fit than mirrored ones, in squared errors of one coordinate.
EVIDENCE = 18.0


def onto_anchors(
    positions: FloatArray, known: FloatArray, anchored: BoolArray, error: float
) -> tuple[FloatArray, bool]:
    """Move, turn or mirror positions onto the anchors, if these are enough to say how.

    Anchors within their `error` of a line (plane) fit a mirror image as well, and do not say how.

    Examples
    --------
    >>> import numpy as np
    >>> corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> onto_anchors(corner, corner[:, ::-1] + 5.0, np.ones(3, dtype=bool), 0.1)
    (array([[5., 5.],
           [5., 6.],
           [7., 5.]]), True)
    """
    dim = positions.shape[1]
    if anchored.sum() < dim + 1:
        return positions, False
    here, there = positions[anchored], known[anchored]
    centre, target = here.mean(axis=0), there.mean(axis=0)
    left, values, right = np.linalg.svd((here - centre).T @ (there - target))
    # Turning the last axis round adds four times its share to the squared distance from anchors.
    mirrored = 4.0 * values[-1]
    doubt = EVIDENCE * error**2 / dim if np.isfinite(error) else 0.0
    fixed = mirrored > max(4.0 * ROUNDING * values[0], doubt)
    return (positions - centre) @ (left @ right) + target, bool(fixed)


def side_by_side(parts: Sequence[tuple[FloatArray, bool]]) -> list[FloatArray]:
    """Offsets that put components without anchors beside the others, so that none overlap."""
    fixed = [positions for positions, absolute in parts if absolute]
    edge = float(max((found[:, 0].max() for found in fixed), default=-np.inf))
    offsets: list[FloatArray] = []
    for positions, absolute in parts:
        offset = np.zeros(positions.shape[1])
        if not absolute:
            low, high = positions[:, 0].min(), positions[:, 0].max()
            if np.isfinite(edge):
                gap = 0.1 * max(high - low, 1e-300)
                offset[0] = edge + gap - low
            edge = float(high + offset[0])
        offsets.append(offset)
    return offsets
