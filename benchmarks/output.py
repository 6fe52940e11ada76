"""Where results are written: beside the scripts, or in the folder UNBEND_BENCHMARKS.

A trial with small settings names a folder of its own, so that it replaces no measured figure.
"""

import os
from pathlib import Path

FOLDER = Path(os.environ.get("UNBEND_BENCHMARKS") or Path(__file__).parent)


def results_of(script: str) -> Path:
    """Return the JSON file of a script, given its `__file__`."""
    return FOLDER / f"{Path(script).stem}.json"
