"""Damaged models are refused by one sentence, in bounded memory, or they work as a model does."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unbend
from tests.conformance.cases import refused
from tests.storage import mutations
from tests.storage.cases import POINTS
from tests.storage.mutations import array_bytes, attempt, members, names, packed
from unbend.progress import Cancelled
from unbend.storage import classes
from unbend.storage.archive import memory_bound, parsed_size

# One quick case for each way to extend a fit.
QUICK = [
    "ClassicalMDS-precomputed", "DiffusionMaps-single", "Isomap-bridge", "KernelPCA-single",
    "LandmarkMDS-single", "LTSA-single", "LaplacianEigenmaps-largest", "MetricMDS-single",
    "PCA-single", "Prepare", "RandomProjection-single", "SpectralClustering-single",
    "SubspaceRecognizer-words", "weighted", "sparse-projection", "mds-lifted", "kernel-given",
    "replicated-monotone", "Isomap-minkowski",
]  # fmt: skip


@pytest.mark.parametrize("start", range(0, 200, 100))
def test_a_damaged_model_is_refused_or_works(start: int, tmp_path: Path) -> None:
    found = {attempt(number, tmp_path, QUICK) for number in range(start, start + 100)}
    assert found == {"refused", "loaded"}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 20_000, 500))
def test_ten_thousand_damaged_models_are_refused_or_work(start: int, tmp_path: Path) -> None:
    found = {attempt(number, tmp_path, names()) for number in range(start, start + 500)}
    assert found == {"refused", "loaded"}


# Mutations by which a model once loaded and then failed in a call, with the error.
FAILED = {
    1035: "TypeError", 1194: "IndexError", 1561: "KeyError", 1586: "AttributeError",
    1743: "IndexError", 2188: "AttributeError", 3268: "KeyError", 5172: "IndexError",
    5268: "IndexError", 5878: "TypeError", 6978: "TypeError",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", FAILED)
def test_what_once_failed_after_loading_is_refused(number: int, tmp_path: Path) -> None:
    known = [name for name in names() if name != mutations.PREPARATION.name]
    attempt(number, tmp_path, known)


def test_a_sparse_matrix_of_too_many_rows_is_refused(tmp_path: Path) -> None:
    # Its shape is beyond 64 bits, which once was an OverflowError.
    attempt(40889, tmp_path, names())


@pytest.mark.parametrize("error", [MemoryError, Cancelled, KeyboardInterrupt])
def test_an_interrupt_while_parts_are_checked_is_not_taken_for_damage(
    error: type[BaseException], whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strike(space: Any) -> bool:
        raise error

    path = tmp_path / "model.unbend"
    path.write_bytes(whole)
    unbend.load(path)
    monkeypatch.setattr("unbend.storage.shapes._measures", strike)
    with pytest.raises(error):
        unbend.load(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "model.unbend"
    unbend.Isomap(n_neighbors=8).fit(POINTS).save(path)
    return path.read_bytes()


def inflated(whole: bytes, more: str) -> bytes:
    """Put JSON text in a model, where `state` has a value of any kind."""
    parts = members(whole)
    document = json.loads(parts["model.json"])
    document["state"]["more_"] = "HERE"
    text = json.dumps(document).replace('"HERE"', more)
    return packed({**parts, "model.json": text.encode()})


def repeated(piece: str, size: int = 1_500_000) -> str:
    return "[" + ",".join([piece] * (size // (len(piece.encode()) + 1))) + "]"


@pytest.mark.parametrize(
    "piece",
    [
        "[]",
        "{}",
        '{"dict":{"a":0}}',
        '{"strings":["ab"]}',
        *(
            pytest.param(piece, marks=pytest.mark.slow)
            for piece in (
                "[[]]", '{"dict":{}}', '{"tuple":[1]}', "1e5", "12345", '"ab"',
                '"\N{GRINNING FACE}bcdefghijkl"', '{"float":"nan"}', '{"scalar":["<f8",1.5]}',
                '{"object":0}', '{"array":0}', '{"generator":{"dict":{"bit_generator":"PCG64"}}}',
            )
        ),
    ],
)  # fmt: skip
def test_memory_is_bounded_by_the_length_of_a_file(
    piece: str, whole: bytes, tmp_path: Path
) -> None:
    data = inflated(whole, repeated(piece))
    path = tmp_path / "large.unbend"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        unbend.load(path)
    except ValueError as error:
        message = str(error)
        assert "large.unbend" in message
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < memory_bound(len(data))


def test_few_bytes_cannot_refer_to_many_again_and_again(whole: bytes, tmp_path: Path) -> None:
    parts = members(whole)
    document = json.loads(parts["model.json"])
    numbers = [int(name[7:-4]) for name in parts if name.endswith(".npy")]
    n, free = 200_000, max(numbers) + 1
    parts[f"arrays/{free}.npy"] = array_bytes(np.arange(n + 1))
    parts[f"arrays/{free + 1}.npy"] = array_bytes(np.zeros(n, dtype=np.int64))
    parts[f"arrays/{free + 2}.npy"] = array_bytes(np.zeros(n))
    lists = {"offsets": free, "indices": free + 1, "distances": free + 2}
    fields = {field: {"array": number} for field, number in lists.items()}
    sparse = {"csr": [fields["distances"], fields["indices"], fields["offsets"], [n, n]]}
    path = tmp_path / "references.unbend"
    for change in (
        lambda d: d["objects"].extend([{"class": "Neighbors", "fields": fields}] * 2000),
        lambda d: d["state"].update(more_=[sparse] * 2000),
    ):
        changed = json.loads(json.dumps(document))
        change(changed)
        path.write_bytes(packed({**parts, "model.json": json.dumps(changed).encode()}))
        refused(lambda: unbend.load(path), "references.unbend", "more often", error=ValueError)


def test_types_of_fields_are_resolved_once_for_each_class(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes._field_types.cache_clear()
    resolved: list[Any] = []
    find = classes.get_type_hints
    monkeypatch.setattr(classes, "get_type_hints", lambda kind: resolved.append(kind) or find(kind))
    parts = members(whole)
    document = json.loads(parts["model.json"])
    document["objects"] += [{"class": "Dense", "fields": {}}] * 3000
    path = tmp_path / "objects.unbend"
    path.write_bytes(packed({**parts, "model.json": json.dumps(document).encode()}))
    unbend.load(path)
    assert len(resolved) == len(set(resolved))


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    model = unbend.PCA().fit(POINTS)
    about = {"rows": [[] for _ in range(200_000)]}
    refused(lambda: model.save(tmp_path / "a.unbend", about=about), "about", error=ValueError)
    assert not list(tmp_path.iterdir())
    many = {"names": [f"column {number}" for number in range(50_000)]}
    model.save(tmp_path / "b.unbend", about=many)
    assert unbend.load(tmp_path / "b.unbend").about_ == many


def test_the_estimate_of_a_document_is_no_less_than_it_takes() -> None:
    for piece in ("[]", "{}", '{"a":1}', '"ab"', "12345", '["a",1]', '{"a":{"b":[1,2.5]}}'):
        text = repeated(piece, 200_000).encode()
        tracemalloc.start()
        parsed = json.loads(text)
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(parsed) > 1
        assert size < parsed_size(text)
