"""A piece of a file as coloured lines. Lexed in blocks, so that a long file costs what is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound
from textual.content import Content

from codesearch.render.plain import TAB_WIDTH
from codesearch.render.safe import sanitise_code
from codesearch.render.terminal import LEXERS
from codesearch.tui.look import Look, Styles

BLOCK = 100  # lines lexed at once: a few milliseconds
LONGEST = 500  # characters of a line that are shown; no terminal is as wide
_ROLES = (
    (Token.Comment, "comment"), (Token.Literal.String.Doc, "comment"), (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"), (Token.Keyword, "keyword"), (Token.Operator.Word, "keyword"),
    (Token.Name.Function, "name"), (Token.Name.Class, "name"), (Token.Name.Decorator, "kind"),
    (Token.Name.Builtin, "kind"), (Token.Generic.Heading, "name"), (Token.Generic.Subheading, "name"),
)  # fmt: skip


class Code:
    """The lines of a file; blocks begin at line `first`, where a declaration does, so that lexing starts afresh."""

    def __init__(self, lines: Sequence[str], language: str, first: int, look: Look) -> None:
        self.lines = lines
        self._lexer = _lexer(language)
        self._first = first
        self._look = look
        self._blocks: dict[int, list[Content]] = {}

    def line(self, number: int) -> Content:
        """A line by its number, from 1."""
        block, place = divmod(number - self._first, BLOCK)
        start = self._first + block * BLOCK
        if block not in self._blocks:
            self._blocks[block] = self._highlighted(max(start, 1), start + BLOCK)
        return self._blocks[block][place - max(1 - start, 0)]

    def _highlighted(self, start: int, end: int) -> list[Content]:
        lines = [shown_code(line) for line in self.lines[start - 1 : end - 1]]
        if self._lexer is None:
            return [Content(line) for line in lines]
        parts: list[tuple[str, str]] = []
        for kind, text in self._lexer.get_tokens("\n".join(lines)):
            role = next((role for token, role in _ROLES if kind in token), "")
            parts.append((text, _style(self._look.styles, role)))
        found = Content.assemble(*parts).split("\n", allow_blank=True)
        return [found[index] if index < len(found) else Content(line) for index, line in enumerate(lines)]


def shown_code(line: str) -> str:
    """One line, safe to show and not endless."""
    cut = line[:LONGEST]
    return sanitise_code(cut).expandtabs(TAB_WIDTH)


def _style(styles: Styles, role: str) -> str:
    return str(getattr(styles, role)) if role else ""


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(LEXERS.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
