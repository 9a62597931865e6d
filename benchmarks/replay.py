"""Replays real history: after every commit an incremental index, held against one from scratch.

    python benchmarks/replay.py CLONE [--commits 200] [--every 10] [--apart 500]

CLONE is a clone with its history and a work tree that may be thrown about. Three parts, each an exit code of 1 when it
fails: after each of the last commits (by first parents) the declarations embedded are those whose text was not there
before, and at every tenth the index has the same declarations at the same lines as one from scratch, and the same
first ten hits for twenty queries. Two branches far apart: the second and third switch embed nothing. One edited
function: the index embeds one declaration, and what the next search and index cost beside an unchanged tree and a new
index.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from measuring import Usage, command, describe_machine, environment, run_measured

from codesearch import Engine
from codesearch.results import IndexReport
from codesearch.settings import Settings
from codesearch.view.published import View
from codesearch.view.table import NO_UNIT

MOST_SEARCH, MOST_INDEX = 1.5, 0.3  # of a search of an unchanged tree, of an index from scratch
ROUNDS = 7
Declared = dict[tuple[str, int, int, str], bytes]  # path, first and last line, qualified name → key of the text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clone", type=Path)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--apart", type=int, default=500)
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    clone = Clone(options.clone.resolve())
    with tempfile.TemporaryDirectory(prefix="codesearch-replay-") as folder:
        good = [
            replay(clone, Path(folder), options.commits, options.every),
            switch(clone, Path(folder), options.apart),
            edit(clone, Path(folder)),
        ]
    clone.checkout(clone.tip)
    return 0 if all(good) else 1


class Clone:
    """The clone that is thrown about."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tip = self.git("rev-parse", "HEAD")

    def git(self, *arguments: str) -> str:
        """What git prints."""
        done = subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def checkout(self, commit: str) -> None:
        """The work tree of a commit, whatever was there."""
        self.git("checkout", "-q", "--force", "--detach", commit)

    def last(self, count: int) -> list[str]:
        """The last commits by first parents, oldest first."""
        return self.git("rev-list", "--first-parent", f"--max-count={count}", self.tip).split()[::-1]

    def index(self, home: Path) -> IndexReport:
        """An index run by a new engine, as a new process would do it."""
        return Engine.open(self.root, Settings(home=home)).index()

    def view(self, home: Path | None) -> View:
        """The view that was published last."""
        engine = Engine.open(self.root, Settings(home=home))
        return engine._corpora.require_view(engine._corpora.pointer())


# --- the history --------------------------------------------------------------------------------------------


def replay(clone: Clone, folder: Path, commits: int, every: int) -> bool:
    home = folder / "replay"
    history = clone.last(commits + 1)
    clone.checkout(history[0])
    first = clone.index(home)
    seen = set(keys_of(clone.view(home)))
    queries = questions(clone, history, declared(clone.view(home)))
    print(f"replay of {commits} commits of {clone.root.name}: {first.files.total} files and "
          f"{first.declarations.total} declarations at the first", flush=True)  # fmt: skip
    wrong: list[str] = []
    totals = {"parsed": 0, "embedded": 0, "moved": 0, "removed": 0}
    compared, seconds = 0, []
    for number, commit in enumerate(history[1:], 1):
        clone.checkout(commit)
        report = clone.index(home)
        counts = report.declarations
        seconds.append(report.seconds)
        totals["parsed"] += report.files.parsed
        for name in ("embedded", "moved", "removed"):
            totals[name] += getattr(counts, name)
        new = set(keys_of(clone.view(home))) - seen
        seen |= new
        if counts.embedded != len(new):
            wrong.append(f"{commit}: {counts.embedded} embedded, {len(new)} new texts")
        if number % every == 0 or number == commits:
            compared += 1
            wrong += [f"{commit}: {each}" for each in disagreements(clone, home, folder / f"scratch-{number}", queries)]
            print(f"  {number} commits, {totals['embedded']} embedded, {len(wrong)} wrong", flush=True)
    print(f"  totals: {totals}; an incremental index takes {statistics.median(seconds):.2f} s (median)")
    print(f"  compared with an index from scratch: {compared} times; {len(wrong)} wrong")
    for each in wrong[:20]:
        print(f"    {each}")
    return not wrong


def rows_of(view: View) -> Iterator[tuple[str, str, int, int, bytes, bool]]:
    """Path, qualified name, lines, key of the text, and whether it is embedded by itself, of every declaration."""
    rows = view.table.rows
    for index, path in enumerate(view.table.paths.to_list()):
        if int(rows["unit"][index]) == NO_UNIT:
            continue
        segment = view.segments[int(rows["segment"][index])]
        unit = segment.units[int(rows["unit"][index])]
        start = int(unit["first_declaration"])
        for row in segment.declarations[start : start + int(unit["declarations"])]:
            name = segment.strings[int(row["qualified"])]
            yield path, name, int(row["first"]), int(row["last"]), row["key"].tobytes(), bool(row["own"])


def keys_of(view: View) -> list[bytes]:
    """The keys of the texts of all declarations that are embedded."""
    return [key for *_, key, own in rows_of(view) if own]


def declared(view: View) -> Declared:
    """All declarations with their places."""
    return {(path, first, last, name): key for path, name, first, last, key, _ in rows_of(view)}


