"""Laws that hold between the numbers of a page, whatever the table is."""

import re

ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "number 11", "number 12"),
)
VERDICT = r"(not determined|between \d+ and \d+|\d+)"
REDUNDANT, SPECKS = 0.8, 0.1


def check_page(page, sentences):
    """Check that the page contradicts itself nowhere."""
    said = " ".join(sentences)
    _check_verdict(page, said)
    rows = _check_ranking(page)
    title = _check_recommendation(page, rows)
    _check_repeated_numbers(page, said, rows[title])


def _check_verdict(page, said):
    (verdict,) = page.sections["Intrinsic dimension"].paragraphs
    answer = page.sections["Summary"].answers["Intrinsic dimension"]
    assert answer.startswith(verdict)
    named = re.findall(rf"[Ii]ntrinsic dimension (?:is )?{VERDICT}", said)
    assert named
    assert {each.lower() for each in named} == {verdict.lower()}


def _check_ranking(page):
    """Return the lines by title: usable methods come first, and the others say why they do not."""
    section = page.sections["Quality of the embeddings"]
    header = section.tables[0][0]
    measure = {name: header.index(name) for name in ("redundancy", "occupancy", "mean rank")}
    lines = [line for table in section.tables for line in table[1:]]
    assert [int(line[0]) for line in lines] == list(range(1, len(lines) + 1))
    kinds = []
    for line in lines:
        if "–" in line[2:-1]:
            assert line[-1].startswith("Failed: ")
            kinds.append(3)
            continue
        specks = float(line[measure["occupancy"]]) < SPECKS
        redundant = float(line[measure["redundancy"]]) > REDUNDANT
        kinds.append(2 if specks else int(redundant))
        why = {0: "", 1: "One of its coordinates is", 2: "Most of its points coincide"}[kinds[-1]]
        assert line[-1].startswith(why)
    assert kinds == sorted(kinds)
    places = [
        (kind, float(line[measure["mean rank"]]))
        for kind, line in zip(kinds, lines, strict=True)
        if kind < 3
    ]
    assert places == sorted(places)
    # The second table is that of methods that show little.
    split = sum(kind == 0 for kind in kinds)
    sizes = [len(table) - 1 for table in section.tables]
    assert sizes == [size for size in (split, len(lines) - split) if size]
    return {line[1]: (int(line[0]), dict(zip(header, line, strict=True))) for line in lines}


def _check_recommendation(page, rows):
    """Return the recommended title: the first one, or one sentence says why it is not."""
    answer = page.sections["Summary"].answers["Method"]
    title = next(title for title in sorted(rows, key=len, reverse=True) if answer.startswith(title))
    place, _ = rows[title]
    (named,) = page.sections["Which method?"].paragraphs
    assert named.split("(")[0] == title.split()[0]
    first = next(iter(rows))
    if place == 1:
        assert re.search("ranks first of", answer)
    else:
        sentence = f"{first} ranks first by the quality measures and {title} {ORDINALS[place - 1]}"
        assert sentence in answer
        assert sentence in " ".join(page.sections["Which method?"].items)
    usable = float(rows[first][1]["redundancy"]) <= REDUNDANT
    usable &= float(rows[first][1]["occupancy"]) >= SPECKS
    if usable:
        assert float(rows[title][1]["redundancy"]) <= REDUNDANT
        assert float(rows[title][1]["occupancy"]) >= SPECKS
    command = page.codes[0].splitlines()[-1]
    method = re.search(r"--method (\S+)", command)[1]
    assert method.replace("_", "") == title.split()[0].lower()
    for name, value in (pair.rstrip(",").split("=") for pair in title.split()[1:]):
        assert f"--{name.replace('_', '-')} {value}" in command
    return title


def _check_repeated_numbers(page, said, line):
    _, cells = line
    for name in ("trustworthiness", "continuity"):
        shown = re.findall(rf"{name} (?:is )?(\d\.\d+)", said)
        assert shown
        assert set(shown) == {cells[name]}
    (preserved,) = re.findall(r"R_NX AUC\) is (\d\.\d+)", said)
    assert preserved == cells["neighbourhood preservation (R_NX AUC)"]
    assert len(set(re.findall(r"moves? points by (\d+)%", said))) <= 1
    sizes = set(re.findall(r"(\d+) rows, \d+ (?:columns|features)", said))
    assert len(sizes) == 1
