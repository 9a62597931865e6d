"""Turns the output of git's listing commands into values. Pure: starts nothing, reads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

SUBMODULE = 0o160000


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One line of the index. `stage` is 0 unless in conflict.

    `hidden` says that git was told not to look at the file (assume-unchanged or skip-worktree), so that the
    work tree may hold something else, or nothing; `skipped`, that it was skip-worktree: a sparse checkout.
    """

    path: str
    oid: str
    mode: int
    stage: int
    hidden: bool
    skipped: bool


@dataclass(frozen=True, slots=True)
class WorktreeStatus:
    """What `git status` says.

    `changed` has every tracked path that differs between commit and index or between index and work tree.
    `edited` has those that differ between index and work tree, or are in conflict, with the work tree's mode
    (0: deleted). `untracked` files are those not ignored; nested repositories are not among them.
    """

    commit: str | None
    ref: str | None
    changed: frozenset[str]
    edited: dict[str, int]
    untracked: tuple[str, ...]

    @property
    def is_dirty(self) -> bool:
        """Whether the work tree or the index holds anything that the commit does not."""
        return bool(self.changed or self.untracked)


STATUS = (
    "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=all",
    "--no-renames",
    # To know whether a submodule is dirty, git would run inside it, under the submodule's own configuration.
    "--ignore-submodules=dirty",
)  # fmt: skip


def parse_status(output: bytes) -> WorktreeStatus:
    """Reads the output of `STATUS`."""
    commit = ref = None
    changed: set[str] = set()
    edited: dict[str, int] = {}
    untracked: list[str] = []
    for record in _records(output):
        kind = record[0]
        if kind == "1":
            _, xy, _, mode_head, mode_index, mode_tree, _, _, path = record.split(" ", 8)
            if mode_head == mode_index == "160000":
                continue  # a submodule at another commit: no file of this repository differs
            changed.add(path)
            if xy[1] != ".":
                edited[path] = int(mode_tree, 8)
        elif kind == "u":
            fields = record.split(" ", 10)
            changed.add(fields[10])
            edited[fields[10]] = int(fields[6], 8)
        elif kind == "?":
            if not record.endswith("/"):  # else a repository of its own inside this one
                untracked.append(record[2:])
        elif record.startswith("# branch.oid ") and not record.endswith("(initial)"):
            commit = record.removeprefix("# branch.oid ")
        elif record.startswith("# branch.head ") and not record.endswith("(detached)"):
            ref = record.removeprefix("# branch.head ")
    return WorktreeStatus(commit, ref, frozenset(changed), edited, tuple(untracked))


def parse_index(output: bytes) -> list[IndexEntry]:
    """Reads the output of `ls-files -z --stage -v`: `H 100644 <oid> 0<TAB>path`."""
    entries = []
    for record in _records(output):
        meta, _, path = record.partition("\t")
        tag, mode, oid, stage = meta.split(" ")
        entries.append(IndexEntry(path, oid, int(mode, 8), int(stage), tag == "S" or tag.islower(), tag in "Ss"))
    return entries


def parse_hidden(output: bytes) -> tuple[list[str], list[str]]:
    """Reads the output of `ls-files -z -v`: the paths with assume-unchanged, and those with skip-worktree."""
    assumed, skipped = [], []
    for record in output.split(b"\0"):
        if record and record[:2] != b"H ":  # compared as bytes: nearly all records end here
            tag, path = record[:1], record[2:].decode("utf-8", "surrogateescape")
            if tag in b"Ss":
                skipped.append(path)
            elif tag.islower():
                assumed.append(path)
    return assumed, skipped


def outside_of(left_out: Iterable[str]) -> str:
    """What stands for a set of tracked files that are not in the work tree; "" for none."""
    paths = "\0".join(sorted(left_out))
    return blake2b(paths.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest() if paths else ""


def parse_listing(output: bytes) -> set[str]:
    """Reads the output of `ls-files -z -v`: all paths."""
    return {record[2:] for record in _records(output)}


def parse_tree(output: bytes) -> list[tuple[str, str, int]]:
    """Reads the output of `ls-tree -r -z`: path, object id and mode of every file and submodule."""
    entries = []
    for record in _records(output):
        meta, _, path = record.partition("\t")
        mode, _, oid = meta.split(" ")
        entries.append((path, oid, int(mode, 8)))
    return entries


def parse_paths(output: bytes) -> list[str]:
    """Reads paths that end in NUL."""
    return _records(output)


def _records(output: bytes) -> list[str]:
    records = output.decode("utf-8", "surrogateescape").split("\0")
    return records[:-1]  # the last one is empty: every record ends in NUL
