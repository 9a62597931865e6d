"""Makes text of a repository fit to print. Every path, name and line of code passes here first.

A file name or a line of code may hold escape sequences that move the cursor, retitle the window or rewrite
what was printed before, and bidirectional marks that show code in another order than it runs. All are shown
as escapes.
"""

from __future__ import annotations

import posixpath
import re

# C0 and C1 controls, DEL, line and paragraph separators, bidirectional marks, and lone surrogates (bytes of a
# file name that are not UTF-8).
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_UNSAFE_IN_CODE = re.compile(_UNSAFE.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0a-\x1f"))
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def sanitise(text: str) -> str:
    r"""`text` on one line, with every character that could steer a terminal written as an escape: `\x1b`."""
    return _UNSAFE.sub(_escape, text)


def sanitise_code(line: str) -> str:
    """One line of code, safe to print; tabs stay, and the CR of a CRLF line end goes."""
    return _UNSAFE_IN_CODE.sub(_escape, line.removesuffix("\n").removesuffix("\r"))


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # Python's stand-in for a byte that is not UTF-8
        code -= 0xDC00
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def shown_path(path: str, folder: str = "") -> str:
    """A path of the repository as seen from `folder` ("" is the root), safe to print."""
    return sanitise(path_from(path, folder))


def path_from(path: str, folder: str) -> str:
    """A path of the repository as seen from `folder`, as it is on disk: for programs, not for terminals."""
    return posixpath.relpath(path, folder) if folder else path


def shown_bytes(count: int) -> str:
    """A size for people: `412 B`, `1.4 MB`. Units are powers of 1000, as disks and `ls --si` count."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
