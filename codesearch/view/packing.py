"""One unit as bytes, for the store: its declarations, its chunks and their strings, without postings and vectors."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError
from codesearch.view.segment import CHUNK, DECLARATION, Segment
from codesearch.view.strings import Strings

_COUNTS = struct.Struct("<IIII")  # declarations, chunks, strings, bytes of strings


def pack_unit(segment: Segment, unit: int) -> bytes:
    """A unit of a segment; its string ids become relative to the packed strings."""
    row = segment.units[unit]
    first = int(row["first_declaration"])
    declarations = segment.declarations[first : first + int(row["declarations"])].copy()
    first = int(row["first_chunk"])
    chunks = segment.chunks[first : first + int(row["chunks"])]
    used, local = np.unique(
        np.concatenate([declarations["symbol"], declarations["qualified"], declarations["signature"]]),
        return_inverse=True,
    )
    columns = local.reshape(3, -1)
    declarations["symbol"], declarations["qualified"], declarations["signature"] = columns
    names = segment.strings.take(used.astype(np.intp))
    return b"".join(
        (
            _COUNTS.pack(len(declarations), len(chunks), len(used), len(names.data)),
            declarations.tobytes(),
            chunks.tobytes(),
            names.offsets.tobytes(),
            names.data.tobytes(),
        )
    )


def unpack_unit(raw: bytes) -> tuple[NDArray[Any], list[str], NDArray[Any]]:
    """Declarations, the strings they point into, and chunks; CorruptIndexError when the bytes do not add up."""
    try:
        declared, chunked, named, size = _COUNTS.unpack_from(raw)
        offset = _COUNTS.size
        declarations = np.frombuffer(raw, DECLARATION, declared, offset)
        offset += declarations.nbytes
        chunks = np.frombuffer(raw, CHUNK, chunked, offset)
        offset += chunks.nbytes
        offsets = np.frombuffer(raw, np.uint32, named + 1, offset)
        data = np.frombuffer(raw, np.uint8, size, offset + offsets.nbytes)
        return declarations, Strings(offsets, data).to_list(), chunks
    except (ValueError, struct.error) as error:
        raise CorruptIndexError("The store holds a damaged entry.", "Run: codesearch clean") from error
