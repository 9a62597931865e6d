"""A search says that it found nothing where there is nothing, and only there."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from git_helpers import init
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.confidence import load_model
from codesearch.settings import Settings
from codesearch.types import Filters, Kind

NOTHING = Path(__file__).parent.parent / "benchmarks" / "questions" / "nothing.toml"


@pytest.fixture(scope="module")
def thumbnails(replayed: Callable[[str], Path]) -> Path:
    return replayed("thumbnails")


@pytest.fixture(scope="module")
def engine(thumbnails: Path) -> Engine:
    return Engine.open(thumbnails, Settings())


def test_questions_about_other_things_find_nothing(engine: Engine) -> None:
    questions = [text for texts in tomllib.loads(NOTHING.read_text("utf-8")).values() for text in texts]
    answered = [text for text in questions if engine.search(text).hits]
    assert len(questions) >= 250
    assert len(answered) <= 0.05 * len(questions), answered


def test_nothing_found_still_names_what_is_nearest(engine: Engine) -> None:
    result = engine.search("how do I bake a chocolate cake")
    assert result.hits == ()
    assert 0 < len(result.near_misses) <= 3


def test_every_declared_name_is_found_and_so_is_every_single_word_of_one(engine: Engine) -> None:
    names = {
        declaration.symbol
        for file in engine.outline(["."])
        for declaration in file.declarations
        if declaration.kind in (Kind.FUNCTION, Kind.METHOD, Kind.CLASS) and declaration.symbol.isidentifier()
    }
    assert len(names) > 10
    assert [name for name in sorted(names) if not engine.search(name).hits] == []
    words = {word for name in names for word in name.split("_") if len(word) > 3 and word.islower()}
    assert [word for word in sorted(words) if not engine.search(word).hits] == []


def test_identifiers_typed_in_lower_case_are_found(tmp_path: Path) -> None:
    code = "class ReplicaManager:\n    def appendRecords(self, log):\n        return log.append(self)\n"
    files = {"replica.py": code, "b.py": "def b():\n    return 1\n"}
    replicas = Engine.open(init(tmp_path / "replicas", files), Settings())
    assert replicas.search("replicamanager appendrecords").hits
    assert not replicas.search("replicamanager flurbwozzle blorptastic").hits


def test_filters_do_not_turn_an_answer_into_nothing(engine: Engine) -> None:
    first = engine.search("scale an image").hits[0]
    worst = engine.search("scale an image", limit=300, min_score=0).hits[-1]
    assert worst.path != first.path or worst.start_line != first.start_line
    (only,) = engine.search("scale an image", limit=1, filters=Filters(paths=(worst.path,))).hits
    assert only.path == worst.path


def test_a_least_score_of_0_shows_what_there_is(engine: Engine) -> None:
    assert engine.search("how do I bake a chocolate cake", min_score=0).hits
    assert not engine.search("how do I bake a chocolate cake", min_score=0.99).hits


def test_the_command_exits_1(thumbnails: Path) -> None:
    nothing = codesearch(thumbnails, "how do I bake a chocolate cake")
    assert (nothing.returncode, nothing.stdout) == (1, b"")
    assert nothing.stderr.startswith("Nothing found for “how do I bake a chocolate cake”.".encode())
    assert codesearch(thumbnails, "how do I bake a chocolate cake", "--min-score", "0").returncode == 0


def test_more_of_each_kind_of_evidence_speaks_for_an_answer() -> None:
    weights = load_model()["weights"]
    for name in ("odds", "known", "together", "number", "named", "similarity"):
        assert weights[name] > 0, name
    assert weights["respelt"] < 0
