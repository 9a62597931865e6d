"""Runs one command and turns whatever ends it into an exit code. Knows no command by name but the group."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable

import click

from codesearch.cli import asking as asking  # their verbs add themselves to the group
from codesearch.cli import comparing as comparing
from codesearch.cli import doctor as doctor
from codesearch.cli import duplicates as duplicates
from codesearch.cli import evaluating as evaluating
from codesearch.cli import hooks as hooks
from codesearch.cli import mistakes, output
from codesearch.cli import picker as picker
from codesearch.cli import shells as shells
from codesearch.cli.completion import complete
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
    given = words or (["tui"] if picker.is_on_terminal() else [])
    try:
        # Not `codesearch.main(…)`: it answers Ctrl-C with an empty line and a closed pipe with exit code 1.
        with codesearch.make_context("codesearch", given or ["--help"]) as context:
            code = codesearch.invoke(context) or DONE
        output.flush_stdout()
    except click.exceptions.Exit as finished:  # after --help and --version
        code = finished.exit_code
    except click.Abort as error:  # Ctrl-C at a question
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        output.print_error(*mistakes.explain(error, words, codesearch.commands))
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
            output.print_error(error.message, mistakes.search_hint(words, codesearch.commands) or error.hint)
        elif isinstance(error, CodesearchError):
            output.print_error(error.message, error.hint)
        else:
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            output.print_error(f"Unexpected failure, {what}", "Run again with --debug to see where.")
        code = ERROR
    return code if given else ERROR
