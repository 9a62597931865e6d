"""The search command, the default verb: words and flags to a query and filters, hits to text or JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from codesearch.cli import completion, options, output
from codesearch.cli.display import display_options, read_display
from codesearch.cli.mistakes import meant_verb
from codesearch.cli.place import find_place
from codesearch.cli.progress import ProgressBars
from codesearch.cli.routing import VERB_GIVEN, QueryCommand, split_words, words_after_dashes
from codesearch.errors import LocationError, UsageError
from codesearch.render import documents, text
from codesearch.settings import load_settings
from codesearch.types import Hit, SearchResult, Snippet

if TYPE_CHECKING:
    from codesearch.engine import Engine


@dataclass(frozen=True, slots=True)
class Context:
    """Lines to show around the lines that match, as `-A`, `-B` and `-C` ask; None: the usual snippet."""

    before: int
    after: int


@click.command(cls=QueryCommand, name="search")
@click.argument("words", nargs=-1, metavar="QUERY... [PATH...]", shell_complete=completion.words)
@options.limit_option
@options.filter_options
@options.snapshot_options
@click.option("--no-update", is_flag=True, help="Search the index as it is, even if files have changed.")
@options.rerank_option
@click.option("--min-score", type=float, metavar="SCORE", help="Every hit from this score on; 0 shows what there is.")
@click.option("--all", "every", is_flag=True, help="Show copies of a hit as hits of their own.")
@click.option(
    "-A",
    "--after-context",
    "after",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show N lines after each match.",
)
@click.option(
    "-B",
    "--before-context",
    "before",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show N lines before each match.",
)
@click.option("--context", type=click.IntRange(min=0), metavar="N", help="Show N lines around each match; also -C N.")
@click.option("--explain", is_flag=True, help="Print the signals that made each score.")
@options.json_option
@options.form_options
@display_options
@options.place_options
@click.pass_context
def search(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    top_k: int | None,
    staged: bool,
    at: str | None,
    no_update: bool,
    rerank: str | None,
    min_score: float | None,
    every: bool,
    after: int | None,
    before: int | None,
    context: int | None,
    explain: bool,
    as_json: bool,
    files_only: bool,
    as_jsonl: bool,
    as_vimgrep: bool,
    chosen_format: str | None,
    null: bool,
    group: bool,
    no_snippet: bool,
    color: str | None,
    hyperlink: str | None,
    pager: bool,
    directories: tuple[str, ...],
    model: str | None,
    **flags: Any,
) -> int:
    """Search the repository (the default verb).

    \b
    codesearch where do we retry failed uploads       words need no quotes
    codesearch parseConfig -k 3                       an identifier, in any spelling
    codesearch "load settings" src/ -t python,go      in a folder, in these languages
    codesearch retry --kind method --no-tests -C 3    methods, with three lines around what matches
    codesearch retry --at v1.2 --format markdown      in a revision, for a review
    codesearch '"connection reset" -mock' -l          letter for letter, and without a word; names of files

    The repository around the current directory is indexed first if need be.

    Several words are one query, in words or identifiers. PATHs after a quoted query, after `--`, or written
    with a slash restrict the search. `-C` takes a directory, or a number of context lines.

    Exit code: 0 hits, 1 nothing found, 2 error.
    """  # noqa: D301 - see verbs.py
    options.check_snapshot(staged=staged, at=at)
    if min_score is not None and not math.isfinite(min_score):
        raise UsageError(f"--min-score must be a number, not {min_score}.", "Try: --min-score 0.5")
    form = options.read_form(
        as_json=as_json, files_only=files_only, as_jsonl=as_jsonl, as_vimgrep=as_vimgrep,
        chosen_format=chosen_format, null=null, group=group, no_snippet=no_snippet,
    )  # fmt: skip
    folders, lines = _folders_and_lines(directories, context)
    place = find_place(folders)
    wanted = _context(before, after, lines)
    if wanted is not None and staged:
        raise UsageError("Context lines of what is staged cannot be shown.", "Leave out -A, -B and -C.")
    query, path_words = split_words(words, words_after_dashes(ctx), place.exists)
    if not query and not words:
        raise UsageError("The query is empty.", 'Run: codesearch "what you are looking for"')

    settings = load_settings(place.root, top_k=top_k, model=model, rerank=rerank)
    engine = options.open_engine(place, settings)
    filters = options.read_filters(place, engine, path_words, on_disk=not (staged or at), **flags)
    options.note_plain_folder(engine)
    with ProgressBars() as progress:
        result = engine.search(
            query,
            limit=settings.top_k,
            filters=filters,
            staged=staged,
            at=at,
            update=not no_update,
            min_score=min_score,
            collapsed=not every,
            progress=progress,
        )

    if not form.snippets:
        result = _with_snippets(result, [Snippet(hit.start_line, ()) for hit in result.hits])
    elif wanted is not None and form.name in ("text", "json", "jsonl", "markdown"):
        origin = f"{at}:" if at is not None else f"{place.root}/"
        result = _with_snippets(result, [_widen(engine, hit, wanted, origin) for hit in result.hits])
    whole = wanted is not None
    # A revision's files are not on disk: in text they are cited in it, and from the root.
    cited, folder = result, place.prefix
    if at is not None and form.name not in ("json", "jsonl"):
        cited, folder = text.at_revision(result, result.snapshot.ref or at), ""
        form = replace(form, links=False)
    output.print_hits(
        cited.hits,
        form,
        folder=folder,
        document=lambda: documents.search_document(result),
        layout=lambda: text.search_layout(
            cited.hits, folder=folder, explain=explain, whole=whole, group=group, terms=result.terms
        ),
        display=read_display(settings, place.root, color=color, hyperlink=hyperlink, pager=pager),
    )
    if not result.hits:
        output.print_note(text.near_misses_layout(cited, folder=folder))
    _suggest_verb(ctx, words, result)
    if no_update and result.left_out:
        output.print_note([text.left_out_line(result.left_out)])
    with ProgressBars() as progress:
        engine.finish(progress)
    return 0 if result.hits else 1


# --- from flags to values -----------------------------------------------------------------------------------


def _folders_and_lines(directories: Sequence[str], context: int | None) -> tuple[list[str], int | None]:
    """Tells `-C DIR`, as in git, from `-C N`, as in grep: digits are lines (write ./3 for a folder `3`)."""
    numbers = [value for value in directories if value.isdecimal()]
    lines = context if context is not None or not numbers else int(numbers[-1])
    return [value for value in directories if not value.isdecimal()], lines


def _context(before: int | None, after: int | None, around: int | None) -> Context | None:
    if before is None and after is None and around is None:
        return None
    default = around or 0
    return Context(before if before is not None else default, after if after is not None else default)


# --- from hits to output ------------------------------------------------------------------------------------


def _with_snippets(result: SearchResult, snippets: Sequence[Snippet]) -> SearchResult:
    hits = zip(result.hits, snippets, strict=True)
    return replace(result, hits=tuple(replace(hit, snippet=snippet) for hit, snippet in hits))


def _widen(engine: Engine, hit: Hit, context: Context, origin: str) -> Snippet:
    """The best lines of a hit with `context` around them, also past the ends of the declaration.

    `origin` is what makes a location of the hit's path: the root's folder, or a revision.
    """
    best = text.best_part(hit.snippet).best or {hit.start_line}
    first, last = max(1, min(best) - context.before), max(best) + context.after
    try:
        shown = engine.show(f"{origin}{hit.path}:{first}-{last}")
    except LocationError:  # the file has changed since it was searched: better the lines that were found
        return hit.snippet
    return Snippet(shown.start_line, shown.lines, frozenset(best))


def _suggest_verb(ctx: click.Context, words: Sequence[str], result: SearchResult) -> None:
    group = ctx.parent.command if ctx.parent else None
    if not isinstance(group, click.Group) or VERB_GIVEN in ctx.meta:
        return
    verb = meant_verb(words, group.commands, found=bool(result.hits), known=result.terms)
    if verb is not None:
        output.print_note([text.plain(f"Did you mean the command `codesearch {verb}`?")])
