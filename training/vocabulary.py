"""Counts code-aware terms over checkouts of public repositories and writes the word list of the static model.

Reads folders named `owner+name`, each a git work tree. Uses only those whose licence file is permissive, and
none that is named in the exclude file (the repositories that the model is measured on). Nothing of the
repositories is run, and nothing but counts leaves them.

Writes two files: the word list (term, repositories, files, share) and a data sheet of what was counted.
`share` is the term's part of all terms of a repository, averaged over the repositories, so that a large
repository counts no more than a small one.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codesearch.terms import count_terms, is_whole

SUFFIXES = """
.py .pyi .js .jsx .mjs .cjs .ts .tsx .go .java .php .rb .rake .rs .cs .kt .kts .scala .sbt .swift .c .h .cc .cpp
.hpp .cxx .m .ex .exs .sh .bash .zsh .hs .lua .zig .sql .proto .md .rst .adoc .toml .yaml .yml
"""
# Other people's code inside a repository has a licence of its own, and test data is no one's vocabulary.
FOREIGN = re.compile(
    r"(^|/)(_?vendor(s|ed)?|(third|3rd)[_-]?party|contrib|bundled|submodules|node_modules|deps|external|extern|dist|build|fixtures?|testdata|test[_-]data"
    r"|snapshots?|__snapshots__|locales?|i18n|\.git)(/|$)|\.min\.",
    re.I,
)
LARGEST_FILE = 400_000  # bytes; larger files are generated or data
# Not COPYING.protobuf and the like: those are the licences of what the repository carries along.
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|unlicense)([-.](txt|md|rst|mit|apache|apache2))?$", re.I)
# First match wins, so the more specific wording comes first.
LICENCES = {
    "": "GNU (AFFERO |LESSER )?GENERAL PUBLIC|Mozilla Public License|Eclipse Public|Business Source|ShareAlike",
    "Apache-2.0": r"Apache License,?\s+Version 2\.0",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms.*(neither the name|names? of .{0,80} may)",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms",
    "ISC": r"Permission to use, copy, modify, and(/or)? distribute this software",
    "MIT": r"Permission is hereby granted, free of charge, to any person obtaining",
    "Zlib": r"This software is provided .as-is.*Altered source versions must be plainly marked",
    "BSL-1.0": r"Boost Software License",
    "Unlicense": r"free and unencumbered software released into the public domain",
}
SHORTEST_WORD, LONGEST_WORD = 2, 30  # letters; longer runs are hashes and run-together sentences
LONGEST_NUMBER = 4  # digits; longer numbers are data


@dataclass
class Repository:
    """What was counted in one checkout: in how many files each term occurs, and how often."""

    name: str
    revision: str
    licence: str
    file_count: int = 0
    files: Counter[str] = field(default_factory=Counter)
    occurrences: Counter[str] = field(default_factory=Counter)


def licence_of(folder: Path) -> str:
    """The SPDX name of a permissive licence found in the folder's licence files, or "" for any other."""
    found = ""
    for path in sorted(folder.iterdir()):
        if path.is_file() and LICENCE_FILE.match(path.name):
            text = path.read_text("utf-8", "replace")[:20_000]
            name = next((name for name, pattern in LICENCES.items() if re.search(pattern, text, re.I | re.S)), "")
            found = found or name
    return found


def read_excluded(path: Path) -> set[str]:
    """The names, without their owners, of the repositories that an exclude file lists."""
    lines = path.read_text("utf-8").splitlines()
    return {line.strip().lower().split("/")[-1] for line in lines if line.strip() and not line.startswith("#")}


def is_usable(folder: Path, excluded: set[str]) -> bool:
    """Whether a folder is a checkout under a permissive licence that is not excluded; says why when it is not.

    Excluded by the name alone: a fork or copy has another owner. A namesake is lost, which is the safe side.
    """
    if not (folder / ".git").exists():
        return False
    if folder.name.lower().split("+")[-1] in excluded:
        print(f"{folder.name}: excluded", file=sys.stderr)
        return False
    if not licence_of(folder):
        print(f"{folder.name}: no permissive licence found", file=sys.stderr)
        return False
    return True


