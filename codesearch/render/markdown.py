"""Hits as Markdown, for issues, reviews and chats: a heading with the citation, then the code in a fence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from codesearch.render.safe import path_from, sanitise, sanitise_code, shown_path
from codesearch.render.text import grouped
from codesearch.types import Hit, Kind

_FENCE = re.compile(r"`{3,}")
_Link = Callable[[str, str, str], str]  # path, fragment, text → Markdown
_TICKS = re.compile(r"`+")
_NO_NAME = re.compile(r"[^\w+#.-]")  # of a language, behind a fence


def to_markdown(
    hits: Sequence[Hit], *, folder: str = "", snippets: bool = True, group: bool = False, links: bool = True
) -> str:
    """Hits, best first. Links lead to files as seen from `folder`, with the line in the form that forges know."""
    link = _linker(folder) if links else _unlinked
    return "".join(f"{line}\n" for line in _lines(hits, folder, snippets, group, link))


def _lines(hits: Sequence[Hit], folder: str, snippets: bool, group: bool, link: _Link) -> Iterator[str]:
    first = True
    for path, members in grouped(hits) if group else ((hit.path, (hit,)) for hit in hits):
        if group:
            yield from () if first else ("",)
            yield f"## {link(path, '', shown_path(path, folder))}"
            first = False
        for hit in members:
            yield from () if first or not snippets else ("",)
            first = False
            yield _heading(hit, folder, snippets, group, link)
            if snippets and hit.snippet.lines:
                yield ""
                yield from _fenced(hit)


def _heading(hit: Hit, folder: str, snippets: bool, group: bool, link: _Link) -> str:
    lines = f"{hit.start_line}-{hit.end_line}"
    citation = lines if group else f"{shown_path(hit.path, folder)}:{lines}"
    words = [link(hit.path, f"#L{hit.start_line}-L{hit.end_line}", citation)]
    if name := hit.qualified_name or hit.symbol:
        words.append(_code(sanitise(name)))
    if hit.kind not in (Kind.REMAINDER, Kind.BLOCK):
        words.append(hit.kind.value)
    words.append(f"{hit.score:.2f}")
    return ("### " if snippets else "* ") + " ".join(words)


def _linker(folder: str) -> _Link:
    return lambda path, lines, text: f"[{_code(text)}]({quote(os.fsencode(path_from(path, folder)))}{lines})"


def _unlinked(path: str, lines: str, text: str) -> str:  # noqa: ARG001 - a _Link
    return _code(text)


def _code(text: str) -> str:
    """Text in as many backticks as it takes, so that nothing in it is read as Markdown."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _fenced(hit: Hit) -> Iterator[str]:
    code = [sanitise_code(line) for line in hit.snippet.lines]
    longest = max((len(run) for line in code for run in _FENCE.findall(line)), default=2)
    fence = "`" * (longest + 1)
    yield fence + _NO_NAME.sub("", hit.language)
    yield from code
    yield fence
