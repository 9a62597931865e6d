"""Chunks of Markdown, reStructuredText and plain text: one for each section, long ones cut at paragraphs.

Sections are declarations, so that outlines and symbol search know them. Inline markup is not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codesearch.chunking.budget import TokenBudget
from codesearch.chunking.digests import file_digest
from codesearch.chunking.source import Source
from codesearch.chunking.splitting import BLANK_LINE, LINE, SENTENCE, split
from codesearch.types import Chunk, Declaration, Kind, ParsedFile

PATH_SEPARATOR = " > "  # between the headings of a section's qualified name

_SMALL_SECTION_TOKENS = 64  # neighbours are merged up to this size; a line or two rank badly by themselves
_LONGEST_HEADING = 200  # characters; more is a paragraph that someone marked as a heading
_LONGEST_TITLE = 3  # lines above an underline; more is a paragraph above a rule
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"[ \t]{0,40}(?:(?:[-*+>]|\d{1,9}[.)])[ \t]{1,8})?(`{3,}|~{3,})(.*)$")
_NO_SETEXT_TITLE = re.compile(r"(?: {4}|\t| {0,3}(?:[-*+>|]|\d+[.)]\s))")  # code, a list, a quote, a table
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_LINK = re.compile(r"!?\[([^\]\[]*)\](?:\([^()]*\)|\[[^\]\[]*\])")
_MARKUP = re.compile(r"[`*]|\{#[^{}]*\}|</?\w[^<>]*>")


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    line: str
    start: int
    text_start: int


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str


def chunk_prose(content: bytes, language: str, budget: TokenBudget) -> tuple[ParsedFile, list[Chunk]]:
    """Sections as declarations, and chunks in order of start, of which the leaves tile the content.

    `language` is "markdown", or "text" for underlined headings. A section's declaration includes its
    subsections; its own leaf ends at the next heading. Very short neighbours share a leaf, which then belongs
    to the section around them.
    """
    if not content:
        return ParsedFile(language, ()), []
    source = Source(content)
    lines = _lines(source)
    borders: list[tuple[int, int]]
    if language == "markdown":
        fenced = _fenced_lines(lines)
        headings = list(_markdown_headings(lines, fenced))
    else:
        fenced = [False] * len(lines)
        headings = list(_underlined_headings(lines))
    borders = _paragraph_borders(lines, fenced)
    parsed = ParsedFile(language, _sections(source, headings))
    return parsed, _Sections(source, headings, parsed.declarations, borders, budget).chunks()


# --- headings -----------------------------------------------------------------------------------------------


def _lines(source: Source) -> list[_Line]:
    lines: list[_Line] = []
    start = 0
    for piece in source.content.split(b"\n"):
        end = min(start + len(piece) + 1, len(source.content))
        if start < end:
            lines.append(_Line(start, end, source.text(start, start + len(piece)).rstrip("\r")))
        start = end
    return lines


def _fenced_lines(lines: Sequence[_Line]) -> list[bool]:
    """Which lines lie in front matter or in a fenced code block, the fences included."""
    fenced = [False] * len(lines)
    first = 0
    if lines and lines[0].text.rstrip() in ("---", "+++"):
        closing = (lines[0].text.rstrip(), "..." if lines[0].text.startswith("---") else "+++")
        for number in range(1, len(lines)):
            if lines[number].text.rstrip() in closing:
                first = number + 1
                fenced[:first] = [True] * first
                break
    fence = ""
    for number in range(first, len(lines)):
        match = _FENCE.match(lines[number].text)
        fenced[number] = bool(fence)
        if match is None:
            continue
        mark, rest = match.groups()
        if not fence:
            if not (mark[0] == "`" and "`" in rest):  # that is inline code
                fence = mark
                fenced[number] = True
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
            fence = ""
    return fenced


def _markdown_headings(lines: Sequence[_Line], fenced: Sequence[bool]) -> Iterator[_Heading]:
    paragraph: int | None = None  # the first line of the paragraph that a setext underline would belong to
    fresh = True  # whether a paragraph may begin here; a list or a quote runs on until a blank line
    for number, line in enumerate(lines):
        if fenced[number] or not line.text.strip():
            paragraph, fresh = None, True
        elif (atx := _ATX.match(line.text)) is not None:
            said = _without_closing_marks(line.text[atx.end() :])
            if title := _plain(said) or _cut(said.strip()):  # a bare "#" parts nothing that could be named
                yield _Heading(len(atx[1]), title, _cut(line.text.strip()), line.start, line.end)
            paragraph, fresh = None, True
        elif paragraph is not None and (underline := _SETEXT.match(line.text)) is not None:
            if number - paragraph > _LONGEST_TITLE:
                paragraph = None
                continue
            said = " ".join(above.text.strip() for above in lines[paragraph:number])
            title = _plain(said) or _cut(said)
            level = 1 if underline[1][0] == "=" else 2
            yield _Heading(level, title, title, lines[paragraph].start, line.end)
            paragraph, fresh = None, True
        elif fresh:
            paragraph = None if _NO_SETEXT_TITLE.match(line.text) else number
            fresh = False


def _underlined_headings(lines: Sequence[_Line]) -> Iterator[_Heading]:
    """Titles above a line of punctuation; levels are its styles in order of first appearance."""
    styles: dict[tuple[str, bool], int] = {}
    number = 1
    free = 0  # the first line that is not part of a heading already
    while number < len(lines):
        title, underline = lines[number - 1].text, lines[number].text
        is_heading = (
            _UNDERLINE.match(underline) is not None
            and bool(title.strip())
            and _UNDERLINE.match(title) is None
            and len(underline.rstrip()) >= min(len(title.strip()), 60)
        )
        above = lines[number - 2].text if number - 2 >= free else ""
        overlined = is_heading and above.rstrip() == underline.rstrip()
        if is_heading and (overlined or (not title[0].isspace() and not above.strip())):
            level = styles.setdefault((underline[0], overlined), len(styles) + 1)
            start = lines[number - 2].start if overlined else lines[number - 1].start
            yield _Heading(level, _plain(title) or _cut(title.strip()), _cut(title.strip()), start, lines[number].end)
            free = number + 1
            number += 1
        number += 1


def _plain(title: str) -> str:
    """A heading without links and emphasis, as one would ask for it."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", _cut(title))).split())


