"""Cuts a part of a file that is too long for one chunk into parts of similar size.

Cuts fall on the coarsest borders that do: those that the caller names (statements by depth, paragraphs), then
separators (blank lines, lines, sentences), then spaces, then characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codesearch.chunking.budget import TokenBudget
from codesearch.chunking.source import Source

BLANK_LINE = re.compile(rb"\n(?:[ \t\r]*\n)+")
LINE = re.compile(rb"\n")
SENTENCE = re.compile(rb"[.!?][\"')\]]*\s+")

Range = tuple[int, int]

_DEEPEST = 12  # deeper statements count as this deep, so that the work stays linear in the number of borders


@dataclass(frozen=True, slots=True)
class _Atom:
    """A piece that is never cut again; `rank` says how good a border its start is (0 is the best)."""

    start: int
    end: int
    rank: int
    tokens: int


def split(
    source: Source,
    whole: Range,
    borders: Iterable[tuple[int, int]],
    separators: Sequence[re.Pattern[bytes]],
    budget: TokenBudget,
    prefix: str = "",
) -> list[Range]:
    """Ranges that tile `whole`, each fitting the budget together with `prefix`.

    `borders` are (byte, depth) pairs in any order; those outside the range are ignored. A range that is too
    large all the same is a single character.
    """
    room = max(1, budget.room - (budget.tokens(prefix) if prefix else 0))
    ranks: dict[int, int] = {}
    for byte, depth in borders:
        if whole[0] < byte < whole[1]:
            byte, depth = source.line_start(source.snap(byte)), min(max(depth, 0), _DEEPEST)
            if byte > whole[0]:
                ranks[byte] = min(depth, ranks.get(byte, depth))
    starts = [whole[0], *sorted(ranks)]
    atoms: list[_Atom] = []
    for start, end in zip(starts, [*starts[1:], whole[1]], strict=True):
        atoms += _atoms(source, start, end, ranks.get(start, 0), separators, budget, room)
    parts: list[Range] = []
    for start, end in _pack(_units(atoms, room), room):
        parts += _verified(source, start, end, budget, prefix)
    return parts


def _atoms(
    source: Source,
    start: int,
    end: int,
    rank: int,
    separators: Sequence[re.Pattern[bytes]],
    budget: TokenBudget,
    room: int,
) -> list[_Atom]:
    """One atom if the range fits; else as many as the first separators that make it fit give."""
    done: list[_Atom] = []
    stack = [(start, end, rank, 0)]
    while stack:
        start, end, rank, level = stack.pop()
        tokens = _tokens(source, start, end, budget)
        if tokens <= room:
            done.append(_Atom(start, end, rank, tokens))
            continue
        if level < len(separators):
            cuts = [m.end() for m in separators[level].finditer(source.content, start, end) if m.end() < end]
        else:
            cut = _middle(source, start, end)
            cuts = [] if cut is None else [cut]
            if cut is None:
                done.append(_Atom(start, end, rank, tokens))
                continue
        level = min(level + 1, len(separators))
        starts = [start, *cuts]
        pieces = zip(starts, [*cuts, end], strict=True)
        ranked = [(s, e, rank if s == start else _DEEPEST + level, level) for s, e in pieces]
        stack.extend(reversed(ranked))
    return done


def _tokens(source: Source, start: int, end: int, budget: TokenBudget) -> int:
    if not budget.may_fit(end - start):
        return end - start
    return budget.tokens(source.text(start, end))


def _middle(source: Source, start: int, end: int) -> int | None:
    """A cut near the middle, at a line, else at a space, else at a character; None for a single character."""
    content = source.content
    middle = (start + end) // 2
    quarter = (end - start) // 4
    for separator in (b"\n", b" "):
        before = content.rfind(separator, start + quarter, middle) + 1
        if before:
            return before
        after = content.find(separator, middle, end - quarter) + 1
        if after and after < end:
            return after
    cut = source.snap(middle)
    if cut > start:
        return cut
    for cut in range(middle + 1, min(end, middle + 5)):
        if source.snap(cut) == cut:
            return cut
    return None


def _units(atoms: Sequence[_Atom], room: int) -> list[tuple[int, int, int]]:
    """Runs of atoms (start, end, tokens), each as coarse as fits."""
    sums = [0]
    for atom in atoms:
        sums.append(sums[-1] + atom.tokens)
    units: list[tuple[int, int, int]] = []
    stack = [(0, len(atoms))]
    while stack:
        first, last = stack.pop()
        tokens = sums[last] - sums[first]
        if tokens <= room or last - first == 1:
            units.append((atoms[first].start, atoms[last - 1].end, tokens))
            continue
        best = min(atom.rank for atom in atoms[first + 1 : last])
        cuts = [first, *(i for i in range(first + 1, last) if atoms[i].rank == best), last]
        stack.extend(reversed(list(pairwise(cuts))))
    return units


def _pack(units: Sequence[tuple[int, int, int]], room: int) -> list[Range]:
    """Fills parts greedily, in as few parts as `room` allows, the largest one as small as possible."""
    fewest = len(_fill(units, room))
    low, high = 1, room
    while low < high:
        size = (low + high) // 2
        if len(_fill(units, size)) <= fewest:
            high = size
        else:
            low = size + 1
    return _fill(units, high)


def _fill(units: Sequence[tuple[int, int, int]], room: int) -> list[Range]:
    parts: list[Range] = []
    used = 0
    for start, end, tokens in units:
        if parts and used + tokens <= room:
            parts[-1] = (parts[-1][0], end)
            used += tokens
        else:
            parts.append((start, end))
            used = tokens
    return parts


def _verified(source: Source, start: int, end: int, budget: TokenBudget, prefix: str) -> list[Range]:
    """The range, halved until it fits: tokens of pieces need not add up to those of the whole."""
    done: list[Range] = []
    stack = [(start, end)]
    while stack:
        start, end = stack.pop()
        cut = None if budget.fits(prefix + source.text(start, end)) else _middle(source, start, end)
        if cut is None:
            done.append((start, end))
        else:
            stack += [(cut, end), (start, cut)]
    return done
