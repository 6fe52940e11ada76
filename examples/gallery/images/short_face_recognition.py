"""
Whose face is it, or is it one at all?
======================================

Book sections 5.3.2 and 7.4.1: eigenfaces. Faces are projected onto the axes of largest variance.
A new picture gets the name of the nearest known one, unless it is too far from all of them (a
stranger) or from the subspace itself (not a face). Thirty rendered people are known, ten are
strangers, and patches of photographs are not faces. *The ORL faces* uses photographs of people.

What to conclude: a recogniser must be able to answer "nobody", so one rate does not describe it.
Pose and light of these heads vary as much as their faces do; with ``discriminant=True`` the
projection keeps only the differences between people.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images

import unbend

rng = np.random.default_rng(0)
views = unbend.datasets.turning_object(
    400, size=(56, 46), angles=((-12, 12), (-8, 8)), light=(-30, 30), random_state=0
).images
down, right = np.meshgrid(np.linspace(-1, 1, 56), np.linspace(-1, 1, 46), indexing="ij")
waves = [np.cos(a * down + b * right + c) for a, b, c in rng.uniform(0, 6, (12, 3))]
shades = np.tensordot(rng.normal(0, 0.12, (40, 12)), waves, axes=1)
pictures = views * np.exp(np.repeat(shades, 10, axis=0))  # ten pictures of each of 40 people
rows, person, shot = (
    pictures.reshape(400, -1),
    np.repeat(np.arange(40), 10),
    np.tile(np.arange(10), 40),
)
train, test, stranger = (person < 30) & (shot < 7), (person < 30) & (shot >= 7), person >= 30

model = unbend.SubspaceRecognizer(false_acceptance=0.1, random_state=0).fit(
    rows[train], person[train]
)
pca = unbend.PCA(n_components=50).fit(rows[train])
faces = np.vstack((pictures[train][:40:7], pca.components_[:6].reshape(6, 56, 46)))
figure, axes = plt.subplots(2, 6, figsize=(9, 3.9), layout="constrained")
for axis, picture in zip(axes.ravel(), faces, strict=True):
    axis.imshow(picture, cmap="gray")
    axis.set(xticks=[], yticks=[])
axes[0, 0].set_title("known people", loc="left")
axes[1, 0].set_title("eigenfaces", loc="left")

# %%

photo = load_sample_images().images[0].mean(axis=2) / 255
corners = rng.integers((0, 0), np.array(photo.shape) - (56, 46), (100, 2))
patches = np.array([photo[y : y + 56, x : x + 46].ravel() for y, x in corners])
models = {
    "eigenfaces": model,
    "with discriminant": unbend.SubspaceRecognizer(
        false_acceptance=0.1, discriminant=True, random_state=0
    ).fit(rows[train], person[train]),
}
print(f"{'':18} nearest is right  accepted and right  strangers accepted  patches accepted")
rates = {}
for name, recognizer in models.items():
    rates[name] = (
        np.mean(recognizer.predict(rows[test]) == person[test]),
        np.mean(recognizer.identify(rows[test]).label == person[test]),
        np.mean(recognizer.identify(rows[stranger]).status == "known"),
        np.mean(recognizer.identify(patches).status == "known"),
    )
    print(f"{name:18}", *(f"{rate:16.0%}  " for rate in rates[name]))
assert min(rates["with discriminant"][:2]) > 0.95
assert max(rate for some in rates.values() for rate in some[2:]) <= 0.1