def questions(clone: Clone, history: Sequence[str], known: Declared) -> list[str]:
    """Ten subjects of commits and ten names, spread evenly."""
    subjects = [clone.git("log", "-1", "--format=%s", commit) for commit in history[:: max(len(history) // 10, 1)]]
    names = sorted({name for *_, name in known})
    return [*subjects[:10], *names[:: max(len(names) // 10, 1)][:10]]


def disagreements(clone: Clone, home: Path | None, scratch: Path, queries: Sequence[str]) -> list[str]:
    """In what the index differs from one that is made from scratch."""
    Engine.open(clone.root, Settings(home=scratch))._publish(staged=False, at=None, progress=None)
    one, other = declared(clone.view(home)), declared(clone.view(scratch))
    found = [f"declaration {place}" for place in one.keys() ^ other.keys()]
    found += [f"text of {place}" for place in one.keys() & other.keys() if one[place] != other[place]]
    mine, theirs = (Engine.open(clone.root, Settings(home=each)) for each in (home, scratch))
    for query in queries:
        if mine.search(query, min_score=0.0).hits != theirs.search(query, min_score=0.0).hits:
            found.append(f"hits of {query!r}")
    return found


# --- two branches -------------------------------------------------------------------------------------------


def switch(clone: Clone, folder: Path, apart: int) -> bool:
    """Back and forth between two branches, indexing after every switch."""
    home = folder / "switch"
    old, new = clone.last(apart + 1)[0], clone.tip
    embedded = []
    for commit in (old, new, old, new):
        clone.checkout(commit)
        report = clone.index(home)
        embedded.append(report.declarations.embedded)
        print(f"switch to {commit[:12]}: {report.declarations.embedded} of {report.declarations.total} declarations "
              f"embedded, {report.files.parsed} files parsed, {report.seconds:.2f} s", flush=True)  # fmt: skip
    return embedded[2:] == [0, 0]


# --- one function -------------------------------------------------------------------------------------------


def edit(clone: Clone, folder: Path) -> bool:
    """What a commit of one edited function costs the next search and the next index run, in processes of their own."""
    env = environment(folder / "edit")
    clone.checkout(clone.tip)
    target, name = _function_of(clone)
    at = ("-C", str(clone.root))
    scratch = run_measured(command(*at, "index", "--json"), env)
    clone.git("status")  # or git compares all files that are as new as its index, every time
    search = command(*at, "search", name, "--json", "-k", "1")
    run_measured(search, env)
    unchanged, changed, indexed, embedded, wrong = [], [], [], [], []
    for number in range(ROUNDS):
        unchanged.append(run_measured(search, env))
        text = target.read_text()
        target.write_text(text.replace(f"def {name}(", f"def {name}(edit_{number}=None, ", 1))
        clone.git("-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "--no-verify", "-am", "edit")
        changed.append(run_measured(search, env))
        hit = json.loads(changed[-1].output)["hits"][0]
        cited = "\n".join(target.read_text().split("\n")[hit["start_line"] - 1 : hit["end_line"]])
        if hit["symbol"] != name or f"edit_{number}=" not in cited:
            wrong.append(hit)
        indexed.append(run_measured(command(*at, "index", "--json"), env))
        embedded.append(json.loads(indexed[-1].output)["declarations"]["embedded"])
    search_ratio = _ratio(changed, unchanged)
    index_ratio = _ratio(indexed, [scratch] * ROUNDS)
    files = json.loads(scratch.output)["files"]["total"]
    print(f"one function edited and committed, {files} files, {ROUNDS} times: {embedded} declarations embedded, "
          f"{len(wrong)} wrong answers")  # fmt: skip
    print(f"  search: {_median(unchanged)} unchanged, {_median(changed)} after the commit, x {search_ratio:.2f} "
          f"(most: {MOST_SEARCH})")  # fmt: skip
    print(f"  index: {_median([scratch])} from scratch, {_median(indexed)} after the commit, x {index_ratio:.2f} "
          f"(most: {MOST_INDEX})")  # fmt: skip
    return embedded == [1] * ROUNDS and not wrong and search_ratio <= MOST_SEARCH and index_ratio <= MOST_INDEX


def _function_of(clone: Clone) -> tuple[Path, str]:
    """A file of the clone and a top-level Python function that has its name to itself."""
    names = clone.git("grep", "-hoE", r"^def \w+\([a-z]", "--", "*.py").splitlines()
    once = {line for line in names if names.count(line) == 1}
    for place in clone.git("grep", "-nE", r"^def \w{12,}\([a-z]", "--", "*.py").splitlines():
        path, _, line = place.split(":", 2)
        head = line[: line.index("(") + 2]
        if head in once and "tests/" not in path:
            return clone.root / path, head[4:-2]
    sys.exit("No Python function to edit.")


def _median(usages: Sequence[Usage]) -> str:
    seconds, cpu = (statistics.median(getattr(each, name) for each in usages) for name in ("seconds", "cpu"))
    return f"{seconds:.2f} s ({cpu:.2f} s of CPU)"


def _ratio(some: Sequence[Usage], others: Sequence[Usage]) -> float:
    """The median ratio of CPU seconds by pairs: they hardly depend on what else the machine does."""
    return statistics.median(one.cpu / other.cpu for one, other in zip(some, others, strict=True))


if __name__ == "__main__":
    raise SystemExit(main())
