"""Makes the pictures of the README: runs the real program in a terminal and draws what it shows as SVG.

    python docs/pictures.py                 all pictures, into docs/pictures/
    python docs/pictures.py search group    some of them

The repository that is searched is this one, so the pictures change with it.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import re
import sys
import time
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))

from terminals import in_terminal  # noqa: E402 - found through the line above

from codesearch import Engine  # noqa: E402
from codesearch.tui.app import Picker  # noqa: E402

FOLDER = PROJECT / "docs" / "pictures"
COLUMNS = 100  # what a README shows without scaling it down too far
PICKER_SIZE = (120, 32)
PICKER_QUERY = "how is a query split into words lang:python tests:no"
PICTURES = {
    "search": ["how is a query split into words", "codesearch/", "-k", "3"],
    "group": ["progress bars", "codesearch/", "--group", "--no-snippet", "-k", "8"],
}
_REMOTE_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)  # whoever looks at a picture asks no server for letters


def picture(arguments: list[str], folder: Path = PROJECT) -> str:
    """An SVG of a terminal in which `codesearch ARGUMENTS` was run."""
    shown, code = in_terminal(folder, *arguments, columns=COLUMNS, environment={"TERM": "xterm-256color"})
    if code != 0:
        raise SystemExit(f"codesearch {' '.join(arguments)} ended with {code}:\n{shown}")
    words = [f"'{each}'" if " " in each else each for each in arguments]
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text.from_ansi(f"\x1b[1m$\x1b[0m codesearch {' '.join(words)}\n{shown.rstrip()}"))
    return without_remote_fonts(console.export_svg(title="codesearch"))


def picker_picture(folder: Path = PROJECT) -> str:
    """An SVG of the picker, in which a query was typed."""
    picker = Picker(
        lambda: Engine.open(folder), theme="textual-dark", encoding="utf-8", query=PICKER_QUERY, history=None
    )

    async def run() -> str:
        async with picker.run_test(size=PICKER_SIZE) as pilot:
            deadline = time.monotonic() + 60
            while not picker.drawn_at and time.monotonic() < deadline:
                await pilot.pause(0.1)
            await pilot.pause(1.0)  # the preview follows the list, and git is asked once the hands rest
            return picker.export_screenshot(title="codesearch")

    svg = asyncio.run(run())
    picker.stop()
    return without_remote_fonts(svg)


def without_remote_fonts(svg: str) -> str:
    """The picture in the reader's own monospaced font."""
    return _REMOTE_FONTS.sub("", svg).replace("Fira Code, monospace", "monospace")


def main() -> None:
    """Makes the pictures that were named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    pictures = {name: partial(picture, words) for name, words in PICTURES.items()} | {"tui": picker_picture}
    parser.add_argument("names", nargs="*", choices=[[], *pictures], metavar="NAME", help=f"of {', '.join(pictures)}")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write them")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    in_terminal(PROJECT, "index")  # so that no picture shows progress bars
    for name in arguments.names or pictures:
        svg = "\n".join(line.rstrip() for line in pictures[name]().splitlines())
        (arguments.folder / f"{name}.svg").write_text(svg + "\n", "utf-8")


if __name__ == "__main__":
    main()
