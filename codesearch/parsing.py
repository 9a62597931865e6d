"""Turns a file's bytes into its declarations, by the rules of its language. The only walker of syntax trees.

Names no language and no node type: what a declaration is comes from the language's grammar file. Reads no files
and never fails on source code: broken code gives the declarations around the error.

One pass of a tree-sitter query yields all that is needed (declarations, comments, attributes, wrappers, local
scopes) as byte ranges; nesting and spans are then worked out on plain numbers, because visiting tree nodes one by
one from Python costs several times more.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from codesearch.errors import GrammarError
from codesearch.languages import Language, Syntax
from codesearch.types import Declaration, Kind, ParsedFile, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

LONGEST_SYMBOL = 200  # a type of an `impl` can be an essay; names of people's code are shorter
LONGEST_SIGNATURE = 400  # characters: shown on a line or two; longer ones are lists of data
LONGEST_DOC = 4000  # characters: beyond that it is a manual, whose rest would drown the other fields
SPLITTABLE = 1500  # bytes, about 400 tokens: shorter declarations fit any model and are never split

_BLANK = frozenset(b" \t\r\n\f\v")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SEMICOLON = re.compile(rb"[ \t]*;")
_SPACES = re.compile(r"\s+")
_COMMENT_MARKERS = re.compile(
    r"^\s*(?:/\*+!?|\*+/|\*+(?=\s|$)|//[/!]*|#+[!:]?|--+\[*|\{-+\|?|;+|%+|\"\"\")?\s*"
)
_COMMENT_ENDS = re.compile(r"\s*(?:\*+/|-\}|\]\]|\"\"\")?\s*$")
_STRING_MARKERS = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*?)\1?$", re.DOTALL)
_NOT_A_DOC = re.compile(
    r"^#!|-\*-.*coding|copyright|\blicen[cs]e|SPDX-|all rights reserved|^\W*(?:eslint|pylint|prettier|tslint)\b",
    re.IGNORECASE,
)


class _Piece(NamedTuple):
    """A comment or an attribute."""

    start: int
    end: int
    is_comment: bool


@dataclass(slots=True)
class _Found:
    """A declaration in the making. `start:end` is its node; `first:last` grows to the span that is cited."""

    start: int
    end: int
    node_id: int
    pattern: int
    capture: str
    kind: Kind
    names: list[str] = field(default_factory=list)
    name_end: int = 0
    scope: str = ""
    body: int = -1
    doc: str = ""
    first: int = 0
    last: int = 0
    proper: int = 0
    parent: _Found | None = None
    merged_into: _Found | None = None
    index: int = -1

    @property
    def symbol(self) -> str:
        return ", ".join(self.names)[:LONGEST_SYMBOL]


@dataclass(slots=True)
class _Facts:
    """What the query found in one file."""

    declarations: dict[int, _Found] = field(default_factory=dict)
    pieces: list[_Piece] = field(default_factory=list)
    locals: list[tuple[int, int]] = field(default_factory=list)
    wrappers: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # child id → its id, start, end
    doc: str = ""


def parse(content: bytes, language: Language) -> ParsedFile:
    """All declarations of a file, an enclosing one before its members, in order of start.

    A language without a grammar gives none. `content` may be any bytes: invalid UTF-8 is replaced in names and
    texts, and spans always count the bytes given. Raises GrammarError if the language's query is wrong.
    """
    syntax = language.syntax
    if syntax is None or not content:
        return ParsedFile(language=language.name, declarations=())
    parser, query, borders = _compiled(language)
    tree = parser.parse(content)
    facts = _collect(content, tree.root_node, query, syntax)
    source = _Source(content, facts.pieces, syntax)
    found = _nest(facts, syntax)
    _extend(found, facts, source)
    found = _merge(found, content, syntax.merge)
    for index, each in enumerate(found):
        each.index = index
    borders_of = _find_borders(found, source, borders, tree.root_node) if borders else {}
    declarations: list[Declaration] = []
    for each in found:
        declarations.append(
            _declaration(each, declarations, source, language, borders_of.get(each.index, ()))
        )
    return ParsedFile(
        language=language.name,
        declarations=tuple(declarations),
        doc=facts.doc or source.file_doc({each.first for each in found}),
        has_errors=tree.root_node.has_error,
    )


@lru_cache(maxsize=64)
def _compiled(language: Language) -> tuple[Parser, Query, Query | None]:
    """The parser and the queries of a language: one of declarations and what surrounds them, one of borders."""
    # Imported here: only indexing parses, and `--help` or a search should not load the grammars.
    from tree_sitter import Parser, Query, QueryError
    from tree_sitter_language_pack import SupportedLanguage, get_language

    syntax = language.syntax
    if syntax is None:
        raise GrammarError(
            f"Language {language.name!r} has no grammar.", hint='Only chunker "declarations" has.'
        )
    grammar = get_language(cast("SupportedLanguage", syntax.grammar))
    parts = [
        syntax.query,
        *(f"({node}) @comment" for node in syntax.comments),
        *(f"({node}) @attribute" for node in syntax.attributes),
        *(f"({node}) @local" for node in syntax.local_scopes),
        *(f"({node} (_) @wrapped) @wrapper" for node in syntax.wrappers),
    ]
    key = "query"
    try:
        query = Query(grammar, "\n".join(parts))
        key = "borders"
        borders = Query(grammar, syntax.borders) if syntax.borders.strip() else None
    except QueryError as error:
        raise GrammarError(
            f"{syntax.source}: key '{key}': {error}.",
            hint="Correct the pattern, or the node type in comments, attributes, local_scopes or wrappers.",
        ) from error
    return Parser(grammar), query, borders


# --- the query's matches -------------------------------------------------------------------------------------


def _collect(content: bytes, root: Node, query: Query, syntax: Syntax) -> _Facts:
    from tree_sitter import QueryCursor

    facts = _Facts()
    kinds = syntax.kinds
    fixed_names = [query.pattern_settings(index).get("name") for index in range(query.pattern_count)]
    for pattern, captures in QueryCursor(query).matches(root):
        capture = next((name for name in captures if name in kinds), None)
        if capture is None:
            _collect_surroundings(facts, captures, content)
            continue
        node = captures[capture][0]
        found = facts.declarations.get(node.id)
        if found is None:
            found = _Found(node.start_byte, node.end_byte, node.id, pattern, capture, kinds[capture])
            facts.declarations[node.id] = found
        elif pattern < found.pattern:
            # The pattern that stands first in the file decides what a node is; later ones add what it lacks.
            found.pattern, found.capture, found.kind = pattern, capture, kinds[capture]
            found.names.clear()
        _add_details(found, pattern, captures, fixed_names[pattern], content)
    unnamed = [node_id for node_id, found in facts.declarations.items() if not found.names]
    for node_id in unnamed:
        del facts.declarations[node_id]
    return facts


def _add_details(
    found: _Found, pattern: int, captures: dict[str, list[Node]], fixed_name: str | None, content: bytes
) -> None:
    if pattern == found.pattern:
        names = captures.get("name", ())
        for node in names:
            name = _one_line(content[node.start_byte : node.end_byte])
            if name and name not in found.names:
                found.names.append(name)
                found.name_end = max(found.name_end, node.end_byte)
        if not names and fixed_name and not found.names:
            found.names.append(fixed_name)
        if "scope" in captures:
            found.scope = _one_line(b"".join(content[n.start_byte : n.end_byte] for n in captures["scope"]))
    if "body" in captures and found.body < 0:
        body = captures["body"][0]
        found.body = body.start_byte
        # A declaration inside a macro's tokens has no node of its own: it runs from its keyword to its body's end.
        found.end = max(found.end, body.end_byte)
    if "doc" in captures and not found.doc:
        found.doc = _clean_string(content, captures["doc"][0])


def _collect_surroundings(facts: _Facts, captures: dict[str, list[Node]], content: bytes) -> None:
    for name, nodes in captures.items():
        node = nodes[0]
        if name in ("comment", "attribute"):
            # Some grammars end a line comment after its line end.
            facts.pieces.append(_Piece(node.start_byte, _back(content, node.end_byte), name == "comment"))
        elif name == "local":
            facts.locals.append((node.start_byte, node.end_byte))
        elif name == "wrapper":
            facts.wrappers[captures["wrapped"][0].id] = (node.id, node.start_byte, node.end_byte)
        elif name == "doc" and not facts.doc:
            facts.doc = _clean_string(content, node)


# --- nesting and spans ---------------------------------------------------------------------------------------


def _nest(facts: _Facts, syntax: Syntax) -> list[_Found]:
    """Declarations in order of start, each with its parent and final kind, without local variables."""
    entries: list[tuple[int, int, int, _Found | None]] = [
        (found.start, -found.end, 1, found) for found in facts.declarations.values()
    ]
    entries += [(start, -end, 0, None) for start, end in facts.locals]
    entries.sort(key=lambda entry: entry[:3])
    kept: list[_Found] = []
    stack: list[
        tuple[int, _Found | None, bool, _Found | None]
    ] = []  # end, declaration, local?, nearest declaration
    for start, negative_end, _, found in entries:
        end = -negative_end
        while stack and stack[-1][0] <= start:
            stack.pop()
        parent, is_local = (stack[-1][3], stack[-1][2]) if stack else (None, False)
        if found is None:
            stack.append((end, None, True, parent))
            continue
        if is_local and found.capture in syntax.skip_locals:
            continue
        if parent and (parent.start, parent.end) == (found.start, found.end):
            continue
        if parent:
            found.parent = parent
            found.kind = syntax.nested.get(parent.kind, {}).get(found.kind, found.kind)
        kept.append(found)
        if found.kind.is_callable:
            is_local = True
        elif found.kind.is_container:
            is_local = False
        stack.append((end, found, is_local, found))
    return kept


def _extend(found: list[_Found], facts: _Facts, source: _Source) -> None:
    """Sets the cited span of each: wrappers, doc comments and attributes above, a `;` and comments behind."""
    own = {each.node_id for each in found}
    wrapped: dict[int, list[_Found]] = {}
    for each in found:
        each.first, each.last = each.start, each.end
        around = facts.wrappers.get(each.node_id)
        while around and around[0] not in own:
            wrapped.setdefault(around[0], []).append(each)
            around = facts.wrappers.get(around[0])
    bounds = {node_id: (start, end) for node_id, start, end in facts.wrappers.values()}
    for node_id, inside in wrapped.items():
        # Of several declarations in one statement, the first has its beginning and the last its end.
        start, end = bounds[node_id]
        inside[0].first = min(inside[0].first, start)
        inside[-1].last = max(inside[-1].last, end)
    for each in found:
        each.proper = each.first
        each.first = source.start_with_lead(each.first)
        each.last = source.end_with_trail(each.first, each.last)
    for each in reversed(found):  # members before what encloses them
        if each.parent:
            each.parent.last = max(each.parent.last, each.last)
            each.parent.first = min(each.parent.first, each.first)


def _merge(found: list[_Found], content: bytes, kinds: frozenset[Kind]) -> list[_Found]:
    """Makes one declaration of neighbours with one name, such as the clauses of a function."""
    if not kinds:
        return found
    latest: dict[int, _Found] = {}
    kept = []
    for each in found:
        if each.parent and each.parent.merged_into:
            each.parent = each.parent.merged_into
        key = id(each.parent)
        before = latest.get(key)
        if (
            before
            and each.kind in kinds
            and (before.kind, before.names, before.scope) == (each.kind, each.names, each.scope)
            and not content[before.last : each.first].strip()
        ):
            before.last = max(before.last, each.last)
            before.doc = before.doc or each.doc
            each.merged_into = before
            continue
        latest[key] = each
        kept.append(each)
    return kept


class _Source:
    """A file's bytes with its comments and attributes: answers what belongs to a declaration, and in which line."""

    def __init__(self, content: bytes, pieces: list[_Piece], syntax: Syntax) -> None:
        self.content = content
        self.syntax = syntax
        self.line_ends = [match.start() for match in re.finditer(rb"\n", content)]
        self.pieces = sorted(pieces)
        self.starts = [piece.start for piece in self.pieces]
        self.by_start = {piece.start: piece for piece in self.pieces}
        self.by_end = {piece.end: piece for piece in reversed(self.pieces)}
        # Where the code before and behind each piece ends and begins: computed once per piece, so that a
        # declaration or statement without a comment costs one look-up.
        self.by_code_before = {_back(content, piece.start): piece for piece in reversed(self.pieces)}
        self.by_code_behind = {_forward(content, piece.end, _BLANK): piece for piece in reversed(self.pieces)}

    def line(self, byte: int) -> int:
        """The 1-based line that a byte lies in."""
        return bisect_left(self.line_ends, byte) + 1

    def line_start(self, byte: int) -> int:
        line = bisect_left(self.line_ends, byte)
        return self.line_ends[line - 1] + 1 if line else 0

    def indent(self, byte: int) -> int:
        """How many blanks begin the line of a byte."""
        start = self.line_start(byte)
        return _forward(self.content, start, b" \t") - start

    def opens_line(self, byte: int) -> bool:
        start = self.line_start(byte)
        return _forward(self.content, start, b" \t\f") >= byte or self.content[start:byte] == _BYTE_ORDER_MARK

    def lead(self, start: int, *, attributes: bool = True) -> list[_Piece]:
        """The attributes and the contiguous comments directly above (or before) a byte, the nearest first."""
        pieces: list[_Piece] = []
        indented = self.syntax.indented
        indent = -1
        while True:
            piece = self.by_code_behind.get(start)
            if piece is None or piece.start >= start:
                return pieces
            if indented and indent < 0:
                indent = self.indent(start)
            if piece.is_comment:
                gap = self.content.count(b"\n", piece.end, start)
                if gap > 1 or not (gap == 0 or self.opens_line(piece.start)):
                    return pieces
                if gap == 0 and indented:
                    return pieces
                if indented and self.indent(piece.start) > indent:
                    return pieces
            elif not attributes:
                return pieces
            pieces.append(piece)
            start = piece.start

    def start_with_lead(self, start: int) -> int:
        pieces = self.lead(start)
        return pieces[-1].start if pieces else start

    def end_with_trail(self, start: int, end: int) -> int:
        """Where a declaration ends: after its last token and `;`; comments indented inside it belong to it."""
        end = _back(self.content, end)
        if self.syntax.indented:
            end = self._without_outer_comments(start, end)
        semicolon = _SEMICOLON.match(self.content, end)
        if semicolon:
            end = semicolon.end()
        if self.syntax.indented:
            end = self._with_inner_comments(start, end)
        return end

    def _without_outer_comments(self, start: int, end: int) -> int:
        """Leaves out comments that the grammar puts at the end although they stand at the outer level."""
        while (piece := self.by_end.get(end)) and piece.is_comment and piece.start > start:
            if not self.opens_line(piece.start) or self.indent(piece.start) > self.indent(start):
                break
            end = _back(self.content, piece.start)
        return end

    def _with_inner_comments(self, start: int, end: int) -> int:
        while (piece := self.by_code_before.get(end)) and piece.is_comment and piece.start >= end:
            on_same_line = self.content.find(b"\n", end, piece.start) < 0
            if not on_same_line and self.indent(piece.start) <= self.indent(start):
                break
            end = piece.end
        return end

    def lead_comment(self, start: int) -> str:
        """The text of the comments directly above a declaration."""
        return self.comment_text(piece for piece in reversed(self.lead(start)) if piece.is_comment)

    def comment_text(self, pieces: Iterator[_Piece]) -> str:
        return _clean_comment("\n".join(_text(self.content[start:end]) for start, end, _ in pieces))

    def signature(self, found: _Found, end: int) -> str:
        """The source of a declaration up to `end`, without comments and without attributes before its name."""
        start = found.proper
        parts = []
        position = bisect_left(self.starts, start)
        for piece in self.pieces[position : bisect_left(self.starts, end)]:
            if piece.start < start or (not piece.is_comment and piece.start > found.name_end):
                continue
            parts.append(self.content[start : piece.start])
            start = piece.end
            if sum(map(len, parts)) > 4 * LONGEST_SIGNATURE:
                break
        parts.append(self.content[start : min(end, start + 8 * LONGEST_SIGNATURE)])
        text = _SPACES.sub(" ", _text(b" ".join(parts))).strip()
        return text[:LONGEST_SIGNATURE].rstrip().removesuffix(";").rstrip()

    def file_doc(self, taken: set[int]) -> str:
        """The first comment at the top of the file that is neither a licence nor a declaration's own."""
        position = len(_BYTE_ORDER_MARK) if self.content.startswith(_BYTE_ORDER_MARK) else 0
        while True:
            run: list[_Piece] = []
            while (piece := self.by_start.get(_forward(self.content, position, _BLANK))) and piece.is_comment:
                if run and self.content.count(b"\n", position, piece.start) > 1:
                    break
                run.append(piece)
                position = piece.end
            if not run or run[0].start in taken:
                return ""
            text = self.comment_text(iter(run))
            raw = _text(self.content[run[0].start : run[-1].end][: 4 * LONGEST_DOC])
            if text and not _NOT_A_DOC.search(raw):
                return text


