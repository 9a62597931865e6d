"""Hits by one measure alone, and searches that do not look at the working tree again."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_helpers import init, write

from codesearch import Engine
from codesearch.errors import LocationError
from codesearch.settings import Settings
from codesearch.types import Filters, Kind, Mode

FILES = {
    "src/net.py": (
        "def retry_upload(times):\n    return times\n\n\nclass UploadRetrier:\n    def run(self):\n        return 1\n"
        "\n\ndef upload(part):\n    # retry is up to whoever calls\n    return part\n"
    ),
    "src/words.py": "def unrelated():\n    message = 'certificate expired'\n    return message\n",
    "docs/guide.md": "# Uploading again\n\nWhat failed is sent once more.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Engine:
    engine = Engine.open(init(tmp_path_factory.mktemp("modes") / "repository", dict(FILES)), Settings())
    engine.search("upload")
    return engine


def names(engine: Engine, query: str, mode: Mode, **how) -> list[str]:
    return [hit.qualified_name for hit in engine.search(query, mode=mode, **how).hits]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("upload", ["upload", "UploadRetrier", "Uploading again", "retry_upload"]),
        ("retry_upload", ["retry_upload"]),
        ("RETRY upload", ["retry_upload"]),
        ("rtryup", ["retry_upload"]),
        ("uplretr", ["UploadRetrier"]),
        ("xyz", []),
        ("(", []),
        ("", []),
    ],
)
def test_symbols_are_found_by_letters_in_their_order_the_closest_first(
    engine: Engine, letters: str, expected: list[str]
) -> None:
    assert names(engine, letters, Mode.SYMBOL) == expected


def test_keywords_find_only_what_has_the_words(engine: Engine) -> None:
    assert names(engine, "certificate expired", Mode.KEYWORD) == ["unrelated"]
    assert names(engine, "chromodynamics", Mode.KEYWORD) == []


def test_meaning_finds_what_has_none_of_the_words(engine: Engine) -> None:
    hits = engine.search("send a file another time", mode=Mode.MEANING).hits
    assert {"retry_upload", "upload"} & {hit.symbol for hit in hits[:3]}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("mode", Mode)
def test_filters_and_limits_hold_in_every_mode(engine: Engine, mode: Mode) -> None:
    classes = engine.search("upload", mode=mode, filters=Filters(kinds=(Kind.CLASS,)), min_score=0.0)
    assert [hit.symbol for hit in classes.hits] == ["UploadRetrier"]
    assert len(engine.search("upload", mode=mode, limit=1, min_score=0.0).hits) == 1
    nowhere = engine.search("upload", mode=mode, filters=Filters(paths=("nowhere",)))
    assert nowhere.hits == ()
    assert nowhere.barred_by == (Filters(paths=("nowhere",)),)


def test_what_is_fresh_enough_is_not_looked_at_again_but_never_cited_wrongly(tmp_path: Path) -> None:
    root = init(tmp_path / "repository", dict(FILES))
    engine = Engine.open(root, Settings())
    assert engine.search("retry_upload", fresh_for=60).hits[0].symbol == "retry_upload"
    write(root, {"src/new.py": "def retry_upload_anew():\n    return 2\n"})
    before = engine.search("retry_upload", fresh_for=60)
    assert not before.snapshot.dirty
    assert "src/new.py" not in {hit.path for hit in before.hits}
    write(root, {"src/net.py": "x = 1\n"})
    after = engine.search("retry_upload", fresh_for=60)  # a hit is no longer as it was: everything is looked at anew
    assert after.snapshot.dirty
    assert after.hits[0].path == "src/new.py"
    assert engine.search("retry_upload").hits == after.hits


def test_files_and_their_lines(engine: Engine) -> None:
    assert engine.paths() == ("docs/guide.md", "src/net.py", "src/words.py")
    assert engine.lines("docs/guide.md") == ("# Uploading again", "", "What failed is sent once more.", "")
    with pytest.raises(LocationError, match="There is no file nowhere"):
        engine.lines("nowhere")
