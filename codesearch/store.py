"""The record of everything that was ever analysed: LanceDB tables of units, chunk texts, vectors and models.

Views are made from it when they are lost, and a branch that comes back finds its vectors here. The only module
that knows the tables' schemas. Writers hold the index lock; LanceDB has no unique keys, so what is there already
is left out before a batch is added. Importing LanceDB costs seconds, so it is imported where a table is opened,
and a small sorted file of known keys answers "could this be here?" without it.

    units    key, blob, language, size, lines, errors, skip, packed      one row per blob and recipe
    chunks   key, language, kind, symbol, parents, signature, doc, body  one row per distinct text
    models   id, table, dimensions                                       one row per embedding model
    vectors_<n>  key, scale, vector                                      one table per model
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CorruptIndexError
from codesearch.journal import TEXT_FIELDS, JournalPart
from codesearch.types import Chunk, Kind, SkipReason, Span
from codesearch.view.arrays import ArrayFile, write_arrays
from codesearch.view.packing import pack_unit, unpack_unit
from codesearch.view.segment import KEY_BYTES, KINDS
from codesearch.view.vectors import KnownVectors

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = 1
_BATCH_KEYS = 500  # keys in one SQL IN list; far longer lists have crashed the query planner
_BATCH_ROWS = 4096  # a few megabytes of vectors
_FULL_SCAN = 5000  # wanted keys above which reading the whole key column is quicker than IN lists
_COMPACT_EVERY = 16  # recorded runs between compactions: each run adds a version and a few files per table
RETENTION = timedelta(hours=2)  # readers of older table versions may be at work that long


# What LanceDB reports as `os error N` when its files are whole and the machine is at fault.
_SYSTEM_ERRORS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO}
)


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """A unit as the store holds it; `packed` is read by view.packing."""

    key: bytes
    blob: str
    language: str
    size: int
    lines: int
    errors: bool
    skip: SkipReason | None
    packed: bytes


class Store:
    """The tables of one clone."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / f"v{SCHEMA}"
        self._known_path = self.folder / "known.arr"
        self._known: dict[str, NDArray[Any]] | None = None

    def exists(self) -> bool:
        """Whether anything was ever recorded here."""
        return self.folder.is_dir()

    def may_know(self, table: str, keys: Iterable[bytes]) -> bool:
        """Whether one of these keys may be in `units` or `chunks`; without importing LanceDB. No false "no"."""
        if not self.exists():
            return False
        if self._known is None:
            try:
                self._known = ArrayFile.open(self._known_path).arrays
            except (CorruptIndexError, FileNotFoundError):
                return True
        known = self._known.get(table)
        if known is None:
            return True
        wanted = np.array([int.from_bytes(key[:8], "little") for key in keys], np.uint64)
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        return len(known) > 0 and bool((known[at] == wanted).any())

    # --- reading ---------------------------------------------------------------------------------------------

    def read_units(self, keys: Sequence[bytes]) -> dict[bytes, StoredUnit]:
        """The units among these keys that are recorded. CorruptIndexError when the tables are damaged."""
        with _damage_noticed():
            return self._read_units(keys)

    def _read_units(self, keys: Sequence[bytes]) -> dict[bytes, StoredUnit]:
        found = {}
        for row in self._rows("units", keys, None):
            key = bytes.fromhex(row["key"])
            skip = SkipReason(row["skip"]) if row["skip"] else None
            found[key] = StoredUnit(
                key,
                row["blob"],
                row["language"],
                row["size"],
                row["lines"],
                row["errors"],
                skip,
                row["packed"],
            )
        return found

    def read_chunks(self, keys: Sequence[bytes]) -> dict[bytes, Chunk]:
        """The texts of chunks, as chunks without a place (empty span, no declaration). Raises as `read_units`."""
        with _damage_noticed():
            return self._read_chunks(keys)

    def _read_chunks(self, keys: Sequence[bytes]) -> dict[bytes, Chunk]:
        nowhere = Span(0, 0, 0, 0)
        return {
            bytes.fromhex(row["key"]): Chunk(Kind(row["kind"]), nowhere, **{field: row[field] for field in TEXT_FIELDS})
            for row in self._rows("chunks", keys, None)
        }

    def read_vectors(self, model_id: str) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.float32]] | None:
        """All vectors of a model: keys (n, KEY_BYTES), codes, scales; None when the model is not known.

        Raises as `read_units`.
        """
        with _damage_noticed():
            return self._read_vectors(model_id)

    def _read_vectors(self, model_id: str) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.float32]] | None:
        table = self._table(_vector_table(model_id))
        if table is None:
            return None
        rows = table.search().select(["key", "scale", "vector"]).limit(max(table.count_rows(), 1)).to_arrow()
        keys = np.frombuffer(bytes.fromhex("".join(rows["key"].to_pylist())), np.uint8).reshape(-1, KEY_BYTES)
        scales = np.asarray(rows["scale"].combine_chunks()).astype(np.float32)
        flat = np.asarray(rows["vector"].combine_chunks().flatten()).astype(np.float32)
        vectors = flat.reshape(len(keys), -1)
        safe = np.where(scales > 0, scales, 1).astype(np.float32)
        return keys, np.rint(vectors / safe[:, None]).astype(np.int8), scales

    def counts(self) -> dict[str, int]:
        """Rows per table, for tests and diagnosis."""
        database = self._connect()
        return {name: database.open_table(name).count_rows() for name in self._table_names(database)}

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def delete(self) -> None:
        """Removes every table."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._known = None

    # --- writing ---------------------------------------------------------------------------------------------

    def record(self, parts: Iterable[JournalPart]) -> None:
        """Adds what is not there yet. Call it under the index lock; a failure half-way is made good by a repeat.

        Chunks and vectors are written before the units that point at them, so that a unit that is found is
        always complete. CorruptIndexError when the tables are damaged.
        """
        with _damage_noticed():
            self._record(parts)

    def _record(self, parts: Iterable[JournalPart]) -> None:
        recorded_units: list[bytes] = []
        recorded_chunks: list[bytes] = []
        for batch in _batches(parts):
            chunk_keys, texts, vectors = _distinct_chunks(batch)
            for model_id, (keys, codes, scales) in vectors.items():
                self._add_vectors(model_id, keys, codes, scales)
            self._add("chunks", _CHUNK_SCHEMA(), texts)
            units = _unit_rows(batch)
            self._add("units", _UNIT_SCHEMA(), units)
            recorded_chunks.extend(chunk_keys)
            recorded_units.extend(bytes.fromhex(key) for key in units["key"])
        self._remember(recorded_units, recorded_chunks)

    def _add(self, name: str, schema: pa.Schema, columns: dict[str, Any]) -> None:
        import pyarrow as pa

        table = self._open_or_create(name, schema)
        present = self._present(table, columns["key"])
        keep = [index for index, key in enumerate(columns["key"]) if key not in present]
        if keep:
            table.add(pa.table(columns, schema=schema).take(keep))

    def _add_vectors(
        self, model_id: str, keys: Sequence[str], codes: NDArray[np.int8], scales: NDArray[np.float32]
    ) -> None:
        import pyarrow as pa

        dimensions = codes.shape[1]
        name = _vector_table(model_id)
        schema = pa.schema(
            [
                ("key", pa.string()),
                ("scale", pa.float32()),
                # float16 holds every code · scale closely enough that rounding gives the code back.
                ("vector", pa.list_(pa.float16(), dimensions)),
            ]
        )
        models = pa.schema([("id", pa.string()), ("table", pa.string()), ("dimensions", pa.int32())])
        table = self._open_or_create("models", models)
        if model_id not in table.search().limit(1000).to_arrow()["id"].to_pylist():
            table.add(pa.table({"id": [model_id], "table": [name], "dimensions": [dimensions]}, schema=models))
        flat = (codes.astype(np.float32) * scales[:, None]).astype(np.float16).ravel()
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat), dimensions)
        self._add(name, schema, {"key": keys, "scale": scales, "vector": vectors})

    def _present(self, table: Any, keys: Sequence[str]) -> set[str]:
        """Those of the keys that a table has."""
        total = table.count_rows()
        if total == 0:
            return set()
        if len(keys) > _FULL_SCAN:
            column = table.search().select(["key"]).limit(total).to_arrow()["key"]
            return set(column.to_pylist())
        present: set[str] = set()
        for part in _slices(keys):
            rows = table.search().where(_is_one_of(part)).select(["key"]).limit(len(part) * 2).to_arrow()
            present.update(rows["key"].to_pylist())
        return present

    def _remember(self, units: Sequence[bytes], chunks: Sequence[bytes]) -> None:
        """Writes the file of known keys anew, and compacts the tables now and then."""
        arrays = {}
        runs = 1
        try:
            old = ArrayFile.open(self._known_path)
            runs += int(old.meta.get("runs", 0))
            before = old.arrays
        except (CorruptIndexError, FileNotFoundError, ValueError):
            before = self._all_halves()
        for name, keys in (("units", units), ("chunks", chunks)):
            new = np.frombuffer(b"".join(keys), "<u8")[:: KEY_BYTES // 8]
            arrays[name] = np.unique(np.concatenate([before.get(name, np.zeros(0, np.uint64)), new]))
        write_arrays(self._known_path, arrays, {"runs": runs})
        self._known = None
        if runs % _COMPACT_EVERY == 0:
            self.compact()

    def _all_halves(self) -> dict[str, NDArray[np.uint64]]:
        halves = {}
        for name in ("units", "chunks"):
            table = self._table(name)
            if table is not None and table.count_rows():
                keys = table.search().select(["key"]).limit(table.count_rows()).to_arrow()["key"].to_pylist()
                halves[name] = np.frombuffer(bytes.fromhex("".join(keys)), "<u8")[:: KEY_BYTES // 8]
        return halves

    def retain(self, is_used: Callable[[bytes, str], bool], *, dry_run: bool = False) -> tuple[int, int]:
        """Removes the units (key, blob) that are not used, and the texts and vectors of no other unit; counts both.

        Units go first, so that one that is found is complete whenever this is killed. Raises as `record`.
        """
        with _damage_noticed():
            units: set[str] = set()
            texts: set[str] = set()
            for batch in self._stream("units", ["key", "blob", "packed"]):
                for row in batch.to_pylist():
                    if is_used(bytes.fromhex(row["key"]), row["blob"]):
                        units.add(row["key"])
                        texts.update(chunk["key"].tobytes().hex() for chunk in unpack_unit(row["packed"])[2])
            gone = self._keep_only("units", units, dry_run), self._keep_only("chunks", texts, dry_run)
            for name in self._table_names(self._connect()):
                if name.startswith("vectors_"):
                    self._keep_only(name, texts, dry_run)
            if not dry_run:
                self._known_path.unlink(missing_ok=True)
                self._remember([], [])
            return gone

    def _keep_only(self, name: str, keys: set[str], dry_run: bool) -> int:
        """Writes a table anew without the rows of other keys, and without repeated ones; returns how many those are."""
        import pyarrow as pa

        table = self._table(name)
        if table is None:
            return 0
        present = [key for batch in self._stream(name, ["key"]) for key in batch["key"].to_pylist()]
        kept = keys & set(present)
        if dry_run or len(kept) == len(present):
            return len(present) - len(kept)
        schema = table.schema
        seen: set[str] = set()

        def rows() -> Iterator[pa.RecordBatch]:
            for batch in self._stream(name, schema.names):
                mask = []
                for key in batch["key"].to_pylist():
                    mask.append(key in kept and key not in seen)
                    seen.add(key)
                yield batch.filter(pa.array(mask, pa.bool_()))

        if kept:
            reader = pa.RecordBatchReader.from_batches(schema, rows())
            self._connect().create_table(name, reader, mode="overwrite")
        else:
            self._connect().create_table(name, schema=schema, mode="overwrite")
        return len(present) - len(kept)

    def _stream(self, name: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        table = self._table(name)
        if table is not None and (total := table.count_rows()):
            yield from table.search().select(columns).limit(total).to_batches(_BATCH_ROWS)

    def compact(self, retention: timedelta = RETENTION) -> None:
        """Merges small files and drops versions older than `retention`. Raises as `record`.

        Only index runs read the store, and they hold the lock; LanceDB warns of readers that are not ours.
        """
        with warnings.catch_warnings(), _damage_noticed():
            warnings.simplefilter("ignore", UserWarning)
            database = self._connect()
            for name in self._table_names(database):
                database.open_table(name).optimize(cleanup_older_than=retention)

    # --- LanceDB ---------------------------------------------------------------------------------------------

    def _connect(self) -> Any:
        # Imported here: LanceDB takes two seconds and 130 MB, most of it for a REST client.
        import lancedb

        self.folder.mkdir(parents=True, exist_ok=True)
        return lancedb.connect(self.folder)

    def _table_names(self, database: Any) -> list[str]:
        names: list[str] = []
        token = None
        while True:
            page = database.list_tables(page_token=token)
            names.extend(page.tables)
            token = page.page_token
            if not token:
                return names

    def _table(self, name: str) -> Any | None:
        if not self.exists():
            return None
        database = self._connect()
        return database.open_table(name) if name in self._table_names(database) else None

    def _open_or_create(self, name: str, schema: pa.Schema) -> Any:
        return self._connect().create_table(name, schema=schema, exist_ok=True)

    def _rows(self, name: str, keys: Sequence[bytes], columns: list[str] | None) -> Iterator[dict[str, Any]]:
        table = self._table(name)
        if table is None:
            return
        seen: set[str] = set()  # a writer that died may have left a row twice
        for part in _slices([key.hex() for key in keys]):
            query = table.search().where(_is_one_of(part)).limit(len(part) * 2)
            for row in (query.select(columns) if columns else query).to_arrow().to_pylist():
                if row["key"] not in seen:
                    seen.add(row["key"])
                    yield row


class StoredVectors:
    """Finds vectors in the store, which is opened only when it may have one."""

    def __init__(self, store: Store, model_id: str) -> None:
        self._store = store
        self._model_id = model_id
        self._loaded: KnownVectors | None = None

    def find(self, key: bytes) -> tuple[NDArray[np.int8], np.float32] | None:
        """Codes and scale of a chunk by its content key, or None."""
        if self._loaded is None:
            if not self._store.may_know("chunks", [key]):
                return None
            try:
                vectors = self._store.read_vectors(self._model_id)
            except CorruptIndexError:
                vectors = None  # they are computed again
            self._loaded = KnownVectors([vectors] if vectors else [])
        return self._loaded.find(key)


@contextmanager
def _damage_noticed() -> Iterator[None]:
    """LanceDB has no exception of its own for tables that it cannot read: they are ours to recognise."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        number = error.errno if isinstance(error, OSError) else None
        if number is None and (found := re.search(r"os error (\d+)", str(error))):
            number = int(found[1])
        if number in _SYSTEM_ERRORS:
            raise OSError(number, os.strerror(number)) from error
        raise CorruptIndexError("The durable record is damaged.", "Run: codesearch index") from error


