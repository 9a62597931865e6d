"""The searching pipeline: query → words found → filters → ranked candidates → verified hits."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, islice

import numpy as np
from numpy.typing import NDArray

from codesearch.confidence import confidence, evidence
from codesearch.duplication import are_near_copies, shingles
from codesearch.errors import CorruptIndexError
from codesearch.filtering import FindSpans, admitted, barring, near_symbols
from codesearch.locations import find_anchor
from codesearch.queries import Form, Query, understand
from codesearch.ranking import Candidate, Measured, measure, odds_of, rank
from codesearch.reranking import RERANKED, new_order, passage
from codesearch.retrieval import Lexical, search_names, search_words
from codesearch.terms import WHOLE, identifier_terms, is_whole, split_identifier, words
from codesearch.types import Copy, Embedder, Filters, Hit, Kind, Reranked, Reranker, Snippet
from codesearch.view.corpus import Corpus
from codesearch.view.segment import KINDS, OWN, Segment

_NEAR_MISSES = 3
_NO_FILTERS = Filters()
_SNIPPET_LINES = 8
ReadContent = Callable[[str, str], bytes | None]  # path, blob id → content, None when it is not that blob


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, or the nearest misses when nothing fits.

    `changed` are files that were looked at for a hit and do not hold what was indexed.
    """

    hits: tuple[Hit, ...]
    near_misses: tuple[Hit, ...]
    terms: tuple[str, ...]
    barred_by: tuple[Filters, ...] = ()
    near_symbols: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Asked:
    """A query, where its words are, its unit vector, and which documents and declarations may answer."""

    query: Query
    lexical: Lexical
    vector: NDArray[np.float32]
    documents: NDArray[np.bool_]
    targets: NDArray[np.bool_] | None

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The terms that occur."""
        return tuple(
            term.term for term, rarity in zip(self.lexical.terms, self.lexical.rarity, strict=True) if rarity > 0
        )


@dataclass(frozen=True)
class Found:
    """A candidate, the hit that shows it, and the lines that this cites."""

    candidate: Candidate
    hit: Hit
    lines: list[str]

    @cached_property
    def length(self) -> int:
        """In characters: one that is twice as long needs no comparing."""
        return sum(map(len, self.lines))

    @cached_property
    def shingles(self) -> frozenset[int]:
        """What tells whether it is nearly a copy of another one."""
        return shingles(self.lines)


class Searcher:
    """Answers queries from one corpus."""

    def __init__(
        self,
        corpus: Corpus,
        embedder: Embedder,
        read: ReadContent,
        commit: str | None,
        find_spans: FindSpans | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.corpus = corpus
        self.embedder = embedder
        self.find_spans = find_spans
        self.reranker = reranker
        self._read = read
        self._commit = commit
        self._contents: dict[int, bytes | None] = {}
        self._lines: dict[int, list[str]] = {}
        self._changed: set[int] = set()  # files with candidates whose content is no longer what was indexed

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        filters: Filters = _NO_FILTERS,
        min_score: float | None = None,
        collapsed: bool = True,
    ) -> Answer:
        """The best `limit` hits; none when nothing here answers the query, whatever the filters admit.

        With `min_score`, instead, those of at least that score. `collapsed`: copies and near-copies of a hit are listed
        with it and are no hits of their own.
        """
        asked = self.ask(text, filters)
        if asked is None:
            return Answer((), (), ())
        if filters != _NO_FILTERS and not asked.documents.any():
            in_the_way = barring(self.corpus, filters, self.find_spans)
            unknown = filters.symbols if Filters(symbols=filters.symbols) in in_the_way else ()
            return Answer((), (), asked.known, in_the_way, near_symbols(self.corpus, unknown))
        measured = self.measure(asked)
        found = self.hits(asked, measured, collapsed=collapsed)
        if min_score is None and not self.is_answered(asked, measured if asked.documents.all() else None):
            return Answer((), numbered(each.hit for each in islice(found, _NEAR_MISSES)), asked.known)
        depth = limit if self.reranker is None else max(limit, RERANKED)
        first = page(found, depth) if collapsed else list(islice(found, depth))
        kept = [each for each in first if min_score is None or each.hit.score >= min_score]
        hits = numbered(each.hit for each in self.reranked(asked, kept)[:limit])
        misses = () if kept else numbered(each.hit for each in first[:_NEAR_MISSES])
        return Answer(hits, misses, asked.known, changed=self.changed_paths())

    def changed_paths(self) -> tuple[str, ...]:
        """The files that were looked at for a hit and do not hold what was indexed."""
        return tuple(self.corpus.path(file) for file in sorted(self._changed))

    def ask(self, text: str, filters: Filters = _NO_FILTERS) -> Asked | None:
        """A query with its words looked up and its filters applied; None where nothing is asked, or of nothing."""
        query = understand(text)
        if query.is_empty or not len(self.corpus):
            return None
        lexical = search_words(self.corpus, query)
        documents, targets = admitted(self.corpus, filters, self.find_spans)
        for word in query.unwanted:
            documents &= ~having(self.corpus, word)
        for phrase in query.phrases:
            # Only a choice of candidates: whether the words stand together, the text itself will tell.
            if (promising := documents & having(self.corpus, phrase)).any():
                documents = promising
        return Asked(query, lexical, self.embedder.embed_query(query.text), documents, targets)

    def measure(self, asked: Asked, also: Sequence[int] = ()) -> Measured:
        """The signals of the candidates, and of the documents in `also`."""
        return measure(self.corpus, asked.query, asked.vector, asked.lexical, asked.documents, also)

    def is_answered(self, asked: Asked, measured: Measured | None = None) -> bool:
        """Whether the repository has an answer at all; filters do not count, so `measured` is of all documents.

        A name that is declared, a single word that occurs, and identifiers that occur (in lower case, too) are always
        answered.
        """
        corpus, query, lexical = self.corpus, asked.query, asked.lexical
        if measured.named if measured is not None else search_names(corpus, query, lexical.terms):
            return True
        if not lexical.any_known:
            return False
        if sum(not is_whole(term.term) for term in query.terms) == 1:
            return True
        known = set(asked.known)
        glued = [term.term for term in query.terms if term.term not in known and WHOLE + term.term in known]
        if glued and all(term.term in known or term.term in glued for term in query.terms):
            return True
        if measured is None:
            measured = self.measure(replace(asked, documents=np.ones(len(corpus), bool)))
        odds = float(odds_of(query, measured).max(initial=-np.inf))
        return confidence(evidence(corpus, query, lexical, odds=odds, similarity=measured.closest)) >= 0

    def hits(
        self, asked: Asked, measured: Measured | None = None, *, collapsed: bool = True, kept: Sequence[int] = ()
    ) -> Iterator[Found]:
        """Ranked candidates and the hits that show them, best first, as far as their bytes are there.

        `collapsed`: exact copies are listed with the first of them, except for the documents in `kept`.
        """
        if measured is None:
            measured = self.measure(asked, kept)
        found = self.verified(rank(self.corpus, asked.query, measured, collapsed=collapsed, kept=kept), asked)
        return literally(found, asked.query.phrases) if asked.query.phrases else found

    def reranked(self, asked: Asked, found: Sequence[Found]) -> list[Found]:
        """Hits with the first ones in the reranker's order, if there is one; ties and the others as they were.

        A declaration whose name is the whole query is what was asked for: it keeps its place.
        """
        if self.reranker is None:
            return list(found)
        first, rest = found[:RERANKED], found[RERANKED:]
        asks_for_name = asked.query.form is Form.IDENTIFIER
        movable = [each for each in first if not (asks_for_name and each.candidate.measured.get("exact_name"))]
        texts = [passage(each.hit, each.lines) for each in movable]
        known = dict(zip(map(id, movable), self.reranker.score(asked.query.text, texts), strict=True))
        scores = [known.get(id(each)) for each in first]
        return [
            replace(first[at], hit=replace(first[at].hit, reranked=Reranked(at + 1, scores[at])))
            for at in new_order(scores)
        ] + list(rest)

    # --- what is cited ---

    def _cited(self, chunk: int, named: int | None, targets: NDArray[np.bool_] | None, query: Query) -> int:
        """The declaration to cite for a chunk, as an index within its segment, or -1 to cite the chunk itself.

        The asked one; its own, or the one around it, when it is only a part; among admitted ones inside it the
        one that fits best.
        """
        corpus = self.corpus
        segment, local = corpus.segment_of_chunk(chunk)
        row = segment.chunks[local]
        unit = segment.units[int(segment.unit_of_chunk[local])]
        first = int(unit["first_declaration"])
        around = first + int(row["declaration"]) if int(row["declaration"]) >= 0 else -1
        base = int(corpus.declaration_bases[corpus.segments.index(segment)])
        if int(row["flags"]) & OWN and around >= 0 and (targets is None or targets[base + around]):
            return around
        if named is not None and (targets is None or targets[base + named]):
            return named
        if targets is None:
            return around
        inside = [
            index
            for index in range(first, first + int(unit["declarations"]))
            if targets[base + index]
            and segment.declarations["chunk"][index] >= 0
            and int(segment.chunks_of(np.array([index]))[0]) == local
        ]
        wanted = {term.term for term in query.terms}
        return max(
            inside,
            key=lambda index: len(wanted & _symbol_terms(segment, index)),
            default=-1,
        )

    def verified(self, candidates: Iterable[Candidate], asked: Asked) -> Iterator[Found]:
        """Candidates as hits, each checked against the bytes that it cites; those that are not there are left out."""
        shown: dict[int, list[tuple[int, int, bool]]] = {}
        for candidate in candidates:
            file = int(self.corpus.file_of[candidate.document])
            segment, local = self.corpus.segment_of_chunk(int(self.corpus.chunk_of[candidate.document]))
            if KINDS[int(segment.chunks[local]["kind"])] is Kind.FILE:
                continue  # evidence for its parts; citing a whole file answers nothing
            declaration, cited = self._cited_row(candidate.document, candidate.named, asked)
            start, end = int(cited["start"]), int(cited["end"])
            callable_ = KINDS[int(cited["kind"])].is_callable
            if any(
                (start, end) == (a, b) or (whole and callable_ and a <= start and end <= b)
                for a, b, whole in shown.get(file, ())
            ):
                continue  # the same declaration through another of its parts, or one inside a function shown
            lines = self._checked_lines(file, cited)
            if lines is None:
                continue
            shown.setdefault(file, []).append((start, end, callable_))
            copies = tuple(copy for each in candidate.copies if (copy := self._copy(each, asked)) is not None)
            hit = self._hit(candidate, declaration, file, segment, local, lines, asked.known)
            yield Found(candidate, replace(hit, copies=copies), lines[hit.start_line - 1 : hit.end_line])

    def _cited_row(self, document: int, named: int | None, asked: Asked) -> tuple[int, np.void]:
        """The declaration that a document cites (-1: none) and the row that says where it stands."""
        chunk = int(self.corpus.chunk_of[document])
        segment, local = self.corpus.segment_of_chunk(chunk)
        declaration = self._cited(chunk, named, asked.targets, asked.query)
        return declaration, segment.declarations[declaration] if declaration >= 0 else segment.chunks[local]

    def _copy(self, document: int, asked: Asked) -> Copy | None:
        """A document that shows what another one does; None where its bytes are no longer there."""
        file = int(self.corpus.file_of[document])
        declaration, cited = self._cited_row(document, None, asked)
        if self._checked_lines(file, cited) is None:
            return None
        segment, _ = self.corpus.segment_of_chunk(int(self.corpus.chunk_of[document]))
        symbol = segment.strings[int(cited["symbol"])] if declaration >= 0 else ""
        return Copy(self.corpus.path(file), int(cited["first"]), int(cited["last"]), symbol)

    def _checked_lines(self, file: int, cited: np.void) -> list[str] | None:
        """The lines of a file, None where it is not what was indexed; CorruptIndexError where the row does not fit."""
        if file not in self._contents:
            self._contents[file] = self._content(file)
        content = self._contents[file]
        if content is None:
            self._changed.add(file)
            return None
        if not _fits(content, cited):
            raise CorruptIndexError("The index cites lines that are not there.", "Run: codesearch index")
        if file not in self._lines:
            self._lines[file] = content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
        return self._lines[file]

    def _content(self, file: int) -> bytes | None:
        placed = self.corpus.unit_of_file(file)
        if placed is None:
            return None
        segment, unit = placed
        return self._read(self.corpus.path(file), segment.blob_of(unit))

    def _hit(
        self,
        candidate: Candidate,
        declaration: int,
        file: int,
        segment: Segment,
        local: int,
        lines: list[str],
        known: Sequence[str],
    ) -> Hit:
        row = segment.chunks[local]
        unit = int(segment.unit_of_chunk[local])
        inside = int(row["declaration"])
        owner = declaration
        if owner < 0 and inside >= 0:
            owner = int(segment.units["first_declaration"][unit]) + inside
        cited = segment.declarations[declaration] if declaration >= 0 else row
        first, last = int(cited["first"]), int(cited["last"])
        if declaration < 0:
            first, last = _without_blank_edges(lines, first, last)
        part = None
        if declaration >= 0 and first <= int(row["first"]) and int(row["last"]) <= last:
            part = int(row["first"]), int(row["last"])
        names = (
            [segment.strings[int(segment.declarations[owner][c])] for c in ("symbol", "qualified", "signature")]
            if owner >= 0
            else ["", "", ""]
        )
        snippet = make_snippet(lines, first, last, known, part)
        is_whole = declaration >= 0
        return Hit(
            rank=0,
            score=round(candidate.score, 4),
            path=self.corpus.path(file),
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


def having(corpus: Corpus, text: str) -> NDArray[np.bool_]:
    """The documents with all words of a text, somewhere in them."""
    result = np.ones(len(corpus), bool)
    for word in words(text):
        for term in split_identifier(word):
            has = np.zeros(len(corpus.chunks), bool)
            has[corpus.find_term(term)[0]] = True
            result &= has[corpus.chunk_of]
    return result


def literally(found: Iterable[Found], phrases: Sequence[str]) -> Iterator[Found]:
    """Those that have all phrases letter for letter, case and spacing aside; all of them where none has."""
    everything = list(found)
    wanted = [re.compile(r"\s+".join(map(re.escape, phrase.split())), re.IGNORECASE) for phrase in phrases]
    literal = [each for each in everything if all(one.search("\n".join(each.lines)) for one in wanted)]
    yield from literal or everything


def page(found: Iterable[Found], limit: int) -> list[Found]:
    """The first `limit` hits, near-copies of one of them listed with it: other places of the same name."""
    kept: list[Found] = []
    for each in found:
        leader = next((at for at, other in enumerate(kept) if _is_copy(each, other)), None)
        if leader is None:
            if len(kept) == limit:
                break
            kept.append(each)
        else:
            hit, first = each.hit, kept[leader].hit
            copies = (*first.copies, Copy(hit.path, hit.start_line, hit.end_line, hit.symbol), *hit.copies)
            kept[leader] = replace(kept[leader], hit=replace(first, copies=copies))
    return kept


def _is_copy(one: Found, other: Found) -> bool:
    """Whether one hit repeats another one: both have one name, nearly one text, and no line in common."""
    a, b = one.hit, other.hit
    if a.symbol != b.symbol or (a.path == b.path and a.start_line <= b.end_line and b.start_line <= a.end_line):
        return False
    shorter, longer = sorted((one.length, other.length))
    return 2 * shorter > longer and are_near_copies(one.shingles, other.shingles)


def numbered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Hits with their places on the page."""
    return tuple(replace(hit, rank=number) for number, hit in enumerate(hits, 1))


