"""Views on disk: immutable segments and file tables, and the one small pointer file that says which counts.

Publishing writes new names first and replaces the pointer last, atomically. A reader follows the pointer, opens
every file, and starts again once when one has vanished in between.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codesearch.errors import CorruptIndexError
from codesearch.view.corpus import Corpus, Source
from codesearch.view.segment import FORMAT, Segment
from codesearch.view.table import NO_UNIT, FileTable

GRACE_SECONDS = 900  # unreferenced files stay this long: a reader may be between pointer and open
_REVISION_SECONDS = 7 * 86400  # views of old revisions are cheap to make again from the store


@dataclass(frozen=True, eq=False)
class View:
    """One published snapshot: the table of its files and the segments that they point into."""

    name: str
    table: FileTable
    segments: tuple[Segment, ...]

    @property
    def meta(self) -> Mapping[str, Any]:
        """Commit, ref, model, versions, counts … as they were given to `publish`."""
        return self.table.meta

    def corpus(self) -> Corpus:
        """The view by itself as what a query is answered from."""
        return Corpus(self.segments, [Source(self.table, np.ones(len(self.table), bool))])


class ViewFolder:
    """The folder that holds the pointers, views and segments of one clone."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.segments = home / "segments"
        self.views = home / "views"
        self.pointers = home / "pointers"

    def prepare(self) -> None:
        """Makes the folders."""
        for folder in (self.segments, self.views, self.pointers):
            folder.mkdir(parents=True, exist_ok=True)

    def open(self, pointer: str, *, verify: bool = False) -> View | None:
        """The view that a pointer names; None when nothing was published under it.

        Raises CorruptIndexError when what is there cannot be used; `verify` has every byte of the table checked.
        """
        for attempt in (1, 2):
            name = self.pointed(pointer)
            if name is None:
                return None
            try:
                return self._open_view(name, verify)
            except FileNotFoundError as error:  # replaced and collected between the two reads
                if attempt == 2:
                    raise CorruptIndexError("Part of the index is missing.", "Run: codesearch index") from error
        return None

    def pointed(self, pointer: str) -> str | None:
        """The file name of the view that a pointer names, or None."""
        found = self.read_pointer(pointer)
        return found[0] if found else None

    def read_pointer(self, pointer: str) -> tuple[str, str | None, dict[str, str | None]] | None:
        """The file name of the view that a pointer names, the commit it shows and those of submodules; or None."""
        try:
            raw = json.loads((self.pointers / f"{pointer}.json").read_bytes())
            name, commit, submodules = raw["view"], raw["commit"], raw.get("submodules", {})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptIndexError("The index pointer is damaged.", "Run: codesearch index") from error
        if not isinstance(name, str) or Path(name).name != name or not isinstance(commit, str | None):
            raise CorruptIndexError("The index pointer is damaged.", "Run: codesearch index")
        if not isinstance(submodules, dict) or any(not isinstance(each, str | None) for each in submodules.values()):
            raise CorruptIndexError("The index pointer is damaged.", "Run: codesearch index")
        return name, commit, submodules

    def _open_view(self, name: str, verify: bool) -> View:
        table = FileTable.open(self.views / name, verify=verify)
        names = table.meta.get("segments")
        if not isinstance(names, list) or any(not isinstance(part, str) or Path(part).name != part for part in names):
            raise CorruptIndexError(f"{name} is damaged.", "Run: codesearch index")
        segments = tuple(Segment.open(self.segments / part) for part in names)
        used = table.rows["segment"][table.rows["unit"] != NO_UNIT]
        if len(used) and int(used.max()) >= len(segments):
            raise CorruptIndexError(f"{name} is damaged.", "Run: codesearch index")
        return View(name, table, segments)

    def save_segment(self, segment: Segment) -> Segment:
        """Writes a segment under a new name and returns it as readers will see it."""
        path = self.segments / f"{uuid.uuid4().hex}.seg"
        segment.save(path)
        return Segment.open(path)

    def known_segments(self, model_id: str) -> list[Segment]:
        """Every whole segment on disk that was made with a model, checked byte for byte; damaged ones are skipped."""
        found = []
        for path in sorted(self.segments.glob("*.seg")):
            try:
                segment = Segment.open(path, verify=True)
            except (CorruptIndexError, FileNotFoundError):
                continue
            if segment.model_id == model_id:
                found.append(segment)
        return found

    def publish(self, pointer: str, table: FileTable, segments: Sequence[Segment]) -> str:
        """Makes a view the current one of a pointer; its segments must be on disk. Returns the view's name."""
        names = [segment.path.name for segment in segments if segment.path is not None]
        if len(names) != len(segments):
            raise ValueError("a segment was not saved")
        name = f"{uuid.uuid4().hex}.view"
        full = FileTable(
            table.paths, table.rows, table.codes, table.scales, table.term_hashes, table.term_offsets,
            table.posting_file, {**table.meta, "segments": names},
        )  # fmt: skip
        full.save(self.views / name)
        target = self.pointers / f"{pointer}.json"
        temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
        with temporary.open("w") as file:
            # The commits stand here as well, so that git can be asked about them before any array is mapped.
            commits = {"commit": table.meta.get("commit"), "submodules": table.meta.get("submodules", {})}
            json.dump({"format": FORMAT, "view": name, **commits}, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        for folder in (self.segments, self.views, self.pointers):
            _sync_folder(folder)
        return name

    def pointer_names(self) -> list[str]:
        """All pointers."""
        return sorted(path.stem for path in self.pointers.glob("*.json"))

    def collect(self) -> None:
        """Deletes what no pointer leads to any more, after a time of grace.

        Call it under the index lock. Readers that have the files open keep them.
        """
        for pointer in self.pointers.glob("at-*.json"):
            if time.time() - pointer.stat().st_mtime > _REVISION_SECONDS:
                pointer.unlink(missing_ok=True)
        for path in self.rubbish(GRACE_SECONDS):
            path.unlink(missing_ok=True)

    def rubbish(self, grace_seconds: float, dropped: Container[str] = ()) -> list[Path]:
        """Files older than the grace time that no pointer leads to; pointers in `dropped` do not count."""
        kept: set[str] = set()
        for name, table in self._tables(dropped):
            kept.add(name)
            kept.update(table.meta.get("segments", ()))
        now = time.time()
        return [
            path
            for folder in (self.segments, self.views, self.pointers)
            for path in folder.iterdir()
            if path.name not in kept
            and path.suffix in {".seg", ".view", ".tmp"}
            and now - path.stat().st_mtime >= grace_seconds
        ]

    def shown_units(self, dropped: Container[str] = ()) -> set[bytes]:
        """The keys of all units that some view shows; pointers in `dropped` do not count."""
        shown: set[bytes] = set()
        for name, _ in self._tables(dropped):
            try:
                view = self._open_view(name, verify=False)
            except (CorruptIndexError, FileNotFoundError):
                continue
            rows = view.table.rows[view.table.rows["unit"] != NO_UNIT]
            for number, segment in enumerate(view.segments):
                units = rows["unit"][rows["segment"] == number]
                shown.update(key.tobytes() for key in segment.units["key"][units[units < len(segment.units)]])
        return shown

    def _tables(self, dropped: Container[str]) -> Iterator[tuple[str, FileTable]]:
        for pointer in self.pointer_names():
            try:
                name = None if pointer in dropped else self.pointed(pointer)
                if name is not None:
                    yield name, FileTable.open(self.views / name)
            except (CorruptIndexError, FileNotFoundError):
                continue


def folder_bytes(folder: Path) -> int:
    """The bytes of all files below a folder."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:
            continue  # collected by another process in the meantime
    return total


def _sync_folder(folder: Path) -> None:
    """A rename is durable only when its folder is; not every system lets a folder be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
