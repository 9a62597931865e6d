"""Screens over the picker: text to read (help, why a hit is here), a list to choose from (outline), a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static

from codesearch.render.safe import sanitise
from codesearch.render.text import Code, Line, Role
from codesearch.results import FileOutline
from codesearch.tui.keys import FILTERS, KEYS
from codesearch.tui.look import Look


class Panel(ModalScreen[None]):
    """Text to read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,enter,q,ctrl+x,f1", "dismiss", "Close"),
        ("up", "scroll(-1)", ""),
        ("down", "scroll(1)", ""),
        ("pageup", "scroll(-10)", ""),
        ("pagedown", "scroll(10)", ""),
    ]

    def __init__(self, title: str, lines: Sequence[Content]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        """The title and the text."""
        with VerticalScroll(id="panel", can_focus=False):
            yield Static(Content.styled(self._title, "bold"))
            yield Static(Content("\n").join(self._lines), id="text")

    def action_scroll(self, by: int) -> None:
        """Moves through the text."""
        self.query_one("#panel").scroll_relative(y=by, animate=False)


class Outline(ModalScreen[int | None]):
    """The declarations of a file; gives the index of the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,ctrl+l", "dismiss", "Close")]

    def __init__(self, outline: FileOutline, current: int, look: Look) -> None:
        super().__init__()
        self._outline = outline
        self._current = current
        self._look = look

    def compose(self) -> ComposeResult:
        """A line for each declaration."""
        with Vertical(id="panel"):
            yield Static(Content.styled(sanitise(self._outline.path), "bold"), id="title")
            yield OptionList(*outline_lines(self._outline, self._look), id="outline")

    def on_mount(self) -> None:
        """The declaration that was looked at is the chosen one."""
        options = self.query_one(OptionList)
        options.highlighted = self._current if options.option_count else None
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """The chosen one."""
        self.dismiss(event.option_index)


class Question(ModalScreen[bool]):
    """Something to agree to."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter,y", "answer(True)", "Yes"), ("escape,n", "answer(False)", "No")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """The question."""
        with VerticalScroll(id="panel", can_focus=False):
            yield Static(Content(self._text), id="text")

    def action_answer(self, answer: bool) -> None:
        """Gives the answer."""
        self.dismiss(answer)


def help_lines(look: Look) -> list[Content]:
    """The keys and the filters."""
    lines: list[Content] = []
    keys = [(key.shown, key.said) for key in KEYS if key.shown]
    width = max(len(left) for left, _ in (*keys, *FILTERS))
    for title, table in (("Keys", keys), ("In the query", FILTERS)):
        lines += [Content(), Content.styled(title, look.styles.kind)]
        lines += [Content.assemble((f"{left:{width}}  ", look.styles.symbol), right) for left, right in table]
    return lines


def outline_lines(outline: FileOutline, look: Look) -> list[Content]:
    """A line for each declaration, indented by nesting."""
    depths: list[int] = []
    lines = []
    for declaration in outline.declarations:
        depths.append(depths[declaration.parent] + 1 if declaration.parent >= 0 else 0)
        lines.append(
            Content.assemble(
                (f"{declaration.span.start_line:>6}  {'  ' * depths[-1]}", look.styles.faint),
                (f"{declaration.kind.value} ", look.styles.kind),
                (sanitise(declaration.symbol), look.styles.symbol),
            )
        )
    return lines


def laid_out(layout: Iterable[Line | Code], look: Look) -> list[Content]:
    """Lines as the command line prints them; code has no place here."""
    styles = {
        Role.CITATION: look.styles.path,
        Role.SYMBOL: look.styles.symbol,
        Role.KIND: look.styles.kind,
        Role.FAINT: look.styles.faint,
        Role.PLAIN: "",
    }
    return [
        Content.assemble(*((text, styles[role]) for text, role in item.spans))
        for item in layout
        if isinstance(item, Line)
    ]
