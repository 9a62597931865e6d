"""Only what changed is worked on again: the counts of index runs over a real git history."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_helpers import commit, git, init, write

from codesearch import Engine
from codesearch.results import DeclarationCounts, FileCounts, IndexReport
from codesearch.settings import Settings


def function(number: int, factor: int | None = None, name: str = "") -> str:
    factor = number if factor is None else factor
    return (
        f"def {name or f'measure_part_{number}'}(value):\n"
        f'    """Measures part {number}."""\n'
        f"    return value * {factor}\n"
    )


FIFTY = "\n\n".join(function(number) for number in range(1, 51))
SEVENTH = "    return value * 7\n"

TANK = '''\
class Tank:
    """Holds water."""

    def fill(self, litres):
        """Adds water."""
        self.level += litres

    def drain(self, litres):
        """Takes water."""
        self.level -= litres

    def is_empty(self):
        """Whether nothing is left."""
        return self.level == 0
'''


def index(root: Path) -> IndexReport:
    """An index run by a new engine, as a new process would do it."""
    report = Engine.open(root, Settings()).index()
    counted = report.declarations
    assert counted.total == counted.embedded + counted.reused
    assert report.files.total == report.files.parsed + report.files.reused + report.files.skipped
    return report


def found_at(root: Path, symbol: str) -> str:
    """Where a symbol is found first, as `path:start-end`."""
    hit = Engine.open(root, Settings()).search(symbol, limit=1).hits[0]
    assert hit.symbol == symbol
    return f"{hit.path}:{hit.start_line}-{hit.end_line}"


@pytest.fixture
def fifty(tmp_path: Path) -> Path:
    """An indexed repository with one file of fifty functions."""
    root = init(tmp_path / "parts", {"parts.py": FIFTY})
    report = index(root)
    assert report.files == FileCounts(total=1, parsed=1, reused=0, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=50, reused=0, moved=0, removed=0)
    return root


def test_unchanged_repository_embeds_and_parses_nothing(fifty: Path) -> None:
    report = index(fifty)
    assert report.files == FileCounts(total=1, parsed=0, reused=1, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=0, removed=0)


def test_edited_body_embeds_one_of_fifty(fifty: Path) -> None:
    write(fifty, {"parts.py": FIFTY.replace(SEVENTH, "    return value * 777\n")})
    report = index(fifty)
    assert report.files == FileCounts(total=1, parsed=1, reused=0, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=1, reused=49, moved=0, removed=1)
    assert found_at(fifty, "measure_part_7") == "parts.py:31-33"


def test_longer_body_moves_what_stands_below(fifty: Path) -> None:
    write(fifty, {"parts.py": FIFTY.replace(SEVENTH, "    value += 1\n" + SEVENTH)})
    assert index(fifty).declarations == DeclarationCounts(total=50, embedded=1, reused=49, moved=43, removed=1)
    assert found_at(fifty, "measure_part_8") == "parts.py:37-39"


def test_renamed_symbol_embeds_one(fifty: Path) -> None:
    write(fifty, {"parts.py": FIFTY.replace("def measure_part_7(", "def weigh_part_7(")})
    assert index(fifty).declarations == DeclarationCounts(total=50, embedded=1, reused=49, moved=0, removed=1)
    assert found_at(fifty, "weigh_part_7") == "parts.py:31-33"


def test_function_moved_to_another_file_embeds_nothing(fifty: Path) -> None:
    last = "\n\n" + function(50)
    assert FIFTY.endswith(last)
    write(fifty, {"parts.py": FIFTY.removesuffix(last), "other.py": function(50)})
    report = index(fifty)
    assert report.files == FileCounts(total=2, parsed=2, reused=0, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=1, removed=0)
    assert found_at(fifty, "measure_part_50") == "other.py:1-3"


def test_renamed_file_parses_and_embeds_nothing(fifty: Path) -> None:
    git(fifty, "mv", "parts.py", "pieces.py")
    report = index(fifty)
    assert report.files == FileCounts(total=1, parsed=0, reused=1, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=50, removed=0)
    assert found_at(fifty, "measure_part_7") == "pieces.py:31-33"


def test_copied_file_counts_its_declarations_twice_and_embeds_nothing(fifty: Path) -> None:
    write(fifty, {"copy.py": FIFTY})
    report = index(fifty)
    assert report.files == FileCounts(total=2, parsed=0, reused=2, skipped=0)
    assert report.declarations == DeclarationCounts(total=100, embedded=0, reused=100, moved=0, removed=0)


def test_reverted_commit_embeds_nothing(fifty: Path) -> None:
    write(fifty, {"parts.py": FIFTY.replace(SEVENTH, "    return value * 777\n")})
    commit(fifty)
    assert index(fifty).declarations.embedded == 1
    git(fifty, "revert", "--no-edit", "HEAD")
    report = index(fifty)
    assert report.files == FileCounts(total=1, parsed=0, reused=1, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=0, removed=1)


def test_reverted_commit_is_restored_from_the_store_when_its_segment_is_gone(fifty: Path) -> None:
    write(fifty, {"parts.py": FIFTY.replace("value *", "2 * value *")})
    commit(fifty)
    assert index(fifty).declarations.embedded == 50
    Engine.open(fifty, Settings()).clean(everything=False)
    git(fifty, "revert", "--no-edit", "HEAD")
    report = index(fifty)
    assert report.files == FileCounts(total=1, parsed=0, reused=1, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=0, removed=50)
    assert found_at(fifty, "measure_part_7") == "parts.py:31-33"


def test_branch_that_comes_back_embeds_nothing(fifty: Path) -> None:
    git(fifty, "switch", "-q", "-c", "topic")
    write(fifty, {"parts.py": FIFTY.replace("value *", "3 * value *"), "topic.py": function(51)})
    commit(fifty)
    assert index(fifty).declarations.embedded == 51
    for branch, total in (("main", 50), ("topic", 51), ("main", 50)):
        git(fifty, "switch", "-q", branch)
        counted = index(fifty).declarations
        assert (branch, counted.total, counted.embedded) == (branch, total, 0)


def test_deleted_file_counts_its_declarations_as_removed(fifty: Path) -> None:
    write(fifty, {"other.py": function(51) + "\n\n" + function(52)})
    assert index(fifty).declarations.embedded == 2
    (fifty / "other.py").unlink()
    report = index(fifty)
    assert report.files == FileCounts(total=1, parsed=0, reused=1, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=0, removed=2)


def test_import_line_on_top_moves_fifty_and_embeds_nothing(fifty: Path) -> None:
    write(fifty, {"parts.py": "import math\n\n\n" + FIFTY})
    assert index(fifty).declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=50, removed=0)
    assert found_at(fifty, "measure_part_7") == "parts.py:34-36"


def test_functions_in_another_order_embed_nothing(fifty: Path) -> None:
    backwards = "\n\n".join(function(number) for number in range(50, 0, -1))
    write(fifty, {"parts.py": backwards})
    counted = index(fifty).declarations
    assert (counted.total, counted.embedded, counted.removed) == (50, 0, 0)


@pytest.mark.parametrize(
    ("changed", "embedded"),
    [
        (FIFTY.replace("\n", "\r\n"), 0),
        ("\ufeff" + FIFTY, 0),
        (FIFTY.replace("\n\n\ndef ", "\n\n\n\n\ndef "), 0),
        (FIFTY.replace("return value * 7\n", "return value * 7  # seven\n"), 1),
    ],
    ids=["CRLF", "byte order mark", "blank lines between functions", "comment inside a function"],
)
def test_only_what_is_read_of_a_function_counts(fifty: Path, changed: str, embedded: int) -> None:
    write(fifty, {"parts.py": changed})
    counted = index(fifty).declarations
    assert (counted.total, counted.embedded) == (50, embedded)


def test_edited_constant_embeds_no_function(tmp_path: Path) -> None:
    root = init(tmp_path / "limits", {"limits.py": "MOST_RETRIES = 3\n\n\n" + FIFTY})
    assert index(root).declarations.total == 51
    write(root, {"limits.py": "MOST_RETRIES = 5\n\n\n" + FIFTY})
    report = index(root)
    # A constant has no vector of its own: it lies in the text between the functions.
    assert report.declarations == DeclarationCounts(total=51, embedded=0, reused=51, moved=0, removed=1)
    hit = Engine.open(root, Settings()).search("MOST_RETRIES", limit=1).hits[0]
    assert (hit.path, hit.start_line, hit.snippet.lines[0]) == ("limits.py", 1, "MOST_RETRIES = 5")


def test_edited_method_embeds_neither_its_class_nor_its_sisters(tmp_path: Path) -> None:
    root = init(tmp_path / "tanks", {"tank.py": TANK})
    assert index(root).declarations == DeclarationCounts(total=4, embedded=4, reused=0, moved=0, removed=0)
    write(root, {"tank.py": TANK.replace("self.level += litres", "self.level = self.level + litres")})
    assert index(root).declarations == DeclarationCounts(total=4, embedded=1, reused=3, moved=0, removed=1)


def test_new_method_embeds_itself_and_its_class(tmp_path: Path) -> None:
    root = init(tmp_path / "tanks", {"tank.py": TANK})
    index(root)
    write(root, {"tank.py": TANK + "\n    def clean(self):\n        self.level = 0\n"})
    # The class is known by the signatures of its members, so that one more is another text.
    assert index(root).declarations == DeclarationCounts(total=5, embedded=2, reused=3, moved=0, removed=1)


def test_second_worktree_embeds_nothing(fifty: Path, tmp_path: Path) -> None:
    git(fifty, "worktree", "add", "-q", str(tmp_path / "second"))
    report = index(tmp_path / "second")
    assert report.files == FileCounts(total=1, parsed=0, reused=1, skipped=0)
    assert report.declarations == DeclarationCounts(total=50, embedded=0, reused=50, moved=0, removed=0)


def test_search_of_an_edited_file_indexes_nothing(fifty: Path) -> None:
    write(fifty, {"parts.py": "import math\n\n\n" + FIFTY})
    views = sorted((fifty / ".git/codesearch/views").iterdir())
    assert found_at(fifty, "measure_part_7") == "parts.py:34-36"
    assert sorted((fifty / ".git/codesearch/views").iterdir()) == views
