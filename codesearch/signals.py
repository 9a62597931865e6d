"""Named, pure measures of what speaks for or against a document: what code knows and text search does not.

Each takes arrays over the candidate documents and returns one value for each; `ranking` weighs them, and `--explain`
shows what each added under these names.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codesearch.queries import Query
from codesearch.retrieval import Lexical
from codesearch.roles import Role
from codesearch.terms import is_whole, split_identifier, words
from codesearch.types import Kind
from codesearch.view.corpus import Corpus

# A word of the query that asks for files of a role, which then do not give way.
_ASKED_BY = {
    Role.TEST: {"test", "tests", "spec", "fixture", "fixtures", "mock", "mocks"},
    Role.EXAMPLE: {"example", "examples", "sample", "demo", "benchmark", "tutorial"},
    Role.VENDORED: {"vendor", "vendored"},
    Role.GENERATED: {"generated"},
    Role.DOCS: {"docs", "documentation", "readme", "guide", "changelog"},
}
_FILE_BEST = 3  # documents of a file that are evidence for it
_LIKELY_MEANT = {
    Kind.CONSTRUCTOR: 0.6,
    Kind.IMPL: 0.6,
    Kind.EXTENSION: 0.7,
    Kind.MODULE: 0.7,
    Kind.NAMESPACE: 0.7,
    Kind.PROPERTY: 0.7,
    Kind.VARIABLE: 0.7,
    Kind.TEST: 0.6,
    Kind.SECTION: 0.5,
}
CROWD = 2  # hits of a file after which a further one is held back no more: a large file can hold the answer as well
# The longest that fits is taken off; coarser than the endings of a search for words: it only compares names.
_ENDINGS = tuple(
    sorted(
        """s es ies ed ing ings er ers or ors y e ion ions ation ations ition itions ator ators ating ated ate ize ized
        izing izer izers ization izations able ables ment ments ive ives""".split(),  # noqa: SIM905
        key=len,
        reverse=True,
    )
)
_SHORTEST_STEM = 4
# Names of folders for one operating system, by the beginning of sys.platform.
_SYSTEMS = {
    "linux": {"linux", "unix", "posix"},
    "darwin": {"darwin", "macos", "osx", "unix", "posix"},
    "win": {"win", "windows", "win32"},
}
# File names that say nothing themselves: the folder names what is inside.
_NAMELESS = frozenset({"index", "mod", "init", "__init__", "lib", "main"})


def file_evidence(scores: NDArray[np.float64], files: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each candidate the mean of the best three scores in its file: a file about the question lifts its parts."""
    order = np.lexsort((-scores, files))
    sorted_files, sorted_scores = files[order], scores[order]
    starts = np.flatnonzero(np.diff(sorted_files, prepend=-1))
    counts = np.diff(np.append(starts, len(order)))
    place = np.arange(len(order)) - np.repeat(starts, counts)
    best = np.where(place < _FILE_BEST, sorted_scores, 0.0)
    means = np.add.reduceat(best, starts) / _FILE_BEST if len(starts) else np.zeros(0)
    result = np.empty(len(scores))
    result[order] = np.repeat(means, counts)
    return result


