"""Runs a language's query over a file's syntax tree and keeps what it finds as byte ranges.

The one place that touches tree-sitter's nodes, apart from borders and embedded source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from codesearch.errors import GrammarError
from codesearch.languages import Language, Syntax
from codesearch.parsing.source import LONGEST_SYMBOL, Piece, back, clean_string, one_line, unquoted
from codesearch.types import Kind

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser, Query, Tree

PATIENCE = 2000  # reports of a parser without a step forward, 0.2 s; 5 in real files, and one per 190 bytes at the end
REPORTS = 10_000  # of a parser in all, 0.4 s, and one more for each ten bytes; real files have one for 40 or more
REREAD = 50  # times that a file's bytes may be read, on top of 2 MB: 8 in real files, thousands in unclosed strings
MOST_MATCHES = 512  # of a query unfinished at one place: 256 do for real files; deep nesting makes it quadratic
_PIECE_AGAIN = 64  # bytes, where the parser went back
_PIECE = 2048  # bytes that the parser is given at once; larger ones cost more when a predicate asks for a node's text
LONGEST_RUN_OF_TOKENS = 5000  # costs 0.03 s; 100,000 cost 14 s


@dataclass(slots=True)
class Found:
    """A declaration in the making. `start:end` is its node; `first:last` grows to the span that is cited."""

    start: int
    end: int
    node_id: int
    pattern: int
    capture: str
    kind: Kind
    names: list[str] = field(default_factory=list)
    prefix: str = ""
    joint: str = ", "
    name_end: int = 0
    scope: str = ""
    body: int = -1
    doc: str = ""
    first: int = 0
    last: int = 0
    proper: int = 0
    lead: list[Piece] = field(default_factory=list)
    trail: list[Piece] = field(default_factory=list)
    parameters: int = 0
    parent: Found | None = None
    merged_into: Found | None = None
    index: int = -1

    @property
    def symbol(self) -> str:
        """The name, or all of them where one statement gives several."""
        return (self.prefix + self.joint.join(self.names))[:LONGEST_SYMBOL]


@dataclass(slots=True)
class Facts:
    """What the query found in one file."""

    declarations: dict[int, Found] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    locals: list[tuple[int, int]] = field(default_factory=list)
    wrappers: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # child id → its id, start, end
    embedded: list[Node] = field(default_factory=list)  # tokens that may be source of the same language
    docs: dict[int, str] = field(default_factory=dict)  # start of an attribute → the docstring that it holds
    behind: set[int] = field(default_factory=set)  # starts of comments that belong to what stands before them
    doc: str = ""
    opening: int = 0  # where the code begins
    end: int = 0  # of the file


_queries: list[Query] = []  # all of them: the library crashes where one is freed that has a #set! behind a predicate


@cache
def compiled(language: Language) -> tuple[Grammar, Parser, Query, Query | None]:
    """A language's grammar, parser and queries: one of declarations and what surrounds them, one of borders."""
    # Imported here: only indexing parses, and `--help` or a search should not load the grammars.
    from tree_sitter import Parser, Query, QueryError
    from tree_sitter_language_pack import SupportedLanguage, get_language

    syntax = language.syntax
    if syntax is None:
        raise GrammarError(f"Language {language.name!r} has no grammar.", hint='Only chunker "declarations" has.')
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
        _queries.append(query)
        key = "borders"
        borders = Query(grammar, syntax.borders) if syntax.borders.strip() else None
        if borders:
            _queries.append(borders)
    except QueryError as error:
        raise GrammarError(
            f"{syntax.source}: key '{key}': {error}.",
            hint="Correct the pattern, or the node type in comments, attributes, local_scopes or wrappers.",
        ) from error
    for index in range(query.pattern_count):
        try:
            _settings(query, index)
        except re.error as error:
            raise GrammarError(
                f"{syntax.source}: key 'query': #set! strip is no regular expression: {error}.", hint="Correct it."
            ) from error
    return grammar, Parser(grammar), query, borders


def read_tree(parser: Parser, content: bytes) -> Tree | None:
    """The syntax tree of UTF-8 bytes, or None where the parser does not come to an end.

    Mending broken code, a parser can go round in circles for ever, or look for the end of a string to the end of
    the file from each of a thousand places. It says regularly how far it has come, and asks for what it reads: where
    it comes nowhere new for too long, takes too many steps or reads too much, it is stopped. Counted in what it did,
    not in time, so that the same bytes give the same answer on every machine.
    """
    patience = PATIENCE + len(content) // 50
    reports = REPORTS + len(content) // 10
    allowance = 2_000_000 + REREAD * len(content)
    furthest, waited = -1, 0
    following, size = 0, _PIECE

    def is_too_much(offset: int, has_error: bool) -> bool:  # noqa: ARG001 - the parser passes both
        nonlocal furthest, waited, reports
        reports -= 1
        furthest, waited = (offset, 0) if offset > furthest else (furthest, waited + 1)
        return waited > patience or reports < 0 or allowance < 0

    def read(offset: int, point: object) -> bytes:  # noqa: ARG001
        nonlocal following, size, allowance
        # py-tree-sitter 0.26 never frees what it is given, and a scanner that looks ahead and goes back asks anew.
        size = min(2 * size, _PIECE) if offset == following else _PIECE_AGAIN
        following = offset + size
        allowance -= size
        return content[offset:following] if allowance >= 0 else b""  # "that was all": ends the scan that it is in

    try:
        tree = parser.parse(read, progress_callback=is_too_much)
    except ValueError:  # how the parser says that it was stopped
        parser.reset()
        return None
    return tree if allowance >= 0 else None


