"""Recognises picture formats by their first bytes and finds the decoder for each."""

from __future__ import annotations

from collections.abc import Callable

from thumbs.errors import UnknownFormat
from thumbs.geometry import Size

Decoder = Callable[[bytes], Size]
_DECODERS: dict[bytes, Decoder] = {}


def decoder(magic: bytes) -> Callable[[Decoder], Decoder]:
    """Registers a function as the decoder of files that start with `magic`."""

    def register(function: Decoder) -> Decoder:
        _DECODERS[magic] = function
        return function

    return register


@decoder(b"\x89PNG\r\n\x1a\n")
def read_png_header(data: bytes) -> Size:
    """Width and height from the IHDR block, which always comes first."""
    return Size(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))


@decoder(b"GIF8")
def read_gif_header(data: bytes) -> Size:
    """Width and height of the logical screen, which may be larger than the first frame."""
    return Size(int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))


@decoder(b"BM")
def read_bitmap_header(data: bytes) -> Size:
    """Width and height of a Windows bitmap; a negative height means that rows run from top to bottom."""
    width = int.from_bytes(data[18:22], "little", signed=True)
    height = int.from_bytes(data[22:26], "little", signed=True)
    return Size(width, abs(height))


def sniff(data: bytes) -> Decoder:
    """The decoder whose magic number opens the data, the longest one first."""
    for magic in sorted(_DECODERS, key=len, reverse=True):
        if data.startswith(magic):
            return _DECODERS[magic]
    raise UnknownFormat(f"unknown magic number {data[:8]!r}")
