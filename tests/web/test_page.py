"""The page in a real browser: what it shows is what NumPy and the library say."""

import csv
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
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

pytestmark = [needs_browser, pytest.mark.timeout(240)]

N = 300
PIXELS, CLASSES = (part[:N] for part in load_digits(return_X_y=True))
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def write(path, names, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(0)
    names = [f"pixel_{number}" for number in range(64)]
    write(root / "digits.csv", [*names, "class"], np.column_stack((PIXELS, CLASSES)).astype(int))
    mixed = [
        [repr(x), "" if place % 7 == 0 else repr(y), ["red", "blue"][place % 2]]
        for place, (x, y) in enumerate(rng.normal(size=(60, 2)).tolist())
    ]
    write(root / "mixed.csv", ["x", "y", "colour"], mixed)
    units = rng.normal(size=(80, 3)) * [1.0, 2.0, 1000.0]
    write(root / "units.csv", ["height", "weight", "salary"], units.tolist())
    bad = [[*row, HOSTILE] for row in rng.normal(size=(40, 3)).tolist()]
    write(root / f"{HOSTILE.replace('/', '')}.csv", ["a", "b", HOSTILE, "class"], bad)
    return root


@pytest.fixture(scope="module")
def address(folder):
    with serving(folder) as (found, _):
        yield found


@pytest.fixture(scope="module")
def driver():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="module")
def browser(driver):
    with browsing(driver) as found:
        yield found


@pytest.fixture
def visit(browser, address):
    context = browser.new_context(viewport={"width": 1400, "height": 850}, accept_downloads=True)
    made = Visit(context, address)
    made.tab.locator("[aria-label=Table]").wait_for()
    yield made
    outside = [url for url in made.requests if not url.startswith((made.origin, "blob:", "data:"))]
    assert not outside, "requests left the loopback address"
    assert not made.errors
    assert not made.dialogs
    context.close()


@pytest.fixture
def digits(visit):
    visit.open("digits.csv")
    return visit


def selected_rows(visit):
    """Return the rows of the downloaded selection, counted from zero."""
    with visit.tab.expect_download() as download:
        visit.tab.click("text=Download")
    with open(download.value.path(), newline="") as file:
        return [int(line["row"]) - 1 for line in csv.DictReader(file)]


def test_lassoed_rows_are_those_inside_the_polygon(digits):
    first = digits.fit("pca")
    digits.fit("laplacian_eigenmaps")
    place = [
        digits.tab.locator(".map").nth(number).get_attribute("data-embedding") for number in (0, 1)
    ].index(first)
    box = digits.host(place).bounding_box()
    points = screen_places(digits.array(first), box)
    center = points.mean(axis=0)
    polygon = center + np.array([[-60, -50], [70, -40], [50, 60], [-40, 70]]) + 0.3
    digits.drag([*polygon.tolist(), polygon[0].tolist()], shift=True)
    digits.tab_named("rows")
    expected = np.flatnonzero(inside(polygon, points))
    # Points within a pixel of the edge may fall on either side.
    near = [inside(center + (polygon - center) * factor, points) for factor in (0.97, 1.03)]
    sure = np.flatnonzero(near[0])
    digits.tab.locator("table.rows tbody tr").first.wait_for()
    rows = selected_rows(digits)
    assert len(expected) > 20
    assert set(sure) <= set(rows) <= set(np.flatnonzero(near[1]))
    shown = digits.tab.locator("table.rows tbody tr td:first-child").all_text_contents()
    assert [int(text) - 1 for text in shown] == rows[:100]
    cells = digits.tab.locator("table.rows tbody tr").first.locator("td").all_text_contents()
    np.testing.assert_array_equal(np.array(cells[2:], dtype=float)[:-1], PIXELS[rows[0]])


def test_wheel_zooms_drag_pans_and_double_click_resets(digits):
    digits.fit("pca")
    host = digits.host()
    box = host.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    digits.tab.mouse.move(x, y + box["height"] / 2 + 60)
    digits.tab.wait_for_timeout(300)
    start = host.screenshot()
    digits.tab.mouse.move(x, y)
    digits.tab.mouse.wheel(0, -300)
    digits.tab.wait_for_timeout(300)
    zoomed = host.screenshot()
    digits.drag([(x, y), (x + 80, y + 40)])
    digits.tab.wait_for_timeout(300)
    moved = host.screenshot()
    digits.tab.mouse.dblclick(x, y)
    if digits.tab.locator("text=Clear").count():
        digits.tab.click("text=Clear")
    digits.tab.mouse.move(x, y + box["height"] / 2 + 60)
    digits.tab.wait_for_timeout(300)
    assert len({start, zoomed, moved}) == 3
    assert host.screenshot() == start


@pytest.mark.slow
def test_strings_and_missing_values_are_no_dead_end(visit):
    visit.open("mixed.csv")
    policy = visit.tab.locator("label.field", has_text="Missing (9)").locator("select")
    assert policy.input_value() == "median"
    first = visit.array(visit.fit("pca"))
    assert not np.isnan(first).any()
    policy.select_option("drop")
    second = visit.array(visit.fit("pca"))
    assert np.flatnonzero(np.isnan(second[:, 0])).tolist() == list(range(0, 60, 7))


