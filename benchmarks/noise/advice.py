"""Advice: errors of the method that `suggest` names against those of all methods.

python -m benchmarks.noise.advice --half reporting --first 6000 --count 6070 [--seconds 60]
python -m benchmarks.noise.advice --half fresh --first 6000 --count 6070
python -m benchmarks.noise.advice --half fresh --first 6000 --count 6070 --what repeats dimensions

Cases are measured in the order of their numbers and written to files, which a later run goes on
with. advice_methods_1000.json holds the errors of every method on 1000 rows at most,
advice_1000.json what `suggest(for_="chart")` found there, and the error of its method;
advice_dimensions.json holds the dimension alone, on 2000 rows at most, and advice_repeats.json the
errors of every method on four draws: how often the method that is best on three of them is within a
tenth of the best on the fourth. No advice can do better that knows the surface, its noise and how
every method fares on them, but not what the noise of these very rows favours.

Rules were calibrated on `seen`, `folded`, `fresh` and `reporting` up to number 5069, some of which
had judged earlier rules, and were judged on `reporting` and `fresh` from number 6000 to 6069
and from 7000 to 7069; the reference was changed once between the two. (The
families of `reporting` are among those of `seen`; the seeds are others.) Caps and graphs of
functions of one variable have a second chart: that of the ground or the arc length, as the same
rows would have in another family. advice_methods_1000.json holds the errors against it too.
"""

import argparse
import fcntl
import json
import time
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.noise.cases import Case, Draw, make_cases
from benchmarks.noise.run import REPORTED, worst_error
from benchmarks.noise.surfaces import Array
from unbend.selection.dimensions import decide_dimension, describe_dimension
from unbend.selection.inputs import open_data

FOLDER = Path(__file__).parent.parent
LOCK = FOLDER / "__pycache__" / "advice.lock"
FILES = {
    "methods": FOLDER / "advice_methods_1000.json",
    "suggestions": FOLDER / "advice_1000.json",
    "repeats": FOLDER / "advice_repeats.json",
    "dimensions": FOLDER / "advice_dimensions.json",
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "PCA": ("PCA", {}),
    "MetricMDS": ("MetricMDS", {}),
    "Isomap": ("Isomap", {}),
    "LLE": ("LLE", {}),
    "LTSA": ("LTSA", {}),
    "HessianLLE": ("HessianLLE", {}),
    "RigidAlignment": ("RigidAlignment", {}),
    "LaplacianEigenmaps": ("LaplacianEigenmaps", {}),
    "DiffusionMaps": ("DiffusionMaps", {}),
    "LTSA, denoised": ("LTSA", {"denoise": "auto"}),
    "HessianLLE, denoised": ("HessianLLE", {"denoise": "auto"}),
    "Isomap, denoised": ("Isomap", {"denoise": "auto"}),
    "RigidAlignment, denoised": ("RigidAlignment", {"denoise": "auto"}),
}
# Rows of a case, at most: every case is fitted a dozen times; and where only the dimension is asked
# for.
ROWS, DIMENSION_ROWS = 1000, 2000
# Draws of a case on which methods are compared.
DRAWS = 4
# Ratios of an error to the best whose shares are printed.
RATIOS = (1.1, 1.25, 1.5, 2.0)


@lru_cache(maxsize=1)
def draw_rows(case: Case) -> Draw:
    """Draw the rows that all methods get."""
    return case.draw(0, min(case.n, ROWS))


def is_good(error: Any, best: Any) -> Any:
    """Whether an error is within a tenth of the best, or below 0.01."""
    return (error <= 1.1 * best) | (error < 0.01)


def errors_of(model: Any, draw: Draw, *charts: Array) -> list[float]:
    """Errors of a method on the regular rows against charts of their feet; 1 where it fails."""
    try:
        embedding = np.asarray(model.fit(draw.rows).embedding_, dtype=float)[draw.regular]
    except ValueError:
        return [1.0] * len(charts)
    return [round(worst_error(chart[draw.regular], embedding), 5) for chart in charts]


def error_of(model: Any, draw: Draw) -> float:
    """Error of a method on the regular rows; 1 where it fails."""
    return errors_of(model, draw, draw.foot_chart)[0]


def other_chart(case: Case, feet: Array) -> Array | None:
    """Return the chart that the same rows would have if they were of another family.

    A cap is the graph of a function too, whose chart is that of the ground; and the graph of a
    function of one variable is a curve, whose chart is its arc length.
    """
    surface = case.surface
    if case.family == "cap":
        return surface.embed(feet)[:, : case.d]
    if case.d > 1 or case.family not in ("graph_square", "graph_holes", "saddle"):
        return None
    fine = np.linspace(np.nanmin(feet), np.nanmax(feet), 20_000)
    steps = np.linalg.norm(np.diff(surface.embed(fine[:, None]), axis=0), axis=1)
    return np.interp(feet, fine, np.append(0.0, np.cumsum(steps)))


