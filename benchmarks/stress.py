"""Eight processes on one clone: index, search, hooks, garbage collection, checkout. Counts everything that is wrong.

    python benchmarks/stress.py [--seconds 300]

Two processes index and three search (a long-lived engine, a new engine each time, the command with --at); one checks
out branches and edits files; one commits in a linked worktree, where hooks start index runs in the background; one
collects garbage, in the index and in git. A hit is right when its lines are those of its function in some version of
the file. In the end one more index run must agree with an index from scratch, every unit that a view shows must be in
the store with all its texts and vectors, and no row may be there twice. Exit code 1 when anything was wrong.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import command, describe_machine, environment

from codesearch import Engine
from codesearch.errors import CodesearchError
from codesearch.settings import Settings
from codesearch.types import Hit
from codesearch.view.packing import unpack_unit

BRANCHES = ("one", "two", "three")
FILES, FUNCTIONS = 60, 6
Report = tuple[str, int, list[str]]  # who, how often, what was wrong


def source(file: int, version: int) -> str:
    """A file's content in one of its versions: other bodies, and one line more above for each."""
    text = "\n" * version
    for each in range(FUNCTIONS):
        text += (
            f"def pump_{file}_{each}(pressure):\n    level = pressure + {version * 100 + each}\n    return level\n\n\n"
        )
    return text


def is_right(hit: Hit) -> bool:
    """Whether a hit's place and lines are those of its function in one and the same version."""
    if not hit.symbol.startswith("pump_"):
        return True
    file, each = map(int, hit.symbol.removeprefix("pump_").split("_"))
    version = hit.start_line - 1 - 5 * each
    lines = source(file, max(version, 0)).split("\n")
    here = lines[hit.snippet.start_line - 1 :][: len(hit.snippet.lines)]
    return version >= 0 and hit.path == f"part/file_{file}.py" and here == list(hit.snippet.lines)


