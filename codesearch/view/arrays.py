"""Files of named arrays: written once, then memory-mapped by any number of readers.

Layout: magic, header length (u64, little endian), a JSON header {"meta", "arrays", "size", "crc"}, then every
array at a 64-byte boundary. A file is untrusted input: all offsets are checked against its size before an array
is made, and only plain numeric types are accepted. Knows nothing of what the arrays mean.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError

_MAGIC = b"CSARR\x00\x00\x01"  # the last byte is the version of this layout
_ALIGN = 64  # a cache line; enough for every vector instruction set
_PREFIX = struct.Struct("<8sQ")
_MAX_HEADER = 1 << 26


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> int:
    """Writes a file durably under its final name, or not at all; returns its size in bytes.

    The name must be new or disposable: the file appears by an atomic rename after its content is on disk.
    """
    specs: list[dict[str, Any]] = []
    blocks: list[NDArray[Any]] = []
    offset = 0
    crc = 0
    for name, array in arrays.items():
        block = np.ascontiguousarray(array)
        specs.append({"name": name, "dtype": _dtype_spec(block.dtype), "shape": block.shape, "offset": offset})
        blocks.append(block)
        crc = zlib.crc32(_raw(block), crc)
        offset += _padded(block.nbytes)
    header = json.dumps({"meta": meta, "arrays": specs, "size": offset, "crc": crc}).encode()
    header += b" " * (-(len(header) + _PREFIX.size) % _ALIGN)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(_PREFIX.pack(_MAGIC, len(header)))
        file.write(header)
        for block in blocks:
            file.write(_raw(block))
            file.write(b"\0" * (_padded(block.nbytes) - block.nbytes))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return _PREFIX.size + len(header) + offset


class ArrayFile:
    """The arrays and the metadata of one file, mapped read-only."""

    def __init__(self, path: Path, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], crc: int) -> None:
        self.path = path
        self.meta = meta
        self.arrays = arrays
        self._crc = crc

    @classmethod
    def open(cls, path: Path) -> ArrayFile:
        """Maps a file.

        Raises CorruptIndexError for anything but a whole file of this layout, FileNotFoundError when there is
        none.
        """
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _PREFIX.size:
                raise _corrupt(path, "it is truncated")
            buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, header_size = _PREFIX.unpack_from(buffer)
        if magic != _MAGIC:
            raise _corrupt(path, "it has another format")
        start = _PREFIX.size + header_size
        if header_size > _MAX_HEADER or start > size:
            raise _corrupt(path, "it is truncated")
        try:
            header = json.loads(buffer[_PREFIX.size : start])
            meta, specs, length, crc = header["meta"], header["arrays"], header["size"], header["crc"]
            if start + length > size:
                raise _corrupt(path, "it is truncated")
            arrays = {spec["name"]: _map(buffer, spec, start, length) for spec in specs}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise _corrupt(path, "its header is damaged") from error
        if not isinstance(meta, dict):
            raise _corrupt(path, "its header is damaged")
        return cls(path, meta, arrays, crc)

    def verify(self) -> None:
        """Reads every byte and compares the checksum; CorruptIndexError when they differ."""
        crc = 0
        for array in self.arrays.values():
            crc = zlib.crc32(_raw(array), crc)
        if crc != self._crc:
            raise _corrupt(self.path, "its checksum is wrong")


def _map(buffer: mmap.mmap, spec: dict[str, Any], start: int, length: int) -> NDArray[Any]:
    dtype = _dtype_from(spec["dtype"])
    shape = tuple(int(n) for n in spec["shape"])
    offset = int(spec["offset"])
    count = 1
    for n in shape:
        count *= n
    if min(shape, default=0) < 0 or offset < 0 or offset % _ALIGN or offset + count * dtype.itemsize > length:
        raise ValueError(spec)
    return np.frombuffer(buffer, dtype=dtype, count=count, offset=start + offset).reshape(shape)


def _dtype_spec(dtype: np.dtype[Any]) -> Any:
    return dtype.str if dtype.names is None else [list(field) for field in dtype.descr]


def _dtype_from(spec: Any) -> np.dtype[Any]:
    fields = spec if isinstance(spec, list) else [["", spec]]
    for field in fields:
        if np.dtype(field[1]).kind not in "iufV" or "O" in field[1]:
            raise ValueError(spec)
    if isinstance(spec, list):
        return np.dtype([(field[0], field[1], *(tuple(shape) for shape in field[2:])) for field in fields])
    plain: np.dtype[Any] = np.dtype(spec)
    return plain


def _raw(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _corrupt(path: Path, why: str) -> CorruptIndexError:
    return CorruptIndexError(f"Cannot read {path.name}: {why}.", "Run: codesearch index")
