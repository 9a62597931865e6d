"""Runs the user's editor on places of the repository, in the terminal or beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from codesearch.errors import UsageError
from codesearch.tui.editors import Command, Place, choose, open_command

_HINT = "Set VISUAL or EDITOR to an editor, such as vim or `code --wait`."


def command_for(environment: Mapping[str, str], places: Sequence[Place]) -> Command:
    """The command that opens places; UsageError where there is no editor, or none that can be run."""
    editor = choose(environment, lambda name: shutil.which(name) is not None)
    if editor is None:
        raise UsageError("No editor is set.", _HINT)
    try:
        command = open_command(editor, places)
    except ValueError as error:
        raise UsageError(f"The editor {editor!r} cannot be understood.", _HINT) from error
    if shutil.which(command.words[0]) is None:
        raise UsageError(f"The editor {command.words[0]} is not there.", _HINT)
    return command


def run(command: Command, root: Path, environment: Mapping[str, str], suspended: AbstractContextManager[None]) -> None:
    """Runs it, inside `suspended` if it needs the terminal; UsageError if it fails."""
    words = list(command.words)
    listed = _written(command.locations) if command.locations else None
    try:
        if listed is not None:
            words.append(listed)
        if not command.in_terminal:
            subprocess.Popen(
                words, cwd=root, env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            return
        with suspended:
            code = subprocess.run(words, cwd=root, env=environment, check=False).returncode
    except OSError as error:
        raise UsageError(f"The editor {words[0]} cannot be run: {error.strerror or error}.", _HINT) from error
    finally:
        if listed is not None:
            Path(listed).unlink(missing_ok=True)
    if code:
        raise UsageError(f"The editor {words[0]} ended with {code}.", "" if code != 127 else _HINT)


def _written(text: str) -> str:
    descriptor, name = tempfile.mkstemp(prefix="codesearch-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return name
