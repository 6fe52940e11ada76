"""Where are the sensors? `python examples/sensors.py [sensors.png]`.

Book 9.3.2: 1055 sensors in the plane measure the distances to nearby sensors, with 10 % noise; the
positions of a few anchors are known. The distances determine all other positions. The network is
simulated, so that true positions are known.
"""

import sys

import numpy as np
from scipy.sparse import coo_array
from scipy.spatial import KDTree

import unbend

SENSORS, ANCHORS, RADIUS, NOISE = 1055, 6, 0.075, 0.1


def network(seed=0):
    """Positions in the unit square, and the noisy distances within a radius."""
    rng = np.random.default_rng(seed)
    positions = rng.random((SENSORS, 2))
    first, second = KDTree(positions).query_pairs(RADIUS, output_type="ndarray").T
    lengths = np.linalg.norm(positions[first] - positions[second], axis=1)
    lengths *= 1 + NOISE * rng.normal(size=len(lengths))
    both = (np.r_[first, second], np.r_[second, first])
    return positions, coo_array((np.r_[lengths, lengths], both), shape=(SENSORS, SENSORS)).tocsr()


def main():
    """Localize, compare with the truth, and draw."""
    positions, distances = network()
    corners = KDTree(positions).query([[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0], [0.5, 1]])[1]
    known = {int(place): positions[place] for place in corners[:ANCHORS]}
    found = unbend.localize(distances, known, random_state=0)
    error = np.linalg.norm(found.positions - positions, axis=1)
    good = found.determined
    rms = np.sqrt(np.mean(error[good] ** 2))
    print(f"{SENSORS} sensors, {distances.nnz // 2} distances, {len(known)} anchors")
    print(
        f"{good.sum()} sensors are determined, to {rms:.4f} of the side of the square "
        f"(expected error {found.expected_error:.4f}); a distance is wrong by {NOISE:.0%}, "
        f"{NOISE * np.median(distances.data):.4f} in the median."
    )
    if len(sys.argv) > 1:
        figure = unbend.plot.scatter(found.positions, error, title="Colour: true error")
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