def _without_closing_marks(title: str) -> str:
    title = title.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else title


def _cut(heading: str) -> str:
    return heading[:_LONGEST_HEADING]


def _sections(source: Source, headings: Sequence[_Heading]) -> tuple[Declaration, ...]:
    ends = [len(source.content)] * len(headings)
    parents = [-1] * len(headings)
    open_: list[int] = []
    for index, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            ends[open_.pop()] = heading.start
        parents[index] = open_[-1] if open_ else -1
        open_.append(index)
    names: list[str] = []
    declarations: list[Declaration] = []
    for index, heading in enumerate(headings):
        parent = parents[index]
        names.append(names[parent] + PATH_SEPARATOR + heading.title if parent >= 0 else heading.title)
        span = source.span(heading.start, ends[index])
        declarations.append(
            Declaration(heading.title, names[index], Kind.SECTION, heading.line, "", span, parent, heading.text_start)
        )
    return tuple(declarations)


def _paragraph_borders(lines: Sequence[_Line], fenced: Sequence[bool]) -> list[tuple[int, int]]:
    """Where paragraphs and fenced blocks start (depth 0), paragraphs of code (1) and its lines (2)."""
    borders: list[tuple[int, int]] = []
    for number in range(1, len(lines)):
        blank_above = not lines[number - 1].text.strip()
        if fenced[number] != fenced[number - 1] and lines[number].text.strip():
            borders.append((lines[number].start, 0))
        elif blank_above and lines[number].text.strip():
            borders.append((lines[number].start, 1 if fenced[number] else 0))
        elif fenced[number]:
            borders.append((lines[number].start, 2))
    return borders


