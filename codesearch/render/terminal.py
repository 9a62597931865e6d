"""Layouts in colour, by rich. Imported only where colour is wanted: rich and pygments take 0.1 s to load."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from codesearch.render.links import Linker
from codesearch.render.plain import TAB_WIDTH, number_of
from codesearch.render.text import Code, Layout, Line, Role
from codesearch.terms import find_terms

STYLES = {
    Role.CITATION: "bold cyan",
    Role.SYMBOL: "bold",
    Role.KIND: "magenta",
    Role.FAINT: "bright_black",
    Role.PLAIN: "",
}
BEST = "bold yellow"  # the number of a line that matches
TERM = "bold red"  # what matches in it, as grep has it: yellow is for strings
UNBOUNDED = 1 << 16  # columns where the output is no terminal: nothing is cut
# Names that pygments knows a language of ours by, where they differ.
LEXERS = {"proto": "protobuf", "jupyter": "python", "notebook": "python", "tsx": "tsx"}


def print_layout(
    layout: Layout, file: TextIO, *, is_terminal: bool, width: int | None = None, link: Linker | None = None
) -> None:
    """Writes a layout to `file` in colour. Code wider than the terminal is cut, a citation never.

    `width` is the terminal's where `file` is not the terminal itself, as before a pager.
    """
    console = Console(
        file=file,
        force_terminal=True,
        legacy_windows=False,
        width=width if is_terminal else UNBOUNDED,
        color_system="auto" if is_terminal else "standard",
        no_color=False,  # the caller has weighed NO_COLOR against --color
        highlight=False,
        markup=False,
        emoji=False,
    )
    for item in layout:
        if isinstance(item, Line):
            console.print(_line(item, link), soft_wrap=True)
        else:
            for text in _code_lines(item):
                console.print(text, no_wrap=True, overflow="ellipsis", crop=True)


def _line(line: Line, link: Linker | None) -> Text:
    text = Text.assemble(*((text, STYLES[role]) for text, role in line.spans))
    uri = link(line.target) if link is not None and line.target is not None else None
    if uri is not None:
        start = 0
        for part, role in line.spans:
            if role is Role.CITATION:
                text.stylize(Style(link=uri), start, start + len(part))
            start += len(part)
    return text


def _code_lines(code: Code) -> list[Text]:
    """Lines of code with their numbers, highlighted together so that strings may span lines."""
    source = "\n".join(line.expandtabs(TAB_WIDTH) for line in code.lines)
    syntax = Syntax(source, LEXERS.get(code.language, code.language), theme="ansi_dark", background_color="default")
    highlighted = syntax.highlight(source).split("\n", allow_blank=True)
    lines = []
    for offset in range(len(code.lines)):
        number = code.start_line + offset
        style = BEST if number in code.best else "bright_black"
        if number in code.best:
            for start, end in find_terms(highlighted[offset].plain, code.terms):
                highlighted[offset].stylize(TERM, start, end)
        lines.append(Text.assemble((number_of(code, offset), style), highlighted[offset]))
    return lines
