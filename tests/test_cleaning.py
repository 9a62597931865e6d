"""What `clean` removes, what it must keep, and what index runs let go of by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write

from codesearch import Engine
from codesearch.results import Cleaned
from codesearch.settings import Settings

PUMP = "def start_pump(pressure):\n    return pressure * 2\n"
VALVE = "def close_valve(turns):\n    return turns - 1\n"
GAUGE = "def read_gauge(dial):\n    return dial + 3\n"


@pytest.fixture
def plant(tmp_path: Path) -> Path:
    """An indexed repository of two files."""
    root = init(tmp_path / "plant", {"pump.py": PUMP, "valve.py": VALVE})
    engine(root).index()
    return root


def engine(root: Path, **settings) -> Engine:
    return Engine.open(root, Settings(**settings))


def units(root: Path) -> int:
    """Rows of the store's units, each there once."""
    store = engine(root)._workshop.store
    keys = [row["key"] for batch in store._stream("units", ["key"]) for row in batch.to_pylist()]
    assert len(keys) == len(set(keys))
    return len(keys)


def forget_in_git(root: Path) -> None:
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")


def first(root: Path, query: str) -> str:
    return engine(root).search(query, limit=1).hits[0].symbol


def test_nothing_is_removed_where_everything_is_used(plant: Path) -> None:
    assert engine(plant).clean(everything=False).units == 0
    assert engine(plant).clean(everything=False).is_nothing
    assert units(plant) == 2


def test_edit_that_git_never_had_is_let_go_and_a_branch_is_kept(plant: Path) -> None:
    git(plant, "switch", "-q", "-c", "other")
    write(plant, {"gauge.py": GAUGE})
    commit(plant)
    engine(plant).index()
    git(plant, "switch", "-q", "main")
    write(plant, {"pump.py": PUMP.replace("2", "22")})
    engine(plant).index()
    write(plant, {"pump.py": PUMP})
    engine(plant).index()
    assert units(plant) == 4

    would = engine(plant).clean(everything=False, dry_run=True)
    assert (would.units, would.texts, would.dry_run, units(plant)) == (1, 1, True, 4)
    did = engine(plant).clean(everything=False)
    assert (did.views, did.segments, did.units, did.texts) == (would.views, would.segments, 1, 1)
    assert did.freed_bytes > 0

    assert units(plant) == 3
    git(plant, "switch", "-q", "other")
    assert engine(plant).index().declarations.embedded == 0
    assert first(plant, "read_gauge") == "read_gauge"


def test_branch_that_git_has_forgotten_is_let_go(plant: Path) -> None:
    git(plant, "switch", "-q", "-c", "other")
    write(plant, {"gauge.py": GAUGE})
    commit(plant)
    engine(plant).index()
    git(plant, "switch", "-q", "main")
    git(plant, "branch", "-q", "-D", "other")
    engine(plant).index()
    assert engine(plant).clean(everything=False).units == 0
    forget_in_git(plant)
    assert engine(plant).clean(everything=False).units == 1
    write(plant, {"gauge.py": GAUGE})
    assert engine(plant).index().declarations.embedded == 1
    assert first(plant, "read_gauge") == "read_gauge"


def test_text_that_another_unit_has_is_kept(plant: Path) -> None:
    write(plant, {"both.py": PUMP + "\n\n" + GAUGE})
    engine(plant).index()
    (plant / "both.py").unlink()
    engine(plant).index()
    cleaned = engine(plant).clean(everything=False)
    assert cleaned.units == 1
    write(plant, {"both.py": PUMP + "\n\n" + GAUGE})
    assert engine(plant).index().declarations.embedded == 1  # read_gauge; start_pump is also in pump.py


def test_what_other_worktrees_show_is_kept_until_they_are_gone(plant: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(plant, "worktree", "add", "-q", "-b", "other", str(other))
    write(other, {"gauge.py": GAUGE})
    engine(other).index()
    assert engine(plant).clean(everything=False).units == 0
    assert engine(other).index().files.reused == 3
    git(plant, "worktree", "remove", "--force", str(other))
    assert engine(plant).clean(everything=False).units == 1


def test_reader_that_is_open_answers_on(plant: Path) -> None:
    reader = engine(plant)
    assert reader.search("start_pump", limit=1).hits[0].symbol == "start_pump"
    write(plant, {"pump.py": PUMP.replace("2", "22")})
    commit(plant)
    engine(plant).index()
    engine(plant).clean(everything=False)
    hit = reader.search("start_pump", limit=1, update=False)
    assert hit.hits == () or hit.hits[0].symbol == "start_pump"
    assert reader.search("start_pump", limit=1).hits[0].symbol == "start_pump"


def test_index_run_collects_by_itself_past_a_size_and_leaves_time_for_readers(plant: Path) -> None:
    write(plant, {"pump.py": PUMP.replace("2", "22")})
    engine(plant).index()
    write(plant, {"pump.py": PUMP})
    engine(plant).index()
    files = len(list((plant / ".git/codesearch/views").iterdir()))
    assert units(plant) == 3
    write(plant, {"valve.py": VALVE.replace("1", "11")})
    engine(plant, max_index_bytes=1).index()
    assert units(plant) == 2  # what the view shows: even git's other versions are let go
    assert len(list((plant / ".git/codesearch/views").iterdir())) == files + 1
    assert first(plant, "start_pump") == "start_pump"
    write(plant, {"valve.py": VALVE.replace("1", "12")})
    engine(plant, max_index_bytes=1).index()
    assert units(plant) == 3  # hardly larger than what was left the last time
    old = time.time() - 7200
    for folder in ("views", "segments"):
        for path in (plant / ".git/codesearch" / folder).iterdir():
            os.utime(path, (old, old))
    (plant / ".git/codesearch/collected.json").unlink()
    engine(plant, max_index_bytes=1).index()
    assert len(list((plant / ".git/codesearch/views").iterdir())) == 1
    assert first(plant, "start_pump") == "start_pump"


def test_damaged_store_is_no_obstacle(plant: Path) -> None:
    for path in (plant / ".git/codesearch/store").rglob("*.lance"):
        if path.is_file():
            path.write_bytes(b"damaged")
    engine(plant).clean(everything=False)
    assert first(plant, "start_pump") == "start_pump"
    engine(plant).index()


def test_dry_run_of_everything_removes_nothing(plant: Path) -> None:
    would = engine(plant).clean(dry_run=True)
    assert (would.views, would.segments, would.dry_run) == (1, 1, True)
    assert engine(plant).has_index()
    assert engine(plant).clean() == Cleaned(would.freed_bytes, 1, 1)
    assert not engine(plant).has_index()
    assert engine(plant).clean(dry_run=True).is_nothing


def test_command_says_what_it_removes(plant: Path) -> None:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "codesearch", "-C", str(plant), "clean", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout

    assert run("--gc").startswith("Removed old versions: ")  # of the store's tables
    assert run("--gc") == "Nothing to remove.\n"
    assert run("--dry-run").startswith("Would remove the index: ")
    assert run().startswith("Removed the index: ")
    assert run("--gc", "--json") == (
        '{"schema": 1, "freed_bytes": 0, "removed": {"views": 0, "segments": 0, "units": 0, "texts": 0}, '
        '"dry_run": false}\n'
    )
