"""Files that are not what they should be: one sentence each, and nothing is ever executed."""

import contextlib
import json
import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unbend
from tests.conformance.cases import refused
from tests.storage.alike import assert_same_answers, assert_same_state
from tests.storage.cases import NEW, POINTS
from tests.storage.mutations import members, npy, packed

Document = dict[str, Any]


@pytest.fixture(scope="module")
def model() -> Any:
    return unbend.Isomap(n_neighbors=8).fit(POINTS)


@pytest.fixture(scope="module")
def whole(model: Any, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "model.unbend"
    model.save(path, about={"label": "kind"})
    return path.read_bytes()


def refuse(data: bytes, tmp_path: Path, *words: str) -> None:
    path = tmp_path / "broken.unbend"
    path.write_bytes(data)
    refused(lambda: unbend.load(path), "broken.unbend", *words, error=ValueError)


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        unbend.load(tmp_path / "nothing.unbend")
    with pytest.raises(IsADirectoryError):
        unbend.load(tmp_path)


def test_a_file_that_is_something_else_is_refused(tmp_path: Path, whole: bytes) -> None:
    for data in (b"", b"x,y\n1,2\n", pickle.dumps(POINTS), b"PK\x05\x06" + bytes(18), b"PK"):
        refuse(data, tmp_path)
    refuse(packed({"other.txt": b"words"}), tmp_path, "model.json", "missing")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99, 0.9999])
def test_a_truncated_file_is_refused(share: float, tmp_path: Path, whole: bytes) -> None:
    refuse(whole[: int(share * len(whole))], tmp_path)


def test_every_member_is_needed(tmp_path: Path, whole: bytes) -> None:
    parts = members(whole)
    for name in parts:
        refuse(packed({n: d for n, d in parts.items() if n != name}), tmp_path, name, "missing")


def test_compressed_members_are_refused_whatever_they_would_become(
    tmp_path: Path, whole: bytes
) -> None:
    refuse(packed(members(whole), zipfile.ZIP_DEFLATED), tmp_path, "compressed")
    bomb = {**members(whole), "arrays/0.npy": bytes(1 << 22)}
    refuse(packed(bomb, zipfile.ZIP_DEFLATED), tmp_path, "compressed")


SHAPES = ["(4294967296,)", "(100000, 100000)", "(999999999999999999, 9)", "(7,)", "(3, -1)"]
HEADERS = [
    *(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}" for shape in SHAPES),
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': __import__('os'), 'shape': (1,), }",
    "words",
    "",
]


