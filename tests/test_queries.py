"""How a query is read, and what quotes and minus signs do to an answer."""

from __future__ import annotations

import pytest
from git_helpers import init

from codesearch import Engine
from codesearch.queries import Form, understand
from codesearch.settings import Settings

BAKERY = '''\
def open_oven(door):
    """Opens the oven."""
    if door.stuck:
        raise RuntimeError("E-4012: the oven door is stuck")
    return door


def close_oven(door):
    """Closes the oven; the door is often stuck."""
    return not door


def oven_light(door):
    """Turns on the light of the oven."""
    return door.lamp
'''


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Engine:
    return Engine.open(init(tmp_path_factory.mktemp("bakery") / "bakery", {"oven.py": BAKERY}), Settings())


def symbols(engine: Engine, query: str) -> list[str]:
    return [hit.symbol for hit in engine.search(query).hits]


@pytest.mark.parametrize(
    ("query", "form"),
    [
        ("where is the payload unmasked", Form.SENTENCE),
        ("parse a cookie header", Form.SENTENCE),
        ("parse cookie header", Form.COMMAND),
        ("how does routing work", Form.QUESTION),
        ("session cookie signing", Form.PHRASE),
        ("request cancellation", Form.PHRASE),  # a noun here, though a verb elsewhere
        ("watching a value and being notified", Form.PHRASE),
        ("SecureCookieSession", Form.IDENTIFIER),
    ],
)
def test_the_form_of_a_query(query: str, form: Form) -> None:
    assert understand(query).form is form


def test_quotes_and_minus_signs_are_no_part_of_the_words() -> None:
    query = understand('oven "door is   stuck" -light --verbose -x9 a-b')
    assert query.phrases == ("door is stuck",)
    assert query.unwanted == ("light", "x9")
    assert {"oven", "door", "stuck", "verbose"} <= {term.term for term in query.terms}
    assert "light" not in query.text
    assert understand("-light").unwanted == ()
    assert understand('"').phrases == ()
    assert understand('5" pipe').phrases == ()


def test_a_quoted_phrase_is_taken_literally(bakery: Engine) -> None:
    assert symbols(bakery, '"the oven door is stuck"') == ["open_oven"]
    assert symbols(bakery, '"THE OVEN   door is stuck"') == ["open_oven"]
    assert symbols(bakery, '"E-4012"') == ["open_oven"]
    assert len(symbols(bakery, "the oven door is stuck")) > 1


def test_a_phrase_that_stands_nowhere_gives_what_its_words_give(bakery: Engine) -> None:
    assert "close_oven" in symbols(bakery, '"stuck oven close"')


def test_unwanted_words_leave_out_what_has_them(bakery: Engine) -> None:
    assert "oven_light" in symbols(bakery, "oven door")
    assert "oven_light" not in symbols(bakery, "oven door -lamp")
    assert symbols(bakery, "oven -door") == []
