"""The figures we promise, and whether this run met them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Results = dict[str, Any]
# What was measured, and whether that is good enough; None where it was not measured.
Verdict = tuple[str, bool | None]
NOT_MEASURED: Verdict = ("not measured", None)


@dataclass(frozen=True)
class Figure:
    """A target and how it is judged."""

    name: str
    target: str
    judge: Callable[[Results], Verdict]


def got(results: Results, key: str, who: str = "unbend") -> dict[str, Any] | None:
    """Return a contender's record if it was measured."""
    record: dict[str, Any] = results["cases"].get(key, {}).get("contenders", {}).get(who, {})
    return record if record.get("status") == "ok" else None


def faster(key: str, times: float, peer: str = "scikit-learn") -> Figure:
    """CPU seconds of the peer over ours, of the same run."""

    def judge(results: Results) -> Verdict:
        ours, theirs = got(results, key), got(results, key, peer)
        if not ours:
            return NOT_MEASURED
        if not theirs:
            said = results["cases"][key]["contenders"].get(peer, {}).get("status", "not measured")
            return f"ours {ours['cpu']:.3g} s; {peer}: {said}", None
        ratio = theirs["cpu"] / ours["cpu"]
        scaled = f", {peer} scaled ×{theirs['scaled']:.0f}" if "scaled" in theirs else ""
        said = f"{ratio:.2f}× ({theirs['cpu']:.3g} s : {ours['cpu']:.3g} s{scaled})"
        return said, ratio >= times

    return Figure(f"{key}: CPU, {peer} over ours", f"≥ {times:g}×", judge)


def rate(key: str, least: float) -> Figure:
    """Return a bound on the new samples that one core transforms in a second."""

    def judge(results: Results) -> Verdict:
        ours = got(results, key)
        if not ours:
            return NOT_MEASURED
        value = results["cases"][key]["new"] / ours["cpu"]
        return f"{value:,.0f} a second".replace(",", " "), value >= least

    return Figure(f"{key}: new samples", f"≥ {least:,.0f} a second".replace(",", " "), judge)


def smaller(key: str, share: float, peer: str = "scikit-learn") -> Figure:
    """Memory that the fit took on top of the loaded process, ours over the peer's."""

    def judge(results: Results) -> Verdict:
        ours, theirs = got(results, key), got(results, key, peer)
        if not (ours and theirs and theirs["grown_mb"]):
            return NOT_MEASURED
        ratio = ours["grown_mb"] / theirs["grown_mb"]
        whole = f"whole process {ours['peak_mb']:.0f} : {theirs['peak_mb']:.0f} MB"
        said = f"{ratio:.2f} ({ours['grown_mb']:.0f} : {theirs['grown_mb']:.0f} MB; {whole})"
        return said, ratio <= share

    return Figure(f"{key}: memory of the fit, ours over {peer}'s", f"≤ {share:g}", judge)


def at_most(key: str, field: str, most: float, unit: str) -> Figure:
    """Return a bound on our own record: "cpu", "peak_mb", "angle", "procrustes", "residual"."""

    def judge(results: Results) -> Verdict:
        ours = got(results, key)
        if not ours:
            return NOT_MEASURED
        value = (ours | ours.get("facts", {}) | ours["accuracy"]).get(field)
        return NOT_MEASURED if value is None else (f"{value:.3g}{unit}", value <= most)

    names = {"cpu": "CPU", "peak_mb": "peak memory", "angle": "angle to a tighter solve"}
    names["procrustes"] = "Procrustes to the truth"
    return Figure(f"{key}: {names.get(field, field)}", f"≤ {most:g}{unit}", judge)


def chart(key: str, least: float | None) -> Figure:
    """R² of the worse chart coordinate; without a least value it is only shown."""

    def judge(results: Results) -> Verdict:
        ours = got(results, key)
        if not ours:
            return NOT_MEASURED
        r2 = ours["accuracy"]["r2"]
        said = ", ".join(f"{r:.5f}" for r in r2)
        return said, None if least is None else min(r2) >= least

    return Figure(f"{key}: R² of both chart coordinates", f"≥ {least}" if least else "shown", judge)


