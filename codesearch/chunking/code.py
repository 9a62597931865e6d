"""Chunks of source code: whole functions, parts of long ones, remainders, and digests above them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from codesearch.chunking.budget import TokenBudget
from codesearch.chunking.digests import container_digest, file_digest, import_lines
from codesearch.chunking.nesting import FILE, nest
from codesearch.chunking.source import Source
from codesearch.chunking.splitting import BLANK_LINE, LINE, split
from codesearch.types import Chunk, Declaration, Kind, ParsedFile

_SMALL_DATA_TOKENS = 40  # a constant or alias up to this size is found in the remainder around it
_SMALL_DATA_LINES = 3  # more lines than this are a table, a long literal, a type with members
_SMALL_REST_TOKENS = 24  # code between two nested functions that is shorter is no part of its own
_DEEPEST_NAMED = 32  # outer names kept in `parents`; deeper nesting is generated code


def chunk_code(content: bytes, parsed: ParsedFile, budget: TokenBudget) -> list[Chunk]:
    """Chunks in order of start, enclosing ones first; the leaves among them tile the content.

    Declarations may be in disorder or overlap; what cannot be nested is clipped. A leaf without words (white
    space, closing brackets) is a remainder with an empty body, which is not worth ranking.
    """
    if not content:
        return []
    return _CodeChunker(Source(content), parsed, budget).chunks()


class _CodeChunker:
    def __init__(self, source: Source, parsed: ParsedFile, budget: TokenBudget) -> None:
        self._source = source
        self._parsed = parsed
        self._declarations = parsed.declarations
        self._budget = budget
        self._nesting = nest(self._declarations, source)
        self._names = outer_names(self._declarations)
        self._chunks: list[Chunk] = []
        self._leaves: list[int] = []  # declarations still to become leaves
        self._inside: list[int] = []  # declarations inside a whole leaf, still to become synthetic chunks
        self._find_code()

    def chunks(self) -> list[Chunk]:
        size = len(self._source.content)
        if self._declarations:
            self._add_file_digest()
        self._add_members(FILE, 0, size)
        while self._leaves or self._inside:
            while self._inside:
                self._add_inside(self._inside.pop())
            if self._leaves:
                self._add_leaf(self._leaves.pop())
        self._chunks.sort(key=lambda c: (c.span.start_byte, -c.span.end_byte, not c.synthetic, c.declaration))
        return self._chunks

    def _find_code(self) -> None:
        """Which declarations are or hold code that needs a chunk, and which hold functions with a body."""
        count = len(self._declarations)
        self._is_code = [False] * count
        self._holds_code = [False] * count
        self._holds_callables = [False] * count
        self._holds_bodies = [False] * count
        for index in reversed(self._nesting.order):
            kind = self._declarations[index].kind
            members = self._nesting.members.get(index, ())
            self._holds_code[index] = any(self._is_code[m] for m in members)
            self._is_code[index] = kind.is_callable or kind.is_container or self._holds_code[index]
            callables = [m for m in members if self._declarations[m].kind.is_callable]
            self._holds_callables[index] = bool(callables) or any(self._holds_callables[m] for m in members)
            self._holds_bodies[index] = any(self._has_body(m) for m in callables) or any(
                self._holds_bodies[m] for m in members
            )

    def _has_body(self, index: int) -> bool:
        declaration = self._declarations[index]
        return declaration.body_start < declaration.span.end_byte

    # --- leaves ---------------------------------------------------------------------------------------------

    def _add_leaf(self, index: int) -> None:
        """A declaration at file or container level, or a nested one whose outer one was split."""
        start, end = self._nesting.ranges[index]
        kind = self._declarations[index].kind
        whole = not (kind.is_container and self._holds_bodies[index]) and self._fits(start, end)
        if whole:
            self._add(self._own(index, start, end))
            self._inside += reversed(self._nesting.members.get(index, ()))
        elif kind.is_container:
            self._add_container_digest(index)
            self._add_members(index, start, end)
        else:
            self._add_parts(index)

    def _add_members(self, owner: int, start: int, end: int) -> None:
        """Members of a file or a container become leaves, what lies between them remainders."""
        members = [m for m in self._nesting.members.get(owner, ()) if self._is_leaf(m)]
        self._leaves += reversed(members)
        borders = [(self._nesting.ranges[m][0], 0) for m in self._nesting.members.get(owner, ())]
        for gap_start, gap_end in self._gaps(start, end, members):
            first = bisect_left(borders, (gap_start, 0))
            last = bisect_left(borders, (gap_end, 0))
            self._add_remainder(owner, gap_start, gap_end, borders[first:last])

    def _is_leaf(self, index: int) -> bool:
        """Code always is; data when it is large enough to be found by itself."""
        if self._is_code[index]:
            return True
        start, end = self._nesting.ranges[index]
        span = self._source.span(start, end)
        if span.end_line - span.start_line >= _SMALL_DATA_LINES:
            return True
        if end - start <= _SMALL_DATA_TOKENS:
            return False
        return self._budget.tokens(self._source.text(start, end)) > _SMALL_DATA_TOKENS

    def _add_parts(self, index: int) -> None:
        """A function too long for one chunk: functions inside it become leaves, the rest its parts."""
        start, end = self._nesting.ranges[index]
        declaration = self._declarations[index]
        nested = [m for m in self._nesting.members.get(index, ()) if self._is_code[m]]
        self._leaves += reversed(nested)
        prefix = self._budget.clip(declaration.signature, self._budget.limit // 4)
        prefix = prefix and prefix + "\n"
        parts: list[tuple[int, int]] = []
        borders = sorted(border for border in declaration.borders if start < border[0] < end)
        for gap_start, gap_end in self._gaps(start, end, nested):
            if self._source.is_blank(gap_start, gap_end) or (gap_start > start and self._is_small(gap_start, gap_end)):
                self._add_remainder(index, gap_start, gap_end, [])
                continue
            inside = borders[bisect_left(borders, (gap_start, 0)) : bisect_left(borders, (gap_end, 0))]
            text = self._trim(index, gap_start, gap_end)
            parts += split(self._source, text, inside, (BLANK_LINE, LINE), self._budget, prefix)
        if not parts:  # nested functions fill it: its name and doc must still be found
            digest = self._own(index, start, end)
            body = container_digest(declaration, [self._declarations[m] for m in nested], self._budget)
            self._add(replace(digest, synthetic=True, body=body))
        for number, (part_start, part_end) in enumerate(parts):
            chunk = self._own(index, part_start, part_end)
            if number:
                body = prefix + chunk.body
                chunk = replace(chunk, doc="", body=body if self._budget.fits(body) else chunk.body)
            self._add(replace(chunk, part=number, parts=len(parts)))

    def _is_small(self, start: int, end: int) -> bool:
        if end - start > 16 * _SMALL_REST_TOKENS:
            return False
        return self._budget.tokens(self._source.text(start, end)) <= _SMALL_REST_TOKENS

    def _gaps(self, start: int, end: int, members: Sequence[int]) -> list[tuple[int, int]]:
        gaps: list[tuple[int, int]] = []
        for member in members:
            member_start, member_end = self._nesting.ranges[member]
            if start < member_start:
                gaps.append((start, member_start))
            start = member_end
        if start < end:
            gaps.append((start, end))
        return gaps

    def _add_remainder(self, owner: int, start: int, end: int, borders: Sequence[tuple[int, int]]) -> None:
        """What lies between declarations, in as many chunks as it takes."""
        if self._source.is_blank(start, end):
            self._add(self._remainder(owner, start, end, body=""))
            return
        first, last = self._trim(owner, start, end)
        if self._fits(first, last):
            ranges = [(first, last)]
        else:
            ranges = split(self._source, (first, last), borders, (BLANK_LINE, LINE), self._budget)
        for part_start, part_end in ranges:
            blank = self._source.is_blank(part_start, part_end)
            body = "" if blank else self._source.text(part_start, part_end)
            self._add(self._remainder(owner, part_start, part_end, body))

    def _trim(self, owner: int, start: int, end: int) -> tuple[int, int]:
        """The lines with text of a part between declarations; blank ones at its edges become remainders."""
        first, last = self._source.trim(start, end)
        for blank_start, blank_end in ((start, first), (last, end)):
            if blank_start < blank_end:
                self._add(self._remainder(owner, blank_start, blank_end, body=""))
        return first, last

    # --- synthetic chunks -----------------------------------------------------------------------------------

    def _add_inside(self, index: int) -> None:
        """A declaration inside a leaf that is whole: a chunk above it makes it findable by itself."""
        self._inside += reversed(self._nesting.members.get(index, ()))
        kind = self._declarations[index].kind
        if kind.is_container and self._holds_callables[index]:
            self._add_container_digest(index)
        elif kind.is_container or kind.is_callable:
            self._add(replace(self._own(index, *self._nesting.ranges[index]), synthetic=True))

    def _add_container_digest(self, index: int) -> None:
        start, end = self._nesting.ranges[index]
        members = [self._declarations[m] for m in self._nesting.members.get(index, ())]
        body = container_digest(self._declarations[index], members, self._budget)
        self._add(self._own(index, start, end, synthetic_body=body))

    def _add_file_digest(self) -> None:
        outline: list[tuple[int, Declaration]] = []
        stack = [(0, index) for index in reversed(self._nesting.members.get(FILE, ()))]
        while stack:
            depth, index = stack.pop()
            outline.append((depth, self._declarations[index]))
            if not self._declarations[index].kind.is_callable:
                stack += [(depth + 1, m) for m in reversed(self._nesting.members.get(index, ()))]
        size = len(self._source.content)
        first = self._nesting.members.get(FILE, ())
        top = "".join(
            self._source.text(start, end) for start, end in self._gaps(0, size, [m for m in first if self._is_code[m]])
        )
        body = file_digest(self._parsed.doc, outline, import_lines(top), self._budget)
        span = self._source.span(0, size)
        self._chunks.append(Chunk(Kind.FILE, span, synthetic=True, doc=self._parsed.doc, body=body))

    # --- one chunk ------------------------------------------------------------------------------------------

    def _fits(self, start: int, end: int) -> bool:
        return self._budget.may_fit(end - start) and self._budget.fits(self._source.text(start, end))

    def _own(self, index: int, start: int, end: int, synthetic_body: str | None = None) -> Chunk:
        declaration = self._declarations[index]
        return Chunk(
            kind=declaration.kind,
            span=self._source.span(start, end),
            declaration=index,
            own=True,
            synthetic=synthetic_body is not None,
            symbol=declaration.symbol,
            parents=" ".join(self._names[index]),
            signature=declaration.signature,
            doc=declaration.doc,
            body=self._source.text(start, end) if synthetic_body is None else synthetic_body,
        )

    def _remainder(self, owner: int, start: int, end: int, body: str) -> Chunk:
        kind = Kind.REMAINDER if self._declarations else Kind.BLOCK
        names = (*self._names[owner], self._declarations[owner].symbol) if owner != FILE else ()
        parents = " ".join(name for name in names if name)
        return Chunk(kind, self._source.span(start, end), declaration=owner, parents=parents, body=body)

    def _add(self, chunk: Chunk) -> None:
        """Adds a chunk, and one like it for every other function that is declared by the same text."""
        self._chunks.append(chunk)
        if chunk.own and chunk.declaration in self._nesting.aliases:
            for alias in self._nesting.aliases[chunk.declaration]:
                declaration = self._declarations[alias]
                self._chunks.append(
                    replace(
                        chunk,
                        kind=declaration.kind,
                        declaration=alias,
                        synthetic=True,
                        symbol=declaration.symbol,
                        parents=" ".join(self._names[alias]),
                        signature=declaration.signature,
                        doc=declaration.doc if chunk.part == 0 else "",
                    )
                )


def outer_names(declarations: Sequence[Declaration]) -> list[tuple[str, ...]]:
    """For each declaration the symbols around it, outermost first.

    A declaration without a parent in this file may still have outer names, as a Go method has its receiver.
    """
    names: list[tuple[str, ...]] = []
    for index, declaration in enumerate(declarations):
        parent = declaration.parent
        if 0 <= parent < index:
            symbol = declarations[parent].symbol
            names.append((*names[parent], symbol)[-_DEEPEST_NAMED:] if symbol else names[parent])
        elif declaration.symbol and declaration.qualified_name.endswith(declaration.symbol):
            qualifier = declaration.qualified_name[: -len(declaration.symbol)]
            for separator in (".", "::", "#", "/", "\\"):
                qualifier = qualifier.replace(separator, " ")
            names.append(tuple(qualifier.split()))
        else:
            names.append(())
    return names