def measure_methods(case: Case, known: dict[str, Any]) -> dict[str, Any]:
    """Errors of every method that are not known, with its true number of coordinates.

    Where the rows have a second chart, the errors against that one as well.
    """
    if known:
        return known
    draw = draw_rows(case)
    other = other_chart(case, draw.foot_chart)
    charts = [draw.foot_chart, *([] if other is None else [other])]
    errors = {
        name: errors_of(getattr(unbend, kind)(n_components=case.d, **options), draw, *charts)
        for name, (kind, options) in METHODS.items()
    }
    found = {**case.describe(draw), "errors": {name: both[0] for name, both in errors.items()}}
    if other is not None:
        found["other_errors"] = {name: both[1] for name, both in errors.items()}
    return found


def measure_suggestion(case: Case, known: dict[str, Any]) -> dict[str, Any]:
    """Return what was found, and the error of the suggested method."""
    if known:
        return known
    draw = draw_rows(case)
    start = time.process_time()
    suggestion = unbend.suggest(draw.rows, for_="chart")
    seconds = time.process_time() - start
    found = suggestion.findings
    facts = {
        name: (value.round(5).tolist()[:12] if isinstance(value, np.ndarray) else value)
        for name, value in vars(found).items()
        if isinstance(value, int | float | str | np.ndarray)
    }
    return {
        **case.describe(draw),
        "suggested": " ".join(str(suggestion.estimator).split()),
        "verdict": found.verdict,
        "error": error_of(suggestion.estimator, draw),
        "tried": {name: round(one.error, 5) for name, one in found.charts.items()},
        "reason": suggestion.reasons[1],
        "seconds": round(seconds, 2),
        "findings": facts,
    }


def measure_repeats(case: Case, known: dict[str, Any]) -> dict[str, Any]:
    """Errors of every method on several draws."""
    if known:
        return known
    first = measure_methods(case, _read_case("methods", case.name))
    draws = [case.draw(number, min(case.n, ROWS)) for number in range(1, DRAWS)]
    errors = {
        name: [
            first["errors"][name],
            *(
                error_of(getattr(unbend, kind)(n_components=case.d, **options), draw)
                for draw in draws
            ),
        ]
        for name, (kind, options) in METHODS.items()
    }
    return {**first, "errors": errors}


def measure_dimension(case: Case, known: dict[str, Any]) -> dict[str, Any]:
    """Return what is stated of the dimension."""
    if known:
        return known
    draw = case.draw(0, min(case.n, DIMENSION_ROWS), most_feet=1)
    _, low, high = decide_dimension(open_data(draw.rows, None))
    return {**case.describe(draw), "verdict": describe_dimension(low, high)}


def summarize_dimensions(half: str) -> None:
    """Print how often the dimension is right, left open and wrong."""
    some = [
        one
        for one in _read("dimensions")
        if one["case"].startswith(half) and one["share"] <= REPORTED
    ]
    if some:
        right = np.mean([one["verdict"] == str(one["d"]) for one in some])
        unknown = np.mean([not one["verdict"].isdigit() for one in some])
        wrong = 1 - right - unknown
        print(
            f"{half}: {len(some)} dimensions, right {right:.0%}, open {unknown:.0%}, {wrong:.0%} no"
        )


def summarize_repeats(half: str) -> None:
    """Print how often the best method on the other draws is as good as the best on one."""
    good = []
    for one in _read("repeats"):
        if one["case"].startswith(half) and one["share"] <= REPORTED:
            errors = np.array([one["errors"][name] for name in METHODS])
            best = errors.min(axis=0)
            fine = is_good(errors, best)
            ratio = np.log(np.maximum(errors, 0.01) / np.maximum(best, 0.01))
            for judged in range(DRAWS):
                others = np.arange(DRAWS) != judged
                # Most often good, and of several such the one with the smaller errors.
                score = fine[:, others].sum(axis=1) - 1e-3 * ratio[:, others].sum(axis=1)
                good.append(fine[score.argmax(), judged])
    if good:
        share = f"{np.mean(good):.0%} of {len(good)}"
        print(f"{half}: the best on {DRAWS - 1} other draws is as good on {share}")


