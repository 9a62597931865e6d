"""Runs one command and turns whatever ends it into an exit code. Knows no command by name but the group."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Sequence

import click

from codesearch.cli import asking as asking  # their verbs add themselves to the group
from codesearch.cli import comparing as comparing
from codesearch.cli import duplicates as duplicates
from codesearch.cli import doctor as doctor
from codesearch.cli import evaluating as evaluating
from codesearch.cli import hooks as hooks
from codesearch.cli import output
from codesearch.cli import shells as shells
from codesearch.cli.completion import complete
from codesearch.cli.routing import nearest_option, search_instead
from codesearch.cli.verbs import codesearch
from codesearch.errors import CodesearchError, LocationError, RevisionError

DONE, NOTHING_FOUND, ERROR = 0, 1, 2
_PLAIN_WORD = re.compile(r"[\w'?!,-]+")  # what no one would write for a path


def run(words: list[str], interrupted: Callable[[], bool] = lambda: False) -> int:
    """The exit code of `codesearch WORDS…`. Errors are one `Error:` and one `Hint:` line on stderr.

    `interrupted` tells whether Ctrl-C was pressed. Raises KeyboardInterrupt, and nothing else.
    """
    output.prepare_streams()
    if (completed := complete(codesearch)) is not None:
        return completed
    try:
        # Not `codesearch.main(…)`: it answers Ctrl-C with an empty line and a closed pipe with exit code 1.
        with codesearch.make_context("codesearch", words or ["--help"]) as context:
            code = codesearch.invoke(context) or DONE
        output.flush_stdout()
    except click.exceptions.Exit as finished:  # after --help and --version
        code = finished.exit_code
    except click.Abort as error:  # Ctrl-C at a question
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        _explain(error, words)
        code = ERROR
    except BrokenPipeError:
        output.drop_stdout()
        code = DONE
    except Exception as error:
        if interrupted():
            raise KeyboardInterrupt from error
        if "--debug" in words:
            traceback.print_exc()
        if isinstance(error, OSError) and output.is_from_output(error):
            error = output.unwritable(error)
        if isinstance(error, LocationError | RevisionError) and all(map(_PLAIN_WORD.fullmatch, words)):
            output.print_error(error.message, _search_hint(words) or error.hint)
        elif isinstance(error, CodesearchError):
            output.print_error(error.message, error.hint)
        else:
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            output.print_error(f"Unexpected failure, {what}", "Run again with --debug to see where.")
        code = ERROR
    return code if words else ERROR


def _explain(error: click.ClickException, words: Sequence[str]) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"Run: {context.command_path if context else 'codesearch'} --help"
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        message = f"No such option: {error.option_name}"
        near = nearest_option(error.option_name, context)
        hint = f"Did you mean {near}?" if near else f"{hint}; to search for dashes: codesearch -- QUERY"
    of_search = isinstance(error, click.NoSuchOption) and error.option_name in _search_options()
    if of_search or type(error) is click.UsageError:  # the plain class: more words than the verb takes
        hint = _search_hint(words) or hint
    output.print_error(message, hint)


def _search_options() -> set[str]:
    return {name for parameter in codesearch.commands["search"].params for name in parameter.opts}


def _search_hint(words: Sequence[str]) -> str | None:
    """Where a word of the query was taken as a verb: which one, and the command that searches instead."""
    instead = search_instead(words, codesearch.commands)
    if instead is None:
        return None
    verb = next(word for word in words if word in codesearch.commands)
    return f"`{verb}` was taken as the command. To search for these words: {instead}"
