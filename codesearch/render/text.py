"""Lays results out as lines for people. What a line looks like is decided here; whether it has colour is not.

A layout is a sequence of `Line`s (spans of text with a role) and `Code` blocks. Everything in it is already
safe to print. A hit is laid out as

    src/upload.py:10-31  Uploader.retry  method  0.83
       12: for attempt in range(self.attempts):
       13-     if self.send(part):

with `:` after the number of a line that matches and `-` after the others, as grep does.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from codesearch.render.links import Target
from codesearch.render.safe import path_from, sanitise, sanitise_code, shown_bytes, shown_path
from codesearch.results import Cleaned, FileOutline, IndexReport, LanguageInfo, Shown, Status
from codesearch.types import Anchor, Copy, Filters, Hit, Kind, SearchResult, Skipped, Snippet

SNIPPET_LINES = 8  # enough to recognise a function; ten hits still fit on two screens
COPIES_SHOWN = 3  # of a hit; --json has all, --all makes hits of them
SKIPPED_SHOWN = 5  # per reason; --json has all
FILENAMES_SHOWN = 4  # of a language; prose alone has 25, and --json has all
LONGEST_QUERY = 80  # characters of a query said back; a pasted stack trace would push the answer off the screen
_NO_KIND = frozenset({Kind.REMAINDER, Kind.BLOCK})  # words for how a file was cut, not for what stands there


class Role(StrEnum):
    """What a span of text is, so that a terminal can colour it."""

    CITATION = "citation"
    SYMBOL = "symbol"
    KIND = "kind"
    FAINT = "faint"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output, as spans of (text, role); `target` is what its citation leads to."""

    spans: tuple[tuple[str, Role], ...] = ()
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """Consecutive lines of a file, safe to print.

    `best` are the numbers of the lines that match, `terms` what they match.
    """

    language: str
    start_line: int
    lines: tuple[str, ...]
    best: frozenset[int] = frozenset()
    marks: bool = True
    terms: frozenset[str] = frozenset()


Layout = Iterable[Line | Code]


def search_layout(
    hits: Sequence[Hit],
    *,
    folder: str = "",
    snippets: bool = True,
    explain: bool = False,
    whole: bool = False,
    group: bool = False,
    terms: Collection[str] = (),
) -> Iterator[Line | Code]:
    """Hits, best first. `whole` keeps every line of a snippet, else the best `SNIPPET_LINES` are shown.

    `group` gathers the hits of each file under its name. `terms` are those of the query, to be marked in code.
    """
    if group:
        for number, (path, members) in enumerate(grouped(hits)):
            if number:
                yield Line()
            heading = ((shown_path(path, folder), Role.CITATION), (f"  {_count(len(members), 'hit')}", Role.FAINT))
            yield Line(heading, Target(path, members[0].start_line))
            yield from _hits(members, folder, snippets, explain, whole, frozenset(terms), in_group=True)
    else:
        yield from _hits(hits, folder, snippets, explain, whole, frozenset(terms))


def _hits(
    hits: Sequence[Hit],
    folder: str,
    snippets: bool,
    explain: bool,
    whole: bool,
    terms: frozenset[str],
    in_group: bool = False,
) -> Iterator[Line | Code]:
    for number, hit in enumerate(hits):
        with_code = snippets and bool(hit.snippet.lines)
        if number and (with_code or explain):
            yield Line()
        yield _line_in_group(hit) if in_group else hit_line(hit, folder)
        if hit.copies:
            yield copies_line(hit.copies, folder)
        if explain:
            if hit.reranked is not None:
                yield Line(((f"      {reranked_words(hit)}", Role.FAINT),))
            yield _signals_line(hit)
        if with_code:
            snippet = hit.snippet if whole else best_part(hit.snippet)
            yield _code(hit.language, snippet.start_line, snippet.lines, snippet.best, terms=terms)


