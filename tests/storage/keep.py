"""Write a few small models in the current version of the format, which `test_kept.py` loads.

Run once for each version, ``python -m tests.storage.keep``, and delete the files of older versions:
those are refused.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import unbend
from unbend.storage.model import VERSION

KEPT = Path(__file__).parent / "kept"


def models() -> dict[str, tuple[Any, Any]]:
    """Models that hold values of many kinds between them, each with new rows."""
    rng = np.random.default_rng(5)
    rows = unbend.datasets.s_curve(11, random_state=5).points
    new = rows[:5] + 0.05
    twice = np.concatenate((rows, rows[:3], rows[:8] + 40.0))
    isomap = unbend.Isomap(
        n_neighbors=4, connect="components", repair="additive_constant", random_state=rng
    )
    waves = unbend.LaplacianEigenmaps(
        n_neighbors=4, weights="heat", metric="precomputed", n_components=1
    )
    kernel = unbend.KernelPCA(preimage="fixed_point", eigen_solver=unbend.eigen.Dense())
    return {
        "isomap": (isomap.fit(twice), new),
        "laplacian": (waves.fit(cdist(rows, rows)), cdist(new, rows)),
        "kernel": (kernel.fit(rows.astype(np.float32)), new),
        "clusters": (unbend.SpectralClustering(n_clusters=2, n_neighbors=4).fit(rows), new),
    }


def answers(model: Any, new: Any) -> dict[str, Any]:
    """Numbers that the model must give whatever becomes of the library."""
    if hasattr(model, "predict"):
        return {"predict": model.predict(new).tolist()}
    found = {"transform": model.transform(new).tolist()}
    if model._preimage is not None:
        found["inverse"] = model.inverse_transform(model.embedding_[:5] + 0.01).tolist()
    return found


def main() -> None:
    """Write the models and their answers."""
    for name, (model, new) in models().items():
        path = KEPT / f"v{VERSION}-{name}.unbend"
        model.save(path, about={"kept": name})
        about = {"new": new.tolist(), **answers(model, new)}
        about["embedding"] = model.embedding_.tolist()
        path.with_suffix(".json").write_text(json.dumps(about))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
