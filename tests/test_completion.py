"""Completion as shells ask for it, and in the real shells where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from terminals import PROJECT, run_in_terminal

from codesearch import Engine
from codesearch.cli import main
from codesearch.cli.verbs import codesearch

CODE = """\
class Uploader:
    def retry_failed_parts(self):
        return self.retry_limit
    def retry_later(self): ...
    def größe(self): ...
"""
HOSTILE = (
    "export const obj = { '$(touch pwned)'() { return 1 }, 'retry;reboot'() { return 2 }, retryAll() { return 3 } }\n"
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    root = tmp_path_factory.mktemp("completion") / "repository"
    (root / "src").mkdir(parents=True)
    (root / "src" / "upload.py").write_text(CODE)
    (root / "hostile.js").write_text(HOSTILE)
    for command in (
        ["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"], ["tag", "v1.0"],
        ["branch", "feature/x"], ["branch", "$(reboot)"],
    ):  # fmt: skip
        subprocess.run(["git", *command], cwd=root, check=True)
    Engine.open(root).index()
    return root


@pytest.fixture
def offered(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """What bash is answered when Tab is pressed behind the last word."""

    def offered(line: str, folder: Path = repository) -> list[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("_CODESEARCH_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        assert main([]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out.split()

    return offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("codesearch sta", ["plain,status"]),
        ("codesearch -C . sta", ["plain,status"]),
        ("codesearch retry", ["plain,retryAll", "plain,retry_failed_parts", "plain,retry_later"]),
        ("codesearch search sta", ["file,sta"]),
        ("codesearch how gr", ["plain,größe"]),
        ("codesearch src/u", ["file,src/u"]),
        ("codesearch x --form", ["plain,--format"]),
        ("codesearch --vim", ["plain,--vimgrep"]),
        ("codesearch x --format ma", ["plain,markdown"]),
        ("codesearch x -t pyt", ["plain,python"]),
        ("codesearch x -t go,pyt", ["plain,go,python"]),
        ("codesearch x --kind meth", ["plain,method"]),
        ("codesearch x --at v", ["plain,v1.0"]),
        ("codesearch x --at ", ["plain,feature/x", "plain,main", "plain,v1.0"]),
        ("codesearch x --changed v1.0..m", ["plain,v1.0..main"]),
        ("codesearch x --changed ma", ["plain,main"]),
        ("codesearch changes v1.0...fea", ["plain,v1.0...feature/x"]),
        ("codesearch changes st", ["plain,staged"]),
        ("codesearch changes src/u", ["file,src/u"]),
        ("codesearch x --symbol Up", ["plain,Uploader"]),
        ("codesearch show src/upload.py#retry_l", ["plain,src/upload.py#retry_later"]),
        ("codesearch show sr", ["file,sr"]),
        ("codesearch outline sr", ["file,sr"]),
        ("codesearch hook un", ["plain,uninstall"]),
        ("codesearch -C sr", ["dir,sr"]),
        ("codesearch completion z", ["plain,zsh"]),
        ("codesearch x --at v1.0 -t pyth", ["plain,python"]),
    ],
)
def test_words_that_fit_are_offered(offered, line: str, expected: list[str]) -> None:
    assert sorted(offered(line)) == expected


def test_what_a_shell_would_run_is_never_offered(offered) -> None:
    assert offered("codesearch x --symbol $") == []
    assert "plain,retry;reboot" not in offered("codesearch x --symbol retry")
    assert not any("reboot" in word for word in offered("codesearch x --at "))


def test_nothing_is_indexed_and_nothing_said_where_there_is_no_index(offered, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "a.py").write_text(CODE)
    assert offered("codesearch x --symbol retr", tmp_path) == []
    assert offered("codesearch x --at m", tmp_path) == []
    assert not (tmp_path / ".git" / "codesearch").exists()


def test_errors_offer_nothing_and_are_not_shown(repository: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("_CODESEARCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "codesearch -C /no/such/folder x --symbol r")
    monkeypatch.setenv("COMP_CWORD", "5")
    assert main([]) == 1
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("_CODESEARCH_COMPLETE", "nonsense")
    assert main([]) == 1


def test_symbols_come_within_a_tenth_of_a_second(repository: Path) -> None:
    engine = Engine.open(repository)
    started = time.perf_counter()
    assert engine.symbols("retry_l") == ["retry_later"]
    assert time.perf_counter() - started < 0.1


def test_every_option_with_a_value_is_completed_or_free() -> None:
    free = {"--model", "--rerank", "--since", "--until", "--author", "--context", "--symbol", "--min-score", "--top-k"}
    for command in (codesearch.commands["search"], codesearch.commands["similar"]):
        for option in command.params:
            if option.param_type_name == "option" and not option.is_flag and not free & set(option.opts):  # type: ignore[attr-defined]
                offers = option._custom_shell_complete is not None or hasattr(option.type, "choices")
                assert offers or option.type.name in ("integer range", "float") or "--glob" in option.opts, option.opts


def test_unknown_shell_is_answered_with_the_nearest(capsys) -> None:
    assert main(["completion", "zhs"]) == 2
    assert capsys.readouterr().err == "Error: There is no completion for the shell zhs.\nHint: Did you mean zsh?\n"


# --- in real shells -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `codesearch` in it, for PATH."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "codesearch"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={PROJECT} exec {sys.executable} -m codesearch "$@"\n')
    program.chmod(0o755)
    return folder


def typed(shell: list[str], start: str, keys: str, folder: Path, programs: Path) -> str:
    """What an interactive shell shows after a start line, keys ending in Tab, and what these complete to."""
    shown, _ = run_in_terminal(
        shell, folder, environment={"PATH": f"{programs}:{os.environ['PATH']}", "PS1": "$ ", "HISTFILE": ""},
        columns=200, keys={"$ ": f"{start}; echo rea''dy\n", "ready\r\n": keys, "--kind": "\x15exit\n"},
    )  # fmt: skip
    return shown


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_tab_completes_in_an_interactive_shell(name: str, repository: Path, programs: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"no {name}")
    shell, start = (
        (["bash", "--norc", "-i"], "")
        if name == "bash"
        else (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; PS1='$ '; ")
    )
    shown = typed(
        shell, f'{start}eval "$(codesearch completion {name})"', "codesearch retry_l\t --ki\t", repository, programs
    )
    assert "codesearch retry_later" in shown.split("ready\n")[-1]
    assert "--kind" in shown.split("ready\n")[-1]


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish_completes(repository: Path, programs: Path) -> None:
    command = 'codesearch completion fish | source; complete -C "codesearch retry_l"; complete -C "codesearch x --ki"'
    done = subprocess.run(
        ["fish", "--no-config", "-c", command], cwd=repository, capture_output=True, text=True, timeout=60, check=True,
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["retry_later", "--kind"]


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_scripts_are_what_their_shell_can_read(name: str, capsys) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"no {name}")
    assert main(["completion", name]) == 0
    subprocess.run([name, "-n"], input=capsys.readouterr().out, text=True, check=True)
