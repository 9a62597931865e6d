"""What the shell offers on Tab: click's own scripts, with our languages, kinds, revisions, symbols and paths.

A Tab must be quick, silent and harmless: nothing is indexed, an error offers nothing, and only words that no shell
gives a meaning are offered, because a shell puts them on the command line as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, shell_complete

from codesearch.cli.routing import VERB_GIVEN

if TYPE_CHECKING:
    from codesearch.cli.place import Place
    from codesearch.engine import Engine

PROGRAM = "codesearch"
VARIABLE = "_CODESEARCH_COMPLETE"  # the name that click's scripts use
SHELLS = ("bash", "zsh", "fish")
LIMIT = 200  # a shell asks before it lists more
_HARMLESS = re.compile(r"\w[\w./+-]*")


def complete(group: click.Group) -> int | None:
    """Answers the shell if it is asking, and says with which exit code; None when it is not."""
    instruction = os.environ.get(VARIABLE)
    if not instruction:
        return None
    try:
        return shell_complete(group, {}, PROGRAM, VARIABLE, instruction)
    except Exception:  # a traceback would end up in the line that is being typed
        return 1


def script(group: click.Group, shell: str) -> str:
    """What a shell's start-up file has to evaluate."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    return found(group, {}, PROGRAM, VARIABLE).source()


def one_of(*names: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """For an argument that is one of these words."""
    return lambda _ctx, _param, incomplete: _items(_starting(names, incomplete))


# --- for options and arguments: called by click with the words so far ----------------------------------------


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Folders, listed by the shell itself."""
    return [CompletionItem(incomplete, type="dir")]


def paths(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Files and folders, listed by the shell itself."""
    return [CompletionItem(incomplete, type="file")]


def languages(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Names of languages, also behind a comma."""
    return _listed((each.name for each in _engine(ctx).language_set), incomplete)


def kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Kinds of declarations, also behind a comma."""
    from codesearch.types import Kind

    return _listed((kind.value for kind in Kind), incomplete)


def revisions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Branches and tags."""
    return _items(_starting(_engine(ctx).repository.reference_names(), incomplete))


def ranges(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Branches and tags, also behind the dots of a range; `staged`, `unstaged`; paths if nothing else fits."""
    before, dots, start = incomplete.rpartition("..")
    dots += "." if start.startswith(".") else ""
    names = _starting(_engine(ctx).repository.reference_names(), start.removeprefix("."))
    found = [*_starting(("staged", "unstaged"), incomplete), *(f"{before}{dots}{name}" for name in names)]
    return _items(found) or paths(ctx, param, incomplete)


def symbols(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Symbols of the index, once a letter is there."""
    return _items(_engine(ctx).symbols(incomplete, limit=LIMIT)) if incomplete else []


def locations(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Paths, and behind `FILE#` the symbols of the file."""
    file, hash_, start = incomplete.partition("#")
    if not hash_:
        return paths(ctx, param, incomplete)
    place = _place(ctx)
    found = _engine(ctx).symbols(start, path=place.from_root(file), limit=LIMIT)
    return [CompletionItem(f"{file}#{name}") for name in found if _HARMLESS.fullmatch(name)]


def words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Words of a query: verbs where one may stand, symbols, and paths if there is nothing else."""
    found: list[CompletionItem] = []
    group = ctx.parent.command if ctx.parent is not None else None
    if isinstance(group, click.Group) and not ctx.params.get(param.name or "") and VERB_GIVEN not in ctx.meta:
        verbs = ((name, command) for name, command in group.commands.items() if name.startswith(incomplete))
        found = [CompletionItem(name, help=command.get_short_help_str()) for name, command in verbs]
    return found + symbols(ctx, param, incomplete) or paths(ctx, param, incomplete)


def _place(ctx: click.Context) -> Place:
    from codesearch.cli.place import find_place

    given: Iterable[str] = ctx.params.get("directories") or ()
    return find_place([folder for folder in given if not folder.isdecimal()])


def _engine(ctx: click.Context) -> Engine:
    from codesearch.cli.options import open_engine

    return open_engine(_place(ctx))


def _listed(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    before, comma, start = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{name}") for name in _starting(names, start)]


def _starting(names: Iterable[str], start: str) -> Iterator[str]:
    return (name for name in names if name.startswith(start))


def _items(names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if _HARMLESS.fullmatch(name)][:LIMIT]
