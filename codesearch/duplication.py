"""Tells near-copies: texts whose words follow each other in nearly the same way. Pure.

Exact copies need no comparing: equal texts share a key in the index.
"""

from __future__ import annotations

from collections.abc import Sequence

from codesearch.terms import split_identifier, words

# Of the shingles that two texts have together, those that both must have. Above it lie copies with a line changed,
# below it overloads and variants that differ in what they do (docs/measurements.md).
NEAR = 0.9
_SHINGLE = 3  # words that stand together: fewer meet by accident, more break at each change
_SHORTEST = 12  # words; a getter is like every other one
_LONGEST = 20_000  # characters; what comes after says no more about being a copy


def shingles(lines: Sequence[str], longest: int | None = _LONGEST) -> frozenset[int]:
    """The runs of words of a text as hashes (Broder 1997); none of a text that is too short to be like another.

    What comes after `longest` characters is not looked at.
    """
    text = "\n".join(lines)[:longest]
    said = [part for word in words(text) for part in split_identifier(word)]
    if len(said) < _SHORTEST:
        return frozenset()
    return frozenset(hash(tuple(said[at : at + _SHINGLE])) for at in range(len(said) - _SHINGLE + 1))


def are_near_copies(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether two texts share so many of their shingles (Jaccard's measure) that one of them is enough on a page."""
    smaller, larger = sorted((len(one), len(other)))
    return smaller >= NEAR * larger and likeness(one, other) >= NEAR


def likeness(one: frozenset[int], other: frozenset[int]) -> float:
    """The share of their shingles that two texts have in common, from 0 to 1; 0 of a text that has none."""
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)
