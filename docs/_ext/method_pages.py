"""One page a method, from `methods.toml`, the registry and pictures that the build draws."""

import hashlib
import json
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from gallery_links import examples_of
from matplotlib.figure import Figure
from method_data import Data, make_data
from sklearn.base import clone
from sphinx.application import Sphinx

import unbend
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL, Entry

DOCS = Path(__file__).parent.parent
OUTPUT = DOCS / "generated" / "methods"
COSTS = DOCS.parent / "benchmarks" / "method_cost.json"
GROUPS = {
    "Linear": ("pca", "random_projection"),
    "Distances and kernels": (
        "classical_mds", "landmark_mds", "metric_mds", "nonmetric_mds", "replicated_mds",
        "weighted_mds", "kernel_pca",
    ),
    "Charts of surfaces": (
        "isomap", "landmark_isomap", "ltsa", "hessian_lle", "rigid_alignment", "lle",
        "supervised_lle", "mvu", "landmark_mvu",
    ),
    "Closeness and clusters": (
        "laplacian_eigenmaps", "diffusion_maps", "neighbor_embedding", "spectral_clustering",
    ),
    "Recognition": ("subspace_recognizer",),
}  # fmt: skip
SIZE = 3.2
# Change it with the appearance of the pictures, so that all are drawn again.
STYLE = 2
# Parameters that the title of a picture leaves out.
UNSHOWN = ("random_state", "metric")


def entries() -> dict[str, Entry]:
    """Return all methods by name."""
    return {entry.name: entry for entry in (*METHODS, *SEVERAL, *CLUSTERINGS, *CLASSIFIERS)}


def fitted_colors(model: Any, data: Data) -> tuple[np.ndarray, Any]:
    """Coordinates to draw, and their colours: clusters are drawn on the rows themselves."""
    if hasattr(model, "labels_"):
        return data.rows, [f"C{label}" for label in model.labels_]
    if hasattr(model, "identify"):
        # Fitted to every second row; the others are drawn, coloured by what they are taken for.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            half = clone(model).fit(data.rows[::2], data.labels[0][::2])
        found = half.predict(data.rows[1::2])
        return unbend.PCA().fit_transform(data.rows)[1::2], [f"C{label}" for label in found]
    return np.asarray(model.embedding_), data.colors


def fit(entry: Entry, data: Data, params: dict[str, Any]) -> Any:
    """Fit a method to data, with labels where it needs them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return entry.load()(**params).fit(data.rows, *data.labels)


def draw_points(axes: Any, points: np.ndarray, colors: Any, title: str) -> None:
    """Draw coordinates of one embedding."""
    if points.shape[1] == 1:
        points = np.column_stack((points, np.zeros(len(points))))
    size = 5 if len(points) > 200 else 22
    axes.scatter(points[:, 0], points[:, 1], c=colors, s=size, linewidths=0)
    axes.set(xticks=[], yticks=[])
    axes.set_title(title, fontsize=13 if len(title) < 28 else 10)
    axes.set_aspect("equal" if np.ptp(points[:, 1]) > 0.02 * np.ptp(points[:, 0]) else "auto")


def draw_data(figure: Figure, place: tuple[int, int, int], data: Data) -> None:
    """Draw the data: points of two or three columns, or an image that stands for them."""
    if data.rows.shape[1] == 3:
        axes = figure.add_subplot(*place, projection="3d")
        axes.scatter(*data.rows.T, c=data.colors, s=4, linewidths=0)
        axes.set_box_aspect(np.ptp(data.rows, axis=0), zoom=1.3)
        axes.set_axis_off()
        axes.view_init(12, -80)
        axes.set_title(data.title)
        return
    axes = figure.add_subplot(*place)
    if data.rows.shape[1] == 2:
        draw_points(axes, data.rows, data.colors, data.title)
    else:
        axes.imshow(data.image, cmap="gray_r")
        axes.set(title=data.title, xticks=[], yticks=[])


def draw_pair(entry: Entry, picture: dict[str, Any]) -> Figure:
    """Draw data and embedding side by side."""
    data = make_data(picture["data"])
    figure = Figure(figsize=(2 * SIZE, SIZE), layout="constrained")
    draw_data(figure, (1, 2, 1), data)
    points, colors = fitted_colors(fit(entry, data, picture["params"]), data)
    draw_points(figure.add_subplot(1, 2, 2), points, colors, call(entry, picture["params"]))
    return figure


def draw_values(entry: Entry, vary: dict[str, Any]) -> Figure:
    """Draw one embedding for each value of a parameter."""
    data = make_data(vary["data"])
    values = vary["values"]
    # Two panels a row, so that titles are legible on phones.
    rows = -(-len(values) // 2)
    figure = Figure(figsize=(2 * SIZE, 1.05 * SIZE * rows), layout="constrained")
    for number, value in enumerate(values, start=1):
        params = {**vary.get("fixed", {}), vary["parameter"]: value}
        points, colors = fitted_colors(fit(entry, data, params), data)
        axes = figure.add_subplot(rows, 2, number)
        draw_points(axes, points, colors, f"{vary['parameter']}={shown(value)}")
    return figure


def shown(value: Any) -> str:
    """Write a value of a parameter."""
    return repr(value) if isinstance(value, str) else f"{value:g}"


def draw_costs(costs: dict[str, Any]) -> Figure:
    """Draw measured CPU seconds over the number of rows."""
    figure = Figure(figsize=(1.4 * SIZE, SIZE), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(costs["rows"], costs["seconds"], "o-", color="#0072b2")
    axes.set(xlabel="rows", ylabel="CPU seconds, one thread")
    axes.grid(alpha=0.3, which="both")
    return figure


def growth(costs: dict[str, Any]) -> str:
    """Say how CPU time grew over the last sizes."""
    if costs["exponent"] is None:
        return "too few sizes for a rate"
    last = f"{costs['rows'][-1]:,} rows took {costs['seconds'][-1]:.1f} s".replace(",", " ")
    return f"{last}, and time grew as n to the power {costs['exponent']:.1f}"


def call(entry: Entry, params: dict[str, Any]) -> str:
    """Return the call that makes the estimator."""
    shown = [f"{name}={value!r}" for name, value in params.items() if name not in UNSHOWN]
    return f"{entry.class_name}({', '.join(shown)})"


def save(name: str, inputs: Any, draw: Any) -> str:
    """Save a picture, unless one of the same inputs and version is there; return its file name."""
    text = json.dumps([inputs, unbend.__version__, STYLE], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    path = OUTPUT / f"{name}-{digest}.png"
    if not path.exists():
        for old in OUTPUT.glob(f"{name}-*.png"):
            old.unlink()
        draw().savefig(path, dpi=110)
    return path.name


def bullets(lines: list[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def image(file: str, text: str) -> str:
    """Return an image with its description."""
    return f"```{{image}} {file}\n:alt: {text}\n:class: method-picture\n```\n"


def picture_sections(entry: Entry, said: dict[str, Any]) -> dict[str, str]:
    """Draw the pictures of a page; a method without data that can be drawn has none."""
    sections = {"works": "", "fails": "", "vary": "", "cost": ""}
    name = entry.name
    if works := said.get("works"):
        file = save(f"{name}-works", works, lambda: draw_pair(entry, works))
        sections["works"] = image(file, f"{entry.title} at work")
    if fails := said.get("fails"):
        file = save(f"{name}-fails", fails, lambda: draw_pair(entry, fails))
        sections["fails"] = f"{image(file, 'A failure')}\n*{fails['caption']}*\n"
    if vary := said.get("vary"):
        file = save(f"{name}-vary", vary, lambda: draw_values(entry, vary))
        sections["vary"] = image(file, f"Results for several values of {vary['parameter']}")
    costs = json.loads(COSTS.read_text()) if COSTS.exists() else {"methods": {}}
    if measured := costs["methods"].get(name):
        file = save(f"{name}-cost", measured, lambda: draw_costs(measured))
        sections["cost"] = (
            "## Cost\n\n" + image(file, "Measured CPU seconds")
            + f"\nOn {measured['data']}: {growth(measured)} (`benchmarks/method_cost.py`).\n"
        )  # fmt: skip
    return sections


def parameter_table(entry: Entry, matters: dict[str, str]) -> str:
    """Return the parameters that matter, with their defaults."""
    defaults = entry.load()().get_params()
    rows = [f"| `{name}` | `{defaults[name]!r}` | {text} |" for name, text in matters.items()]
    return "| parameter | default | |\n|---|---|---|\n" + "\n".join(rows)


def example_lines(class_name: str) -> list[str]:
    """Return links to the examples of the gallery that use a class."""
    return [f"[{one.title}](../../gallery/{one.page}.rst)" for one in examples_of(class_name)]


PAGE = """# {title}

