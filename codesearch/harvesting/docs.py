"""Questions that doc comments ask, and the copy of the files that they are asked of."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from codesearch.errors import RepositoryError
from codesearch.evaluation import Case
from codesearch.harvesting.questions import LONGEST, SHORTEST, declarations_of
from codesearch.languages import Languages
from codesearch.repository import Repository
from codesearch.roles import role_of
from codesearch.types import Declaration, Progress, ProgressCallback

LARGEST_FILE = 1 << 20  # bytes; docs of larger, mostly generated ones are not asked, nor are they in the copy
_SEED = 7
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.!?:](?=\s|$)|\n\s*\n|\n\s*[@:\\*-]")
_NO_SENTENCE = re.compile(
    r"^[@\\]|copyright|licen[cs]e|todo|fixme|generated|do not edit|inheritdoc|deprecated|https?:|see also|[<>{}|]", re.I
)
_BRIEF = re.compile(r"^[@\\]brief\s+")
_ONLY_MARKS = re.compile(r"^[\s/*#\"'!;-]*(?:@(?:module|type)?doc\s*)?[~a-zS]?[\s/*#\"'!;-]*$")


def from_docs(
    repository: Repository, languages: Languages, count: int, folder: Path, progress: ProgressCallback | None = None
) -> list[Case]:
    """First sentences of doc comments ask for their declarations, in a copy of the files that lacks the docs.

    Fills `folder` with that copy. Blanked lines stay as empty ones, so that the places are those of the repository.
    A sentence that names its declaration, or that two declarations have, asks nothing.
    """
    found: list[Case] = []
    entries = repository.snapshot().entries
    for done, entry in enumerate(entries):
        if progress is not None:
            progress(Progress("blanking docs", done, len(entries)))
        try:
            content = repository.read_file(entry.path, max_bytes=LARGEST_FILE)
            blanked, cases = (content, []) if role_of(entry.path) else _without_docs(languages, entry.path, content)
            target = folder / entry.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(blanked)
        except (OSError, RepositoryError):
            continue  # a symbolic link, a submodule, gone in the meantime, or too large
        found += cases
    unique = Counter(case.query.lower() for case in found)
    found = [case for case in found if unique[case.query.lower()] == 1]
    random.Random(_SEED).shuffle(found)  # noqa: S311 - a sample
    return found[:count]


def _without_docs(languages: Languages, path: str, content: bytes) -> tuple[bytes, list[Case]]:
    """A file without the docs of its declarations, and the questions that these ask."""
    declarations = declarations_of(languages, path, content)
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    asked: dict[tuple[str, int], str] = {}
    for declaration in declarations:
        if not declaration.doc or not (place := _doc_lines(lines, declaration)):
            continue
        kept = lines[place[0] - 1 : place[1]]
        for number in range(place[0] - 1, place[1]):
            lines[number] = ""
        if declaration.kind.is_callable and path.endswith((".py", ".pyi")):
            lines[place[0] - 1] = re.sub(r"\S.*", "...", kept[0])  # a body of nothing but its doc must stay a body
        if declaration.kind.is_callable and (question := _first_sentence(declaration)):
            asked[declaration.qualified_name, declaration.span.end_line] = question
    blanked = "\n".join(lines).encode("utf-8", "surrogateescape")
    if not asked:
        return blanked, []
    after = {
        (each.qualified_name, each.span.end_line): each.span
        for each in declarations_of(languages, path, blanked)
        if not each.doc
    }
    cases = [
        Case(question, (f"{path}:{span.start_line}-{span.end_line}",))
        for key, question in asked.items()
        if (span := after.get(key)) is not None
    ]
    return blanked, cases


def _first_sentence(declaration: Declaration) -> str:
    """What a doc says first, as a question; "" where that says nothing, or gives the name away."""
    doc = _BRIEF.sub("", declaration.doc.strip())
    sentence = " ".join(_SENTENCE_END.split(doc, maxsplit=1)[0].split())
    first, _, rest = sentence.partition(" ")
    if first.strip("`*'") == declaration.symbol:  # "Close closes the file", as in Go
        sentence = rest
    if not SHORTEST <= len(sentence.split()) <= LONGEST or _NO_SENTENCE.search(sentence):
        return ""
    return "" if _letters(declaration.symbol) in _letters(sentence) else sentence


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


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
