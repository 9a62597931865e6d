"""What hooks cost: a commit, and a rebase of a hundred commits, with them and without, in turns.

    python benchmarks/hooks.py [--files 2000] [--commits 100] [--rounds 7]

Both must stay small: a commit may take 20 ms more, a rebase 1.2 times as long. Each round does the same without
hooks, with hooks that do nothing (what git itself and `sh` cost), and with ours, in an order that turns; the index is
made before, and no worker of an earlier round runs any more, so that what is measured is what a user waits for.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring import command, describe_machine, environment

VARIANTS = ("none", "empty", "ours")
EVENTS = ("pre-commit", "post-commit", "post-checkout", "post-merge", "post-rewrite")
MOST_MS, MOST_RATIO = 20.0, 1.2
_SOURCE = "def task_{0}(value):\n    '''Does number {0}.'''\n    return value + {0}\n\n\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(describe_machine())
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.files, options.commits)
        commits = bench.compare(bench.time_commit, options.rounds * 4)
        rebases = bench.compare(bench.time_rebase, options.rounds)
    more = statistics.median((each["ours"] - each["none"]) * 1000 for each in commits)
    ratio = statistics.median(each["ours"] / each["none"] for each in rebases)
    _print("commit", commits, f"{more:+.1f} ms (most: {MOST_MS:.0f})")
    _print(f"rebase of {options.commits}", rebases, f"x {ratio:.2f} (most: {MOST_RATIO})")
    return 0 if more <= MOST_MS and ratio <= MOST_RATIO else 1


class Bench:
    """A repository with two branches, of which one is rebased onto the other again and again."""

    def __init__(self, folder: Path, files: int, commits: int) -> None:
        self.root = folder / "repository"
        self.root.mkdir()
        self.env = environment(folder / "home") | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        for name in ("AUTHOR", "COMMITTER"):
            self.env |= {f"GIT_{name}_NAME": "Bench", f"GIT_{name}_EMAIL": "bench@example.org"}
        self.git("init", "-q", "-b", "main")
        self.git("config", "gc.auto", "0")
        for number in range(files):
            target = self.root / f"part_{number % 50}" / f"file_{number}.py"
            target.parent.mkdir(exist_ok=True)
            target.write_text("".join(_SOURCE.format(number * 10 + each) for each in range(5)))
        self._commit("first")
        self.git("checkout", "-q", "-b", "topic")
        for number in range(commits):
            target = self.root / f"part_{number % 50}" / f"file_{number}.py"
            target.write_text(target.read_text() + _SOURCE.format(-number))
            self._commit(f"topic {number}")
        self.git("checkout", "-q", "main")
        (self.root / "base.py").write_text(_SOURCE.format(0))
        self._commit("base")
        self.git("checkout", "-q", "topic")
        subprocess.run(command("-C", str(self.root), "index"), env=self.env, check=True, capture_output=True)
        self._count = 0

    def compare(self, measure: Callable[[], float], rounds: int) -> list[dict[str, float]]:
        """Seconds of each variant, round by round."""
        found = []
        for number in range(rounds):
            first = number % len(VARIANTS)
            seconds = {}
            for variant in VARIANTS[first:] + VARIANTS[:first]:
                self.switch_hooks(variant)
                seconds[variant] = measure()
                self.rest()
            found.append(seconds)
        return found

    def time_commit(self) -> float:
        """Seconds of a commit of one file."""
        self._count += 1
        (self.root / "edited.py").write_text(_SOURCE.format(self._count))
        self.git("add", "edited.py")
        return self._timed("commit", "-q", "-m", "edit")

    def time_rebase(self) -> float:
        """Seconds of the rebase of the whole branch."""
        self.git("checkout", "-q", "--detach", "topic")
        self.rest()
        return self._timed("rebase", "-q", "main")

    def switch_hooks(self, variant: str) -> None:
        """Puts the hooks of a variant in place of those of another."""
        action = ["install", "--pre-commit"] if variant == "ours" else ["uninstall"]
        for event in EVENTS:
            (self.root / ".git" / "hooks" / event).unlink(missing_ok=True)
        subprocess.run(command("-C", str(self.root), "hook", *action), env=self.env, check=True, capture_output=True)
        if variant == "empty":
            for event in EVENTS:
                target = self.root / ".git" / "hooks" / event
                target.write_text("#!/bin/sh\n")
                target.chmod(0o755)

    def rest(self) -> None:
        """Waits for what hooks have started."""
        state = self.root / ".git" / "codesearch-hook"
        while any((state / name).exists() for name in ("worker", "request", "staged")):
            time.sleep(0.1)

    def git(self, *arguments: str) -> None:
        """Runs git in the repository."""
        subprocess.run(["git", *arguments], cwd=self.root, env=self.env, check=True, capture_output=True)

    def _timed(self, *arguments: str) -> float:
        started = time.perf_counter()
        self.git(*arguments)
        return time.perf_counter() - started

    def _commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)


def _print(name: str, rounds: list[dict[str, float]], verdict: str) -> None:
    none, empty, ours = (statistics.median(each[variant] for each in rounds) * 1000 for variant in VARIANTS)
    print(f"{name}: {none:.1f} ms without hooks, {empty:.1f} with empty ones, {ours:.1f} with ours; {verdict}")


if __name__ == "__main__":
    raise SystemExit(main())
