"""What the picker looks like: themes, styles by role, glyphs, and what a terminal that is not UTF-8 can show."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

THEMES = ("auto", "dark", "light", "ansi")
_LIGHT_BACKGROUNDS = ("7", "15")  # white and bright white, as COLORFGBG names them


@dataclass(frozen=True, slots=True)
class Styles:
    """A style for each role, as textual writes styles."""

    path: str
    symbol: str
    kind: str
    faint: str
    match: str
    current: str
    mark: str
    bar: str
    chip: str
    problem: str
    best: str
    keyword: str
    string: str
    comment: str
    number: str
    name: str


IN_THEME = Styles(
    path="$text-primary", symbol="bold $foreground", kind="$text-secondary", faint="$foreground-muted",
    match="underline $text-warning", current="on $primary-muted", mark="bold $text-accent", bar="$primary",
    chip="$text-primary on $primary-muted", problem="$text-error on $error-muted", best="bold $text-warning",
    keyword="$text-accent", string="$text-success", comment="italic $foreground-muted", number="$text-warning",
    name="bold $text-primary",
)  # fmt: skip
IN_ANSI = Styles(
    path="ansi_cyan", symbol="bold", kind="ansi_magenta", faint="ansi_bright_black",
    match="underline bold", current="reverse", mark="bold ansi_yellow", bar="ansi_blue",
    chip="reverse", problem="ansi_red underline", best="bold ansi_yellow",
    keyword="ansi_magenta", string="ansi_green", comment="italic ansi_bright_black", number="ansi_yellow",
    name="bold ansi_blue",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that are ours; all others come from the repository."""

    cursor: str
    mark: str
    full: str
    empty: str
    gutter: str
    dot: str
    cut: str


UNICODE = Glyphs(cursor="▌", mark="●", full="━", empty="╌", gutter="▎", dot="·", cut="…")
ASCII = Glyphs(cursor=">", mark="*", full="=", empty=".", gutter="|", dot="-", cut="~")


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that lines are drawn with."""

    styles: Styles
    glyphs: Glyphs


def theme_for(choice: str, environment: Mapping[str, str]) -> str:
    """The name of textual's theme for a choice of THEMES.

    `auto`: the terminal's own 16 colours where there are no more or where none are wanted, else dark, unless the
    terminal says that its background is light.
    """
    light = environment.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_BACKGROUNDS
    if choice == "auto":
        many = "256color" in environment.get("TERM", "") or environment.get("COLORTERM", "") in ("truecolor", "24bit")
        choice = "ansi" if environment.get("NO_COLOR") or not many else "light" if light else "dark"
    if choice == "ansi":
        return "ansi-light" if light else "ansi-dark"
    return f"textual-{choice}"


def look_for(theme: str, encoding: str) -> Look:
    """The look in a theme on a terminal of an encoding."""
    return Look(IN_ANSI if theme.startswith("ansi") else IN_THEME, UNICODE if is_unicode(encoding) else ASCII)


def terminal_encoding() -> str:
    """What textual's output is encoded in; it draws on stderr."""
    stream = sys.__stderr__
    return (stream.encoding if stream is not None else None) or "utf-8"


def is_unicode(encoding: str) -> bool:
    """Whether every character can be shown."""
    return encoding.lower().replace("-", "").replace("_", "").startswith("utf")


class Encodable(LineFilter):
    """Replaces what a terminal's encoding lacks by question marks, as wide as it was."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The segments with every character encodable."""
        return [Segment(self._shown(text), style, control) for text, style, control in segments]

    def _shown(self, text: str) -> str:
        if text.isascii():
            return text
        return "".join(each if self._has(each) else "?" * cell_len(each) for each in text)

    def _has(self, character: str) -> bool:
        try:
            character.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True
