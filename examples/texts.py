"""What Debian's packages are about, as a map: `python examples/texts.py [texts.png]`.

A package has a line of description and a section, such as games or mail. Only the lines go in;
the sections tell how good the map is: how many of a package's ten nearest share its section?
"""

import re
import subprocess
import sys

import numpy as np

import unbend
from unbend.quality import neighborhood_hit, trustworthiness

SECTIONS = ("database", "electronics", "fonts", "games", "graphics", "mail", "science", "sound")
NEIGHBORS = 10
# Directions of the terms that are kept: more of them tell of single words rather than of subjects.
DIRECTIONS = 20
METHODS = {
    "PCA": unbend.PCA(),
    "LaplacianEigenmaps": unbend.LaplacianEigenmaps(metric="cosine"),
    "Isomap": unbend.Isomap(metric="cosine"),
}


def descriptions():
    """Columns `text` and `section`: one row for each source, and no line twice."""
    try:
        listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        listed = None
    if listed is None or not listed.stdout:
        sys.exit("texts.py reads the lists of Debian's packages: install apt and run `apt update`")
    sources, rows = set(), {}
    for entry in listed.stdout.decode(errors="replace").split("\n\n"):
        field = dict(re.findall(r"^([\w-]+): (.*)", entry, flags=re.MULTILINE))
        source = field.get("Source", field.get("Package", "")).split(" ")[0]
        text = field.get("Description", field.get("Description-en", ""))
        # "(data files)", "(documentation)": parts of one program, near for that alone.
        text = re.sub(r"\s*\([^()]*\)$", "", text)
        if field.get("Section") in SECTIONS and source not in sources:
            sources.add(source)
            rows.setdefault(text, field["Section"])
    return {"text": list(rows), "section": list(rows.values())}


def hit_by_distances(distances, labels):
    """Share of the nearest that have the label of the point, where there are no coordinates."""
    others = distances + np.diag(np.full(len(distances), np.inf))
    nearest = np.argsort(others, axis=1, kind="stable")[:, :NEIGHBORS]
    return float(np.mean(labels[nearest] == labels[:, None]))


def main():
    """Print the figures, and draw the best map if a file is named."""
    texts = unbend.io.read_texts(descriptions(), column="text", label="section", stem=True)
    print(f"{len(texts)} descriptions, {len(texts.columns)} terms")
    sections = np.asarray(texts.label)
    distances = texts.distances()
    shares = np.unique(sections, return_counts=True)[1] / len(texts)
    print(f"{'':20} {'hit':>6} {'trust':>6}")
    print(f"{'chance':20} {np.sum(shares**2):6.3f}")
    print(f"{'terms':20} {hit_by_distances(distances, sections):6.3f}")

    reduced = unbend.PCA(n_components=DIRECTIONS, svd_solver="arpack").fit_transform(texts.values)
    # Cosines, as between the terms: a short line is not far from a long one on the same subject.
    angles = reduced / np.linalg.norm(reduced, axis=1, keepdims=True)
    found = {f"{DIRECTIONS} directions": angles}
    found |= {name: method.fit_transform(reduced) for name, method in METHODS.items()}
    hits = {}
    for name, flat in found.items():
        hits[name] = neighborhood_hit(flat, sections, n_neighbors=NEIGHBORS)
        trust = trustworthiness(distances, flat, n_neighbors=NEIGHBORS, metric="precomputed")
        print(f"{name:20} {hits[name]:6.3f} {trust:6.3f}")
    if len(sys.argv) > 1:
        best = max(METHODS, key=lambda name: hits[name])
        title = f"Packages by description, {best}: hit {hits[best]:.2f}"
        unbend.plot.save(unbend.plot.scatter(found[best], sections, title=title), sys.argv[1])


if __name__ == "__main__":
    main()
