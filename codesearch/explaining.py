"""Why hits are where they are, and why an expected place is not among them: the way to debug a search.

Asks in the order in which a place can be lost: is it indexed at all, do the filters admit it, is it a candidate, what
keeps it behind the hits that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from codesearch.filtering import admitted, separately
from codesearch.locations import Location
from codesearch.ranking import OF_OTHER_HITS, Candidate
from codesearch.results import Expectation, ExplainedHit, Explanation, ReadTerm
from codesearch.retrieval import FoundTerm
from codesearch.searching import Asked, Found, Searcher, page
from codesearch.targets import Target, find_target
from codesearch.terms import is_whole
from codesearch.types import Filters, Hit, Kind, SearchResult
from codesearch.view.segment import kind_code

_FILE = kind_code(Kind.FILE)
_FLAGS = {
    "paths": "the path",
    "globs": "--glob",
    "languages": "--lang",
    "kinds": "--kind",
    "symbols": "--symbol",
    "changed": "--changed",
    "since": "--since",
    "until": "--until",
    "authors": "--author",
}
_EITHER = {
    ("tests", True): "--tests",
    ("tests", False): "--no-tests",
    ("docs", True): "--docs",
    ("docs", False): "--code",
}


def explain(
    searcher: Searcher,
    result: SearchResult,
    filters: Filters,
    expected: Location | None,
    why_missing: Callable[[str], str],
) -> Explanation:
    """Explains a result of the searcher and, when a place was expected, what became of it.

    `why_missing` says of a path that no document shows why that is. LocationError for a place that the file does not
    have, or that means several declarations.
    """
    target = find_target(searcher.corpus, expected) if expected is not None else None
    expectation = None
    if expected is not None and target is None:
        expectation = Expectation(str(expected), None, (why_missing(expected.path),))
    asked = searcher.ask(result.query, filters)
    if asked is None:
        if target is not None:
            expectation = Expectation(str(expected), None, ("Nothing is asked: the query has no word to look up.",))
        return Explanation(result, filters, "", (), (), (), expectation)
    explainer = _Explainer(searcher, asked, filters)
    # A file that was written since the search may have lost its hit: that one is left out.
    found = {_key(each.hit): each.candidate for each in explainer.ranked}
    hits = tuple(explainer.hit(found[_key(hit)], hit) for hit in result.hits if _key(hit) in found)
    if expected is not None and target is not None:
        expectation = explainer.expectation(expected, target, hits)
    names = tuple(name.name for name in asked.query.names)
    return Explanation(result, filters, str(asked.query.form), read_terms(asked), names, hits, expectation)


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where a target came on a page without an end: through which hit, and whether it is a copy listed with that."""

    place: int
    through: Found
    is_own: bool = False
    is_copy: bool = False


