"""Damaged models: parts of a saved file changed at random, in ways that its checksums do not show.

`python -m tests.storage.mutations 10000` tries so many, `--seed` from a number on; each mutation is
determined by its number.
"""

import argparse
import io
import json
import random
import struct
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import unbend
from tests.storage.cases import CASES, Case, representative

Document = dict[str, Any]
Parts = dict[str, bytes]

# What takes the place of a part.
SCRAPS: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 10**6, 10**18, 10**30, 0.5, -2.5, 1e300, "", "x",
    "euclidean", "auto", [], [1], [[]], {}, {"dict": {}}, {"tuple": []}, {"tuple": [1, 2]},
    {"float": "nan"}, {"float": "inf"}, {"array": 0}, {"array": 1},
    {"array": 2}, {"object": 0}, {"object": 1},
    {"strings": ["a"]}, {"strings": []}, {"scalar": ["<f8", 1.0]}, {"scalar": ["<i8", 3]},
    {"function": "adjacency"}, {"distances_of": {"object": 0}}, {"csr": [{"array": 0}]},
    {"dict": {"p": 2}}, {"dict": {"x": None}},
]  # fmt: skip


def members(data: bytes) -> Parts:
    """Return the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: Parts, how: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive of these members."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", how) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target.getvalue()


def npy(header: str, data: bytes = b"") -> bytes:
    """Return an array of this header and these bytes."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Give every part of a document as its container and its key."""
    keys = list(node) if isinstance(node, dict) else range(len(node))
    for key in keys:
        yield node, key
        if isinstance(node[key], dict | list):
            yield from places(node[key])


def change_part(chance: random.Random, document: Document) -> None:
    """Replace, remove, exchange, repeat or nudge one part of the document."""
    found = list(places(document))
    node, key = chance.choice(found)
    kind = chance.choice(["scrap", "remove", "exchange", "copy", "nudge", "rename", "repeat"])
    other, name = chance.choice(found)
    if kind == "remove":
        del node[key]
    elif kind == "exchange":
        node[key], other[name] = other[name], node[key]
    elif kind == "copy":
        node[key] = json.loads(json.dumps(other[name]))
    elif kind == "nudge" and isinstance(node[key], int | float):
        node[key] = chance.choice([node[key] + 1, node[key] - 1, -node[key], node[key] * 1000])
    elif kind == "rename" and isinstance(node, dict):
        node[chance.choice([f"{key}x", str(name), str(key)[1:]])] = node.pop(key)
    elif kind == "repeat" and isinstance(node, list):
        node.insert(chance.randrange(len(node) + 1), node[key])
    else:
        node[key] = chance.choice(SCRAPS)


def change_array(chance: random.Random, array: Any) -> Any:
    """Change the shape, the type or the values of an array."""
    flat = array.ravel()
    filled = array.copy()
    if array.size:
        values = [0, 1, 2**31, 2**62] + ([-1] if array.dtype.kind in "if" else [])
        values += [np.nan, np.inf, -np.inf, 1e300] if array.dtype == np.float64 else []
        value = chance.choice(values)
        with np.errstate(all="ignore"):
            filled.flat[chance.randrange(array.size)] = np.array(value).astype(array.dtype)
    return chance.choice(
        [
            lambda: array[: chance.randrange(len(array) + 1)] if array.ndim else array,
            lambda: array[..., :-1] if array.ndim else array,
            lambda: flat,
            lambda: array.T,
            lambda: array[None],
            lambda: np.concatenate((array, array[:1])) if array.ndim else array,
            lambda: array.astype(chance.choice(["f4", "i4", "i8", "f8", "u1", "b1", "f2"])),
            lambda: filled,
            lambda: array[::-1] if array.ndim else array,
            lambda: np.zeros((0, 0)),
        ]
    )()


def array_bytes(array: Any) -> bytes:
    """Return an array as a member of an archive."""
    target = io.BytesIO()
    np.lib.format.write_array(target, np.asarray(array), version=(1, 0), allow_pickle=False)
    return target.getvalue()


