"""Ranks documents: chooses candidates, measures signals of each, and weighs them by the form of the query.

The weights are data (`models/ranking.json`), fitted by `training/ranking.py` on questions with known answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.queries import Form, Query
from codesearch.retrieval import Lexical, NamedDeclaration, search_names
from codesearch.signals import (
    crowding,
    depths,
    file_evidence,
    for_other_systems,
    likely_meant,
    roles,
    words_in_files,
    words_in_names,
    words_in_paths,
    words_of_file_names,
)
from codesearch.types import Kind
from codesearch.view.corpus import Corpus
from codesearch.view.segment import KINDS, SYNTHETIC, kind_code, name_hash

WEIGHTS = Path(__file__).parent / "models" / "ranking.json"
CANDIDATES = 300  # documents that signals look at; of those shown first, 99.9 % are among the best 100 before it
OF_OTHER_HITS = frozenset({"overload", "crowding"})  # signals that depend on the hits ahead, not on the document alone
_ELSEWHERE = 0.6  # of the right name in another place than the one that was asked for
_SHORT_QUERY = 5  # terms; a longer query is a sentence, whose words in a name are an accident
# For choosing candidates only: what keywords count beside meaning, and an asked name beside both.
_KEYWORD_SHARE = {Form.IDENTIFIER: 0.7}
_OTHER_KEYWORD_SHARE = 0.45
_PATH_MEANING = 0.25  # of the path's vector, beside the text's
_NAME_BONUS, _WORDS_BONUS = 0.5, 0.3
_ROUGHNESS = 0.02  # more than rough and exact similarities differ by
_FILE = kind_code(Kind.FILE)
_CONSTRUCTOR = kind_code(Kind.CONSTRUCTOR)
_TEST = kind_code(Kind.TEST)
_REMAINDER = kind_code(Kind.REMAINDER)
_DATA = [kind_code(kind) for kind in (Kind.CONSTANT, Kind.VARIABLE, Kind.PROPERTY)]
_CALLABLES = [kind_code(kind) for kind in Kind if kind.is_callable]


@dataclass(frozen=True, slots=True)
class Weights:
    """What signals count for one form of query, in log-odds.

    `crowding` is what each hit of the same file ahead costs, `overload` each of the same name in it.
    """

    bias: float
    crowding: float
    overload: float
    signals: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Measured:
    """Candidate documents, in order of the corpus, the value of each signal for each, and asked declarations.

    `closest` is the cosine of the document that is nearest in meaning, whatever is admitted; 0 at least.
    """

    documents: NDArray[np.int64]
    signals: dict[str, NDArray[np.float64]]
    named: dict[int, int]
    closest: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked document: the odds that it answers as a share of 1, and what each signal added to their logarithm.

    `measured` are the signals themselves, before they are weighed. `copies` are the documents with the same text that
    it stands for, best first.
    """

    document: int
    score: float
    signals: dict[str, float]
    measured: dict[str, float]
    named: int | None  # the asked declaration that it holds, as an index within its segment
    copies: tuple[int, ...] = ()


@cache
def load_weights() -> dict[Form, Weights]:
    """The shipped weights."""
    table = json.loads(WEIGHTS.read_text("utf-8"))
    return {
        form: Weights(group["bias"], group["crowding"][form], group["overload"], group["weights"])
        for group in table["groups"].values()
        for form in map(Form, group["forms"])
    }


