"""Pictures compared by a suitable distance.

Two sets of pictures have irrelevant differences, which dominate the Euclidean distances between
rows of pixels. A distance that ignores these differences recovers the structure.

    python examples/distances_images.py                     # prints the figures
    python examples/distances_images.py distances.png       # and the embeddings, side by side
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import unbend

# %% A letter shifted across a canvas, more or less brightly lit
# The true coordinates are the two shifts. Pictures whose letters do not overlap are all equally far
# apart in pixels, so that distances say nothing of the shift beyond one width of a stroke; and
# brightness moves them too. Phases of Fourier coefficients do not depend on brightness, and a shift
# turns the phases of neighbouring frequencies by the same angle: their differences measure it.


def shifted_letters(n: int = 100, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of pixels and the shifts behind them."""
    letters = unbend.datasets.shifted_pictures(n, random_state=seed)
    light = np.random.default_rng(seed).uniform(0.3, 1.0, (n, 1))
    return light * letters.points, letters.chart


LETTER_DISTANCES = {
    "euclidean": {},
    "angular": {},
    "fourier_phase_difference": {"shape": (32, 32), "keep": 4},
}


def letters() -> dict[str, tuple[float, np.ndarray]]:
    """Error to the true shifts, as a share of their variance, and coordinates by each distance."""
    rows, shifts = shifted_letters()
    found = {}
    for metric, params in LETTER_DISTANCES.items():
        model = unbend.ClassicalMDS(metric=metric, metric_params=params)
        coordinates = model.fit_transform(rows)
        found[metric] = (unbend.quality.procrustes(shifts, coordinates), coordinates)
    return found


# %% Scikit-learn's digits, each taken with another exposure
# Gain and offset of a camera say nothing of the digit. Derivatives leave out the offset,
# correlation leaves out both.


def exposed_digits(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of pixels, each with a gain and an offset of its own, and the digits."""
    rows, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    gain, offset = rng.uniform(0.3, 1.0, (len(rows), 1)), rng.uniform(0.0, 16.0, (len(rows), 1))
    return gain * rows + offset, digits


DIGIT_DISTANCES = {"euclidean": {}, "derivative": {"shape": (8, 8)}, "correlation": {}}


def digits() -> dict[str, tuple[float, np.ndarray]]:
    """Share of digits told right by their neighbours in the plane, and coordinates."""
    rows, labels = exposed_digits()
    found = {}
    for metric, params in DIGIT_DISTANCES.items():
        coordinates = unbend.Isomap(metric=metric, metric_params=params).fit_transform(rows)
        right = cross_val_score(KNeighborsClassifier(5), coordinates, labels, cv=5).mean()
        found[metric] = (float(right), coordinates)
    return found


# %% Before and after


def draw(path: str, sets: list[tuple[dict[str, tuple[float, np.ndarray]], np.ndarray]]) -> None:
    """Save the embeddings, a row for each set and a column for each distance."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8), layout="constrained")
    axes = figure.subplots(len(sets), 3)
    for row, (found, color) in zip(axes, sets, strict=True):
        for ax, (metric, (quality, coordinates)) in zip(row, found.items(), strict=True):
            ax.scatter(*coordinates.T, c=color, s=8, cmap="turbo")
            ax.set(title=f"{metric}: {quality:.3f}", xticks=[], yticks=[])
    figure.savefig(path, dpi=100)


def main() -> None:
    """Print the quality of every embedding, and save them where the first argument says."""
    by_letter, by_digit = letters(), digits()
    print("100 letters, shifted and dimmed: error of classical scaling to the true shifts")
    for metric, (error, _) in by_letter.items():
        print(f"  {metric:26}{error:.4f}")
    print("1797 digits, each with its own exposure: told right by neighbours in Isomap's plane")
    for metric, (right, _) in by_digit.items():
        print(f"  {metric:26}{right:.3f}")
    if len(sys.argv) > 1:
        colors = shifted_letters()[1][:, 0], exposed_digits()[1]
        draw(sys.argv[1], [(by_letter, colors[0]), (by_digit, colors[1])])


if __name__ == "__main__":
    main()
