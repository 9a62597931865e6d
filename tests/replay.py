"""Replays a folder of fixtures_repos into a real git repository. Knows git and history.toml, not codesearch.

    python tests/replay.py NAME DEST

A fixture is a folder with three things:

* `tree/` holds every file as it is first committed, under the path it then has;
* `history.toml` says what happened, commit by commit (the keys are described below);
* `queries.toml` names what a search at the last commit must find.

`history.toml` opens with `start`, the date of the first commit, and `[authors]`, short name → `Name <mail>`.
Each `[[commit]]` has a `message` and an `author`, and any of these, applied in this order:

    on             the branch to stand on; made from the commit before when it does not exist
    merge          a branch to merge with --no-ff; conflicts are what the other operations resolve
    revert         the `id` of an earlier commit to revert; git writes the message
    rename         [[old path, new path], …]
    delete         [path, …]
    add            [path or glob, …], copied from tree/
    write          [{path, text}, …], for what cannot lie in tree/ (an ignore file would act on this project)
    move_function  [{from, to, begin}, …], cuts a top-level block and appends it to another file
    replace        [{path, old, new}, …]; `old` must occur exactly once
    encode         [{path, newline = "crlf", bom = true}, …], rewrites a file's line ends or adds a mark
    date           when it was made; by default a day and some hours after the commit before
    tag, id        a git tag on the result; a name for `revert`

`[[ignored]]` tables (path, text) are files that lie in the work tree after the last commit and that git must
ignore. Author, committer and dates are fixed and no configuration of the machine is read, so that the
same fixture always gives the same commit ids.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures_repos"
STEP = timedelta(days=1, hours=5, minutes=13)  # so that commits fall on different days and times of day
MAIN = "main"


@dataclass(frozen=True, slots=True)
class Step:
    """The repository stands at this commit, with a clean work tree."""

    number: int
    commit: str
    branch: str
    subject: str


@dataclass(frozen=True, slots=True)
class ExpectedHit:
    """A query of queries.toml and the declaration that answers it at the last commit."""

    query: str
    path: str
    qualified_name: str


def fixture_names() -> list[str]:
    """Names of all fixtures, sorted."""
    return sorted(path.parent.name for path in FIXTURES.glob("*/history.toml"))


def expected_hits(name: str) -> list[ExpectedHit]:
    """What a search of the fixture must find, as queries.toml says."""
    table = tomllib.loads((FIXTURES / name / "queries.toml").read_text(encoding="utf-8"))
    hits = []
    for entry in table["query"]:
        path, _, qualified_name = entry["find"].partition("#")
        hits.append(ExpectedHit(entry["text"], path, qualified_name))
    return hits


def replay(name: str, destination: Path) -> Path:
    """Replays a fixture to its last commit; the repository's folder, on branch main."""
    for _ in replay_steps(name, destination):
        pass
    return destination


def replay_steps(name: str, destination: Path) -> Iterator[Step]:
    """Replays a fixture, pausing after every commit. `destination` must be missing or empty."""
    source = FIXTURES / name
    history = tomllib.loads((source / "history.toml").read_text(encoding="utf-8"))
    destination.mkdir(parents=True, exist_ok=True)
    if any(destination.iterdir()):
        raise ValueError(f"{destination} is not empty")
    # An empty template, so that no hook of the machine runs; named formats, as later gits may have others.
    git(
        destination, "init", "--quiet", f"--initial-branch={MAIN}", "--template=",
        GIT_DEFAULT_HASH="sha1", GIT_DEFAULT_REF_FORMAT="files",
    )  # fmt: skip
    ids: dict[str, str] = {}
    date = history["start"] - STEP
    for number, entry in enumerate(history["commit"], start=1):
        date = entry.get("date", date + STEP)
        try:
            commit, branch, subject = _make_commit(entry, source / "tree", destination, history["authors"], date, ids)
        except (ValueError, KeyError, OSError, subprocess.CalledProcessError) as error:
            detail = getattr(error, "stderr", "") or error
            raise ValueError(f"{name}, commit {number} ({entry.get('message', '')!r}): {detail}") from error
        if "id" in entry:
            ids[entry["id"]] = commit
        yield Step(number, commit, branch, subject)
    for leftover in history.get("ignored", []):
        _write(destination / leftover["path"], leftover["text"].encode())
        git(destination, "check-ignore", "--quiet", leftover["path"])


def git(repository: Path, *arguments: str, **environment: str) -> str:
    """Runs git without any configuration but the repository's own; its output without the last line end."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=repository,
        env=hermetic_environment() | environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout.rstrip("\n")


def hermetic_environment() -> dict[str, str]:
    """The environment without the user's git: no global or system configuration, no GIT_* variables."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return clean | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }


