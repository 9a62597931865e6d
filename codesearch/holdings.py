"""What a view holds: how many files and declarations, of which languages, and what was skipped for which reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from codesearch.types import Skipped
from codesearch.view.published import View
from codesearch.view.table import NO_UNIT


@dataclass(slots=True)
class Holdings:
    """Counts over the files of a view."""

    files: int = 0
    declarations: int = 0
    chunks: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    files_of: Counter[str] = field(default_factory=Counter)  # of each language that is parsed
    declarations_of: Counter[str] = field(default_factory=Counter)


def holdings_of(view: View | None) -> Holdings:
    """What a view holds; nothing where there is none."""
    result = Holdings()
    if view is None:
        return result
    for index, path in enumerate(view.table.paths.to_list()):
        row = view.table.rows[index]
        reason = view.table.skip_of(index)
        result.files += 1
        if int(row["unit"]) != NO_UNIT:
            segment = view.segments[int(row["segment"])]
            unit = segment.units[int(row["unit"])]
            language = segment.language_of(int(row["unit"]))
            result.declarations += int(unit["declarations"])
            result.chunks += int(unit["chunks"])
            result.files_of[language] += 1
            result.declarations_of[language] += int(unit["declarations"])
            reason = segment.skip_of(int(row["unit"]))
        if reason is not None:
            result.skipped.append(Skipped(path, reason))
    return result
