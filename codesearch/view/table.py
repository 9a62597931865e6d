"""The files of one snapshot: which unit of which segment each path shows, and the words of the paths.

A content does not know its path, so a renamed file only changes its row here: nothing of it is embedded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError
from codesearch.roles import Role, role_of
from codesearch.terms import count_terms
from codesearch.types import Embedder, SkipReason
from codesearch.view.arrays import ArrayFile, write_arrays
from codesearch.view.segment import FORMAT, SKIPS, quantise, skip_code, term_hash
from codesearch.view.strings import Strings, pack_strings

NO_UNIT = 0xFFFFFFFF

FILE = np.dtype(
    [
        ("oid", "u1", (32,)), ("modified", "<u8"), ("size", "<u4"), ("unit", "<u4"),
        ("segment", "<u2"), ("path_length", "<u2"), ("skip", "u1"), ("role", "u1"), ("reserved", "u1", (2,)),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileRow:
    """One path of a snapshot. `oid` is git's id where the file was clean, else ""; `skip` names why no unit.

    `modified` is the modification time in nanoseconds, kept for folders that git does not watch, else 0. `role` is None
    where the path alone says it.
    """

    path: str
    oid: str = ""
    segment: int = 0
    unit: int = NO_UNIT
    skip: SkipReason | None = None
    size: int = 0
    modified: int = 0
    role: Role | None = None


@dataclass(frozen=True, eq=False)
class FileTable:
    """Paths in sorted order, their rows (FILE), vectors and term postings."""

    paths: Strings
    rows: NDArray[Any]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    term_hashes: NDArray[np.uint64]
    term_offsets: NDArray[np.uint32]
    posting_file: NDArray[np.uint32]
    meta: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.rows)

    def find_term(self, term: str) -> NDArray[np.uint32]:
        """Indices of the files whose path has a term, in order."""
        wanted = np.uint64(term_hash(term))
        at = int(np.searchsorted(self.term_hashes, wanted))
        if at == len(self.term_hashes) or self.term_hashes[at] != wanted:
            return self.posting_file[:0]
        return self.posting_file[int(self.term_offsets[at]) : int(self.term_offsets[at + 1])]

    def skip_of(self, index: int) -> SkipReason | None:
        """Why the path has no unit, or None."""
        code = int(self.rows[index]["skip"])
        return SKIPS[code - 1] if 0 < code <= len(SKIPS) else None

    def oid_of(self, index: int, length: int) -> str:
        """Git's object id of the file when it was indexed, "" where the file differed from what git records."""
        raw: bytes = self.rows[index]["oid"].tobytes()
        return raw[:length].hex() if any(raw) else ""

    def save(self, path: Path) -> int:
        """Writes the table under a new name; returns its size in bytes."""
        return write_arrays(
            path,
            {
                "path_offsets": self.paths.offsets,
                "path_data": self.paths.data,
                "rows": self.rows,
                "codes": self.codes,
                "scales": self.scales,
                "term_hashes": self.term_hashes,
                "term_offsets": self.term_offsets,
                "posting_file": self.posting_file,
            },
            {"format": FORMAT, **self.meta},
        )

    @classmethod
    def open(cls, path: Path, *, verify: bool = False) -> FileTable:
        """Maps a table; CorruptIndexError when it is damaged or of another version.

        `verify` reads every byte and compares the checksum: for index runs, which copy from it.
        """
        file = ArrayFile.open(path)
        if verify:
            file.verify()
        arrays = file.arrays
        try:
            table = cls(
                paths=Strings(arrays["path_offsets"], arrays["path_data"]),
                rows=arrays["rows"],
                codes=arrays["codes"],
                scales=arrays["scales"],
                term_hashes=arrays["term_hashes"],
                term_offsets=arrays["term_offsets"],
                posting_file=arrays["posting_file"],
                meta=file.meta,
            )
            agree = (
                file.meta.get("format") == FORMAT
                and table.rows.dtype == FILE
                and len(table.rows) == len(table.paths) == len(table.codes) == len(table.scales)
                and len(table.term_hashes) + 1 == len(table.term_offsets)
                and int(table.term_offsets[-1]) == len(table.posting_file)
            )
        except (KeyError, IndexError, TypeError) as error:
            raise CorruptIndexError(f"{path.name} is incomplete.", "Run: codesearch index") from error
        if not agree:
            raise CorruptIndexError(f"{path.name} has another version.", "Run: codesearch index")
        return table


def build_table(rows: Iterable[FileRow], embedder: Embedder, meta: Mapping[str, Any]) -> FileTable:
    """The table of a snapshot's files; rows may come in any order."""
    ordered = sorted(rows, key=lambda row: row.path)
    paths = [row.path for row in ordered]
    table = np.zeros(len(ordered), FILE)
    known: dict[str, int] = {}
    owners: list[int] = []
    ids: list[int] = []
    for index, (target, row) in enumerate(zip(table, ordered, strict=True)):
        terms = count_terms(row.path)
        target["path_length"] = min(sum(terms.values()), 0xFFFF)
        ids.extend([known.setdefault(term, len(known)) for term in terms])
        owners.extend([index] * len(terms))
    if ordered:
        table["oid"] = np.frombuffer(
            b"".join(bytes.fromhex(row.oid).ljust(32, b"\0") for row in ordered), np.uint8
        ).reshape(-1, 32)
        table["unit"] = [row.unit for row in ordered]
        table["segment"] = [row.segment for row in ordered]
        table["size"] = [min(row.size, 0xFFFFFFFF) for row in ordered]
        table["modified"] = [row.modified for row in ordered]
        table["skip"] = [skip_code(row.skip) for row in ordered]
        table["role"] = [int(role_of(row.path) if row.role is None else row.role) for row in ordered]
    codes, scales = quantise(embedder.embed_paths(paths))
    hashes, offsets, files = _postings(list(known), ids, owners)
    return FileTable(pack_strings(paths), table, codes, scales, hashes, offsets, files, dict(meta))


def _postings(
    terms: Sequence[str], ids: Sequence[int], owners: Sequence[int]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    hashes = np.fromiter(map(term_hash, terms), np.uint64, len(terms))
    by_hash = np.argsort(hashes, kind="stable")
    rank = np.empty(len(terms), np.int64)
    rank[by_hash] = np.arange(len(terms))
    ranks = rank[np.array(ids, np.int64)]
    offsets = np.zeros(len(terms) + 1, np.uint32)
    np.cumsum(np.bincount(ranks, minlength=len(terms)), out=offsets[1:])
    files = np.array(owners, np.uint32)[np.argsort(ranks, kind="stable")]
    return hashes[by_hash], offsets, files
