"""Builds segments in memory: from parsed values to rows, and from rows of many units to one segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.terms import own_name
from codesearch.types import Chunk, ChunkTerms, Declaration, Kind, ParsedFile, SkipReason
from codesearch.view.segment import (
    CHUNK,
    DECLARATION,
    FIELDS,
    KEY_BYTES,
    OWN,
    SYNTHETIC,
    UNIT,
    Segment,
    kind_code,
    name_hash,
    skip_code,
    term_hash,
)
from codesearch.view.strings import encode, pack_strings

# Their dots are prose, or name a folder of code that each of its files declares again.
_NEVER_QUALIFIED = frozenset({Kind.NAMESPACE, Kind.SECTION, Kind.TEST})


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
                skip_code(skip),
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
        ids = np.fromiter((self._strings.setdefault(name, len(self._strings)) for name in names), np.uint32, len(names))
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


def chunk_key(language: str, chunk: Chunk) -> bytes:
    """The content key of a chunk: equal exactly when the same text is embedded, line ends aside."""
    body = chunk.body.replace("\r\n", "\n")
    fields = (language, chunk.kind, chunk.parents, chunk.symbol, chunk.signature, chunk.doc, body)
    return blake2b(b"\0".join(map(encode, fields)), digest_size=KEY_BYTES).digest()


def chunk_array(language: str, chunks: Sequence[Chunk]) -> NDArray[Any]:
    """The rows of a unit's chunks; lengths are filled in when their terms are added."""
    no_lengths = (0,) * len(FIELDS)
    return np.array(
        [
            (
                np.frombuffer(chunk_key(language, chunk), np.uint8),
                chunk.span.start_byte, chunk.span.end_byte, chunk.span.start_line, chunk.span.end_line,
                chunk.declaration, min(chunk.part, 0xFFFF), min(chunk.parts, 0xFFFF), kind_code(chunk.kind),
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
        symbol = declaration.symbol
        row["name_hash"] = name_hash(symbol if declaration.kind in _NEVER_QUALIFIED else own_name(symbol))
        for column, text_ in (
            ("symbol", declaration.symbol),
            ("qualified", declaration.qualified_name),
            ("signature", declaration.signature),
        ):
            row[column] = names.setdefault(text_, len(names))
        row["start"], row["end"] = span.start_byte, span.end_byte
        row["first"], row["last"] = span.start_line, span.end_line
        row["parent"], row["kind"] = declaration.parent, kind_code(declaration.kind)
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
