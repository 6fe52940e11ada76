"""A map from a table of distances: `python examples/city_maps.py [map.png]`.

Book 6.4: distances between cities, as a table with names in which every pair is given once.
Classical scaling gives a map; `unbend embed table.csv --distances -m classical_mds` does the same
on the command line. The distances come from coordinates, with which the map is compared.
"""

import csv
import io
import sys

import numpy as np
from cities import REGIONS, azimuthal_map, great_circles

import unbend


def mileage_table(cities):
    """Return a table in CSV, rounded to kilometres, with the upper triangle left empty."""
    distances, names = great_circles(cities), list(cities)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["", *names])
    for place, name in enumerate(names):
        known = [round(distance) for distance in distances[place, : place + 1]]
        writer.writerow([name, *known, *[""] * (len(names) - place - 1)])
    return io.BytesIO(text.getvalue().encode())


def main():
    """Scale each region, compare with the true map, and draw the last."""
    for region, cities in REGIONS.items():
        table = unbend.io.read_named_distances(mileage_table(cities))
        model = unbend.ClassicalMDS(metric="precomputed").fit(table.values)
        truth = azimuthal_map(cities)
        laid = unbend.quality.align(truth, model.embedding_)
        off = np.linalg.norm(laid - truth, axis=1)
        print(
            f"{region}: {len(cities)} cities are off by {np.median(off):.0f} km in the median and "
            f"{off.max():.0f} km at most ({table.names[off.argmax()]}); the distances are along "
            "the sphere, which no plane map has."
        )
    if len(sys.argv) > 1:
        figure = unbend.plot.scatter(laid, names=table.names, title=region, method="classical_mds")
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
