"""Threads change the time, not the result."""

import os
import subprocess
import sys
from threading import Barrier, get_ident

import joblib
import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_info, threadpool_limits

import unbend
from tests.loops import each
from unbend.datasets import swiss_roll
from unbend.estimators.landmarks import choose_landmarks
from unbend.gram import centered
from unbend.graphs import Paths, geodesics, undirected
from unbend.methods import lle
from unbend.neighbors import PointSpace, neighbors
from unbend.registry import METHODS
from unbend.validation.threads import THREADS_PER_CORE, available_cores, in_new_thread, threads

ROLL = swiss_roll(1500, random_state=0).points
CLASSES = {entry.class_name: entry.load() for entry in METHODS}
THREADED = {name: method for name, method in CLASSES.items() if hasattr(method(), "n_jobs")}


def fitted(name, **options):
    more = {"landmarks": "random"} if name == "LandmarkIsomap" else {}
    target = (ROLL[:, 1] > 10).astype(int) if name == "SupervisedLLE" else None
    return THREADED[name](**more, **options).fit(ROLL, target)


# Semidefinite programs take most of the time: they come last, and are slow.
@each("name", sorted(THREADED, key=lambda name: "MVU" in name), keep=-2)
def test_fit_and_transform_give_the_same_bits_for_any_n_jobs(name):
    new = swiss_roll(300, random_state=1).points
    one, two = (fitted(name, n_jobs=jobs) for jobs in (1, 2))
    assert one.embedding_.tobytes() == two.embedding_.tobytes()
    assert one.transform(new).tobytes() == two.transform(new).tobytes()


def test_threads_share_neighbourhoods_and_change_none(monkeypatch):
    alone = fitted("LLE", n_jobs=1).embedding_
    workers, map_parts = set(), neighbors.map_parts
    together = Barrier(3)

    def watched(function, parts, threads):
        def noted(part):
            # Each of three threads waits for the two others.
            if len(workers) < 3:
                workers.add(get_ident())
                together.wait(timeout=60)
            return function(part)

        return map_parts(noted, parts, threads)

    monkeypatch.setattr(neighbors, "map_parts", watched)
    monkeypatch.setattr(lle, "AT_ONCE", 64)
    assert fitted("LLE", n_jobs=3).embedding_.tobytes() == alone.tobytes()
    assert len(workers) == 3


def test_threads_foresee_landmarks_and_change_none(monkeypatch):
    """Each landmark is farthest from those before; half the runs of paths find all of them."""
    lengths = undirected(PointSpace(swiss_roll(3000, random_state=2).points).nearest(8)).lengths
    runs, fill = [], Paths.fill

    def count(paths, distances, sources, threads=1):
        runs.append(len(sources))
        fill(paths, distances, sources, threads)

    monkeypatch.setattr(Paths, "fill", count)
    found = {}
    for count_of_threads in (1, 2, 3):
        runs.clear()
        rng = np.random.default_rng(0)
        chosen = choose_landmarks("maxmin", 40, None, lengths, rng, count_of_threads)
        found[count_of_threads] = chosen
        assert len(runs) <= 1.3 * 40 / count_of_threads
        assert sum(runs) <= 1.3 * 40
    landmarks, distances = found[1]
    nearest = np.minimum.accumulate(distances, axis=0)
    np.testing.assert_array_equal(landmarks[1:], nearest[:-1].argmax(axis=1))
    np.testing.assert_array_equal(distances, geodesics(lengths, landmarks))
    for more in (2, 3):
        np.testing.assert_array_equal(found[more][0], landmarks)
        assert found[more][1].tobytes() == distances.tobytes()


@pytest.mark.parametrize(
    "name", ["Isomap", "LLE", "LTSA", "HessianLLE", "RigidAlignment", "LaplacianEigenmaps"]
)
def test_subspaces_agree_across_blas_thread_counts(name):
    embeddings = []
    for count in (1, 2):
        with threadpool_limits(count, "blas"):
            embeddings.append(fitted(name, n_neighbors=8).embedding_)
    assert np.sin(subspace_angles(*embeddings)).max() <= 1e-8


def test_threads_of_blas_are_left_alone():
    from threadpoolctl import threadpool_info

    def counts():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = counts()
    unbend.LTSA(n_jobs=2).fit(ROLL[:400])
    assert counts() == before


@each("n_jobs", [-1, -2, -3, -1000])
@each("cores", [1, 2, 6])
def test_negative_n_jobs_follow_joblib(n_jobs, cores, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: cores)
    assert threads(n_jobs) == max(1, cores + 1 + n_jobs)
    monkeypatch.undo()
    assert threads(n_jobs) == joblib.effective_n_jobs(n_jobs)


def test_n_jobs_are_at_most_a_few_threads_per_core():
    most = THREADS_PER_CORE * available_cores()
    assert [threads(n) for n in (None, 1, 2, most, most + 1, 10**30)] == [1, 1, 2, most, most, most]


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_n_jobs_that_are_no_count_raise(n_jobs):
    error = ValueError if n_jobs == 0 else TypeError
    with pytest.raises(error, match=r"n_jobs=.* it must be an integer other than 0 or None"):
        threads(n_jobs)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_cores_that_the_process_may_not_use_are_not_counted():
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from unbend.validation.threads import available_cores, in_new_thread, threads;"
        "assert (available_cores(), threads(-1), threads(-2)) == (1, 1, 1)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_comparison_with_thousands_of_jobs_finishes():
    found = unbend.compare(ROLL[:200], ["PCA", "ClassicalMDS"], n_jobs=40_000)
    assert sorted(trial.title for trial in found.trials) == ["ClassicalMDS", "PCA"]


def test_openmp_in_a_new_thread_takes_no_more_threads_than_it_is_given():
    """A new thread does not inherit the limits of its caller, and idle threads spin."""
    import sklearn.cluster  # noqa: F401 (loads OpenMP)

    def most():
        pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"]
        return max(pools)

    assert in_new_thread(most, 1) == 1


def test_linear_methods_give_the_same_bits_where_threads_share_their_rows():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20_000, 60)) + 1.0  # three blocks
    one, two = (unbend.PCA(3, n_jobs=jobs).fit(points) for jobs in (1, 2))
    assert one.embedding_.tobytes() == two.embedding_.tobytes()
    assert one.noise_variance_ == two.noise_variance_
    far = points - points.mean(axis=0)
    exact = np.linalg.svd(far, full_matrices=False)[1][:3]
    np.testing.assert_allclose(two.singular_values_, exact, rtol=1e-12)


@pytest.mark.parametrize("largest", [4000, 500])
def test_kernels_give_the_same_bits_where_threads_share_their_rows(largest, monkeypatch):
    # Beyond so many rows products are those of BLAS, by blocks of columns.
    monkeypatch.setattr(centered, "LARGE_ROWS", largest)
    monkeypatch.setattr(centered, "PRODUCT_COLUMNS", 256)
    points = np.random.default_rng(0).normal(size=(1100, 5))
    one, two = (unbend.KernelPCA(3, gamma=0.1, n_jobs=jobs).fit(points) for jobs in (1, 2))
    assert one.embedding_.tobytes() == two.embedding_.tobytes()
    kernel = np.exp(-0.1 * cdist(points, points, "sqeuclidean"))
    middle = np.eye(1100) - 1.0 / 1100
    values = np.linalg.eigvalsh(middle @ kernel @ middle)[: -3 - 1 : -1]
    np.testing.assert_allclose(two.eigenvalues_, values, rtol=1e-10)
