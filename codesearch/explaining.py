"""Why hits are where they are, and why an expected place is not among them: the way to debug a search.

Asks in the order in which a place can be lost: is it indexed at all, do the filters admit it, is it a candidate, what
keeps it behind the hits that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from codesearch.filtering import admitted
from codesearch.locations import Location
from codesearch.ranking import Candidate
from codesearch.retrieval import FoundTerm
from codesearch.searching import Asked, Searcher
from codesearch.targets import Target, find_target
from codesearch.terms import is_whole
from codesearch.types import Expectation, ExplainedHit, Explanation, Filters, Hit, Kind, ReadTerm, SearchResult
from codesearch.view.segment import kind_code

_NEAR_PATHS = 5
_CROWDING = ("crowding", "overload")  # what depends on the other hits, not on the place itself
_FILE = kind_code(Kind.FILE)
_NO_LIMIT = 1_000_000
_FLAGS = {"paths": "the path", "globs": "--glob", "languages": "--lang", "kinds": "--kind", "symbols": "--symbol"}
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

    `why_missing` says of a path that the index does not show why that is. LocationError for a place that the file does
    not have, or that means several declarations.
    """
    asked = searcher.ask(result.query, filters)
    if asked is None:
        return Explanation(result, "", (), (), ())
    target = find_target(searcher.corpus, expected) if expected is not None else None
    explainer = _Explainer(searcher, asked)
    candidates = {
        (found.hit.path, found.hit.start_line, found.hit.end_line): found.candidate for found in searcher.hits(asked)
    }
    hits = tuple(explainer.hit(candidates[hit.path, hit.start_line, hit.end_line], hit) for hit in result.hits)
    expectation = None
    if expected is not None and target is None:
        expectation = Expectation(str(expected), None, (_why_not_indexed(searcher, expected.path, why_missing),))
    elif expected is not None and target is not None:
        expectation = explainer.expectation(str(expected), target, filters, hits)
    names = tuple(name.name for name in asked.query.names)
    return Explanation(result, str(asked.query.form), read_terms(asked), names, hits, expectation)


