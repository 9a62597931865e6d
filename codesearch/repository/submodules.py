"""Finds the submodules that are checked out, and puts what their own git says under the super-repository's paths.

Each is a repository of its own, with its own settings overridden; only one whose git directory git itself made for
it counts, because a folder that came with somebody's archive may point anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from codesearch.errors import RepositoryError
from codesearch.repository.changes import Changes
from codesearch.repository.commands import Git
from codesearch.repository.discovery import Location, locate
from codesearch.repository.files import file_mode
from codesearch.repository.listings import SUBMODULE
from codesearch.types import Entry, Snapshot

_NAMED = ("config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")


def find_submodules(git: Git, location: Location) -> dict[str, Location]:
    """Checked-out submodules by path, as `.gitmodules` names them; starts no process where there is no such file."""
    if (
        location.git_dir is None
        or location.is_bare
        or file_mode(location.root, ".gitmodules") not in (0o100644, 0o100755)
    ):
        return {}
    named = git.run(_NAMED, ok=(0, 1, 128)).decode("utf-8", "surrogateescape").split("\0")
    found = {}
    for record in named[:-1]:
        path = record.partition("\n")[2].rstrip("/")
        inside = _checked_out(location, path)
        if inside is not None:
            found[path] = inside
    return found


def _checked_out(outer: Location, path: str) -> Location | None:
    parts = path.split("/")
    if not path or "\0" in path or "." in parts or ".." in parts or "" in parts:
        return None
    folder = outer.root / path
    if os.path.realpath(folder) != str(folder) or not os.path.lexists(folder / ".git"):
        return None
    try:
        found = locate(folder)
    except RepositoryError:
        return None
    assert outer.git_dir is not None
    assert outer.common_dir is not None
    homes = (folder / ".git", outer.git_dir / "modules", outer.common_dir / "modules")
    is_its_own = found.git_dir is not None and any(found.git_dir.is_relative_to(home) for home in homes)
    return found if is_its_own and found.root == folder and found.object_format == outer.object_format else None


def with_submodules(outer: Snapshot, inner: Mapping[str, Snapshot]) -> Snapshot:
    """A snapshot in which the files of submodules stand for their entries."""
    entries: list[Entry] = []
    changed = list(outer.changed)
    commits: list[tuple[str, str | None]] = []
    for entry in outer.entries:
        taken = inner.get(entry.path) if entry.mode == SUBMODULE else None
        if taken is None:
            entries.append(entry)
            continue
        prefix = entry.path + "/"
        entries.extend(Entry(prefix + each.path, each.oid, each.mode) for each in taken.entries)
        changed.extend(prefix + path for path in taken.changed)
        commits.append((entry.path, taken.commit))
        commits.extend((prefix + path, commit) for path, commit in taken.submodules)
    return Snapshot(
        outer.commit,
        outer.ref,
        outer.dirty or any(taken.dirty for taken in inner.values()),
        tuple(sorted(entries, key=lambda entry: entry.path)),
        tuple(changed),
        outer.outside,
        tuple(commits),
    )


def part_of(outer: Snapshot, path: str) -> Snapshot:
    """The snapshot of a submodule inside that of the repository around it."""
    prefix = path + "/"
    known = dict(outer.submodules)
    return Snapshot(
        known.get(path),
        None,
        outer.dirty,
        tuple(
            Entry(entry.path.removeprefix(prefix), entry.oid, entry.mode)
            for entry in outer.entries
            if entry.path.startswith(prefix)
        ),
        submodules=tuple(inside(path, known).items()),
    )


def join_changes(outer: Changes, inner: Mapping[str, Changes], known: Iterable[str]) -> Changes:
    """What changed in a repository and in its submodules; `known` are the submodules that were there before."""
    tracked = outer.visible(inner)
    parts = {path: each for path, each in inner.items() if path in tracked}
    return Changes(
        outer.commit,
        outer.ref,
        outer.dirty or any(each.dirty for each in parts.values()),
        outer.paths.union(*({f"{path}/{name}" for name in each.paths} for path, each in parts.items())),
        outer.complete and all(each.complete for each in parts.values()) and set(known) <= set(parts),
        outer.outside,
        outer.untracked,
        outer.listing,
        parts,
    )


def direct(known: Mapping[str, str | None]) -> list[str]:
    """The submodules that do not lie inside another one."""
    return [path for path in known if not any(path.startswith(f"{other}/") for other in known)]


def inside(path: str, known: Mapping[str, str | None]) -> dict[str, str | None]:
    """The submodules of a submodule, by their paths there."""
    prefix = path + "/"
    return {name.removeprefix(prefix): commit for name, commit in known.items() if name.startswith(prefix)}
