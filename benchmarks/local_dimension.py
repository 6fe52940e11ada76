"""Two rules on local dimension, on data they were not chosen on.

`python -m benchmarks.local_dimension`. `dimension.local_pca` takes a share of the rows as a
neighbourhood, and `growth_exponents` calls a direction curvature from a threshold on. Families of
curves and surfaces are split in two, with seeds of their own: on the calibration families all
candidates are measured, on the reporting families the rule that the library has. Written to
local_dimension.json.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from unbend import datasets, dimension
from unbend.dimension import linear
from unbend.graphs.noise import CURVED, growth_exponents
from unbend.neighbors import PointSpace

Array = NDArray[np.float64]
Family = Callable[[Array], Array]
RESULTS = Path(__file__).with_name("local_dimension.json")
# Candidates of the share, and rows.
SHARES, ROWS = (10, 20, 40, 80), (300, 1000, 2000)
NEIGHBORS, NOISES = (8, 10, 14), (0.0, 0.02, 0.1)
CALIBRATION_SEEDS, REPORTING_SEEDS = range(3), range(100, 105)
TURN = 2 * np.pi


def curve(function: Callable[..., Any]) -> Family:
    """Map the first parameter."""
    return lambda u: np.column_stack(function(u[:, 0]))


def surface(function: Callable[..., Any]) -> Family:
    """Map the first two parameters."""
    return lambda u: np.column_stack(function(*u[:, :2].T))


# Parameters are uniform in [0, 1]; by family: dimension and map.
CALIBRATION: dict[str, tuple[int, Family]] = {
    "circle": (1, curve(lambda t: (np.cos(TURN * t), np.sin(TURN * t)))),
    "spiral": (1, curve(lambda t: ((1 + t) * np.cos(9 * t), (1 + t) * np.sin(9 * t)))),
    "sine": (1, curve(lambda t: (6 * t, np.sin(9 * t)))),
    "helix": (1, curve(lambda t: (np.cos(12 * t), np.sin(12 * t), 3 * t))),
    "paraboloid": (2, surface(lambda a, b: (a, b, 2 * (a - 0.5) ** 2 + (b - 0.5) ** 2))),
    "saddle": (2, surface(lambda a, b: (a, b, 2 * (a - 0.5) * (b - 0.5)))),
    "cylinder": (2, surface(lambda a, b: (np.cos(3 * a), np.sin(3 * a), 2 * b))),
    "torus": (
        2,
        surface(
            lambda a, b: (
                (2 + np.cos(TURN * b)) * np.cos(TURN * a),
                (2 + np.cos(TURN * b)) * np.sin(TURN * a),
                np.sin(TURN * b),
            )
        ),
    ),
    "cone": (2, surface(lambda a, b: (b * np.cos(5 * a), b * np.sin(5 * a), b))),
    "egg box": (2, surface(lambda a, b: (3 * a, 3 * b, 0.4 * np.sin(4 * a) * np.cos(4 * b)))),
    "bent cube": (3, lambda u: np.column_stack((u[:, :3], np.square(u[:, :3]).sum(axis=1)))),
}
REPORTING: dict[str, tuple[int, Family]] = {
    "trefoil": (
        1,
        curve(
            lambda t: (
                np.sin(TURN * t) + 2 * np.sin(2 * TURN * t),
                np.cos(TURN * t) - 2 * np.cos(2 * TURN * t),
                -np.sin(3 * TURN * t),
            )
        ),
    ),
    "Viviani": (
        1,
        curve(
            lambda t: (
                1 + np.cos(TURN * t),
                np.sin(TURN * t),
                2 * np.sin(TURN * t / 2),
            )
        ),
    ),
    "moment curve": (1, curve(lambda t: (t, t**2, t**3, t**4))),
    "Moebius": (
        2,
        surface(
            lambda a, b: (
                (1 + (b - 0.5) * np.cos(TURN * a / 2)) * np.cos(TURN * a),
                (1 + (b - 0.5) * np.cos(TURN * a / 2)) * np.sin(TURN * a),
                (b - 0.5) * np.sin(TURN * a / 2),
            )
        ),
    ),
    "catenoid": (
        2,
        surface(
            lambda a, b: (
                np.cosh(2 * b - 1) * np.cos(TURN * a),
                np.cosh(2 * b - 1) * np.sin(TURN * a),
                2 * b - 1,
            )
        ),
    ),
    "flat torus": (
        2,
        surface(
            lambda a, b: (
                np.cos(TURN * a),
                np.sin(TURN * a),
                np.cos(TURN * b),
                np.sin(TURN * b),
            )
        ),
    ),
    "helicoid": (2, surface(lambda a, b: (b * np.cos(5 * a), b * np.sin(5 * a), 2 * a))),
    "sphere of 3 dimensions": (3, lambda u: _sphere(u[:, :4])),
}
SURFACES = ("swiss_roll", "s_curve", "punched_sphere", "square", "swiss_hole")


def _sphere(uniform: Array) -> Array:
    from scipy.special import ndtri

    normal = ndtri(np.clip(uniform, 1e-12, 1 - 1e-12))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def sample(families: dict[str, tuple[int, Family]], name: str, n: int, seed: int) -> Array:
    """Points of a family, or of a surface of the library."""
    if name in families:
        return families[name][1](np.random.default_rng(seed).uniform(size=(n, 4)))
    return np.asarray(getattr(datasets, name)(n, random_state=seed).points)


def share_right(families: dict[str, int], maps: Any, seeds: range, share: int) -> dict[str, float]:
    """Share of samples, by number of rows, of which `local_pca` finds the dimension."""
    right: dict[str, float] = {}
    for n in ROWS:
        with patch.object(linear, "SHARE", share):
            found = [
                dimension.local_pca(sample(maps, name, n, seed)).dimension == d
                for name, d in families.items()
                for seed in seeds
            ]
        right[str(n)] = round(float(np.mean(found)), 3)
    return right


def exponents(families: dict[str, int], maps: Any, seeds: range) -> dict[str, Any]:
    """Extremes of the exponent of the first direction too many, and of the last that is one."""
    curvature, along = [], []
    for name, d in families.items():
        for n in ROWS:
            for seed in seeds:
                points = sample(maps, name, n, seed)
                noise = np.random.default_rng(seed + 1).normal(size=points.shape)
                for k in NEIGHBORS:
                    space = PointSpace(points)
                    curvature.append(growth_exponents(space, d + 1, k)[d])
                    for size in NOISES if d > 1 else ():
                        spread = size * np.std(points)
                        noisy = PointSpace(points + spread * noise)
                        along.append(growth_exponents(noisy, d, k)[d - 1])
    seen, kept = np.array(curvature), np.array(along)
    seen = seen[np.isfinite(seen)]
    return {
        "samples": [len(seen), len(kept)],
        "curvature_5_percent": round(float(np.quantile(seen, 0.05)), 2),
        "curvature_found": round(float(np.mean(seen > CURVED)), 3),
        "along_largest": round(float(np.nanmax(kept)), 2),
        "along_called_curvature": round(float(np.mean(kept > CURVED)), 4),
    }


def main() -> None:
    """Measure both rules on both halves."""
    calibration = {name: d for name, (d, _) in CALIBRATION.items()}
    reporting = {name: d for name, (d, _) in REPORTING.items()} | dict.fromkeys(SURFACES, 2)
    report = {
        "families": {"calibration": list(calibration), "reporting": list(reporting)},
        "local_pca": {
            "calibration": {
                str(share): share_right(calibration, CALIBRATION, CALIBRATION_SEEDS, share)
                for share in SHARES
            },
            "reporting": share_right(reporting, REPORTING, REPORTING_SEEDS, linear.SHARE),
        },
        "growth": {
            "calibration": exponents(calibration, CALIBRATION, CALIBRATION_SEEDS),
            "reporting": exponents(reporting, REPORTING, REPORTING_SEEDS),
        },
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
