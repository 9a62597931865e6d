"""Keeps computed thumbnails on disk and throws away the ones least recently asked for."""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from pathlib import Path

from thumbs.names import shard_path


class DiskCache:
    """Thumbnails by digest, bounded by their total size in bytes."""

    class Entry:
        """One cached file: where it lies and how large it is."""

        __slots__ = ("path", "size")

        def __init__(self, path: Path, size: int) -> None:
            self.path = path
            self.size = size

        def read(self) -> bytes:
            """The thumbnail's bytes."""
            return self.path.read_bytes()

    def __init__(self, root: Path, capacity: int) -> None:
        self.root = root
        self.capacity = capacity
        self._entries: OrderedDict[str, DiskCache.Entry] = OrderedDict()

    @property
    def used(self) -> int:
        """Bytes that the cached files take together."""
        return sum(entry.size for entry in self._entries.values())

    def get(self, digest: str) -> bytes | None:
        """The thumbnail, or None; asking makes it the most recently used one."""
        entry = self._entries.get(digest)
        if entry is None:
            return None
        self._entries.move_to_end(digest)
        return entry.read()

    def put(self, digest: str, suffix: str, data: bytes) -> None:
        """Stores a thumbnail atomically: readers see all of it or nothing."""
        path = self.root / shard_path(digest, suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
        self._entries[digest] = DiskCache.Entry(path, len(data))
        self._evict()

    def _evict(self) -> None:
        """Drops the least recently used files until the cache fits its capacity."""
        while self.used > self.capacity and len(self._entries) > 1:
            _, entry = self._entries.popitem(last=False)
            entry.path.unlink(missing_ok=True)