def test_a_column_with_most_of_the_variance_is_standardised(visit, folder):
    visit.open("units.csv")
    notice = visit.tab.locator(".notice", has_text="salary")
    assert "99.9 % of the variance" in notice.inner_text()
    frame = unbend.io.read_frame(folder / "units.csv")
    reference = unbend.PCA().fit_transform(unbend.Prepare(scale="standard").fit_transform(frame))
    np.testing.assert_array_equal(visit.array(visit.fit("pca")), reference.astype("f4"))
    visit.tab.locator("label.field", has_text="Scale").locator("select").select_option("none")
    notice.locator("button").click()
    np.testing.assert_array_equal(visit.array(visit.fit("pca")), reference.astype("f4"))


def test_hostile_text_is_inert(visit):
    """Dialogs and errors are checked by the fixture."""
    name = f"{HOSTILE.replace('/', '')}.csv"
    visit.open(name)
    visit.fit("pca")
    visit.tab.select_option("[aria-label='Colour by']", f"column:{HOSTILE}")
    visit.tab.keyboard.press("Tab")
    visit.tab_named("rows")
    box = visit.host().bounding_box()
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.03)]
    visit.drag(
        [(box["x"] + a * box["width"], box["y"] + b * box["height"]) for a, b in corners],
        shift=True,
    )
    cell = visit.tab.locator("table.rows tbody tr").first.locator("td").last
    cell.wait_for()
    assert cell.get_attribute("title") == HOSTILE
    assert visit.tab.locator("img").count() == 0
    assert visit.tab.locator("script").count() == 1
    visit.tab_named("take")
    visit.tab.locator("pre[data-code='map.py']").wait_for()


@pytest.mark.slow
def test_the_code_shown_gives_the_coordinates_in_a_fresh_process(digits, folder, tmp_path):
    id = digits.fit("isomap")
    digits.tab_named("take")
    code = digits.tab.locator("pre[data-code='map.py']").inner_text()
    (tmp_path / "digits.csv").write_bytes((folder / "digits.csv").read_bytes())
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    again = np.loadtxt(tmp_path / "coordinates.csv", delimiter=",")
    np.testing.assert_array_equal(again.astype("f4"), digits.array(id))


@pytest.mark.slow
def test_losses_colour_the_map_and_say_what_they_are(digits):
    digits.fit("pca")
    before = digits.host().screenshot()
    digits.tab.select_option("[aria-label='Colour by']", "loss:trustworthiness")
    digits.tab.locator(".legend", has_text="Trustworthiness of each point").wait_for()
    digits.tab.wait_for_timeout(300)
    assert digits.host().screenshot() != before


@pytest.mark.slow
def test_a_cancelled_fit_is_gone_in_two_seconds_and_the_next_starts(digits):
    card = digits.tab.locator("[data-method=nonmetric_mds]")
    card.locator("> summary").click()
    card.locator("button.primary").click()
    job = digits.tab.locator(".jobs li", has_text="Non-metric")
    job.locator("button").wait_for()
    began = time.monotonic()
    job.locator("button").click()
    job.wait_for(state="detached")
    assert time.monotonic() - began < 2
    assert digits.fit("pca")


@pytest.mark.slow
def test_a_reload_and_a_second_tab_find_the_maps_again(digits):
    id = digits.fit("pca")
    digits.tab.reload()
    digits.tab.locator(f".map[data-embedding='{id}'][data-drawn=true]").wait_for()
    other = digits.tab.context.new_page()
    other.goto(digits.origin)
    other.locator(f".map[data-embedding='{id}']").wait_for(timeout=30_000)


def test_a_page_without_the_token_shows_nothing(browser, address):
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(address.split("/#")[0])
    tab.locator("text=Open the address that unbend serve printed").wait_for()
    assert tab.locator("select").count() == 0
    context.close()


def test_the_policy_forbids_eval_to_the_page(digits):
    """In a task of its own: the driver's evaluations bypass the policy."""
    digits.fit("pca")
    attempt = """() => new Promise((done) => setTimeout(() => {
        try { done(new Function("return 'ran'")()) } catch (error) { done(error.name) }
    }))"""
    assert digits.tab.evaluate(attempt) == "EvalError"


@pytest.mark.slow
def test_the_keyboard_alone_fits_and_selects(visit):
    tab = visit.tab
    tab.locator("[aria-label=Table]").focus()
    tab.keyboard.type("digits")
    tab.locator(".advice .primary").wait_for()
    summary = tab.locator("[data-method=pca] > summary")
    summary.focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.locator(".map[data-drawn=true]").wait_for()
    host = visit.host()
    tab.wait_for_timeout(300)
    before = host.screenshot()
    host.locator("canvas").first.focus()
    tab.keyboard.press("+")
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_timeout(300)
    assert host.screenshot() != before
    tab.locator(".legend .key").first.focus()
    tab.keyboard.press("Enter")
    tab.locator("#label-believe").focus()
    tab.keyboard.press("ArrowRight")
    tab.locator("table.rows tbody tr").first.wait_for()
    assert len(selected_rows(visit)) == np.count_nonzero(CLASSES == 0)


