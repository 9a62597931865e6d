"""One file's bytes with its lines: spans, decoded text, and where it may be cut."""

from __future__ import annotations

import re
from bisect import bisect_left

from codesearch.types import Span

_BOM = b"\xef\xbb\xbf"
_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
# What is left of a container after its last member; says nothing that anyone searches for.
_CLOSING_WORDS = frozenset({b"end", b"END", b"End", b"endif", b"fi", b"done", b"esac"})
_WIDEST_INDENTATION = 256  # bytes looked back at, so that many borders in one long line stay cheap
_LONGEST_CLOSING = 64  # bytes; a longer text is not looked at


class Source:
    """The content of one file. Offsets are bytes, lines are 1-based and end at LF."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._newlines = [match.start() for match in re.finditer(rb"\n", content)]

    def span(self, start: int, end: int) -> Span:
        """The span of `content[start:end]`, which must not be empty; it ends on the line of its last byte."""
        first = bisect_left(self._newlines, start) + 1
        last = bisect_left(self._newlines, end - 1) + 1
        return Span(start, end, first, last)

    def text(self, start: int, end: int) -> str:
        """The text between two offsets, without BOM and with LF line ends; invalid bytes are replaced."""
        if start == 0 and self.content.startswith(_BOM):
            start = min(len(_BOM), end)
        return self.content[start:end].decode("utf-8", "replace").replace("\r\n", "\n")

    def is_blank(self, start: int, end: int) -> bool:
        """Whether a part holds no words (white space, brackets) or only closing ones such as `end`."""
        if start == 0 and self.content.startswith(_BOM):
            start = min(len(_BOM), end)
        if _WORD.search(self.content, start, end) is None:
            return True
        if end - start > _LONGEST_CLOSING:
            return False
        return _CLOSING_WORDS.issuperset(_WORD.findall(self.content, start, end))

    def snap(self, offset: int) -> int:
        """The last offset up to `offset` that is neither inside a character nor between CR and LF."""
        content = self.content
        if 0 < offset < len(content):
            for back in range(min(4, offset + 1)):  # a UTF-8 character has at most 4 bytes
                if content[offset - back] & 0xC0 != 0x80:
                    offset -= back
                    break
            if offset > 0 and content[offset - 1 : offset + 1] == b"\r\n":
                offset -= 1
        return offset

    def line_start(self, offset: int) -> int:
        """The start of the line of `offset` if nothing but indentation lies between, else `offset`."""
        nearest = max(0, offset - _WIDEST_INDENTATION)
        start = self.content.rfind(b"\n", nearest, offset) + 1
        return offset if start == 0 < nearest or self.content[start:offset].strip() else start

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """The lines of a part that are not blank at its edges, as offsets; the part must hold some text."""
        content = self.content
        first = start
        while content[first : first + 1].isspace() and first < end:
            first += 1
        last = end
        while content[last - 1 : last].isspace() and last > first:
            last -= 1
        line_start = content.rfind(b"\n", start, first) + 1
        line_end = content.find(b"\n", last, end) + 1
        return line_start or start, line_end or end
