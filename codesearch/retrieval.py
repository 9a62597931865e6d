"""Finds documents by the words and by the names of a query; by meaning, the corpus itself compares vectors.

Scores are absolute: 1 is the most that a document could reach, so that they can be compared between queries and
nothing looks perfect for want of better.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from codesearch.queries import AskedName, Form, Query, QueryTerm
from codesearch.terms import WHOLE, is_whole, name_parts, own_name
from codesearch.view.corpus import Corpus
from codesearch.view.segment import FIELDS, name_hash

# BM25F: how much an occurrence counts in each of FIELDS (symbol, parents, signature, doc, body) …
FIELD_WEIGHTS = np.array([4.0, 1.5, 1.0, 1.5, 1.0])
# … and how strongly a field's length is held against it (0: not at all).
FIELD_LENGTH = np.array([0.5, 0.3, 0.5, 0.6, 0.5])
_SYMBOL, _PARENTS = FIELDS.index("symbol"), FIELDS.index("parents")
NAME_POWER = 3  # a name must have nearly all of the query to count: every question has some short name's word
K1 = 1.2  # of BM25: how soon repeating a term stops helping; the textbook value
PATH_WEIGHT = 0.5  # of words in the path, beside words in the text
PATH_LENGTH = 0.5
ABBREVIATIONS = Path(__file__).parent / "models" / "abbreviations.json"  # made by training/abbreviations.py
_NOWHERE = np.zeros(0, np.int64)

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SHORTEST_TYPO = 5  # below that, one wrong letter makes another word
NEAR_WEIGHT = 0.7  # of a near word, against the word itself
OTHER_SPELLING = 0.65  # of a symbol in another case, beside the same name as it was typed, whatever its kind
FORM_WEIGHT = 0.5  # of another form of a word
_SHORTEST_STEM = 4  # "string" is no form of "str"
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "r", "or", "ion", "ions", "al", "ly")


@dataclass(frozen=True, eq=False)
class FoundTerm:
    """Where a sub-word of the query was found: chunks that have it, chunks whose name has it, files by their path."""

    rarity: float
    chunks: NDArray[np.int64]
    named: NDArray[np.int64]
    files: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lexical:
    """Keyword scores, and the rarity of each query term (0 where it does not occur).

    Scores stand in arrays over all chunks and files, most of them 0: `chunks` are those that have a word of the query
    and are shown, in order. Work on these alone is what keeps a search of a large repository quick.
    """

    corpus: Corpus
    terms: tuple[QueryTerm, ...]
    rarity: NDArray[np.float64]
    found: tuple[FoundTerm, ...]
    chunks: NDArray[np.int64]
    of_chunks: NDArray[np.float64]
    of_files: NDArray[np.float64]
    _in_name: NDArray[np.float64]  # share of the query's rarity in a chunk's symbol and parents
    _in_symbol: NDArray[np.float64]  # number of the query's terms in a chunk's symbol

    @property
    def rarity_found(self) -> float:
        """The rarity of all sub-words that were found, more than 0."""
        return sum(each.rarity for each in self.found) or 1.0

    @property
    def any_known(self) -> bool:
        """Whether at least one word of the query, or a near one, occurs at all."""
        return bool((self.rarity > 0).any())

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The score of every document."""
        return self.scores_of(np.arange(len(self.corpus)))

    def scores_of(self, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of some documents, for the words of their text and of their path."""
        corpus = self.corpus
        return self.of_chunks[corpus.chunk_of[documents]] + self.of_files[corpus.file_of[documents]]

    def alike(self, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far a chunk's symbol (with its parents) and the query are the same words.

        The share of the query's rarity that stands in the name, times the share of the symbol that the query has.
        """
        lengths = np.maximum(self.corpus.chunks["lengths"][chunks, _SYMBOL], 1)
        has_query = self._in_name[chunks] ** NAME_POWER
        alike: NDArray[np.float64] = has_query * np.minimum(self._in_symbol[chunks] / lengths, 1.0)
        return alike


def search_words(corpus: Corpus, query: Query) -> Lexical:
    """BM25 over weighted fields (Robertson, Zaragoza, Taylor 2004), and over path words; 1 at most.

    The forms of a word (plural, participle) count as one term, the form that was asked for more than the others.
    """
    count = max(len(corpus), 1)
    finder = _Finder(corpus)
    chunk_scores, in_name, in_symbol = (np.zeros(len(corpus.chunks)) for _ in range(3))
    having = np.zeros(len(corpus.chunks), bool)
    file_scores = np.zeros(corpus.file_count)
    possible = 0.0
    rarities = []
    found = []
    terms = _with_near_words(corpus, query.terms)
    listed = set(corpus.known_terms([term.term for term in query.compounds]))
    optional = [term for term in query.compounds if term.term in listed and corpus.has_term(term.term)]
    for index, wanted in enumerate([*terms, *optional]):
        each, weighted, in_names, in_symbols, files = finder.find(wanted.term)
        shown = int(corpus.times_shown[each].sum())
        rarity = float(np.log1p((count - shown + 0.5) / (shown + 0.5)))
        if shown:
            chunk_scores[each] += wanted.weight * rarity * weighted / (K1 + weighted)
            having[each] = True
            if index < len(terms):
                in_name[in_names] += rarity
            in_symbol[in_symbols] += 1
        if len(files):
            length = 1 - PATH_LENGTH + PATH_LENGTH * corpus.path_lengths[files] / corpus.path_average
            total = corpus.alive_files.sum()
            path_rarity = float(np.log1p((total - len(files) + 0.5) / (len(files) + 0.5)))
            file_scores[files] += wanted.weight * path_rarity / (1 + K1 * length)
        if index < len(terms):
            possible += rarity
        rarities.append(rarity * wanted.weight if shown or len(files) else 0.0)
        if rarities[-1] and not is_whole(wanted.term):
            found.append(FoundTerm(rarities[-1], each if shown else _NOWHERE, in_names if shown else _NOWHERE, files))
    possible = max(possible, 1e-9)
    having = np.flatnonzero(having)
    chunk_scores[having] /= possible
    in_name[having] /= possible
    return Lexical(
        corpus=corpus,
        terms=(*terms, *optional),
        rarity=np.array(rarities),
        found=tuple(found),
        chunks=having[corpus.times_shown[having] > 0],
        of_chunks=chunk_scores,
        of_files=PATH_WEIGHT * file_scores / possible,
        _in_name=in_name,
        _in_symbol=in_symbol,
    )


class _Matches(NamedTuple):
    """Where a term stands: chunks with its weighted count there, those with it in their name or symbol, files."""

    chunks: NDArray[np.int64]
    weighted: NDArray[np.float64]
    in_names: NDArray[np.int64]
    in_symbols: NDArray[np.int64]
    files: NDArray[np.int64]


class _Finder:
    """Looks terms up in all their forms; one for each query."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._lengths = corpus.chunks["lengths"]
        self._scale = FIELD_LENGTH / corpus.average_lengths
        self._sums = np.zeros(len(corpus.chunks))  # all 0 between terms: fresh memory for each one costs more

    def find(self, term: str) -> _Matches:
        """A term and its other forms together; all in order, each number once."""
        single = self._find_form(term, 1.0)
        forms = [] if is_whole(term) else self._corpus.known_terms(_close_forms(term))
        if not forms:
            return single
        # Forms are added up in the order of their letters, so that sums do not depend on the corpus.
        every = [single, *(self._find_form(form, FORM_WEIGHT) for form in forms)]
        chunks, in_names, in_symbols = (
            _union([getattr(each, name) for each in every], len(self._sums))
            for name in ("chunks", "in_names", "in_symbols")
        )
        for each in every:
            self._sums[each.chunks] += each.weighted
        weighted = self._sums[chunks]
        self._sums[chunks] = 0
        files = _union([each.files for each in every], self._corpus.file_count)
        return _Matches(chunks, weighted, in_names, in_symbols, files)

    def _find_form(self, term: str, weight: float) -> _Matches:
        chunks, fields, counts = self._corpus.find_term(term)
        files = self._corpus.find_path_term(term)
        if not len(chunks):
            return _Matches(_NOWHERE, np.zeros(0), _NOWHERE, _NOWHERE, files)
        longer = (1 - FIELD_LENGTH)[fields] + self._scale[fields] * self._lengths[chunks, fields]  # than usual
        starts = _starts(chunks)
        weighted = np.add.reduceat(counts * (weight * FIELD_WEIGHTS)[fields] / longer, starts)
        named = chunks[fields <= _PARENTS]
        return _Matches(chunks[starts], weighted, named[_starts(named)], chunks[fields == _SYMBOL], files)


def _union(parts: Sequence[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """The numbers below `size` of several lists, in order; for long lists quicker than sorting them."""
    there = np.zeros(size, bool)
    for part in parts:
        there[part] = True
    return np.flatnonzero(there)


def _starts(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each number begins in an ordered list of them."""
    changes = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return np.flatnonzero(changes)


@dataclass(frozen=True, slots=True)
class NamedDeclaration:
    """A declaration whose symbol was asked for: its segment and its index there.

    `exactness` (0 to 1) says how well the name matches and how much of the query it makes up. `missing` are the
    name hashes of outer names that were asked for (`sync` in `sync::Mutex`) and do not enclose the declaration; its
    path may have them.
    """

    segment: int
    declaration: int
    exactness: float
    missing: frozenset[int]


def search_names(corpus: Corpus, query: Query, looked_up: Sequence[QueryTerm]) -> list[NamedDeclaration]:
    """Declarations that are named in the query, in any spelling; the same spelling is the most exact.

    `looked_up` are the terms that were found for the query's: a misspelt identifier stands there as it is spelt.
    """
    found: list[NamedDeclaration] = []
    asked_for = set(query.terms)
    respelt = [
        AskedName(term.term.removeprefix(WHOLE), term.weight)
        for term in looked_up
        if is_whole(term.term) and query.form is Form.IDENTIFIER and term not in asked_for
        if term not in query.compounds
    ]
    for asked in [*query.names, *respelt]:
        *outer, last = name_parts(asked.name)
        wanted = np.uint64(name_hash(last))
        qualifiers = frozenset(name_hash(part) for part in outer)
        for index, segment in enumerate(corpus.segments):
            hashes, order = segment.by_name
            start, end = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, side="right")
            for declaration in order[start:end].tolist():
                row = segment.declarations[declaration]
                if int(row["chunk"]) < 0:
                    continue
                same = own_name(segment.strings[int(row["symbol"])]) == last
                exactness = (1.0 if same else OTHER_SPELLING) * asked.share
                missing = qualifiers
                if qualifiers:
                    around = name_parts(segment.strings[int(row["qualified"])])
                    missing = qualifiers - {name_hash(part) for part in around}
                found.append(NamedDeclaration(index, declaration, exactness, missing))
    return found


