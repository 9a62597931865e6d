"""Reads locations back (FILE:LINE, FILE:A-B, FILE#symbol, REV:FILE:LINE), and finds the line of a hit. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from codesearch.errors import LocationError
from codesearch.results import FileOutline
from codesearch.terms import name_parts
from codesearch.types import Anchor, Declaration

_FORMS = "Give FILE:LINE, FILE:START-END, FILE#symbol or REV:FILE:LINE."
_LINES = re.compile(r"^(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?$", re.DOTALL)
# A colon inside a revision stands in braces, as in `@{2024-05-31 10:00}`, or in the time of a date.
_REVISION = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z| ?[+-]\d\d:?\d\d)?|([^:{]|\{[^}]*\})+)(?=:.)", re.DOTALL
)
NEAR_NAMES = 5  # more of them help nobody to remember
_NO_CODE = ("//", "#", "/*", "*", "--", "@", '"')  # how comments, attributes and docs begin


@dataclass(frozen=True, slots=True)
class Location:
    """A place that a user named: lines (1-based, inclusive) or a symbol of a file, at a revision or now.

    The revision "" is what is staged, as in git.
    """

    path: str
    first: int | None = None
    last: int | None = None
    symbol: str | None = None
    revision: str | None = None

    def __str__(self) -> str:
        """The location as a user would write it."""
        lines = "" if self.first is None else f":{self.first}" + (f"-{self.last}" if self.last else "")
        symbol = f"#{self.symbol}" if self.symbol else ""
        return f"{'' if self.revision is None else self.revision + ':'}{self.path}{lines}{symbol}"


def parse_location(text: str, exists: Callable[[str], bool]) -> Location:
    """Splits a location; `exists` tells whether a path is a file now, so that `a:b:3` can mean either."""
    first = last = None
    symbol = None
    path = text
    match = _LINES.match(text)
    if match and not exists(text):
        path, first = match["path"], int(match["first"])
        last = int(match["last"]) if match["last"] else None
        if first < 1 or (last is not None and last < first):
            raise LocationError(f"{text} names no lines: they count from 1, the smaller first.", _FORMS)
    elif "#" in text and not exists(text):
        path, _, symbol = text.rpartition("#")
        if not symbol or not path:
            raise LocationError(f"{text} is no location.", _FORMS)
    revision = None
    if not exists(path) and ":" in path:
        found = _REVISION.match(path)
        if found is None and not path.startswith(":"):
            raise LocationError(f"{text} is no location.", _FORMS)
        revision = found[0] if found else ""  # what is staged
        path = path[len(revision) + 1 :]
    if not path:
        raise LocationError(f"{text} is no location.", _FORMS)
    return Location(path, first, last, symbol, revision)


def find_lines(where: Location, content: bytes, outline: FileOutline) -> tuple[tuple[int, int], Declaration | None]:
    """The lines that a location means, and the declaration they belong to, if any.

    A single line means the innermost declaration around it; a range belongs to the declaration that it covers
    exactly. LocationError lists the candidates where a symbol is ambiguous.
    """
    count = content.count(b"\n") + (not content.endswith(b"\n"))
    if where.symbol is not None:
        return _named(where, outline)
    if where.first is None:
        return (1, max(count, 1)), None
    if where.first > count:
        raise LocationError(f"{where.path} has only {count} lines.", _FORMS)
    if where.last is not None:
        lines = where.first, min(where.last, count)
        same = (each for each in outline.declarations if (each.span.start_line, each.span.end_line) == lines)
        return lines, next(same, None)  # the outermost: it stands before its members
    around = [
        declaration
        for declaration in outline.declarations
        if declaration.span.start_line <= where.first <= declaration.span.end_line
    ]
    if not around:
        return (where.first, where.first), None
    inner = min(around, key=lambda item: item.span.end_byte - item.span.start_byte)
    return (inner.span.start_line, inner.span.end_line), inner


def _named(where: Location, outline: FileOutline) -> tuple[tuple[int, int], Declaration]:
    wanted = where.symbol or ""
    found = [item for item in outline.declarations if item.qualified_name == wanted]
    found = found or [item for item in outline.declarations if item.symbol == wanted]
    if not found:
        near = near_names(wanted, [(item.symbol, item.qualified_name) for item in outline.declarations])
        hint = f"Did you mean {', '.join(near)}?" if near else f"See: codesearch outline {where.path}"
        raise LocationError(f"{where.path} declares no {wanted}.", hint)
    if len(found) > 1:
        places = ", ".join(f"{where.path}:{item.span.start_line} ({item.qualified_name})" for item in found[:8])
        raise LocationError(f"{where.path}#{wanted} is ambiguous.", f"Candidates: {places}")
    span = found[0].span
    return (span.start_line, span.end_line), found[0]


def find_anchor(
    lines: Sequence[str], first: int, last: int, *, symbol: str, signature: str, best: Iterable[int], is_whole: bool
) -> Anchor:
    """The line to jump to in `first`-`last` (1-based, inclusive) of a file's `lines`, and the column there.

    Where the signature says the declaration's name, above which comments and attributes may stand. If that is not
    inside, as in a part of a long declaration, the first of the `best` lines; else the first line. `is_whole` says
    that the lines are all of the declaration: its name is then inside, though the signature may say it otherwise.
    """
    found = _find_signature(lines, first, last, symbol, signature)
    if found is None and is_whole:
        found = _find_word(lines, first, last, symbol)
    if found is None:
        number = min((line for line in best if first <= line <= last), default=first)
        text = lines[number - 1]
        found = number, len(text) - len(text.lstrip())
    number, before = found
    text = lines[number - 1].rstrip("\r")
    return Anchor(number, len(text[:before].encode("utf-8", "surrogateescape")) + 1, text)


def _find_signature(lines: Sequence[str], first: int, last: int, symbol: str, signature: str) -> tuple[int, int] | None:
    """Line number and characters before the name, where the signature's words stand as far as the name."""
    name = symbol.split(", ", 1)[0]  # one statement may declare several
    at = _word_at(name, signature) if name else None
    if at is None:
        return None
    start_of_line = signature[:at]
    for number, line in enumerate(lines[first - 1 : last], first):  # as it is nearly always: no pattern to compile
        indent = len(line) - len(line.lstrip(" \t"))
        if line.startswith(start_of_line, indent) and _word_at(name, line, indent + at) == indent + at:
            return number, indent + at
    before = r"\s*".join(map(re.escape, start_of_line.split()))
    text = "\n".join(lines[first - 1 : last])
    pattern = rf"(?<!\w){before}\s*(?P<name>{re.escape(name)})(?!\w)"
    # At the start of a line wherever there is one: the doc above may quote the signature.
    found = re.search(rf"^[ \t]*{pattern}", text, re.MULTILINE) or re.search(pattern, text)
    if found is None:
        return None
    start = found.start("name")
    return first + text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1)


