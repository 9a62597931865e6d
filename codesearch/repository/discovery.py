"""Finds the repository around a folder and reads its HEAD, from files alone.

Starts no process: a one-shot search pays for every millisecond before its query runs. Whatever files cannot
answer safely (reftable, symbolic chains, odd names) is left to git itself.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import RepositoryError

OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1 or SHA-256, as git writes them

_LONGEST_FILE = 1 << 26  # bytes; packed-refs of a million refs; the files are untrusted
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)\s*("(?:[^"\\]|\\.)*")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*\"?([^\"#;]*))?")
_PER_WORKTREE_REFS = ("refs/worktree/", "refs/bisect/", "refs/rewritten/")


@dataclass(frozen=True, slots=True)
class Location:
    """Where a repository's parts lie; all paths are real paths.

    `root` is the work tree, the git directory of a bare repository, or the folder itself without git.
    `git_dir` belongs to this worktree, `common_dir` is shared by all worktrees of a clone.
    """

    root: Path
    git_dir: Path | None = None
    common_dir: Path | None = None
    is_bare: bool = False
    object_format: str = "sha1"
    has_reftable: bool = False


def locate(path: str | os.PathLike[str]) -> Location:
    """The repository around a folder, found by walking up; the folder itself where there is none."""
    start = Path(os.path.realpath(path))
    if not start.is_dir():
        what = "is not a folder" if start.exists() else "does not exist"
        raise RepositoryError(f"{os.fspath(path)} {what}.", hint="Name a folder inside a repository.")
    for folder in (start, *start.parents):
        git_dir = _git_dir_in(folder)
        if git_dir is not None:
            return _describe(folder, git_dir)
        if _is_git_dir(folder):
            return _describe(folder, folder)
    return Location(root=start)


def read_head(location: Location) -> tuple[str | None, str | None] | None:
    """HEAD's commit (None: unborn) and short branch name (None: detached); None when git has to be asked."""
    if location.git_dir is None or location.common_dir is None:
        return None, None
    head = location.git_dir / "HEAD"
    if location.has_reftable or head.is_symlink():
        return None
    text = _read_line(head)
    if text is None or OID.fullmatch(text):
        return None if text is None else (text, None)
    name = text.removeprefix("ref:").strip()
    # The file is untrusted: a name with dots could lead out of the git directory.
    if not text.startswith("ref:") or not name.startswith("refs/") or ".." in name or "\0" in name:
        return None
    branch = name.removeprefix("refs/heads/")
    base = location.git_dir if name.startswith(_PER_WORKTREE_REFS) else location.common_dir
    loose = _read_line(base / name)
    if loose is not None:
        return (loose, branch) if OID.fullmatch(loose) else None
    packed = _read(location.common_dir / "packed-refs")
    if packed is None:
        return None, branch
    pattern = rb"^([0-9a-f]{40,64}) " + re.escape(name.encode("utf-8", "surrogateescape")) + rb"$"
    match = re.search(pattern, packed, re.MULTILINE)
    return (match[1].decode() if match else None), branch


def _git_dir_in(folder: Path) -> Path | None:
    """The git directory that `folder/.git` is or points to, if it is a valid one."""
    dot_git = folder / ".git"
    if dot_git.is_dir():
        return Path(os.path.realpath(dot_git)) if _is_git_dir(dot_git) else None
    content = _read(dot_git)  # `gitdir: PATH` in a linked worktree or a submodule
    if content is None or not content.startswith(b"gitdir:"):
        return None
    target = os.fsdecode(content[len(b"gitdir:") :].lstrip(b" ").rstrip(b"\r\n"))
    git_dir = Path(os.path.realpath(folder / target))
    if not _is_git_dir(git_dir):
        # Searching on in the folders above, or without git's ignore rules, would answer from the wrong files.
        raise RepositoryError(
            f"{dot_git} points to {target}, which is no git directory.",
            hint="Run `git worktree repair` in the main checkout, or clone again.",
        )
    return git_dir


def _is_git_dir(folder: Path) -> bool:
    if not os.path.lexists(folder / "HEAD"):
        return False
    common = _common_dir(folder)
    return (common / "objects").is_dir() and (common / "refs").is_dir()


def _common_dir(git_dir: Path) -> Path:
    content = _read(git_dir / "commondir")
    if content is None:
        return git_dir
    return Path(os.path.realpath(git_dir / os.fsdecode(content.rstrip(b"\r\n"))))


def _describe(folder: Path, git_dir: Path) -> Location:
    common_dir = _common_dir(git_dir)
    settings = _read_format(common_dir / "config")
    if settings.get("extensions.worktreeconfig") in {"true", "yes", "on", "1"}:
        settings |= _read_format(git_dir / "config.worktree")
    # In a linked worktree git ignores core.bare: a bare clone with worktrees around it is usual.
    said_bare = git_dir == common_dir and settings.get("core.bare") in {"true", "yes", "on", "1"}
    is_bare = folder == git_dir or said_bare
    return Location(
        root=git_dir if is_bare else folder,
        git_dir=git_dir,
        common_dir=common_dir,
        is_bare=is_bare,
        object_format="sha256" if settings.get("extensions.objectformat") == "sha256" else "sha1",
        has_reftable=settings.get("extensions.refstorage", "files") != "files",
    )


def _read_format(config: Path) -> dict[str, str]:
    """Settings of sections without a subsection, names and values in lower case.

    Enough for the keys that say how a repository is laid out: those git itself reads from this one file only,
    without includes.
    """
    text = (_read(config) or b"").decode("utf-8", "replace")
    settings: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        header = _SECTION.match(line)
        if header:
            section = "" if header[2] else header[1].lower()
            line = line[header.end() :]  # `[core] bare = true` is one line
        setting = _SETTING.match(line)
        if section and setting:
            value = "true" if setting[2] is None else setting[2]  # a name alone means true
            settings[f"{section}.{setting[1].lower()}"] = value.strip().lower()
    return settings


def _read_line(path: Path) -> str | None:
    """A short file's text without the line end; None if it cannot be read."""
    content = _read(path)
    return None if content is None else content[:4096].decode("utf-8", "surrogateescape").rstrip("\r\n")


def _read(path: Path) -> bytes | None:
    """A file's content; None if it is missing, unreadable or a folder. Never waits for a FIFO's writer."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            return file.read(_LONGEST_FILE)
    except OSError:
        return None


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
