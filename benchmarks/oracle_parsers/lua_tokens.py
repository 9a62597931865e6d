"""Functions of Lua files, from tokens and `end` alone: a scanner that shares nothing with the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator

Found = tuple[str, str, int, int]  # kind, name, line, end

_TOKEN = re.compile(
    r"--\[(=*)\[.*?\]\1\]|--[^\n]*|\[(=*)\[.*?\]\2\]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|[A-Za-z_]\w*|\d[\w.]*|\.\.\.|[=~<>]=|::|.|\n",
    re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_STOPS = frozenset({",", ";", "{", "}", "=", "local", "then", "do", "end", "else"})


def definitions(text: str) -> Iterator[Found]:
    """Functions with a name: `function a.b()`, `a.b = function()`, and the fields of a table."""
    tokens: list[tuple[str, int]] = []
    line = 1
    for match in _TOKEN.finditer("--" + text if text.startswith("#") else text):
        token = match.group()
        if not token.isspace() and not token.startswith("--"):
            tokens.append((token, line))
        line += token.count("\n")
    opened: list[tuple[str, int]] = []  # name and line of a function, or no name for any other block
    for index, (token, line) in enumerate(tokens):
        if token == "function":
            opened.append((_name(tokens, index), line))
        elif token in ("if", "do", "repeat"):
            opened.append(("", line))
        elif token in ("end", "until") and opened:
            name, first = opened.pop()
            if name and "function(" not in name:
                yield "function", re.split(r"[.:\[]", name.rstrip("]"))[-1].strip("\"'[]"), first, line


def _name(tokens: list[tuple[str, int]], index: int) -> str:
    following = index + 1
    name = ""
    if following < len(tokens) and _WORD.fullmatch(tokens[following][0]):
        while following < len(tokens) - 1 and tokens[following][0] != "(":
            name += tokens[following][0]
            following += 1
        return name
    if not index or tokens[index - 1][0] != "=":
        return ""
    before, depth = index - 2, 0  # what is assigned to, read backwards
    while before >= 0:
        token = tokens[before][0]
        after = tokens[before + 1][0]
        is_operand = _WORD.fullmatch(token) or token == ")" or token[0] in "\"'0123456789"
        next_statement = before < index - 2 and is_operand and (_WORD.fullmatch(after) or after[0] in "\"'")
        if not depth and (token in _STOPS or next_statement):
            break
        if token in (")", "]", ">"):
            depth += 1
        elif token in ("(", "[", "<"):
            if not depth:
                break
            depth -= 1
        name = token + name
        before -= 1
    if before >= 0 and tokens[before][0] == ",":  # `local a, b = function`: the first gets it
        while before >= 0 and (
            tokens[before][0] == "," or (_WORD.fullmatch(tokens[before][0]) and tokens[before][0] != "local")
        ):
            before -= 1
        if before >= 0 and tokens[before][0] == "local":
            name = tokens[before + 1][0]
    return re.sub(r"<(?:const|close)>$", "", name)
