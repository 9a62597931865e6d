"""A one-shot search starts in a fraction of a second: what is slow to import is imported where it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from git_helpers import init, write

from codesearch import Engine
from codesearch.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
SLOW = (
    "lancedb", "pyarrow", "torch", "transformers", "sentence_transformers", "scipy", "git", "tree_sitter",
    "tree_sitter_language_pack", "textual", "pandas", "filelock", "multiprocessing",
)  # fmt: skip

# The command itself, with one thing added: what it imported is written down when it ends.
RECORDING = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path({record!r}).write_text("\\n".join(sys.modules)))
sys.argv[0] = "codesearch"
from codesearch.cli import main
sys.exit(main())
"""


def imported_by(folder: Path, record: Path, *arguments: str) -> tuple[int, str, set[str]]:
    """Exit code, output, and the names of everything imported by `codesearch ARGUMENTS` in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", RECORDING.format(record=str(record)), *arguments],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(PROJECT)}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, set(record.read_text().split("\n"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    """An indexed repository with a clean work tree."""
    root = init(
        tmp_path_factory.mktemp("imports") / "repository",
        {"upload.py": 'def retry_upload(times):\n    """Sends again what failed."""\n    return times\n'},
    )
    Engine.open(root, Settings()).index()
    return root


@pytest.mark.parametrize("query", [["retry_upload"], ["how", "are", "uploads", "retried"], ["retyr_upload", "--json"]])
def test_search_of_an_unchanged_repository_imports_nothing_slow(
    repository: Path, tmp_path: Path, query: list[str]
) -> None:
    code, output, modules = imported_by(repository, tmp_path / "record", *query)
    assert code == 0
    assert "upload.py" in output
    assert "codesearch.searching" in modules
    assert "numpy" in modules
    assert sorted(modules.intersection(SLOW)) == []


def test_search_of_an_edited_file_needs_the_parser_alone(repository: Path, tmp_path: Path) -> None:
    write(repository, {"new.py": "def cancel_upload():\n    return None\n"})
    try:
        code, output, modules = imported_by(repository, tmp_path / "record", "cancel_upload")
    finally:
        (repository / "new.py").unlink()
    assert code == 0
    assert "new.py:1-2" in output
    assert sorted(modules.intersection(SLOW)) == ["tree_sitter", "tree_sitter_language_pack"]


@pytest.mark.parametrize("arguments", [["--help"], ["search", "--help"], ["--version"], ["index", "--help"]])
def test_help_imports_no_arrays_and_no_engine(tmp_path: Path, arguments: list[str]) -> None:
    code, _, modules = imported_by(tmp_path, tmp_path / "record", *arguments)
    assert code == 0
    assert sorted(modules.intersection({*SLOW, "numpy", "codesearch.engine", "codesearch.repository"})) == []
