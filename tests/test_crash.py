"""A process may be killed at any instruction: answers stay right, and the next index run makes everything whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_helpers import commit, init, write

from codesearch import Engine
from codesearch.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent

# Forks one process per line of its input: `index` that kills itself before its n-th step that matters on disk.
# A process that is forked, not started, saves the time to import everything; LanceDB alone cannot be forked.
FORKING = """
import os, signal, sys
from pathlib import Path
import numpy, pyarrow
from codesearch import Engine, indexing
from codesearch.journal import Journal
from codesearch.settings import Settings
from codesearch.store import Store
from codesearch.view.published import ViewFolder

left = 0

def deadly(owner, name):
    step = getattr(owner, name)
    def wrapped(*args, **kwargs):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*args, **kwargs)
    setattr(owner, name, wrapped)

for owner, names in (
    (Path, ("replace",)),
    (Journal, ("remove",)),
    (ViewFolder, ("collect",)),
    (Store, ("_add", "_remember")),
):
    for name in names:
        deadly(owner, name)

for line in sys.stdin:
    left = int(line)
    child = os.fork()
    if child == 0:
        Engine.open(sys.argv[1], Settings()).index()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def invoices(rate: int) -> str:
    return (
        '"""Bills."""\n\n\n'
        "def settle_invoice(amount):\n"
        '    """Pays an invoice with interest."""\n'
        f"    rate = {rate}\n"
        "    return amount * rate\n\n\n"
        "def cancel_invoice(number):\n"
        '    """Takes an invoice back."""\n'
        "    return -number\n"
    )


def assert_right_answers(root: Path, rate: int) -> None:
    """A new engine finds both functions, and cites the lines that stand on disk."""
    engine = Engine.open(root, Settings())
    settle = engine.search("how is an invoice paid with interest", limit=1).hits[0]
    assert (settle.path, settle.start_line, settle.end_line) == ("bills.py", 4, 7)
    assert f"    rate = {rate}" in settle.snippet.lines
    cancel = engine.search("cancel_invoice", limit=1).hits[0]
    assert (cancel.path, cancel.start_line, cancel.end_line) == ("bills.py", 10, 12)


def assert_whole(root: Path) -> None:
    """The store has every unit and chunk that is shown, none of them twice, and nothing waits in the journal."""
    home = root / ".git/codesearch"
    assert list((home / "journal").iterdir()) == []
    engine = Engine.open(root, Settings())
    store, view = engine._workshop.store, engine._views.open("main")
    assert view is not None
    keys = {name: [row["key"] for row in store._table(name).to_arrow().to_pylist()] for name in store.counts()
            if name != "models"}  # fmt: skip
    for name, found in keys.items():
        assert len(found) == len(set(found)), f"{name} has a key twice"
    shown = [(view.segments[int(row["segment"])], int(row["unit"])) for row in view.table.rows]
    assert {segment.units["key"][unit].tobytes().hex() for segment, unit in shown} <= set(keys["units"])
    chunks = set()
    for segment, unit in shown:
        first, count = (int(segment.units[column][unit]) for column in ("first_chunk", "chunks"))
        chunks |= {key.tobytes().hex() for key in segment.chunks["key"][first : first + count]}
    assert chunks <= set(keys["chunks"])
    [vectors] = [name for name in keys if name.startswith("vectors_")]
    assert chunks <= set(keys[vectors])


@pytest.fixture
def killed_before(tmp_path: Path) -> Iterator:
    """`killed_before(n)` runs `index` until its n-th step; False when it came to its end before."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKING, str(tmp_path / "repository")],
        env=os.environ | {"PYTHONPATH": str(PROJECT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as forking:  # fmt: skip

        def run(step: int) -> bool:
            print(step, file=forking.stdin, flush=True)
            code = int(forking.stdout.readline())
            assert code in (0, -signal.SIGKILL)
            return code != 0

        yield run
        forking.stdin.close()


def test_index_killed_before_each_step_on_disk_loses_nothing(tmp_path: Path, killed_before) -> None:
    root = init(tmp_path / "repository", {"bills.py": invoices(0), "notes.md": "# Bills\n\nHow they work.\n"})
    Engine.open(root, Settings()).index()
    step = 0
    while True:
        step += 1
        write(root, {"bills.py": invoices(step)})
        if step % 2:
            commit(root)
        was_killed = killed_before(step)
        assert_right_answers(root, step)
        report = Engine.open(root, Settings()).index()
        assert report.declarations.total == 3
        assert_right_answers(root, step)
        assert_whole(root)
        if not was_killed:
            break
    assert step > 12  # six files replaced, four tables added to, and the steps around them


def test_first_index_killed_before_each_step_is_done_again(tmp_path: Path, killed_before) -> None:
    root = init(tmp_path / "repository", {"bills.py": invoices(1)})
    for step in (1, 4, 7, 10):
        Engine.open(root, Settings()).clean()
        assert killed_before(step)
        assert_right_answers(root, 1)
        Engine.open(root, Settings()).index()
        assert_whole(root)


def test_index_killed_again_and_again_completes_in_the_end(tmp_path: Path, killed_before) -> None:
    root = init(tmp_path / "repository", {"bills.py": invoices(1)})
    for step in (3, 6, 9):
        write(root, {"bills.py": invoices(step)})
        assert killed_before(step)
    assert_right_answers(root, step)
    Engine.open(root, Settings()).index()
    assert_right_answers(root, step)
    assert_whole(root)


def test_command_killed_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    root = init(tmp_path / "repository", {"bills.py": invoices(0)})
    chance = random.Random(20)
    for rate in range(1, 4):
        write(root, {"bills.py": invoices(rate)})
        process = subprocess.Popen(
            [sys.executable, "-m", "codesearch", "index"],
            cwd=root, env=os.environ | {"PYTHONPATH": str(PROJECT)}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(chance.uniform(0.2, 2.5))
        process.kill()
        process.wait()
        assert_right_answers(root, rate)
    Engine.open(root, Settings()).index()
    assert_whole(root)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")
def test_killed_index_leaves_no_workers_behind(tmp_path: Path) -> None:
    # Enough source that workers are started: some 5 MB of functions, none of them like another.
    for number in range(340):
        text = "".join(
            f"def count_{number}_{part}(values):\n    return {number} + sum(values[{part}:])\n\n\n"
            for part in range(220)
        )
        write(tmp_path / "folder", {f"part_{number}.py": text})
    process = subprocess.Popen(
        [sys.executable, "-m", "codesearch", "index"],
        cwd=tmp_path / "folder",
        env=os.environ
        | {"PYTHONPATH": str(PROJECT), "CODESEARCH_HOME": str(tmp_path / "home"), "CODESEARCH_JOBS": "2"},
        stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert _within(60, lambda: len(_workers_of(process.pid)) >= 2), "no workers were started"
    process.kill()
    process.wait()
    assert _within(20, lambda: not _group_members(process.pid)), "workers outlived the process that needs them"


def _within(seconds: float, holds) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


def _workers_of(group: int) -> list[int]:
    return [pid for pid in _group_members(group) if b"codesearch.workers" in _read(f"/proc/{pid}/cmdline")]


def _group_members(group: int) -> list[int]:
    """Processes of a process group; those that are dead and only not waited for are none."""
    members = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            fields = _read(f"/proc/{folder.name}/stat").rpartition(b")")[2].split()
            if fields and fields[0] not in (b"Z", b"X") and int(fields[2]) == group:
                members.append(int(folder.name))
    return members


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:  # it has just ended
        return b""