def _make_commit(
    entry: dict[str, Any],
    tree: Path,
    repository: Path,
    authors: dict[str, str],
    date: datetime,
    ids: dict[str, str],
) -> tuple[str, str, str]:
    """Does what one `[[commit]]` says and commits it; the commit's id, branch and subject."""
    identity = _identity(authors[entry["author"]], date)
    branch = (repository / ".git/HEAD").read_text().strip().removeprefix("ref: refs/heads/")
    if "on" in entry and entry["on"] != branch:
        branch = entry["on"]
        exists = git(repository, "branch", "--list", entry["on"])
        git(repository, "switch", "--quiet", *([] if exists else ["--create"]), entry["on"])
    if "merge" in entry:
        _start_merge(repository, entry["merge"], identity)
    if "revert" in entry:
        git(repository, "revert", "--no-commit", ids[entry["revert"]], **identity)
    _change_files(entry, tree, repository)
    git(repository, "add", "--all")
    message = entry["message"] if "revert" not in entry else _prepared_message(repository)
    git(repository, "commit", "--quiet", "--no-verify", "--cleanup=strip", "-m", message, **identity)
    if "tag" in entry:
        git(repository, "tag", entry["tag"])
    commit, subject = git(repository, "log", "-1", "--format=%H%n%s").split("\n")
    return commit, branch, subject


def _identity(author: str, date: datetime) -> dict[str, str]:
    name, mail = author.removesuffix(">").split(" <")
    when = date.isoformat()
    identity: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER"):
        identity |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": mail, f"GIT_{role}_DATE": when}
    return identity


def _start_merge(repository: Path, branch: str, identity: dict[str, str]) -> None:
    """Merges without committing. A conflict is left for the commit's other operations to resolve."""
    try:
        git(repository, "merge", "--no-ff", "--no-commit", "--quiet", branch, **identity)
    except subprocess.CalledProcessError as error:
        if not git(repository, "ls-files", "--unmerged"):
            raise ValueError(error.stderr) from error


def _prepared_message(repository: Path) -> str:
    return (repository / ".git/MERGE_MSG").read_text(encoding="utf-8")


def _change_files(entry: dict[str, Any], tree: Path, repository: Path) -> None:
    for old, new in entry.get("rename", []):
        (repository / new).parent.mkdir(parents=True, exist_ok=True)
        git(repository, "mv", old, new)
    for path in entry.get("delete", []):
        git(repository, "rm", "--quiet", path)
    for pattern in entry.get("add", []):
        for file in _files_matching(tree, pattern):
            _write(repository / file.relative_to(tree), file.read_bytes())
    for write in entry.get("write", []):
        _write(repository / write["path"], write["text"].encode())
    for move in entry.get("move_function", []):
        _move_function(repository / move["from"], repository / move["to"], move["begin"])
    for replace in entry.get("replace", []):
        _replace_once(repository / replace["path"], replace["old"], replace["new"])
    for encode in entry.get("encode", []):
        _encode(repository / encode["path"], encode.get("newline", "lf"), encode.get("bom", False))
    for path in repository.rglob("*"):
        if path.is_file() and ".git" not in path.parts and b"\n<<<<<<< " in b"\n" + path.read_bytes():
            raise ValueError(f"{path.name} has an unresolved conflict")


def _files_matching(tree: Path, pattern: str) -> list[Path]:
    files = sorted(path for path in tree.glob(pattern) if path.is_file())
    if not files:
        raise ValueError(f"tree/ has no {pattern}")
    return files


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _replace_once(path: Path, old: str, new: str) -> None:
    """Replaces text, whatever the file's line ends: `old` and `new` are written with LF in history.toml."""
    content = path.read_bytes().decode()
    if "\r\n" in content:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    if (count := content.count(old)) != 1:
        raise ValueError(f"{path.name}: {old!r} occurs {count} times, not once")
    _write(path, content.replace(old, new).encode())


def _move_function(source: Path, target: Path, begin: str) -> None:
    """Cuts the block whose first line starts with `begin` and appends it to `target`.

    The block ends before the first blank line that is followed by a line indented no deeper than its first
    one. Name the doc comment's or decorator's line in `begin` where the declaration has one above it.
    """
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.startswith(begin)]
    if len(starts) != 1:
        raise ValueError(f"{source.name}: {len(starts)} lines start with {begin!r}, not one")
    start = end = starts[0]
    while end < len(lines) and not (lines[end].isspace() and _dedents(lines[end:])):
        end += 1
    block = "".join(lines[start:end])
    gap = start
    while gap > 0 and lines[gap - 1].isspace():
        gap -= 1
    source.write_text("".join(lines[:gap] + lines[end:]), encoding="utf-8", newline="")
    blank_lines = "\n" * max(start - gap, 1)
    before = target.read_text(encoding="utf-8").rstrip("\n") + "\n"
    target.write_text(before + blank_lines + block.rstrip("\n") + "\n", encoding="utf-8", newline="")


def _dedents(lines: list[str]) -> bool:
    following = next((line for line in lines if not line.isspace()), "")
    return re.match(r"[ \t]", following) is None


def _encode(path: Path, newline: str, bom: bool) -> None:
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if newline == "crlf":
        content = content.replace(b"\n", b"\r\n")
    _write(path, (b"\xef\xbb\xbf" if bom else b"") + content)


def main(arguments: list[str]) -> int:
    """Replays one fixture from the command line and prints a line per commit."""
    if len(arguments) != 2 or arguments[0] not in fixture_names() or shutil.which("git") is None:
        print(f"usage: python tests/replay.py {{{','.join(fixture_names())}}} DEST", file=sys.stderr)
        return 2
    for step in replay_steps(arguments[0], Path(arguments[1])):
        print(f"{step.number:3} {step.commit[:10]} {step.branch}: {step.subject}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
