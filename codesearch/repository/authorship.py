"""Which lines of a file stand since which commits: commits are chosen by date and author, lines are blamed.

`git log` says which files the chosen commits touched, `git blame` which of their lines still stand. A log of all of
Rails (100,000 commits) takes about a second; a blame takes from 10 ms to some seconds for each file, and stops at the
oldest chosen commit.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codesearch.errors import RepositoryError, UsageError
from codesearch.repository.commands import Git
from codesearch.repository.discovery import Location
from codesearch.repository.listings import parse_paths
from codesearch.repository.ranges import is_shallow
from codesearch.types import Filters

_COMMIT = re.compile(r"\x01([0-9a-f]{40}(?:[0-9a-f]{24})?) (\d+)")
_BLAMED = re.compile(rb"^([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ (\d+) (\d+)$", re.MULTILINE)
_DAY = 86_400  # seconds; clocks of two machines that make commits differ by less
_RENAMES_FOLLOWED = 10  # of one file; a chain of more is a loop of names
_DATES = "Give a date as git takes it: 2024-05-31, yesterday, '2 weeks ago'."
_NO_DIGITS = ("now", "today", "midnight")  # that git understands, and that may mean this very second


@dataclass(frozen=True, slots=True)
class ChosenCommits:
    """Commits, the files that they touched under the names of then and of later, and when the oldest was made."""

    ids: frozenset[str]
    paths: frozenset[str]
    oldest: int = 0


def choose_commits(git: Git, location: Location, head: str, filters: Filters) -> ChosenCommits:
    """The commits up to `head` that `git log` chooses. A file that `head` does not have is followed to its later names.

    UsageError for a date or a pattern that git does not understand, RepositoryError where the history that is needed
    lies beyond the border of a shallow clone.
    """
    limits = [
        _limit(git, name, text)
        for name, text in (("since", filters.since), ("until", filters.until))
        if text is not None
    ]
    if is_shallow(location):
        _refuse_border(git, location, head, limits[:1] if filters.since is not None else [])
    by = [f"--author={pattern}" for pattern in filters.authors]
    options = ("--use-mailmap", "--basic-regexp", "--regexp-ignore-case", "-c", "-z", "--name-only", "--no-renames")
    try:
        output = git.run(("log", *options, "--format=%x01%H %ct", *limits, *by, head, "--"))
    except RepositoryError as error:
        if not filters.authors:
            raise
        raise UsageError(
            f"--author is no pattern: {error.message.partition(': ')[2]}",
            "It is a regular expression as grep takes it.",
        ) from error
    ids: dict[str, int] = {}
    paths: set[str] = set()
    for field in output.decode("utf-8", "surrogateescape").split("\0"):
        if match := _COMMIT.fullmatch(field):
            ids[match[1]] = int(match[2])
        elif path := field.removeprefix("\n"):
            paths.add(path)
    _follow(git, head, paths)
    return ChosenCommits(frozenset(ids), frozenset(paths), min(ids.values(), default=0))


def standing_lines(
    git: Git, path: str, chosen: ChosenCommits, *, content: bytes | None, commit: str | None
) -> list[tuple[int, int]]:
    """The lines (first and last, from 1) of a file that the chosen commits wrote and that still stand.

    Of the file at `commit`, else of `content`, which the work tree or the index has of it.
    """
    options = ("--no-textconv", "--incremental", f"--max-age={max(chosen.oldest - _DAY, 0)}")
    source = (commit,) if commit is not None else ("--contents", "-")
    output = git.run(("blame", *options, *source, "--", path), stdin=content or b"", ok=(0, 128))
    lines = []
    for oid, first, count in _BLAMED.findall(output):
        if oid.decode() in chosen.ids:
            lines.append((int(first), int(first) + int(count) - 1))
    return lines


def _limit(git: Git, name: str, text: str) -> str:
    """A date as an option of `git log`; git takes what it does not understand for this very second."""
    said = "midnight" if text.strip().lower() == "today" else text.strip()
    answer = git.run(("rev-parse", f"--{name}={said}")).decode().strip()
    seconds = int(answer.partition("=")[2])
    understood = abs(seconds - time.time()) > 2 or re.search(r"\d", said) or said.lower() in _NO_DIGITS
    if not said or not understood:
        raise UsageError(f"--{name} {text!r} is no date.", _DATES)
    return answer


def _refuse_border(git: Git, location: Location, head: str, since: Sequence[str]) -> None:
    """RepositoryError unless all commits since a date lie inside a shallow clone."""
    assert location.common_dir is not None
    border = set((location.common_dir / "shallow").read_text("ascii", "replace").split())
    if since and not border & set(git.run(("rev-list", *since, head, "--")).decode().split()):
        return
    raise RepositoryError(
        "This clone is shallow: it does not know who wrote what stands there.",
        "Run: git fetch --unshallow" + ("" if since else ", or give --since a date inside its history."),
    )


def _follow(git: Git, head: str, paths: set[str]) -> None:
    """Adds the later names of files that are not there any more."""
    present = set(parse_paths(git.run(("ls-tree", "-r", "-z", "--name-only", "--full-tree", head))))
    missing = {path for path in paths if path not in present}
    for _ in range(_RENAMES_FOLLOWED):
        renamed = _later_names(git, head, missing) - paths
        paths |= renamed
        missing = {path for path in renamed if path not in present}
        if not missing:
            break


def _later_names(git: Git, head: str, paths: Iterable[str]) -> set[str]:
    names = [path for path in paths if "\n" not in path]
    if not names:
        return set()
    # The whole of each commit that removed one of them is compared, else git would not see where it went.
    options = ("--full-diff", "-M", "--diff-filter=R", "-z", "--name-status", "--format=", "--stdin")
    asked = "\n".join([head, "--", *names, ""]).encode("utf-8", "surrogateescape")
    output = git.run(("log", *options), stdin=asked).decode("utf-8", "surrogateescape")
    fields = iter(field.removeprefix("\n") for field in output.split("\0"))
    wanted = set(names)
    later = set()
    for status in fields:
        if re.fullmatch(r"R\d+", status):
            old, new = next(fields), next(fields)
            if old in wanted:
                later.add(new)
    return later
