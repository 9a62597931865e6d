"""Pools of strings as two arrays: UTF-8 bytes end to end, and where each string starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# File names may be any bytes; Python holds the undecodable ones as surrogates, and this keeps them.
_ERRORS = "surrogateescape"


def encode(text: str) -> bytes:
    """UTF-8, with undecodable bytes of file names given back as they were."""
    try:
        return text.encode("utf-8", _ERRORS)
    except UnicodeEncodeError:  # a lone surrogate that is no escaped byte
        return text.encode("utf-8", "replace")


class Strings:
    """A read-only sequence of strings over mapped arrays; `offsets` has one entry more than there are strings."""

    def __init__(self, offsets: NDArray[np.uint32], data: NDArray[np.uint8]) -> None:
        self.offsets = offsets
        self.data = data

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        raw: bytes = self.data[int(self.offsets[index]) : int(self.offsets[index + 1])].tobytes()
        return raw.decode("utf-8", _ERRORS)

    def to_list(self) -> list[str]:
        """All strings at once; several times quicker than one by one."""
        raw = self.data.tobytes()
        bounds = self.offsets.tolist()
        return [raw[a:b].decode("utf-8", _ERRORS) for a, b in pairwise(bounds)]

    def take(self, indices: NDArray[np.intp]) -> Strings:
        """The strings at these indices, as a pool of their own."""
        starts = self.offsets[indices].astype(np.int64)
        lengths = self.offsets[indices + 1].astype(np.int64) - starts
        offsets = np.zeros(len(indices) + 1, np.uint32)
        np.cumsum(lengths, out=offsets[1:])
        positions = np.repeat(starts - offsets[:-1], lengths) + np.arange(int(offsets[-1]))
        return Strings(offsets, self.data[positions])


def pack_strings(texts: Iterable[str]) -> Strings:
    """A pool of the given strings, in order."""
    encoded = [encode(text) for text in texts]
    return pack_bytes(encoded)


def pack_bytes(encoded: Sequence[bytes]) -> Strings:
    """A pool of strings that are encoded already."""
    offsets = np.zeros(len(encoded) + 1, np.uint32)
    np.cumsum([len(raw) for raw in encoded], out=offsets[1:])
    return Strings(offsets, np.frombuffer(b"".join(encoded), np.uint8))


def concatenate(pools: Sequence[Strings]) -> Strings:
    """One pool of all strings of several, in order."""
    if not pools:
        return pack_bytes([])
    parts = [np.zeros(1, np.uint32)]
    base = 0
    for pool in pools:
        parts.append(pool.offsets[1:] + np.uint32(base))
        base += int(pool.offsets[-1])
    return Strings(np.concatenate(parts), np.concatenate([pool.data for pool in pools]))
