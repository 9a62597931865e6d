"""Members of C# files, from tokens and brackets alone: a scanner that shares nothing with the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator

Token = tuple[str, str, int]  # sort, text, line
Found = tuple[str, str, int, int]  # kind, name, line, end

_TOKEN = re.compile(
    r"(?P<word>@?[^\W\d]\w*)|(?P<number>\d[\w.]*)"
    r"|(?P<mark>=>|::|\?\?|&&|\|\||==|!=|<=|>=|\+\+|--|->|[-+*/%&|^!~<>=?.,:;(){}\[\]#\\$@])"
)
_RAW = re.compile(r'\$*("{3,})')
_QUOTED = re.compile(r'[$@]*"')
_CHARACTER = re.compile(r"'(?:\\[^'\n]*'?|[^'\\])'")
_WORD = re.compile(r"@?[^\W\d]\w*")
_MODIFIERS = frozenset({
    "public", "private", "protected", "internal", "static", "readonly", "const", "abstract", "sealed",
    "virtual", "override", "extern", "unsafe", "volatile", "new", "partial", "async", "ref", "required", "file",
    "fixed", "scoped",
})  # fmt: skip
_TYPES = frozenset({"class", "struct", "interface", "enum", "record"})


def _string_end(text: str, start: int) -> int:
    raw = _RAW.match(text, start)
    if raw:
        end = text.index(raw.group(1), raw.end()) + len(raw.group(1))
        while text[end : end + 1] == '"':
            end += 1
        return end
    opening = _QUOTED.match(text, start)
    assert opening
    interpolated, verbatim = "$" in opening.group(), "@" in opening.group()
    position = opening.end()
    while position < len(text):
        char = text[position]
        if char == "\\" and not verbatim:
            position += 2
        elif char == '"':
            if not (verbatim and text[position + 1 : position + 2] == '"'):
                return position + 1
            position += 2
        elif interpolated and char == "{":
            position = position + 2 if text[position + 1 : position + 2] == "{" else _hole_end(text, position)
        elif char == "\n" and not verbatim:
            return position
        else:
            position += 1
    return position


def _hole_end(text: str, position: int) -> int:
    depth = 0
    while position < len(text):
        character = _CHARACTER.match(text, position)
        if _QUOTED.match(text, position):
            position = _string_end(text, position)
            continue
        if character:
            position = character.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
        if not depth:
            break
    return position


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    position, line, at_start = 0, 1, True
    while position < len(text):
        char = text[position]
        if char == "\n":
            position, line, at_start = position + 1, line + 1, True
            continue
        if char in " \t\r\ufeff":
            position += 1
            continue
        directive = at_start and char == "#"
        at_start = False
        if directive or text.startswith("//", position):
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
            continue
        end = position
        if text.startswith("/*", position):
            end = text.index("*/", position) + 2
        elif _QUOTED.match(text, position):
            end = _string_end(text, position)
            found.append(("string", '""', line))
        elif match := _CHARACTER.match(text, position):
            end = match.end()
            found.append(("string", "''", line))
        elif match := _TOKEN.match(text, position):
            end = match.end()
            found.append((match.lastgroup or "", match.group(), line))
        line += text.count("\n", position, end)
        position = max(end, position + 1)
    return found


def definitions(text: str) -> Iterator[Found]:
    """Types, methods, constructors, operators; what stands in bodies of functions is not looked at."""
    tokens = _tokens(text)
    size = len(tokens)

    def is_mark(index: int, marks: str) -> bool:
        return tokens[index][0] == "mark" and tokens[index][1] in marks

    def closing(index: int) -> int:
        depth = 0
        while index < size:
            if is_mark(index, "([{"):
                depth += 1
            elif is_mark(index, ")]}"):
                depth -= 1
                if not depth:
                    return index
            index += 1
        return size - 1

    def statement_end(index: int) -> int:
        while index < size and tokens[index][1] != ";":
            if is_mark(index, "([{"):
                index = closing(index)
            elif is_mark(index, "}"):
                return index - 1
            index += 1
        return min(index, size - 1)

    stack = [(0, size)]
    while stack:
        index, stop = stack.pop()
        while index < stop:
            if tokens[index][1] in (";", "}"):
                index += 1
                continue
            while index < stop and tokens[index][1] == "[":  # attributes
                index = closing(index) + 1
            head: list[tuple[str, int]] = []  # text and line of what stands outside brackets
            while index < stop and tokens[index][1] not in ("{", ";", "=>", "=", "}"):
                head.append((tokens[index][1], tokens[index][2]))
                if is_mark(index, "(["):
                    index = closing(index)
                elif tokens[index][1] == "operator":
                    index += 1
                    while index < stop and (
                        tokens[index][1] != "(" or [each[1] for each in tokens[index + 1 : index + 3]] == [")", "("]
                    ):
                        index += 1
                    continue
                index += 1
            if not head:
                index += 1
                continue
            ending = tokens[index][1] if index < size else ";"
            plain = [each for each in head if each[0] not in _MODIFIERS]
            words = [each[0] for each in plain]
            keyword = words[0] if words else ""
            first = head[0][1]
            if keyword == "using":
                index = statement_end(index) + 1
            elif keyword in _TYPES and len(words) > 1:
                skip = 2 if keyword == "record" and words[1] in ("class", "struct") and len(words) > 2 else 1
                end = closing(index) if ending == "{" else statement_end(index)
                yield "type", words[skip], first, tokens[end][2]
                if ending == "{" and keyword != "enum":
                    stack.append((index + 1, end))
                index = end + 1
            elif keyword in ("namespace", "extension"):
                if ending == "{":
                    end = closing(index)
                    stack.append((index + 1, end))
                    index = end + 1
                else:
                    index += 1
            else:
                end = closing(index) if ending == "{" else statement_end(index)
                end = min(end, size - 1)
                if keyword == "delegate" and words[1:2] != ["*"]:
                    name = _callable_name([each[0] for each in head])
                    if name:
                        yield "type", name, first, tokens[end][2]
                elif ending == "{" and end + 1 < size and tokens[end + 1][1] == "=":
                    end = statement_end(end + 1)  # a property with an initial value
                elif keyword != "event" and ending != "=":
                    texts = [each[0] for each in head]
                    name = "operator" if "operator" in texts else _callable_name(texts)
                    if name:
                        yield "method", name, first, tokens[end][2]
                index = end + 1


def _callable_name(head: list[str]) -> str:
    """The name before the list of parameters; nothing where there is none."""
    cut = len(head)
    for index, each in enumerate(head):
        if each in (":", "where") and "(" in head[:index]:
            cut = index
            break
    for index in range(cut - 1, 0, -1):
        if head[index] != "(":
            continue
        before = index - 1
        if head[before] == ">":  # parameters of type
            depth = 0
            while before >= 0:
                depth += {">": 1, "<": -1}.get(head[before], 0)
                before -= 1
                if not depth:
                    break
        if before >= 0 and _WORD.fullmatch(head[before]) and head[before] not in _MODIFIERS:
            return head[before]
    return ""
