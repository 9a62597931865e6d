"""Which work-tree files may differ from a commit: asked in the background while the caller works on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from codesearch.errors import RepositoryError
from codesearch.repository.commands import Git
from codesearch.repository.discovery import OID, Location, read_head
from codesearch.repository.files import file_mode, walk_folder
from codesearch.repository.listings import (
    STATUS,
    WorktreeStatus,
    outside_of,
    parse_hidden,
    parse_listing,
    parse_paths,
    parse_status,
)

# git knows the empty tree without storing it; it stands for "no commit yet".
EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, slots=True)
class Changes:
    """What may have changed since a commit.

    `paths` has every path whose content in the work tree may differ from the commit asked about: edited,
    staged, untracked, deleted, hidden from git (assume-unchanged), or touched by commits since. A path may be
    gone from the disk, or be no regular file. `complete` is false when other paths may differ as well (that
    commit no longer exists, or there is no git): compare all files then. `dirty` compares with HEAD, not with
    that commit. `outside` is that of a snapshot taken now: another one means that a sparse checkout has changed,
    in which git sees no change.
    """

    commit: str | None
    ref: str | None
    dirty: bool
    paths: frozenset[str]
    complete: bool
    outside: str = ""
    untracked: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    listing: bytes | None = field(default=None, compare=False, repr=False)  # of tracked files, as git gave it
    submodules: Mapping[str, Changes] = field(default_factory=dict, compare=False, repr=False)

    def visible(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that belong to the work tree for git: tracked, or untracked and not ignored.

        A file may have been neither deleted nor edited and still be gone: by a rule that ignores it now.
        """
        if self.listing is None:
            return set(paths)
        asked = set(paths)
        for folder, changes in self.submodules.items():
            prefix = folder + "/"
            within = {path for path in asked if path.startswith(prefix)}
            if within:
                shown = changes.visible([path.removeprefix(prefix) for path in within])
                return {prefix + path for path in shown} | self.visible(asked - within)
        tracked = parse_listing(self.listing) if asked - self.untracked else frozenset()
        return {path for path in asked if path in self.untracked or path in tracked}


def start_changes(git: Git, location: Location, since: str | None) -> Callable[[], Changes]:
    """Starts git and returns at once; the returned function waits for the answer."""
    if location.git_dir is None:
        return lambda: Changes(
            None, None, False, frozenset(entry.path for entry in walk_folder(location.root)), complete=False
        )
    old = EMPTY_TREE[location.object_format] if since is None else since
    known_head = read_head(location)
    head = known_head[0] if known_head is not None else None
    status = None if location.is_bare else git.start(STATUS)
    # git does not look at files marked assume-unchanged or skip-worktree; they are looked up here.
    flags = None if location.is_bare else git.start(("ls-files", "-z", "-v"))
    diff = git.start(_diff(old, head)) if head is not None and head != since and OID.fullmatch(old) else None

    def finish() -> Changes:
        if status is None or flags is None:
            found = WorktreeStatus(*ask_head(git, location), frozenset(), {}, ())
        else:
            found = parse_status(status.finish())
        paths = set(found.changed)
        paths.update(found.untracked)
        listing = None
        left_out: list[str] = []
        if flags is not None:
            listing = flags.finish()
            assumed, skipped = parse_hidden(listing)
            paths.update(assumed)
            # Left out by a sparse checkout, unless it is there after all.
            there = {path for path in skipped if file_mode(location.root, path) is not None}
            paths.update(there)
            left_out = [path for path in skipped if path not in there]
        complete = True
        try:
            if found.commit == head and diff is not None:
                paths.update(parse_paths(diff.finish()))
            elif found.commit != since:
                complete = OID.fullmatch(old) is not None and found.commit is not None
                # HEAD could not be read from files, or moved in between.
                if complete:
                    paths.update(parse_paths(git.run(_diff(old, found.commit))))
        except RepositoryError:  # that commit is gone: collected, rewritten, or beyond a shallow border
            complete = False
        return Changes(
            found.commit, found.ref, found.is_dirty, frozenset(paths), complete, outside_of(left_out),
            frozenset(found.untracked), listing,
        )  # fmt: skip

    return finish


def ask_head(git: Git, location: Location) -> tuple[str | None, str | None]:
    """HEAD's commit and short branch name, from files where they say it, else from git."""
    head = read_head(location)
    if head is not None:
        return head
    commit = git.run(("rev-parse", "--verify", "--quiet", "HEAD^{commit}"), ok=(0, 1, 128)).decode().strip()
    branch = git.run(("symbolic-ref", "--quiet", "--short", "HEAD"), ok=(0, 1, 128))
    return commit or None, branch.decode("utf-8", "surrogateescape").rstrip("\n") or None


def _diff(old: str, new: str | None) -> tuple[str, ...]:
    assert new is not None
    return ("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
