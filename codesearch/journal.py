"""What was analysed and is not yet written into the store: segments with the text of their chunks.

The journal lets a view be used before the store is written, and a process be killed at any moment: the next index
run records what it finds. A part is written before the segment that holds its units, so that no unit is ever shown
that the store will not learn of. Every part is whole by itself and disappears once it is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError
from codesearch.types import Chunk
from codesearch.view.arrays import ArrayFile, write_arrays
from codesearch.view.segment import Segment
from codesearch.view.strings import Strings, pack_strings

TEXT_FIELDS = ("symbol", "parents", "signature", "doc", "body")


@dataclass(frozen=True, eq=False)
class JournalPart:
    """A segment, and for each of its chunks the texts that were matched and embedded."""

    segment: Segment
    texts: dict[str, Strings]


class Journal:
    """The folder of parts that wait to be recorded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, run: str, number: int, segment: Segment, chunks: Sequence[Chunk]) -> None:
        """Writes one part."""
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"{run}-{number:06d}"
        write_arrays(self._folder / f"{name}.texts", pack_texts(chunks), {})
        segment.save(self._folder / f"{name}.part")

    def discard_unfinished(self) -> None:
        """Deletes what a run left that was killed while it wrote a part."""
        parts = {path.stem for path in self._folder.glob("*.part")}
        for path in self._folder.glob("*.texts"):
            if path.stem not in parts:
                path.unlink(missing_ok=True)
        for path in self._folder.glob("*.tmp"):
            path.unlink(missing_ok=True)

    def parts(self) -> Iterator[tuple[str, JournalPart]]:
        """Every part with its name, in order; damaged ones are deleted, since git still has their source."""
        for path in sorted(self._folder.glob("*.part")):
            try:
                segment = Segment.open(path, verify=True)
                file = ArrayFile.open(path.with_suffix(".texts"))
                file.verify()
                texts = {
                    field: Strings(file.arrays[f"{field}_offsets"], file.arrays[f"{field}_data"])
                    for field in TEXT_FIELDS
                }
            except (CorruptIndexError, FileNotFoundError, KeyError):
                self.remove(path.stem)
                continue
            yield path.stem, JournalPart(segment, texts)

    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return next(iter(self._folder.glob("*.part")), None) is None

    def remove(self, name: str) -> None:
        """Deletes a part that is recorded."""
        (self._folder / f"{name}.part").unlink(missing_ok=True)
        (self._folder / f"{name}.texts").unlink(missing_ok=True)


def pack_texts(chunks: Sequence[Chunk]) -> dict[str, NDArray[Any]]:
    """The text fields of chunks as arrays."""
    arrays: dict[str, NDArray[Any]] = {}
    for field in TEXT_FIELDS:
        pool = pack_strings(getattr(chunk, field) for chunk in chunks)
        arrays[f"{field}_offsets"], arrays[f"{field}_data"] = pool.offsets, pool.data
    return arrays