# --- chunks -------------------------------------------------------------------------------------------------


class _Sections:
    def __init__(
        self,
        source: Source,
        headings: Sequence[_Heading],
        sections: Sequence[Declaration],
        borders: Sequence[tuple[int, int]],
        budget: TokenBudget,
    ) -> None:
        self._source = source
        self._sections = sections
        self._borders = borders
        self._budget = budget
        starts = [heading.start for heading in headings]
        self._own = list(pairwise([*starts, len(source.content)]))
        self._paths: list[tuple[str, ...]] = []
        for section in sections:
            parent = section.parent
            self._paths.append((*self._paths[parent], sections[parent].symbol) if parent >= 0 else ())

    def chunks(self) -> list[Chunk]:
        size = len(self._source.content)
        chunks: list[Chunk] = []
        if self._sections:
            outline = [(len(path), section) for path, section in zip(self._paths, self._sections, strict=True)]
            body = file_digest("", outline, (), self._budget)
            chunks.append(Chunk(Kind.FILE, self._source.span(0, size), synthetic=True, body=body))
        before = self._own[0][0] if self._own else size
        if before:
            chunks += self._leaves((0, before), declaration=-1, own=False)
        for first, last in self._groups():
            chunks += self._group_leaves(first, last)
        return chunks

    def _groups(self) -> Iterator[tuple[int, int]]:
        """Runs of sections (first, behind the last) that share a leaf: most of them one long."""
        first = 0
        tokens = 0
        for index, (start, end) in enumerate(self._own):
            size = self._budget.limit
            if self._budget.may_fit(end - start):
                size = self._budget.tokens(self._source.text(start, end))
            joins = tokens + size <= min(_SMALL_SECTION_TOKENS, self._budget.room) and self._is_near(index, first)
            if index and not joins:
                yield first, index
                first, tokens = index, 0
            tokens += size
        if self._own:
            yield first, len(self._own)

    def _is_near(self, index: int, first: int) -> bool:
        """Whether a section lies under the parent of the first one of its group."""
        around = self._sections[first].parent
        return around < 0 or self._sections[index].span.end_byte <= self._sections[around].span.end_byte

    def _group_leaves(self, first: int, last: int) -> list[Chunk]:
        whole = (self._own[first][0], self._own[last - 1][1])
        if last - first == 1 or self._sections[last - 1].span.end_byte <= self._sections[first].span.end_byte:
            return self._leaves(whole, declaration=first, own=True)
        titles = [self._sections[i].symbol for i in range(first, last)]
        return self._leaves(whole, declaration=self._sections[first].parent, own=False, titles=titles)

    def _leaves(self, whole: tuple[int, int], declaration: int, own: bool, titles: Sequence[str] = ()) -> list[Chunk]:
        source, budget = self._source, self._budget
        symbol = self._sections[declaration].symbol if own else " / ".join(titles)
        signature = self._sections[declaration].signature if own else symbol
        names = self._paths[declaration] if declaration >= 0 else ()
        if declaration >= 0 and not own:
            names = (*names, self._sections[declaration].symbol)
        if budget.may_fit(whole[1] - whole[0]) and budget.fits(source.text(*whole)):
            ranges, prefix = [whole], ""
        else:
            prefix = budget.clip(signature, budget.limit // 4)
            prefix = prefix and prefix + "\n"
            ranges = split(source, whole, self._borders, (BLANK_LINE, SENTENCE, LINE), budget, prefix)
        chunks: list[Chunk] = []
        for number, (start, end) in enumerate(ranges):
            body = text = source.text(start, end)
            if number:
                body = prefix + text
            if source.is_blank(start, end):
                body = ""
            elif not budget.fits(body):
                body = text
            chunks.append(
                Chunk(
                    kind=Kind.SECTION,
                    span=source.span(start, end),
                    declaration=declaration,
                    own=own,
                    part=number,
                    parts=len(ranges),
                    symbol=symbol,
                    parents=" ".join(filter(None, names)),
                    signature=signature,
                    body=body,
                )
            )
        return chunks
