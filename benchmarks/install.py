"""Install the peers one by one: one that fails is skipped and said so."""

import subprocess
import sys
import tomllib
from pathlib import Path


def main() -> None:
    """Install the dependency group `bench` of pyproject.toml."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    for requirement in project["dependency-groups"]["bench"]:
        command = [sys.executable, "-m", "pip", "install", "--quiet", requirement]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"{requirement}: not installed, will be skipped ({reason[:160]})")


if __name__ == "__main__":
    main()
