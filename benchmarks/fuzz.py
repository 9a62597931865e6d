"""Parses and chunks damaged files of every language, and checks what must hold for any bytes at all.

    python benchmarks/fuzz.py FOLDER... [--inputs N] [--seed S] [--languages a,b] [--save FOLDER]

Takes real files of each language from the folders, damages each input in one to three ways (bytes replaced, cut
off, doubled, spliced with another file, lines shuffled, nested deeply …) and hands it to a worker process that a
watchdog looks after. Same seed and folders, same inputs. What must hold:

* no crash, no exception, at most 2 s of processor time;
* spans of declarations lie in the file, and in their parent's, and overlap only by nesting; names are not empty;
* leaf chunks tile the file byte for byte, and lines agree with bytes.

Prints a row per language and every failure with the input's number; failing inputs are kept in `--save`. Exits 1
when anything failed. `--only NUMBER` runs one input again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import sys
import tempfile
import time
import traceback
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from codesearch.chunking import TokenBudget, chunk_code, chunk_prose
from codesearch.embedding import load_embedder
from codesearch.languages import Language, load_languages
from codesearch.parsing import parse
from codesearch.types import Chunk, Declaration, Span

LIMIT_SECONDS = 2.0  # of processor time for one input
HANG_SECONDS = 60.0  # of real time until the watchdog ends the worker: it may share its core with others
LARGEST_FILE = 200_000  # bytes; larger ones are few and would take most of the time
FILES_PER_LANGUAGE = 300
DEEPEST = 3_000  # repetitions of what opens a block

Damage = Callable[[random.Random, bytes, bytes], bytes]


# --- damages ------------------------------------------------------------------------------------------------


def replace_bytes(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    damaged = bytearray(content)
    for _ in range(chooser.choice((1, 5, 50))):
        if damaged:
            damaged[chooser.randrange(len(damaged))] = chooser.choice(
                (chooser.randrange(256), *b"(){}[]\"'`/*#\\\n;:<>", 0)
            )
    return bytes(damaged)


def cut_off(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    place = chooser.randrange(len(content) + 1)
    return content[:place] if chooser.random() < 0.7 else content[place:]


def double(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    start, end = part_of(chooser, content)
    return content[:end] + content[start:end] * chooser.choice((1, 1, 20)) + content[end:]


def splice(chooser: random.Random, content: bytes, other: bytes) -> bytes:
    start, end = part_of(chooser, other)
    place = chooser.randrange(len(content) + 1)
    return content[:place] + other[start:end] + content[place:]


def remove(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    start, end = part_of(chooser, content)
    return content[:start] + content[end:]


def shuffle_lines(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    lines = content.split(b"\n")
    start, end = sorted((chooser.randrange(len(lines) + 1), chooser.randrange(len(lines) + 1)))
    part = lines[start:end]
    chooser.shuffle(part)
    return b"\n".join([*lines[:start], *part, *lines[end:]])


def join_lines(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    return content.replace(b"\n", chooser.choice((b"", b" ", b"\r\n", b"\r", b"\n\n")))


def drop_brackets(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    bracket = bytes([chooser.choice(b"(){}[]\"'`;")])
    places = [place for place in range(len(content)) if content[place : place + 1] == bracket]
    for place in sorted(chooser.sample(places, min(len(places), chooser.choice((1, 3)))), reverse=True):
        content = content[:place] + content[place + 1 :]
    return content


def nest_deeply(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    """A line that opens a block, or a bare bracket, many times over, each deeper than the one before."""
    openers = [
        line for line in content.split(b"\n") if line.rstrip().endswith((b"{", b":", b"(", b"[", b"do", b"then"))
    ]
    opener = (
        chooser.choice(openers).strip() if openers and chooser.random() < 0.7 else chooser.choice((b"(", b"[", b"{"))
    )
    depth = chooser.choice((50, 500, DEEPEST)) if len(opener) < 100 else 50
    indented = depth <= 500 and chooser.random() < 0.5
    lines = [(b" " * level if indented else b"") + opener for level in range(depth)]
    place = content.rfind(b"\n", 0, chooser.randrange(len(content) + 1)) + 1
    return content[:place] + b"\n".join(lines) + b"\n" + content[place:]


def strange_bytes(chooser: random.Random, content: bytes, other: bytes) -> bytes:  # noqa: ARG001
    strange = (
        b"\xef\xbb\xbf",
        b"\x00" * 100,
        b"\xff\xfe",
        "𝒳ä".encode() * 50,
        b"\r",
        b"\x0c",
        b"\xe2\x80\xa8",
        b"\x1a",
    )
    place = chooser.choice((0, chooser.randrange(len(content) + 1), len(content)))
    return content[:place] + chooser.choice(strange) + content[place:]


DAMAGES: tuple[Damage, ...] = (
    replace_bytes, cut_off, double, splice, remove, shuffle_lines, join_lines, drop_brackets, nest_deeply,
    strange_bytes,
)  # fmt: skip


def part_of(chooser: random.Random, content: bytes) -> tuple[int, int]:
    size = chooser.choice((10, 300, 5000))
    start = chooser.randrange(len(content) + 1)
    return start, min(len(content), start + chooser.randrange(1, size + 1))


# --- inputs -------------------------------------------------------------------------------------------------


def files_by_language(folders: list[Path], wanted: set[str]) -> dict[str, list[Path]]:
    """Up to `FILES_PER_LANGUAGE` files of each language, chosen by a fixed seed."""
    languages = load_languages()
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if ".git" in path.parts or path.is_symlink() or not path.is_file():
                continue
            if not 0 < path.stat().st_size <= LARGEST_FILE:
                continue
            language = languages.for_path(path.name)
            if language and (not wanted or language.name in wanted):
                found[language.name].append(path)
    chooser = random.Random(0)
    return {
        name: sorted(chooser.sample(paths, min(len(paths), FILES_PER_LANGUAGE)))
        for name, paths in sorted(found.items())
    }


def make_input(seed: int, number: int, files: dict[str, list[Path]]) -> tuple[str, Path, list[str], bytes]:
    """The input of a number: its language, the file it is made of, what was done to it, and the bytes."""
    chooser = random.Random(f"{seed}/{number}")
    names = list(files)
    language = names[number % len(names)]
    path = chooser.choice(files[language])
    other = chooser.choice(files[language if chooser.random() < 0.8 else chooser.choice(names)])
    content, done = path.read_bytes(), []
    for _ in range(chooser.choice((1, 1, 2, 3))):
        damage = chooser.choice(DAMAGES)
        done.append(damage.__name__)
        content = damage(chooser, content, other.read_bytes())[: 4 * LARGEST_FILE]
    return language, path, done, content


# --- checks -------------------------------------------------------------------------------------------------


def problems(content: bytes, language: Language, budget: TokenBudget) -> Iterator[str]:
    """What does not hold for a file."""
    if language.chunker == "sections":
        parsed, chunks = chunk_prose(content, language.name, budget)
    else:
        parsed = parse(content, language)
        chunks = chunk_code(content, parsed, budget)
    yield from declaration_problems(content, parsed.declarations)
    yield from chunk_problems(content, chunks)


def declaration_problems(content: bytes, declarations: tuple[Declaration, ...]) -> Iterator[str]:
    line_at = Lines(content)
    enclosing: list[Declaration] = []
    for index, each in enumerate(declarations):
        span = each.span
        if not each.symbol.strip() or not each.qualified_name.strip():
            yield f"declaration {index} has no name: {each}"
        if not 0 <= span.start_byte < span.end_byte <= len(content):
            yield f"declaration {index} {each.symbol!r} lies outside the file: {span}"
            continue
        if problem := line_at.problem(span):
            yield f"declaration {index} {each.symbol!r}: {problem}"
        if not span.start_byte <= each.body_start <= span.end_byte:
            yield f"declaration {index} {each.symbol!r}: its body starts outside it"
        if each.parent >= 0:
            outer = declarations[each.parent].span if each.parent < index else None
            if outer is None:
                yield f"declaration {index} {each.symbol!r} stands before its parent"
            elif not (outer.start_byte <= span.start_byte and span.end_byte <= outer.end_byte):
                yield f"declaration {index} {each.symbol!r} {span} is not inside its parent {outer}"
        while enclosing and enclosing[-1].span.end_byte <= span.start_byte:
            enclosing.pop()
        if enclosing and span.end_byte > enclosing[-1].span.end_byte:
            around = enclosing[-1]
            yield f"declaration {index} {each.symbol!r} {span} overlaps {around.symbol!r} {around.span}"
        enclosing.append(each)


def chunk_problems(content: bytes, chunks: list[Chunk]) -> Iterator[str]:
    line_at = Lines(content)
    end = 0
    for chunk in chunks:
        span = chunk.span
        if not 0 <= span.start_byte < span.end_byte <= len(content):
            yield f"chunk lies outside the file: {span}"
        elif problem := line_at.problem(span):
            yield f"chunk {chunk.symbol!r}: {problem}"
        if chunk.synthetic:
            continue
        if span.start_byte != end:
            yield f"leaves do not tile: one ends at {end}, the next is {span}"
        end = span.end_byte
    if end != len(content):
        yield f"leaves do not tile: the last ends at {end} of {len(content)}"


class Lines:
    """Checks the lines of spans against their bytes."""

    def __init__(self, content: bytes) -> None:
        self._ends = [match.start() for match in re.finditer(rb"\n", content)]

    def problem(self, span: Span) -> str:
        """What is wrong with the lines of a span; nothing when they fit."""
        lines = bisect_left(self._ends, span.start_byte) + 1, bisect_left(self._ends, span.end_byte - 1) + 1
        return "" if lines == (span.start_line, span.end_line) else f"{span} is in lines {lines}"


# --- worker and watchdog ------------------------------------------------------------------------------------


def work(connection: Connection) -> None:
    """Checks inputs until there are no more: the worker process."""
    languages = load_languages()
    embedder = load_embedder()
    budget = TokenBudget(embedder.token_budget, embedder.count_tokens)
    for language in languages:  # compiling queries is not what is measured
        parse(b"x", language)
    connection.send("ready")
    while (received := connection.recv()) is not None:
        name, content = received
        language = languages.get(name)
        started = time.process_time()
        try:
            found = list(problems(content, language, budget))[:3] if language else []
        except Exception:  # whatever it is, it is a finding
            found = [traceback.format_exc(limit=-4)]
        connection.send((found, time.process_time() - started))


class Worker:
    """A process that checks inputs, started again when it dies or hangs."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a crash must not take our state with it
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._connection.recv()

    def stop(self) -> None:
        """Lets the process end."""
        self._connection.send(None)
        self._process.join()

    def check(self, language: str, content: bytes) -> tuple[list[str], float]:
        """What failed for an input, and the seconds that it took."""
        try:
            self._connection.send((language, content))
            if self._connection.poll(HANG_SECONDS):
                found, seconds = self._connection.recv()
                if seconds > LIMIT_SECONDS:
                    found.append(f"took {seconds:.1f} s of processor time for {len(content):,} bytes")
                return found, seconds
            found = [f"hung for {HANG_SECONDS:.0f} s"]
        except (EOFError, OSError):
            self._process.join(5)
            found = [f"the worker crashed with exit code {self._process.exitcode}"]
        self._process.kill()
        self._process.join()
        self._start()
        return found, HANG_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--languages", default="")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    files = files_by_language(given.folders, set(filter(None, given.languages.split(","))))
    if not files:
        sys.exit("No file of a known language in these folders.")
    save = given.save or Path(tempfile.mkdtemp(prefix="codesearch-fuzz-"))
    save.mkdir(parents=True, exist_ok=True)
    worker = Worker()
    inputs: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    slowest: dict[str, float] = defaultdict(float)
    size: Counter[str] = Counter()
    for number in [given.only] if given.only is not None else range(given.inputs):
        language, path, done, content = make_input(given.seed, number, files)
        found, seconds = worker.check(language, content)
        inputs[language] += 1
        size[language] += len(content)
        slowest[language] = max(slowest[language], seconds)
        if found:
            failed[language] += 1
            kept = save / f"{number}-{path.name}"
            kept.write_bytes(content)
            print(f"input {number} ({language}, {path}, {'+'.join(done)}), kept as {kept}:", flush=True)
            for problem in found:
                print(f"    {problem[:600]}", flush=True)
    worker.stop()
    print("| language | files | inputs | MB | failed | slowest, s |")
    for language in inputs:
        print(
            f"| {language} | {len(files[language])} | {inputs[language]:,} | {size[language] / 1e6:.1f} "
            f"| {failed[language]} | {slowest[language]:.2f} |"
        )
    return 1 if failed.total() else 0


if __name__ == "__main__":
    sys.exit(main())
