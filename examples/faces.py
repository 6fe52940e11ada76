"""Four hundred faces of forty people as points of a plane: `python examples/faces.py [faces.png]`.

Which method keeps the pictures of a person together? Neighbourhoods are of five, since everybody
was taken ten times only. Drawn is the best method whose two coordinates tell different things.
"""

import sys
import warnings

from real_data import faces_or_heads

import unbend
from unbend.quality import neighborhood_hit

METHODS = {
    "PCA": unbend.PCA(),
    "Isomap": unbend.Isomap(n_neighbors=6),
    "LaplacianEigenmaps": unbend.LaplacianEigenmaps(n_neighbors=6),
    "DiffusionMaps": unbend.DiffusionMaps(n_neighbors=6),
    "LLE": unbend.LLE(n_neighbors=6),
    "MetricMDS": unbend.MetricMDS(random_state=0),
}
NEIGHBORS = 5
# Beyond this a coordinate repeats the other, and the picture is a curve.
REPEATED = 0.8


def main():
    """Compare, tell and draw."""
    pictures, people = faces_or_heads()
    points = pictures.reshape(len(pictures), -1) / 255.0
    print(f"{len(points)} pictures of {points.shape[1]} pixels")
    with warnings.catch_warnings():
        # What the graphs lack is said in the report of each method.
        warnings.simplefilter("ignore")
        compared = unbend.compare(points, METHODS, labels=people, n_neighbors=NEIGHBORS)
    print(compared)
    before = neighborhood_hit(points, people, n_neighbors=NEIGHBORS)
    print(f"neighbours of the same person among the pictures themselves: {before:.3f}")
    best = next(trial for trial in compared.trials if trial.measures["redundancy"] < REPEATED)
    if len(sys.argv) > 1:
        figure = unbend.plot.thumbnails(best.estimator, pictures, side=0.05, title=best.title)
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
