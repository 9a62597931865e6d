"""What questions made of a repository have in common. Reads nothing."""

from __future__ import annotations

from collections.abc import Sequence

from codesearch.languages import Languages
from codesearch.parsing import parse
from codesearch.types import Declaration

SHORTEST, LONGEST = 4, 30  # words of a question


def declarations_of(languages: Languages, path: str, content: bytes) -> Sequence[Declaration]:
    """The declarations of a file; none where its language is not parsed."""
    language = languages.for_path(path, content[:256])
    return parse(content, language).declarations if language is not None and language.syntax is not None else ()