def grouped(hits: Iterable[Hit]) -> list[tuple[str, list[Hit]]]:
    """Hits by file: the file of the best hit first, and the best hit of each file first."""
    files: dict[str, list[Hit]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(hit)
    return list(files.items())


def near_misses_layout(result: SearchResult, *, folder: str = "") -> Iterator[Line | Code]:
    """What to say when nothing was found: that, and the nearest declarations, or which filter admits nothing."""
    if result.barred_by:
        for filters in result.barred_by:
            yield plain(_barred(filters, folder))
        if result.near_symbols:
            yield plain(f"Did you mean --symbol {sanitise(' or '.join(result.near_symbols))}?")
        return
    query = " ".join(result.query.split())
    shown = query if len(query) <= LONGEST_QUERY else query[:LONGEST_QUERY].rstrip() + " …"
    yield plain(f"Nothing found for “{sanitise(shown)}”.")
    if result.near_misses:
        yield plain("Nearest, below the threshold:")
    for hit in result.near_misses:
        line = hit_line(hit, folder)
        yield replace(line, spans=(("  ", Role.PLAIN), *line.spans))


def left_out_line(count: int) -> Line:
    """What a search of the index as it is does not show."""
    were = "was" if count == 1 else "were"
    return plain(f"{_count(count, 'changed file')} {were} left out; without --no-update they are searched as they are.")


def best_part(snippet: Snippet, length: int = SNIPPET_LINES) -> Snippet:
    """At most `length` lines of a snippet: those that hold most of its best lines, these in the middle."""
    count = len(snippet.lines)
    if count <= length:
        return snippet
    best = [number - snippet.start_line for number in snippet.best if 0 <= number - snippet.start_line < count]
    starts = range(count - length + 1)

    def fitness(start: int) -> tuple[int, float, int]:
        inside = [line for line in best if start <= line < start + length]
        off_centre = abs(min(inside) + max(inside) - 2 * start - length + 1) if inside else 0
        return len(inside), -off_centre, -start

    start = max(starts, key=fitness)
    first = snippet.start_line + start
    return Snippet(
        first,
        snippet.lines[start : start + length],
        frozenset(number for number in snippet.best if first <= number < first + length),
    )


def vimgrep_line(hit: Hit, *, folder: str = "", null: bool = False) -> str:
    """`path:line:col:text` of the hit's anchor, as it is in the file; `col` counts bytes from 1, as vim does.

    With `null`, the path is as on disk and ends in NUL instead of a colon.
    """
    anchor = hit.anchor or Anchor(hit.start_line, 1, "")
    path = path_from(hit.path, folder) + "\0" if null else shown_path(hit.path, folder) + ":"
    return f"{path}{anchor.line}:{anchor.column}:{sanitise_code(anchor.text)}\n"


def file_list(hits: Sequence[Hit], *, folder: str = "", null: bool = False) -> str:
    """Files that have hits, that of the best hit first, each once; with `null` as on disk, each ended by NUL."""
    paths = dict.fromkeys(hit.path for hit in hits)
    return "".join(path_from(path, folder) + "\0" if null else shown_path(path, folder) + "\n" for path in paths)


def show_layout(shown: Shown, *, folder: str = "") -> Iterator[Line | Code]:
    """A declaration or a line range, with its citation and line numbers."""
    yield _citation_line(shown, folder)
    yield _code(shown.language, shown.start_line, shown.lines, marks=False)


def outline_layout(files: Sequence[FileOutline], *, folder: str = "") -> Iterator[Line | Code]:
    """Declarations per file, indented by nesting, with their lines."""
    for number, file in enumerate(files):
        if number:
            yield Line()
        yield Line(
            (
                (shown_path(file.path, folder), Role.CITATION),
                (f"  {sanitise(file.language) or 'unknown language'}", Role.FAINT),
            ),
            Target(file.path, 1),
        )
        if not file.declarations:
            yield Line((("  no declarations", Role.FAINT),))
        depths: list[int] = []
        for declaration in file.declarations:
            depths.append(depths[declaration.parent] + 1 if declaration.parent >= 0 else 0)
            span = f"{declaration.span.start_line}-{declaration.span.end_line}"
            yield Line(
                (
                    (f"  {span:>11}  {'  ' * depths[-1]}", Role.FAINT),
                    (f"{declaration.kind.value} ", Role.KIND),
                    (sanitise(declaration.symbol), Role.SYMBOL),
                )
            )


def index_layout(report: IndexReport, *, folder: str = "") -> Iterator[Line | Code]:
    """What an index run did, in three lines, then what it skipped."""
    files, declarations = report.files, report.declarations
    commit = report.commit[:12] if report.commit else "no commit yet"
    yield plain(f"Indexed {commit} in {report.seconds:.1f} s")
    yield _field("files", f"{files.total:,} ({files.parsed:,} parsed, {files.reused:,} reused)")
    yield _field(
        "declarations",
        f"{declarations.total:,} ({declarations.embedded:,} embedded, {declarations.reused:,} reused, "
        f"{declarations.moved:,} moved, {declarations.removed:,} removed)",
    )
    yield from _skipped_lines(report.skipped, folder=folder)


def status_layout(status: Status, *, folder: str = "") -> Iterator[Line | Code]:
    """The repository's state, the index's state, and what is not indexed."""
    head = "no commit yet" if status.commit is None else status.commit[:12]
    if status.ref:
        head += f" ({sanitise(status.ref)})"
    yield _field("commit", head + (", uncommitted changes" if status.dirty else ""))
    yield _field("index", _index_state(status))
    for path in status.stale_files[:SKIPPED_SHOWN]:
        yield Line((("                ", Role.PLAIN), (shown_path(path, folder), Role.CITATION)))
    if len(status.stale_files) > SKIPPED_SHOWN:
        yield plain(f"                … and {len(status.stale_files) - SKIPPED_SHOWN:,} more")
    yield _field("files", f"{status.files:,}")
    yield _field("declarations", f"{status.declarations:,} in {status.chunks:,} chunks")
    yield from _skipped_lines(status.skipped, folder=folder)
    yield _field("model", sanitise(status.model))
    yield _field("size", f"{shown_bytes(status.store_bytes)} store, {shown_bytes(status.view_bytes)} view")
    yield _field("location", sanitise(status.location))


def languages_layout(languages: Sequence[LanguageInfo]) -> Iterator[Line | Code]:
    """Two lines for each language: name, names of files, how much is here; and the kinds of its declarations."""
    width = max((len(sanitise(language.name)) for language in languages), default=0)
    for language in languages:
        here = "" if language.files is None else f"  {_count(language.files, 'file')}"
        if language.declarations is not None:
            here += f", {_count(language.declarations, 'declaration')}"
        names = [*language.extensions, *language.filenames[:FILENAMES_SHOWN]]
        if len(language.filenames) > FILENAMES_SHOWN:
            names.append("…")
        yield Line(
            (
                (f"{sanitise(language.name):{width}}", Role.SYMBOL),
                (f"  {sanitise(' '.join(names))}", Role.PLAIN),
                (here, Role.FAINT),
            )
        )
        if language.kinds:
            yield Line(((f"{'':{width}}  {' '.join(language.kinds)}", Role.FAINT),))


def clean_layout(cleaned: Cleaned, *, everything: bool) -> Iterator[Line | Code]:
    """What `clean` removed, or would remove."""
    if cleaned.is_nothing:
        yield plain("Nothing to remove.")
        return
    verb, freed = ("Would remove", "in files") if cleaned.dry_run else ("Removed", "freed")
    counts = (("view", cleaned.views), ("segment", cleaned.segments), ("unit", cleaned.units), ("text", cleaned.texts))
    parts = ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for name, count in counts if count)
    what = "the index" if everything else parts or "old versions"
    yield plain(f"{verb} {what}: {shown_bytes(cleaned.freed_bytes)} {freed}.")


