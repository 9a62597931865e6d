"""What one query is answered from: segments, and the files that show them, seen as one list of documents.

A *document* is a chunk at a path. A view is a corpus of its own; with an overlay, the rows of changed files are
masked and the overlay's rows stand in for them. Every sum over documents is a sum of integers, so that equal
content gives equal statistics, however many segments it is spread over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import simsimd
from numpy.typing import NDArray

from codesearch.view.segment import CHUNK, FIELDS, Segment, term_hash
from codesearch.view.table import NO_UNIT, FileTable

_LEVELS = 127  # of int8, on either side of 0
_NOTHING = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Source:
    """A table of files, which of them count, and at which segment of the corpus its numbering starts."""

    table: FileTable
    alive: NDArray[np.bool_]
    first_segment: int = 0


class Corpus:
    """Documents as parallel arrays; `chunk_of` indexes the chunks of all segments end to end."""

    def __init__(self, segments: Sequence[Segment], sources: Sequence[Source]) -> None:
        self.segments = tuple(segments)
        self.sources = tuple(sources)
        self.chunk_bases = _bases([len(segment.chunks) for segment in segments])
        self.declaration_bases = _bases([len(segment.declarations) for segment in segments])
        self.file_bases = _bases([len(source.table) for source in sources])
        self.file_count = int(self.file_bases[-1])
        files, segment_of, unit_of = self._placed_units()
        self._paths: dict[int, str] = {}  # those that were asked for; a query asks for some hundred
        self.file_unit = np.full(self.file_count, -1, np.int64)
        self.file_segment = np.zeros(self.file_count, np.int64)
        self.file_unit[files] = unit_of
        self.file_segment[files] = segment_of
        first = np.zeros(len(files), np.int64)
        count = np.zeros(len(files), np.int64)
        for index, segment in enumerate(self.segments):
            here = segment_of == index
            chosen = segment.units[unit_of[here]]
            first[here] = chosen["first_chunk"].astype(np.int64) + self.chunk_bases[index]
            count[here] = chosen["chunks"]
        self.chunk_of: NDArray[np.int64] = np.repeat(first - _bases(count)[:-1], count)
        self.chunk_of += np.arange(len(self.chunk_of))
        self.file_of: NDArray[np.int64] = np.repeat(files, count)

    def __len__(self) -> int:
        return len(self.chunk_of)

    def _placed_units(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For each living file with a unit: its number in the corpus, its segment and its unit."""
        files, segments, units = [], [], []
        for base, source in zip(self.file_bases, self.sources, strict=False):
            rows = source.table.rows
            shown = np.flatnonzero(source.alive & (rows["unit"] != NO_UNIT))
            files.append(shown + base)
            segments.append(rows["segment"][shown].astype(np.int64) + source.first_segment)
            units.append(rows["unit"][shown].astype(np.int64))
        return np.concatenate(files), np.concatenate(segments), np.concatenate(units)

    @cached_property
    def chunks(self) -> NDArray[Any]:
        """The rows of all segments' chunks, end to end; not copied where there is one segment."""
        return _joined([segment.chunks for segment in self.segments], np.zeros(0, CHUNK))

    @cached_property
    def times_shown(self) -> NDArray[np.int64]:
        """For each chunk the number of documents that show it (0 for chunks of dead files)."""
        return np.bincount(self.chunk_of, minlength=len(self.chunks))

    @cached_property
    def average_lengths(self) -> NDArray[np.float64]:
        """Mean number of terms a document has in each of FIELDS, at least a thousandth."""
        lengths = self.chunks["lengths"]
        sums = [int((lengths[:, i].astype(np.int64) * self.times_shown).sum()) for i in range(len(FIELDS))]
        return np.maximum(np.array(sums) / max(len(self), 1), 1e-3)

    @cached_property
    def path_average(self) -> float:
        """Mean number of terms of a living file's path."""
        total = int(self.path_lengths[self.alive_files].astype(np.int64).sum())
        return max(total / max(int(self.alive_files.sum()), 1), 1e-3)

    @cached_property
    def alive_files(self) -> NDArray[np.bool_]:
        """Which files of the corpus count; those without a unit (symlinks …) do not, as an overlay has none."""
        return self.file_unit >= 0

    @cached_property
    def roles(self) -> NDArray[np.uint8]:
        """The Role bits of each file."""
        return np.concatenate([source.table.rows["role"] for source in self.sources])

    @cached_property
    def path_lengths(self) -> NDArray[np.uint16]:
        """The number of terms of each file's path."""
        return np.concatenate([source.table.rows["path_length"] for source in self.sources])

    def find_term(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
        """Postings of a term over all segments: chunk, field, count; sorted by chunk and field."""
        found = [segment.find_term(term) for segment in self.segments]
        chunks = [part[0].astype(np.int64) + base for part, base in zip(found, self.chunk_bases, strict=False)]
        if not chunks:
            empty = np.zeros(0, np.uint8)
            return np.zeros(0, np.int64), empty, empty
        if len(found) == 1:
            return chunks[0], found[0][1], found[0][2]
        return (
            np.concatenate(chunks),
            np.concatenate([part[1] for part in found]),
            np.concatenate([part[2] for part in found]),
        )

    def has_term(self, term: str) -> bool:
        """Whether a living document or path has a term."""
        chunks, _, _ = self.find_term(term)
        shown = len(chunks) > len(self._unshown) or bool(self.times_shown[chunks].any())
        return shown or len(self.find_path_term(term)) > 0

    def known_terms(self, candidates: Sequence[str]) -> list[str]:
        """Those of many candidates that some segment or path table lists, in their order; all looked up at once."""
        hashes = np.array([term_hash(candidate) for candidate in candidates], np.uint64)
        present = np.zeros(len(candidates), bool)
        for listed in [*(s.term_hashes for s in self.segments), *(s.table.term_hashes for s in self.sources)]:
            if len(listed):
                at = np.minimum(np.searchsorted(listed, hashes), len(listed) - 1)
                present |= listed[at] == hashes
        return [candidates[index] for index in np.flatnonzero(present).tolist()]

    def find_path_term(self, term: str) -> NDArray[np.int64]:
        """Living files whose path has a term."""
        found = [
            source.table.find_term(term).astype(np.int64) + base
            for base, source in zip(self.file_bases, self.sources, strict=False)
        ]
        files = np.concatenate(found)
        alive: NDArray[np.int64] = files[self.alive_files[files]]
        return alive

    def rough_similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of a unit query vector with the vector of every chunk, to about two digits; -1 where none shows it."""
        coarse, _, step = _whole_numbers(query)
        result = np.concatenate(
            [_products(s.codes, coarse) * (s.scales * (_LEVELS * step)) for s in self.segments] or [_NOTHING]
        )
        result[self._unshown] = -1
        return result

    def chunk_similarities(
        self, query: NDArray[np.float32], chunks: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Cosine of a unit query vector with the vectors of some chunks, or of every one."""
        if chunks is None:
            return np.concatenate([_similarities(s.codes, s.scales, query) for s in self.segments] or [_NOTHING])
        result = np.empty(len(chunks), np.float32)
        for index, segment in enumerate(self.segments):
            here = (chunks >= self.chunk_bases[index]) & (chunks < self.chunk_bases[index + 1])
            local = chunks[here] - self.chunk_bases[index]
            result[here] = _similarities(segment.codes[local], segment.scales[local], query)
        return result

    @cached_property
    def _unshown(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.times_shown == 0)

    def vectors(self, chunks: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some chunks, shape (len(chunks), dimensions)."""
        placed = [self.segment_of_chunk(chunk) for chunk in chunks.tolist()]
        return np.stack([segment.codes[local] * segment.scales[local] for segment, local in placed]).astype(np.float32)

    def path_similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of a unit query vector with the vector of every path."""
        return np.concatenate([_similarities(s.table.codes, s.table.scales, query) for s in self.sources])

    @cached_property
    def _is_one_to_one(self) -> bool:
        """Whether each chunk is one document, in the same order."""
        return len(self.chunk_of) == len(self.chunks) and bool((np.diff(self.chunk_of) == 1).all())

    def per_document(self, values: NDArray[Any]) -> NDArray[Any]:
        """What is known of each chunk, for each document; not copied where both are the same."""
        result: NDArray[Any] = values if self._is_one_to_one else values[self.chunk_of]
        return result

    def documents_with(self, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The documents that show some chunks, in order of the documents; `chunks` are sorted and distinct."""
        if self._is_one_to_one:
            return chunks
        wanted = np.zeros(len(self.chunks), bool)
        wanted[chunks] = True
        return np.flatnonzero(wanted[self.chunk_of])

    def documents_in(self, files: NDArray[np.int64]) -> NDArray[np.int64]:
        """The documents of some files; `files` are sorted and distinct."""
        starts = np.searchsorted(self.file_of, files)
        counts = np.searchsorted(self.file_of, files, side="right") - starts
        return np.repeat(starts - _bases(counts)[:-1], counts) + np.arange(counts.sum())

    # --- one document, one file, one declaration --------------------------------------------------------------

    def path(self, file: int) -> str:
        """The path of a file."""
        known = self._paths.get(file)
        if known is None:
            source = int(np.searchsorted(self.file_bases, file, side="right")) - 1
            known = self._paths[file] = self.sources[source].table.paths[file - int(self.file_bases[source])]
        return known

    def segment_of_chunk(self, chunk: int) -> tuple[Segment, int]:
        """The segment that holds a chunk, and the chunk's index in it."""
        index = int(np.searchsorted(self.chunk_bases, chunk, side="right")) - 1
        return self.segments[index], chunk - int(self.chunk_bases[index])

    def unit_of_file(self, file: int) -> tuple[Segment, int] | None:
        """The segment and the unit that a file shows, or None for a skipped one."""
        unit = int(self.file_unit[file])
        return None if unit < 0 else (self.segments[int(self.file_segment[file])], unit)


def _similarities(
    codes: NDArray[np.int8], scales: NDArray[np.float32], query: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Dot products in whole numbers, so that no order of summation and no segmentation changes a result."""
    coarse, fine, step = _whole_numbers(query)
    return ((_LEVELS * _products(codes, coarse) + _products(codes, fine)) * step).astype(np.float32) * scales


def _whole_numbers(query: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.int8], float]:
    """Two vectors of int8 and a number: query ≈ (127 · first + second) · number; a zero query has the number 0."""
    step = float(np.abs(query).max(initial=0)) / _LEVELS**2
    whole = np.rint(query / (step or 1.0)).astype(np.int64)
    coarse = np.rint(whole / _LEVELS).astype(np.int64)
    return coarse.astype(np.int8), (whole - _LEVELS * coarse).astype(np.int8), step


def _products(codes: NDArray[np.int8], query: NDArray[np.int8]) -> NDArray[np.float64]:
    """The dot product of each row with a vector. Reads bytes as they are mapped, at the speed of the memory."""
    if not codes.size:
        return np.zeros(len(codes))
    return np.asarray(simsimd.cdist(codes, query[None], "dot")).reshape(-1)


def _bases(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    bases = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=bases[1:])
    return bases


def _joined(arrays: Sequence[NDArray[Any]], empty: NDArray[Any]) -> NDArray[Any]:
    if not arrays:
        return empty
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
