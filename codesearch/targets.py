"""Finds a named place (FILE, FILE:LINE, FILE:A-B, FILE#symbol) among the documents of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codesearch.errors import AmbiguousLocationError, LocationError
from codesearch.locations import Location, near_names
from codesearch.types import Kind
from codesearch.view.corpus import Corpus
from codesearch.view.segment import Segment, kind_code

_LISTED = 8  # candidates of an ambiguous name
_FILE = kind_code(Kind.FILE)


@dataclass(frozen=True, slots=True)
class Target:
    """A place as a corpus has it: its file, its lines, and the documents that show them (parts of a long one).

    `name` is the declaration's qualified name, `symbol` its own; both "" for lines that are none. `holder` names the
    declaration whose chunk holds the place where it has no chunk of its own, else it is "".
    """

    file: int
    first: int
    last: int
    documents: tuple[int, ...]
    name: str = ""
    symbol: str = ""
    holder: str = ""


def file_of_path(corpus: Corpus, path: str) -> int | None:
    """The living file that a path names, as a number of the corpus."""
    return next((file for file in np.flatnonzero(corpus.alive_files).tolist() if corpus.path(file) == path), None)


def find_target(corpus: Corpus, where: Location) -> Target | None:
    """The documents of a place; None where the corpus has no such file, or nothing of it.

    A line means the innermost declaration around it, lines A-B the one they fit best, a file all of its chunks.
    LocationError for a symbol or a line that the file does not have, and for a symbol that is declared twice.
    """
    file = file_of_path(corpus, where.path)
    placed = corpus.unit_of_file(file) if file is not None else None
    if file is None or placed is None:
        return None
    segment, unit = placed
    row = segment.units[unit]
    first_chunk = int(row["first_chunk"])
    chunks = segment.chunks[first_chunk : first_chunk + int(row["chunks"])]
    if not len(chunks):
        return None
    documents = np.flatnonzero(corpus.file_of == file)
    document_of = dict(
        zip((corpus.chunk_of[documents] - corpus.chunk_of[documents[0]]).tolist(), documents.tolist(), strict=True)
    )
    names = _Names(segment, int(row["first_declaration"]), int(row["declarations"]))
    index = _declaration(where, names)
    citable = [at for at in range(len(chunks)) if int(chunks[at]["kind"]) != _FILE]
    if index is not None:
        parts = [at for at in citable if int(chunks[at]["declaration"]) == index]
        holder = ""
        if not parts:
            parts = [int(segment.chunks_of(np.array([names.first + index]))[0]) - first_chunk]
            around = int(chunks[parts[0]]["declaration"])
            holder = names.qualified(around) if around >= 0 else "the lines around it"
        first, last = names.lines(index)
        return Target(
            file,
            first,
            last,
            tuple(document_of[at] for at in parts),
            names.qualified(index),
            names.symbol(index),
            holder,
        )
    if where.first is not None:
        until = where.last or where.first
        citable = [at for at in citable if chunks[at]["first"] <= until and chunks[at]["last"] >= where.first]
        citable = sorted(citable, key=lambda at: int(chunks[at]["last"]) - int(chunks[at]["first"]))[:1]
        if not citable:
            raise LocationError(f"{where.path} has no line {where.first}.", f"See: codesearch outline {where.path}")
    first, last = (
        (int(chunks[citable[0]]["first"]), max(int(chunks[at]["last"]) for at in citable)) if citable else (1, 1)
    )
    return Target(file, first, last, tuple(document_of[at] for at in citable))


@dataclass(frozen=True, slots=True)
class _Names:
    """The declarations of one file, numbered from 0."""

    segment: Segment
    first: int
    count: int

    def _text(self, index: int, column: str) -> str:
        return self.segment.strings[int(self.segment.declarations[column][self.first + index])]

    def symbol(self, index: int) -> str:
        return self._text(index, "symbol")

    def qualified(self, index: int) -> str:
        return self._text(index, "qualified")

    def lines(self, index: int) -> tuple[int, int]:
        row = self.segment.declarations[self.first + index]
        return int(row["first"]), int(row["last"])


def _declaration(where: Location, names: _Names) -> int | None:
    """The declaration that a place means, or None where it means lines or the file."""
    every: Sequence[int] = range(names.count)
    if where.symbol is not None:
        found = [at for at in every if names.qualified(at) == where.symbol]
        found = found or [at for at in every if names.symbol(at) == where.symbol]
        if not found:
            near = near_names(where.symbol, [(names.symbol(at), names.qualified(at)) for at in every])
            hint = f"Did you mean {', '.join(near)}?" if near else f"See: codesearch outline {where.path}"
            raise LocationError(f"{where.path} declares no {where.symbol}.", hint)
        if len(found) > 1:
            listed = [f"{where.path}:{names.lines(at)[0]} ({names.qualified(at)})" for at in found[:_LISTED]]
            raise AmbiguousLocationError(
                f"{where.path}#{where.symbol} is ambiguous.", f"Candidates: {', '.join(listed)}"
            )
        return found[0]
    if where.first is None:
        return None
    first, last = where.first, where.last or where.first
    around = [at for at in every if names.lines(at)[0] <= last and first <= names.lines(at)[1]]

    def fit(at: int) -> float:
        a, b = names.lines(at)
        return (min(b, last) - max(a, first) + 1) / (max(b, last) - min(a, first) + 1)

    return max(around, key=fit, default=None)
