"""Recognition in a subspace: training examples, distances to them, and thresholds on these."""

from unbend.recognition.examples import Examples, place_examples
from unbend.recognition.thresholds import acceptance_threshold, false_acceptance_threshold, hold_out

__all__ = [
    "Examples",
    "acceptance_threshold",
    "false_acceptance_threshold",
    "hold_out",
    "place_examples",
]
