"""What docs/recipes.md says, done with the programs that it is for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from terminals import PROJECT, run_in_terminal

from codesearch import Engine

RECIPES = (PROJECT / "docs" / "recipes.md").read_text()
CODE = """\
class Uploader:
    def retry_failed_uploads(self):
        return [part for part in self.parts if part.failed]

    def count_parts(self):
        return len(self.parts)
"""


def block(section: str, language: str, number: int = 0) -> str:
    """A block of code of a section, as readers copy it."""
    (text,) = [part for part in RECIPES.split("\n## ") if part.startswith(section)]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)[number]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    root = tmp_path_factory.mktemp("recipes") / "repository"
    (root / "src dir").mkdir(parents=True)
    (root / "src dir" / "upload.py").write_text(CODE)
    subprocess.run(["git", "init", "-q", root], check=True)
    Engine.open(root).index()
    return root


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> dict[str, str]:
    """A PATH with `codesearch` on it, and an editor that writes down what it was asked to open."""
    folder = tmp_path_factory.mktemp("bin")
    for name, script in (
        ("codesearch", f'PYTHONPATH={PROJECT} exec {sys.executable} -m codesearch "$@"'),
        ("editor", 'printf "%s\\n" "$@" > "$OPENED"'),
    ):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "EDITOR": "editor", "OPENED": str(folder / "opened")}


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"no {program}")


@needs("fzf")
@pytest.mark.parametrize("words", ["", "retry failed uploads"])
def test_fzf_searches_while_one_types_previews_and_opens(
    repository: Path, environment: dict[str, str], tmp_path: Path, words: str
) -> None:
    script = tmp_path / "cs.sh"
    script.write_text(f"{block('fzf', 'sh')}\ncs {words}\n")
    keys = {"codesearch>": "" if words else "retry failed uploads", "method": "\r"}  # which only the preview says
    shown, code = run_in_terminal(["bash", script], repository, environment=environment, keys=keys)
    assert code == 0, shown
    assert "Uploader.retry_failed_uploads" in re.sub(r"\x1b\[[0-9;]*m", "", shown)  # the preview's citation
    opened = Path(environment["OPENED"])
    assert opened.read_text() == "+2\nsrc dir/upload.py\n"
    opened.unlink()


@pytest.mark.parametrize(
    ("program", "section", "language", "flags"),
    [
        pytest.param("vim", "vim", "vim", ["-N", "-es", "-u"], marks=needs("vim")),
        pytest.param("nvim", "vim", "vim", ["--headless", "-u"], marks=needs("nvim")),
        pytest.param("nvim", "neovim", "lua", ["--headless", "-u"], marks=needs("nvim")),
    ],
)
def test_grep_of_vim_fills_the_quickfix_list_and_jumps(
    repository: Path,
    environment: dict[str, str],
    tmp_path: Path,
    program: str,
    section: str,
    language: str,
    flags: list[str],
) -> None:
    settings, found = tmp_path / f"settings.{language}", tmp_path / "found"
    settings.write_text(block(section, language))
    write = (
        f"call writefile([expand('%') . ':' . line('.') . ':' . col('.')] + "
        f"map(getqflist(), 'bufname(v:val.bufnr) . \":\" . v:val.lnum . \":\" . v:val.col . v:val.text'), '{found}')"
    )
    command = [program, *flags, settings, "-c", "silent grep retry failed uploads", "-c", write, "-c", "qa!"]
    subprocess.run(
        command, cwd=repository, env=os.environ | environment | {"HOME": str(tmp_path)}, check=True, timeout=60,
        stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    at, first, *_ = found.read_text().splitlines()
    assert at == "src dir/upload.py:2:9"
    assert first == "src dir/upload.py:2:9    def retry_failed_uploads(self):"


def test_task_of_vs_code_prints_what_its_problem_matcher_reads(repository: Path, environment: dict[str, str]) -> None:
    tasks = json.loads(block("VS Code", "json"))
    (task,) = tasks["tasks"]
    assert f"${{input:{tasks['inputs'][0]['id']}}}" == task["args"][-1]
    command = [task["command"], *task["args"][:-1], "retry failed uploads; reboot"]
    printed = subprocess.run(
        command, cwd=repository, env=os.environ | environment, check=True, capture_output=True, text=True, timeout=60
    ).stdout.splitlines()
    pattern = task["problemMatcher"]["pattern"]
    matches = [re.match(pattern["regexp"], line) for line in printed]
    assert matches
    assert all(matches)
    problem = {field: matches[0][pattern[field]] for field in ("file", "line", "column", "message")}  # type: ignore[index]
    assert problem == {
        "file": "src dir/upload.py", "line": "2", "column": "9", "message": "def retry_failed_uploads(self):",
    }  # fmt: skip


@needs("node")
def test_problem_matcher_is_a_regular_expression_of_javascript(repository: Path, environment: dict[str, str]) -> None:
    regexp = json.loads(block("VS Code", "json"))["tasks"][0]["problemMatcher"]["pattern"]["regexp"]
    program = "console.log(process.argv[2].match(new RegExp(process.argv[1])).slice(1, 5).join('|'))"
    line = "src dir/up:load.py:2:9:    def x(a: int):"
    done = subprocess.run(["node", "-e", program, regexp, line], check=True, capture_output=True, text=True)
    assert done.stdout == "src dir/up:load.py|2|9|def x(a: int):\n"


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, r"\s*6 src dir/upload\.py\n"), (1, ""), (2, r"Uploader\.retry_failed_uploads\n(.*\n)*")],
)
def test_pipes_of_the_shell(repository: Path, environment: dict[str, str], number: int, expected: str) -> None:
    done = subprocess.run(
        ["sh", "-c", block("The shell", "sh", number)], cwd=repository, env=os.environ | environment, check=True,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert re.fullmatch(expected, done.stdout)
    assert done.stderr == ""
    if number == 1:
        assert (
            (repository / "found.md").read_text().startswith("### [`src dir/upload.py:2-3`](src%20dir/upload.py#L2-L3)")
        )
