"""What `.gitattributes` files say about the role of paths: generated, vendored, documentation (or expressly not)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from codesearch.repository.commands import Git
from codesearch.repository.discovery import Location

FILE = ".gitattributes"
MARK = b"linguist-"  # how the attributes that are asked for begin
_ASKED = ("linguist-generated", "linguist-vendored", "linguist-documentation")
_VALUES = {"set": True, "true": True, "unset": False, "false": False}


def ask_marks(git: Git, paths: Iterable[str], *options: str) -> dict[str, dict[str, bool]]:
    """Path → attribute → whether it is set, for the paths of which something is said."""
    asked = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    output = git.run(("check-attr", "-z", "--stdin", *options, *_ASKED), stdin=asked)
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    marks: dict[str, dict[str, bool]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if value in _VALUES:
            marks.setdefault(path, {})[name] = _VALUES[value]
    return marks


def ask_marks_at(location: Location, commit: str, paths: Iterable[str]) -> dict[str, dict[str, bool]]:
    """The same by the files of a commit, through an index of its own: `--source` needs git 2.40."""
    with tempfile.TemporaryDirectory() as folder:
        git = Git(location, str(Path(folder, "index")))
        git.run(("read-tree", commit))
        return ask_marks(git, paths, "--cached")