@dataclass(frozen=True, eq=False)
class _Explainer:
    searcher: Searcher
    asked: Asked

    def hit(self, candidate: Candidate, hit: Hit) -> ExplainedHit:
        """A hit with its ranks by keywords and by meaning alone, and the words that it has."""
        corpus, asked = self.searcher.corpus, self.asked
        chunk, file = int(corpus.chunk_of[candidate.document]), int(corpus.file_of[candidate.document])
        there = {
            term: bool((found.chunks == chunk).any() or (found.files == file).any()) if found else False
            for term, _, found in _looked_up(asked)
            if not is_whole(term)
        }
        similarities = corpus.chunk_similarities(asked.vector)[corpus.chunk_of]
        citable = asked.documents & (corpus.chunks["kind"][corpus.chunk_of] != _FILE)
        return ExplainedHit(
            hit=hit,
            measured=candidate.measured,
            matched=tuple(term for term, is_there in there.items() if is_there),
            missed=tuple(term for term, is_there in there.items() if not is_there),
            keyword_score=round(float(asked.lexical.scores[candidate.document]), 4),
            keyword_rank=_rank(asked.lexical.scores, citable, candidate.document),
            similarity=round(float(similarities[candidate.document]), 4),
            meaning_rank=_rank(similarities, citable, candidate.document),
        )

    def expectation(
        self, location: str, target: Target, filters: Filters, shown: Sequence[ExplainedHit]
    ) -> Expectation:
        """What became of a place that is indexed."""
        searcher, asked = self.searcher, self.asked
        path = searcher.corpus.path(target.file)
        documents = list(target.documents)
        if not asked.documents[documents].any():
            return Expectation(location, None, (f"{self._barring(filters, documents)} does not admit it.",))
        for explained in shown:
            for copy in explained.hit.copies:
                if (copy.path, copy.start_line, copy.end_line) == (path, target.first, target.last):
                    rank = explained.hit.rank
                    return Expectation(location, rank, (f"It is listed with hit {rank}, whose copy it is.",), explained)
        ranked = list(searcher.hits(asked, kept=documents))
        found = [
            (place, each)
            for place, each in enumerate(ranked, 1)
            if each.hit.path == path and each.hit.start_line <= target.first and target.last <= each.hit.end_line
        ]
        # Its own lines, else a part of it, else the smallest hit around it.
        found.sort(key=lambda item: (item[1].candidate.document not in documents, len(item[1].lines)))
        if not found:
            found = [(place, each) for place, each in enumerate(ranked, 1) if each.candidate.document in documents]
        if not found:
            why = "It stands inside a function that is a hit itself, or the file has changed since it was indexed."
            return Expectation(location, None, (why,))
        place, best = found[0]
        candidate, hit = best.candidate, best.hit
        explained = self.hit(candidate, replace(hit, rank=place))
        as_whole = (hit.start_line, hit.end_line) == (target.first, target.last)
        through = "" if as_whole else f" through {path}:{hit.start_line}-{hit.end_line}"
        reach = f"{len(shown)} are shown" if place > len(shown) else f"of {len(shown)} shown"
        reasons = [f"It is hit {place}{through}; {reach}."]
        if target.holder:
            reasons.append(f"It has no chunk of its own: {target.holder} holds it and is ranked as a whole.")
        if len(documents) > 1 and target.name:
            reasons.append(f"It is long: {len(documents)} chunks show it, of which the best counts.")
        if all(each.candidate.document != candidate.document for each in searcher.hits(asked, collapsed=False)):
            reasons.append("Keywords and meaning together leave it out of the candidates that are ranked.")
        last = f"; the last hit shown has {shown[-1].similarity:.2f}" if shown else ""
        reasons.append(_alone("keywords", explained.keyword_rank, f"score {explained.keyword_score:.2f}"))
        reasons.append(_alone("meaning", explained.meaning_rank, f"similarity {explained.similarity:.2f}{last}"))
        free = 1 + sum(_alone_odds(each.candidate) > _alone_odds(candidate) for each in ranked)
        if free < place:
            reasons.append(f"It is held back behind hits of the same file or name; without that it is hit {free}.")
        against = () if place <= len(shown) or not shown else _differences(hit, shown[-1].hit)
        return Expectation(location, place, tuple(reasons), explained, against)

    def _barring(self, filters: Filters, documents: list[int]) -> str:
        barring = [
            _FLAGS.get(each.name) or _EITHER[each.name, value]
            for each in fields(filters)
            if (value := getattr(filters, each.name)) not in ((), None)
            and not admitted(self.searcher.corpus, Filters(**{each.name: value}))[0][documents].any()
        ]
        return f"The filter {' and '.join(barring)}" if barring else "The filters together"


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


def _alone_odds(candidate: Candidate) -> float:
    """The odds of a candidate by itself, as a sum of logarithms without what the other hits take from it."""
    return sum(value for name, value in candidate.signals.items() if name not in _CROWDING)


def _alone(by: str, rank: int | None, detail: str) -> str:
    return f"By {by} alone it is number {rank:,} ({detail})." if rank else f"By {by} alone it is not found ({detail})."


def _differences(own: Hit, other: Hit) -> tuple[tuple[str, float, float], ...]:
    names = dict.fromkeys((*own.signals, *other.signals))
    pairs = [(name, own.signals.get(name, 0.0), other.signals.get(name, 0.0)) for name in names]
    return tuple(sorted((pair for pair in pairs if pair[1] != pair[2]), key=lambda pair: -abs(pair[1] - pair[2])))


def _why_not_indexed(searcher: Searcher, path: str, why_missing: Callable[[str], str]) -> str:
    corpus = searcher.corpus
    paths = [corpus.path(file) for file in np.flatnonzero(corpus.alive_files).tolist()]
    name = path.rsplit("/", 1)[-1]
    near = [other for other in paths if other.rsplit("/", 1)[-1] == name] or get_close_matches(path, paths, n=3)
    return why_missing(path) + (f" Did you mean {', '.join(near[:_NEAR_PATHS])}?" if near else "")