**{keeps}**

{works}
```{{math}}
{formula}
```

{explain}

## When to use it, and when not

Use it

{use}

Do not use it

{avoid}

{fails}
## Parameters that matter

{parameters}

{vary}
{cost}
## New samples

{new}

## Examples

{examples}

## Reference

```{{eval-rst}}
.. autoclass:: unbend.{class_name}

{members}
```
"""


def write_page(entry: Entry, said: dict[str, Any]) -> None:
    """Write the page of one method."""
    members = [
        name
        for name in ("fit", "transform", "inverse_transform", "fit_predict", "predict", "identify")
        if hasattr(entry.load(), name)
    ]
    text = PAGE.format(
        title=entry.title,
        class_name=entry.class_name,
        members="\n".join(f"   .. automethod:: {name}" for name in members),
        keeps=said["keeps"],
        formula=said["formula"],
        explain=said["explain"],
        use=bullets(said["use"]),
        avoid=bullets(said["avoid"]),
        parameters=parameter_table(entry, said["matters"]),
        new=said["new"],
        examples=bullets(example_lines(entry.class_name)),
        **picture_sections(entry, said),
    )
    write_if_changed(OUTPUT / f"{entry.name}.md", text)


def write_if_changed(path: Path, text: str) -> None:
    """Write a page; one that is the same keeps its date, so that it is not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def index_row(entry: Entry, keeps: str) -> str:
    """Return the line of a method in the list of all."""
    return f"| [{entry.title}]({entry.name}.md) | `{entry.class_name}` | {keeps} |"


def write_index(said: dict[str, Any]) -> None:
    """Write the page that lists the methods by what they keep."""
    known = entries()
    parts = ["# Methods\n", "Every method has `fit`, an out-of-sample extension, and a report.\n"]
    for group, names in GROUPS.items():
        rows = [index_row(known[name], said[name]["keeps"]) for name in names]
        parts.append(f"## {group}\n\n| method | class | what it keeps |\n|---|---|---|")
        parts.append("\n".join(rows) + "\n")
    toctree = "\n".join(name for names in GROUPS.values() for name in names)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{toctree}\n```\n")
    write_if_changed(OUTPUT / "index.md", "\n".join(parts))


def write_pages(app: Sphinx | None = None) -> None:
    """Write all pages."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    said = tomllib.loads((DOCS / "methods.toml").read_text(encoding="utf-8"))
    for name, entry in entries().items():
        write_page(entry, said[name])
    write_index(said)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx reads its sources."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
