"""The peers: one adapter each, imported only where it runs."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.contenders import Facts, Job, Run, bandwidth, estimator_work, gamma, nothing

PEERS = (
    "scikit-learn",
    "scipy",
    "tapkee",
    "pynndescent",
    "faiss-cpu",
    "hnswlib",
    "pydiffmap",
    "umap-learn",
)


def installed() -> dict[str, str | None]:
    """Version of every peer, None where it is not installed."""
    return {name: _version(name) for name in PEERS}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def prepare(who: str, job: Job) -> tuple[Run, Facts]:
    """Return a peer's work."""
    return ADAPTERS[who](job)


def scikit_learn(job: Job) -> tuple[Run, Facts]:
    """scikit-learn's estimator of the same method, with its own choice of solver."""
    if job.method == "kNN":
        return lambda: _scikit_nearest(job), nothing
    return estimator_work(_scikit_estimator(job), job)


def _scikit_estimator(job: Job) -> Any:
    from sklearn import cluster, decomposition, manifold

    local = {"n_components": job.d, "n_neighbors": job.k, "n_jobs": job.threads}
    match job.method:
        case "PCA":
            return decomposition.PCA(job.d)
        case "KernelPCA":
            return decomposition.KernelPCA(job.d, kernel="rbf", gamma=gamma(job))
        case "ClassicalMDS":
            return manifold.ClassicalMDS(job.d)
        case "Isomap":
            return manifold.Isomap(**local)
        case "LaplacianEigenmaps":
            # It counts the point itself as its first neighbour.
            return manifold.SpectralEmbedding(**local | {"n_neighbors": job.k + 1}, random_state=0)
        case "SpectralClustering":
            return cluster.SpectralClustering(
                10,
                affinity="nearest_neighbors",
                n_neighbors=job.k + 1,
                random_state=0,
                n_jobs=job.threads,
            )
        case _:
            method = {"LLE": "standard", "LTSA": "ltsa", "HessianLLE": "hessian"}[job.method]
            return manifold.LocallyLinearEmbedding(**local, method=method, random_state=0)


def _scikit_nearest(job: Job) -> Any:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=job.k, n_jobs=job.threads)
    return search.fit(job.points).kneighbors(return_distance=False)


def scipy(job: Job) -> tuple[Run, Facts]:
    """SciPy's KD-tree."""
    from scipy.spatial import cKDTree

    def run() -> Any:
        return cKDTree(job.points).query(job.points, job.k + 1, workers=job.threads)[1]

    return run, nothing


def tapkee(job: Job) -> tuple[Run, Facts]:
    """Tapkee; no option for threads, and its Gaussian affinities where ours are zero or one."""
    import tapkee as library

    names = {
        "LandmarkIsomap": "l-isomap",
        "HessianLLE": "hlle",
        "LaplacianEigenmaps": "la",
        "ClassicalMDS": "mds",
    }
    options: dict[str, Any] = {"method": names.get(job.method, job.method.lower())}
    if job.method not in ("PCA", "ClassicalMDS"):
        options["num_neighbors"] = job.k
    if job.method == "LandmarkIsomap":
        options["landmark_ratio"] = job.options["n_landmarks"] / len(job.points)
    if job.method == "LaplacianEigenmaps":
        options["gaussian_kernel_width"] = bandwidth(job)
    columns = np.asfortranarray(job.points.T)
    return lambda: library.embed(columns, target_dimension=job.d, **options), nothing


def umap(job: Job) -> tuple[Run, Facts]:
    """UMAP with its defaults and our k: another method, what a user would pick instead."""
    from umap import UMAP

    model = UMAP(n_neighbors=job.k, n_components=job.d, random_state=0, n_jobs=1)
    return estimator_work(model, job)


def pydiffmap(job: Job) -> tuple[Run, Facts]:
    """Diffusion maps of our affinities: its kernel is exp(−d²/4ε), its k counts the point."""
    from pydiffmap.diffusion_map import DiffusionMap

    model = DiffusionMap.from_sklearn(
        alpha=1.0, k=job.k + 1, epsilon=bandwidth(job) / 4, n_evecs=job.d
    )
    return lambda: model.fit_transform(job.points), nothing


def pynndescent(job: Job) -> tuple[Run, Facts]:
    """Approximate neighbours by descent."""
    from pynndescent import NNDescent

    def run() -> Any:
        index = NNDescent(job.points, n_neighbors=job.k + 1, random_state=0, n_jobs=job.threads)
        return index.neighbor_graph[0]

    return run, nothing


def faiss(job: Job) -> tuple[Run, Facts]:
    """Brute force in single precision."""
    import faiss as library

    library.omp_set_num_threads(job.threads)

    def run() -> Any:
        rows = np.ascontiguousarray(job.points, dtype=np.float32)
        index = library.IndexFlatL2(rows.shape[1])
        index.add(rows)
        return index.search(rows, job.k + 1)[1]

    return run, nothing


def hnswlib(job: Job) -> tuple[Run, Facts]:
    """Approximate neighbours by a small-world graph, with its defaults and ef = 50."""
    import hnswlib as library

    def run() -> Any:
        index = library.Index(space="l2", dim=job.points.shape[1])
        index.init_index(max_elements=len(job.points), random_seed=0)
        index.set_num_threads(job.threads)
        index.add_items(job.points)
        index.set_ef(50)
        return index.knn_query(job.points, job.k + 1)[0]

    return run, nothing


ADAPTERS: dict[str, Callable[[Job], tuple[Run, Facts]]] = {
    "scikit-learn": scikit_learn,
    "scipy": scipy,
    "tapkee": tapkee,
    "umap-learn": umap,
    "pydiffmap": pydiffmap,
    "pynndescent": pynndescent,
    "faiss-cpu": faiss,
    "hnswlib": hnswlib,
}
