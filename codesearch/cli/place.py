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

from codesearch.errors import UsageError

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

    def from_root(self, text: str) -> str:
        """A path as the user wrote it, relative to the root; "" for the root itself. It need not exist."""
        absolute = Path(os.path.normpath(self.folder / text))
        for candidate in (
            absolute,
            absolute.resolve(),
        ):  # an absolute path may come through a symlinked folder
            if candidate.is_relative_to(self.root):
                relative = candidate.relative_to(self.root).as_posix()
                return "" if relative == "." else relative
        raise UsageError(f"{text} is outside the repository {self.root}.", "Use -C DIR to search another one.")

    def absolute(self, path: str) -> str:
        """A path relative to the root as an absolute one, which means the same whatever the process's folder."""
        return str(self.root / path)

    def absolute_location(self, location: str) -> str:
        """FILE:LINE, FILE:A-B or FILE#symbol with FILE absolute.

        FILE counts from where the user stands if it exists there, else from the root, as hits in JSON do. What
        exists in neither is left as it is: REV:FILE:LINE, where FILE counts from the root as in git.
        """
        match = _LOCATION.fullmatch(location)
        if match is None:
            return location
        if self.exists(match["file"]):
            return self.absolute(self.from_root(match["file"])) + match["rest"]
        if (self.root / match["file"]).exists():
            return self.absolute(match["file"]) + match["rest"]
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
