"""Measure everything: `python -m benchmarks [--quick] [--only METHOD]`.

Results are written after every case, so that an interrupted run keeps what it has. They replace
those that are there; a case that was not reached keeps its earlier figures, with the machine and
the commit on which they were measured.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks import cases, figures, machine, plots, table
from benchmarks.cases import Case
from benchmarks.measure import in_new_process
from benchmarks.output import FOLDER
from benchmarks.peers import installed
from benchmarks.run import NOT_REACHED, Settings, measure_case

Results = dict[str, Any]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="small sizes, one run each: under three minutes")
    add("--only", action="append", metavar="METHOD", help="panel or case to measure; repeatable")
    add(
        "--limit",
        action="store_true",
        help="state the physical bound of every stage",
    )
    add("--threads", type=int, default=1, help="threads of every contender (default 1)")
    add("--rounds", type=int, help="runs at most (default 2, quick 1)")
    add("--timeout", type=float, help="seconds for one measurement (default 150, quick 20)")
    add("--budget", type=float, help="seconds for all (default 1200, quick 150)")
    add("--memory", type=float, default=12.0, help="GB for one measurement; 0: no bound")
    add("--output", type=Path, help="name of the results without ending")
    return parser.parse_args()


def chosen(quick: bool, only: list[str] | None) -> list[Case]:
    """Return the cases of a run; `only` names panels, methods, or cases as "LLE n=2000"."""
    every = cases.quick() if quick else cases.full()
    if not only:
        return every
    every += cases.largest()
    wanted = {name.lower() for name in only}
    found = [c for c in every if wanted & {c.panel.lower(), c.method.lower(), c.key.lower()}]
    if not found and wanted != {"stages"}:
        panels = ", ".join(dict.fromkeys(case.panel for case in every))
        raise SystemExit(f"no case of that name; there are stages, {panels}")
    return found


def beginning(path: Path, settings: Settings) -> Results:
    """Return the results that are there, or empty ones."""
    empty: Results = {"settings": {}, "machines": {}, "limits": {}, "cases": {}, "stages": {}}
    results = json.loads(path.read_text()) if path.exists() else empty
    names = ("rounds", "threads", "timeout", "once_above", "memory_gb")
    results["settings"] = {name: getattr(settings, name) for name in names}
    return results


def nothing_reached(record: dict[str, Any]) -> bool:
    """Return whether the time was up before anything was measured."""
    return all(one["status"] == NOT_REACHED for one in record["contenders"].values())


def write(results: Results, stem: Path, limit: bool) -> None:
    """Write JSON and Markdown; only machines that a case was measured on are kept."""
    used = {case["machine"] for case in results["cases"].values()}
    results["machines"] = {k: v for k, v in results["machines"].items() if k in used}
    results["figures"] = figures.judge_all(results)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    stem.with_suffix(".json").write_text(text + "\n")
    stem.with_suffix(".md").write_text(table.markdown(results, limit))


def show(key: str, record: dict[str, Any], seconds: float) -> None:
    """Print one line a contender."""
    print(f"{key}  [{seconds:.0f} s]", flush=True)
    for who, one in record["contenders"].items():
        if one["status"] == "ok":
            words = f"{one['cpu']:9.3f} s CPU {one['peak_mb']:8.0f} MB  {table.accuracy(one)}"
        else:
            words = one["status"]
        print(f"    {who:<14}{words}", flush=True)


def main() -> None:
    """Measure, print and write."""
    args = arguments()
    budget = args.budget or (150 if args.quick else 1200)
    settings = Settings(
        rounds=args.rounds or (1 if args.quick else 2),
        threads=args.threads,
        timeout=args.timeout or (20 if args.quick else 150),
        memory_gb=args.memory,
        deadline=time.monotonic() + budget,
    )
    stem = args.output or FOLDER / ("results-quick" if args.quick else "results")
    results = beginning(stem.with_suffix(".json"), settings)
    facts = machine.facts()
    here = machine.identity(facts)
    results["machines"][here] = facts
    results["import_seconds"] = machine.import_seconds()
    peers = installed()
    if args.limit:
        results["limits"] = in_new_process("benchmarks.limits", threads=args.threads, timeout=120)
    if not args.only or "stages" in args.only:
        quick = ["--quick"] * args.quick + ["--limit"] * args.limit
        results["stages"] = in_new_process("benchmarks.stages", *quick, threads=2, timeout=300)
    for case in chosen(args.quick, args.only):
        start = time.monotonic()
        earlier = results["cases"].get(case.key)
        record = measure_case(case, settings, peers, earlier) | {"machine": here}
        if nothing_reached(record) and case.key in results["cases"]:
            continue
        results["cases"][case.key] = record
        show(case.key, record, time.monotonic() - start)
        write(results, stem, args.limit)
    write(results, stem, args.limit)
    plots.draw_all(results, stem)


if __name__ == "__main__":
    main()
