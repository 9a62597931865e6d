"""The flags that several verbs share, and checks that name the nearest right word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from codesearch.cli import completion, output
from codesearch.cli.routing import nearest
from codesearch.errors import UsageError
from codesearch.render.safe import sanitise
from codesearch.render.text import Line, Role
from codesearch.results import LanguageInfo
from codesearch.settings import LARGEST_TOP_K, Settings, load_settings
from codesearch.types import Filters, Kind

if TYPE_CHECKING:
    from codesearch.cli.place import Place
    from codesearch.engine import Engine

Command = TypeVar("Command", bound=Callable[..., Any])

_PATH_HINT = "Give -p a file or folder; it counts from where you stand."
FORMATS = ("text", "json", "jsonl", "vimgrep", "markdown")


def place_options(command: Command) -> Command:
    """`-C DIR`, `--model NAME` and `--debug`, which every verb takes."""
    for option in (
        click.option("--model", metavar="NAME", help="Embed with this sentence-transformers model, by name or path."),
        click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback when something fails."),
        click.option(
            "-C",
            "--directory",
            "directories",
            metavar="DIR",
            multiple=True,
            help="Run as if started in DIR.",
            shell_complete=completion.folders,
        ),
    ):
        command = option(command)
    return command


def rerank_option(command: Command) -> Command:
    """`--rerank`, for verbs that answer queries."""
    return click.option(
        "--rerank",
        metavar="MODEL",
        help="Put the best 50 hits into the order of this CrossEncoder, by name or path (none: off).",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`, for verbs with one result."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def snapshot_options(command: Command) -> Command:
    """`--staged` and `--at`, for verbs that read a snapshot."""
    for option in (
        click.option(
            "--at",
            metavar="REV",
            shell_complete=completion.revisions,
            help="Read a revision (or date) instead of the working tree.",
        ),
        click.option("--staged", is_flag=True, help="Read what is staged instead of the working tree."),
    ):
        command = option(command)
    return command


def limit_option(command: Command) -> Command:
    """`-k`, for verbs that rank."""
    return click.option(
        "-k", "--top-k", type=click.IntRange(1, LARGEST_TOP_K), metavar="N", help="At most N hits.  [default: 10]"
    )(command)


def filter_options(command: Command) -> Command:
    """What restricts the hits; `read_filters` takes their values."""
    for option in (
        click.option(
            "--author", "authors", multiple=True, metavar="PATTERN", help="Only where a line of theirs stands."
        ),
        click.option("--until", metavar="DATE", help="Only where a line from before then stands."),
        click.option("--since", metavar="DATE", help="Only where a line from after then stands."),
        click.option(
            "--changed",
            metavar="RANGE",
            shell_complete=completion.ranges,
            help="Only what A..B, main..., staged or unstaged added or changed.",
        ),
        click.option("--code", is_flag=True, help="Only code."),
        click.option("--docs", is_flag=True, help="Only prose."),
        click.option("--no-tests", is_flag=True, help="No tests."),
        click.option("--tests", is_flag=True, help="Only tests."),
        click.option(
            "--symbol",
            "symbols",
            multiple=True,
            metavar="NAME",
            shell_complete=completion.symbols,
            help="Only declarations of this name.",
        ),
        click.option(
            "--kind",
            "kinds",
            multiple=True,
            metavar="KIND",
            shell_complete=completion.kinds,
            help="Only functions, methods, classes, …",
        ),
        click.option(
            "-t",
            "--lang",
            "languages",
            multiple=True,
            metavar="LANG",
            shell_complete=completion.languages,
            help="Only in this language.",
        ),
        click.option(
            "-g", "--glob", "globs", multiple=True, metavar="GLOB", help="Only in paths like '*.py'; '!GLOB': not."
        ),
        click.option(
            "-p",
            "--path",
            "paths",
            multiple=True,
            metavar="PATH",
            shell_complete=completion.paths,
            help="Only in this file or folder.",
        ),
    ):
        command = option(command)
    return command


def read_filters(
    place: Place,
    engine: Engine,
    path_words: Sequence[str],
    *,
    on_disk: bool,
    paths: Sequence[str],
    globs: tuple[str, ...],
    languages: Sequence[str],
    kinds: Sequence[str],
    symbols: tuple[str, ...],
    tests: bool,
    no_tests: bool,
    docs: bool,
    code: bool,
    changed: str | None,
    since: str | None,
    until: str | None,
    authors: tuple[str, ...],
) -> Filters:
    """The filters that the values of `filter_options` and paths among the words make."""
    return Filters(
        paths=_paths_from_root(place, paths, path_words, on_disk=on_disk),
        languages=parse_languages(languages, engine.languages()) if languages else (),
        kinds=parse_kinds(kinds),
        symbols=symbols,
        globs=globs,
        tests=choose_one(tests, no_tests, "--tests", "--no-tests"),
        docs=choose_one(docs, code, "--docs", "--code"),
        changed=changed,
        since=since,
        until=until,
        authors=authors,
    )


def _paths_from_root(place: Place, flags: Sequence[str], words: Sequence[str], *, on_disk: bool) -> tuple[str, ...]:
    """Path filters relative to the root; a path that is not there is a mistake, not an empty result."""
    for path in (*flags, *words):
        if on_disk and not place.exists(path):
            hint = "Quote the whole query to search for that word." if path in words else _PATH_HINT
            raise UsageError(f"No such file or folder: {path}", hint)
    from_root = tuple(place.from_root(path, resolve=on_disk) for path in (*flags, *words))
    return () if "" in from_root else from_root  # the root itself restricts nothing


def check_snapshot(*, staged: bool, at: str | None) -> None:
    """Refuses two snapshots at once."""
    if staged and at is not None:
        raise UsageError("--staged and --at name two different snapshots.", "Give one of them.")


def choose_one(yes: bool, no: bool, yes_name: str, no_name: str) -> bool | None:
    """What two flags that exclude each other say; None when neither was given."""
    if yes and no:
        raise UsageError(f"{yes_name} and {no_name} together admit nothing.", "Give one of them.")
    return yes if yes or no else None


def note_plain_folder(engine: Engine) -> None:
    """Says on stderr what is about to be indexed, and where to, when that is no repository: it may be a home folder."""
    if not engine.repository.is_git and not engine.has_index():
        root, home = engine.repository.root, engine.home
        note = f"{root} is no git repository; indexing the whole folder into {home}"
        output.print_note([Line(((sanitise(note), Role.PLAIN),))])


def open_engine(place: Place, settings: Settings | None = None) -> Engine:
    """The engine for the repository at `place`, with settings from files and environment unless given."""
    from codesearch.engine import Engine  # here, so that `--help` loads no engine

    return Engine.open(place.root, settings or load_settings(place.root))


def form_options(command: Command) -> Command:
    """How hits are printed, beside `--json`; `read_form` takes their values."""
    for option in (
        click.option("--no-snippet", is_flag=True, help="Print no code."),
        click.option("--group", is_flag=True, help="Gather the hits of a file under its name."),
        click.option("-0", "--null", is_flag=True, help="With -l or --vimgrep, end names of files by NUL."),
        click.option("-l", "--files-with-matches", "files_only", is_flag=True, help="Print only the names of files."),
        click.option("--vimgrep", "as_vimgrep", is_flag=True, help="Print path:line:col:text."),
        click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object per hit and line."),
        click.option("--format", "chosen_format", type=click.Choice(FORMATS), help="The output format, by name."),
    ):
        command = option(command)
    return command


def read_form(
    *,
    as_json: bool,
    files_only: bool,
    as_jsonl: bool,
    as_vimgrep: bool,
    chosen_format: str | None,
    null: bool,
    group: bool,
    no_snippet: bool,
) -> output.Form:
    """The one output format that `--format` and its shortcuts (`--json` …) name; text if none does."""
    given = {"json": as_json, "jsonl": as_jsonl, "vimgrep": as_vimgrep, "files": files_only}
    named = {name for name, is_given in given.items() if is_given} | ({chosen_format} if chosen_format else set())
    if len(named) > 1:
        raise UsageError(f"Several output formats: {', '.join(sorted(named))}.", "Give one of them.")
    name = named.pop() if named else "text"
    if null and name not in ("files", "vimgrep"):
        raise UsageError("-0 ends names of files, which only -l and --vimgrep set apart.", "Try: -l -0")
    return output.Form(name, null, group, not no_snippet)


def split_commas(values: Iterable[str]) -> list[str]:
    """`-t py,go -t rust` means the same as three `-t`."""
    return [word.strip() for value in values for word in value.split(",") if word.strip()]


def parse_kinds(values: Iterable[str]) -> tuple[Kind, ...]:
    """Kinds by name; a wrong name is answered with the nearest right one."""
    kinds = []
    for word in split_commas(values):
        try:
            kinds.append(Kind(word.lower()))
        except ValueError:
            names = [kind.value for kind in Kind]
            near = nearest(word, names)
            hint = f"Did you mean {near}?" if near else f"Kinds: {', '.join(names)}."
            raise UsageError(f"Unknown kind: {word}", hint) from None
    return tuple(kinds)


def parse_languages(values: Iterable[str], known: Sequence[LanguageInfo]) -> tuple[str, ...]:
    """Languages by name or file extension; a wrong name is answered with the nearest right one."""
    by_word = {extension.lower().lstrip("."): each.name for each in known for extension in each.extensions}
    by_word |= {each.name.lower(): each.name for each in known}  # a name wins over another one's extension
    languages = []
    for word in split_commas(values):
        name = by_word.get(word.lower().lstrip("."))
        if name is None:
            near = nearest(word, [each.name for each in known])
            hint = f"Did you mean {near}?" if near else "Run: codesearch languages"
            raise UsageError(f"Unknown language: {word}", hint)
        languages.append(name)
    return tuple(dict.fromkeys(languages))
