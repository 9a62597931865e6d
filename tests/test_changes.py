"""What differs between two snapshots, at the grain of declarations: in real repositories, and by the real command."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.errors import CodesearchError, RevisionError
from codesearch.results import Comparison
from codesearch.settings import Settings

SEND = '''\
def send(parcel, address):
    """Hands a parcel over to the carrier that serves an address."""
    carrier = find_carrier(address)
    label = carrier.print_label(parcel.weight, address)
    return carrier.take(parcel, label)
'''
WEIGH = '''\
def weigh(parcel):
    """The weight of a parcel in grams, box and filling included."""
    filling = parcel.volume * FILLING_DENSITY
    return parcel.content_weight + parcel.box.weight + filling
'''
DESK = '''\
class Desk:
    """Where parcels are accepted."""

    def open(self, hour):
        return 8 <= hour < 18

    def accept(self, parcel):
        self.queue.append(parcel)
        return len(self.queue)
'''


def changes(root: Path, between: str) -> Comparison:
    return Engine.open(root, Settings()).changes(between)


def seen(root: Path, between: str) -> list[str]:
    """The changes as lines: what happened, the new place and name, and the old ones where they are others."""
    lines = []
    for each in changes(root, between).changes:
        line = f"{each.change.value} {each.shown.citation} {each.shown.qualified_name}"
        old, new = each.old, each.new
        if old and new and (old.path, old.qualified_name) != (new.path, new.qualified_name):
            line += f" < {old.citation} {old.qualified_name}"
        lines.append(line)
    return lines


@pytest.fixture
def post(tmp_path: Path) -> Path:
    return init(tmp_path / "post", {"send.py": f"{SEND}\n\n{WEIGH}", "desk.py": DESK})


def test_an_edit_is_a_change_of_the_declaration_and_not_of_those_that_it_pushes_down(post: Path) -> None:
    write(post, {"send.py": f"{SEND.replace('find_carrier', 'choose_carrier')}    # done\n\n\n\n{WEIGH}"})
    assert seen(post, "HEAD") == ["changed send.py:1-6 send"]


def test_a_class_is_changed_when_it_is_itself_and_not_when_a_member_is(post: Path) -> None:
    write(post, {"desk.py": DESK.replace("8 <=", "9 <=")})
    assert seen(post, "HEAD") == ["changed desk.py:4-5 Desk.open"]
    write(post, {"desk.py": DESK.replace("accepted", "taken in")})
    assert seen(post, "HEAD") == ["changed desk.py:1-9 Desk"]
    write(post, {"desk.py": DESK + "\n    def close(self):\n        self.queue.clear()\n"})
    assert seen(post, "HEAD") == ["added desk.py:11-12 Desk.close"]


def test_added_and_removed(post: Path) -> None:
    write(post, {"send.py": SEND, "stamp.py": "def stamp(letter):\n    letter.stamped = True\n"})
    assert seen(post, "HEAD") == ["removed HEAD:send.py:8-11 weigh", "added stamp.py:1-2 stamp"]


def test_moved_into_another_file_and_into_a_class(post: Path) -> None:
    method = "".join(f"    {line}" for line in WEIGH.splitlines(keepends=True))
    write(post, {"send.py": SEND, "desk.py": f"{DESK}\n{method}"})
    assert seen(post, "HEAD") == ["moved desk.py:11-14 Desk.weigh < HEAD:send.py:8-11 weigh"]
    write(post, {"scales.py": WEIGH, "desk.py": DESK})
    assert seen(post, "HEAD") == ["moved scales.py:1-4 weigh < HEAD:send.py:8-11 weigh"]


def test_moves_are_matched_as_multisets(post: Path) -> None:
    write(post, {"a.py": WEIGH, "b.py": WEIGH})
    assert seen(post, "HEAD") == ["added a.py:1-4 weigh", "added b.py:1-4 weigh"]
    commit(post)
    (post / "a.py").unlink()
    (post / "b.py").unlink()
    write(post, {"c.py": WEIGH})
    assert seen(post, "HEAD") == [
        "removed HEAD:b.py:1-4 weigh",
        "moved c.py:1-4 weigh < HEAD:a.py:1-4 weigh",
    ]


def test_what_was_moved_is_so_also_where_something_of_its_name_stays_behind(post: Path) -> None:
    write(post, {"scales.py": WEIGH, "send.py": f"{SEND}\n\ndef weigh(parcel):\n    return scales.weigh(parcel)\n"})
    assert seen(post, "HEAD") == [
        "moved scales.py:1-4 weigh < HEAD:send.py:8-11 weigh",
        "added send.py:8-9 weigh",
    ]


def test_renamed_with_the_same_body_or_nearly_so(post: Path) -> None:
    write(post, {"send.py": f"{SEND.replace('def send', 'def dispatch')}\n\n{WEIGH}"})
    assert seen(post, "HEAD") == ["renamed send.py:1-5 dispatch < HEAD:send.py:1-5 send"]
    edited = SEND.replace("def send", "def dispatch").replace("return carrier", "return find")
    write(post, {"send.py": f"{edited}\n\n{WEIGH}"})
    assert seen(post, "HEAD") == ["renamed send.py:1-5 dispatch < HEAD:send.py:1-5 send"]


def test_a_renamed_class_takes_its_members_along(post: Path) -> None:
    write(post, {"desk.py": DESK.replace("class Desk", "class Counter")})
    assert seen(post, "HEAD") == [
        "renamed desk.py:1-9 Counter < HEAD:desk.py:1-9 Desk",
        "moved desk.py:4-5 Counter.open < HEAD:desk.py:4-5 Desk.open",
        "moved desk.py:7-9 Counter.accept < HEAD:desk.py:7-9 Desk.accept",
    ]
    text = codesearch(post, "changes").stdout.decode()
    assert "  renamed  desk.py:1-9  Counter  class, with 2 members  from HEAD:desk.py:1-9 Desk\n" in text
    assert "Counter.open" not in text


def test_a_class_is_no_other_class_only_because_their_first_lines_are_alike(post: Path) -> None:
    write(post, {"desk.py": "class Desk:\n    def open(self):\n        return 1\n"})
    commit(post)
    write(post, {"desk.py": "class Van:\n    def drive(self, to):\n        return self.motor.start(to)\n"})
    assert sorted(line.split()[0] for line in seen(post, "HEAD")) == ["added", "added", "removed", "removed"]


def test_a_renamed_file_moves_what_it_has_and_an_edit_on_the_way_is_a_change(post: Path) -> None:
    git(post, "mv", "desk.py", "counter.py")
    write(post, {"counter.py": DESK.replace("8 <=", "9 <=")})
    git(post, "add", "-A")
    assert seen(post, "staged") == [
        "moved counter.py:1-9 Desk < HEAD:desk.py:1-9 Desk",
        "changed counter.py:4-5 Desk.open < HEAD:desk.py:4-5 Desk.open",
        "moved counter.py:7-9 Desk.accept < HEAD:desk.py:7-9 Desk.accept",
    ]


def test_overloads_are_told_apart(tmp_path: Path) -> None:
    java = "class Post {\n    void send(int a) { one(); }\n    void send(String a) { two(); }\n}\n"
    root = init(tmp_path / "java", {"Post.java": java})
    write(root, {"Post.java": java.replace("void send(int", "void send(long b) { zero(); }\n    void send(int")})
    assert seen(root, "HEAD") == ["added Post.java:2-2 Post.send"]
    write(root, {"Post.java": java.replace("two()", "three()")})
    assert seen(root, "HEAD") == ["changed Post.java:3-3 Post.send"]


def test_line_ends_modes_and_time_stamps_are_no_changes(post: Path) -> None:
    write(post, {"send.py": f"{SEND}\n\n{WEIGH}".replace("\n", "\r\n")})
    (post / "desk.py").chmod(0o755)
    assert seen(post, "HEAD") == []
    assert codesearch(post, "changes").returncode == 1


def test_staged_unstaged_and_the_working_tree_with_untracked_files(post: Path) -> None:
    write(post, {"desk.py": DESK.replace("8 <=", "9 <=")})
    git(post, "add", "-A")
    write(post, {"desk.py": DESK.replace("8 <=", "7 <=").replace("append", "push"), "new.py": WEIGH})
    assert seen(post, "staged") == ["changed :desk.py:4-5 Desk.open"]
    assert seen(post, "unstaged") == [
        "changed desk.py:4-5 Desk.open",
        "changed desk.py:7-9 Desk.accept",
        "added new.py:1-4 weigh",
    ]
    assert changes(post, "unstaged").changes[0].old.citation == ":desk.py:4-5"
    assert [line.split()[1] for line in seen(post, "HEAD")] == ["desk.py:4-5", "desk.py:7-9", "new.py:1-4"]


def test_edits_that_git_was_told_not_to_see_count(post: Path) -> None:
    git(post, "update-index", "--assume-unchanged", "desk.py")
    write(post, {"desk.py": DESK.replace("8 <=", "9 <=")})
    assert seen(post, "HEAD") == seen(post, "unstaged") == ["changed desk.py:4-5 Desk.open"]


def test_ranges_of_revisions(post: Path) -> None:
    git(post, "switch", "-qc", "night")
    write(post, {"desk.py": DESK.replace("8 <=", "0 <=")})
    commit(post)
    git(post, "switch", "-q", "main")
    write(post, {"send.py": SEND})
    commit(post)
    git(post, "switch", "-q", "night")
    both = ["changed desk.py:4-5 Desk.open", "added send.py:8-11 weigh"]
    base = git(post, "merge-base", "main", "night")[:12]
    assert seen(post, "main..night") == seen(post, "main..") == seen(post, "main") == both
    assert seen(post, "main...night") == seen(post, "main...") == both[:1]
    assert changes(post, "main...").changes[0].old.citation == f"{base}:desk.py:4-5"
    assert seen(post, "..main") == ["changed main:desk.py:4-5 Desk.open", "removed HEAD:send.py:8-11 weigh"]
    assert seen(post, "main^!") == ["removed main^:send.py:8-11 weigh"]
    assert [line.split()[0] for line in seen(post, f"{base}^!")] == ["added"] * 5


def test_what_is_cited_is_what_show_shows(post: Path) -> None:
    write(post, {"send.py": SEND, "desk.py": DESK.replace("8 <=", "9 <=")})
    git(post, "add", "-A")
    engine = Engine.open(post, Settings())
    for between in ("HEAD", "staged"):
        for change in engine.changes(between).changes:
            for version in (change.old, change.new):
                if version is not None:
                    shown = engine.show(version.citation)
                    assert (shown.qualified_name, shown.start_line) == (version.qualified_name, version.start_line)
    write(post, {"desk.py": DESK})
    (staged,) = [each for each in engine.changes("staged").changes if each.new]
    assert staged.new.citation == ":desk.py:4-5"
    assert engine.show(staged.new.citation).lines[1].strip() == "return 9 <= hour < 18"


def test_files_that_differ_outside_declarations_are_named_and_no_changes(post: Path) -> None:
    write(post, {"send.py": f"import os\n\n{SEND}\n\n{WEIGH}", "post.conf": "open = 8", "logo.bin": b"\0\1"})
    found = changes(post, "HEAD")
    assert (found.changes, found.elsewhere) == ((), ("post.conf", "send.py"))
    assert [(each.path, each.reason.value) for each in found.skipped] == [("logo.bin", "binary")]
    done = codesearch(post, "changes")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == (
        "No declaration differs between HEAD and working tree.\n"
        "3 other files differ, outside declarations: post.conf, send.py, logo.bin\n"
    )


def test_every_commit_of_a_fixture_reads_the_same_from_either_side(replayed: Callable[[str], Path]) -> None:
    root = replayed("thumbnails")
    engine = Engine.open(root, Settings())
    commits = git(root, "rev-list", "--first-parent", "HEAD").split()
    opposite = {"added": "removed", "removed": "added"}
    for new, old in pairwise(commits):
        forth, back = engine.changes(f"{old}..{new}").changes, engine.changes(f"{new}..{old}").changes

        def counted(changes, turn):
            return sorted(turn.get(each.change.value, each.change.value) for each in changes)

        assert counted(forth, {}) == counted(back, opposite), (old, new)


def test_a_file_that_one_side_cannot_be_read_of_is_named_and_not_compared(post: Path) -> None:
    write(post, {"desk.py": DESK + "\0", "send.py": SEND})
    commit(post)
    git(post, "show", "HEAD:send.py")
    lost = git(post, "rev-parse", "HEAD~1:send.py")
    (post / ".git/objects" / lost[:2] / lost[2:]).unlink()
    found = changes(post, "HEAD~1..HEAD")
    assert found.changes == ()
    assert [(each.path, each.reason.value) for each in found.skipped] == [
        ("desk.py", "binary"),
        ("send.py", "unreadable"),
    ]


def test_a_clone_without_contents_names_the_files(post: Path, tmp_path: Path) -> None:
    git(post, "mv", "desk.py", "counter.py")
    write(post, {"counter.py": DESK.replace("8 <=", "9 <=")})
    commit(post)
    git(post, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{post}", "partial")
    found = changes(tmp_path / "partial", "HEAD~1..HEAD")
    assert [(each.path, each.reason.value) for each in found.skipped] == [
        ("counter.py", "unreadable"),
        ("desk.py", "unreadable"),
    ]


def test_before_the_first_commit_what_is_staged_is_added(tmp_path: Path) -> None:
    root = init(tmp_path / "new")
    write(root, {"send.py": SEND})
    git(root, "add", "-A")
    assert seen(root, "staged") == ["added send.py:1-5 send"]
    with pytest.raises(RevisionError) as error:
        changes(root, "HEAD")
    assert error.value.hint == "There is no commit yet; commit something first."


@pytest.mark.parametrize("between", ["nosuch", "nosuch..HEAD", "HEAD..nosuch", "a..b..c", "", "--output=x", "..-x"])
def test_what_is_no_range_is_one_error_with_a_hint(post: Path, between: str) -> None:
    with pytest.raises(RevisionError) as error:
        changes(post, between)
    assert error.value.hint
    assert not (post / "x").exists()


def test_unrelated_histories_have_no_common_ancestor(post: Path) -> None:
    git(post, "switch", "-q", "--orphan", "other")
    commit(post)
    with pytest.raises(RevisionError, match="no common ancestor"):
        changes(post, "main...other")
    assert all(line.startswith("removed") for line in seen(post, "main..other"))


def test_shallow_clones_plain_folders_and_bare_repositories(post: Path, tmp_path: Path) -> None:
    write(post, {"send.py": SEND})
    commit(post)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{post}", "shallow")
    with pytest.raises(RevisionError) as error:
        changes(tmp_path / "shallow", "HEAD~1..HEAD")
    assert "shallow" in error.value.hint
    (tmp_path / "plain").mkdir()
    with pytest.raises(CodesearchError) as error:
        changes(tmp_path / "plain", "HEAD")
    assert error.value.hint
    git(tmp_path, "clone", "-q", "--bare", str(post), "bare.git")
    assert seen(tmp_path / "bare.git", "HEAD~1..HEAD") == ["removed HEAD~1:send.py:8-11 weigh"]
    with pytest.raises(RevisionError, match="no working tree"):
        changes(tmp_path / "bare.git", "HEAD")


def test_the_command_prints_text_and_json_and_restricts_them(post: Path) -> None:
    write(
        post, {"send.py": SEND, "desk.py": DESK.replace("8 <=", "9 <="), "sub/näme.go": "package p\n\nfunc Do() {}\n"}
    )
    text = codesearch(post, "changes")
    assert text.returncode == 0
    assert text.stdout.decode() == (
        "desk.py\n  changed  desk.py:4-5  Desk.open  method\n\n"
        "send.py\n  removed  HEAD:send.py:8-11  weigh  function\n\n"
        "sub/näme.go\n  added    sub/näme.go:3-3  Do  function\n\n"
        "1 added, 1 changed, 1 removed; from HEAD to working tree\n"
    )
    document = json.loads(codesearch(post, "changes", "HEAD", "desk.py", "--json").stdout)
    assert document["schema"] == 1
    assert document["old"] == {"place": "commit", "name": "HEAD", "commit": git(post, "rev-parse", "HEAD")}
    (file,) = document["files"]
    (change,) = file["changes"]
    assert (file["path"], change["change"], change["old"]["citation"]) == ("desk.py", "changed", "HEAD:desk.py:4-5")
    assert document["counts"] == {"added": 0, "changed": 1, "moved": 0, "renamed": 0, "removed": 0}
    assert codesearch(post, "changes", "-t", "go").stdout.decode().count("\n  ") == 1
    assert codesearch(post, "changes", "--kind", "method").stdout.decode().splitlines()[0] == "desk.py"
    assert codesearch(post, "changes", "--kind", "struct").returncode == 1
    # From a folder, paths count from there; a first word that is no revision may be a path.
    inside = codesearch(post / "sub", "changes", "../desk.py")
    assert inside.stdout.decode().splitlines()[1] == "  changed  ../desk.py:4-5  Desk.open  method"
    assert codesearch(post, "changes", "HEAD", "nosuch.py").returncode == 2
    wrong = codesearch(post, "changes", "in", "parser")
    assert wrong.returncode == 2
    assert "codesearch -- changes in parser" in wrong.stderr.decode()
