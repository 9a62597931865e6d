"""Lays out groups of copies.

80 duplicated lines, 2 near-copies
  src/client.py:136-215  Client.send  method
  src/client.py:280-359  AsyncClient.send  method  0.93
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codesearch.render.documents import SCHEMA, Document
from codesearch.render.safe import sanitise, shown_path
from codesearch.render.text import Line, Role, plain
from codesearch.results import DuplicateGroup, DuplicatePlace
from codesearch.types import Kind

_PLACES_SHOWN = 8  # of a group; --json has all


def duplicates_layout(groups: Sequence[DuplicateGroup], *, folder: str = "") -> Iterator[Line]:
    """A line for each group and one for each of its places; a number says how like the first a near-copy is."""
    for number, group in enumerate(groups):
        if number:
            yield Line()
        sort = "exact copies" if group.is_exact else "near-copies"
        lines = f"{group.waste:,} duplicated line{'' if group.waste == 1 else 's'}"
        yield plain(f"{lines}, {len(group.places):,} {sort}")
        for place in group.places[:_PLACES_SHOWN]:
            yield _place_line(place, folder)
        if len(group.places) > _PLACES_SHOWN:
            yield Line(((f"  … and {len(group.places) - _PLACES_SHOWN:,} more; --json lists all", Role.FAINT),))


def _place_line(place: DuplicatePlace, folder: str) -> Line:
    citation = f"{shown_path(place.path, folder)}:{place.start_line}-{place.end_line}"
    spans = [("  ", Role.PLAIN), (citation, Role.CITATION)]
    if name := place.qualified_name or place.symbol:
        spans.append((f"  {sanitise(name)}", Role.SYMBOL))
    spans.append((f"  {'whole file' if place.kind is Kind.FILE else place.kind.value}", Role.KIND))
    if place.likeness < 1:
        # Cut, not rounded: 1.00 would say that it is the same.
        spans.append((f"  {int(place.likeness * 100) / 100:.2f}", Role.FAINT))
    return Line(tuple(spans))


def duplicates_document(groups: Sequence[DuplicateGroup], limit: int) -> Document:
    """The first `limit` groups, and how many there are."""
    return {
        "schema": SCHEMA,
        "total": {"groups": len(groups), "duplicated_lines": sum(group.waste for group in groups)},
        "groups": [
            {
                "duplicated_lines": group.waste,
                "exact": group.is_exact,
                "places": [
                    {
                        "path": place.path,
                        "start_line": place.start_line,
                        "end_line": place.end_line,
                        "symbol": place.symbol,
                        "qualified_name": place.qualified_name,
                        "kind": place.kind.value,
                        "language": place.language,
                        "likeness": place.likeness,
                    }
                    for place in group.places
                ],
            }
            for group in groups[:limit]
        ],
    }
