"""Hooks in real repositories: what they leave in place, and what becomes of the index after git has run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from git_helpers import git, init, write

from codesearch import Engine
from codesearch.errors import RepositoryError
from codesearch.hooks import EVENTS, Hooks
from codesearch.repository import Repository
from codesearch.results import HooksFolder, HookState
from codesearch.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
SOURCE = 'def retry_{0}():\n    """Sends again."""\n    return "{0}"\n'


def hooks_of(root: Path) -> Hooks:
    return Hooks(Repository.open(root))


def states(root: Path) -> dict[str, HookState]:
    return {hook.event: hook.state for hook in hooks_of(root).status().hooks}


def script(path: Path, content: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return path


def run_git(root: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """git as a user runs it: hooks see this checkout's codesearch, as if it were installed."""
    variables = os.environ | {"PYTHONPATH": str(PROJECT)} | environment
    return subprocess.run(["git", *args], cwd=root, env=variables, capture_output=True, text=True, check=True)


def commit(root: Path, name: str, *flags: str) -> None:
    write(root, {f"{name}.py": SOURCE.format(name)})
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", name, *flags)


def state_folder(root: Path) -> Path:
    return Path(git(root, "rev-parse", "--absolute-git-dir")) / "codesearch-hook"


def rest(root: Path) -> None:
    """Waits until no hook of this worktree has anything running or pending."""
    folder = state_folder(root)
    for _ in range(300):
        if not any((folder / name).exists() for name in ("worker", "request", "staged")):
            return
        time.sleep(0.05)
    raise AssertionError(f"still at work: {sorted(path.name for path in folder.iterdir())}")


def indexed(root: Path, pointer: str = "") -> str | None:
    engine = Engine.open(root, Settings())
    view = engine._corpora.view(engine._corpora.pointer() + pointer)
    return view.meta["commit"] if view else None


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.lstat().st_mode) for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return init(tmp_path / "with space and ünïcode 'quote", {"first.py": SOURCE.format("first")})


# --- files ---------------------------------------------------------------------------------------------------


def test_uninstalling_leaves_every_hook_as_it_was(root: Path) -> None:
    folder = root / ".git" / "hooks"
    script(folder / "post-commit", "#!/bin/sh -e\necho mine\n")
    script(folder / "post-merge", "#!/usr/bin/env python3\nprint('mine')\n", 0o750)
    script(folder / "post-rewrite", "#!/bin/sh\nexit 3\n", 0o644)  # disabled
    script(root / "tool.sh", "#!/bin/sh\necho tool\n")
    (folder / "post-checkout").symlink_to("../../tool.sh")
    before = snapshot(folder)

    for _ in range(2):  # a second time changes nothing more
        hooks_of(root).install(staged=True)
    assert states(root) == dict.fromkeys([*EVENTS, "pre-commit"], HookState.INSTALLED)
    assert (folder / "post-commit").read_bytes().count(b">>> codesearch >>>") == 1
    assert (root / "tool.sh").read_text() == "#!/bin/sh\necho tool\n"  # not written through the link

    hooks_of(root).uninstall()
    assert snapshot(folder) == before
    assert (folder / "post-checkout").is_symlink()
    assert not (root / ".git" / "codesearch-hook").exists()
    hooks_of(root).uninstall()


@pytest.mark.parametrize("first_line", ["#!/bin/sh", "#!/usr/bin/env python3"])
def test_a_hook_that_was_there_still_runs_with_its_arguments_input_and_exit_code(root: Path, first_line: str) -> None:
    shell = 'cat > seen; echo "$*" >> seen; exit 7\n'
    python = "import sys; open('seen','w').write(sys.stdin.read() + ' '.join(sys.argv[1:]) + '\\n'); sys.exit(7)\n"
    script(root / ".git/hooks/post-rewrite", f"{first_line}\n{python if 'python' in first_line else shell}")
    hooks_of(root).install()
    done = subprocess.run([".git/hooks/post-rewrite", "a b"], cwd=root, input="old new\n", text=True, check=False)
    assert done.returncode == 7
    assert (root / "seen").read_text() == "old new\na b\n"
    rest(root)


def test_a_disabled_hook_stays_disabled(root: Path) -> None:
    script(root / ".git/hooks/post-commit", "#!/bin/sh\ntouch ran\n", 0o644)
    hooks_of(root).install()
    commit(root, "second")
    assert not (root / "ran").exists()
    rest(root)


