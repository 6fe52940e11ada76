"""One case: its data, then every contender in turn, round after round, in fresh processes."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.accuracy import judge
from benchmarks.cases import COMPILED_LATE, Case
from benchmarks.data import write
from benchmarks.measure import in_new_process

Record = dict[str, Any]
NOT_REACHED = "not reached in the time of the run"
# Megabytes touched before the first run of a case that was never measured.
LEAST_TOUCHED = 500.0


@dataclass
class Settings:
    """How a run measures."""

    rounds: int = 2
    threads: int = 1
    timeout: float = 150.0
    """Seconds after which one measurement is cut."""
    once_above: float = 10.0
    """Seconds (wall, with preparation) beyond which one run must do."""
    memory_gb: float = 12.0
    """Address space of one measurement; 0: no bound."""
    deadline: float = float("inf")
    """`time.monotonic()` at which no further measurement begins."""
    cut: dict[tuple[str, str], int] = field(default_factory=dict)
    """Rows at which a contender was cut in a panel: it is not tried with more."""

    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()


def measure_case(
    case: Case, settings: Settings, installed: dict[str, str | None], earlier: Record | None = None
) -> Record:
    """Measure every contender; those that cannot be are there with the reason.

    Before a first run as much memory is touched as the contender took in `earlier` results.
    """
    before = earlier["contenders"] if earlier else {}
    busy = round(os.getloadavg()[0], 2)
    with TemporaryDirectory(prefix="unbend-bench-") as name:
        folder = Path(name)
        write(case.data, case.n, case.new, folder)
        runs: dict[str, list[Record]] = {"unbend": [], **{peer: [] for peer in case.peers}}
        for who in _turns(case, runs, settings, installed):
            known = [*runs[who], before.get(who, {})]
            needed = max(run.get("peak_mb", LEAST_TOUCHED) for run in known)
            record = _one(case, who, settings, folder, needed)
            if record["status"] == "ok" and not any(run["status"] == "ok" for run in runs[who]):
                record["accuracy"] = judge(case, who, folder)
            runs[who].append(record)
        contenders = {who: _best(records) for who, records in runs.items()}
    load = round(os.getloadavg()[0], 2)
    return {
        **asdict(case),
        "threads": settings.threads,
        "load_before": busy,
        "load_after": load,
        "contenders": contenders,
    }


def _turns(
    case: Case,
    runs: dict[str, list[Record]],
    settings: Settings,
    installed: dict[str, str | None],
) -> Iterator[str]:
    """Whose turn it is: A B C, A B C, …, without those that have reason to stop."""
    for _ in range(settings.rounds):
        for who, records in runs.items():
            reason = _reason_not_to_start(case, who, settings, installed)
            if not records and reason:
                records.append({"status": reason})
            elif not reason and (not records or _again(records[-1], settings)):
                if records and who in COMPILED_LATE:
                    continue  # all its runs were in the first process
                yield who
                if records[-1]["status"].startswith("cut"):
                    settings.cut[case.panel, who] = case.n


def _reason_not_to_start(
    case: Case, who: str, settings: Settings, installed: dict[str, str | None]
) -> str | None:
    if who != "unbend" and installed.get(who) is None:
        return "not installed"
    if settings.left() <= 0:
        return NOT_REACHED
    rows = settings.cut.get((case.panel, who))
    if rows is not None and case.n >= rows:
        return f"not tried: cut at {rows} rows"
    return None


def _again(record: Record, settings: Settings) -> bool:
    return record["status"] == "ok" and record["process_seconds"] <= settings.once_above


def _one(case: Case, who: str, settings: Settings, folder: Path, needed_mb: float) -> Record:
    """Measure once; times of fewer new rows are scaled to all."""
    new = case.new if who == "unbend" else case.peer_new
    wants_exact = case.exact and who == "unbend" and not (folder / "exact.npy").exists()
    spec = {
        "who": who,
        "folder": str(folder),
        "memory_gb": settings.memory_gb,
        "touch_mb": needed_mb,
        "new": new,
        "exact": wants_exact,
        "repeats": settings.rounds if who in COMPILED_LATE else 1,
        "job": {
            "method": case.method,
            "k": case.k,
            "d": case.d,
            "threads": settings.threads,
            "options": case.options,
        },
    }
    path = folder / "spec.json"
    path.write_text(json.dumps(spec))
    timeout = max(5.0, min(settings.timeout, settings.left() + 60))
    record = in_new_process("benchmarks.measure", path, threads=settings.threads, timeout=timeout)
    if record["status"] == "ok" and new and new != case.new:
        scale = case.new / new
        record |= {name: record[name] * scale for name in ("cpu", "wall")} | {"scaled": scale}
        record["all_cpu"] = [cpu * scale for cpu in record["all_cpu"]]
    return record


def _best(records: list[Record]) -> Record:
    """Return the run of least CPU time, with the times of all and its accuracy.

    A contender that failed once after it had succeeded keeps its times.
    """
    good = [record for record in records if record["status"] == "ok"]
    if not good:
        return records[0] if records else {"status": NOT_REACHED}
    best = min(good, key=lambda record: record["cpu"])
    accuracy = next((r["accuracy"] for r in good if "accuracy" in r), {})
    every = [cpu for record in good for cpu in record["all_cpu"]]
    return {**best, "accuracy": accuracy, "all_cpu": every}
