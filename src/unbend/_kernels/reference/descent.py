"""One round of a descent to approximate neighbours."""

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks

FREE = np.iinfo(np.int32).max
# Columns summed one after the other, before the others in 32 partial sums.
HEAD = 32


def join(
    rows: FloatArray,
    members: IntArray,
    fresh_members: IntArray,
    counts: IntArray,
    threads: int,
    keys: FloatArray,
    indices: IntArray,
    fresh: IntArray,
) -> None:
    """Offer the members of each group to each other's sorted lists; one of a pair is fresh.

    Of a row of `members` the first `counts` count, of which the first `fresh_members` are
    fresh. Keys are squared distances of single-precision rows, whose columns are a multiple
    of 32; entries that come in are marked in `fresh`.
    """
    width = members.shape[1]
    first, second = np.triu_indices(width, 1)
    for chunk in row_chunks(len(members), 8 * rows.shape[1] * len(first)):
        wanted = (first < fresh_members[chunk, None]) & (second < counts[chunk, None])
        group, pair = np.nonzero(wanted)
        a = members[chunk][group, first[pair]].astype(np.int64)
        b = members[chunk][group, second[pair]].astype(np.int64)
        a, b = np.unique(np.sort(np.stack((a, b)), axis=0), axis=1)
        _merge(a, b, _squares(rows[a] - rows[b]), keys, indices, fresh)


def _squares(differences: FloatArray) -> FloatArray:
    """Sum the squares in the order of the compiled kernel."""
    squares, columns = differences * differences, differences.shape[1]
    total = np.zeros(len(squares), dtype=np.float32)
    for column in squares[:, :HEAD].T:
        total += column
    if columns == HEAD:
        return total
    parts = np.zeros((len(squares), 4, 8), dtype=np.float32)
    for block in np.moveaxis(
        squares[:, HEAD:].reshape(len(squares), columns // HEAD - 1, 4, 8), 1, 0
    ):
        parts += block
    lanes = (parts[:, 0] + parts[:, 1]) + (parts[:, 2] + parts[:, 3])
    halves = lanes[:, :4] + lanes[:, 4:]
    return np.asarray(total + ((halves[:, 0] + halves[:, 1]) + (halves[:, 2] + halves[:, 3])))


def _merge(
    a: IntArray,
    b: IntArray,
    offered: FloatArray,
    keys: FloatArray,
    indices: IntArray,
    fresh: IntArray,
) -> None:
    """Keep the least of what the lists have and what both ends of the pairs are offered."""
    n, length = keys.shape
    row, place = np.nonzero(indices != FREE)
    owner = np.concatenate((row, a, b))
    member = np.concatenate((indices[row, place], b, a))
    key = np.concatenate((keys[row, place], offered, offered))
    new = np.concatenate((fresh[row, place], np.ones(2 * len(a), dtype=np.uint8)))
    later = np.arange(len(owner)) >= len(row)
    order = np.lexsort((later, member, key, owner))
    owner, member, key, new = owner[order], member[order], key[order], new[order]
    once = np.r_[True, (owner[1:] != owner[:-1]) | (member[1:] != member[:-1])][: len(owner)]
    owner, member, key, new = owner[once], member[once], key[once], new[once]
    rank = _places(owner, n)
    kept = rank < length
    at = owner[kept], rank[kept]
    indices[at], keys[at], fresh[at] = member[kept], key[kept], new[kept]


def _places(owner: IntArray, n: int) -> IntArray:
    """Place of each entry among those of its owner; owners ascend."""
    first = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=n))))
    return np.asarray(np.arange(len(owner)) - first[owner])


def priority(seed: int, row: IntArray, member: IntArray) -> IntArray:
    """Give each pair a number that looks random."""
    pair = (row.astype(np.uint64) << np.uint64(32)) | member.astype(np.uint64)
    bits = pair + np.uint64((seed + 0x9E3779B97F4A7C15) % 2**64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def propose(
    indices: IntArray,
    seed: int,
    threads: int,
    fresh: IntArray,
    members: IntArray,
    fresh_members: IntArray,
    counts: IntArray,
) -> None:
    """Fill for each row a group of neighbours and of rows that have it as neighbour.

    At most half the width of `members` are fresh, in either direction, and as many are not;
    entries whose turn has come are no longer `fresh`.
    """
    n, limit = len(indices), members.shape[1] // 2
    row, place = np.nonzero(indices != FREE)
    near, old = indices[row, place], fresh[row, place] == 0
    group, member = np.concatenate((row, near)), np.concatenate((near, row))
    rank, old = priority(seed, group, member), np.concatenate((old, old))
    order = np.lexsort((old, member, rank, group))
    group, member, old = group[order], member[order], old[order]
    once = np.r_[True, (group[1:] != group[:-1]) | (member[1:] != member[:-1])][: len(group)]
    group, member, old = group[once], member[once], old[once]
    members[...] = 0
    new = ~old
    at = _places(group[new], n)
    kept = group[new][at < limit], member[new][at < limit]
    members[kept[0], at[at < limit]] = kept[1]
    fresh_members[...] = np.bincount(kept[0], minlength=n)
    at = _places(group[old], n)
    rest = group[old][at < limit], member[old][at < limit]
    members[rest[0], fresh_members[rest[0]] + at[at < limit]] = rest[1]
    counts[...] = fresh_members + np.bincount(rest[0], minlength=n)
    turn = np.isin(row * n + near, kept[0] * n + kept[1])
    fresh[row[turn], place[turn]] = 0
