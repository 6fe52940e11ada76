"""The built site in a browser: `make docs-check` builds it and runs these tests."""

import functools
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

import unbend
from tests.browser import NO_BROWSER, browsing

SITE = Path(__file__).parent.parent / "docs" / "_build"
LACKING = NO_BROWSER or not (SITE / "index.html").exists()
needs_site = pytest.mark.skipif(LACKING, reason="needs chromium, playwright and `make docs`")
pytestmark = [needs_site, pytest.mark.slow, pytest.mark.timeout(1200)]
WIDTHS = (1280, 390)
MAIN = ("start/index", "tutorials/index", "generated/methods/index", "gallery/index")


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="module")
def address():
    """Serve the site on the loopback address."""
    handler = functools.partial(Handler, directory=SITE)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, browsing(driver) as opened:
        yield opened


class Tab:
    """A tab that records what must not happen."""

    def __init__(self, browser, origin, width=1280, **options):
        self.page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        self.page.set_default_timeout(60_000)
        self.origin, self.problems = origin, []
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("console", self._heard)
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._asked)
        self.page.on(
            "response",
            lambda one: (
                self.problems.append(f"{one.status}: {one.url}") if one.status >= 400 else None
            ),
        )

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _failed(self, request):
        # Leaving a page aborts what is still being loaded; a missing file has a status of 404.
        if request.failure != "net::ERR_ABORTED":
            self.problems.append(f"failed: {request.url}")

    def _asked(self, request):
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.problems.append(f"outside: {request.url}")

    def open(self, path):
        self.page.goto(urljoin(self.origin, path))

    def close(self):
        self.page.close()
        assert self.problems == []


class Links(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found[key] for key in ("id", "name") if found.get(key)}
        self.links += [found[key] for key in ("href", "src") if found.get(key)]


def pages():
    """Return the pages of the site, those of other documents in `_static` left out."""
    return sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)


def test_internal_links_and_anchors_exist():
    parsed = {path: Links(path) for path in pages()}
    broken = []
    for path, found in parsed.items():
        for link in found.links:
            where, fragment = urldefrag(link)
            if urlsplit(link).scheme:
                continue
            target = (path.parent / unquote(urlsplit(where).path)).resolve() if where else path
            if not target.exists():
                broken.append(f"{path.relative_to(SITE)}: {link}")
            elif fragment and target in parsed and unquote(fragment) not in parsed[target].ids:
                broken.append(f"{path.relative_to(SITE)}: no anchor {link}")
    assert broken == []


MISSING_IMAGES = """async () => {
  const images = [...document.images];
  await Promise.all(images.map((image) => {
    image.loading = "eager";
    return image.complete ? null : new Promise((done) => { image.onload = image.onerror = done; });
  }));
  return images.filter((image) => !image.naturalWidth).map((image) => image.src);
}"""


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_loads_with_its_images_fits_and_asks_for_nothing_elsewhere(
    browser, address, width
):
    tab = Tab(browser, address, width)
    missing, wide = [], []
    for path in pages():
        name = path.relative_to(SITE).as_posix()
        tab.open(name)
        missing += tab.page.evaluate(MISSING_IMAGES)
        if tab.page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1"):
            wide.append(name)
    assert len(pages()) > 90
    assert missing == []
    assert wide == []
    tab.close()


@pytest.fixture(params=["http", "file"])
def origin(request, address):
    return address if request.param == "http" else f"{SITE.as_uri()}/"


@pytest.mark.parametrize("width", WIDTHS)
def test_navigation_leads_to_the_main_pages(browser, origin, width):
    tab = Tab(browser, origin, width)
    for target in MAIN:
        tab.open("index.html")
        if width < 960:
            tab.page.click("button.primary-toggle")
        tab.page.click(f"a.nav-link[href='{target}.html']:visible")
        tab.page.wait_for_url(f"**/{target}.html")
        assert tab.page.locator("h1").is_visible()
    tab.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_search_finds_a_method_and_opens_its_page(browser, origin, width):
    tab = Tab(browser, origin, width)
    tab.open("index.html")
    tab.page.click("button.search-button:visible, button.search-button__button:visible")
    tab.page.fill("input[type=search]:visible", "hessian")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/search.html?q=hessian*")
    result = tab.page.locator("#search-results li a", has_text="Hessian").first
    result.wait_for()
    result.click()
    tab.page.wait_for_load_state()
    assert "Hessian" in tab.page.locator("h1").inner_text()
    tab.close()


PIXELS = """() => [...document.querySelectorAll("[data-figure=rolls] canvas")].map(
  (canvas) => canvas.toDataURL())"""


def settled(tab):
    """Return the pixels of both canvases once they rest."""
    before = None
    while before != (now := tab.page.evaluate(PIXELS)):
        before = now
        tab.page.wait_for_timeout(200)
    return now


def slide(tab, name, value):
    tab.page.locator(f"[data-figure=rolls] label:has-text('{name}') input").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", value
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_interactive_figures_show_what_the_library_computes(browser, origin, width):
    tab = Tab(browser, origin, width)
    tab.open("interactive.html")
    tab.page.locator("[data-figure=spectrum][data-ready=true]").wait_for()
    start = settled(tab)
    slide(tab, "neighbours", 7)
    jumped = settled(tab)
    assert jumped[0] == start[0]
    assert jumped[1] != start[1]
    roll = unbend.datasets.swiss_roll(800, random_state=0)
    flat = unbend.Isomap(n_neighbors=30).fit_transform(roll.points)
    error = unbend.quality.procrustes(roll.chart, flat, kind="affine")
    assert f"{error:.4f}" in tab.page.locator("[data-figure=rolls] .said").inner_text()
    slide(tab, "noise", 2)
    noisy = settled(tab)
    assert noisy[0] != jumped[0]
    assert noisy[1] != jumped[1]
    tab.page.locator("canvas.turns").scroll_into_view_if_needed()
    box = tab.page.locator("canvas.turns").bounding_box()
    tab.page.mouse.move(box["x"] + 100, box["y"] + 100)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 180, box["y"] + 120, steps=4)
    tab.page.mouse.up()
    turned = settled(tab)
    assert turned[0] != noisy[0]
    assert turned[1] == noisy[1]
    tab.page.keyboard.press("ArrowLeft")
    assert settled(tab)[0] != turned[0]
    tab.close()


def test_without_scripts_interactive_figures_are_pictures(browser, address):
    tab = Tab(browser, address, java_script_enabled=False)
    tab.open("interactive.html")
    assert tab.page.locator("[data-figure=rolls] img").bounding_box()["height"] > 100
    tab.page.close()


def test_a_method_and_the_reason_for_it_are_three_clicks_from_the_front_page(browser, address):
    tab = Tab(browser, address)
    tab.open("index.html")
    tab.page.click(".sd-card:has(a[href='choosing.html'])")
    tab.page.click("article a:has-text('LTSA') >> nth=0")
    assert tab.page.locator("h1").inner_text().startswith("Local tangent space alignment")
    assert tab.page.locator("h2:has-text('When to use it, and when not')").is_visible()
    tab.close()
