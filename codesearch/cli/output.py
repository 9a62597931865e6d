"""Where text, colour, JSON and errors go. Every byte that a command prints passes here."""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from codesearch.cli.display import LESS, Display
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


@dataclass(frozen=True, slots=True)
class Form:
    """A format for hits, and what may be left out of it or gathered in it."""

    name: str
    null: bool = False
    group: bool = False
    snippets: bool = True
    links: bool = True


def print_hits(
    hits: Sequence[Hit],
    form: Form,
    *,
    folder: str,
    document: Callable[[], Document],
    layout: Callable[[], Layout],
    display: Display,
) -> None:
    """Prints hits in the format that was asked for; `document` and `layout` make the two that hold more than hits."""
    null = form.null and not sys.stdout.isatty()  # on a terminal nothing is shown as it is on disk
    if form.name == "json":
        print_document(document())
    elif form.name == "jsonl":
        print_text("".join(to_json(hit_document(hit)) + "\n" for hit in hits))
    elif form.name == "vimgrep":
        print_text("".join(vimgrep_line(hit, folder=folder, null=null) for hit in hits), as_on_disk=null)
    elif form.name == "files":
        print_text(file_list(hits, folder=folder, null=null), as_on_disk=null)
    elif form.name == "markdown":
        from codesearch.render.markdown import to_markdown

        print_text(to_markdown(hits, folder=folder, snippets=form.snippets, group=form.group, links=form.links))
    else:
        print_layout(layout(), display)


def print_layout(layout: Layout, display: Display) -> None:
    """Prints to stdout, or shows in the pager, and flushes."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    if not display.color:
        text = to_plain(layout, link=display.link, width=width)
        _page(text) if display.pager else print_text(text)
        return
    from codesearch.render import terminal  # 0.1 s, and only for colour

    if display.pager:
        page = io.StringIO()
        terminal.print_layout(layout, page, is_terminal=True, width=width, link=display.link)
        _page(page.getvalue())
    else:
        _write(lambda: terminal.print_layout(layout, sys.stdout, is_terminal=is_terminal, link=display.link))


def _page(text: str) -> None:
    os.environ.setdefault("LESS", LESS)
    os.environ.setdefault("LV", "-c")  # as git does, for the other pager that wants to be told of colours
    _write(lambda: click.echo_via_pager(text.removesuffix("\n"), color=True))


def print_document(document: Document) -> None:
    """Prints one JSON document on one line and flushes."""
    print_text(to_json(document) + "\n")


def print_text(text: str, *, as_on_disk: bool = False) -> None:
    """Prints text that is already safe, and flushes. `as_on_disk` keeps file names that are no text as they are."""
    if as_on_disk and hasattr(sys.stdout, "buffer"):
        _write(lambda: sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape")))
    else:
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
