"""Turns a file's bytes into its declarations, by the rules of its language. The only walker of syntax trees.

Names no language and no node type: what a declaration is comes from the language's grammar file. Reads no
files and never fails on source code: broken code gives the declarations around the error.

One pass of a tree-sitter query yields all that is needed as byte ranges (facts.py); nesting and spans are then
worked out on plain numbers (spans.py), because visiting nodes one by one from Python costs several times more.
"""

from __future__ import annotations

from codesearch.languages import Language
from codesearch.parsing.borders import SPLITTABLE, find_borders
from codesearch.parsing.embedded import read_embedded
from codesearch.parsing.facts import Found, collect, compiled, is_rubble, read_tree
from codesearch.parsing.source import LONGEST_QUALIFIED_NAME, Source, without_invalid_bytes
from codesearch.parsing.spans import extend, merge, nest
from codesearch.types import Declaration, ParsedFile, Span

__all__ = ["SPLITTABLE", "parse"]


def parse(content: bytes, language: Language) -> ParsedFile:
    """All declarations of a file, an enclosing one before its members, in order of start.

    A language without a grammar gives none. `content` may be any bytes: invalid UTF-8 is replaced in names and
    texts, and spans always count the bytes given. Raises GrammarError if the language's query is wrong.
    """
    syntax = language.syntax
    if syntax is None or not content:
        return ParsedFile(language=language.name, declarations=())
    grammar, parser, query, borders = compiled(language)
    readable = without_invalid_bytes(content)
    tree = read_tree(parser, readable)
    if tree is None or is_rubble(tree.root_node):
        return ParsedFile(language=language.name, declarations=(), has_errors=True)
    facts = collect(content, tree.root_node, query, syntax)
    roots = [tree.root_node, *read_embedded(content, readable, facts, grammar, query, syntax)]
    source = Source(content, facts.pieces, syntax)
    found = nest(facts, syntax)
    extend(found, facts, source)
    found = merge(found, content, syntax)
    for index, each in enumerate(found):
        each.index = index
    borders_of = find_borders(found, source, borders, roots) if borders else {}
    declarations: list[Declaration] = []
    for each in found:
        declarations.append(_declaration(each, declarations, source, language, borders_of.get(each.index, ())))
    return ParsedFile(
        language=language.name,
        declarations=tuple(declarations),
        doc=facts.doc or source.file_doc({each.first for each in found}),
        has_errors=tree.root_node.has_error,
    )


def _declaration(
    found: Found,
    before: list[Declaration],
    source: Source,
    language: Language,
    borders: tuple[tuple[int, int], ...],
) -> Declaration:
    parent = before[found.parent.index] if found.parent else None
    parts = [parent.qualified_name if parent else "", found.scope, found.symbol]
    has_body = found.first <= found.body < found.last
    doc_comments = language.syntax.doc_comments if language.syntax else "above"
    doc = found.doc if doc_comments != "above" else ""
    if not doc and doc_comments != "inside":
        doc = source.comment_text(piece for piece in reversed(found.lead) if piece.is_comment)
    return Declaration(
        symbol=found.symbol,
        qualified_name=language.scope_separator.join(filter(None, parts))[-LONGEST_QUALIFIED_NAME:],
        kind=found.kind,
        signature=source.signature(found.proper, found.name_end, found.body if has_body else found.last)
        or found.symbol,
        doc=doc,
        span=Span(found.first, found.last, source.line(found.first), source.line(max(found.first, found.last - 1))),
        parent=found.parent.index if found.parent else -1,
        body_start=found.body if has_body else found.last,
        borders=borders,
    )
