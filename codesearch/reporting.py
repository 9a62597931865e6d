"""What an index run did, as counts: files parsed and reused, declarations embedded, moved and removed. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass

from codesearch.results import DeclarationCounts, FileCounts, IndexReport
from codesearch.types import Skipped
from codesearch.view.published import View
from codesearch.view.segment import Segment
from codesearch.view.table import NO_UNIT, FileRow

Position = tuple[str, int]  # path and first line
Place = tuple[Segment, int]  # a segment and a unit of it


@dataclass(frozen=True, slots=True)
class Work:
    """What had to be done: keys of units that were parsed and of declarations that were embedded, and the time."""

    parsed: Set[bytes]
    embedded: Set[bytes]
    seconds: float


def make_report(
    commit: str | None, rows: Sequence[FileRow], segments: Sequence[Segment], old: View | None, work: Work
) -> IndexReport:
    """The report of a run that published `rows`, against the view before it."""
    skipped = []
    parsed = reused = declared = 0
    for row in rows:
        reason = row.skip
        if row.unit != NO_UNIT:
            segment = segments[row.segment]
            reason = segment.skip_of(row.unit)
            declared += int(segment.units["declarations"][row.unit])
            if reason is None and segment.units["key"][row.unit].tobytes() in work.parsed:
                parsed += 1
            elif reason is None:
                reused += 1
        if reason is not None:
            skipped.append(Skipped(row.path, reason))
    moved, removed = _moves(rows, segments, old) if old is not None else (0, 0)
    embedded = len(work.embedded)
    return IndexReport(
        commit=commit,
        files=FileCounts(len(rows), parsed, reused, len(skipped)),
        declarations=DeclarationCounts(declared, embedded, declared - embedded, moved, removed),
        skipped=tuple(sorted(skipped, key=lambda item: item.path)),
        seconds=work.seconds,
    )


def _moves(rows: Sequence[FileRow], segments: Sequence[Segment], old: View) -> tuple[int, int]:
    """How many declarations stand elsewhere now, and how many are gone; matched as multisets by key."""
    before: dict[str, Place] = {}
    units = old.table.rows["unit"].tolist()
    for index, path in enumerate(old.table.paths.to_list()):
        if units[index] != NO_UNIT:
            before[path] = old.segments[int(old.table.rows["segment"][index])], units[index]
    was: dict[bytes, Counter[Position]] = defaultdict(Counter)
    now: dict[bytes, Counter[Position]] = defaultdict(Counter)
    for row in rows:
        after = (segments[row.segment], row.unit) if row.unit != NO_UNIT else None
        earlier = before.pop(row.path, None)
        if after and earlier and _unit_key(after) == _unit_key(earlier):
            continue
        if after:
            _count_positions(now, row.path, after)
        if earlier:
            _count_positions(was, row.path, earlier)
    for path, earlier in before.items():
        _count_positions(was, path, earlier)
    moved = removed = 0
    for key, positions in was.items():
        left = positions - now.get(key, Counter())
        arrived = now.get(key, Counter()) - positions
        elsewhere = min(left.total(), arrived.total())
        moved += elsewhere
        removed += left.total() - elsewhere
    return moved, removed


def _unit_key(place: Place) -> bytes:
    return bytes(place[0].units["key"][place[1]])


def _count_positions(positions: dict[bytes, Counter[Position]], path: str, place: Place) -> None:
    segment, unit = place
    row = segment.units[unit]
    first = int(row["first_declaration"])
    for declaration in segment.declarations[first : first + int(row["declarations"])]:
        positions[declaration["key"].tobytes()][path, int(declaration["first"])] += 1
