"""Shortest paths: the compiled kernel and its twin against Floyd and Warshall."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.oracles.neighbors import shortest_paths
from tests.stages.drawn import LAW, random_graph, rngs, sparse
from unbend._kernels import reference
from unbend.graphs import geodesics

# `unbend.graphs` holds the function under the module's name.
module = import_module("unbend.graphs.geodesics")


def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def kernels(name):
    return native() if name == "native" else reference


def paths_of(name, dtype):
    found = kernels(name)
    return found.ShortestPaths32 if dtype == np.float32 else found.ShortestPaths64


every_kernel = pytest.mark.parametrize("name", ["native", "reference"])
every_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def run(name, graph, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "kernels", kernels(name))
        return geodesics(graph, **options)


def rounding(n, dtype):
    """At most n lengths, rounded and summed: n roundings each, here and in the oracle."""
    return 2 * n * float(np.finfo(dtype).eps)


@every_kernel
@every_type
@LAW
@given(rngs, st.integers(1, 25), st.integers(0, 4), st.booleans())
def test_all_paths_equal_those_of_floyd_and_warshall(name, dtype, rng, n, edges, both_ways):
    lengths = random_graph(rng, n, edges * n)
    lengths = np.minimum(lengths, lengths.T) if both_ways else lengths
    found = run(name, sparse(lengths), dtype=dtype)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, shortest_paths(lengths), rounding(n, dtype))


@every_kernel
def test_a_path_along_zeros_has_length_zero_and_no_path_is_infinite(name):
    lengths = np.full((5, 5), np.inf)
    lengths[0, 1] = lengths[1, 2] = 0.0
    lengths[2, 0] = 3.0
    lengths[3, 3] = 1.0
    expected = np.full((5, 5), np.inf)
    expected[:3, :3] = [[0, 0, 0], [3, 0, 0], [3, 3, 0]]
    np.fill_diagonal(expected, 0)
    assert (run(name, sparse(lengths)) == expected).all()


@LAW
@given(rngs, st.integers(1, 200), st.integers(1, 6), st.integers(0, 250))
def test_the_compiled_kernel_equals_dijkstra_to_the_last_bit(rng, n, edges, span):
    """Both give the least floating-point sum over all paths; lanes and buckets must not show."""
    lengths = random_graph(rng, n, edges * n)
    lengths = np.where(np.isfinite(lengths), lengths * 10.0 ** rng.uniform(-span, 0), np.inf)
    graph = sparse(lengths * np.where(rng.random((n, n)) < 0.1, 10.0 ** rng.uniform(0, span), 1.0))
    found, expected = (run(name, graph) for name in ("native", "reference"))
    assert found.tobytes() == expected.tobytes()


@every_kernel
@LAW
@given(rngs, st.integers(1, 25), st.integers(0, 90))
def test_some_sources_give_their_rows_in_any_order(name, rng, n, count):
    graph = sparse(random_graph(rng, n, 3 * n))
    sources = rng.integers(0, n, count)
    whole = run(name, graph)
    assert (run(name, graph, sources=sources) == whole[sources]).all()


@every_type
@LAW
@given(rngs, st.integers(1, 60))
def test_the_number_of_threads_does_not_change_a_bit(dtype, rng, n):
    graph = sparse(random_graph(rng, n, 4 * n))
    one, two, many = (run("native", graph, dtype=dtype, threads=t) for t in (1, 2, 5))
    assert one.tobytes() == two.tobytes() == many.tobytes()


def test_distances_along_a_cycle_longer_than_all_buckets_are_exact():
    n = 1500
    i = np.arange(n)
    ends = (np.concatenate((i, i)), np.concatenate(((i + 1) % n, (i - 1) % n)))
    steps = np.minimum(i, n - i)
    expected = np.stack([np.roll(steps, shift) for shift in i])
    for name in ("native", "reference"):
        found = run(name, csr_array((np.ones(2 * n), ends), shape=(n, n)), threads=2)
        assert (found == expected).all()  # whole numbers: exact


@every_kernel
def test_a_callback_that_raises_stops_the_work(name):
    n = 30_000 if name == "native" else 3000
    i = np.arange(n)
    ring = csr_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n))
    sources = i[:: n // 3000]
    asked = []

    def refuse(done, total):
        asked.append((done, total))
        raise KeyboardInterrupt

    paths = paths_of(name, np.float64)(
        ring.indptr.astype(np.int64), ring.indices.astype(np.int32), ring.data
    )
    with pytest.raises(KeyboardInterrupt):
        paths.run(sources.astype(np.int32), 2, refuse, np.empty((len(sources), n)))
    assert len(asked) == 1
    assert 0 < asked[0][0] < asked[0][1] == len(sources)


@every_kernel
@every_type
@LAW
@given(rngs, st.integers(2, 20))
def test_arrays_may_be_read_only_strided_or_of_other_types(name, dtype, rng, n):
    graph = sparse(random_graph(rng, n, 3 * n))
    expected = run(name, graph, dtype=dtype)
    strided = [np.repeat(a, 2)[::2] for a in (graph.data, graph.indices, graph.indptr)]
    strided[1], strided[2] = strided[1].astype(np.int64), strided[2].astype(np.int64)
    sources = np.repeat(np.arange(n, dtype=np.int16), 3)[::3]
    for array in (*strided, sources, graph.data, graph.indices, graph.indptr):
        array.setflags(write=False)
    other = csr_array(tuple(strided), shape=(n, n))
    for given_graph in (graph, other):
        found = run(name, given_graph, sources=sources, dtype=dtype)
        assert found.tobytes() == expected.tobytes()


@every_kernel
@every_type
def test_a_kernel_fills_the_array_that_it_is_given(name, dtype):
    graph = sparse(random_graph(np.random.default_rng(0), 12, 40))
    row, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    length = graph.data.astype(dtype)
    for array in (row, column, length):
        array.setflags(write=False)
    found = np.full((12, 12), -1, dtype=dtype)
    sources = np.arange(12, dtype=np.int32)
    paths_of(name, dtype)(row, column, length).run(sources, 2, lambda *_: None, found)
    assert (found == run(name, graph, dtype=dtype)).all()


def test_the_kernel_refuses_a_result_array_that_it_would_have_to_copy():
    graph = sparse(random_graph(np.random.default_rng(0), 6, 20))
    row, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    paths, sources = native().ShortestPaths64(row, column, graph.data), np.arange(6, dtype=np.int32)
    for wrong in (np.empty((12, 6))[::2], np.empty((6, 6), dtype=int), np.empty(36)):
        with pytest.raises(TypeError):
            paths.run(sources, 1, lambda *_: None, wrong)


@pytest.mark.parametrize("source", [-1, 3, 99999])
def test_sources_that_are_no_vertices_are_refused(source):
    with pytest.raises(ValueError, match="from 0 to 2"):
        geodesics(csr_array(np.ones((3, 3))), np.array([source]))


@pytest.mark.parametrize(
    "lengths", [np.ones((3, 2)), [[0.0, -1.0], [1.0, 0.0]], [[0.0, np.nan], [1.0, 0.0]]]
)
def test_lengths_that_are_none_are_refused(lengths):
    with pytest.raises(ValueError, match=r"square|non-negative|NaN"):
        geodesics(csr_array(np.array(lengths)))


def test_a_long_way_in_one_direction_is_numbered_once():
    n = 3000
    i = np.arange(n - 1)
    one_way = csr_array((np.ones(n - 1), (i, i + 1)), shape=(n, n))
    for sources in ([0], [n - 1], [5, 7]):
        found = run("native", one_way, sources=np.array(sources))
        expected = np.arange(n) - np.array(sources)[:, None]
        assert (found == np.where(expected >= 0, expected, np.inf)).all()
