"""Sketches of many texts at once, so that those that may be copies are found without comparing each with each.

MinHash (Broder 1997) over pairs of words that stand together, and locality-sensitive hashing of the sketches. Pure;
all is arithmetic on arrays, with fixed constants, so that equal texts give equal sketches on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# Texts that share 0.9 of their shingles share a band with a probability above 0.999, at 0.8 of 0.98, at 0.3 of 0.06.
_BANDS, _ROWS = 8, 4
_HASHES = _BANDS * _ROWS
_AGREEMENT = 0.65  # of the hashes of two copies at 0.9: below it is less than one pair in ten thousand
_FEWEST_WORDS = 6  # fewer are like many others
_LONGEST_WORD = 64  # bytes that tell words apart
_CROWD = 1000  # texts in a bucket; more are compared in parts, neighbours with neighbours
_BATCH_WORDS = 1 << 20  # sketched at once; bounds the memory to some tens of megabytes

_RANDOM = np.random.Generator(np.random.PCG64(20_240_601))
_OF_BYTE = _RANDOM.integers(1 << 63, size=256, dtype=np.uint64) | np.uint64(1)
_OF_PLACE = _RANDOM.integers(1 << 63, size=_LONGEST_WORD + 1, dtype=np.uint64) | np.uint64(1)
_OF_PLACE[_LONGEST_WORD] = 0
_FACTORS = _RANDOM.integers(1 << 63, size=_HASHES, dtype=np.uint64) | np.uint64(1)
_OFFSETS = _RANDOM.integers(1 << 63, size=_HASHES, dtype=np.uint64)
_IS_WORD = np.array([byte >= 0x80 or chr(byte).isalnum() or chr(byte) == "_" for byte in range(256)])


@dataclass(frozen=True, eq=False)
class Sketches:
    """One row for each text: a hash of its words in order of their pairs, its hashes, and how many words it has."""

    fingerprints: NDArray[np.uint64]
    hashes: NDArray[np.uint32]
    words: NDArray[np.int64]

    def buckets(self, texts: NDArray[np.int64]) -> list[list[int]]:
        """Sets of some texts that may be near-copies of each other; a text may be in several, one alone is in none."""
        found: list[list[int]] = []
        texts = texts[self.words[texts] >= _FEWEST_WORDS]
        for band in range(_BANDS):
            rows = np.ascontiguousarray(self.hashes[texts, band * _ROWS : (band + 1) * _ROWS])
            _, of_row = np.unique(rows.view(f"V{rows.itemsize * _ROWS}").ravel(), return_inverse=True)
            order = np.argsort(of_row, kind="stable")
            borders = np.flatnonzero(np.diff(of_row[order], prepend=-1, append=-1))
            for start, end in pairwise(borders.tolist()):
                for part in range(start, end - 1, _CROWD):
                    found.append(texts[order[part : min(part + _CROWD, end)]].tolist())
        return found

    def agreeing(self, text: int, others: Sequence[int] | NDArray[np.int64]) -> list[int]:
        """Those of the others that seem to share most of their shingles with a text, in their order."""
        numbers = np.asarray(others, np.int64)
        shared = np.count_nonzero(self.hashes[numbers] == self.hashes[text], axis=1)
        agreeing: list[int] = numbers[shared >= _AGREEMENT * _HASHES].tolist()
        return agreeing


def sketch(files: Iterator[tuple[bytes, NDArray[np.int64]]], *, hashed: bool = True) -> Sketches:
    """Sketches of texts inside files: each file is its content and an array of (start, end) bytes of its texts.

    The rows are in order of the files and their texts. Without `hashed`, there are fingerprints only.
    """
    parts: list[Sketches] = []
    words: list[NDArray[np.uint64]] = []
    ranges: list[NDArray[np.int64]] = []
    count = 0
    for content, spans in files:
        starts, hashes = _words(content)
        ranges.append(np.searchsorted(starts, spans) + count)
        words.append(hashes)
        count += len(hashes)
        if count > _BATCH_WORDS:
            parts.append(_sketched(words, ranges, hashed=hashed))
            words, ranges, count = [], [], 0
    parts.append(_sketched(words, ranges, hashed=hashed))
    return Sketches(
        np.concatenate([part.fingerprints for part in parts]),
        np.concatenate([part.hashes for part in parts]),
        np.concatenate([part.words for part in parts]),
    )


def _words(content: bytes) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Where each word of a file begins, and a hash of it."""
    raw = np.frombuffer(content, np.uint8)
    is_word = _IS_WORD[raw]
    borders = np.flatnonzero(np.diff(is_word, prepend=False, append=False))
    starts, ends = borders[::2], borders[1::2]
    if not len(starts):
        return starts, np.zeros(0, np.uint64)
    lengths = ends - starts
    firsts = np.cumsum(lengths) - lengths
    place = np.arange(int(lengths.sum())) - np.repeat(firsts, lengths)
    letters = _OF_BYTE[raw[is_word]] * _OF_PLACE[np.minimum(place, _LONGEST_WORD)]
    return starts, _mixed(np.add.reduceat(letters, firsts))


def _sketched(words: Sequence[NDArray[np.uint64]], ranges: Sequence[NDArray[np.int64]], *, hashed: bool) -> Sketches:
    spans = np.concatenate(ranges) if ranges else np.zeros((0, 2), np.int64)
    begins, ends = spans[:, 0], spans[:, 1]
    every = np.concatenate([*words, np.zeros(2, np.uint64)])  # two more, so that each end is a place of the array
    pairs = _mixed(every[:-1] * np.uint64(3) + every[1:])
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(pairs)])
    last = np.maximum(ends - 1, begins)  # n words make n - 1 pairs
    fingerprints = sums[last] - sums[begins] + every[begins]
    hashes = np.zeros((len(spans), _HASHES if hashed else 0), np.uint32)
    long = np.flatnonzero(ends - begins >= _FEWEST_WORDS)
    if hashed and len(long):
        limits = np.stack([begins[long], last[long]], axis=1).ravel()
        for index in range(_HASHES):
            values = ((pairs * _FACTORS[index] + _OFFSETS[index]) >> np.uint64(32)).astype(np.uint32)
            # At every other place stands the minimum between two texts, which nobody asks for.
            hashes[long, index] = np.minimum.reduceat(values, limits)[::2]
    return Sketches(fingerprints, hashes, ends - begins)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each bit of the result depends on each bit of the value (the finaliser of MurmurHash3)."""
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))