@pytest.mark.parametrize("header", HEADERS)
def test_arrays_that_claim_what_they_are_not_are_refused_before_memory_is_taken(
    header: str, tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = np.empty

    def small(shape: Any, *given: Any, **options: Any) -> Any:
        assert np.prod(shape, dtype=float) < 1e6
        return made(shape, *given, **options)

    monkeypatch.setattr(np, "empty", small)
    refuse(packed({**members(whole), "arrays/0.npy": npy(header, bytes(8))}), tmp_path)


def changed(whole: bytes, change: Callable[[Document], Any]) -> bytes:
    parts = members(whole)
    document = json.loads(parts["model.json"])
    change(document)
    return packed({**parts, "model.json": json.dumps(document).encode()})


def of_class(document: Document, name: str) -> Document:
    found: Document = next(o for o in document["objects"] if o["class"] == name)["fields"]
    return found


CHANGES: dict[str, tuple[Callable[[Document], Any], tuple[str, ...]]] = {
    "format": (lambda d: d.update(format="other"), ("format", "'other'")),
    "no format": (lambda d: d.pop("format"), ("format",)),
    "newer": (lambda d: d.update(version=99, library="9.9"), ("version 99", "9.9", "upgrade")),
    "older": (lambda d: d.update(version=1), ("version 1 ", "fit the model again")),
    "version": (lambda d: d.update(version="1"), ("version",)),
    "class": (lambda d: d.update({"class": "TSNE"}), ("'TSNE'",)),
    "class of values": (lambda d: d.update({"class": "PointSpace"}), ("'PointSpace'",)),
    "class type": (lambda d: d.update({"class": ["Isomap"]}), ("class",)),
    "parameter": (lambda d: d["parameters"].update(perplexity=3), ("perplexity",)),
    "state": (lambda d: d.update(state=[]), ("state",)),
    "method": (lambda d: d["state"].update(transform=1), ("Isomap",)),
    "dunder": (lambda d: d["state"].update(__class__=1), ("Isomap",)),
    "embedding": (lambda d: d["state"].pop("embedding_"), ("Isomap",)),
    "words": (lambda d: d["state"].update(embedding_="x"), ("Isomap",)),
    "no extension": (lambda d: d["state"].pop("_extension"), ("Isomap",)),
    "extension": (lambda d: d["state"].update(_extension=5), ("Isomap",)),
    "report": (lambda d: d["state"].update(report_=5), ("Isomap",)),
    "objects": (lambda d: d.update(objects={}), ("objects",)),
    "object": (lambda d: d["objects"].insert(0, 5), ("object",)),
    "value": (lambda d: d["objects"][0].update({"class": "Popen"}), ("'Popen'",)),
    "dotted": (lambda d: d["objects"][0].update({"class": "os.system"}), ("'os.system'",)),
    "field": (lambda d: of_class(d, "Rule").update(k="many"), ("'k'", "Rule")),
    "more fields": (lambda d: of_class(d, "Rule").update(x=1), ("'x'", "Rule")),
    "fewer fields": (lambda d: of_class(d, "Rule").pop("k"), ("Rule",)),
    "neighbours": (lambda d: of_class(d, "Rule").update(k=0), ("Rule",)),
    "threads": (lambda d: of_class(d, "PointSpace").update(workers=-1), ("PointSpace",)),
    "forward": (lambda d: d["state"].update(_neighborhoods={"object": 10**6}), ("before",)),
    "array": (lambda d: d["state"].update(embedding_={"array": 10**6}), ("missing",)),
    "negative": (lambda d: d["state"].update(embedding_={"array": -1}), ("array",)),
    "yes": (lambda d: d["state"].update(embedding_={"array": True}), ("array",)),
    "single": (lambda d: d["state"].update(embedding_={"single": 0}), ("single",)),
    "tag": (lambda d: d["state"].update(more_={"python": "os"}), ("kind",)),
    "tags": (lambda d: d["state"].update(more_={"array": 0, "single": 0}), ("kind",)),
    "function": (lambda d: d["state"].update(more_={"function": "system"}), ("'system'",)),
    "number": (lambda d: d["state"].update(more_={"float": "one"}), ("number",)),
    "scalar": (lambda d: d["state"].update(more_={"scalar": ["|O", 1]}), ("number",)),
    "generator": (lambda d: d["parameters"].update(random_state={"generator": {"dict": {}}}), ()),
    "sparse": (lambda d: d["state"].update(more_={"csr": [1, 2, 3, [4, 4]]}), ("sparse",)),
    "left out": (lambda d: d.update(left_out=5), ()),
    "about": (lambda d: d.update(about=[]), ("about",)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_document_that_is_not_one_is_refused(name: str, tmp_path: Path, whole: bytes) -> None:
    change, words = CHANGES[name]
    refuse(changed(whole, change), tmp_path, *words)


@pytest.mark.parametrize("count", [1024, 40_000, 2**31 - 1])
def test_threads_of_a_larger_machine_change_no_answer(
    count: int, tmp_path: Path, whole: bytes, model: Any
) -> None:
    def enlarge(document: Document) -> None:
        of_class(document, "PointSpace").update(workers=count)
        of_class(document, "AllGeodesics").update(threads=count)
        of_class(document, "GeodesicNystrom").update(threads=count)

    path = tmp_path / "large.unbend"
    path.write_bytes(changed(whole, enlarge))
    assert unbend.load(path).transform(NEW).tobytes() == model.transform(NEW).tobytes()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"5", b"\xff\xfe", b'{"a": NaN}', b"[" * 10**6, b'{"a":' * 10**5]
)
def test_what_is_no_json_is_refused(text: bytes, tmp_path: Path, whole: bytes) -> None:
    refuse(packed({**members(whole), "model.json": text}), tmp_path)


@pytest.mark.parametrize("name", ["points", "geodesics", "owner", "weights"])
def test_parts_of_different_sizes_are_refused(name: str, tmp_path: Path, whole: bytes) -> None:
    def exchange(document: Document) -> None:
        for entry in document["objects"]:
            if name in entry.get("fields", ()):
                entry["fields"][name] = of_class(document, "Neighbors")["indices"]

    refuse(changed(whole, exchange), tmp_path)


def loaded(data: bytes, folder: Path) -> Any:
    """Return the model, or None where it was refused by a sentence that names the file."""
    path = folder / "broken.unbend"
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            # Members that have one name twice.
            warnings.simplefilter("ignore")
            return unbend.load(path)
    except ValueError as error:
        message = str(error)
    assert "broken.unbend" in message
    return None


def same_or_refused(data: bytes, folder: Path, model: Any) -> None:
    again = loaded(data, folder)
    if again is None:
        return
    assert_same_state(model, again)
    assert_same_answers(model, again, NEW)
    assert again.about_ == {"label": "kind"}


FUZZ = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@given(data=st.data())
@FUZZ
def test_flipped_bytes_change_nothing_or_are_found(
    data: st.DataObject, model: Any, whole: bytes, tmp_path: Path
) -> None:
    broken = bytearray(whole)
    # The directory at the end is short and says the most: half of the flips go there.
    places = st.integers(0, len(whole) - 1) | st.integers(len(whole) - 1500, len(whole) - 1)
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(places)] ^= data.draw(st.integers(1, 255))
    same_or_refused(bytes(broken), tmp_path, model)


