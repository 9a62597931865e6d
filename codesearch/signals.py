"""Named, pure adjustments of scores: what code knows about itself and text search does not.

Each takes arrays over the candidate documents and returns what is added to their scores; `--explain` shows them
under these names.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codesearch.queries import Form, Query
from codesearch.roles import Role
from codesearch.types import Kind

# What a role costs, as a share of the score.
DEMOTIONS = (
    (Role.TEST, 0.25),
    (Role.EXAMPLE, 0.2),
    (Role.VENDORED, 0.3),
    (Role.GENERATED, 0.2),
    (Role.DOCS, 0.15),
)
# A word of the query that asks for such files, and lifts the demotion.
_ASKED_BY = {
    Role.TEST: {"test", "tests", "spec", "fixture", "fixtures", "mock", "mocks"},
    Role.EXAMPLE: {"example", "examples", "sample", "demo", "benchmark", "tutorial"},
    Role.VENDORED: {"vendor", "vendored"},
    Role.GENERATED: {"generated"},
    Role.DOCS: {"docs", "documentation", "readme", "guide", "changelog"},
}
FILE_WEIGHT = 0.3  # of the mean of a file's best three documents
_FILE_BEST = 3
CONTAINER_COST = 0.2
LOOSE_COST = 0.25
DATA_COST = 0.15
NESTED_COST = 0.15
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
SAME_WORDS = 0.3  # for a name that has all words of the query and no others …
_SHORT_QUERY = 5  # … where the query has at most so many terms: a longer one is a sentence
EXACT_NAME = 0.5  # the asked symbol's own definition outranks any mention of it
CROWD = 2  # hits of a file after which a further one is held back no more: a large file can hold the answer as well
# The factor on each further hit of a file: a command asks for one declaration wherever it is, the others for a place.
CROWDING = {Form.COMMAND: 1.0, Form.QUESTION: 0.75, Form.PHRASE: 0.85, Form.IDENTIFIER: 0.8}


def file_evidence(scores: NDArray[np.float64], files: NDArray[np.int64]) -> NDArray[np.float64]:
    """A share of the mean of the best three candidates in the same file: a file about the question lifts its parts."""
    order = np.lexsort((-scores, files))
    sorted_files, sorted_scores = files[order], scores[order]
    starts = np.flatnonzero(np.diff(sorted_files, prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    best = np.where(place < _FILE_BEST, sorted_scores, 0.0)
    means = np.add.reduceat(best, starts) / _FILE_BEST if len(starts) else np.zeros(0)
    result = np.empty(len(scores))
    result[order] = np.repeat(means, np.diff(np.append(starts, len(order))))
    return FILE_WEIGHT * result


def role_demotion(scores: NDArray[np.float64], roles: NDArray[np.uint8], query: Query) -> NDArray[np.float64]:
    """Tests, examples, vendored and generated files and documents give way to the code itself, unless asked for."""
    asked = {term.term for term in query.terms}
    factor = np.ones(len(scores))
    for role, cost in DEMOTIONS:
        if not asked & _ASKED_BY[role]:
            factor[(roles & int(role)) != 0] *= 1 - cost
    return scores * (factor - 1)


def shape_demotion(
    scores: NDArray[np.float64],
    loose: NDArray[np.bool_],
    data: NDArray[np.bool_],
    nested: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Import lists and other loose code, data, and functions inside functions give way to what does the work."""
    cost: NDArray[np.float64] = LOOSE_COST * loose + DATA_COST * data + NESTED_COST * nested
    return np.asarray(-cost * np.maximum(scores, 0.0))


def likely_meant(kind: Kind) -> float:
    """How likely a bare name means a declaration of this kind: `Mutex` is the type, not its impl or constructor."""
    return _LIKELY_MEANT.get(kind, 1.0)


def container_demotion(scores: NDArray[np.float64], containers: NDArray[np.bool_], query: Query) -> NDArray[np.float64]:
    """A command asks for what does it: a class or file whose members are about it gives way to the members."""
    if query.form is not Form.COMMAND:
        return np.zeros(len(scores))
    return np.where(containers, -CONTAINER_COST * np.maximum(scores, 0.0), 0.0)


def same_words(named: NDArray[np.float64], query: Query) -> NDArray[np.float64]:
    """A short query in other order or split over class and member: "LinkedTreeMap rebalance" for its method."""
    return SAME_WORDS * named if len(query.terms) <= _SHORT_QUERY else np.zeros(len(named))


def exact_name(exactness: NDArray[np.float64]) -> NDArray[np.float64]:
    """The definition of the asked symbol; `exactness` is 0 for documents that do not define it."""
    return EXACT_NAME * exactness


def crowding(
    scores: NDArray[np.float64],
    files: NDArray[np.int64],
    places: NDArray[np.int64],
    counted: NDArray[np.bool_],
    form: Form,
) -> NDArray[np.float64]:
    """Each further hit of one file is held back, by the form of the query; only `counted` documents hold others back.

    `places` settle which of two equal scores comes first.
    """
    order = np.lexsort((places, -scores, files))
    starts = np.flatnonzero(np.diff(files[order], prepend=-1))
    before: NDArray[np.int64] = np.cumsum(counted[order]) - counted[order]  # counted ones ahead, over all files
    ahead = np.empty(len(scores), np.int64)
    ahead[order] = before - np.repeat(before[starts], np.diff(np.append(starts, len(order))))
    held: NDArray[np.float64] = np.maximum(scores, 0.0) * (CROWDING[form] ** np.minimum(ahead, CROWD) - 1)
    return held
