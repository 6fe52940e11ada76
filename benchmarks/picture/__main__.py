"""Pictures of clustered data: neighbour embedding against openTSNE, UMAP, PaCMAP; picture.json.

    python -m benchmarks.picture [--quick] [--seeds N] [--again] [--only CONTENDER] [case ...]
    python -m benchmarks.picture --threads "unbend, exaggeration 1" [--rows N]
    python -m benchmarks.picture --table      writes the tables of docs/pictures.md

Contenders take turns, each fit in a process of its own with one thread and without the compilation
of numba (another fit comes first). Every run is recorded as soon as it ends, and a run that is
recorded is not repeated unless `--again` asks for it. CPU seconds are those of the whole fit:
neighbours, start and layout. Accuracy is that of a vote of ten neighbours in the picture,
trustworthiness that of twelve neighbours in the rows, both on at most 5000 rows.

`kl_divergence` is the exact one of one matrix of affinities (perplexity 30) a case, after 250 + 500
iterations. Contenders named "our affinities" lay out that very matrix; openTSNE computes its own
as well, which is part of its time. Others of ours minimise their own, of another seed.

Learning rates were chosen on `tuning.TUNED`, none of which judges (the case `tuning` repeats that).
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.machine import cpu_name
from benchmarks.measure import in_new_process
from benchmarks.output import FOLDER
from benchmarks.picture.accuracy import accuracy
from benchmarks.picture.cases import CASES, PLACED, PLACEMENT
from benchmarks.picture.measures import measure
from benchmarks.picture.table import write_tables
from benchmarks.picture.threads import TIMED, share_of_threads, time_threads
from benchmarks.picture.tuning import repulsion, tune

RESULTS = FOLDER / "picture.json"
QUICK = RESULTS.with_name("results-quick-picture.json")
TIMEOUT = 7200.0


def load(path: Path) -> dict[str, Any]:
    """Results so far."""
    return json.loads(path.read_text()) if path.exists() else {"runs": {}}


def run(case: str, contenders: list[str], seeds: int, path: Path, again: bool = False) -> None:
    """Measure the contenders of a case in turns, each in a process of its own."""
    for seed in range(seeds):
        for contender in contenders:
            if not again and str(seed) in load(path)["runs"].get(case, {}).get(contender, {}):
                continue
            found = in_new_process(
                "benchmarks.picture", "--one", case, contender, seed, threads=1, timeout=TIMEOUT
            )
            print(case, contender, seed, found, flush=True)
            if "status" not in found:
                record(path, case, contender, seed, found)


def record(path: Path, case: str, contender: str, seed: int, found: dict[str, float]) -> None:
    """Write one run at once, so that an interruption loses no other."""
    results = load(path)
    results["machine"] = {"cpu": cpu_name(), "threads": 1}
    runs = results["runs"].setdefault(case, {}).setdefault(contender, {})
    runs[str(seed)] = {key: round(value, 4) for key, value in found.items()}
    path.write_text(json.dumps(results, indent=1) + "\n")


ALONE = {
    "accuracy": accuracy,
    "repulsion": repulsion,
    "threads": share_of_threads,
    "tuning": tune,
}


def main() -> None:
    """Measure the cases named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=f"of {[*CASES, PLACEMENT, *ALONE]}")
    parser.add_argument("--quick", action="store_true", help="digits and two seeds")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--again", action="store_true", help="repeat recorded runs")
    parser.add_argument("--only", default="", help="contenders whose name has this in it")
    parser.add_argument("--table", action="store_true", help="write the tables of the page")
    parser.add_argument("--threads", choices=TIMED, help="time one fit with one and two threads")
    parser.add_argument("--rows", type=int, default=70_000, help="rows of --threads")
    parser.add_argument("--one", nargs=3, metavar=("CASE", "CONTENDER", "SEED"))
    arguments = parser.parse_args()
    if arguments.one:
        case, contender, seed = arguments.one
        print(json.dumps(measure(case, contender, int(seed))))
        return
    path = QUICK if arguments.quick else RESULTS
    if arguments.table:
        write_tables(load(path))
        return
    if arguments.threads:
        timed = time_threads(arguments.threads, arguments.rows, load(path).get("timed threads", {}))
        path.write_text(json.dumps({**load(path), "timed threads": timed}, indent=1) + "\n")
        return
    everything = ["digits"] if arguments.quick else [*CASES, PLACEMENT, *ALONE]
    for case in arguments.cases or everything:
        if case in ALONE:
            found = ALONE[case]()
            path.write_text(json.dumps({**load(path), case: found}, indent=1) + "\n")
            continue
        contenders = PLACED if case == PLACEMENT else CASES[case][2]
        contenders = [name for name in contenders if arguments.only in name]
        seeds = min(2, arguments.seeds) if arguments.quick else arguments.seeds
        run(case, contenders, seeds, path, arguments.again)


if __name__ == "__main__":
    main()
