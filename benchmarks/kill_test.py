"""Kills `codesearch index` at random moments while readers search, and counts every wrong answer and every leftover.

    python benchmarks/kill_test.py [ROUNDS]

Each round edits a file, starts `codesearch index` as a process and kills it after a random time. Meanwhile two
processes search without a pause. After each round a new engine must give the right answer for the work tree as it
is; in the end one whole index run must leave an empty journal and a store without a key twice. Exit code 1 when
anything was wrong.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codesearch import Engine
from codesearch.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
LONGEST = 5.0  # seconds before a kill: some runs are over by then, most are not
STABLE = 'def weigh_anchor(chain):\n    """Lifts the anchor off the ground."""\n    return chain\n'


def edited(number: int) -> str:
    """The file that changes from round to round."""
    return f'def settle_invoice(amount):\n    """Pays an invoice."""\n    rate = {number}\n    return amount * rate\n'


def read_until(stop: Any, root: Path, results: Any) -> None:
    """Searches for what never changes until told to stop; reports how often, and everything that was wrong."""
    asked, wrong = 0, []
    while not stop.is_set():
        asked += 1
        try:
            hit = Engine.open(root, Settings()).search("weigh_anchor", limit=1).hits[0]
            if (hit.path, hit.start_line, hit.end_line) != ("anchor.py", 1, 3):
                wrong.append(f"{hit.path}:{hit.start_line}-{hit.end_line}")
        except Exception as error:
            wrong.append(repr(error))
    results.put((asked, wrong))


def check(root: Path, number: int) -> list[str]:
    """What is wrong with the answer for the file that was edited last."""
    try:
        hit = Engine.open(root, Settings()).search("settle_invoice", limit=1).hits[0]
        text = "\n".join(hit.snippet.lines)
        right = (hit.path, hit.start_line, hit.end_line) == ("bills.py", 1, 4) and f"rate = {number}\n" in text
        return [] if right else [f"round {number}: {hit.path}:{hit.start_line}-{hit.end_line}"]
    except Exception as error:
        return [f"round {number}: {error!r}"]


def leftovers(root: Path) -> list[str]:
    """What one whole index run left undone."""
    engine = Engine.open(root, Settings())
    engine.index()
    wrong = [f"in the journal: {path.name}" for path in (engine.home / "journal").iterdir()]
    store = engine._workshop.store
    for name in store.counts():
        column = "id" if name == "models" else "key"
        keys = store._table(name).to_arrow()[column].to_pylist()
        if len(keys) != len(set(keys)):
            wrong.append(f"{name}: {len(keys) - len(set(keys))} keys twice")
    return wrong


def main(rounds: int) -> int:
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "repository")
        # In a folder of its own: `python -m` would import a types.py that lies where it is started.
        shutil.copytree(PROJECT / "codesearch", root / "source", ignore=shutil.ignore_patterns("__pycache__", "models"))
        (root / "anchor.py").write_text(STABLE)
        run: Callable[..., Any] = subprocess.run
        for arguments in (["init", "-q"], ["add", "-A"]):
            run(["git", *arguments], cwd=root, check=True)
        spawn = multiprocessing.get_context("spawn")
        stop, results = spawn.Event(), spawn.Queue()
        readers = [spawn.Process(target=read_until, args=(stop, root, results)) for _ in range(2)]
        for reader in readers:
            reader.start()
        wrong: list[str] = []
        killed = 0
        for number in range(rounds):
            (root / "bills.py").write_text(edited(number))
            # Every few rounds many files change, so that the run has more to write.
            for path in sorted(root.rglob("*.py"))[:: 1 if number % 5 == 0 else 20]:
                if path.name not in ("anchor.py", "bills.py"):
                    path.write_text(path.read_text() + f"\n\ndef round_{number}():\n    return {number}\n")
            process = subprocess.Popen(
                [sys.executable, "-m", "codesearch", "index"],
                cwd=root, env={"PYTHONPATH": str(PROJECT), "PATH": "/usr/bin:/bin:/usr/local/bin"},
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
            time.sleep(chance.uniform(0.1, LONGEST))
            killed += process.poll() is None
            process.kill()
            process.wait()
            wrong += check(root, number)
        stop.set()
        searched = 0
        for _ in readers:
            asked, found = results.get(timeout=120)
            searched += asked
            wrong += found
        for reader in readers:
            reader.join()
        wrong += leftovers(root) + check(root, rounds - 1)
    print(f"{rounds} rounds, {killed} killed, {searched} searches meanwhile, {len(wrong)} things wrong")
    for line in wrong[:20]:
        print("  " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50))
