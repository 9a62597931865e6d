"""The repository as the rest of codesearch sees it: one value that opens quickly and answers on demand."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from codesearch.errors import RepositoryError, RevisionError
from codesearch.repository import attributes, authorship, blobs, changes, files, ranges, snapshots, submodules
from codesearch.repository.authorship import ChosenCommits
from codesearch.repository.changes import Changes
from codesearch.repository.commands import Git
from codesearch.repository.dates import git_date
from codesearch.repository.discovery import OID, Location, locate
from codesearch.repository.listings import SUBMODULE
from codesearch.repository.ranges import FilePair
from codesearch.types import Entry, Filters, Place, Side, SkipReason, Snapshot

_NO_COMMIT_HINT = (
    "Name a branch, a tag, a commit (`git log --oneline` lists them) or a date, as 2024-05-31 or 2 weeks ago."
)
_NONE: Mapping[str, str | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """Who made a commit, when, and the first line of its message: text from the repository, not sanitised."""

    id: str
    author: str
    authored: datetime
    summary: str


class Repository:
    """A git repository, or a plain folder (`is_git` false), opened without starting a process.

    `root` is the real path of the work tree; of a bare repository it is the git directory and there are no
    files to read, so that its snapshot is HEAD's tree. Threads may share it.
    """

    def __init__(self, location: Location, index_file: Path | None = None) -> None:
        self._location = location
        self._own_index = index_file
        self._git = Git(location, None if index_file is None else str(index_file))
        self._inner: dict[Location, Repository] = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str] = ".", *, index_file: str | None = None) -> Repository:
        """The repository around a folder, else the folder itself. RepositoryError if there is no such folder.

        `index_file` is the index to read instead of the repository's: a pre-commit hook passes its
        GIT_INDEX_FILE, because `git commit -a` keeps what it commits in another file. A relative one
        starts at the root, as in git.
        """
        location = locate(path)
        return cls(location, None if index_file is None else location.root / index_file)

    @property
    def root(self) -> Path:
        """Real path of the work tree, of a bare repository, or of the plain folder."""
        return self._location.root

    @property
    def git_dir(self) -> Path | None:
        """The worktree's own git directory; None without git."""
        return self._location.git_dir

    @property
    def common_dir(self) -> Path | None:
        """The git directory that all worktrees of a clone share; None without git."""
        return self._location.common_dir

    @property
    def is_git(self) -> bool:
        """Whether git knows this folder."""
        return self._location.git_dir is not None

    @property
    def is_bare(self) -> bool:
        """Whether there is no work tree."""
        return self._location.is_bare

    @property
    def object_format(self) -> str:
        """The hash that names blobs: sha1 or sha256."""
        return self._location.object_format

    @property
    def worktree_key(self) -> str:
        """A short name for this worktree, unique within the clone and stable while it is not moved.

        A name alone would not do: a `.git` file that came with someone's archive may point to any clone.
        """
        git_dir = self._location.git_dir
        if git_dir is None or git_dir in (self.root, self.root / ".git"):
            return "main"
        return _key_of(self.root, git_dir.name, digits=8)

    def index_home(self, override: Path | None = None) -> Path:
        """The folder for this clone's index; it need not exist yet.

        `<common dir>/codesearch`, or a folder in the user's cache for a plain folder and for a git directory
        that cannot be written; below `override`, if given, a folder keyed by the clone's real path. A symlink
        in the git directory is refused: it could have come with the repository.
        """
        common_dir = self._location.common_dir
        subject = common_dir or self.root
        name = _key_of(subject, subject.parent.name if subject.name == ".git" else subject.name, digits=16)
        if override is not None:
            return override / name
        if common_dir is not None:
            home = common_dir / "codesearch"
            if home.is_symlink():
                raise RepositoryError(f"{home} is a symbolic link.", hint="Remove it, or set CODESEARCH_HOME.")
            if os.access(home if home.is_dir() else common_dir, os.W_OK | os.X_OK):
                return home
        import platformdirs  # imported here: most repositories never need it

        return Path(platformdirs.user_cache_dir("codesearch", appauthor=False)) / name

    def run_git(self, args: Sequence[str], *, stdin: bytes = b"", ok: Container[int] = (0,)) -> bytes:
        """What a git command prints, run at the root so that no repository setting can execute anything.

        Pathspecs are literal. An exit status outside `ok` is a RepositoryError. What a caller takes from
        users must stand behind `--end-of-options` or `--`.
        """
        self._require_git()
        return self._git.run(args, stdin=stdin, ok=ok)

    def head(self) -> tuple[str | None, str | None]:
        """HEAD's commit (None before the first one) and short branch name (None when detached)."""
        return changes.ask_head(self._git, self._location) if self.is_git else (None, None)

    def snapshot(self, *, staged: bool = False, at: str | None = None) -> Snapshot:
        """The files of the work tree, of the index (`staged`) or of a revision's tree (`at`).

        Of the work tree, files that git finds equal to the index have its object id: with line-end conversion
        that is not the hash of the bytes on disk. All others (edited, untracked, in conflict, hidden from
        git) have none; deleted ones, those outside a sparse checkout and nested repositories are left out.
        `dirty` counts untracked files. A plain folder is listed as it is.

        In place of a submodule that is checked out stand its files: as they are, or of the commit that the index or
        the revision names, as far as the submodule has it.
        """
        taken = self._own_snapshot(staged, at)
        links = [entry for entry in taken.entries if entry.mode == SUBMODULE]
        modules = self._submodules() if links else {}
        inner = {}
        for entry in links:
            if entry.path in modules:
                fixed = staged or at is not None
                with suppress(RepositoryError):  # a commit that was never fetched, or a damaged submodule
                    inner[entry.path] = modules[entry.path].snapshot(at=entry.oid if fixed else None)
        return submodules.with_submodules(taken, inner) if inner else taken

    def _submodules(self) -> dict[str, Repository]:
        """The submodules that are checked out now."""
        found = submodules.find_submodules(self._git, self._location)
        return {path: self._inner.setdefault(each, Repository(each)) for path, each in found.items()}

    def _own_snapshot(self, staged: bool, at: str | None) -> Snapshot:
        if staged or at is not None:
            self._require_git()
        if not self.is_git:
            return snapshots.folder_snapshot(self._location)
        if at is not None:
            return snapshots.tree_snapshot(self._git, self.resolve(at), None)
        if staged:
            return snapshots.index_snapshot(self._git, self._location)
        if self.is_bare:
            commit, ref = self.head()
            if commit is None:
                return Snapshot(None, ref, False, ())
            return snapshots.tree_snapshot(self._git, commit, ref)
        return snapshots.worktree_snapshot(self._git, self._location, self._index_file())

    def start_changes(self, since: str | None, known: Mapping[str, str | None] = _NONE) -> Callable[[], Changes]:
        """Asks git in the background which files may differ from commit `since` (None: from nothing at all).

        `known` are a snapshot's submodules. Returns at once; the returned function waits for the answer, and is to be
        called exactly once. A file that enters a sparse checkout is not reported: git sees no change in it.
        """
        own = changes.start_changes(self._git, self._location, since)
        inner = {
            path: module.start_changes(known.get(path), submodules.inside(path, known))
            for path, module in self._submodules().items()
        }
        if not inner and not known:
            return own
        return lambda: submodules.join_changes(
            own(), {path: finish() for path, finish in inner.items()}, submodules.direct(known)
        )

    def read_file(self, path: str, max_bytes: int | None = None) -> bytes:
        """A work-tree file's bytes as they are on disk.

        Symlinks are not followed in any component. Raises RepositoryError for a path that does not stay below
        the root, and OSError otherwise: FileNotFoundError, PermissionError, IsADirectoryError,
        NotADirectoryError or errno ELOOP (a component is a file or a symlink), EINVAL (a FIFO, socket or
        device), EFBIG (longer than `max_bytes`; then nothing is read).
        """
        return files.read_inside(self.root, path, max_bytes)

    def marks(self, snapshot: Snapshot, *, staged: bool = False, fixed: bool = False) -> dict[str, dict[str, bool]]:
        """Path → linguist attribute → whether it is set, for the files of a snapshot that `.gitattributes` speaks of.

        Read from the same state as the files: the work tree, the index (`staged`) or the snapshot's commit (`fixed`).
        Starts no process where no such attribute is used.
        """
        if not self.is_git:
            return {}
        found: dict[str, dict[str, bool]] = {}
        modules = self._submodules() if snapshot.submodules else {}
        own = [entry for entry in snapshot.entries if not any(entry.path.startswith(f"{path}/") for path in modules)]
        for path, module in modules.items():
            prefix = path + "/"
            inner = submodules.part_of(snapshot, path)
            marked = module.marks(inner, fixed=staged or fixed)
            found |= {prefix + name: marks for name, marks in marked.items()}
        if not self._has_marks(own, staged or fixed):
            return found
        paths = [entry.path for entry in own]
        if staged:
            return found | attributes.ask_marks(self._git, paths, "--cached")
        if fixed and snapshot.commit is not None:
            return found | attributes.ask_marks_at(self._location, snapshot.commit, paths)
        return found | attributes.ask_marks(self._git, paths)

    def _has_marks(self, entries: Sequence[Entry], fixed: bool) -> bool:
        files = [each for each in entries if each.path.rpartition("/")[2] == attributes.FILE]
        assert self.common_dir is not None
        with suppress(OSError):
            if attributes.MARK in (self.common_dir / "info" / "attributes").read_bytes():
                return True
        if fixed:
            contents = (content for _, content in blobs.read_blobs(self._git, [each.oid for each in files], None))
            return any(isinstance(content, bytes) and attributes.MARK in content for content in contents)
        for each in files:
            with suppress(OSError):
                if attributes.MARK in self.read_file(each.path):
                    return True
        return False

    def read_blobs(self, oids: Iterable[str], max_bytes: int | None = None) -> Iterator[tuple[str, bytes | None]]:
        """Blobs by id, in the order asked; None for what is no blob here or is longer than `max_bytes`.

        Contents are as stored, without filters. Two git processes serve all of them.
        """
        self._require_git()
        for oid, content in blobs.read_blobs(self._git, oids, max_bytes):
            yield oid, content if isinstance(content, bytes) else None

    def read_entries(self, entries: Iterable[Entry], max_bytes: int | None = None) -> Iterator[bytes | SkipReason]:
        """The contents of a snapshot's entries as git has them, in order, or why there is none.

        Those of a submodule are read from its own objects. Quick for entries in order of path.
        """
        self._require_git()
        modules = self._submodules()

        def owner(entry: Entry) -> str:
            return next((path for path in modules if entry.path.startswith(f"{path}/")), "")

        for path, group in groupby(entries, owner):
            if path:
                inside = (Entry(each.path[len(path) + 1 :], each.oid, each.mode) for each in group)
                yield from modules[path].read_entries(inside, max_bytes)
            else:
                for _, content in blobs.read_blobs(self._git, (each.oid for each in group), max_bytes):
                    yield content

    def blobs_here(self) -> frozenset[str]:
        """The ids of all objects that git has, in this repository and in its submodules; none without git."""
        if not self.is_git:
            return frozenset()
        inner = [module.blobs_here() for module in self._submodules().values()]
        return blobs.all_present(self._git).union(*inner)

    def worktree_keys(self) -> set[str]:
        """The `worktree_key` of every worktree that git knows of the clone, and of this one; none without git."""
        if self.common_dir is None:
            return set()
        keys = {"main", self.worktree_key}
        for git_dir in self.common_dir.glob("worktrees/*"):
            with suppress(OSError):
                root = Path(os.path.realpath((git_dir / "gitdir").read_text().rstrip("\n"))).parent
                keys.add(_key_of(root, git_dir.name, digits=8))
        return keys

    def blob_id(self, content: bytes) -> str:
        """The object id that git gives to these bytes without filters, in this repository's hash."""
        return blobs.blob_id(content, self._location.object_format)

    def resolve(self, revision: str) -> str:
        """The id of the commit that a revision names; RevisionError if it names none.

        A date means the last commit until then that HEAD has led to by first parents.
        """
        self._require_git()
        unknown = RevisionError(f"unknown revision '{revision}'", hint=self._hint_of_unknown())
        # git refuses such names for branches and tags; here they could only be options.
        if not revision or revision.startswith("-") or "\0" in revision:
            raise unknown
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        commit = self._git.run(args, ok=(0, 1, 128)).decode("utf-8", "replace").strip()
        if not OID.fullmatch(commit):
            self._git.run(("rev-parse", "--git-dir"))  # raises if git refuses the repository as a whole
            return self._resolve_date(revision, unknown)
        return commit

    def _resolve_date(self, text: str, unknown: RepositoryError) -> str:
        date = git_date(text)
        if date is None:
            near = difflib.get_close_matches(text, self.reference_names(), n=1)
            if near:
                unknown.hint = f"Did you mean {near[0]}?"
            raise unknown
        args = ("rev-list", "-1", "--first-parent", f"--before={date}", "HEAD", "--")
        commit = self._git.run(args, ok=(0, 128)).decode("utf-8", "replace").strip()
        if not OID.fullmatch(commit):
            raise RevisionError(f"There is no commit before {text}.", hint="See: git log --first-parent --reverse")
        return commit

    def _hint_of_unknown(self) -> str:
        if ranges.is_shallow(self._location):
            return "This clone is shallow; `git fetch --unshallow` brings the rest of its history."
        return _NO_COMMIT_HINT if self.head()[0] else "There is no commit yet; commit something first."

    def read_range(self, text: str) -> tuple[Side, Side]:
        """The snapshots that a range names: `A..B`, `A...B`, `REV` (to the work tree), `staged` or `unstaged`.

        RevisionError if it names none.
        """
        self._require_git()
        return ranges.read_range(text, self.head()[0], self.resolve, self._git, self._location)

    def differing_files(self, old: Side, new: Side) -> list[FilePair]:
        """The regular files that may differ between two sides of a range, renames paired.

        The work tree has untracked files, too. What git reports as different may have equal text.
        """
        also: Iterable[str] = ()
        if new.place is Place.WORKTREE:
            also = changes.start_changes(self._git, self._location, self.head()[0])().paths
        return ranges.differing_files(self._git, self._location, old, new, also)

    def choose_commits(self, filters: Filters, head: str | None) -> ChosenCommits:
        """The commits up to `head` (None: HEAD) that the dates and authors of `filters` choose, as `git log` does.

        UsageError for a date or a pattern that git does not understand; RepositoryError without a commit, or where a
        shallow clone lacks the history that is asked for.
        """
        self._require_git()
        head = head or self.head()[0]
        if head is None:
            raise RepositoryError("There is no commit yet.", hint="Commit something first.")
        return authorship.choose_commits(self._git, self._location, head, filters)

    def standing_lines(
        self, path: str, chosen: ChosenCommits, *, content: bytes | None = None, commit: str | None = None
    ) -> list[tuple[int, int]]:
        """The runs of lines (first and last, from 1) that the chosen commits wrote and that stand in a file.

        Of the file at `commit`, else of `content`, which the work tree or the index has of it.
        """
        return authorship.standing_lines(self._git, path, chosen, content=content, commit=commit)

    def reference_names(self) -> list[str]:
        """Branches and tags by their short names, the most recent first; none without git."""
        if not self.is_git:
            return []
        args = (
            "for-each-ref",
            "--sort=-creatordate",
            "--format=%(refname:short)",
            "refs/heads",
            "refs/tags",
            "refs/remotes",
        )
        return self._git.run(args).decode("utf-8", "replace").splitlines()

    def commits_behind(self, commit: str) -> int | None:
        """How many commits lead from `commit` to HEAD; None unless HEAD descends from it."""
        if not self.is_git or not OID.fullmatch(commit):
            return None
        args = ("rev-list", "--count", "--left-right", "--end-of-options", f"{commit}...HEAD", "--")
        counts = self._git.run(args, ok=(0, 128)).split()
        return int(counts[1]) if len(counts) == 2 and counts[0] == b"0" else None

    def ignored_by(self, path: str) -> str | None:
        """The rule (`file:line:pattern`) by which git ignores a path, or None."""
        if not self.is_git or self.is_bare:
            return None
        found = self._git.run(("check-ignore", "--verbose", "--no-index", "--", f"./{path}"), ok=(0, 1, 128))
        rule = found.decode("utf-8", "replace").partition("\t")[0]
        return rule if rule and not rule.rpartition(":")[2].startswith("!") else None

    def commit_info(self, revision: str) -> CommitInfo:
        """Author, time and summary of a commit. Not for the query path: it imports GitPython (0.1 s)."""
        commit = self.resolve(revision)  # also git's own check of who owns the repository
        if self._location.object_format != "sha1":
            raise RepositoryError("Commit details need a SHA-1 repository.", hint="GitPython reads no SHA-256 ids.")
        import git

        # The common directory: an object store is all that is asked, and GitPython knows no linked worktrees.
        store = str(self._location.common_dir)
        with self._git.inherited_variables_hidden(), git.Repo(store) as repo:
            repo.git.update_environment(**self._git.environment(), GIT_DIR=store)
            found = repo.commit(commit)
            return CommitInfo(commit, found.author.name or "", found.authored_datetime, str(found.summary))

    def _index_file(self) -> Path:
        if self._own_index is not None:
            return self._own_index
        assert self._location.git_dir is not None
        return self._location.git_dir / "index"

    def _require_git(self) -> None:
        if not self.is_git:
            raise RepositoryError(f"{self.root} is no git repository.", hint="Run `git init`, or leave revisions out.")


def _key_of(path: Path, name: str, digits: int) -> str:
    """A readable name made unique by a path's hash, fit for a file name."""
    digest = hashlib.sha1(os.fsencode(path), usedforsecurity=False).hexdigest()[:digits]
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name)[:40].strip('.-') or 'folder'}-{digest}"
