"""Distances: square tables and pairs, with and without header."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, save_npz
from scipy.spatial.distance import cdist

import unbend

POINTS = np.random.default_rng(0).standard_normal((7, 3))
DISTANCES = cdist(POINTS, POINTS)
NAMES = [f"p{row}" for row in range(7)]


def lines(rows) -> bytes:
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def frame(**options) -> bytes:
    return pd.DataFrame(DISTANCES, index=NAMES, columns=NAMES).to_csv(**options).encode()


SQUARES = {
    "numbers alone": frame(header=False, index=False),
    "header": frame(index=False),
    "names of rows": frame(header=False),
    "header and names": frame(),
    "header and named names": frame(index_label="name"),
    "numbered by pandas": pd.DataFrame(DISTANCES).to_csv().encode(),
    "numbered header": pd.DataFrame(DISTANCES).to_csv(index=False).encode(),
    "numbered rows": pd.DataFrame(DISTANCES).to_csv(header=False).encode(),
}


@pytest.mark.parametrize("content", SQUARES.values(), ids=SQUARES)
def test_a_square_table_is_read(content, engine):
    assert np.array_equal(unbend.io.read_distances(io.BytesIO(content)), DISTANCES)


def pairs(both: bool, start: int, rows=range(7)):
    return [
        (i + start, j + start, DISTANCES[i, j])
        for i in rows
        for j in rows
        if i < j or (both and i > j)
    ]


@pytest.mark.parametrize("header", [b"", b"i,j,distance\n"])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("start", [0, 1])
def test_all_pairs_give_the_square_table(header, both, start, engine):
    content = header + lines(pairs(both, start)[::-1])
    found = unbend.io.read_distances(io.BytesIO(content))
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found, DISTANCES)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_some_pairs_give_a_graph_with_those_edges(data):
    chosen = data.draw(st.lists(st.sampled_from(pairs(False, 0)), unique=True, min_size=1))
    turned = [(j, i, d) if data.draw(st.booleans()) else (i, j, d) for i, j, d in chosen]
    n = max(max(i, j) for i, j, _ in chosen) + 1
    zero = min(min(i, j) for i, j, _ in chosen)
    shift = 1 if zero == 1 else 0
    found = unbend.io.read_distances(io.BytesIO(b"i,j,d\n" + lines(turned)))
    dense = found if isinstance(found, np.ndarray) else found.toarray()
    expected = np.zeros((n - shift, n - shift))
    for i, j, d in chosen:
        expected[i - shift, j - shift] = expected[j - shift, i - shift] = d
    assert np.array_equal(dense, expected)


def test_three_points_are_distinguished_from_three_pairs():
    square = b"0,3,4\n3,0,5\n4,5,0\n"
    triples = b"0,1,3\n0,2,4\n1,2,5\n"
    assert np.array_equal(
        unbend.io.read_distances(io.BytesIO(square)), unbend.io.read_distances(io.BytesIO(triples))
    )


def test_a_distance_of_zero_stays_an_edge():
    graph = unbend.io.read_distances(io.BytesIO(b"0,1,0\n1,2,5\n2,3,1\n"))
    assert (graph.nnz, graph.shape) == (6, (4, 4))


def test_sparse_files_arrays_and_frames_are_read(tmp_path):
    graph = csr_array(np.where(DISTANCES < 2, DISTANCES, 0))
    save_npz(tmp_path / "g.npz", graph)
    for source in (tmp_path / "g.npz", graph):
        found = unbend.io.read_distances(source)
        assert (found != graph).nnz == 0
    assert np.array_equal(unbend.io.read_distances(DISTANCES), DISTANCES)
    assert np.array_equal(unbend.io.read_distances(pd.DataFrame(DISTANCES)), DISTANCES)
    np.save(tmp_path / "d.npy", DISTANCES)
    assert np.array_equal(unbend.io.read_distances(tmp_path / "d.npy"), DISTANCES)
    with pytest.raises(ValueError, match="holds a sparse matrix, which is not a table"):
        unbend.io.read(tmp_path / "g.npz")


def changed(row, column, value):
    wrong = DISTANCES.astype(object)
    wrong[row, column] = value
    return lines(wrong)


REFUSED = {
    "not symmetric": (changed(0, 3, 9), "is not symmetric"),
    "diagonal": (changed(2, 2, 1), "non-zero diagonal"),
    "negative": (lines(-DISTANCES), "must be non-negative"),
    "infinite": (changed(1, 2, np.inf), "row 2 and column 3 .* is not finite"),
    "not square": (lines(DISTANCES[:5]), "has 5 rows and 7 columns"),
    "words": (b"a,b,c,d\nu,x,1,1\nv,y,2,1\n", "column"),
    "two named lengths": (b"u,x,1\nx,u,2\nu,v,1\n", "between 'x' and 'u': keep one, or pass sym"),
    "no name": (b"a,b,d\nu,x,1\n,u,2\nu,v,1\n", "row 2 of .* lacks the name"),
    "fractions": (b"0,1.5,3\n0,2,4\n", "row 1 of .* numbers of two points"),
    "below zero": (b"0,1,3\n-1,2,4\n", "row 2 of .* numbers of two points"),
    "two lengths": (
        b"0,1,3\n1,0,4\n",
        "two distances between point 1 .counted from 0. and point 0",
    ),
    "own distance": (b"0,1,3\n1,1,4\n", "row 2 of .* other than zero from itself"),
    "negative pair": (b"0,1,-3\n1,2,4\n0,3,4\n0,4,1\n", "must be non-negative"),
    "infinite pair": (b"0,1,3\n1,2,inf\n", "row 2 of .* is not finite"),
    "no pair": (b"0,0,0\n0,0,0\n", "no pair of different points"),
    "orders": (b",b,a\na,1,0\nb,0,1\n", "same names in different orders"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_distances_are_refused_in_one_sentence(name, engine):
    content, words = REFUSED[name]
    with pytest.raises(ValueError, match=words) as refusal:
        unbend.io.read_distances(io.BytesIO(content))
    assert "\n" not in str(refusal.value)


def test_a_method_takes_what_was_read():
    found = unbend.io.read_distances(io.BytesIO(SQUARES["header"]))
    flat = unbend.ClassicalMDS(n_components=3, metric="precomputed").fit_transform(found)
    assert np.allclose(cdist(flat, flat), DISTANCES)


def test_a_first_pair_that_happens_to_count_is_a_pair():
    found = unbend.io.read_distances(io.BytesIO(b"0,1,2\n0,2,1.5\n1,2,2.5\n"))
    assert np.array_equal(found, [[0, 2, 1.5], [2, 0, 2.5], [1.5, 2.5, 0]])


NAMED = {
    "header and names": (frame(), NAMES),
    "names of rows": (frame(header=False), NAMES),
    "header": (frame(index=False), NAMES),
    "numbers alone": (frame(header=False, index=False), None),
    "numbered by pandas": (SQUARES["numbered by pandas"], None),
}


@pytest.mark.parametrize(("content", "names"), NAMED.values(), ids=NAMED)
def test_a_square_table_keeps_the_names_of_its_objects(content, names, engine):
    found = unbend.io.read_named_distances(io.BytesIO(content))
    assert found.names == (None if names is None else tuple(names))
    assert np.array_equal(found.values, DISTANCES)


@pytest.mark.parametrize("header", ["", "from,to,distance\n"])
@pytest.mark.parametrize("both", [False, True])
def test_pairs_by_name_give_the_square_table_in_order_of_appearance(header, both, engine):
    order = np.random.default_rng(0).permutation(len(pairs(both, 0)))
    chosen = [pairs(both, 0)[place] for place in order]
    content = header + "".join(f"{NAMES[i]},{NAMES[j]},{float(d)!r}\n" for i, j, d in chosen)
    found = unbend.io.read_named_distances(io.BytesIO(content.encode()))
    first = dict.fromkeys(NAMES[point] for i, j, _ in chosen for point in (i, j))
    assert found.names == tuple(first)
    places = [NAMES.index(name) for name in found.names]
    assert np.array_equal(found.values, DISTANCES[np.ix_(places, places)])


def test_empty_fields_are_unknown_pairs(engine):
    gaps = DISTANCES.astype(object)
    gaps[2, 4] = gaps[4, 2] = gaps[0, 6] = ""
    found = unbend.io.read_distances(io.BytesIO(lines(gaps)))
    expected = DISTANCES.copy()
    expected[2, 4] = expected[4, 2] = 0
    assert found.nnz == 40
    assert np.array_equal(found.toarray(), expected)
    content = b"a,b,3\nb,c,\nc,a,4\n"
    graph = unbend.io.read_named_distances(io.BytesIO(content))
    assert (graph.names, graph.values.nnz, graph.values[0, 2]) == (("a", "b", "c"), 4, 4.0)


@pytest.mark.parametrize("k", [0, 1])
def test_a_triangle_is_enough(k, engine):
    below = pd.DataFrame(np.where(np.tri(7, k=-k, dtype=bool), DISTANCES, np.nan), NAMES, NAMES)
    for triangle in (below, below.T):
        found = unbend.io.read_named_distances(io.BytesIO(triangle.to_csv().encode()))
        assert np.array_equal(found.values, DISTANCES)
        assert found.names == tuple(NAMES)


def test_symmetrizing_averages_both_directions_and_clears_the_diagonal():
    noise = np.random.default_rng(1).uniform(-0.1, 0.1, (7, 7))
    rough = DISTANCES + 0.2 + noise
    found = unbend.io.read_named_distances(rough, symmetrize=True)
    expected = (rough + rough.T) / 2
    np.fill_diagonal(expected, 0)
    assert np.allclose(found.values, expected, atol=1e-15)
    assert found.asymmetry == pytest.approx(np.abs(rough - rough.T).max())
    assert found.diagonal == pytest.approx(np.abs(rough.diagonal()).max())
    by_pair = lines([(i, j, rough[i, j]) for i in range(7) for j in range(7)])
    assert np.allclose(unbend.io.read_distances(io.BytesIO(by_pair), symmetrize=True), expected)
    graph = unbend.io.read_distances(csr_array(rough), symmetrize=True)
    assert np.allclose(graph, expected)
