"""``unbend graph`` reports the graph of the library, and writes formats of other programs."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from scipy.io import mmread
from scipy.sparse import load_npz

import unbend as library
from tests.cli.program import sentence, unbend
from unbend.graphs import components, undirected
from unbend.neighbors import PointSpace

ASIDE = ("graph", "roll.csv", "--label", "kind", "--id", "row", "-k", 6)


@pytest.fixture
def lengths(roll):
    return undirected(PointSpace(roll.points).nearest(6)).lengths


def test_the_facts_are_those_of_the_graph(folder, roll, lengths):
    facts = json.loads(unbend(*ASIDE, "--json", cwd=folder).stdout)
    dense = lengths.toarray()
    degrees = (dense > 0).sum(axis=1)
    assert facts["edges"] == (dense > 0).sum() / 2
    assert (facts["degree_least"], facts["degree_most"]) == (degrees.min(), degrees.max())
    assert facts["components"] == np.bincount(components(lengths)).tolist()
    report = library.graphs.consistency(roll.points, 2, 6)
    assert facts["hidden"] == pytest.approx(report.hidden)
    assert facts["problems"] == report.problems()
    assert str(report) in unbend(*ASIDE, cwd=folder).stdout.decode()


def test_the_edges_are_written_as_other_programs_read_them(folder, lengths):
    expected = lengths.toarray()
    for name in ("g.npz", "g.mtx", "g.graphml"):
        unbend(*ASIDE, "-o", name, cwd=folder)
    assert np.array_equal(load_npz(folder / "g.npz").toarray(), expected)
    assert np.allclose(mmread(folder / "g.mtx").toarray(), expected, rtol=1e-15)
    networkx = pytest.importorskip("networkx")
    read = networkx.read_graphml(folder / "g.graphml")
    nodes = [f"n{row}" for row in range(300)]
    assert np.array_equal(networkx.to_numpy_array(read, nodes, weight="length"), expected)
    assert read.nodes["n7"]["name"] == "r7"


def test_hostile_ids_do_not_break_the_file(tmp_path):
    rows = "\n".join(f"{row},{row % 7},{row % 5}" for row in range(20))
    text = rows.replace("\n1,", '\n"</data><x a=""&quot;>\x01",', 1)
    (tmp_path / "t.csv").write_text(f"id,x,y\n{text}\n")
    unbend("graph", "t.csv", "--id", "id", "-k", 3, "-o", "g.graphml", cwd=tmp_path)
    names = [data.text for data in ElementTree.parse(tmp_path / "g.graphml").iter() if data.text]
    assert '</data><x a="&quot;>' in names


def test_distances_give_the_graph_of_their_points(folder, roll, lengths):
    apart = np.linalg.norm(roll.points[:, None] - roll.points[None], axis=2)
    np.save(folder / "apart.npy", apart)
    words = ("graph", "apart.npy", "--distances", "-k", 6, "-o", "d.npz", "--plot", "d.png")
    unbend(*words, cwd=folder)
    assert np.allclose(load_npz(folder / "d.npz").toarray(), lengths.toarray())
    assert (folder / "d.png").read_bytes().startswith(b"\x89PNG")


def test_a_graph_that_cannot_be_made_or_written_is_refused(folder):
    assert "--neighbors must be less" in sentence(
        unbend("graph", "roll.csv", "--ignore", "kind,row", "-k", 300, cwd=folder, code=1)
    )
    assert ".graphml" in sentence(unbend(*ASIDE, "-o", "g.csv", cwd=folder, code=2))
    assert "stdout" in sentence(unbend(*ASIDE, "-o", "-", cwd=folder, code=2))
    words = ("graph", "roll.csv", "--distances", "--label", "kind")
    assert "does not go with --distances" in sentence(unbend(*words, cwd=folder, code=2))
