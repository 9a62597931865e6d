"""Installs, describes and removes the git hooks that keep an index fresh.

What a hook does is written in `hook.sh`. A copy of it lies in the git directory, and hooks get three marked lines
that source it:

* a hook that is a shell script gets them below its first line, and loses nothing else when they are removed;
* a hook in another language, a symbolic link or a disabled one is kept under another name, and a small script with
  our lines runs it; it gets its name back at the end;
* hooks in the work tree (husky, `.githooks`) belong to the project: they are not written, but it is said what to add.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codesearch.errors import RepositoryError
from codesearch.repository import Repository
from codesearch.results import Hook, HooksFolder, HooksStatus, HookState

EVENTS = ("post-commit", "post-checkout", "post-merge", "post-rewrite")
STAGED_EVENT = "pre-commit"  # only on request: it runs while the user waits for an editor or for other checks
KEPT = "before-codesearch"  # what follows the name of a hook that ours runs

_HOME = "codesearch-hook"  # in the git directory: the script, and the requests of hooks
_TEMPLATE = Path(__file__).with_name("hook.sh")
_SHELLS = frozenset({b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh"})
_LEGACY = ".legacy"  # the name under which the pre-commit framework keeps, and runs, a hook that it found

_BEGIN, _END = b"# >>> codesearch >>>", b"# <<< codesearch <<<"
_BLOCK = re.compile(re.escape(_BEGIN) + rb".*?" + re.escape(_END) + rb"\n", re.DOTALL)
_CHAIN = re.compile(rb'# What was here before codesearch\.\n.*?exec "\$\{0%/\*\}/(.+)" "\$@"\n')
_SHEBANG = b"#!/bin/sh\n"

# Found from the hook itself where hooks lie in the git directory, because asking git costs a process per commit.
_BESIDE = '"${0%/*}/../' + _HOME + '/hook.sh"'
# A rebase runs post-commit for every commit: once a hook of it has asked, the others are two tests. Its last hook is
# post-rewrite, which asks again in case nobody heard.
_UNLESS_REBASING = f'[ -e "${{GIT_DIR:-.git}}/rebase-merge" ] && [ -e "${{GIT_DIR:-.git}}/{_HOME}/request" ] ||'
_FROM_GIT = f'"$(git rev-parse --git-common-dir)/{_HOME}/hook.sh"'


class Hooks:
    """The hooks of one clone, shared by its worktrees."""

    def __init__(self, repository: Repository) -> None:
        if repository.common_dir is None or repository.git_dir is None:
            raise RepositoryError(f"{repository.root} is no git repository.", "Hooks need one. Run: git init")
        self._repository = repository
        self._git_dir = repository.git_dir
        self._common_dir = repository.common_dir
        self._home = self._common_dir / _HOME
        self._script = self._home / "hook.sh"
        self.folder = self._find_folder()
        self.kind = self._kind_of_folder()

    # --- install and uninstall -------------------------------------------------------------------------------

    def install(self, *, staged: bool = False) -> HooksStatus:
        """Adds our lines to every hook (`staged`: to pre-commit as well), or renews them."""
        with _writing(self.folder):
            self.write_script()
            if self.kind is not HooksFolder.WORKTREE:
                self.folder.mkdir(parents=True, exist_ok=True)
                for event in self._events(staged):
                    self._install(event)
        return self.status(staged=staged)

    def uninstall(self) -> HooksStatus:
        """Removes our lines and gives hooks that were kept their names back; lines that others added stay."""
        with _writing(self.folder):
            for git_dir in (self._common_dir, *self._common_dir.glob("worktrees/*")):
                shutil.rmtree(git_dir / _HOME, ignore_errors=True)
            # Where git took hooks from before core.hooksPath was set, ours may lie as well.
            folders = {self._common_dir / "hooks"} | ({self.folder} if self.kind is not HooksFolder.WORKTREE else set())
            for folder in sorted(folders):
                for event in (*EVENTS, STAGED_EVENT):
                    self._uninstall(folder / event)
        return self.status()

    def write_script(self) -> Path:
        """Writes what the hooks run; it starts the codesearch that runs now."""
        python, main = sys.executable, Path(__file__).with_name("__main__.py")
        script = _TEMPLATE.read_bytes()
        for name, path in ((b"@PYTHON@", python), (b"@MAIN@", main)):
            script = script.replace(name, os.fsencode(shlex.quote(os.fspath(path))))
        self._home.mkdir(exist_ok=True)
        if _read(self._script) != script:
            _replace(self._script, script, 0o644)
        return self._script

    def _install(self, event: str) -> None:
        target = self.folder / event
        self._remove_lines(target.with_name(event + _LEGACY))
        if target.is_dir():
            raise RepositoryError(f"{target} is a folder.", "git expects a program there; move it away.")
        content = _read(target)
        disabled = content is not None and not target.is_symlink() and not os.access(target, os.X_OK)
        if content is not None and _BLOCK.search(content):
            content = _BLOCK.sub(b"", content)
        elif not os.path.lexists(target):
            content = _SHEBANG
        elif content is None or target.is_symlink() or disabled or not _is_shell_script(content):
            content = self._keep(target)
        first, _, rest = content.partition(b"\n")
        content = first + b"\n" + self._lines(event) + rest
        try:
            _replace(target, content, _mode(target) | 0o111)
        except OSError:  # a full disk; what was kept is worth more than our lines
            if not os.path.lexists(target):
                target.with_name(f"{event}.{KEPT}").replace(target)
            raise
        if event == "post-commit":
            if content == _SHEBANG + self._lines(event):
                _replace(self._home / event, content, _mode(target))
            else:  # a rebase must run what else is in it
                (self._home / event).unlink(missing_ok=True)

    def _keep(self, target: Path) -> bytes:
        """Moves a hook aside; the content of a script that runs it."""
        kept = target.with_name(f"{target.name}.{KEPT}")
        if os.path.lexists(kept):
            raise RepositoryError(f"{kept} is in the way.", "Move it or remove it, then install again.")
        target.rename(kept)
        path = f'"${{0%/*}}/{kept.name}"'
        chain = f'# What was here before codesearch.\n[ ! -x {path} ] || exec {path} "$@"\n'
        return _SHEBANG + chain.encode()

    def _uninstall(self, target: Path) -> None:
        self._remove_lines(target.with_name(target.name + _LEGACY))
        rest = self._remove_lines(target)
        if rest is None or (chain := _CHAIN.search(rest)) is None:
            return
        kept = target.with_name(os.fsdecode(chain[1]))
        if not os.path.lexists(kept):
            rest = _CHAIN.sub(b"", rest)
            if rest.strip() == _SHEBANG.strip():
                target.unlink()
            else:
                _replace(target, rest, _mode(target))
        elif _CHAIN.sub(b"", rest).strip() == _SHEBANG.strip():
            kept.replace(target)
        # Else someone added lines to our script: it stays, with them, and runs what was kept.

    def _remove_lines(self, target: Path) -> bytes | None:
        """Takes our lines out of a hook, and the hook away if nothing else is in it; what is left of it."""
        content = _read(target)
        if content is None or not _BLOCK.search(content):
            return None
        rest = _BLOCK.sub(b"", content)
        if rest.strip() == _SHEBANG.strip():
            target.unlink()
            return None
        _replace(target, rest, _mode(target))
        return rest

    def _lines(self, event: str) -> bytes:
        script = _BESIDE if self.kind is HooksFolder.GIT else _FROM_GIT
        staged = "codesearch_staged=1; " if event == STAGED_EVENT else ""
        lines = (
            f"{_BEGIN.decode()} `codesearch hook uninstall` removes these lines",
            *([_UNLESS_REBASING] if event == "post-commit" else []),
            f'({staged}codesearch_hook={script}; . "$codesearch_hook") </dev/null >/dev/null 2>&1 || :',
            _END.decode(),
        )
        return "".join(line + "\n" for line in lines).encode()

    # --- what there is ---------------------------------------------------------------------------------------

    def status(self, *, staged: bool = False) -> HooksStatus:
        """Which hooks are in place, and what became of the last run that one of them asked for."""
        hooks = tuple(self._describe(event) for event in self._events(staged))
        state = self._git_dir / _HOME
        code = (_read(state / "code") or b"").strip()
        log = (_read(state / "log") or b"").decode("utf-8", "replace").strip()
        return HooksStatus(
            folder=str(self.folder),
            kind=self.kind,
            hooks=hooks,
            pending=(state / "request").exists() or (state / "staged").exists(),
            last_error=(log or f"exit code {code.decode()}") if code not in (b"", b"0") else None,
            useful=not self._repository.is_bare or any(self._common_dir.glob("worktrees/*")),
        )

    def _events(self, staged: bool) -> Iterator[str]:
        yield from EVENTS
        if staged or _holds_ours(self._target(STAGED_EVENT)):
            yield STAGED_EVENT

    def _target(self, event: str) -> Path:
        """The file that a user edits; husky's own folder holds what it generated, the user's hooks lie beside it."""
        generated = self.kind is HooksFolder.WORKTREE and self.folder.name == "_"
        return (self.folder.parent if generated else self.folder) / event

    def _describe(self, event: str) -> Hook:
        target = self._target(event)
        kept = self.folder / f"{event}.{KEPT}"
        state = HookState.ABSENT
        if _holds_ours(target):
            runs = self.kind is HooksFolder.WORKTREE or os.access(target, os.X_OK)
            state = HookState.INSTALLED if runs else HookState.NOT_EXECUTABLE
        elif not os.path.lexists(target) and (self._home / "parked").exists() and event == "post-commit":
            state = HookState.INSTALLED  # put away for the length of a rebase
        elif _holds_ours(legacy := target.with_name(event + _LEGACY)) and os.access(legacy, os.X_OK):
            state = HookState.INSTALLED
        to_add = None
        if self.kind is HooksFolder.WORKTREE and state is HookState.ABSENT:
            to_add = f"sh {_FROM_GIT}{' staged' if event == STAGED_EVENT else ''} >/dev/null 2>&1 || :"
        return Hook(event, state, str(target), str(kept) if os.path.lexists(kept) else None, to_add)

    def _find_folder(self) -> Path:
        """The folder that git takes hooks from."""
        args = ("config", "-z", "--type=path", "--get-all", "core.hooksPath")
        # The last value is our own, by which no git that we start runs a hook.
        values = self._repository.run_git(args, ok=(0, 1)).split(b"\0")[:-2]
        if not values or not values[-1]:
            return self._common_dir / "hooks"
        return self._repository.root / os.fsdecode(values[-1])  # a relative one starts where hooks run

    def _kind_of_folder(self) -> HooksFolder:
        real = Path(os.path.realpath(self.folder))
        if real == self._common_dir / "hooks":
            return HooksFolder.GIT
        if not self._repository.is_bare and real.is_relative_to(self._repository.root):
            return HooksFolder.GIT_ELSEWHERE if real.is_relative_to(self._common_dir) else HooksFolder.WORKTREE
        return HooksFolder.GIT_ELSEWHERE if real.is_relative_to(self._common_dir) else HooksFolder.SHARED


def ask(repository: Repository, *, staged: bool = False) -> None:
    """What a hook does, without a hook: leaves a request for the background, and replaces this process by `sh`.

    For managers of hooks that start programs, such as the pre-commit framework.
    """
    script = Hooks(repository).write_script()
    os.chdir(repository.root)
    descriptor = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(descriptor, stream)
    environment = os.environ | {"GIT_DIR": str(repository.git_dir)}
    os.execve("/bin/sh", ["sh", str(script), *(["staged"] if staged else [])], environment)  # noqa: S606 - no shell text


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turns the system's refusal to write into an error that says where."""
    try:
        yield
    except OSError as error:
        raise RepositoryError(
            f"{error.filename or folder} cannot be written: {error.strerror or error}.",
            f"git takes this repository's hooks from {folder}; it must be a folder that you may write.",
        ) from error


def _is_shell_script(content: bytes) -> bool:
    """Whether a hook's first line names a shell in which our lines mean what they say."""
    first, end, _ = content.partition(b"\n")
    if not end or not first.startswith(b"#!"):
        return False
    words = [word for word in first[2:].split() if not word.startswith(b"-")]
    names = [word.rpartition(b"/")[2] for word in words]
    return bool(names) and (names[1] if names[0] == b"env" and len(names) > 1 else names[0]) in _SHELLS


def _holds_ours(target: Path) -> bool:
    """Whether a hook runs our script, by our lines or by one that a user added."""
    content = _read(target) or b""
    return f"{_HOME}/hook.sh".encode() in content or b"codesearch hook run" in content


def _mode(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        return 0o755


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _replace(target: Path, content: bytes, mode: int) -> None:
    """Writes a file as a whole or not at all: git may run it at this moment."""
    fresh = target.with_name(f".{target.name}.codesearch-{os.getpid()}")
    try:
        fresh.write_bytes(content)
        fresh.chmod(mode)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
