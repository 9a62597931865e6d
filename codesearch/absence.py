"""Says why a path is not among the documents of a corpus: skipped, empty, ignored, excluded, or not there at all."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import PurePosixPath

import numpy as np

from codesearch.repository import Repository
from codesearch.settings import Settings
from codesearch.types import SkipReason
from codesearch.view.corpus import Corpus
from codesearch.view.table import NO_UNIT

_NEAR_PATHS = 5


def why_absent(corpus: Corpus, path: str, repository: Repository, settings: Settings, snapshot: str | None) -> str:
    """One or two sentences about a path that no document shows.

    `snapshot` names what was searched where this is not the working tree; the files on disk then say nothing about it.
    """
    if (row := _row_of(corpus, path)) is not None:
        reason = _skip_reason(corpus, *row)
        return f"{path} was skipped: {reason.value}." if reason else f"{path} is empty."
    paths = [corpus.path(file) for file in np.flatnonzero(corpus.alive_files).tolist()]
    if path == "." or any(other.startswith(f"{path}/") for other in paths):
        return f"{path} is a folder; name a file in it."
    if excluded := next((glob for glob in settings.exclude if fnmatch(path, glob)), None):
        return f"{path} is excluded by the settings ({excluded})."
    why = _not_on_disk(path, repository) if snapshot is None else f"There is no file {path} in {snapshot}."
    return why + _near(path, paths)


def _row_of(corpus: Corpus, path: str) -> tuple[int, int] | None:
    """The source of a path that the snapshot has, skipped or not, and its row there."""
    return next(
        (
            (index, row)
            for index, source in enumerate(corpus.sources)
            for row in np.flatnonzero(source.alive).tolist()
            if source.table.paths[row] == path
        ),
        None,
    )


def _skip_reason(corpus: Corpus, index: int, row: int) -> SkipReason | None:
    source = corpus.sources[index]
    placed = source.table.rows[row]
    if int(placed["unit"]) == NO_UNIT:
        return source.table.skip_of(row)
    segment = corpus.segments[int(placed["segment"]) + source.first_segment]
    return segment.skip_of(int(placed["unit"]))


def _not_on_disk(path: str, repository: Repository) -> str:
    """Why the working tree, as git and codesearch see it, does not have the path."""
    target = repository.root / path
    if rule := repository.ignored_by(path):
        return f"{path} is ignored by git ({rule})."
    if any((repository.root / part).is_symlink() for part in (path, *map(str, PurePosixPath(path).parents))):
        return f"{path} leads through a symbolic link; they are not followed."
    if target.is_dir():
        return f"{path} is a folder without a file that is indexed."
    return f"{path} is not indexed." if target.exists() else f"There is no file {path}."


def _near(path: str, paths: list[str]) -> str:
    """The paths that may have been meant: those with the file's name anywhere, else those spelt alike."""
    name = path.rsplit("/", 1)[-1]
    near = [other for other in paths if other.rsplit("/", 1)[-1] == name] or get_close_matches(path, paths, n=3)
    return f" Did you mean {', '.join(near[:_NEAR_PATHS])}?" if near else ""
