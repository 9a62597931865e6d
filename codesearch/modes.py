"""Hits by one measure alone: by keywords, by meaning, or by the letters of a symbol.

The ranking of all signals is better at questions. One measure alone is for whoever knows what it is that they know: a
word of the text, what the code does, or a few letters of its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codesearch.filtering import barring, near_symbols
from codesearch.ranking import Candidate
from codesearch.searching import Answer, Asked, Searcher, numbered, page
from codesearch.types import Filters, Kind, Mode
from codesearch.view.segment import Segment, kind_code

_CANDIDATES = 300  # as many as the ranking of all signals looks at
_LEAST_SIMILARITY = 0.15  # cosines below are those of texts that have nothing in common
_FILE = kind_code(Kind.FILE)
_NOT_IN_NAMES = re.compile(r"[\s_\-.:#]+")


def search_by(searcher: Searcher, mode: Mode, text: str, limit: int, filters: Filters) -> Answer:
    """The best `limit` hits by one measure; its value is the score. `mode` is not HYBRID."""
    asked = searcher.ask(text, filters)
    if asked is None:
        return Answer((), (), ())
    if not asked.documents.any():
        in_the_way = barring(searcher.corpus, filters, searcher.find_spans)
        unknown = filters.symbols if Filters(symbols=filters.symbols) in in_the_way else ()
        return Answer((), (), asked.known, in_the_way, near_symbols(searcher.corpus, unknown))
    candidates = _by_symbol(searcher, asked) if mode is Mode.SYMBOL else _by_scores(searcher, mode, asked)
    hits = numbered(each.hit for each in page(searcher.verified(candidates, asked), limit))
    return Answer(hits, (), asked.known, changed=searcher.changed_paths())


def _by_scores(searcher: Searcher, mode: Mode, asked: Asked) -> Iterator[Candidate]:
    corpus = searcher.corpus
    if mode is Mode.KEYWORD:
        scores, least = asked.lexical.scores, 0.0
    else:
        scores = corpus.chunk_similarities(asked.vector)[corpus.chunk_of].astype(np.float64)
        least = _LEAST_SIMILARITY
    scores = np.where(asked.documents & (corpus.chunks["kind"][corpus.chunk_of] != _FILE), scores, 0.0)
    for document in np.argsort(-scores, kind="stable")[:_CANDIDATES].tolist():
        if scores[document] <= least:
            return
        score = round(min(float(scores[document]), 1.0), 4)  # words in a path can lift it above 1
        yield Candidate(document, score, {mode.value: score}, {mode.value: score}, None)


def _by_symbol(searcher: Searcher, asked: Asked) -> Iterator[Candidate]:
    """Declarations whose symbol has the letters of the query in their order, the closest first."""
    letters = _NOT_IN_NAMES.sub("", asked.query.text)
    corpus = searcher.corpus
    found: list[tuple[float, int, int]] = []
    for index, segment in enumerate(corpus.segments):
        declarations, scores = _fitting(segment, letters)
        chunks = segment.chunks_of(declarations) + int(corpus.chunk_bases[index])
        admitted = corpus.times_shown[chunks] > 0
        if asked.targets is not None:
            admitted &= asked.targets[declarations + int(corpus.declaration_bases[index])]
        found += zip(scores[admitted].tolist(), chunks[admitted].tolist(), declarations[admitted].tolist(), strict=True)
    found.sort(key=lambda each: -each[0])
    taken = 0
    for score, chunk, declaration in found:
        for document in corpus.documents_with(np.array([chunk])).tolist():
            if asked.documents[document]:
                taken += 1
                yield Candidate(document, score, {"symbol": score}, {"symbol": score}, declaration)
        if taken >= _CANDIDATES:
            return


def _fitting(segment: Segment, letters: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Declarations of a segment whose symbols fit, and how well; those that no chunk shows left out."""
    strings, names = segment.symbols
    wanted = re.compile(".*?".join(map(re.escape, letters)), re.IGNORECASE)
    scores = np.zeros(len(segment.strings))
    for string, name in zip(strings, names, strict=True):
        if wanted.search(name):
            scores[string] = _fit(name, letters)
    of_declarations = scores[segment.declarations["symbol"]]
    fitting = np.flatnonzero((of_declarations > 0) & (segment.declarations["chunk"] >= 0)).astype(np.int64)
    return fitting, of_declarations[fitting]


def _fit(name: str, letters: str) -> float:
    """1 for the name itself, then its beginning, a part of it, letters spread over it; shorter names first."""
    plain, wanted = _NOT_IN_NAMES.sub("", name).lower(), letters.lower()
    at = plain.find(wanted)
    if plain == wanted:
        base = 1.0
    elif at == 0:
        base = 0.9
    elif at > 0:
        base = 0.7
    else:
        base = 0.4
    return round(base - 0.2 * (1 - len(wanted) / max(len(plain), 1)), 4)
