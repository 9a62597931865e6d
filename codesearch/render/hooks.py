"""Lays out the state of a clone's hooks: one line each, then what is left to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from codesearch.render.safe import sanitise
from codesearch.render.text import Line, Role, plain
from codesearch.results import Hook, HooksFolder, HooksStatus, HookState


def hooks_layout(status: HooksStatus) -> Iterator[Line]:
    """Each hook with its state; what the user has to do; what the last run of a hook said."""
    yield plain(f"Hooks in {sanitise(status.folder)}")
    yield from map(_hook_line, status.hooks)
    lines = {
        hook.to_add: [other.path for other in status.hooks if other.to_add == hook.to_add] for hook in status.hooks
    }
    if any(lines):
        yield plain("These hooks are files of the project, so they are not changed for you. To have them index, add")
    for line, paths in lines.items():
        if line is not None:
            yield plain(f"  {sanitise(line)}")
            yield plain(f"to {', '.join(map(sanitise, paths))}")
    if any(lines):
        yield plain("and create the files that do not exist. Where codesearch is not installed, the line does nothing.")
    if status.kind is HooksFolder.SHARED and any(hook.state is not HookState.ABSENT for hook in status.hooks):
        yield plain("Other repositories may use this folder too: these hooks do nothing in them, but uninstalling here")
        yield plain("removes them for all.")
    if not status.useful:
        yield plain("This repository is bare and has no worktrees: git runs none of these hooks in it.")
    if status.pending:
        yield plain("A hook has asked for an index run that has not begun.")
    if status.last_error is not None:
        yield plain(f"The last run failed: {sanitise(status.last_error.splitlines()[-1])}")


def _hook_line(hook: Hook) -> Line:
    state = "absent" if hook.state is HookState.ABSENT else hook.state.value
    if hook.state is HookState.NOT_EXECUTABLE:
        state += "; git does not run it until `codesearch hook install`"
    if hook.kept is not None:
        name = sanitise(PurePath(hook.kept).name)
        state += f", then runs {name}" if hook.state is HookState.INSTALLED else f", {name} is kept"
    return Line(((f"  {hook.event:<14}", Role.SYMBOL), (state, Role.PLAIN)))