def _with_near_words(corpus: Corpus, terms: Sequence[QueryTerm]) -> list[QueryTerm]:
    """The terms, each that occurs nowhere replaced by its nearest words that do."""
    result: list[QueryTerm] = []
    listed = set(corpus.known_terms([term.term for term in terms]))
    for wanted in terms:
        result.append(wanted)
        if wanted.term in listed and corpus.has_term(wanted.term):
            continue
        near = []
        if not is_whole(wanted.term):
            forms = [*_inflections(wanted.term), *abbreviations().get(wanted.term, ())]
            near = [form for form in corpus.known_terms(forms) if corpus.has_term(form)]
        if not near and len(wanted.term) >= _SHORTEST_TYPO:
            near = _known_typos(corpus, wanted.term)
        if near:
            result.pop()
            result.extend(QueryTerm(term, NEAR_WEIGHT * wanted.weight) for term in near[:3])
    return result


def _close_forms(word: str) -> list[str]:
    """Plural, past and -ing forms of an English word, and what it would be such a form of."""
    stems = {word}
    for ending in ("ing", "ed", "es", "s"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST_STEM and not (ending == "s" and stem.endswith("s")):
            stems.add(stem)
            if ending in {"ing", "ed"}:
                stems.add(stem + "e")
                if stem[-1] == stem[-2]:
                    stems.add(stem[:-1])
            if ending in {"es", "ed"} and stem.endswith("i"):
                stems.add(stem[:-1] + "y")
    forms = set(stems)
    for stem in stems:
        if len(stem) < _SHORTEST_STEM:
            continue
        forms.update((stem + "s", stem + "es", stem + "ed", stem + "ing"))
        if stem.endswith("e"):
            forms.update((stem + "d", stem[:-1] + "ing"))
        if stem.endswith("y"):
            forms.update((stem[:-1] + "ies", stem[:-1] + "ied"))
    forms.discard(word)
    return sorted(forms)


@cache
def abbreviations() -> dict[str, tuple[str, ...]]:
    """For short forms of words in code (`ctx`) the words that they stand for, and for words their short forms.

    Only for words that occur nowhere: looking up `auth` for every "authentication" found no more declarations and
    put other files first (docs/measurements.md).
    """
    table: dict[str, list[str]] = json.loads(ABBREVIATIONS.read_text("utf-8"))
    both = {short: tuple(words) for short, words in table.items()}
    for short, words in table.items():
        for word in words:
            both[word] = (*both.get(word, ()), short)
    return both


def _inflections(word: str) -> Iterator[str]:
    """Other forms of an English word that may occur: plural, participle, agent, doubled and dropped letters."""
    stems = {word}
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            stems.update((stem, stem + "e"))
            if stem.endswith("i"):
                stems.add(stem[:-1] + "y")
            if len(stem) > 3 and stem[-1] == stem[-2]:
                stems.add(stem[:-1])
    for stem in sorted(stems, key=lambda stem: (-len(stem), stem)):
        if stem != word:
            yield stem
        for ending in _ENDINGS:
            yield stem + ending
        if stem.endswith("y"):
            yield stem[:-1] + "ies"
        if stem.endswith("e"):
            yield stem[:-1] + "ing"


def _known_typos(corpus: Corpus, word: str) -> list[str]:
    """Words of the corpus that are one insertion, deletion, replacement or swap away, found by hashing them all."""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    edits = {head + tail[1:] for head, tail in splits if tail}
    edits.update(head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1)
    edits.update(head + letter + tail[1:] for head, tail in splits if tail for letter in _LETTERS)
    edits.update(head + letter + tail for head, tail in splits for letter in _LETTERS)
    edits.discard(word)
    if is_whole(word):  # a whole identifier stays one
        edits = {edit for edit in edits if is_whole(edit)}
    candidates = sorted(edits)
    return [edit for edit in corpus.known_terms(candidates) if corpus.has_term(edit)]


assert len(FIELD_WEIGHTS) == len(FIELD_LENGTH) == len(FIELDS)
