"""``unbend localize``: distances in, positions out."""

import json

import numpy as np
import pandas as pd
import pytest

import unbend as library
from tests.cli.program import numbers, sentence, unbend
from tests.localization.networks import network, places


def files(folder, first=0):
    """Write distances and anchors of sensors counted from `first`."""
    points = places(60, 0)
    graph = network(points, 15, 0.0).tocoo()
    pairs = zip(*(ends + first for ends in graph.coords), graph.data.tolist(), strict=True)
    lines = ["i,j,distance", *(f"{i},{j},{d!r}" for i, j, d in pairs if i < j)]
    (folder / "distances.csv").write_text("\n".join(lines) + "\n")
    known = [f"{i + first},{points[i, 0]:.17g},{points[i, 1]:.17g}" for i in (0, 20, 40, 58)]
    (folder / "anchors.csv").write_text("\n".join(["sensor,x,y", *known]) + "\n")
    return points


@pytest.mark.parametrize("first", [0, 1])
def test_positions_are_written_and_absolute(tmp_path, first):
    points = files(tmp_path, first)
    words = ("distances.csv", "--anchors", "anchors.csv", "-o", "positions.csv")
    unbend("localize", *words, cwd=tmp_path)
    found = numbers(tmp_path / "positions.csv", ["position_1", "position_2"])
    assert np.abs(found - points).max() < 1e-6
    assert numbers(tmp_path / "positions.csv", ["absolute", "determined"]).all()


@pytest.mark.parametrize("suffix", ["csv", "npy"])
def test_a_square_may_lack_distances_that_were_not_measured(tmp_path, suffix):
    points = files(tmp_path)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    distances[distances > 0.4] = np.nan
    if suffix == "npy":
        np.save(tmp_path / "square.npy", distances)
    else:
        rows = [",".join("" if np.isnan(d) else f"{d:.17g}" for d in row) for row in distances]
        (tmp_path / "square.csv").write_text("\n".join(rows) + "\n")
    words = (f"square.{suffix}", "--anchors", "anchors.csv", "-o", "positions.csv")
    unbend("localize", *words, cwd=tmp_path)
    found = numbers(tmp_path / "positions.csv", ["position_1", "position_2"])
    assert np.abs(found - points).max() < 1e-6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0,5,5", "two positions of sensor 0"),
        ("60,5,5", "holds 60, which is not a sensor: those of the distances are numbered 0 to 59"),
        ("1.5,5,5", "holds 1.5, which is not a sensor"),
        ("1e300,5,5", r"holds 1e+300, which is not a sensor"),
    ],
)
def test_anchors_that_are_none_are_refused_and_nothing_is_written(tmp_path, line, message):
    files(tmp_path)
    with (tmp_path / "anchors.csv").open("a") as file:
        file.write(line + "\n")
    words = ("distances.csv", "--anchors", "anchors.csv", "-o", "positions.csv")
    assert message in sentence(unbend("localize", *words, cwd=tmp_path, code=1))
    assert not (tmp_path / "positions.csv").exists()


def test_json_holds_the_known_facts(tmp_path):
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
    assert "anchors are the name or number of a sensor and 3 coordinates" in sentence(done)


@pytest.mark.parametrize("form", ["pairs", "square"])
def test_sensors_keep_their_names(tmp_path, form):
    points = files(tmp_path)
    names = [f"mast {chr(65 + i % 26)}{i}" for i in range(60)]
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    near = apart < 0.4
    if form == "pairs":
        pairs = np.argwhere(np.triu(near, 1))
        lines = [f"{names[i]},{names[j]},{apart[i, j]:.17g}" for i, j in pairs]
    else:
        rows = [
            ",".join(f"{d:.17g}" if seen else "" for d, seen in zip(*row, strict=True))
            for row in zip(apart, near, strict=True)
        ]
        lines = [",".join(["", *names]), *(f"{n},{r}" for n, r in zip(names, rows, strict=True))]
    (tmp_path / "named.csv").write_text("\n".join(lines) + "\n")
    known = [f"{names[i]},{points[i, 0]:.17g},{points[i, 1]:.17g}" for i in (0, 20, 40, 58)]
    (tmp_path / "known.csv").write_text("\n".join(["mast,x,y", *known]) + "\n")
    words = ("named.csv", "--anchors", "known.csv", "-o", "positions.csv")
    unbend("localize", *words, cwd=tmp_path)
    found = pd.read_csv(tmp_path / "positions.csv").set_index("object")
    placed = found.loc[names, ["position_1", "position_2"]].to_numpy()
    assert np.abs(placed - points).max() < 1e-6
    measured = library.io.read_named_distances(tmp_path / "named.csv")
    anchors = {names[i]: points[i] for i in (0, 20, 40, 58)}
    again = library.localize(measured, anchors).positions
    order = [measured.names.index(name) for name in names]
    assert np.abs(again[order] - points).max() < 1e-6
    with (tmp_path / "known.csv").open("a") as file:
        file.write("mast 99,1,1\n")
    answer = sentence(unbend("localize", *words, cwd=tmp_path, code=1))
    assert (
        "holds mast 99, which is not a sensor: those of the distances are named as 'mast" in answer
    )


def test_anchors_of_named_sensors_need_a_name(tmp_path):
    files(tmp_path)
    (tmp_path / "named.csv").write_text("a,b,1\nb,c,1\na,c,1\n")
    (tmp_path / "known.csv").write_text("mast,x\na,0\n")
    words = ("named.csv", "--anchors", "known.csv")
    answer = sentence(unbend("localize", *words, cwd=tmp_path, code=1))
    assert "has 2 columns: anchors are the name or number of a sensor and 2 coordinates" in answer


def test_two_directions_of_a_distance_are_averaged_if_asked(tmp_path):
    (tmp_path / "d.csv").write_text("a,b,1\nb,a,1.2\nb,c,1\na,c,1\n")
    answer = sentence(unbend("localize", "d.csv", cwd=tmp_path, code=1))
    assert "two distances between 'b' and 'a': keep one, or give --symmetrize" in answer
    done = unbend("localize", "d.csv", "--symmetrize", "-o", "p.csv", cwd=tmp_path)
    assert "Averaged the two directions, which differ by up to 0.2" in done.stderr.decode()
    flat = pd.read_csv(tmp_path / "p.csv")[["position_1", "position_2"]].to_numpy()
    assert np.linalg.norm(flat[0] - flat[1]) == pytest.approx(1.1, rel=1e-6)


def test_anchors_of_a_data_frame_have_its_names():
    points = places(40, 0)
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    names = [f"s{i}" for i in range(40)]
    frame = pd.DataFrame(apart, index=names, columns=names)
    found = library.localize(frame, {names[i]: points[i] for i in (3, 9, 27, 31)})
    assert np.abs(found.positions - points).max() < 1e-6
    with pytest.raises(ValueError, match="anchor 3 is no sensor: name one, as 's0'"):
        library.localize(frame, {3: points[3]})
