"""``unbend localize``: distances in, positions out."""

import json

import numpy as np

from tests.cli.program import numbers, sentence, unbend
from tests.sensors.networks import network, places


def files(folder):
    points = places(60, 0)
    graph = network(points, 15, 0.0).tocoo()
    pairs = zip(*graph.coords, graph.data.tolist(), strict=True)
    lines = ["i,j,distance", *(f"{i},{j},{d!r}" for i, j, d in pairs if i < j)]
    (folder / "distances.csv").write_text("\n".join(lines) + "\n")
    known = ["sensor,x,y", *(f"{i},{points[i, 0]!r},{points[i, 1]!r}" for i in (0, 20, 40, 59))]
    (folder / "anchors.csv").write_text("\n".join(known).replace("np.float64", "") + "\n")
    return points


def test_positions_are_written_and_absolute(tmp_path):
    points = files(tmp_path)
    (tmp_path / "anchors.csv").write_text(
        (tmp_path / "anchors.csv").read_text().replace("(", "").replace(")", "")
    )
    words = ("distances.csv", "--anchors", "anchors.csv", "-o", "positions.csv")
    unbend("localize", *words, cwd=tmp_path)
    found = numbers(tmp_path / "positions.csv", ["position_1", "position_2"])
    assert np.abs(found - points).max() < 1e-6
    assert numbers(tmp_path / "positions.csv", ["absolute"]).all()


def test_json_tells_what_is_known(tmp_path):
    files(tmp_path)
    facts = json.loads(unbend("localize", "distances.csv", "--json", cwd=tmp_path).stdout)
    assert (facts["sensors"], facts["components"], facts["absolute"]) == (60, 1, 0)
    assert facts["anchor_error"] is None


def test_misuse_is_answered_in_one_sentence(tmp_path):
    files(tmp_path)
    done = unbend("localize", "distances.csv", "--start", "luck", cwd=tmp_path, code=2)
    assert "--start luck is not allowed" in sentence(done)
    words = ("--anchors", "distances.csv", "--dim", 3)
    done = unbend("localize", "distances.csv", *words, cwd=tmp_path, code=1)
    assert "anchors are the number of a sensor and 3 coordinates" in sentence(done)