@pytest.mark.slow
def test_without_webgl_the_canvas_draws_and_the_page_says_so(folder, driver):
    served, started = serving(folder, "digits.csv"), browsing(driver, "--disable-3d-apis")
    with served as (address, server), started as found:
        visit = Visit(found.new_context(), address, renderer="auto")
        visit.tab.locator("text=This browser has no WebGL").wait_for()
        visit.tab.locator(".advice .primary").wait_for()
        visit.fit("pca")
        server.kill()
        visit.tab.locator("text=The server has ended").wait_for()


@pytest.fixture(scope="module")
def painter(driver):
    """Start a browser that draws WebGL without a graphics processor."""
    with browsing(driver, *SOFTWARE_GL) as found:
        yield found


@pytest.mark.slow
def test_the_sandboxed_frame_draws_lassoes_and_zooms(painter, address):
    visit = Visit(painter.new_context(viewport={"width": 1400, "height": 850}), address, "webgl")
    visit.open("digits.csv")
    id = visit.fit("pca")
    visit.tab.wait_for_timeout(500)
    box = visit.host().bounding_box()
    points = screen_places(visit.array(id), box)
    center = points.mean(axis=0)
    polygon = center + np.array([[-90, -80], [100, -70], [80, 90], [-70, 100]]) + 0.3
    visit.drag([*polygon.tolist(), polygon[0].tolist()], shift=True)
    visit.tab_named("rows")
    visit.tab.locator("table.rows tbody tr").first.wait_for()
    rows = selected_rows(visit)
    sure, possible = (inside(center + (polygon - center) * f, points) for f in (0.93, 1.07))
    assert set(np.flatnonzero(sure)) <= set(rows) <= set(np.flatnonzero(possible))
    visit.tab.mouse.move(*center.tolist())
    visit.tab.wait_for_timeout(500)
    before = visit.host().screenshot()
    visit.tab.mouse.wheel(0, -300)
    visit.tab.wait_for_timeout(500)
    assert visit.host().screenshot() != before
    frame = next(each for each in visit.tab.frames if each.url.endswith("frame.html"))
    assert frame.evaluate("() => self.origin") == "null"
    blocked = """async () => {
        try { await fetch("/api/tables"); return "sent" } catch { return "blocked" }
    }"""
    assert frame.evaluate(blocked) == "blocked"
    assert not visit.errors


@pytest.mark.slow
def test_many_clients_at_once_get_their_own_data(folder):
    """24 threads ask for columns and rows of two tables; a stranger gets nothing."""
    with serving(folder) as (address, _):
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
        salary = unbend.io.read_frame(folder / "units.csv").columns["salary"]

        def ask(number):
            client, wrong = session(), 0
            for step in range(8):
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
def test_a_million_points_load_and_lasso(painter, tmp_path):
    points = np.random.default_rng(0).normal(size=(1_000_000, 2)).astype("f4")
    np.save(tmp_path / "million.npy", points)
    with serving(tmp_path, "million.npy") as (address, _):
        visit = Visit(
            painter.new_context(viewport={"width": 1400, "height": 850}), address, "webgl"
        )
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
def test_pictures_of_the_documentation(browser, tmp_path):
    """Draw what docs/page.md shows; UNBEND_PICTURES names the folder to write to."""
    target = Path(os.environ.get("UNBEND_PICTURES", tmp_path))
    pixels, classes = load_digits(return_X_y=True)
    names = [f"pixel_{number}" for number in range(64)]
    write(
        tmp_path / "digits.csv", [*names, "class"], np.column_stack((pixels, classes)).astype(int)
    )
    with serving(tmp_path, "digits.csv") as (address, _):
        visit = Visit(browser.new_context(viewport={"width": 1280, "height": 760}), address)
        visit.tab.locator(".advice .primary").click()
        visit.tab.locator(".map[data-drawn=true]").wait_for()
        id = visit.fit("pca")
        visit.tab.locator("#believe canvas").first.wait_for()
        visit.tab.mouse.move(640, 5)
        visit.tab.screenshot(path=target / "compare.png")
        places = screen_places(visit.array(id), visit.host(1).bounding_box())
        low, high = np.quantile(places, 0.02, axis=0), np.quantile(places, 0.5, axis=0)
        corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
        visit.drag([*corners, corners[0]], shift=True)
        visit.tab_named("rows")
        visit.tab.locator("table.rows tbody tr").first.wait_for()
        visit.tab.screenshot(path=target / "rows.png")
        visit.tab.click("text=Clear")
        visit.tab_named("take")
        visit.tab.select_option("[aria-label='Colour by']", "loss:trustworthiness")
        visit.tab.locator(".legend", has_text="Trustworthiness of each point").wait_for()
        visit.tab.wait_for_timeout(3000)
        visit.tab.screenshot(path=target / "losses.png")
    assert all(
        (target / f"{name}.png").stat().st_size > 20_000 for name in ("compare", "rows", "losses")
    )
