"""Makes cases from a repository itself: its doc comments, and what its commits say about the code that they changed.

Both are as noisy as people's words are: they compare two ways of searching, they do not grade one.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codesearch.evaluation import Case
from codesearch.languages import Languages
from codesearch.parsing import parse
from codesearch.repository import Repository
from codesearch.roles import role_of
from codesearch.types import Declaration

COMMITS_READ = 1000
LARGEST_CHANGE = 150  # lines; a larger commit does many things
MOST_FILES = 3
LARGEST_PLACE = 300  # lines; what changed in a larger class is no one place
SHORTEST, LONGEST = 4, 30  # words of a query
_SEED = 7
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.!?:](?=\s|$)|\n\s*\n|\n\s*[@:\\*-]")
_NO_SENTENCE = re.compile(
    r"copyright|licen[cs]e|todo|fixme|generated|do not edit|inheritdoc|deprecated|https?:|see also|[<>{}|]", re.I
)
_TICKET = re.compile(
    r"^(?:\[[^\]]*\]\s*|[A-Z]+-\d+:?\s+|[\w./*-]{1,30}(?:\([^)]*\))?!?:\s+)+|\s*\(?(?:gh-|#)\d+\)?\s*$"
)
_SAYS_NOTHING = re.compile(
    r"\b(?:bump|release|merge|revert|version|changelog|typos?|lint\w*|format\w*|readme|docstrings?|licen[cs]e|wip|cleanup|refactor\w*"
    r"|renam\w+|tests?|specs?|ci|docs?|comments?|deps|dependenc\w+|upgrade|warnings?|imports?|whitespace|spelling)\b",
    re.I,
)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? ")
_ONLY_MARKS = re.compile(r"^[\s/*#\"'!;-]*(?:@(?:module|type)?doc\s*)?[~a-zS]?[\s/*#\"'!;-]*$")


def from_history(repository: Repository, languages: Languages, count: int) -> list[Case]:
    """Subjects of commits ask for the declarations that the commits changed, each on the commit's parent.

    Merges, reverts, subjects that tell nothing, large commits and each further use of a subject are left out; so are
    commits whose parent a shallow clone does not have.
    """
    cases: list[Case] = []
    seen = set()
    for commit in _commits(repository):
        subject = _TICKET.sub("", commit.subject.strip()).strip().rstrip(".").replace("`", "")
        if not SHORTEST <= len(subject.split()) <= LONGEST or _SAYS_NOTHING.search(subject) or subject in seen:
            continue
        files = {path: lines for path, lines in commit.lines.items() if not role_of(path)}
        changed = sum(map(len, files.values()))
        if not 0 < changed <= LARGEST_CHANGE or len(files) > MOST_FILES:
            continue
        expected = list(_changed(repository, languages, commit, files, changed))
        if expected:
            seen.add(subject)
            cases.append(Case(subject, tuple(expected), commit.parent))
            if len(cases) == count:
                break
    return cases


@dataclass(frozen=True, slots=True)
class _Commit:
    """What a commit changed: by path the lines before it (1-based), and the blob that had them."""

    parent: str
    subject: str
    lines: dict[str, list[int]]
    blobs: dict[str, str]


def _commits(repository: Repository) -> Iterator[_Commit]:
    output = repository.run_git(
        (
            "log", "-p", "-U0", "--no-merges", "--no-renames", "--diff-filter=M", "--full-index", "--no-color",
            f"--max-count={COMMITS_READ}", "--format=%x01%P%x00%s",
        )
    )  # fmt: skip
    for part in output.split(b"\x01")[1:]:
        head, _, body = part.partition(b"\n")
        parent, _, subject = head.decode("utf-8", "replace").partition("\0")
        lines: dict[str, list[int]] = {}
        blobs: dict[str, str] = {}
        blob = path = ""
        for line in body.split(b"\n"):
            if line.startswith(b"index "):
                blob = line[6:].split(b"..")[0].decode()
            elif line.startswith(b"--- a/"):
                path = line[6:].rstrip(b"\t").decode("utf-8", "replace")
            elif match := _HUNK.match(line):
                first, length = int(match[1]), int(match[2] or 1)
                lines.setdefault(path, []).extend(range(max(first, 1), first + max(length, 1)))
                blobs[path] = blob
        if parent and lines:
            yield _Commit(parent, subject, lines, blobs)


def _changed(
    repository: Repository, languages: Languages, commit: _Commit, files: dict[str, list[int]], total: int
) -> Iterator[str]:
    """The innermost declarations that hold at least a third of what a commit changed, as FILE:A-B of its parent."""
    for path, content in zip(files, repository.read_blobs([commit.blobs[path] for path in files]), strict=True):
        declarations = _declarations(languages, path, content[1] or b"")
        counts: Counter[int] = Counter()
        for line in files[path]:
            around = [i for i, d in enumerate(declarations) if d.span.start_line <= line <= d.span.end_line]
            if around:
                counts[max(around, key=lambda i: declarations[i].span.start_byte)] += 1
        for index, held in counts.items():
            span = declarations[index].span
            if 3 * held >= total and span.end_line - span.start_line < LARGEST_PLACE:
                yield f"{path}:{span.start_line}-{span.end_line}"


def _declarations(languages: Languages, path: str, content: bytes) -> Sequence[Declaration]:
    language = languages.for_path(path, content[:256])
    return parse(content, language).declarations if language is not None and language.syntax is not None else ()


def from_docs(repository: Repository, languages: Languages, count: int, folder: Path) -> list[Case]:
    """First sentences of doc comments ask for their declarations, in a copy of the files that lacks the docs.

    Fills `folder` with that copy. Blanked lines stay as empty ones, so that the places are those of the repository.
    """
    found: list[Case] = []
    for entry in repository.snapshot().entries:
        try:
            content = repository.read_file(entry.path, max_bytes=1 << 20)
        except OSError:
            continue
        target = folder / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        blanked, cases = (content, []) if role_of(entry.path) else _without_docs(languages, entry.path, content)
        target.write_bytes(blanked)
        found += cases
    unique = Counter(case.query for case in found)
    found = [case for case in found if unique[case.query] == 1]
    random.Random(_SEED).shuffle(found)  # noqa: S311 - a sample
    return found[:count]


def _without_docs(languages: Languages, path: str, content: bytes) -> tuple[bytes, list[Case]]:
    """A file without the docs of its declarations, and the questions that these ask."""
    declarations = _declarations(languages, path, content)
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    asked: dict[str, tuple[str, int]] = {}
    for declaration in declarations:
        if not declaration.doc or not (place := _doc_lines(lines, declaration)):
            continue
        kept = lines[place[0] - 1 : place[1]]
        for number in range(place[0] - 1, place[1]):
            lines[number] = ""
        if declaration.kind.is_callable and path.endswith((".py", ".pyi")):
            lines[place[0] - 1] = re.sub(r"\S.*", "...", kept[0])  # a body of nothing but its doc must stay a body
        sentence = " ".join(_SENTENCE_END.split(declaration.doc.strip(), maxsplit=1)[0].split())
        words = len(sentence.split())
        if declaration.kind.is_callable and SHORTEST <= words <= LONGEST and not _NO_SENTENCE.search(sentence):
            asked[declaration.qualified_name] = sentence, declaration.span.end_line
    blanked = "\n".join(lines).encode("utf-8", "surrogateescape")
    if not asked:
        return blanked, []
    after = {(d.qualified_name, d.span.end_line): d.span for d in _declarations(languages, path, blanked)}
    cases = [
        Case(sentence, (f"{path}:{span.start_line}-{span.end_line}",))
        for name, (sentence, end) in asked.items()
        if (span := after.get((name, end))) is not None
    ]
    return blanked, cases


def _doc_lines(lines: Sequence[str], declaration: Declaration) -> tuple[int, int] | None:
    """The first and last line (1-based) of a doc that has its lines for itself; None where it shares one with code."""
    said = [line.strip() for line in declaration.doc.splitlines() if line.strip()]
    span = declaration.span
    first = last = 0
    for number in range(span.start_line, span.end_line + 1):
        if not said:
            break
        if said[0] in lines[number - 1]:
            if not _ONLY_MARKS.match(lines[number - 1].replace(said[0], "", 1)):
                return None
            first, last = first or number, number
            said.pop(0)
        elif first and not _ONLY_MARKS.match(lines[number - 1]):
            return None
    if said or not first:
        return None
    while first > span.start_line and lines[first - 2].strip() and _ONLY_MARKS.match(lines[first - 2]):
        first -= 1
    while last < span.end_line and lines[last].strip() and _ONLY_MARKS.match(lines[last]):
        last += 1
    return first, last
