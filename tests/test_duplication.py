"""Copies on one page: what is one hit, what stays two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_helpers import init, write
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.duplication import are_near_copies, shingles
from codesearch.settings import Settings
from codesearch.types import Filters

KILN = '''\
def fire_kiln(temperature, hours):
    """Heats the kiln step by step, holds it, and lets it cool down."""
    for step in range(0, temperature, 50):
        set_burner(step)
        wait_until(read_pyrometer() >= step)
    hold(hours)
    while read_pyrometer() > 40:
        vent(1)
        log_state("cooling", read_pyrometer())
    if humidity() > 0.4 or draught() < 2:
        warn_potter("the glaze may crack while the door is open")
        close_damper(slowly=True)
    open_door()
    return temperature
'''
NEARLY = KILN.replace("vent(1)", "vent(2)")
OTHER = KILN.replace("open_door()", "sweep()\n    stack_shelves()\n    paint_tiles()").replace("hold(hours)", "soak()")


@pytest.fixture
def kilns(tmp_path: Path) -> Path:
    files = {"a/kiln.py": KILN, "b/kiln.py": KILN, "vendor/kiln.py": NEARLY, "c/glaze.py": OTHER}
    return init(tmp_path / "kilns", files)


def hits_of(root: Path, query: str = "fire kiln", **how):
    return Engine.open(root, Settings()).search(query, **how).hits


def test_copies_and_near_copies_are_one_hit_that_lists_them(kilns: Path) -> None:
    first, second = hits_of(kilns)
    assert first.path == "a/kiln.py"
    assert [copy.path for copy in first.copies] == ["b/kiln.py", "vendor/kiln.py"]
    assert {(copy.start_line, copy.end_line, copy.symbol) for copy in first.copies} == {(1, 14, "fire_kiln")}
    assert (second.path, second.copies) == ("c/glaze.py", ())
    assert [hit.rank for hit in (first, second)] == [1, 2]


def test_a_page_stays_full_after_collapsing(kilns: Path) -> None:
    assert [hit.path for hit in hits_of(kilns, limit=2)] == ["a/kiln.py", "c/glaze.py"]


def test_all_of_them_are_hits_when_asked_for(kilns: Path) -> None:
    hits = hits_of(kilns, collapsed=False)
    assert sorted(hit.path for hit in hits) == ["a/kiln.py", "b/kiln.py", "c/glaze.py", "vendor/kiln.py"]
    assert not any(hit.copies for hit in hits)


def test_filters_decide_which_copy_is_the_hit_and_which_are_listed(kilns: Path) -> None:
    (hit,) = hits_of(kilns, filters=Filters(paths=("b", "vendor")))
    assert (hit.path, [copy.path for copy in hit.copies]) == ("b/kiln.py", ["vendor/kiln.py"])


def test_a_copy_that_was_edited_since_is_no_copy_any_more(kilns: Path) -> None:
    hits_of(kilns)
    write(kilns, {"b/kiln.py": "def sweep_chimney():\n    return 0\n"})
    copies = {hit.path: [copy.path for copy in hit.copies] for hit in hits_of(kilns)}
    assert copies["a/kiln.py"] == ["vendor/kiln.py"]
    assert copies["b/kiln.py"] == []


def test_another_name_is_another_hit(tmp_path: Path) -> None:
    both = KILN + "\n\n" + KILN.replace("fire_kiln", "heat_kiln")
    assert len(hits_of(init(tmp_path / "names", {"kiln.py": both}), "kiln heats step by step")) == 2


def test_short_texts_are_never_near_copies() -> None:
    getter = ["def size(self):", "    return self._size"]
    assert not are_near_copies(shingles(getter), shingles(getter))
    assert are_near_copies(shingles(KILN.split("\n")), shingles(NEARLY.split("\n")))
    assert not are_near_copies(shingles(KILN.split("\n")), shingles(OTHER.split("\n")))


def test_the_command_lists_copies_and_shows_all(kilns: Path) -> None:
    shown = codesearch(kilns / "a", "fire kiln", "--no-snippet").stdout.decode().splitlines()
    assert shown[1].strip() == "2 copies: ../b/kiln.py:1-14, ../vendor/kiln.py:1-14"
    document = json.loads(codesearch(kilns, "fire kiln", "--json").stdout)
    assert document["hits"][0]["copies"][0] == {
        "path": "b/kiln.py", "start_line": 1, "end_line": 14, "symbol": "fire_kiln",
    }  # fmt: skip
    assert len(codesearch(kilns, "fire kiln", "--all", "-l").stdout.splitlines()) == 4


def test_explain_says_that_a_place_is_a_copy(kilns: Path) -> None:
    expected = Engine.open(kilns, Settings()).explain("fire kiln", "b/kiln.py#fire_kiln").expected
    assert expected is not None
    assert (expected.place, expected.reasons) == (
        1,
        ("It is a copy of a/kiln.py:1-14 and listed with that: hit 1 of 2 shown.",),
    )
