"""One blob from bytes to a unit of a segment: classify, parse, chunk, count terms, embed what was never seen.

Used by indexing workers, and by searching for the files that were edited since. Reads no files and no git.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from codesearch.chunking import CHUNKER_VERSION, TokenBudget, chunk_code, chunk_prose, chunk_text
from codesearch.languages import Language, Languages
from codesearch.parsing import parse
from codesearch.terms import TERMS_VERSION, count_chunk_terms
from codesearch.types import Chunk, ChunkTerms, Embedder, ParsedFile, SkipReason
from codesearch.view.building import SegmentBuilder, chunk_array, declaration_array
from codesearch.view.segment import KEY_BYTES, quantise
from codesearch.view.strings import encode
from codesearch.view.vectors import KnownVectors

ANALYSIS_VERSION = 5  # of what decides what a unit is, beyond the versions of its stages
ANALYSIS_RECIPE = f"{ANALYSIS_VERSION}.{CHUNKER_VERSION}.{TERMS_VERSION}"
_SNIFFED_BYTES = 8000  # where git looks for a NUL to call a file binary
_LFS_PREFIX = b"version https://git-lfs.github.com/spec/"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LARGEST_DATA = 512 * 1024  # text of no known language above this is data, not something written by hand
_MINIFIED_SIZE, _MINIFIED_LINE = 10_000, 500  # hand-written files of that size average 30-60 bytes a line
_GENERATED_NAMES = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock",
        "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "composer.lock", "Gemfile.lock", "go.sum",
        "mix.lock", "flake.lock", "packages.lock.json", "Package.resolved", "pubspec.lock", "gradle.lockfile",
    }
)  # fmt: skip
_GENERATED_SUFFIXES = (".min.js", ".min.css", ".map", ".snap", ".svg")


def classify(path: str, content: bytes, language: Language | None) -> SkipReason | None:
    """Why a file of this name and content is not worth indexing, or None when it is."""
    head = content[:_SNIFFED_BYTES]
    if head.startswith(_UTF16_MARKS):
        return SkipReason.UNDECODABLE
    if b"\0" in head:
        return SkipReason.BINARY
    if content.startswith(_LFS_PREFIX) and len(content) < 1024:
        return SkipReason.LFS_POINTER
    name = PurePosixPath(path).name
    if name in _GENERATED_NAMES or name.endswith(_GENERATED_SUFFIXES):
        return SkipReason.GENERATED
    if len(content) > _MINIFIED_SIZE and len(content) > _MINIFIED_LINE * (content.count(b"\n") + 1):
        return SkipReason.MINIFIED
    if language is None and len(content) > _LARGEST_DATA:
        return SkipReason.TOO_LARGE
    return None


@dataclass(frozen=True, slots=True)
class Unit:
    """A blob that is to be shown as one language, and the key under which its analysis is known."""

    key: bytes
    blob: str
    language: Language | None
    skip: SkipReason | None


@dataclass(frozen=True, slots=True)
class Pending:
    """A unit that is to be analysed: whose it is, and its content."""

    unit: Unit
    path: str
    content: bytes


class Analyser:
    """Knows the languages and the embedder; turns blobs into units."""

    def __init__(self, languages: Languages, embedder: Embedder, known: KnownVectors | None = None) -> None:
        self._languages = languages
        self._embedder = embedder
        self._known = known or KnownVectors(())
        self._budget = TokenBudget(embedder.token_budget, embedder.count_tokens)
        self._recipe = f"{ANALYSIS_RECIPE}\0{embedder.model_id}"

    def identify(self, path: str, blob: str, content: bytes) -> Unit:
        """Which unit a file shows: its language, whether it is skipped, and the unit's key."""
        language = self._languages.for_path(path, content)
        skip = classify(path, content, language)
        version = f"{language.name}\0{language.version}" if language else ""
        identity = f"{blob}\0{version}\0{skip or ''}\0{self._recipe}"
        return Unit(blake2b(encode(identity), digest_size=KEY_BYTES).digest(), blob, language, skip)

    def new_builder(self) -> SegmentBuilder:
        """A builder for units of this analyser's model."""
        return SegmentBuilder(self._embedder.model_id, self._embedder.dimensions)

    def add(self, builder: SegmentBuilder, items: Sequence[Pending]) -> tuple[list[Chunk], NDArray[np.bool_]]:
        """Analyses blobs into the builder; returns all their chunks, and which of them had to be embedded.

        The chunks of all blobs are embedded at once: each call of an embedder has a price of its own.
        """
        cuts = [self._cut(item.content, item.unit) for item in items]
        rows = [chunk_array(_name(item.unit), chunks) for item, (_, chunks) in zip(items, cuts, strict=True)]
        every = [chunk for _, chunks in cuts for chunk in chunks]
        terms = [count_chunk_terms(chunk) for chunk in every]
        keys = np.concatenate([part["key"] for part in rows]) if rows else np.zeros((0, KEY_BYTES), np.uint8)
        codes, scales, fresh = self._embed(every, terms, keys)
        start = 0
        for item, (parsed, chunks), mine in zip(items, cuts, rows, strict=True):
            content, end = item.content, start + len(chunks)
            declarations, names = declaration_array(content, parsed, chunks, mine)
            builder.add(
                key=item.unit.key, blob=item.unit.blob, language=_name(item.unit), content_size=len(content),
                lines=content.count(b"\n") + (not content.endswith(b"\n") and bool(content)),
                errors=parsed.has_errors, skip=item.unit.skip, declarations=declarations, names=names, chunks=mine,
                terms=terms[start:end], vectors=(codes[start:end], scales[start:end]),
            )  # fmt: skip
            start = end
        return every, fresh

    def _cut(self, content: bytes, unit: Unit) -> tuple[ParsedFile, list[Chunk]]:
        language = unit.language
        if unit.skip is not None:
            return ParsedFile(_name(unit), ()), []
        if language is None:
            parsed, leaves = ParsedFile("", ()), chunk_text(content, self._budget)
        elif language.chunker == "sections":
            parsed, leaves = chunk_prose(content, language.name, self._budget)
        else:
            parsed = parse(content, language)
            leaves = chunk_code(content, parsed, self._budget)
        # Gaps of white space and lone brackets tile the file but can never answer anything.
        return parsed, [chunk for chunk in leaves if chunk.body or chunk.symbol or chunk.signature]

    def _embed(
        self, chunks: Sequence[Chunk], terms: Sequence[ChunkTerms], keys: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_]]:
        codes = np.zeros((len(chunks), self._embedder.dimensions), np.int8)
        scales = np.zeros(len(chunks), np.float32)
        fresh = np.ones(len(chunks), bool)
        raw = keys.tobytes()
        for index in range(len(chunks)):
            found = self._known.find(raw[index * KEY_BYTES : (index + 1) * KEY_BYTES])
            if found is not None:
                codes[index], scales[index] = found
                fresh[index] = False
        new = np.flatnonzero(fresh).tolist()
        if new:
            vectors = self._embedder.embed_chunks([chunks[i] for i in new], [terms[i] for i in new])
            codes[new], scales[new] = quantise(vectors)
        return codes, scales, fresh


def _name(unit: Unit) -> str:
    return unit.language.name if unit.language else ""
