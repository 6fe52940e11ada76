"""Run all experiments on several samples and keep the medians."""

import warnings
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.book.settings import Setting, settings

SEEDS = range(5)
# What is kept of each method, and to how many digits.
OF_CHARTS = ("procrustes", "isometry_error")
KEPT = (
    "color_mixing",
    "neighborhood_hit",
    "trustworthiness",
    "continuity",
    "redundancy",
    *OF_CHARTS,
)
DIGITS = 4
# Colours mixed by less than this do not look mixed.
WORKS = 0.05

Figures = dict[str, dict[str, dict[str, float]]]


def run(jobs: int = 2, only: str = "") -> Figures:
    """Medians over the samples of what `compare` measures, by setting and method.

    `only` is what the names of the settings to run must contain.
    """
    planned = [setting for setting in settings() if only in setting.name]
    work = (joblib.delayed(tried)(setting, seed) for setting in planned for seed in SEEDS)
    found = iter(joblib.Parallel(n_jobs=jobs)(work))
    return {setting.name: _medians([next(found) for _ in SEEDS]) for setting in planned}


def tried(setting: Setting, seed: int) -> dict[str, dict[str, float]]:
    """Measure each method on one sample; nothing where it failed."""
    made, colors = setting.drawn(seed)
    kept = [name for name in KEPT if made.isometric or name not in OF_CHARTS]
    estimators = setting.estimators()
    with warnings.catch_warnings(), threadpool_limits(1):
        # Graphs in parts and noise that hides coordinates are what is tried here.
        warnings.simplefilter("ignore")
        compared = unbend.compare(
            made.points, estimators, scale="none", truth=colors, labels=made.labels, max_rows=300
        )
    return {
        trial.title: {name: trial.measures[name] for name in kept if name in trial.measures}
        for trial in compared.trials
    }


def _medians(samples: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Median of each measure, and how many samples are mixed or failed."""
    medians: dict[str, dict[str, float]] = {}
    for title in samples[0]:
        found: list[Any] = [sample[title] for sample in samples if sample[title]]
        if not found:
            medians[title] = {"failed": float(len(samples))}
            continue
        values = {name: float(np.median([one[name] for one in found])) for name in found[0]}
        values["lost"] = float(sum(one["color_mixing"] >= WORKS for one in found))
        values["failed"] = float(len(samples) - len(found))
        medians[title] = {name: round(value, DIGITS) for name, value in values.items()}
    return medians
