"""Checks an installation and a repository's index, one thing at a time, and says what to do about what is wrong.

Every check gives a `Check` and never raises: a doctor that falls ill helps nobody. Changes nothing and indexes nothing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from codesearch.embedding import DEFAULT_MODEL, MODELS, load_embedder
from codesearch.errors import CodesearchError, ModelError
from codesearch.hooks import Hooks
from codesearch.languages import load_languages
from codesearch.repository import Repository, git_version
from codesearch.results import HookState
from codesearch.settings import Settings
from codesearch.store import Store
from codesearch.version import __version__
from codesearch.view.published import ViewFolder

OLDEST_GIT = (2, 31)  # the first that takes settings from the environment, by which a repository's are overridden
SUMS = "SHA256SUMS"  # beside the model, as sha256sum writes it
LITTLE_SPACE = 200_000_000  # bytes; the index of a large repository takes as much


class State(StrEnum):
    """`NOTE` is worth knowing and nothing to worry about."""

    WELL = "well"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do about it ("" where there is nothing to do)."""

    name: str
    state: State
    found: str
    hint: str = ""


def check_installation(settings: Settings) -> Iterator[Check]:
    """Whatever the repository: program, git, grammars, model, optional parts."""
    version = f"codesearch {__version__}, Python {platform.python_version()} ({sys.executable})"
    yield Check("program", State.WELL, version)
    yield _guarded("git", check_git)
    yield _guarded("grammars", lambda: check_grammars(settings.grammars))
    yield _guarded("model", lambda: check_model(settings.model))
    yield check_extras(settings.model)


def check_repository(repository: Repository, home: Path) -> Iterator[Check]:
    """What belongs to one repository: git's trust, the index in its folder `home`, hooks."""
    yield _guarded("repository", lambda: _check_repository(repository))
    yield _guarded("index", lambda: check_index(home))
    yield _guarded("store", lambda: check_store(home))
    if repository.is_git:
        yield _guarded("hooks", lambda: check_hooks(repository))


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except CodesearchError as error:
        return Check(name, State.WRONG, error.message, error.hint)
    except Exception as error:  # whatever it is, the other checks are still wanted
        return Check(name, State.WRONG, f"{type(error).__name__}: {error}", "Install codesearch again.")


def check_git() -> Check:
    """Whether git is there, and new enough to be run safely."""
    text, version = git_version()
    if version < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        return Check("git", State.WRONG, f"{text} is too old to be run safely.", f"Install git {oldest} or newer.")
    return Check("git", State.WELL, f"{text} ({shutil.which('git')})")


def check_grammars(extra: Path | None = None) -> Check:
    """Whether every grammar loads and every query of ours fits it."""
    from codesearch.parsing import parse

    languages = load_languages(extra)
    broken = []
    for language in languages:
        try:
            parse(b"\n", language)
        except Exception as error:
            broken.append(f"{language.name} ({error})")
    if broken:
        found = f"{len(broken)} of {len(languages)} cannot be loaded: {', '.join(broken)}"
        return Check(
            "grammars", State.WRONG, found, "Install the pinned grammars: pip install --force-reinstall codesearch"
        )
    return Check("grammars", State.WELL, f"{len(languages)} languages")


def check_model(name: str | None = None, folder: Path = MODELS / DEFAULT_MODEL) -> Check:
    """Whether the model in use can be read, and the one that ships (in `folder`) is as it was shipped."""
    wrong = _wrong_sums(folder)
    if wrong:
        found = f"{', '.join(wrong)} in {folder} is not as it was shipped."
        return Check("model", State.WRONG, found, "Install codesearch again: pip install --force-reinstall codesearch")
    embedder = load_embedder(name)
    return Check("model", State.WELL, f"{embedder.model_id}, {embedder.dimensions} dimensions")


def _wrong_sums(folder: Path) -> list[str]:
    """Files that are missing or differ from their sum."""
    try:
        lines = (folder / SUMS).read_text("ascii").splitlines()
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder / SUMS} cannot be read: {error}.", "Install codesearch again.") from error
    sums = [line.split("  ", 1) for line in lines]
    return [name for expected, name in sums if _sum_of(folder / name) != expected]


def _sum_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def check_extras(model: str | None = None) -> Check:
    """Whether sentence-transformers models can be used; wrong only if one is asked for."""
    if importlib.util.find_spec("sentence_transformers") is not None:
        return Check("extras", State.WELL, f"transformers ({metadata.version('sentence-transformers')})")
    is_needed = model is not None and model != DEFAULT_MODEL and not (Path(model) / "vocabulary.txt").is_file()
    state = State.WRONG if is_needed else State.NOTE
    return Check("extras", state, "no transformers, for other models", "pip install 'codesearch[transformers]'")


