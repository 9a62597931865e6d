"""A file's bytes with its comments and attributes: which of them belong to a declaration, and what they say."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from codesearch.languages import Syntax

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_SYMBOL = 200  # characters: a type of an `impl` can be an essay; names that people give are shorter
LONGEST_QUALIFIED_NAME = 1000  # characters, the innermost kept: thousands of levels would fill the memory
LONGEST_SIGNATURE = 400  # characters: shown on a line or two; longer ones are lists of data
LONGEST_DOC = 4000  # characters: beyond that it is a manual, whose rest would drown the other fields

BLANK = frozenset(b" \t\r\n\f\v")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")  # a byte that is no UTF-8, as "surrogateescape" decodes it
_SEMICOLON = re.compile(rb"[ \t]*;")
_COMMENT_MARKERS = re.compile(r"^\s*(?:/\*+!?|\*+/|\*+(?=\s|$)|//[/!]*|#+[!:]?|--+\[*|\{-+\|?|;+|%+|\"\"\")?\s*")
_COMMENT_ENDS = re.compile(r"\s*(?:\*+/|-\}|\]\]|\"\"\")?\s*$")
_STRING_MARKERS = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*?)\1?$", re.DOTALL)
_NOT_A_DOC = re.compile(
    r"^#!|-\*-.*coding|copyright|\blicen[cs]e|SPDX-|all rights reserved|^\W*(?:eslint|pylint|prettier|tslint)\b",
    re.IGNORECASE,
)


class Piece(NamedTuple):
    """A comment or an attribute."""

    start: int
    end: int
    is_comment: bool


class Source:
    """A file's bytes with its comments and attributes: answers what belongs to a declaration, and in which line."""

    def __init__(self, content: bytes, pieces: list[Piece], syntax: Syntax) -> None:
        self.content = content
        self.syntax = syntax
        self.line_ends = [match.start() for match in re.finditer(rb"\n", content)]
        self.pieces = sorted(pieces)
        self.starts = [piece.start for piece in self.pieces]
        self.by_start = {piece.start: piece for piece in self.pieces}
        self.by_end = {piece.end: piece for piece in reversed(self.pieces)}
        # Where the code before and behind each piece ends and begins: computed once per piece, so that a
        # declaration or statement without a comment costs one look-up.
        self.by_code_before = {back(content, piece.start): piece for piece in reversed(self.pieces)}
        self.by_code_behind = {forward(content, piece.end, BLANK): piece for piece in reversed(self.pieces)}

    def line(self, byte: int) -> int:
        """The 1-based line that a byte lies in."""
        return bisect_left(self.line_ends, byte) + 1

    def line_start(self, byte: int) -> int:
        """Where the line of a byte begins."""
        line = bisect_left(self.line_ends, byte)
        return self.line_ends[line - 1] + 1 if line else 0

    def indent(self, byte: int) -> int:
        """How many blanks begin the line of a byte."""
        start = self.line_start(byte)
        return forward(self.content, start, b" \t") - start

    def opens_line(self, byte: int) -> bool:
        """Whether only blanks stand before a byte in its line."""
        start = self.line_start(byte)
        return forward(self.content, start, b" \t\f") >= byte or self.content[start:byte] == _BYTE_ORDER_MARK

    def lead(self, start: int) -> list[Piece]:
        """The attributes and the contiguous comments directly above (or before) a byte, the nearest first."""
        pieces: list[Piece] = []
        indented = self.syntax.indented
        indent = -1
        while True:
            piece = self.by_code_behind.get(start)
            if piece is None or piece.start >= start:
                return pieces
            if indented and indent < 0:
                indent = self.indent(start)
            if piece.is_comment:
                gap = self.content.count(b"\n", piece.end, start)
                if gap > 1 or not (gap == 0 or self.opens_line(piece.start)):
                    return pieces
                if gap == 0 and indented:
                    return pieces
                if indented and self.indent(piece.start) > indent:
                    return pieces
            pieces.append(piece)
            start = piece.start

    def end_with_trail(self, start: int, end: int) -> int:
        """Where a declaration ends: after its last token and `;`; comments indented inside it belong to it."""
        end = back(self.content, end)
        if self.syntax.indented:
            end = self._without_outer_comments(start, end)
        semicolon = _SEMICOLON.match(self.content, end)
        if semicolon:
            end = semicolon.end()
        if self.syntax.indented:
            end = self._with_inner_comments(start, end)
        return end

    def _without_outer_comments(self, start: int, end: int) -> int:
        """Leaves out comments that the grammar puts at the end although they stand at the outer level."""
        while (piece := self.by_end.get(end)) and piece.is_comment and piece.start > start:
            if not self.opens_line(piece.start) or self.indent(piece.start) > self.indent(start):
                break
            end = back(self.content, piece.start)
        return end

    def _with_inner_comments(self, start: int, end: int) -> int:
        while (piece := self.by_code_before.get(end)) and piece.is_comment and piece.start >= end:
            on_same_line = self.content.find(b"\n", end, piece.start) < 0
            if not on_same_line and self.indent(piece.start) <= self.indent(start):
                break
            end = piece.end
        return end

    def comment_text(self, pieces: Iterable[Piece]) -> str:
        """What comments say, without their markers."""
        text = "\n".join(decoded(self.content[start:end]) for start, end, _ in pieces)
        return clean_comment(text) if text else ""

    def signature(self, start: int, name_end: int, end: int) -> str:
        """The source of a declaration up to `end`, without comments and without attributes before its name."""
        parts = []
        position = bisect_left(self.starts, start)
        for piece in self.pieces[position : bisect_left(self.starts, end)]:
            if piece.start < start or (not piece.is_comment and piece.start > name_end):
                continue
            parts.append(self.content[start : piece.start])
            start = piece.end
            if sum(map(len, parts)) > 4 * LONGEST_SIGNATURE:
                break
        parts.append(self.content[start : min(end, start + 8 * LONGEST_SIGNATURE)])
        text = " ".join(decoded(b" ".join(parts)).split())
        return text[:LONGEST_SIGNATURE].rstrip().removesuffix(";").rstrip()

    def file_doc(self, taken: set[int]) -> str:
        """The first comment at the top of the file that is neither a licence nor a declaration's own."""
        position = len(_BYTE_ORDER_MARK) if self.content.startswith(_BYTE_ORDER_MARK) else 0
        while True:
            run: list[Piece] = []
            while (piece := self.by_start.get(forward(self.content, position, BLANK))) and piece.is_comment:
                if run and self.content.count(b"\n", position, piece.start) > 1:
                    break
                run.append(piece)
                position = piece.end
            if not run or run[0].start in taken:
                return ""
            text = self.comment_text(run)
            raw = decoded(self.content[run[0].start : run[-1].end][: 4 * LONGEST_DOC])
            if text and not _NOT_A_DOC.search(raw):
                return text


