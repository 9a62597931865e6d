"""The declarations closest to one: by the vectors of both, and by the words that they share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codesearch.duplication import are_near_copies, shingles
from codesearch.filtering import admitted
from codesearch.queries import Form, Query, QueryTerm
from codesearch.ranking import Candidate
from codesearch.retrieval import search_words
from codesearch.searching import Asked, Found, Searcher, numbered, page
from codesearch.targets import Target
from codesearch.terms import count_terms, is_whole
from codesearch.types import Copy, Filters, Hit, Kind
from codesearch.view.segment import kind_code

_TERMS = 40  # of the declaration, those that say most about it
_CANDIDATES = 200
_FILE = kind_code(Kind.FILE)


def similar(
    searcher: Searcher, target: Target, lines: str, limit: int, filters: Filters
) -> tuple[list[Hit], list[Copy]]:
    """Hits for what is most like a declaration, and its copies; neither has the declaration itself.

    `lines` is its text. A hit's score is the mean of the cosine of both vectors and of the share of the declaration's
    rarest words that the hit has, weighted by rarity.
    """
    corpus = searcher.corpus
    chunks = corpus.chunk_of[list(target.documents)]
    vector = corpus.vectors(chunks).sum(axis=0)
    vector /= max(float(np.linalg.norm(vector)), 1e-9)
    asked = _asked(searcher, lines, vector, filters)
    meaning = np.maximum(corpus.chunk_similarities(vector)[corpus.chunk_of].astype(np.float64), 0.0)
    words = np.minimum(asked.lexical.scores, 1.0)
    scores = np.where(asked.documents & (corpus.chunks["kind"][corpus.chunk_of] != _FILE), (meaning + words) / 2, -1.0)
    best = np.argsort(-scores, kind="stable")[:_CANDIDATES]
    candidates = (
        Candidate(document, float(scores[document]), signals, signals, None)
        for document in best.tolist()
        if scores[document] > 0
        for signals in [{"meaning": round(float(meaning[document]), 4), "words": round(float(words[document]), 4)}]
    )
    own = shingles(lines.split("\n"))
    path, symbol = corpus.path(target.file), target.symbol
    copies: list[Copy] = []

    def others() -> Iterator[Found]:
        for found in searcher.verified(candidates, asked):
            hit = found.hit
            if hit.path == path and hit.start_line <= target.last and target.first <= hit.end_line:
                continue  # itself, what is around it, what is inside it
            is_near = hit.symbol == symbol and are_near_copies(own, found.shingles)
            if is_near or "\n".join(found.lines) == lines:
                copies.append(Copy(hit.path, hit.start_line, hit.end_line, hit.symbol))
            else:
                yield found

    return list(numbered(page(others(), limit))), copies


def _asked(searcher: Searcher, lines: str, vector: np.ndarray, filters: Filters) -> Asked:
    """The declaration as a query of its rarest words."""
    corpus = searcher.corpus
    count = max(len(corpus), 1)
    weighed = {}
    for term, times in count_terms(lines).items():
        if is_whole(term):
            continue
        shown = corpus.times_shown[np.unique(corpus.find_term(term)[0])].sum()
        weighed[term] = np.log1p(times) * np.log1p(count / (shown + 0.5))
    chosen = sorted(weighed, key=lambda term: (-weighed[term], term))[:_TERMS]
    query = Query(
        text=" ".join(chosen), terms=tuple(QueryTerm(term, 1.0) for term in chosen), compounds=(), names=(),
        form=Form.PHRASE,
    )  # fmt: skip
    documents, targets = admitted(corpus, filters, searcher.find_spans)
    return Asked(query, search_words(corpus, query), vector, documents, targets)
