"""Finds what commits say about the declarations that they changed: their subjects as questions.

Reads the history of a checkout with `git log`; nothing of the repository is run. A commit counts when its subject
tells something (no release, no merge, no formatting) and most of what it changed lies in one or two declarations.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GIT = (
    "git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "diff.external=", "-c", "core.quotePath=false",
)  # fmt: skip
COMMITS_READ = 600  # of a history, newest first: older code has little in common with today's
LARGEST_CHANGE = 150  # changed lines; larger commits do many things
MOST_FILES = 3  # with source code; tests aside
SHORTEST_SUBJECT, LONGEST_SUBJECT = 4, 20  # words

_PREFIX = re.compile(
    r"^(?:\[[^\]]*\]\s*|\(#\d+\)\s*|[A-Z]+-\d+:?\s+|#\d+:?\s+|[\w./*,{} -]{1,40}(?:\([^)]*\))?!?:\s+)+"
)
_SUFFIX = re.compile(r"\s*(?:\(?(?:#\d+|gh-\d+|fix(?:es)? #\d+|closes #\d+)\)?[,.]?\s*)+$", re.I)
_SAYS_NOTHING = re.compile(
    r"\b(?:bump|release|merge|revert|version|changelog|typos?|lint\w*|format\w*|rustfmt|gofmt|clippy|prettier|black"
    r"|ruff|mypy|readme|copyright|licen[cs]e|wip|cleanup|clean up|refactor\w*|renam\w+|tests?|specs?|ci|docs?|comments?"
    r"|nits?|deps|dependenc\w+|upgrade|update to|warnings?|imports?|whitespace|spelling|review|address\w*|todo)\b",
    re.I,
)
_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a commit: the subject, the path, its new blob, and its changed lines (1-based)."""

    subject: str
    path: str
    blob: str
    lines: tuple[int, ...]


def clean_subject(text: str) -> str:
    """A commit's subject without prefixes and ticket numbers, or "" when it tells nothing about code."""
    text = _SUFFIX.sub("", _PREFIX.sub("", text.strip())).strip().rstrip(".").replace("`", "")
    if not text.isascii() or not SHORTEST_SUBJECT <= len(text.split()) <= LONGEST_SUBJECT:
        return ""
    return "" if _SAYS_NOTHING.search(text) else text


def read_changes(folder: Path) -> Iterator[list[Change]]:
    """The changed files of each usable commit, newest first, one list a commit; each subject once."""
    command = [
        *GIT, "-C", str(folder), "log", "-p", "-U0", "--no-merges", "--no-ext-diff", "--no-textconv", "--no-renames",
        "--diff-filter=AM", "--full-index", "--no-color", f"--max-count={COMMITS_READ}", "--format=%x01%s",
    ]  # fmt: skip
    seen = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        for subject, changes in _commits(process.stdout):
            if subject not in seen and 0 < sum(len(c.lines) for c in changes) <= LARGEST_CHANGE:
                seen.add(subject)
                yield changes


def _commits(output: Iterator[bytes]) -> Iterator[tuple[str, list[Change]]]:
    subject, path, blob = "", "", ""
    lines: dict[tuple[str, str], list[int]] = {}
    in_header = False
    for line in output:
        if line.startswith(b"\x01"):
            if subject and lines:
                yield subject, [Change(subject, *key, tuple(found)) for key, found in lines.items()]
            subject, lines = clean_subject(line[1:].decode("utf-8", "replace")), {}
        elif not subject:
            continue
        elif line.startswith(b"diff --git "):
            in_header = True
        elif in_header and line.startswith(b"index "):
            blob = line.split(b"..")[1][:40].decode()
        elif in_header and line.startswith(b"+++ b/"):
            path = line[6:].rstrip(b"\n\t").decode("utf-8", "replace")
        elif match := _HUNK.match(line):
            in_header = False
            first, count = int(match[1]), int(match[2] or 1)
            lines.setdefault((path, blob), []).extend(range(first, first + max(count, 1)))
    if subject and lines:
        yield subject, [Change(subject, *key, tuple(found)) for key, found in lines.items()]


def read_blobs(folder: Path, blobs: list[str]) -> dict[str, bytes]:
    """The contents of blobs; those that are not there are left out."""
    asked = "".join(blob + "\n" for blob in blobs).encode()
    run = subprocess.run([*GIT, "-C", str(folder), "cat-file", "--batch"], input=asked, capture_output=True, check=True)
    contents, at = {}, 0
    for blob in blobs:
        end = run.stdout.index(b"\n", at)
        header = run.stdout[at:end].split()
        at = end + 1
        if header[-1] == b"missing":
            continue
        size = int(header[2])
        contents[blob] = run.stdout[at : at + size]
        at += size + 1
    return contents


def most_changed(spans: list[tuple[int, int]], lines: tuple[int, ...], total: int) -> list[int]:
    """The indices of at most two spans (first and last line) that hold at least a third of all changed lines each."""
    counts = Counter({i: sum(a <= line <= b for line in lines) for i, (a, b) in enumerate(spans)})
    return [i for i, count in counts.most_common(2) if count * 3 >= total]
