"""What differs between two snapshots, as lines for people and as JSON.

src/upload.py
  changed  src/upload.py:10-31  Uploader.retry  method
  moved    src/upload.py:40-52  parse_size  function  from main:src/sizes.py:3-15
  added    src/upload.py:60-90  Session  class, with 3 members
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby

from codesearch.render.documents import SCHEMA, Document
from codesearch.render.safe import sanitise, shown_path
from codesearch.render.text import Code, Line, Role, plain
from codesearch.results import ChangeKind, Comparison, DeclarationChange, Version
from codesearch.types import Side

ELSEWHERE_SHOWN = 5  # files; --json has all
_WIDTH = max(len(kind) for kind in ChangeKind)
# What happens to the members of a declaration when it happens to that as a whole.
_GO_ALONG = {
    ChangeKind.ADDED: ChangeKind.ADDED,
    ChangeKind.REMOVED: ChangeKind.REMOVED,
    ChangeKind.MOVED: ChangeKind.MOVED,
    ChangeKind.RENAMED: ChangeKind.MOVED,
}


def changes_document(comparison: Comparison) -> Document:
    """The changes by file; `old` of an added declaration is null, and so is `new` of a removed one."""
    return {
        "schema": SCHEMA,
        "old": _side(comparison.old),
        "new": _side(comparison.new),
        "files": [
            {"path": path, "changes": [_change(each) for each in changes]} for path, changes in _by_file(comparison)
        ],
        "counts": _counts(comparison.changes),
        "elsewhere": list(comparison.elsewhere),
        "skipped": [{"path": each.path, "reason": each.reason.value} for each in comparison.skipped],
    }


def changes_layout(comparison: Comparison, *, folder: str = "") -> Iterator[Line | Code]:
    """The changes by file, and how many there are. Members that share the lot of what is around them are counted."""
    for path, changes in _by_file(comparison):
        yield Line(((shown_path(path, folder), Role.CITATION),))
        for change, along in _folded(changes):
            yield _change_line(change, along, folder)
        yield Line()
    if comparison.changes:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in _counts(comparison.changes).items() if count)
        yield plain(f"{counts}; from {_side_name(comparison.old)} to {_side_name(comparison.new)}")


def elsewhere_layout(comparison: Comparison, *, folder: str = "") -> Iterator[Line | Code]:
    """What the list does not show: that there is nothing, and files that differ in no declaration."""
    if not comparison.changes:
        names = f"{_side_name(comparison.old)} and {_side_name(comparison.new)}"
        yield plain(f"No declaration differs between {names}.")
    files = [*comparison.elsewhere, *(each.path for each in comparison.skipped)]
    if files:
        shown = ", ".join(shown_path(path, folder) for path in files[:ELSEWHERE_SHOWN])
        more = f" and {len(files) - ELSEWHERE_SHOWN:,} more" if len(files) > ELSEWHERE_SHOWN else ""
        what = "1 other file differs" if len(files) == 1 else f"{len(files):,} other files differ"
        yield plain(f"{what}, outside declarations: {shown}{more}")


def _by_file(comparison: Comparison) -> list[tuple[str, list[DeclarationChange]]]:
    return [(path, list(changes)) for path, changes in groupby(comparison.changes, key=lambda each: each.shown.path)]


def _counts(changes: Sequence[DeclarationChange]) -> dict[str, int]:
    counted = Counter(each.change for each in changes)
    return {kind.value: counted[kind] for kind in ChangeKind}


def _folded(changes: Sequence[DeclarationChange]) -> list[tuple[DeclarationChange, int]]:
    """The changes without those that go along with one around them, which has their number."""
    folded: list[tuple[DeclarationChange, int]] = []
    around: dict[bool, list[int]] = {True: [], False: []}  # what may hold the next one; removed ones hold only such
    for change in changes:
        open_ones = around[change.new is None]
        while open_ones and folded[open_ones[-1]][0].shown.end_line < change.shown.start_line:
            open_ones.pop()
        for at in open_ones:
            if _goes_along(change, folded[at][0]):
                folded[at] = folded[at][0], folded[at][1] + 1
                break
        else:
            open_ones.append(len(folded))
            folded.append((change, 0))
    return folded


def _goes_along(change: DeclarationChange, around: DeclarationChange) -> bool:
    return _GO_ALONG.get(around.change) is change.change and all(
        (inner is None) == (outer is None) and (inner is None or outer is None or _is_inside(inner, outer))
        for inner, outer in ((change.old, around.old), (change.new, around.new))
    )


def _is_inside(inner: Version, outer: Version) -> bool:
    return inner.path == outer.path and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line


def _change_line(change: DeclarationChange, along: int, folder: str) -> Line:
    shown = change.shown
    members = "" if not along else f", with {along} member{'' if along == 1 else 's'}"
    spans = [
        (f"  {change.change.value:{_WIDTH}}  ", Role.FAINT),
        (_citation(shown, folder), Role.CITATION),
        (f"  {sanitise(shown.qualified_name)}", Role.SYMBOL),
        (f"  {shown.kind.value}{members}", Role.KIND),
    ]
    old, new = change.old, change.new
    if old and new and (old.path != new.path or old.qualified_name != new.qualified_name):
        name = f" {old.qualified_name}" if old.qualified_name != new.qualified_name else ""
        spans.append((f"  from {sanitise(old.citation + name)}", Role.FAINT))
    return Line(tuple(spans))


def _citation(version: Version, folder: str) -> str:
    """As seen from where the user stands; in a revision paths count from the root, as in git."""
    lines = f":{version.start_line}-{version.end_line}"
    if version.citation == version.path + lines:
        return shown_path(version.path, folder) + lines
    return sanitise(version.citation)


def _side(side: Side) -> Document:
    return {"place": side.place.value, "name": side.name, "commit": side.commit}


def _side_name(side: Side) -> str:
    return "what is staged" if side.name == "staged" else sanitise(side.name)


def _change(change: DeclarationChange) -> Document:
    return {
        "change": change.change.value,
        "old": None if change.old is None else _version(change.old),
        "new": None if change.new is None else _version(change.new),
    }


def _version(version: Version) -> Document:
    return {**asdict(version), "kind": version.kind.value}
