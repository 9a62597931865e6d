"""Segments: what was parsed and embedded of a set of blobs, as flat arrays that never change.

A segment knows contents, not paths: a *unit* is one blob parsed as one language. The overlay of edited files and
the results of indexing workers are segments in memory; an index run merges them into one on disk. Offsets in
units are relative to their blob, indices of declarations and chunks relative to their unit, so that a unit can
be copied from one segment to another, or packed for the store, without being parsed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError
from codesearch.terms import split_identifier
from codesearch.types import Chunk, ChunkTerms, Declaration, Kind, ParsedFile, SkipReason
from codesearch.view.arrays import ArrayFile, write_arrays
from codesearch.view.strings import Strings, concatenate, encode, pack_strings

FORMAT = 1  # of segments and views; what does not match is rebuilt
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
        ("key", *_HASH), ("check", "<u8"), ("start", "<u4"), ("end", "<u4"), ("first", "<u4"), ("last", "<u4"),
        ("declaration", "<i4"), ("part", "<u2"), ("parts", "<u2"), ("kind", "u1"), ("flags", "u1"),
        ("lengths", "<u2", (len(FIELDS),)),
    ]
)  # fmt: skip
SYNTHETIC, OWN = 1, 2  # bits of CHUNK.flags

KINDS = tuple(Kind)
SKIPS = tuple(SkipReason)
_KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}
_SKIP_CODE = {reason: code + 1 for code, reason in enumerate(SKIPS)}  # 0: not skipped


def digest64(raw: bytes) -> int:
    """A 64-bit hash, the same on every machine and in every process."""
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little")


def term_hash(term: str) -> int:
    """Where a term stands in the sorted term lists."""
    return digest64(encode(term))


def name_hash(symbol: str) -> int:
    """Equal for all spellings of a symbol: parseConfig, parse_config, PARSE-CONFIG."""
    return digest64(encode("".join(ch for ch in symbol.lower() if ch.isalnum())))


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

    def language_of(self, unit: int) -> str:
        """The name of a unit's language, "" for one without."""
        code = int(self.units[unit]["language"])
        return self.languages[code] if code < len(self.languages) else ""

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
        """Sizes that must agree, in constant time; damage inside an array meets numpy's own bounds checks."""
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
        if agree and len(self.units):
            last = self.units[-1]
            agree = int(last["first_chunk"]) + int(last["chunks"]) == len(self.chunks)
        if not agree:
            raise IndexError


