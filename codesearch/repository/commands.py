"""Starts git so that nothing in a repository can make it execute anything.

Knows no snapshot and no format of git's output; gives bytes, or a RepositoryError that says what failed.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager

from codesearch.errors import RepositoryError
from codesearch.repository.discovery import Location

# Every setting by which a repository could name a program, and the ones that would make git look elsewhere.
# They travel as GIT_CONFIG_KEY_n/GIT_CONFIG_VALUE_n, because `-c` cannot carry a name with "=" in it.
_OVERRIDES = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "false"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",  # unlike protocol.allow, not weakened by a protocol.<name>.allow
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # an object id must stand for the content that it is the hash of
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# All other GIT_* variables may come from a hook that runs us (GIT_DIR, GIT_INDEX_FILE …) or name programs.
_KEPT_VARIABLES = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})

_DIFF_COMMANDS = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show"})
_PROBE = "codesearch.probe"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Git:
    """Runs git in one repository; the only place where a git process is started."""

    def __init__(self, location: Location, index_file: str | None = None) -> None:
        self._location = location
        self._index_file = index_file
        self._filters: tuple[tuple[object, ...], tuple[str, ...]] | None = None

    def run(self, args: Sequence[str], *, stdin: bytes = b"", ok: Container[int] = (0,)) -> bytes:
        """What a git command prints. An exit status outside `ok` is a RepositoryError."""
        command, environment = self._command(args), self._environment(self._filter_names())
        return _communicate(args, command, environment, stdin, ok)

    def start(self, args: Sequence[str]) -> Running:
        """A git command in the background."""
        return Running(args, self._command(args), self._environment(self._filter_names()))

    def open_pipe(self, args: Sequence[str]) -> subprocess.Popen[bytes]:
        """A git command that answers line by line; the caller closes it."""
        environment = self._environment(self._filter_names())
        return _popen(
            self._command(args),
            environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def environment(self) -> dict[str, str]:
        """The environment under which a git process of this repository is harmless."""
        return self._environment(self._filter_names())

    @contextmanager
    def inherited_variables_hidden(self) -> Iterator[None]:
        """Takes what a hook inherits out of this process's own environment for a while.

        For GitPython alone, which reads that environment and adds to it. Other threads meanwhile see fewer
        GIT_* variables, which none of ours needs.
        """
        hidden = {
            name: value for name, value in os.environ.items() if name.startswith("GIT_") and name not in _KEPT_VARIABLES
        }
        for name in hidden:
            del os.environ[name]
        # Beats core.worktree, in which GitPython would run git.
        os.environ["GIT_WORK_TREE"] = str(self._location.root)
        try:
            yield
        finally:
            del os.environ["GIT_WORK_TREE"]
            os.environ.update(hidden)

    def _command(self, args: Sequence[str]) -> list[str]:
        command = [
            "git",
            "--no-pager",
            "--no-optional-locks",
            "-C",
            str(self._location.root),
        ]
        if args[0] != "check-ignore":  # which takes paths, not patterns, and refuses this option
            command.append("--literal-pathspecs")
        if not self._location.is_bare:
            # Overrides core.worktree, which could name any folder. A git directory is not named: git would
            # take that as consent and skip its check of who owns the repository.
            command += ["--work-tree", str(self._location.root)]
        verb, *rest = args
        if verb in _DIFF_COMMANDS:
            rest = ["--no-ext-diff", "--no-textconv", *rest]
        return [*command, verb, *rest]

    def _environment(self, filter_names: Sequence[str]) -> dict[str, str]:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES
        }
        pairs = list(_OVERRIDES)
        for name in filter_names:
            # An empty command is no command; "required" would turn its absence into a failure.
            pairs += [(f"filter.{name}.{key}", "") for key in ("clean", "smudge", "process")]
            pairs.append((f"filter.{name}.required", "false"))
        for number, (key, value) in enumerate(pairs):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        # A broken git directory must not send git to a repository further up.
        ceiling = str(self._location.root.parent)
        environment |= {
            "GIT_CONFIG_COUNT": str(len(pairs)),
            "GIT_CEILING_DIRECTORIES": ceiling,
            **_ENVIRONMENT,
        }
        if self._index_file is not None:
            environment["GIT_INDEX_FILE"] = self._index_file
        return environment

    def _filter_names(self) -> tuple[str, ...]:
        """Names of all content filters, wherever configured; asked again if the configuration changes."""
        stamp = self._config_stamp()
        if self._filters is not None and self._filters[0] == stamp:
            return self._filters[1]
        args = ["config", "-z", "--name-only", "--get-regexp", r"^(filter\..*|codesearch)\.[a-z]+$"]
        environment = self._environment(())
        count = int(environment["GIT_CONFIG_COUNT"])
        environment |= {
            "GIT_CONFIG_COUNT": str(count + 1),
            f"GIT_CONFIG_KEY_{count}": _PROBE,
            f"GIT_CONFIG_VALUE_{count}": "1",
        }
        keys = _communicate(args, self._command(args), environment, b"", (0, 1))
        found = keys.decode("utf-8", "surrogateescape").split("\0")
        if _PROBE not in found:  # this git does not read settings from the environment, so overrides are void
            raise RepositoryError("This git is too old to be run safely.", hint="Install git 2.31 or newer.")
        names = {key[len("filter.") : key.rindex(".")] for key in found if key.startswith("filter.")}
        self._filters = (stamp, tuple(sorted(names)))
        return self._filters[1]

    def _config_stamp(self) -> tuple[object, ...]:
        git_dir, common_dir = self._location.git_dir, self._location.common_dir
        assert git_dir is not None
        assert common_dir is not None
        stamps: list[object] = []
        for path in (common_dir / "config", git_dir / "config.worktree"):
            try:
                stat = path.stat()
            except OSError:
                stamps.append(None)
            else:
                stamps.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
        return tuple(stamps)


class Running:
    """A git command that was started and whose output is not needed yet.

    A thread takes the output in, so that git never waits for its reader.
    """

    def __init__(self, args: Sequence[str], command: list[str], environment: dict[str, str]) -> None:
        self._args = args
        self._output = (b"", b"")
        self._process = _popen(
            command, environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def finish(self) -> bytes:
        """Waits and gives what the command printed; a RepositoryError if it failed."""
        self._reader.join()
        stdout, stderr = self._output
        if self._process.returncode != 0:
            raise failure(self._args, stderr)
        return stdout

    def _read(self) -> None:
        self._output = self._process.communicate()


def git_version() -> tuple[str, tuple[int, ...]]:
    """What git says of its version, and the numbers in it; a RepositoryError where there is no git."""
    text = _communicate(["--version"], ["git", "--version"], dict(os.environ), b"", (0,)).decode("utf-8", "replace")
    number = re.search(r"\d+(\.\d+)+", text)
    return _CONTROL.sub(" ", text).strip(), tuple(map(int, number[0].split("."))) if number else ()


def failure(args: Sequence[str], stderr: bytes) -> RepositoryError:
    """What git's complaint means, with what to do about it."""
    text = stderr.decode("utf-8", "replace")
    if "dubious ownership" in text or "unsafe repository" in text:
        advice = re.search(r"git config --global --add safe\.directory .*", text)
        hint = f"If you trust it, run: {_CONTROL.sub(' ', advice[0])}" if advice else ""
        return RepositoryError("git refuses this repository because another user owns it.", hint=hint)
    complaints = [line for line in text.splitlines() if line.startswith(("fatal:", "error:"))]
    reason = _CONTROL.sub(" ", (complaints or text.splitlines() or ["no message"])[0])
    reason = reason.removeprefix("fatal: ").removeprefix("error: ")
    return RepositoryError(f"git {args[0]} failed: {reason}", hint="Run `git status` here to see more.")


def _communicate(
    args: Sequence[str], command: list[str], environment: dict[str, str], stdin: bytes, ok: Container[int]
) -> bytes:
    process = _popen(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stdout, stderr = process.communicate(stdin)
    if process.returncode not in ok:
        raise failure(args, stderr)
    return stdout


def _popen(
    command: list[str], environment: dict[str, str], *, stdin: int, stdout: int, stderr: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, env=environment, stdin=stdin, stdout=stdout, stderr=stderr)
    except FileNotFoundError as error:
        raise RepositoryError("git is not installed, or not on PATH.", hint="Install git 2.31 or newer.") from error
    except OSError as error:
        raise RepositoryError(f"git cannot be started: {error.strerror}.", hint="Run `git --version`.") from error
