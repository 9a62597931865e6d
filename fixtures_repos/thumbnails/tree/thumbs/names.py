"""File names of thumbnails."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

SHARD_LETTERS = 2  # 256 folders: a few hundred files in each at a hundred thousand pictures


def content_digest(data: bytes) -> str:
    """A name for a picture that follows from its bytes alone."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def shard_path(digest: str, suffix: str) -> PurePosixPath:
    """Spreads files over folders by the first letters of their digest."""
    return PurePosixPath(digest[:SHARD_LETTERS], f"{digest}.{suffix}")
