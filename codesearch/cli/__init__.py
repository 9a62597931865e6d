"""The command line: `main` is the console script. Turns words and flags into calls of the engine, and prints.

    run        one command to one exit code; errors in two lines
    routing    which word is the verb, which words are the query, which are paths
    mistakes   what is wrong with a command line, and how to mend it
    options    the flags that several verbs share, and their checks
    search     the search command
    comparing  the verb that lists what differs between two snapshots
    verbs      the group and the other commands
    asking, evaluating, duplicates, hooks    further verbs
    completion what a shell offers on Tab; shells is the verb that prints the script for it
    doctor     the check of the installation, which must work where nothing else does
    place      from where the user stands to the repository's root, and back
    display    colour, links and pager: what flags, settings and the terminal come to
    output     where text, colour, JSON and errors go
    progress   bars on stderr for long work

Exit codes: 0 hits (or done), 1 nothing found, 2 error, 130 interrupted.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType

INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; `arguments` are those of the process unless given."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    seen: list[int] = []
    if arguments is None:
        _remember_interrupts(seen)
    try:
        from codesearch.cli.run import run  # inside, so that Ctrl-C while modules load is caught as well

        return run(words, interrupted=lambda: bool(seen))
    except KeyboardInterrupt:
        if arguments is None:  # the process ends now; a second Ctrl-C would print a traceback of how it ends
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return INTERRUPTED


def _remember_interrupts(seen: list[int]) -> None:
    """Ctrl-C raises as always, and is noted: a library may turn the exception into one of its own."""

    def handle(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, handle)
