"""The examples of docs/io.md run, one after the other, on files of the kinds they name."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from PIL import Image

import unbend

PAGE = Path(__file__).parents[2] / "docs" / "io.md"
# A sea of words, of which each document holds some.
WORDS = [
    first + second for first in "bdfgklmnprst" for second in ("alo", "emi", "ino", "oru", "uba")
]


def prepare() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 3))
    lines = [f"{a},{b},{c},{'uv'[place % 2]}" for place, (a, b, c) in enumerate(rows)]
    Path("flowers.csv").write_text("\n".join(["x,y,z,species", *lines]))
    Path("large.csv").write_text("\n".join(["x,y,z,species", *lines]))
    passengers = [f"{20 + place},{'mf'[place % 2]},{place % 3 == 0}" for place in range(60)]
    Path("passengers.csv").write_text("\n".join(["age,sex,survived", *passengers]))
    columns = dict(zip("xyz", rows.T, strict=True)) | {"species": ["u", "v"] * 30}
    pyarrow.parquet.write_table(pa.table(columns), "large.parquet")
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    np.savetxt("distances.csv", apart, delimiter=",")
    for folder in ("judges", "faces", "articles"):
        Path(folder).mkdir()
    for place in range(60):
        words = " ".join(rng.choice(WORDS, 12))
        Path("articles", f"{place}.txt").write_text(f"A new article of {words}")
        pixels = rng.integers(0, 256, (8, 8), dtype=np.uint8)
        Image.fromarray(pixels).save(Path("faces", f"{place}.png"))
    for place in range(3):
        np.savetxt(Path("judges", f"{place}.csv"), apart[:10, :10] * (place + 1), delimiter=",")
    unbend.io.write_cube("scene.hdr", rng.random((6, 7, 20)))


def test_every_example_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare()
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) >= 9
    names: dict[str, object] = {}
    for example in examples:
        exec(example, names)
    assert Image.open("flat.png").size == (7, 6)
