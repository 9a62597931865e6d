"""Reads files below a root without ever leaving it, and lists plain folders. Knows no git.

The content of a work tree is untrusted: a symlink in any component, a FIFO or a device is refused.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from codesearch.errors import RepositoryError
from codesearch.types import Entry

# Folders that hold what tools made or fetched; a plain folder has no ignore rules that would say so.
_NOT_WALKED = frozenset(
    {
        b".git", b".hg", b".svn", b".jj", b"node_modules", b"bower_components", b"__pycache__",
        b"__pypackages__", b".venv", b"venv", b".tox", b".nox", b".cache", b".mypy_cache", b".ruff_cache",
        b".pytest_cache", b".hypothesis", b".gradle", b".terraform", b".eggs", b".next", b".nuxt",
        b".parcel-cache", b".direnv",
    }
)  # fmt: skip


def read_inside(root: Path, path: str, max_bytes: int | None = None) -> bytes:
    """A regular file's content, reached from `root` without following any symlink.

    Raises RepositoryError for a path that does not stay below the root, and OSError otherwise:
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError or ELOOP (a component is a file
    or a symlink), EINVAL (a FIFO, socket or device), EFBIG (longer than `max_bytes`; not read).
    """
    parts = path.encode("utf-8", "surrogateescape").split(b"/")
    if b"" in parts or b"." in parts or b".." in parts or "\0" in path:
        raise RepositoryError(f"{path} is not a path inside the repository.", hint="Name a path below the root.")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner

        def open_leaf(_: str, flags: int) -> int:
            # O_NONBLOCK: opening a FIFO would wait for its writer.
            return os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder)

        stream = open(path, "rb", opener=open_leaf)  # noqa: SIM115  closed below
    finally:
        os.close(folder)
    with stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", path)
        if max_bytes is None:
            return stream.read()
        if status.st_size > max_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        content = stream.read(max_bytes + 1)  # it may have grown since
        if len(content) > max_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        return content


def file_mode(root: Path, path: str) -> int | None:
    """The git mode of what lies at a path: 0o100644, 0o100755, 0o120000 (symlink); None for anything else."""
    try:
        return _git_mode(os.lstat(os.fsencode(root) + b"/" + path.encode("utf-8", "surrogateescape")))
    except OSError:
        return None


def walk_folder(root: Path) -> Iterator[Entry]:
    """Files and symlinks below a plain folder, in no order; symlinks are listed and never followed.

    Folders that cannot be read are passed over, as are those that tools fill (caches, node_modules …).
    """
    pending = [(os.fsencode(root), b"")]
    while pending:
        folder, prefix = pending.pop()
        try:
            with os.scandir(folder) as found:
                for item in found:
                    if item.is_dir(follow_symlinks=False):
                        if item.name not in _NOT_WALKED:
                            pending.append((item.path, prefix + item.name + b"/"))
                    elif item.name != b".git":  # the pointer file of a worktree or a submodule
                        mode = _git_mode(item.stat(follow_symlinks=False))
                        if mode is not None:
                            path = (prefix + item.name).decode("utf-8", "surrogateescape")
                            yield Entry(path=path, mode=mode)
        except OSError:
            continue


def _git_mode(status: os.stat_result) -> int | None:
    if stat.S_ISLNK(status.st_mode):
        return 0o120000
    if stat.S_ISREG(status.st_mode):
        return 0o100755 if status.st_mode & stat.S_IXUSR else 0o100644
    return None
