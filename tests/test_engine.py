"""The door that front ends and library users come in by: what it answers, and from which state of the repository."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write

from codesearch import Engine
from codesearch.errors import LocationError, RepositoryError, UsageError
from codesearch.settings import Settings
from codesearch.types import Filters, Kind, Progress, SnapshotInfo

LAMP = 'def light_lamp(oil):\n    """Sets the wick on fire."""\n    return oil - 1\n'
TEST = "from lamp import light_lamp\n\n\ndef test_light_lamp():\n    assert light_lamp(2) == 1\n"
NOTES = "# Lamps\n\nHow to light a lamp.\n\n## Oil\n\nWhale oil is forbidden.\n"


@pytest.fixture
def lamps(tmp_path: Path) -> Path:
    return init(tmp_path / "lamps", {"src/lamp.py": LAMP, "tests/test_lamp.py": TEST, "notes.md": NOTES})


def engine_of(root: Path, **settings) -> Engine:
    return Engine.open(root, Settings(**settings))


def paths_of(engine: Engine, query: str, **how) -> list[str]:
    return [hit.path for hit in engine.search(query, **how).hits]


# --- which state is answered from ----------------------------------------------------------------------------


def test_first_search_indexes_and_says_what_it_searched(lamps: Path) -> None:
    head = git(lamps, "rev-parse", "HEAD")
    seen: list[Progress] = []
    result = engine_of(lamps).search("light_lamp", progress=seen.append)
    assert result.hits[0].path == "src/lamp.py"
    assert result.hits[0].commit == head
    assert result.snapshot == SnapshotInfo(head, "main", False, head)
    assert {progress.stage for progress in seen} >= {"indexing", "publishing"}


def test_search_from_a_subfolder_searches_the_whole_repository(lamps: Path) -> None:
    assert paths_of(engine_of(lamps / "src"), "whale oil")[0] == "notes.md"


def test_one_engine_sees_edits_commits_and_branches_as_they_happen(lamps: Path) -> None:
    engine = engine_of(lamps)
    assert engine.search("snuff_lamp").hits[:1] == () or engine.search("snuff_lamp").hits[0].symbol != "snuff_lamp"
    write(lamps, {"src/snuff.py": "def snuff_lamp():\n    return 0\n"})
    first = engine.search("snuff_lamp")
    assert (first.hits[0].path, first.snapshot.dirty) == ("src/snuff.py", True)
    head = commit(lamps)
    second = engine.search("snuff_lamp")
    assert (second.hits[0].path, second.snapshot.dirty, second.snapshot.commit) == ("src/snuff.py", False, head)
    assert second.snapshot.index_commit != head
    git(lamps, "switch", "-q", "--detach", "HEAD~1")
    assert "src/snuff.py" not in paths_of(engine, "snuff_lamp")
    engine.index()
    git(lamps, "switch", "-q", "main")
    assert paths_of(engine, "snuff_lamp")[0] == "src/snuff.py"


def test_stash_reset_and_checkout_are_seen(lamps: Path) -> None:
    engine = engine_of(lamps)
    write(lamps, {"src/lamp.py": LAMP.replace("light_lamp", "kindle_lamp")})
    engine.index()
    for act in (["stash"], ["stash", "pop"], ["reset", "-q", "--hard"]):
        git(lamps, *act)
        expected = "kindle_lamp" if "kindle" in (lamps / "src/lamp.py").read_text() else "light_lamp"
        assert engine.search(expected, limit=1, filters=Filters(paths=("src",))).hits[0].symbol == expected


def test_no_update_answers_from_the_index_and_leaves_out_what_is_gone(lamps: Path) -> None:
    engine = engine_of(lamps)
    engine.index()
    write(lamps, {"src/lamp.py": "x = 1\n", "src/new.py": "def trim_wick():\n    return 1\n"})
    (lamps / "notes.md").unlink()
    commit(lamps)
    assert "src/new.py" not in paths_of(engine, "trim_wick", update=False)
    for hit in engine.search("light_lamp", update=False).hits:
        assert hit.path == "tests/test_lamp.py" or hit.commit != git(lamps, "rev-parse", "HEAD")


def test_staged_and_past_states_are_searched_without_the_work_tree(lamps: Path) -> None:
    write(lamps, {"src/lamp.py": LAMP.replace("light_lamp", "kindle_lamp")})
    git(lamps, "add", "-A")
    write(lamps, {"src/lamp.py": LAMP.replace("light_lamp", "burn_lamp")})
    engine = engine_of(lamps)
    only = Filters(paths=("src",))
    assert engine.search("lamp", filters=only).hits[0].symbol == "burn_lamp"
    assert engine.search("lamp", filters=only, staged=True).hits[0].symbol == "kindle_lamp"
    past = engine.search("lamp", filters=only, at="HEAD")
    assert past.hits[0].symbol == "light_lamp"
    assert (past.snapshot.ref, past.snapshot.dirty) == ("HEAD", False)
    git(lamps, "add", "-A")
    assert engine.search("lamp", filters=only, staged=True).hits[0].symbol == "burn_lamp"


def test_bare_repository_is_searched_at_its_head(lamps: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(lamps), "bare.git")
    hit = engine_of(tmp_path / "bare.git").search("light_lamp").hits[0]
    assert (hit.path, hit.start_line, hit.end_line) == ("src/lamp.py", 1, 3)


def test_worktrees_are_answered_each_from_its_own_files(lamps: Path, tmp_path: Path) -> None:
    git(lamps, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    write(tmp_path / "other", {"src/lamp.py": LAMP.replace("light_lamp", "kindle_lamp")})
    one, other = engine_of(lamps), engine_of(tmp_path / "other")
    assert one.home == other.home
    only = Filters(paths=("src",))
    for _ in range(2):
        assert one.search("lamp", filters=only).hits[0].symbol == "light_lamp"
        assert other.search("lamp", filters=only).hits[0].symbol == "kindle_lamp"
        one.index()
        other.index()


def test_two_threads_index_and_search_at_once(lamps: Path) -> None:
    engine_of(lamps).index()
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(3):
                engine = engine_of(lamps)
                assert paths_of(engine, "light_lamp")[0] == "src/lamp.py"
                if number == 0:
                    engine.index()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


# --- filters and limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        (Filters(paths=("src",)), {"src/lamp.py"}),
        (Filters(paths=("src/lamp.py", "notes.md")), {"src/lamp.py", "notes.md"}),
        (Filters(languages=("markdown",)), {"notes.md"}),
        (Filters(tests=True), {"tests/test_lamp.py"}),
        (Filters(tests=False, docs=False), {"src/lamp.py"}),
        (Filters(docs=True), {"notes.md"}),
        (Filters(globs=("*.py", "!test_*")), {"src/lamp.py"}),
        (Filters(kinds=(Kind.SECTION,)), {"notes.md"}),
        (Filters(symbols=("light_lamp",)), {"src/lamp.py"}),
        (Filters(paths=("sr",)), set()),
    ],
)
def test_filter_holds_before_ranking(lamps: Path, filters: Filters, paths: set[str]) -> None:
    engine = engine_of(lamps)
    assert set(paths_of(engine, "light lamp", filters=filters)) == paths
    if paths:
        assert len(engine.search("light lamp", filters=filters, limit=1).hits) == 1


@pytest.mark.parametrize(
    ("filters", "barred_by"),
    [
        (Filters(languages=("go",)), (Filters(languages=("go",)),)),
        (Filters(languages=("go",), globs=("x/*",)), (Filters(languages=("go",)), Filters(globs=("x/*",)))),
        (Filters(languages=("markdown",), tests=True), (Filters(languages=("markdown",), tests=True),)),
        (Filters(languages=("go",), tests=True), (Filters(languages=("go",)),)),
        (Filters(languages=("markdown",)), ()),
    ],
)
def test_filters_that_admit_nothing_are_told_apart(
    lamps: Path, filters: Filters, barred_by: tuple[Filters, ...]
) -> None:
    assert engine_of(lamps).search("light lamp", filters=filters).barred_by == barred_by


def test_symbol_may_be_qualified_and_a_misspelt_one_is_answered_with_the_nearest(tmp_path: Path) -> None:
    wick = "class Wick:\n    def trim(self):\n        return 1\n\n\nclass Oil:\n    def trim(self):\n        return 2\n"
    init(tmp_path, {"wick.py": wick, "notes.md": "# Release 1.2\n\nTrim less.\n"})
    engine = engine_of(tmp_path)

    def found(symbol: str) -> list[str]:
        hits = engine.search("trim", filters=Filters(symbols=(symbol,))).hits
        return sorted(hit.qualified_name for hit in hits)

    assert found("trim") == ["Oil.trim", "Wick.trim"]
    assert found("Wick.trim") == found("wick::trim") == ["Wick.trim"]
    assert found("Release 1.2") == ["Release 1.2"]
    assert found("Lamp.trim") == []
    assert engine.search("trim", filters=Filters(symbols=("Wick.trimm",))).near_symbols == ("trim",)


def test_every_hit_has_an_anchor_that_is_in_the_file(lamps: Path) -> None:
    source = '# light_lamp: see notes\n@lit\n@oiled(light_lamp)\ndef light_lamp(oil):\n    """light_lamp."""\n'
    write(lamps, {"src/lamp.py": source})
    hits = engine_of(lamps).search("light_lamp").hits
    assert len(hits) > 3
    for hit in hits:
        line = (lamps / hit.path).read_text().split("\n")[hit.anchor.line - 1]
        assert hit.anchor.text == line
        assert hit.start_line <= hit.anchor.line <= hit.end_line
    [lamp] = [hit.anchor for hit in hits if hit.symbol == "light_lamp"]
    assert (lamp.line, lamp.column, lamp.text) == (4, 5, "def light_lamp(oil):")


def test_files_that_changed_are_counted_when_the_index_is_not_updated(lamps: Path) -> None:
    engine = engine_of(lamps)
    engine.index()
    assert engine.search("light lamp", update=False).left_out == 0
    write(lamps, {"src/lamp.py": "x = 1\n"})
    assert engine.search("light lamp", update=False).left_out == 1
    assert engine.search("light lamp").left_out == 0


def test_limit_below_one_is_a_mistake(lamps: Path) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        engine_of(lamps).search("lamp", limit=0)


def test_nothing_found_gives_no_hits(lamps: Path) -> None:
    assert engine_of(lamps).search("qzxv wvjkq").hits == ()


def test_excluded_files_are_left_out_also_when_they_are_edited(lamps: Path) -> None:
    everything, less = engine_of(lamps), engine_of(lamps, exclude=("src/*",))
    assert paths_of(everything, "light_lamp")[0] == "src/lamp.py"
    assert "src/lamp.py" not in paths_of(less, "light_lamp")
    write(lamps, {"src/lamp.py": LAMP + "\n"})
    assert "src/lamp.py" not in paths_of(less, "light_lamp")
    assert paths_of(everything, "light_lamp")[0] == "src/lamp.py"


# --- status, outline, show, clean ----------------------------------------------------------------------------


def test_status_shows_index_and_repository_side_by_side(lamps: Path) -> None:
    engine = engine_of(lamps)
    before = engine.status()
    assert (before.index_commit, before.files, before.store_bytes) == (None, 0, 0)
    first = engine.index().commit
    write(lamps, {"src/new.py": "x = 1\n"})
    second = commit(lamps)
    (lamps / "notes.md").unlink()
    after = engine.status()
    assert (after.commit, after.index_commit, after.behind, after.dirty) == (second, first, 1, True)
    assert after.stale_files == ("notes.md", "src/new.py")
    assert after.files == 3
    assert after.store_bytes > 0
    assert after.view_bytes > 0


def test_outline_and_show_cite_the_work_tree(lamps: Path) -> None:
    engine = engine_of(lamps)
    [outline] = engine.outline(["src/lamp.py"])
    assert [(each.symbol, each.span.start_line, each.span.end_line) for each in outline.declarations] == [
        ("light_lamp", 1, 3)
    ]
    write(lamps, {"src/lamp.py": "import os\n\n\n" + LAMP})
    shown = engine.show("src/lamp.py#light_lamp")
    assert (shown.start_line, shown.end_line, shown.lines) == (4, 6, tuple(LAMP.rstrip("\n").split("\n")))
    assert engine.show("HEAD:src/lamp.py:2").start_line == 1
    for nowhere in ("src/lamp.py#no_such", "no/such.py:1", "src/lamp.py:99", "../lamps/../../x:1", "src:1"):
        with pytest.raises((LocationError, UsageError)):
            engine.show(nowhere)


def test_lines_that_are_a_declaration_are_shown_as_one(lamps: Path) -> None:
    engine = engine_of(lamps)
    exact = engine.show("src/lamp.py:1-3")
    assert (exact.qualified_name, exact.kind, exact.signature) == ("light_lamp", Kind.FUNCTION, "def light_lamp(oil):")
    lines = engine.show("src/lamp.py:1-2")
    assert (lines.symbol, lines.qualified_name, lines.kind, lines.signature) == ("", "", None, "")


def test_byte_order_mark_is_not_shown(lamps: Path) -> None:
    write(lamps, {"src/mark.py": b"\xef\xbb\xbf" + LAMP.replace("lamp", "beacon").encode()})
    engine = engine_of(lamps)
    assert engine.show("src/mark.py:1-1").lines == ("def light_beacon(oil):",)
    hit = engine.search("light_beacon", limit=1).hits[0]
    assert (hit.path, hit.snippet.lines[0]) == ("src/mark.py", "def light_beacon(oil):")
    assert (hit.anchor.column, hit.anchor.text) == (5, "def light_beacon(oil):")


def test_files_that_cannot_be_shown_say_why(lamps: Path) -> None:
    write(lamps, {"logo.png": b"\x89PNG\0\0", "large.py": "x = 1\n" * 1000, "wide.txt": "wick".encode("utf-16")})
    for name, target in {"link.py": "src/lamp.py", "broken.py": "gone.py"}.items():
        (lamps / name).symlink_to(target)
    engine = engine_of(lamps, max_file_bytes=4000)
    for path, reason in {
        "logo.png": "logo.png is binary.",
        "wide.txt": "wide.txt is undecodable.",
        "large.py": "large.py is larger than 4,000 bytes.",
        "link.py": "link.py is a symbolic link; they are not followed.",
        "broken.py": "broken.py is a symbolic link; they are not followed.",
        "no/such.py": "There is no file no/such.py.",
        "src": "src is a folder.",
    }.items():
        with pytest.raises(LocationError) as caught:
            engine.show(f"{path}:1")
        assert (caught.value.message, bool(caught.value.hint)) == (reason, True)
        if path != "src":
            with pytest.raises(LocationError, match=re.escape(reason)):
                engine.outline([path])
    assert [each.path for each in engine.outline(["."])] == ["notes.md", "src/lamp.py", "tests/test_lamp.py"]


def test_files_of_a_bare_repository_are_shown_at_its_head(lamps: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(lamps), "bare.git")
    shown = engine_of(tmp_path / "bare.git").show("src/lamp.py:1-3")
    assert (shown.path, shown.qualified_name, shown.end_line) == ("src/lamp.py", "light_lamp", 3)


def test_clean_removes_everything_and_the_next_search_makes_it_again(lamps: Path) -> None:
    engine = engine_of(lamps)
    engine.index()
    assert engine.clean().freed_bytes > 0
    assert [path.name for path in (lamps / ".git/codesearch").iterdir()] in ([], ["lock"])
    assert paths_of(engine, "light_lamp")[0] == "src/lamp.py"
    assert engine_of(lamps, home=lamps.parent / "elsewhere").clean().is_nothing


def test_index_folder_that_cannot_be_made_is_an_error_with_a_hint(lamps: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RepositoryError) as caught:
        engine_of(lamps, home=tmp_path / "file/home").search("lamp")
    assert "CODESEARCH_HOME" in caught.value.hint
