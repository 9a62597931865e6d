"""Asks a repository the questions of a file and shows where the expected declarations rank, and what it costs.

    python benchmarks/ask.py QUESTIONS.toml CHECKOUT

The questions were written before codesearch had seen the repository. A hit answers when its path is expected and
its qualified name or symbol is (`named`), or when it is another declaration whose lines contain the expected one,
such as its class (`within`); a whole file or the text between declarations never answers. The index is made from
scratch, in a folder that is removed afterwards.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from measuring import ROOT, command, describe_machine, environment, run_measured, time_one_shots

SHOWN = 10  # hits that a user sees
SEARCHED = 200  # how far a missed declaration is followed
ROUNDS = 5  # warm searches of each question
NEVER_ANSWERS = ("file", "remainder")  # they contain anything


@dataclass(frozen=True)
class Target:
    """An expected declaration; `lines` are those of its outline, empty when the parser does not list it."""

    path: str
    name: str
    lines: tuple[tuple[int, int], ...]


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    questions = tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))
    checkout = Path(sys.argv[2]).resolve()
    git = ("git", "-C", str(checkout), "rev-parse", "HEAD")
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    print(f"{questions['repository']} at {commit[:12]}; {describe_machine()}")
    if commit != questions["commit"]:
        print(f"warning: the questions were written for {questions['commit'][:12]}")
    with tempfile.TemporaryDirectory(prefix="codesearch-ask-") as folder:
        return ask(questions["question"], checkout, Path(folder))


def ask(questions: list[dict], checkout: Path, home: Path) -> int:
    env = environment(home)
    usage = run_measured(command("-C", str(checkout), "index", "--json"), env)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    os.environ["CODESEARCH_HOME"] = str(home)
    sys.path.insert(0, str(ROOT))
    from codesearch.engine import Engine

    engine = Engine.open(checkout)
    targets = [[_target(engine, text) for text in question["expected"]] for question in questions]
    named, within = [], []
    for number, (question, expected) in enumerate(zip(questions, targets, strict=True), 1):
        hits = engine.search(question["query"], limit=SHOWN).hits
        exact = next((hit.rank for hit in hits if any(_is(hit, target) for target in expected)), None)
        around = next((hit.rank for hit in hits if any(_contains(hit, target) for target in expected)), None)
        named.append(exact)
        within.append(min((rank for rank in (exact, around) if rank), default=None))
        print(f"\n{number:2}. {question['query']}")
        print(f"    rank {exact or '-'}" + ("" if within[-1] == exact else f", within {within[-1]}"))
        for target in expected:
            if not target.lines:
                print(f"    note: no declaration {target.path}#{target.name} is indexed")
        if exact != 1:
            _explain(engine, question["query"], expected, exact)
    latencies = _warm(engine, [question["query"] for question in questions])
    status = engine.status()
    one_shot, runs = time_one_shots(questions[0]["query"], checkout, env)

    print(f"\n{status.files} files, {status.declarations} declarations, {status.chunks} chunks")
    for label, ranks in (("named", named), ("named or within", within)):
        counts = [sum(rank is not None and rank <= k for rank in ranks) for k in (1, 5, 10)]
        print(f"success@1/@5/@10, {label}: " + " / ".join(f"{count}" for count in counts) + f" of {len(ranks)}")
    print(f"index from scratch: {usage.seconds:.1f} s, {usage.cpu:.1f} s of CPU")
    print(f"peak memory of the process tree: {usage.resident:.0f} MB resident, {usage.proportional:.0f} MB with "
          f"shared pages counted once; largest process {largest:.0f} MB")  # fmt: skip
    print(f"index size: view {status.view_bytes / 1e6:.1f} MB, store {status.store_bytes / 1e6:.1f} MB")
    print(f"search in a warm process: p50 {statistics.median(latencies):.1f} ms, slowest {max(latencies):.1f} ms")
    print(f"one-shot search, whole process: median {one_shot:.2f} s of " + " ".join(f"{run:.2f}" for run in runs))
    return 0


def _target(engine, text: str) -> Target:
    path, _, name = text.partition("#")
    (outline,) = engine.outline([path])
    lines = tuple(
        (declaration.span.start_line, declaration.span.end_line)
        for declaration in outline.declarations
        if name in (declaration.qualified_name, declaration.symbol)
    )
    return Target(path, name, lines)


def _is(hit, target: Target) -> bool:
    return hit.path == target.path and target.name in (hit.qualified_name, hit.symbol)


def _contains(hit, target: Target) -> bool:
    if hit.path != target.path or hit.kind in NEVER_ANSWERS:
        return False
    return any(hit.start_line <= first and last <= hit.end_line for first, last in target.lines)


def _explain(engine, query: str, expected: list[Target], exact: int | None) -> None:
    """What ranked above the expected declaration, with signals, and how far down that is when it is not shown."""
    hits = engine.search(query, limit=SHOWN if exact else SEARCHED).hits
    found = next((hit for hit in hits if any(_is(hit, target) for target in expected)), None)
    above = hits[: found.rank - 1] if found else hits
    for hit in [*above[:4], *([found] if found else [])]:
        mark = "=>" if hit is found else "  "
        signals = " ".join(f"{name}={value:g}" for name, value in hit.signals.items())
        print(f" {mark} {hit.rank:3} {hit.score:.3f} {hit.path}:{hit.start_line} {hit.qualified_name}  [{signals}]")
    if found is None:
        print(f"    not among the first {len(hits)}")


def _warm(engine, queries: list[str]) -> list[float]:
    """Milliseconds of each search in this process, check for edited files included, after a first round."""
    latencies = []
    for query in queries * (ROUNDS + 1):
        started = time.perf_counter()
        engine.search(query, limit=SHOWN)
        latencies.append((time.perf_counter() - started) * 1000)
    return latencies[len(queries) :]


if __name__ == "__main__":
    sys.exit(main())
