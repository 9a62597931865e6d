"""The indexing pipeline: snapshot → what is new → analyse → segment → view (published) → store → report.

Work is done per blob and per text, never per commit: a file whose blob was ever analysed is placed, not parsed,
and a chunk whose text was ever embedded keeps its vector. What is published is readable whatever happens next;
what is not is done again by the next run.
"""

from __future__ import annotations

import errno
import os
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.analysis import ANALYSIS_RECIPE, Analyser, Pending
from codesearch.errors import CorruptIndexError, RepositoryError
from codesearch.journal import Journal
from codesearch.languages import Languages
from codesearch.reporting import Work, make_report
from codesearch.repository import Repository
from codesearch.results import IndexReport
from codesearch.roles import role_of
from codesearch.settings import Settings
from codesearch.store import Store, StoredUnit, StoredVectors
from codesearch.terms import count_chunk_terms
from codesearch.types import Chunk, Embedder, Entry, Progress, ProgressCallback, SkipReason, Snapshot
from codesearch.version import __version__
from codesearch.view.building import SegmentBuilder
from codesearch.view.merging import merge_segments
from codesearch.view.packing import unpack_unit
from codesearch.view.published import View, ViewFolder
from codesearch.view.segment import OWN, Segment
from codesearch.view.table import NO_UNIT, FileRow, build_table
from codesearch.view.vectors import KnownVectors
from codesearch.workers import Result, analyse_batch, analyse_in_processes