def _UNIT_SCHEMA() -> pa.Schema:  # noqa: N802 - a constant that must not import pyarrow at start
    import pyarrow as pa

    return pa.schema(
        [
            ("key", pa.string()), ("blob", pa.string()), ("language", pa.string()), ("size", pa.int64()),
            ("lines", pa.int64()), ("errors", pa.bool_()), ("skip", pa.string()), ("packed", pa.binary()),
        ]
    )  # fmt: skip


def _CHUNK_SCHEMA() -> pa.Schema:  # noqa: N802 - as above
    import pyarrow as pa

    names = ("key", "language", "kind", *TEXT_FIELDS)
    return pa.schema([(name, pa.string()) for name in names])


def _vector_table(model_id: str) -> str:
    return "vectors_" + blake2b(model_id.encode(), digest_size=6).hexdigest()


def _is_one_of(keys: Sequence[str]) -> str:
    return "key IN (" + ",".join(f"'{key}'" for key in keys) + ")"


def _slices(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _BATCH_KEYS):
        yield keys[start : start + _BATCH_KEYS]


def _batches(parts: Iterable[JournalPart]) -> Iterator[list[JournalPart]]:
    """Parts in groups of some ten thousand chunks: few writes, bounded memory."""
    group: list[JournalPart] = []
    size = 0
    for part in parts:
        group.append(part)
        size += len(part.segment.chunks)
        if size >= 20_000:  # about 60 MB of text and vectors in flight
            yield group
            group, size = [], 0
    if group:
        yield group


