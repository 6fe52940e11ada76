"""One measurement in a process of its own: `python -m benchmarks.measure SPEC.json`.

The parent writes the data and the specification and reads one line of JSON; the result itself
goes to a .npy file, so that accuracy is measured outside this process.
"""

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def in_new_process(module: str, *arguments: object, threads: int, timeout: float) -> dict[str, Any]:
    """Run a module and return the JSON of its last line, or {"status": why not}."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    command = [sys.executable, "-m", module, *map(str, arguments)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return {"status": f"cut after {timeout:.0f} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"status": f"failed: {last[:160]}"}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def memory_mb(name: str) -> float:
    """Resident memory of this process: "VmRSS" now, "VmHWM" at its peak.

    `ru_maxrss` would do for the peak, but a child begins with its parent's; it is the fallback.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def forget_peak() -> None:
    """Let the peak begin anew, where the kernel allows: the warm-up is not part of it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def touch_memory(megabytes: float) -> None:
    """Use memory once and return it, before it is used in what is measured.

    A virtual machine may get memory from its host only at first touch, at several times the price
    of the work to be measured; afterwards it has it. NumPy asks for pages of 2 MB, as it does for
    large arrays of a fit: small ones that were touched do not become large ones, and the fit
    gets others.
    """
    import numpy as np

    block = np.empty(int(megabytes * 1e6), np.uint8)
    block[::4096] = 0


def cpu_seconds() -> float:
    """CPU time of all threads and of children that ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def system_seconds() -> float:
    """CPU time of the operating system for this process: mostly giving it memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_stime


def measure(
    who: str, job: Any, repeats: int = 1, megabytes: float = 0.0
) -> tuple[Any, dict[str, Any]]:
    """Warm up, prepare, and take the memory of the first run and the times of the best.

    `megabytes` are touched before: about what the run will need.
    """
    from benchmarks.cases import COMPILED_LATE
    from benchmarks.contenders import prepare

    try:
        # Which code is compiled may depend on the number of rows.
        prepare(who, job if who in COMPILED_LATE else job.small())[0]()
    except Exception as error:
        print(f"warm-up: {error}", file=sys.stderr)
    run, facts = prepare(who, job)
    touch_memory(megabytes)
    forget_peak()
    before = memory_mb("VmRSS")
    times = []
    for number in range(repeats):
        wall, cpu, system = time.perf_counter(), cpu_seconds(), system_seconds()
        result = run()
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
        times.append((round(cpu, 5), round(wall, 5), round(system_seconds() - system, 5)))
        if number == 0:
            peak = memory_mb("VmHWM")
    cpu, wall, system = min(times)
    record = {
        "status": "ok",
        "cpu": cpu,
        "wall": wall,
        "system": system,
        "all_cpu": [cpu for cpu, *_ in times],
        "peak_mb": round(peak, 1),
        "grown_mb": round(max(peak - before, 0.0), 1),
    }
    return result, record | {"facts": facts()}


def main() -> None:
    """Read the specification, measure, write the result and print the record.

    The exact answer, where the case asks for it, is found here too, after the measurement.
    """
    start = time.monotonic()
    import numpy as np

    from benchmarks.contenders import Job, prepare

    spec = json.loads(Path(sys.argv[1]).read_text())
    if spec["memory_gb"]:
        limit = int(spec["memory_gb"] * 1e9)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")
    folder = Path(spec["folder"])
    new = np.load(folder / "new.npy")[: spec["new"]] if spec["new"] else None
    job = Job(points=np.load(folder / "points.npy"), new=new, **spec["job"])
    result, record = measure(spec["who"], job, spec["repeats"], spec["touch_mb"])
    record["process_seconds"] = round(time.monotonic() - start, 2)
    np.save(folder / f"{spec['who']}.npy", np.asarray(result))
    if spec["exact"]:
        np.save(folder / "exact.npy", prepare("exact", job)[0]())
    print(json.dumps(record))


if __name__ == "__main__":
    main()
