"""Lists a repository's files at one moment: the work tree, the index, a commit's tree, or a plain folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from codesearch.repository.changes import ask_head
from codesearch.repository.commands import Git
from codesearch.repository.discovery import Location
from codesearch.repository.files import file_mode, walk_folder
from codesearch.repository.listings import (
    STATUS,
    SUBMODULE,
    IndexEntry,
    WorktreeStatus,
    outside_of,
    parse_index,
    parse_status,
    parse_tree,
)
from codesearch.types import Entry, Snapshot

_LS_INDEX = ("ls-files", "-z", "--stage", "-v")
_TRIES = 3  # a git command that rewrites the index while we read it is over by then
_OURS_FIRST = {2: 0, 3: 1, 1: 2}  # conflict stages in the order in which the index's side is chosen


def folder_snapshot(location: Location) -> Snapshot:
    """All files of a plain folder."""
    return Snapshot(None, None, False, tuple(_sorted(walk_folder(location.root))))


def tree_snapshot(git: Git, commit: str, ref: str | None) -> Snapshot:
    """The files of a commit."""
    output = git.run(("ls-tree", "-r", "-z", "--full-tree", commit))
    return Snapshot(commit, ref, False, tuple(_sorted(Entry(*fields) for fields in parse_tree(output))))


def index_snapshot(git: Git, location: Location) -> Snapshot:
    """The files of the index; of a file in conflict our side, else theirs."""
    commit, ref = ask_head(git, location)
    listed = parse_index(git.run(_LS_INDEX))
    chosen: dict[str, IndexEntry] = {}
    for entry in sorted(listed, key=lambda entry: _OURS_FIRST.get(entry.stage, 0), reverse=True):
        if entry.stage != 1:  # a common ancestor alone: both sides deleted the file
            chosen[entry.path] = entry
    changed = listed if commit is None else git.run(("diff-index", "--cached", "--name-only", "-z", commit))
    dirty = bool(changed)
    return Snapshot(commit, ref, dirty, tuple(_sorted(Entry(e.path, e.oid, e.mode) for e in chosen.values())))


def worktree_snapshot(git: Git, location: Location, index_file: Path) -> Snapshot:
    """The files of the work tree: with the index's object id where git finds them equal, else without one."""
    for _ in range(_TRIES):
        before = _stamp(index_file)
        running = git.start(STATUS)
        listed = parse_index(git.run(_LS_INDEX))
        status = parse_status(running.finish())
        if _stamp(index_file) == before:  # else the two may speak of different indexes
            break
    entries = _worktree_entries(location, listed, status)
    changed = tuple(sorted(status.changed))
    outside = outside_of(each.path for each in listed if each.skipped and file_mode(location.root, each.path) is None)
    return Snapshot(status.commit, status.ref, status.is_dirty, tuple(_sorted(entries.values())), changed, outside)


def _worktree_entries(location: Location, listed: list[IndexEntry], status: WorktreeStatus) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for entry in listed:
        path, mode = entry.path, entry.mode
        if path in status.edited:
            mode = status.edited[path]
            if mode:
                entries[path] = Entry(path, mode=mode)
        elif entry.hidden and mode != SUBMODULE:
            found = file_mode(location.root, path)
            if found is not None:
                entries[path] = Entry(path, mode=found)
        else:
            entries[path] = Entry(path, entry.oid, mode)
    for path in status.untracked:
        found = file_mode(location.root, path)
        if found is not None:
            entries[path] = Entry(path, mode=found)
    return entries


def _sorted(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.path)


def _stamp(index_file: Path) -> tuple[int, int, int] | None:
    try:
        status = index_file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