class SegmentBuilder:
    """Collects parsed blobs into a segment in memory."""

    def __init__(self, model_id: str, dimensions: int) -> None:
        self._model_id = model_id
        self._dimensions = dimensions
        self._languages: dict[str, int] = {}
        self._units: list[tuple[Any, ...]] = []
        self._declarations: list[NDArray[Any]] = []
        self._chunks: list[NDArray[Any]] = []
        self._strings: dict[str, int] = {}
        self._terms: dict[str, int] = {}
        self._postings: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
        self._codes: list[NDArray[np.int8]] = []
        self._scales: list[NDArray[np.float32]] = []
        self._chunk_count = 0
        self._declaration_count = 0

    def add(
        self,
        *,
        key: bytes,
        blob: str,
        language: str,
        content_size: int,
        lines: int,
        errors: bool = False,
        skip: SkipReason | None = None,
        declarations: NDArray[Any] | None = None,
        names: Sequence[str] = (),
        chunks: NDArray[Any] | None = None,
        terms: Sequence[ChunkTerms] = (),
        vectors: tuple[NDArray[np.int8], NDArray[np.float32]] | None = None,
    ) -> None:
        """Adds one unit. String ids in `declarations` point into `names`; all arrays may be None together."""
        if declarations is None or chunks is None or vectors is None:
            declarations, chunks = np.zeros(0, DECLARATION), np.zeros(0, CHUNK)
            vectors = np.zeros((0, self._dimensions), np.int8), np.zeros(0, np.float32)
        chunks = chunks.copy()
        self._units.append(
            (
                np.frombuffer(key, np.uint8),
                np.frombuffer(bytes.fromhex(blob).ljust(32, b"\0"), np.uint8),
                self._languages.setdefault(language, len(self._languages)),
                _SKIP_CODE[skip] if skip else 0,
                errors,
                0,
                content_size,
                lines,
                self._chunk_count,
                len(chunks),
                self._declaration_count,
                len(declarations),
            )
        )
        ids = np.fromiter(
            (self._strings.setdefault(name, len(self._strings)) for name in names), np.uint32, len(names)
        )
        declarations = declarations.copy()
        for column in ("symbol", "qualified", "signature"):
            if len(declarations):
                declarations[column] = ids[declarations[column]]
        self._add_postings(terms, chunks)
        self._declarations.append(declarations)
        self._chunks.append(chunks)
        self._codes.append(vectors[0])
        self._scales.append(vectors[1])
        self._chunk_count += len(chunks)
        self._declaration_count += len(declarations)

    def _add_postings(self, terms: Sequence[ChunkTerms], chunks: NDArray[Any]) -> None:
        known = self._terms
        ids, owners, fields, counts = self._postings
        lengths = np.zeros((len(chunks), len(FIELDS)), np.int64)
        for row, chunk_terms in enumerate(terms):
            chunk = self._chunk_count + row
            for field, name in enumerate(FIELDS):
                counted: Mapping[str, int] = getattr(chunk_terms, name)
                if not counted:
                    continue
                ids.extend([known.setdefault(term, len(known)) for term in counted])
                counts.extend(counted.values())
                owners.extend([chunk] * len(counted))
                fields.extend([field] * len(counted))
                lengths[row, field] = sum(counted.values())
        chunks["lengths"] = np.minimum(lengths, 0xFFFF)

    def build(self) -> Segment:
        """The segment of everything added so far."""
        terms = list(self._terms)
        hashes = np.fromiter(map(term_hash, terms), np.uint64, len(terms))
        by_hash = np.argsort(hashes, kind="stable")
        rank = np.empty(len(terms), np.uint32)
        rank[by_hash] = np.arange(len(terms), dtype=np.uint32)
        ids, owners, fields, counts = (np.array(column, np.int64) for column in self._postings)
        ranks = rank[ids] if len(ids) else np.zeros(0, np.uint32)
        # The lists are in order of chunk and field already, so a stable sort by term keeps that order.
        order = np.argsort(ranks, kind="stable")
        offsets = np.zeros(len(terms) + 1, np.uint32)
        np.cumsum(np.bincount(ranks, minlength=len(terms)), out=offsets[1:])
        return Segment(
            languages=tuple(self._languages),
            model_id=self._model_id,
            units=np.array(self._units, UNIT) if self._units else np.zeros(0, UNIT),
            declarations=_stack(self._declarations, np.zeros(0, DECLARATION)),
            chunks=_stack(self._chunks, np.zeros(0, CHUNK)),
            strings=pack_strings(self._strings),
            term_hashes=hashes[by_hash],
            term_strings=pack_strings([terms[i] for i in by_hash.tolist()]),
            term_offsets=offsets,
            posting_chunk=owners[order].astype(np.uint32),
            posting_field=fields[order].astype(np.uint8),
            posting_count=np.minimum(counts[order], 255).astype(np.uint8),
            codes=_stack(self._codes, np.zeros((0, self._dimensions), np.int8)),
            scales=_stack(self._scales, np.zeros(0, np.float32)),
        )


