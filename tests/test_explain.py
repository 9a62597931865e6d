"""Why hits are where they are, and what became of an expected place: asked of the engine, and of the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_helpers import init, write
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.errors import LocationError, UsageError
from codesearch.ranking import OF_OTHER_HITS
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
        tmp_path / "lamps",
        {"src/lamp.py": LAMP, "src/boat.py": BOAT, ".gitignore": "*.log\n", "blob.py": "\0", "empty.py": ""},
    )
    write(root, {"debug.log": "wick\n"})
    (root / "link").symlink_to("src")
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
    assert set(first.hit.signals) - OF_OTHER_HITS <= set(first.measured)
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
        ("empty.py", "empty.py is empty."),
        ("link/lamp.py", "leads through a symbolic link"),
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


def test_filters_that_bar_a_place_are_each_tried_alone(lamps: Path) -> None:
    both = Filters(kinds=(Kind.CLASS,), languages=("go",), globs=("*.py",))
    expected = explain(lamps, "wick", "src/lamp.py#Lamp.trim", filters=both).expected
    assert expected is not None
    assert expected.reasons == ("The filters --lang and --kind do not admit it, each by itself.",)


def test_a_place_is_counted_as_the_page_counts_it_with_near_copies_listed_once(tmp_path: Path) -> None:
    steps = "".join(f"    total_{step} = compute(value, {step})\n" for step in range(40))
    gates = {f"gate{n}.py": f"def open_gate(value):\n{steps}    return {n}\n" for n in range(5)}
    root = init(tmp_path / "gates", {**gates, "door.py": 'def shut(value):\n    """The gate door."""\n    return 1\n'})
    explanation = explain(root, "open gate", "door.py#shut", limit=2)
    assert [hit.hit.symbol for hit in explanation.hits] == ["open_gate", "shut"]
    assert explanation.expected is not None
    assert explanation.expected.place == 2
    assert explanation.is_as_expected
    shown = {explanation.hits[0].hit.path}
    listed = explain(root, "open gate", f"{min(gates.keys() - shown)}#open_gate", limit=1).expected
    assert listed is not None
    assert listed.place == 1
    assert listed.reasons == (f"It is a copy of {min(shown)}:1-42 and listed with that: hit 1 of 1 shown.",)


def test_a_copy_of_a_hit_below_the_page_says_so(lamps: Path) -> None:
    write(lamps, {"zoo/boat.py": BOAT})
    both = [
        explain(lamps, "cut the wick", f"{path}#row_boat", limit=1).expected for path in ("src/boat.py", "zoo/boat.py")
    ]
    reasons = sorted(expected.reasons[0] for expected in both if expected is not None)
    assert reasons[0].startswith("It is a copy of ")
    assert reasons[0].removeprefix("It is a copy of ")[4:].startswith("boat.py:1-3 and listed with that: hit ")
    assert reasons[1].startswith("It is ranked: hit ")
    assert reasons[0].partition(": hit ")[2] == reasons[1].partition(": hit ")[2]


def test_what_crowding_holds_back_shows_its_rank_without_it(tmp_path: Path) -> None:
    flush = 'def flush_{0}(cache):\n    """Flushes the cache to {0}."""\n    return cache.{0}\n\n\n'
    store = "".join(flush.format(where) for where in ("disk", "tape", "paper", "card"))
    pan = 'def dry(pan):\n    """Once the cache is cleared, the pan is flushed with water."""\n    return pan\n'
    root = init(tmp_path / "crowd", {"store.py": store, "pan.py": pan})
    places, held_back = {}, {}
    for name in ("disk", "tape", "paper", "card"):
        expected = explain(root, "how is the cache flushed", f"store.py#flush_{name}", limit=1).expected
        assert expected is not None
        places[name] = expected.place or 0
        held_back[name] = [
            int(reason.rpartition(" ")[2].rstrip(".")) for reason in expected.reasons if "is held back" in reason
        ]
    other = explain(root, "how is the cache flushed", "pan.py#dry", limit=1).expected
    assert other is not None
    assert not any("is held back" in reason for reason in other.reasons)  # alone in its file
    by_place = sorted(places, key=places.__getitem__)
    assert held_back[by_place[0]] == []
    # The only hit of another file is all that can stand before them by crowding.
    assert held_back[by_place[-1]] == [places[by_place[-1]] - 1]


def test_a_question_without_an_answer_shows_no_place_as_a_hit(lamps: Path) -> None:
    explanation = explain(lamps, "xyzzy", "src/boat.py#row_boat")
    assert explanation.hits == ()
    assert explanation.expected is not None
    assert "the search shows no hits" in explanation.expected.reasons[0]
    assert not explanation.is_as_expected
    nothing_asked = explain(lamps, "!!!", "src/boat.py#row_boat").expected
    assert nothing_asked is not None
    assert "Nothing is asked" in nothing_asked.reasons[0]


def test_a_line_outside_declarations_says_which_lines_are_ranked(tmp_path: Path) -> None:
    root = init(tmp_path / "loose", {"run.py": "import os\nimport sys\n\n\ndef boil():\n    return 1\n"})
    expected = explain(root, "import sys", "run.py:2").expected
    assert expected is not None
    assert any(reason.startswith("No declaration stands there; lines 1-") for reason in expected.reasons)


def test_another_snapshot_is_explained_by_what_it_holds(lamps: Path) -> None:
    write(lamps, {"src/new.py": "def fresh():\n    return 1\n"})
    for how, place in (({"at": "HEAD"}, "HEAD"), ({"staged": True}, "the index (staged)")):
        expected = explain(lamps, "wick", "src/new.py#fresh", **how).expected
        assert expected is not None
        assert expected.reasons[0].startswith(f"There is no file src/new.py in {place}.")
    with pytest.raises(UsageError, match="no revision"):
        explain(lamps, "wick", "HEAD:src/lamp.py#Lamp.trim")


def test_a_skipped_file_that_is_not_yet_indexed_gives_its_reason(lamps: Path) -> None:
    Engine.open(lamps, Settings()).index()
    write(lamps, {"more.py": "\0\0"})
    expected = explain(lamps, "wick", "more.py").expected
    assert expected is not None
    assert expected.reasons == ("more.py was skipped: binary.",)


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
    assert "It is ranked: hit 1 of " in found.stdout.decode()
    missed = codesearch(lamps, "explain", "cut the wick", "-k", "1", "--expect", "src/boat.py:1", "--json")
    assert missed.returncode == 1
    document = json.loads(missed.stdout)
    assert (document["schema"], document["expected"]["location"]) == (1, "src/boat.py:1")
    assert document["hits"][0]["keyword_rank"] == 1
    assert document["expected"]["against"][0]["signal"]
    assert codesearch(lamps, "explain", "xyzzy plugh", "-k", "1").returncode == 1
    assert codesearch(lamps, "explain", "wick", "--expect", "src/lamp.py#trim").returncode == 2
    assert codesearch(lamps, "explain").returncode == 2


@pytest.mark.parametrize(
    "words", [("cut wick", "src/boat.py"), ("cut", "wick", "src/boat.py"), ("cut", "wick", "--", "src/boat.py")]
)
def test_the_words_of_a_search_are_explained_as_the_search_reads_them(lamps: Path, words: tuple[str, ...]) -> None:
    searched = json.loads(codesearch(lamps, "search", "--json", *words).stdout)
    explained = json.loads(codesearch(lamps, "explain", "--json", *words).stdout)
    assert (explained["query"], explained["filters"]) == ("cut wick", {"paths": ["src/boat.py"]})
    assert [hit["path"] for hit in explained["hits"]] == [hit["path"] for hit in searched["hits"]]


def test_a_word_that_occurs_nowhere_is_looked_up_as_its_short_form_and_back(tmp_path: Path) -> None:
    code = "def check_auth(ctx):\n    return ctx.badge\n\n\ndef open(pane):\n    return pane\n"
    init(tmp_path, {"door.py": code, "mail.py": "def send(message):\n    return message\n"})
    engine = Engine.open(tmp_path, Settings(home=tmp_path / "home"))
    for query, symbol, used in (
        ("check authentication", "check_auth", "auth"),
        ("check the context", "check_auth", "ctx"),
        ("send a msg", "send", "message"),
    ):
        explained = engine.explain(query)
        assert explained.result.hits[0].symbol == symbol, query
        assert used in {term.term for term in explained.terms}, query
