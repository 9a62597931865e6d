"""Where the user stands: a folder, the repository's root around it, and paths from one to the other.

Users name files from where they stand, the engine from the root. This module runs no git: the root is the
nearest folder upwards that has a `.git`, or the folder itself where there is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import LocationError, UsageError

_LOCATION = re.compile(r"(?P<file>.+?)(?P<rest>#.*|:\d+(?:-\d+)?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """`folder` is where the user stands, `root` the repository around it; both absolute and resolved."""

    root: Path
    folder: Path

    @property
    def prefix(self) -> str:
        """`folder` relative to `root`, `/`-separated; "" at the root itself."""
        relative = self.folder.relative_to(self.root).as_posix()
        return "" if relative == "." else relative

    def exists(self, text: str) -> bool:
        """Whether a path as the user wrote it names a file or folder on disk."""
        return (self.folder / text).exists()

    def from_root(self, text: str, *, resolve: bool = False) -> str:
        """A path as the user wrote it, relative to the root; "" for the root itself. It need not exist.

        With `resolve`, the file or folder that it leads to through symbolic links, as it stands in an index.
        """
        absolute = Path(os.path.normpath(self.folder / text))
        if resolve and not absolute.resolve().is_relative_to(self.root) and absolute.is_relative_to(self.root):
            raise UsageError(f"{text} leads outside the repository {self.root}.", "Symbolic links are not followed.")
        resolved = absolute.resolve()  # an absolute path may come through a symlinked folder
        for candidate in (resolved,) if resolve else (absolute, resolved):
            if candidate.is_relative_to(self.root):
                relative = candidate.relative_to(self.root).as_posix()
                return "" if relative == "." else relative
        raise UsageError(f"{text} is outside the repository {self.root}.", "Use -C DIR to search another one.")

    def find(self, text: str) -> str:
        """A file or folder that is there, relative to the root.

        It counts from where the user stands if it exists there, else from the root, as hits in JSON do.
        """
        if os.path.lexists(self.folder / text):
            return self.from_root(text)
        if os.path.lexists(self.root / text):
            return text
        raise LocationError(f"There is no file or folder {text}.", "Give a path from where you stand.")

    def absolute(self, path: str) -> str:
        """A path relative to the root as an absolute one, which means the same whatever the process's folder."""
        return str(self.root / path)

    def location_from_root(self, location: str) -> str:
        """FILE:LINE, FILE:A-B, FILE#symbol or FILE with FILE as it stands in an index; it need not exist."""
        match = _LOCATION.fullmatch(location)
        file, rest = (match["file"], match["rest"]) if match else (location, "")
        try:
            return self.find(file) + rest
        except LocationError:
            return self.from_root(file) + rest

    def absolute_location(self, location: str) -> str:
        """FILE:LINE, FILE:A-B or FILE#symbol with FILE absolute.

        FILE is found as by `find`. What is not there is left as it is: REV:FILE:LINE, where FILE counts from the
        root as in git.
        """
        match = _LOCATION.fullmatch(location)
        file, rest = (match["file"], match["rest"]) if match else (location, "")
        try:
            return self.absolute(self.find(file)) + rest
        except LocationError:
            return location


def find_place(directories: Sequence[str] = ()) -> Place:
    """The place where `-C` options lead from the current directory, each relative to the one before."""
    folder = Path.cwd().joinpath(*directories)
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {problem}.", "Give -C the folder of a repository.")
    folder = folder.resolve()
    root = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)
    return Place(root, folder)
