"""Segments: what was parsed and embedded of a set of blobs, as flat arrays that never change.

A segment knows contents, not paths: a *unit* is one blob parsed as one language. The overlay of edited files and
the results of indexing workers are segments in memory; an index run merges them into one on disk. Offsets in
units are relative to their blob, indices of declarations and chunks relative to their unit, so that a unit can
be copied from one segment to another, or packed for the store, without being parsed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError
from codesearch.types import Kind, SkipReason
from codesearch.view.arrays import ArrayFile, write_arrays
from codesearch.view.strings import Strings, encode

FORMAT = 2  # of segments and views; what does not match is rebuilt
KEY_BYTES = 16  # of content keys: 128 bits, so that two texts never share one by accident
FIELDS = ("symbol", "parents", "signature", "doc", "body")

_HASH = ("u1", (KEY_BYTES,))
UNIT = np.dtype(
    [
        ("key", *_HASH), ("blob", "u1", (32,)), ("language", "u1"), ("skip", "u1"), ("errors", "u1"),
        ("reserved", "u1"), ("size", "<u4"), ("lines", "<u4"), ("first_chunk", "<u4"), ("chunks", "<u4"),
        ("first_declaration", "<u4"), ("declarations", "<u4"),
    ]
)  # fmt: skip
DECLARATION = np.dtype(
    [
        ("key", *_HASH), ("name_hash", "<u8"), ("symbol", "<u4"), ("qualified", "<u4"), ("signature", "<u4"),
        ("start", "<u4"), ("end", "<u4"), ("first", "<u4"), ("last", "<u4"), ("parent", "<i4"),
        ("chunk", "<i4"), ("kind", "u1"), ("own", "u1"), ("reserved", "u1", (2,)),
    ]
)  # fmt: skip
CHUNK = np.dtype(
    [
        ("key", *_HASH), ("start", "<u4"), ("end", "<u4"), ("first", "<u4"), ("last", "<u4"),
        ("declaration", "<i4"), ("part", "<u2"), ("parts", "<u2"), ("kind", "u1"), ("flags", "u1"),
        ("lengths", "<u2", (len(FIELDS),)),
    ]
)  # fmt: skip
SYNTHETIC, OWN = 1, 2  # bits of CHUNK.flags

KINDS = tuple(Kind)
SKIPS = tuple(SkipReason)
_KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}


def digest64(raw: bytes) -> int:
    """A 64-bit hash, the same on every machine and in every process."""
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little")


def term_hash(term: str) -> int:
    """Where a term stands in the sorted term lists."""
    return digest64(encode(term))


def name_hash(symbol: str) -> int:
    """Equal for all spellings of a symbol: parseConfig, parse_config, PARSE-CONFIG."""
    return digest64(encode("".join(ch for ch in symbol.lower() if ch.isalnum())))


def skip_code(reason: SkipReason | None) -> int:
    """The number that stands for a skip reason in arrays; 0 for none."""
    return SKIPS.index(reason) + 1 if reason else 0


def kind_code(kind: Kind) -> int:
    """The number that stands for a kind in arrays."""
    return _KIND_CODE[kind]


def quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows as int8 codes and a scale per row: row ≈ codes · scale. A zero row has scale 0."""
    peak = np.abs(vectors).max(axis=1) if len(vectors) else np.zeros(0, np.float32)
    scale = (peak / 127).astype(np.float32)
    safe = np.where(scale > 0, scale, 1).astype(np.float32)
    return np.rint(vectors / safe[:, None]).astype(np.int8), scale


