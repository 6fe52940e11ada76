"""Quality measures that comparisons rank methods by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unbend.arrays import FloatArray, IntArray
from unbend.quality import (
    color_mixing,
    continuity,
    coordinate_redundancy,
    coranking,
    local_isometry_error,
    neighborhood_hit,
    occupancy,
    procrustes,
    trustworthiness,
)
from unbend.quality._spaces import check_points
from unbend.selection.inputs import Data
from unbend.validation.arrays import check_labels, check_same_rows
from unbend.validation.scalars import check_integer

# Neighbours with which colours and derivatives are looked at.
NEAR = 10
# Whether more of a measure is better.
BETTER = {
    "trustworthiness": True,
    "continuity": True,
    "r_nx_auc": True,
    "redundancy": False,
    "occupancy": True,
    "procrustes": False,
    "color_mixing": False,
    "isometry_error": False,
    "neighborhood_hit": True,
}
# Weight of a measure in the mean of the ranks. Redundancy and occupancy decide what is degenerate
# and nothing else: 0.05 is not worse than 0.
WEIGHTS = {name: 0.0 if name in ("redundancy", "occupancy") else 1.0 for name in BETTER}
# A coordinate that is a function of another, and points that coincide in a few clumps.
REDUNDANT, SPECKS = 0.8, 0.1


def degeneracy(measures: Mapping[str, float]) -> int:
    """How little a picture shows: 2 if it is a few specks, 1 if coordinates are redundant, or 0.

    Examples
    --------
    >>> degeneracy({"redundancy": 0.97, "occupancy": 0.6}), degeneracy({"occupancy": 0.01})
    (1, 2)
    """
    if measures.get("occupancy", 1.0) < SPECKS:
        return 2
    return int(measures.get("redundancy", 0.0) > REDUNDANT)


def make_judge(data: Data, truth: Any, labels: Any, k: int, max_rows: int) -> "Judge":
    """Check what all trials are measured by: it would fail in each of them."""
    truth, labels = data.take(truth), data.take(labels)
    if truth is not None:
        truth = check_points("truth", truth)
        check_same_rows(truth=truth, X=range(data.n))
        if (truth == truth[0]).all():
            raise ValueError("All rows of truth are equal. Pass at least two different points.")
    if labels is not None:
        check_labels("labels", labels, data.n)
    size = min(check_integer("n_neighbors", k), (data.n - 1) // 2)
    rows = check_integer("max_rows", max_rows)
    return Judge(data.complete, data.complete.distinct()[0], truth, labels, size, rows)


@dataclass(frozen=True, eq=False)
class Judge:
    """What embeddings of the data are measured by.

    Attributes
    ----------
    space : Space
        The data, of which all distances are known.
    distinct : array (m,)
        First rows of those that are equal.
    truth, labels : array, or None
        True coordinates and classes.
    k, max_rows : int
        Size of neighbourhoods, and rows that are centres of some.
    """

    space: Any
    distinct: IntArray
    truth: Any
    labels: Any
    k: int
    max_rows: int

    def __call__(self, found: FloatArray) -> dict[str, float]:
        """Measure one."""
        trust, continuous = (
            measure(self.space, found, n_neighbors=self.k, max_rows=self.max_rows)
            for measure in (trustworthiness, continuity)
        )
        measures = {
            "trustworthiness": float(trust),
            "continuity": float(continuous),
            "r_nx_auc": float(coranking(self.space, found, max_rows=self.max_rows).r_nx_auc),
        }
        near = min(NEAR, len(found) - 1)
        if found.shape[1] > 1:
            redundancy = coordinate_redundancy(found, n_neighbors=near)
            measures["redundancy"] = float(redundancy.max())
        if len(self.distinct) > 1:
            measures["occupancy"] = occupancy(found[self.distinct])
        if self.truth is not None:
            measures |= self._against_truth(found, near)
        if self.labels is not None:
            hit = neighborhood_hit(found, self.labels, n_neighbors=self.k)
            measures["neighborhood_hit"] = float(hit)
        return measures

    def _against_truth(self, found: FloatArray, near: int) -> dict[str, float]:
        measures = {
            "procrustes": float(procrustes(self.truth, found, kind="affine")),
            "color_mixing": float(color_mixing(found, self.truth, n_neighbors=near)),
        }
        # A derivative takes as many neighbours as the truth has columns.
        enough = max(near, self.truth.shape[1])
        if enough < len(found):
            error = local_isometry_error(self.truth, found, n_neighbors=enough)
            measures["isometry_error"] = float(error)
        return measures
