"""A real browser and a real server, for the tests of the page."""

import csv
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from tests.browser import NO_BROWSER, SOFTWARE_GL, browsing
from unbend.web.server import BUNDLE

__all__ = ["SOFTWARE_GL", "browsing"]

LACKING = NO_BROWSER or not BUNDLE.exists()
needs_browser = pytest.mark.skipif(
    LACKING, reason="needs chromium, playwright and the page that make page builds"
)
SECONDS = 150_000


@contextmanager
def serving(folder, table=None):
    """Serve a folder and yield the address with its token, and the process."""
    words = [sys.executable, "-m", "unbend", "serve", "--no-browser", table or str(folder)]
    server = subprocess.Popen(
        words,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        yield server.stdout.readline().strip(), server
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


class Visit:
    """A tab with the page, and what happened in it."""

    def __init__(self, context, address, renderer="canvas", **query):
        self.tab = context.new_page()
        self.tab.set_default_timeout(SECONDS)
        self.errors, self.requests, self.dialogs = [], [], []
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on(
            "dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss())
        )
        self.origin = address.split("/#")[0]
        words = "&".join(
            f"{name}={value}" for name, value in {"renderer": renderer, **query}.items()
        )
        self.tab.goto(address.replace("/#", f"/?{words}#"))

    def check(self):
        """Fail if a request left the loopback address, a script failed or a dialog opened."""
        known = (self.origin, "blob:", "data:")
        outside = [url for url in self.requests if not url.startswith(known)]
        assert not outside, "requests left the loopback address"
        assert not self.errors
        assert not self.dialogs

    def open(self, name):
        self.tab.select_option("[aria-label=Table]", name)
        self.tab.locator(".card").first.wait_for()
        self.tab.locator(".advice .primary, .advice .notice").first.wait_for()

    def fit(self, method):
        """Fit a method by its card, and return the id of the map when it is drawn."""
        before = self.tab.locator(".map[data-drawn=true]").count()
        card = self.tab.locator(f"[data-method={method}]")
        if card.get_attribute("open") is None:
            card.locator("> summary").click()
        card.locator("button.primary").click()
        self.tab.locator(".map[data-drawn=true]").nth(before).wait_for()
        return self.tab.locator(".map").nth(before).get_attribute("data-embedding")

    def array(self, id, name="coordinates"):
        """Return what the page was sent, fetched as it does."""
        answer = self.tab.context.request.get(f"{self.origin}/api/embeddings/{id}/{name}")
        return np.frombuffer(answer.body(), "<f4").reshape(-1, int(answer.headers["x-columns"]))

    def host(self, place=0):
        return self.tab.locator(".map-host").nth(place)

    def drag(self, points, *, shift=False, pause=0):
        """Drag along points of the window, with a pause of milliseconds at each."""
        if shift:
            self.tab.keyboard.down("Shift")
        self.tab.mouse.move(*map(float, points[0]))
        self.tab.mouse.down()
        for point in points[1:]:
            self.tab.mouse.move(*map(float, point), steps=3)
            self.tab.wait_for_timeout(pause)
        self.tab.mouse.up()
        if shift:
            self.tab.keyboard.up("Shift")

    def tab_named(self, name):
        self.tab.click(f"#label-{name}")

    def color_by(self, value):
        self.tab.select_option("[aria-label='Colour by']", value)

    def lasso_all(self, place=0):
        """Draw a lasso along the edges of a map."""
        box = self.host(place).bounding_box()
        corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.03)]
        points = [(box["x"] + a * box["width"], box["y"] + b * box["height"]) for a, b in corners]
        self.drag(points, shift=True)

    def picture(self, place=0):
        """Return the pixels of a map once they rest."""
        before = None
        while before != (now := self.host(place).screenshot()):
            before = now
            self.tab.wait_for_timeout(150)
        return now

    def selected_rows(self):
        """Return the rows of the downloaded selection, counted from zero."""
        if self.tab.locator("#label-rows").get_attribute("aria-selected") != "true":
            self.tab_named("rows")
        self.tab.locator("table.rows tbody tr").first.wait_for()
        with self.tab.expect_download() as download:
            self.tab.click("text=Download")
        with open(download.value.path(), newline="") as file:
            return [int(line["row"]) - 1 for line in csv.DictReader(file)]


def screen_places(coordinates, box):
    """Return where the canvas draws points, in pixels of the window."""
    low, high = np.nanmin(coordinates, axis=0), np.nanmax(coordinates, axis=0)
    reach = (high - low).max() / 2 / 0.92
    units = (coordinates - (low + high) / 2) / reach
    scale = min(box["width"], box["height"]) / 2
    left = box["x"] + box["width"] / 2 + units[:, 0] * scale
    top = box["y"] + box["height"] / 2 - units[:, 1] * scale
    return np.column_stack((left, top))


def inside(polygon, points):
    """Whether points are inside a polygon, by the even-odd rule."""
    within = np.zeros(len(points), dtype=bool)
    for first, second in zip(polygon, np.roll(polygon, 1, axis=0), strict=True):
        crosses = (first[1] > points[:, 1]) != (second[1] > points[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            at = (second[0] - first[0]) * (points[:, 1] - first[1]) / (second[1] - first[1])
        within ^= crosses & (points[:, 0] < at + first[0])
    return within
