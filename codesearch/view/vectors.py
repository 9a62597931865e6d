"""Vectors that were computed before, found by the content key of their chunk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from codesearch.view.segment import Segment

VectorSource = tuple[NDArray[Any], NDArray[np.int8], NDArray[np.float32]]


class VectorLookup(Protocol):
    """Finds the vector of a chunk by its content key."""

    def find(self, key: bytes) -> tuple[NDArray[np.int8], np.float32] | None:
        """Codes and scale, or None."""


class KnownVectors:
    """Vectors of chunks that were embedded before, found by content key."""

    def __init__(self, sources: Iterable[VectorSource], otherwise: VectorLookup | None = None) -> None:
        """Each source is (keys with shape (n, KEY_BYTES), codes, scales); `otherwise` is asked last."""
        self._otherwise = otherwise
        self._sources = [source for source in sources if len(source[0])]
        halves = [np.ascontiguousarray(keys).view("<u8")[:, 0] for keys, _, _ in self._sources]
        sizes = [len(half) for half in halves]
        joined = np.concatenate(halves) if halves else np.zeros(0, np.uint64)
        self._order = np.argsort(joined, kind="stable")
        self._sorted = joined[self._order]
        self._source_of = np.repeat(np.arange(len(sizes)), sizes)
        self._row_of = np.concatenate([np.arange(size) for size in sizes]) if sizes else np.zeros(0, np.int64)

    @classmethod
    def of_segments(cls, segments: Iterable[Segment], otherwise: VectorLookup | None = None) -> KnownVectors:
        """The vectors of every chunk of some segments."""
        return cls(((seg.chunks["key"], seg.codes, seg.scales) for seg in segments), otherwise)

    def find(self, key: bytes) -> tuple[NDArray[np.int8], np.float32] | None:
        """The codes and the scale stored under a key, or None."""
        half = np.frombuffer(key, "<u8")[0]
        at = int(np.searchsorted(self._sorted, half))
        while at < len(self._sorted) and self._sorted[at] == half:
            entry = self._order[at]
            keys, codes, scales = self._sources[int(self._source_of[entry])]
            row = int(self._row_of[entry])
            if keys[row].tobytes() == key:
                return codes[row], scales[row]
            at += 1
        return self._otherwise.find(key) if self._otherwise else None