@given(data=st.data())
@FUZZ
def test_pieces_cut_out_or_put_in_change_nothing_or_are_found(
    data: st.DataObject, model: Any, whole: bytes, tmp_path: Path
) -> None:
    first = data.draw(st.integers(0, len(whole)))
    last = data.draw(st.integers(first, len(whole)))
    put = data.draw(st.binary(max_size=40))
    same_or_refused(whole[:first] + put + whole[last:], tmp_path, model)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["array", "single", "object", "csr", "dict", "tuple", "generator", "random_state",
             "scalar", "float", "function", "distances_of", "strings", "class", "fields"]
        ),
        inner,
        max_size=2,
    ),
    max_leaves=8,
)  # fmt: skip


@given(data=st.data())
@FUZZ
def test_any_json_in_the_place_of_any_part_loads_or_is_refused(
    data: st.DataObject, whole: bytes, tmp_path: Path
) -> None:
    def replace(document: Document) -> None:
        node: Any = document
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = data.draw(st.sampled_from(keys))
            inner = node[key]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
                node[key] = data.draw(JSON)
                return
            node = inner

    again = loaded(changed(whole, replace), tmp_path)
    if again is not None:
        # A made-up model need not work, but nothing worse than an error may come of it.
        with contextlib.suppress(Exception):
            again.transform(NEW)


@pytest.mark.parametrize(
    ("encoder", "field", "value"),
    [("DateEncoder", "cycles", {"tuple": ["moon"]}), ("NumberEncoder", "decimal", ";")],
)
def test_an_encoder_of_unknown_cycles_or_decimal_marks_is_refused(
    encoder: str, field: str, value: Any, tmp_path: Path
) -> None:
    table = {
        "price": [f"{i}.5 €" for i in range(30)],
        "day": [f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(30)],
    }
    unbend.Prepare().fit(table).save(tmp_path / "prepare.unbend")
    whole = (tmp_path / "prepare.unbend").read_bytes()
    broken = changed(whole, lambda d: of_class(d, encoder).update({field: value}))
    refuse(broken, tmp_path)