class Clone:
    """The clone, and the environment of everything that runs in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env = environment(root.parent / "unused")
        del self.env["CODESEARCH_HOME"]
        self.env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        for name in ("AUTHOR", "COMMITTER"):
            self.env |= {f"GIT_{name}_NAME": "Stress", f"GIT_{name}_EMAIL": "stress@example.org"}

    def git(self, *arguments: str, folder: Path | None = None, check: bool = True) -> None:
        """Runs git; what it fails at because another git holds a lock is tried no more."""
        subprocess.run(["git", *arguments], cwd=folder or self.root, env=self.env, check=check, capture_output=True)

    def run(self, *arguments: str, folder: Path | None = None) -> tuple[int, str]:
        """Runs the command; its exit code, and what it printed on stderr."""
        done = subprocess.run(
            command("-C", str(folder or self.root), *arguments), env=self.env, capture_output=True, text=True
        )
        return done.returncode, done.stderr

    def make(self) -> None:
        """Three branches that differ in a third of the files, hooks, and a worktree."""
        self.root.mkdir()
        self.git("init", "-q", "-b", "one")
        self.git("config", "gc.auto", "0")
        for number, branch in enumerate(BRANCHES):
            if number:
                self.git("checkout", "-q", "-b", branch)
            for file in range(FILES):
                if number == 0 or file % 3 == number:
                    self.write(file, number)
            self.git("add", "-A")
            self.git("commit", "-q", "-m", branch)
        self.git("worktree", "add", "-q", "-b", "side", str(self.side))
        self.run("hook", "install", "--pre-commit")

    def write(self, file: int, version: int, folder: Path | None = None) -> None:
        """Puts a version of a file in the work tree."""
        target = (folder or self.root) / "part" / f"file_{file}.py"
        target.parent.mkdir(exist_ok=True)
        target.write_text(source(file, version))

    @property
    def side(self) -> Path:
        """The linked worktree."""
        return self.root.parent / "side"


# --- what each process does once ------------------------------------------------------------------------------


def index(clone: Clone, folder: Path) -> list[str]:
    """An index run of a worktree."""
    code, errors = clone.run("index", folder=folder)
    return [] if code == 0 else [errors]


def search(engine: Engine) -> list[str]:
    """A search of the work tree as it is."""
    number = f"pump_{random.randrange(FILES)}_{random.randrange(FUNCTIONS)}"
    hits = engine.search(number, limit=5, min_score=0.0, collapsed=False).hits
    wrong = [f"{hit.path}:{hit.start_line}-{hit.end_line} {hit.symbol}" for hit in hits if not is_right(hit)]
    places = [(hit.path, hit.start_line) for hit in hits]
    return wrong + ([f"twice: {places}"] if len(set(places)) < len(places) else [])


def search_branch(clone: Clone) -> list[str]:
    """A branch never moves, so that its answer is known to the line."""
    number = random.randrange(3)
    file = random.randrange(FILES)
    version = next((each for each in range(number, 0, -1) if file % 3 == each), 0)
    wanted = f"{BRANCHES[number]}:part/file_{file}.py:{version + 1}-{version + 3}"
    done = subprocess.run(
        command("-C", str(clone.root), f"pump_{file}_0", "--at", BRANCHES[number], "-k1", "--no-snippet"),
        env=clone.env,
        capture_output=True,
        text=True,
    )
    return [] if done.stdout.startswith(wanted) else [f"{wanted}, not {done.stdout}{done.stderr}"]


def move(clone: Clone) -> list[str]:
    """A checkout, or an edit that the next checkout throws away."""
    if random.random() < 0.5:
        clone.git("checkout", "-q", "--force", random.choice(BRANCHES), check=False)
    else:
        for _ in range(3):
            clone.write(random.randrange(FILES), random.randrange(9))
    time.sleep(random.random())
    return []


def commit(clone: Clone) -> list[str]:
    """A commit in the linked worktree."""
    clone.write(random.randrange(FILES), random.randrange(9), clone.side)
    clone.git("commit", "-q", "-a", "-m", "edit", folder=clone.side, check=False)
    time.sleep(random.random())
    return []


def collect(clone: Clone) -> list[str]:
    """Garbage collection, in the index and in git."""
    code, errors = clone.run("clean", "--gc")
    clone.git("gc", "-q", check=False)  # not --prune=now: git itself warns of that beside a running commit
    time.sleep(random.random())
    return [] if code == 0 else [errors]


# --- all together ---------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300)
    seconds = parser.parse_args().seconds
    print(describe_machine(), flush=True)
    with tempfile.TemporaryDirectory(prefix="codesearch-stress-") as folder:
        clone = Clone(Path(folder, "clone"))
        clone.make()
        engine = Engine.open(clone.root, Settings())
        roles: dict[str, Callable[[], list[str]]] = {
            "index": lambda: index(clone, clone.root),
            "index the worktree": lambda: index(clone, clone.side),
            "search, one engine": lambda: search(engine),
            "search, new engines": lambda: search(Engine.open(random.choice((clone.root, clone.side)), Settings())),
            "search --at": lambda: search_branch(clone),
            "checkout and edit": lambda: move(clone),
            "commit with hooks": lambda: commit(clone),
            "collect garbage": lambda: collect(clone),
        }
        until = time.monotonic() + seconds
        results: Any = multiprocessing.Queue()
        processes = [multiprocessing.Process(target=repeat, args=(*role, until, results)) for role in roles.items()]
        for process in processes:
            process.start()
        reports: list[Report] = [results.get() for _ in processes]
        for process in processes:
            process.join()
        rest(clone)
        reports.append(("in the end", 1, [wrong for root in (clone.root, clone.side) for wrong in at_the_end(root)]))
    for name, count, wrong in sorted(reports):
        print(f"{name}: {count} times, {len(wrong)} wrong")
        for each in wrong[:5]:
            print(f"    {each}")
    return 1 if any(wrong for _, _, wrong in reports) else 0


def repeat(name: str, act: Callable[[], list[str]], until: float, results: Any) -> None:
    """One process: does its part until the time is over."""
    random.seed(name)
    count, wrong = 0, []
    while time.monotonic() < until:
        try:
            wrong += act()
        except CodesearchError as error:
            wrong.append(f"{type(error).__name__}: {error}")
        except Exception as error:
            wrong.append(repr(error))
        count += 1
    results.put((name, count, wrong))


def rest(clone: Clone) -> None:
    """Waits for the workers that hooks have started."""
    state = clone.root / ".git"
    for _ in range(600):
        folders = [state / "codesearch-hook", *state.glob("worktrees/*/codesearch-hook")]
        if not any((folder / name).exists() for folder in folders for name in ("worker", "request", "staged")):
            return
        time.sleep(0.1)


def at_the_end(root: Path) -> list[str]:
    """What is wrong with the index of a worktree after one more run."""
    from replay import Clone as Replayed
    from replay import disagreements

    engine = Engine.open(root, Settings())
    engine.index()
    wrong = []
    store = engine._workshop.store
    rows = [row for batch in store._stream("units", ["key", "packed"]) for row in batch.to_pylist()]
    tables = [name for name in store._table_names(store._connect()) if name.startswith(("chunks", "vectors_"))]
    keys = {
        name: [key for batch in store._stream(name, ["key"]) for key in batch["key"].to_pylist()] for name in tables
    }
    keys["units"] = [row["key"] for row in rows]
    wrong += [f"{name}: a row twice" for name, present in keys.items() if len(set(present)) < len(present)]
    shown = {key.hex() for key in engine._views.shown_units()}
    wrong += [f"unit {key} is not in the store" for key in shown - set(keys["units"])]
    needed = {
        chunk["key"].tobytes().hex() for row in rows if row["key"] in shown for chunk in unpack_unit(row["packed"])[2]
    }
    wrong += [f"{name}: {len(needed - set(keys[name]))} are missing" for name in tables if needed - set(keys[name])]
    if not engine._workshop.journal.is_empty():
        wrong.append("the journal is not empty")
    with tempfile.TemporaryDirectory() as folder:
        queries = [f"pump_{number}_0" for number in range(0, FILES, 6)]
        wrong += disagreements(Replayed(root), None, Path(folder), queries)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
