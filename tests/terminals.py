"""Runs the command as a person does: in a terminal of a given size."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PATIENCE_S = 60


def run_in_terminal(
    command: Sequence[str | Path],
    folder: Path,
    *,
    columns: int = 80,
    environment: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
) -> tuple[str, int]:
    """What a program shows on a terminal, and its exit code. `keys` are typed when what they stand behind is seen."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        command, cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(PROJECT), "TERM": "xterm"} | dict(environment or {}),
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(terminal)
    waiting, shown, deadline = dict(keys or {}), b"", time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < deadline:
            if select.select([controller], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):  # EIO: nobody has the terminal open any more
                    if part := os.read(controller, 65536):
                        shown += part
                        for seen in [each for each in waiting if each.encode() in shown]:
                            os.write(controller, waiting.pop(seen).encode())
                        continue
                break
        code = process.wait(max(deadline - time.monotonic(), 1))
    finally:
        process.kill()
        os.close(controller)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n"), code


def in_terminal(folder: Path, *arguments: str, **options) -> tuple[str, int]:
    """`codesearch ARGUMENTS` in a terminal."""
    return run_in_terminal([sys.executable, "-m", "codesearch", *arguments], folder, **options)