def is_rubble(root: Node) -> bool:
    """Whether the parser gave up on a file so thoroughly that running a query would take minutes.

    A query looks, for each token without a name, for a later named one beside it: quadratic in a run of brackets
    that no rule of the grammar could take in.
    """
    nodes = [root] if root.has_error else []
    while nodes:
        node = nodes.pop()
        children = node.children
        if node.is_error:
            run = 0
            for child in children:
                run = 0 if child.is_named else run + 1
                if run > LONGEST_RUN_OF_TOKENS:
                    return True
        nodes.extend(child for child in children if child.has_error)
    return False


def collect(content: bytes, root: Node, query: Query, syntax: Syntax) -> Facts:
    """Everything that the query finds in a file."""
    from tree_sitter import QueryCursor

    facts = Facts(end=root.end_byte)
    kinds = syntax.kinds
    settings = [_settings(query, index) for index in range(query.pattern_count)]
    for pattern, captures in QueryCursor(query, match_limit=MOST_MATCHES).matches(root):
        capture = next((name for name in captures if name in kinds), None)
        if capture is None:
            _collect_surroundings(facts, captures, content)
            continue
        node = captures[capture][0]
        found = facts.declarations.get(node.id)
        if found is None:
            found = Found(node.start_byte, node.end_byte, node.id, pattern, capture, kinds[capture])
            facts.declarations[node.id] = found
        elif pattern < found.pattern:
            # The pattern that stands first in the file decides what a node is; later ones add what it lacks.
            found.pattern, found.capture, found.kind = pattern, capture, kinds[capture]
            found.names.clear()
        _add_details(found, pattern, captures, settings[pattern], content)
    unnamed = [node_id for node_id, found in facts.declarations.items() if not found.names]
    for node_id in unnamed:
        del facts.declarations[node_id]
    return facts


class _Settings(NamedTuple):
    """What a pattern of the query sets by `#set!`."""

    name: str | None
    prefix: str
    joint: str | None
    strip: re.Pattern[str] | None


def _settings(query: Query, pattern: int) -> _Settings:
    texts = query.pattern_settings(pattern)
    strip = texts.get("strip")
    return _Settings(
        name=texts.get("name"),
        prefix=texts.get("prefix") or "",
        joint=texts.get("joint"),
        strip=re.compile(strip) if strip else None,
    )


def _add_details(
    found: Found, pattern: int, captures: dict[str, list[Node]], settings: _Settings, content: bytes
) -> None:
    if pattern == found.pattern:
        names = captures.get("name", ())
        for node in names:
            name = one_line(content[node.start_byte : node.end_byte])
            if settings.strip:
                name = settings.strip.sub("", name)
            name = unquoted(name)
            if name and len(found.names) < LONGEST_SYMBOL and name not in found.names:
                found.names.append(name)
                found.name_end = max(found.name_end, node.end_byte)
        if not names and settings.name and not found.names:
            found.names.append(settings.name)
        found.prefix = settings.prefix
        found.joint = ", " if settings.joint is None else settings.joint
        if "scope" in captures:
            found.scope = one_line(b"".join(content[n.start_byte : n.end_byte] for n in captures["scope"]))
    if "body" in captures and found.body < 0:
        body = captures["body"][0]
        found.body = body.start_byte
        # A declaration inside a macro's tokens has no node of its own: it runs from its keyword to its body's end.
        found.end = max(found.end, body.end_byte)
    if "parameters" in captures:
        found.parameters = captures["parameters"][0].named_child_count
    if "tail" in captures:
        found.end = max(found.end, captures["tail"][-1].end_byte)
    if "doc" in captures and not found.doc:
        found.doc = clean_string(content, captures["doc"][0])


def _collect_surroundings(facts: Facts, captures: dict[str, list[Node]], content: bytes) -> None:
    for name, nodes in captures.items():
        node = nodes[0]
        if name in ("comment", "attribute"):
            # Some grammars end a line comment after its line end.
            # An attribute among bare tokens is several nodes.
            facts.pieces.append(Piece(node.start_byte, back(content, nodes[-1].end_byte), name == "comment"))
            if "doc" in captures:
                facts.docs[node.start_byte] = clean_string(content, captures["doc"][0])
        elif name == "behind":
            facts.behind.add(node.start_byte)
        elif name == "local":
            facts.locals.append((node.start_byte, node.end_byte))
        elif name == "wrapper":
            facts.wrappers[captures["wrapped"][0].id] = (node.id, node.start_byte, node.end_byte)
        elif name == "embedded":
            facts.embedded.append(node)
        elif name == "opening":
            facts.opening = max(facts.opening, nodes[-1].end_byte)
        elif name == "doc" and not facts.doc and not captures.keys() & {"comment", "attribute"}:
            facts.doc = clean_string(content, node)
