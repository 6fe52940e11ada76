"""
Where are the sensors?
======================

Book section 9.3.2: 500 sensors in a unit square measure the distances to nearby sensors, with 10 %
noise. The positions of six anchors are known. The distances determine all other positions.

What to conclude: errors do not add up across the network. Positions are about as good as one
distance, and the fit states how good they are. Errors are largest at the border, where sensors
have neighbours on one side only.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array
from scipy.spatial import KDTree

import unbend

rng = np.random.default_rng(0)
true = rng.random((500, 2))
first, second = KDTree(true).query_pairs(0.11, output_type="ndarray").T
lengths = np.linalg.norm(true[first] - true[second], axis=1) * (
    1 + 0.1 * rng.normal(size=len(first))
)
pairs = (np.r_[first, second], np.r_[second, first])
distances = coo_array((np.r_[lengths, lengths], pairs), shape=(500, 500)).tocsr()
corners = KDTree(true).query([[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0], [0.5, 1]])[1]
found = unbend.localize(distances, {int(one): true[one] for one in corners}, random_state=0)

error = np.linalg.norm(found.positions - true, axis=1)
figure, axis = plt.subplots(figsize=(6, 5), layout="constrained")
axis.plot(*np.stack((true, found.positions)).transpose(2, 0, 1), color="gray", linewidth=0.8)
good = found.determined
shown = axis.scatter(*found.positions[good].T, c=error[good], s=24)
axis.scatter(*true[corners].T, marker="^", color="crimson", s=60, label="anchors")
axis.set(xticks=[], yticks=[], aspect="equal", title="gray: from the true to the found position")
axis.legend(loc="upper right")
figure.colorbar(shown, label="error")

# %%

rms = float(np.sqrt(np.mean(error[good] ** 2)))
print(f"{len(lengths)} distances, wrong by {0.1 * np.median(lengths):.4f} in the median")
print(f"{good.sum()} sensors determined, root mean square error {rms:.4f}")
print(f"the fit expects {found.expected_error:.4f}")
assert 0.5 * found.expected_error < rms < 2 * found.expected_error
assert rms < 0.2 * np.median(lengths)
