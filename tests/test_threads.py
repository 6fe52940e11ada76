"""Threads change the time, not the result."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from threadpoolctl import threadpool_limits

import unbend
from unbend.datasets import swiss_roll
from unbend.registry import METHODS

ROLL = swiss_roll(1500, random_state=0).points
CLASSES = {entry.class_name: entry.load() for entry in METHODS}
THREADED = {name: method for name, method in CLASSES.items() if hasattr(method(), "n_jobs")}


def fitted(name, **options):
    more = {"landmarks": "random"} if name == "LandmarkIsomap" else {}
    target = (ROLL[:, 1] > 10).astype(int) if name == "SupervisedLLE" else None
    return THREADED[name](**more, **options).fit(ROLL, target)


@pytest.mark.parametrize("name", sorted(THREADED))
def test_a_fit_and_its_new_rows_are_the_same_bits_for_any_n_jobs(name):
    new = swiss_roll(300, random_state=1).points
    one, two = (fitted(name, n_jobs=jobs) for jobs in (1, 2))
    assert one.embedding_.tobytes() == two.embedding_.tobytes()
    assert one.transform(new).tobytes() == two.transform(new).tobytes()


@pytest.mark.parametrize("name", ["Isomap", "LLE", "LTSA", "HessianLLE", "LaplacianEigenmaps"])
def test_subspaces_agree_across_blas_thread_counts(name):
    embeddings = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            embeddings.append(fitted(name, n_neighbors=8).embedding_)
    assert np.sin(subspace_angles(*embeddings)).max() <= 1e-8


def test_threads_of_blas_are_left_alone():
    from threadpoolctl import threadpool_info

    def counts():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = counts()
    unbend.LTSA(n_jobs=2).fit(ROLL[:400])
    assert counts() == before