def _word_at(word: str, text: str, start: int = 0) -> int | None:
    """Where a text has a word, and not as part of a longer one."""
    while (at := text.find(word, start)) >= 0:
        around = text[at - 1 : at] + text[at + len(word) : at + len(word) + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            return at
        start = at + 1
    return None


def _find_word(lines: Sequence[str], first: int, last: int, symbol: str) -> tuple[int, int] | None:
    """The first line that has the name as a word and is no comment or attribute."""
    word = re.compile(rf"(?<!\w){re.escape(symbol.split(', ', 1)[0])}(?!\w)")
    for number in range(first, min(last, len(lines)) + 1):
        text = lines[number - 1]
        found = None if text.lstrip().startswith(_NO_CODE) else word.search(text)
        if found and symbol:
            return number, found.start()
    return None


def near_names(wanted: str, names: Iterable[tuple[str, str]]) -> list[str]:
    """Qualified names, of (symbol, qualified name), that contain what was asked for, or are spelt much like it."""
    listed = list(names)
    word = name_parts(wanted)[-1].lower()
    close = difflib.get_close_matches(word, [symbol.lower() for symbol, _ in listed], n=NEAR_NAMES)
    found = [full for symbol, full in listed if word in symbol.lower() or symbol.lower() in close]
    return list(dict.fromkeys(found))[:NEAR_NAMES]