_MOST_SEGMENTS = 8  # a query visits each, and small ones cost as much as large ones
_DEAD_SHARE = 0.5  # of a segment's chunks that no file shows any more, before it is rewritten
_BATCH_BYTES = 512 * 1024  # of source per task: large enough to hide the cost of sending it
_SEGMENT_CHUNKS = 150_000  # about 100 MB in memory while it is put together
_NO_MARKS: Mapping[str, Mapping[str, bool]] = {}
_WORTH_PROCESSES = 3_000_000  # bytes of new source below which starting workers costs more than it saves


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything an index run works with."""

    repository: Repository
    settings: Settings
    languages: Languages
    embedder: Embedder
    views: ViewFolder
    store: Store
    journal: Journal


class IndexRun:
    """One run over one snapshot, which is taken after the run was made; the caller holds the index lock."""

    def __init__(self, workshop: Workshop, pointer: str, progress: ProgressCallback | None = None) -> None:
        self._shop = workshop
        self._pointer = pointer
        self._progress = progress or (lambda _: None)
        self._started = time.perf_counter()
        self._run = uuid.uuid4().hex
        self._segments: list[Segment] = []
        self._places: dict[bytes, tuple[int, int]] = {}
        self._parsed: set[bytes] = set()
        self._embedded: set[bytes] = set()
        self._stored: StoredVectors | None = None
        self._began = time.time_ns()
        self._vanished: list[str] = []

    def run(
        self, snapshot: Snapshot, from_worktree: bool, marks: Mapping[str, Mapping[str, bool]] = _NO_MARKS
    ) -> IndexReport:
        """Publishes a view of the snapshot and reports what it cost. The store is written by `record`.

        `marks` are what attributes say about paths; see `Repository.marks`.
        """
        shop = self._shop
        shop.views.prepare()
        shop.journal.discard_unfinished()
        old = self._previous_view()
        self._learn_segments(shop.views.known_segments(shop.embedder.model_id))
        whole = {segment.path for segment in self._segments}
        if old is not None and any(segment.path not in whole for segment in old.segments):
            old = None  # it shows a damaged segment, of which nothing can be believed
        rows = self._place(snapshot, old, from_worktree)
        self._publish(snapshot, rows, marks)
        work = Work(self._parsed, self._embedded, time.perf_counter() - self._started)
        report = make_report(snapshot.commit, rows, self._segments, old, work)
        shop.views.collect()
        return report

    # --- what is new -----------------------------------------------------------------------------------------

    def _previous_view(self) -> View | None:
        try:
            view = self._shop.views.open(self._pointer, verify=True)
        except CorruptIndexError:
            return None  # rebuilt from the store and from git by this run
        return view if view is None or view.meta.get("model") == self._shop.embedder.model_id else None

    def _learn_segments(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            index = len(self._segments)
            self._segments.append(segment)
            raw = segment.units["key"].tobytes()
            for unit in range(len(segment.units)):
                self._places.setdefault(raw[unit * 16 : unit * 16 + 16], (index, unit))

    def _place(self, snapshot: Snapshot, old: View | None, from_worktree: bool) -> list[FileRow]:
        """A row for every file; units that no segment holds are analysed on the way."""
        rows: list[FileRow] = []
        waiting: list[tuple[FileRow, bytes]] = []
        unchanged = self._unchanged_rows(old)
        unread: list[Entry] = []
        for entry in snapshot.entries:
            if self._excluded(entry.path):
                continue
            fixed = _fixed_skip(entry)
            if fixed is not None:
                rows.append(FileRow(entry.path, entry.oid, skip=fixed))
            elif entry.oid and (row := unchanged.get((entry.path, entry.oid))) and self._is_whole(row, from_worktree):
                rows.append(row)
            else:
                unread.append(entry)
        self._make(self._unseen(unread, from_worktree, rows, waiting), len(unread))
        rows.extend(self._at(row, key) for row, key in waiting)
        return rows

    def _unseen(
        self,
        entries: Sequence[Entry],
        from_worktree: bool,
        rows: list[FileRow],
        waiting: list[tuple[FileRow, bytes]],
    ) -> Iterator[Pending]:
        """Reads files one by one; those of units that no segment holds come out, the others become rows."""
        analyser = Analyser(self._shop.languages, self._shop.embedder)
        queued: set[bytes] = set()
        for done, (entry, content, reason) in enumerate(self._contents(entries, from_worktree)):
            self._progress(Progress("indexing", done, len(entries)))
            if content is None:
                # What could not be read may be readable next time, and git would not tell.
                oid = "" if reason in (SkipReason.UNREADABLE, SkipReason.NOT_FETCHED) else entry.oid
                rows.append(FileRow(entry.path, oid, skip=reason))
                continue
            blob = self._shop.repository.blob_id(content)
            unit = analyser.identify(entry.path, blob, content)
            oid = "" if self._edited_since_listed(entry, blob) else entry.oid
            row = FileRow(entry.path, oid, size=len(content), modified=self._modified(entry.path))
            if unit.key in self._places:
                rows.append(self._at(row, unit.key))
                continue
            waiting.append((row, unit.key))
            if unit.key not in queued:
                queued.add(unit.key)
                yield Pending(unit, entry.path, content)

    def _is_whole(self, row: FileRow, from_worktree: bool) -> bool:
        """Whether a file that is the same for git has the same length: git may have written other line ends."""
        if not from_worktree or row.unit == NO_UNIT:
            return True
        try:
            return os.lstat(self._shop.repository.root / row.path).st_size == row.size
        except OSError:
            return False

    def _edited_since_listed(self, entry: Entry, blob: str) -> bool:
        """Whether a file that git called clean was changed before it was read; line-end filters differ too."""
        if not entry.oid or entry.oid == blob:
            return False
        try:
            status = os.lstat(self._shop.repository.root / entry.path)
        except OSError:
            return True
        # By ctime, which nobody can set back; a second for file systems with coarse times.
        return status.st_ctime_ns > self._began - 1_000_000_000

    def _modified(self, path: str) -> int:
        """When a file was last changed, where git is not there to tell whether it was."""
        if self._shop.repository.is_git:
            return 0
        try:
            return os.lstat(self._shop.repository.root / path).st_mtime_ns
        except OSError:
            return 0

    def _unchanged_rows(self, old: View | None) -> dict[tuple[str, str], FileRow]:
        """Rows of the last view whose file git knew by an object id then: the same id means the same content."""
        if old is None or old.meta.get("settings") != self._settings_key():
            return {}
        length = 32 if self._shop.repository.object_format == "sha256" else 20
        at_path = {segment.path: index for index, segment in enumerate(self._segments)}
        number = [at_path.get(segment.path) for segment in old.segments]
        found = {}
        paths = old.table.paths.to_list()
        units = old.table.rows["unit"].tolist()
        segments = old.table.rows["segment"].tolist()
        sizes = old.table.rows["size"].tolist()
        oids = old.table.rows["oid"].tobytes()
        recipe = old.meta.get("recipe") == self._recipe()
        for index, path in enumerate(paths):
            raw = oids[index * 32 : index * 32 + length]
            if not any(raw):
                continue
            skip = old.table.skip_of(index)
            at = number[segments[index]] if units[index] != NO_UNIT else None
            if units[index] == NO_UNIT and skip is not None:
                row = FileRow(path, raw.hex(), skip=skip, size=sizes[index])
            elif recipe and at is not None and units[index] < len(self._segments[at].units):
                row = FileRow(path, raw.hex(), at, units[index], size=sizes[index])
            else:
                continue
            found[path, row.oid] = row
        return found

    def _excluded(self, path: str) -> bool:
        return any(fnmatch(path, glob) for glob in self._shop.settings.exclude)

    def _settings_key(self) -> str:
        return f"{self._shop.settings.max_file_bytes}"

    def _recipe(self) -> str:
        """Changes when the same blob would be analysed differently."""
        versions = sorted(f"{language.name}={language.version}" for language in self._shop.languages)
        return "\n".join([ANALYSIS_RECIPE, self._shop.embedder.model_id, *versions])

    def _contents(
        self, entries: Sequence[Entry], from_worktree: bool
    ) -> Iterator[tuple[Entry, bytes | None, SkipReason | None]]:
        limit = self._shop.settings.max_file_bytes
        if not from_worktree:
            for entry, content in zip(
                entries, self._shop.repository.read_entries(entries, max_bytes=limit), strict=True
            ):
                yield (entry, content, None) if isinstance(content, bytes) else (entry, None, content)
            return
        for entry in entries:
            try:
                yield entry, self._shop.repository.read_file(entry.path, max_bytes=limit), None
            except FileNotFoundError:
                self._vanished.append(entry.path)  # since git was asked
            except (OSError, RepositoryError) as error:
                too_large = isinstance(error, OSError) and error.errno == errno.EFBIG
                yield entry, None, SkipReason.TOO_LARGE if too_large else SkipReason.UNREADABLE

    # --- analysis --------------------------------------------------------------------------------------------

    def _make(self, unseen: Iterator[Pending], total: int) -> None:
        """Turns unseen units into segments on disk, at most a few tens of megabytes of them in memory."""
        parts: list[Segment] = []
        for number, batch in enumerate(self._results(self._unrestored(unseen, parts))):
            self._parsed.update(row["key"].tobytes() for row in batch.segment.units)
            self._embedded.update(_embedded_keys(batch.segment, batch.fresh))
            self._shop.journal.add(self._run, number, batch.segment, batch.chunks)
            self._keep(parts, batch.segment)
        self._progress(Progress("indexing", total, total))
        self._save(parts)

    def _keep(self, parts: list[Segment], segment: Segment) -> None:
        parts.append(segment)
        if sum(len(part.chunks) for part in parts) > _SEGMENT_CHUNKS:
            self._save(parts)

    def _save(self, parts: list[Segment]) -> None:
        if parts:
            merged = merge_segments([(part, None) for part in parts])
            parts.clear()
            self._learn_segments([self._shop.views.save_segment(merged)])

    def _results(self, batches: Iterator[list[Pending]]) -> Iterator[Result]:
        """Analysed batches, by several processes where there is enough to do."""
        shop = self._shop
        ready: list[list[Pending]] = []
        size = 0
        for batch in batches:
            ready.append(batch)
            size += sum(len(item.content) for item in batch)
            if size >= _WORTH_PROCESSES:
                break
        # A transformer has threads of its own, and is too large to be loaded once per process.
        jobs = shop.settings.jobs or _cores()
        if size >= _WORTH_PROCESSES and shop.settings.model is None and jobs > 1:
            paths = [segment.path for segment in self._segments if segment.path is not None]
            every = chain(ready, batches)
            yield from analyse_in_processes(every, jobs, shop.settings, paths, shop.store.root)
            return
        vectors = KnownVectors.of_segments(self._segments, StoredVectors(shop.store, shop.embedder.model_id))
        analyser = Analyser(shop.languages, shop.embedder, vectors)
        for batch in chain(ready, batches):
            yield analyse_batch(analyser, batch)

    def _unrestored(self, unseen: Iterator[Pending], parts: list[Segment]) -> Iterator[list[Pending]]:
        """Batches of units that must be analysed; those that the store holds are added to `parts` instead."""
        store = self._shop.store
        for batch in _into_batches(unseen):
            keys = [item.unit.key for item in batch]
            if store.may_know("units", keys):
                try:
                    segment = self._restore(store.read_units(keys).values())
                except CorruptIndexError:
                    store.delete()  # git still has everything; it is analysed again and recorded anew
                    self._stored = None
                    segment = self._restore(())
                done = {row["key"].tobytes() for row in segment.units}
                self._keep(parts, segment)
                batch = [item for item in batch if item.unit.key not in done]
            if batch:
                yield batch

    def _restore(self, units: Iterable[StoredUnit]) -> Segment:
        """Stored units as a segment: their terms are counted again, nothing is parsed or embedded."""
        shop = self._shop
        if self._stored is None:
            self._stored = StoredVectors(shop.store, shop.embedder.model_id)
        unpacked = []
        for unit in units:
            try:
                unpacked.append((unit, *unpack_unit(unit.packed)))
            except CorruptIndexError:
                continue  # parsed again
        keys = {row["key"].tobytes() for *_, chunks in unpacked for row in chunks}
        texts = shop.store.read_chunks(list(keys))
        builder = SegmentBuilder(shop.embedder.model_id, shop.embedder.dimensions)
        for unit, declarations, names, chunks in unpacked:
            _restore_unit(builder, unit, (declarations, names, chunks), texts, self._stored)
        return builder.build()

    # --- publishing ------------------------------------------------------------------------------------------

    def _at(self, row: FileRow, key: bytes) -> FileRow:
        segment, unit = self._places[key]
        return replace(row, segment=segment, unit=unit)

    def _publish(self, snapshot: Snapshot, rows: list[FileRow], marks: Mapping[str, Mapping[str, bool]]) -> None:
        self._progress(Progress("publishing", 0, 1))
        rows[:] = self._compact(rows)
        used = sorted({row.segment for row in rows if row.unit != NO_UNIT})
        number = {old: new for new, old in enumerate(used)}
        segments = [self._segments[index] for index in used]
        placed = [replace(row, segment=number[row.segment]) if row.unit != NO_UNIT else row for row in rows]
        if marks:
            placed = [replace(row, role=role_of(row.path, marks.get(row.path, {}))) for row in placed]
        meta = {
            "commit": snapshot.commit,
            "ref": snapshot.ref,
            "dirty": snapshot.dirty,
            "changed": [*snapshot.changed, *self._vanished],
            "outside": snapshot.outside,
            "submodules": dict(snapshot.submodules),
            "marked": bool(marks),
            "version": __version__,
            "model": self._shop.embedder.model_id,
            "recipe": self._recipe(),
            "settings": self._settings_key(),
            "exclude": list(self._shop.settings.exclude),
        }
        table = build_table(placed, self._shop.embedder, meta)
        self._shop.views.publish(self._pointer, table, segments)
        self._progress(Progress("publishing", 1, 1))

    def _compact(self, rows: list[FileRow]) -> list[FileRow]:
        """Rewrites segments that are mostly dead, and the small ones when there are many."""
        live: dict[int, set[int]] = defaultdict(set)
        for row in rows:
            if row.unit != NO_UNIT:
                live[row.segment].add(row.unit)
        worn = []
        for index, units in live.items():
            chunks = self._segments[index].units["chunks"]
            alive = int(chunks[sorted(units)].sum())
            if alive < _DEAD_SHARE * int(chunks.sum()):
                worn.append(index)
        if len(live) > _MOST_SEGMENTS:
            by_size = sorted(live, key=lambda index: len(self._segments[index].chunks))
            worn = sorted({*worn, *by_size[: len(live) - _MOST_SEGMENTS // 2]})
        if not worn:
            return rows
        parts = []
        for index in worn:
            mask = np.zeros(len(self._segments[index].units), bool)
            mask[sorted(live[index])] = True
            parts.append((self._segments[index], mask))
        saved = self._shop.views.save_segment(merge_segments(parts))
        number = len(self._segments)
        self._segments.append(saved)
        raw = saved.units["key"].tobytes()
        place = {raw[unit * 16 : unit * 16 + 16]: unit for unit in range(len(saved.units))}
        gone = set(worn)
        moved = []
        for row in rows:
            if row.unit != NO_UNIT and row.segment in gone:
                key = self._segments[row.segment].units["key"][row.unit].tobytes()
                row = replace(row, segment=number, unit=place[key])
            moved.append(row)
        return moved


def record(workshop: Workshop, progress: ProgressCallback | None = None) -> None:
    """Writes what was published and not yet recorded into the store; the caller holds the index lock."""
    if workshop.journal.is_empty():
        return
    if progress:
        progress(Progress("recording", 0, None))
    names: list[str] = []

    def parts() -> Iterator[Any]:
        names.clear()
        for name, part in workshop.journal.parts():
            names.append(name)
            yield part

    try:
        workshop.store.record(parts())
    except CorruptIndexError:
        workshop.store.delete()  # begun anew with what waits; the rest is in git and in the view
        workshop.store.record(parts())
    for name in names:
        workshop.journal.remove(name)


def _restore_unit(
    builder: SegmentBuilder,
    unit: StoredUnit,
    unpacked: tuple[NDArray[Any], list[str], NDArray[Any]],
    texts: Mapping[bytes, Chunk],
    known: StoredVectors,
) -> None:
    """Adds a stored unit to a builder, unless a text or a vector of it is missing: then it is parsed again."""
    declarations, names, chunks = unpacked
    keys = [row["key"].tobytes() for row in chunks]
    vectors = [known.find(key) for key in keys]
    if any(key not in texts for key in keys) or any(vector is None for vector in vectors):
        return
    found = [vector for vector in vectors if vector is not None]
    builder.add(
        key=unit.key,
        blob=unit.blob,
        language=unit.language,
        content_size=unit.size,
        lines=unit.lines,
        errors=unit.errors,
        skip=unit.skip,
        declarations=declarations if len(keys) else None,
        names=names,
        chunks=chunks,
        terms=[count_chunk_terms(texts[key]) for key in keys],
        vectors=(np.array([codes for codes, _ in found]), np.array([scale for _, scale in found], np.float32))
        if found
        else None,
    )


def _cores() -> int:
    """The cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _fixed_skip(entry: Entry) -> SkipReason | None:
    kind = entry.mode & 0o170000
    if kind == 0o160000:
        return SkipReason.SUBMODULE
    return SkipReason.SYMLINK if kind == 0o120000 else None


def _into_batches(items: Iterator[Pending]) -> Iterator[list[Pending]]:
    batch: list[Pending] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.content)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _embedded_keys(segment: Segment, fresh: NDArray[np.bool_]) -> set[bytes]:
    """Keys of the declarations of a new segment for which a vector was computed."""
    embedded = np.zeros(len(segment.declarations), bool)
    first = np.repeat(segment.units["first_declaration"].astype(np.int64), segment.units["chunks"])
    own = fresh & ((segment.chunks["flags"] & OWN) != 0)
    embedded[(first + segment.chunks["declaration"])[own]] = True
    return {key.tobytes() for key in segment.declarations["key"][embedded]}
