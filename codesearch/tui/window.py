"""What is on the screen, and the keys that only move about in it. Knows no engine; `app` asks and acts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.filter import LineFilter
from textual.timer import Timer
from textual.widgets import Static

from codesearch.errors import CodesearchError
from codesearch.render.safe import sanitise
from codesearch.tui.field import Field
from codesearch.tui.hits import Hits
from codesearch.tui.keys import KEYS, OF_PICKER
from codesearch.tui.look import Encodable, is_unicode, look_for
from codesearch.tui.panels import Panel, help_lines
from codesearch.tui.preview import Preview
from codesearch.tui.typed import Known

WIDE_FROM = 100  # columns from which list and preview stand side by side
PREVIEW_FROM = (30, 10)  # columns and lines below which there is no room for one


class Window(App[None]):
    """The query, the filters, hits and preview, and the state."""

    CSS_PATH = "picker.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action, key.said, priority=True)  # the input has the focus, and would take some of them
        for key in KEYS
        if key.keys
    ]

    def __init__(self, *, theme: str, encoding: str) -> None:
        self._environment = dict(os.environ)  # textual takes NO_COLOR away; editors are to have it
        if not os.environ.get("NO_COLOR"):
            os.environ.pop("NO_COLOR", None)  # set to nothing it means nothing, which textual does not know
        super().__init__(ansi_color=True if theme.startswith("ansi") else None)
        self.theme = theme
        self._encoding = encoding
        self._look = look_for(theme, encoding)
        self._known = Known()
        self._field = Field(lambda: self._known)
        self._list = Hits(self._look)
        self._preview = Preview(self._look)
        self._mode_line, self._chips = Static(id="mode"), Static(id="chips")
        self._state_line, self._status = Static(id="state"), Static(id="status")
        self._preview_wanted = True
        self._pending: dict[str, Timer] = {}

    def compose(self) -> ComposeResult:
        """The query, the filters, hits and preview, and the state."""
        with Horizontal(id="bar"):
            yield self._mode_line
            yield self._field
        yield self._chips
        with Container(id="body"):
            yield self._list
            yield self._preview
        with Horizontal(id="foot"):
            yield self._state_line
            yield self._status

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's, and one for terminals that cannot show every character."""
        filters = super().get_line_filters()
        return filters if is_unicode(self._encoding) else [*filters, Encodable(self._encoding)]

    def on_resize(self, event: events.Resize) -> None:
        """Side by side where there is room, no preview where there is none."""
        self._arrange(event.size.width, event.size.height)

    def _arrange(self, width: int, height: int) -> None:
        if self._is_over:
            return
        has_room = width >= PREVIEW_FROM[0] and height >= PREVIEW_FROM[1]
        self.screen_stack[0].set_class(width >= WIDE_FROM, "wide")
        self.screen_stack[0].set_class(not (has_room and self._preview_wanted), "bare")
        self._state_line.display = width >= PREVIEW_FROM[0]

    @property
    def _is_over(self) -> bool:
        """Whether there is nothing left to show anything on."""
        return not self.screen_stack

    def _later(self, name: str, seconds: float, function: Callable[[], object]) -> None:
        """Calls a function once nothing of this name was wanted for so long."""
        if name in self._pending:
            self._pending[name].stop()
        self._pending[name] = self.set_timer(seconds, lambda: self._is_over or function())

    # --- showing ---

    def _show_mode(self, mode: str) -> None:
        self._mode_line.update(Content(f"{mode}> "))

    def _show_state_text(self, text: str) -> None:
        state = Content(text)
        if state != self._state_line.content:  # as wide as it says, so everything is laid out anew
            self._state_line.update(state)

    def _say(self, text: str) -> None:
        self._status.update(Content(text), layout=False)

    def _complain(self, error: Exception) -> None:
        hint = error.hint if isinstance(error, CodesearchError) else ""
        shown = "\n".join(map(sanitise, filter(None, (said(error), hint))))
        self.notify(shown, severity="warning", markup=False)

    def _set_query(self, text: str | None) -> None:
        if text is not None:
            self._field.value = text
            self._field.cursor_position = len(text)

    # --- keys ---

    def action_move(self, by: int) -> None:
        """Another hit."""
        self._list.move(by)

    def action_page(self, direction: int) -> None:
        """A hit further away."""
        self._list.page(direction)

    def action_scroll_preview(self, by: int) -> None:
        """Moves through the preview."""
        self._preview.scroll_lines(by)

    def action_toggle_preview(self) -> None:
        """Hides or shows the preview."""
        self._preview_wanted = not self._preview_wanted
        self._arrange(self.size.width, self.size.height)

    def action_help(self) -> None:
        """Lists the keys."""
        self.push_screen(Panel("codesearch", help_lines(self._look)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Screens over the picker have keys of their own."""
        return len(self.screen_stack) == 1 or action not in OF_PICKER


def said(error: Exception) -> str:
    """What went wrong, in one sentence."""
    if isinstance(error, CodesearchError):
        return error.message
    return f"Unexpected failure, {type(error).__name__}: {error}"
