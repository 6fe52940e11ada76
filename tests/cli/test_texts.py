"""Texts on the command line: a folder, a column of a table, or lines."""

import json

import numpy as np
import pytest

import unbend as library
from tests.cli.program import numbers, sentence, table_of, unbend

TOPICS = {
    "sea": [
        "ships",
        "sailing",
        "waves",
        "harbours",
        "fishes",
        "storms",
        "anchors",
        "tides",
        "boats",
        "coasts",
    ],
    "sky": [
        "clouds",
        "wings",
        "birds",
        "winds",
        "planes",
        "storms",
        "stars",
        "moons",
        "pilots",
        "kites",
    ],
}
FLAT = ["isomap_1", "isomap_2"]


@pytest.fixture
def news(tmp_path):
    """Make news.csv with a column of texts, and a folder of the same."""
    rng = np.random.default_rng(0)
    lines = ["name,topic,body,length"]
    for number in range(40):
        topic = list(TOPICS)[number % 2]
        text = "The " + " and the ".join(rng.choice(TOPICS[topic], 6))
        lines.append(f'n{number},{topic},"{text}",{len(text)}')
        (tmp_path / "news" / topic).mkdir(parents=True, exist_ok=True)
        (tmp_path / "news" / topic / f"{number}.txt").write_text(text)
    (tmp_path / "news.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def read(folder, **options):
    return library.io.read_texts(folder / "news.csv", column="body", **options)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--stem", "--term-weight", "tf"], {"stem": True, "weight": "tf"}),
        (["--stop-words", "none", "--no-unit"], {"stop_words": None, "unit": False}),
        (["--stop-words", "stop.txt"], {"stop_words": ["the", "storms"]}),
    ],
)
def test_a_column_of_texts_is_embedded_as_the_library_does(news, words, options):
    (news / "stop.txt").write_text("the\nstorms\n")
    given = ("--text-column", "body", "--label", "topic", "--id", "name", *words)
    unbend("embed", "news.csv", *given, "-o", "flat.csv", cwd=news)
    texts = read(news, label="topic", **options)
    header, rows = table_of(news / "flat.csv")
    assert header == ["name", *FLAT, "topic"]
    assert [row[3] for row in rows] == texts.label.tolist()
    expected = library.Isomap().fit_transform(texts.values.toarray())
    assert np.array_equal(numbers(news / "flat.csv", FLAT), expected)


def test_sparse_rows_stay_sparse_for_a_method_that_takes_them(news):
    words = ("--text-column", "body", "--method", "pca", "--svd-solver", "arpack", "--seed", 0)
    unbend("embed", "news.csv", *words, "-o", "flat.csv", cwd=news)
    pca = library.PCA(n_components=2, svd_solver="arpack", random_state=0)
    found = numbers(news / "flat.csv", ["pca_1", "pca_2"])
    assert np.array_equal(found, pca.fit_transform(read(news).values))


def test_a_folder_of_texts_and_lines_from_a_pipe(news):
    unbend("embed", "news", "-o", "folder.csv", cwd=news)
    texts = library.io.read_texts(news / "news")
    assert table_of(news / "folder.csv")[0] == ["file", *FLAT, "folder"]
    expected = library.Isomap().fit_transform(texts.values.toarray())
    assert np.array_equal(numbers(news / "folder.csv", FLAT), expected)
    lines = [line.split('"')[1] for line in (news / "news.csv").read_text().splitlines()[1:]]
    piped = ("embed", "-", "--as", "texts", "-o", "lines.csv")
    unbend(*piped, cwd=news, stdin="\n".join(lines).encode())
    expected = library.Isomap().fit_transform(read(news).values.toarray())
    assert np.allclose(numbers(news / "lines.csv", FLAT), expected, rtol=0, atol=1e-9)


def test_new_texts_are_counted_in_the_terms_of_the_fitted_ones(news):
    given = ("--text-column", "body", "--label", "topic", "--id", "name", "--stem")
    unbend("embed", "news.csv", *given, "--model", "m.unbend", cwd=news)
    new = "name,body\na,sailing with the tides\nb,unheard of things\nc,pilot and birds\n"
    (news / "new.csv").write_text(new)
    done = unbend("transform", "m.unbend", "new.csv", "-o", "placed.csv", cwd=news)
    assert "1 document has no term" in done.stderr.decode()
    before = read(news, stem=True)
    model = library.Isomap().fit(before.values.toarray())
    after = library.io.read_texts(["sailing with the tides", "pilot and birds"], like=before)
    header, rows = table_of(news / "placed.csv")
    assert header == ["name", *FLAT]
    assert [row[0] for row in rows] == ["a", "c"]
    expected = model.transform(after.values.toarray())
    assert np.array_equal(numbers(news / "placed.csv", FLAT), expected)
    unbend("transform", "m.unbend", "news", "-o", "folder.csv", cwd=news)
    assert len(table_of(news / "folder.csv")[1]) == 40


