"""The verb that lists what differs between two snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from codesearch.cli import completion, options, output
from codesearch.cli.progress import ProgressBars
from codesearch.cli.verbs import Session, verb
from codesearch.errors import RevisionError, UsageError

if TYPE_CHECKING:
    from codesearch.cli.place import Place
    from codesearch.engine import Engine

_DEFAULT = "HEAD"


@verb
@click.argument("words", nargs=-1, metavar="[RANGE] [PATH...]", shell_complete=completion.ranges)
@click.option(
    "-t",
    "--lang",
    "languages",
    multiple=True,
    metavar="LANG",
    shell_complete=completion.languages,
    help="Only in this language.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    shell_complete=completion.kinds,
    help="Only functions, methods, classes, …",
)
def changes(session: Session, *, words: tuple[str, ...], languages: tuple[str, ...], kinds: tuple[str, ...]) -> int:
    """List the declarations that differ between two snapshots.

    \b
    codesearch changes                      HEAD to the working tree
    codesearch changes main...              what this branch did since it left main
    codesearch changes v1.0..v1.1 src/      two revisions, in src/
    codesearch changes staged --json        what a commit would change; also unstaged
    codesearch changes HEAD~5 -t go         a revision to the working tree, only Go
    codesearch changes 1a2b3c4^!            what one commit did

    Added, changed, moved (the same text in another place), renamed (nearly the same text under another name), removed.
    A class is changed when its own text is; members count for themselves. What is no longer there is cited as
    REV:path:start-end, which `codesearch show` takes; `:path` is what is staged.

    Exit code: 0 there are changes, 1 none, 2 error.
    """  # noqa: D301 - see verbs.py
    from codesearch.comparisons import has_file, restricted
    from codesearch.render.comparisons import changes_document, changes_layout, elsewhere_layout

    engine, place = session.engine, session.place
    between, path_words = _range_and_paths(engine, place, words)
    paths = [place.from_root(path) for path in path_words]
    wanted = options.parse_languages(languages, engine.languages()) if languages else ()
    kinds_wanted = options.parse_kinds(kinds)
    with ProgressBars() as progress:
        comparison = engine.changes(between, progress=progress)
    for word, path in zip(path_words, paths, strict=True):
        if not place.exists(word) and not has_file(comparison, path):
            raise UsageError(f"No such file or folder: {word}", "PATHs count from where you stand.")
    comparison = restricted(comparison, () if "" in paths else paths, wanted, kinds_wanted)
    session.print(lambda: changes_document(comparison), lambda: changes_layout(comparison, folder=place.prefix))
    output.print_note(elsewhere_layout(comparison, folder=place.prefix))
    return 0 if comparison.changes else 1


def _range_and_paths(engine: Engine, place: Place, words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The range, and the words that are paths: the first one, too, where it is no range and there is such a file."""
    if not words:
        return _DEFAULT, ()
    try:
        engine.repository.read_range(words[0])
    except RevisionError:
        if not place.exists(words[0]):
            raise
        return _DEFAULT, words
    return words[0], words[1:]
