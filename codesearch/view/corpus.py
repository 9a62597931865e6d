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
from numpy.typing import NDArray

from codesearch.view.segment import CHUNK, FIELDS, Segment, term_hash
from codesearch.view.table import NO_UNIT, FileTable


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
        return (
            np.concatenate(chunks),
            np.concatenate([part[1] for part in found]),
            np.concatenate([part[2] for part in found]),
        )

    def has_term(self, term: str) -> bool:
        """Whether a living document or path has a term."""
        chunks, _, _ = self.find_term(term)
        return bool(self.times_shown[chunks].any()) or len(self.find_path_term(term)) > 0

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

    @cached_property
    def _matrices(self) -> tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]:
        return tuple((s.codes.astype(np.float32), s.scales) for s in self.segments)

    @cached_property
    def _path_matrices(self) -> tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]:
        return tuple((s.table.codes.astype(np.float32), s.table.scales) for s in self.sources)

    def chunk_similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of a unit query vector with the vector of every chunk."""
        return _similarities(self._matrices, query)

    def vectors(self, chunks: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some chunks, shape (len(chunks), dimensions)."""
        placed = [self.segment_of_chunk(chunk) for chunk in chunks.tolist()]
        return np.stack([segment.codes[local] * segment.scales[local] for segment, local in placed]).astype(np.float32)

    def path_similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of a unit query vector with the vector of every path."""
        return _similarities(self._path_matrices, query)

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
    matrices: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]], query: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Dot products in whole numbers, so that no order of summation and no segmentation changes a result.

    Codes reach 127; the query is scaled so that no sum of products exceeds 2^24, below which float32 is exact.
    """
    levels = (1 << 24) // (127 * max(len(query), 1))
    peak = float(np.abs(query).max(initial=0))
    if peak == 0:
        return np.zeros(sum(len(scales) for _, scales in matrices), np.float32)
    step = np.float32(peak / levels)
    whole = np.rint(query / step).astype(np.float32)
    return np.concatenate([(codes @ whole) * (scales * step) for codes, scales in matrices])


def _bases(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    bases = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=bases[1:])
    return bases


def _joined(arrays: Sequence[NDArray[Any]], empty: NDArray[Any]) -> NDArray[Any]:
    if not arrays:
        return empty
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