def test_a_model_of_texts_reports_the_number_of_terms_only(news):
    unbend("embed", "news", "--model", "m.unbend", cwd=news)
    output = json.loads(unbend("info", "m.unbend", "--json", cwd=news).stdout)
    assert output["data"]["terms"] == sorted({*TOPICS["sea"], *TOPICS["sky"]})
    assert "terms=(19 of them)" in unbend("info", "m.unbend", cwd=news).stdout.decode()


@pytest.mark.parametrize(
    ("words", "part", "code"),
    [
        (["news.csv", "--stem"], "--stem is for texts, and news.csv is read as a table", 2),
        (["news.csv", "--text-column", "body", "--gray"], "--gray is for images", 2),
        (["news.csv", "--text-column", "body", "--missing", "drop"], "--missing is for tables", 2),
        (["news.csv", "--text-column", "body", "--array", "x"], "--array is for tables", 2),
        (["news.csv", "--text-column", "text"], "no column 'text'", 1),
        (["news.csv", "--text-column", "body", "--term-weight", "x"], "it must be tf-idf or tf", 2),
        (["news.csv", "--text-column", "body", "--encoding", "klingon"], "is not known", 1),
        (["news", "--encoding", "klingon"], "'klingon' is not known", 1),
        (["news", "--as", "images"], "holds no images", 1),
        (["news", "--as", "matrices"], "--method replicated_mds or weighted_mds", 2),
        (["news", "--distances", "--stem"], "--stem does not go with --distances", 2),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(news, words, part, code):
    assert part in sentence(unbend("embed", *words, cwd=news, code=code))


@pytest.mark.parametrize("name", ["suggest", "dimension", "graph", "compare", "bench"])
def test_every_command_that_reads_data_reads_texts(news, name):
    words = {"compare": ["--methods", "pca"], "bench": ["--methods", "pca", "--repeat", 1]}
    given = ("news.csv", "--text-column", "body", "--stem", *words.get(name, []), "--json")
    facts = json.loads(unbend(name, *given, cwd=news).stdout)
    if name == "dimension":
        rows = read(news, stem=True).values.toarray()
        assert facts["dimension"] == library.choose_dimension(rows).dimension
    assert facts.get("rows", 40) == 40


def test_quality_and_the_page_of_a_column_of_texts(news, monkeypatch):
    given = ("--text-column", "body", "--stem", "--label", "topic")
    unbend("embed", "news.csv", *given, "-o", "flat.csv", cwd=news)
    output = json.loads(
        unbend("quality", "news.csv", "flat.csv", *given, "--json", cwd=news).stdout
    )
    rows = read(news, stem=True).values.toarray()
    flat = numbers(news / "flat.csv", FLAT)
    assert output["continuity"] == float(library.quality.continuity(rows, flat, n_neighbors=5))
    done = unbend("report", "news.csv", *given, "-o", "page.html", "--json", cwd=news)
    page = (news / "page.html").read_text()
    assert "40 documents, 19 terms, labelled by &#x27;topic&#x27;" in page
    assert "unbend suggest news.csv --text-column body --stem --label topic" in page
    monkeypatch.chdir(news)
    names = {}
    code = page.split("<pre class='python'>")[1].split("</pre>")[0].replace("&#x27;", "'")
    exec(code.rsplit("\n", 1)[0], names)
    output = json.loads(done.stdout)
    for trial in names["compared"].trials:
        assert trial.measures == pytest.approx(output["measures"][trial.title])


@pytest.mark.parametrize(
    "kept", [{"kind": "texts"}, {"kind": "poems"}, ["texts"], {"kind": "cube"}, {"kind": []}]
)
def test_a_model_with_invalid_facts_about_its_data_is_refused(news, kept):
    rows = np.random.default_rng(0).random((20, 3))
    model = library.PCA(n_components=2).fit(rows)
    model.save(news / "m.unbend", about={"data": kept})
    output = sentence(unbend("transform", "m.unbend", "news", cwd=news, code=1))
    assert "does not describe its training data" in output


def test_a_model_of_python_takes_tables_as_before(news):
    rows = np.random.default_rng(0).random((20, 3))
    library.PCA(n_components=2).fit(rows).save(news / "m.unbend")
    np.save(news / "rows.npy", rows)
    unbend("transform", "m.unbend", "rows.npy", "-o", "flat.csv", cwd=news)
    output = sentence(unbend("transform", "m.unbend", "news", cwd=news, code=1))
    assert "fitted to a table, and news is read as texts" in output


def test_a_vocabulary_is_read_from_a_file(tmp_path):
    (tmp_path / "docs").mkdir()
    for place in range(12):
        content = f"{'cat ' * (place % 4 + 1)} {'dog ' * (place % 3 + 1)} whale"
        (tmp_path / "docs" / f"{place}.txt").write_text(content)
    (tmp_path / "words.txt").write_text("cat\ndog\n")
    words = ("--terms", "words.txt", "--term-weight", "tf", "--no-unit", "-m", "pca")
    unbend("embed", "docs", *words, "--model", "m.unbend", cwd=tmp_path)
    facts = json.loads(unbend("info", "m.unbend", "--json", cwd=tmp_path).stdout)
    assert facts["data"]["terms"] == ["cat", "dog"]
