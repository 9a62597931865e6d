"""`codesearch doctor`: each thing that can be wrong with an installation, broken for real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from terminals import PROJECT, in_terminal

from codesearch import Engine, diagnosis
from codesearch.cli import main
from codesearch.diagnosis import Check, State, check_model, check_programs, check_terminal
from codesearch.embedding import DEFAULT_MODEL, MODELS
from codesearch.hooks import Hooks
from codesearch.render.diagnoses import diagnosis_layout
from codesearch.render.plain import to_plain
from codesearch.repository import Repository

NAMES = [
    "program", "git", "grammars", "model", "extras", "repository", "index", "store", "hooks", "terminal", "programs",
]  # fmt: skip


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    root = tmp_path_factory.mktemp("doctor") / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    (root / "a.py").write_text("def answer():\n    return 42\n")
    Engine.open(root).index()
    Hooks(Repository.open(root)).install()
    return root


@pytest.fixture
def repository(indexed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(indexed, tmp_path / "repository", symlinks=True))


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, str]]:
    """What doctor finds wrong, by name."""

    def wrong(folder: Path, **environment: str) -> dict[str, str]:
        for name, value in {"EDITOR": "sh", "VISUAL": "", "PAGER": "cat", **environment}.items():
            monkeypatch.setenv(name, value)
        code = main(["-C", str(folder), "doctor", "--json"])
        document = json.loads(capsys.readouterr().out)
        found = {check["name"]: check["found"] for check in document["checks"] if check["state"] == "wrong"}
        assert (document["schema"], document["well"], code) == (1, not found, 1 if found else 0)
        assert all(check["hint"] for check in document["checks"] if check["state"] == "wrong")
        return found

    return wrong


def test_all_is_well_in_an_indexed_repository_with_hooks(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codesearch", "doctor"], cwd=repository, capture_output=True, text=True, timeout=60,
        check=False, env=os.environ | {"PYTHONPATH": str(PROJECT), "EDITOR": "sh", "VISUAL": "", "PAGER": "cat"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    checks = [line.split()[:2] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [name for _, name in checks] == NAMES
    assert {name for state, name in checks if state != "well"} <= {"extras", "terminal"}
    assert "2 chunks recorded" in done.stdout
    assert "post-commit" in done.stdout


def test_without_index_hooks_or_repository_there_are_notes_only_and_nothing_is_made(tmp_path: Path, wrong) -> None:
    (tmp_path / "folder").mkdir()
    assert wrong(tmp_path / "folder") == {}
    assert list((tmp_path / "folder").iterdir()) == []


def test_git_that_is_missing_or_too_old(tmp_path: Path, wrong) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    paths = f"{programs}:{os.environ['PATH']}"
    assert wrong(tmp_path, PATH=str(programs), EDITOR="", PAGER="")["git"] == "git is not installed, or not on PATH."
    (programs / "git").write_text("#!/bin/sh\necho git version 2.30.9\n")
    (programs / "git").chmod(0o755)
    assert wrong(tmp_path, PATH=paths)["git"] == "git version 2.30.9 is too old to be run safely."


def test_settings_that_cannot_be_read_and_an_editor_that_is_not_there(repository: Path, wrong) -> None:
    (repository / ".codesearch.toml").write_text("top_k = 'many'\n")
    found = wrong(repository, EDITOR="no-such-editor --wait")
    assert set(found) == {"settings", "programs"}
    assert found["programs"] == "EDITOR=no-such-editor --wait: no such program"


def test_an_index_with_one_wrong_byte(repository: Path, wrong) -> None:
    (segment,) = (repository / ".git" / "codesearch" / "segments").iterdir()
    content = bytearray(segment.read_bytes())
    content[content.index(b"answer")] ^= 1
    segment.write_bytes(content)
    assert set(wrong(repository)) == {"index"}


def test_a_store_that_cannot_be_read(repository: Path, wrong) -> None:
    for path in (repository / ".git" / "codesearch" / "store").rglob("*.manifest"):
        path.write_bytes(b"no manifest")
    assert set(wrong(repository)) == {"store"}


def test_hooks_that_git_does_not_run(repository: Path, wrong) -> None:
    (repository / ".git" / "hooks" / "post-merge").chmod(0o644)
    assert wrong(repository)["hooks"] == "git does not run post-merge"


def test_sums_of_the_model_that_ships_are_right() -> None:
    assert check_model().state is State.WELL
    names = {line.split("  ")[1] for line in (MODELS / DEFAULT_MODEL / diagnosis.SUMS).read_text().splitlines()}
    assert names == {path.name for path in (MODELS / DEFAULT_MODEL).iterdir()} - {diagnosis.SUMS}


@pytest.mark.parametrize("change", [lambda path: path.write_bytes(path.read_bytes()[:-1]), Path.unlink])
def test_model_that_is_not_as_it_was_shipped(tmp_path: Path, change: Callable[[Path], object]) -> None:
    folder = Path(shutil.copytree(MODELS / DEFAULT_MODEL, tmp_path / "model"))
    change(folder / "vocabulary.txt")
    check = check_model(folder=folder)
    assert (check.state, check.found) == (State.WRONG, f"vocabulary.txt in {folder} is not as it was shipped.")


def test_a_check_that_fails_itself_is_one_that_is_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("ill")

    monkeypatch.setattr(diagnosis, "check_store", fail)
    monkeypatch.setattr(diagnosis, "check_index", fail)
    checks = diagnosis.check_repository(diagnosis.Repository.open(tmp_path), tmp_path)
    assert [check.found for check in checks if check.state is State.WRONG] == ["RuntimeError: ill"] * 2


def test_terminal_is_described(repository: Path) -> None:
    shown, _ = in_terminal(
        repository, "doctor", "--color=never", columns=50, environment={"TERM": "xterm-kitty", "LC_ALL": "C.UTF-8"}
    )
    assert "well  terminal    xterm-kitty, 50 columns, no colour, links, utf-8\n" in shown
    told = {"columns": 80, "color": True, "links": False}
    poor = check_terminal({}, is_terminal=True, encoding="ascii", **told)
    assert (poor.state, poor.found) == (State.NOTE, "TERM is not set, 80 columns, colour, no links known, ascii")


def test_programs_are_looked_up_by_their_first_word() -> None:
    assert check_programs({"EDITOR": "sh -c 'x y'", "VISUAL": ""}).state is State.WELL
    assert check_programs({"PAGER": "'open quote"}).state is State.WRONG
    assert check_programs({}).found == "no editor and no pager are set"


def test_what_is_found_never_steers_the_terminal() -> None:
    assert to_plain(diagnosis_layout([Check("git", State.WRONG, "\x1b[2J", "\x07")])) == (
        "wrong git         \\x1b[2J\n                  \\x07\n"
    )
