"""The queries of earlier runs, in a file that only the user can read. A file that cannot be used is no error."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

ENTRIES = 500  # a year of use; read at each start
LONGEST = 500  # characters; what is longer was pasted by mistake


def default_path() -> Path:
    """Where the user's state is kept on this system."""
    import platformdirs

    return platformdirs.user_state_path("codesearch", appauthor=False) / "history"


class History:
    """Entries from the oldest to the newest, and a place among them; the newest place is what is being typed."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries = _read(path)
        self._at = len(self._entries)
        self._draft = ""

    def older(self, typed: str) -> str | None:
        """The entry before, None at the oldest; what was typed is kept."""
        if self._at == len(self._entries):
            self._draft = typed
        if self._at == 0:
            return None
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The entry after, in the end what was typed; None there."""
        if self._at == len(self._entries):
            return None
        self._at += 1
        return self._draft if self._at == len(self._entries) else self._entries[self._at]

    def add(self, text: str) -> None:
        """Makes a query the newest entry, and writes it down beside what other runs have added meanwhile."""
        text = " ".join(text.split())
        if text and len(text) <= LONGEST:
            self._entries = _with(_read(self._path) or self._entries, text)
            _write(self._path, self._entries)
        self._at = len(self._entries)


def _with(entries: Sequence[str], text: str) -> list[str]:
    return [*(entry for entry in entries if entry != text), text][-ENTRIES:]


def _read(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = file.read((LONGEST + 1) * ENTRIES).split("\n")
    except OSError:
        return []
    return [line for line in lines if line.strip() and line.isprintable() and len(line) <= LONGEST][-ENTRIES:]


def _write(path: Path | None, entries: Sequence[str]) -> None:
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".history-")  # made readable by its owner alone
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write("\n".join(entries) + "\n")
        Path(name).replace(path)
    except OSError:
        return