def make_snippet(
    lines: Sequence[str], first: int, last: int, terms: Sequence[str], part: tuple[int, int] | None = None
) -> Snippet:
    """At most a few lines of a span: around the ones that share most terms with the query, else its beginning."""
    wanted = set(terms)
    start, end = part or (first, last)
    best = start
    scored: dict[int, int] = {}
    for number in _lines_with(lines[start - 1 : end], [term for term in terms if not is_whole(term)]):
        found = {t for word in words(lines[start - 1 + number][:500]) for t in identifier_terms(word)} & wanted
        if found:
            scored[start + number] = len(found)
    if scored:
        best = max(scored, key=lambda number: (sum(scored.get(n, 0) for n in range(number, number + 4)), -number))
    top = max(scored.values(), default=0)
    last_start = max(first, end - _SNIPPET_LINES + 1)
    begin = max(first, min(best - 2, last_start))
    shown = tuple(line.rstrip("\r") for line in lines[begin - 1 : min(begin + _SNIPPET_LINES - 1, last)])
    marked = frozenset(n for n, score in scored.items() if begin <= n < begin + len(shown) and score * 2 > top)
    return Snippet(begin, shown, marked)


def _lines_with(lines: Sequence[str], parts: Sequence[str]) -> list[int]:
    """The indices of lines that have one of some lower-case strings in any case; most have none."""
    text = "\n".join(lines).lower()
    ends = list(accumulate(len(line) + 1 for line in (lines if text.isascii() else text.split("\n"))))
    found: set[int] = set()
    for part in parts:
        at = text.find(part)
        while at >= 0:
            index = bisect_right(ends, at)
            found.add(index)
            at = text.find(part, ends[index])
    return sorted(found)


def _symbol_terms(segment: Segment, declaration: int) -> set[str]:
    symbol = segment.strings[int(segment.declarations["symbol"][declaration])]
    return {term for word in words(symbol) for term in identifier_terms(word)}


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
