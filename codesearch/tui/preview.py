"""A file around a place: line numbers, colours, the declaration's edge, its best lines. Knows no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from codesearch.render.safe import sanitise
from codesearch.tui.code import Code
from codesearch.tui.look import Look
from codesearch.tui.marking import marked
from codesearch.tui.rows import cut_left

_ABOVE = 2  # lines shown above a declaration


@dataclass(frozen=True, slots=True)
class Spot:
    """What is looked at: lines of a file, what they are, and which of them match."""

    path: str
    start_line: int
    end_line: int
    name: str = ""
    language: str = ""
    best: frozenset[int] = frozenset()


class Preview(Widget):
    """Shows one spot in its file."""

    def __init__(self, look: Look) -> None:
        super().__init__(id="preview")
        self.look = look
        self.spot: Spot | None = None
        self._message = ""
        self._code: Code | None = None
        self._terms: tuple[str, ...] = ()
        self._top: int | None = None

    def show(self, spot: Spot, lines: Sequence[str], terms: Sequence[str]) -> None:
        """Shows a spot; `lines` are those of the whole file."""
        self.spot, self._terms, self._message, self._top = spot, tuple(terms), "", None
        self._code = Code(lines, spot.language, spot.start_line, self.look)
        self.refresh()

    def say(self, message: str, spot: Spot | None = None) -> None:
        """Shows why there is nothing to show."""
        self.spot, self._code, self._message = spot, None, message
        self.refresh()

    def scroll_lines(self, by: int) -> None:
        """Moves through the file."""
        if self._code is not None:
            self._top = max(1, min(self._first_line() + by, max(1, len(self._code.lines) - self._room() + 1)))
            self.refresh()

    def on_mouse_scroll_down(self) -> None:
        """The wheel moves through the file."""
        self.scroll_lines(3)

    def on_mouse_scroll_up(self) -> None:
        """The wheel moves through the file."""
        self.scroll_lines(-3)

    # --- drawing ---

    def _room(self) -> int:
        return max(1, self.size.height - 1)

    def _first_line(self) -> int:
        """The line at the top: the declaration's beginning, unless its best lines would be out of sight."""
        if self._top is not None or self.spot is None:
            return self._top or 1
        top = max(1, self.spot.start_line - _ABOVE)
        best = min(self.spot.best, default=top)
        return max(1, best - self._room() // 3) if best >= top + self._room() else top

    def render(self) -> Content:
        """The spot's citation, then as many lines as there is room for."""
        width, height = self.size
        styles = self.look.styles
        if not width or not height:
            return Content()
        if self.spot is None or self._code is None:
            return Content.styled(self._message, styles.faint)
        spot, code = self.spot, self._code
        first = self._first_line()
        numbers = range(first, min(first + self._room(), len(code.lines) + 1))
        digits = len(str(numbers[-1])) if numbers else 1
        citation = f"{sanitise(spot.path)}:{spot.start_line}-{spot.end_line}"
        shown = [
            Content.assemble((cut_left(citation, width, self.look), styles.path), (f"  {spot.name}", styles.symbol))
        ]
        for number in numbers:
            inside = spot.start_line <= number <= spot.end_line
            is_best = number in spot.best
            text = code.line(number)
            for start, end in marked(text.plain, self._terms) if inside else ():
                text = text.stylize(styles.match, start, end)
            edge = self.look.glyphs.gutter if inside else " "
            number_style = styles.best if is_best else styles.faint
            shown.append(
                Content.assemble((f"{number:>{digits}}", number_style), (edge, styles.best if is_best else styles.bar))
                + text
            )
        return Content("\n").join([line.truncate(width) for line in shown])