def words_in_names(lexical: Lexical, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of the query's rarity whose words stand in a chunk's symbol or its parents'."""
    result = np.zeros(len(chunks))
    for found in lexical.found:
        result += found.rarity * _among(found.named, chunks)
    return result / lexical.rarity_found


def words_in_files(lexical: Lexical, corpus: Corpus, files: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of the query's rarity whose words stand anywhere in a candidate's file."""
    distinct, place = np.unique(files, return_inverse=True)
    documents = corpus.documents_in(distinct)
    chunks = corpus.chunk_of[documents]
    starts = np.searchsorted(corpus.file_of[documents], distinct)
    result = np.zeros(len(distinct))
    for found in lexical.found:
        result += found.rarity * np.logical_or.reduceat(_among(found.chunks, chunks), starts)
    return result[place] / lexical.rarity_found


def _among(ordered: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the wanted numbers are among those that stand in order."""
    if not len(ordered):
        return np.zeros(len(wanted), bool)
    at = np.searchsorted(ordered, wanted)
    there: NDArray[np.bool_] = ordered[np.minimum(at, len(ordered) - 1)] == wanted
    return there


def words_in_paths(lexical: Lexical, files: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """The share of the query's rarity whose words stand in a candidate's path."""
    result = np.zeros(count)
    for found in lexical.found:
        result[found.files] += found.rarity
    return result[files] / lexical.rarity_found


def words_of_file_names(query: Query, paths: Sequence[str]) -> NDArray[np.float64]:
    """The share of a file name's words that the query has in some form; the folder's where a file is only `index`."""
    asked = {stem_of(term.term) for term in query.terms if not is_whole(term.term)}
    shares = {path: _share(_stems_of_file_name(path), asked) for path in dict.fromkeys(paths)}
    return np.array([shares[path] for path in paths])


def _share(parts: Sequence[str], asked: set[str]) -> float:
    return 0.0 if asked.isdisjoint(parts) else sum(part in asked for part in parts) / len(parts)


@lru_cache(maxsize=100_000)
def _stems_of_file_name(path: str) -> tuple[str, ...]:
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0] or name
    if stem.lower() in _NAMELESS and folders:
        stem = folders[-1]
    return tuple(stem_of(part) for word in words(stem) for part in split_identifier(word))


@lru_cache(maxsize=100_000)
def stem_of(word: str) -> str:
    """A word without its English ending, so that router, routing, routes and route are one; no word by itself."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def depths(paths: Sequence[str]) -> NDArray[np.float64]:
    """How many folders a file lies in, as a logarithm: of two namesakes the outer one is meant more often."""
    return np.log1p([path.count("/") for path in paths])


def for_other_systems(query: Query, paths: Sequence[str]) -> NDArray[np.bool_]:
    """Which files are for another operating system than this one, by their folders, unless the query names a system."""
    asked = {term.term for term in query.terms}
    if not asked.isdisjoint(set().union(*_SYSTEMS.values())):
        return np.zeros(len(paths), bool)
    own = next((words for name, words in _SYSTEMS.items() if sys.platform.startswith(name)), set())
    others = set().union(*_SYSTEMS.values()) - own
    known = {path: not others.isdisjoint(path.lower().split("/")[:-1]) for path in dict.fromkeys(paths)}
    return np.array([known[path] for path in paths], bool)


def roles(given: NDArray[np.uint8], tests: NDArray[np.bool_], query: Query) -> dict[str, NDArray[np.bool_]]:
    """Which candidates are tests, examples, vendored or generated code, or documents, unless those are asked for."""
    asked = {term.term for term in query.terms}
    none = np.zeros(len(given), bool)
    bits = {role: (given & int(role)) != 0 for role in _ASKED_BY}
    bits[Role.TEST] |= tests  # a test may stand beside the code that it tests
    return {str(role.name).lower(): none if asked & _ASKED_BY[role] else having for role, having in bits.items()}


def likely_meant(kind: Kind) -> float:
    """How likely a bare name means a declaration of this kind: `Mutex` is the type, not its impl or constructor."""
    return _LIKELY_MEANT.get(kind, 1.0)


def crowding(
    scores: NDArray[np.float64],
    groups: NDArray[np.int64],
    places: NDArray[np.int64],
    counted: NDArray[np.bool_],
    cost: float,
) -> NDArray[np.float64]:
    """Each further hit of one group (a file, a name, a text) is held back; only `counted` documents hold others back.

    `places` settle which of two equal scores comes first.
    """
    order = np.lexsort((places, -scores, groups))
    starts = np.flatnonzero(np.diff(groups[order], prepend=groups.min(initial=0) - 1))
    before: NDArray[np.int64] = np.cumsum(counted[order]) - counted[order]  # counted ones ahead, over all groups
    ahead = np.empty(len(scores), np.int64)
    ahead[order] = before - np.repeat(before[starts], np.diff(np.append(starts, len(order))))
    held: NDArray[np.float64] = -cost * np.minimum(ahead, CROWD)
    return held
