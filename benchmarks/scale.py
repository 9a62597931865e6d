"""Indexes 50 MB of source from scratch and holds the result against the floor.

    python benchmarks/scale.py [--megabytes N] [CHECKOUT …]

The source is copied into one plain git repository in a temporary folder: first the checkouts, then this
interpreter's standard library, then its installed packages, until there is enough. Only files of languages that
have a grammar count. Exits 1 when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from measuring import ROOT, command, describe_machine, environment, run_measured, time_one_shots

MAX_SECONDS = 60.0
MAX_MEGABYTES = 1000.0  # of the whole process tree, a shared page counted once
MAX_ONE_SHOT_SECONDS = 0.6
QUERIES = ("retry a failed request with backoff", "parse_config")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--megabytes", type=float, default=50.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codesearch-scale-") as folder:
        corpus, home = Path(folder, "corpus"), Path(folder, "home")
        libraries = [Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))]
        files, size = assemble([*arguments.checkouts, *libraries], corpus, arguments.megabytes * 1e6)
        print(f"{size / 1e6:.1f} MB of source in {files} files; {describe_machine()}", flush=True)
        return measure(corpus, home)


def assemble(sources: Iterable[Path], corpus: Path, wanted: float) -> tuple[int, int]:
    """Copies source files into a new git repository until `wanted` bytes are there; returns files and bytes."""
    files = size = 0
    for number, source in enumerate(sources):
        for path in _source_files(source.resolve()):
            if size >= wanted:
                break
            copy = corpus / f"{number}-{source.resolve().name}" / path.relative_to(source.resolve())
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            files += 1
            size += copy.stat().st_size
    if size < wanted:
        sys.exit(f"Only {size / 1e6:.1f} MB of source were found. Give further checkouts.")
    identity = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
    for git in (("init", "-q"), ("add", "-A", "-f"), (*identity, "commit", "-q", "-m", "Source")):
        subprocess.run(("git", "-C", str(corpus), *git), check=True)
    return files, size


def _source_files(source: Path) -> Iterator[Path]:
    """Files of languages with a grammar, sorted; a virtual environment below the standard library is left out."""
    sys.path.insert(0, str(ROOT))
    from codesearch.languages import load_languages

    languages = load_languages()
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source).parts
        if inside[0] in ("site-packages", ".git") or path.is_symlink() or not path.is_file():
            continue
        language = languages.for_path(path.name)
        if language is not None and language.syntax is not None:
            yield path


def measure(corpus: Path, home: Path) -> int:
    env = environment(home)
    usage = run_measured(command("-C", str(corpus), "index", "--json"), env)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    report = json.loads(usage.output)
    status = json.loads(run_measured(command("-C", str(corpus), "status", "--json"), env).output)
    one_shots = {query: time_one_shots(query, corpus, env) for query in QUERIES}
    print(f"{report['files']['parsed']} files parsed, {report['files']['skipped']} skipped, "
          f"{report['declarations']['total']} declarations, {status['chunks']} chunks")  # fmt: skip
    print(f"index from scratch: {usage.seconds:.1f} s (at most {MAX_SECONDS:.0f} s), {usage.cpu:.1f} s of CPU")
    print(f"peak memory of the process tree: {usage.proportional:.0f} MB with shared pages counted once (at most "
          f"{MAX_MEGABYTES:.0f} MB), {usage.resident:.0f} MB resident; largest process {largest:.0f} MB")  # fmt: skip
    print(f"index size: view {status['view_bytes'] / 1e6:.1f} MB, store {status['store_bytes'] / 1e6:.1f} MB")
    for query, (median, runs) in one_shots.items():
        print(f"one-shot search {query!r}, whole process: median {median:.2f} s (at most {MAX_ONE_SHOT_SECONDS} s) of "
              + " ".join(f"{run:.2f}" for run in runs))  # fmt: skip
    slowest = max(median for median, _ in one_shots.values())
    kept = usage.seconds <= MAX_SECONDS and usage.proportional <= MAX_MEGABYTES and slowest <= MAX_ONE_SHOT_SECONDS
    print("within the floor" if kept else "outside the floor")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
