"""What paths say about a file, as numbers."""

from __future__ import annotations

import pytest

from codesearch.queries import understand
from codesearch.signals import depths, for_other_systems, stem_of, words_of_file_names

TWINS = ["src/win/pipe.c", "src/unix/pipe.c", "src/darwin/pipe.c", "src/pipe.c", "win.c"]


def test_forms_of_a_word_have_one_stem() -> None:
    assert len({stem_of(word) for word in ("router", "routing", "routes", "route", "routed")}) == 1
    assert stem_of("serialization") == stem_of("serializer") == stem_of("serialize")
    assert (stem_of("get"), stem_of("ring"), stem_of("use")) == ("get", "ring", "use")


def test_a_file_name_counts_by_the_share_of_its_words_that_are_asked() -> None:
    paths = ["src/router.rs", "src/routing/mod.rs", "src/route_table.rs", "src/query.rs"]
    assert words_of_file_names(understand("how does routing work"), paths).tolist() == [1.0, 1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("platform", "others"),
    [
        ("linux", ["src/win/pipe.c", "src/darwin/pipe.c"]),
        ("darwin", ["src/win/pipe.c"]),
        ("win32", ["src/unix/pipe.c", "src/darwin/pipe.c"]),
    ],
)
def test_files_for_another_system_are_told_by_their_folders(
    monkeypatch: pytest.MonkeyPatch, platform: str, others: list[str]
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    found = for_other_systems(understand("pipe between processes"), TWINS)
    assert [path for path, is_other in zip(TWINS, found.tolist(), strict=True) if is_other] == others
    assert not for_other_systems(understand("named pipes on windows"), TWINS).any()


def test_depth_grows_with_the_folders() -> None:
    shallow, deep = depths(["a.py", "b/c/a.py"])
    assert 0 == shallow < deep
