"""The list of hits: draws those that fit, keeps one of them current, and says what was clicked. Knows no engine."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from codesearch.tui.look import Look
from codesearch.tui.rows import hit_rows
from codesearch.types import Hit

_TALL_FROM = 8  # lines of the list from which on each hit takes two


class Hits(Widget):
    """Hits, best first."""

    class Moved(Message):
        """Another hit is the current one."""

    class Opened(Message):
        """A hit was clicked twice."""

    def __init__(self, look: Look) -> None:
        super().__init__(id="hits")
        self.look = look
        self.hits: tuple[Hit, ...] = ()
        self.marks: dict[str, Hit] = {}
        self._heading: tuple[Content, ...] = ()
        self._terms: tuple[str, ...] = ()
        self._are_near = False
        self._current = 0
        self._top = 0

    @property
    def current(self) -> Hit | None:
        """The hit under the cursor."""
        return self.hits[self._current] if self.hits else None

    @property
    def chosen(self) -> tuple[Hit, ...]:
        """The marked hits, in the order in which they were marked, else the current one."""
        return tuple(self.marks.values()) or ((self.current,) if self.current else ())

    def display_hits(
        self,
        hits: Sequence[Hit],
        terms: Sequence[str] = (),
        *,
        heading: Sequence[Content] = (),
        are_near: bool = False,
        keep: bool = False,
    ) -> None:
        """Shows other hits; with `keep`, the current one stays so if it is among them."""
        before = self.current if keep else None
        self.hits, self._terms, self._heading, self._are_near = tuple(hits), tuple(terms), tuple(heading), are_near
        keys = [key_of(hit) for hit in self.hits]
        kept = keys.index(key_of(before)) if before is not None and key_of(before) in keys else None
        self._top = 0 if kept is None else max(0, self._top + kept - self._current)
        self._current = kept or 0
        self.refresh()
        if kept is None or before is None or before.snippet != self.hits[kept].snippet:
            self.post_message(self.Moved())

    def move(self, by: int) -> None:
        """Moves the cursor, as far as there are hits."""
        after = max(0, min(self._current + by, len(self.hits) - 1))
        if after != self._current:
            self._current = after
            self.refresh()
            self.post_message(self.Moved())

    def choose(self, hit: Hit) -> None:
        """Moves the cursor to a hit, if it is there."""
        keys = [key_of(each) for each in self.hits]
        if key_of(hit) in keys:
            self.move(keys.index(key_of(hit)) - self._current)

    def page(self, direction: int) -> None:
        """Moves the cursor by what is visible."""
        self.move(direction * max(1, self._shown_at_once - 1))

    def toggle_mark(self) -> None:
        """Marks the current hit, or no longer."""
        if hit := self.current:
            key = key_of(hit)
            if self.marks.pop(key, None) is None:
                self.marks[key] = hit
            self.refresh()

    def clear_marks(self) -> None:
        """Marks nothing."""
        self.marks.clear()
        self.refresh()

    # --- drawing ---

    @property
    def _row_height(self) -> int:
        return 2 if self.size.height >= _TALL_FROM else 1

    @property
    def _shown_at_once(self) -> int:
        return max(1, (self.size.height - len(self._heading)) // self._row_height)

    def render(self) -> Content:
        """The heading and the hits around the cursor."""
        width, height = self.size
        if not width or not height:
            return Content()
        self._top = max(self._current - self._shown_at_once + 1, min(self._top, self._current))
        lines = list(self._heading)
        for index in range(self._top, min(self._top + self._shown_at_once, len(self.hits))):
            hit = self.hits[index]
            lines += hit_rows(
                hit, width, self.look, self._terms, tall=self._row_height == 2, current=index == self._current,
                is_marked=key_of(hit) in self.marks, near=self._are_near,
            )  # fmt: skip
        return Content("\n").join(lines[:height])

    # --- mouse ---

    def on_click(self, event: events.Click) -> None:
        """A click chooses a hit, a second one opens it."""
        row = event.y - len(self._heading)
        index = self._top + row // self._row_height
        if row >= 0 and index < len(self.hits):
            self.move(index - self._current)
            if event.chain > 1:
                self.post_message(self.Opened())

    def on_mouse_scroll_down(self) -> None:
        """The wheel moves the cursor."""
        self.move(1)

    def on_mouse_scroll_up(self) -> None:
        """The wheel moves the cursor."""
        self.move(-1)


def key_of(hit: Hit) -> str:
    """What tells a hit from others, over several searches."""
    return f"{hit.path}\0{hit.start_line}\0{hit.end_line}\0{hit.qualified_name}"
