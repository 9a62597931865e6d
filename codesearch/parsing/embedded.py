"""Reads declarations in what the grammar took for bare tokens: source of the same language inside a macro call.

The grammar file says where to look (`@embedded`). Such bytes are parsed again in place, so offsets and lines stay
those of the file, and what is found there nests like everything else. Bytes that are no proper source stay tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from codesearch.languages import Syntax
from codesearch.parsing.facts import Facts, collect, read_tree

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query

DEEPEST = 4  # calls around one another; real code has two, and each level parses its bytes once more


def read_embedded(
    content: bytes, seen: bytes, facts: Facts, grammar: Grammar, query: Query, syntax: Syntax
) -> list[Node]:
    """Adds to `facts` what is declared in embedded source; the roots of its trees, those of outer ones first.

    `seen` is the content as the file's parser read it. Where bytes are embedded source, what the query made of
    their bare tokens is dropped. The caller must hold the roots as long as it uses the facts: the ids of nodes are
    unique only among living trees.
    """
    roots: list[Node] = []
    level = facts.embedded
    for _ in range(DEEPEST):
        if not level:
            break
        ranges: list[tuple[int, int]] = []
        parsed: list[Facts] = []
        for node in sorted(level, key=lambda node: (node.start_byte, -node.end_byte)):
            if ranges and node.start_byte < ranges[-1][1]:
                continue  # lies in one that is read already
            root = _parse_inside(seen, node, grammar)
            if root is not None:
                roots.append(root)
                ranges.append((node.start_byte, node.end_byte))
                parsed.append(collect(content, root, query, syntax))
        _drop_inside(facts, ranges)
        for inner in parsed:
            facts.declarations.update(inner.declarations)
            facts.pieces += inner.pieces
            facts.locals += inner.locals
            facts.wrappers.update(inner.wrappers)
            facts.docs.update(inner.docs)
            facts.behind |= inner.behind
        level = [node for inner in parsed for node in inner.embedded]
    return roots


def _parse_inside(seen: bytes, node: Node, grammar: Grammar) -> Node | None:
    """The tree of what lies between a node's first and last token, or None if that is no source."""
    from tree_sitter import Parser, Range

    if node.child_count < 2:
        return None
    opening, closing = node.children[0], node.children[-1]
    inside = Range(opening.end_point, closing.start_point, opening.end_byte, closing.start_byte)
    # A parser of its own: the language's parser is shared, and must go on to parse whole files.
    tree = read_tree(Parser(grammar, included_ranges=[inside]), seen)
    return None if tree is None or _is_broken(tree.root_node) else tree.root_node


def _is_broken(root: Node) -> bool:
    """Whether the parser had to skip anything. A missing token is none: macros let the last `;` be left out."""
    nodes = [root] if root.has_error else []
    while nodes:
        node = nodes.pop()
        if node.is_error:
            return True
        nodes.extend(child for child in node.children if child.has_error)
    return False


def _drop_inside(facts: Facts, ranges: list[tuple[int, int]]) -> None:
    if not ranges:
        return
    starts = [start for start, _ in ranges]

    def is_outside(byte: int) -> bool:
        position = bisect_right(starts, byte) - 1
        return position < 0 or byte >= ranges[position][1]

    facts.declarations = {key: found for key, found in facts.declarations.items() if is_outside(found.start)}
    facts.pieces = [piece for piece in facts.pieces if is_outside(piece.start)]
    facts.locals = [place for place in facts.locals if is_outside(place[0])]