def test_lines_that_a_user_added_stay(root: Path) -> None:
    folder = root / ".git" / "hooks"
    script(folder / "post-merge", "#!/usr/bin/env python3\nprint('kept')\n")
    hooks_of(root).install()
    for event in ("post-commit", "post-merge"):
        first, rest_of_it = (folder / event).read_text().split("\n", 1)
        script(folder / event, f"{first}\necho added\n{rest_of_it}")
    hooks_of(root).uninstall()
    assert (folder / "post-commit").read_text() == "#!/bin/sh\necho added\n"
    assert subprocess.run([folder / "post-merge"], capture_output=True, text=True).stdout == "added\nkept\n"


def test_a_hook_that_lost_its_permission_is_shown_and_mended(root: Path) -> None:
    hooks_of(root).install()
    (root / ".git/hooks/post-merge").chmod(0o644)
    assert states(root)["post-merge"] is HookState.NOT_EXECUTABLE
    hooks_of(root).install()
    assert states(root)["post-merge"] is HookState.INSTALLED


def test_a_hooks_folder_that_cannot_be_written_is_an_error_that_names_it(root: Path) -> None:
    for folder in ("/proc/self", str(root / "first.py"), os.devnull):
        git(root, "config", "core.hooksPath", folder)
        if Path(folder).is_relative_to(root):
            continue
        with pytest.raises(RepositoryError, match=r"cannot be written") as raised:
            hooks_of(root).install()
        assert folder in raised.value.hint


