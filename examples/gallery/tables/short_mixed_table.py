"""
A table with columns of every kind
==================================

Flats for rent: numbers in different units, a year, ordered words, categories, yes and no, dates,
an identifier, and missing values. ``unbend.Prepare`` infers the kinds, imputes missing values, and
gives every column the same weight.

What to conclude: without preparation the column with the largest numbers, the rent, determines the
map alone. Prepared, the condition counts as much. Two coordinates still cannot show four
independent columns: the minutes to the centre stay hidden in both. Look at the list of columns: if
a kind was guessed wrongly, set it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor

import unbend

rng = np.random.default_rng(0)
n = 400
district = rng.choice(["harbour", "old town", "park", "station"], n)
centre = (
    pd.Series(district).map({"old town": 5, "station": 12, "park": 20, "harbour": 28}).to_numpy()
)
minutes = np.maximum(1, centre + rng.normal(0, 2, n)).round()
area = rng.lognormal(4.2, 0.35, n).round(1)
condition = rng.choice(["poor", "fair", "good", "excellent"], n)
level = pd.Series(condition).map({"poor": 0, "fair": 1, "good": 2, "excellent": 3}).to_numpy()
rent = (area * (16 - 0.2 * minutes + level) + rng.normal(0, 40, n)).round(2)
frame = pd.DataFrame(
    {
        "flat": [f"F-{number}" for number in range(n)],
        "rent_eur": rent,
        "area_m2": area,
        "minutes_to_centre": minutes,
        "condition": condition,
    }
)
frame.loc[rng.choice(n, 20, replace=False), "minutes_to_centre"] = np.nan
frame.head()

# %%

prepare = unbend.Prepare(missing="median").fit(frame)
for column in prepare.columns_:
    print(f"{column.name:18} {column.kind:9} {column.missing:3} missing")
print(f"scaling: {prepare.scale_}, because {prepare.scale_reason_}")

prepared = unbend.Isomap().fit(prepare.transform(frame))
numbers = frame[["rent_eur", "area_m2", "minutes_to_centre"]].fillna(
    frame.median(numeric_only=True)
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", unbend.ScaleWarning)  # it says what this example shows
    raw = unbend.Isomap().fit(numbers.to_numpy())
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for axis, (title, model) in zip(
    axes, {"raw numbers": raw, "prepared": prepared}.items(), strict=True
):
    for name in ("poor", "fair", "good", "excellent"):
        own = condition == name
        axis.scatter(*model.embedding_[own].T, s=12, label=name)
    axis.set(title=title, xticks=[], yticks=[])
axes[1].legend(title="condition")

# %%
# How much of each column do the two coordinates explain (nearest neighbours, held out)?

print(f"{'':14} {'raw':>6} {'prepared':>9}")
explained = {}
columns = {"rent": rent, "minutes": minutes, "condition": level}
for name, values in columns.items():
    explained[name] = [
        max(0, cross_val_score(KNeighborsRegressor(10), model.embedding_, values, cv=5).mean())
        for model in (raw, prepared)
    ]
    print(f"{name:14} {explained[name][0]:6.2f} {explained[name][1]:9.2f}")
assert explained["rent"][0] > 0.95
assert explained["condition"][0] < 0.5 < explained["condition"][1]
