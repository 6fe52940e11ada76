"""Ten thousand pictures of clothes as points of a plane: `python examples/images.py [picture.png]`.

Methods side by side, each with what it kept of the neighbourhoods of the pictures, and how often
neighbours are the same kind of thing; then the pictures laid on the best embedding whose two
coordinates tell different things.
"""

import sys
import warnings

from real_data import fashion

import unbend
from unbend.quality import neighborhood_hit

METHODS = {
    "PCA": unbend.PCA(),
    "LandmarkIsomap": unbend.LandmarkIsomap(n_neighbors=10, random_state=0),
    "LaplacianEigenmaps": unbend.LaplacianEigenmaps(n_neighbors=10),
    "DiffusionMaps": unbend.DiffusionMaps(),
    "LLE": unbend.LLE(n_neighbors=10),
}
NEIGHBORS = 10
# Beyond this a coordinate repeats the other, and the picture is a curve.
REPEATED = 0.8


def main():
    """Compare, tell and draw."""
    pictures, kinds = fashion()
    points = pictures.reshape(len(pictures), -1) / float(pictures.max())
    print(f"{len(points)} pictures of {points.shape[1]} pixels")
    with warnings.catch_warnings():
        # What the graphs lack is said in the report of each method.
        warnings.simplefilter("ignore")
        compared = unbend.compare(points, METHODS, labels=kinds, n_neighbors=NEIGHBORS)
    print(compared)
    before = neighborhood_hit(points, kinds, n_neighbors=NEIGHBORS, max_rows=1000)
    print(f"neighbours of the same kind among the pictures themselves: {before:.3f}")
    drawn = next(trial for trial in compared.trials if trial.measures["redundancy"] < REPEATED)
    if len(sys.argv) > 1:
        figure = unbend.plot.thumbnails(drawn.estimator, pictures, kinds, title=drawn.title)
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
