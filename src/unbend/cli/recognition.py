"""``unbend recognize`` and ``unbend identify``: learn classes, and find them in new samples."""

import time
from typing import TYPE_CHECKING, Annotated, Any

from unbend.cli.command import Command
from unbend.cli.embed import describe_training, make_estimator, scale_as_asked
from unbend.cli.inputs import Input
from unbend.cli.messages import PIPE, Misuse, emit_json, next_step, say, shell_word, show_progress
from unbend.cli.options import (
    BatchRows,
    DataOptions,
    Json,
    MethodSeed,
    ModelFile,
    Output,
    TableFile,
    option,
)
from unbend.cli.outputs import BatchResults, check_outputs, write_results, write_rows
from unbend.cli.rows import Rows
from unbend.cli.transform import new_samples
from unbend.registry import CLASSIFIERS

if TYPE_CHECKING:
    from unbend.methods.subspace_recognizer import Identification

DISTANCES = ("subspace_distance", "example_distance")
RecognizerFile = Annotated[
    str | None, option("--model FILE.unbend", "Where to save the recognizer.")
]
Dimension = Annotated[
    str | None,
    option(
        "--components --n-components -d NUMBER",
        "Dimension of the subspace, or the share of variance that it keeps.",
    ),
]


def recognize(
    table: TableFile,
    data: DataOptions,
    model: RecognizerFile = None,
    components: Dimension = None,
    json: Json = False,
    seed: MethodSeed = None,
    **typed: str | None,
) -> None:
    """Learn to recognize classes, as people from a folder of images for each.

    Classes are the folders of images, or the --label column of a table. Thresholds are learnt from
    classes that are held out in turn. unbend identify then finds out whether new samples are of
    this kind at all, whether their class is known, and which it is.
    """
    entry = CLASSIFIERS[0]
    general = {"n_components": components, "random_state": seed}
    estimator = make_estimator(entry, {**general, **typed}, distances=False)
    if model is None:
        raise Misuse("--model is missing: give the file that unbend identify will read")
    source = Input(table, data)
    check_outputs(model=model, read=[source])
    began = time.perf_counter()
    with show_progress():
        source.check_ignored()
        rows = source.read_prepared()
        with scale_as_asked(data.scale):
            estimator.fit(rows.dense().values, _labels(rows, table))
        if rows.preparation is not None:
            estimator.preparation_ = rows.preparation
        with write_results():
            estimator.save(model, about=describe_training(source, rows, estimator.embedding_))
    facts = {
        "rows": len(estimator.embedding_),
        "classes": len(estimator.classes_),
        "components": len(estimator.components_),
        "subspace_threshold": estimator.subspace_threshold_,
        "example_threshold": estimator.example_threshold_,
    }
    say(
        f"{facts['rows']} samples of {facts['classes']} classes in a subspace of dimension "
        f"{facts['components']}, in {time.perf_counter() - began:.1f} s"
    )
    if json:
        emit_json({"table": table, "model": model, **facts})
    next_step(f"unbend identify {shell_word(model)} NEW -o WHO.csv")


def _labels(rows: Rows, table: str) -> Any:
    if rows.table.label is None:
        raise Misuse(
            f"{table} has no classes: name the column that holds them with --label, or put the "
            "images of each class in a folder of its own"
        )
    return rows.table.label.astype(str)


def identify(
    model: ModelFile,
    table: TableFile,
    data: DataOptions,
    output: Output = None,
    batches: BatchRows = 100_000,
    json: Json = False,
) -> None:
    """Identify new samples by a saved recognizer.

    Written, one row a sample, are the distances to the subspace and to the nearest training
    example, the status (known, new, or not of this kind) and the identity, which is empty unless
    the status is known. Folders of new images, or --label, are compared with the identities.
    """
    import unbend

    if json and output == PIPE:
        raise Misuse("--json and the identities cannot both go to stdout: give -o FILE")
    estimator = unbend.load(model)
    if not hasattr(estimator, "identify"):
        raise Misuse(
            f"{model} holds a {type(estimator).__name__}: fit a recognizer with unbend recognize"
        )
    _, samples = new_samples(estimator, model, table, data, output, batches)
    results, parts = BatchResults(), []
    with show_progress(), write_results():
        for values, rest in samples:
            parts.append(estimator.identify(values))
            results.add(_distances(parts[-1]), rest)
        distances, rest = results.concatenate()
        words = _words(parts)
        if output is not None or not json:
            write_rows(output or PIPE, distances, DISTANCES, rest, words)
    facts = _facts(words, rest.label)
    say(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in facts.items()))
    if json:
        emit_json({"model": model, "table": table, "output": output, **facts})


def _distances(found: "Identification") -> Any:
    import numpy as np

    return np.column_stack([getattr(found, name) for name in DISTANCES])


def _words(parts: "list[Identification]") -> dict[str, Any]:
    """Return the status and the identity of all samples."""
    import numpy as np

    label = np.concatenate([part.label for part in parts])
    identity = np.array(["" if one is None else str(one) for one in label], dtype=object)
    return {"status": np.concatenate([part.status for part in parts]), "identity": identity}


def _facts(words: dict[str, Any], truth: Any) -> dict[str, int]:
    """Count the statuses, and the identities that agree with the classes of the new samples."""
    from unbend.methods.subspace_recognizer import KNOWN, NEW, OTHER

    status, identity = words["status"], words["identity"]
    facts = {name.replace(" ", "_"): int((status == name).sum()) for name in (KNOWN, NEW, OTHER)}
    if truth is not None:
        facts["agree_with_their_class"] = int((identity == truth.astype(str)).sum())
    return facts


RECOGNIZE = Command(
    recognize,
    (
        "unbend recognize people/ --model people.unbend",
        "unbend recognize people/ --size 46x56 --discriminant true --model people.unbend",
        "unbend recognize wine.csv --label kind --false-acceptance 0.1 --model wine.unbend",
    ),
)
IDENTIFY = Command(
    identify,
    (
        "unbend identify people.unbend new/ -o who.csv",
        "unbend identify wine.unbend new.csv --json",
    ),
)
