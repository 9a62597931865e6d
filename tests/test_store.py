"""The durable record: what is recorded is read back, nothing twice, and a lost or damaged store is no disaster."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from git_helpers import commit, git, init, write

from codesearch import Engine
from codesearch.analysis import Analyser, Pending
from codesearch.embedding import load_embedder
from codesearch.journal import TEXT_FIELDS, Journal, JournalPart
from codesearch.languages import load_languages
from codesearch.repository.blobs import blob_id
from codesearch.settings import Settings
from codesearch.store import Store
from codesearch.types import Kind, SearchResult
from codesearch.view.packing import unpack_unit
from codesearch.view.segment import CHUNK

TANK = 'class Tank:\n    """Holds water."""\n\n    def drain(self, litres):\n        return litres\n'
PUMP = "package pump\n\n// Start turns the pump on.\nfunc Start(power int) int {\n\treturn power\n}\n"


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return Analyser(load_languages(), load_embedder())


def part_of(analyser: Analyser, folder: Path, files: dict[str, str]) -> JournalPart:
    """A journal part of some files, by way of the disk."""
    builder = analyser.new_builder()
    items = []
    for path, text in files.items():
        content = text.encode()
        items.append(Pending(analyser.identify(path, blob_id(content, "sha1"), content), path, content))
    chunks, _ = analyser.add(builder, items)
    journal = Journal(folder)
    journal.add("run", 0, builder.build(), chunks)
    [(name, part)] = journal.parts()
    journal.remove(name)
    assert journal.is_empty()
    return part


def test_unit_is_read_back_with_its_texts_and_vectors(analyser: Analyser, tmp_path: Path) -> None:
    part = part_of(analyser, tmp_path / "journal", {"tank.py": TANK, "pump.go": PUMP, "image.png": "\0"})
    segment = part.segment
    store = Store(tmp_path / "store")
    assert not store.exists()
    store.record([part])

    keys = [row["key"].tobytes() for row in segment.units]
    units = store.read_units(keys)
    assert set(units) == set(keys)
    for at, key in enumerate(keys):
        assert units[key].language == segment.language_of(at)
        assert units[key].size == int(segment.units["size"][at])
        assert units[key].skip == segment.skip_of(at)
        _, _, chunks = unpack_unit(units[key].packed)
        first, count = int(segment.units["first_chunk"][at]), int(segment.units["chunks"][at])
        assert chunks.tobytes() == segment.chunks[first : first + count].tobytes()

    chunk_keys = [row["key"].tobytes() for row in segment.chunks]
    texts = store.read_chunks(chunk_keys)
    for at, key in enumerate(chunk_keys):
        assert {field: getattr(texts[key], field) for field in TEXT_FIELDS} == {
            field: part.texts[field][at] for field in TEXT_FIELDS
        }
    found = [chunk for chunk in texts.values() if chunk.symbol == "drain"]
    assert [(chunk.kind, chunk.parents, chunk.signature) for chunk in found] == [
        (Kind.METHOD, "Tank", "def drain(self, litres):")
    ]

    vectors = store.read_vectors(segment.model_id)
    assert vectors is not None
    row_of = {key.tobytes(): at for at, key in enumerate(vectors[0])}
    order = [row_of[key] for key in chunk_keys]
    assert np.array_equal(vectors[1][order], segment.codes)
    assert np.array_equal(vectors[2][order], segment.scales)
    assert store.read_vectors("another model") is None


def test_what_is_recorded_twice_is_there_once(analyser: Analyser, tmp_path: Path) -> None:
    both = part_of(analyser, tmp_path / "journal", {"tank.py": TANK, "pump.go": PUMP})
    tank = part_of(analyser, tmp_path / "journal", {"tank.py": TANK, "copy.py": TANK})
    store = Store(tmp_path / "store")
    store.record([tank, both])
    before = store.counts()
    store.record([both])
    Store(tmp_path / "store").record([tank])
    assert store.counts() == before
    assert before["units"] == 2
    assert before["chunks"] == len({key.tobytes() for key in both.segment.chunks["key"]})
    assert before["models"] == 1


def test_may_know_never_says_no_to_what_is_there(analyser: Analyser, tmp_path: Path) -> None:
    part = part_of(analyser, tmp_path / "journal", {"tank.py": TANK})
    [unit] = [row["key"].tobytes() for row in part.segment.units]
    store = Store(tmp_path / "store")
    assert not store.may_know("units", [unit])
    store.record([part])
    assert store.may_know("units", [unit])
    assert not store.may_know("units", [bytes(16)])
    assert not store.may_know("units", [])
    assert store.may_know("chunks", [bytes(16), part.segment.chunks["key"][0].tobytes()])
    (store.folder / "known.arr").write_bytes(b"garbage")
    assert Store(tmp_path / "store").may_know("units", [unit])


def test_compacting_keeps_every_row(analyser: Analyser, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    parts = [
        part_of(analyser, tmp_path / "journal", {f"part{n}.py": f"def part_{n}(value):\n    return {n} * value\n"})
        for n in range(5)
    ]
    for part in parts:
        store.record([part])
    before = store.counts()
    store.compact()
    assert store.counts() == before
    for part in parts:
        keys = [row["key"].tobytes() for row in part.segment.units]
        assert set(store.read_units(keys)) == set(keys)
        texts = [key.tobytes() for key in part.segment.chunks["key"]]
        assert set(store.read_chunks(texts)) == set(texts)


def test_known_keys_are_taken_from_the_tables_when_their_file_is_lost(analyser: Analyser, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    tank = part_of(analyser, tmp_path / "journal", {"tank.py": TANK})
    store.record([tank])
    (store.folder / "known.arr").unlink()
    Store(tmp_path / "store").record([part_of(analyser, tmp_path / "journal", {"pump.go": PUMP})])
    again = Store(tmp_path / "store")
    assert (again.folder / "known.arr").exists()
    assert again.may_know("units", [tank.segment.units["key"][0].tobytes()])
    assert not again.may_know("units", [bytes(16)])


def test_journal_deletes_what_is_damaged_or_half_written(analyser: Analyser, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    journal = Journal(folder)
    builder = analyser.new_builder()
    content = TANK.encode()
    unit = analyser.identify("tank.py", blob_id(content, "sha1"), content)
    chunks, _ = analyser.add(builder, [Pending(unit, "tank.py", content)])
    segment = builder.build()
    for number in range(4):
        journal.add("run", number, segment, chunks)
    (folder / "run-000000.part").write_bytes(b"garbage")
    (folder / "run-000001.texts").unlink()
    damaged = bytearray((folder / "run-000002.part").read_bytes())
    damaged[-1000] ^= 1
    (folder / "run-000002.part").write_bytes(damaged)
    (folder / "other-000000.texts").write_bytes(b"of a run that was killed before its part was written")
    (folder / "other-000000.part.77.tmp").write_bytes(b"half")
    journal.discard_unfinished()
    assert [name for name, _ in journal.parts()] == ["run-000003"]
    assert sorted(path.name for path in folder.iterdir()) == ["run-000003.part", "run-000003.texts"]


# --- damage, as a user meets it ------------------------------------------------------------------------------


@pytest.fixture
def tanks(tmp_path: Path) -> Path:
    """An indexed repository of two files and two commits."""
    root = init(tmp_path / "tanks", {"tank.py": TANK})
    Engine.open(root, Settings()).index()
    write(root, {"pump.go": PUMP})
    commit(root)
    Engine.open(root, Settings()).index()
    return root


def answers(root: Path) -> list[SearchResult]:
    engine = Engine.open(root, Settings())
    return [replace(engine.search(query), took_ms=0.0) for query in ("drain", "turn the pump on", "water")]


def damage_store(root: Path, how: str) -> None:
    store = root / ".git/codesearch/store"
    files = [path for path in store.rglob("*") if path.is_file()]
    chance = random.Random(7)
    if how == "deleted":
        shutil.rmtree(store)
    elif how == "empty folder":
        shutil.rmtree(store)
        (store / "v1").mkdir(parents=True)
    elif how == "data files deleted":
        for path in files:
            if path.suffix == ".lance":
                path.unlink()
    elif how == "a table deleted":
        shutil.rmtree(store / "v1/chunks.lance")
    else:
        for path in files:
            content = path.read_bytes()
            path.write_bytes(
                {
                    "emptied": b"",
                    "garbage": chance.randbytes(max(len(content), 1)),
                    "truncated": content[: len(content) // 2],
                }[how]
            )


@pytest.mark.parametrize(
    "how", ["deleted", "empty folder", "data files deleted", "a table deleted", "emptied", "garbage", "truncated"]
)
@pytest.mark.parametrize("views", ["views kept", "views lost"])
def test_damaged_store_costs_work_and_never_an_answer(tanks: Path, how: str, views: str) -> None:
    right = answers(tanks)
    assert right[0].hits[0].symbol == "drain"
    damage_store(tanks, how)
    if views == "views lost":
        for name in ("segments", "views", "pointers"):
            shutil.rmtree(tanks / ".git/codesearch" / name)
    assert answers(tanks) == right

    write(tanks, {"new.py": "def fill(litres):\n    return -litres\n"})
    report = Engine.open(tanks, Settings()).index()
    assert report.files.total == 3
    assert list((tanks / ".git/codesearch/journal").iterdir()) == []
    assert Engine.open(tanks, Settings()).search("fill", limit=1).hits[0].path == "new.py"
    (tanks / "new.py").unlink()
    assert answers(tanks) == right

    # The store is in use again: what is indexed from now on is found in it.
    git(tanks, "switch", "-q", "-c", "other")
    write(tanks, {"tank.py": TANK.replace("drain", "empty")})
    commit(tanks)
    Engine.open(tanks, Settings()).index()
    for name in ("segments", "views", "pointers"):
        shutil.rmtree(tanks / ".git/codesearch" / name)
    assert Engine.open(tanks, Settings()).search("empty", limit=1).hits[0].symbol == "empty"
    engine = Engine.open(tanks, Settings())
    counts = engine._workshop.store.counts()
    assert {"units", "chunks", "models"} < set(counts)
    for name in ("units", "chunks"):
        keys = engine._workshop.store._table(name).to_arrow()["key"].to_pylist()
        assert len(keys) == len(set(keys))


def test_chunk_rows_have_no_hidden_padding() -> None:
    # Rows are compared and stored byte for byte.
    assert CHUNK.itemsize == sum(CHUNK[name].itemsize for name in CHUNK.names)
