"""Shows the parser a file without what its grammar cannot read, such as directives of a preprocessor and macros.

The grammar file says what that is. It is seen as blanks, or as another text of the same length, so that offsets and
lines stay those of the file. Only the parser sees that: names, signatures and texts come from the file itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from codesearch.languages import Syntax
from codesearch.parsing.source import BYTE_ORDER_MARK, Piece, back

_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
_OPENING = {b")": b"(", b"]": b"[", b"}": b"{"}
# Brackets, and what may hold brackets that are none: literals and comments.
_TOKENS = re.compile(
    rb"""[()\[\]{}]|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|//[^\n]*+|/\*.*?\*/|^[ \t]*+#(?:[^\\\n]|\\.)*+""",
    re.DOTALL | re.MULTILINE,
)
_OTHER_DIRECTIVE = re.compile(rb"^[ \t]*+#(?:[^\\\n]|\\.)*+", re.DOTALL | re.MULTILINE)
_SEMICOLON, _ATTRIBUTE, _DIRECTIVE = "semicolon", "attribute", "directive"


def masked(content: bytes, syntax: Syntax) -> tuple[bytes, list[Piece]]:
    """The bytes that the parser is to read, as many as the file has, and the attributes that it does not see."""
    attributes: list[Piece] = []
    if not syntax.masks and not syntax.conditionals:
        return content, attributes
    seen = bytearray(content)
    top = len(BYTE_ORDER_MARK) if content.startswith(BYTE_ORDER_MARK) else 0
    _blank(seen, 0, top)  # so that the first line begins like any other
    others: list[tuple[int, int]] = []
    if syntax.conditionals:
        _mask_conditionals(seen, syntax.conditionals)
        others = [match.span() for match in _OTHER_DIRECTIVE.finditer(seen)]
    starts = [start for start, _ in others]
    semicolons: list[int] = []
    for pattern, text in _compiled(syntax.masks):
        names = {group: name for name, group in pattern.groupindex.items()}
        for match in list(pattern.finditer(seen)):
            before = bisect_right(starts, match.start()) - 1
            if before >= 0 and match.start() < others[before][1] and _DIRECTIVE not in pattern.groupindex:
                continue
            for group in range(1 if pattern.groups else 0, pattern.groups + 1):
                start, end = match.span(group)
                if start == end:
                    continue
                _hide(seen, start, end, text)
                name = names.get(group, "")
                if name == _SEMICOLON:
                    semicolons.append(end - 1)
                elif name.startswith(_ATTRIBUTE):
                    attributes.append(Piece(start, back(content, end), is_comment=False))
    for position in semicolons:  # only now: until then it may be the line end that other patterns look for
        seen[position] = ord(";")
    seen[:top] = content[:top]
    return bytes(seen), attributes


@lru_cache(maxsize=64)
def _compiled(masks: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[bytes], bytes], ...]:
    return tuple((re.compile(pattern.encode(), re.MULTILINE), text.encode()) for pattern, text in masks)


def _hide(seen: bytearray, start: int, end: int, text: bytes) -> None:
    if text:
        seen[start:end] = (text * (end - start))[: end - start]
    else:
        _blank(seen, start, end)


def _blank(seen: bytearray, start: int, end: int) -> None:
    seen[start:end] = seen[start:end].translate(_BLANKS)


def _mask_conditionals(seen: bytearray, directive: str) -> None:
    """Blanks the directives; of branches that only make sense one at a time, all but the first.

    Both branches of a choice are shown where each is complete in itself. `int f(int a) {` in one and `int f() {` in
    the other, with one end for both, is not; nor is what is never compiled.
    """
    ((pattern, _),) = _compiled(((directive, ""),))
    source = bytes(seen)
    open_ones: list[list[tuple[int, int, bool]]] = []  # per conditional, its directives so far: start, end, never?
    for match in pattern.finditer(source):
        start, end = match.span()
        opens, branches = match.group("open") is not None, match.group("branch") is not None
        _blank(seen, start, end)
        if opens:
            open_ones.append([(start, end, match.group("never") is not None)])
        elif open_ones:
            open_ones[-1].append((start, end, False))
            if not branches:
                _hide_branches(seen, open_ones.pop())


def _hide_branches(seen: bytearray, directives: list[tuple[int, int, bool]]) -> None:
    branches = [(directives[i][1], directives[i + 1][0]) for i in range(len(directives) - 1)]
    if directives[0][2]:
        _blank(seen, *branches.pop(0))
    if len(branches) > 1 and not all(_is_complete(seen, *branch) for branch in branches):
        for start, end in branches[1:]:
            for match in list(_OTHER_DIRECTIVE.finditer(seen, start, end)):
                _blank(seen, start, match.start())
                start = match.end()
            _blank(seen, start, end)


def _is_complete(seen: bytearray, start: int, end: int) -> bool:
    """Whether all brackets are closed and the last token ends a statement, or a line of a list."""
    text = bytes(seen[start:end])
    expected: list[bytes] = []
    last = b";"
    position = 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        last = text[position : match.start()].rstrip()[-1:] or last
        position = match.end()
        if token[:2] in (b"//", b"/*") or token.lstrip()[:1] == b"#":
            continue
        last = token[-1:]
        if token in b"([{":
            expected.append(token)
        elif token in b")]}" and (not expected or expected.pop() != _OPENING[token]):
            return False
    last = text[position:].rstrip()[-1:] or last
    return not expected and last in b";}):,>"
