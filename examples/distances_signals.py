"""Heartbeats compared by a suitable distance.

An electrocardiogram of three beats (from PyWavelets) is cut into overlapping windows. The phase of
the heartbeat matters; windows with the same phase come from different beats. If the recording
drifts, because the patient breathes or electrodes slip, each window has its own offset and gain,
which dominate the Euclidean distances.

    python examples/distances_signals.py                    # prints the figures
    python examples/distances_signals.py distances.png      # and the embeddings, side by side
"""

import sys

import numpy as np
import pywt

import unbend

WIDTH = 128
# Samples of the three highest peaks, and where the beats before and after would have theirs.
PEAKS = (-138, 190, 518, 848, 1178)

# %% Windows of the recording, and of one that drifts


def windows() -> tuple[np.ndarray, np.ndarray]:
    """Rows of samples and the phase of the heart at their beginning, in beats."""
    rows = np.lib.stride_tricks.sliding_window_view(pywt.data.ecg().astype(float), WIDTH)
    return rows, np.interp(np.arange(len(rows)), PEAKS, np.arange(-1.0, 4.0))


def drifting(rows: np.ndarray, seed: int = 0) -> np.ndarray:
    """Give every window an offset and a gain of its own."""
    rng = np.random.default_rng(seed)
    gain, offset = rng.uniform(0.5, 1.5, (len(rows), 1)), 80.0 * rng.normal(size=(len(rows), 1))
    return gain * rows + offset


# %% Quality: do windows of different beats lie together where the phase is the same?


def phase_error(coordinates: np.ndarray, beats: np.ndarray) -> float:
    """Median phase between a window and the nearest one of another beat, in beats.

    It is 1/4 for coordinates that know nothing.
    """
    apart = np.linalg.norm(coordinates[:, None] - coordinates, axis=2)
    apart[np.abs(beats[:, None] - beats) < 0.5] = np.inf
    turned = beats - beats[apart.argmin(axis=1)]
    return float(np.median(np.abs(turned - np.round(turned))))


# %% The distances
# Derivatives leave out the offset; correlation offset and gain; phases leave out the gain, and the
# offset but for its sign, which is the phase of frequency zero.

DISTANCES = {
    "euclidean": {},
    "derivative": {},
    "fourier_phase": {"keep": 8},
    "correlation": {},
}


def embeddings(rows: np.ndarray, beats: np.ndarray) -> dict[str, tuple[float, np.ndarray]]:
    """Phase error and coordinates by each distance."""
    found = {}
    for metric, params in DISTANCES.items():
        coordinates = unbend.Isomap(metric=metric, metric_params=params).fit_transform(rows)
        found[metric] = (phase_error(coordinates, beats), coordinates)
    return found


# %% Before and after


def draw(path: str, sets: list[dict[str, tuple[float, np.ndarray]]], beats: np.ndarray) -> None:
    """Save the embeddings, coloured by phase: the recording above, the drifting one below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 7), layout="constrained")
    axes = figure.subplots(len(sets), len(DISTANCES))
    for row, found in zip(axes, sets, strict=True):
        for ax, (metric, (error, coordinates)) in zip(row, found.items(), strict=True):
            ax.scatter(*coordinates.T, c=beats % 1.0, s=8, cmap="twilight")
            ax.set(title=f"{metric}: {error:.3f}", xticks=[], yticks=[])
    figure.savefig(path, dpi=100)


def main() -> None:
    """Print the phase error of every embedding, and save them where the first argument says."""
    rows, beats = windows()
    plain, drifted = embeddings(rows, beats), embeddings(drifting(rows), beats)
    print(f"{len(rows)} windows of an electrocardiogram: phase error of Isomap's plane, in beats")
    print(f"  {'':26}as recorded  drifting")
    for metric in DISTANCES:
        print(f"  {metric:26}{plain[metric][0]:11.4f}{drifted[metric][0]:10.4f}")
    if len(sys.argv) > 1:
        draw(sys.argv[1], [plain, drifted], beats)


if __name__ == "__main__":
    main()
