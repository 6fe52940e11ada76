"""Servers over small folders: the application in this process, and a real one for a browser."""

import csv
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits
from starlette.testclient import TestClient

from tests.web.browsing import Visit, browsing, serving
from unbend.web import server
from unbend.web.security import Keys
from unbend.web.server import make_app
from unbend.web.tables import Folder
from unbend.web.workspace import Workspace

KEYS = Keys(54321)
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 4))
LABELS = np.repeat(["left", "right", "<script>alert(1)</script>"], 20)


def write_table(path, points, labels):
    lines = ["a,b,c,<b>d</b>,class"]
    lines += [
        ",".join([*map(repr, row), name]) for row, name in zip(points.tolist(), labels, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Make a served folder with a table, beside a file that is not served and a link to it."""
    outside = tmp_path_factory.mktemp("outside")
    write_table(outside / "secret.csv", POINTS, LABELS)
    root = outside / "served"
    root.mkdir()
    write_table(root / "points.csv", POINTS, LABELS)
    gaps = POINTS.copy()
    gaps[3, 1] = np.nan
    write_table(root / "gaps.csv", gaps, LABELS)
    (root / "gaps.csv").write_text((root / "gaps.csv").read_text().replace("nan", ""))
    (root / "link.csv").symlink_to(outside / "secret.csv")
    (root / "notes.py").write_text("print('not a table')")
    return root


class Browser:
    """A client that behaves as the page does."""

    def __init__(self, client, origin=KEYS.origin):
        self.client, self.origin = client, origin

    def get(self, path, **keywords):
        return self.client.get(path, **keywords)

    def post(self, path, **keywords):
        headers = {"origin": self.origin, **keywords.pop("headers", {})}
        return self.client.post(path, headers=headers, **keywords)

    def delete(self, path):
        return self.client.delete(path, headers={"origin": self.origin})

    def wait(self, job, *, seconds=300):
        """Wait for the end of a job and return it with its result."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.get(f"/api/jobs/{job}").json()
            if found["state"] in ("done", "failed", "cancelled"):
                return found
            time.sleep(0.05)
        raise AssertionError(f"still {found['state']} after {seconds} s")

    def open(self, name):
        """Open a table and return it, described."""
        opened = self.post("/api/tables", json={"name": name}).json()
        job = self.wait(opened["job"])
        assert job["state"] == "done", job["error"]
        return {**opened["table"], "facts": job["result"]}

    def fit(self, table, method="pca", parameters=None, **reading):
        """Fit a method and return the embedding."""
        asked = {"table": table["id"], "method": method, "parameters": parameters or {}}
        answer = self.post("/api/jobs", json={**asked, "reading": reading})
        assert answer.status_code == 200, answer.text
        job = self.wait(answer.json()["job"]["id"])
        assert job["state"] == "done", job["error"]
        return next(
            each
            for each in self.get("/api/embeddings").json()
            if each["id"] == answer.json()["embedding"]["id"]
        )

    def array(self, path):
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return np.frombuffer(answer.content, "<f4").reshape(-1, int(answer.headers["x-columns"]))


@pytest.fixture(scope="session")
def workspace(folder):
    made = Workspace(Folder.open(folder), upload_limit=20_000)
    yield made
    made.close()


@pytest.fixture(scope="session")
def stranger(workspace, tmp_path_factory):
    """Return a client without a session."""
    bundle = tmp_path_factory.mktemp("bundle")
    for name, _ in server.PAGE.values():
        (bundle / name).write_text(name)
    before, server.BUNDLE = server.BUNDLE, bundle
    yield TestClient(make_app(workspace, KEYS), base_url=KEYS.origin)
    server.BUNDLE = before


@pytest.fixture(scope="session")
def browser(workspace):
    client = TestClient(make_app(workspace, KEYS), base_url=KEYS.origin)
    made = Browser(client)
    assert made.post("/api/session", json={"token": KEYS.token}).status_code == 200
    return made


N = 300
PIXELS, CLASSES = (part[:N] for part in load_digits(return_X_y=True))
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
HOSTILE_FILE = f"{HOSTILE.replace('/', '')}.csv"
SNIPPET = "An elephant drinks two hundred litres of water on a hot day. " * 8


def write_rows(path, names, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """Make the folder that browsers see: digits, words and gaps, units, texts, hostile names."""
    root = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(0)
    names = [f"pixel_{number}" for number in range(64)]
    digits = np.column_stack((PIXELS, CLASSES)).astype(int)
    write_rows(root / "digits.csv", [*names, "class"], digits)
    mixed = [
        [repr(x), "" if place % 7 == 0 else repr(y), ["red", "blue"][place % 2]]
        for place, (x, y) in enumerate(rng.normal(size=(60, 2)).tolist())
    ]
    write_rows(root / "mixed.csv", ["x", "y", "colour"], mixed)
    units = rng.normal(size=(80, 3)) * [1.0, 2.0, 1000.0]
    write_rows(root / "units.csv", ["height", "weight", "salary"], units.tolist())
    bad = [[*row, HOSTILE] for row in rng.normal(size=(40, 3)).tolist()]
    write_rows(root / HOSTILE_FILE, ["a", "b", HOSTILE, "class"], bad)
    notes = [[*row, f"{number}: {SNIPPET}"] for number, row in enumerate(units.tolist())]
    write_rows(root / "notes.csv", ["height", "weight", "salary", "note"], notes)
    # Maximum variance unfolding of so many rows takes minutes.
    write_rows(root / "long.csv", ["x", "y", "z"], rng.normal(size=(1500, 3)).tolist())
    return root


@pytest.fixture(scope="session")
def address(served):
    with serving(served) as (found, _):
        yield found


@pytest.fixture(scope="session")
def driver():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def chromium(driver):
    with browsing(driver) as found:
        yield found


@pytest.fixture
def visit(chromium, address):
    """Open the page; at the end, no request left the machine and nothing went wrong."""
    context = chromium.new_context(viewport={"width": 1400, "height": 850}, accept_downloads=True)
    made = Visit(context, address)
    made.tab.locator("[aria-label=Table]").wait_for()
    yield made
    made.check()
    context.close()


@pytest.fixture
def digits(visit):
    visit.open("digits.csv")
    return visit
