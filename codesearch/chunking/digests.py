"""Short texts that stand for a container or a file: names and signatures, never the bodies of functions.

They change only when something is declared differently, so that an edit inside a function re-embeds that
function alone. Nothing in them depends on a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codesearch.chunking.budget import TokenBudget
from codesearch.types import Declaration

_IMPORT = re.compile(r"\s*(import|from|use|using|require|require_relative|include|#\s*include|package)\b")
_MOST_IMPORTS = 200  # lines looked at; more than fit into any chunk
_MISSES = 16  # lines in a row that are too long before the rest of a list is given up


def container_digest(container: Declaration, members: Sequence[Declaration], budget: TokenBudget) -> str:
    """Signature, doc, then the members' signatures: data first, since fields say what a type is."""
    room = budget.room
    data = [member for member in members if not (member.kind.is_callable or member.kind.is_container)]
    code = [member for member in members if member.kind.is_callable or member.kind.is_container]
    lines = [
        budget.clip(_one_line(container.signature or container.symbol), room // 4),
        budget.clip(container.doc, room // 3),
        *(_member_lines(data, code, budget)),
    ]
    return _fill(lines, budget)


def file_digest(
    doc: str, outline: Sequence[tuple[int, Declaration]], imports: Iterable[str], budget: TokenBudget
) -> str:
    """Doc and outline of a file; `outline` are (depth, declaration) pairs in order of start.

    Signatures if all of them fit, else names, outer ones first. Import lines fill what room is left.
    """
    lines = [budget.clip(doc, budget.room // 3)]
    signatures = [_one_line(declaration.signature or declaration.qualified_name) for _, declaration in outline]
    if budget.may_fit(sum(map(len, signatures))) and budget.fits("\n".join([*lines, *signatures])):
        lines += signatures
    else:
        by_depth = sorted(range(len(outline)), key=lambda i: outline[i][0])
        names = [outline[i][1].symbol for i in by_depth]
        room = budget.room - budget.tokens(lines[0])
        kept = sorted(by_depth[i] for i in _fitting(names, budget, room))
        lines.append(" ".join(outline[i][1].symbol for i in kept))
    return _fill([*lines, *imports], budget)


def import_lines(text: str) -> list[str]:
    """Lines of a file's top level that import something, those of a parenthesised block included."""
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        if inside:
            inside = not line.startswith(")")
            if inside and line.strip():
                found.append(line.strip())
        elif _IMPORT.match(line):
            found.append(line.strip())
            inside = line.rstrip().endswith("(")
        if len(found) >= _MOST_IMPORTS:
            break
    return found


def _member_lines(data: Sequence[Declaration], code: Sequence[Declaration], budget: TokenBudget) -> Iterable[str]:
    longest = max(8, budget.room // 8)  # tokens, so that one endless signature does not crowd out the others
    for member in (*data, *code):
        yield budget.clip(_one_line(member.signature or member.symbol), longest)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _fitting(texts: Sequence[str], budget: TokenBudget, room: int) -> list[int]:
    """Positions of the first texts that have `room` tokens together; a few long ones are passed over."""
    kept: list[int] = []
    misses = 0
    for position, text in enumerate(texts):
        tokens = budget.tokens(text) if text else 0
        if tokens > room:
            misses += 1
            if misses == _MISSES:
                break
            continue
        room -= tokens
        kept.append(position)
    return kept


def _fill(lines: Iterable[str], budget: TokenBudget) -> str:
    texts: list[str] = []
    used = 0
    misses = 0
    for line in lines:
        if not line:
            continue
        tokens = budget.tokens(line)
        if used + tokens > budget.room:
            misses += 1
            if misses == _MISSES:
                break
            continue
        used += tokens
        texts.append(line)
    while len(texts) > 1 and not budget.fits("\n".join(texts)):
        texts.pop()  # tokens of lines need not add up to those of the whole
    return "\n".join(texts)
