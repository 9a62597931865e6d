"""The searching pipeline: query → candidates (words, meaning, names) → fuse → signals → verified hits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatch
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError
from codesearch.fusion import fuse
from codesearch.locations import find_anchor
from codesearch.queries import Query, understand
from codesearch.retrieval import Lexical, NamedDeclaration, search_meaning, search_names, search_words
from codesearch.roles import Role
from codesearch.signals import (
    container_demotion,
    crowding,
    exact_name,
    file_evidence,
    likely_meant,
    role_demotion,
    same_words,
    shape_demotion,
)
from codesearch.terms import identifier_terms, words
from codesearch.types import Embedder, Filters, Hit, Kind, Snippet
from codesearch.view.corpus import Corpus
from codesearch.view.segment import KINDS, OWN, SYNTHETIC, Segment, kind_code, name_hash

_CANDIDATES = 400  # documents that signals look at; the rest is too far behind to come back
_NEAR_MISSES = 3
_ELSEWHERE = 0.6  # of the right name in another place than the one that was asked for
_NO_FILTERS = Filters()
_FILE = kind_code(Kind.FILE)
_REMAINDER = kind_code(Kind.REMAINDER)
_DATA = [kind_code(kind) for kind in (Kind.CONSTANT, Kind.VARIABLE, Kind.PROPERTY)]
_CALLABLES = [kind_code(kind) for kind in Kind if kind.is_callable]
_SNIPPET_LINES = 8
ReadContent = Callable[[str, str], bytes | None]  # path, blob id → content, None when it is not that blob


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A document that may become a hit, and the declaration to cite when that is not the chunk's own."""

    document: int
    score: float
    declaration: int  # index within its segment, or -1: cite the chunk
    signals: dict[str, float]


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, or the nearest misses when nothing fits."""

    hits: tuple[Hit, ...]
    near_misses: tuple[Hit, ...]
    terms: tuple[str, ...]
    barred_by: tuple[Filters, ...] = ()
    near_symbols: tuple[str, ...] = ()
    left_out: int = 0


class Searcher:
    """Answers queries from one corpus."""

    def __init__(self, corpus: Corpus, embedder: Embedder, read: ReadContent, commit: str | None) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._read = read
        self._commit = commit
        self._changed: set[int] = set()  # files with candidates whose content is no longer what was indexed

    def search(self, text: str, *, limit: int = 10, filters: Filters = _NO_FILTERS, min_score: float = 0.0) -> Answer:
        """The best `limit` hits; none when no word of the query, nor one near it, occurs anywhere."""
        query = understand(text)
        if query.is_empty or not len(self._corpus):
            return Answer((), (), ())
        lexical = search_words(self._corpus, query)
        known = tuple(term.term for term, rarity in zip(lexical.terms, lexical.rarity, strict=True) if rarity > 0)
        admitted, targets = self._admitted(filters)
        if filters != _NO_FILTERS and not admitted.any():
            barring = self._barring(filters)
            unknown = filters.symbols if Filters(symbols=filters.symbols) in barring else ()
            return Answer((), (), known, barring, self._near_symbols(unknown))
        ranked = self._verified(self._rank(query, lexical, admitted, targets), known)
        if not lexical.any_known and not search_names(self._corpus, query, lexical.terms):
            return Answer((), _numbered(islice(ranked, _NEAR_MISSES)), known)
        first = list(islice(ranked, limit))
        hits = _numbered(hit for hit in first if hit.score > 0 and hit.score >= min_score)
        misses = () if hits else _numbered(first[:_NEAR_MISSES])
        return Answer(hits, misses, known, left_out=len(self._changed))

    # --- filters ---------------------------------------------------------------------------------------------

    def _barring(self, filters: Filters) -> tuple[Filters, ...]:
        """Each filter that admits nothing by itself, or all together where only their combination does."""
        given = {each.name: getattr(filters, each.name) for each in fields(filters)}
        single = [Filters(**{name: value}) for name, value in given.items() if value not in ((), None)]
        return tuple(each for each in single if not self._admitted(each)[0].any()) or (filters,)

    def _near_symbols(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The symbols most like those asked for; called only where nothing can be found."""
        last = [_name_parts(symbol)[-1] for symbol in asked]
        near: list[str] = []
        for segment in self._corpus.segments if last else ():
            for index in np.unique(segment.declarations["symbol"]).tolist():
                symbol = segment.strings[index]
                if any(abs(len(symbol) - len(name)) < 4 and symbol[:1].lower() == name[:1].lower() for name in last):
                    near.append(symbol)
        return tuple(dict.fromkeys(match for name in last for match in get_close_matches(name, dict.fromkeys(near))))

    def _admitted(self, filters: Filters) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
        """Which documents may be hits, and, when only some declarations may, which (per declaration)."""
        corpus = self._corpus
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
        if not filters.kinds and not filters.symbols:
            return documents, None
        chunks, targets = [], []
        codes = [kind_code(kind) for kind in filters.kinds]
        # A qualified name is found by its last part, then compared; a heading may hold what looks like a separator.
        whole = np.array([name_hash(symbol) for symbol in filters.symbols], np.uint64)
        names = np.array([name_hash(_name_parts(symbol)[-1]) for symbol in filters.symbols], np.uint64)
        for segment in corpus.segments:
            declared = np.ones(len(segment.declarations), bool)
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
            fits[_chunks_of(segment, np.flatnonzero(shown))] = True
            chunks.append(fits)
            targets.append(declared)
        return documents & np.concatenate(chunks)[corpus.chunk_of], np.concatenate(targets)

    # --- ranking ---------------------------------------------------------------------------------------------

    def _rank(
        self,
        query: Query,
        lexical: Lexical,
        admitted: NDArray[np.bool_],
        targets: NDArray[np.bool_] | None,
    ) -> Iterator[_Candidate]:
        """Candidates, best first; ties by path and line, so that equal content gives equal answers."""
        corpus = self._corpus
        meaning = search_meaning(corpus, self._embedder.embed_query(query.text))
        fused = fuse(lexical.scores, meaning, query.form)
        exactness, named = self._named(query, lexical)
        named_alike = exact_name(exactness) + same_words(lexical.named, query)
        base = np.where(admitted, fused + named_alike, -np.inf)
        chosen = _best(base, _CANDIDATES)
        files = corpus.file_of[chosen]
        parts = {
            "keywords": lexical.scores[chosen],
            "meaning": meaning[chosen],
            "fused": fused[chosen],
            "exact_name": exact_name(exactness[chosen]),
            "same_words": same_words(lexical.named[chosen], query),
            "file": file_evidence(base[chosen], files),
        }
        scores = base[chosen] + parts["file"]
        parts["role"] = role_demotion(scores, corpus.roles[files], query)
        scores = scores + parts["role"]
        rows = corpus.chunks[corpus.chunk_of[chosen]]
        callables = np.isin(rows["kind"], _CALLABLES)
        loose = (rows["kind"] == _REMAINDER) & (rows["declaration"] < 0)
        nested = callables & ((rows["flags"] & SYNTHETIC) != 0)
        data = np.isin(rows["kind"], _DATA) & (exactness[chosen] == 0)
        parts["shape"] = shape_demotion(scores, loose, data, nested)
        scores = scores + parts["shape"]
        parts["container"] = container_demotion(scores, ~callables, query)
        scores = scores + parts["container"]
        places = self._places(chosen)
        parts["crowding"] = crowding(scores, files, places, rows["kind"] != _FILE, query.form)
        scores = scores + parts["crowding"]
        for at in np.lexsort((places, -scores)).tolist():
            document = int(chosen[at])
            target = self._cited(int(corpus.chunk_of[document]), named.get(document), targets, query)
            signals = {name: round(float(values[at]), 4) for name, values in parts.items() if values[at]}
            yield _Candidate(document, float(scores[at]), target, signals)

    def _places(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rank of each document by path and start, which settles ties."""
        corpus = self._corpus
        files = corpus.file_of[documents]
        paths = {file: corpus.path(file) for file in np.unique(files).tolist()}
        rank = {file: number for number, file in enumerate(sorted(paths, key=paths.__getitem__))}
        by_path = np.array([rank[file] for file in files.tolist()], np.int64)
        starts = corpus.chunks["start"][corpus.chunk_of[documents]]
        order = np.lexsort((documents, starts, by_path))
        places = np.empty(len(documents), np.int64)
        places[order] = np.arange(len(documents))
        return places

    def _named(self, query: Query, lexical: Lexical) -> tuple[NDArray[np.float64], dict[int, int]]:
        """How exactly each document defines an asked symbol, and the declaration (within its segment) it defines."""
        corpus = self._corpus
        exactness = np.zeros(len(corpus))
        named: dict[int, int] = {}
        found = search_names(corpus, query, lexical.terms)
        if not found:
            return exactness, named
        by_chunk: dict[int, list[tuple[float, NamedDeclaration]]] = {}
        for match in found:
            segment = corpus.segments[match.segment]
            chunk = int(_chunks_of(segment, np.array([match.declaration]))[0]) + int(corpus.chunk_bases[match.segment])
            kind = KINDS[int(segment.declarations["kind"][match.declaration])]
            by_chunk.setdefault(chunk, []).append((match.exactness * likely_meant(kind), match))
        for document in np.flatnonzero(np.isin(corpus.chunk_of, list(by_chunk))).tolist():
            for strength, match in by_chunk[int(corpus.chunk_of[document])]:
                if match.missing and not match.missing <= self._path_names(int(corpus.file_of[document])):
                    strength *= _ELSEWHERE
                if strength > exactness[document]:
                    exactness[document], named[document] = strength, match.declaration
        return exactness, named

    def _path_names(self, file: int) -> set[int]:
        """Hashes of the folder and file names of a path, suffixes aside."""
        return {name_hash(part.partition(".")[0]) for part in self._corpus.path(file).split("/")}

    def _cited(self, chunk: int, named: int | None, targets: NDArray[np.bool_] | None, query: Query) -> int:
        """The declaration to cite for a chunk, as an index within its segment, or -1 to cite the chunk itself.

        The asked one; its own, or the one around it, when it is only a part; among admitted ones inside it the
        one that fits best.
        """
        corpus = self._corpus
        segment, local = corpus.segment_of_chunk(chunk)
        row = segment.chunks[local]
        unit = segment.units[int(segment.unit_of_chunk[local])]
        first = int(unit["first_declaration"])
        around = first + int(row["declaration"]) if int(row["declaration"]) >= 0 else -1
        if int(row["flags"]) & OWN and around >= 0:
            return around
        if named is not None:
            return named
        if targets is None:
            return around
        base = int(corpus.declaration_bases[corpus.segments.index(segment)])
        inside = [
            index
            for index in range(first, first + int(unit["declarations"]))
            if targets[base + index]
            and segment.declarations["chunk"][index] >= 0
            and int(_chunks_of(segment, np.array([index]))[0]) == local
        ]
        wanted = {term.term for term in query.terms}
        return max(
            inside,
            key=lambda index: len(wanted & _symbol_terms(segment, index)),
            default=-1,
        )

    # --- hits ------------------------------------------------------------------------------------------------

    def _verified(self, candidates: Iterable[_Candidate], known: Sequence[str]) -> Iterator[Hit]:
        """Candidates as hits, each checked against the bytes that it cites; those that are not there are left out."""
        corpus = self._corpus
        shown: dict[int, list[tuple[int, int, bool]]] = {}
        contents: dict[int, bytes | None] = {}
        for candidate in candidates:
            file = int(corpus.file_of[candidate.document])
            segment, local = corpus.segment_of_chunk(int(corpus.chunk_of[candidate.document]))
            row = segment.chunks[local]
            if KINDS[int(row["kind"])] is Kind.FILE:
                continue  # evidence for its parts; citing a whole file answers nothing
            cited = segment.declarations[candidate.declaration] if candidate.declaration >= 0 else row
            start, end = int(cited["start"]), int(cited["end"])
            callable_ = KINDS[int(cited["kind"])].is_callable
            if any(
                (start, end) == (a, b) or (whole and callable_ and a <= start and end <= b)
                for a, b, whole in shown.get(file, ())
            ):
                continue  # the same declaration through another of its parts, or one inside a function shown
            if file not in contents:
                contents[file] = self._content(file)
            content = contents[file]
            if content is None:
                self._changed.add(file)
                continue
            if not _fits(content, cited):
                raise CorruptIndexError("The index cites lines that are not there.", "Run: codesearch index")
            shown.setdefault(file, []).append((start, end, callable_))
            yield self._hit(candidate, file, segment, local, content, known)

    def _content(self, file: int) -> bytes | None:
        placed = self._corpus.unit_of_file(file)
        if placed is None:
            return None
        segment, unit = placed
        blob = segment.units["blob"][unit].tobytes()
        return self._read(self._corpus.path(file), (blob if any(blob[20:]) else blob[:20]).hex())

    def _hit(
        self,
        candidate: _Candidate,
        file: int,
        segment: Segment,
        local: int,
        content: bytes,
        known: Sequence[str],
    ) -> Hit:
        row = segment.chunks[local]
        unit = int(segment.unit_of_chunk[local])
        inside = int(row["declaration"])
        owner = candidate.declaration
        if owner < 0 and inside >= 0:
            owner = int(segment.units["first_declaration"][unit]) + inside
        cited = segment.declarations[candidate.declaration] if candidate.declaration >= 0 else row
        first, last = int(cited["first"]), int(cited["last"])
        lines = content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
        if candidate.declaration < 0:
            first, last = _without_blank_edges(lines, first, last)
        part = None
        if candidate.declaration >= 0 and first <= int(row["first"]) and int(row["last"]) <= last:
            part = int(row["first"]), int(row["last"])
        names = (
            [segment.strings[int(segment.declarations[owner][c])] for c in ("symbol", "qualified", "signature")]
            if owner >= 0
            else ["", "", ""]
        )
        snippet = make_snippet(lines, first, last, known, part)
        is_whole = candidate.declaration >= 0
        return Hit(
            rank=0,
            score=round(candidate.score, 4),
            path=self._corpus.path(file),
            start_line=first,
            end_line=last,
            symbol=names[0],
            qualified_name=names[1],
            kind=KINDS[int(cited["kind"])],
            language=segment.language_of(unit),
            signature=names[2],
            snippet=snippet,
            commit=self._commit,
            signals=candidate.signals,
            anchor=find_anchor(
                lines, first, last, symbol=names[0], signature=names[2], best=snippet.best, is_whole=is_whole
            ),
        )


def _numbered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(replace(hit, rank=number) for number, hit in enumerate(hits, 1))


def make_snippet(
    lines: Sequence[str], first: int, last: int, terms: Sequence[str], part: tuple[int, int] | None = None
) -> Snippet:
    """At most a few lines of a span: around the ones that share most terms with the query, else its beginning."""
    wanted = set(terms)
    start, end = part or (first, last)
    best, matches = start, []
    scored: dict[int, int] = {}
    for number in range(start, min(end, len(lines)) + 1):
        line = lines[number - 1]
        found = {t for word in words(line[:500]) for t in identifier_terms(word)} & wanted
        if found:
            scored[number] = len(found)
            matches.append(number)
    if scored:
        best = max(scored, key=lambda number: (sum(scored.get(n, 0) for n in range(number, number + 4)), -number))
    top = max(scored.values(), default=0)
    last_start = max(first, end - _SNIPPET_LINES + 1)
    begin = max(first, min(best - 2, last_start))
    shown = tuple(line.rstrip("\r") for line in lines[begin - 1 : min(begin + _SNIPPET_LINES - 1, last)])
    marked = frozenset(n for n in matches if begin <= n < begin + len(shown) and scored[n] * 2 > top)
    return Snippet(begin, shown, marked)


def _best(scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Indices of the best scores, with all that tie with the last one, so that the choice never depends on order."""
    usable = np.flatnonzero(np.isfinite(scores))
    if len(usable) <= count:
        return usable
    threshold = np.partition(scores[usable], len(usable) - count)[len(usable) - count]
    chosen = usable[scores[usable] >= threshold]
    if len(chosen) > 4 * count:  # a crowd of equals at the border: none of them stands out
        chosen = usable[scores[usable] > threshold]
    return chosen if len(chosen) else usable[: 4 * count]


def _chunks_of(segment: Segment, declarations: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each declaration of a segment the chunk that shows it."""
    units = np.searchsorted(segment.units["first_declaration"], declarations, side="right") - 1
    local = segment.declarations["chunk"][declarations].astype(np.int64)
    first = segment.units["first_chunk"][units].astype(np.int64)
    return first + np.maximum(local, 0)


def _symbol_terms(segment: Segment, declaration: int) -> set[str]:
    symbol = segment.strings[int(segment.declarations["symbol"][declaration])]
    return {term for word in words(symbol) for term in identifier_terms(word)}


def _name_parts(name: str) -> list[str]:
    """`Uploader.retry`, `Uploader::retry`, `Uploader#retry` → Uploader, retry."""
    return [part for part in re.split(r"::|->|[#./]", name) if part] or [name]


def _ends_with(qualified: str, asked: str) -> bool:
    """Whether a qualified name is the asked one, or is it inside further scopes; in any spelling."""
    wanted = [name_hash(part) for part in _name_parts(asked)]
    return [name_hash(part) for part in _name_parts(qualified)][-len(wanted) :] == wanted


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


def _fits(content: bytes, cited: np.void) -> bool:
    """Whether the bytes and the lines that a row of an index cites are the same place of the content."""
    start, end = int(cited["start"]), int(cited["end"])
    first = content.count(b"\n", 0, start) + 1
    last = content.count(b"\n", 0, max(end - 1, start)) + 1
    return start <= end <= len(content) and (first, last) == (int(cited["first"]), int(cited["last"]))


def _without_blank_edges(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    last = min(last, len(lines))
    while first < last and not lines[first - 1].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return first, last
