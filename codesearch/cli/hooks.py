"""The hook verb: what users call, and what hooks call in the background."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from codesearch.cli import completion
from codesearch.cli.routing import nearest
from codesearch.cli.verbs import Session, verb
from codesearch.errors import CodesearchError, UsageError
from codesearch.render.documents import hooks_document
from codesearch.render.hooks import hooks_layout

if TYPE_CHECKING:
    from codesearch.hooks import Hooks
    from codesearch.results import HooksStatus

_ACTIONS = ("install", "uninstall", "status", "run", "work")


@verb
@click.argument("action", metavar="install|uninstall|status|run", shell_complete=completion.one_of(*_ACTIONS[:4]))
@click.option("--pre-commit", "staged", is_flag=True, help="The pre-commit hook too, which indexes what is staged.")
@click.option("--git-dir", metavar="DIR", hidden=True, help="The git directory that a hook ran in.")
@click.option("--index-file", metavar="FILE", hidden=True, help="Index what is staged in FILE (empty: as usual).")
def hook(session: Session, *, action: str, staged: bool, git_dir: str | None, index_file: str | None) -> int:
    """Index in the background after every commit.

    \b
    codesearch hook install                 after commit, checkout, merge, rebase and amend
    codesearch hook install --pre-commit    and what is staged, while you write the message
    codesearch hook status                  which hooks are in place; what failed last
    codesearch hook uninstall               hooks that were there before are as they were

    Searches are right without hooks too: what changed is read when you ask. Hooks only do that work beforehand. They
    never delay or fail a commit, index once after a rebase, and run the hooks that were there before.

    `run` is for managers of hooks that start programs, such as pre-commit: it asks for an index run and returns.
    """  # noqa: D301 - see verbs.py
    from codesearch.hooks import Hooks, ask

    if action not in _ACTIONS:
        near = nearest(action, _ACTIONS[:4])
        if near is None:
            raise click.UsageError(f"There is no `hook {action}`.", click.get_current_context())
        raise UsageError(f"There is no `hook {action}`.", f"Did you mean `codesearch hook {near}`?")
    repository = session.engine.repository
    if action == "run":
        with suppress(CodesearchError, OSError):  # git goes on, whatever it is
            ask(repository, staged=staged)
        return 0
    if action == "work":
        # git may have been told of a git directory that has nothing to do with the folder: a work tree elsewhere.
        if git_dir is not None and repository.git_dir is not None and repository.git_dir.samefile(git_dir):
            _work(session, index_file)
        return 0
    status = _act(Hooks(repository), action, staged)
    session.print(lambda: hooks_document(status), lambda: hooks_layout(status))
    return 0


def _act(hooks: Hooks, action: str, staged: bool) -> HooksStatus:
    if action == "install":
        return hooks.install(staged=staged)
    return hooks.uninstall() if action == "uninstall" else hooks.status()


def _work(session: Session, index_file: str | None) -> None:
    """Indexes the working tree, or what is staged in the index file that a hook was given."""
    if index_file is None:
        session.engine.index()
        return
    from codesearch.engine import Engine
    from codesearch.repository import Repository

    repository = Repository.open(session.place.root, index_file=index_file or None)
    Engine(repository, session.engine.settings).index(staged=True)
