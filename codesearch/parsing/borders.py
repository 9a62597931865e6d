"""Finds where a declaration that is too long for a model may be split: its statements and their nesting."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from codesearch.parsing.facts import Found
from codesearch.parsing.source import Source

if TYPE_CHECKING:
    from tree_sitter import Node, Query

SPLITTABLE = 1500  # bytes, about 400 tokens: shorter declarations fit any model and are never split

DEEPEST = 30  # declarations around one another; beyond, only attacks: each level would list all borders again


def find_borders(
    found: list[Found], source: Source, query: Query, roots: list[Node]
) -> dict[int, tuple[tuple[int, int], ...]]:
    """For each long declaration, by index: where its statements start and how deeply they are nested.

    `roots` are those of the file's tree and of the trees of embedded source.
    """
    from tree_sitter import QueryCursor

    trees = [(root.start_byte, root.end_byte, root) for root in roots]

    levels: list[int] = []
    for each in found:
        levels.append(levels[each.parent.index] + 1 if each.parent else 0)
    longs = [each for each in found if each.last - each.first > SPLITTABLE and levels[each.index] <= DEEPEST]
    result: dict[int, tuple[tuple[int, int], ...]] = {}
    outer_end = -1
    statements: list[tuple[int, int, int]] = []  # start, end, nesting
    starts: list[int] = []
    for each in longs:
        if each.first >= outer_end:
            outer_end = each.last
            nodes: list[Node] = []
            for start, end, root in trees:
                if start < each.last and end > each.start:
                    cursor = QueryCursor(query)
                    cursor.set_byte_range(each.start, each.last)
                    nodes += cursor.captures(root).get("border", [])
            statements = _nested_statements(nodes, source)
            starts = [start for start, _, _ in statements]
        body = each.body if each.body >= 0 else each.name_end
        inside = statements[bisect_left(starts, body) : bisect_left(starts, each.last)]
        # What contains the body itself, such as a statement of an enclosing function, is no level of its own.
        base = min((depth for _, _, depth in inside), default=0)
        if each.kind.is_container:
            inside = [statement for statement in inside if statement[2] == base]
        result[each.index] = tuple((start, depth - base) for start, _, depth in inside if start > each.first)
    return result


def _nested_statements(nodes: list[Node], source: Source) -> list[tuple[int, int, int]]:
    """Statements with the comment directly above each, and the number of statements around each."""
    ranges = sorted({(node.start_byte, -node.end_byte) for node in nodes if node.start_byte not in source.by_start})
    statements: list[tuple[int, int, int]] = []
    ends: list[int] = []
    for start, negative_end in ranges:
        while ends and ends[-1] <= start:
            ends.pop()
        if statements and statements[-1][1] >= -negative_end and statements[-1][0] == start:
            continue  # the same place once, at its outermost level
        lead = source.lead(start)
        statements.append((lead[-1].start if lead else start, -negative_end, len(ends)))
        ends.append(-negative_end)
    return statements
