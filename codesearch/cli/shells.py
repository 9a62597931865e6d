"""The verb that prints what a shell needs to complete our words."""

from __future__ import annotations

import click

from codesearch.cli import output
from codesearch.cli.completion import SHELLS, one_of, script
from codesearch.cli.routing import nearest
from codesearch.cli.verbs import codesearch
from codesearch.errors import UsageError


@codesearch.command()
@click.argument("shell", metavar="bash|zsh|fish", shell_complete=one_of(*SHELLS))
@click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback when something fails.")
def completion(*, shell: str) -> None:
    """Print the script by which a shell completes words.

    \b
    eval "$(codesearch completion bash)"                                       in ~/.bashrc; bash 4.4 or newer
    eval "$(codesearch completion zsh)"                                        in ~/.zshrc, after compinit
    codesearch completion fish > ~/.config/fish/completions/codesearch.fish    once

    Completes verbs, flags, languages, kinds, branches and tags, symbols of the index, and paths.
    """  # noqa: D301 - see verbs.py
    if shell not in SHELLS:
        near = nearest(shell, SHELLS)
        hint = f"Did you mean {near}?" if near else f"Shells: {', '.join(SHELLS)}."
        raise UsageError(f"There is no completion for the shell {shell}.", hint)
    output.print_text(script(codesearch, shell))
