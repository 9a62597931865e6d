"""How text is shown: with colour or not, with links or not, through a pager or not. Flags and terminal decide."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from codesearch.render.links import LineForm, Linker, Target, linker
from codesearch.settings import COLORS, Settings

WHEN = COLORS  # auto, always, never
LESS = "FRX"  # as git sets it: quit if it fits on the screen, obey colours, leave the text on the screen

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Display:
    """`link` turns citations into links, where they are wanted; `pager` means the one that the user has set."""

    color: bool = False
    link: Linker | None = None
    pager: bool = False


def display_options(command: Command) -> Command:
    """`--color`, `--hyperlink` and `--pager`, for verbs that print text; `read_display` takes their values."""
    for option in (
        click.option("--pager", is_flag=True, help="On a terminal, show the text in $PAGER, or in less."),
        click.option(
            "--hyperlink",
            type=click.Choice(WHEN),
            help="Make citations clickable: when the terminal can, or always.  [default: never]",
        ),
        click.option(
            "--color",
            type=click.Choice(WHEN),
            help="When to use colour. NO_COLOR is respected.  [default: auto]",
        ),
    ):
        command = option(command)
    return command


def read_display(
    settings: Settings,
    root: Path,
    *,
    color: str | None,
    hyperlink: str | None,
    pager: bool,
    stream: TextIO | None = None,
) -> Display:
    """What the flags and settings come to on `stream`, which is stdout unless given."""
    stream = stream or sys.stdout
    when = hyperlink or settings.hyperlink
    linked = when == "always" or (when == "auto" and stream.isatty() and knows_links(os.environ))
    return Display(
        wants_color(color, settings.color, stream),
        _link_to_disk(root, line_form(os.environ)) if linked else None,
        pager and stream.isatty() and pager_command(os.environ) != "",
    )


def wants_color(choice: str | None, setting: str, stream: TextIO) -> bool:
    """Whether to print colour: `--color` decides, then NO_COLOR, then the setting, then the stream."""
    if choice in ("always", "never"):
        return choice == "always"
    if choice is None:
        if os.environ.get("NO_COLOR"):
            return False
        if setting in ("always", "never"):
            return setting == "always"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def knows_links(environment: Mapping[str, str]) -> bool:
    """Whether the terminal is one that is known to make OSC 8 links clickable; there is no way to ask it."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if term in ("dumb", "linux") or term.startswith("screen"):  # screen drops them; tmux passes them on since 3.4
        return False
    if program in ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio"):
        return True
    if term.startswith(("xterm-kitty", "alacritty", "foot", "xterm-ghostty", "wezterm", "contour")):
        return True
    if any(environment.get(name) for name in ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "DOMTERM")):
        return True
    with suppress(ValueError):
        return int(environment.get("VTE_VERSION", "0")) >= 5000  # GNOME Terminal and its kin; 0.50 crashed no more
    return False


def line_form(environment: Mapping[str, str]) -> LineForm:
    """How this terminal is told the line of a link."""
    if environment.get("KITTY_WINDOW_ID") or environment.get("TERM") == "xterm-kitty":
        return LineForm.FRAGMENT
    return LineForm.EDITOR if environment.get("TERM_PROGRAM") == "vscode" else LineForm.NONE


def pager_command(environment: Mapping[str, str]) -> str:
    """The pager; "" for none, which is what git takes an empty PAGER and `cat` to mean."""
    command = environment.get("PAGER", "less").strip()
    return "" if command == "cat" else command


def _link_to_disk(root: Path, form: LineForm) -> Linker:
    """Links to what is on disk; what stands in a revision only has none."""
    link = linker(root, socket.gethostname(), form)

    def to_disk(target: Target) -> str | None:
        return link(target) if os.path.lexists(root / target.path) else None

    return to_disk