def _stack(arrays: Sequence[NDArray[Any]], empty: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else empty


def merge_segments(parts: Sequence[tuple[Segment, NDArray[np.bool_] | None]]) -> Segment:
    """One segment of the units of several; the mask of each says which units to keep (None: all)."""
    model_ids = {segment.model_id for segment, _ in parts}
    if len(model_ids) != 1:
        raise ValueError(f"segments of different models cannot be merged: {sorted(model_ids)}")
    languages: dict[str, int] = {}
    units, declarations, chunks, pools = [], [], [], []
    hashes, term_pools, ranks, owners, fields, counts, codes, scales = [], [], [], [], [], [], [], []
    chunk_base = declaration_base = string_base = term_base = 0
    for segment, mask in parts:
        keep = np.ones(len(segment.units), bool) if mask is None else mask
        kept = segment.units[keep].copy()
        renamed = [languages.setdefault(name, len(languages)) for name in segment.languages]
        kept["language"] = np.array([*renamed, 0], np.uint8)[np.minimum(kept["language"], len(renamed))]
        kept["first_chunk"] = chunk_base + _starts(kept["chunks"])
        kept["first_declaration"] = declaration_base + _starts(kept["declarations"])
        units.append(kept)
        keep_declaration = np.repeat(keep, segment.units["declarations"])
        some = segment.declarations[keep_declaration].copy()
        used, inverse = np.unique(
            np.concatenate([some["symbol"], some["qualified"], some["signature"]]), return_inverse=True
        )
        some["symbol"], some["qualified"], some["signature"] = inverse.reshape(3, -1) + string_base
        declarations.append(some)
        pools.append(segment.strings.take(used.astype(np.intp)))
        keep_chunk = np.repeat(keep, segment.units["chunks"])
        chunks.append(segment.chunks[keep_chunk])
        codes.append(segment.codes[keep_chunk])
        scales.append(segment.scales[keep_chunk])
        keep_posting = keep_chunk[segment.posting_chunk]
        new_chunk = np.cumsum(keep_chunk, dtype=np.int64) - 1 + chunk_base
        term_of_posting = np.repeat(
            np.arange(len(segment.term_hashes), dtype=np.int64),
            np.diff(segment.term_offsets.astype(np.int64)),
        )
        hashes.append(segment.term_hashes)
        term_pools.append(segment.term_strings)
        ranks.append(term_of_posting[keep_posting] + term_base)
        owners.append(new_chunk[segment.posting_chunk[keep_posting]].astype(np.uint32))
        fields.append(segment.posting_field[keep_posting])
        counts.append(segment.posting_count[keep_posting])
        chunk_base += len(chunks[-1])
        declaration_base += len(some)
        string_base += len(used)
        term_base += len(segment.term_hashes)
    all_hashes = np.concatenate(hashes)
    unique, first, inverse = np.unique(all_hashes, return_index=True, return_inverse=True)
    posting_rank = inverse[np.concatenate(ranks)].astype(np.uint32)
    occurring = np.bincount(posting_rank, minlength=len(unique))
    present = occurring > 0  # terms of dropped units only
    posting_rank = (np.cumsum(present) - 1).astype(np.uint32)[posting_rank]
    order = np.argsort(posting_rank, kind="stable")
    offsets = np.zeros(int(present.sum()) + 1, np.uint32)
    np.cumsum(occurring[present], out=offsets[1:])
    return Segment(
        languages=tuple(languages),
        model_id=model_ids.pop(),
        units=np.concatenate(units),
        declarations=np.concatenate(declarations),
        chunks=np.concatenate(chunks),
        strings=concatenate(pools),
        term_hashes=unique[present],
        term_strings=concatenate(term_pools).take(first[present]),
        term_offsets=offsets,
        posting_chunk=np.concatenate(owners)[order],
        posting_field=np.concatenate(fields)[order],
        posting_count=np.concatenate(counts)[order],
        codes=np.concatenate(codes),
        scales=np.concatenate(scales),
    )


def _starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    ends = np.cumsum(counts, dtype=np.int64)
    return ends - counts


# --- from parsed values to arrays ----------------------------------------------------------------------------


def chunk_key(language: str, chunk: Chunk) -> bytes:
    """The content key of a chunk: equal exactly when the same text is embedded, line ends aside."""
    body = chunk.body.replace("\r\n", "\n")
    fields = (language, chunk.kind, chunk.parents, chunk.symbol, chunk.signature, chunk.doc, body)
    return blake2b(b"\0".join(map(encode, fields)), digest_size=KEY_BYTES).digest()


def chunk_array(language: str, content: bytes, chunks: Sequence[Chunk]) -> NDArray[Any]:
    """The rows of a unit's chunks; lengths are filled in when their terms are added."""
    no_lengths = (0,) * len(FIELDS)
    return np.array(
        [
            (
                np.frombuffer(chunk_key(language, chunk), np.uint8), digest64(content[chunk.span.start_byte : chunk.span.end_byte]),
                chunk.span.start_byte, chunk.span.end_byte, chunk.span.start_line, chunk.span.end_line,
                chunk.declaration, min(chunk.part, 0xFFFF), min(chunk.parts, 0xFFFF), _KIND_CODE[chunk.kind],
                SYNTHETIC * chunk.synthetic | OWN * chunk.own, no_lengths,
            )
            for chunk in chunks
        ],
        CHUNK,
    )  # fmt: skip


def declaration_array(
    content: bytes, parsed: ParsedFile, chunks: Sequence[Chunk], rows: NDArray[Any]
) -> tuple[NDArray[Any], list[str]]:
    """The rows of a unit's declarations, and the strings that they point into.

    A declaration's key is made of the keys of its own chunks, or of its text where it has none (a constant among
    others): it changes exactly when something of it must be embedded again.
    """
    names: dict[str, int] = {}
    declarations = np.zeros(len(parsed.declarations), DECLARATION)
    own: dict[int, list[int]] = {}
    holder = _innermost_leaves(parsed.declarations, chunks)
    for index, chunk in enumerate(chunks):
        if chunk.own and chunk.declaration >= 0:
            own.setdefault(chunk.declaration, []).append(index)
    for index, (row, declaration) in enumerate(zip(declarations, parsed.declarations, strict=True)):
        span = declaration.span
        mine = own.get(index)
        if mine:
            key = blake2b(b"".join(rows[i]["key"].tobytes() for i in mine), digest_size=KEY_BYTES).digest()
        else:
            text = content[span.start_byte : span.end_byte].replace(b"\r\n", b"\n")
            identity = f"{parsed.language}\0{declaration.kind}\0{declaration.qualified_name}\0"
            key = blake2b(encode(identity) + text, digest_size=KEY_BYTES).digest()
        row["key"] = np.frombuffer(key, np.uint8)
        row["name_hash"] = name_hash(declaration.symbol)
        for column, text_ in (
            ("symbol", declaration.symbol),
            ("qualified", declaration.qualified_name),
            ("signature", declaration.signature),
        ):
            row[column] = names.setdefault(text_, len(names))
        row["start"], row["end"] = span.start_byte, span.end_byte
        row["first"], row["last"] = span.start_line, span.end_line
        row["parent"], row["kind"] = declaration.parent, _KIND_CODE[declaration.kind]
        row["chunk"] = mine[0] if mine else holder[index]
        row["own"] = bool(mine)
    return declarations, list(names)


def _innermost_leaves(declarations: Sequence[Declaration], chunks: Sequence[Chunk]) -> list[int]:
    """For each declaration the leaf chunk in which it starts, or -1."""
    leaves = [(chunk.span.start_byte, index) for index, chunk in enumerate(chunks) if not chunk.synthetic]
    leaves.sort()
    starts = np.array([start for start, _ in leaves], np.int64)
    wanted = np.array([declaration.span.start_byte for declaration in declarations], np.int64)
    found = np.searchsorted(starts, wanted, side="right") - 1
    return [leaves[at][1] if at >= 0 else -1 for at in found.tolist()]


def symbol_words(symbol: str) -> tuple[str, ...]:
    """The sub-words of a symbol, operators and punctuation aside."""
    return split_identifier("".join(ch if ch.isalnum() else "_" for ch in symbol))
