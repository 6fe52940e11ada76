"""Files that change or have odd names, requests that make no sense, and processes that die."""

import datetime
import os
import signal
import time

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.web.conftest import KEYS, POINTS, Browser, write_rows
from unbend.web.jobs import Job, Jobs
from unbend.web.reading import Reading
from unbend.web.server import make_app
from unbend.web.tables import Folder, RefusedFile
from unbend.web.workspace import Embedding, OpenTable, Workspace

DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=3 * row) for row in range(60)]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    made = tmp_path_factory.mktemp("hostile")
    write_rows(made / "points.csv", ["a", "b", "c", "d"], POINTS.tolist())
    rows = [[str(day), *row] for day, row in zip(DAYS, POINTS.tolist(), strict=True)]
    write_rows(made / "dates.csv", ["day", "a", "b", "c", "d"], rows)
    return made


@pytest.fixture(scope="module")
def own(root):
    """Return a workspace of this module, and a browser of it."""
    workspace = Workspace(Folder.open(root))
    client = Browser(TestClient(make_app(workspace, KEYS), base_url=KEYS.origin))
    assert client.post("/api/session", json={"token": KEYS.token}).status_code == 200
    yield workspace, client
    workspace.close()


@pytest.fixture(scope="module")
def client(own):
    return own[1]


@pytest.fixture(scope="module")
def table(client):
    return client.open("points.csv")


def start(client, table, **asked):
    return client.post("/api/jobs", json={"table": table["id"], "method": "pca", **asked})


def test_a_name_in_another_encoding_does_not_hide_the_other_files(client, root):
    name = os.fsdecode(b"caf\xe9.csv")
    try:
        (root / name).write_text("a,b\n1,2\n")
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    try:
        answer = client.get("/api/tables")
        assert answer.status_code == 200
        names = [file["name"] for file in answer.json()["files"]]
        assert "points.csv" in names
        assert all(name.isascii() for name in names)
        with pytest.raises(RefusedFile, match="not in UTF-8: rename it"):
            Folder.open(root).find(name)
    finally:
        (root / name).unlink()


@pytest.mark.parametrize(
    "reading",
    [
        b'{"label": "\\ud800"}',
        b'{"ignore": ["\\udfff"]}',
        b'{"ignore": 5}',
        b'{"ignore": null}',
        b'{"ignore": "abc"}',
        b'{"ignore": [1]}',
        b'{"ignore": [["a"]]}',
        b'{"kinds": null}',
        b'{"kinds": [["a", "category"]]}',
        b'{"kinds": {"a": 3}}',
        b'{"scale": NaN}',
    ],
)
def test_a_senseless_preparation_is_refused_and_leaves_the_page_alive(client, table, reading):
    body = b'{"table": "%s", "method": "pca", "reading": %s}' % (table["id"].encode(), reading)
    answer = client.post("/api/jobs", content=body)
    assert answer.status_code == 400
    assert "object has no" not in answer.text
    assert "iterable" not in answer.text
    assert client.get("/api/embeddings").status_code == 200


@pytest.mark.parametrize("value", [b"NaN", b"1e999", b"-Infinity"])
def test_numbers_that_json_lacks_are_refused(client, table, value):
    words = table["id"].encode(), value
    body = b'{"table": "%s", "method": "isomap", "parameters": {"radius": %s}}' % words
    assert client.post("/api/jobs", content=body).status_code == 400


def test_a_row_number_of_many_digits_is_refused(client, table):
    made = client.fit(table)
    answer = client.get(f"/api/embeddings/{made['id']}/neighbors?row={'9' * 5000}")
    assert answer.status_code == 400
    assert answer.json()["error"] == "row must be an integer"


