"""One contender's work on one case, made ready outside the clock."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

# Rows of the call before the clock starts: imports, compilation by numba, thread pools.
WARM_ROWS = 300


@dataclass(frozen=True, eq=False)
class Job:
    """What every contender is given."""

    method: str
    points: NDArray[Any]
    k: int
    d: int
    threads: int
    options: dict[str, Any] = field(default_factory=dict)
    new: NDArray[Any] | None = None

    def small(self) -> "Job":
        """Return a job of a few of the rows, for the warm-up."""
        step = max(1, len(self.points) // WARM_ROWS)
        new = None if self.new is None else self.new[:50]
        options = dict(self.options)
        if "n_landmarks" in options:
            options["n_landmarks"] = min(options["n_landmarks"], 50)
        return replace(self, points=self.points[::step][:WARM_ROWS], new=new, options=options)


Run = Callable[[], NDArray[Any]]
Facts = Callable[[], dict[str, Any]]


def nothing() -> dict[str, Any]:
    """No facts."""
    return {}


def estimator_work(estimator: Any, job: Job, facts: Facts = nothing) -> tuple[Run, Facts]:
    """Time `transform` if there are new rows, else the fit and its result."""
    if job.new is not None:
        estimator.fit(job.points)
        return lambda: estimator.transform(job.new), facts
    whole = estimator.fit_predict if job.method == "SpectralClustering" else estimator.fit_transform
    return lambda: whole(job.points), facts


def bandwidth(job: Job) -> float:
    """Mean squared distance of neighbours: the t of exp(−d²/t), the same for all contenders."""
    distances, _ = cKDTree(job.points).query(job.points[:2000], job.k + 1)
    return float(np.mean(distances[:, 1:] ** 2))


def gamma(job: Job) -> float:
    """Width of the radial kernel: one over the mean squared distance of rows."""
    return 0.5 / float(job.points.var(axis=0).sum())


def prepare(who: str, job: Job) -> tuple[Run, Facts]:
    """Return what is to be timed, and what the contender can tell afterwards."""
    from benchmarks import ours, peers

    if who in ("unbend", "exact"):
        return ours.prepare(job, exact=who == "exact")
    return peers.prepare(who, job)
