"""Repositories as they should not be: a named skip or a right answer, never a traceback, never a wrong line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write

from codesearch import Engine
from codesearch.errors import RepositoryError
from codesearch.settings import Settings
from codesearch.types import SkipReason

PROJECT = Path(__file__).resolve().parent.parent
ANCHOR = 'def raise_anchor(chain):\n    """Pulls the anchor up."""\n    return chain\n'


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`codesearch ARGUMENTS` as a process of its own; whatever happens, there is no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "codesearch", *arguments],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(PROJECT)}, capture_output=True, text=True, timeout=60,
        check=False, errors="surrogateescape",
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


def places(root: Path, query: str, **how) -> list[str]:
    """Hits as `path:start-end`, after checking that every one cites lines that its file on disk has."""
    result = Engine.open(root, Settings()).search(query, **how)
    for hit in result.hits:
        text = (root / hit.path).read_bytes().decode("utf-8", "replace")
        lines = text.removeprefix("\ufeff").split("\n")  # a byte order mark is no part of the first line
        assert 1 <= hit.start_line <= hit.end_line <= len(lines)
        assert hit.symbol in "\n".join(lines[hit.start_line - 1 : hit.end_line])
        for offset, line in enumerate(hit.snippet.lines):
            assert line == lines[hit.snippet.start_line - 1 + offset].rstrip("\r")
    return [f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in result.hits]


def skipped(root: Path) -> dict[str, SkipReason]:
    """What an index run leaves out, and why."""
    return {each.path: each.reason for each in Engine.open(root, Settings()).index().skipped}


# --- repositories --------------------------------------------------------------------------------------------


def test_repository_without_any_file(tmp_path: Path) -> None:
    root = init(tmp_path / "empty", {})
    assert Engine.open(root, Settings()).index().files.total == 0
    assert places(root, "anchor") == []
    done = command(root, "anchor")
    assert (done.returncode, done.stdout) == (1, "")


def test_repository_without_any_commit(tmp_path: Path) -> None:
    root = init(tmp_path / "unborn")
    assert places(root, "anchor") == []
    write(root, {"anchor.py": ANCHOR})
    assert places(root, "raise_anchor") == ["anchor.py:1-3"]
    git(root, "add", "anchor.py")
    assert places(root, "raise_anchor") == ["anchor.py:1-3"]
    assert places(root, "raise_anchor", staged=True) == ["anchor.py:1-3"]
    report = Engine.open(root, Settings()).index()
    assert (report.commit, report.files.total, report.declarations.total) == (None, 1, 1)
    with pytest.raises(RepositoryError, match="unknown revision 'HEAD'"):
        Engine.open(root, Settings()).search("anchor", at="HEAD")
    commit(root)
    assert places(root, "raise_anchor") == ["anchor.py:1-3"]


@pytest.mark.parametrize("revision", ["no-such-branch", "--all", "HEAD~99", "0" * 40, ""])
def test_unknown_revision_exits_2_and_names_it(tmp_path: Path, revision: str) -> None:
    root = init(tmp_path / "repository", {"anchor.py": ANCHOR})
    done = command(root, "anchor", f"--at={revision}")
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("Error: ")
    assert revision in error
    assert hint.startswith("Hint: ")


def test_plain_folder_is_searched_and_kept_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "folder"
    write(root, {"anchor.py": ANCHOR})
    assert places(root, "raise_anchor") == ["anchor.py:1-3"]
    write(root, {"anchor.py": "\n\n" + ANCHOR, "more.py": "def drop_anchor():\n    return None\n"})
    assert places(root, "raise_anchor")[0] == "anchor.py:3-5"
    assert places(root, "drop_anchor")[0] == "more.py:1-2"
    (root / "anchor.py").unlink()
    assert places(root, "raise_anchor") != ["anchor.py:3-5"]
    assert sorted(path.name for path in root.iterdir()) == ["more.py"]  # nothing of ours lies in it
    with pytest.raises(RepositoryError):
        Engine.open(root, Settings()).search("anchor", at="HEAD")


def test_folder_that_does_not_exist_exits_2(tmp_path: Path) -> None:
    done = command(tmp_path, "-C", "nowhere", "anchor")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")


# --- files that cannot be read -------------------------------------------------------------------------------


def test_what_is_no_regular_file_is_skipped_or_left_out(tmp_path: Path) -> None:
    root = init(tmp_path / "repository", {"anchor.py": ANCHOR, "pipe.py": ANCHOR, "inside/gone.py": ANCHOR})
    (tmp_path / "secret.py").write_text("def secret_plan():\n    return 1\n")
    (root / "dangling.py").symlink_to("nowhere")
    (root / "outside.py").symlink_to(tmp_path / "secret.py")
    (root / "linked").symlink_to(tmp_path)
    commit(root)
    (root / "pipe.py").unlink()
    os.mkfifo(root / "pipe.py")  # a reader would wait for ever
    (root / "inside/gone.py").unlink()
    (root / "inside").rmdir()
    (root / "inside").symlink_to(tmp_path)  # a folder that leads elsewhere now
    (tmp_path / "gone.py").write_text("def secret_plan():\n    return 2\n")

    reasons = skipped(root)
    assert reasons["dangling.py"] == reasons["outside.py"] == reasons["linked"] == SkipReason.SYMLINK
    assert set(reasons) <= {"dangling.py", "outside.py", "linked", "inside", "pipe.py"}
    assert places(root, "secret_plan", limit=5) == []
    assert places(root, "raise_anchor") == ["anchor.py:1-3"]


@pytest.mark.parametrize("swapped_for", ["nothing", "folder", "pipe", "symlink"])
def test_file_swapped_between_listing_and_reading(tmp_path: Path, swapped_for: str) -> None:
    root = init(tmp_path / "repository", {"anchor.py": ANCHOR, "rope.py": "def coil_rope():\n    return 0\n"})
    (tmp_path / "secret.py").write_text("def secret_plan():\n    return 1\n")
    engine = Engine.open(root, Settings())
    take_snapshot = engine.repository.snapshot

    def then_swap(**how):
        taken = take_snapshot(**how)
        (root / "rope.py").unlink()
        if swapped_for == "folder":
            (root / "rope.py").mkdir()
        elif swapped_for == "pipe":
            os.mkfifo(root / "rope.py")
        elif swapped_for == "symlink":
            (root / "rope.py").symlink_to(tmp_path / "secret.py")
        return taken

    engine.repository.snapshot = then_swap
    report = engine.index()
    unreadable = [each.path for each in report.skipped if each.reason == SkipReason.UNREADABLE]
    assert unreadable == ([] if swapped_for == "nothing" else ["rope.py"])
    assert places(root, "raise_anchor") == ["anchor.py:1-3"]
    assert places(root, "secret_plan") == []

    # Back again, and git sees no difference: it must be found all the same.
    if swapped_for == "folder":
        (root / "rope.py").rmdir()
    else:
        (root / "rope.py").unlink(missing_ok=True)
    git(root, "checkout", "--", "rope.py")
    assert places(root, "coil_rope")[0] == "rope.py:1-2"
    assert skipped(root) == {}
    assert places(root, "coil_rope")[0] == "rope.py:1-2"


def test_file_edited_after_it_was_ranked_is_not_cited_wrongly(tmp_path: Path) -> None:
    root = init(tmp_path / "repository", {"anchor.py": ANCHOR, "chain.py": "def anchor_chain():\n    return 1\n"})
    engine = Engine.open(root, Settings())
    engine.index()
    read_file = engine.repository.read_file

    def after_an_edit(path: str, max_bytes: int | None = None) -> bytes:
        if path == "anchor.py":
            write(root, {"anchor.py": "# edited\n" * 9 + ANCHOR})
        return read_file(path, max_bytes)

    engine.repository.read_file = after_an_edit
    for hit in engine.search("anchor").hits:
        lines = (root / hit.path).read_text().split("\n")
        assert hit.path == "chain.py" or hit.commit is not None  # what the commit holds may be cited as such
        assert hit.path != "chain.py" or lines[hit.start_line - 1] == "def anchor_chain():"


# --- contents ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "cited"),
    [
        (b"x = '\xff\xfe\x80'\n\n\n" + ANCHOR.encode() + b"# \xc3\n", "a.py:4-6"),
        (ANCHOR.replace("\n", "\r\n").encode(), "a.py:1-3"),
        (("# one\r# two\n\n" + ANCHOR).encode(), "a.py:3-5"),
        (b"\xef\xbb\xbf" + ANCHOR.encode(), "a.py:1-3"),
        (("\n" * 500 + ANCHOR).encode(), "a.py:501-503"),
        (("# \u2028 \u0085 \x0b \x0c \x1c\n\n" + ANCHOR).encode(), "a.py:3-5"),
        (ANCHOR.rstrip("\n").encode(), "a.py:1-3"),
        (("# " + "🪝" * 2000 + "\n\n" + ANCHOR).encode(), "a.py:3-5"),
        ((ANCHOR + "def broken(:\n    ((((\n").encode(), "a.py:1-3"),
        (b"# " + b"x" * 9000 + b"\0\n\n" + ANCHOR.encode(), "a.py:3-5"),
    ],
    ids=[
        "broken UTF-8", "CRLF", "lone CR", "byte order mark", "blank lines", "other line separators",
        "no last line end", "a long line of emoji", "syntax error", "NUL far inside",
    ],
)  # fmt: skip
def test_unusual_text_is_cited_exactly(tmp_path: Path, content: bytes, cited: str) -> None:
    root = init(tmp_path / "repository", {"a.py": content})
    assert places(root, "raise_anchor")[0] == cited
    assert skipped(root) == {}
    write(root, {"a.py": b"#\n" + content})  # and the same by way of the overlay
    assert places(root, "raise_anchor")[0].startswith("a.py:")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("blob.py", b"\0" + ANCHOR.encode(), SkipReason.BINARY),
        ("wide.py", ANCHOR.encode("utf-16"), SkipReason.UNDECODABLE),
        ("huge.py", (ANCHOR * 900_000)[: 50 * 1024 * 1024].encode(), SkipReason.TOO_LARGE),
        ("line.js", b"var a=1;" * (10 * 1024 * 1024 // 8), SkipReason.TOO_LARGE),
        ("small.js", b"var a=1;" * 200_000, SkipReason.MINIFIED),
        ("big.unknown", b"word another\n" * 60_000, SkipReason.TOO_LARGE),
        ("package-lock.json", b'{"name": "x"}\n', SkipReason.GENERATED),
        ("model.py", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", SkipReason.LFS_POINTER),
    ],
)
def test_what_is_not_worth_indexing_is_named(tmp_path: Path, name: str, content: bytes, reason: SkipReason) -> None:
    root = init(tmp_path / "repository", {name: content, "anchor.py": ANCHOR})
    assert skipped(root) == {name: reason}
    assert places(root, "raise_anchor") == ["anchor.py:1-3"]
    state = Engine.open(root, Settings()).status()
    assert [(each.path, each.reason) for each in state.skipped] == [(name, reason)]
    write(root, {"anchor.py": "import os\n" + ANCHOR})
    assert places(root, "raise_anchor", limit=1) == ["anchor.py:2-4"]


@pytest.mark.parametrize("content", ["", "\n", "\n" * 1000, " ", "\ufeff", "#", "{", "\r", "\r\n\r\n"])
@pytest.mark.parametrize("name", ["a.py", "a.go", "a.md", "a.txt", "a.ipynb"])
def test_next_to_empty_files(tmp_path: Path, name: str, content: str) -> None:
    root = tmp_path / "folder"
    write(root, {name: content, "anchor.py": ANCHOR})
    engine = Engine.open(root, Settings(home=tmp_path / "home"))
    assert engine.search("raise_anchor").hits[0].path == "anchor.py"
    engine.outline([name])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.py", "x = " + "(" * 2000 + ")" * 2000 + "\n"),
        ("deep.py", "".join(" " * level + f"def level_{level}():\n" for level in range(300)) + " " * 300 + "pass\n"),
        ("deep.js", "function f() {" * 2000 + "}" * 2000 + "\n"),
        ("deep.json", "[" * 2000 + "]" * 2000),
        ("deep.rs", "mod a {\n" * 2000 + "}\n" * 2000),
        ("deep.md", "".join(f"{'#' * (level % 6 + 1)} Level {level}\n" for level in range(2000))),
        ("deep.c", "int f() " + "{\n" * 2000 + "}\n" * 2000),
    ],
    ids=["parentheses", "functions", "JavaScript", "JSON", "modules", "headings", "blocks"],
)
def test_deep_nesting(tmp_path: Path, name: str, text: str) -> None:
    root = init(tmp_path / "repository", {name: text, "anchor.py": ANCHOR})
    assert places(root, "raise_anchor")[0] == "anchor.py:1-3"
    Engine.open(root, Settings()).outline([name])


# --- paths ---------------------------------------------------------------------------------------------------

NAMES = [
    b"with space.py", b"quo\"te's.py", b"new\nline.py", b"esc\x1b[31mape.py", b"caf\xe9.py", "größe/漢字.py".encode(),
    b"-dash.py", b":colon.py", b"*star?.py", b"back\\slash.py", b"tab\t.py", b"#hash!.py", b"%41.py",
    b"@{u}.py", b"[brackets].py", b".hidden.py", b"a" * 250 + b".py",
]  # fmt: skip


@pytest.mark.parametrize(
    "name", NAMES, ids=[os.fsdecode(name[:16]).encode("unicode_escape").decode() for name in NAMES]
)
def test_unusual_path_is_found_again(tmp_path: Path, name: bytes) -> None:
    root = init(tmp_path / "repository", {"other.py": "def other():\n    return 1\n"})
    path = os.fsdecode(name)
    write(root, {path: ANCHOR})
    assert places(root, "raise_anchor")[0] == f"{path}:1-3"  # untracked
    commit(root)
    assert skipped(root) == {}
    assert places(root, "raise_anchor")[0] == f"{path}:1-3"  # indexed
    assert Engine.open(root, Settings()).search("raise_anchor", at="HEAD").hits[0].path == path
    write(root, {path: "import os\n" + ANCHOR})
    assert places(root, "raise_anchor")[0] == f"{path}:2-4"  # edited


def test_command_prints_no_control_characters_of_a_path(tmp_path: Path) -> None:
    root = init(tmp_path / "repository", {"esc\x1b[31m\nape.py": ANCHOR, os.fsdecode(b"caf\xe9.py"): "x = 1\n"})
    done = command(root, "raise_anchor")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert command(root, "index").returncode == 0
    assert command(root, "raise_anchor", "--json").returncode == 0


@pytest.mark.parametrize(
    "query",
    [
        "🪝",
        "\ufffd",
        "'",
        "\\",
        "a" * 100_000,
        "%s",
        "*",
        "(",
        "the of and",
        chr(0xDCFF),
        "=",
        "..",
        "::",
        "漢字",
        "--",
    ],
)
def test_unusual_query_is_answered(tmp_path_factory: pytest.TempPathFactory, query: str) -> None:
    root = tmp_path_factory.getbasetemp() / "queried"
    if not root.exists():
        init(root, {"anchor.py": ANCHOR})
    places(root, query)
