"""Runs one command and turns whatever ends it into an exit code. Knows no command by name but the group."""

from __future__ import annotations

import traceback

import click

from codesearch.cli import output
from codesearch.cli.routing import nearest_option
from codesearch.cli.verbs import codesearch
from codesearch.errors import CodesearchError

DONE, NOTHING_FOUND, ERROR = 0, 1, 2


def run(words: list[str]) -> int:
    """The exit code of `codesearch WORDS…`. Errors are one `Error:` and one `Hint:` line on stderr.

    Raises KeyboardInterrupt, and nothing else.
    """
    output.prepare_streams()
    try:
        # Not `codesearch.main(…)`: it answers Ctrl-C with an empty line and a closed pipe with exit code 1.
        with codesearch.make_context("codesearch", words or ["--help"]) as context:
            code = codesearch.invoke(context) or DONE
        output.flush_stdout()
    except click.exceptions.Exit as finished:  # after --help and --version
        code = finished.exit_code
    except click.ClickException as error:
        _explain(error)
        code = ERROR
    except BrokenPipeError:
        output.drop_stdout()
        code = DONE
    except Exception as error:
        if "--debug" in words:
            traceback.print_exc()
        if isinstance(error, CodesearchError):
            output.print_error(error.message, error.hint)
        else:
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            output.print_error(f"Unexpected failure, {what}", "Run again with --debug to see where.")
        code = ERROR
    return code if words else ERROR


def _explain(error: click.ClickException) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"Run: {context.command_path if context else 'codesearch'} --help"
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        message = f"No such option: {error.option_name}"
        near = nearest_option(error.option_name, context)
        hint = f"Did you mean {near}?" if near else f"{hint}; to search for dashes: codesearch -- QUERY"
    output.print_error(message, hint)