@dataclass(frozen=True, eq=False)
class _Explainer:
    searcher: Searcher
    asked: Asked
    filters: Filters

    @cached_property
    def ranked(self) -> list[Found]:
        """All candidates in order, as the search ranks them; near-copies not yet collapsed."""
        return list(self.searcher.hits(self.asked))

    @cached_property
    def similarities(self) -> NDArray[np.float32]:
        """By meaning alone, per document."""
        corpus = self.searcher.corpus
        return corpus.chunk_similarities(self.asked.vector)[corpus.chunk_of]

    @cached_property
    def citable(self) -> NDArray[np.bool_]:
        """The documents that the filters admit and that can be hits."""
        corpus = self.searcher.corpus
        citable: NDArray[np.bool_] = self.asked.documents & (corpus.chunks["kind"][corpus.chunk_of] != _FILE)
        return citable

    def hit(self, candidate: Candidate, hit: Hit) -> ExplainedHit:
        """A hit with its ranks by keywords and by meaning alone, and the words that it has."""
        corpus, asked = self.searcher.corpus, self.asked
        chunk, file = int(corpus.chunk_of[candidate.document]), int(corpus.file_of[candidate.document])
        there = {
            term: bool((found.chunks == chunk).any() or (found.files == file).any()) if found else False
            for term, _, found in _looked_up(asked)
            if not is_whole(term)
        }
        return ExplainedHit(
            hit=hit,
            measured=candidate.measured,
            matched=tuple(term for term, is_there in there.items() if is_there),
            missed=tuple(term for term, is_there in there.items() if not is_there),
            keyword_score=round(float(asked.lexical.scores[candidate.document]), 4),
            keyword_rank=_rank(asked.lexical.scores, self.citable, candidate.document),
            similarity=round(float(self.similarities[candidate.document]), 4),
            meaning_rank=_rank(self.similarities, self.citable, candidate.document),
        )

    def expectation(self, expected: Location, target: Target, shown: Sequence[ExplainedHit]) -> Expectation:
        """What became of a place that is indexed."""
        location = str(expected)
        documents = [document for document in target.documents if self.asked.documents[document]]
        if not documents:
            return Expectation(location, None, (self._barring(target),))
        leaders = self._leaders(self.ranked)
        placed = self._placed(target, leaders)
        is_candidate = placed is not None and (placed.is_own or placed.is_copy)
        if not is_candidate:
            leaders = self._leaders(list(self.searcher.hits(self.asked, kept=documents)))
            placed = self._placed(target, leaders)
        if placed is None:
            return Expectation(location, None, ("The file has changed since it was indexed.",))
        reasons = [self._where(placed, target, shown)]
        if placed.is_copy:
            return Expectation(location, placed.place, tuple(reasons), self._explained(placed))
        if not target.name and expected.first is not None:
            reasons.append(f"No declaration stands there; lines {target.first}-{target.last} are ranked together.")
        if target.holder:
            reasons.append(f"It has no chunk of its own: {target.holder} holds it and is ranked as a whole.")
        if len(target.documents) > 1 and target.name:
            reasons.append(f"It is long: {len(target.documents)} chunks show it, of which the best counts.")
        if placed.is_own and not is_candidate:
            reasons.append("Keywords and meaning together leave it out of the candidates that are ranked.")
        explained = self._explained(placed)
        last = f"; the last hit shown has {shown[-1].similarity:.2f}" if shown else ""
        # Of its own chunks, whichever is best: the hit that shows it may be one around it.
        for by, measure, scores, beside in (
            ("keywords", "score", self.asked.lexical.scores, ""),
            ("meaning", "similarity", self.similarities, last),
        ):
            best = max(documents, key=lambda document: float(scores[document]))
            reasons.append(_alone(by, _rank(scores, self.citable, best), f"{measure} {scores[best]:.2f}{beside}"))
        own = _own_odds(placed.through.candidate)
        free = 1 + sum(_own_odds(each.candidate) > own for each in leaders)
        reranked = placed.through.hit.reranked
        before = reranked.rank_before if reranked else placed.place
        if reranked is not None and before != placed.place:
            reasons.append(f"The reranker moved it there from {before}, with a score of {reranked.score:.3f}.")
        if free < before:
            reasons.append(f"It is held back behind hits of the same file or name; without that it is hit {free}.")
        against = _differences(explained.hit, shown[-1].hit) if shown and placed.place > len(shown) else ()
        if against and explained.hit.reranked and shown[-1].hit.reranked:
            own_score, other_score = explained.hit.reranked.score, shown[-1].hit.reranked.score
            if own_score is not None and other_score is not None:  # then signals part them no more
                against = (("rerank_score", own_score, other_score),)
        return Expectation(location, placed.place, tuple(reasons), explained, against)

    def _leaders(self, found: Sequence[Found]) -> list[Found]:
        """The hits of a page without an end, near-copies collapsed, in order."""
        return self.searcher.reranked(self.asked, page(found, len(found)))

    def _placed(self, target: Target, leaders: Sequence[Found]) -> _Placed | None:
        """Where the page has a target: by a hit of its own, listed with its copy, or by a hit around it."""
        path, lines = self.searcher.corpus.path(target.file), (target.first, target.last)
        around: list[_Placed] = []
        own: list[_Placed] = []
        copied: list[_Placed] = []
        for place, each in enumerate(leaders, 1):
            hit = each.hit
            exact = (hit.path, hit.start_line, hit.end_line) == (path, *lines)
            if each.candidate.document in target.documents:
                own.append(_Placed(place, each, is_own=True))
                if exact:
                    return own[-1]
            elif any((copy.path, copy.start_line, copy.end_line) == (path, *lines) for copy in hit.copies):
                copied.append(_Placed(place, each, is_copy=True))
            elif hit.path == path and hit.start_line <= lines[0] and lines[1] <= hit.end_line:
                around.append(_Placed(place, each))
        around.sort(key=lambda placed: len(placed.through.lines))
        return next(iter((*own, *copied, *around)), None)

    def _where(self, placed: _Placed, target: Target, shown: Sequence[ExplainedHit]) -> str:
        hit, place = placed.through.hit, placed.place
        citation = f"{hit.path}:{hit.start_line}-{hit.end_line}"
        path = self.searcher.corpus.path(target.file)
        if placed.is_copy:
            where = f"It is a copy of {citation} and listed with that"
        elif (hit.path, hit.start_line, hit.end_line) == (path, target.first, target.last):
            where = "It is ranked"
        else:
            where = f"It is ranked through {citation}"
        if not shown:
            return (
                f"{where}, number {place}, but the search shows no hits: it judges that nothing here answers the query."
            )
        reach = f"of {len(shown)} shown" if place <= len(shown) else f"where {len(shown)} are shown"
        return f"{where}: hit {place} {reach}."

    def _explained(self, placed: _Placed) -> ExplainedHit:
        return self.hit(placed.through.candidate, replace(placed.through.hit, rank=placed.place))

    def _barring(self, target: Target) -> str:
        """Which filters bar a place, each tried alone."""
        searcher = self.searcher
        barring = [
            _flags_of(each)
            for each in separately(self.filters)
            if not admitted(searcher.corpus, each, searcher.find_spans)[0][list(target.documents)].any()
        ]
        if len(barring) == 1:
            return f"The filter {barring[0]} does not admit it."
        if not barring:
            return "Each filter admits it, but all together do not."
        return f"The filters {', '.join(barring[:-1])} and {barring[-1]} do not admit it, each by itself."