def _unit_rows(parts: Sequence[JournalPart]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: [] for name in ("key", "blob", "language", "size", "lines", "errors", "skip", "packed")
    }
    seen: set[str] = set()
    for part in parts:
        segment = part.segment
        for index, row in enumerate(segment.units):
            key = row["key"].tobytes().hex()
            if key in seen:
                continue
            seen.add(key)
            raw = row["blob"].tobytes()
            columns["key"].append(key)
            # A SHA-1 id has 20 bytes; the rest of the field is zero.
            columns["blob"].append((raw if any(raw[20:]) else raw[:20]).hex())
            columns["language"].append(segment.language_of(index))
            columns["size"].append(int(row["size"]))
            columns["lines"].append(int(row["lines"]))
            columns["errors"].append(bool(row["errors"]))
            columns["skip"].append(segment.skip_of(index) or "")
            columns["packed"].append(pack_unit(segment, index))
    return columns


def _distinct_chunks(
    parts: Sequence[JournalPart],
) -> tuple[list[bytes], dict[str, list[str]], dict[str, tuple[list[str], NDArray[np.int8], NDArray[np.float32]]]]:
    """Chunk keys, their text columns, and the vectors by model; one row for each distinct key."""
    keys: list[bytes] = []
    columns: dict[str, list[str]] = {name: [] for name in ("key", "language", "kind", *TEXT_FIELDS)}
    chosen: dict[str, list[tuple[JournalPart, list[int]]]] = {}
    seen: set[bytes] = set()
    for part in parts:
        segment = part.segment
        raw = segment.chunks["key"].tobytes()
        rows = []
        for index in range(len(segment.chunks)):
            key = raw[index * KEY_BYTES : (index + 1) * KEY_BYTES]
            if key not in seen:
                seen.add(key)
                keys.append(key)
                rows.append(index)
        texts = {field: part.texts[field].to_list() for field in TEXT_FIELDS}
        owners = segment.unit_of_chunk
        for index in rows:
            columns["key"].append(keys[len(columns["key"])].hex())
            columns["language"].append(segment.language_of(int(owners[index])))
            columns["kind"].append(KINDS[int(segment.chunks["kind"][index])])
            for field in TEXT_FIELDS:
                # Arrow wants valid UTF-8; bytes that are none were replaced when the text was embedded.
                columns[field].append(texts[field][index].encode("utf-8", "replace").decode())
        chosen.setdefault(segment.model_id, []).append((part, rows))
    vectors = {}
    for model_id, picks in chosen.items():
        hexes = [part.segment.chunks["key"][index].tobytes().hex() for part, rows in picks for index in rows]
        codes = np.concatenate([part.segment.codes[rows] for part, rows in picks])
        scales = np.concatenate([part.segment.scales[rows] for part, rows in picks])
        vectors[model_id] = (hexes, codes, scales)
    return keys, columns, vectors