def test_no_repository_is_an_error_and_a_bare_one_serves_its_worktrees(root: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(RepositoryError, match="no git repository"):
        hooks_of(tmp_path / "plain")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    assert not hooks_of(bare).install().useful
    run_git(bare, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    rest(tmp_path / "linked")
    assert indexed(tmp_path / "linked") == git(bare, "rev-parse", "main")
    assert hooks_of(bare).status().useful


# --- where git takes hooks from ------------------------------------------------------------------------------


def test_a_shared_folder_acts_only_in_repositories_that_asked_for_it(root: Path, tmp_path: Path) -> None:
    shared, other = tmp_path / "shared hooks", init(tmp_path / "other", {"a.py": "a = 1\n"})
    for each in (root, other):
        git(each, "config", "core.hooksPath", str(shared))
    assert hooks_of(root).install().kind is HooksFolder.SHARED
    commit(other, "second")
    commit(root, "second")
    rest(root)
    assert indexed(root) == git(root, "rev-parse", "HEAD")
    assert not (other / ".git" / "codesearch-hook").exists()


@pytest.mark.parametrize(("folder", "edited"), [(".husky/_", ".husky"), (".githooks", ".githooks")])
def test_hooks_in_the_work_tree_are_the_users_to_change(root: Path, folder: str, edited: str) -> None:
    script(root / folder / "post-commit", f'#!/bin/sh\nsh -e "{edited}/post-commit"\n' if folder != edited else "")
    git(root, "config", "core.hooksPath", folder)
    before = snapshot(root / folder)
    status = hooks_of(root).install()
    assert (status.kind, snapshot(root / folder)) == (HooksFolder.WORKTREE, before)
    assert status.hooks[0].path == str(root / edited / "post-commit")
    assert status.hooks[0].state is HookState.ABSENT
    assert hooks_of(root).install(staged=True).hooks[-1].to_add.count(" staged ") == 1

    script(root / edited / "post-commit", f"#!/bin/sh\n{status.hooks[0].to_add}\n")
    assert states(root)["post-commit"] is HookState.INSTALLED
    commit(root, "second")
    rest(root)
    assert indexed(root) == git(root, "rev-parse", "HEAD")
    hooks_of(root).uninstall()
    commit(root, "third")  # the line does nothing any more, and fails nothing
    assert not state_folder(root).exists()


def test_a_submodule_and_a_linked_worktree_index_themselves(root: Path, tmp_path: Path) -> None:
    inner = init(tmp_path / "inner", {"inner.py": SOURCE.format("inner")})
    git(root, "submodule", "--quiet", "add", str(inner), "module")
    module, linked = root / "module", tmp_path / "linked"
    hooks_of(module).install()
    commit(module, "second")
    rest(module)
    assert indexed(module) == git(module, "rev-parse", "HEAD")
    assert indexed(root) is None

    hooks_of(root).install()
    run_git(root, "worktree", "add", "-q", "-b", "topic", str(linked))
    commit(linked, "third", "-a")
    rest(linked)
    assert indexed(linked) == git(linked, "rev-parse", "HEAD")
    assert indexed(root) is None


# --- what the worker does ------------------------------------------------------------------------------------


def test_a_commit_is_indexed_in_the_background_without_home_and_holding_nothing(root: Path, tmp_path: Path) -> None:
    hooks_of(root).install()
    write(root, {"second.py": SOURCE.format("second")})
    kept = {name: value for name, value in os.environ.items() if name.startswith("GIT_")}
    environment = kept | {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT)}  # as git gui may be started
    reader, writer = os.pipe()
    os.dup2(writer, 200)  # what `flock 200` leaves open
    git(root, "add", "-A")
    started = time.perf_counter()
    done = subprocess.run(
        ["git", "commit", "-m", "second"], cwd=root, env=environment, capture_output=True, pass_fds=(200,), check=True
    )  # fmt: skip
    took = time.perf_counter() - started
    os.close(writer)
    os.close(200)
    assert took < 1  # the worker sleeps for a second before it does anything: it was not waited for
    assert done.stderr == b""
    assert os.read(reader, 1) == b""  # ends at once when nobody holds the other end; else the test would hang
    assert (state_folder(root) / "worker").exists()
    os.close(reader)
    rest(root)
    assert indexed(root) == git(root, "rev-parse", "HEAD")
    assert hooks_of(root).status().last_error is None


def test_a_rebase_is_followed_by_one_run(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "topic")
    for number in range(5):
        commit(root, f"topic_{number}")
    git(root, "checkout", "-q", "main")
    commit(root, "base")
    git(root, "checkout", "-q", "topic")
    hooks_of(root).install()
    runs = counting_python(root)
    hook = (root / ".git/hooks/post-commit").read_bytes()
    edit = script(root.parent / "edit.sh", "#!/bin/sh\nsed -i '3s/^pick/edit/' \"$1\"\n")
    run_git(root, "rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR=f"sh {edit}")
    time.sleep(2.5)  # the rebase stands still; the worker has looked twice
    assert not runs.exists()
    assert not (root / ".git/hooks/post-commit").exists()  # git need not even start it
    assert states(root)["post-commit"] is HookState.INSTALLED
    assert hooks_of(root).status().pending
    run_git(root, "rebase", "--continue", GIT_EDITOR="true")
    rest(root)
    assert (root / ".git/hooks/post-commit").read_bytes() == hook
    assert indexed(root) == git(root, "rev-parse", "HEAD")
    assert runs.read_text().count("work") == 1


def test_a_request_during_a_run_leads_to_one_more(root: Path) -> None:
    hooks_of(root).install()
    runs = counting_python(root, before="sleep 1; ")
    commit(root, "second")
    while not runs.exists():
        time.sleep(0.02)
    for number in range(3):
        commit(root, f"more_{number}")
    rest(root)
    assert indexed(root) == git(root, "rev-parse", "HEAD")
    assert runs.read_text().count("work") == 2


def counting_python(root: Path, before: str = "") -> Path:
    """Puts a program in place of python that writes down each index run; the file that it writes."""
    runs = root.parent / "runs"
    wrapper = script(
        root.parent / "python",
        f'#!/bin/sh\ncase "$*" in *" work "*closed*) ;; *) echo work >> "{runs}"; {before};; esac\n'
        f'exec "{sys.executable}" "$@"\n'.replace("; ;;", " ;;").replace(";  ;;", " ;;"),
    )
    hook = root / ".git/codesearch-hook/hook.sh"
    hook.write_text(hook.read_text().replace(f"python={sys.executable}", f"python='{wrapper}'"))
    return runs


def test_pre_commit_indexes_what_is_staged_while_the_message_is_written(root: Path) -> None:
    hooks_of(root).install(staged=True)
    write(root, {"first.py": SOURCE.format("changed"), "other.py": SOURCE.format("other")})
    # -a keeps what it commits in another index until it lands; the editor waits for the staged view.
    pointers = shlex.quote(str(root / ".git" / "codesearch" / "pointers"))
    editor = script(
        root.parent / "editor",
        f"#!/bin/sh\nn=0; while [ ! -e {pointers}/main-staged.json ] && [ $n -lt 99 ]; do sleep 0.1; n=$((n+1)); done\n"
        f'ls {pointers} > "{root.parent}/listed"\necho message > "$1"\n',
    )
    run_git(root, "commit", "-q", "-a", GIT_EDITOR=f"'{editor}'")
    assert (root.parent / "listed").read_text() == "main-staged.json\n"
    rest(root)
    engine = Engine.open(root, Settings())
    view = engine._corpora.view("main-staged")
    blobs = {row["oid"].tobytes().hex()[:40] for row in view.table.rows}
    assert blobs == {git(root, "rev-parse", "HEAD:first.py")}  # the changed one, and not the untracked file


def test_a_dead_worker_and_an_unrelated_process_with_its_number_stop_nobody(root: Path) -> None:
    hooks_of(root).install()
    folder = state_folder(root)
    for left in ("999999999 boot\n", f"{os.getpid()} of-an-earlier-boot\n", ""):
        (folder / "worker").write_text(left)
        commit(root, f"after_{len(left)}")
        rest(root)
        assert indexed(root) == git(root, "rev-parse", "HEAD")


def test_a_codesearch_that_is_gone_is_silent_and_one_on_path_takes_its_place(root: Path, tmp_path: Path) -> None:
    hooks_of(root).install()
    hook = root / ".git/codesearch-hook/hook.sh"
    hook.write_text(hook.read_text().replace("__main__.py", "gone.py"))
    write(root, {"second.py": SOURCE.format("second")})
    git(root, "add", "-A")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh", "rm", "mkdir", "sleep", "nice", "setsid", "dirname"):
        (tools / name).symlink_to(shutil.which(name))
    done = run_git(root, "commit", "-q", "-m", "second", PATH=str(tools))
    assert (done.stdout, done.stderr) == ("", "")
    rest(root)
    assert indexed(root) is None

    script(tools / "codesearch", f'#!/bin/sh\nexec "{sys.executable}" -m codesearch "$@"\n')
    run_git(root, "commit", "-q", "--allow-empty", "-m", "third", PATH=str(tools))
    rest(root)
    assert indexed(root) == git(root, "rev-parse", "HEAD")


def test_a_failed_run_is_told_by_status_and_git_does_not_notice(root: Path) -> None:
    hooks_of(root).install()
    done = run_git(root, "commit", "-q", "--allow-empty", "-m", "second", CODESEARCH_JOBS="many")
    assert (done.stdout, done.stderr) == ("", "")
    rest(root)
    assert "CODESEARCH_JOBS" in hooks_of(root).status().last_error


def test_a_work_tree_that_belongs_to_a_git_directory_elsewhere_is_left_alone(root: Path, tmp_path: Path) -> None:
    # A repository of dotfiles: its work tree is the home folder, which must not be indexed as a plain folder.
    home = tmp_path / "dots"
    write(home, {"notes.py": SOURCE.format("notes")})
    hooks_of(root).install()
    flags = ("--git-dir", str(root / ".git"), "--work-tree", str(home))
    run_git(home, *flags, "add", "notes.py")
    run_git(home, *flags, "commit", "-q", "-m", "dots")
    rest(root)
    assert not (root / ".git" / "codesearch").exists()


# --- the command, and the pre-commit framework ---------------------------------------------------------------


def codesearch(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        [sys.executable, "-m", "codesearch", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_command_says_what_it_did(root: Path) -> None:
    assert codesearch(root, "hook", "install").stdout.splitlines()[1:] == [
        f"  {event:<14}installed" for event in EVENTS
    ]
    document = json.loads(codesearch(root, "hook", "status", "--json").stdout)
    assert document["schema"] == 1
    assert {hook["event"]: hook["state"] for hook in document["hooks"]} == dict.fromkeys(EVENTS, "installed")
    assert "absent" in codesearch(root, "hook", "uninstall").stdout
    wrong = codesearch(root, "hook", "instal")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (2, "Error: There is no `hook instal`.")


def test_the_hooks_of_the_pre_commit_framework(root: Path, tmp_path: Path) -> None:
    offered = tmp_path / "offered"
    init(offered, {".pre-commit-hooks.yaml": (PROJECT / ".pre-commit-hooks.yaml").read_bytes()})
    configuration = f"""
default_install_hook_types: [pre-commit, post-commit, post-checkout, post-merge, post-rewrite]
repos:
- repo: {offered}
  rev: {git(offered, "rev-parse", "HEAD")}
  hooks:
  - {{id: codesearch-index, language: system}}
  - {{id: codesearch-index-staged, language: system}}
"""
    write(root, {".pre-commit-config.yaml": configuration})
    tools = tmp_path / "tools"
    script(tools / "codesearch", f'#!/bin/sh\nexec "{sys.executable}" -m codesearch "$@"\n')
    variables = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")])),
    }  # fmt: skip
    command = [sys.executable, "-m", "pre_commit", "install", "--install-hooks"]
    subprocess.run(command, cwd=root, env=os.environ | variables, capture_output=True, check=True)
    write(root, {"second.py": SOURCE.format("second")})
    git(root, "add", "-A")
    done = run_git(root, "commit", "-m", "second", **variables)
    assert "index what is staged for codesearch" in done.stderr
    assert "Failed" not in done.stderr
    rest(root)
    assert indexed(root) == git(root, "rev-parse", "HEAD")
    assert indexed(root, "-staged") is not None
    assert hooks_of(root).status().last_error is None

    hooks_of(root).install()  # beside the framework's own hook
    run_git(root, "commit", "--allow-empty", "-m", "third", **variables)
    rest(root)
    hooks_of(root).uninstall()
    assert "pre-commit" in (root / ".git/hooks/post-commit").read_text()
    assert "codesearch" not in (root / ".git/hooks/post-commit").read_text()