def kept_layout() -> Iterator[Line | Code]:
    """What to say when `clean` was called off."""
    yield plain("Nothing was removed.")


def at_revision(result: SearchResult, revision: str) -> SearchResult:
    """A result whose files are cited in a revision, as `git grep` does: REV:path, from the root."""
    hits, misses = (tuple(hit_at(hit, revision) for hit in hits) for hits in (result.hits, result.near_misses))
    return replace(result, hits=hits, near_misses=misses)


def hit_at(hit: Hit, revision: str) -> Hit:
    """A hit cited in a revision, its copies likewise."""
    copies = tuple(replace(copy, path=f"{revision}:{copy.path}") for copy in hit.copies)
    return replace(hit, path=f"{revision}:{hit.path}", copies=copies)


# --- parts --------------------------------------------------------------------------------------------------


def plain(text: str) -> Line:
    """A line of words that need no colour."""
    return Line(((text, Role.PLAIN),))


def _field(name: str, value: str) -> Line:
    return Line(((f"  {name:<12}  ", Role.FAINT), (value, Role.PLAIN)))


def _citation_line(place: Hit | Shown, folder: str) -> Line:
    citation = f"{shown_path(place.path, folder)}:{place.start_line}-{place.end_line}"
    spans = [(citation, Role.CITATION)]
    if name := place.qualified_name or place.symbol:
        spans.append((f"  {sanitise(name)}", Role.SYMBOL))
    if place.kind is not None and place.kind not in _NO_KIND:
        spans.append((f"  {place.kind.value}", Role.KIND))
    return Line(tuple(spans), Target(place.path, place.start_line))


