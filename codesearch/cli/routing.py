"""Decides which word is the verb, which words are the query and which are paths. Runs nothing.

The rules, in the order they are tried:

* `--` before any word: all that follows is the query. A later `--` starts the paths, as in git.
* The first word, if it is the name of a verb, is the verb. Options may stand before it.
* `search` is the verb otherwise, and every word is part of the query, except trailing words that are paths
  (see `split_words`).
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import click

DEFAULT_VERB = "search"
VERB_GIVEN = "codesearch.verb_given"  # in a context: the verb was typed, not added
_AFTER = "codesearch.words_after_dashes"


class Front(click.Group):
    """The `codesearch` command: a group of verbs whose default verb is `search`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the verb first, where click wants it."""
        routed = route(args, self.commands)
        if len(routed) == len(args):
            ctx.meta[VERB_GIVEN] = True
        return super().parse_args(ctx, routed)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Verbs in the order in which they were defined: the most used first."""
        return list(self.commands)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The usage line shows the default verb."""
        return ["[OPTIONS] QUERY... | VERB ..."]


class QueryCommand(click.Command):
    """A command that tells words before `--` from words after it, which click forgets."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Lets click parse what stands before `--` and keeps the rest for `words_after_dashes`."""
        dashes = _find_words(args, [self]).dashes
        if dashes is not None:
            ctx.meta[_AFTER] = args[dashes + 1 :]
            args = args[:dashes]
        return super().parse_args(ctx, args)


def words_after_dashes(ctx: click.Context) -> list[str] | None:
    """The words after the first `--`, or None where there was no `--`."""
    after: list[str] | None = ctx.meta.get(_AFTER)
    return after


def route(args: Sequence[str], verbs: Mapping[str, click.Command]) -> list[str]:
    """`args` with the verb first: the first word if it names one, else `search`. Options keep their order."""
    found = _find_words(args, verbs.values())
    first = found.first
    if first is not None and args[first] in verbs:
        return [args[first], *args[:first], *args[first + 1 :]]
    if first is None and any(arg in ("--help", "-h", "--version") for arg in args[: found.dashes]):
        return ["--version" if "--version" in args else "--help"]
    return [DEFAULT_VERB, *args]


def search_instead(args: Sequence[str], verbs: Mapping[str, click.Command]) -> str | None:
    """The command that searches for all words of `args`, where the first was taken as a verb; else None."""
    found = _find_words(args, verbs.values())
    if not found.words or args[found.words[0]] not in verbs or args[found.words[0]] == DEFAULT_VERB:
        return None
    before = range(len(args) if found.dashes is None else found.dashes)
    flags = [args[index] for index in before if index not in found.words]
    words = [args[index] for index in found.words]
    return shlex.join(["codesearch", *flags, "--", *words, *(args[len(before) :])])


@dataclass(frozen=True, slots=True)
class _Words:
    """Indices into the arguments: of words, which are no options and no values, and of the `--` that ends them."""

    words: tuple[int, ...]
    dashes: int | None

    @property
    def first(self) -> int | None:
        return self.words[0] if self.words else None


def _find_words(args: Sequence[str], commands: Iterable[click.Command]) -> _Words:
    valued = _options_with_value(commands)
    words: list[int] = []
    index = 0
    while index < len(args):
        arg = args[index]
        if arg == "--":
            return _Words(tuple(words), index)
        if arg.startswith("--"):
            index += "=" not in arg and arg in valued
        elif arg.startswith("-") and len(arg) > 1:
            letters = arg[1:]
            taking = next((place for place, letter in enumerate(letters) if f"-{letter}" in valued), None)
            index += taking is not None and taking == len(letters) - 1  # `-k 3` takes the next one, `-k3` not
        else:
            words.append(index)
        index += 1
    return _Words(tuple(words), None)


def _options_with_value(commands: Iterable[click.Command]) -> set[str]:
    """Names of all options that take a value. No verb may use a name as a flag that another gives a value."""
    return {
        name
        for command in commands
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count
        for name in parameter.opts
    }


def split_words(
    words: Sequence[str], after: Sequence[str] | None, exists: Callable[[str], bool]
) -> tuple[str, tuple[str, ...]]:
    """The query, and the words that are paths.

    Paths are, by the first rule that fits: the words after `--`; the words after a quoted query (one that
    holds a space); trailing words with a `/` in them that exist, or `.`. A bare word is never
    taken for a path because a folder happens to bear its name.
    """
    if after is not None:
        if words:
            return " ".join(words), tuple(after)
        cut = after.index("--") if "--" in after else len(after)
        return " ".join(after[:cut]), tuple(after[cut + 1 :])
    if words and " " in words[0].strip():
        return words[0], tuple(words[1:])
    end = len(words)
    while end > 1 and (("/" in words[end - 1] and exists(words[end - 1])) or words[end - 1] in (".", "..")):
        end -= 1
    return " ".join(words[:end]), tuple(words[end:])


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:  # 0.6 is difflib's own default
    """The known word that `word` most likely stands for, or None."""
    matches = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def nearest_option(name: str, context: click.Context | None) -> str | None:
    """The option of the running command that a misspelt one most likely stands for."""
    if context is None:
        return None
    options = (each for each in context.command.get_params(context) if isinstance(each, click.Option))
    names = [each.removeprefix("--") for option in options for each in option.opts if each.startswith("--")]
    # Compared without the dashes that all begin with: they make any two short names look alike.
    near = nearest(name.removeprefix("--"), names) if name.startswith("--") else None
    return f"--{near}" if near else None
