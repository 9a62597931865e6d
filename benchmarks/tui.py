"""How long the picker takes: from a key to the hits that it asks for, and from its start to what one sees first.

    python benchmarks/tui.py path/to/repository

Keys are pressed one by one inside the program itself, each after the hits of the one before were drawn; a key that no
list follows (a space after a word) is not counted. The start is that of a process on a pseudo-terminal, until the line
for the query is drawn. The repository is indexed first if need be.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from codesearch import Engine
from codesearch.tui.app import Picker

SIZE = (160, 48)
QUERIES = ("where are failed requests retried", "render template", "parse config", "cookie session store", "flush")
PATIENCE_S = 10.0


async def keystrokes(root: Path, queries: tuple[str, ...]) -> list[float]:
    """Seconds from each key to its hits on the screen."""
    picker = Picker(lambda: Engine.open(root), theme="textual-dark", encoding="utf-8", query="", history=None)
    taken: list[float] = []
    async with picker.run_test(size=SIZE) as pilot:
        while not picker._is_ready:
            await pilot.pause(0.05)
        for query in queries:
            for key in query:
                drawn = picker.drawn_at
                asked, started = picker._asked, time.perf_counter()
                picker.simulate_key("space" if key == " " else key)
                while picker.drawn_at == drawn and time.perf_counter() - started < PATIENCE_S:
                    if picker._asked == asked and time.perf_counter() - started > 0.3:
                        break  # the same question: no list follows
                    await asyncio.sleep(0.001)
                if picker.drawn_at != drawn:
                    taken.append(picker.drawn_at - started)
                await asyncio.sleep(0.08)  # about as quick as people type; the preview is drawn meanwhile
            picker._field.value = ""
            await asyncio.sleep(0.2)
    picker.stop()
    return taken


def first_paint(root: Path) -> float:
    """Seconds from the start of the process until the line for the query is there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    environment = os.environ | {"TERM": "xterm-256color"}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "codesearch", "-C", str(root), "tui"],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=environment,
    )  # fmt: skip
    output = b""
    while b"hybrid" not in output and time.perf_counter() - started < PATIENCE_S:
        if select.select([master], [], [], 0.05)[0]:
            output += os.read(master, 65536)
    taken = time.perf_counter() - started
    time.sleep(1)
    os.write(master, b"\x03")
    while process.poll() is None:
        if select.select([master], [], [], 0.05)[0]:
            os.read(master, 65536)
    os.close(master)
    os.close(slave)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--query", action="append", help="instead of those of the program")
    arguments = parser.parse_args()
    root = arguments.repository.resolve()
    Engine.open(root).search("anything")
    starts = [first_paint(root) for _ in range(arguments.starts)]
    print(f"start to first paint   median {statistics.median(starts):.2f} s   best {min(starts):.2f} s")
    taken = [1000 * each for each in asyncio.run(keystrokes(root, tuple(arguments.query or QUERIES)))]
    median, slowest = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    print(f"key to hits            median {median:.0f} ms   95 % {slowest:.0f} ms   {len(taken)} keys")


if __name__ == "__main__":
    main()
