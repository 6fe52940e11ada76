"""How the measured noise of a roll varies with a rotation, and with another seed of the hash.

python -m benchmarks.noise.rotations

The sample is ordered by a hash of the numbers, which a rotation changes and another order of
the rows does not. Writes noise_rotations.json.
"""

import json
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.noise.surfaces import Array
from unbend.denoising import Sample, measure_noise
from unbend.neighbors import PointSpace

RESULTS = Path(__file__).parent.parent / "noise_rotations.json"
ROWS, NOISE, DRAWS = (2000, 20_000), 0.4, 12


def find_sigma(rows: Array, seed: int = 0) -> float:
    """Measure the standard deviation of the noise by the sample of one seed."""
    return measure_noise(Sample.of(PointSpace(rows), 2, seed), 2).sigma


def measure(n: int) -> dict[str, object]:
    """Means and standard deviations over rotations and over seeds of one draw."""
    rows = unbend.datasets.swiss_roll(n, noise=NOISE, random_state=5).points
    rng = np.random.default_rng(0)
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(DRAWS)]
    found = {
        "rotations": [find_sigma(np.ascontiguousarray(rows @ turn)) for turn in turns],
        "seeds": [find_sigma(rows, seed) for seed in range(1, DRAWS + 1)],
    }
    return {
        "rows": n,
        "noise": NOISE,
        **{
            name: {"mean": round(float(np.mean(one)), 4), "sd": round(float(np.std(one)), 4)}
            for name, one in found.items()
        },
    }


def main() -> None:
    """Measure all sizes, and write them."""
    results = [measure(n) for n in ROWS]
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
