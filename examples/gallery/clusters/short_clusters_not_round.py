"""
Clusters that are not round
===========================

Two rings and two moons: every point is near its own cluster, but not near its centre. k-means
cuts both in half. Spectral clustering follows the neighbourhood graph.

What to conclude: where clusters are connected and not round, cluster the graph. For rings a
kernel works, too: six coordinates of kernel PCA separate them by a plane.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

import unbend

data = {
    "rings": make_circles(400, noise=0.05, factor=0.4, random_state=0),
    "moons": make_moons(400, noise=0.06, random_state=0),
}
methods = {
    "k-means": KMeans(2, n_init=10, random_state=0),
    "spectral clustering": unbend.SpectralClustering(n_clusters=2, random_state=0),
}
figure, axes = plt.subplots(2, 2, figsize=(7, 6), layout="constrained")
agreement = {}
for row, (name, (points, truth)) in zip(axes, data.items(), strict=True):
    for axis, (method, estimator) in zip(row, methods.items(), strict=True):
        found = estimator.fit(points).labels_
        agreement[name, method] = adjusted_rand_score(truth, found)
        axis.scatter(*points.T, c=found, cmap="coolwarm", s=10)
        axis.set_title(method, fontsize=15)
        axis.set(xticks=[], yticks=[], aspect="equal")

# %%
# Agreement with the true clusters: 1 is perfect, 0 is chance.

for (name, method), value in agreement.items():
    print(f"{name:6} {method:20} {value:5.2f}")
points, truth = data["rings"]
flat = unbend.KernelPCA(n_components=6, kernel="rbf", gamma=4.0).fit_transform(points)
plane = LogisticRegression(C=1000).fit(flat, truth).score(flat, truth)
print(f"rings separated by a plane in six coordinates of kernel PCA: {plane:.1%}")
assert all(agreement[name, "spectral clustering"] > 0.95 for name in data)
assert agreement["rings", "k-means"] < 0.1
assert plane > 0.98
