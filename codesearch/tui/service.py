"""What the picker asks of the engine, in the engine's thread. Opens it at the first question; knows no widget."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from codesearch.errors import LocationError
from codesearch.results import FileOutline
from codesearch.tui.typed import Known
from codesearch.types import Declaration, Filters, Hit, Mode, ProgressCallback, SearchResult, SnapshotInfo

if TYPE_CHECKING:
    from codesearch.engine import Engine
    from codesearch.results import Explanation

FIRST_HITS = 40  # at each key: more than a screen shows; each costs a third of a millisecond to find and to check
HITS = 100  # once the hands rest; more than anyone looks through
_FOREVER = math.inf


@dataclass(frozen=True, slots=True)
class Asked:
    """A question."""

    query: str
    filters: Filters
    mode: Mode


@dataclass(frozen=True, slots=True)
class Start:
    """What is known once there is an index."""

    snapshot: SnapshotInfo
    behind: int | None
    known: Known


class Service:
    """One engine, kept open."""

    def __init__(self, open_engine: Callable[[], Engine], progress: ProgressCallback) -> None:
        self._open_engine = open_engine
        self._progress = progress

    @cached_property
    def engine(self) -> Engine:
        """The engine."""
        return self._open_engine()

    @property
    def is_open(self) -> bool:
        """Whether it was ever asked."""
        return "engine" in self.__dict__

    def folder_to_agree_to(self) -> str | None:
        """The folder that would be indexed as a whole, if that is no repository and was never done: ask first."""
        repository = self.engine.repository
        return None if repository.is_git or self.engine.has_index() else str(repository.root)

    def start(self) -> Start:
        """Indexes if need be, and gets ready."""
        result = self.engine.search("", progress=self._progress)
        languages = self.engine.languages()
        words = {extension.lower().lstrip("."): each.name for each in languages for extension in each.extensions}
        words |= {each.name.lower(): each.name for each in languages}  # a name wins over another one's extension
        return Start(result.snapshot, self._behind(result.snapshot), Known(words, self.engine.paths()))

    def search(self, asked: Asked) -> SearchResult:
        """The answer from the files as they were when last looked at, in the order of the signals."""
        return self._search(asked, FIRST_HITS, _FOREVER, rerank="none")  # a CrossEncoder would take seconds at each key

    def look_again(self, asked: Asked) -> tuple[SearchResult, int | None]:
        """The answer from the files as they are now, in its last order, and how many commits the index is behind."""
        result = self._search(asked, HITS, 0.0, rerank=None)
        return result, self._behind(result.snapshot)

    def _search(self, asked: Asked, limit: int, fresh_for: float, rerank: str | None) -> SearchResult:
        return self.engine.search(
            asked.query,
            limit=limit,
            filters=asked.filters,
            mode=asked.mode,
            fresh_for=fresh_for,
            rerank=rerank,
            progress=self._progress,
        )

    def _behind(self, snapshot: SnapshotInfo) -> int | None:
        if snapshot.index_commit is None or snapshot.index_commit == snapshot.commit:
            return None
        return self.engine.repository.commits_behind(snapshot.index_commit)

    def lines(self, path: str) -> tuple[str, ...]:
        """A file as it is now."""
        return self.engine.lines(path)

    def outline(self, path: str) -> FileOutline:
        """The declarations of a file as it is now."""
        return self.engine.outline([path])[0]

    def around(self, path: str, start_line: int, end_line: int) -> Declaration:
        """The declaration around some lines, larger than they are."""
        found = smallest_around(self.outline(path), start_line, end_line)
        if found is None:
            raise LocationError("No declaration is around it.", "Ctrl-L lists those of the file.")
        return found

    def explain(self, asked: Asked) -> Explanation:
        """Why the hits are where they are."""
        return self.engine.explain(asked.query, limit=HITS, filters=asked.filters, progress=self._progress)

    def similar(self, hit: Hit, filters: Filters) -> tuple[Hit, ...]:
        """The declarations that are most like one."""
        location = f"{self.engine.repository.root}/{hit.path}:{hit.start_line}-{hit.end_line}"
        return self.engine.similar(location, limit=HITS, filters=filters, progress=self._progress).hits


def smallest_around(outline: FileOutline, start_line: int, end_line: int) -> Declaration | None:
    """The smallest declaration that holds some lines and more."""
    around = [
        each
        for each in outline.declarations
        if each.span.start_line <= start_line
        and end_line <= each.span.end_line
        and (each.span.start_line, each.span.end_line) != (start_line, end_line)
    ]
    return min(around, key=lambda each: each.span.end_line - each.span.start_line, default=None)
