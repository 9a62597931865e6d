"""The verb that lists copies."""

from __future__ import annotations

from typing import Any

import click

from codesearch.cli import completion, options, output
from codesearch.cli.progress import ProgressBars
from codesearch.cli.verbs import Session, verb
from codesearch.render.duplicates import duplicates_document, duplicates_layout
from codesearch.render.text import plain

_GROUPS = 20  # on two screens


@verb
@click.argument("words", nargs=-1, metavar="[PATH]...", shell_complete=completion.paths)
@click.option("--exact", is_flag=True, help="Only copies with the same text, indentation aside.")
@click.option(
    "--min-lines", type=click.IntRange(1), default=5, metavar="N",
    help="Only declarations of at least N lines.  [default: 5]",
)  # fmt: skip
@click.option("-k", "--top-k", type=click.IntRange(1), default=_GROUPS, metavar="N",
    help="At most N groups.  [default: 20]",
)  # fmt: skip
@options.filter_options
@options.snapshot_options
def duplicates(
    session: Session,
    *,
    words: tuple[str, ...],
    exact: bool,
    min_lines: int,
    top_k: int,
    staged: bool,
    at: str | None,
    **flags: Any,
) -> int:
    """List declarations that are copies of each other, those that waste most lines first.

    \b
    codesearch duplicates
    codesearch duplicates src/ --no-tests --code
    codesearch duplicates -t go --exact --min-lines 10 -k 100
    codesearch duplicates --kind function,method --json

    Copies have one text, indentation aside; near-copies share 0.9 of their runs of three words with the first of their
    group (the number behind each says how much), whatever their names are. What lies inside a listed copy is not listed
    again. Whole files count as well, unless one declaration is nearly all of them. Only places that the filters admit
    are compared.

    Exit code: 0 there are some, 1 none, 2 error.
    """  # noqa: D301 - see verbs.py
    options.check_snapshot(staged=staged, at=at)
    place = session.place
    flags["paths"] = (*flags["paths"], *words)
    filters = options.read_filters(place, session.engine, (), on_disk=not (staged or at), **flags)
    options.note_plain_folder(session.engine)
    with ProgressBars() as progress:
        groups = session.engine.duplicates(
            filters=filters, exact=exact, min_lines=min_lines, staged=staged, at=at, progress=progress
        )
    session.print(
        lambda: duplicates_document(groups, top_k),
        lambda: duplicates_layout(groups[:top_k], folder=place.prefix),
    )
    if not groups:
        output.print_note([plain(f"No copies of {min_lines} lines or more were found.")])
    elif len(groups) > top_k:
        output.print_note([plain(f"{top_k} of {len(groups):,} groups; -k N shows more.")])
    session.engine.finish()
    return 0 if groups else 1
