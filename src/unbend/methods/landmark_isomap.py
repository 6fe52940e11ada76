"""Landmark Isomap."""

from typing import Any, ClassVar, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen.problem import SpectralProblem, Spectrum
from unbend.estimators.landmarks import LANDMARKS, choose_landmarks
from unbend.estimators.neighborhood import Finish, NeighborhoodEmbedding, Part
from unbend.estimators.search import Needs
from unbend.extension import Fitted, GeodesicNystrom, Nystrom
from unbend.gram import Gram
from unbend.graphs import undirected
from unbend.report import note
from unbend.validation.parameters import Choice, Integer, declare, param
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

# Landmarks taken where the user names no number.
AUTO = 200


@final
@declare
class LandmarkIsomap(NeighborhoodEmbedding):
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
        The landmarks, as rows of the distinct fitted rows (of the first part, where several).
    component_ : array (n_samples,)
        Component of the graph that each row was in.
    report_ : Report
        What every stage did.

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
    landmarks: str = param(
        "maxmin",
        Choice(*LANDMARKS),
        help="How they are chosen: at random; each farthest from those before ('maxmin'); or the "
        "rows nearest to the centres of k-means.",
    )
    isometric: ClassVar[bool] = True

    def _needs(self) -> Needs:
        return Needs()

    def _kernel(self, part: Part) -> tuple[SpectralProblem, Finish]:
        space, neighbors, rule = part.space, part.neighbors, part.rule
        count = min(AUTO if self.n_landmarks == "auto" else self.n_landmarks, space.n)
        if count < self.n_components + 2:
            raise ValueError(
                f"{count} landmarks are too few for n_components={self.n_components}: use at "
                f"least {self.n_components + 2}"
            )
        landmarks, distances = choose_landmarks(
            self.landmarks,
            count,
            space,
            undirected(neighbors).lengths,
            generator(self.random_state),
            threads(self.n_jobs),
        )
        note(landmarks=count, chosen=self.landmarks)
        to_landmarks = np.ascontiguousarray(distances.T)
        gram = Gram(to_landmarks[landmarks], threads=threads(self.n_jobs))

        def finish(spectrum: Spectrum) -> Fitted:
            weights = gram.nystrom_weights(spectrum)
            fitted = Nystrom(_identity, gram.squares, gram.mean_squares, weights)
            extension = GeodesicNystrom(space, rule, to_landmarks, gram, weights)
            return Fitted(fitted(to_landmarks), extension, {"landmarks_": landmarks})

        return gram.problem(), finish


def _identity(new: FloatArray) -> FloatArray:
    return new
