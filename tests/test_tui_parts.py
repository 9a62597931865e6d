"""The pure parts of the picker: what is typed, how editors are called, history, marks, and the thread of the engine."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from codesearch.tui.background import Background
from codesearch.tui.editors import Place, choose, open_command
from codesearch.tui.history import ENTRIES, LONGEST, History
from codesearch.tui.look import theme_for
from codesearch.tui.marking import marked
from codesearch.tui.typed import Chip, Known, completed, completions, read
from codesearch.types import Filters, Kind

KNOWN = Known(
    {"go": "go", "py": "python", "python": "python"},
    ("docs/a.md", "src/net/http.py", "src/net/tls.py", "src/setup.py", "setup.py"),
)


# --- what is typed ---


def test_filters_are_taken_out_of_the_query_and_shown_as_chips() -> None:
    typed = read("retry lang:go,py kind:method failed path:./src/net/ tests:no glob:!*_pb.go symbol:A.b", KNOWN)
    assert typed.query == "retry failed"
    assert typed.filters == Filters(
        paths=("src/net",), languages=("go", "python"), kinds=(Kind.METHOD,), symbols=("A.b",), globs=("!*_pb.go",),
        tests=False,
    )  # fmt: skip
    assert typed.chips[0] == Chip("lang:go,py")
    assert [chip.problem for chip in typed.chips] == [""] * 6


@pytest.mark.parametrize("text", ["std::sort", "http://x", "sort:lang", '"lang:go"', "a:b", "Lang:go", "", "   ", ":"])
def test_what_only_looks_like_a_filter_belongs_to_the_query(text: str) -> None:
    typed = read(text, KNOWN)
    assert (typed.query, typed.filters, typed.chips) == (" ".join(text.split()), Filters(), ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("lang:pyton", "unknown language; python?"), ("lang:zzz", "unknown language"),
        ("kind:methd", "unknown kind; method?"), ("tests:maybe", "tests: yes or no"), ("kind:", ""),
    ],
)  # fmt: skip
def test_a_wrong_or_unfinished_value_restricts_nothing_and_says_so(text: str, problem: str) -> None:
    typed = read(f"retry {text}", KNOWN)
    assert (typed.query, typed.filters) == ("retry", Filters())
    assert typed.chips == (Chip(text, problem),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retry lang:p", ["lang:python"]),
        ("lang:", ["lang:go", "lang:python"]),
        ("lang:go,p", ["lang:go,python"]),
        ("kind:const", ["kind:constructor", "kind:constant"]),
        ("tests:", ["tests:no", "tests:yes"]),
        ("changed:un", ["changed:unstaged"]),
        ("path:s", ["path:src/", "path:setup.py"]),
        ("path:src/", ["path:src/net/", "path:src/setup.py"]),
        ("path:src/net/t", ["path:src/net/tls.py"]),
        ("lang:p ", []),
        ("lang", []),
        ("nothing:x", []),
        ("", []),
    ],
)
def test_the_filter_at_the_end_is_completed(text: str, expected: list[str]) -> None:
    assert completions(text, KNOWN) == expected
    head = text.rpartition(" ")[0]
    assert completed(text, KNOWN) == (f"{head} {expected[0]}".lstrip() if expected else None)


def test_filters_of_history_are_passed_on_as_they_are() -> None:
    filters = read("changed:main..HEAD author:ada since:2.weeks until:2024-01-01 x", KNOWN).filters
    assert filters == Filters(changed="main..HEAD", authors=("ada",), since="2.weeks", until="2024-01-01")


# --- editors ---

ONE = [Place("/r/a.py", 7)]
TWO = [Place("/r/a.py", 7), Place("/r/b c.py", 9)]


@pytest.mark.parametrize(
    ("editor", "one", "two"),
    [
        ("vi", "vi +7 /r/a.py", "vi +7 /r/a.py|/r/b c.py"),
        ("nano", "nano +7 /r/a.py", "nano +7 /r/a.py|+9|/r/b c.py"),
        ("emacs -nw", "emacs -nw +7 /r/a.py", "emacs -nw +7 /r/a.py|+9|/r/b c.py"),
        ("emacsclient -t", "emacsclient -t +7 /r/a.py", "emacsclient -t +7 /r/a.py|+9|/r/b c.py"),
        ("code --wait", "code --wait --goto /r/a.py:7", "code --wait --goto /r/a.py:7|/r/b c.py:9"),
        ("codium", "codium --goto /r/a.py:7", "codium --goto /r/a.py:7|/r/b c.py:9"),
        ("cursor", "cursor --goto /r/a.py:7", "cursor --goto /r/a.py:7|/r/b c.py:9"),
        ("windsurf", "windsurf --goto /r/a.py:7", "windsurf --goto /r/a.py:7|/r/b c.py:9"),
        ("subl", "subl /r/a.py:7", "subl /r/a.py:7|/r/b c.py:9"),
        ("zed", "zed /r/a.py:7", "zed /r/a.py:7|/r/b c.py:9"),
        ("hx", "hx /r/a.py:7", "hx /r/a.py:7|/r/b c.py:9"),
        ("/opt/pycharm.sh", "/opt/pycharm.sh --line 7 /r/a.py", "/opt/pycharm.sh --line 7 /r/a.py|--line|9|/r/b c.py"),
        ("idea64.exe", "idea64.exe --line 7 /r/a.py", "idea64.exe --line 7 /r/a.py|--line|9|/r/b c.py"),
        ("micro", "micro +7 /r/a.py", "micro +7 /r/a.py|/r/b c.py"),
        ("unheard-of", "unheard-of /r/a.py", "unheard-of /r/a.py|/r/b c.py"),
    ],
)
def test_each_editor_is_told_lines_in_its_own_way(editor: str, one: str, two: str) -> None:
    first, *rest = two.split("|")
    assert list(open_command(editor, ONE).words) == one.split(" ")
    assert list(open_command(editor, TWO).words) == [*first.split(" "), *rest]


@pytest.mark.parametrize("editor", ["vim", "nvim -p"])
def test_vim_gets_several_places_as_a_list_of_errors_that_cannot_hold_commands(editor: str) -> None:
    assert open_command(editor, ONE).words == (*editor.split(), "+7", "/r/a.py")
    command = open_command(editor, [*TWO, Place("/r/x|!touch y\n.py", 1)])
    assert command.words == (*editor.split(), "-q")
    assert command.locations == "/r/a.py:7: \n/r/b c.py:9: \n"


def test_editors_with_windows_of_their_own_leave_the_terminal_alone() -> None:
    assert not open_command("code", ONE).in_terminal
    assert not open_command("idea", ONE).in_terminal
    assert open_command("vim", ONE).in_terminal
    assert open_command("'/opt/my editor' -x", ONE).words == ("/opt/my editor", "-x", "/r/a.py")
    with pytest.raises(ValueError, match="No closing quotation"):
        open_command("vim 'oops", ONE)


def test_visual_wins_over_editor_and_both_over_what_is_installed() -> None:
    assert choose({"VISUAL": "code", "EDITOR": "vi"}, lambda name: True) == "code"
    assert choose({"VISUAL": " ", "EDITOR": "vi"}, lambda name: True) == "vi"
    assert choose({}, lambda name: name in ("vi", "nano")) == "vi"
    assert choose({}, lambda name: False) is None


# --- history ---


def test_history_is_kept_between_runs_each_query_once_for_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    for query in ("one", "two", "one"):
        History(path).add(query)
    history = History(path)
    assert [history.older("draft"), history.older("one"), history.older("two")] == ["one", "two", None]
    assert [history.newer(), history.newer(), history.newer()] == ["one", "draft", None]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_history_is_bounded_and_survives_two_runs_at_once_and_damage(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b"\xff\xfe broken\n\x1b]0;title\x07\n" + b"good\n" + b"x" * (LONGEST + 1) + b"\n")
    first, second = History(path), History(path)
    first.add("from the first")
    second.add("from the second")
    second.add("y" * (LONGEST + 1))
    assert [line for line in path.read_text().split("\n") if "from" in line] == ["from the first", "from the second"]
    assert "title" not in path.read_text()
    for number in range(ENTRIES + 5):
        first.add(f"query {number}")
    assert len(path.read_text().splitlines()) == ENTRIES


def test_history_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(tmp_path / "file" / "history")
    history.add("one")
    assert history.older("") == "one"
    assert History(None).older("") is None


# --- marks, themes, the thread ---


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("parseHTTPResponse", ("http",), ["HTTP"]),
        ("retry_upload(upload)", ("upload",), ["upload", "upload"]),
        ("parse_config", ("=parseconfig",), ["parse_config"]),
        ("uploads", ("upload",), []),
        ("größe_ändern", ("größe",), ["größe"]),
        ("anything", (), []),
    ],
)
def test_words_of_the_query_are_marked_inside_identifiers(
    text: str, terms: tuple[str, ...], expected: list[str]
) -> None:
    assert [text[start:end] for start, end in marked(text, terms)] == expected


@pytest.mark.parametrize(
    ("choice", "environment", "expected"),
    [
        ("auto", {"TERM": "xterm-256color"}, "textual-dark"),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "textual-light"),
        ("auto", {"TERM": "xterm", "COLORTERM": "truecolor"}, "textual-dark"),
        ("auto", {"TERM": "linux"}, "ansi-dark"),
        ("auto", {"TERM": "xterm-256color", "NO_COLOR": "1"}, "ansi-dark"),
        ("auto", {"TERM": "xterm-256color", "NO_COLOR": ""}, "textual-dark"),
        ("light", {"TERM": "linux"}, "textual-light"),
        ("ansi", {"COLORFGBG": "0;default;15"}, "ansi-light"),
    ],
)
def test_the_theme_follows_the_terminal(choice: str, environment: dict[str, str], expected: str) -> None:
    assert theme_for(choice, environment) == expected


def test_newer_work_replaces_what_waits_and_stale_answers_are_dropped() -> None:
    delivered = threading.Semaphore(0)
    entered, go_on = threading.Event(), threading.Event()
    waiting: list = []

    def deliver(function) -> None:
        waiting.append(function)
        delivered.release()

    background = Background(deliver)
    answers: list[object] = []
    done: list[str] = []

    def slow() -> str:
        entered.set()
        assert go_on.wait(5)
        done.append("first")
        return "first"

    background.submit("search", slow, answers.append)
    assert entered.wait(5)
    background.submit("search", lambda: done.append("second"), answers.append)
    background.submit("search", lambda: done.append("third") or "third", answers.append)
    background.submit("preview", lambda: 1 // 0, answers.append)
    go_on.set()
    assert delivered.acquire(timeout=5)
    assert delivered.acquire(timeout=5)
    for function in waiting:
        function()
    assert done == ["first", "third"]
    assert answers[0] == "third"
    assert isinstance(answers[1], ZeroDivisionError)
    assert background.stop(5)


def test_long_work_notices_that_nobody_waits_any_more() -> None:
    entered = threading.Event()
    background = Background(lambda function: function())

    def endless() -> None:
        entered.set()
        while True:
            background.check()

    background.submit("chores", endless, lambda _: pytest.fail("nobody asked"))
    assert entered.wait(5)
    assert background.stop(5)
