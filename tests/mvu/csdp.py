"""Maximum variance unfolding by CSDP, an independent solver of semidefinite programs.

ΣK = 0 has no interior, so the kernel is asked to have ΣK = n: that adds one to the trace.
"""

import re
import subprocess
from pathlib import Path

import numpy as np

from unbend.mvu import Edges


def variance(edges: Edges, folder: Path, kappa: np.ndarray | None = None) -> float:
    """Largest tr K with lengths as bounds, or less ½ Σ κ c² for springs."""
    n, m = edges.n, edges.m
    size = edges.squares.mean()
    lines, blocks = [], [n, -m]
    right = [*(edges.squares / size), float(n)]
    lines += [f"0 1 {i} {i} 1" for i in range(1, n + 1)]
    for e, (i, j) in enumerate(zip(edges.first + 1, edges.second + 1, strict=True), 1):
        lines += [f"{e} 1 {i} {i} 1", f"{e} 1 {j} {j} 1", f"{e} 1 {i} {j} -1", f"{e} 2 {e} {e} 1"]
    lines += [f"{m + 1} 1 {i} {j} 1" for i in range(1, n + 1) for j in range(i, n + 1)]
    if kappa is not None:
        blocks, lines, right = _springs(edges, kappa, lines, right)
    return (_solved(blocks, right, lines, folder) - 1.0) * size


def variance_in_span(edges: Edges, basis: np.ndarray, folder: Path) -> float:
    """Largest tr Z with lengths of U Z U' as bounds, for orthonormal columns U of sum zero."""
    size, p = edges.squares.mean(), basis.shape[1]
    lines = [f"0 1 {i} {i} 1" for i in range(1, p + 1)]
    for e, vector in enumerate(basis[edges.first] - basis[edges.second], 1):
        products = np.outer(vector, vector)
        lines += [
            f"{e} 1 {i + 1} {j + 1} {products[i, j]:.17g}" for i in range(p) for j in range(i, p)
        ]
        lines += [f"{e} 2 {e} {e} 1"]
    return _solved([p, -edges.m], [*(edges.squares / size)], lines, folder) * size


def _solved(blocks: list[int], right: list[float], lines: list[str], folder: Path) -> float:
    """Largest value of a program in SDPA's format."""
    head = [str(len(right)), str(len(blocks)), " ".join(map(str, blocks))]
    program = folder / "program.dat-s"
    program.write_text("\n".join([*head, " ".join(f"{b:.17g}" for b in right), *lines]) + "\n")
    done = subprocess.run(
        ["csdp", str(program), str(folder / "solution")], capture_output=True, text=True
    )
    found = re.search(r"Primal objective value:\s*(\S+)", done.stdout)
    assert found, done.stdout
    return float(found[1])


def _springs(
    edges: Edges, kappa: np.ndarray, lines: list[str], right: list[float]
) -> tuple[list[int], list[str], list[float]]:
    """Replace slacks by stretches with a price: [[t, c], [c, 1]] ⪰ 0 for each edge."""
    n, m, size = edges.n, edges.m, edges.squares.mean()
    relative = edges.squares / size
    lines = [line for line in lines if line.split()[1] != "2"]
    blocks = [n, *([2] * m)]
    for e in range(1, m + 1):
        # |yᵢ − yⱼ|² − d² c = d²; the off-diagonal entry counts twice.
        lines += [f"{e} {e + 1} 1 2 {-0.5 * relative[e - 1]:.17g}"]
        lines += [f"0 {e + 1} 1 1 {-0.5 * kappa[e - 1] / size:.17g}"]
        lines += [f"{m + 1 + e} {e + 1} 2 2 1"]
    return blocks, lines, [*right, *([1.0] * m)]
