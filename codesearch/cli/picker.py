"""The verb that opens the picker, which is also what `codesearch` does without arguments on a terminal."""

from __future__ import annotations

import os
import sys

import click

from codesearch.cli import options
from codesearch.cli.place import find_place
from codesearch.cli.progress import ProgressBars
from codesearch.cli.verbs import codesearch
from codesearch.errors import UsageError
from codesearch.settings import load_settings

_THEMES = ("auto", "dark", "light", "ansi")


def is_on_terminal() -> bool:
    """Whether someone is there to type and to look."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams) and os.environ.get("TERM") != "dumb"


@codesearch.command(name="tui")
@click.argument("words", nargs=-1, metavar="[QUERY...]")
@click.option("--theme", type=click.Choice(_THEMES), default="auto", help="Colours.  [default: auto]")
@options.place_options
def tui(words: tuple[str, ...], *, theme: str, directories: tuple[str, ...], model: str | None) -> int:
    """Open the picker: type, and hits follow.

    \b
    codesearch                      the same, on a terminal
    codesearch tui retry uploads    begins with a query
    codesearch tui --theme ansi     in the terminal's own 16 colours

    Enter opens a hit in $VISUAL or $EDITOR at its line and comes back. Tab changes how hits are found. Filters are
    typed into the query: `lang:go kind:method path:src/ tests:no`. F1 lists all keys.

    Exit code: 0, 2 error, 130 after Ctrl-C.
    """  # noqa: D301 - see verbs.py
    if not is_on_terminal():
        raise UsageError("The picker needs a terminal.", 'Run: codesearch "what you are looking for"')
    from codesearch.tui.app import Picker  # 0.2 s, and only for this
    from codesearch.tui.history import default_path
    from codesearch.tui.look import terminal_encoding, theme_for

    place = find_place(directories)
    settings = load_settings(place.root, model=model)
    picker = Picker(
        lambda: options.open_engine(place, settings),
        theme=theme_for(theme, os.environ),
        encoding=terminal_encoding(),
        query=" ".join(words),
        history=default_path(),
    )
    picker.run()
    has_ended = picker.stop()
    if picker.failure is not None:
        raise picker.failure
    code = picker.return_code or 0
    if code == 1:  # textual has shown why it could not go on
        return 2
    if code == 0 and has_ended and picker.service.is_open:
        with ProgressBars() as progress:
            picker.service.engine.finish(progress)
    return code
