"""The group of verbs, and every verb but search: each asks the engine for one value and prints it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from codesearch import __version__
from codesearch.cli import completion, options, output
from codesearch.cli.display import Display, display_options, read_display
from codesearch.cli.place import Place, find_place
from codesearch.cli.progress import ProgressBars
from codesearch.cli.routing import Front
from codesearch.cli.search import search
from codesearch.render import documents, text
from codesearch.render.safe import sanitise, shown_bytes
from codesearch.settings import load_settings

if TYPE_CHECKING:
    from codesearch.engine import Engine
    from codesearch.render.documents import Document
    from codesearch.render.text import Layout


@click.group(
    cls=Front,
    commands={"search": search},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Options of the search itself: codesearch search --help",
)
@click.version_option(__version__, prog_name="codesearch", message="%(prog)s %(version)s")
def codesearch() -> None:
    """Search a git repository by meaning or by name; answers are whole declarations, exactly cited.

    \b
    codesearch where do we retry failed uploads    words need no quotes
    codesearch parse_config                        identifiers in any spelling
    codesearch "load settings" src/ -t python      only in src/, only Python
    codesearch -- status                           search for the name of a verb
    codesearch                                     a picker, on a terminal

    Works offline and sends nothing anywhere. The first search indexes the repository.
    """  # noqa: D301 - click marks a paragraph that it must not wrap by a real backspace


@dataclass(frozen=True, slots=True)
class Session:
    """What every verb here needs: where it runs, the engine, and how to print."""

    place: Place
    engine: Engine
    as_json: bool
    display: Display

    def print(self, document: Callable[[], Document], layout: Callable[[], Layout]) -> None:
        """Prints the one that was asked for."""
        if self.as_json:
            output.print_document(document())
        else:
            output.print_layout(layout(), self.display)


def verb(command: Callable[..., int | None], cls: type[click.Command] = click.Command) -> click.Command:
    """Adds a verb to the group: its flags `--json`, `--color`, `-C` … become a Session.

    `--rerank`, where a verb has it, becomes a setting.
    """

    @functools.wraps(command)
    def run(
        *,
        as_json: bool,
        color: str | None,
        hyperlink: str | None,
        pager: bool,
        directories: tuple[str, ...],
        model: str | None,
        **arguments: Any,
    ) -> int | None:
        place = find_place(directories)
        settings = load_settings(place.root, model=model, rerank=arguments.pop("rerank", None))
        session = Session(
            place,
            options.open_engine(place, settings),
            as_json,
            read_display(settings, place.root, color=color, hyperlink=hyperlink, pager=pager),
        )
        return command(session, **arguments)

    for add_options in (options.place_options, display_options, options.json_option):
        run = add_options(run)
    return codesearch.command(cls=cls)(run)


@verb
@options.snapshot_options
def index(session: Session, *, staged: bool, at: str | None) -> None:
    """Bring the index up to date and report on it.

    \b
    codesearch index              the working tree; only what has changed is worked on
    codesearch index --staged     what is staged
    codesearch index --at v1.2    a revision, to be searched with --at v1.2
    codesearch index --json       every file that was skipped, and why
    """  # noqa: D301 - see above
    options.check_snapshot(staged=staged, at=at)
    options.note_plain_folder(session.engine)
    with ProgressBars() as progress:
        report = session.engine.index(staged=staged, at=at, progress=progress)
    folder = session.place.prefix
    session.print(lambda: documents.index_document(report), lambda: text.index_layout(report, folder=folder))


@verb
def status(session: Session) -> None:
    """Show index and repository side by side.

    \b
    codesearch status            commit, changes, files, declarations, size, place
    codesearch status --json     with every file that was skipped, and why
    codesearch -C DIR status     of another repository

    What is stale, what was skipped and why, which model, how large and where.
    """  # noqa: D301 - see above
    state = session.engine.status()
    folder = session.place.prefix
    session.print(lambda: documents.status_document(state), lambda: text.status_layout(state, folder=folder))


@verb
@click.argument("location", metavar="LOCATION", shell_complete=completion.locations)
def show(session: Session, *, location: str) -> None:
    """Show the code at a LOCATION, in full.

    \b
    codesearch show src/upload.py:40                      the declaration around line 40
    codesearch show src/upload.py#Uploader.retry          a declaration by name
    codesearch show src/upload.py:40-52                   lines
    codesearch show v1.2:src/upload.py#Uploader.retry     as it was in a revision

    LOCATION is FILE:LINE or FILE#symbol (the whole declaration) or FILE:A-B (lines); all may
    follow REV:, and FILE then counts from the repository's root.
    """  # noqa: D301 - see above
    place = session.place
    shown = session.engine.show(place.absolute_location(location))
    # In REV:FILE the file counts from the root, wherever the user stands.
    folder = place.prefix if (place.root / shown.path).exists() else ""
    session.print(lambda: documents.shown_document(shown), lambda: text.show_layout(shown, folder=folder))


@verb
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.paths)
def outline(session: Session, *, paths: tuple[str, ...]) -> None:
    """List the declarations of files.

    \b
    codesearch outline src/upload.py             one file
    codesearch outline src lib/queue.go          files of a folder, and another file
    codesearch outline src/upload.py --json      with signatures, and which encloses which

    In order of start; nested ones are indented.
    """  # noqa: D301 - see above
    place = session.place
    named = [place.absolute(place.find(path)) for path in paths]
    with ProgressBars() as progress:
        files = session.engine.outline(named, progress=progress)
    folder = place.prefix
    session.print(lambda: documents.outline_document(files), lambda: text.outline_layout(files, folder=folder))


@verb
def languages(session: Session) -> None:
    """List the known languages.

    \b
    codesearch languages           names of files, kinds of declarations, counts
    codesearch languages --json    the same, with every name of a file
    codesearch "retry" -t go,rs    search in some, by name or extension

    The counts are of this repository's files and declarations, once it is indexed.
    """  # noqa: D301 - see above
    known = session.engine.languages()
    session.print(lambda: documents.languages_document(known), lambda: text.languages_layout(known))


@verb
@click.option("--gc", is_flag=True, help="Only what nothing uses any more.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def clean(session: Session, *, gc: bool, dry_run: bool, yes: bool) -> None:
    """Remove this repository's index, or what nothing in it uses.

    \b
    codesearch clean              the index of this clone, with all its worktrees
    codesearch clean --gc         views, segments and rows of files that neither git nor an index has
    codesearch clean --gc -n      how much that would be

    The next search makes the index again. Asks first where a person can answer. Past a size
    (max_index_bytes), index runs collect by themselves.
    """  # noqa: D301 - see above
    if gc or dry_run:
        cleaned = session.engine.clean(everything=not gc, dry_run=dry_run)
        session.print(lambda: documents.clean_document(cleaned), lambda: text.clean_layout(cleaned, everything=not gc))
        return
    size = session.engine.index_bytes()
    if size and not yes and sys.stdin is not None and sys.stdin.isatty():
        question = f"Remove the index, {shown_bytes(size)} in {sanitise(str(session.engine.home))}?"
        if not click.confirm(question, err=True):
            output.print_note(text.kept_layout())
            raise click.exceptions.Exit(1)
    cleaned = session.engine.clean()
    session.print(lambda: documents.clean_document(cleaned), lambda: text.clean_layout(cleaned, everything=True))
