"""Searches restricted to what a range changed, or to lines that chosen commits wrote: applied before ranking."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write
from test_changes import DESK, SEND, WEIGH
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.errors import CodesearchError, RepositoryError, RevisionError, UsageError
from codesearch.settings import Settings
from codesearch.types import Filters, Kind

EVERYTHING = "parcel carrier weigh desk stamp"


def found(root: Path, **how) -> list[str]:
    """What a search under some filters admits, as path#name in order of the path."""
    snapshot = {name: how.pop(name) for name in ("at", "staged") if name in how}
    result = Engine.open(root, Settings()).search(
        EVERYTHING, limit=100, filters=Filters(**how), min_score=0, collapsed=False, **snapshot
    )
    return sorted(f"{hit.path}#{hit.qualified_name}" for hit in result.hits)


def commit_as(root: Path, author: str, day: str, files: dict[str, str | bytes]) -> None:
    """Commits everything as someone, on some day; as an object, because git takes dates from its environment."""
    write(root, files)
    git(root, "add", "-A")
    who = (
        f"{author} <{author.lower()}@example.org> {int(datetime.fromisoformat(f'{day}T12:00+00:00').timestamp())} +0000"
    )
    head = git(root, "rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1))
    parent = f"parent {head}\n" if head else ""
    (root / ".git/raw").write_text(f"tree {git(root, 'write-tree')}\n{parent}author {who}\ncommitter {who}\n\nwork\n")
    git(root, "reset", "-q", "--hard", git(root, "hash-object", "-t", "commit", "-w", ".git/raw"))


@pytest.fixture
def post(tmp_path: Path) -> Path:
    """Ada wrote two functions and a class, Bo edited one of each, and Cy moved the class to another file."""
    root = init(tmp_path / "post")
    commit_as(root, "Ada", "2024-01-10", {"send.py": f"{SEND}\n\n{WEIGH}", "desk.py": DESK})
    commit_as(root, "Bo", "2024-02-10", {"send.py": f"{SEND.replace('Hands', 'Gives')}\n\n{WEIGH}"})
    commit_as(root, "Bo", "2024-03-10", {"desk.py": DESK.replace("8 <=", "9 <=")})
    git(root, "mv", "desk.py", "counter.py")
    commit_as(root, "Cy", "2024-04-10", {})
    return root


def test_only_what_a_range_added_or_changed(post: Path) -> None:
    assert found(post, changed="HEAD~3..HEAD~2") == ["send.py#send"]
    assert found(post, changed="HEAD~3..") == ["counter.py#Desk.open", "send.py#send"]
    assert found(post, changed="HEAD~1..") == []  # moved only
    assert found(post, changed="HEAD~3..", kinds=(Kind.METHOD,)) == ["counter.py#Desk.open"]
    assert found(post, changed="HEAD~3..", paths=("send.py",)) == ["send.py#send"]
    assert found(post, changed="HEAD~3..", symbols=("weigh",)) == []


def test_a_change_counts_where_it_is_now_though_the_file_was_renamed_since(post: Path) -> None:
    assert found(post, changed="HEAD~2..HEAD~1") == ["counter.py#Desk.open"]
    assert found(post, changed="HEAD~2..HEAD~1", at="HEAD~1") == ["desk.py#Desk.open"]


def test_what_the_searched_snapshot_no_longer_has_is_left_out(post: Path) -> None:
    write(post, {"send.py": WEIGH})
    assert found(post, changed="HEAD~3..HEAD") == ["counter.py#Desk.open"]
    assert found(post, changed="HEAD~3..HEAD", at="HEAD") == ["counter.py#Desk.open", "send.py#send"]


def test_what_was_edited_again_is_still_what_the_range_changed(post: Path) -> None:
    write(post, {"send.py": f"# {'x' * 40}\n{SEND.replace('Hands', 'Passes')}\n\n{WEIGH}"})
    assert found(post, changed="HEAD~3..HEAD~2") == ["send.py#send"]


def test_staged_and_unstaged(post: Path) -> None:
    write(post, {"send.py": f"{SEND}\n\n{WEIGH.replace('grams', 'kilograms')}"})
    git(post, "add", "-A")
    write(post, {"stamp.py": "def stamp(parcel):\n    return parcel.mark('stamp')\n"})
    assert found(post, changed="staged") == ["send.py#send", "send.py#weigh"]
    assert found(post, changed="unstaged") == ["stamp.py#stamp"]
    assert found(post, changed="staged", staged=True) == ["send.py#send", "send.py#weigh"]
    assert found(post, changed="HEAD") == ["send.py#send", "send.py#weigh", "stamp.py#stamp"]


def test_lines_of_chosen_commits_that_still_stand(post: Path) -> None:
    assert found(post, authors=("bo",)) == ["counter.py#Desk.open", "send.py#send"]
    assert found(post, authors=("bo",), paths=("counter.py",)) == ["counter.py#Desk.open"]
    assert found(post, since="2024-03-01") == ["counter.py#Desk.open"]
    assert found(post, since="2024-02-01", until="2024-02-28") == ["send.py#send"]
    assert found(post, authors=("Bo",), until="2024-02-28", kinds=(Kind.METHOD,)) == []
    assert found(post, until="2024-01-31", kinds=(Kind.CLASS, Kind.FUNCTION)) == [
        "counter.py#Desk",
        "send.py#send",
        "send.py#weigh",
    ]
    assert found(post, authors=("ada", "bo")) == found(post, until="2024-03-31")
    assert found(post, authors=("cy",)) == []  # a rename writes no line


def test_filters_of_history_intersect(post: Path) -> None:
    assert found(post, changed="HEAD~3..", authors=("bo",), until="2024-02-28") == ["send.py#send"]
    assert found(post, changed="HEAD~3..HEAD~2", since="2024-03-01") == []


def test_lines_that_were_written_over_since_count_no_more(post: Path) -> None:
    commit_as(post, "Di", "2024-05-10", {"send.py": f"{SEND}\n\n{WEIGH}"})
    assert found(post, authors=("bo",)) == ["counter.py#Desk.open"]
    assert found(post, authors=("bo",), at="HEAD~1") == ["counter.py#Desk.open", "send.py#send"]
    # Not committed either: these lines are nobody's yet.
    write(post, {"counter.py": DESK.replace("8 <=", "7 <="), "stamp.py": "def stamp():\n    return parcel\n"})
    assert found(post, authors=("bo",)) == []
    assert found(post, since="2024-05-01") == ["send.py#send"]


def test_line_ends_of_the_work_tree_do_not_matter(post: Path) -> None:
    git(post, "config", "core.autocrlf", "true")
    write(post, {"send.py": f"{SEND.replace('Hands', 'Gives')}\n\n{WEIGH}".replace("\n", "\r\n")})
    assert found(post, authors=("bo",)) == ["counter.py#Desk.open", "send.py#send"]


def test_copies_of_one_blob_are_told_apart(post: Path) -> None:
    write(post, {"copy.py": f"{SEND.replace('Hands', 'Gives')}\n\n{WEIGH}"})
    assert found(post, changed="HEAD") == ["copy.py#send", "copy.py#weigh"]
    assert found(post, changed="HEAD~3..HEAD") == ["counter.py#Desk.open", "send.py#send"]


def test_it_is_what_blaming_every_file_says(replayed: Callable[[str], Path]) -> None:
    root = replayed("thumbnails")
    names = sorted(set(git(root, "log", "--format=%an").splitlines()))
    dates = git(root, "log", "--format=%cI", "--reverse").splitlines()
    for how in ({"authors": (names[0],)}, {"since": dates[len(dates) // 2]}, {"until": dates[len(dates) // 2]}):
        assert found_by_blame(root, how) == standing(root, how), how
        assert found_by_blame(root, how), how


def standing(root: Path, how: dict) -> set[str]:
    """Where the admitted declarations begin, as path:byte."""
    engine = Engine.open(root, Settings())
    corpus, _, commit_ = engine._corpora.corpus(False, None, True, None)
    searcher = engine._searcher(corpus, commit_, False, None, None)
    blobs = {path: git(root, "rev-parse", f"HEAD:{path}") for path in git(root, "ls-files", "-z").split("\0")[:-1]}
    spans = searcher.find_spans(Filters(**how), blobs)
    return {f"{path}:{start}" for path, each in spans.items() for start, _ in each}


def found_by_blame(root: Path, how: dict) -> set[str]:
    """The same, from a blame of every file."""
    options = [f"--{name}={how[name]}" for name in ("since", "until") if name in how]
    chosen = set(git(root, "log", "--format=%H", *options, *(f"--author={a}" for a in how.get("authors", ()))).split())
    engine = Engine.open(root, Settings())
    result = set()
    for path in git(root, "ls-files", "-z").split("\0")[:-1]:
        content = (root / path).read_bytes()
        if b"\0" in content or (root / path).is_symlink():
            continue
        blamed = re.findall(
            r"^([0-9a-f]{40}) \d+ (\d+)(?: \d+)?$", git(root, "blame", "--porcelain", "HEAD", "--", path), re.M
        )
        lines = {int(line) for oid, line in blamed if oid in chosen}
        lines = {line for line in lines if content.split(b"\n")[line - 1].strip()}
        for each in engine._comparer.declared(path, content):
            own = lines & set(range(each.span.start_line, each.span.end_line + 1))
            for member in each.members:
                own -= set(range(member.start_line, member.end_line + 1))
            if own:
                result.add(f"{path}:{each.span.start_byte}")
    return result


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"changed": "nosuch.."}, RevisionError),
        ({"since": "yesturday"}, UsageError),
        ({"until": ""}, UsageError),
        ({"authors": ("[",)}, UsageError),
    ],
)
def test_what_git_does_not_understand_is_one_error_with_a_hint(post: Path, how: dict, error: type) -> None:
    with pytest.raises(error) as raised:
        found(post, **how)
    assert raised.value.hint