def back(content: bytes, end: int) -> int:
    """The end of the last byte before `end` that is not blank."""
    while end > 0 and content[end - 1] in BLANK:
        end -= 1
    return end


def forward(content: bytes, start: int, blank: frozenset[int] | bytes) -> int:
    """The first byte from `start` on that is not blank."""
    length = len(content)
    while start < length and content[start] in blank:
        start += 1
    return start


def decoded(raw: bytes) -> str:
    """Bytes as text; what is no UTF-8 is replaced."""
    return raw.decode("utf-8", "replace")


def without_invalid_bytes(content: bytes) -> bytes:
    """The content with a letter for each byte that is no UTF-8, so that offsets stay.

    The predicates of a query fail on the text of a node that is no UTF-8. In a file of an older encoding such
    bytes are mostly letters: with one in their place, a name stays a name.
    """
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return _ESCAPED_BYTE.sub("x", content.decode("utf-8", "surrogateescape")).encode("utf-8")
    return content


def one_line(raw: bytes) -> str:
    """Bytes as text in one line, capped at the length of a symbol."""
    return " ".join(decoded(raw[: 4 * LONGEST_SYMBOL]).split())[:LONGEST_SYMBOL]


def unquoted(name: bytes) -> bytes:
    """A name without the quotes around it: a string may be the name of a member, or the title of a test."""
    return name[1:-1] if len(name) > 2 and name[:1] in b"\"'`" and name[-1:] == name[:1] else name


def clean_comment(text: str) -> str:
    """A comment's text without the markers of any language."""
    lines = [_COMMENT_ENDS.sub("", _COMMENT_MARKERS.sub("", line)) for line in text[:LONGEST_DOC].splitlines()]
    return "\n".join(lines).strip()


def clean_string(content: bytes, node: Node) -> str:
    """The text of a docstring without its quotes and indentation."""
    text = decoded(content[node.start_byte : node.end_byte][: 4 * LONGEST_DOC]).strip()[:LONGEST_DOC]
    match = _STRING_MARKERS.match(text)
    if match:
        text = match.group(2)
    return "\n".join(line.strip() for line in text.splitlines()).strip()
