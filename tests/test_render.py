"""Rendering: whole expected output, and what a hostile repository cannot do to a terminal."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest

from codesearch.locations import find_anchor
from codesearch.render import documents, text
from codesearch.render.markdown import to_markdown
from codesearch.render.plain import to_plain
from codesearch.render.safe import sanitise, sanitise_code, shown_bytes, shown_path
from codesearch.render.terminal import print_layout
from codesearch.results import DeclarationCounts, FileCounts, FileOutline, IndexReport, LanguageInfo, Shown, Status
from codesearch.types import (
    Anchor,
    Declaration,
    Filters,
    Hit,
    Kind,
    SearchResult,
    Skipped,
    SkipReason,
    SnapshotInfo,
    Snippet,
    Span,
)

HIT = Hit(
    rank=1,
    score=0.8349,
    path="src/upload.py",
    start_line=10,
    end_line=14,
    symbol="retry",
    qualified_name="Uploader.retry",
    kind=Kind.METHOD,
    language="python",
    signature="def retry(self, part)",
    snippet=Snippet(10, ("    @logged", "    def retry(self, part):", "        send(part)"), frozenset({12})),
    commit="c0ffee",
    signals={"dense": 0.25, "symbol": 0.5},
    anchor=Anchor(11, 9, "    def retry(self, part):"),
)
RESULT = SearchResult("retry uploads", SnapshotInfo("c0ffee", "main", False, "c0ffee"), 12.345, (HIT,))

ESCAPE_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def test_hit_as_plain_text() -> None:
    assert to_plain(text.search_layout(RESULT.hits)) == (
        "src/upload.py:10-14  Uploader.retry  method  0.83\n"
        "    10-     @logged\n"
        "    11-     def retry(self, part):\n"
        "    12:         send(part)\n"
    )


def test_hits_without_code_stand_line_below_line() -> None:
    bare = replace(HIT, snippet=Snippet(10, ()))
    line = "src/upload.py:10-14  Uploader.retry  method  0.83\n"
    assert to_plain(text.search_layout((bare, bare))) == line + line
    assert to_plain(text.search_layout((HIT, HIT))).count("\n\n") == 1


def test_signals_are_explained_strongest_first_and_snippets_can_be_left_out() -> None:
    assert to_plain(text.search_layout(RESULT.hits, snippets=False, explain=True)) == (
        "src/upload.py:10-14  Uploader.retry  method  0.83\n      symbol +0.500  dense +0.250\n"
    )


def test_paths_are_shown_from_where_the_user_stands() -> None:
    assert shown_path("src/upload.py", "src") == "upload.py"
    assert shown_path("tests/test_upload.py", "src") == "../tests/test_upload.py"


def test_long_snippet_is_cut_to_the_lines_that_match() -> None:
    snippet = Snippet(100, tuple(f"line {number}" for number in range(100, 140)), frozenset({103, 120, 123}))
    part = text.best_part(snippet, 8)
    assert part.start_line == 118
    assert part.lines[0] == "line 118"
    assert len(part.lines) == 8
    assert part.best == {120, 123}


@pytest.mark.parametrize(("best", "start"), [(frozenset(), 1), (frozenset({1}), 1), (frozenset({20}), 13)])
def test_snippet_part_stays_inside(best: frozenset[int], start: int) -> None:
    snippet = Snippet(1, tuple("x" * 20), best)
    assert text.best_part(snippet, 8).start_line == start
    assert len(text.best_part(snippet, 8).lines) == 8


def test_json_has_exactly_the_keys_of_the_contract() -> None:
    assert json.loads(documents.to_json(documents.search_document(RESULT))) == {
        "schema": 1,
        "query": "retry uploads",
        "snapshot": {"commit": "c0ffee", "ref": "main", "dirty": False, "index_commit": "c0ffee"},
        "took_ms": 12.3,
        "hits": [
            {
                "rank": 1,
                "score": 0.8349,
                "path": "src/upload.py",
                "start_line": 10,
                "end_line": 14,
                "symbol": "retry",
                "qualified_name": "Uploader.retry",
                "kind": "method",
                "language": "python",
                "signature": "def retry(self, part)",
                "snippet": "    @logged\n    def retry(self, part):\n        send(part)",
                "snippet_start_line": 10,
                "commit": "c0ffee",
                "signals": {"dense": 0.25, "symbol": 0.5},
                "copies": [],
            }
        ],
    }


def test_vimgrep_points_at_the_anchor_whatever_snippet_is_shown() -> None:
    assert text.vimgrep_line(HIT) == "src/upload.py:11:9:    def retry(self, part):\n"
    without_snippet = replace(HIT, snippet=Snippet(10, ()))
    assert text.vimgrep_line(without_snippet) == text.vimgrep_line(HIT)


@pytest.mark.parametrize(
    ("lines", "signature", "best", "is_whole", "anchor"),
    [
        # doc comment, attribute and decorator above may name it as well
        (["# see retry", "@retry", "def retry():"], "def retry():", [], True, Anchor(12, 5, "def retry():")),
        (["/// fn retry(): again", "#[retry]", "pub fn retry() {"], "pub fn retry()", [], True,
         Anchor(12, 8, "pub fn retry() {")),
        # a signature over several lines, and one with a comment inside that the signature leaves out
        (["def", "  retry(a,", "    b):"], "def retry(a, b):", [], True, Anchor(11, 3, "  retry(a,")),
        (["fn /* again */ retry() {"], "fn retry()", [], True, Anchor(10, 16, "fn /* again */ retry() {")),
        (["/* é */ func retry() {\r"], "func retry()", [], True, Anchor(10, 15, "/* é */ func retry() {")),
        # a part of it, without the signature: the best line, though another one has the name
        (["  x = 1", "  retry()", "  send()"], "def retry():", [12], False, Anchor(12, 3, "  send()")),
        (["  x = 1"], "def retry():", [], False, Anchor(10, 3, "  x = 1")),
    ],
)  # fmt: skip
def test_anchor_is_the_line_that_has_the_name(
    lines: list[str], signature: str, best: list[int], is_whole: bool, anchor: Anchor
) -> None:
    file = [""] * 9 + lines + ["def retry(): pass"]
    last = 9 + len(lines)
    assert anchor == find_anchor(file, 10, last, symbol="retry", signature=signature, best=best, is_whole=is_whole)


def test_words_for_how_a_file_was_cut_are_no_kind_for_people() -> None:
    for kind in (Kind.REMAINDER, Kind.BLOCK):
        rest = replace(HIT, kind=kind, snippet=Snippet(10, ()))
        assert to_plain(text.search_layout((rest,))) == ("src/upload.py:10-14  Uploader.retry  0.83\n")
        assert documents.hit_document(rest)["kind"] == kind.value


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        (Filters(languages=("go",)), "No file passes -t go."),
        (Filters(globs=("nosuch/*", "!a")), "No file passes -g 'nosuch/*' -g '!a'."),
        (Filters(paths=("src/my docs",)), "No file passes -p 'my docs'."),
        (Filters(tests=True, docs=False), "No file passes --tests --code."),
        (Filters(tests=False, kinds=(Kind.CLASS,)), "No declaration passes --no-tests --kind class."),
        (Filters(symbols=("re\x1btry",)), "No declaration passes --symbol 're\\x1btry'."),
    ],
)
def test_filter_that_admits_nothing_is_said_as_it_is_typed(filters: Filters, said: str) -> None:
    barred = replace(RESULT, hits=(), barred_by=(filters,))
    assert to_plain(text.near_misses_layout(barred, folder="src")) == said + "\n"


def test_near_symbols_are_suggested() -> None:
    barred = replace(RESULT, hits=(), barred_by=(Filters(symbols=("rety",)),), near_symbols=("retry", "entry"))
    assert to_plain(text.near_misses_layout(barred)).splitlines()[-1] == "Did you mean --symbol retry or entry?"


def test_long_query_is_said_back_in_part() -> None:
    result = replace(RESULT, query="where is\n " + "x" * 100, hits=())
    assert to_plain(text.near_misses_layout(result)) == f"Nothing found for “where is {'x' * 71} …”.\n"


def test_file_list_names_each_file_once_best_first() -> None:
    hits = [replace(HIT, path="b.py"), replace(HIT, path="a.py"), replace(HIT, path="b.py")]
    assert text.file_list(hits) == "b.py\na.py\n"


def test_nothing_found_lists_the_nearest() -> None:
    result = replace(RESULT, hits=(), near_misses=(HIT,))
    assert to_plain(text.near_misses_layout(result)) == (
        "Nothing found for “retry uploads”.\n"
        "Nearest, below the threshold:\n"
        "  src/upload.py:10-14  Uploader.retry  method  0.83\n"
    )


# --- hostile text -------------------------------------------------------------------------------------------

HOSTILE = "a\x1b]0;pwned\x07b\x9b31m\u202ec\r\nd\udcff\x7f"


def test_control_characters_become_visible() -> None:
    assert sanitise(HOSTILE) == r"a\x1b]0;pwned\x07b\x9b31m\u202ec\r\nd\xff\x7f"
    assert sanitise("tab\there") == r"tab\there"
    assert sanitise_code("\tif x:\x1b[2J\r\n") == "\tif x:\\x1b[2J"
    assert sanitise("naïve 漢字 🙂") == "naïve 漢字 🙂"


def hostile_hit() -> Hit:
    return replace(
        HIT,
        path=HOSTILE,
        symbol=HOSTILE,
        qualified_name=HOSTILE,
        language=HOSTILE,
        signature=HOSTILE,
        snippet=Snippet(10, (HOSTILE, "ok"), frozenset({10})),
        anchor=Anchor(10, 1, HOSTILE),
        signals={HOSTILE: 1.0},
    )


def test_no_output_carries_a_control_character_of_the_repository() -> None:
    hit = hostile_hit()
    result = SearchResult(HOSTILE, SnapshotInfo(HOSTILE, HOSTILE, True), 1.0, (hit,), (hit,))
    span = Span(0, 1, 1, 1)
    declaration = Declaration(HOSTILE, HOSTILE, Kind.CLASS, HOSTILE, HOSTILE, span)
    skipped = (Skipped(HOSTILE, SkipReason.BINARY, HOSTILE),)
    shown = Shown(HOSTILE, 1, 1, HOSTILE, HOSTILE, Kind.CLASS, HOSTILE, HOSTILE, (HOSTILE,))
    status = Status("a", HOSTILE, True, "b", None, (HOSTILE,), 1, 1, 1, skipped, HOSTILE, 1, 1, location=HOSTILE)
    report = IndexReport("a", FileCounts(), DeclarationCounts(), skipped, 0.1)
    language = LanguageInfo(HOSTILE, (HOSTILE,), (), 1, 1)
    layouts = [
        text.search_layout(result.hits, explain=True),
        text.near_misses_layout(result),
        text.show_layout(shown),
        text.outline_layout([FileOutline(HOSTILE, HOSTILE, (declaration,))]),
        text.status_layout(status),
        text.index_layout(report),
        text.languages_layout([language]),
    ]
    printed = [to_plain(layout) for layout in layouts]
    printed += [text.vimgrep_line(hit), text.file_list([hit]), to_markdown([hit]), to_markdown([hit], group=True)]
    printed += [
        documents.to_json(documents.search_document(result)),
        documents.to_json(documents.outline_document([FileOutline(HOSTILE, HOSTILE, (declaration,))])),
        documents.to_json(documents.status_document(status)),
        documents.to_json(documents.shown_document(shown)),
    ]
    for each in printed:
        assert ESCAPE_IN_TEXT.search(each) is None
        each.encode()  # no lone surrogate is left


# --- colour -------------------------------------------------------------------------------------------------


def in_color(result: SearchResult) -> str:
    stream = io.StringIO()
    print_layout(text.search_layout(result.hits), stream, is_terminal=False)
    return stream.getvalue()


def test_colour_changes_nothing_but_colour() -> None:
    colored = in_color(RESULT)
    assert "\x1b[" in colored
    uncolored = "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", colored).split("\n"))
    assert uncolored == to_plain(text.search_layout(RESULT.hits))


def test_only_colours_reach_a_terminal_from_hostile_code() -> None:
    result = SearchResult("q", SnapshotInfo(None, None, False), 1.0, (hostile_hit(),))
    without_color = re.sub(r"\x1b\[[0-9;]*m", "", in_color(result))
    assert ESCAPE_IN_TEXT.search(without_color) is None


def test_markup_in_code_is_not_interpreted() -> None:
    hit = replace(HIT, symbol="[red]x", qualified_name="[red]x", snippet=Snippet(1, ("a[bold]b = ':smile:'",)))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", in_color(replace(RESULT, hits=(hit,))))
    assert "[red]x" in plain
    assert "a[bold]b = ':smile:'" in plain


def test_blank_lines_at_the_ends_of_a_snippet_keep_their_numbers() -> None:
    hit = replace(HIT, snippet=Snippet(10, ("", "", "x = 1", "", "")))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", in_color(replace(RESULT, hits=(hit,))))
    assert [line.rstrip() for line in plain.splitlines()[1:]] == [
        "    10-", "    11-", "    12- x = 1", "    13-", "    14-",
    ]  # fmt: skip


# --- other values -------------------------------------------------------------------------------------------

CLASS = Declaration("Uploader", "Uploader", Kind.CLASS, "class Uploader", "", Span(0, 90, 1, 9))
METHOD = Declaration("retry", "Uploader.retry", Kind.METHOD, "def retry(self)", "", Span(20, 90, 3, 9), parent=0)
OUTLINE = [FileOutline("src/upload.py", "python", (CLASS, METHOD)), FileOutline("x.py", "python", ())]


def test_outline_is_indented_by_nesting() -> None:
    assert to_plain(text.outline_layout(OUTLINE)) == (
        "src/upload.py  python\n"
        "          1-9  class Uploader\n"
        "          3-9    method retry\n"
        "\n"
        "x.py  python\n"
        "  no declarations\n"
    )


def test_outline_json_names_the_parent_by_its_index() -> None:
    assert documents.outline_document(OUTLINE[:1]) == {
        "schema": 1,
        "files": [
            {
                "path": "src/upload.py",
                "language": "python",
                "declarations": [
                    {
                        "symbol": "Uploader",
                        "qualified_name": "Uploader",
                        "kind": "class",
                        "start_line": 1,
                        "end_line": 9,
                        "signature": "class Uploader",
                        "parent": None,
                    },
                    {
                        "symbol": "retry",
                        "qualified_name": "Uploader.retry",
                        "kind": "method",
                        "start_line": 3,
                        "end_line": 9,
                        "signature": "def retry(self)",
                        "parent": 0,
                    },
                ],
            }
        ],
    }


REPORT = IndexReport(
    "c0ffee0123456789",
    FileCounts(total=1204, parsed=3, reused=1199, skipped=2),
    DeclarationCounts(total=9000, embedded=4, reused=8996, moved=1, removed=2),
    (Skipped("logo.png", SkipReason.BINARY), Skipped("app.min.js", SkipReason.MINIFIED, "one line of 90 kB")),
    1.26,
)


def test_index_report_as_text() -> None:
    assert to_plain(text.index_layout(REPORT)) == (
        "Indexed c0ffee012345 in 1.3 s\n"
        "  files         1,204 (3 parsed, 1,199 reused)\n"
        "  declarations  9,000 (4 embedded, 8,996 reused, 1 moved, 2 removed)\n"
        "  skipped       1 binary, 1 minified\n"
        "                logo.png  binary\n"
        "                app.min.js  minified\n"
    )


def test_index_report_as_json() -> None:
    assert documents.index_document(REPORT) == {
        "schema": 1,
        "commit": "c0ffee0123456789",
        "files": {"total": 1204, "parsed": 3, "reused": 1199, "skipped": 2},
        "declarations": {"total": 9000, "embedded": 4, "reused": 8996, "moved": 1, "removed": 2},
        "skipped": [{"path": "logo.png", "reason": "binary"}, {"path": "app.min.js", "reason": "minified"}],
        "seconds": 1.26,
    }


STATUS = Status(
    commit="c0ffee0123456789",
    ref="main",
    dirty=True,
    index_commit="beef000123456789",
    behind=2,
    stale_files=("a.py", "b.py"),
    files=10,
    declarations=120,
    chunks=150,
    skipped=(),
    model="static-1",
    store_bytes=1_400_000,
    view_bytes=900,
    location="/repo/.git/codesearch",
)


def test_status_as_text() -> None:
    assert to_plain(text.status_layout(STATUS)) == (
        "  commit        c0ffee012345 (main), uncommitted changes\n"
        "  index         made at beef00012345, 2 commits behind; 2 changed files read anew at each search\n"
        "                a.py\n"
        "                b.py\n"
        "  files         10\n"
        "  declarations  120 in 150 chunks\n"
        "  model         static-1\n"
        "  size          1.4 MB store, 900 B view\n"
        "  location      /repo/.git/codesearch\n"
    )


def test_status_json_has_exactly_the_keys_of_the_contract() -> None:
    assert documents.status_document(STATUS) == {
        "schema": 1,
        "commit": "c0ffee0123456789",
        "ref": "main",
        "dirty": True,
        "index_commit": "beef000123456789",
        "behind": 2,
        "files": 10,
        "declarations": 120,
        "chunks": 150,
        "skipped": [],
        "model": "static-1",
        "store_bytes": 1_400_000,
        "view_bytes": 900,
    }


def test_long_lists_of_skipped_files_are_cut_with_a_count() -> None:
    many = tuple(Skipped(f"{number}.png", SkipReason.BINARY) for number in range(8))
    lines = to_plain(text.index_layout(replace(REPORT, skipped=many))).splitlines()
    assert lines[-1].strip() == "… and 3 more binary; --json lists all"


def test_shown_code_is_numbered() -> None:
    shown = Shown("a.py", 9, 10, "f", "C.f", Kind.METHOD, "python", "def f()", ("def f():\r", "\treturn 1\r"))
    assert to_plain(text.show_layout(shown)) == ("a.py:9-10  C.f  method\n     9  def f():\n    10  \treturn 1\n")
    assert documents.shown_document(shown)["text"] == "def f():\n\treturn 1"
    lines = replace(shown, symbol="", qualified_name="", kind=None)
    assert to_plain(text.show_layout(lines)).splitlines()[0] == "a.py:9-10"
    assert documents.shown_document(lines)["kind"] is None


def test_languages_as_a_table() -> None:
    known = [
        LanguageInfo("go", (".go",), (Kind.FUNCTION, Kind.TYPE), 1, 40),
        LanguageInfo("python", (".py", ".pyi"), (), filenames=("SConstruct",)),
        LanguageInfo("text", (".txt",), (Kind.SECTION,), filenames=tuple("ABCDE")),
    ]
    assert to_plain(text.languages_layout(known)) == (
        "go      .go  1 file, 40 declarations\n        function type\npython  .py .pyi SConstruct\n"
        "text    .txt A B C D …\n        section\n"
    )


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 kB"), (2_500_000, "2.5 MB"), (3e9, "3.0 GB")]
)
def test_sizes_for_people(count: int, shown: str) -> None:
    assert shown_bytes(count) == shown
