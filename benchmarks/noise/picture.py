"""The picture of docs/noise.md: a noisy roll, its landmarks, and LTSA without and with them.

python -m benchmarks.noise.picture
"""

import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unbend

PICTURE = Path(__file__).parents[2] / "docs" / "examples" / "noise.png"


def main() -> None:
    """Draw the section of a noisy roll and both embeddings."""
    roll = unbend.datasets.swiss_roll(5000, noise=0.8, random_state=0)
    plain = unbend.LTSA().fit(roll.points)
    denoised = unbend.LTSA(denoise="auto").fit(roll.points)
    surface = denoised._neighborhoods.space.points
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    section, *charts = figure.subplots(1, 3)
    section.scatter(*roll.points[:, [0, 2]].T, s=1, color="0.75", label="rows")
    section.scatter(*surface[:, [0, 2]].T, s=1, color="C0", label="landmarks")
    section.set_aspect("equal")
    section.legend(loc="lower right", markerscale=5, fontsize="small")
    section.set_title("noise 0.8, section of the roll")
    for axes, model, title in zip(
        charts, (plain, denoised), ("LTSA", 'LTSA(denoise="auto")'), strict=True
    ):
        axes.scatter(*np.asarray(model.embedding_).T, s=1, c=roll.chart[:, 1])
        axes.set_title(f"{title}, colour: height")
        axes.set_xticks([])
        axes.set_yticks([])
    figure.savefig(PICTURE, dpi=80)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
