"""Repositories as they are found: with submodules, worktrees, sparse and partial, with attributes and ignore rules."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write

from codesearch import Engine
from codesearch.results import IndexReport
from codesearch.settings import Settings
from codesearch.types import Filters, SkipReason

PUMP = "def start_pump(pressure):\n    return pressure * 2\n"
VALVE = "def close_valve(turns):\n    return turns - 1\n"
GAUGE = "def read_gauge(dial):\n    return dial + 3\n"


def engine(root: Path) -> Engine:
    """A new engine, as a new process has it."""
    return Engine.open(root, Settings())


def found(root: Path, query: str = "pump valve gauge", **how) -> dict[str, str]:
    """Symbol → `path:start-end` of everything that is found; each cited line is checked to hold the symbol."""
    hits = engine(root).search(query, min_score=0.0, collapsed=False, limit=50, **how).hits
    for hit in hits:
        assert not hit.symbol or any(hit.symbol in line for line in hit.snippet.lines)
    assert len({(hit.path, hit.start_line) for hit in hits}) == len(hits)
    return {hit.symbol: f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in hits if hit.symbol}


def reasons(report: IndexReport) -> dict[str, SkipReason]:
    return {each.path: each.reason for each in report.skipped}


# --- submodules ----------------------------------------------------------------------------------------------


@pytest.fixture
def plant(tmp_path: Path) -> Path:
    """A repository with a submodule that has a submodule."""
    gauge = init(tmp_path / "gauge", {"gauge.py": GAUGE})
    valve = init(tmp_path / "valve", {"valve.py": VALVE})
    git(valve, "submodule", "--quiet", "add", str(gauge), "inner/gauge")
    commit(valve)
    root = init(tmp_path / "plant", {"pump.py": PUMP})
    git(root, "submodule", "--quiet", "add", str(valve), "third party/valve")
    git(root, "submodule", "--quiet", "update", "--init", "--recursive")
    commit(root)
    return root


VALVE_AT, GAUGE_AT = "third party/valve/valve.py:1-2", "third party/valve/inner/gauge/gauge.py:1-2"
ALL = {"start_pump": "pump.py:1-2", "close_valve": VALVE_AT, "read_gauge": GAUGE_AT}


def test_submodules_are_found_in_one_search_by_the_path_in_the_super_repository(plant: Path) -> None:
    assert found(plant) == ALL
    status = engine(plant).status()
    assert (status.dirty, status.stale_files, status.skipped) == (False, (), ())
    assert engine(plant).show(f"{VALVE_AT}").symbol == "close_valve"


def test_submodule_is_a_repository_of_its_own_inside(plant: Path) -> None:
    inside = plant / "third party/valve"
    assert found(inside) == {"close_valve": "valve.py:1-2", "read_gauge": "inner/gauge/gauge.py:1-2"}
    assert engine(inside).home != engine(plant).home


@pytest.mark.parametrize("indexed", [True, False])
def test_edits_commits_and_checkouts_inside_a_submodule_are_seen(plant: Path, indexed: bool) -> None:
    engine(plant).index()
    valve, gauge = plant / "third party/valve", plant / "third party/valve/inner/gauge"
    write(
        gauge, {"gauge.py": GAUGE.replace("read_gauge", "watch_gauge"), "new.py": "\ndef lift_pump():\n    return 1\n"}
    )
    edited = {"start_pump": "pump.py:1-2", "close_valve": VALVE_AT, "watch_gauge": GAUGE_AT}
    edited["lift_pump"] = GAUGE_AT.replace("gauge.py:1-2", "new.py:2-3")
    assert found(plant) == edited
    if indexed:
        assert engine(plant).index().declarations.embedded == 2
        assert found(plant) == edited
    commit(gauge)
    assert found(plant) == edited
    if indexed:
        assert engine(plant).index().declarations.embedded == 0
        assert found(plant) == edited
    git(gauge, "checkout", "-q", "HEAD~1")
    write(valve, {"valve.py": "\n" + VALVE})
    assert found(plant) == ALL | {"close_valve": VALVE_AT.replace("1-2", "2-3")}
    git(plant, "submodule", "--quiet", "update", "--recursive", "--force")
    assert found(plant) == ALL


def test_submodule_that_is_taken_out_and_put_back(plant: Path) -> None:
    engine(plant).index()
    git(plant, "submodule", "--quiet", "deinit", "--force", "third party/valve")
    assert found(plant) == {"start_pump": "pump.py:1-2"}
    assert reasons(engine(plant).index()) == {"third party/valve": SkipReason.SUBMODULE}
    git(plant, "submodule", "--quiet", "update", "--init", "--recursive")
    assert found(plant) == ALL
    assert engine(plant).index().declarations.embedded == 0


def test_revisions_and_the_index_show_the_submodules_commit(plant: Path) -> None:
    valve = plant / "third party/valve"
    write(valve, {"valve.py": VALVE.replace("close_valve", "open_valve")})
    commit(valve)
    assert found(plant, staged=True)["close_valve"] == VALVE_AT
    git(plant, "add", "-A")
    assert found(plant, staged=True)["open_valve"] == VALVE_AT
    commit(plant)
    assert found(plant, at="HEAD~1") == ALL
    assert found(plant, at="HEAD") == {
        "start_pump": "pump.py:1-2", "open_valve": VALVE_AT, "read_gauge": GAUGE_AT
    }  # fmt: skip
    assert engine(plant).show(f"HEAD~1:{VALVE_AT[:-2]}").symbol == "close_valve"


def test_submodule_whose_commit_is_not_here_is_skipped_with_that_reason(plant: Path) -> None:
    git(plant, "update-index", "--cacheinfo", f"160000,{'1' * 40},third party/valve")
    report = engine(plant).index(staged=True)
    assert reasons(report) == {"third party/valve": SkipReason.SUBMODULE}


def test_folder_that_only_claims_to_be_a_submodule_is_not_entered(plant: Path, tmp_path: Path) -> None:
    """Its `.git` leads to a repository elsewhere, as in an archive that somebody sent."""
    elsewhere = init(tmp_path / "elsewhere", {"secret.py": "def secret_pump():\n    return 0\n"})
    shutil.rmtree(plant / "third party/valve")
    write(plant, {"third party/valve/.git": f"gitdir: {elsewhere}/.git\n"})
    assert found(plant) == {"start_pump": "pump.py:1-2"}


# --- worktrees and nested repositories -----------------------------------------------------------------------


def test_nested_repositories_and_worktrees_are_no_duplicates(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"pump.py": PUMP})
    git(root, "worktree", "add", "-q", "-b", "side", str(root / "trees/side"))
    init(root / "vendor/other", {"pump.py": PUMP})
    git(root, "clone", "-q", ".", "copy")
    assert found(root) == {"start_pump": "pump.py:1-2"}
    write(root, {"trees/side/pump.py": PUMP.replace("start_pump", "halt_pump")})
    assert found(root) == {"start_pump": "pump.py:1-2"}
    assert found(root / "trees/side") == {"halt_pump": "pump.py:1-2"}
    assert engine(root).index().files.total == 1


def test_folder_that_becomes_a_repository_of_its_own_is_gone(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"pump.py": PUMP})
    write(root, {"lib/valve.py": VALVE})
    engine(root).index()
    init(root / "lib", {"gauge.py": GAUGE})
    assert found(root) == {"start_pump": "pump.py:1-2"}


# --- clones and checkouts that have only a part --------------------------------------------------------------


def test_sparse_checkout_that_grows_and_shrinks(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"pump/pump.py": PUMP, "valve/valve.py": VALVE, "gauge/gauge.py": GAUGE})
    git(root, "sparse-checkout", "set", "pump")
    assert set(found(root)) == {"start_pump"}
    git(root, "sparse-checkout", "add", "valve")
    assert set(found(root)) == {"start_pump", "close_valve"}
    git(root, "sparse-checkout", "set", "gauge")
    assert set(found(root)) == {"read_gauge"}
    assert set(found(root, at="HEAD")) == {"start_pump", "close_valve", "read_gauge"}
    git(root, "sparse-checkout", "disable")
    assert set(found(root)) == {"start_pump", "close_valve", "read_gauge"}


def test_shallow_clone_is_searched_and_deepened(tmp_path: Path) -> None:
    source = init(tmp_path / "source", {"pump.py": PUMP})
    write(source, {"pump.py": "\n" + PUMP})
    commit(source)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "clone")
    root = tmp_path / "clone"
    assert found(root) == {"start_pump": "pump.py:2-3"}
    git(root, "fetch", "-q", "--unshallow")
    assert found(root, at="HEAD~1") == {"start_pump": "pump.py:1-2"}
    assert found(root) == {"start_pump": "pump.py:2-3"}


def test_partial_clone_fetches_nothing_and_says_what_is_missing(tmp_path: Path) -> None:
    source = init(tmp_path / "source", {f"old{number}.py": f"# {number}\n" + PUMP for number in range(200)})
    git(source, "rm", "-q", "old*.py")
    write(source, {"pump.py": PUMP})
    commit(source)
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{source}", "clone")
    root = tmp_path / "clone"
    objects = git(root, "count-objects", "-v")
    assert found(root) == {"start_pump": "pump.py:1-2"}
    report = engine(root).index(at="HEAD~1")
    assert reasons(report) == {f"old{number}.py": SkipReason.NOT_FETCHED for number in range(200)}
    assert git(root, "count-objects", "-v") == objects
    git(root, "checkout", "-q", "HEAD~1")  # now git fetches them
    git(root, "checkout", "-q", "-")
    assert engine(root).index(at="HEAD~1").skipped == ()


def test_pointers_of_large_files_are_skipped_until_their_content_is_there(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 52\n"
    root = init(tmp_path / "plant", {"model.py": pointer, "pump.py": PUMP})
    assert reasons(engine(root).index()) == {"model.py": SkipReason.LFS_POINTER}
    write(root, {"model.py": GAUGE})
    assert found(root)["read_gauge"] == "model.py:1-2"
    assert "read_gauge" not in found(root, at="HEAD")


# --- ignore rules --------------------------------------------------------------------------------------------


def test_git_decides_what_is_ignored(tmp_path: Path) -> None:
    root = init(
        tmp_path / "plant",
        {
            ".gitignore": "build/*\n!build/kept.py\n*.tmp.py\n",
            "lib/.gitignore": "*\n!.gitignore\n!shown/\n!shown/**\n",
            "build/kept.py": PUMP,
        },
    )
    write(
        root,
        {
            "build/dropped.py": "def dropped_pump():\n    return 1\n",
            "lib/hidden.py": "def hidden_pump():\n    return 1\n",
            "lib/shown/valve.py": VALVE,
            "local/gauge.py": GAUGE,
            "a.tmp.py": "def temporary_pump():\n    return 1\n",
            ".git/info/exclude": "local/\n",
        },
    )
    assert found(root) == {"start_pump": "build/kept.py:1-2", "close_valve": "lib/shown/valve.py:1-2"}


# --- where a repository lies, and how --------------------------------------------------------------------------


def test_root_behind_a_symbolic_link(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"src/pump.py": PUMP})
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "inside").symlink_to(root / "src")
    assert found(tmp_path / "link") == found(tmp_path / "inside") == {"start_pump": "src/pump.py:1-2"}
    assert engine(tmp_path / "link").home == engine(root).home


def test_sha256_repository(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"pump.py": PUMP}, "--object-format=sha256")
    assert found(root) == {"start_pump": "pump.py:1-2"}
    write(root, {"pump.py": "\n" + PUMP})
    assert found(root) == {"start_pump": "pump.py:2-3"}
    commit(root)
    assert engine(root).index().declarations.embedded == 0
    assert found(root, at="HEAD~1") == {"start_pump": "pump.py:1-2"}
    assert engine(root).show("HEAD~1:pump.py:2").start_line == 1


def test_bare_repository_at_its_head_and_at_revisions(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"pump.py": PUMP})
    git(root, "tag", "first")
    write(root, {"pump.py": "\n" + PUMP})
    commit(root)
    git(tmp_path, "clone", "-q", "--bare", str(root), "bare.git")
    bare = tmp_path / "bare.git"
    assert found(bare) == {"start_pump": "pump.py:2-3"}
    assert found(bare, at="first", filters=Filters(paths=("pump.py",))) == {"start_pump": "pump.py:1-2"}
    assert engine(bare).show("first:pump.py:1").end_line == 2
    write(root, {"valve.py": VALVE})
    commit(root)
    git(root, "push", "-q", str(bare), "main")
    assert found(bare) == {"start_pump": "pump.py:2-3", "close_valve": "valve.py:1-2"}


# --- attributes ----------------------------------------------------------------------------------------------


def order(root: Path, **how) -> list[str]:
    python = Filters(globs=("*.py",))
    found = engine(root).search("start_pump", min_score=0.0, collapsed=False, filters=python, **how)
    return [hit.path for hit in found.hits]


def test_files_marked_as_generated_or_vendored_give_way(tmp_path: Path) -> None:
    """Two files of equal standing: whichever is marked comes second, from whatever state it is read."""
    root = init(tmp_path / "plant", {"a/pump.py": PUMP, "b/pump.py": PUMP})
    assert order(root) == ["a/pump.py", "b/pump.py"]
    write(root, {".gitattributes": "a/* linguist-generated\n"})
    assert order(root) == ["b/pump.py", "a/pump.py"]
    git(root, "add", "-A")
    assert order(root, staged=True) == ["b/pump.py", "a/pump.py"]
    write(root, {".gitattributes": "b/* linguist-vendored=true\n"})
    assert order(root) == ["a/pump.py", "b/pump.py"]
    assert order(root, staged=True) == ["b/pump.py", "a/pump.py"]
    git(root, "commit", "-q", "-m", "marked")
    (root / ".gitattributes").unlink()
    assert order(root) == order(root, at="HEAD~1") == ["a/pump.py", "b/pump.py"]
    assert order(root, at="HEAD") == ["b/pump.py", "a/pump.py"]


def test_mark_holds_for_edited_and_new_files(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"a/pump.py": PUMP, "b/pump.py": PUMP, ".gitattributes": "a/* linguist-vendored\n"})
    engine(root).index()
    write(root, {"a/pump.py": "\n" + PUMP, "a/new.py": "\n" + PUMP, "b/pump.py": "\n" + PUMP})
    assert order(root) == ["b/pump.py", "a/pump.py", "a/new.py"]


def test_attribute_may_deny_what_a_path_suggests(tmp_path: Path) -> None:
    root = init(tmp_path / "plant", {"aa/pump.py": PUMP, "vendor/pump.py": PUMP})
    assert order(root)[0] == "aa/pump.py"
    write(root, {".gitattributes": "vendor/** -linguist-vendored\naa/** linguist-vendored\n"})
    assert order(root)[0] == "vendor/pump.py"
