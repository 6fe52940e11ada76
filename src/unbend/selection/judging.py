"""Quality measures that comparisons rank methods by."""

from dataclasses import dataclass
from typing import Any

from unbend.arrays import FloatArray
from unbend.quality import (
    color_mixing,
    continuity,
    coordinate_redundancy,
    coranking,
    local_isometry_error,
    neighborhood_hit,
    procrustes,
    trustworthiness,
)
from unbend.quality._spaces import check_points
from unbend.validation.arrays import check_labels, check_same_rows
from unbend.validation.scalars import check_integer

# Neighbours with which colours and derivatives are looked at.
NEAR = 10
# Whether more of a measure is better; others are shown but do not rank.
BETTER = {
    "trustworthiness": True,
    "continuity": True,
    "r_nx_auc": True,
    "redundancy": False,
    "procrustes": False,
    "color_mixing": False,
    "isometry_error": False,
    "neighborhood_hit": True,
}


def make_judge(points: FloatArray, truth: Any, labels: Any, k: int, max_rows: int) -> "Judge":
    """Check what all trials are measured by: it would fail in each of them."""
    n = len(points)
    if truth is not None:
        truth = check_points("truth", truth)
        check_same_rows(truth=truth, X=points)
        if (truth == truth[0]).all():
            raise ValueError("All rows of truth are equal. Pass at least two different points.")
    if labels is not None:
        check_labels("labels", labels, n)
    size = min(check_integer("n_neighbors", k), (n - 1) // 2)
    return Judge(points, truth, labels, size, check_integer("max_rows", max_rows))


@dataclass(frozen=True, eq=False)
class Judge:
    """What embeddings of the points are measured by."""

    points: FloatArray
    truth: Any
    labels: Any
    k: int
    max_rows: int

    def __call__(self, found: FloatArray) -> dict[str, float]:
        """Measure one."""
        trust, continuous = (
            measure(self.points, found, n_neighbors=self.k, max_rows=self.max_rows)
            for measure in (trustworthiness, continuity)
        )
        measures = {
            "trustworthiness": float(trust),
            "continuity": float(continuous),
            "r_nx_auc": float(coranking(self.points, found, max_rows=self.max_rows).r_nx_auc),
        }
        near = min(NEAR, len(found) - 1)
        if found.shape[1] > 1:
            redundancy = coordinate_redundancy(found, n_neighbors=near)
            measures["redundancy"] = float(redundancy.max())
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