def summarize(half: str) -> None:
    """Print how often the suggestion is as good as the best, and the dimension right."""
    methods = {one["case"]: one for one in _read("methods")}
    pairs = [
        (one, methods[one["case"]])
        for one in _read("suggestions")
        if one["case"].startswith(half) and one["case"] in methods
    ]
    for one, other in pairs:
        best = min(other["errors"], key=lambda name: other["errors"][name])
        bad = "" if is_good(one["error"], min(other["errors"][best], one["error"])) else "  <--"
        print(
            f"{one['case']} {one['family']} d={one['d']} ({one['verdict']}), noise {one['share']}: "
            f"{one['error']:.3f} {one['suggested']}, best {other['errors'][best]:.3f} {best}{bad}"
        )
    for name, some in (
        ("scored", [pair for pair in pairs if pair[0]["share"] <= REPORTED]),
        ("without noise", [pair for pair in pairs if pair[0]["share"] == 0]),
        ("beyond 0.15", [pair for pair in pairs if pair[0]["share"] > REPORTED]),
    ):
        if not some:
            continue
        best = np.array([min(*other["errors"].values(), one["error"]) for one, other in some])
        error = np.array([one["error"] for one, _ in some])
        good = np.array([is_good(*both) for both in zip(error, best, strict=True)])
        verdicts = [one["verdict"] for one, _ in some]
        right = np.array([one["verdict"] == str(one["d"]) for one, _ in some])
        unknown = np.array([not verdict.isdigit() for verdict in verdicts])
        ratio = np.quantile(error / best, (0.25, 0.5, 0.75, 0.9, 1.0)).round(2)
        print(f"{half}, {name}: {len(some)} cases")
        print(f"  within 10 % of the best or < 0.01: {good.mean():.0%}, ratio 25 … 100 %: {ratio}")
        within = {bound: float(np.mean(error <= bound * best)) for bound in RATIOS}
        print("  " + ", ".join(f"≤ {bound} × {part:.0%}" for bound, part in within.items()))
        print(f"  chosen by the truth: {describe_best_choices([other for _, other in some])}")
        wrong = (~right & ~unknown).mean()
        print(
            f"  dimension right {right.mean():.0%}, left open {unknown.mean():.0%}, {wrong:.0%} no"
        )


def summarize_other_charts(half: str) -> None:
    """Print on how many surfaces with two charts no method is as good as the best by both."""
    some = [
        one
        for one in _read("methods")
        if one["case"].startswith(half) and one["share"] <= REPORTED and "other_errors" in one
    ]
    neither = [
        one["case"]
        for one in some
        if not any(
            all(
                is_good(one[which][name], min(one[which].values()))
                for which in ("errors", "other_errors")
            )
            for name in METHODS
        )
    ]
    print(f"{half}: of {len(some)} surfaces with two charts, no method is good by both: {neither}")


def describe_best_choices(records: list[dict[str, Any]]) -> str:
    """Say how often the best of one, two, … methods, added one by one, is as good as that of all.

    Each method that is added is the one with the largest gain, by the truth.
    """
    errors = np.array([[one["errors"][name] for name in METHODS] for one in records])
    best, chosen, shares = errors.min(axis=1), list[int](), []

    def share(places: list[int]) -> float:
        pairs = zip(errors[:, places].min(axis=1), best, strict=True)
        return float(np.mean([is_good(*pair) for pair in pairs]))

    for _ in range(6):
        others = [place for place in range(len(METHODS)) if place not in chosen]
        chosen.append(max(others, key=lambda place: share([*chosen, place])))
        shares.append(f"{list(METHODS)[chosen[-1]]} {share(chosen):.0%}")
    return ", ".join(shares)


def _read(what: str) -> list[dict[str, Any]]:
    return json.loads(FILES[what].read_text()) if FILES[what].exists() else []


def _read_case(what: str, name: str) -> dict[str, Any]:
    return {one["case"]: one for one in _read(what)}.get(name, {})


def main() -> None:
    """Measure the cases that are missing, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="reporting")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--what", nargs="*", default=["methods", "suggestions"])
    parser.add_argument("--shard", default="0/1", help="which of how many parts, as 0/4")
    parser.add_argument("--seconds", type=float, default=np.inf, help="CPU time, at most")
    asked = parser.parse_args()
    part, parts = map(int, asked.shard.split("/"))
    cases = make_cases(asked.half, asked.count)[asked.first :][part::parts]
    measures = {
        "methods": measure_methods,
        "suggestions": measure_suggestion,
        "repeats": measure_repeats,
        "dimensions": measure_dimension,
    }
    # Case by case and in their order, so that a run that is stopped leaves a fair part of them.
    for case in cases:
        if time.process_time() > asked.seconds:
            break
        for what in asked.what:
            known = _read_case(what, case.name)
            found = measures[what](case, known)
            if found != known:
                LOCK.parent.mkdir(exist_ok=True)
                with LOCK.open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    others = [one for one in _read(what) if one["case"] != case.name]
                    whole = FILES[what].with_suffix(".part")
                    whole.write_text(json.dumps([*others, found], indent=1) + "\n")
                    whole.replace(FILES[what])
    summarize(asked.half)
    summarize_other_charts(asked.half)
    summarize_repeats(asked.half)
    summarize_dimensions(asked.half)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
