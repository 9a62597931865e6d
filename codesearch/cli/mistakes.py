"""Says what is wrong with a command line and how to mend it: one message, one hint. Prints nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import click

from codesearch.cli.routing import nearest, nearest_option, search_instead

Verbs = Mapping[str, click.Command]

_INVALID_WORD = re.compile(r"'(.*)' is not (?:one of|a valid)", re.DOTALL)
_LOOKS_LIKE_A_PLACE = re.compile(r"[/.#:]")
_SURE = 0.8  # of two words being one; `look` and `hook` are 0.75 alike, `statsu` and `status` 0.83


def explain(error: click.ClickException, words: Sequence[str], verbs: Verbs) -> tuple[str, str]:
    """The message and the hint for an error that click has raised."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = error.format_message()
    hint = f"Run: {context.command_path if context else 'codesearch'} --help"
    if isinstance(error, click.NoSuchOption):
        message = f"No such option: {error.option_name}"
        near = nearest_option(error.option_name, context)
        hint = f"Did you mean {near}?" if near else f"{hint}; to search for dashes: codesearch -- QUERY"
    elif isinstance(error, click.MissingParameter):
        example = first_example(context.command if context else None)
        hint = f"Try: {example}" if example else hint
    elif isinstance(error, click.BadParameter) and error.param is not None:
        message, hint = _bad_value(error.message, error.param, message, hint)
    elif isinstance(error, click.BadOptionUsage):  # which comes without a context
        every = (parameter for verb in verbs.values() for parameter in verb.params)
        value = next((each.metavar for each in every if error.option_name in each.opts and each.metavar), None)
        hint = f"Write {error.option_name} {value}." if value else hint
    of_search = isinstance(error, click.NoSuchOption) and error.option_name in _options(verbs["search"])
    if of_search or type(error) is click.UsageError:  # the plain class: more words than the verb takes
        hint = search_hint(words, verbs) or hint
    return message, hint


def _bad_value(problem: str, param: click.Parameter, message: str, hint: str) -> tuple[str, str]:
    word = _INVALID_WORD.match(problem)
    flag = max(param.opts, key=len)
    kind = param.type
    if isinstance(kind, click.Choice) and word is not None:
        near = nearest(word[1], map(str, kind.choices))
        if near:
            return message, f"Did you mean {flag} {near}?"
    if isinstance(kind, click.IntRange):
        low, high = kind.min or 0, kind.max
        span = f"from {low} to {high}" if high is not None else f"from {low} on"
        return message.replace("a valid integer range", "a whole number"), f"{flag} takes a whole number {span}."
    if isinstance(kind, click.types.FloatParamType):
        return message.replace("a valid float", "a number"), f"Try: {flag} 0.5"
    return message, hint


def first_example(command: click.Command | None) -> str | None:
    """The first example of a command's help, without what is said about it."""
    lines = (line.strip() for line in (command.help or "").splitlines()) if command is not None else ()
    found = next((line for line in lines if line.startswith("codesearch ")), None)
    return re.split(r"\s{2,}", found)[0] if found else None


def search_hint(words: Sequence[str], verbs: Verbs) -> str | None:
    """Where a word of the query was taken as a verb: which one, and the command that searches instead."""
    instead = search_instead(words, verbs)
    if instead is None:
        return None
    verb = next(word for word in words if word in verbs)
    return f"`{verb}` was taken as the command. To search for these words: {instead}"


def meant_verb(words: Sequence[str], verbs: Verbs, *, found: bool, known: Sequence[str]) -> str | None:
    """The verb that the first word of a query most likely stands for; `known` are the query's terms that occur.

    A misspelt verb is a query like any other. Where hits were found it is named only if the word occurs nowhere, and
    stands alone or before a path.
    """
    first = words[0] if words else ""
    alone = len(words) == 1
    verb = nearest(first, verbs, cutoff=0.6 if alone and not found else _SURE)
    if verb is None or verb == first:
        return None
    is_place = not alone and _LOOKS_LIKE_A_PLACE.search(words[1]) is not None
    if found and (first.lower() in known or not (alone or is_place)):
        return None
    return verb


def _options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}
