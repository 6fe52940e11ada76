"""A real browser for tests: chromium, driven by playwright, without requests of its own."""

import shutil
from contextlib import contextmanager
from importlib.util import find_spec

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NO_BROWSER = CHROMIUM is None or find_spec("playwright") is None
QUIET = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SOFTWARE_GL = [
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]


@contextmanager
def browsing(driver, *flags):
    """Start chromium and yield it."""
    browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *flags])
    try:
        yield browser
    finally:
        browser.close()


@contextmanager
def webgl_tab(width, height):
    """Open a tab that draws WebGL in software; at the end no script has failed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, browsing(driver, *SOFTWARE_GL) as browser:
        tab = browser.new_page(viewport={"width": width, "height": height})
        tab.set_default_timeout(120_000)
        errors = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        yield tab
        assert errors == []
