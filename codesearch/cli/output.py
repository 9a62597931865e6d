"""Where text, colour, JSON and errors go. Every byte that a command prints passes here."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from codesearch.errors import CodesearchError
from codesearch.render.documents import Document, hit_document, to_json
from codesearch.render.plain import to_plain
from codesearch.render.safe import sanitise
from codesearch.render.text import Layout, file_list, vimgrep_line
from codesearch.types import Hit

_NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def prepare_streams() -> None:
    """Makes every character printable somehow, whatever the streams encode and even if they are closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # `codesearch … >&-`
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - open as long as the process
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # absent where a test has replaced the stream
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def wants_color(choice: str | None, setting: str, stream: TextIO) -> bool:
    """Whether to print colour: `--color` decides, then NO_COLOR, then the setting, then the stream."""
    if choice in ("always", "never"):
        return choice == "always"
    if choice is None:
        if os.environ.get("NO_COLOR"):
            return False
        if setting in ("always", "never"):
            return setting == "always"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def print_hits(
    hits: Sequence[Hit],
    form: str,
    *,
    folder: str,
    document: Callable[[], Document],
    layout: Callable[[], Layout],
    color: bool,
) -> None:
    """Prints hits in the format that was asked for; `document` and `layout` make the two that hold more than hits."""
    if form == "json":
        print_document(document())
    elif form == "jsonl":
        print_text("".join(to_json(hit_document(hit)) + "\n" for hit in hits))
    elif form == "vimgrep":
        print_text("".join(vimgrep_line(hit, folder=folder) + "\n" for hit in hits))
    elif form == "files":
        print_text("".join(path + "\n" for path in file_list(hits, folder=folder)))
    else:
        print_layout(layout(), color=color)


def print_layout(layout: Layout, *, color: bool) -> None:
    """Prints to stdout and flushes."""
    if color:
        from codesearch.render import terminal  # 0.1 s, and only for colour

        _write(lambda: terminal.print_layout(layout, sys.stdout, is_terminal=sys.stdout.isatty()))
    else:
        print_text(to_plain(layout))


def print_document(document: Document) -> None:
    """Prints one JSON document on one line and flushes."""
    print_text(to_json(document) + "\n")


def print_text(text: str) -> None:
    """Prints text that is already safe, and flushes."""
    _write(lambda: sys.stdout.write(text))


def print_note(layout: Layout) -> None:
    """Prints for people, on stderr."""
    sys.stderr.write(to_plain(layout))


def print_error(message: str, hint: str) -> None:
    """One `Error:` line and, where there is something to do, one `Hint:` line on stderr."""
    sys.stderr.write(f"Error: {sanitise(message)}\n")
    if hint:
        sys.stderr.write(f"Hint: {sanitise(hint)}\n")


def flush_stdout() -> None:
    """Flushes what is left; silent if the reader is gone."""
    _write(lambda: None)


def drop_stdout() -> None:
    """Sends all further output nowhere: the reader has closed the pipe, as `head` does, no error."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, sys.stdout.fileno())
    os.close(descriptor)


def is_from_output(error: Exception) -> bool:
    """Whether an error that click let through came from printing: it names no file, and says that a disk is full."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _NOT_WRITTEN


def unwritable(error: OSError) -> CodesearchError:
    """What to say when stdout took no more; nothing further is written to it."""
    drop_stdout()  # else Python would try once more at exit, and complain
    return CodesearchError(f"The output cannot be written: {error.strerror}.", "Free some space, or write elsewhere.")


def _write(write: Callable[[], object]) -> None:
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        # The command goes on: a search may still have its index to write.
        drop_stdout()
    except OSError as error:
        raise unwritable(error) from error
