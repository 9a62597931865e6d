"""Which declarations of a snapshot its history admits; decided before anything is ranked.

Those that a range of revisions added or changed, and those in which lines of chosen commits stand.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from codesearch.comparisons import Compared, Comparer
from codesearch.filtering import Spans
from codesearch.matching import Declared
from codesearch.repository import Repository
from codesearch.results import ChangeKind
from codesearch.types import Filters, Place, Progress, ProgressCallback, Side

_NEW_TEXT = frozenset({ChangeKind.ADDED, ChangeKind.CHANGED, ChangeKind.RENAMED})


@dataclass(frozen=True, eq=False)
class Selector:
    """Asks the history of one repository about the snapshot that is searched.

    `read` gives the content of a path and a blob, None where it is not that blob any more. `searched` is the snapshot.
    """

    repository: Repository
    comparer: Comparer
    read: Callable[[str, str], bytes | None]
    searched: Side
    progress: ProgressCallback | None = None

    def find_spans(self, filters: Filters, blobs: Mapping[str, str]) -> Spans:
        """The bytes of the declarations that the history filters admit, by path; in `blobs` (by path) alone."""
        found: Spans | None = None
        if filters.changed is not None:
            found = self._changed(filters.changed, blobs)
        if filters.of_commits:
            asked = blobs if found is None else {path: blobs[path] for path in found}
            standing = self._standing(filters, asked)
            found = standing if found is None else {path: spans & found[path] for path, spans in standing.items()}
        return found or {}

    # --- what a range changed --------------------------------------------------------------------------------

    def _changed(self, between: str, blobs: Mapping[str, str]) -> Spans:
        """The declarations that a range added or changed and that are there now: with that text, else of that name."""
        compared = self.comparer.compare(between, self.progress)
        wanted: defaultdict[str, list[Declared]] = defaultdict(list)
        changed = {id(each.new) for each in compared.comparison.changes if each.change in _NEW_TEXT}
        for declared in compared.new:
            if id(declared.version) in changed:
                wanted[declared.version.path].append(declared)
        wanted = self._under_later_names(compared, wanted, blobs)
        spans: dict[str, frozenset[tuple[int, int]]] = {}
        for path, each in wanted.items():
            content = self.read(path, blobs[path]) if path in blobs else None
            if content is not None:
                spans[path] = frozenset(_still_there(each, self.comparer.declared(path, content)))
        return spans

    def _under_later_names(
        self, compared: Compared, wanted: Mapping[str, list[Declared]], present: Container[str]
    ) -> defaultdict[str, list[Declared]]:
        """The same by the paths of the searched snapshot, which may have renamed files since the end of the range."""
        end = compared.comparison.new
        renamed: dict[str, str] = {}
        if end.place is Place.COMMIT and end != self.searched and any(path not in present for path in wanted):
            for pair in self.repository.differing_files(end, self.searched):
                if pair.old and pair.new:
                    renamed[pair.old.path] = pair.new.path
        result: defaultdict[str, list[Declared]] = defaultdict(list)
        for path, each in wanted.items():
            result[renamed.get(path, path)] += each
        return result

    # --- what chosen commits wrote ---------------------------------------------------------------------------

    def _standing(self, filters: Filters, blobs: Mapping[str, str]) -> Spans:
        """The declarations in which lines of chosen commits stand; each file that they touched is blamed."""
        chosen = self.repository.choose_commits(filters, self.searched.commit)
        touched = sorted(chosen.paths.intersection(blobs))
        commit = self.searched.commit if self.searched.place is Place.COMMIT else None

        def blame(path: str) -> tuple[bytes, list[tuple[int, int]]]:
            content = self.read(path, blobs[path])
            if content is None:
                return b"", []
            return content, self.repository.standing_lines(path, chosen, content=content, commit=commit)

        spans: dict[str, frozenset[tuple[int, int]]] = {}
        pool = ThreadPoolExecutor(min(8, os.cpu_count() or 1))  # threads: a blame is a process of git
        try:
            for number, (path, (content, lines)) in enumerate(zip(touched, pool.map(blame, touched), strict=True)):
                if self.progress is not None:
                    self.progress(Progress("asking git blame", number, len(touched)))
                if lines:
                    spans[path] = frozenset(_around(lines, content, self.comparer.declared(path, content)))
        finally:
            pool.shutdown(cancel_futures=True)
        return spans


def _still_there(wanted: list[Declared], present: list[Declared]) -> Iterator[tuple[int, int]]:
    """The spans of those present that are among the wanted, by name and text, else by name alone."""
    names: defaultdict[str, list[Declared]] = defaultdict(list)
    for each in present:
        names[each.version.qualified_name].append(each)
    for one in wanted:
        same_name = names[one.version.qualified_name]
        for each in [each for each in same_name if each.text == one.text] or same_name:
            yield each.span.start_byte, each.span.end_byte


def _around(lines: list[tuple[int, int]], content: bytes, present: list[Declared]) -> Iterator[tuple[int, int]]:
    """The spans of the declarations that have one of some lines, other than blank ones and those of their members."""
    texts = content.split(b"\n")
    standing = {
        number
        for first, last in lines
        for number in range(first, min(last, len(texts)) + 1)
        if texts[number - 1].strip()
    }
    for each in present:
        span = each.span
        own = standing.intersection(range(span.start_line, span.end_line + 1))
        for member in each.members:
            own -= set(range(member.start_line, member.end_line + 1))
        if own:
            yield span.start_byte, span.end_byte
