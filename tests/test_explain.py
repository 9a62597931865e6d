"""Why hits are where they are, and what became of an expected place: asked of the engine, and of the real command."""

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

LAMP = '''\
class Lamp:
    """A lamp that burns oil."""

    def light(self, oil):
        """Sets the wick on fire."""
        return oil - 1

    def trim(self):
        """Cuts the wick."""
        return self


class Candle:
    """Wax around a string."""

    def trim(self):
        """Takes off the burnt end."""
        return None


def light(street):
    """Lights every lamp of a street."""
    return [lamp.light(3) for lamp in street]
'''
BOAT = 'def row_boat(oars):\n    """Moves over the water."""\n    return oars\n'


@pytest.fixture
def lamps(tmp_path: Path) -> Path:
    root = init(
        tmp_path / "lamps", {"src/lamp.py": LAMP, "src/boat.py": BOAT, ".gitignore": "*.log\n", "blob.py": "\0"}
    )
    write(root, {"debug.log": "wick\n"})
    return root


def explain(root: Path, query: str, expected: str | None = None, **how):
    return Engine.open(root, Settings()).explain(query, expected, **how)


def test_a_hit_says_which_words_it_has_and_where_each_way_of_searching_puts_it(lamps: Path) -> None:
    explanation = explain(lamps, "cut the wick of a zeppelin")
    first = explanation.hits[0]
    assert first.hit.qualified_name == "Lamp.trim"
    assert {"cut", "wick"} & set(first.matched)
    assert "zeppelin" in first.missed
    assert first.keyword_rank == 1
    assert set(first.hit.signals) - {"crowding", "overload", "copy"} <= set(first.measured)
    assert [each.hit for each in explanation.hits] == list(explanation.result.hits)
    assert {term.term: term.rarity for term in explanation.terms}["zeppelin"] == 0


def test_a_misspelt_word_shows_what_it_was_taken_for(lamps: Path) -> None:
    terms = explain(lamps, "strete lamps").terms
    assert ("street", "strete") in [(term.term, term.stands_for) for term in terms]


def test_an_expected_hit_is_found_by_each_form_of_location(lamps: Path) -> None:
    for location in ("src/lamp.py#Lamp.trim", "src/lamp.py:9", "src/lamp.py:8-10", "src/lamp.py"):
        expected = explain(lamps, "cut the wick", location).expected
        assert expected is not None
        assert expected.place == 1
        assert expected.against == ()


def test_an_expected_place_behind_the_hits_says_what_parts_it_from_them(lamps: Path) -> None:
    expected = explain(lamps, "cut the wick", "src/boat.py#row_boat", limit=1).expected
    assert expected is not None
    assert expected.place is not None
    assert expected.place > 1
    assert "keywords" in [name for name, _, _ in expected.against]
    assert expected.explained is not None
    assert expected.explained.keyword_rank is None
    sizes = [abs(own - other) for _, own, other in expected.against]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("src/lantern.py:3", "There is no file src/lantern.py"),
        ("lamp.py:3", "Did you mean src/lamp.py?"),
        ("debug.log:1", "ignored by git (.gitignore:1:*.log)"),
        ("blob.py", "was skipped: binary"),
        ("src", "is a folder"),
    ],
)
def test_a_place_outside_the_index_says_why(lamps: Path, location: str, reason: str) -> None:
    expected = explain(lamps, "wick", location).expected
    assert expected is not None
    assert expected.place is None
    assert reason in expected.reasons[0]


@pytest.mark.parametrize(
    ("filters", "flag"),
    [
        (Filters(kinds=(Kind.CLASS,)), "--kind"),
        (Filters(paths=("src/boat.py",)), "the path"),
        (Filters(globs=("*.go",)), "--glob"),
        (Filters(docs=True), "--docs"),
        (Filters(languages=("go",)), "--lang"),
        (Filters(symbols=("light",)), "--symbol"),
    ],
)
def test_a_place_that_a_filter_bars_names_the_flag(lamps: Path, filters: Filters, flag: str) -> None:
    expected = explain(lamps, "wick", "src/lamp.py#Lamp.trim", filters=filters).expected
    assert expected is not None
    assert expected.reasons == (f"The filter {flag} does not admit it.",)


def test_an_ambiguous_symbol_lists_its_declarations(lamps: Path) -> None:
    with pytest.raises(LocationError, match="ambiguous") as caught:
        explain(lamps, "wick", "src/lamp.py#trim")
    assert "Lamp.trim" in (caught.value.hint or "")
    assert "Candle.trim" in (caught.value.hint or "")
    with pytest.raises(LocationError, match="declares no snuff"):
        explain(lamps, "wick", "src/lamp.py#snuff")


def test_an_edit_that_is_not_committed_is_explained_as_it_is(lamps: Path) -> None:
    Engine.open(lamps, Settings()).index()
    write(lamps, {"src/boat.py": BOAT + "\n\ndef drop_anchor():\n    return 0\n"})
    expected = explain(lamps, "drop anchor", "src/boat.py#drop_anchor").expected
    assert expected is not None
    assert expected.place == 1


def test_the_command_prints_reasons_and_exits_by_what_was_expected(lamps: Path) -> None:
    found = codesearch(lamps / "src", "explain", "cut", "the", "wick", "--expect", "lamp.py#Lamp.trim")
    assert found.returncode == 0, found.stderr
    assert "It is hit 1; of" in found.stdout.decode()
    missed = codesearch(lamps, "explain", "cut the wick", "-k", "1", "--expect", "src/boat.py:1", "--json")
    assert missed.returncode == 1
    document = json.loads(missed.stdout)
    assert (document["schema"], document["expected"]["location"]) == (1, "src/boat.py:1")
    assert document["hits"][0]["keyword_rank"] == 1
    assert document["expected"]["against"][0]["signal"]
    assert codesearch(lamps, "explain", "xyzzy plugh", "-k", "1").returncode == 1
    assert codesearch(lamps, "explain", "wick", "--expect", "src/lamp.py#trim").returncode == 2
    assert codesearch(lamps, "explain").returncode == 2
