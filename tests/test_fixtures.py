"""The fixture repositories are what other tests take them for: real history, stable ids, real answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from replay import Step, expected_hits, fixture_names, git, replay_steps

from codesearch.chunking import TokenBudget, chunk_prose
from codesearch.languages import load_languages
from codesearch.parsing import parse

Replayed = Callable[[str], Path]

GRAMMARS = {
    ".py": "python", ".go": "go", ".rs": "rust", ".java": "java", ".ts": "typescript", ".tsx": "tsx",
    ".js": "javascript", ".mjs": "javascript", ".jsx": "javascript",
}  # fmt: skip
every_fixture = pytest.mark.parametrize("name", fixture_names())


def tracked_files(repository: Path) -> list[str]:
    return git(repository, "ls-files", "-z").rstrip("\0").split("\0")


def files_with_syntax_errors(repository: Path) -> set[str]:
    from tree_sitter_language_pack import get_parser

    broken = set()
    for path in tracked_files(repository):
        grammar = GRAMMARS.get(Path(path).suffix)
        if grammar and get_parser(grammar).parse((repository / path).read_bytes()).root_node.has_error:
            broken.add(path)
    return broken


@every_fixture
def test_replay_gives_the_same_commits_twice_and_every_step_is_clean(
    name: str, replayed: Replayed, tmp_path: Path
) -> None:
    steps: list[Step] = []
    broken: list[set[str]] = []
    for step in replay_steps(name, tmp_path):
        state = git(tmp_path, "status", "--porcelain=v2", "--branch")
        assert state == f"# branch.oid {step.commit}\n# branch.head {step.branch}"
        steps.append(step)
        broken.append(files_with_syntax_errors(tmp_path))

    first = replayed(name)
    assert git(first, "rev-parse", "HEAD") == steps[-1].commit
    assert {step.commit for step in steps} == set(git(first, "rev-list", "--all").splitlines())
    assert any(broken), "no commit has a syntax error"
    assert broken[-1] == set(), "the last commit has a syntax error"


@every_fixture
def test_fixture_has_at_least_eight_files_and_ten_commits_on_main(name: str, replayed: Replayed) -> None:
    repository = replayed(name)
    assert len(tracked_files(repository)) >= 8
    assert int(git(repository, "rev-list", "--count", "main")) >= 10


@every_fixture
def test_fixture_has_a_rename_a_merge_a_revert_and_a_deleted_file(name: str, replayed: Replayed) -> None:
    repository = replayed(name)
    changes = git(repository, "log", "-m", "--find-renames", "--name-status", "--format=")
    assert re.search(r"^R\d+\t", changes, re.MULTILINE)
    assert re.search(r"^D\t", changes, re.MULTILINE)
    assert git(repository, "rev-list", "--merges", "HEAD")
    assert git(repository, "log", "--grep=^This reverts commit [0-9a-f]\\{40\\}", "--format=%H")


@every_fixture
def test_ignored_files_lie_in_the_work_tree_and_git_does_not_see_them(name: str, replayed: Replayed) -> None:
    repository = replayed(name)
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "ls-files", "--others", "--ignored", "--exclude-standard")
    assert any(path.count("/") and path.endswith("/.gitignore") for path in tracked_files(repository))


@every_fixture
def test_every_expected_declaration_exists_at_the_last_commit(name: str, replayed: Replayed) -> None:
    repository = replayed(name)
    hits = expected_hits(name)
    assert 8 <= len(hits) <= 12
    for hit in hits:
        symbol = re.split(r"::|\.| > ", hit.qualified_name)[-1]
        text = git(repository, "show", f"HEAD:{hit.path}")
        assert re.search(rf"(?<!\w){re.escape(symbol)}(?!\w)", text), hit


@every_fixture
def test_every_expected_declaration_is_named_as_the_outline_names_it(name: str, replayed: Replayed) -> None:
    languages = load_languages()
    for hit in expected_hits(name):
        language = languages.for_path(hit.path)
        assert language is not None, hit
        content = (replayed(name) / hit.path).read_bytes()
        if language.name == "markdown":
            parsed, _ = chunk_prose(content, language.name, TokenBudget(256, lambda text: len(text.split())))
        else:
            parsed = parse(content, language)
        assert hit.qualified_name in [declaration.qualified_name for declaration in parsed.declarations], hit


@every_fixture
def test_some_file_names_are_not_ascii(name: str, replayed: Replayed) -> None:
    assert not all(path.isascii() for path in tracked_files(replayed(name)))


def test_fixtures_together_cover_all_shipped_languages(replayed: Replayed) -> None:
    suffixes = {Path(path).suffix for name in fixture_names() for path in tracked_files(replayed(name))}
    assert suffixes >= {*GRAMMARS, ".md", ".txt"}


def test_some_files_have_windows_line_ends_or_a_byte_order_mark(replayed: Replayed) -> None:
    crlf, marked = set(), set()
    for name in fixture_names():
        for path in tracked_files(replayed(name)):
            content = (replayed(name) / path).read_bytes()
            if b"\r\n" in content:
                crlf.add(path)
            if content.startswith(b"\xef\xbb\xbf"):
                marked.add(path)
    assert crlf == {
        "docs/notices-to-skippers.txt",
        "docs/runbook.md",
        "src/main/java/org/example/depot/Router.java",
        "story/chapter-0.txt",
    }
    assert marked == {
        "docs/notices-to-skippers.txt",
        "src/components/TodoItem.tsx",
        "story/chapter-0.txt",
    }


def test_a_moved_function_leaves_its_old_file_and_arrives_in_the_new_one_unchanged(tmp_path: Path) -> None:
    function = 'def slugify(title: str) -> str:\n    """A title as it may stand in a file name'
    seen = {}
    for step in replay_steps("thumbnails", tmp_path):
        seen[step.subject] = [
            path for path in tracked_files(tmp_path) if function in (tmp_path / path).read_text("utf-8")
        ]
    assert seen["Serve thumbnails"] == ["thumbs/geometry.py"]
    assert seen["Move slugify to where names are made"] == ["thumbs/names.py"]


def test_replay_refuses_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("kept")
    with pytest.raises(ValueError, match="is not empty"):
        next(replay_steps("thumbnails", tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_fixture_repository_is_a_copy_that_may_be_changed(fixture_repository: Replayed, replayed: Replayed) -> None:
    copy = fixture_repository("thumbnails")
    (copy / "README.md").write_text("changed\n")
    assert git(copy, "status", "--porcelain") == " M README.md"
    assert git(replayed("thumbnails"), "status", "--porcelain") == ""
