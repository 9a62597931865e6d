"""Finds the declarations of a repository that are copies of each other, the largest waste first.

Every declaration is sketched by its words; those whose sketches meet are read again and compared text by text; groups
that lie inside the copies of larger ones are left out. Content is read by a function that is handed in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import dedent

import numpy as np
from numpy.typing import NDArray

from codesearch.filtering import FindSpans, admitted
from codesearch.grouping import Level, Place, Text, group_texts, outermost_first, without_nested
from codesearch.results import DuplicateGroup, DuplicatePlace
from codesearch.sketching import Sketches, sketch
from codesearch.types import Filters, Kind, Progress, ProgressCallback
from codesearch.view.corpus import Corpus
from codesearch.view.segment import KINDS, Segment

_WHOLE = -1  # in place of a declaration: the whole file
_NEARLY_ALL = 0.8  # of a file's lines: a declaration that takes so many says more than the file around it
# (path, blob id) pairs → their contents in this order, None where a path no longer has the blob.
ReadMany = Callable[[Sequence[tuple[str, str]]], Iterator[bytes | None]]


@dataclass(frozen=True, eq=False)
class _Unit:
    """One content, the paths that show it, and what in it may be a copy, as declarations, (start, end) and lines.

    `first` is the number of its first text among those of all units.
    """

    segment: Segment
    number: int
    blob: str
    paths: tuple[str, ...]
    declarations: NDArray[np.int64]
    spans: NDArray[np.int64]
    lines: NDArray[np.int64]
    first: int = 0

    def kind(self, at: int) -> Kind:
        """The kind of a text: of its declaration, FILE of the whole."""
        declaration = int(self.declarations[at])
        return Kind.FILE if declaration == _WHOLE else KINDS[int(self.segment.declarations["kind"][declaration])]


def find_duplicates(
    corpus: Corpus,
    read: ReadMany,
    filters: Filters,
    *,
    exact: bool,
    min_lines: int,
    find_spans: FindSpans | None = None,
    progress: ProgressCallback | None = None,
) -> list[DuplicateGroup]:
    """Groups of declarations (and of whole files that have several) with one text, or nearly one unless `exact`."""
    units = _units(corpus, filters, min_lines, find_spans)
    if not units:
        return []
    contents = _counted(read([(unit.paths[0], unit.blob) for unit in units]), "reading", len(units), progress)
    files = zip(contents, (unit.spans for unit in units), strict=True)
    sketches = sketch(((content or b"", spans) for content, spans in files), hashed=not exact)
    texts = _texts(units, _candidates(units, sketches, exact=exact), read, progress)
    of_sketch = {unit.first + at: (unit, at) for unit in units for at in range(len(unit.declarations))}
    groups = without_nested(group_texts(texts, None if exact else sketches))
    return [
        DuplicateGroup(
            tuple(_shown(place, round(share, 4), *of_sketch[place.sketched]) for place, share in group.places),
            group.waste,
        )
        for group in groups
    ]


def _units(corpus: Corpus, filters: Filters, min_lines: int, find_spans: FindSpans | None) -> list[_Unit]:
    """What the filters admit, in order of paths."""
    documents, _ = admitted(corpus, replace(filters, kinds=(), symbols=()))  # files, whatever is admitted of them
    _, targets = admitted(corpus, filters, find_spans)
    files = np.unique(corpus.file_of[documents]).tolist()
    paths: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for file in files:
        paths[int(corpus.file_segment[file]), int(corpus.file_unit[file])].append(corpus.path(file))
    of_all = not filters.symbols and not filters.of_history
    with_files = of_all and (not filters.kinds or Kind.FILE in filters.kinds)
    units, count = [], 0
    for (index, number), shown in sorted(paths.items(), key=lambda item: min(item[1])):
        segment = corpus.segments[index]
        row = segment.units[number]
        first = int(row["first_declaration"])
        declared = np.arange(first, first + int(row["declarations"]))
        rows = segment.declarations[declared]
        taken = rows["last"].astype(np.int64) - rows["first"] + 1
        fits = taken >= min_lines
        if targets is not None:
            fits &= targets[declared + int(corpus.declaration_bases[index])]
        chosen, spans = declared[fits], np.stack([rows["start"][fits], rows["end"][fits]], axis=1).astype(np.int64)
        lines = np.stack([rows["first"][fits], rows["last"][fits]], axis=1).astype(np.int64)
        is_of_several = len(declared) > 0 and int(taken.max()) < _NEARLY_ALL * int(row["lines"])
        if with_files and is_of_several and int(row["lines"]) >= min_lines:
            chosen = np.append(chosen, _WHOLE)
            spans = np.append(spans, [[0, int(row["size"])]], axis=0)
            lines = np.append(lines, [[1, int(row["lines"])]], axis=0)
        if len(chosen):
            oid = segment.blob_of(number)
            units.append(_Unit(segment, number, oid, tuple(sorted(shown)), chosen, spans, lines, count))
            count += len(chosen)
    return units


def _candidates(units: Sequence[_Unit], sketches: Sketches, *, exact: bool) -> NDArray[np.bool_]:
    """Which texts may have a copy: those with words of which the same, or nearly the same, stand elsewhere."""
    of_text = np.repeat(np.arange(len(units)), [len(unit.declarations) for unit in units])
    shown = np.array([len(unit.paths) for unit in units], np.int64)[of_text]
    _, first, classes = np.unique(sketches.fingerprints, return_index=True, return_inverse=True)
    wanted: NDArray[np.bool_] = np.bincount(classes, weights=shown)[classes] > 1
    if not exact:
        spans = np.concatenate([unit.spans for unit in units])
        meets = np.zeros(len(of_text), bool)
        for bucket in sketches.buckets(np.sort(first)):
            members = np.array(bucket)
            starts, ends, unit_of = spans[members, 0], spans[members, 1], of_text[members]
            for at, text in enumerate(bucket):
                if meets[text]:
                    continue
                apart = (unit_of != unit_of[at]) | (starts >= ends[at]) | (ends <= starts[at])
                if apart.any():
                    meets[text] = len(sketches.agreeing(text, members[apart])) > 0
        wanted |= meets[first][classes]
    return wanted & (sketches.words > 0)


def _texts(
    units: Sequence[_Unit], wanted: NDArray[np.bool_], read: ReadMany, progress: ProgressCallback | None
) -> list[Text]:
    """The wanted texts, read and brought together by what they say, each with all places that have it now."""
    chosen = [
        (unit, path, places)
        for unit in units
        if len(places := np.flatnonzero(wanted[unit.first : unit.first + len(unit.declarations)]))
        for path in unit.paths
    ]
    contents = _counted(read([(path, unit.blob) for unit, path, _ in chosen]), "comparing", len(chosen), progress)
    found: defaultdict[tuple[Level, str], list[Place]] = defaultdict(list)
    for (unit, path, places), content in zip(chosen, contents, strict=True):
        if content is None:
            continue
        for at in places.tolist():
            (start, end), (first, last) = unit.spans[at].tolist(), unit.lines[at].tolist()
            level = Level.CONTAINER if unit.kind(at).is_container else Level.OTHER
            level = Level.FILE if unit.kind(at) is Kind.FILE else level
            place = Place(path, start, end, first, last, level, unit.first + at)
            found[level, _unindented(content[start:end])].append(place)
    return [Text(text, tuple(sorted(places, key=outermost_first))) for (_, text), places in found.items()]


def _unindented(raw: bytes) -> str:
    """A text as it would stand at the left margin; the first line begins after its indentation already."""
    first, _, rest = raw.decode("utf-8", "replace").replace("\r\n", "\n").strip().partition("\n")
    return "\n".join(line.rstrip() for line in (first, *dedent(rest).split("\n"))).rstrip()


def _shown(place: Place, likeness: float, unit: _Unit, at: int) -> DuplicatePlace:
    segment, declaration = unit.segment, int(unit.declarations[at])
    symbol = qualified = ""
    if declaration != _WHOLE:
        row = segment.declarations[declaration]
        symbol, qualified = segment.strings[int(row["symbol"])], segment.strings[int(row["qualified"])]
    return DuplicatePlace(
        path=place.path,
        start_line=place.first,
        end_line=place.last,
        symbol=symbol,
        qualified_name=qualified,
        kind=unit.kind(at),
        language=segment.language_of(unit.number),
        likeness=likeness,
    )


def _counted(
    contents: Iterator[bytes | None], stage: str, total: int, progress: ProgressCallback | None
) -> Iterator[bytes | None]:
    for done, content in enumerate(contents, 1):
        if progress is not None and done % 100 == 0:
            progress(Progress(stage, done, total))
        yield content
