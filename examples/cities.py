"""Distances between cities, and the map they recover: `python examples/cities.py`.

The method gets great-circle distances in kilometres. Coordinates (degrees north and east) only
serve to compute these and to judge the result.
"""

import numpy as np

import unbend

EUROPE = {
    "Amsterdam": (52.37, 4.90), "Athens": (37.98, 23.73), "Barcelona": (41.39, 2.17),
    "Belgrade": (44.79, 20.45), "Berlin": (52.52, 13.41), "Brussels": (50.85, 4.35),
    "Bucharest": (44.43, 26.10), "Budapest": (47.50, 19.04), "Copenhagen": (55.68, 12.57),
    "Dublin": (53.35, -6.26), "Geneva": (46.20, 6.14), "Hamburg": (53.55, 9.99),
    "Helsinki": (60.17, 24.94), "Istanbul": (41.01, 28.98), "Kyiv": (50.45, 30.52),
    "Lisbon": (38.72, -9.14), "London": (51.51, -0.13), "Madrid": (40.42, -3.70),
    "Milan": (45.46, 9.19), "Munich": (48.14, 11.58), "Oslo": (59.91, 10.75),
    "Paris": (48.86, 2.35), "Prague": (50.08, 14.44), "Riga": (56.95, 24.11),
    "Rome": (41.90, 12.50), "Sofia": (42.70, 23.32), "Stockholm": (59.33, 18.07),
    "Tallinn": (59.44, 24.75), "Vienna": (48.21, 16.37), "Warsaw": (52.23, 21.01),
}  # fmt: skip
UNITED_STATES = {
    "Atlanta": (33.75, -84.39), "Boston": (42.36, -71.06), "Chicago": (41.88, -87.63),
    "Dallas": (32.78, -96.80), "Denver": (39.74, -104.99), "Detroit": (42.33, -83.05),
    "Houston": (29.76, -95.37), "Las Vegas": (36.17, -115.14), "Los Angeles": (34.05, -118.24),
    "Miami": (25.76, -80.19), "Minneapolis": (44.98, -93.27), "New Orleans": (29.95, -90.07),
    "New York": (40.71, -74.01), "Philadelphia": (39.95, -75.17), "Phoenix": (33.45, -112.07),
    "Portland": (45.52, -122.68), "Salt Lake City": (40.76, -111.89),
    "San Francisco": (37.77, -122.42), "Seattle": (47.61, -122.33),
    "St. Louis": (38.63, -90.20), "Washington": (38.91, -77.04),
}  # fmt: skip
REGIONS = {"Europe": EUROPE, "United States": UNITED_STATES}
EARTH_RADIUS = 6371.0


def on_the_sphere(cities):
    """Unit vectors of the places."""
    north, east = np.radians(list(cities.values())).T
    return np.column_stack(
        [np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)]
    )


def great_circles(cities):
    """Distances along the surface, in kilometres."""
    places = on_the_sphere(cities)
    chords = np.linalg.norm(places[:, None] - places, axis=2)
    return 2.0 * EARTH_RADIUS * np.arcsin(chords / 2.0)


def azimuthal_map(cities):
    """Places on a map that keeps distances and directions from the middle of the region."""
    places = on_the_sphere(cities)
    middle = places.mean(axis=0) / np.linalg.norm(places.mean(axis=0))
    east = np.cross([0.0, 0.0, 1.0], middle)
    east /= np.linalg.norm(east)
    flat = np.column_stack([places @ east, places @ np.cross(middle, east)])
    angle = np.arccos(np.clip(places @ middle, -1.0, 1.0))
    return EARTH_RADIUS * flat * (angle / np.maximum(np.linalg.norm(flat, axis=1), 1e-12))[:, None]


def recovered(cities, **options):
    """Fit a map to the distances alone."""
    return unbend.MetricMDS(metric="precomputed", **options).fit(great_circles(cities))


def main():
    """Print, for each region, how good its map is and where it says that cities are."""
    for region, cities in REGIONS.items():
        fitted, truth = recovered(cities), azimuthal_map(cities)
        left = unbend.quality.procrustes(truth, fitted.embedding_)
        print(
            f"{region}: {len(cities)} cities, stress-1 {fitted.stress1_:.4f}, Procrustes {left:.5f}"
        )
        laid = unbend.quality.align(truth, fitted.embedding_)
        off = np.linalg.norm(laid - truth, axis=1)
        worst = int(off.argmax())
        print(
            f"  off by {np.median(off):.0f} km in the median, {off[worst]:.0f} km at most ", end=""
        )
        print(f"({list(cities)[worst]})")


if __name__ == "__main__":
    main()