def rank(
    corpus: Corpus, query: Query, measured: Measured, *, collapsed: bool = True, kept: Sequence[int] = ()
) -> Iterator[Candidate]:
    """Candidates, best first; ties by path and line, so that equal content gives equal answers.

    `collapsed`: of documents with one text only the best is a candidate, except for those in `kept`.
    """
    weights = load_weights()[query.form]
    parts = {name: weight * measured.signals[name] for name, weight in weights.signals.items()}
    odds = odds_of(query, measured)
    place = places(corpus, measured.documents)
    stands_for = _copies(corpus, measured.documents, np.lexsort((place, -odds)), set(kept)) if collapsed else {}
    hidden = {copy for group in stands_for.values() for copy in group}
    shown = np.array([at for at in range(len(odds)) if at not in hidden], np.int64)
    documents, odds, place = measured.documents[shown], odds[shown], place[shown]
    parts = {name: values[shown] for name, values in parts.items()}
    counted = corpus.chunks["kind"][corpus.chunk_of[documents]] != _FILE
    parts["overload"] = crowding(odds, names(corpus, documents), place, counted, weights.overload)
    odds = odds + parts["overload"]
    parts["crowding"] = crowding(odds, corpus.file_of[documents], place, counted, weights.crowding)
    odds = odds + parts["crowding"]
    added = np.stack([*parts.values()], axis=1).round(4)
    values = np.stack([*measured.signals.values()], axis=1).round(4)
    for at in np.lexsort((place, -odds)).tolist():
        document = int(documents[at])
        before = int(shown[at])
        yield Candidate(
            document=document,
            score=float(1 / (1 + np.exp(-odds[at]))),
            signals={name: value for name, value in zip(parts, added[at].tolist(), strict=True) if value},
            measured={
                name: value for name, value in zip(measured.signals, values[before].tolist(), strict=True) if value
            },
            named=measured.named.get(document),
            copies=tuple(int(measured.documents[copy]) for copy in stands_for.get(before, ())),
        )


def odds_of(query: Query, measured: Measured) -> NDArray[np.float64]:
    """The logarithm of the odds of each candidate by itself, whatever the others are."""
    weights = load_weights()[query.form]
    odds = np.full(len(measured.documents), weights.bias)
    for name, weight in weights.signals.items():
        odds += weight * measured.signals[name]
    return odds


def measure(
    corpus: Corpus,
    query: Query,
    vector: NDArray[np.float32],
    lexical: Lexical,
    admitted: NDArray[np.bool_],
    also: Sequence[int] = (),
) -> Measured:
    """The signals of the documents that may answer; the names of the signals are those of the weights.

    The documents in `also` are measured even if they are no candidates.
    """
    rough = corpus.rough_similarities(vector)
    of_path = corpus.path_similarities(vector).astype(np.float64)
    exactness, named = _named(corpus, query, lexical)
    weighing = _Weighing(corpus, query, lexical, of_path, exactness)
    # All documents roughly, then twice as many as are wanted exactly: reading every vector is what takes the time.
    chosen = _best(weighing.estimates(rough, admitted), 2 * CANDIDATES)
    chosen = chosen[
        _best(weighing.scores(chosen, corpus.chunk_similarities(vector, corpus.chunk_of[chosen])), CANDIDATES)
    ]
    if also:
        chosen = np.union1d(chosen, np.array(also, np.int64))
    chunks, files = corpus.chunk_of[chosen], corpus.file_of[chosen]
    of_text = corpus.chunk_similarities(vector, chunks)
    rows = corpus.chunks[chunks]
    paths = [corpus.path(file) for file in files.tolist()]
    file_names = words_of_file_names(query, paths)
    callables = np.isin(rows["kind"], _CALLABLES)
    exact = weighing.exact(chosen)
    signals: dict[str, NDArray[Any]] = {
        "keywords": lexical.scores_of(chosen),
        "meaning": of_text,
        "path_meaning": of_path[files],
        "exact_name": exact,
        "same_words": weighing.alike(chunks),
        "name_words": words_in_names(lexical, chunks),
        "file_words": words_in_files(lexical, corpus, files),
        "path_words": words_in_paths(lexical, files, corpus.file_count),
        "file_name": file_names,
        "exact_in_file": (exact > 0) * file_names,  # `Query` in query.ex, not where it is reopened
        "depth": depths(paths),
        "other_system": for_other_systems(query, paths),
        "file_evidence": file_evidence(weighing.scores(chosen, of_text), files),
        "callable": callables,
        "constructor": rows["kind"] == _CONSTRUCTOR,
        "loose": (rows["kind"] == _REMAINDER) & (rows["declaration"] < 0),
        "nested": callables & ((rows["flags"] & SYNTHETIC) != 0),
        "data": np.isin(rows["kind"], _DATA) & (exact == 0),
        "size": np.log1p(rows["lengths"].sum(axis=1)),
        **roles(corpus.roles[files], rows["kind"] == _TEST, query),
    }
    nearest = np.flatnonzero(rough >= rough.max(initial=0.0) - _ROUGHNESS)
    closest = float(corpus.chunk_similarities(vector, nearest).max(initial=0.0))
    return Measured(chosen, {name: values.astype(np.float64) for name, values in signals.items()}, named, closest)


