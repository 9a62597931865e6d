"""The git layer against real repositories, one state of a repository per test."""

import contextlib
import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write

from codesearch.errors import RepositoryError
from codesearch.repository import Changes, Repository
from codesearch.types import Entry

A_ID = "78981922613b2afb6025042ff6bd878ac1994e85"  # of b"a\n", as git computes it
B_ID = "61780798228d17af2d34fce4cfbdf35556832472"  # of b"b\n"


@pytest.fixture(autouse=True)
def hermetic_git(monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def listed(snapshot):
    """Path → object id."""
    return {entry.path: entry.oid for entry in snapshot.entries}


def changes(folder: Path, since: str | None) -> Changes:
    return Repository.open(folder).start_changes(since)()


# --- finding the repository ---------------------------------------------------------------------------------


def test_repository_is_found_from_a_subfolder(tmp_path):
    root = init(tmp_path / "r", {"src/deep/a.py": "a\n"})
    repository = Repository.open(root / "src" / "deep")
    assert (repository.root, repository.git_dir, repository.common_dir) == (
        root,
        root / ".git",
        root / ".git",
    )
    assert (repository.is_git, repository.is_bare, repository.worktree_key) == (True, False, "main")


def test_opening_starts_no_process(tmp_path, monkeypatch):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    monkeypatch.setenv("PATH", "")
    assert Repository.open(root).head() == (git_head(root), "main")


def git_head(root: Path) -> str:
    return (root / ".git/refs/heads/main").read_text().strip()


def test_symlinked_root_is_the_real_folder(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    (tmp_path / "link").symlink_to(root)
    repository = Repository.open(tmp_path / "link")
    assert repository.root == root
    assert listed(repository.snapshot()) == {"a.py": A_ID}


@pytest.mark.parametrize("name", ["with space", 'it\'s "quoted"', "new\nline", "-dash", "ümlaut", "a:b"])
def test_odd_names_of_the_root_are_no_trouble(tmp_path, name):
    root = init(tmp_path / name, {"a.py": "a\n"})
    write(root, {"b.py": "b\n"})
    assert listed(Repository.open(root).snapshot()) == {"a.py": A_ID, "b.py": ""}


def test_missing_folder_is_an_error_with_a_hint(tmp_path):
    with pytest.raises(RepositoryError, match="does not exist") as error:
        Repository.open(tmp_path / "nowhere")
    assert error.value.hint


def test_file_instead_of_a_folder_is_an_error(tmp_path):
    write(tmp_path, {"a.py": "a\n"})
    with pytest.raises(RepositoryError, match="is not a folder"):
        Repository.open(tmp_path / "a.py")


def test_plain_folder_is_listed_without_git(tmp_path):
    write(tmp_path / "f", {"a.py": "a\n", "sub/b.py": "b\n", "node_modules/x.js": "x", ".venv/y.py": "y"})
    (tmp_path / "f/outside").symlink_to("/etc")
    os.mkfifo(tmp_path / "f/fifo")
    repository = Repository.open(tmp_path / "f")
    assert (repository.is_git, repository.root, repository.git_dir) == (False, tmp_path / "f", None)
    assert repository.snapshot().entries == (
        Entry("a.py"),
        Entry("outside", mode=0o120000),
        Entry("sub/b.py"),
    )
    assert repository.blob_id(b"a\n") == A_ID


def test_plain_folder_has_no_revisions(tmp_path):
    repository = Repository.open(tmp_path)
    for ask in (lambda: repository.snapshot(at="HEAD"), lambda: repository.resolve("HEAD")):
        with pytest.raises(RepositoryError, match="is no git repository"):
            ask()
    assert repository.commits_behind("0" * 40) is None


def test_empty_dot_git_folder_is_no_repository(tmp_path):
    outer = init(tmp_path / "outer", {"a.py": "a\n"})
    (outer / "inner/.git").mkdir(parents=True)
    assert Repository.open(outer / "inner").root == outer


def test_broken_git_directory_is_not_answered_from_the_one_above(tmp_path):
    outer = init(tmp_path / "outer", {"a.py": "a\n"})
    inner = init(outer / "inner", {"b.py": "b\n"})
    write(inner, {".git/HEAD": "garbage"})
    with pytest.raises(RepositoryError, match="not a git repository"):
        Repository.open(inner).snapshot()


def test_pointer_to_a_lost_git_directory_is_an_error(tmp_path):
    write(tmp_path, {".git": "gitdir: /nowhere/.git/worktrees/w\n", "a.py": "a\n"})
    with pytest.raises(RepositoryError, match="no git directory") as error:
        Repository.open(tmp_path)
    assert "git worktree repair" in error.value.hint


def test_fifo_in_place_of_a_git_file_does_not_block(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    (root / ".git/refs/heads/main").unlink()
    for name in ("refs/heads/main", "packed-refs", "commondir"):
        os.mkfifo(root / ".git" / name)
    assert Repository.open(root).root == root
    os.mkfifo(tmp_path / ".git")
    assert Repository.open(tmp_path).is_git is False


def test_bare_repository_shows_its_head(tmp_path):
    source = init(tmp_path / "r", {"a.py": "a\n"})
    git(tmp_path, "clone", "-q", "--bare", str(source), "b.git")
    repository = Repository.open(tmp_path / "b.git" / "objects")
    assert (repository.is_bare, repository.root) == (True, tmp_path / "b.git")
    snapshot = repository.snapshot()
    assert (snapshot.commit, snapshot.ref, listed(snapshot)) == (git_head(source), "main", {"a.py": A_ID})
    assert repository.start_changes(git_head(source))() == Changes(git_head(source), "main", False, frozenset(), True)


def test_worktree_of_a_bare_clone_has_files_and_the_clone_has_none(tmp_path):
    source = init(tmp_path / "r", {"a.py": "a\n"})
    git(tmp_path, "clone", "-q", "--bare", str(source), "p/.git")
    git(tmp_path / "p", "worktree", "add", "-q", "wt", "main")
    write(tmp_path / "p/wt", {"b.py": "b\n"})
    assert listed(Repository.open(tmp_path / "p/wt").snapshot()) == {"a.py": A_ID, "b.py": ""}
    assert listed(Repository.open(tmp_path / "p").snapshot()) == {"a.py": A_ID}


def test_two_worktrees_share_the_index_home_and_differ_in_key(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "w"))
    write(tmp_path / "w", {"a.py": "b\n"})
    main, side = Repository.open(root), Repository.open(tmp_path / "w")
    assert main.common_dir == side.common_dir == root / ".git"
    assert side.git_dir == root / ".git/worktrees/w"
    assert main.index_home() == side.index_home() == root / ".git/codesearch"
    assert main.worktree_key == "main"
    assert side.worktree_key.startswith("w-")
    assert (main.head()[1], side.head()[1]) == ("main", "side")
    assert (listed(main.snapshot()), listed(side.snapshot())) == ({"a.py": A_ID}, {"a.py": ""})


def test_worktree_inside_the_repository_is_not_listed_as_its_files(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    git(root, "worktree", "add", "-q", "-b", "side", str(root / "nested"))
    assert listed(Repository.open(root).snapshot()) == {"a.py": A_ID}
    assert changes(root, git_head(root)).paths == frozenset()


def test_stray_pointer_file_does_not_take_the_main_worktrees_key(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    write(tmp_path / "archive", {".git": f"gitdir: {root}/.git\n"})
    assert Repository.open(tmp_path / "archive").worktree_key != "main"


def test_submodule_stands_for_its_files_outside_and_is_a_repository_inside(tmp_path):
    library = init(tmp_path / "lib", {"b.py": "b\n"})
    root = init(tmp_path / "r", {"a.py": "a\n"})
    git(root, "submodule", "--quiet", "add", str(library), "vendor/lib")
    head = commit(root)
    outer, inner = Repository.open(root), Repository.open(root / "vendor/lib")
    taken = outer.snapshot()
    assert (listed(taken)["vendor/lib/b.py"], taken.submodules) == (B_ID, (("vendor/lib", git_head(library)),))
    assert next(outer.read_entries([Entry("vendor/lib/b.py", B_ID)])) == b"b\n"
    assert (inner.root, inner.common_dir) == (root / "vendor/lib", root / ".git/modules/vendor/lib")
    assert listed(inner.snapshot()) == {"b.py": B_ID}
    write(root, {"vendor/lib/b.py": "changed\n"})
    known = dict(taken.submodules)
    assert outer.start_changes(head, known)() == Changes(head, "main", True, frozenset({"vendor/lib/b.py"}), True)
    assert listed(inner.snapshot()) == {"b.py": ""}
    git(root, "submodule", "--quiet", "deinit", "--force", "vendor/lib")
    assert outer.start_changes(head, known)() == Changes(head, "main", False, frozenset(), False)
    assert listed(outer.snapshot())["vendor/lib"] == git_head(library)


# --- snapshots of the work tree -----------------------------------------------------------------------------


def test_clean_dirty_untracked_ignored_and_deleted_files(tmp_path):
    root = init(tmp_path / "r", {"clean.py": "a\n", "dirty.py": "a\n", "gone.py": "a\n", ".gitignore": "*.log\n"})
    write(root, {"dirty.py": "b\n", "new.py": "b\n", "debug.log": "x", "run.sh": "b\n"})
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("clean.py")
    (root / "gone.py").unlink()
    snapshot = Repository.open(root).snapshot()
    assert (snapshot.commit, snapshot.ref, snapshot.dirty) == (git_head(root), "main", True)
    ignore_id = git(root, "rev-parse", "HEAD:.gitignore")
    assert snapshot.entries == (
        Entry(".gitignore", ignore_id),
        Entry("clean.py", A_ID),
        Entry("dirty.py"),
        Entry("link", mode=0o120000),
        Entry("new.py"),
        Entry("run.sh", mode=0o100755),
    )


def test_staged_edit_is_clean_against_the_index(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    write(root, {"a.py": "b\n"})
    git(root, "add", "a.py")
    snapshot = Repository.open(root).snapshot()
    assert (listed(snapshot), snapshot.dirty) == ({"a.py": B_ID}, True)


def test_empty_repository_has_no_entries(tmp_path):
    snapshot = Repository.open(init(tmp_path / "r")).snapshot()
    assert (snapshot.commit, snapshot.ref, snapshot.dirty, snapshot.entries) == (None, "main", False, ())


def test_unborn_branch_lists_staged_and_untracked_files(tmp_path):
    root = init(tmp_path / "r")
    write(root, {"a.py": "a\n", "b.py": "b\n"})
    git(root, "add", "a.py")
    repository = Repository.open(root)
    assert listed(repository.snapshot()) == {"a.py": A_ID, "b.py": ""}
    assert listed(repository.snapshot(staged=True)) == {"a.py": A_ID}
    assert changes(root, None) == Changes(None, "main", True, frozenset({"a.py", "b.py"}), True)
    with pytest.raises(RepositoryError, match="unknown revision 'HEAD'"):
        repository.snapshot(at="HEAD")


def test_detached_head_has_no_ref(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    git(root, "checkout", "-q", "--detach")
    snapshot = Repository.open(root).snapshot()
    assert (snapshot.commit, snapshot.ref) == (git_head(root), None)
    assert Repository.open(root).head() == (git_head(root), None)


def test_file_in_conflict_is_the_work_trees_file(tmp_path):
    root = init(tmp_path / "r", {"a.py": "base\n"})
    git(root, "checkout", "-q", "-b", "side")
    write(root, {"a.py": "b\n"})
    commit(root)
    git(root, "checkout", "-q", "main")
    write(root, {"a.py": "a\n"})
    commit(root)
    git(root, "merge", "side", ok=(1,))
    repository = Repository.open(root)
    assert repository.snapshot().entries == (Entry("a.py"),)
    assert listed(repository.snapshot(staged=True)) == {"a.py": A_ID}
    assert b"<<<<<<<" in repository.read_file("a.py")


def test_sparse_checkout_leaves_out_what_is_not_on_disk(tmp_path):
    root = init(tmp_path / "r", {"in/a.py": "a\n", "out/b.py": "b\n"})
    git(root, "sparse-checkout", "set", "in")
    assert listed(Repository.open(root).snapshot()) == {"in/a.py": A_ID}
    assert listed(Repository.open(root).snapshot(staged=True)) == {"in/a.py": A_ID, "out/b.py": B_ID}
    assert changes(root, git_head(root)).paths == frozenset()


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_file_that_git_was_told_to_overlook_is_read(tmp_path, flag):
    root = init(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n"})
    git(root, "update-index", flag, "a.py")
    write(root, {"a.py": "edited\n"})
    assert listed(Repository.open(root).snapshot()) == {"a.py": "", "b.py": B_ID}
    assert changes(root, git_head(root)).paths == {"a.py"}


def test_intent_to_add_is_read_from_disk(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    write(root, {"b.py": "b\n"})
    git(root, "add", "--intent-to-add", "b.py")
    assert listed(Repository.open(root).snapshot()) == {"a.py": A_ID, "b.py": ""}


def test_rename_by_case_only(tmp_path):
    root = init(tmp_path / "r", {"readme.md": "a\n"})
    head = git_head(root)
    git(root, "mv", "readme.md", "README.md")
    assert listed(Repository.open(root).snapshot()) == {"README.md": A_ID}
    assert changes(root, head).paths == {"readme.md", "README.md"}


def test_file_replaced_by_a_symlink_keeps_no_object_id(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    (root / "a.py").unlink()
    (root / "a.py").symlink_to("/etc/passwd")
    assert Repository.open(root).snapshot().entries == (Entry("a.py", mode=0o120000),)


def test_odd_file_names_survive(tmp_path):
    names = [b"new\nline.py", b'quo"te.py', b"tab\t.py", b" lead.py", b"latin-\xe9.py", "ünï.py".encode()]
    root = init(tmp_path / "r", {"a.py": "a\n"})
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(b"b\n")
    repository = Repository.open(root)
    expected = sorted(name.decode("utf-8", "surrogateescape") for name in names)
    assert repository.start_changes(git_head(root))().paths == set(expected)
    commit(root)
    assert [entry.path for entry in repository.snapshot().entries if entry.oid == B_ID] == expected
    assert [entry.path for entry in repository.snapshot(at="HEAD").entries if entry.oid == B_ID] == expected
    assert {repository.read_file(name) for name in expected} == {b"b\n"}


def test_line_end_conversion_keeps_the_index_id(tmp_path):
    root = init(tmp_path / "r", {".gitattributes": "*.py text eol=crlf\n", "a.py": "a\n"})
    (root / "a.py").unlink()
    git(root, "checkout", "-q", "a.py")
    repository = Repository.open(root)
    assert repository.read_file("a.py") == b"a\r\n"
    assert listed(repository.snapshot())["a.py"] == A_ID
    assert repository.blob_id(b"a\r\n") != A_ID


# --- the index and revisions --------------------------------------------------------------------------------


def test_staged_snapshot_is_the_index_and_not_the_work_tree(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    write(root, {"a.py": "b\n"})
    git(root, "add", "a.py")
    write(root, {"a.py": "third\n", "new.py": "x"})
    snapshot = Repository.open(root).snapshot(staged=True)
    assert (listed(snapshot), snapshot.dirty) == ({"a.py": B_ID}, True)
    git(root, "reset", "-q")
    assert Repository.open(root).snapshot(staged=True).dirty is False


def test_hooks_index_file_is_honoured_only_when_passed(tmp_path, monkeypatch):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    shutil.copy(root / ".git/index", root / ".git/hook.index")
    write(root, {"a.py": "b\n"})
    git(root, "add", "a.py")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/hook.index")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_WORK_TREE", "/nowhere")
    monkeypatch.setenv("GIT_PREFIX", "sub/")
    assert listed(Repository.open(root).snapshot(staged=True)) == {"a.py": B_ID}
    with_index = Repository.open(root, index_file=os.environ["GIT_INDEX_FILE"])
    assert listed(with_index.snapshot(staged=True)) == {"a.py": A_ID}


def test_snapshot_of_a_revision(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    first = git_head(root)
    git(root, "tag", "-a", "-m", "t", "v1")
    write(root, {"a.py": "b\n", "b.py": "b\n"})
    second = commit(root)
    repository = Repository.open(root)
    for revision in ("v1", "HEAD~1", first, first[:10], "main^"):
        snapshot = repository.snapshot(at=revision)
        assert (snapshot.commit, listed(snapshot), snapshot.dirty) == (first, {"a.py": A_ID}, False)
    assert repository.resolve("main") == second


@pytest.mark.parametrize(
    "revision",
    ["nope", "", "--all", "-h", "--output=/tmp/x", "HEAD:a.py", "main..main", "^main", "a\0b", "HEAD^9"],
)
def test_unknown_revision_is_an_error_with_a_hint(tmp_path, revision):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    with pytest.raises(RepositoryError) as error:
        Repository.open(root).resolve(revision)
    assert error.value.message == f"unknown revision '{revision}'"
    assert error.value.hint


def test_head_is_found_in_packed_refs(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    git(root, "branch", "other/main")
    head = git_head(root)
    git(root, "pack-refs", "--all")
    assert not (root / ".git/refs/heads/main").exists()
    assert Repository.open(root).head() == (head, "main")


def test_head_that_points_outside_is_not_followed(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    write(tmp_path, {"secret": "1" * 40})
    write(root, {".git/HEAD": "ref: refs/../../../secret\n"})
    assert Repository.open(root).head()[0] is None


def test_commit_details(tmp_path, monkeypatch):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    head = commit(root, "Gruß an alle\n\nbody")
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "w"))
    git(root, "config", "core.worktree", "/nowhere")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    for folder in (root, tmp_path / "w"):
        info = Repository.open(folder).commit_info("HEAD")
        assert (info.id, info.author, info.summary) == (head, "Ada", "Gruß an alle")
        assert info.authored.isoformat() == "2024-05-06T07:08:09+02:00"
    assert os.environ["GIT_DIR"] == os.environ["GIT_WORK_TREE"] == "/nowhere"


def test_commits_behind_counts_from_an_ancestor_only(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    first = git_head(root)
    repository = Repository.open(root)
    assert repository.commits_behind(first) == 0
    commit(root)
    third = commit(root)
    assert repository.commits_behind(first) == 2
    git(root, "reset", "-q", "--hard", first)
    assert repository.commits_behind(third) is None
    assert repository.commits_behind("1" * 40) is None
    assert repository.commits_behind("--all") is None


# --- changes ------------------------------------------------------------------------------------------------


def test_changes_are_edits_staged_untracked_deleted_and_committed_since(tmp_path):
    root = init(tmp_path / "r", {f"{n}.py": "a\n" for n in ("same", "edited", "staged", "deleted", "committed")})
    first = git_head(root)
    write(root, {"committed.py": "b\n"})
    second = commit(root)
    write(root, {"edited.py": "b\n", "staged.py": "b\n", "sub/new.py": "b\n"})
    git(root, "add", "staged.py")
    (root / "deleted.py").unlink()
    now = {"edited.py", "staged.py", "sub/new.py", "deleted.py"}
    assert changes(root, second) == Changes(second, "main", True, frozenset(now), True)
    assert changes(root, first) == Changes(second, "main", True, frozenset(now | {"committed.py"}), True)


def test_clean_repository_has_no_changes(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    assert changes(root, git_head(root)) == Changes(git_head(root), "main", False, frozenset(), True)


def test_changes_since_nothing_are_all_files(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n"})
    assert changes(root, None) == Changes(git_head(root), "main", False, frozenset({"a.py", "b.py"}), True)


def test_edit_undone_by_an_amended_commit_is_still_a_change(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    write(root, {"a.py": "b\n"})
    second = commit(root)
    git(root, "reset", "-q", "--hard", "HEAD~1")
    assert changes(root, second).paths == {"a.py"}


@pytest.mark.parametrize("since", ["1" * 40, "--output=x", "HEAD"])
def test_changes_since_a_vanished_commit_are_incomplete(tmp_path, since):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    write(root, {"b.py": "b\n"})
    assert changes(root, since) == Changes(git_head(root), "main", True, frozenset({"b.py"}), False)


def test_changes_of_a_plain_folder_are_all_its_files(tmp_path):
    write(tmp_path / "f", {"a.py": "a\n"})
    assert changes(tmp_path / "f", None) == Changes(None, None, False, frozenset({"a.py"}), False)


def test_head_that_moves_while_git_runs_is_noticed(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    first = git_head(root)
    write(root, {"a.py": "b\n"})
    second = commit(root)
    git(root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(root, "symbolic-ref", "HEAD", "refs/heads/alias")  # files alone do not say which commit that is
    found = changes(root, first)
    assert (found.commit, found.paths, found.complete) == (second, {"a.py"}, True)


def test_shallow_clone_knows_no_commit_beyond_its_border(tmp_path):
    source = init(tmp_path / "r", {"a.py": "a\n"})
    first = git_head(source)
    write(source, {"a.py": "b\n"})
    second = commit(source)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{source}", "shallow")
    repository = Repository.open(tmp_path / "shallow")
    assert listed(repository.snapshot()) == {"a.py": B_ID}
    assert repository.start_changes(first)().complete is False
    assert repository.start_changes(second)().complete is True
    assert repository.commits_behind(first) is None


def test_sha256_repository(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"}, "--object-format=sha256")
    repository = Repository.open(root)
    oid = git(root, "rev-parse", "HEAD:a.py")
    assert repository.blob_id(b"a\n") == oid
    assert listed(repository.snapshot()) == {"a.py": oid}
    assert list(repository.read_blobs([oid])) == [(oid, b"a\n")]
    head = git(root, "rev-parse", "HEAD")
    assert repository.head() == (head, "main")
    assert changes(root, None).paths == {"a.py"}


# --- content ------------------------------------------------------------------------------------------------


def test_read_file_gives_raw_bytes(tmp_path):
    root = init(tmp_path / "r", {"sub/a.bin": b"\r\n\0\xff"})
    assert Repository.open(root / "sub").read_file("sub/a.bin") == b"\r\n\0\xff"


def test_read_file_follows_no_symlink(tmp_path):
    root = init(tmp_path / "r", {"real/a.py": "a\n"})
    write(tmp_path, {"outside/secret": "s"})
    (root / "file").symlink_to(tmp_path / "outside/secret")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "inside").symlink_to("real")
    repository = Repository.open(root)
    for path in ("file", "folder/secret", "inside/a.py"):
        with pytest.raises(OSError) as error:  # noqa: PT011  the number is what matters
            repository.read_file(path)
        assert error.value.errno in (errno.ELOOP, errno.ENOTDIR)


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../secret", "", ".", "a//b", "a\0b", "a\0/b"])
def test_read_file_refuses_paths_that_leave_the_root(tmp_path, path):
    root = init(tmp_path / "r", {"a/b": "a\n"})
    write(tmp_path, {"secret": "s"})
    with pytest.raises(RepositoryError, match="not a path inside"):
        Repository.open(root).read_file(path)


def test_read_file_refuses_fifos_and_folders(tmp_path):
    root = init(tmp_path / "r", {"sub/a.py": "a\n"})
    os.mkfifo(root / "fifo")
    repository = Repository.open(root)
    with pytest.raises(OSError, match="Not a regular file"):
        repository.read_file("fifo")
    with pytest.raises(IsADirectoryError):
        repository.read_file("sub")
    with pytest.raises(FileNotFoundError):
        repository.read_file("sub/none.py")
    with pytest.raises(NotADirectoryError):
        repository.read_file("sub/a.py/x")


def test_read_file_leaves_no_descriptor_open(tmp_path):
    root = init(tmp_path / "r", {"sub/a.py": "a\n"})
    os.mkfifo(root / "sub/fifo")
    repository = Repository.open(root)
    before = sorted(Path("/dev/fd").iterdir())
    for path in ("sub/a.py", "sub/fifo", "sub", "sub/none.py", "none/a.py", "sub/a.py/x"):
        with contextlib.suppress(OSError):
            repository.read_file(path)
    assert sorted(Path("/dev/fd").iterdir()) == before


def test_read_file_stops_at_max_bytes(tmp_path):
    root = init(tmp_path / "r", {"a": "12345"})
    repository = Repository.open(root)
    assert repository.read_file("a", max_bytes=5) == b"12345"
    with pytest.raises(OSError) as error:  # noqa: PT011  the number is what matters
        repository.read_file("a", max_bytes=4)
    assert error.value.errno == errno.EFBIG


def test_read_blobs_in_order_with_missing_large_and_other_objects(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n", "empty": "", "large": "x" * 100_000})
    repository = Repository.open(root)
    large, empty = (git(root, "rev-parse", f"HEAD:{name}") for name in ("large", "empty"))
    missing, tree = "1" * 40, git(root, "rev-parse", "HEAD^{tree}")
    asked = [A_ID, missing, large, tree, empty, A_ID]
    assert list(repository.read_blobs(asked, max_bytes=1000)) == [
        (A_ID, b"a\n"), (missing, None), (large, None), (tree, None), (empty, b""), (A_ID, b"a\n"),
    ]  # fmt: skip
    assert list(repository.read_blobs([large])) == [(large, b"x" * 100_000)]
    assert list(repository.read_blobs([])) == []


def test_read_blobs_of_many_files_at_once(tmp_path):
    contents = [b"%d" % number * 1000 for number in range(700)]
    root = init(tmp_path / "r", {f"f{number}": content for number, content in enumerate(contents)})
    repository = Repository.open(root)
    oids = [repository.blob_id(content) for content in contents]
    assert [content for _, content in repository.read_blobs(iter(oids))] == contents
    half = repository.read_blobs(oids)
    next(half)
    half.close()  # leaves no process behind


def test_read_blobs_goes_on_after_a_blob_that_was_never_fetched(tmp_path):
    source = init(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n"})
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{source}", "partial")
    write(tmp_path / "partial", {"b.py": "b\n"})
    git(tmp_path / "partial", "hash-object", "-w", "b.py")
    repository = Repository.open(tmp_path / "partial")
    assert listed(repository.snapshot(at="HEAD")) == {"a.py": A_ID, "b.py": B_ID}
    assert list(repository.read_blobs([A_ID, B_ID, A_ID])) == [(A_ID, None), (B_ID, b"b\n"), (A_ID, None)]


def test_read_blobs_refuses_what_is_no_id(tmp_path):
    repository = Repository.open(init(tmp_path / "r", {"a.py": "a\n"}))
    with pytest.raises(RepositoryError, match="is no object id"):
        list(repository.read_blobs([f"{A_ID}\n{B_ID}"]))


# --- where the index lives ----------------------------------------------------------------------------------


def test_index_home_of_a_plain_folder_is_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = (Repository.open(tmp_path / name).index_home() for name in ("one", "two"))
    assert one.parent == two.parent == tmp_path / "cache/codesearch"
    assert one != two
    assert one.name.startswith("one-")


def test_index_home_under_an_override_is_keyed_by_clone(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "w"))
    other = init(tmp_path / "s/r", {"a.py": "a\n"})
    home = Repository.open(root).index_home(tmp_path / "home")
    assert home.parent == tmp_path / "home"
    assert Repository.open(tmp_path / "w").index_home(tmp_path / "home") == home
    assert Repository.open(other).index_home(tmp_path / "home") != home


def test_index_home_that_is_a_symlink_is_refused(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    (root / ".git/codesearch").symlink_to(tmp_path)
    with pytest.raises(RepositoryError, match="symbolic link"):
        Repository.open(root).index_home()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_index_home_of_a_read_only_git_directory_is_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = init(tmp_path / "r", {"a.py": "a\n"})
    (root / ".git").chmod(0o555)
    assert Repository.open(root).index_home().parent == tmp_path / "cache/codesearch"
    (root / ".git").chmod(0o755)


# --- hostile repositories -----------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path):
    """A repository whose every setting that can name a program names one that leaves a mark."""
    mark = tmp_path / "executed"
    script = tmp_path / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> "{mark}"\ncat\n')
    script.chmod(0o755)
    root = init(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n"})
    submodule = init(tmp_path / "lib", {"c.py": "a\n"})
    git(root, "submodule", "--quiet", "add", str(submodule), "lib")
    write(
        root,
        {
            ".gitattributes": "*.py filter=x=y diff=d\n*.txt filter=old\n*.md filter=\n*.c filter=A.b\n"
            "lib.py working-tree-encoding=UTF-16\n",
            "n.txt": "n\n", "n.md": "n\n", "n.c": "n\n",
        },
    )  # fmt: skip
    commit(root)
    (root / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(script, root / ".git/hooks" / hook)
    evil = (
        f"[core]\n fsmonitor = {script}\n hooksPath = {root}/.git/hooks\n pager = {script}\n"
        f" editor = {script}\n sshCommand = {script}\n askPass = {script}\n gitProxy = {script}\n"
        f" alternateRefsCommand = {script}\n"
        f"[pager]\n status = {script}\n config = {script}\n"
        f'[diff]\n external = {script}\n[diff "d"]\n command = {script}\n textconv = {script}\n'
        f'[filter "x=y"]\n clean = {script}\n smudge = {script}\n required = true\n'
        f"[filter.old]\n process = {script}\n required = true\n"
        f'[filter ""]\n clean = {script}\n[filter "A.b"]\n clean = {script}\n'
        f"[credential]\n helper = !{script}\n[gpg]\n program = {script}\n[log]\n showSignature = true\n"
        f'[protocol]\n allow = always\n[protocol "ext"]\n allow = always\n'
        f"[alias]\n status = !{script}\n ls-files = !{script}\n[interactive]\n diffFilter = {script}\n"
        f"[submodule]\n recurse = true\n"
    )
    for config in (root / ".git/config", root / ".git/modules/lib/config"):
        included = config.with_name("included")
        included.write_text(evil)
        with config.open("a") as file:
            file.write("[include]\n path = included\n")
    # Same size, same or newer time: git has to read the content, through the clean filter.
    for name, content in {
        "a.py": "x\n",
        "n.txt": "x\n",
        "n.md": "x\n",
        "n.c": "x\n",
        "lib/c.py": "x\n",
    }.items():
        write(root, {name: content})
    os.utime(root / "b.py", (1, 1))
    return root, mark


def test_the_hostile_repository_really_is(hostile):
    root, mark = hostile
    git(root, "status", ok=(0, 1, 128))
    assert mark.exists()


def test_nothing_in_a_hostile_repository_is_executed(hostile):
    root, mark = hostile
    for folder in (root, root / "lib"):
        repository = Repository.open(folder)
        head = repository.resolve("HEAD")
        snapshot = repository.snapshot()
        assert snapshot.dirty
        repository.snapshot(staged=True)
        repository.snapshot(at="HEAD")
        for since in (None, head, "1" * 40):
            repository.start_changes(since)()
        dict(repository.read_blobs([entry.oid for entry in snapshot.entries if entry.oid] + ["1" * 40]))
        for entry in snapshot.entries:
            if entry.mode == 0o100644:
                repository.read_file(entry.path)
        repository.commits_behind(head)
        repository.commit_info("HEAD")
        repository.run_git(["diff", "HEAD"])
        repository.run_git(["log", "-p", "-1"])
        assert not mark.exists(), mark.read_text()
    outer = Repository.open(root).snapshot()
    assert listed(outer)["b.py"] == B_ID  # found clean by its content, without the filter
    assert (listed(outer)["a.py"], listed(outer)["n.txt"], listed(outer)["n.md"]) == ("", "", "")


@pytest.mark.parametrize("url", ["ext::{script} %S", "ssh://host/x", "file://{source}"])
def test_missing_objects_are_not_fetched(tmp_path, url):
    mark = tmp_path / "executed"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho ran >> '{mark}'\n")
    script.chmod(0o755)
    source = init(tmp_path / "r", {"a.py": "a\n"})
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{source}", "partial")
    partial = tmp_path / "partial"
    for key, value in {
        "remote.origin.url": url.format(script=script, source=source),
        "remote.origin.uploadpack": str(script),
        "core.sshCommand": str(script),
        "protocol.ext.allow": "always",
        "protocol.ssh.allow": "always",
        "protocol.file.allow": "always",
    }.items():
        git(partial, "config", key, value)
    repository = Repository.open(partial)
    assert list(repository.read_blobs([A_ID])) == [(A_ID, None)]
    repository.start_changes(None)()
    with pytest.raises(RepositoryError, match="not allowed"):
        repository.run_git(["ls-remote", "origin"])
    assert not mark.exists()


def test_configured_work_tree_elsewhere_is_not_listed(tmp_path):
    write(tmp_path / "elsewhere", {"secret": "s"})
    root = init(tmp_path / "r", {"a.py": "a\n"})
    git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert listed(Repository.open(root).snapshot()) == {"a.py": A_ID}


def test_filter_configured_after_opening_is_overridden_too(tmp_path):
    root = init(tmp_path / "r", {".gitattributes": "*.py filter=late\n", "a.py": "a\n"})
    repository = Repository.open(root)
    repository.snapshot()
    git(root, "config", "filter.late.clean", f"touch {tmp_path}/executed; cat")
    write(root, {"a.py": "b\n"})
    assert listed(repository.snapshot())["a.py"] == ""
    assert not (tmp_path / "executed").exists()


def test_git_runs_no_optional_write(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    os.utime(root / "a.py", (1, 1))
    before = (root / ".git/index").stat().st_mtime_ns
    Repository.open(root).snapshot()
    assert (root / ".git/index").stat().st_mtime_ns == before
    assert stat.S_ISREG((root / ".git/index").stat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_repository_of_another_user_is_refused_with_gits_own_advice(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    for path in [root, *root.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    repository = Repository.open(root)
    asks = (repository.snapshot, repository.start_changes(None), lambda: list(repository.read_blobs([A_ID])),
            lambda: repository.resolve("HEAD"))  # fmt: skip
    for ask in asks:
        with pytest.raises(RepositoryError, match="another user owns it") as error:
            ask()
        assert "git config --global --add safe.directory" in error.value.hint


def test_missing_git_is_an_error(tmp_path, monkeypatch):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RepositoryError, match="git is not installed"):
        Repository.open(root).snapshot()


def test_git_too_old_to_be_run_safely_is_an_error(tmp_path, monkeypatch):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    old = tmp_path / "bin/git"
    write(tmp_path, {"bin/git": f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec "{shutil.which("git")}" "$@"\n'})
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    with pytest.raises(RepositoryError, match="too old") as error:
        Repository.open(root).snapshot()
    assert "2.31" in error.value.hint


def test_query_path_imports_no_gitpython(tmp_path):
    root = init(tmp_path / "r", {"a.py": "a\n"})
    code = (
        "import sys; from codesearch.repository import Repository; r = Repository.open(sys.argv[1]);"
        "r.start_changes(None)(); r.read_file('a.py'); r.blob_id(b''); r.snapshot();"
        "sys.exit('git' in sys.modules or 'platformdirs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(root)], check=False).returncode == 0
