"""The page of `unbend serve`: `python -m benchmarks.page [--only size,start,paint,million]`.

`--wheels WITH WITHOUT` names wheels that were built where npm is and where it is not.

Needs chromium, playwright and the page that `make page` builds. Main-thread CPU is that of the main
threads of all renderer processes, the sandboxed frame's included; pixels are drawn by another
process, in software, whose time is not counted. Elapsed times need an idle machine.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.web.browsing import SOFTWARE_GL, Visit, browsing, serving

from benchmarks.machine import cpu_name
from benchmarks.output import results_of
from unbend.web.server import BUNDLE

TURNS = 5
SERVER = "unbend/web/"
VIEWPORT = {"width": 1400, "height": 850}
LIMITS = {
    "page bytes": 500_000,
    "wheel growth bytes": 600_000,
    "server start seconds": 1.5,
    "first paint seconds": 0.5,
    "main-thread CPU seconds, load 1M": 2.0,
    "JS heap MB, 1M": 150.0,
    "longest frame ms, canvas, 100k": 300.0,
}


def sizes() -> dict[str, float]:
    """Bytes of the page."""
    return {"page bytes": sum(path.stat().st_size for path in BUNDLE.iterdir())}


def wheel_growth(built: Sequence[Path]) -> dict[str, float]:
    """Bytes that the page, and the server beside it, add to a wheel."""
    complete, bare = built
    with zipfile.ZipFile(bare) as wheel:
        server = sum(
            each.compress_size for each in wheel.infolist() if each.filename.startswith(SERVER)
        )
    grown = complete.stat().st_size - bare.stat().st_size
    return {"wheel growth bytes": grown + server, "of which the page": grown}


def start_server() -> dict[str, float]:
    """Seconds until the server has answered with the page, the least of some turns."""

    def turn(folder: str) -> tuple[float, float]:
        began = time.perf_counter()
        words = [sys.executable, "-m", "unbend", "serve", "--no-browser", folder]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            address = server.stdout.readline().decode().split("/#")[0]  # type: ignore[union-attr]
            while True:
                try:
                    urllib.request.urlopen(address).read()
                    return time.perf_counter() - began, cpu_seconds(server.pid)
                except OSError:
                    time.sleep(0.005)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()

    with tempfile.TemporaryDirectory() as folder:
        elapsed, spent = zip(*(turn(folder) for _ in range(TURNS)), strict=True)
    return {"server start seconds": min(elapsed), "server start CPU seconds": min(spent)}


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process until now, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def renderer_threads() -> dict[int, float]:
    """CPU seconds of the main threads of the renderer processes below this one."""
    parents, kinds = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            kinds[int(path.name)] = (path / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(path.name)] = int(fields[1])

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    found = {}
    for pid, words in kinds.items():
        if b"--type=renderer" in words and is_ours(pid):
            stat = Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()
            found[pid] = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return found


@contextmanager
def opened(points: int, renderer: str, *flags: str) -> Iterator[tuple[Any, Visit]]:
    """Serve a table of random points, and open it in a browser."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        values = np.random.default_rng(0).normal(size=(points, 2)).astype("f4")
        np.save(Path(folder) / "points.npy", values)
        with (
            sync_playwright() as driver,
            serving(folder, "points.npy") as (address, _),
            browsing(driver, *flags) as browser,
        ):
            visit = Visit(browser.new_context(viewport=VIEWPORT), address, renderer)
            visit.tab.set_default_timeout(300_000)
            visit.tab.locator(".advice .primary").wait_for()
            yield browser, visit


def paint() -> dict[str, float]:
    """Seconds from the start of the navigation to the first content, the median of some turns."""
    script = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
    found = []
    with opened(100, "canvas") as (browser, first):
        first.tab.close()
        for _ in range(TURNS):
            context = browser.new_context(viewport=VIEWPORT)
            tab = context.new_page()
            tab.goto(f"{first.origin}/")
            while not (milliseconds := tab.evaluate(script)):
                tab.wait_for_timeout(20)
            found.append(milliseconds / 1000)
            context.close()
    return {"first paint seconds": statistics.median(found)}


