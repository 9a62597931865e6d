"""Which key does what: the one table that bindings and help are made of."""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    """A key as textual names it, the action, and what help says; empty where another line says it."""

    keys: str
    action: str
    shown: str = ""
    said: str = ""


KEYS = (
    Key("enter", "open", "Enter", "open in $VISUAL or $EDITOR: the marked hits, else the current one"),
    Key("up", "move(-1)", "Up Down PgUp PgDn", "choose a hit; the mouse does as well, a double click opens"),
    Key("down", "move(1)"),
    Key("pageup", "page(-1)"),
    Key("pagedown", "page(1)"),
    Key("tab", "mode(1)", "Tab Shift-Tab", "hybrid, keyword, meaning, symbol: by what hits are found"),
    Key("shift+tab", "mode(-1)"),
    Key("ctrl+t", "mark", "Ctrl-T", "mark a hit, for opening or copying several"),
    Key("ctrl+y", "copy_citation", "Ctrl-Y", "copy the citation, path:start-end"),
    Key("ctrl+o", "copy_code", "Ctrl-O", "copy the code"),
    Key("ctrl+g", "around", "Ctrl-G", "show what is around it: the class of a method, and so on"),
    Key("ctrl+l", "outline", "Ctrl-L", "outline of its file"),
    Key("ctrl+s", "similar", "Ctrl-S", "declarations like it; Esc comes back"),
    Key("ctrl+x", "why", "Ctrl-X", "why it is here: its signals"),
    Key("shift+up", "scroll_preview(-3)", "Shift-Up Shift-Down", "move through the preview"),
    Key("shift+down", "scroll_preview(3)"),
    Key("f2", "toggle_preview", "F2", "hide or show the preview"),
    Key("ctrl+up", "older", "Ctrl-Up Ctrl-Down", "earlier queries"),
    Key("ctrl+down", "newer"),
    Key("", "", "Right", "at the end: complete a filter"),
    Key("f1,question_mark", "help", "F1", "this help; so does ? where nothing is typed"),
    Key("escape", "leave", "Esc", "back, in the end out"),
    Key("ctrl+c", "interrupt", "Ctrl-C", "out, with exit code 130"),
)
FILTERS = (
    ("lang:go,rust", "only in these languages"),
    ("kind:method", "only declarations of this kind"),
    ("path:src/net", "only in this folder or file, from the root"),
    ("glob:*_pb.go", "only in paths like it; glob:!… leaves them out"),
    ("symbol:retry", "only declarations of this name"),
    ("tests:no  docs:yes", "no tests; only prose"),
    ("changed:main..HEAD", "what this range, or staged, unstaged, added or changed"),
    ("author:ada since:2.weeks", "whose lines still stand, and from when; until:…"),
    ('"connection reset"', "what has these words letter for letter"),
    ("-mock", "nothing that has this word"),
)
EVERYWHERE = frozenset({"interrupt"})  # the actions that mean the same over every screen
OF_PICKER = frozenset(key.action.partition("(")[0] for key in KEYS if key.action) - EVERYWHERE
