"""Verbs that take a query or a place and rank declarations, other than search itself."""

from __future__ import annotations

import functools
from typing import Any

import click

from codesearch.cli import completion, options, output
from codesearch.cli.progress import ProgressBars
from codesearch.cli.routing import QueryCommand, split_words, words_after_dashes
from codesearch.cli.verbs import Session, verb
from codesearch.errors import UsageError
from codesearch.render import documents, text
from codesearch.render.explanations import explanation_at, explanation_layout


@functools.partial(verb, cls=QueryCommand)
@click.argument("words", nargs=-1, metavar="QUERY... [PATH...]", shell_complete=completion.words)
@click.option(
    "--expect",
    metavar="LOCATION",
    shell_complete=completion.locations,
    help="Say what became of FILE:LINE, FILE#symbol or FILE.",
)
@options.limit_option
@options.rerank_option
@options.filter_options
@options.snapshot_options
@click.option("--no-update", is_flag=True, help="Explain the index as it is, even if files have changed.")
def explain(
    session: Session,
    *,
    words: tuple[str, ...],
    expect: str | None,
    top_k: int | None,
    staged: bool,
    at: str | None,
    no_update: bool,
    **flags: Any,
) -> int:
    """Say why the hits of a QUERY are where they are.

    \b
    codesearch explain retry failed uploads
    codesearch explain "retry failed uploads" --expect src/upload.py#Uploader.send
    codesearch explain retry --expect src/upload.py:40 -t python --json

    How the query was read, and for each hit its place by keywords and by meaning alone, the words that it has and
    has not, and what each signal added to its score (in brackets: the signal before weighing). Words, paths and
    filters mean what they mean to `search`.

    With --expect: whether that place is indexed, which flag filters it away, where it ranks, and what parts it
    from the last hit shown.

    Exit code: 0 hits (with --expect: the place is one of them), 1 otherwise, 2 error.
    """  # noqa: D301 - see verbs.py
    options.check_snapshot(staged=staged, at=at)
    place = session.place
    query, path_words = split_words(words, words_after_dashes(click.get_current_context()), place.exists)
    if not query.strip():
        raise UsageError("The query is empty.", "Run: codesearch explain QUERY")
    filters = options.read_filters(place, session.engine, path_words, on_disk=not (staged or at), **flags)
    limit = top_k or session.engine.settings.top_k
    location = None if expect is None else place.location_from_root(expect) or "."
    with ProgressBars() as progress:
        explanation = session.engine.explain(
            query,
            location,
            limit=limit,
            filters=filters,
            staged=staged,
            at=at,
            update=not no_update,
            progress=progress,
        )
    cited, folder = explanation, place.prefix
    if at is not None:  # as a search cites what is in a revision
        cited, folder = explanation_at(explanation, explanation.result.snapshot.ref or at), ""
    session.print(
        lambda: documents.explanation_document(explanation),
        lambda: explanation_layout(cited, folder=folder),
    )
    session.engine.finish()
    return 0 if explanation.is_as_expected else 1


@verb
@click.argument("location", metavar="LOCATION", shell_complete=completion.locations)
@options.limit_option
@options.filter_options
@options.form_options
def similar(
    session: Session,
    *,
    location: str,
    top_k: int | None,
    files_only: bool,
    as_jsonl: bool,
    as_vimgrep: bool,
    chosen_format: str | None,
    null: bool,
    group: bool,
    no_snippet: bool,
    **flags: Any,
) -> int:
    """List the declarations that are most like the one at a LOCATION.

    \b
    codesearch similar src/upload.py:40
    codesearch similar src/upload.py#Uploader.send -k 5 --no-tests

    By meaning and by the words that both have. LOCATION is FILE:LINE or FILE#symbol; the declaration itself and its
    copies are no hits, its copies are named. Exit code: 0 hits, 1 nothing like it.
    """  # noqa: D301 - see verbs.py
    form = options.read_form(
        as_json=session.as_json, files_only=files_only, as_jsonl=as_jsonl, as_vimgrep=as_vimgrep,
        chosen_format=chosen_format, null=null, group=group, no_snippet=no_snippet,
    )  # fmt: skip
    place = session.place
    filters = options.read_filters(place, session.engine, (), on_disk=True, **flags)
    limit = top_k or session.engine.settings.top_k
    with ProgressBars() as progress:
        found = session.engine.similar(
            place.absolute_location(location), limit=limit, filters=filters, progress=progress
        )
    if found.copies and form.name == "text":
        output.print_note([text.copies_line(found.copies, place.prefix, indent="")])
    output.print_hits(
        found.hits,
        form,
        folder=place.prefix,
        document=lambda: documents.similar_document(found),
        layout=lambda: text.search_layout(found.hits, folder=place.prefix, snippets=form.snippets, group=group),
        display=session.display,
    )
    if not found.hits:
        output.print_note([text.plain("Nothing like it was found.")])
    session.engine.finish()
    return 0 if found.hits else 1