def heap_megabytes(visit: Visit) -> float:
    """JavaScript heaps of the page and of its frames, with the buffers of arrays."""
    total = 0.0
    for frame in visit.tab.frames:
        try:
            session = visit.tab.context.new_cdp_session(frame)
        except Exception:  # a frame in the process of the page is counted with it
            continue
        session.send("HeapProfiler.collectGarbage")
        usage = session.send("Runtime.getHeapUsage")
        total += usage["usedSize"] + usage.get("backingStorageSize", 0)
    return total / 1e6


def million() -> dict[str, float]:
    """Main-thread CPU from the finished fit to the drawn map of a million points, and the heap."""
    with opened(1_000_000, "webgl", *SOFTWARE_GL) as (_, visit):
        visit.fit("pca")
        visit.tab.wait_for_timeout(3000)
        # The second load has no fit in it: the page finds the map and draws it.
        before = renderer_threads()
        visit.tab.reload()
        visit.tab.locator(".map[data-drawn=true]").wait_for()
        visit.tab.wait_for_timeout(3000)
        after = renderer_threads()
        spent = sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
        return {
            "main-thread CPU seconds, load 1M": round(spent, 2),
            "JS heap MB, 1M": round(heap_megabytes(visit), 1),
        }


FRAMES = """() => {
    window.longest = 0;
    window.frames_drawn = 0;
    let last = performance.now();
    const step = (now) => {
        window.longest = Math.max(window.longest, now - last);
        last = now;
        window.frames_drawn++;
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
}"""


def fallback() -> dict[str, float]:
    """Longest time between two frames of a map of 100 000 points that is zoomed and moved."""
    with opened(100_000, "canvas", "--disable-3d-apis") as (_, visit):
        visit.fit("pca")
        visit.tab.wait_for_timeout(3000)
        box = visit.host().bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        visit.tab.evaluate(FRAMES)
        before = sum(renderer_threads().values())
        visit.tab.mouse.move(x, y)
        for _ in range(10):
            visit.tab.mouse.wheel(0, -60)
            visit.tab.wait_for_timeout(60)
        for _ in range(10):
            visit.tab.mouse.wheel(0, 60)
            visit.tab.wait_for_timeout(60)
        visit.drag([(x, y), (x + 90, y + 60), (x - 50, y - 30), (x, y)], pause=60)
        spent = sum(renderer_threads().values()) - before
        moved, frames = visit.tab.evaluate("() => [window.longest, window.frames_drawn]")
        visit.drag([(x - 80, y - 80), (x + 80, y - 80), (x + 80, y + 80)], shift=True, pause=60)
        visit.tab.wait_for_timeout(500)
        return {
            "longest frame ms, canvas, 100k": round(moved, 1),
            "main-thread CPU ms of a frame, canvas, 100k": round(1000 * spent / frames, 1),
            "frames, canvas, 100k": frames,
            "longest frame ms with a lasso, canvas, 100k": round(
                visit.tab.evaluate("() => window.longest"), 1
            ),
        }


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    "size": sizes,
    "start": start_server,
    "paint": paint,
    "million": million,
    "fallback": fallback,
}


def main() -> None:
    """Measure, print each figure beside its limit, and keep all in page.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(MEASURES))
    parser.add_argument("--wheels", nargs=2, type=Path)
    given = parser.parse_args()
    if not BUNDLE.exists():
        print("The page is not built, and nothing was measured: run make page, which needs npm.")
        return
    target = results_of(__file__)
    kept = json.loads(target.read_text()) if target.exists() else {"figures": {}}
    measures = dict(MEASURES)
    if given.wheels:
        measures["wheels"] = partial(wheel_growth, given.wheels)
    for name in given.only.split(",") + ["wheels"] * bool(given.wheels):
        found = measures[name]()
        kept["figures"] |= found
        for what, value in found.items():
            limit = LIMITS.get(what)
            print(f"{what}: {value:g}" + (f" (limit {limit:g})" if limit else ""), flush=True)
        kept |= {"processor": cpu_name(), "limits": LIMITS}
        target.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()