# --- borders -------------------------------------------------------------------------------------------------


def _find_borders(
    found: list[_Found], source: _Source, query: Query, root: Node
) -> dict[int, tuple[tuple[int, int], ...]]:
    """For each long declaration, by index: where its statements start and how deeply they are nested."""
    from tree_sitter import QueryCursor

    longs = [each for each in found if each.last - each.first > SPLITTABLE]
    result: dict[int, tuple[tuple[int, int], ...]] = {}
    outer_end = -1
    statements: list[tuple[int, int, int]] = []  # start, end, nesting
    starts: list[int] = []
    for each in longs:
        if each.first >= outer_end:
            outer_end = each.last
            cursor = QueryCursor(query)
            cursor.set_byte_range(each.start, each.last)
            statements = _nested_statements(cursor.captures(root).get("border", []), source)
            starts = [start for start, _, _ in statements]
        body = each.body if each.body >= 0 else each.name_end
        inside = statements[bisect_left(starts, body) : bisect_left(starts, each.last)]
        # What contains the body itself, such as a statement of an enclosing function, is no level of its own.
        base = min((depth for _, _, depth in inside), default=0)
        if each.kind.is_container:
            inside = [statement for statement in inside if statement[2] == base]
        result[each.index] = tuple((start, depth - base) for start, _, depth in inside if start > each.first)
    return result


