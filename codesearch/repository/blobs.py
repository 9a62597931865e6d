"""Object ids and contents of blobs, in bounded memory."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
from collections.abc import Iterable, Iterator

from codesearch.errors import RepositoryError
from codesearch.repository.commands import Git
from codesearch.repository.discovery import OID
from codesearch.types import SkipReason

# Ids asked at once. All of a batch must fit into a pipe (16 KiB on some systems), so that writing them never
# waits for a git that itself waits to be read.
_BATCH = 128
_ALL_PRESENT = ("cat-file", "--batch-check=%(objectname)", "--batch-all-objects", "--unordered")


def blob_id(content: bytes, object_format: str) -> str:
    """The id that git gives to these bytes when no filter changes them."""
    digest = hashlib.new(object_format, b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def read_blobs(git: Git, oids: Iterable[str], max_bytes: int | None) -> Iterator[tuple[str, bytes | SkipReason]]:
    """Every id with its content, in order, or why there is none: NOT_FETCHED, TOO_LARGE (than `max_bytes`).

    Sizes are asked before contents, so that git never unpacks what is too large.
    """
    sizes, contents = _Batch(git, "--batch-check"), _Batch(git, "--batch")
    try:
        remaining = iter(oids)
        while batch := list(itertools.islice(remaining, _BATCH)):
            for oid in batch:
                if not OID.fullmatch(oid):
                    raise RepositoryError(f"{oid!r} is no object id.", hint="Ask for ids of a snapshot's entries.")
            found = [sizes.next_size() for _ in sizes.ask(batch)]
            wanted = [
                oid
                for oid, size in zip(batch, found, strict=True)
                if size is not None and (max_bytes is None or size <= max_bytes)
            ]
            contents.ask(wanted)
            admitted = set(wanted)
            for oid, size in zip(batch, found, strict=True):
                if oid in admitted:
                    content = contents.next_content()
                    yield oid, SkipReason.NOT_FETCHED if content is None else content
                else:
                    yield oid, SkipReason.NOT_FETCHED if size is None else SkipReason.TOO_LARGE
    finally:
        sizes.close()
        contents.close()


def all_present(git: Git) -> frozenset[str]:
    """The ids of all objects that are here; those that could be fetched are not among them."""
    return frozenset(git.run(_ALL_PRESENT).decode().split())


class _Batch:
    """One `git cat-file` that answers many questions; started by the first one."""

    def __init__(self, git: Git, mode: str) -> None:
        self._git = git
        self._mode = mode
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: list[str] = []
        self._present: frozenset[str] | None = None  # known once an object was found missing

    def ask(self, oids: list[str]) -> list[str]:
        """Sends ids; one `next_…` call per id must follow before the next question."""
        self._asked = list(oids)
        self._send()
        return oids

    def next_size(self) -> int | None:
        """The size of the next blob asked for; None if there is no such blob."""
        header = self._next_header()
        return int(header[2]) if header is not None else None

    def next_content(self) -> bytes | None:
        """The content of the next blob asked for; None if it cannot be read."""
        header = self._next_header()
        if header is None:
            return None
        assert self._process is not None
        assert self._process.stdout is not None
        content = self._process.stdout.read(int(header[2]) + 1)  # a newline ends it
        return content[:-1] if len(content) == int(header[2]) + 1 else None

    def close(self) -> None:
        """Ends the process, also in the middle of an answer."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _send(self) -> None:
        sent = [oid for oid in self._asked if self._present is None or oid in self._present]
        if not sent:
            return
        if self._process is None:
            self._process = self._git.open_pipe(("cat-file", self._mode))
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{oid}\n" for oid in sent).encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer that does not come says it

    def _next_header(self) -> list[bytes] | None:
        oid = self._asked.pop(0)
        if self._present is not None and oid not in self._present:
            return None
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            # git gave up at this object (not fetched yet in a partial clone, or damaged): go on after it,
            # unless it refuses the repository as a whole, which raises. Where one is missing, thousands may be.
            self._git.run(("rev-parse", "--git-dir"))
            self.close()
            if self._present is None:
                self._present = all_present(self._git)
            self._present -= {oid}
            self._send()
            return None
        header = line.split()
        return header if len(header) == 3 and header[1] == b"blob" else None
