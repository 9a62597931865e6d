"""How editors are told which files to open, and at which lines. Pure: nothing is run here.

Paths are absolute, so that none can be taken for an option.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

FALLBACKS = ("nvim", "vim", "vi", "nano", "emacs")  # where neither $VISUAL nor $EDITOR is set


@dataclass(frozen=True, slots=True)
class Place:
    """An absolute path and a line."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Command:
    """What to run. `in_terminal`: it needs the terminal for itself.

    `locations` is the text of a file of `path:line:` that the last argument but its name wants; "" for most editors.
    """

    words: tuple[str, ...]
    in_terminal: bool
    locations: str = ""


def choose(environment: Mapping[str, str], exists: Callable[[str], bool]) -> str | None:
    """The user's editor, as in git: `$VISUAL`, `$EDITOR`, then what is there; None without any."""
    for name in ("VISUAL", "EDITOR"):
        if environment.get(name, "").strip():
            return environment[name]
    return next((name for name in FALLBACKS if exists(name)), None)


def open_command(editor: str, places: Sequence[Place]) -> Command:
    """The command that opens places; ValueError for an editor that cannot be read as words of a shell."""
    words = shlex.split(editor)
    if not words:
        raise ValueError("no words")
    family = _family(words[0])
    if family is None:
        return Command((*words, *dict.fromkeys(place.path for place in places)), in_terminal=True)
    arguments, in_terminal = family
    if arguments is _plus_first and len(places) > 1 and PurePath(words[0]).name in _QUICKFIX:
        # Ex commands for further files would have to quote their names; a list of errors has nothing to run.
        listed = "".join(f"{place.path}:{place.line}: \n" for place in places if "\n" not in place.path)
        return Command((*words, "-q"), in_terminal=True, locations=listed)
    return Command((*words, *arguments(places)), in_terminal)


Arguments = Callable[[Sequence[Place]], list[str]]


def _plus_first(places: Sequence[Place]) -> list[str]:
    return [f"+{places[0].line}", *dict.fromkeys(place.path for place in places)]


def _plus_each(places: Sequence[Place]) -> list[str]:
    return [word for place in places for word in (f"+{place.line}", place.path)]


def _colon(places: Sequence[Place]) -> list[str]:
    return [f"{place.path}:{place.line}" for place in places]


def _goto(places: Sequence[Place]) -> list[str]:
    return ["--goto", *_colon(places)]


def _line_each(places: Sequence[Place]) -> list[str]:
    return [word for place in places for word in ("--line", str(place.line), place.path)]


_QUICKFIX = frozenset({"vim", "nvim", "gvim", "mvim"})
_JETBRAINS = (
    "idea", "pycharm", "webstorm", "phpstorm", "goland", "rubymine", "clion", "rider", "rustrover", "datagrip",
    "studio", "fleet",
)  # fmt: skip
_FAMILIES: dict[str, tuple[Arguments, bool]] = {
    **dict.fromkeys(("vim", "nvim", "vi", "ex", "kak", "micro", "less", "joe", "mg"), (_plus_first, True)),
    **dict.fromkeys(("gvim", "mvim"), (_plus_first, False)),
    **dict.fromkeys(("emacs", "emacsclient", "nano", "pico", "ne"), (_plus_each, True)),
    **dict.fromkeys(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron"), (_goto, False)),
    **dict.fromkeys(("subl", "sublime_text", "zed", "zeditor", "mate", "lapce"), (_colon, False)),
    **dict.fromkeys(("hx", "helix"), (_colon, True)),
    **dict.fromkeys(_JETBRAINS, (_line_each, False)),
    **dict.fromkeys(("kate", "gedit", "xed"), (_plus_each, False)),
}


def _family(program: str) -> tuple[Arguments, bool] | None:
    name = PurePath(program).name.lower()
    for ending in (".exe", ".cmd", ".sh", "64"):  # `idea64.exe`, `pycharm.sh`
        name = name.removesuffix(ending)
    return _FAMILIES.get(name)
