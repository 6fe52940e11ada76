"""Random rows of a text file that is not read whole."""

import numpy as np

from unbend.arrays import IntArray
from unbend.io.dialect import Dialect
from unbend.io.source import LONGEST_LINE, Source, line_too_long

# Bytes of a block: rows that begin in it are read together.
BLOCK = 1 << 12
# Blocks at least, so that rows come from many places, and rows drawn beyond those asked for.
SPREAD, SPARE = 4096, 1.25
# Bytes behind a block that its last row may need, in lengths of the longest line seen.
TAIL = 2
QUOTE, LINE_END = ord('"'), ord("\n")


def sample_records(
    source: Source, dialect: Dialect, rows: int, random_state: int
) -> tuple[bytes, int]:
    """Draw rows without replacement; return their bytes in order, and about how many there are.

    The file is divided into blocks, and blocks are drawn without replacement. A row belongs to the
    block in which it begins, so every row is as likely as any other, however long it is. All rows
    of the drawn blocks are read, and those asked for are drawn from them.
    """
    rng = np.random.default_rng(random_state)
    start, end = _header_bytes(source, dialect), source.size
    blocks = max(1, -(-(end - start) // BLOCK))
    drawn = max(int(SPARE * rows * dialect.mean_length) // BLOCK + 1, min(rows, SPREAD))
    while True:
        drawn = min(drawn, blocks)
        places = np.sort(rng.choice(blocks, drawn, replace=False))
        records = [
            record
            for place in places.tolist()
            for record in _block_records(source, dialect, start + place * BLOCK, start, end)
        ]
        if len(records) >= rows or drawn == blocks:
            break
        drawn *= 2
    total = round(len(records) * blocks / drawn)
    kept = np.sort(rng.choice(len(records), min(rows, len(records)), replace=False))
    return b"".join(records[place] for place in kept.tolist()), total


def _header_bytes(source: Source, dialect: Dialect) -> int:
    with source.lines() as stream:
        return sum(len(stream.readline()) for _ in range(dialect.header_lines))


def _block_records(
    source: Source, dialect: Dialect, begin: int, start: int, end: int
) -> list[bytes]:
    """Return the rows that begin in a block, each with its line end."""
    # The byte before the block says whether a row begins at its first.
    first = max(begin - 1, start)
    size = min(begin + BLOCK, end) - first + TAIL * dialect.longest
    while True:
        content = source.read_at(first, size)
        complete = first + len(content) >= end
        ends = _line_ends(content, dialect, known=first == begin)
        limit = begin + BLOCK - first
        # A row that begins in the block may end behind what was read.
        if complete or (len(ends) and ends[-1] >= limit - 1):
            break
        if size > LONGEST_LINE:
            raise ValueError(line_too_long(source.name))
        size *= 2
    begins = ends + 1 if first < begin else np.concatenate([[0], ends + 1])
    stops = np.append(ends, len(content) - 1)[len(ends) + 1 - len(begins) :] + 1
    inside = begins < limit
    records = [
        content[a:b] for a, b in zip(begins[inside].tolist(), stops[inside].tolist(), strict=True)
    ]
    return [
        record if record.endswith(b"\n") else record + b"\n" for record in records if record.strip()
    ]


def _line_ends(content: bytes, dialect: Dialect, known: bool) -> IntArray:
    """Return the places of the line ends that end rows.

    A block may begin inside a quoted field. Both readings are tried, and that with the larger share
    of rows as wide as the header is taken; of equal ones, that which begins outside. `known` says
    that the content begins with a row.
    """
    letters = np.frombuffer(content, np.uint8)
    ends: IntArray = np.flatnonzero(letters == LINE_END)
    quotes = letters == QUOTE
    if not quotes.any():
        return ends
    open_quotes = np.cumsum(quotes) % 2
    outside: IntArray = ends[open_quotes[ends] == 0]
    inside: IntArray = ends[open_quotes[ends] == 1]
    if known:
        return outside
    separators = np.flatnonzero(letters == ord(dialect.separator))
    shares = []
    for parity, found in ((0, outside), (1, inside)):
        marks = separators[open_quotes[separators] == parity]
        widths = np.diff(np.searchsorted(marks, found)) + 1
        wide = len(dialect.names) + dialect.trailing
        shares.append(float(np.mean(widths == wide)) if len(widths) else 0.0)
    return inside if shares[1] > shares[0] else outside
