"""Two snapshots to compare, as a user names them, and the files that differ between them. Parses no code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from codesearch.errors import RepositoryError, RevisionError
from codesearch.repository.changes import EMPTY_TREE
from codesearch.repository.commands import Git
from codesearch.repository.discovery import Location
from codesearch.types import Place, Side

_FORMS = "Give A..B, A...B, a revision, staged or unstaged."
_WORKTREE = Side(Place.WORKTREE, "working tree")
_INDEX = Side(Place.INDEX, "staged")
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A regular file of one side; `oid` is "" where git does not know its content, which is in the work tree."""

    path: str
    oid: str


@dataclass(frozen=True, slots=True)
class FilePair:
    """A file that differs: one side is None where it is not there. Paths differ where git sees a rename."""

    old: FileVersion | None
    new: FileVersion | None


def read_range(
    text: str, head: str | None, resolve: Callable[[str], str], git: Git, location: Location
) -> tuple[Side, Side]:
    """The two sides that a range names; RevisionError if it names none.

    `A..B`, `A...B` (since they parted), either of them without an end (HEAD), `REV` (to the work tree), `REV^!` (what
    one commit did), `staged` (since HEAD) and `unstaged` (since what is staged).
    """
    if text in ("staged", "unstaged") or ".." not in text:
        if location.is_bare and not text.endswith("^!"):
            raise RevisionError("A bare repository has no working tree.", "Give two revisions: A..B")
        if text == "unstaged":
            return _INDEX, _WORKTREE
        if text == "staged":
            return Side(Place.COMMIT, "HEAD", head), _INDEX
    if text.endswith("^!"):
        name = text.removesuffix("^!")
        commit = resolve(name)
        parents = git.run(("rev-list", "--parents", "--max-count=1", commit)).decode().split()[1:]
        return Side(Place.COMMIT, f"{name}^", parents[0] if parents else None), Side(Place.COMMIT, name, commit)
    if ".." not in text:
        return Side(Place.COMMIT, text, resolve(text)), _WORKTREE
    first, dots, second = text.partition("..." if "..." in text else "..")
    if ".." in second:
        raise RevisionError(f"{text} is no range.", _FORMS)
    old, new = first or "HEAD", second or "HEAD"
    ids = resolve(old), resolve(new)
    if dots == "..":
        return Side(Place.COMMIT, old, ids[0]), Side(Place.COMMIT, new, ids[1])
    bases = git.run(("merge-base", *ids), ok=(0, 1)).decode().split()
    if not bases:
        shallow = "This clone is shallow; run: git fetch --unshallow"
        hint = shallow if is_shallow(location) else f"Compare them as they are: {old}..{new}"
        raise RevisionError(f"{old} and {new} have no common ancestor here.", hint)
    return Side(Place.COMMIT, bases[0][:12], bases[0]), Side(Place.COMMIT, new, ids[1])


def is_shallow(location: Location) -> bool:
    """Whether the history of the clone ends before its first commit."""
    return location.common_dir is not None and (location.common_dir / "shallow").is_file()


def differing_files(git: Git, location: Location, old: Side, new: Side, also: Iterable[str]) -> list[FilePair]:
    """The regular files that may differ between two sides, renames paired as git sees them.

    `also` are paths of the work tree that git may not report by itself: untracked ones and those hidden from it.
    """
    start = old.commit or EMPTY_TREE[location.object_format]
    if old.place is Place.INDEX:
        command: tuple[str, ...] = ("diff-files",)
        sides: tuple[str, ...] = ()
    elif new.place is Place.INDEX:
        command, sides = ("diff-index", "--cached"), (start, "--")
    elif new.place is Place.WORKTREE:
        command, sides = ("diff-index",), (start, "--")
    else:
        command, sides = ("diff-tree", "-r"), (start, new.commit or "", "--")
    options = ("-z", "--raw", "--no-abbrev", "--ignore-submodules=dirty")
    try:
        output = git.run((*command, *options, "-M", *sides))
    except RepositoryError:  # to see renames git reads contents, which a partial or damaged clone may lack
        output = git.run((*command, *options, "--no-renames", *sides))
    pairs = list(_read_raw(output))
    if new.place is Place.WORKTREE:
        known = {version.path for pair in pairs for version in (pair.old, pair.new) if version}
        pairs += _unreported(git, old, start, sorted(set(also) - known))
    return pairs


def _unreported(git: Git, old: Side, start: str, paths: list[str]) -> Iterator[FilePair]:
    """Files of the work tree beside what the old side has at their paths."""
    listed: dict[str, str] = {}
    for at in range(0, len(paths), 500):  # a command line holds some thousand paths
        batch = paths[at : at + 500]
        args = (
            ("ls-files", "-z", "--stage", "--", *batch)
            if old.place is Place.INDEX
            else ("ls-tree", "-z", "-r", start, "--", *batch)
        )
        for record in git.run(args).decode("utf-8", "surrogateescape").split("\0")[:-1]:
            meta, _, path = record.partition("\t")
            mode, *_, third = meta.split(" ")
            oid = meta.split(" ")[1] if old.place is Place.INDEX else third
            if mode in _REGULAR:
                listed[path] = oid
    for path in paths:
        yield FilePair(FileVersion(path, listed[path]) if path in listed else None, FileVersion(path, ""))


def _read_raw(output: bytes) -> Iterator[FilePair]:
    """Reads `--raw -z`: `:mode mode oid oid status`, then one path, or two for a rename."""
    fields = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    for meta in fields:
        if not meta.startswith(":"):
            continue
        old_mode, new_mode, old_oid, new_oid, status = meta[1:].split(" ")
        path = next(fields)
        new_path = next(fields) if status[0] in "RC" else path
        if status[0] == "U":
            continue  # in conflict; the same file is reported once more, against our side
        old = FileVersion(path, old_oid) if old_mode in _REGULAR and status[0] != "C" else None
        new = None
        if new_mode in _REGULAR:
            new = FileVersion(new_path, "" if not new_oid.strip("0") else new_oid)
        if old or new:
            yield FilePair(old, new)