def source_files(folder: Path) -> Iterator[Path]:
    """Source and documentation files of a checkout that are its own and not too large."""
    suffixes = frozenset(SUFFIXES.split())
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in suffixes or FOREIGN.search(path.relative_to(folder).as_posix()):
            continue
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_FILE:
            yield path


def is_countable(term: str) -> bool:
    if is_whole(term):
        return False
    if term.isdigit():
        return len(term) <= LONGEST_NUMBER
    return SHORTEST_WORD <= len(term) <= LONGEST_WORD


def revision_of(folder: Path) -> str:
    """The commit that a checkout shows."""
    return subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(folder), "rev-parse", "HEAD"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip


def count_repository(folder: Path, licence: str) -> Repository:
    """Counts the sub-words of every source file of a checkout."""
    counted = Repository(folder.name.replace("+", "/", 1), revision_of(folder), licence)
    for path in source_files(folder):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        counts = {term: times for term, times in count_terms(text).items() if is_countable(term)}
        counted.file_count += 1
        counted.files.update(counts.keys())
        counted.occurrences.update(counts)
    return counted


def teacher_words(vocabulary: Path) -> tuple[set[str], set[str]]:
    """The alphabetic whole words of a WordPiece vocabulary, and its alphabetic continuation pieces."""
    entries = vocabulary.read_text("utf-8").split("\n")
    whole = {word for word in entries if word.isascii() and word.isalpha() and len(word) >= SHORTEST_WORD}
    pieces = {word[2:] for word in entries if word.startswith("##") and word[2:].isascii() and word[2:].isalpha()}
    return whole, pieces


def choose_terms(
    repositories: list[Repository], words: set[str], pieces: set[str], limit: int
) -> list[tuple[str, int, int, float]]:
    """Rows (term, repositories, files, share): teacher words seen in code, pieces, commonest terms."""
    spread: Counter[str] = Counter()
    files: Counter[str] = Counter()
    share: Counter[str] = Counter()
    for repository in repositories:
        spread.update(repository.files.keys())
        files.update(repository.files)
        total = sum(repository.occurrences.values()) or 1
        for term, times in repository.occurrences.items():
            share[term] += times / total / len(repositories)
    chosen = {piece for piece in pieces if len(piece) >= 3}  # shorter pieces fit anything and mean nothing
    chosen |= {word for word in words if files[word] >= 2}  # once may be a typo or a name
    common = sorted(
        (term for term in files if spread[term] >= 2 and files[term] >= 3),
        key=lambda term: (-spread[term], -files[term], term),
    )
    for term in common:
        if len(chosen) >= limit:
            break
        chosen.add(term)
    return [(term, spread[term], files[term], share[term]) for term in sorted(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, help="folder of git work trees, each named owner+name")
    parser.add_argument("--exclude", type=Path, required=True, help="file with one owner/name a line")
    parser.add_argument("--teacher-vocabulary", type=Path, required=True, help="vocab.txt of the teacher model")
    parser.add_argument("--terms", type=int, default=30_000, help="length of the word list (default: %(default)s)")
    parser.add_argument("--words", type=Path, required=True, help="the word list to write (TSV)")
    parser.add_argument("--sources", type=Path, required=True, help="the data sheet to write (TSV)")
    args = parser.parse_args()

    excluded = read_excluded(args.exclude)
    repositories = []
    for folder in (path for path in sorted(args.checkouts.iterdir()) if is_usable(path, excluded)):
        licence = licence_of(folder)
        counted = count_repository(folder, licence)
        print(f"{counted.name}: {counted.file_count} files, {len(counted.files)} terms", file=sys.stderr)
        repositories.append(counted)

    words, pieces = teacher_words(args.teacher_vocabulary)
    rows = choose_terms(repositories, words, pieces, args.terms)
    args.words.write_text("".join(f"{t}\t{s}\t{f}\t{p:.4e}\n" for t, s, f, p in rows), "utf-8")
    lines = ["repository\trevision\tlicence\tfiles\tterms\n"]
    lines += [f"{r.name}\t{r.revision}\t{r.licence}\t{r.file_count}\t{len(r.files)}\n" for r in repositories]
    args.sources.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
