"""What changed since a view was published, analysed in memory and laid over it.

Stale is every path that git calls different now, and every path that differed when the view was made: a file that
was indexed dirty and then checked out is clean for git and wrong in the view. What still has the indexed content
costs one hash; the rest is analysed like any other file, into a segment that never reaches the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import numpy as np

from codesearch.errors import RepositoryError
from codesearch.repository import Changes, Repository
from codesearch.roles import Role, role_of
from codesearch.settings import Settings
from codesearch.types import Embedder, Entry, Snapshot
from codesearch.view.corpus import Corpus, Source
from codesearch.view.published import View
from codesearch.view.segment import Segment
from codesearch.view.table import NO_UNIT, FileRow, build_table
from codesearch.view.vectors import KnownVectors

if TYPE_CHECKING:
    from codesearch.analysis import Analyser

ATTRIBUTES = ".gitattributes"
LARGEST_OVERLAY = 64  # files; analysing more on every search costs more than indexing them once
LARGEST_OVERLAY_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Difference:
    """Files whose content the view does not show: new content by path, and paths that are gone."""

    edited: dict[str, bytes]
    gone: frozenset[str]
    too_many: bool = False  # to be worked on in memory; `edited` is not complete then

    @property
    def paths(self) -> frozenset[str]:
        """All stale paths."""
        return self.gone | frozenset(self.edited)


def _stale_candidates(view: View, changes: Changes) -> set[str]:
    """Paths that may differ from the view: changed for git now, or when the view was made.

    A row without git's object id was dirty or untracked then; the view names what was staged or deleted.
    """
    paths = view.table.paths
    dirty = np.flatnonzero(~view.table.rows["oid"].any(axis=1)).tolist()
    return {*changes.paths, *view.meta.get("changed", ()), *(paths[index] for index in dirty)}


def find_difference(
    view: View,
    repository: Repository,
    settings: Settings,
    changes: Changes,
    *,
    doubtful: Iterable[str] = (),
    limited: bool = True,
) -> Difference:
    """Compares what may have changed, and what is `doubtful`, with what the view shows, by reading it."""
    candidates = {*_stale_candidates(view, changes), *doubtful}
    visible = changes.visible(candidates)
    index_of = {path: index for index, path in enumerate(view.table.paths.to_list())}
    edited: dict[str, bytes] = {}
    gone: set[str] = set()
    size = 0
    for path in sorted(candidates):
        if any(fnmatch(path, glob) for glob in settings.exclude):
            continue
        index = index_of.get(path)
        row = None if index is None else view.table.rows[index]
        if row is not None and _unmoved(repository, path, row):
            continue
        try:
            content = repository.read_file(path, max_bytes=settings.max_file_bytes) if path in visible else None
        except (OSError, RepositoryError):
            content = None
        if content is None:
            if row is not None and int(row["unit"]) != NO_UNIT:
                gone.add(path)
            continue
        if row is not None and int(row["unit"]) != NO_UNIT:
            segment = view.segments[int(row["segment"])]
            known = segment.units["blob"][int(row["unit"])].tobytes()
            if known.startswith(bytes.fromhex(repository.blob_id(content))):
                continue
        edited[path] = content
        size += len(content)
        if limited and (len(edited) > LARGEST_OVERLAY or size > LARGEST_OVERLAY_BYTES):
            return Difference(edited, frozenset(gone), too_many=True)
    return Difference(edited, frozenset(gone))


def remarks(view: View, difference: Difference) -> bool:
    """Whether what attributes say about files has changed, also about files that are as they were."""
    files = [path for path in difference.paths if path.rpartition("/")[2] == ATTRIBUTES]
    return any(view.meta.get("marked") or b"linguist-" in difference.edited.get(path, b"") for path in files)


def _unmoved(repository: Repository, path: str, row: np.void) -> bool:
    """Outside git, size and modification time tell whether a file is as it was; inside, git has told already."""
    if repository.is_git or not int(row["modified"]):
        return False
    try:
        status = os.lstat(repository.root / path)
    except OSError:
        return False
    return status.st_size == int(row["size"]) and status.st_mtime_ns == int(row["modified"])


def _roles(view: View, difference: Difference, repository: Repository) -> dict[str, Role]:
    """The roles of edited files where attributes are used: those that the view knows, and those of new files."""
    if not view.meta.get("marked"):
        return {}
    known = {path: index for index, path in enumerate(view.table.paths.to_list()) if path in difference.edited}
    roles = {path: Role(int(view.table.rows[index]["role"])) for path, index in known.items()}
    new = [Entry(path) for path in difference.edited if path not in known]
    if new:
        submodules = tuple(view.meta.get("submodules", {}).items())
        attributes = [Entry(path) for path in view.table.paths.to_list() if path.rpartition("/")[2] == ATTRIBUTES]
        marks = repository.marks(Snapshot(None, None, True, (*attributes, *new), submodules=submodules))
        roles |= {entry.path: role_of(entry.path, marks.get(entry.path, {})) for entry in new}
    return roles


def lay_over(
    view: View,
    difference: Difference,
    repository: Repository,
    embedder: Embedder,
    analyser_for: Callable[[KnownVectors], Analyser],
) -> Corpus:
    """The view with its stale files replaced by what is on disk now."""
    alive = np.ones(len(view.table), bool)
    if not difference.paths:
        return Corpus(view.segments, [Source(view.table, alive)])
    stale = difference.paths
    for index, path in enumerate(view.table.paths.to_list()):
        if path in stale:
            alive[index] = False
    sources = [Source(view.table, alive)]
    segments: list[Segment] = list(view.segments)
    if difference.edited:
        # Imported here: parsers and chunkers are a sixth of what an unchanged repository's search costs.
        from codesearch.analysis import Pending

        analyser = analyser_for(KnownVectors.of_segments(view.segments))
        builder = analyser.new_builder()
        rows = []
        items: dict[bytes, Pending] = {}
        number: dict[bytes, int] = {}
        roles = _roles(view, difference, repository)
        for path, content in difference.edited.items():
            unit = analyser.identify(path, repository.blob_id(content), content)
            items.setdefault(unit.key, Pending(unit, path, content))
            rows.append(
                FileRow(path, "", 0, number.setdefault(unit.key, len(number)), size=len(content), role=roles.get(path))
            )
        analyser.add(builder, list(items.values()))
        segments.append(builder.build())
        sources.append(Source(build_table(rows, embedder, {}), np.ones(len(rows), bool), len(view.segments)))
    return Corpus(segments, sources)
