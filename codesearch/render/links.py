"""Makes citations clickable: OSC 8 hyperlinks, on request. Decides where one leads, not whether it is wanted.

A link is a `file://` URI with the name of this machine, so that a terminal can tell what lies on another one. A line
number is added in the form that the terminal is known to open; elsewhere it would only break the link.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Target(NamedTuple):
    """Where a citation leads: a path relative to the repository's root, as it is on disk, and a line."""

    path: str
    line: int


class LineForm(StrEnum):
    """How a terminal wants to be told the line; the values are templates for host, path and line."""

    NONE = "file://{host}{path}"
    FRAGMENT = "file://{host}{path}#{line}"  # kitty
    EDITOR = "vscode://file{path}:{line}"  # VS Code's terminal, which opens files in itself


Linker = Callable[[Target], str | None]  # None: no link


def linker(root: Path, host: str, form: LineForm = LineForm.NONE) -> Callable[[Target], str]:
    """A function from what a citation names to its URI."""
    from urllib.parse import quote  # 10 ms, and only for links

    def link(target: Target) -> str:
        path = quote(os.fsencode(root / target.path))  # what is no ASCII, or steers a terminal, becomes %XX
        return form.format(host=quote(host), path=path, line=target.line)

    return link


def linked(text: str, uri: str) -> str:
    r"""`text` as an OSC 8 hyperlink; `\x1b\\` ends each half, since some terminals know no other end."""
    return f"\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\"
