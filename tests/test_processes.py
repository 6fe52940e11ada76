"""Fits in forked and started processes finish, with the bits of their parent.

Every case runs as a script of its own, in a session that is killed after 20 seconds, or after as
many times longer as there are processes for each core.
"""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.loops import sampled

LIMIT = 20 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))

FITS = """
import os, sys, threading
import numpy as np
import unbend
from unbend import quality
from unbend.datasets import swiss_roll

ROLL = swiss_roll(700, random_state=0).points
MANY = np.random.default_rng(0).normal(size=(700, 40))

def embeddings(n_jobs=2):
    yield unbend.Isomap(n_jobs=n_jobs).fit(ROLL).transform(ROLL[:100])
    yield unbend.LTSA(n_neighbors=8, n_jobs=n_jobs).fit(ROLL).embedding_
    yield unbend.LLE(n_jobs=n_jobs).fit(MANY).embedding_
    yield unbend.MetricMDS(max_iter=3, n_jobs=n_jobs).fit(ROLL[:300]).embedding_
    yield np.array(quality.trustworthiness(ROLL, ROLL[:, :2], n_neighbors=8, threads=2))

def bits(n_jobs=2):
    return b"".join(np.ascontiguousarray(found).tobytes() for found in embeddings(n_jobs))

def forked(work):
    child = os.fork()
    if child == 0:
        done = 1
        try:
            done = 0 if work() else 2
        finally:
            os._exit(done)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def run(script: str, path: Path, **environment: str | None) -> None:
    """Run a script, without a variable where its value is None; fail if it hangs."""
    file = path / "script.py"
    file.write_text(FITS + textwrap.dedent(script))
    # OpenMP threads of scikit-learn that spin would keep others from working.
    given = {**os.environ, "PYTHONWARNINGS": "ignore", "OMP_WAIT_POLICY": "passive", **environment}
    variables = {name: value for name, value in given.items() if value is not None}
    process = subprocess.Popen(
        [sys.executable, str(file)],
        env=variables,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"the script hangs: {output}")
    assert process.returncode == 0, output


# OpenBLAS starts a thread per core unless an environment variable limits it.
@sampled("blas_threads", ["1", None])
def test_a_forked_child_and_its_child_give_the_bits_of_the_parent(blas_threads, tmp_path):
    script = """
    expected = bits()
    same = lambda: bits() == expected
    assert forked(lambda: same() and forked(same) == 0) == 0
    assert same()
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS=blas_threads)


def test_clusters_that_scikit_learn_finds_with_openmp_are_found_in_a_forked_child(tmp_path):
    script = """
    from unbend.sklearn import SpectralClustering
    def clusters():
        landmarks = unbend.LandmarkIsomap(landmarks="kmeans", n_landmarks=20).fit(ROLL)
        ours = unbend.SpectralClustering(n_clusters=3).fit(ROLL)
        theirs = SpectralClustering(3, affinity="nearest_neighbors", random_state=0).fit(MANY)
        return [landmarks.embedding_.tobytes(), ours.labels_.tobytes(), theirs.labels_.tobytes()]
    expected = clusters()
    assert forked(lambda: clusters() == expected) == 0
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS="1")


def test_a_child_forked_while_another_thread_fits_finishes(tmp_path):
    script = """
    expected = unbend.Isomap(n_jobs=2).fit(ROLL).embedding_
    stop = threading.Event()
    def busy():
        while not stop.is_set():
            unbend.Isomap(n_jobs=2).fit(ROLL)
    thread = threading.Thread(target=busy)
    thread.start()
    same = lambda: np.array_equal(unbend.Isomap(n_jobs=2).fit(ROLL).embedding_, expected)
    try:
        assert [forked(same) for _ in range(3)] == [0, 0, 0]
    finally:
        stop.set()
        thread.join()
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS="1")


@sampled(("start", "processes"), [("fork", 2), ("spawn", 1), ("forkserver", 1)])
def test_pools_of_processes_give_the_bits_of_the_parent(start, processes, tmp_path):
    script = f"""
    if __name__ == "__main__":
        import multiprocessing
        expected = bits()
        with multiprocessing.get_context({start!r}).Pool({processes}) as pool:
            assert pool.map(bits, [-1, 2]) == [expected, expected]
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS="1")


@pytest.mark.slow
def test_processes_of_loky_give_the_bits_of_the_parent(tmp_path):
    script = """
    if __name__ == "__main__":
        import joblib
        expected = bits()
        found = joblib.Parallel(2, backend="loky")(joblib.delayed(bits)(n) for n in (-1, 2))
        assert found == [expected, expected]
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS="1")


@sampled("n_jobs", [1000, 40_000, 10**12])
def test_more_threads_than_the_system_grants_give_the_same_bits(n_jobs, tmp_path):
    script = f"""
    import resource
    expected = bits(1)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    # Room for the arrays, not for the stacks of many threads.
    resource.setrlimit(resource.RLIMIT_AS, (used + (96 << 20), resource.RLIM_INFINITY))
    assert bits({n_jobs}) == expected
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS="1")


def test_without_a_single_further_thread_the_calling_one_does_all_the_work(tmp_path):
    script = """
    import resource
    from unbend.graphs import geodesics, undirected
    from unbend.neighbors import PointSpace
    lengths = undirected(PointSpace(ROLL[:200]).nearest(8)).lengths
    expected = geodesics(lengths)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (7 << 20), resource.RLIM_INFINITY))
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        pass
    else:
        raise AssertionError("a thread was granted")
    assert geodesics(lengths, threads=1000).tobytes() == expected.tobytes()
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS="1")


def test_a_child_forked_by_a_callback_of_a_fit_finishes_it(tmp_path):
    """The threads that a fit keeps do not exist in the child, which starts others."""
    script = """
    model = unbend.NeighborEmbedding(max_iter=1, perplexity=10, n_jobs=2)
    rows = np.random.default_rng(0).normal(size=(3000, 3))
    expected = model.fit(rows).embedding_.tobytes()
    parent, children = os.getpid(), []
    def callback(iteration, layout):
        if iteration == 100 and os.getpid() == parent:
            child = os.fork()
            if child:
                children.append(child)
    same = model.fit(rows, callback=callback).embedding_.tobytes() == expected
    if os.getpid() != parent:
        os._exit(0 if same else 3)
    assert same and len(children) == 1
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    """
    run(script, tmp_path, OPENBLAS_NUM_THREADS="1")