def _nested_statements(nodes: list[Node], source: _Source) -> list[tuple[int, int, int]]:
    """Statements with the comment directly above each, and the number of statements around each."""
    ranges = sorted(
        {(node.start_byte, -node.end_byte) for node in nodes if node.start_byte not in source.by_start}
    )
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


# --- the outcome ---------------------------------------------------------------------------------------------


def _declaration(
    found: _Found,
    before: list[Declaration],
    source: _Source,
    language: Language,
    borders: tuple[tuple[int, int], ...],
) -> Declaration:
    parent = before[found.parent.index] if found.parent else None
    parts = [parent.qualified_name if parent else "", found.scope, found.symbol]
    has_body = found.first <= found.body < found.last
    doc_comments = language.syntax.doc_comments if language.syntax else "above"
    doc = found.doc if doc_comments != "above" else ""
    if not doc and doc_comments != "inside":
        doc = source.lead_comment(found.proper)
    return Declaration(
        symbol=found.symbol,
        qualified_name=language.scope_separator.join(filter(None, parts)),
        kind=found.kind,
        signature=source.signature(found, found.body if has_body else found.last),
        doc=doc,
        span=Span(
            found.first, found.last, source.line(found.first), source.line(max(found.first, found.last - 1))
        ),
        parent=found.parent.index if found.parent else -1,
        body_start=found.body if has_body else found.last,
        borders=borders,
    )


def _back(content: bytes, end: int) -> int:
    """The end of the last byte before `end` that is not blank."""
    while end > 0 and content[end - 1] in _BLANK:
        end -= 1
    return end


def _forward(content: bytes, start: int, blank: frozenset[int] | bytes) -> int:
    """The first byte from `start` on that is not blank."""
    length = len(content)
    while start < length and content[start] in blank:
        start += 1
    return start


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _one_line(raw: bytes) -> str:
    return _SPACES.sub(" ", _text(raw[: 4 * LONGEST_SYMBOL])).strip()[:LONGEST_SYMBOL]


def _clean_comment(text: str) -> str:
    lines = [
        _COMMENT_ENDS.sub("", _COMMENT_MARKERS.sub("", line)) for line in text[:LONGEST_DOC].splitlines()
    ]
    return "\n".join(lines).strip()


def _clean_string(content: bytes, node: Node) -> str:
    text = _text(content[node.start_byte : node.end_byte][: 4 * LONGEST_DOC]).strip()[:LONGEST_DOC]
    match = _STRING_MARKERS.match(text)
    if match:
        text = match.group(2)
    return "\n".join(line.strip() for line in text.splitlines()).strip()
