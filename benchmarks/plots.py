"""Time and memory against n, one log–log panel a method."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

Results = dict[str, Any]
# Okabe–Ito: told apart with any eyes. Ours is the one that stands out.
COLORS = {
    "unbend": "#000000",
    "scikit-learn": "#D55E00",
    "tapkee": "#0072B2",
    "umap-learn": "#CC79A7",
    "pydiffmap": "#009E73",
    "scipy": "#56B4E9",
    "pynndescent": "#009E73",
    "faiss-cpu": "#E69F00",
    "hnswlib": "#999999",
}
MARKERS = {"pynndescent": "s", "faiss-cpu": "D", "hnswlib": "^", "umap-learn": "v"}
WIDE = 4


def curves(results: Results, panel: str, field: str) -> dict[str, tuple[list[int], list[float]]]:
    """Points of every contender in a panel, in order of n."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    cases = [c for c in results["cases"].values() if c["panel"] == panel and not c["variant"]]
    for case in sorted(cases, key=lambda case: case["n"]):
        for who, record in case["contenders"].items():
            if record["status"] == "ok":
                sizes, values = found.setdefault(who, ([], []))
                sizes.append(case["n"])
                values.append(record[field])
    return found


def draw(results: Results, field: str, label: str, path: Path) -> None:
    """Draw every panel for which something was measured."""
    everything = dict.fromkeys(case["panel"] for case in results["cases"].values())
    drawn = {panel: curves(results, panel, field) for panel in everything}
    drawn = {panel: lines for panel, lines in drawn.items() if lines}
    if not drawn:
        return
    tall = -(-len(drawn) // WIDE)
    figure, axes = plt.subplots(
        tall, WIDE, figsize=(3.4 * WIDE, 2.7 * tall + 0.9), layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(drawn) :]:
        axis.set_visible(False)
    for axis, (panel, lines) in zip(axes.flat, drawn.items(), strict=False):
        _panel(axis, panel, lines)
    figure.supxlabel("n", fontsize=10)
    figure.supylabel(label, fontsize=10)
    _legend(figure, drawn)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _panel(axis: Any, panel: str, lines: dict[str, tuple[list[int], list[float]]]) -> None:
    for who, (sizes, values) in lines.items():
        own = who == "unbend"
        axis.loglog(
            sizes,
            values,
            color=COLORS[who],
            marker=MARKERS.get(who, "o"),
            markersize=4.5 if own else 3.5,
            linewidth=2.2 if own else 1.3,
            zorder=3 if own else 2,
        )
    axis.set_title(panel, fontsize=10)
    axis.tick_params(labelsize=8)
    _ticks(axis, [n for sizes, _ in lines.values() for n in sizes])
    axis.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def _ticks(axis: Any, sizes: list[int]) -> None:
    """Whole decades upwards, and the sizes that were measured along n."""
    lowest, highest = np.log10(axis.get_ylim())
    axis.set_ylim(10.0 ** np.floor(lowest), 10.0 ** np.ceil(highest))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    # Labels closer than a tenth of the width would overlap.
    apart = max(np.log10(max(sizes) / min(sizes)) / 10, 0.01)
    shown: list[int] = []
    for n in sorted(set(sizes)):
        if not shown or np.log10(n / shown[-1]) > apart:
            shown.append(n)
    axis.xaxis.set_major_locator(FixedLocator(shown))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def short(n: float) -> str:
    """Write 2000 as 2k and 1000000 as 1M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if n >= size:
            return f"{n / size:g}{letter}"
    return f"{n:g}"


def _legend(figure: Any, drawn: dict[str, Any]) -> None:
    present = {who for lines in drawn.values() for who in lines}
    handles = [
        plt.Line2D([], [], color=color, marker=MARKERS.get(who, "o"), label=who, markersize=4.5)
        for who, color in COLORS.items()
        if who in present
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=10
    )


def roll_curves(small: Results, method: str) -> dict[str, tuple[list[int], list[float]]]:
    """CPU seconds of a method on the rolls of `small.json`, by contender, in order of n."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    rolls = sorted((int(name.split()[1]), name) for name in small if name.startswith("roll "))
    for n, name in rolls:
        for who, field in (("unbend", "unbend_ms"), ("scikit-learn", "scikit_learn_ms")):
            if field in small[name].get(method, {}):
                sizes, values = found.setdefault(who, ([], []))
                sizes.append(n)
                values.append(small[name][method][field] / 1e3)
    return found


def draw_methods(results: Results, small: Results, folder: Path) -> dict[str, str]:
    """Write one picture of CPU time and memory a method; return their names by method.

    Small rolls and larger cases are one curve. A method of one size has none, and no picture.
    """
    folder.mkdir(exist_ok=True)
    names = [case["panel"] for case in results["cases"].values()]
    names += [m for name, part in small.items() if name.startswith("roll ") for m in part]
    written = {}
    for method in dict.fromkeys(names):
        seconds = roll_curves(small, method)
        for who, (sizes, values) in curves(results, method, "cpu").items():
            known = seconds.setdefault(who, ([], []))
            known[0].extend(sizes)
            known[1].extend(values)
        if not any(len(sizes) > 1 for sizes, _ in seconds.values()):
            continue
        written[method] = f"{'-'.join(method.lower().replace(',', '').split())}.png"
        _draw_method(seconds, curves(results, method, "peak_mb"), folder / written[method])
    return written


def _draw_method(
    seconds: dict[str, tuple[list[int], list[float]]],
    memory: dict[str, tuple[list[int], list[float]]],
    path: Path,
) -> None:
    """Draw CPU time and, where it was measured, memory against n."""
    figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.3), layout="constrained")
    parts = ((axes[0], seconds, "CPU seconds"), (axes[1], memory, "peak MB of the process"))
    for axis, lines, label in parts:
        axis.set_visible(bool(lines))
        if lines:
            _panel(axis, label, lines)
            axis.set_xlabel("n", fontsize=9)
    _legend(figure, {"seconds": seconds})
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_all(results: Results, stem: Path) -> None:
    """Write STEM-time.png and STEM-memory.png."""
    for field, label, name in (
        ("cpu", "CPU seconds", "time"),
        ("peak_mb", "peak MB of the process", "memory"),
    ):
        draw(results, field, label, stem.with_name(f"{stem.name}-{name}.png"))
