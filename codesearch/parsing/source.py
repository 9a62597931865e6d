"""A file's bytes with its comments and attributes: which of them belong to a declaration, and what they say."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

from codesearch.languages import Syntax

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_SYMBOL = 200  # characters: a type of an `impl` can be an essay; names that people give are shorter
LONGEST_QUALIFIED_NAME = 1000  # characters, the innermost kept: thousands of levels would fill the memory
LONGEST_SIGNATURE = 400  # characters: shown on a line or two; longer ones are lists of data
LONGEST_DOC = 4000  # characters: beyond that it is a manual, whose rest would drown the other fields

BLANK = frozenset(b" \t\r\n\f\v")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")  # a byte that is no UTF-8, as "surrogateescape" decodes it
_SEMICOLON = re.compile(rb"[ \t]*;")
_COMMENT_MARKERS = re.compile(
    r"^\s*(?:/\*+!?|\*+/|\*+(?=\s|$)|//[/!]*|#+[!:]?|--+(?:\[+|\s*[|^](?=\s|$))?|\{-+(?:\s*[|^](?=\s|$))?"
    r"|;+|%+|\"\"\"|=(?:begin|end)\b)?\s*"
)
_COMMENT_ENDS = re.compile(r"\s*(?:\*+/|-\}|\]\]|\"\"\")?\s*$")
_STRING_MARKERS = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*?)\1?$", re.DOTALL)
_QUOTED = re.compile(r"""(["'`])(\1*)((?:(?!\1)[^\\]|\\.)++)\2\1""", re.DOTALL)
_REFERENCE = re.compile(r"""<\w+\s+(?:cref|name|langword|href)\s*=\s*["'](?:[A-Z]:)?([^"'<>]*)["']\s*/>""")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BLANK_LINES = re.compile(r"\n\s*\n|[ \t]+\n")
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

    def __init__(
        self, content: bytes, pieces: list[Piece], syntax: Syntax, behind: AbstractSet[int] = frozenset()
    ) -> None:
        self.content = content
        self.syntax = syntax
        self.pragmas = re.compile(syntax.pragmas.encode(), re.MULTILINE) if syntax.pragmas else None
        self.line_ends = [match.start() for match in re.finditer(rb"\n", content)]
        top = len(BYTE_ORDER_MARK) if content.startswith(BYTE_ORDER_MARK) else 0
        if content.startswith(b"#!", top) and not content.startswith(b"#![", top):
            # Tells the system what runs the file, and nothing about its code.
            top = content.find(b"\n", top) + 1 or len(content)
        self.top = top
        self.pieces = sorted(piece for piece in pieces if piece.start >= top)
        self.starts = [piece.start for piece in self.pieces]
        self.by_start = {piece.start: piece for piece in self.pieces}
        self.by_end = {piece.end: piece for piece in reversed(self.pieces)}
        # Where the code before and behind each piece ends and begins: computed once per piece, so that a
        # declaration or statement without a comment costs one look-up.
        self.by_code_before = {back(content, piece.start): piece for piece in reversed(self.pieces)}
        self.by_code_behind = {forward(content, piece.end, BLANK): piece for piece in reversed(self.pieces)}
        self.behind: set[int] = set()
        for start in sorted(behind):
            if self._follows_code(start):
                self.behind.add(start)

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
        return forward(self.content, start, b" \t\f") >= byte or self.content[start:byte] == BYTE_ORDER_MARK

    def is_blank(self, start: int, end: int) -> bool:
        """Whether only blanks, comments and attributes lie in a range."""
        while (start := forward(self.content, start, BLANK)) < end:
            piece = self.by_start.get(start)
            if piece is None or piece.end <= start:
                return False
            start = piece.end
        return True

    def _follows_code(self, start: int) -> bool:
        """Whether code, or a comment that belongs to it, ends in the line of a byte or in the one above."""
        end = back(self.content, start)
        if not end or self.content.count(b"\n", end, start) > 1:
            return False
        piece = self.by_end.get(end)
        return piece is None or piece.start in self.behind or not self.opens_line(piece.start)

    def behind_comments(self, start: int) -> int:
        """Where the code begins behind comments that begin at a byte."""
        while (piece := self.by_start.get(start)) and piece.is_comment:
            start = forward(self.content, piece.end, BLANK)
        return start

    def lead(self, start: int) -> list[Piece]:
        """The attributes and the contiguous comments directly above (or before) a byte, the nearest first."""
        pieces: list[Piece] = []
        indented = self.syntax.indented
        indent = -1
        while True:
            piece = self.by_code_behind.get(start)
            if piece is None or piece.start >= start or piece.start in self.behind:
                break
            if indented and indent < 0:
                indent = self.indent(start)
            if piece.is_comment:
                gap = self.content.count(b"\n", piece.end, start)
                if gap > 1 or not (gap == 0 or self.opens_line(piece.start)):
                    break
                if gap == 0 and indented:
                    break
                if indented and self.indent(piece.start) > indent:
                    break
            pieces.append(piece)
            start = piece.start
        while pieces and self._is_pragma(pieces[-1]):
            pieces.pop()
        return pieces

    def _is_pragma(self, piece: Piece) -> bool:
        """Whether a comment says something to a program that reads the source, and nothing to people."""
        if self.pragmas is None or not piece.is_comment:
            return False
        return self.pragmas.match(self.content, piece.start, piece.end) is not None

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

    def comments_behind(self, end: int) -> list[Piece]:
        """The comments that say of themselves that they belong to what ends here."""
        pieces: list[Piece] = []
        while (piece := self.by_code_before.get(end)) and piece.start in self.behind:
            pieces.append(piece)
            end = piece.end
        return pieces

    def _without_outer_comments(self, start: int, end: int) -> int:
        """Leaves out comments that the grammar puts at the end although they stand at the outer level."""
        while (piece := self.by_end.get(end)) and piece.is_comment and piece.start > start:
            if not self.opens_line(piece.start) or self.indent(piece.start) > self.indent(start):
                break
            end = back(self.content, piece.start)
        return end

    def _with_inner_comments(self, start: int, end: int) -> int:
        while (piece := self.by_code_before.get(end)) and piece.is_comment and piece.start >= end:
            if piece.start in self.behind:
                break
            on_same_line = self.content.find(b"\n", end, piece.start) < 0
            if not on_same_line and self.indent(piece.start) <= self.indent(start):
                break
            end = piece.end
        return end

    def comment_text(self, pieces: Iterable[Piece]) -> str:
        """What comments say, without their markers."""
        text = "\n".join(decoded(self.content[each.start : each.end]) for each in pieces if not self._is_pragma(each))
        if not text:
            return ""
        text = clean_comment(text)
        return without_tags(text) if self.syntax.doc_markup == "xml" else text

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

    def file_doc(self, taken: set[int], opening: int) -> str:
        """The first comment behind the file's opening that is neither a licence nor a declaration's own."""
        position = max(self.top, opening)
        while True:
            run: list[Piece] = []
            while (piece := self.by_start.get(forward(self.content, position, BLANK))) and piece.is_comment:
                if run and self.content.count(b"\n", position, piece.start) > 1:
                    break
                run.append(piece)
                position = piece.end
            if not run or any(piece.start in taken for piece in run):
                return ""
            text = self.comment_text(run)
            raw = decoded(self.content[run[0].start : run[-1].end][: 4 * LONGEST_DOC])
            if text and not is_notice(raw):
                return text


def is_notice(text: str) -> bool:
    """Whether a comment says something about a file as such, like its licence, and nothing about its code."""
    return _NOT_A_DOC.search(text) is not None


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


def unquoted(name: str) -> str:
    """A name without the quotes around it: a test's title, an identifier in backticks."""
    quoted = _QUOTED.fullmatch(name)
    return quoted.group(3) if quoted and quoted.group(3).strip() else name


def without_tags(text: str) -> str:
    """A doc in XML as it reads: a tag that only refers to something gives what it names, all others nothing."""
    text = unescape(_TAG.sub("", _REFERENCE.sub(r"\1", text)))
    return _BLANK_LINES.sub("\n", text).strip()


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
