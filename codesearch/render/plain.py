"""Layouts as plain text: no colour, no wrapping, the same whatever the terminal. For pipes and files."""

from __future__ import annotations

from codesearch.render.text import Code, Layout, Line

NUMBER_WIDTH = 6  # most files have fewer than a million lines; longer numbers only shift the text


def to_plain(layout: Layout) -> str:
    """The text of a layout, every line ended by LF."""
    return "".join(f"{text}\n" for item in layout for text in _lines(item))


def number_of(code: Code, offset: int) -> str:
    """The line number before a line of code, with `:` where the line matches and `-` where it does not."""
    number = code.start_line + offset
    mark = (":" if number in code.best else "-") if code.marks else " "
    return f"{number:>{NUMBER_WIDTH}}{mark} "


def _lines(item: Line | Code) -> list[str]:
    if isinstance(item, Line):
        return ["".join(text for text, _ in item.spans).rstrip()]
    return [f"{number_of(item, offset)}{line}".rstrip() for offset, line in enumerate(item.lines)]