def _flags_of(filters: Filters) -> str:
    """The names of the flags that make some filters."""
    given = [(each.name, getattr(filters, each.name)) for each in fields(filters)]
    return " with ".join(_FLAGS.get(name) or _EITHER[name, value] for name, value in given if value not in ((), None))


def read_terms(asked: Asked) -> tuple[ReadTerm, ...]:
    """The terms that the query was looked up with; near ones beside the word of the query that occurs nowhere."""
    said = {term.term for term in (*asked.query.terms, *asked.query.compounds)}
    used = {term.term for term in asked.lexical.terms}
    unknown = [term.term for term in asked.query.terms if term.term not in used]
    return tuple(
        ReadTerm(
            term,
            round(rarity, 3),
            len(found.chunks) if found else 0,
            "" if term in said else next(iter(get_close_matches(term, unknown, n=1, cutoff=0.0)), ""),
        )
        for term, rarity, found in _looked_up(asked)
    )


def _looked_up(asked: Asked) -> Iterator[tuple[str, float, FoundTerm | None]]:
    """Each term, its rarity, and where it was found; whole identifiers are found through their declarations."""
    found = iter(asked.lexical.found)
    for term, rarity in zip(asked.lexical.terms, asked.lexical.rarity.tolist(), strict=True):
        yield term.term, rarity, next(found) if rarity and not is_whole(term.term) else None


def _rank(scores: NDArray[np.floating], counted: NDArray[np.bool_], document: int) -> int | None:
    own = scores[document]
    return None if own <= 0 else 1 + int((scores[counted] > own).sum())


def _own_odds(candidate: Candidate) -> float:
    """The logarithm of a candidate's odds, without what the hits ahead of it take."""
    share = min(max(candidate.score, 1e-15), 1 - 1e-15)  # scores can reach 1 in floating point
    odds = float(np.log(share / (1 - share)))
    return odds - sum(candidate.signals.get(name, 0.0) for name in OF_OTHER_HITS)


def _key(hit: Hit) -> tuple[str, int, int, str, str]:
    """What tells the hits of one snapshot apart; one line may hold several declarations."""
    return hit.path, hit.start_line, hit.end_line, hit.qualified_name, hit.kind


def _alone(by: str, rank: int | None, detail: str) -> str:
    return f"By {by} alone it is number {rank:,} ({detail})." if rank else f"By {by} alone it is not found ({detail})."


def _differences(own: Hit, other: Hit) -> tuple[tuple[str, float, float], ...]:
    names = dict.fromkeys((*own.signals, *other.signals))
    pairs = [(name, own.signals.get(name, 0.0), other.signals.get(name, 0.0)) for name in names]
    return tuple(sorted((pair for pair in pairs if pair[1] != pair[2]), key=lambda pair: -abs(pair[1] - pair[2])))
