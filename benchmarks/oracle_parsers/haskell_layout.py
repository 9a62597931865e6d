"""Top-level declarations of Haskell files, from layout alone: a scanner that shares nothing with the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator

Found = tuple[str, str, int, int]  # kind, name, line, end

_NAME = r"[a-z_][\w']*"
_SIGN = r"[!#$%&*+./<=>?@\\^|~:-]"
_STRING = re.compile(r'"(?:\\\s+\\|\\.|[^"\\\n])*"')
_COMMENT = re.compile(rf"--+(?!{_SIGN})[^\n]*")
_CHARACTER = re.compile(r"'(?:\\.[^']*|[^\\'\n])'")
_SIGNATURE = re.compile(rf"((?:{_NAME}|\({_SIGN}+\))(?:\s*,\s*(?:{_NAME}|\({_SIGN}+\)))*)\s*::")
_OTHER = re.compile(r"(?:module|import|infix[lr]?|default|deriving|foreign|pattern|instance)\b")
_TYPE = re.compile(r"(?:data|newtype|type|class)(?:\s+(?:family|instance|role))?\s+(?:[^=]*?=>\s*)?([A-Z][\w']*)(?!\.)")
_KIND_SIGNATURE = re.compile(r"type\s+(?:role\b|[A-Z][\w']*\s*::)")


def _without_comments(text: str) -> str:
    """The text with blanks for comments and letters for strings, so that every line keeps its length."""
    kept: list[str] = []
    position = depth = 0
    while position < len(text):
        if text.startswith("{-", position):
            depth += 1
            kept.append("  ")
            position += 2
        elif depth:
            step = 2 if text.startswith("-}", position) else 1
            depth -= step - 1
            kept.append("\n" if text[position] == "\n" else " " * step)
            position += step
        elif match := _STRING.match(text, position):
            kept.append(re.sub(r"[^\n]", "x", match.group()))
            position = match.end()
        elif (match := _COMMENT.match(text, position)) and not re.match(_SIGN, text[position - 1 : position] or " "):
            kept.append(" " * (match.end() - position))
            position = match.end()
        elif (match := _CHARACTER.match(text, position)) and not re.match(r"[\w']", text[position - 1 : position]):
            kept.append("c" * (match.end() - position))
            position = match.end()
        else:
            kept.append(text[position])
            position += 1
    return "".join(kept)


def definitions(text: str) -> Iterator[Found]:
    """Functions (signature and equations as one), data, newtypes, type synonyms and families, and classes."""
    items: list[tuple[int, int, str]] = []  # first and last line, text
    for number, line in enumerate(_without_comments(text).split("\n"), 1):
        if not line.strip():
            continue
        if line[0] in " \t)}]|," and not line.startswith("#"):
            if items and items[-1][2] != "#":
                items[-1] = (items[-1][0], number, f"{items[-1][2]}\n{line}")
        else:
            items.append((number, number, "#" if line.startswith("#") else line))
    found: list[tuple[str, str, int, int]] = []
    for first, last, item in items:
        kind, name = _sort(item)
        if kind == "function" and found and found[-1][:2] == (kind, name):
            found[-1] = (kind, name, found[-1][2], last)
        else:
            found.append((kind, name, first, last))
    yield from (each for each in found if each[0])


def _sort(item: str) -> tuple[str, str]:
    if item == "#" or _OTHER.match(item):
        return "", item[:10]
    signature = _SIGNATURE.match(item)
    if signature:
        names = [re.sub(r"[()\s]", "", each) for each in signature.group(1).split(",")]
        return ("function", names[0]) if len(names) == 1 else ("", "several")
    if re.match(r"(?:data|newtype|type|class)\b", item):
        match = _TYPE.match(re.split(r"\bwhere\b", item, maxsplit=1)[0])
        if not match or _KIND_SIGNATURE.match(item):
            return "", "kind"
        return "type", match.group(1)
    # Fields of records aside, the first sign of equality or bar ends the head.
    parts = re.split(rf"(?<!{_SIGN})(?:=|\|)(?!{_SIGN})", re.sub(r"\{[^{}]*\}", " ", item), maxsplit=1)
    if len(parts) < 2 or ("{" in parts[0] and "''" in item):
        return "", "splice"
    head, before = parts[0], ""
    while head != before:  # from the inside, brackets become one word; names of operators stay
        before = head
        head = re.sub(rf"\((?!{_SIGN}+\))[^()]*\)|\[[^\[\]]*\]", " x ", head)
    infix = re.search(rf"`({_NAME})`|(?<=\s)({_SIGN}+)(?=\s)", head)
    if infix and infix.group(2) not in ("!", "~", "@", "::"):
        return "function", infix.group(1) or infix.group(2)
    prefix = re.match(rf"({_NAME})(?=[\s(\[]|$)|\(({_SIGN}+)\)", head)
    return ("function", prefix.group(1) or prefix.group(2)) if prefix else ("", "pattern")
