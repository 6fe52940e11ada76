"""What vectors of 512 bits gain: `python -m benchmarks.vector_width [--turns 3] [--keep FOLDER]`.

Builds the extension twice into scratch folders: as it is, where hot loops are compiled for AVX2 and
chosen at run time, and for x86-64-v4 with vectors of 512 bits preferred, where everything may use
AVX-512. Types of 256 bits that the code names stay as wide, and get the instructions, masks and 32
registers; loops that the compiler makes vectors of get 512 bits. Each stage runs in a process of
its own, of both builds in turns, on one thread: the ratio is the least CPU time of the build as it
is over that of the other, so above 1 AVX-512 is faster. Written to vector_width.json; takes four
minutes of CPU for the builds and as much for the stages.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, in_new_process
from benchmarks.output import results_of

RESULTS = results_of(__file__)
BUILDS = {"as it is": "", "x86-64-v4": "-march=x86-64-v4 -mprefer-vector-width=512"}
# What the processor must have for the second build.
NEEDED = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
# Runs of a stage in one process, after one that is not timed.
ROUNDS = 3


def why_not(facts: Path = Path("/proc/cpuinfo")) -> str | None:
    """Return why the builds cannot be compared here, or None."""
    if not facts.exists() or not set(facts.read_text().split()) >= NEEDED:
        return "This processor has no AVX-512: run it on one that has."
    if not shutil.which(os.environ.get("CXX", "c++")):
        return "There is no C++ compiler: install one, or name it in CXX."
    return None


def build(flags: str, folder: Path) -> Path:
    """Install the package with further flags of the compiler into a folder."""
    target = folder / "installed"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target]
    settings = [f"build-dir={folder / 'objects'}", "cmake.define.NPM=OFF"]
    options = [f"--config-settings={setting}" for setting in settings]
    given = f"{os.environ.get('CXXFLAGS', '')} {flags}".strip()
    subprocess.run([*command, *options, ROOT], check=True, env=os.environ | {"CXXFLAGS": given})
    if not list(target.glob("unbend/_kernels/_native*.so")):
        raise SystemExit(f"The extension was not built with {flags!r}: try `pip install -v .`.")
    return target


def more_stages() -> dict[str, Callable[[], Callable[[], Any]]]:
    """Return searches among rows of many columns, beside the stages of `stages.py`."""
    import numpy as np

    from unbend.neighbors import BruteForce, NNDescent

    def rows(n: int, columns: int) -> Any:
        rng = np.random.default_rng(0)
        spread = rng.normal(size=(12, columns))
        points = rng.normal(size=(n, 12)) @ spread + 0.1 * rng.normal(size=(n, columns))
        return points.astype(np.float32)

    def search(index: Any, points: Any) -> Callable[[], Any]:
        return lambda: index.build(points).query_self(15)

    return {
        "exact neighbours by products": lambda: search(BruteForce(), rows(10_000, 100)),
        "NN-descent": lambda: search(NNDescent(), rows(30_000, 100)),
    }


def load_from(folder: str) -> None:
    """Import the package from a folder, also where an editable installation comes first."""
    sys.meta_path[:] = [one for one in sys.meta_path if "ScikitBuild" not in type(one).__name__]
    sys.path.insert(0, folder)
    import unbend

    if not Path(unbend.__file__).is_relative_to(folder):
        raise SystemExit(f"unbend was imported from {unbend.__file__}, not from {folder}.")


def names() -> list[str]:
    """List the stages."""
    from benchmarks.stages import STAGES

    return [name for name, _ in STAGES] + list(more_stages())


def time_stage(name: str) -> list[float]:
    """CPU seconds of some runs of a stage on one thread."""
    from threadpoolctl import threadpool_limits

    from benchmarks.stages import STAGES

    stages = dict(STAGES)
    with threadpool_limits(1):
        if name in stages:
            stage = stages[name](False)
            run = lambda: stage.run(1)  # noqa: E731
        else:
            run = more_stages()[name]()
        run()
        times = []
        for _ in range(ROUNDS):
            start = time.process_time()
            run()
            times.append(time.process_time() - start)
    return times


def compare(name: str, folders: dict[str, Path], turns: int) -> dict[str, Any]:
    """Least CPU seconds of both builds, in turns, and their ratio."""
    times: dict[str, list[float]] = {build: [] for build in folders}
    for _ in range(turns):
        for title, folder in folders.items():
            found = in_new_process(
                "benchmarks.vector_width", "--one", name, folder, threads=1, timeout=600
            )
            if "times" not in found:
                raise SystemExit(f"{name}, build {title}: {found['status']}")
            times[title] += found["times"]
    plain, wide = (min(times[title]) for title in BUILDS)
    return {
        "seconds": round(plain, 5),
        "x86-64-v4": round(wide, 5),
        "ratio": round(plain / wide, 3),
        "runs": len(times["x86-64-v4"]),
    }


def measure(folder: Path, turns: int) -> None:
    """Build what is not in the folder, compare all stages and write them."""
    from benchmarks.machine import commit, cpu_name

    folders = {}
    for number, (title, flags) in enumerate(BUILDS.items()):
        place = folder / f"build-{number}"
        installed = place / "installed"
        folders[title] = installed if installed.exists() else build(flags, place)
    found: dict[str, Any] = {"cpu": cpu_name(), "commit": commit(), "builds": BUILDS, "stages": {}}
    for name in names():
        found["stages"][name] = compare(name, folders, turns)
        print(f"{name:<34}{found['stages'][name]}", flush=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    """Compare, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder of the builds, taken if they are there")
    parser.add_argument("--one", nargs=2, metavar=("STAGE", "FOLDER"))
    given = parser.parse_args()
    if given.one:
        load_from(given.one[1])
        print(json.dumps({"times": time_stage(given.one[0])}))
        return
    if reason := why_not():
        print(reason)
        return
    with tempfile.TemporaryDirectory(prefix="unbend-width-") as scratch:
        measure(given.keep or Path(scratch), given.turns)


if __name__ == "__main__":
    main()
