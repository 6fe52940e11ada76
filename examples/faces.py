"""Four hundred faces of forty people as points of a plane: `python examples/faces.py [faces.png]`.

Which method keeps the pictures of a person together? Neighbourhoods are of five, since everybody
was taken ten times only.
"""

import sys
import warnings

from real_data import faces

import unbend
from unbend.quality import neighborhood_hit

METHODS = ["PCA", "Isomap", "LaplacianEigenmaps", "DiffusionMaps", "LLE", "MetricMDS"]
NEIGHBORS = 5


def main():
    """Compare, tell and draw."""
    pictures, people = faces()
    points = pictures.reshape(len(pictures), -1) / 255.0
    print(f"{len(points)} pictures of {points.shape[1]} pixels")
    with warnings.catch_warnings():
        # What the graphs lack is said in the report of each method.
        warnings.simplefilter("ignore")
        print(unbend.choose_dimension(points))
        tried = {"n_neighbors": [6], "random_state": [0]}
        compared = unbend.compare(
            points, METHODS, parameters=tried, labels=people, n_neighbors=NEIGHBORS
        )
    print(compared)
    before = neighborhood_hit(points, people, n_neighbors=NEIGHBORS)
    print(f"neighbours of the same person among the pictures themselves: {before:.3f}")
    best = compared.trials[0]
    if len(sys.argv) > 1:
        figure = unbend.plot.thumbnails(best.estimator, pictures, side=0.05, title=best.title)
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
