"""Layouts as plain text: no colour, no wrapping, the same whatever the terminal. For pipes and files."""

from __future__ import annotations

from collections.abc import Iterator

from codesearch.render.links import Linker, linked
from codesearch.render.text import Code, Layout, Line, Role

NUMBER_WIDTH = 6  # most files have fewer than a million lines; longer numbers only shift the text
TAB_WIDTH = 4  # columns of a tab where lines are cut to a width; elsewhere tabs stay


def to_plain(layout: Layout, *, link: Linker | None = None, width: int | None = None) -> str:
    """The text of a layout, every line ended by LF. Code is cut to `width` columns, where one is given."""
    return "".join(f"{text}\n" for item in layout for text in _lines(item, link, width))


def number_of(code: Code, offset: int) -> str:
    """The line number before a line of code, with `:` where the line matches and `-` where it does not."""
    number = code.start_line + offset
    mark = (":" if number in code.best else "-") if code.marks else " "
    return f"{number:>{NUMBER_WIDTH}}{mark} "


def _lines(item: Line | Code, link: Linker | None, width: int | None) -> Iterator[str]:
    if isinstance(item, Line):
        uri = link(item.target) if link is not None and item.target is not None else None
        parts = (linked(text, uri) if uri and role is Role.CITATION else text for text, role in item.spans)
        yield "".join(parts).rstrip()
        return
    for offset, line in enumerate(item.lines):
        text = f"{number_of(item, offset)}{line}".rstrip()
        yield text if width is None else _cut(text, width)


def _cut(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size  # here, because pipes need no widths

    text = text.expandtabs(TAB_WIDTH)
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