def filter_flags(filters: Filters, folder: str) -> str:
    """Filters as they can be typed: `-t go --no-tests`; "" for none."""
    flags = [f"-p {shlex.quote(shown_path(path, folder))}" for path in filters.paths]
    flags += [f"-g {shlex.quote(glob)}" for glob in filters.globs]
    flags += [f"-t {language}" for language in filters.languages]
    of_files = [(filters.tests, "--tests", "--no-tests"), (filters.docs, "--docs", "--code")]
    flags += [yes if wanted else no for wanted, yes, no in of_files if wanted is not None]
    flags += [f"--kind {kind.value}" for kind in filters.kinds]
    flags += [f"--symbol {shlex.quote(symbol)}" for symbol in filters.symbols]
    of_history = [("--changed", filters.changed), ("--since", filters.since), ("--until", filters.until)]
    flags += [f"{name} {shlex.quote(value)}" for name, value in of_history if value is not None]
    flags += [f"--author {shlex.quote(pattern)}" for pattern in filters.authors]
    return sanitise(" ".join(flags))


def _barred(filters: Filters, folder: str) -> str:
    """Says that no file, or no declaration, passes the filters."""
    what = "declaration" if filters.kinds or filters.symbols or filters.of_history else "file"
    return f"No {what} passes {filter_flags(filters, folder)}."


def hit_line(hit: Hit, folder: str) -> Line:
    """A hit's citation and its score."""
    line = _citation_line(hit, folder)
    return replace(line, spans=(*line.spans, _score(hit)))


def _line_in_group(hit: Hit) -> Line:
    """The same under the name of its file: lines instead of the whole citation."""
    line = _citation_line(hit, "")
    spans = (("  ", Role.PLAIN), (f"{hit.start_line}-{hit.end_line}", Role.CITATION), *line.spans[1:], _score(hit))
    return replace(line, spans=spans)


def _score(hit: Hit) -> tuple[str, Role]:
    return f"  {hit.score:.2f}", Role.FAINT


def copies_line(copies: Sequence[Copy], folder: str, indent: str = "      ") -> Line:
    """Where else the text of a hit stands."""
    places = [f"{shown_path(copy.path, folder)}:{copy.start_line}-{copy.end_line}" for copy in copies]
    more = f" and {len(places) - COPIES_SHOWN:,} more" if len(places) > COPIES_SHOWN else ""
    also = "a copy" if len(places) == 1 else f"{len(places):,} copies"
    return Line(((f"{indent}{also}: {', '.join(places[:COPIES_SHOWN])}{more}", Role.FAINT),))


def reranked_words(hit: Hit) -> str:
    """What a reranker did to a hit; "" where there was none, or the hit is too far down for it."""
    if hit.reranked is None:
        return ""
    before, score = hit.reranked.rank_before, hit.reranked.score
    if score is None:
        return f"not reranked, kept at {before}: its name is what was asked for"
    moved = f"kept at {before}" if before == hit.rank else f"reranked from {before} to {hit.rank}"
    return f"{moved}, reranker's score {score:.3f}"


def _signals_line(hit: Hit) -> Line:
    strongest_first = sorted(hit.signals.items(), key=lambda signal: -abs(signal[1]))
    signals = "  ".join(f"{sanitise(name)} {value:+.3f}" for name, value in strongest_first)
    return Line(((f"      {signals or 'no signals'}", Role.FAINT),))


def _code(
    language: str,
    start: int,
    lines: Sequence[str],
    best: frozenset[int] = frozenset(),
    *,
    marks: bool = True,
    terms: frozenset[str] = frozenset(),
) -> Code:
    return Code(language, start, tuple(sanitise_code(line) for line in lines), best, marks, terms)


def _index_state(status: Status) -> str:
    if not status.chunks and status.index_commit is None:
        return "none yet; the first search makes one"
    made_at = status.index_commit[:12] if status.index_commit else "before the first commit"
    if status.behind is None and status.index_commit != status.commit:
        state = f"made at {made_at}, which is not an ancestor of this commit"
    elif status.behind:
        state = f"made at {made_at}, {_count(status.behind, 'commit')} behind"
    else:
        state = f"at {made_at}"
    stale = len(status.stale_files)
    return f"{state}; {_count(stale, 'changed file')} read anew at each search" if stale else f"{state}; up to date"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _skipped_lines(skipped: Sequence[Skipped], *, folder: str = "") -> Iterator[Line]:
    if not skipped:
        return
    reasons = Counter(each.reason for each in skipped)
    yield _field("skipped", ", ".join(f"{count:,} {reason.value}" for reason, count in reasons.most_common()))
    for reason, count in reasons.most_common():
        paths = [shown_path(each.path, folder) for each in skipped if each.reason is reason]
        for path in paths[:SKIPPED_SHOWN]:
            yield Line((("                ", Role.PLAIN), (path, Role.CITATION), (f"  {reason.value}", Role.FAINT)))
        if count > SKIPPED_SHOWN:
            more = f"                … and {count - SKIPPED_SHOWN:,} more {reason.value}; --json lists all"
            yield Line(((more, Role.FAINT),))
