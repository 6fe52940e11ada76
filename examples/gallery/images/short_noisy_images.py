"""
Noisy images, projected at random
=================================

Book section 7.4.2: ten per cent of the pixels of each digit are replaced by black or white. How
well do k coordinates of the noisy pictures predict the distances between the clean ones?

What to conclude: a random projection needs no training and keeps noise and signal in proportion.
PCA, which keeps large variances, also removes noise: with few coordinates it is closer to the
clean distances than all pixels are.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

import unbend

clean = load_digits().data[:800]
rng = np.random.default_rng(0)
noisy = np.where(rng.random(clean.shape) < 0.1, rng.choice((0.0, 16.0), clean.shape), clean)
sheet = unbend.plot.image_sheet(np.r_[clean[:10], noisy[:10]].reshape(-1, 8, 8), columns=10)

# %%

truth, sizes = pdist(clean), (2, 4, 8, 16, 32, 48)
known = {}
for method in (unbend.RandomProjection, unbend.PCA):
    options = {"random_state": 0} if method is unbend.RandomProjection else {}
    known[method.__name__] = [
        np.corrcoef(truth, pdist(method(n_components=k, **options).fit_transform(noisy)))[0, 1]
        for k in sizes
    ]
pixels = np.corrcoef(truth, pdist(noisy))[0, 1]
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for name, values in known.items():
    axis.plot(sizes, values, "o-", label=name)
axis.axhline(pixels, color="gray", linestyle="--", label="all 64 noisy pixels")
axis.set(
    xlabel="coordinates",
    ylabel="correlation with clean distances",
    xscale="log",
    xticks=sizes,
    xticklabels=sizes,
)
axis.minorticks_off()
axis.legend()

# %%

for name, values in known.items():
    print(f"{name:18}", " ".join(f"{value:.2f}" for value in values))
print(f"{'all noisy pixels':18} {pixels:.2f}")
assert max(known["PCA"]) > pixels > max(known["RandomProjection"])