@dataclass(frozen=True, eq=False)
class Segment:
    """Arrays over the units, declarations, chunks and terms of a set of blobs. Immutable."""

    languages: tuple[str, ...]
    model_id: str
    units: NDArray[Any]
    declarations: NDArray[Any]
    chunks: NDArray[Any]
    strings: Strings
    term_hashes: NDArray[np.uint64]
    term_strings: Strings
    term_offsets: NDArray[np.uint32]
    posting_chunk: NDArray[np.uint32]
    posting_field: NDArray[np.uint8]
    posting_count: NDArray[np.uint8]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    path: Path | None = None

    @cached_property
    def unit_of_chunk(self) -> NDArray[np.int64]:
        """For each chunk, the index of its unit."""
        return np.repeat(np.arange(len(self.units)), self.units["chunks"])

    @cached_property
    def by_name(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Sorted hashes of symbols, and for each the index of its declaration."""
        hashes = np.ascontiguousarray(self.declarations["name_hash"])
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    @cached_property
    def symbols(self) -> tuple[list[int], list[str]]:
        """The distinct symbols of all declarations: their places in `strings`, and the symbols."""
        distinct = np.unique(self.declarations["symbol"]).astype(np.int64)
        return distinct.tolist(), self.strings.take(distinct).to_list()

    def find_term(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8], NDArray[np.uint8]]:
        """The postings of a term: chunk, field and count, sorted by chunk and field; empty when unknown."""
        at = self.term_index(term)
        part = slice(0, 0) if at < 0 else slice(int(self.term_offsets[at]), int(self.term_offsets[at + 1]))
        return self.posting_chunk[part], self.posting_field[part], self.posting_count[part]

    def term_index(self, term: str) -> int:
        """The position of a term in the sorted term list, or -1."""
        wanted = np.uint64(term_hash(term))
        at = int(np.searchsorted(self.term_hashes, wanted))
        return at if at < len(self.term_hashes) and self.term_hashes[at] == wanted else -1

    def chunks_of(self, declarations: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each declaration the chunk that shows it; the unit's first one where there is none."""
        units = np.searchsorted(self.units["first_declaration"], declarations, side="right") - 1
        local = self.declarations["chunk"][declarations].astype(np.int64)
        first = self.units["first_chunk"][units].astype(np.int64)
        return first + np.maximum(local, 0)

    def language_of(self, unit: int) -> str:
        """The name of a unit's language, "" for one without."""
        code = int(self.units[unit]["language"])
        return self.languages[code] if code < len(self.languages) else ""

    def blob_of(self, unit: int) -> str:
        """The object id of a unit's blob."""
        blob: bytes = self.units["blob"][unit].tobytes()
        return (blob if any(blob[20:]) else blob[:20]).hex()  # SHA-256, or SHA-1

    def skip_of(self, unit: int) -> SkipReason | None:
        """Why a unit has no chunks, or None."""
        code = int(self.units[unit]["skip"])
        return SKIPS[code - 1] if 0 < code <= len(SKIPS) else None

    def save(self, path: Path) -> int:
        """Writes the segment under a new name; returns its size in bytes."""
        meta = {"format": FORMAT, "languages": self.languages, "model": self.model_id, "fields": FIELDS}
        return write_arrays(
            path,
            {
                "units": self.units,
                "declarations": self.declarations,
                "chunks": self.chunks,
                "string_offsets": self.strings.offsets,
                "string_data": self.strings.data,
                "term_hashes": self.term_hashes,
                "term_string_offsets": self.term_strings.offsets,
                "term_string_data": self.term_strings.data,
                "term_offsets": self.term_offsets,
                "posting_chunk": self.posting_chunk,
                "posting_field": self.posting_field,
                "posting_count": self.posting_count,
                "codes": self.codes,
                "scales": self.scales,
            },
            meta,
        )

    @classmethod
    def open(cls, path: Path, *, verify: bool = False) -> Segment:
        """Maps a segment; CorruptIndexError when it is damaged or of another version.

        `verify` reads every byte and compares the checksum: for index runs, which copy from it.
        """
        file = ArrayFile.open(path)
        if verify:
            file.verify()
        arrays, meta = file.arrays, file.meta
        if meta.get("format") != FORMAT or meta.get("fields") != list(FIELDS):
            raise CorruptIndexError(f"{path.name} has another version.", "Run: codesearch index")
        try:
            segment = cls(
                languages=tuple(meta["languages"]),
                model_id=meta["model"],
                units=arrays["units"],
                declarations=arrays["declarations"],
                chunks=arrays["chunks"],
                strings=Strings(arrays["string_offsets"], arrays["string_data"]),
                term_hashes=arrays["term_hashes"],
                term_strings=Strings(arrays["term_string_offsets"], arrays["term_string_data"]),
                term_offsets=arrays["term_offsets"],
                posting_chunk=arrays["posting_chunk"],
                posting_field=arrays["posting_field"],
                posting_count=arrays["posting_count"],
                codes=arrays["codes"],
                scales=arrays["scales"],
                path=path,
            )
            segment._check()
        except (KeyError, IndexError, TypeError) as error:
            raise CorruptIndexError(f"{path.name} is incomplete.", "Run: codesearch index") from error
        return segment

    def _check(self) -> None:
        """Sizes that must agree; damage inside other arrays meets numpy's own bounds checks."""
        agree = (
            self.units.dtype == UNIT
            and self.declarations.dtype == DECLARATION
            and self.chunks.dtype == CHUNK
            and len(self.codes) == len(self.scales) == len(self.chunks)
            and len(self.term_hashes) + 1 == len(self.term_offsets) == len(self.term_strings) + 1
            and len(self.posting_chunk) == len(self.posting_field) == len(self.posting_count)
            and int(self.term_offsets[-1]) == len(self.posting_chunk)
            and int(self.strings.offsets[-1]) == len(self.strings.data)
        )
        # Arrays are made as large as these counts say, so that a wrong one could fill the memory.
        for counted, rows in (("chunks", self.chunks), ("declarations", self.declarations)):
            agree = agree and int(self.units[counted].sum(dtype=np.int64)) == len(rows)
        if not agree:
            raise IndexError
