"""Count calls between the folders of the package: `python -m benchmarks.call_trace [NAME]`.

A fit of Isomap and one run of the command line, both after a first run that imports everything.
A crossing is a call, seen by `sys.setprofile`, of a function in one top-level folder or module of
`unbend` from a function in another; the caller is the nearest frame on the stack that belongs to
the package, so that calls through scikit-learn, typer or contextlib count for who made them. Four
numbers come out:

- `functions`: distinct pairs (calling function, called function) that cross;
- `calls`: crossing calls;
- `folders`: distinct pairs of folders;
- `modules`: modules of the package in which a function ran.

With a NAME, such as "before" or "after", the numbers are written to call_trace.json under it.
"before" is commit 9e36325, the last one before packages were named after the stages: 123 and 215
calls by this rule, where issue 20 counted 131 and 243.
"""

import io
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import unbend

PACKAGE = os.path.dirname(unbend.__file__) + os.sep
RESULTS = Path(__file__).with_name("call_trace.json")
COMMAND = "embed roll.csv --method isomap --n-neighbors 8 -o out.csv --model roll.unbend"
Edge = tuple[tuple[str, str], tuple[str, str]]


def module_of(frame: FrameType) -> str | None:
    """Path of a frame's module inside the package; None for the others and for module bodies."""
    file = frame.f_code.co_filename
    if not file.startswith(PACKAGE) or frame.f_code.co_name == "<module>":
        return None
    return file[len(PACKAGE) :].removesuffix(".py")


def folder_of(module: str) -> str:
    """Top-level folder or module."""
    return module.split(os.sep)[0]


class Trace:
    """Counts of calls that cross from one top-level folder to another."""

    def __init__(self) -> None:
        self.calls: Counter[Edge] = Counter()
        self.modules: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Look at one event of the interpreter."""
        if event != "call":
            return
        module = module_of(frame)
        if module is None:
            return
        self.modules.add(module)
        caller = frame.f_back
        while caller is not None and module_of(caller) is None:
            caller = caller.f_back
        if caller is None:
            return
        source = module_of(caller) or ""
        if folder_of(source) != folder_of(module):
            edge = (source, caller.f_code.co_qualname), (module, frame.f_code.co_qualname)
            self.calls[edge] += 1

    def run(self, work: Callable[[], object]) -> None:
        """Trace one call."""
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)

    def numbers(self) -> dict[str, Any]:
        """Return the four numbers, and calls by pair of folders, most first."""
        pairs: Counter[str] = Counter()
        for (source, target), count in self.calls.items():
            pairs[f"{folder_of(source[0])} -> {folder_of(target[0])}"] += count
        return {
            "functions": len(self.calls),
            "calls": self.calls.total(),
            "folders": len(pairs),
            "modules": len(self.modules),
            "by_folder": dict(pairs.most_common()),
        }


def isomap() -> Callable[[], object]:
    """Fit 500 points of a Swiss roll."""
    points = unbend.datasets.swiss_roll(500, random_state=0).points
    return lambda: unbend.Isomap(n_neighbors=8).fit(points)


def command() -> Callable[[], object]:
    """Run `unbend embed` in this process, on a file in the current directory."""
    from unbend.cli import main as run_command

    points = unbend.datasets.swiss_roll(500, random_state=0).points
    np.savetxt("roll.csv", points, delimiter=",", header="x,y,z", comments="")

    def run() -> None:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            code = run_command(COMMAND.split())
        if code:
            raise RuntimeError(f"unbend {COMMAND} ended with code {code}")

    return run


def trace(prepare: Callable[[], Callable[[], object]]) -> Trace:
    """Run a task once to import everything, and once more under the trace."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        work = prepare()
        work()
        found = Trace()
        found.run(work)
    return found


def main() -> None:
    """Print the numbers of both tasks; write them under the name that was given."""
    traces = {"isomap": trace(isomap), "embed": trace(command)}
    numbers = {task: found.numbers() for task, found in traces.items()}
    for task, found in traces.items():
        print(task, {name: n for name, n in numbers[task].items() if name != "by_folder"})
        for (source, target), count in found.calls.most_common():
            print(f"{count:6d}  {'.'.join(source)} -> {'.'.join(target)}")
    if len(sys.argv) > 1:
        stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        stored[sys.argv[1]] = {"command": f"unbend {COMMAND}", **numbers}
        RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
