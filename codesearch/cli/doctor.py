"""The verb that checks the installation. Works where every other verb fails, so it opens nothing by itself."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from codesearch.cli import options, output
from codesearch.cli.display import display_options, knows_links, read_display, wants_color
from codesearch.cli.place import Place, find_place
from codesearch.cli.progress import ProgressBars
from codesearch.cli.verbs import codesearch
from codesearch.errors import CodesearchError
from codesearch.settings import Settings, load_settings
from codesearch.types import Progress

if TYPE_CHECKING:
    from codesearch.diagnosis import Check


@codesearch.command()
@options.json_option
@display_options
@options.place_options
def doctor(
    *,
    as_json: bool,
    color: str | None,
    hyperlink: str | None,
    pager: bool,
    directories: tuple[str, ...],
    model: str | None,
) -> int:
    """Check the installation.

    \b
    codesearch doctor            what is well, what is wrong, and what to do about it
    codesearch doctor --json     the same for a program, or for a bug report
    codesearch -C DIR doctor     another repository's index and hooks

    Program, settings, git, grammars, the model's files against their sums, optional parts; the repository, its
    index byte for byte, its store and hooks; the terminal, editor and pager. Changes nothing.

    Exit code: 0 nothing is wrong, 1 something is.
    """  # noqa: D301 - see verbs.py
    from codesearch.diagnosis import State
    from codesearch.render.diagnoses import diagnosis_document, diagnosis_layout

    place = find_place(directories)
    checks: list[Check] = []
    stdout = sys.stdout  # bars put something else there while they are drawn
    with ProgressBars() as progress:
        for check in _checks(place, model, color, stdout):
            progress(Progress(f"checked {check.name}", len(checks), None))
            checks.append(check)
    if as_json:
        output.print_document(diagnosis_document(checks))
    else:
        display = read_display(Settings(), place.root, color=color, hyperlink=hyperlink, pager=pager)
        output.print_layout(diagnosis_layout(checks), display)
    return int(any(check.state is State.WRONG for check in checks))


def _checks(place: Place, model: str | None, color: str | None, stdout: TextIO) -> Iterator[Check]:
    from codesearch.diagnosis import (
        Check,
        State,
        check_installation,
        check_programs,
        check_repository,
        check_terminal,
    )
    from codesearch.repository import Repository

    settings = Settings(model=model)
    try:
        settings = load_settings(place.root, model=model)
    except CodesearchError as error:
        yield Check("settings", State.WRONG, error.message, error.hint)
    yield from check_installation(settings)
    try:
        repository = Repository.open(place.root)
        home = repository.index_home(settings.home)
    except CodesearchError as error:
        yield Check("repository", State.WRONG, error.message, error.hint)
    else:
        yield from check_repository(repository, home)
    yield check_terminal(
        os.environ,
        is_terminal=stdout.isatty(),
        encoding=stdout.encoding or "ascii",
        columns=shutil.get_terminal_size().columns,
        color=wants_color(color, settings.color, stdout),
        links=knows_links(os.environ),
    )
    yield check_programs(os.environ)
