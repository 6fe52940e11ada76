"""Every harness in turn: `python -m benchmarks.whole [--minutes 50] [--quick] [name…]`.

Each has a limit of its own, to which comes what those before it left of theirs; all limits together
are the minutes. One that is cut keeps what it wrote, and one that fails does not stop the others.
Where the whole of a harness takes hours, a part of it is measured here, which its arguments name.
How long each took, and how it ended, goes to `whole.json`. The exit status is 1 if one failed.

With `--quick` every harness starts at its smallest setting and writes to a scratch folder: whether
they work at all, in a few minutes.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import commit, cpu_name
from benchmarks.measure import ROOT
from benchmarks.output import results_of

MINUTES = 50.0


@dataclass(frozen=True)
class Harness:
    """A module, its arguments in a whole run and in a trial, and the seconds it may take."""

    module: str
    seconds: float
    arguments: tuple[str, ...] = ()
    quick: tuple[str, ...] = ("--quick",)

    @property
    def name(self) -> str:
        """Last part of the module's name."""
        return self.module.rpartition(".")[2]


def harness(name: str, seconds: float, arguments: str = "", quick: str = "--quick") -> Harness:
    """Return a harness of this folder."""
    return Harness(f"benchmarks.{name}", seconds, tuple(arguments.split()), tuple(quick.split()))


# What the summary is made of comes first, and what is longest last.
HARNESSES = (
    Harness(
        "benchmarks",
        1060,
        ("--limit", "--budget", "1000"),
        ("--quick", "--only", "PCA", "--limit", "--budget", "20"),
    ),
    harness("small", 350, quick="wine --only=PCA"),
    harness("two_threads", 160),
    harness("migration", 40),
    harness("scaling", 70),
    harness("quality", 130),
    harness("method_cost", 120),
    harness("factorizations", 20),
    harness("top_end", 50),
    harness("lowrank", 110, quick="fat_2000"),
    harness("unfold", 30, quick="inequality:100"),
    harness("localize", 60, "book", "book --quick"),
    harness("recognition", 45, "2", "1"),
    harness("model_size", 30),
    harness("dimension", 120, "pca correlation mle two_nn entropic_graph", "--quick pca mle"),
    harness("page", 85, quick="--only size"),
    harness("noise.rolls", 50, "--only rolls", "--only rolls --most 5000"),
    harness("short_circuits", 30, "cost", "--quick cost"),
    harness("memory", 90, "--family roll --rows 5000", "--only LTSA --family roll --rows 1000"),
    harness(
        "cancellation", 50, "LTSA LLE LaplacianEigenmaps LandmarkIsomap Isomap NonmetricMDS", "PCA"
    ),
    harness(
        "scale",
        50,
        "--share 0.05 --only pca,neighbors,workers,death",
        "--share 0.001 --only neighbors",
    ),
    harness("picture", 70, "--quick --again --seeds 1", "--quick --again --seeds 1 --only unbend"),
    harness("descent_curves", 180, quick="2000 --ours --only SIFT-like"),
)


def run(one: Harness, seconds: float, quick: bool, environment: dict[str, str]) -> dict[str, Any]:
    """Run a harness for so long at the most; end it and its children where it is cut."""
    words = [sys.executable, "-m", one.module, *(one.quick if quick else one.arguments)]
    print("$", *words[1:], f"   (at most {seconds:.0f} s)", flush=True)
    start = time.monotonic()
    process = subprocess.Popen(words, cwd=ROOT, env=environment, start_new_session=True)
    try:
        code = process.wait(seconds)
        status = "ok" if code == 0 else f"failed with exit status {code}"
    except subprocess.TimeoutExpired:
        status = f"cut after {seconds:.0f} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    taken = round(time.monotonic() - start, 1)
    print(f"{one.name}: {status}, {taken:.0f} s", flush=True)
    return {"arguments": " ".join(words[3:]), "status": status, "seconds": taken}


def run_all(chosen: list[Harness], minutes: float, quick: bool, folder: str | None) -> bool:
    """Run harnesses until the time is up; record each, and return whether none failed."""
    environment = dict(os.environ) | ({"UNBEND_BENCHMARKS": folder} if folder else {})
    path = Path(folder) / "whole.json" if folder else results_of(__file__)
    known = json.loads(path.read_text()) if path.exists() else {}
    found: dict[str, Any] = known.get("harnesses", {})
    end = time.monotonic() + 60 * minutes
    good, spare = True, 0.0
    for one in chosen:
        left = min(one.seconds + spare, end - time.monotonic())
        if left <= 0:
            found[one.name] = {"status": "not reached in the time of the run"}
            continue
        found[one.name] = run(one, left, quick, environment)
        spare = max(spare + one.seconds - found[one.name]["seconds"], 0.0)
        good &= not found[one.name]["status"].startswith("failed")
        facts = {"cpu": cpu_name(), "commit": commit(), "harnesses": found}
        path.write_text(json.dumps(facts, indent=1) + "\n")
    for name, one_found in found.items():
        print(f"{name:<18}{one_found.get('seconds', 0):8.0f} s  {one_found['status']}")
    return good


def main() -> int:
    """Run the harnesses that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole", description=__doc__)
    names = [one.name for one in HARNESSES]
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all (default 50)")
    parser.add_argument("--quick", action="store_true", help="smallest settings, scratch folder")
    given = parser.parse_args()
    if unknown := set(given.names) - set(names):
        parser.error(f"there is no harness {', '.join(sorted(unknown))}: name {', '.join(names)}")
    chosen = [one for one in HARNESSES if not given.names or one.name in given.names]
    if not given.quick:
        return 0 if run_all(chosen, given.minutes, False, None) else 1
    with tempfile.TemporaryDirectory(prefix="unbend-bench-") as folder:
        return 0 if run_all(chosen, given.minutes, True, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
