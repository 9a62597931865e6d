"""The picker, driven key by key over a real index. Pictures of it are compared whole.

After a change that is meant to be seen: UPDATE_SNAPSHOTS=1 python -m pytest tests/test_tui.py, then look at the SVGs.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from git_helpers import git, init, write
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from codesearch import Engine
from codesearch.settings import Settings
from codesearch.tui.app import Picker
from codesearch.tui.hits import Hits
from codesearch.tui.panels import Outline, Panel, Question
from codesearch.tui.preview import Preview
from codesearch.types import Progress

SNAPSHOTS = Path(__file__).parent / "snapshots"
UPLOAD = '''"""Uploads."""


class Uploader:
    """Sends files and tries again."""

    def retry_upload(self, times):
        """Sends again what failed."""
        for attempt in range(times):
            self.send(attempt)
        return times

    def send(self, part):
        """Sends one part."""
        return part
'''
CACHE = '''def retry_download(times):
    """Fetches again what failed."""
    return times


def evict(cache, größe):
    """Throws the oldest entries out — 古い項目 — until the rest fits."""
    while len(cache) > größe:
        cache.pop()
'''
EVIL = 'def evil_title():\n    """Retitles \x1b]0;owned\x07 the \x1b[31mwindow\x9b2J\u202e."""\n    return "\x1b[2J"\n'
TEST = 'def test_retry_upload():\n    """Retries an upload."""\n    assert retry_upload(1) == 1\n'
FILES = {
    "src/upload.py": UPLOAD,
    "src/cache.py": CACHE,
    "src/evil\x1b[2J.py": EVIL,
    "lib/retry.go": "package lib\n\n// RetryUpload sends again.\nfunc RetryUpload(n int) int {\n\treturn n\n}\n",
    "tests/test_upload.py": TEST,
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    """A small repository with an index, to read from only."""
    root = init(tmp_path_factory.mktemp("tui") / "repository", dict(FILES))
    Engine.open(root, Settings()).search("evict")  # makes the index; writing the store as well would take seconds
    return root


@pytest.fixture
def repository(indexed: Path, tmp_path: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(indexed, tmp_path / "repository"))


Steps = Callable[[Picker, Pilot], Awaitable[None]]


def drive(
    root: Path,
    steps: Steps,
    *,
    size: tuple[int, int] = (120, 30),
    theme: str = "textual-dark",
    encoding: str = "utf-8",
    query: str = "",
    history: Path | None = None,
) -> Picker:
    """Runs the picker on a repository, and gives it back when the steps are done."""
    picker = Picker(lambda: Engine.open(root, Settings()), theme=theme, encoding=encoding, query=query, history=history)

    async def run() -> None:
        async with picker.run_test(size=size) as pilot:
            await steps(picker, pilot)

    try:
        asyncio.run(run())
    finally:
        assert picker.stop()
    return picker


async def until(pilot: Pilot, condition: Callable[[], object]) -> None:
    """Waits for what another thread brings about."""
    end = time.monotonic() + 20
    while True:
        with suppress(Exception):  # a widget may not be there yet
            if condition():
                break
        assert time.monotonic() < end, "waited in vain"
        await pilot.pause(0.02)
    await pilot.pause()


async def type_query(picker: Picker, pilot: Pilot, text: str) -> None:
    """Types a query and waits for its hits and for the preview."""
    field = picker.screen.query_one(Input)
    field.value = text
    field.cursor_position = len(text)
    await until(pilot, lambda: picker._result is not None and picker._result.query == picker._asked.query)
    await until(pilot, lambda: not hits(picker).hits or preview(picker).spot is not None)


def hits(picker: Picker) -> Hits:
    return picker.screen_stack[0].query_one(Hits)


def preview(picker: Picker) -> Preview:
    return picker.screen_stack[0].query_one(Preview)


def names(picker: Picker) -> list[str]:
    return [hit.qualified_name for hit in hits(picker).hits]


def text_of(picker: Picker, selector: str) -> str:
    return str(picker.screen_stack[0].query_one(selector, Static).content)


def notices(picker: Picker) -> str:
    return "\n".join(notice.message for notice in picker._notifications)


# --- typing ---


def test_typing_shows_hits_and_the_first_one_in_its_file(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await pilot.press(*"retry upload".replace(" ", "_"))
        await until(pilot, lambda: "Uploader.retry_upload" in names(picker))
        await until(pilot, lambda: preview(picker).spot is not None)
        rows = hits(picker).render().plain
        assert "Uploader.retry_upload" in rows
        assert "src/upload.py:7" in rows
        assert "method" in rows
        shown = preview(picker).render().plain
        assert "src/upload.py:7-11" in shown
        assert " 7▎    def retry_upload(self, times):" in shown
        assert "13     def send(self, part):" in shown
        assert re.fullmatch(r"main [0-9a-f]{7}", text_of(picker, "#state"))
        assert re.fullmatch(r"\d+ hits, \d+ ms", text_of(picker, "#status"))

    drive(indexed, steps)


def test_a_query_of_the_command_line_is_asked_at_once(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await until(pilot, lambda: names(picker)[0] == "evict")
        await pilot.press("x")
        assert picker.screen.query_one(Input).value == "evictx"

    drive(indexed, steps, query="evict")


def test_arrows_and_pages_and_the_wheel_move_the_cursor_and_the_preview_follows(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry upload")
        order = names(picker)
        assert len(order) > 2
        await pilot.press("down")
        assert hits(picker).current.qualified_name == order[1]
        await until(pilot, lambda: preview(picker).spot.path == hits(picker).current.path)
        await pilot.press("up", "up")
        assert hits(picker).current.qualified_name == order[0]
        await pilot.press("pagedown")
        assert hits(picker).current.qualified_name == order[-1]
        await pilot.press("pageup")
        assert hits(picker).current.qualified_name == order[0]
        await pilot.click(Hits, offset=(3, 2))  # the second hit's first line
        assert hits(picker).current.qualified_name == order[1]
        hits(picker).on_mouse_scroll_up()
        assert hits(picker).current.qualified_name == order[0]

    drive(indexed, steps)


def test_a_query_without_an_answer_says_so_and_shows_the_nearest(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "quantum chromodynamics retry lattice gauge")
        shown = hits(picker).render().plain
        assert "Nothing found for “quantum chromodynamics retry lattice gauge”." in shown
        assert "Nearest:" in shown
        assert "retry" in shown
        assert text_of(picker, "#status").startswith("0 hits")
        picker.screen.query_one(Input).value = ""
        await until(pilot, lambda: "Type to search" in hits(picker).render().plain)

    drive(indexed, steps)


def test_an_answer_to_an_earlier_query_is_dropped_and_the_last_list_stays_meanwhile(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "evict")
        assert names(picker)[0] == "evict"
        search = picker.service.search

        def slow(asked):
            time.sleep(0.2)
            return search(asked)

        picker.service.search = slow
        field = picker.screen.query_one(Input)
        field.value = "retry_download"
        await pilot.pause(0.05)
        assert names(picker)[0] == "evict"
        field.value = "send"
        shown: list[str] = []
        await until(pilot, lambda: shown.append(picker._result.query) or picker._result.query == "send")
        assert "retry_download" not in shown

    drive(indexed, steps)


def test_filters_show_as_chips_complete_with_the_right_arrow_and_restrict_hits(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await until(pilot, lambda: picker._known.languages)
        await type_query(picker, pilot, "retry upload lang:py")
        assert "lang:py" in text_of(picker, "#chips")
        assert {hit.language for hit in hits(picker).hits} == {"python"}
        await type_query(picker, pilot, "retry upload lang:g")
        assert "unknown language" in text_of(picker, "#chips")
        assert "lang:go" in text_of(picker, "#chips")
        await until(pilot, lambda: picker.screen.query_one(Input)._suggestion)
        await pilot.press("right")
        await until(pilot, lambda: {hit.language for hit in hits(picker).hits} == {"go"})
        assert picker.screen.query_one(Input).value == "retry upload lang:go"
        await type_query(picker, pilot, "retry upload tests:no path:src")
        assert all(hit.path.startswith("src/") for hit in hits(picker).hits)
        await type_query(picker, pilot, "retry upload path:nowhere")
        assert "No file passes" in hits(picker).render().plain

    drive(indexed, steps)


def test_what_changed_can_be_asked_for_and_an_unfinished_revision_is_only_remarked(repository: Path) -> None:
    write(repository, {"src/cache.py": CACHE.replace("cache.pop()", "cache.popitem()")})

    async def steps(picker: Picker, pilot: Pilot) -> None:
        await until(pilot, lambda: picker._is_ready)
        picker._ask_again()
        await type_query(picker, pilot, "until the rest fits changed:unstaged")
        await until(pilot, lambda: names(picker) == ["evict"])
        picker.screen.query_one(Input).value = "until the rest fits changed:HEA"
        await until(pilot, lambda: "HEA" in text_of(picker, "#status"))
        assert names(picker) == ["evict"]
        assert not notices(picker)

    drive(repository, steps)


def test_tab_changes_by_what_hits_are_found(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "rtryup")
        seen = []
        for key in ("tab", "tab", "tab", "shift+tab", "tab"):
            await pilot.press(key)
            seen.append(text_of(picker, "#mode"))
        assert seen == ["keyword> ", "meaning> ", "symbol> ", "meaning> ", "symbol> "]
        await until(pilot, lambda: "RetryUpload" in names(picker))
        assert "Uploader.retry_upload" in names(picker)
        assert "evict" not in names(picker)  # it has not got these letters
        await pilot.press("tab")
        assert text_of(picker, "#mode") == "hybrid> "

    drive(indexed, steps)


def test_earlier_queries_come_back_in_the_next_run(indexed: Path, tmp_path: Path) -> None:
    history = tmp_path / "history"

    async def first(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "evict")
        await pilot.press("escape")

    async def second(picker: Picker, pilot: Pilot) -> None:
        field = picker.screen.query_one(Input)
        await pilot.press("s", "ctrl+up")
        assert field.value == "evict"
        await pilot.press("ctrl+up")
        assert field.value == "evict"
        await pilot.press("ctrl+down")
        assert field.value == "s"

    drive(indexed, first, history=history)
    drive(indexed, second, history=history)


# --- what can be done with hits ---


def fake_editor(folder: Path, code: int = 0) -> tuple[Path, Path]:
    """A program that writes its arguments down, and where it does."""
    log, program = folder / "arguments", folder / "editor"
    program.write_text(f'#!/bin/sh\nfor word; do echo "$word" >> {log}; done\nexit {code}\n')
    program.chmod(0o755)
    return program, log


def test_enter_opens_the_hit_in_the_editor_and_comes_back_to_the_same_state(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, log = fake_editor(tmp_path)
    shutil.copy(tmp_path / "editor", tmp_path / "nano")
    monkeypatch.setenv("VISUAL", f"{tmp_path}/nano")

    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry upload")
        before = names(picker)
        await pilot.press("down", "enter")
        place = hits(picker).current
        assert log.read_text() == f"+{place.anchor.line}\n{indexed}/{place.path}\n"
        log.unlink()
        await pilot.press("ctrl+t", "ctrl+t", "enter")
        lines = log.read_text().splitlines()
        assert lines[1::2] == [f"{indexed}/{hit.path}" for hit in hits(picker).marks.values()]
        assert len(lines) == 4
        assert names(picker) == before
        assert "2 marked" in text_of(picker, "#status")
        await pilot.press("escape")
        assert not hits(picker).marks

    drive(indexed, steps)


@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("/does/not/exist", "The editor /does/not/exist is not there."),
        ("'oops", "cannot be understood"),
        ("{failing}", "ended with 3"),
        ("{folder}", "is not there"),
    ],
)
def test_a_broken_editor_is_a_notice_not_a_crash(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, said: str
) -> None:
    failing, _ = fake_editor(tmp_path, code=3)
    monkeypatch.setenv("VISUAL", editor.format(failing=failing, folder=tmp_path))

    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "evict")
        await pilot.press("enter")
        assert said in notices(picker)
        await type_query(picker, pilot, "retry_upload")
        assert "Uploader.retry_upload" in names(picker)

    drive(indexed, steps)


def test_citation_and_code_go_to_the_clipboard(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry_download")
        await pilot.press("ctrl+y")
        assert picker.clipboard == "src/cache.py:1-3"
        await pilot.press("ctrl+o")
        await until(pilot, lambda: picker.clipboard == CACHE.partition("\n\n\n")[0])

    drive(indexed, steps)


def test_what_is_around_a_method_is_one_key_away(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry_upload kind:method")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: preview(picker).spot.name == "Uploader")
        assert "src/upload.py:4-15  Uploader" in preview(picker).render().plain
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "No declaration is around it." in notices(picker))

    drive(indexed, steps)


def test_the_outline_leads_to_another_declaration_of_the_file(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry_upload kind:method")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(picker.screen, Outline))
        options = picker.screen.query_one(OptionList)
        assert options.option_count == 3
        assert options.highlighted == 1
        await pilot.press("down", "enter")
        await until(pilot, lambda: preview(picker).spot.name == "Uploader.send")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(picker.screen, Outline))
        await pilot.press("escape")
        assert len(picker.screen_stack) == 1

    drive(indexed, steps)


def test_similar_declarations_take_the_lists_place_until_escape(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry_download")
        before = names(picker)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Like retry_download" in hits(picker).render().plain)
        assert "retry_download" not in names(picker)
        assert names(picker)
        await pilot.press("escape")
        assert names(picker) == before
        assert hits(picker).current.qualified_name == "retry_download"
        assert picker.is_running

    drive(indexed, steps)


def test_why_a_hit_is_here_is_said_by_its_signals(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry_upload")
        for mode, said in (("hybrid", "exact_name"), ("keyword", "keyword  ")):
            await pilot.press("ctrl+x")
            await until(pilot, lambda: isinstance(picker.screen, Panel))
            assert said in str(picker.screen.query_one("#text", Static).content), mode
            await pilot.press("escape")
            if mode == "hybrid":
                await pilot.press("tab")
                await until(pilot, lambda: picker._result.hits[0].signals.keys() == {"keyword"})

    drive(indexed, steps)


def test_help_opens_on_a_question_mark_only_where_nothing_is_typed(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await pilot.press("question_mark")
        assert isinstance(picker.screen, Panel)
        assert "Ctrl-T" in str(picker.screen.query_one("#text", Static).content)
        await pilot.press("down", "pagedown", "escape", "a", "question_mark")
        assert len(picker.screen_stack) == 1
        assert picker.screen.query_one(Input).value == "a?"
        await pilot.press("f1")
        assert isinstance(picker.screen, Panel)

    drive(indexed, steps)


def test_the_preview_scrolls_and_can_be_hidden(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry_upload kind:method")
        top = preview(picker).render().plain.split("\n")[1]
        await pilot.press("shift+up")
        assert preview(picker).render().plain.split("\n")[1] != top
        await pilot.press("shift+down")
        await pilot.press("f2")
        assert not preview(picker).display
        await pilot.press("f2")
        assert preview(picker).display

    drive(indexed, steps, size=(120, 12))


# --- leaving ---


@pytest.mark.parametrize("query", ["", "evict"])
@pytest.mark.parametrize(("key", "code"), [("escape", 0), ("ctrl+c", 130)])
def test_escape_and_ctrl_c_leave(indexed: Path, query: str, key: str, code: int) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        if query:
            await type_query(picker, pilot, query)
        await pilot.press(key)

    assert drive(indexed, steps).return_code == code


def test_ctrl_c_leaves_from_a_panel_as_well(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await pilot.press("f1", "ctrl+c")

    assert drive(indexed, steps).return_code == 130


# --- what changes under it ---


def test_edits_and_commits_show_once_the_hands_rest(repository: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "defrost")
        assert names(picker) == [] or "defrost_peas" not in names(picker)
        write(repository, {"src/kitchen.py": "def defrost_peas():\n    return None\n"})
        picker._ask_again()
        await until(pilot, lambda: "defrost_peas" in names(picker))
        assert "dirty" in text_of(picker, "#state")
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "peas")
        picker._ask_again()
        await until(pilot, lambda: "index 1 behind" in text_of(picker, "#state"))

    drive(repository, steps)


def test_looking_again_moves_neither_the_cursor_nor_the_preview(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry upload")
        await pilot.press("down", "down", "shift+down")
        await until(pilot, lambda: preview(picker).spot.path == hits(picker).current.path)
        await pilot.press("shift+up")
        before = (hits(picker).render(), preview(picker).render())
        picker._show_result(keep=True)
        await pilot.pause(0.1)
        assert (hits(picker).render(), preview(picker).render()) == before

    drive(indexed, steps)


def test_hits_that_vanish_leave_an_empty_list(repository: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "evict path:src/cache.py")
        assert names(picker)[0] == "evict"
        (repository / "src/cache.py").unlink()
        picker._ask_again()
        await until(pilot, lambda: not names(picker))
        await pilot.press(
            "down", "enter", "ctrl+t", "ctrl+y", "ctrl+o", "ctrl+g", "ctrl+l", "ctrl+s", "ctrl+x", "pagedown"
        )
        await pilot.pause(0.1)
        assert picker.is_running
        assert "No file passes" in hits(picker).render().plain

    drive(repository, steps)


def test_a_file_that_is_deleted_while_it_is_looked_at_is_said_to_be_gone(repository: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry")
        target = next(index for index, hit in enumerate(hits(picker).hits) if hit.path == "src/cache.py")
        (repository / "src/cache.py").unlink()
        hits(picker).move(target)
        await until(pilot, lambda: "There is no file src/cache.py." in preview(picker).render().plain)
        await pilot.press("ctrl+l", "ctrl+o", "ctrl+g")
        assert picker.is_running

    drive(repository, steps)


def test_a_repository_without_an_index_is_indexed_while_one_can_type(repository: Path) -> None:
    shutil.rmtree(repository / ".git" / "codesearch")
    stages: list[str] = []

    async def steps(picker: Picker, pilot: Pilot) -> None:
        say = picker._say
        picker._say = lambda text: stages.append(text) or say(text)
        picker._progress(Progress("parsing", 1, 2))
        await pilot.press(*"evict")
        await until(pilot, lambda: names(picker)[0] == "evict")

    drive(repository, steps)
    assert any("1 of 2" in stage for stage in stages)


def test_leaving_in_the_middle_of_indexing_ends_it(repository: Path) -> None:
    shutil.rmtree(repository / ".git" / "codesearch")

    async def steps(picker: Picker, pilot: Pilot) -> None:
        await pilot.press("ctrl+c")

    assert drive(repository, steps).return_code == 130
    assert Engine.open(repository, Settings()).search("evict").hits


def test_a_bare_repository_is_searched_at_its_head_and_has_no_files_to_open(indexed: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(indexed), "bare.git")

    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "evict kind:function")
        assert "def evict(cache, größe):" in preview(picker).render().plain
        await pilot.press("enter")
        assert "A bare repository has no files to open." in notices(picker)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: len(picker._notifications) > 1 or isinstance(picker.screen, Outline))

    drive(tmp_path / "bare.git", steps)


def test_a_plain_folder_is_indexed_only_after_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plain"
    write(folder, {"a.py": "def lonely():\n    return 1\n"})

    async def refuse(picker: Picker, pilot: Pilot) -> None:
        await until(pilot, lambda: isinstance(picker.screen, Question))
        await pilot.press("n")

    async def agree(picker: Picker, pilot: Pilot) -> None:
        await until(pilot, lambda: isinstance(picker.screen, Question))
        await pilot.press("y")
        await type_query(picker, pilot, "lonely")
        assert names(picker)[0] == "lonely"

    assert drive(folder, refuse).return_code == 0
    assert not Engine.open(folder, Settings()).has_index()
    drive(folder, agree)


def test_an_engine_that_cannot_be_opened_ends_the_picker_with_its_error() -> None:
    def fail() -> Engine:
        raise ValueError("no engine")

    picker = Picker(fail, theme="textual-dark", encoding="utf-8", query="", history=None)

    async def run() -> None:
        async with picker.run_test() as pilot:
            await until(pilot, lambda: picker.failure)

    asyncio.run(run())
    assert str(picker.failure) == "no engine"


# --- what terminals can show ---


def test_control_characters_are_shown_and_never_obeyed(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "evil_title")
        picture = picker.export_screenshot()
        assert r"src/evil\x1b[2J.py" in hits(picker).render().plain
        shown = preview(picker).render().plain
        assert r"Retitles \x1b]0;owned\x07 the \x1b[31mwindow\x9b2J\u202e." in shown
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown + picture)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(picker.screen, Outline))
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", picker.export_screenshot())

    drive(indexed, steps)


def test_a_terminal_without_unicode_gets_what_it_can_show(indexed: Path) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "evict kind:function")
        lines = [line.text for line in picker.screen._compositor.render_strips()]
        assert any("evict(cache, größe)" in line for line in lines)
        assert any("entries out ? ???????? ? until" in line for line in lines)
        for line in lines:
            line.encode("latin-1")

    drive(indexed, steps, encoding="latin-1")


@pytest.mark.parametrize("size", [(20, 6), (20, 40), (60, 15), (250, 70), (1, 1), (5, 3)])
def test_any_size_of_terminal_will_do_and_may_change(indexed: Path, size: tuple[int, int]) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry upload")
        assert len(names(picker)) > 2
        if size >= (20, 6):
            assert "ad.py:7" in hits(picker).render().plain
        await pilot.resize_terminal(120, 30)
        await pilot.pause()
        assert picker.screen_stack[0].has_class("wide")
        assert "src/upload.py:7" in hits(picker).render().plain
        await pilot.resize_terminal(*size)
        await pilot.pause()
        assert picker.screen_stack[0].has_class("wide") == (size[0] >= 100)

    drive(indexed, steps, size=size)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
@pytest.mark.parametrize("size", [(60, 15), (100, 30), (160, 45)])
def test_it_looks_as_it_did(indexed: Path, theme: str, size: tuple[int, int]) -> None:
    async def steps(picker: Picker, pilot: Pilot) -> None:
        picker.screen.query_one(Input).cursor_blink = False
        await type_query(picker, pilot, "retry upload tests:no")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: preview(picker).spot.path == hits(picker).current.path)
        picker._say("1 marked")  # without the time that it took
        await pilot.pause()
        compare_picture(picker.export_screenshot(title="codesearch"), f"{theme}-{size[0]}x{size[1]}")

    drive(indexed, steps, size=size, theme=theme)


@pytest.mark.parametrize(("theme", "no_color"), [("ansi-dark", False), ("ansi-dark", True)])
def test_sixteen_colours_and_none(indexed: Path, monkeypatch: pytest.MonkeyPatch, theme: str, no_color: bool) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")

    async def steps(picker: Picker, pilot: Pilot) -> None:
        await type_query(picker, pilot, "retry upload")
        strips = picker.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
        colours = {style.color for style in styles if style.color is not None}
        assert all(colour.triplet is None for colour in colours)
        assert any(colour.number is not None for colour in colours) != no_color

    drive(indexed, steps, theme=theme)


def compare_picture(svg: str, name: str) -> None:
    """Compares with the picture that is kept; the new one is written beside it where they differ."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    kept = SNAPSHOTS / f"{name}.svg"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOTS.mkdir(exist_ok=True)
        kept.write_text(svg, "utf-8")
    if kept.read_text("utf-8") != svg:
        new = kept.with_suffix(".new.svg")
        new.write_text(svg, "utf-8")
        pytest.fail(f"{kept} shows what was; {new} what is. UPDATE_SNAPSHOTS=1 keeps the new ones.")
