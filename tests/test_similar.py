"""What is most like a declaration: asked of the engine, and of the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_helpers import init, write
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.errors import LocationError
from codesearch.settings import Settings
from codesearch.types import Filters, Kind

READ = '''\
def read_thermometer(port):
    """Reads the temperature that a sensor sends over a serial port."""
    with open_serial(port) as line:
        raw = line.read_exactly(4)
    check_parity(raw)
    return decode_celsius(raw)
'''
READ_BAROMETER = READ.replace("thermometer", "barometer").replace("temperature", "pressure").replace("celsius", "bar")
SAIL = '''\
def hoist_sail(mast, wind):
    """Pulls the sail up, reefed when the wind is strong."""
    reef = wind > 8
    return mast.pull(reef)
'''
SHIP = f'class Ship:\n    """Sails and measures."""\n\n{"".join("    " + line for line in READ.splitlines(True))}'


@pytest.fixture
def ship(tmp_path: Path) -> Path:
    files = {"thermometer.py": READ, "barometer.py": READ_BAROMETER, "sail.py": SAIL, "old/thermometer.py": READ}
    return init(tmp_path / "ship", {**files, "ship.py": SHIP, "empty.py": "", "logo.bin": "\0\1"})


def similar(root: Path, location: str, **how):
    return Engine.open(root, Settings()).similar(location, **how)


def test_the_likest_comes_first_and_neither_itself_nor_its_copies_come(ship: Path) -> None:
    found = similar(ship, "thermometer.py#read_thermometer")
    paths = [hit.path for hit in found.hits]
    assert paths[0] == "barometer.py"
    assert "thermometer.py" not in paths
    assert "old/thermometer.py" not in paths
    assert "old/thermometer.py" in [copy.path for copy in found.copies]
    assert found.hits[0].score > found.hits[-1].score
    assert set(found.hits[0].signals) == {"meaning", "words"}


def test_a_twin_of_another_name_is_a_hit_and_no_copy(tmp_path: Path) -> None:
    root = init(tmp_path / "twins", {"get.py": READ, "put.py": READ.replace("read_thermometer", "poll_thermometer")})
    found = similar(root, "get.py:1")
    assert ([hit.path for hit in found.hits], found.copies) == (["put.py"], ())


def test_what_stands_around_or_inside_it_is_not_like_it(ship: Path) -> None:
    method = similar(ship, "ship.py#Ship.read_thermometer")
    assert all(hit.path != "ship.py" for hit in method.hits)
    assert all(hit.path != "ship.py" for hit in similar(ship, "ship.py#Ship").hits)


def test_filters_and_limit_apply(ship: Path) -> None:
    assert [hit.path for hit in similar(ship, "thermometer.py:3", filters=Filters(paths=("sail.py",))).hits] == [
        "sail.py"
    ]
    assert len(similar(ship, "thermometer.py:3", limit=1).hits) == 1
    assert similar(ship, "thermometer.py:3", filters=Filters(kinds=(Kind.STRUCT,))).hits == ()


def test_edits_that_are_not_committed_count(ship: Path) -> None:
    similar(ship, "sail.py:1")
    write(ship, {"sail.py": SAIL + "\n\n" + SAIL.replace("hoist_sail", "hoist_jib").replace("mast", "stay")})
    assert similar(ship, "sail.py#hoist_jib").hits[0].symbol == "hoist_sail"


@pytest.mark.parametrize("location", ["nowhere.py:1", "sail.py#lower_sail", "sail.py:99", "logo.bin:1", "empty.py:1"])
def test_a_place_that_is_not_there_is_an_error(ship: Path, location: str) -> None:
    with pytest.raises(LocationError):
        similar(ship, location)


def test_the_command_prints_every_format(ship: Path) -> None:
    text = codesearch(ship, "similar", "thermometer.py:2", "-k", "1")
    assert text.returncode == 0
    assert text.stdout.decode().startswith("barometer.py:1-6  read_barometer  function")
    assert "2 copies: old/thermometer.py:1-6, ship.py:4-9" in text.stderr.decode()
    document = json.loads(codesearch(ship, "similar", "thermometer.py:2", "--json").stdout)
    assert (document["schema"], document["symbol"]) == (1, "read_thermometer")
    assert document["hits"][0]["path"] == "barometer.py"
    assert document["copies"][0]["path"] == "old/thermometer.py"
    assert codesearch(ship, "similar", "thermometer.py:2", "--vimgrep", "-k", "1").stdout.startswith(
        b"barometer.py:1:5:"
    )
    assert codesearch(ship, "similar", "thermometer.py:2", "-l", "-k", "1").stdout == b"barometer.py\n"
    assert codesearch(ship, "similar", "thermometer.py:2", "--kind", "struct").returncode == 1
    assert codesearch(ship, "similar", "thermometer.py#nothing").returncode == 2
