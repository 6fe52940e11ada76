"""Many points and many clients: WebGL in its sandbox, the fallback without it, and densities."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

import unbend
from tests.web.browsing import (
    SOFTWARE_GL,
    Visit,
    browsing,
    inside,
    needs_browser,
    screen_places,
    serving,
)
from tests.web.conftest import PIXELS, N, write_rows

pytestmark = [needs_browser, pytest.mark.timeout(600)]

VIEWPORT = {"width": 1400, "height": 850}


def test_more_points_than_a_canvas_draws_are_a_density_counted_by_the_server(chromium, address):
    context = chromium.new_context(viewport=VIEWPORT, accept_downloads=True)
    visit = Visit(context, address, points=100)
    visit.open("digits.csv")
    id = visit.fit("pca")
    note = visit.tab.locator(".tip").get_attribute("data-note")
    assert note == f"density of {N} points, counted by the server"
    visit.tab.locator("text=as a density beyond").wait_for()
    first = visit.picture()
    box = visit.host().bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visit.tab.mouse.move(x, y)
    visit.tab.mouse.wheel(0, -300)
    assert visit.picture() != first
    visit.tab.mouse.dblclick(x, y)
    visit.tab.mouse.move(x, box["y"] + box["height"] + 40)
    assert visit.picture() == first
    assert sum("/density?" in url for url in visit.requests) >= 2
    # A lasso takes all rows, not only those that have a pixel of their own.
    points = screen_places(visit.array(id), box)
    center = points.mean(axis=0)
    polygon = center + np.array([[-90, -80], [100, -70], [80, 90], [-70, 100]]) + 0.3
    visit.drag([*polygon.tolist(), polygon[0].tolist()], shift=True)
    rows = visit.selected_rows()
    sure, possible = (inside(center + (polygon - center) * f, points) for f in (0.97, 1.03))
    assert set(np.flatnonzero(sure)) <= set(rows) <= set(np.flatnonzero(possible))
    visit.check()
    context.close()


@pytest.mark.slow
def test_without_webgl_the_canvas_draws_and_the_page_says_so(address, driver):
    with browsing(driver, "--disable-3d-apis") as found:
        visit = Visit(found.new_context(viewport=VIEWPORT), address, renderer="auto")
        visit.tab.locator("text=This browser has no WebGL").wait_for()
        visit.open("digits.csv")
        visit.fit("pca")
        assert visit.tab.locator(".map-host canvas").count() == 2
        visit.lasso_all()
        visit.tab.locator("text=/[0-9]+ rows selected/").wait_for()
        visit.check()


@pytest.fixture(scope="session")
def painter(driver):
    """Start a browser that draws WebGL without a graphics processor."""
    with browsing(driver, *SOFTWARE_GL) as found:
        yield found


@pytest.mark.slow
def test_the_sandboxed_frame_draws_lassoes_and_zooms(painter, address):
    visit = Visit(painter.new_context(viewport=VIEWPORT), address, "webgl")
    visit.open("digits.csv")
    id = visit.fit("pca")
    visit.tab.wait_for_timeout(500)
    box = visit.host().bounding_box()
    points = screen_places(visit.array(id), box)
    center = points.mean(axis=0)
    polygon = center + np.array([[-90, -80], [100, -70], [80, 90], [-70, 100]]) + 0.3
    visit.drag([*polygon.tolist(), polygon[0].tolist()], shift=True)
    rows = visit.selected_rows()
    sure, possible = (inside(center + (polygon - center) * f, points) for f in (0.93, 1.07))
    assert set(np.flatnonzero(sure)) <= set(rows) <= set(np.flatnonzero(possible))
    visit.tab.mouse.move(*center.tolist())
    before = visit.picture()
    visit.tab.mouse.wheel(0, -300)
    assert visit.picture() != before
    frame = next(each for each in visit.tab.frames if each.url.endswith("frame.html"))
    assert frame.evaluate("() => self.origin") == "null"
    blocked = """async () => {
        try { await fetch("/api/tables"); return "sent" } catch { return "blocked" }
    }"""
    assert frame.evaluate(blocked) == "blocked"
    assert not visit.errors


@pytest.mark.slow
def test_a_lasso_takes_the_points_that_are_seen_after_the_window_has_changed(painter, address):
    visit = Visit(painter.new_context(viewport={"width": 1400, "height": 700}), address, "webgl")
    visit.open("digits.csv")
    id = visit.fit("pca")
    # The map is first higher than wide, then wider than high, and the other way round.
    for width, height in ((1250, 950), (1700, 600), (1250, 950)):
        visit.tab.set_viewport_size({"width": width, "height": height})
        visit.picture()
        points = screen_places(visit.array(id), visit.host().bounding_box())
        center = points.mean(axis=0)
        polygon = center + np.array([[-90, -80], [100, -70], [80, 90], [-70, 100]]) + 0.3
        visit.drag([*polygon.tolist(), polygon[0].tolist()], shift=True, pause=100)
        rows = visit.selected_rows()
        sure, possible = (inside(center + (polygon - center) * f, points) for f in (0.97, 1.03))
        assert set(np.flatnonzero(sure)) <= set(rows) <= set(np.flatnonzero(possible))
        visit.tab.click("text=Clear")


@pytest.mark.slow
def test_ellipses_and_lines_lie_on_the_points_that_webgl_draws(painter, address):
    visit = Visit(painter.new_context(viewport=VIEWPORT), address, "webgl")
    visit.open("digits.csv")
    id = visit.fit("pca")
    # Measures arrive while the map is drawn, which is drawn anew after it; that is no error.
    visit.picture()
    assert visit.tab.locator(".notices .notice").count() == 0
    points = screen_places(visit.array(id), visit.host().bounding_box())
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e6 * np.eye(N)
    row = int(np.argmax(apart.min(axis=1)))
    visit.tab.mouse.click(*points[row].tolist())
    visit.tab.locator(".map[data-marks='0 ellipses, 10 lines']").wait_for()
    assert visit.tab.locator(".notices .notice").count() == 0
    visit.tab.wait_for_timeout(500)
    frame = next(each for each in visit.tab.frames if each.url.endswith("frame.html"))
    drawn = frame.evaluate(
        """() => {
            const canvas = document.getElementById("marks");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const places = [];
            for (let at = 0; at < width * height; at++) if (data[4 * at + 3] > 200) places.push(at);
            return places.map((place) => [place % width, Math.floor(place / width)]);
        }"""
    )
    corner = [visit.host().bounding_box()[side] for side in ("x", "y")]
    from_point = np.linalg.norm(np.array(drawn) + corner - points[row], axis=1)
    assert from_point.min() < 3
    ends = np.linalg.norm(PIXELS - PIXELS[row], axis=1).argsort()[1:11]
    lengths = np.linalg.norm(points[ends] - points[row], axis=1)
    # Rings around neighbours of the map are within their distance too, and a few pixels wide.
    assert abs(from_point.max() - lengths.max()) < 8


def test_24_clients_at_once_get_their_own_data_and_strangers_nothing(served, address):
    origin, token = address.split("/#token=")

    def session():
        client = httpx.Client(base_url=origin, headers={"origin": origin}, timeout=60)
        assert client.post("/api/session", json={"token": token}).status_code == 200
        return client

    first = session()
    tables = {}
    for name in ("digits.csv", "units.csv"):
        opened = first.post("/api/tables", json={"name": name}).json()
        while first.get(f"/api/jobs/{opened['job']}").json()["state"] != "done":
            time.sleep(0.1)
        tables[name] = opened["table"]["id"]
    salary = unbend.io.read_frame(served / "units.csv").columns["salary"]

    def ask(number):
        client, wrong = session(), 0
        for step in range(4):
            place = (number * 7 + step) % 64
            sent = client.get(f"/api/tables/{tables['digits.csv']}/columns/{place}").content
            wrong += not np.array_equal(np.frombuffer(sent, "<f4"), PIXELS[:, place])
            sent = client.get(f"/api/tables/{tables['units.csv']}/columns/2").content
            wrong += not np.array_equal(np.frombuffer(sent, "<f4"), salary.astype("f4"))
        wrong += httpx.get(f"{origin}/api/tables").status_code != 401
        return wrong

    with ThreadPoolExecutor(24) as pool:
        assert sum(pool.map(ask, range(24))) == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("renderer", ["webgl", "canvas"])
def test_a_million_points_load_and_lasso(painter, tmp_path, renderer):
    points = np.random.default_rng(0).normal(size=(1_000_000, 2)).astype("f4")
    np.save(tmp_path / "million.npy", points)
    with serving(tmp_path, "million.npy") as (address, _):
        visit = Visit(painter.new_context(viewport=VIEWPORT), address, renderer)
        visit.tab.set_default_timeout(300_000)
        visit.tab.locator(".card").first.wait_for()
        places = visit.array(visit.fit("pca"))
        box = visit.host().bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        corners = [(-60, -60), (60, -60), (60, 60), (-60, 60), (-60, -59)]
        # Software draws a frame of a million points in a second.
        visit.drag([(x + a, y + b) for a, b in corners], shift=True, pause=1500)
        visit.tab.locator("text=/[0-9,]+ rows selected/").wait_for()
        text = visit.tab.locator("text=/[0-9,]+ rows selected/").inner_text()
        off = np.abs(screen_places(places, box) - [x, y])
        # The renderer drops moves that follow each other quickly, so corners may be cut by a third.
        least = np.count_nonzero((off.max(axis=1) < 58) & (off.sum(axis=1) < 78))
        most = np.count_nonzero(off.max(axis=1) < 63)
        assert least <= int(text.split()[0].replace(",", "")) <= most


@pytest.mark.slow
def test_pictures_of_the_documentation(chromium, tmp_path):
    """Draw what docs/page.md shows; UNBEND_PICTURES names the folder to write to."""
    target = Path(os.environ.get("UNBEND_PICTURES", tmp_path))
    pixels, classes = load_digits(return_X_y=True)
    names = [f"pixel_{number}" for number in range(64)]
    rows = np.column_stack((pixels, classes)).astype(int)
    write_rows(tmp_path / "digits.csv", [*names, "class"], rows)
    with serving(tmp_path, "digits.csv") as (address, _):
        visit = Visit(chromium.new_context(viewport={"width": 1280, "height": 760}), address)
        visit.tab.locator(".advice .primary").click()
        visit.tab.locator(".map[data-drawn=true]").wait_for()
        visit.fit("pca")
        visit.tab.locator("#quality canvas").first.wait_for()
        visit.tab.mouse.move(640, 5)
        visit.tab.wait_for_timeout(500)
        visit.tab.screenshot(path=target / "compare.png")
        visit.tab.locator(".legend .key").nth(3).click()
        visit.tab_named("rows")
        visit.tab.locator("table.rows tbody tr").first.wait_for()
        visit.tab.wait_for_timeout(500)
        visit.tab.screenshot(path=target / "rows.png")
        visit.tab.click("text=Clear")
        visit.tab_named("export")
        visit.color_by("loss:stability")
        visit.tab.locator(".map[data-marks^='80 ellipses']").first.wait_for()
        visit.tab.click("text=Theme")
        visit.tab.wait_for_timeout(1000)
        visit.tab.screenshot(path=target / "losses.png")
    for name in ("compare", "rows", "losses"):
        path = target / f"{name}.png"
        # Screens have few colours: a palette makes the files a third as large.
        Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)
        assert 20_000 < path.stat().st_size < 150_000
