"""Symbols of a view by their first letters, for completion: a few milliseconds whatever the size of the repository."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codesearch.view.published import View
from codesearch.view.segment import Segment
from codesearch.view.strings import encode
from codesearch.view.table import NO_UNIT


def symbols_starting(view: View, prefix: str, *, path: str | None = None, limit: int = 200) -> list[str]:
    """Symbols of one word that begin with `prefix`, in order; with `path`, those of that file alone."""
    found: set[str] = set()
    for segment, units in _units(view, path):
        found.update(_starting(segment, units, encode(prefix), limit))
    return sorted(found)[:limit]


def _units(view: View, path: str | None) -> Iterator[tuple[Segment, NDArray[np.int64]]]:
    """The units that the snapshot shows, by segment; a segment may hold more."""
    rows = view.table.rows
    if path is not None:
        paths = view.table.paths.to_list()
        at = bisect_left(paths, path)
        rows = rows[at : at + 1] if at < len(paths) and paths[at] == path else rows[:0]
    rows = rows[rows["unit"] != np.uint32(NO_UNIT)]
    for number, segment in enumerate(view.segments):
        yield segment, rows["unit"][rows["segment"] == number].astype(np.int64)


def _starting(segment: Segment, units: NDArray[np.int64], prefix: bytes, limit: int) -> list[str]:
    is_shown = np.zeros(len(segment.units), bool)
    is_shown[units] = True
    symbols = np.unique(segment.declarations["symbol"][np.repeat(is_shown, segment.units["declarations"])])
    starts, ends = segment.strings.offsets[symbols], segment.strings.offsets[symbols + 1]
    for place, byte in enumerate(prefix):
        fits = ends - starts > place
        symbols, starts, ends = symbols[fits], starts[fits], ends[fits]
        fits = segment.strings.data[starts + np.uint32(place)] == byte
        symbols, starts, ends = symbols[fits], starts[fits], ends[fits]
    # The pool is in no order, so all that fit are read before some are left out.
    names = segment.strings.take(symbols.astype(np.intp)).to_list()
    return sorted({name for name in names if " " not in name})[:limit]  # of tests, which are whole sentences
