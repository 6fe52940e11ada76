"""Nothing in a file, a model or a name commands the terminal that shows it."""

import json
import os

import numpy as np
import pytest

import unbend as library
from tests.cli.program import unbend
from unbend.cli.messages import printable, printable_json

# What terminals obey or readers do not see, and how it is shown.
HOSTILE = {
    "color": ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
    "title": ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
    "clipboard": ("\x1b]52;c;ZXZpbA==\x1b\\", "\\x1b]52;c;ZXZpbA==\\x1b\\"),
    "eight bits": ("\x9b2J\x9d0;t\x9c", r"\x9b2J\x9d0;t\x9c"),
    "carriage return": ("real\rfake", r"real\rfake"),
    "backspace": ("a\x08\x7fb", r"a\x08\x7fb"),
    "bidi": ("abc\u202egnp.exe\u2066x", r"abc\u202egnp.exe\u2066x"),
    "lines": ("one\nError: two\u2028three\x85four", r"one\nError: two\u2028three\x85four"),
    "invisible": ("a\u200bb\ufeffc\U000e0041", r"a\u200bb\ufeffc\U000e0041"),
}
KIND = pytest.mark.parametrize("kind", HOSTILE)
HARMLESS = "Größe 鳥 かな\u3000全 naïve می\u200cخواهم 👩\u200d🔬 1\u00a0000"


def obeyed(output: bytes) -> set[str]:
    """Return the characters of an output that a terminal would obey, or hide."""
    text = output.decode()
    seen = {c for c in text if not c.isprintable() and c not in "\n\u3000\u00a0\u200c\u200d"}
    assert all(not 0x80 <= ord(c) < 0xA0 for c in text)
    return seen


@KIND
def test_characters_are_shown_by_their_escapes(kind):
    raw, shown = HOSTILE[kind]
    assert printable(raw) == shown
    assert printable(HARMLESS) == HARMLESS
    text = json.dumps({raw: [raw, HARMLESS]}, ensure_ascii=False, indent=1)
    safe = printable_json(text)
    assert not obeyed(safe.encode())
    assert json.loads(safe) == {raw: [raw, HARMLESS]}


def test_every_code_point_that_is_kept_is_harmless():
    kept = "".join(c for c in map(chr, range(0x110000)) if printable(c) == c)
    assert all(c.isprintable() or c.isspace() or c in "\u200c\u200d" for c in kept)
    assert not {"\n", "\r", "\t", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e"} & set(kept)
    # Names of files that are not UTF-8 come with halves of surrogates, which no stream takes.
    printable("\udcff").encode()


def model_of(folder, raw):
    """Write a model whose every string is hostile."""
    X = library.datasets.s_curve(60, random_state=0).points
    model = library.PCA(2).fit(X)
    model.report_.warnings.append(f"warned {raw}")
    model.report_.stages[0].facts[f"fact {raw}"] = raw
    about = {
        "columns": [raw, "b", "c"],
        "label": raw,
        "id": None,
        "ignore": [raw + "!"],
        "source": f"{raw}.csv",
        f"key {raw}": {raw: raw},
        "classes": [raw],
        "data": {"kind": "table"},
    }
    model.save(folder / "m.unbend", about=about)


@KIND
def test_info_shows_a_model_and_obeys_none_of_it(kind, tmp_path):
    raw, shown = HOSTILE[kind]
    model_of(tmp_path, raw)
    done = unbend("info", "m.unbend", cwd=tmp_path)
    assert not obeyed(done.stdout) | obeyed(done.stderr)
    text = done.stdout.decode()
    lines = text.splitlines()
    assert f"  warning: warned {shown}" in lines
    assert [line.split(" ", 1)[1].strip() for line in lines if line.startswith("columns")] == [
        f"{shown}, b, c"
    ]
    assert any(line.startswith(f"key {shown} ") for line in lines)
    assert not any(line.startswith(("Error", "three", "four")) for line in lines)
    facts = json.loads(unbend("info", "m.unbend", "--json", cwd=tmp_path).stdout)
    assert facts["columns"][0] == raw
    assert facts[f"key {raw}"] == {raw: raw}


def quoted(raw):
    return '"' + raw.replace('"', '""') + '"'


def table_of(folder, raw):
    rng = np.random.default_rng(0)
    rows = [
        f"{a!r},{b!r},{c!r},{quoted(raw + str(k % 2))}"
        for k, (a, b, c) in enumerate(rng.random((60, 3)).tolist())
    ]
    header = f"{quoted(raw)},b,c,{quoted('kind ' + raw)}"
    (folder / "t.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8", newline="")


@KIND
def test_names_and_labels_of_a_table_are_not_obeyed_anywhere(kind, tmp_path):
    raw, _ = HOSTILE[kind]
    table_of(tmp_path, raw)
    label = f"kind {raw}"
    outputs = [
        unbend("embed", "t.csv", "--method", "pca", "-o", "all.csv", cwd=tmp_path),
        unbend("embed", "t.csv", "--label", "none", cwd=tmp_path, code=1),
        unbend("embed", "t.csv", "--ignore", raw + "!", cwd=tmp_path, code=1),
        unbend("embed", "t.csv", "--method", raw, cwd=tmp_path, code=2),
        unbend("embed", "t.csv", "--label", "none", "--debug", cwd=tmp_path, code=1),
        unbend("embed", f"{raw}.csv".replace("/", ""), cwd=tmp_path, code=1),
        unbend(
            "embed", "t.csv", "-l", label, "--method", "pca", "-o", "o.csv", "--json", cwd=tmp_path
        ),
        unbend("suggest", "t.csv", "-l", label, cwd=tmp_path),
        unbend("quality", "t.csv", "o.csv", "-l", label, cwd=tmp_path),
        unbend("compare", "t.csv", "-l", label, "--methods", "pca", cwd=tmp_path),
        unbend(
            "quality", "t.csv", "o.csv", "-l", label, "--truth", raw + "!", cwd=tmp_path, code=1
        ),
    ]
    for done in outputs:
        assert not obeyed(done.stdout) | obeyed(done.stderr)
    # White space of any kind is a space in a sentence.
    assert printable(" ".join(raw.split())).encode() in outputs[1].stderr
    assert outputs[1].stderr.count(b"\n") == 1
    model_of(tmp_path, "other" + raw)
    done = unbend("transform", "m.unbend", "t.csv", cwd=tmp_path, code=1)
    assert not obeyed(done.stderr)


def test_rows_that_go_to_a_file_or_a_pipe_keep_every_byte(tmp_path):
    raw, _ = HOSTILE["color"]
    table_of(tmp_path, raw)
    words = ("embed", "t.csv", "-l", f"kind {raw}", "--method", "pca")
    assert b"\x1b[31mred" in unbend(*words, cwd=tmp_path).stdout


def test_rows_shown_at_a_terminal_are_not_obeyed(tmp_path):
    raw, shown = HOSTILE["color"]
    table_of(tmp_path, raw)
    words = ("embed", "t.csv", "-l", f"kind {raw}", "--method", "pca", "--quiet")
    output = unbend(*words, cwd=tmp_path, terminal=["stdout"]).stdout
    assert b"\x1b" not in output
    assert output.count(shown.encode()) == 61


def test_names_of_files_that_are_not_text_are_shown(tmp_path):
    name = os.fsdecode(b"\xff\x1b[2J.csv")
    (tmp_path / name).write_text("a,b\n1,\n2,3\n4,1\n")
    done = unbend("embed", name, cwd=tmp_path, code=1)
    assert rb"\udcff\x1b[2J.csv" in done.stderr
