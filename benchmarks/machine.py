"""What the measurements ran on."""

import hashlib
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers import installed

IMPORT = """
import time
start = time.perf_counter()
import numpy, scipy.sparse.linalg, scipy.spatial
base = time.perf_counter() - start
start = time.perf_counter()
import unbend
print(time.perf_counter() - start, base)
"""


def cpu_name() -> str:
    """Model name of the processor."""
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def import_seconds() -> dict[str, float]:
    """Seconds that `import unbend` takes, and NumPy and SciPy before it."""
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    own, base = map(float, done.stdout.split())
    return {"unbend": round(own, 3), "numpy_and_scipy": round(base, 3)}


def commit() -> str:
    """Return the commit measured, with a plus if the files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    return done.stdout.strip() or "unknown"


def facts() -> dict[str, Any]:
    """Processor, system and the versions of all packages involved."""
    from unbend._kernels import name

    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "kernels": name,
        "commit": commit(),
        "versions": {"unbend": version("unbend"), "numpy": version("numpy"), **installed()},
    }


def identity(machine: dict[str, Any]) -> str:
    """Return a short name, so that each case can say where it was measured."""
    return hashlib.sha256(json.dumps(machine, sort_keys=True).encode()).hexdigest()[:8]
