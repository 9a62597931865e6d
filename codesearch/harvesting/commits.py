"""Questions that the subjects of commits ask about the code that the commits changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codesearch.evaluation import Case
from codesearch.harvesting.questions import LONGEST, SHORTEST, declarations_of
from codesearch.languages import Languages
from codesearch.repository import Repository
from codesearch.roles import role_of

COMMITS_READ = 1000  # of a history, newest first: older code has little in common with today's
LARGEST_CHANGE = 150  # lines; a larger commit does many things
MOST_FILES = 3
LARGEST_PLACE = 300  # lines; what changed in a larger class is no one place
_BATCH = 100  # commits whose size is asked for at once
_TICKET = re.compile(
    r"^(?:\[[^\]]*\]\s*|[A-Z]+-\d+:?\s+|[\w./*-]{1,30}(?:\([^)]*\))?!?:\s+)+|\s*\(?(?:gh-|#)\d+\)?\s*$"
)
_SAYS_NOTHING = re.compile(
    r"\b(?:bump|release|merge|revert|version|changelog|typos?|lint\w*|format\w*|readme|docstrings?|licen[cs]e|wip"
    r"|cleanup|refactor\w*|documentation|renam\w+|tests?|specs?|ci|docs?|comments?|deps|dependenc\w+|upgrade"
    r"|warnings?|imports?|whitespace|spelling)\b",
    re.I,
)
_NO_CHANGE_OF_CODE = re.compile(  # types of conventional commits, and what git itself writes
    r"(?:revert|docs?|tests?|chore|ci|build|style|refactor|release)\b(?:\([^)]*\))?!?:"
    r"|(?:Revert|Reapply|fixup!|squash!) ",
    re.I,
)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? ")


def from_history(repository: Repository, languages: Languages, count: int) -> list[Case]:
    """Subjects of commits ask for the declarations that the commits changed, each on the commit's parent.

    Merges, reverts, subjects that tell nothing, large commits and each further use of a subject are left out; so are
    commits whose parent a shallow clone does not have.
    """
    cases: list[Case] = []
    seen = set()
    for commit, parent, subject in _small_commits(repository):
        if subject.lower() in seen:
            continue
        change = _read_change(repository, commit, parent)
        changed = sum(map(len, change.lines.values()))
        expected = list(_changed(repository, languages, change, changed)) if changed <= LARGEST_CHANGE else []
        if expected:
            seen.add(subject.lower())
            cases.append(Case(subject, tuple(expected), parent))
            if len(cases) == count:
                break
    return cases


def question_of(subject: str) -> str:
    """A commit's subject as a question, without ticket numbers and prefixes; "" where it says nothing about code."""
    if _NO_CHANGE_OF_CODE.match(subject.strip()):
        return ""
    text = _TICKET.sub("", subject.strip()).strip().rstrip(".").replace("`", "")
    return text if SHORTEST <= len(text.split()) <= LONGEST and not _SAYS_NOTHING.search(text) else ""


def _small_commits(repository: Repository) -> Iterator[tuple[str, str, str]]:
    """Commit, parent and question of the commits that change little code, newest first.

    In steps, since a history may hold commits of any size: their subjects, then the sizes of those that are left.
    """
    head, _ = repository.head()
    if head is None:
        return
    output = repository.run_git(("log", "--no-merges", f"--max-count={COMMITS_READ}", "--format=%H %P%x00%s", head))
    asking = []
    for line in output.decode("utf-8", "replace").split("\n"):
        ids, _, subject = line.partition("\0")
        commit, _, parent = ids.partition(" ")
        if parent and (question := question_of(subject)):  # the first commit has none, nor the last of a shallow clone
            asking.append((commit, parent, question))
    for start in range(0, len(asking), _BATCH):
        batch = asking[start : start + _BATCH]
        sizes = _sizes(repository, [commit for commit, _, _ in batch])
        for commit, parent, question in batch:
            files = [(path, size) for path, size in sizes.get(commit, ()) if not role_of(path)]
            if 0 < len(files) <= MOST_FILES and 0 < sum(size for _, size in files) <= 2 * LARGEST_CHANGE:
                yield commit, parent, question


def _sizes(repository: Repository, commits: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """By commit the text files that it changed, and how many lines were added and removed."""
    args = ("diff-tree", "--stdin", "-r", "--no-renames", "--diff-filter=M", "--numstat")
    output = repository.run_git(args, stdin="".join(f"{commit}\n" for commit in commits).encode())
    sizes: dict[str, list[tuple[str, int]]] = {}
    files: list[tuple[str, int]] = []
    for line in output.decode("utf-8", "replace").split("\n"):
        added, _, rest = line.partition("\t")
        removed, _, path = rest.partition("\t")
        if not rest:  # a commit, before its files
            files = sizes.setdefault(line, [])
        elif added.isdigit() and removed.isdigit():  # "-" for what is no text
            files.append((path, int(added) + int(removed)))
    return sizes


@dataclass(frozen=True, slots=True)
class _Change:
    """What a commit changed in code: by path the lines before it (1-based), and the blob that had them."""

    lines: dict[str, list[int]]
    blobs: dict[str, str]


def _read_change(repository: Repository, commit: str, parent: str) -> _Change:
    options = ("-r", "-p", "-U0", "--no-renames", "--diff-filter=M", "--full-index", "--no-color")
    output = repository.run_git(("diff-tree", *options, parent, commit))
    lines: dict[str, list[int]] = {}
    blobs: dict[str, str] = {}
    blob = path = ""
    in_header = False
    for line in output.split(b"\n"):
        if line.startswith(b"diff --git "):
            in_header, path = True, ""
        elif in_header and line.startswith(b"index "):
            blob = line[6:].split(b"..")[0].decode()
        elif in_header and line.startswith(b"--- a/"):
            path = line[6:].rstrip(b"\t").decode("utf-8", "surrogateescape")
        elif match := _HUNK.match(line):
            in_header = False
            if path and not role_of(path):
                first, length = int(match[1]), int(match[2] or 1)
                lines.setdefault(path, []).extend(range(max(first, 1), first + max(length, 1)))
                blobs[path] = blob
    return _Change(lines, blobs)


def _changed(repository: Repository, languages: Languages, change: _Change, total: int) -> Iterator[str]:
    """The innermost declarations that hold at least a third of what a commit changed, as FILE:A-B of its parent."""
    contents = repository.read_blobs([change.blobs[path] for path in change.lines])
    for (path, lines), content in zip(change.lines.items(), contents, strict=True):
        declarations = declarations_of(languages, path, content[1] or b"")
        counts: Counter[int] = Counter()
        for line in lines:
            around = [i for i, d in enumerate(declarations) if d.span.start_line <= line <= d.span.end_line]
            if around:
                counts[max(around, key=lambda i: declarations[i].span.start_byte)] += 1
        for index, held in counts.items():
            span = declarations[index].span
            if 3 * held >= total and span.end_line - span.start_line < LARGEST_PLACE:
                yield f"{path}:{span.start_line}-{span.end_line}"
