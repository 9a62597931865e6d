"""Which documents and declarations a query's filters admit; decided before anything is ranked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from fnmatch import fnmatch

import numpy as np
from numpy.typing import NDArray

from codesearch.roles import Role
from codesearch.terms import name_parts
from codesearch.types import Filters
from codesearch.view.corpus import Corpus
from codesearch.view.segment import OWN, kind_code, name_hash

Spans = Mapping[str, frozenset[tuple[int, int]]]  # by path, the bytes of declarations
FindSpans = Callable[[Filters, Mapping[str, str]], Spans]  # filters of the history, blob by path → what they admit


def barring(corpus: Corpus, filters: Filters, find_spans: FindSpans | None = None) -> tuple[Filters, ...]:
    """Each filter that admits nothing by itself, or all together where only their combination does."""
    single = separately(filters)
    return tuple(each for each in single if not admitted(corpus, each, find_spans)[0].any()) or (filters,)


def separately(filters: Filters) -> list[Filters]:
    """Each filter that is given by itself; dates and authors choose commits together."""
    given = {each.name: getattr(filters, each.name) for each in fields(filters)}
    commits = {name: given.pop(name) for name in ("since", "until", "authors")}
    single = [Filters(**{name: value}) for name, value in given.items() if value not in ((), None)]
    return [*single, Filters(**commits)] if filters.of_commits else single


def near_symbols(corpus: Corpus, asked: Sequence[str]) -> tuple[str, ...]:
    """The symbols most like those asked for; called only where nothing can be found."""
    last = [name_parts(symbol)[-1] for symbol in asked]
    near: list[str] = []
    for segment in corpus.segments if last else ():
        for index in np.unique(segment.declarations["symbol"]).tolist():
            symbol = segment.strings[index]
            if any(abs(len(symbol) - len(name)) < 4 and symbol[:1].lower() == name[:1].lower() for name in last):
                near.append(symbol)
    return tuple(dict.fromkeys(match for name in last for match in get_close_matches(name, dict.fromkeys(near))))


def admitted(
    corpus: Corpus, filters: Filters, find_spans: FindSpans | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Which documents may be hits, and, when only some declarations may, which (per declaration).

    `find_spans` asks the repository; filters of its history are not applied without it.
    """
    if filters == Filters():
        return np.ones(len(corpus), bool), None
    files = corpus.alive_files.copy()
    if filters.languages:
        for index in np.flatnonzero(files).tolist():
            placed = corpus.unit_of_file(index)
            files[index] = placed is not None and placed[0].language_of(placed[1]) in filters.languages
    if filters.paths or filters.globs:
        for index in np.flatnonzero(files).tolist():
            files[index] = _path_fits(corpus.path(index), filters)
    for wanted, role in ((filters.tests, Role.TEST), (filters.docs, Role.DOCS)):
        if wanted is not None:
            files &= ((corpus.roles & int(role)) != 0) == wanted
    documents = files[corpus.file_of]
    in_history = None
    if filters.of_history and find_spans is not None:
        documents, in_history = _of_history(corpus, filters, files, find_spans)
    if not filters.kinds and not filters.symbols:
        return documents, in_history
    chunks, targets = [], []
    codes = [kind_code(kind) for kind in filters.kinds]
    # A qualified name is found by its last part, then compared; a heading may hold what looks like a separator.
    whole = np.array([name_hash(symbol) for symbol in filters.symbols], np.uint64)
    names = np.array([name_hash(name_parts(symbol)[-1]) for symbol in filters.symbols], np.uint64)
    for segment, base in zip(corpus.segments, corpus.declaration_bases.tolist(), strict=False):
        count = len(segment.declarations)
        declared = np.ones(count, bool) if in_history is None else in_history[base : base + count].copy()
        fits = np.ones(len(segment.chunks), bool)
        if codes:
            declared &= np.isin(segment.declarations["kind"], codes)
            fits &= np.isin(segment.chunks["kind"], codes)
        if len(names):
            hashes = segment.declarations["name_hash"]
            fitting = np.isin(hashes, whole)
            for index in np.flatnonzero(np.isin(hashes, names) & ~fitting).tolist():
                qualified = segment.strings[int(segment.declarations["qualified"][index])]
                fitting[index] = any(_ends_with(qualified, symbol) for symbol in filters.symbols)
            declared &= fitting
            fits &= False
        shown = declared & (segment.declarations["chunk"] >= 0)
        fits[segment.chunks_of(np.flatnonzero(shown))] = True
        chunks.append(fits)
        targets.append(declared)
    return documents & np.concatenate(chunks)[corpus.chunk_of], np.concatenate(targets)


def _of_history(
    corpus: Corpus, filters: Filters, files: NDArray[np.bool_], find_spans: FindSpans
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The documents in some files, and the declarations, that show what the history admits."""
    numbers = {corpus.path(file): file for file in np.flatnonzero(files).tolist()}
    documents = np.zeros(len(corpus), bool)
    targets = np.zeros(int(corpus.declaration_bases[-1]), bool)
    units = {path: placed for path, file in numbers.items() if (placed := corpus.unit_of_file(file)) is not None}
    blobs = {path: segment.blob_of(unit) for path, (segment, unit) in units.items()}
    for path, spans in find_spans(filters, blobs).items():
        segment, unit = units[path]
        row = segment.units[unit]
        first, chunk = int(row["first_declaration"]), int(row["first_chunk"])
        declarations = segment.declarations[first : first + int(row["declarations"])]
        places = zip(declarations["start"].tolist(), declarations["end"].tolist(), strict=True)
        chosen = np.array([place in spans for place in places], bool)
        base = int(corpus.declaration_bases[corpus.segments.index(segment)])
        targets[base + first : base + first + len(chosen)] |= chosen
        chunks = segment.chunks[chunk : chunk + int(row["chunks"])]
        # Every part of what was admitted, and the chunks that hold what has none of its own.
        own = (chunks["flags"] & OWN != 0) & np.isin(chunks["declaration"], np.flatnonzero(chosen))
        held = np.flatnonzero(chosen & (declarations["chunk"] >= 0) & (declarations["own"] == 0))
        own[segment.chunks_of(held + first) - chunk] = True
        documents[np.flatnonzero(corpus.file_of == numbers[path])] = own
    return documents, targets


def _ends_with(qualified: str, asked: str) -> bool:
    """Whether a qualified name is the asked one, or is it inside further scopes; in any spelling."""
    wanted = [name_hash(part) for part in name_parts(asked)]
    return [name_hash(part) for part in name_parts(qualified)][-len(wanted) :] == wanted


def _path_fits(path: str, filters: Filters) -> bool:
    inside = not filters.paths or any(
        wanted in {"", "."} or path == wanted or path.startswith(wanted + "/") for wanted in filters.paths
    )
    return inside and (not filters.globs or _glob_fits(path, filters.globs))


def _glob_fits(path: str, globs: Sequence[str]) -> bool:
    """As in ripgrep: `!` excludes, a glob without a slash matches the file name."""
    name = path.rsplit("/", 1)[-1]
    wanted = [glob for glob in globs if not glob.startswith("!")]
    unwanted = [glob[1:] for glob in globs if glob.startswith("!")]

    def fits(glob: str) -> bool:
        return fnmatch(path if "/" in glob else name, glob.removeprefix("/"))

    return (not wanted or any(map(fits, wanted))) and not any(map(fits, unwanted))
