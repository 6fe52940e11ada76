"""Our side of every case."""

from typing import Any

import unbend
from benchmarks.contenders import Facts, Job, Run, bandwidth, estimator_work, gamma, nothing
from unbend.eigen import Dense, Lanczos, ShiftInvert

# Up to here the exact answer is LAPACK's; beyond, a far tighter solve.
DENSE_ROWS = 2000
TOP = ("Isomap", "LandmarkIsomap", "ClassicalMDS", "KernelPCA")


def _own_options(job: Job) -> dict[str, Any]:
    """Return what makes the problem the same as the peers'."""
    match job.method:
        case "KernelPCA":
            return {"kernel": "rbf", "gamma": gamma(job)}
        case "LaplacianEigenmaps":
            return {"symmetrization": "mean"}  # as scikit-learn's affinities
        case "DiffusionMaps":
            return {"bandwidth": bandwidth(job)}
        case "SpectralClustering":
            return {"n_clusters": 10, "random_state": 0}
        case _:
            return {}


def _exact_options(job: Job) -> dict[str, Any]:
    if job.method == "PCA":
        return {"svd_solver": "full"}
    if len(job.points) <= DENSE_ROWS:
        return {"eigen_solver": Dense()}
    if job.method in TOP:
        return {"eigen_solver": Lanczos(tol=1e-13)}
    return {"eigen_solver": ShiftInvert(tol=1e-11)}


def prepare(job: Job, exact: bool = False) -> tuple[Run, Facts]:
    """Return our work, and the facts of the report that limits and figures need."""
    if job.method == "kNN":
        return lambda: _nearest(job), nothing
    options = _own_options(job) | job.options | (_exact_options(job) if exact else {})
    if job.method != "SpectralClustering":
        options["n_components"] = job.d
    if job.method not in ("PCA", "ClassicalMDS", "KernelPCA"):
        options |= {"n_neighbors": job.k, "n_jobs": job.threads}
    estimator = getattr(unbend, job.method)(**options)

    def facts() -> dict[str, Any]:
        return _report_facts(getattr(estimator, "report_", None))

    return estimator_work(estimator, job, facts)


def _nearest(job: Job) -> Any:
    from unbend.neighbors import PointSpace

    found = PointSpace(job.points, workers=job.threads).nearest(job.k)
    return found.indices.reshape(len(job.points), job.k)


def _report_facts(report: Any) -> dict[str, Any]:
    """Seconds of every stage, and the spectrum's residual, solver and factor."""
    if report is None:
        return {}
    facts: dict[str, Any] = {"stages": {s.name: round(s.seconds, 4) for s in report.stages}}
    for stage in report.stages:
        if stage.name == "spectrum":
            if stage.facts.get("residuals"):
                facts["residual"] = max(stage.facts["residuals"])
            facts |= {
                name: stage.facts[name]
                for name in ("solver", "factor_entries")
                if name in stage.facts
            }
    return facts
