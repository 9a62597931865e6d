"""Brings declarations into a proper tree: inside the content, nested or apart, never partly overlapping."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from codesearch.chunking.source import Source
from codesearch.types import Declaration, Kind

FILE = -1  # stands for the file itself as the owner of top-level declarations


@dataclass(slots=True)
class Nesting:
    """Cleaned byte ranges and, for each declaration and `FILE`, its members in order of start.

    `aliases` are callables with exactly the range of another one; they are nobody's member. A declaration of
    which nothing is left after clipping is in neither.
    """

    ranges: list[tuple[int, int]]
    members: dict[int, list[int]] = field(default_factory=dict)
    aliases: dict[int, list[int]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)


def nest(declarations: Sequence[Declaration], source: Source) -> Nesting:
    """The tree by position. Where two overlap in part, the later one begins where the earlier one ends."""
    size = len(source.content)
    nesting = Nesting([(0, 0)] * len(declarations))
    heap: list[tuple[int, int, int, int]] = []
    for index, declaration in enumerate(declarations):
        start = source.snap(min(max(declaration.span.start_byte, 0), size))
        end = source.snap(min(max(declaration.span.end_byte, 0), size))
        if start < end:
            heap.append((start, -end, _precedence(declaration.kind), index))
    heapq.heapify(heap)
    open_: list[int] = []
    ends: list[int] = []  # negated ends of `open_`, outermost first, so that they ascend
    while heap:
        start, minus_end, precedence, index = heapq.heappop(heap)
        while ends and -ends[-1] <= start:
            open_.pop()
            ends.pop()
        crossed = bisect_left(ends, minus_end + 1)  # the outermost open one that ends before this one does
        if crossed < len(ends):
            heapq.heappush(heap, (-ends[crossed], minus_end, precedence, index))
            continue
        nesting.ranges[index] = (start, -minus_end)
        nesting.order.append(index)
        owner = open_[-1] if open_ else FILE
        same = owner != FILE and nesting.ranges[owner] == nesting.ranges[index]
        if same and declarations[owner].kind.is_callable and declarations[index].kind.is_callable:
            nesting.aliases.setdefault(owner, []).append(index)
            continue
        nesting.members.setdefault(owner, []).append(index)
        open_.append(index)
        ends.append(minus_end)
    return nesting


def _precedence(kind: Kind) -> int:
    """Of two equal ranges, the one that contains the other: containers, then callables, then data."""
    if kind.is_container:
        return 0
    return 1 if kind.is_callable else 2
