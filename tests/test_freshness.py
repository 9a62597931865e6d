"""Whatever git did, and whether or not a hook ran, the next answer is about the files that are there."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from git_helpers import commit, git, init, write

from codesearch import Engine
from codesearch.errors import RepositoryError
from codesearch.settings import Settings
from codesearch.types import Hit

PUMP = "def start_pump(pressure):\n    return pressure * 2\n"
VALVE = "def close_valve(turns):\n    return turns - 1\n"
EDITED = PUMP.replace("start_pump", "prime_pump")


@pytest.fixture
def plant(tmp_path: Path) -> Path:
    """An indexed repository of two files."""
    root = init(tmp_path / "plant", {"pump.py": PUMP, "lib/valve.py": VALVE})
    engine(root).index()
    return root


def engine(root: Path, home: Path | None = None) -> Engine:
    """A new engine, as a new process has it."""
    return Engine.open(root, Settings(home=home))


def hits(asked: Engine, query: str, **how) -> list[Hit]:
    """Everything that a query finds, apart from how old the index is."""
    return [replace(hit, signals={}) for hit in asked.search(query, min_score=0.0, **how).hits]


def declared(root: Path, **how) -> set[str]:
    """`path:start-end symbol` of every function that the next search can find; it must be what a new index finds."""
    query = "pump valve pressure turns"
    found = hits(engine(root), query, **how)
    with TemporaryDirectory() as home:
        assert found == hits(engine(root, Path(home)), query, **how)
    return {f"{hit.path}:{hit.start_line}-{hit.end_line} {hit.symbol}" for hit in found if hit.symbol}


BOTH = {"pump.py:1-2 start_pump", "lib/valve.py:1-2 close_valve"}
PRIMED = {"pump.py:1-2 prime_pump", "lib/valve.py:1-2 close_valve"}


# --- what no hook sees ---------------------------------------------------------------------------------------


def test_hard_reset_over_commits_and_edits(plant: Path) -> None:
    write(plant, {"pump.py": EDITED, "new.py": "def drain_pump():\n    return 0\n"})
    commit(plant)
    write(plant, {"lib/valve.py": "\n" + VALVE})
    engine(plant).index()
    git(plant, "reset", "-q", "--hard", "HEAD~1")
    assert declared(plant) == BOTH


def test_stash_and_pop_with_untracked_files(plant: Path) -> None:
    write(plant, {"pump.py": EDITED, "new.py": "def drain_pump():\n    return 0\n"})
    engine(plant).index()
    git(plant, "stash", "-q", "--include-untracked")
    assert declared(plant) == BOTH
    git(plant, "stash", "pop", "-q")
    assert declared(plant) == PRIMED | {"new.py:1-2 drain_pump"}


def test_file_checked_out_after_it_was_indexed_dirty(plant: Path) -> None:
    write(plant, {"pump.py": EDITED})
    engine(plant).index()
    git(plant, "checkout", "-q", "pump.py")
    assert declared(plant) == BOTH


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
def test_file_that_git_overlooks(plant: Path, flag: str) -> None:
    git(plant, "update-index", f"--{flag}", "pump.py")
    write(plant, {"pump.py": EDITED})
    assert declared(plant) == PRIMED
    engine(plant).index()
    assert declared(plant) == PRIMED
    write(plant, {"pump.py": PUMP})
    assert declared(plant) == BOTH
    git(plant, "update-index", f"--no-{flag}", "pump.py")
    assert declared(plant) == BOTH


def test_edit_of_the_same_size_within_the_same_second(plant: Path) -> None:
    write(plant, {"pump.py": PUMP.replace("start", "prime")})
    assert declared(plant) == PRIMED
    engine(plant).index()
    write(plant, {"pump.py": PUMP})
    assert declared(plant) == BOTH


@pytest.mark.parametrize("setting", ["true", "input"])
def test_clone_with_line_end_conversion(plant: Path, tmp_path: Path, setting: str) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "-c", f"core.autocrlf={setting}", str(plant), str(clone))
    assert (b"\r\n" in (clone / "pump.py").read_bytes()) == (setting == "true")
    assert declared(clone) == BOTH
    assert engine(clone).status().stale_files == ()
    (clone / "pump.py").write_bytes(EDITED.replace("\n", "\r\n").encode())
    assert declared(clone) == PRIMED
    git(clone, "commit", "-qam", "prime")
    assert declared(clone) == PRIMED
    engine(clone).index()
    assert declared(clone) == PRIMED
    git(clone, "checkout", "-q", "HEAD~1")
    assert declared(clone) == BOTH


def test_line_end_attribute_that_comes_later(plant: Path) -> None:
    write(plant, {".gitattributes": "*.py eol=crlf\n"})
    git(plant, "rm", "-q", "-r", "--cached", ".")
    git(plant, "add", "-A")
    git(plant, "checkout", "-q", "-f", ".")
    commit(plant)
    (plant / "pump.py").unlink()
    git(plant, "checkout", "-q", "pump.py")
    assert b"\r\n" in (plant / "pump.py").read_bytes()
    assert declared(plant) == BOTH


def test_rename_by_case_only(plant: Path) -> None:
    git(plant, "mv", "pump.py", "Pump.py")
    assert declared(plant) == {"Pump.py:1-2 start_pump", "lib/valve.py:1-2 close_valve"}
    engine(plant).index()
    git(plant, "commit", "-qm", "rename")
    git(plant, "mv", "lib", "Lib")
    assert declared(plant) == {"Pump.py:1-2 start_pump", "Lib/valve.py:1-2 close_valve"}


def test_detached_head_and_back(plant: Path) -> None:
    write(plant, {"pump.py": EDITED})
    commit(plant)
    engine(plant).index()
    git(plant, "checkout", "-q", "--detach", "HEAD~1")
    assert declared(plant) == BOTH
    status = engine(plant).status()
    assert (status.ref, status.behind, status.stale_files) == (None, None, ("pump.py",))
    git(plant, "checkout", "-q", "-")
    assert declared(plant) == PRIMED


def test_unborn_branch_first_commit_and_orphan(tmp_path: Path) -> None:
    root = init(tmp_path / "plant")
    write(root, {"pump.py": PUMP})
    assert declared(root) == {"pump.py:1-2 start_pump"}
    git(root, "add", "-A")
    assert declared(root) == {"pump.py:1-2 start_pump"}
    write(root, {"pump.py": EDITED})
    assert declared(root, staged=True) == {"pump.py:1-2 start_pump"}
    commit(root)
    assert declared(root) == {"pump.py:1-2 prime_pump"}
    engine(root).index()
    git(root, "checkout", "-q", "--orphan", "other")
    git(root, "rm", "-q", "-r", "-f", ".")
    write(root, {"valve.py": VALVE})
    assert declared(root) == {"valve.py:1-2 close_valve"}


def test_merge_in_progress_with_conflict_markers(plant: Path) -> None:
    git(plant, "switch", "-q", "-c", "other")
    write(plant, {"pump.py": PUMP.replace("start", "halt")})
    commit(plant)
    git(plant, "switch", "-q", "main")
    write(plant, {"pump.py": EDITED})
    commit(plant)
    engine(plant).index()
    git(plant, "merge", "-q", "other", ok=(1,))
    assert "<<<<<<<" in (plant / "pump.py").read_text()
    found = declared(plant)
    assert "lib/valve.py:1-2 close_valve" in found
    for place in found:  # whatever the parser makes of markers, what is cited holds the name
        path, _, lines = place.split(" ")[0].partition(":")
        first, last = map(int, lines.split("-"))
        assert place.split(" ")[1] in "\n".join((plant / path).read_text().split("\n")[first - 1 : last])
    engine(plant).index()
    git(plant, "merge", "--abort")
    assert declared(plant) == PRIMED


def test_rebase_that_stops_in_the_middle(plant: Path) -> None:
    git(plant, "switch", "-q", "-c", "other")
    write(plant, {"pump.py": PUMP.replace("start", "halt")})
    commit(plant)
    git(plant, "switch", "-q", "main")
    write(plant, {"pump.py": EDITED})
    commit(plant)
    engine(plant).index()
    git(plant, "rebase", "-q", "other", ok=(1,))
    write(plant, {"pump.py": EDITED})
    assert declared(plant) == PRIMED
    git(plant, "rebase", "--abort")
    assert declared(plant) == PRIMED


@pytest.mark.parametrize("place", [".gitignore", "lib/.gitignore", ".git/info/exclude"])
def test_ignore_rule_that_comes_and_goes(plant: Path, place: str) -> None:
    write(plant, {"lib/scratch.py": "def scratch_pump():\n    return 1\n"})
    assert declared(plant) == BOTH | {"lib/scratch.py:1-2 scratch_pump"}
    engine(plant).index()
    write(plant, {place: "scratch.py\n"})
    assert declared(plant) == BOTH
    engine(plant).index()
    (plant / place).unlink()
    assert declared(plant) == BOTH | {"lib/scratch.py:1-2 scratch_pump"}


def test_folder_that_becomes_a_file_and_a_file_that_becomes_a_folder(plant: Path) -> None:
    (plant / "lib/valve.py").unlink()
    (plant / "lib").rmdir()
    (plant / "pump.py").unlink()
    write(plant, {"lib": "the valve is gone\n", "pump.py/start.py": PUMP})
    assert declared(plant) == {"pump.py/start.py:1-2 start_pump"}
    git(plant, "reset", "-q", "--hard")
    git(plant, "clean", "-qfd")
    assert declared(plant) == BOTH


# --- revisions -----------------------------------------------------------------------------------------------


@pytest.fixture
def dated(tmp_path: Path) -> Path:
    """A repository with a commit on each of three days of May 2024, at noon UTC."""
    root = init(tmp_path / "dated")
    for day, name in ((1, "start"), (3, "prime"), (5, "drain")):
        write(root, {"pump.py": PUMP.replace("start", name)})
        git(root, "add", "-A")
        environment = {**os.environ, "GIT_COMMITTER_DATE": f"2024-05-0{day}T12:00:00Z", "TZ": "UTC"}
        subprocess.run(["git", "commit", "-q", "-m", name], cwd=root, env=environment, check=True)
    return root


@pytest.mark.parametrize(
    ("date", "symbol"),
    [
        ("2024-05-01", "start_pump"),
        ("2024-05-02", "start_pump"),
        ("2024-05-03", "prime_pump"),
        ("2024-05-03T11:59:59Z", "start_pump"),
        ("2024-05-03 12:00:01+00:00", "prime_pump"),
        ("yesterday", "drain_pump"),
        ("2 weeks ago", "drain_pump"),
        ("@{yesterday}", "drain_pump"),  # these two by the reflog
        ("@{2024-05-04 10:00:00 +0000}", "prime_pump"),
        ("HEAD~1", "prime_pump"),
    ],
)
def test_revision_may_be_a_date(dated: Path, date: str, symbol: str) -> None:
    result = engine(dated).search("pump", min_score=0.0, at=date)
    assert result.hits[0].symbol == symbol
    shown = engine(dated).show(f"{date}:pump.py:1")
    assert (shown.symbol, shown.path, shown.start_line, shown.end_line) == (symbol, f"{date}:pump.py", 1, 2)
    again = engine(dated).show(f"{result.snapshot.ref}:pump.py#{symbol}")
    assert again.lines == shown.lines


def test_branch_that_is_called_like_a_date_is_the_branch(dated: Path) -> None:
    git(dated, "branch", "yesterday", "HEAD~2")
    assert engine(dated).search("pump", min_score=0.0, at="yesterday").hits[0].symbol == "start_pump"


@pytest.mark.parametrize(
    "date", ["2024-04-30", "2024-13-45", "tea time", "3 weeks", "20240504", "1" * 40, "", "--all", "now"]
)
def test_no_date_or_one_before_the_first_commit_is_an_error(dated: Path, date: str) -> None:
    with pytest.raises(RepositoryError, match=r"unknown revision|no commit before"):
        engine(dated).search("pump", at=date)


def test_revision_is_cited_so_that_show_takes_it(dated: Path) -> None:
    (dated / "inside").mkdir()

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "codesearch", "-C", str(dated / "inside"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    text = run("prime_pump", "--at", "HEAD~1", "--no-snippet", "-k1")
    assert text.split()[0] == "HEAD~1:pump.py:1-2"
    assert run("show", text.split()[0]).splitlines()[1].strip() == "1  def prime_pump(pressure):"
    assert run("prime_pump", "--at", "HEAD~1", "--vimgrep", "-k1") == "HEAD~1:pump.py:1:5:def prime_pump(pressure):\n"
    assert run("prime_pump", "--at", "HEAD~1", "-l", "-k1") == "HEAD~1:pump.py\n"
    commit_id = git(dated, "rev-parse", "--short=12", "HEAD~1")
    assert run("prime_pump", "--at", "2024-05-04", "--no-snippet", "-k1").split()[0] == f"{commit_id}:pump.py:1-2"
    assert '"path": "pump.py"' in run("prime_pump", "--at", "HEAD~1", "--json")
    assert "1  HEAD~1:pump.py:1-2  " in run("explain", "prime_pump", "--at", "HEAD~1")


# --- several at once -----------------------------------------------------------------------------------------


def test_two_worktrees_indexed_at_once_by_processes(plant: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(plant, "worktree", "add", "-q", "-b", "other", str(other))
    write(plant, {f"a{number}.py": f"def start_pump_{number}():\n    return {number}\n" for number in range(40)})
    write(other, {f"b{number}.py": f"def close_valve_{number}():\n    return {number}\n" for number in range(40)})
    write(other, {"pump.py": EDITED})
    running = [
        subprocess.Popen([sys.executable, "-m", "codesearch", "-C", str(root), "index"], stdout=subprocess.DEVNULL)
        for root in (plant, other)
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    assert engine(plant).home == engine(other).home
    for root, primed in ((plant, "start_pump"), (other, "prime_pump")):
        assert engine(root).status().stale_files == ()
        hit = engine(root).search(primed, limit=1).hits[0]
        assert (hit.path, hit.symbol) == ("pump.py", primed)
    counts = engine(plant)._workshop.store.counts()
    assert counts["units"] == 83  # 40 files on each side, pump.py twice, valve.py: no row lost, none twice


def test_objects_collected_while_a_reader_is_open(plant: Path) -> None:
    reader = engine(plant)
    assert hits(reader, "start_pump")[0].symbol == "start_pump"
    write(plant, {"pump.py": EDITED})
    git(plant, "commit", "-q", "-a", "--amend", "-m", "rewritten")
    git(plant, "reflog", "expire", "--expire=now", "--all")
    git(plant, "gc", "-q", "--prune=now")
    # The commit that the view names is gone, and so is the blob that its hits would be read from.
    assert hits(reader, "prime_pump")[0].symbol == "prime_pump"
    assert declared(plant) == PRIMED


def test_revision_whose_objects_are_collected_while_a_reader_is_open(plant: Path) -> None:
    first = git(plant, "rev-parse", "HEAD")
    reader = engine(plant)
    assert hits(reader, "start_pump", at=first)[0].symbol == "start_pump"
    write(plant, {"pump.py": EDITED})
    git(plant, "commit", "-q", "-a", "--amend", "-m", "rewritten")
    git(plant, "reflog", "expire", "--expire=now", "--all")
    git(plant, "gc", "-q", "--prune=now")
    assert "start_pump" not in [hit.symbol for hit in hits(reader, "start_pump", at="HEAD")]
    assert hits(reader, "prime_pump", at="HEAD")[0].symbol == "prime_pump"


def test_index_collected_while_a_reader_is_open(plant: Path) -> None:
    reader = engine(plant)
    before = hits(reader, "start_pump")
    write(plant, {"pump.py": EDITED})
    engine(plant).index()
    engine(plant).clean(everything=False)
    write(plant, {"pump.py": PUMP})
    assert [hit.symbol for hit in hits(reader, "start_pump")] == [hit.symbol for hit in before]


def test_view_that_is_published_while_git_is_asked(plant: Path) -> None:
    """git is asked what changed since the commit of one view, and the answer is laid over the next one."""
    git(plant, "switch", "-q", "-c", "other")
    write(plant, {"pump.py": EDITED})
    commit(plant)
    git(plant, "switch", "-q", "main")
    reader = engine(plant)
    start_changes = reader.repository.start_changes

    def after_another_run(since, known):
        reader.repository.start_changes = start_changes
        git(plant, "switch", "-q", "other")
        engine(plant).index()
        git(plant, "switch", "-q", "main")
        return start_changes(since, known)

    reader.repository.start_changes = after_another_run
    assert [hit.symbol for hit in reader.search("start", limit=1).hits] == ["start_pump"]


def test_searches_while_git_moves(plant: Path) -> None:
    """No hit may cite what was at no moment there."""
    write(plant, {"pump.py": EDITED})
    commit(plant)
    stop = threading.Event()
    failures: list[str] = []

    def move() -> None:
        while not stop.is_set():
            git(plant, "checkout", "-q", "HEAD~1")
            git(plant, "checkout", "-q", "main")

    mover = threading.Thread(target=move)
    mover.start()
    try:
        for _ in range(10):
            for hit in hits(engine(plant), "pump pressure"):
                if hit.path == "pump.py" and (hit.symbol, hit.start_line) not in {("start_pump", 1), ("prime_pump", 1)}:
                    failures.append(str(hit))
    finally:
        stop.set()
        mover.join()
    assert failures == []
    assert declared(plant) == PRIMED
