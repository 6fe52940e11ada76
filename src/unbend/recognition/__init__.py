"""Recognition in a subspace: training examples, distances to them, and thresholds on these."""

from unbend.recognition.examples import Examples, place_examples
from unbend.recognition.thresholds import accept_few, accept_most, hold_out

__all__ = ["Examples", "accept_few", "accept_most", "hold_out", "place_examples"]