def test_a_table_that_is_being_read_and_a_map_that_is_being_made_have_no_data(own, table):
    workspace, client = own
    path = workspace.folder.find("points.csv")
    unread = OpenTable("points.csv", path, workspace.new_folder())
    workspace.tables[unread.id] = unread
    for what in ("rows", "selection", "download"):
        answer = client.post(f"/api/tables/{unread.id}/{what}", content=b"")
        assert answer.status_code == 400
        assert answer.json()["error"] == "the table is still being read"
    assert client.get(f"/api/tables/{unread.id}/columns/0").status_code == 404
    whole, reading = workspace.table(table["id"]), Reading(str(path))
    unmade = Embedding(whole, reading, "pca", "PCA", {}, workspace.new_folder())
    workspace.embeddings[unmade.id] = unmade
    window = "density?left=0&right=1&bottom=0&top=1&width=5&height=5"
    for what in ("coordinates", "neighbors?row=0", window, "files/coordinates.csv"):
        answer = client.get(f"/api/embeddings/{unmade.id}/{what}")
        assert answer.status_code in (400, 404), what
    del workspace.tables[unread.id], workspace.embeddings[unmade.id]


def test_a_file_that_was_changed_or_removed_is_not_mixed_with_the_rows_shown(client, root):
    path = root / "moving.csv"
    write_rows(path, ["a", "b", "c", "d"], POINTS.tolist())
    opened = client.open("moving.csv")
    made = client.fit(opened)
    write_rows(path, ["a", "b", "c", "d"], [*POINTS.tolist(), *POINTS.tolist()])
    job = client.wait(start(client, opened).json()["job"]["id"])
    assert (job["state"], job["error"]) == (
        "failed",
        "moving.csv was changed since it was opened: open it again",
    )
    path.unlink()
    job = client.wait(start(client, opened).json()["job"]["id"])
    assert job["state"] == "failed"
    assert job["error"] == "moving.csv was removed since it was opened: put it back"
    # What was made before stays.
    sent = client.array(f"/api/embeddings/{made['id']}/coordinates")
    assert sent.shape == (60, 2)


def test_dates_are_shown_as_dates(client):
    opened = client.open("dates.csv")
    path = f"/api/tables/{opened['id']}"
    rows = np.array([7, 0], "<u4").tobytes()
    cells = client.post(f"{path}/rows", content=rows).json()["cells"]
    assert [cell[0] for cell in cells] == [str(DAYS[7]), str(DAYS[0])]
    text = client.post(f"{path}/download", content=rows).text.splitlines()
    assert text[1].startswith(f"8,{DAYS[7]},")
    first = np.arange(20, dtype="<u4").tobytes()
    found = client.post(f"{path}/selection", content=first).json()
    day = next(each for each in found if each["column"] == "day")
    # Means of equally spaced days.
    middle = [DAYS[9] + datetime.timedelta(days=1.5), DAYS[39] + datetime.timedelta(days=1.5)]
    assert [day["inside"][:10], day["outside"][:10]] == list(map(str, middle))
    assert day["effect"] < 0


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_process_killed_while_idle_is_replaced_and_the_next_job_runs():
    jobs = Jobs("tests.web.tasks")
    try:
        first = jobs.submit(Job("own_process", {}, ""))
        wait_for(lambda: first.state == "done")
        process = jobs._lanes["look"]._worker._process
        os.kill(first.result, signal.SIGKILL)
        process.join()
        second = jobs.submit(Job("own_process", {}, ""))
        wait_for(lambda: second.state not in ("queued", "running"))
        assert second.state == "done"
        assert second.result != first.result
    finally:
        jobs.close()


def test_starts_and_cancels_at_once_leave_the_lane_alive(own, table):
    from concurrent.futures import ThreadPoolExecutor

    _, client = own

    def attack(number):
        seen = set()
        for _ in range(4):
            answer = start(client, table)
            seen.add(answer.status_code)
            if answer.status_code == 200:
                made = answer.json()
                path = f"jobs/{made['job']['id']}"
                if number % 2:
                    path = f"embeddings/{made['embedding']['id']}"
                seen.add(client.delete(f"/api/{path}").status_code)
        return seen

    with ThreadPoolExecutor(6) as pool:
        assert set().union(*pool.map(attack, range(6))) <= {200, 429}
    assert client.fit(table)["facts"]["rows"] == 60
