"""Segments, tables and views on disk: what is written is read back, merging keeps everything, damage is noticed."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from git_helpers import init, write
from hypothesis import given, settings
from hypothesis import strategies as st

from codesearch import Engine
from codesearch.analysis import Analyser, Pending
from codesearch.embedding import load_embedder
from codesearch.errors import CorruptIndexError, RepositoryError
from codesearch.languages import load_languages
from codesearch.repository.blobs import blob_id
from codesearch.settings import Settings
from codesearch.types import SearchResult, SkipReason
from codesearch.view.arrays import ArrayFile, write_arrays
from codesearch.view.merging import merge_segments
from codesearch.view.packing import pack_unit, unpack_unit
from codesearch.view.published import ViewFolder
from codesearch.view.segment import Segment
from codesearch.view.strings import pack_strings
from codesearch.view.table import NO_UNIT, FileRow, FileTable, build_table

FILES = {
    "tank.py": 'class Tank:\n    """Holds water."""\n\n    def drain(self, litres):\n        return litres\n',
    "pump.go": "package pump\n\n// Start turns the pump on.\nfunc Start(power int) int {\n\treturn power\n}\n",
    "notes.md": "# Pumps\n\nHow they work.\n\n## Valves\n\nÜber Ventile.\n",
    "data.csv": "litres,power\n1,2\n",
    "empty.py": "",
    "image.png": "\x89PNG\0\0",
}


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return Analyser(load_languages(), load_embedder())


def segment_of(analyser: Analyser, files: dict[str, str]) -> Segment:
    """A segment in memory with one unit for each file."""
    builder = analyser.new_builder()
    items = []
    for path, text in files.items():
        content = text.encode("utf-8", "surrogateescape")
        items.append(Pending(analyser.identify(path, blob_id(content, "sha1"), content), path, content))
    analyser.add(builder, items)
    return builder.build()


def described(segment: Segment, unit: int) -> dict[str, object]:
    """Everything that a segment says of a unit, without any of its own numbering."""
    row = segment.units[unit]
    first, count = int(row["first_chunk"]), int(row["chunks"])
    rows = segment.chunks[first : first + count]
    start, declared = int(row["first_declaration"]), int(row["declarations"])
    postings = set()
    for at, term in enumerate(segment.term_strings.to_list()):
        chunks, fields, counts = segment.find_term(term)
        assert segment.term_index(term) == at
        postings |= {
            (term, int(chunk) - first, int(field), int(n))
            for chunk, field, n in zip(chunks, fields, counts, strict=True)
            if first <= chunk < first + count
        }
    return {
        "unit": [row[name].tobytes() for name in ("key", "blob", "size", "lines", "errors", "skip")],
        "language": segment.language_of(unit),
        "chunks": rows.tobytes(),
        "declarations": [
            (
                *(segment.strings[int(each[name])] for name in ("symbol", "qualified", "signature")),
                *(each[name].tolist() for name in ("key", "start", "end", "first", "last", "parent", "chunk", "kind")),
            )
            for each in segment.declarations[start : start + declared]
        ],
        "postings": postings,
        "vectors": (segment.codes[first : first + count].tobytes(), segment.scales[first : first + count].tobytes()),
    }


def by_key(segment: Segment) -> dict[bytes, dict[str, object]]:
    return {row["key"].tobytes(): described(segment, unit) for unit, row in enumerate(segment.units)}


# --- segments ------------------------------------------------------------------------------------------------


def test_segment_is_read_back_as_it_was_written(analyser: Analyser, tmp_path: Path) -> None:
    made = segment_of(analyser, FILES)
    size = made.save(tmp_path / "one.seg")
    read = Segment.open(tmp_path / "one.seg", verify=True)
    assert size == (tmp_path / "one.seg").stat().st_size
    assert by_key(read) == by_key(made)
    assert [read.skip_of(unit) for unit in range(6)] == [None, None, None, None, None, SkipReason.BINARY]
    assert [path.name for path in tmp_path.iterdir()] == ["one.seg"]


def test_unit_packed_for_the_store_is_unpacked_as_it_was(analyser: Analyser) -> None:
    segment = segment_of(analyser, FILES)
    for unit, row in enumerate(segment.units):
        declarations, names, chunks = unpack_unit(pack_unit(segment, unit))
        told = described(segment, unit)
        assert chunks.tobytes() == told["chunks"]
        assert len(declarations) == int(row["declarations"])
        assert [names[each["qualified"]] for each in declarations] == [each[1] for each in told["declarations"]]


def test_packed_unit_that_does_not_add_up_is_refused(analyser: Analyser) -> None:
    raw = pack_unit(segment_of(analyser, FILES), 0)
    for damaged in (b"", raw[:10], raw[:-1], b"\xff" * 16 + raw[16:]):
        with pytest.raises(CorruptIndexError):
            unpack_unit(damaged)


WORDS = ("tank", "drain", "litres", "pump", "valve", "Über", "power", "parseHTTPResponse")
contents = st.lists(st.sampled_from(WORDS), min_size=0, max_size=5).map(
    lambda names: "".join(f"def {name}_{at}(value):\n    return {name} + value\n\n\n" for at, name in enumerate(names))
)


@given(files=st.lists(contents, min_size=1, max_size=7), border=st.integers(0, 7), kept=st.integers(0, 127))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_merging_keeps_every_wanted_unit_and_nothing_else(
    analyser: Analyser, files: list[str], border: int, kept: int
) -> None:
    named = {f"file{at}.py": f"# {at}\n{text}" for at, text in enumerate(files)}
    paths = list(named)
    parts, wanted = [], {}
    for some in (paths[:border], paths[border:]):
        segment = segment_of(analyser, {path: named[path] for path in some})
        mask = np.array([bool(kept >> paths.index(path) & 1) for path in some], bool)
        parts.append((segment, mask))
        wanted |= {segment.units["key"][at].tobytes(): described(segment, at) for at in np.flatnonzero(mask)}
    merged = merge_segments(parts)
    merged._check()
    assert by_key(merged) == wanted
    terms = {term for told in wanted.values() for term, *_ in told["postings"]}
    assert set(merged.term_strings.to_list()) == terms
    assert merged.term_hashes.tolist() == sorted(merged.term_hashes.tolist())


def test_terms_of_dropped_units_are_gone(analyser: Analyser) -> None:
    segment = segment_of(analyser, FILES)
    keep = np.array([path != "pump.go" for path in FILES])
    merged = merge_segments([(segment, keep)])
    assert len(segment.find_term("start")[0]) > 0
    assert len(merged.find_term("start")[0]) == 0
    assert merged.term_index("start") == -1
    assert len(merged.find_term("drain")[0]) == len(segment.find_term("drain")[0])


def test_segments_of_two_models_are_not_merged(analyser: Analyser) -> None:
    one = segment_of(analyser, FILES)
    with pytest.raises(ValueError, match="different models"):
        merge_segments([(one, None), (replace(one, model_id="other"), None)])


@given(texts=st.lists(st.text(max_size=12), max_size=8), chosen=st.lists(st.integers(0, 7), max_size=8))
def test_strings_are_read_back(texts: list[str], chosen: list[int]) -> None:
    pool = pack_strings(texts)
    assert pool.to_list() == [pool[at] for at in range(len(pool))]
    assert [text.encode("utf-8", "replace").decode() for text in texts] == pool.to_list()
    picked = np.array([at for at in chosen if at < len(texts)], np.intp)
    assert pool.take(picked).to_list() == [pool[at] for at in picked]


def test_file_names_of_any_bytes_are_kept(analyser: Analyser) -> None:
    name = b"caf\xe9 \n\x1b[31m.py".decode("utf-8", "surrogateescape")
    table = build_table([FileRow(name), FileRow("a")], load_embedder(), {})
    assert table.paths.to_list() == ["a", name]


# --- tables and views ----------------------------------------------------------------------------------------


def test_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    rows = [
        FileRow("src/tank.py", "ab" * 20, 1, 7, size=123),
        FileRow("src/new.py", "", 0, 3, size=5, modified=99),
        FileRow("link", "cd" * 20, skip=SkipReason.SYMLINK),
    ]
    build_table(rows, load_embedder(), {"commit": "c"}).save(tmp_path / "one.view")
    table = FileTable.open(tmp_path / "one.view")
    assert table.paths.to_list() == ["link", "src/new.py", "src/tank.py"]
    assert table.rows["unit"].tolist() == [NO_UNIT, 3, 7]
    assert table.rows["segment"].tolist() == [0, 0, 1]
    assert [table.oid_of(at, 20) for at in range(3)] == ["cd" * 20, "", "ab" * 20]
    assert [table.skip_of(at) for at in range(3)] == [SkipReason.SYMLINK, None, None]
    assert table.find_term("src").tolist() == [1, 2]
    assert table.find_term("tank").tolist() == [2]
    assert table.find_term("pump").tolist() == []
    assert table.meta["commit"] == "c"


def test_published_view_is_opened_whole_and_the_one_before_is_collected(analyser: Analyser, tmp_path: Path) -> None:
    folder = ViewFolder(tmp_path)
    folder.prepare()
    assert folder.open("main") is None
    names = []
    for text in ("def first():\n    return 1\n", "def second():\n    return 2\n"):
        segment = folder.save_segment(segment_of(analyser, {"a.py": text}))
        table = build_table([FileRow("a.py", unit=0)], load_embedder(), {"commit": None})
        names.append(folder.publish("main", table, [segment]))
    reader = folder.open("main")
    assert reader is not None
    assert reader.name == names[1]
    folder.collect()
    assert {path.name for path in folder.views.iterdir()} == set(names)  # still within the grace time
    for path in (*folder.views.iterdir(), *folder.segments.iterdir()):
        os.utime(path, (0, 0))
    folder.collect()
    assert [path.name for path in folder.views.iterdir()] == [names[1]]
    assert [segment.strings.to_list() for segment in reader.segments] == [["second", "def second():"]]


@pytest.mark.parametrize(
    "pointer",
    ["", "{", "[]", '{"view": "../../../etc/passwd", "commit": null}', '{"view": 7, "commit": null}', "\0\0\0"],
)
def test_pointer_that_says_nothing_sensible_is_damage(tmp_path: Path, pointer: str) -> None:
    folder = ViewFolder(tmp_path)
    folder.prepare()
    (folder.pointers / "main.json").write_text(pointer)
    with pytest.raises(CorruptIndexError):
        folder.open("main")


# --- files of arrays -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        {"meta": {}, "size": 64, "crc": 0, "arrays": [{"name": "a", "dtype": "<u4", "shape": [9999], "offset": 0}]},
        {"meta": {}, "size": 64, "crc": 0, "arrays": [{"name": "a", "dtype": "<u4", "shape": [-1], "offset": 0}]},
        {"meta": {}, "size": 64, "crc": 0, "arrays": [{"name": "a", "dtype": "<u4", "shape": [1], "offset": -64}]},
        {"meta": {}, "size": 64, "crc": 0, "arrays": [{"name": "a", "dtype": "<u4", "shape": [1], "offset": 8}]},
        {"meta": {}, "size": 64, "crc": 0, "arrays": [{"name": "a", "dtype": "|O", "shape": [8], "offset": 0}]},
        {"meta": {}, "size": 64, "crc": 0, "arrays": [{"name": "a", "dtype": "x", "shape": [8], "offset": 0}]},
        {"meta": {}, "size": 1 << 40, "crc": 0, "arrays": []},
        {"meta": [], "size": 64, "crc": 0, "arrays": []},
        {"meta": {}, "size": "64", "crc": 0, "arrays": []},
        {"size": 64},
        [],
        7,
    ],
)
def test_header_that_lies_about_its_file_is_refused(tmp_path: Path, header: object) -> None:
    raw = json.dumps(header).encode()
    raw += b" " * (-(len(raw) + 16) % 64)
    path = tmp_path / "lying.seg"
    path.write_bytes(b"CSARR\0\0\1" + len(raw).to_bytes(8, "little") + raw + b"\0" * 64)
    with pytest.raises(CorruptIndexError):
        ArrayFile.open(path)


def test_any_flipped_bit_of_an_array_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "numbers.arr"
    write_arrays(path, {"a": np.arange(20, dtype="<u4"), "b": np.zeros((3, 2), "i1")}, {"n": 1})
    whole = path.read_bytes()
    chance = random.Random(5)
    array_bytes = 20 * 4 + 6
    noticed = 0
    for at in chance.sample(range(len(whole) * 8), 300):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        path.write_bytes(flipped)
        try:
            file = ArrayFile.open(path)
            file.verify()
        except CorruptIndexError:
            noticed += 1
            continue
        assert file.arrays.keys() != {"a", "b"} or (
            file.arrays["a"].tolist() == list(range(20)) and not file.arrays["b"].any()
        )
    assert noticed > array_bytes / len(whole) * 300 / 2


# --- damage, as a user meets it ------------------------------------------------------------------------------

POND = 'def drain_pond(litres):\n    """Lets the water out of the pond."""\n    return -litres\n'
LAKE = 'def fill_lake(litres):\n    """Lets water into the lake."""\n    return litres\n'


@pytest.fixture
def waters(tmp_path: Path) -> Path:
    """An indexed repository of two files."""
    root = init(tmp_path / "waters", {"pond.py": POND, "deep/lake.py": LAKE})
    Engine.open(root, Settings()).index()
    return root


def answers(root: Path) -> list[SearchResult]:
    engine = Engine.open(root, Settings())
    queries = ("drain_pond", "let water into the lake", "litres", "pond")
    found = [replace(engine.search(query), took_ms=0.0) for query in queries]
    engine.finish()
    return found


def files_of_the_index(root: Path, pattern: str) -> list[Path]:
    found = sorted((root / ".git/codesearch").glob(pattern))
    assert found
    return found


@pytest.mark.parametrize("pattern", ["segments/*.seg", "views/*.view", "pointers/*.json"])
@pytest.mark.parametrize("damage", ["deleted", "emptied", "truncated", "garbage", "zeroed"])
def test_damaged_file_is_made_again_at_the_next_search(waters: Path, pattern: str, damage: str) -> None:
    right = answers(waters)
    assert right[0].hits[0].symbol == "drain_pond"
    for path in files_of_the_index(waters, pattern):
        content = path.read_bytes()
        path.unlink()
        if damage != "deleted":
            path.write_bytes(
                {
                    "emptied": b"",
                    "truncated": content[: len(content) * 2 // 3],
                    "garbage": random.Random(3).randbytes(len(content)),
                    "zeroed": bytes(len(content)),
                }[damage]
            )
    assert answers(waters) == right
    assert Engine.open(waters, Settings()).index().declarations.embedded == 0
    assert answers(waters) == right


@pytest.mark.parametrize("pattern", ["segments/*.seg", "views/*.view"])
def test_flipped_bits_never_give_a_wrong_citation_and_index_mends_them(waters: Path, pattern: str) -> None:
    right = answers(waters)
    source = {"pond.py": POND.split("\n"), "deep/lake.py": LAKE.split("\n")}
    [path] = files_of_the_index(waters, pattern)
    whole = path.read_bytes()
    chance = random.Random(11)
    for _ in range(12):
        path = files_of_the_index(waters, pattern)[-1]
        whole = path.read_bytes()
        damaged = bytearray(whole)
        for at in chance.sample(range(len(whole)), 3):
            damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        for result in answers(waters):
            for hit in result.hits:
                cited = "\n".join(source[hit.path][hit.start_line - 1 : hit.end_line])
                assert 1 <= hit.start_line <= hit.end_line <= 3
                assert hit.symbol in cited
        Engine.open(waters, Settings()).index()
        assert answers(waters) == right
        Engine.open(waters, Settings()).clean(everything=False)


def test_lost_view_is_made_from_the_store_without_embedding_or_parsing(waters: Path) -> None:
    right = answers(waters)
    for pattern in ("segments/*", "views/*", "pointers/*"):
        for path in files_of_the_index(waters, pattern):
            path.unlink()
    report = Engine.open(waters, Settings()).index()
    assert (report.files.parsed, report.files.reused) == (0, 2)
    assert (report.declarations.embedded, report.declarations.reused) == (0, 2)
    assert answers(waters) == right


def test_index_that_is_a_symlink_is_refused(waters: Path, tmp_path: Path) -> None:
    home = waters / ".git/codesearch"
    home.rename(tmp_path / "elsewhere")
    home.symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").rglob("*"))
    engine = Engine.open(waters, Settings())
    for act in (lambda: engine.search("pond"), engine.index, engine.clean, engine.status):
        with pytest.raises(RepositoryError, match="symbolic link"):
            act()
    assert sorted((tmp_path / "elsewhere").rglob("*")) == before


@pytest.mark.parametrize("name", ["lock", "segments", "views", "pointers", "journal", "store", "store/v1"])
def test_index_with_a_symlink_inside_is_never_written_through(waters: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "precious"
    inside = waters / ".git/codesearch" / name
    if inside.is_dir():
        inside.rename(waters / ".git/aside")
        target.mkdir()
        write(target, {"mine.tmp": "precious", "mine.seg": "precious", "mine.texts": "precious"})
    else:
        inside.unlink(missing_ok=True)
        write(tmp_path, {"precious": "precious"})
    inside.symlink_to(target)
    before = {path: path.read_bytes() for path in [target, *target.rglob("*")] if path.is_file()}
    write(waters, {"pond.py": POND + "\n\n" + LAKE})
    engine = Engine.open(waters, Settings())
    for act in (engine.index, engine.clean, lambda: engine.clean(everything=False)):
        with pytest.raises(RepositoryError, match="symbolic link"):
            act()
    assert {path: path.read_bytes() for path in [target, *target.rglob("*")] if path.is_file()} == before


@pytest.mark.parametrize("column", ["first", "last", "start", "end"])
def test_wrong_place_in_a_segment_is_noticed_before_it_is_cited(waters: Path, column: str) -> None:
    right = answers(waters)
    [path] = files_of_the_index(waters, "segments/*.seg")
    raw = path.read_bytes()
    segment = Segment.open(path)
    for rows in (segment.declarations, segment.chunks):
        wrong = rows.copy()
        wrong[column] += 1
        assert raw.count(rows.tobytes()) == 1
        raw = raw.replace(rows.tobytes(), wrong.tobytes())
    path.write_bytes(raw)
    assert answers(waters) == right
