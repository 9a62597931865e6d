"""Declarations of Swift files, from tokens and brackets alone: a scanner that shares nothing with the grammar."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

Token = tuple[str, str, int, int]  # sort, text, start, end
Found = tuple[str, str, int, int]  # kind, name, line, end (0: not known)

_WORD = re.compile(r"`[^`\n]+`|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*")
_OPERATOR = re.compile(r"[-+*/=<>!&|^~?%.]+")
_NUMBER = re.compile(r"\d[\w.]*")
_DIRECTIVE = re.compile(r"#[A-Za-z]+")
_STRING = re.compile(r'#*"')
_HASH_STRING = re.compile(r'#+"')
_HASH_REGEX = re.compile(r"(#+)/")
_MODIFIERS = frozenset({
    "public", "private", "internal", "fileprivate", "open", "package", "final", "static", "class", "override",
    "mutating", "nonmutating", "indirect", "convenience", "required", "lazy", "weak", "unowned", "dynamic",
    "optional", "prefix", "postfix", "infix", "nonisolated", "isolated", "distributed", "async", "borrowing",
    "consuming", "__consuming", "rethrows", "unsafe", "safe",
})  # fmt: skip
_TYPES = {
    "class": "class", "struct": "struct", "enum": "enum", "protocol": "protocol", "extension": "extension",
    "actor": "class",
}  # fmt: skip
_BEGINNINGS = (
    _MODIFIERS
    | set(_TYPES)
    | frozenset(
        [
            "func",
            "var",
            "let",
            "init",
            "deinit",
            "subscript",
            "typealias",
            "associatedtype",
            "case",
            "import",
            "operator",
            "macro",
            "precedencegroup",
        ]
    )
)
_NO_TYPE_NAMES = _MODIFIERS | {"var", "let", "func", "init", "subscript", "("}


def _string_end(text: str, position: int) -> int:
    hashes = len(text[position:]) - len(text[position:].lstrip("#")) if text[position] == "#" else 0
    position += hashes
    quote = '"""' if text.startswith('"""', position) else '"'
    position += len(quote)
    closing, escape = quote + "#" * hashes, "\\" + "#" * hashes
    while position < len(text):
        if text.startswith(escape + "(", position):
            position += len(escape) + 1
            depth = 1
            while position < len(text) and depth:
                if _STRING.match(text, position):
                    position = _string_end(text, position)
                    continue
                depth += {"(": 1, ")": -1}.get(text[position], 0)
                position += 1
        elif text.startswith(escape, position):
            position += len(escape) + 1
        elif text.startswith(closing, position):
            return position + len(closing)
        elif quote == '"' and text[position] == "\n":
            return position
        else:
            position += 1
    return len(text)


def _comment_end(text: str, position: int) -> int:
    depth = 1
    position += 2
    while position < len(text) and depth:
        if text.startswith(("/*", "*/"), position):
            depth += 1 if text[position] == "/" else -1
            position += 2
        else:
            position += 1
    return position


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    position = 0
    while position < len(text):
        char = text[position]
        sort, end = "mark", position + 1
        if char in " \t\r\n":
            position += 1
            continue
        if text.startswith("//", position):
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
            continue
        if text.startswith("/*", position):
            position = _comment_end(text, position)
            continue
        if char == '"' or _HASH_STRING.match(text, position):
            sort, end = "string", _string_end(text, position)
        elif match := _HASH_REGEX.match(text, position):
            closing = "/" + match.group(1)
            end = text.find(closing, match.end())
            sort, end = "string", len(text) if end < 0 else end + len(closing)
        elif match := _DIRECTIVE.match(text, position):
            sort, end = "directive", match.end()
        elif match := _WORD.match(text, position):
            sort, end = "word", match.end()
        elif match := _NUMBER.match(text, position):
            sort, end = "number", match.end()
        elif match := _OPERATOR.match(text, position):
            sort, end = "operator", match.end()
            for comment in ("//", "/*"):
                at = match.group().find(comment)
                end = min(end, position + at) if at > 0 else end
            regex = re.compile(r"/(?![ \n])(?:\\.|[^/\n\\])*/").match(text, position)
            if regex and found and found[-1][1] in ("(", "=", ","):
                sort, end = "string", regex.end()
        found.append((sort, text[position:end], position, end))
        position = end
    return found


def definitions(text: str) -> Iterator[Found]:
    """Functions, initializers, subscripts, types, extensions (by the last part of their name) and type aliases."""
    tokens = _tokens(text)
    size = len(tokens)
    breaks = [match.start() for match in re.finditer("\n", text)]

    def line(index: int) -> int:
        return bisect.bisect_left(breaks, tokens[index][2]) + 1

    def last_line(index: int) -> int:
        return bisect.bisect_left(breaks, tokens[index][3] - 1) + 1

    closing = _closings(tokens)

    def end_of(index: int) -> tuple[int, int]:
        """The bracket that opens the body after `index`, -1 where there is none, and the last token."""
        last = index - 1
        while index < size:
            sort, token = tokens[index][:2]
            if token == "{" and sort == "mark":
                return index, closing.get(index, -1)
            if token in ("(", "[") and sort == "mark":
                last = closing.get(index, index)
                index = last + 1
                continue
            breaks_here = last >= 0 and line(index) != last_line(last)
            begins = token in _BEGINNINGS or sort == "directive" or token == "@"
            if (token in ("}", ")", "]", ";") and sort == "mark") or (breaks_here and begins):
                break
            if token == "=" and sort == "operator":
                break
            last = index
            index += 1
        return -1, last

    def callable_end(index: int) -> int:
        """The last line of what has its list of parameters at or after `index`; -1: there is none."""
        while index < size and tokens[index][1] != "(":
            index += 1
        if index >= size:
            return -1
        last = end_of(closing.get(index, index) + 1)[1]
        return line(last) if last >= 0 else 0

    for index in range(size - 1):
        sort, word = tokens[index][:2]
        before = tokens[index - 1] if index else None
        next_sort, following = tokens[index + 1][:2]
        if sort != "word" or following == ":":
            continue
        if before and (before[1] in ("#", "\\") or (before[0] == "operator" and before[1].endswith("."))):
            continue
        starts = (
            before is None
            or line(index - 1) != line(index)
            or before[1] in _MODIFIERS
            or before[1] in ("{", "}", ";", ")", '"')
            or before[0] in ("directive", "string")
            or (before[0] == "word" and index > 1 and tokens[index - 2][1] == "@")
        )
        if not starts:
            continue
        if word == "func" and next_sort in ("word", "operator"):
            name, parameters = following, index + 2
            if next_sort == "operator" and name.endswith("<") and len(name) > 1 and tokens[index + 2][0] == "word":
                name = name[:-1]
            if parameters < size and tokens[parameters][0] == "operator" and tokens[parameters][1].startswith("<"):
                depth = 0
                while parameters < size:
                    if tokens[parameters][0] == "operator":
                        signs = tokens[parameters][1].replace("->", "")
                        depth += signs.count("<") - signs.count(">")
                    parameters += 1
                    if depth <= 0:
                        break
            end = callable_end(parameters)
            if end >= 0:
                yield "function", name.strip("`"), line(index), end
        elif word == "init" and following in ("(", "<", "?", "!", "?<", "!<"):
            end = callable_end(index + 1)
            if end >= 0:
                yield "constructor", "init", line(index), end
        elif word == "subscript" and following in ("(", "<"):
            end = callable_end(index + 1)
            if end >= 0:
                yield "function", "subscript", line(index), end
        elif word == "deinit" and following == "{":
            yield "function", "deinit", line(index), line(closing[index + 1]) if index + 1 in closing else 0
        elif word in ("typealias", "associatedtype") and next_sort == "word":
            yield "type", following.strip("`"), line(index), 0
        elif word in _TYPES and following not in _NO_TYPE_NAMES and (next_sort == "word" or word == "extension"):
            body, last = end_of(index + 1)
            if body < 0:
                continue
            name = ""
            for each in range(index + 1, body):
                if tokens[each][0] == "word" and (not name or tokens[each - 1][1] == "."):
                    name = tokens[each][1]
                elif tokens[each][1] != ".":
                    break
            yield _TYPES[word], name.strip("`") or "[]", line(index), line(last) if last >= 0 else 0


def _closings(tokens: list[Token]) -> dict[int, int]:
    """The closing bracket of each opening one; branches of `#if` may leave some open."""
    closing: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    for index, (sort, token, _, _) in enumerate(tokens):
        if sort != "mark":
            continue
        if token in "([{":
            opened.append((token, index))
        elif token in ")]}":
            wanted = {")": "(", "]": "[", "}": "{"}[token]
            if any(each == wanted for each, _ in opened):
                while opened[-1][0] != wanted:
                    opened.pop()
                closing[opened.pop()[1]] = index
    return closing
