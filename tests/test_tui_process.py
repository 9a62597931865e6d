"""The picker as a process of its own on a pseudo-terminal: how it starts, what it leaves behind, how it ends."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_helpers import init

from codesearch import Engine
from codesearch.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
READY = b"Type to search"
PREVIEWED = b"upload.py:1-2"
LEFT = (b"\x1b[?1049l", b"\x1b[?25h")  # the alternate screen is left, the cursor is shown


class Terminal:
    """A pseudo-terminal with the picker on it."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.output = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "codesearch", *arguments], cwd=folder, stdin=self.slave, stdout=self.slave,
            stderr=self.slave, start_new_session=True,
            env=os.environ | {"PYTHONPATH": str(PROJECT), "TERM": "xterm-256color"} | environment,
        )  # fmt: skip

    def wait_for(self, text: bytes, seconds: float = 30) -> None:
        """Reads until something was drawn."""
        end = time.monotonic() + seconds
        while text not in self.output:
            assert time.monotonic() < end, self.output[-2000:]
            self.read(0.1)

    def read(self, seconds: float) -> None:
        """Reads what there is."""
        if select.select([self.master], [], [], seconds)[0]:
            self.output += os.read(self.master, 65536)

    def type(self, keys: bytes) -> None:
        """Presses keys."""
        os.write(self.master, keys)

    def end(self, seconds: float = 30) -> int:
        """The exit code, once it has ended by itself."""
        until = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < until, self.output[-2000:]
            self.read(0.05)
        self.read(0.2)
        return self.process.returncode

    def close(self) -> None:
        """Ends what is left."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    """A small repository with an index."""
    root = init(
        tmp_path_factory.mktemp("process") / "repository",
        {"upload.py": "def retry_upload(times):\n    return times\n\n\ndef größer():\n    return '古い'\n"},
    )
    Engine.open(root, Settings()).search("retry")
    return root


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def start(terminals: list[Terminal], folder: Path, *arguments: str, **environment: str) -> Terminal:
    terminals.append(Terminal(folder, *arguments, **environment))
    return terminals[-1]


def assert_restored(terminal: Terminal) -> None:
    assert all(each in terminal.output for each in LEFT)
    assert termios.tcgetattr(terminal.slave) == terminal.before
    assert b"Traceback" not in terminal.output


def test_without_arguments_the_picker_opens_and_an_editor_takes_the_terminal_for_a_while(
    indexed: Path, terminals: list[Terminal], tmp_path: Path
) -> None:
    editor = tmp_path / "vi"
    editor.write_text(
        "#!/bin/sh\nkill -INT $PPID\nstty -a | grep -q -- '-icanon' || echo the terminal is mine: $1 $2\n"
    )
    editor.chmod(0o755)
    terminal = start(terminals, indexed, VISUAL=str(editor))
    terminal.wait_for(READY)
    terminal.type(b"retry_upload")
    terminal.wait_for(PREVIEWED)
    terminal.type(b"\r")
    terminal.wait_for(b"the terminal is mine: +1 %s/upload.py" % os.fsencode(indexed))
    drawn = len(terminal.output)
    while PREVIEWED not in terminal.output[drawn:]:  # the same state again
        terminal.read(5)
    terminal.type(b"\x1b")
    assert terminal.end() == 0
    assert_restored(terminal)


@pytest.mark.parametrize(("how", "code"), [("key", 130), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_however_it_is_interrupted_the_terminal_is_restored(
    indexed: Path, terminals: list[Terminal], how: str | signal.Signals, code: int
) -> None:
    terminal = start(terminals, indexed, "tui", "retry")
    terminal.wait_for(PREVIEWED)
    if isinstance(how, signal.Signals):
        terminal.process.send_signal(how)
    else:
        terminal.type(b"\x03")
    assert terminal.end() == code
    assert_restored(terminal)


def test_ctrl_c_in_the_middle_of_the_first_index_leaves_at_once(
    indexed: Path, terminals: list[Terminal], tmp_path: Path
) -> None:
    root = Path(shutil.copytree(indexed, tmp_path / "copy"))
    shutil.rmtree(root / ".git" / "codesearch")
    terminal = start(terminals, root)
    terminal.wait_for(b"hybrid")
    terminal.type(b"\x03")
    assert terminal.end() == 130
    assert_restored(terminal)
    assert Engine.open(root, Settings()).search("retry_upload").hits


def test_a_terminal_of_another_encoding_gets_nothing_that_it_cannot_show(
    indexed: Path, terminals: list[Terminal]
) -> None:
    terminal = start(terminals, indexed, "tui", "größer", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    terminal.wait_for("größer".encode("latin-1"))
    terminal.wait_for(b"????")
    terminal.type(b"\x1b")
    assert terminal.end() == 0
    assert "古".encode() not in terminal.output
    assert_restored(terminal)


@pytest.mark.parametrize("arguments", [["tui"], ["tui", "retry"]])
def test_without_a_terminal_there_is_no_picker(indexed: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codesearch", *arguments], cwd=indexed, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("Error: The picker needs a terminal.\nHint: ")


def test_a_dumb_terminal_gets_help(indexed: Path, terminals: list[Terminal]) -> None:
    terminal = start(terminals, indexed, TERM="dumb")
    assert terminal.end() == 2
    assert b"Usage: codesearch" in terminal.output
