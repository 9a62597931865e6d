"""A hit as lines of the list, the status line, the chips: what is said where. Everything in them is safe to show."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from codesearch.render.safe import sanitise
from codesearch.tui.look import Look
from codesearch.tui.marking import marked
from codesearch.tui.typed import Chip
from codesearch.types import Hit, Kind, Progress, SnapshotInfo

BAR = 5  # cells; a score is not known more exactly than that
_NO_KIND = frozenset({Kind.REMAINDER, Kind.BLOCK})  # how a file was cut, not what stands there
_KIND_FROM = 38  # columns of a list below which there is no room for kinds, …
_BAR_FROM = 30  # … and for scores


def citation(hit: Hit) -> str:
    """What is copied: `path:start-end`, as it is."""
    return f"{hit.path}:{hit.start_line}-{hit.end_line}"


def line_of(hit: Hit) -> int:
    """The line to jump to: where the name stands, or the best line."""
    return hit.anchor.line if hit.anchor else hit.start_line


def label(hit: Hit) -> str:
    """A hit's name; of lines that have none, the best of them."""
    if name := hit.qualified_name or hit.symbol:
        return name
    best = min(hit.snippet.best, default=hit.snippet.start_line) - hit.snippet.start_line
    lines = hit.snippet.lines
    return lines[best].strip() if 0 <= best < len(lines) else ""


def hit_rows(
    hit: Hit, width: int, look: Look, terms: Sequence[str], *, tall: bool, current: bool, is_marked: bool, near: bool
) -> list[Content]:
    """One hit: two lines if `tall`, else one. `near`: it is only the nearest to a question without an answer."""
    styles, glyphs = look.styles, look.glyphs
    gutter = Content.assemble(
        (glyphs.cursor if current else " ", styles.mark), (glyphs.mark if is_marked else " ", styles.mark)
    )
    right = Content.assemble(
        (f" {hit.kind.value}" if width >= _KIND_FROM and hit.kind not in _NO_KIND else "", styles.kind),
        " ",
        _bar(hit.score, look) if width >= _BAR_FROM else "",
    )
    room = max(width - 2 - right.cell_length, 1)
    said = sanitise(label(hit))
    if hit.symbol and tall:  # the end of a qualified name says more than its beginning
        said = cut_left(said, room, look)
    name = _marked(said, styles.faint if near else styles.symbol, terms, look)
    place = f"{sanitise(hit.path)}:{line_of(hit)}"
    if tall:
        copies = f"  +{len(hit.copies)} alike" if hit.copies else ""
        below = Content.assemble(
            "  ", _marked(cut_left(place, max(width - 3, 1), look), styles.path, terms, look), (copies, styles.faint)
        )
        rows = [gutter + _fit(name, room, look) + right, _fit(below, width, look)]
    else:
        shown = cut_left(place, max(room // 2, room - name.cell_length - 2), look)
        rows = [gutter + _fit(_marked(shown, styles.path, terms, look) + "  " + name, room, look) + right]
    rows = [_fit(row, width, look) for row in rows]
    if current and styles.current == "reverse":  # of several colours, each would become a background of its own
        rows = [Content(row.plain) for row in rows]
    return [row.stylize(styles.current) for row in rows] if current else rows


def _marked(text: str, style: str, terms: Sequence[str], look: Look) -> Content:
    content = Content.styled(text, style)
    for start, end in marked(text, terms):
        content = content.stylize(look.styles.match, start, end)
    return content


def _fit(content: Content, width: int, look: Look) -> Content:
    """Exactly `width` columns wide."""
    if content.cell_length > width > 1:
        return content.truncate(width - 1) + look.glyphs.cut
    return content.truncate(width, pad=True)


def cut_left(text: str, width: int, look: Look) -> str:
    """The end of a text, which says more of a path than its beginning."""
    while len(text) > 1 and Content(text).cell_length > width:
        text = look.glyphs.cut + text[max(2, len(text) - width + 1) :]
    return text


def _bar(score: float, look: Look) -> Content:
    full = max(0, min(BAR, round(score * BAR)))
    glyphs = look.glyphs
    return Content.assemble((glyphs.full * full, look.styles.bar), (glyphs.empty * (BAR - full), look.styles.faint))


def chips_line(chips: Sequence[Chip], completions: Sequence[str], look: Look) -> Content:
    """The filters in force, what is wrong with them, and what the one at the end may become."""
    parts: list[Content | str] = []
    for chip in chips:
        parts += [Content.styled(f" {sanitise(chip.text)} ", look.styles.problem if chip.problem else look.styles.chip)]
        parts += [Content.styled(f" {sanitise(chip.problem)}", look.styles.faint)] if chip.problem else []
        parts += [" "]
    parts += [Content.styled(" ".join(map(sanitise, completions)), look.styles.faint)] if completions else []
    return Content.assemble(*parts)


def snapshot_text(snapshot: SnapshotInfo | None, behind: int | None, look: Look) -> str:
    """Branch, commit, whether there are uncommitted changes, and how far the index is behind."""
    if snapshot is None:
        return ""
    parts = [sanitise(snapshot.ref) if snapshot.ref else "", (snapshot.commit or "no commit yet")[:7]]
    said = " ".join(filter(None, parts))
    notes = ["dirty"] if snapshot.dirty else []
    if behind:
        notes.append(f"index {behind:,} behind")
    return f" {look.glyphs.dot} ".join([said, *notes])


def progress_text(progress: Progress, look: Look) -> str:
    """How far long work is."""
    text = f"{sanitise(progress.stage)} {look.glyphs.dot} "
    if not progress.total:
        return f"{text}{progress.done:,}" if progress.done else text.rstrip(f" {look.glyphs.dot}")
    full = 10 * min(progress.done, progress.total) // progress.total
    return f"{text}{look.glyphs.full * full}{look.glyphs.empty * (10 - full)} {progress.done:,} of {progress.total:,}"
