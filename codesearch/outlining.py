"""The declarations of one file, whatever its language: code is parsed, prose is read for its headings."""

from __future__ import annotations

from codesearch.chunking import TokenBudget, chunk_prose
from codesearch.languages import Languages
from codesearch.parsing import parse
from codesearch.results import FileOutline

_ANY_BUDGET = TokenBudget(512, len)  # chunks are not asked for


def outline_of(languages: Languages, path: str, content: bytes) -> FileOutline:
    """The declarations of a file's content; none, and the language "", where no language is known for it."""
    language = languages.for_path(path, content)
    if language is None:
        return FileOutline(path, "", ())
    if language.chunker == "sections":
        parsed, _ = chunk_prose(content, language.name, _ANY_BUDGET)
    else:
        parsed = parse(content, language)
    return FileOutline(path, language.name, parsed.declarations)