def growth(panel: str, small: int, large: int) -> Figure:
    """CPU grows no worse than n² log n, with the system's, which gives and clears memory."""
    allowed = (large / small) ** 2 * math.log(large) / math.log(small)

    def judge(results: Results) -> Verdict:
        first, second = got(results, f"{panel} n={small}"), got(results, f"{panel} n={large}")
        if not (first and second):
            return NOT_MEASURED
        ratio = second["cpu"] / first["cpu"]
        user = _of_user(second) / _of_user(first)
        return f"{ratio:.2f}× ({user:.2f}× without the system's)", ratio <= allowed

    name = f"{panel}: CPU from n={small} to n={large}"
    return Figure(name, f"≤ {allowed:.2f}× (n² log n)", judge)


def _of_user(record: dict[str, Any]) -> float:
    return float(record["cpu"] - record.get("system", 0.0))


def judge_stages(results: Results) -> list[dict[str, Any]]:
    """Two threads over one, for every compiled stage."""
    return [
        {
            "figure": f"{name}: wall, two threads over one",
            "target": "≥ 1.6×",
            "measured": f"{stage['speedup']:.2f}× ({stage['one']:.3g} s : {stage['two']:.3g} s; "
            f"they had {stage['cores']:.1f} cores)",
            "met": stage["speedup"] >= 1.6,
        }
        for name, stage in results.get("stages", {}).items()
        if isinstance(stage, dict)
    ]


LANDMARKS, MILLION = "LandmarkIsomap n=100000", "LaplacianEigenmaps n=1000000"
FIGURES = [
    faster("Isomap n=2000", 15),
    smaller("Isomap n=2000", 0.25),
    faster("Isomap n=10000", 30),
    smaller("Isomap n=10000", 0.25),
    at_most("Isomap n=30000", "peak_mb", 5000, " MB"),
    at_most("Isomap n=50000", "peak_mb", 12_000, " MB"),
    growth("Isomap", 10_000, 30_000),
    at_most(LANDMARKS, "cpu", 10, " s"),
    at_most(LANDMARKS, "procrustes", 1e-3, ""),
    faster("LLE n=10000", 8),
    faster("LTSA n=10000", 60),
    faster("HessianLLE n=10000", 50),
    *(
        figure
        for method in ("LTSA", "HessianLLE")
        for figure in (
            at_most(f"{method} n=100000", "cpu", 15, " s"),
            at_most(f"{method} n=100000", "peak_mb", 1500, " MB"),
            chart(f"{method} n=100000", 0.99),
        )
    ),
    at_most("LLE n=100000", "cpu", 20, " s"),
    at_most("LLE n=100000", "angle", 1e-4, ""),
    chart("LLE n=100000", None),
    chart("LLE reg=1e-6 n=100000", None),
    faster("LaplacianEigenmaps n=10000", 2.5),
    at_most("LaplacianEigenmaps n=10000", "residual", 1e-6, ""),
    faster("LaplacianEigenmaps 784-d n=10000", 5),
    at_most("LaplacianEigenmaps 784-d n=10000", "residual", 1e-6, ""),
    at_most(MILLION, "cpu", 15, " s"),
    at_most(MILLION, "peak_mb", 6000, " MB"),
    at_most("LTSA n=1000000", "cpu", 45, " s"),
    at_most("LTSA n=1000000", "peak_mb", 6000, " MB"),
    chart("LTSA n=1000000", 0.999),
    faster("kNN 3-d n=100000", 1, peer="scipy"),
    faster("kNN 784-d n=10000", 2),
    at_most("kNN 3-d n=1000000", "cpu", 20, " s"),
    at_most("kNN 3-d n=1000000", "peak_mb", 2000, " MB"),
    faster("Isomap transform n=10000", 10),
    # Four times what the dense search of geodesics did.
    rate("Isomap transform n=10000", 95_000),
    faster("LTSA transform n=10000", 10),
    *(rate(f"{method} transform n=10000", 8e5) for method in ("LTSA", "LLE", "LaplacianEigenmaps")),
]


def judge_all(results: Results) -> list[dict[str, Any]]:
    """Every figure with what was measured."""
    rows = []
    for figure in FIGURES:
        measured, met = figure.judge(results)
        row = {"figure": figure.name, "target": figure.target, "measured": measured, "met": met}
        rows.append(row)
    return rows + judge_stages(results)
