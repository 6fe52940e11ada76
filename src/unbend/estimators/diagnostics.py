"""What a spectrum says about the coordinates that are made of it: doubts are told."""

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen.problem import SpectralProblem, Spectrum
from unbend.quality import repeated_directions
from unbend.report import note, warn

# Eigenvalues below this share of the kernel's size are zero to rounding.
ZERO = 1e-14
# A coordinate of which more than this share is explained by earlier ones is reported as lost.
REPEATED = 0.8


def check_spectrum(problem: SpectralProblem, spectrum: Spectrum) -> None:
    """Warn of coordinates that are not determined, or that show nothing new."""
    _check_nullity(problem, spectrum)
    if problem.nullity:
        _check_repeated(spectrum.vectors)


def _check_nullity(problem: SpectralProblem, spectrum: Spectrum) -> None:
    """Warn where eigenvalues vanish that should not: the pieces do not determine the whole."""
    if problem.end == "bottom":
        values = np.append(spectrum.values, spectrum.next_value)
        vanishing = int(np.sum(values <= ZERO * spectrum.norm))
        if vanishing > problem.nullity:
            warn(
                f"{vanishing} or more eigenvalues vanish where at most {problem.nullity} should: "
                "the neighbourhoods do not hold the data together, and the coordinates are not "
                "determined; use connect='components', or another number of neighbours"
            )
        return
    zero = max(ZERO, problem.accuracy) * spectrum.norm
    if spectrum.values[-1] <= zero:
        positive = int(np.sum(spectrum.values > zero))
        warn(
            f"the kernel has only {positive} positive eigenvalues: the coordinates beyond are zero"
        )


def noted_repetition(vectors: FloatArray) -> FloatArray:
    """How well each coordinate is a function of those before it, by a sample of the rows."""
    repeated = repeated_directions(vectors, n_neighbors=min(10, len(vectors) - 1), max_rows=1000)
    note(repeated=[float(r) for r in repeated])
    return repeated


def _check_repeated(vectors: FloatArray) -> None:
    """Warn where a coordinate of what should be a chart is a function of those before it.

    Noise that is wide against the neighbourhoods does that: their tangents are then its own.
    """
    repeated = noted_repetition(vectors)
    if repeated.max() > REPEATED:
        warn(
            f"coordinate {int(repeated.argmax()) + 1} is a function of those before it "
            f"(R² {repeated.max():.2f}) and shows nothing new: the data have fewer dimensions, or "
            "noise that is wide against the neighbourhoods; use more neighbours, or fewer rows"
        )