def _check_repository(repository: Repository) -> Check:
    if not repository.is_git:
        hint = "codesearch works here; in a git repository it knows what has changed."
        return Check("repository", State.NOTE, f"{repository.root} is no git repository", hint)
    commit, ref = repository.head()
    return Check("repository", State.WELL, f"{repository.root}, {ref or 'no branch'} at {(commit or 'no commit')[:12]}")


def check_index(home: Path) -> Check:
    """Whether the index can be read, byte for byte, and written."""
    above = next((each for each in (home, *home.parents) if each.exists()), home)
    if not os.access(above, os.W_OK | os.X_OK):
        return Check("index", State.WRONG, f"{above} cannot be written.", "Set CODESEARCH_HOME to a folder that can.")
    free = shutil.disk_usage(above).free
    if free < LITTLE_SPACE:
        return Check("index", State.WRONG, f"{free // 1_000_000} MB are free at {above}.", "Free some space.")
    views = ViewFolder(home)
    pointers = sorted(path.stem for path in views.pointers.glob("*.json"))
    if not pointers:
        return Check("index", State.NOTE, f"none yet in {home}", "The first search makes it, or: codesearch index")
    for pointer in pointers:
        view = views.open(pointer, verify=True)
        for segment in view.segments if view is not None else ():
            if segment.path is not None:
                segment.open(segment.path, verify=True)
    snapshots = "1 snapshot" if len(pointers) == 1 else f"{len(pointers)} snapshots"
    return Check("index", State.WELL, f"{snapshots} in {home}")


def check_store(home: Path) -> Check:
    """Whether the durable record can be read."""
    store = Store(home / "store")
    if not store.exists():
        return Check("store", State.NOTE, "nothing recorded yet")
    try:
        counts = store.counts()
    except Exception as error:  # LanceDB has no exceptions of its own
        return Check("store", State.WRONG, f"cannot be read: {error}", "Run: codesearch clean, then: codesearch index")
    return Check("store", State.WELL, f"{counts.get('chunks', 0):,} chunks recorded")


def check_hooks(repository: Repository) -> Check:
    """Whether the hooks that were installed do their work."""
    status = Hooks(repository).status()
    states = {hook.event: hook.state for hook in status.hooks}
    dead = [event for event, state in states.items() if state is HookState.NOT_EXECUTABLE]
    if dead:
        return Check("hooks", State.WRONG, f"git does not run {', '.join(dead)}", "Run: codesearch hook install")
    if status.last_error is not None:
        last = status.last_error.splitlines()[-1]
        return Check("hooks", State.WRONG, f"the last run failed: {last}", "Run: codesearch index")
    installed = [event for event, state in states.items() if state is HookState.INSTALLED]
    if not installed:
        return Check("hooks", State.NOTE, "none installed", "To index in the background: codesearch hook install")
    return Check("hooks", State.WELL, ", ".join(installed))


def check_terminal(
    environment: Mapping[str, str], *, is_terminal: bool, encoding: str, columns: int, color: bool, links: bool
) -> Check:
    """What the terminal can do."""
    if not is_terminal:
        return Check("terminal", State.NOTE, "stdout is none: no colour, no links, no bars")
    abilities = [
        environment.get("TERM", "") or "TERM is not set",
        f"{columns} columns",
        "colour" if color else "no colour",
        "links" if links else "no links known",
        encoding,
    ]
    if encoding.lower().replace("-", "") != "utf8":
        hint = "Other characters are shown as escapes. Set LANG to a UTF-8 locale, as in: LANG=C.UTF-8"
        return Check("terminal", State.NOTE, ", ".join(abilities), hint)
    return Check("terminal", State.WELL, ", ".join(abilities))


def check_programs(environment: Mapping[str, str]) -> Check:
    """Whether the editor and the pager that the environment names are there."""
    named = {name: environment.get(name, "") for name in ("VISUAL", "EDITOR", "PAGER")}
    missing: list[str] = []
    present: list[str] = []
    for name, command in named.items():
        try:
            words = shlex.split(command)
        except ValueError:  # an open quote
            words = [command]
        if words:
            (present if shutil.which(words[0]) else missing).append(f"{name}={command}")
    if missing:
        return Check("programs", State.WRONG, f"{', '.join(missing)}: no such program", "Correct the variable.")
    return Check("programs", State.WELL, ", ".join(present) or "no editor and no pager are set")
