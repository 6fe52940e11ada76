"""Landmark Isomap."""

from typing import Any, final

from unbend.estimators.landmarks import choose_landmarks, landmark_count, landmarks_param
from unbend.estimators.neighborhood import Component
from unbend.graphs import undirected
from unbend.methods.isomap import GeodesicEmbedding, GeodesicKernel
from unbend.report import note
from unbend.validation.parameters import Choice, Integer, declare, param
from unbend.validation.random_state import generator

# Landmarks taken where the user names no number.
AUTO = 200


@final
@declare
class LandmarkIsomap(GeodesicEmbedding):
    """Landmark Isomap: Isomap of a few landmarks, and every other row placed from them.

    Classical scaling of the geodesic distances between m landmarks; the other rows, fitted and
    new alike, get their coordinates from their geodesic distances to the landmarks by the Nyström
    formula. Time and memory grow with m·n in place of n².

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in the units of the data.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of the landmarks' kernel.
    landmarks_ : array (m,)
        The landmarks, as rows of the distinct fitted rows (of the largest component, where each is
        embedded separately).

    References
    ----------
    de Silva and Tenenbaum, NIPS 15 (2003) and Stanford technical report (2004).

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(2000, random_state=0)
    >>> flat = unbend.LandmarkIsomap(n_landmarks=50).fit_transform(roll.points)
    >>> unbend.quality.procrustes(roll.chart, flat) < 0.01
    True
    """

    n_landmarks: Any = param(
        "auto",
        Integer(2),
        Choice("auto"),
        help="Number of landmarks; 'auto' takes 200, or all rows if there are fewer.",
    )
    landmarks: str = landmarks_param()

    def _kernel(self, component: Component) -> GeodesicKernel:
        d = self.n_components
        count = landmark_count(self.n_landmarks, AUTO, component.n, d + 2, d)
        lengths = undirected(component.neighbors).lengths
        landmarks, distances = choose_landmarks(
            self.landmarks,
            count,
            component.space,
            lengths,
            generator(self.random_state),
            component.threads,
        )
        note(landmarks=count, chosen=self.landmarks)
        return GeodesicKernel.of_landmarks(component, lengths, landmarks, distances)