@dataclass(frozen=True, eq=False)
class _Weighing:
    """Keywords, meaning and asked names in one number, by which candidates are chosen."""

    corpus: Corpus
    query: Query
    lexical: Lexical
    of_path: NDArray[np.float64]
    exactness: dict[int, float]

    @property
    def keyword_share(self) -> float:
        return _KEYWORD_SHARE.get(self.query.form, _OTHER_KEYWORD_SHARE)

    def alike(self, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far names and query are the same words; 0 for a query that is a sentence."""
        return self.lexical.alike(chunks) if len(self.query.terms) <= _SHORT_QUERY else np.zeros(len(chunks))

    def exact(self, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """How exactly each document defines an asked symbol."""
        places = {document: at for at, document in enumerate(documents.tolist())} if self.exactness else {}
        result = np.zeros(len(documents))
        for document in places.keys() & self.exactness:
            result[places[document]] = self.exactness[document]
        return result

    def scores(self, documents: NDArray[np.int64], of_text: NDArray[np.float32]) -> NDArray[np.float64]:
        """The number for some documents, whose similarities are given."""
        chunks, files = self.corpus.chunk_of[documents], self.corpus.file_of[documents]
        meaning = (of_text + _PATH_MEANING * self.of_path[files]) / (1 + _PATH_MEANING)
        both = self.keyword_share * self.lexical.scores_of(documents) + (1 - self.keyword_share) * np.maximum(
            meaning, 0
        )
        return both + _NAME_BONUS * self.exact(documents) + _WORDS_BONUS * self.alike(chunks)

    def estimates(self, of_text: NDArray[np.float32], admitted: NDArray[np.bool_]) -> NDArray[np.float32]:
        """About the number for every document, from rough similarities of every chunk; minus infinity if not admitted.

        Each step over all documents counts in a large repository, so there are few of them.
        """
        corpus, lexical = self.corpus, self.lexical
        meant = (1 - self.keyword_share) / (1 + _PATH_MEANING)
        of_files = meant * _PATH_MEANING * self.of_path + self.keyword_share * lexical.of_files
        result: NDArray[np.float32] = of_files.astype(np.float32)[corpus.file_of]
        result += np.float32(meant) * corpus.per_document(of_text)
        having = corpus.documents_with(lexical.chunks)
        chunks = corpus.chunk_of[having]
        words = self.keyword_share * lexical.of_chunks[chunks] + _WORDS_BONUS * self.alike(chunks)
        result[having] += words.astype(np.float32)
        for document, exactness in self.exactness.items():
            result[document] += np.float32(_NAME_BONUS * exactness)
        if not admitted.all():
            result[~admitted] = -np.inf
        return result


def names(corpus: Corpus, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each document, equal for those of one file whose declarations have one qualified name."""
    chunks, files = corpus.chunk_of[documents], corpus.file_of[documents]
    result = -1 - np.arange(len(documents))
    for index, segment in enumerate(corpus.segments):
        base = int(corpus.chunk_bases[index])
        inside = np.flatnonzero((chunks >= base) & (chunks < base + len(segment.chunks)))
        local = chunks[inside] - base
        declared = segment.chunks["declaration"][local].astype(np.int64)
        first = segment.units["first_declaration"][segment.unit_of_chunk[local]].astype(np.int64)
        known = declared >= 0
        qualified = segment.declarations["qualified"][(first + declared)[known]].astype(np.int64)
        result[inside[known]] = (files[inside[known]] << 32) + qualified
    return result


def copies(corpus: Corpus, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each document, equal for those with one text."""
    keys = np.ascontiguousarray(corpus.chunks["key"][corpus.chunk_of[documents]])
    return np.unique(keys.view(f"V{keys.itemsize * keys.shape[1]}").ravel(), return_inverse=True)[1].astype(np.int64)


def _copies(
    corpus: Corpus, documents: NDArray[np.int64], order: NDArray[np.int64], kept: set[int]
) -> dict[int, list[int]]:
    """For the first of each text in an order, the later ones; all as places in `documents`. Those kept stand alone."""
    groups = copies(corpus, documents).tolist()
    first: dict[int, int] = {}
    later: dict[int, list[int]] = {}
    for at in order.tolist():
        leader = first.setdefault(groups[at], at)
        if leader != at and int(documents[at]) not in kept:
            later.setdefault(leader, []).append(at)
    return later


def places(corpus: Corpus, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each document by path and start, which settles ties."""
    files = corpus.file_of[documents].tolist()
    paths = {file: corpus.path(file) for file in set(files)}
    rank = {file: number for number, file in enumerate(sorted(paths, key=paths.__getitem__))}
    by_path = np.array([rank[file] for file in files], np.int64)
    starts = corpus.chunks["start"][corpus.chunk_of[documents]]
    order = np.lexsort((documents, starts, by_path))
    result = np.empty(len(documents), np.int64)
    result[order] = np.arange(len(documents))
    return result


def _named(corpus: Corpus, query: Query, lexical: Lexical) -> tuple[dict[int, float], dict[int, int]]:
    """How exactly documents define an asked symbol, and the declaration (within its segment) that each defines."""
    exactness: dict[int, float] = {}
    named: dict[int, int] = {}
    by_chunk: dict[int, list[tuple[float, NamedDeclaration]]] = {}
    for index, matches in groupby(search_names(corpus, query, lexical.terms), key=lambda match: match.segment):
        segment, here = corpus.segments[index], [*matches]
        declarations = np.array([match.declaration for match in here])
        chunks = segment.chunks_of(declarations) + int(corpus.chunk_bases[index])
        kinds = segment.declarations["kind"][declarations]
        for match, chunk, kind in zip(here, chunks.tolist(), kinds.tolist(), strict=True):
            by_chunk.setdefault(chunk, []).append((match.exactness * likely_meant(KINDS[kind]), match))
    for document in corpus.documents_with(np.array(sorted(by_chunk), np.int64)).tolist():
        for strength, match in by_chunk[int(corpus.chunk_of[document])]:
            if match.missing and not match.missing <= _path_names(corpus, int(corpus.file_of[document])):
                strength *= _ELSEWHERE
            if strength > exactness.get(document, 0.0):
                exactness[document], named[document] = strength, match.declaration
    return exactness, named


def _path_names(corpus: Corpus, file: int) -> set[int]:
    """Hashes of the folder and file names of a path, suffixes aside."""
    return {name_hash(part.partition(".")[0]) for part in corpus.path(file).split("/")}


def _best(scores: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    """Indices of the best finite scores, with all that tie with the last one: the choice never depends on order."""
    threshold = np.partition(scores, len(scores) - count)[len(scores) - count] if len(scores) > count else -np.inf
    if threshold == -np.inf:
        return np.flatnonzero(scores > -np.inf)
    chosen = np.flatnonzero(scores >= threshold)
    if len(chosen) > 4 * count:  # a crowd of equals at the border: none of them stands out
        better = np.flatnonzero(scores > threshold)
        chosen = better if len(better) else chosen[: 4 * count]
    return chosen
