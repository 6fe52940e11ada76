"""Main-thread CPU of pages with many points in chromium: the WebGL renderer against plotly.

Each page is loaded, panned by a drag of 20 steps and zoomed by the wheel. WebGL runs in software,
by another process, whose time is not counted. Pages idle at sixty frames a second while they wait
for it, which also costs: a pan on a machine that is busy otherwise costs more. Pages are measured
in turns, and each number is the median. Needs chromium, playwright and the renderer, which ``make
page`` builds.

    python -m benchmarks.large_pages -o benchmarks/large_pages.json
"""

import argparse
import json
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright
from tests.browser import CHROMIUM, QUIET, SOFTWARE_GL

import unbend
from unbend.plot import saving

READY = {
    "webgl": "document.body.dataset.drawn !== undefined",
    "plotly": "document.querySelectorAll('.gl-canvas').length > 0 && "
    "document.getElementById('unbend')._fullLayout !== undefined",
}
MOST_SECONDS = 140


def write_pages(count: int, folder: Path) -> dict[str, Path]:
    """Write both pages of so many points in ten classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 10, count)
    points = rng.normal(size=(count, 2)) + 4 * rng.normal(size=(10, 2))[classes]
    figure = unbend.plot.interactive(points, classes.astype(str))
    pages = {"webgl": unbend.plot.save(figure, folder / f"webgl_{count}.html")}
    kept, saving.webgl_page = saving.webgl_page, lambda figure: None
    try:
        pages["plotly"] = unbend.plot.save(figure, folder / f"plotly_{count}.html")
    finally:
        saving.webgl_page = kept
    return pages


def measure(browser: Any, kind: str, path: Path, *, load_only: bool = False) -> dict[str, float]:
    """Return CPU seconds of the main thread for loading, a pan and a zoom, and the heap."""
    tab = browser.new_page(viewport={"width": 1000, "height": 700})
    tab.set_default_timeout(1000 * MOST_SECONDS)
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> dict[str, float]:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in metrics}

    found, start = {"megabytes": path.stat().st_size / 1e6}, time.perf_counter()
    tab.goto(path.as_uri(), wait_until="commit")
    tab.wait_for_function(READY[kind])
    _settle(tab)
    loaded = seconds()
    found |= {"load_cpu": loaded["TaskDuration"], "load_wall": time.perf_counter() - start}
    found["heap_megabytes"] = loaded["JSHeapUsedSize"] / 1e6
    if load_only:
        tab.close()
        return {name: round(value, 3) for name, value in found.items()}
    start = time.perf_counter()
    tab.mouse.move(400, 350)
    tab.mouse.down()
    tab.mouse.move(600, 450, steps=20)
    tab.mouse.up()
    _settle(tab)
    panned = seconds()
    found |= {"pan_cpu": panned["TaskDuration"] - loaded["TaskDuration"]}
    found["pan_wall"] = time.perf_counter() - start
    tab.mouse.wheel(0, -300)
    _settle(tab)
    found["zoom_cpu"] = seconds()["TaskDuration"] - panned["TaskDuration"]
    tab.close()
    return {name: round(value, 3) for name, value in found.items()}


def _settle(tab: Any) -> None:
    """Wait until two frames were drawn."""
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--kinds", nargs="*", default=["webgl", "plotly"])
    parser.add_argument("--load-only", action="store_true", help="neither pan nor zoom")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    found: dict[str, Any] = {"machine": platform.processor() or platform.machine(), "pages": {}}
    if given.output and given.output.exists():
        found = json.loads(given.output.read_text())
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *SOFTWARE_GL])
        found["browser"] = browser.version
        for count in given.counts:
            pages = write_pages(count, Path(folder))
            turns: dict[str, list[dict[str, float]]] = {kind: [] for kind in given.kinds}
            for _ in range(given.turns):
                for kind in given.kinds:
                    turns[kind].append(
                        measure(browser, kind, pages[kind], load_only=given.load_only)
                    )
            for kind, taken in turns.items():
                numbers = {name: statistics.median(one[name] for one in taken) for name in taken[0]}
                found["pages"].setdefault(str(count), {})[kind] = numbers | {"turns": len(taken)}
                print(count, kind, numbers, flush=True)
            if given.output:
                given.output.write_text(json.dumps(found, indent=1) + "\n")
        browser.close()


if __name__ == "__main__":
    main()
