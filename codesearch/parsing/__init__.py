"""Turns a file's bytes into its declarations, by the rules of its language. The only walker of syntax trees.

Names no language and no node type: what a declaration is comes from the language's grammar file. Reads no
files and never fails on source code: broken code gives the declarations around the error.

One pass of a tree-sitter query yields all that is needed as byte ranges (facts.py); nesting and spans are then
worked out on plain numbers (spans.py), because visiting nodes one by one from Python costs several times more.
"""

from __future__ import annotations

from codesearch.languages import Language, Syntax
from codesearch.parsing.borders import SPLITTABLE, find_borders
from codesearch.parsing.embedded import read_embedded
from codesearch.parsing.facts import Found, collect, compiled, is_rubble, read_tree
from codesearch.parsing.masking import masked
from codesearch.parsing.source import LONGEST_QUALIFIED_NAME, Source, is_notice, without_invalid_bytes
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
    seen, attributes = masked(without_invalid_bytes(content), syntax)
    tree = read_tree(parser, seen)
    if tree is None or is_rubble(tree.root_node):
        return ParsedFile(language=language.name, declarations=(), has_errors=True)
    facts = collect(content, tree.root_node, query, syntax)
    roots = [tree.root_node, *read_embedded(content, seen, facts, grammar, query, syntax)]
    facts.pieces += attributes
    source = Source(content, facts.pieces, syntax, facts.behind)
    found = nest(facts, syntax)
    extend(found, facts, source)
    found = merge(found, source)
    for index, each in enumerate(found):
        each.index = index
    borders_of = find_borders(found, source, borders, roots) if borders else {}
    declarations: list[Declaration] = []
    for each in found:
        declarations.append(_declaration(each, declarations, source, language, borders_of.get(each.index, ())))
    return ParsedFile(
        language=language.name,
        declarations=tuple(declarations),
        doc=facts.doc
        or source.file_doc({each.first for each in found}, facts.opening)
        or _header_doc(found, declarations, syntax),
        has_errors=tree.root_node.has_error,
    )


def _header_doc(found: list[Found], declarations: list[Declaration], syntax: Syntax) -> str:
    """The doc of an open-ended declaration that begins the file, such as a module's header: it speaks of the file."""
    if not found or found[0].capture not in syntax.open_ended or is_notice(declarations[0].doc):
        return ""
    return declarations[0].doc


def _declaration(
    found: Found,
    before: list[Declaration],
    source: Source,
    language: Language,
    borders: tuple[tuple[int, int], ...],
) -> Declaration:
    parent = before[found.parent.index] if found.parent else None
    syntax = source.syntax
    outer = language.scope_separator.join(filter(None, (parent.qualified_name if parent else "", found.scope)))
    separator = syntax.separators.get(found.capture, language.scope_separator)
    has_body = found.first <= found.body < found.last
    signature_end = found.trail[0].start if found.trail else found.last
    if has_body:
        signature_end = found.body
    doc = found.doc if syntax.doc_comments != "above" else ""
    if not doc and syntax.doc_comments != "inside":
        doc = source.comment_text(piece for piece in reversed(found.lead) if piece.is_comment)
        doc = doc or source.comment_text(piece for piece in found.trail if piece.is_comment)
    return Declaration(
        symbol=found.symbol,
        qualified_name=(outer + separator + found.symbol if outer else found.symbol)[-LONGEST_QUALIFIED_NAME:],
        kind=found.kind,
        signature=source.signature(found.proper, found.name_end, signature_end) or found.symbol,
        doc=doc,
        span=Span(found.first, found.last, source.line(found.first), source.line(max(found.first, found.last - 1))),
        parent=found.parent.index if found.parent else -1,
        body_start=found.body if has_body else found.last,
        borders=borders,
    )