def mutate(chance: random.Random, whole: bytes) -> bytes:
    """Change a file in one to three places; its checksums are right again."""
    if chance.random() < 0.1:
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            broken[chance.randrange(len(whole))] ^= chance.randint(1, 255)
        return bytes(broken)
    parts = members(whole)
    document = json.loads(parts["model.json"])
    arrays = [name for name in parts if name.endswith(".npy")]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if chance.random() < 0.3 and arrays:
            name = chance.choice(arrays)
            array = np.lib.format.read_array(io.BytesIO(parts[name]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parts[name] = array_bytes(change_array(chance, array))
        else:
            change_part(chance, document)
    return packed({**parts, "model.json": json.dumps(document).encode()})


def use(model: Any, case: Case) -> None:
    """Call what a fitted model offers; a ValueError may refuse the data or the method."""
    calls: list[Callable[[], Any]] = [lambda: repr(model)]
    if isinstance(model, unbend.Prepare):
        calls.append(lambda: model.inverse_transform(model.transform(case.new)))
    elif hasattr(type(model), "transform"):
        calls.append(lambda: str(model.report_))
        calls.append(lambda: model.transform(case.new))
        calls.append(lambda: model.outlyingness(case.new))
        calls.append(lambda: model.inverse_transform(model.embedding_[:3]))
        calls.append(lambda: list(model.get_feature_names_out()))
    else:
        calls.append(lambda: model.predict(case.new))
    for call in calls:
        try:
            call()
        except ValueError:
            continue


@cache
def saved(name: str) -> tuple[Case, bytes]:
    """Return a case and its saved model."""
    case = next(case for case in (*CASES, PREPARATION) if case.name == name)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        path = Path(folder) / "whole.unbend"
        case.fit().save(path)
        return case, path.read_bytes()


def frame() -> dict[str, list[Any]]:
    """Return a table of every kind of column."""
    n = 30
    return {
        "length": [0.5 * i for i in range(n)],
        "kind": ["abc"[i % 3] for i in range(n)],
        "day": [f"2024-03-{i % 28 + 1:02d}" for i in range(n)],
        "note": [f"red {'blue green '[: i % 12]}" for i in range(n)],
    }


PREPARATION = Case("Prepare", unbend.Prepare, {"kinds": {"note": "terms"}}, frame(), frame())


def names() -> list[str]:
    """Name the first case of every kind; supervised ones need classes, which one case has."""
    known = {name for name in representative() if not name.startswith("SupervisedLLE")}
    return sorted({*known, PREPARATION.name})


def attempt(number: int, folder: Path, known: list[str]) -> str:
    """Load one damaged file: 'refused' or 'loaded'; raises anything that must not happen."""
    chance = random.Random(number)
    case, whole = saved(chance.choice(known))
    path = folder / "broken.unbend"
    path.write_bytes(mutate(chance, whole))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = unbend.load(path)
        except ValueError as error:
            message = str(error)
        else:
            use(model, case)
            return "loaded"
    assert "broken.unbend" in message, message
    return "refused"


def main() -> None:
    """Try mutations; print what came of them, and the first of every kind of failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    known = names()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.seed, given.seed + given.count):
            try:
                counts[attempt(number, Path(folder), known)] += 1
            except Exception as error:
                frame = traceback.extract_tb(error.__traceback__)
                own = [f for f in frame if "unbend" in f.filename or "tests" in f.filename]
                where = " < ".join(f"{Path(f.filename).name}:{f.name}" for f in own[::-1][:4])
                what = f"{type(error).__name__} in {where}: {str(error)[:80]}"
                counts["failed"] += 1
                counts[f"  {what}"] += 1
                if counts[f"  {what}"] == 1:
                    sys.stdout.write(f"{number} {what}\n")
    sys.stdout.write(
        ", ".join(f"{counts[word]} {word}" for word in ("refused", "loaded", "failed"))
    )
    sys.stdout.write("\n")
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
