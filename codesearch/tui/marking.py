"""Which letters of a text are words of the query. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesearch.terms import WHOLE, identifier_terms, split_identifier

_WORD = re.compile(r"\w+")


def marked(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where terms of a query stand in a text: start and end, in order; parts of an identifier by themselves."""
    wanted = set(terms)
    if not wanted:
        return []
    found: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if any(term.startswith(WHOLE) and term in wanted for term in identifier_terms(word)):
            found.append(match.span())
            continue
        lower, at = word.lower(), 0
        for part in split_identifier(word):
            start = lower.find(part, at)
            if start < 0:
                break
            at = start + len(part)
            if part in wanted:
                found.append((match.start() + start, match.start() + at))
    return found