def test_today_begins_at_midnight_and_yesterday_is_a_date(post: Path) -> None:
    assert found(post, since="today") == found(post, since="yesterday") == []
    assert len(found(post, until="today")) > 3


def test_where_there_is_no_history(post: Path, tmp_path: Path) -> None:
    for how in ({"changed": "HEAD"}, {"since": "2024-01-01"}):
        new = init(tmp_path / "new")
        write(new, {"send.py": SEND})
        with pytest.raises(RepositoryError) as unborn:
            found(new, **how)
        assert "no commit yet" in f"{unborn.value.message} {unborn.value.hint}"
        write(tmp_path / "plain", {"send.py": SEND})
        with pytest.raises(CodesearchError, match="no git repository") as plain:
            found(tmp_path / "plain", **how)
        assert plain.value.hint


def test_a_shallow_clone_answers_as_far_as_it_can_know(post: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{post}", "shallow")
    shallow = tmp_path / "shallow"
    assert found(shallow, since="2024-03-20") == []
    for how in ({"since": "2024-02-01"}, {"authors": ("ada",)}, {"until": "2024-03-20"}):
        with pytest.raises(RepositoryError, match="shallow") as error:
            found(shallow, **how)
        assert "--unshallow" in error.value.hint


def test_a_bare_repository_is_searched_at_its_head(post: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(post), "bare.git")
    assert found(tmp_path / "bare.git", authors=("bo",)) == ["counter.py#Desk.open", "send.py#send"]
    assert found(tmp_path / "bare.git", changed="HEAD~3..") == ["counter.py#Desk.open", "send.py#send"]


def test_nothing_that_a_repository_configures_is_run(post: Path) -> None:
    git(post, "config", "diff.evil.textconv", "touch PWNED; cat")
    git(post, "config", "filter.evil.clean", "touch PWNED; cat")
    write(post, {".gitattributes": "*.py diff=evil filter=evil\n", "send.py": f"{SEND}\n\n{WEIGH}"})
    found(post, authors=("bo",), changed="HEAD")
    found(post, since="2024-01-01", at="HEAD")
    assert not (post / "PWNED").exists()


def test_the_flags_of_the_command_and_what_stderr_says(post: Path) -> None:
    document = json.loads(codesearch(post, "parcel", "--changed", "HEAD~3..", "--json").stdout)
    assert [hit["qualified_name"] for hit in document["hits"]] == ["send", "Desk.open"]
    assert set(document) == {"schema", "query", "snapshot", "took_ms", "hits"}
    by = codesearch(
        post, "parcel", "--author", "ada", "--author", "bo", "--since", "2024-02-01", "--until", "2024-03-01"
    )
    assert by.stdout.decode().startswith("send.py:1-5  send")
    none = codesearch(post, "parcel", "--author", "no one")
    assert (none.returncode, none.stderr.decode()) == (1, "No declaration passes --author 'no one'.\n")
    similar = codesearch(post, "similar", "send.py#weigh", "--changed", "HEAD~3..", "-l")
    assert set(similar.stdout.decode().split()) <= {"send.py", "counter.py"}
    explained = codesearch(post, "explain", "parcel", "--author", "bo", "--expect", "send.py#weigh")
    assert "The filter --author does not admit it." in explained.stdout.decode()
    wrong = codesearch(post, "parcel", "--changed", "nosuch")
    assert wrong.returncode == 2
    assert wrong.stderr.decode().count("\n") == 2


def test_an_empty_commit_after_it_changes_nothing(post: Path) -> None:
    before = found(post, authors=("bo",))
    commit(post)
    assert found(post, authors=("bo",)) == before
