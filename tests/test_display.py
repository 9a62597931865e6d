"""What people and programs see of hits: formats, links, groups, marks, widths, the pager; in real terminals."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from terminals import PROJECT, in_terminal
from test_render import ESCAPE_IN_TEXT, HIT

from codesearch.cli.display import knows_links, line_form, pager_command
from codesearch.render import text
from codesearch.render.links import LineForm, Target, linker
from codesearch.render.markdown import to_markdown
from codesearch.render.plain import to_plain
from codesearch.terms import find_terms
from codesearch.types import Kind, Snippet

UPLOAD = '''\
class Uploader:
    def retry_failed_parts(self, attempts):
        """Sends again every part whose upload has failed, and tells the caller how often each of them was sent."""
        return [part for part in self.failed for _ in range(attempts) if self.send(part)]

    def count_failed_parts(self):
        return len(self.failed)
'''
HOSTILE_NAME = "pa\x1b]0;pwned\x07 int\nparts.py"
HOSTILE = 'def paint_failed_parts():\n    return "\x1b[31m\x1b[2J"\n'
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    root = tmp_path_factory.mktemp("display") / "repository"
    (root / "src").mkdir(parents=True)
    (root / "src" / "upload.py").write_text(UPLOAD)
    (root / HOSTILE_NAME).write_text(HOSTILE)
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    codesearch(root, "index")
    return root


def codesearch(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "codesearch", *arguments], cwd=folder, capture_output=True, timeout=60, check=False,
        env=os.environ | {"PYTHONPATH": str(PROJECT)} | environment,
    )  # fmt: skip


# --- formats ------------------------------------------------------------------------------------------------


def test_markdown_has_a_heading_with_a_link_and_the_code_in_a_fence() -> None:
    assert to_markdown([HIT], folder="src") == (
        "### [`upload.py:10-14`](upload.py#L10-L14) `Uploader.retry` method 0.83\n"
        "\n"
        "```python\n"
        "    @logged\n"
        "    def retry(self, part):\n"
        "        send(part)\n"
        "```\n"
    )


def test_nothing_in_a_repository_breaks_out_of_markdown() -> None:
    snippet = Snippet(1, ("````", "<script>", "``` x"))
    hit = replace(HIT, path="a`b](x) .py", qualified_name="``x``", snippet=snippet, kind=Kind.BLOCK, language="a b`")
    heading, _, fence, *code, end = to_markdown([hit]).splitlines()
    assert heading == "### [`` a`b](x) .py:10-14 ``](a%60b%5D%28x%29%20.py#L10-L14) ``` ``x`` ``` 0.83"
    assert (fence, code, end) == ("`````ab", ["````", "<script>", "``` x"], "`````")


def test_markdown_without_code_is_a_list_and_in_groups_has_a_heading_for_each_file() -> None:
    hits = [HIT, replace(HIT, path="b.py", symbol="", qualified_name=""), HIT]
    assert to_markdown(hits, snippets=False, group=True) == (
        "## [`src/upload.py`](src/upload.py)\n"
        "* [`10-14`](src/upload.py#L10-L14) `Uploader.retry` method 0.83\n"
        "* [`10-14`](src/upload.py#L10-L14) `Uploader.retry` method 0.83\n"
        "\n"
        "## [`b.py`](b.py)\n"
        "* [`10-14`](b.py#L10-L14) method 0.83\n"
    )


def test_groups_keep_the_file_of_the_best_hit_first() -> None:
    hits = [replace(HIT, snippet=Snippet(10, ()), path=path) for path in ("a.py", "b.py", "a.py")]
    assert to_plain(text.search_layout(hits, group=True)) == (
        "a.py  2 hits\n"
        "  10-14  Uploader.retry  method  0.83\n"
        "  10-14  Uploader.retry  method  0.83\n"
        "\n"
        "b.py  1 hit\n"
        "  10-14  Uploader.retry  method  0.83\n"
    )


def test_nul_ends_names_as_they_are_on_disk(repository: Path) -> None:
    names = codesearch(repository, "failed", "parts", "-l", "-0").stdout.split(b"\0")
    assert sorted(names) == [b"", HOSTILE_NAME.encode(), b"src/upload.py"]
    path, _, rest = codesearch(repository, "paint_failed_parts", "--vimgrep", "-0", "-k", "1").stdout.partition(b"\0")
    assert (path, rest) == (HOSTILE_NAME.encode(), b"1:5:def paint_failed_parts():\n")


def test_nul_without_names_is_refused(repository: Path) -> None:
    refused = codesearch(repository, "failed", "parts", "-0")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr.endswith(b"Hint: Try: -l -0\n")


@pytest.mark.parametrize(
    "flags", [[], ["--group"], ["--format=markdown"], ["--vimgrep"], ["-l"], ["--json"], ["--jsonl"], ["--explain"]]
)
def test_names_and_code_are_shown_and_never_obeyed(repository: Path, flags: list[str]) -> None:
    printed = codesearch(repository, "paint failed parts", *flags).stdout.decode()
    assert "parts.py" in printed
    assert ESCAPE_IN_TEXT.search(printed) is None
    shown, code = in_terminal(repository, "paint failed parts", "-k", "1", *flags)
    assert code == 0
    assert "\x07" not in shown
    assert "\x1b[2J" not in shown
    assert "\x1b]" not in shown


def test_names_ended_by_nul_are_escaped_on_a_terminal(repository: Path) -> None:
    shown, _ = in_terminal(repository, "paint_failed_parts", "-l", "-0", "-k", "1")
    assert shown == "pa\\x1b]0;pwned\\x07 int\\nparts.py\n"


@pytest.mark.parametrize("flags", [["--format=markdown"], ["-l", "-0"], ["--group", "--hyperlink=always"]])
def test_reader_that_goes_away_is_no_error(repository: Path, flags: list[str]) -> None:
    command = [sys.executable, "-m", "codesearch", "failed", "parts", *flags]
    process = subprocess.Popen(
        command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    process.stdout.close()  # type: ignore[union-attr]
    assert process.stderr.read() == b""  # type: ignore[union-attr]
    assert process.wait() == 0


# --- links --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "uri"),
    [
        (LineForm.NONE, "file://box/r%20/a%1B%C3%A9.py"),
        (LineForm.FRAGMENT, "file://box/r%20/a%1B%C3%A9.py#7"),
        (LineForm.EDITOR, "vscode://file/r%20/a%1B%C3%A9.py:7"),
    ],
)
def test_links_name_the_machine_the_file_and_the_line(form: LineForm, uri: str) -> None:
    assert linker(Path("/r "), "box", form)(Target("a\x1bé.py", 7)) == uri


@pytest.mark.parametrize(
    ("environment", "knows", "form"),
    [
        ({"TERM": "xterm-kitty"}, True, LineForm.FRAGMENT),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True, LineForm.EDITOR),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True, LineForm.NONE),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4800"}, False, LineForm.NONE),
        ({"TERM": "xterm-256color", "VTE_VERSION": "?"}, False, LineForm.NONE),
        ({"TERM": "screen-256color", "VTE_VERSION": "7600"}, False, LineForm.NONE),
        ({"TERM": "dumb", "WT_SESSION": "1"}, False, LineForm.NONE),
        ({}, False, LineForm.NONE),
    ],
)
def test_terminals_that_know_links(environment: dict[str, str], knows: bool, form: LineForm) -> None:
    assert knows_links(environment) is knows
    assert line_form(environment) is form


@pytest.mark.parametrize("color", ["always", "never"])
def test_citations_are_links_where_asked_and_only_what_is_on_disk(repository: Path, color: str) -> None:
    linked = codesearch(repository, "retry_failed_parts", "-k", "1", "--hyperlink=always", f"--color={color}").stdout
    uri, citation = re.search(rb"\x1b]8;[^;]*;(file:[^\x1b]*)\x1b\\(.*?)\x1b]8;;\x1b\\", linked).groups()  # type: ignore[union-attr]
    assert uri.endswith(f"{repository}/src/upload.py".encode())
    assert ANSI.sub("", citation.decode()) == "src/upload.py:2-4"
    assert b"\x1b]8" not in codesearch(repository, "retry_failed_parts", "--hyperlink=auto").stdout
    assert b"\x1b]8" not in codesearch(repository, "retry_failed_parts").stdout
    assert b"\x1b]8" in codesearch(repository, "outline", "src", CODESEARCH_HYPERLINK="always").stdout

    at = ("retry_failed_parts", "-k", "1", "--at=HEAD")
    assert codesearch(repository, *at, "--hyperlink=always").stdout.startswith(b"HEAD:src/upload.py:2-4  ")
    assert codesearch(repository, *at, "--format=markdown").stdout.startswith(b"### `HEAD:src/upload.py:2-4` `Uploader")


# --- terminals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "terms", "marked"),
    [
        ("def _send_single_request(x):", {"send", "request"}, ["send", "request"]),
        ("parseHTTPResponse(response)", {"http", "response"}, ["HTTP", "Response", "response"]),
        ("retryUpload(retry)", {"=retryupload", "retry"}, ["retryUpload", "retry"]),
        ("größeÄndern = größe", {"größe"}, ["größe", "größe"]),
        ("nothing here", {"else"}, []),
        ("nothing here", set(), []),
    ],
)
def test_terms_are_found_inside_identifiers(line: str, terms: set[str], marked: list[str]) -> None:
    assert [line[start:end] for start, end in find_terms(line, terms)] == marked


def test_terms_are_marked_on_a_terminal(repository: Path) -> None:
    shown, code = in_terminal(repository, "retry failed parts", "-k", "1", "--code")
    assert code == 0
    assert re.search(r"\x1b\[[0-9;]*31(;[0-9;]*)?mretry_failed_parts\x1b", shown)


@pytest.mark.parametrize("color", ["always", "never"])
@pytest.mark.parametrize("columns", [20, 61])
def test_code_is_cut_to_the_terminal_and_citations_never(repository: Path, columns: int, color: str) -> None:
    shown, code = in_terminal(
        repository, "retry failed parts", "-k", "1", "--code", f"--color={color}", columns=columns
    )
    citation, *lines = ANSI.sub("", shown).splitlines()
    assert (code, citation.split("  ")[0]) == (0, "src/upload.py:2-4")
    assert lines
    assert max(map(len, lines)) == columns
    assert lines[1].endswith("…")


def test_pipes_know_no_width_and_no_colour(repository: Path) -> None:
    piped = codesearch(repository, "retry failed parts", "-k", "1", "--code", "--pager", COLUMNS="20").stdout.decode()
    assert UPLOAD.splitlines()[2] in piped
    assert "\x1b" not in piped


@pytest.mark.parametrize(
    ("environment", "command"),
    [({}, "less"), ({"PAGER": "most -s"}, "most -s"), ({"PAGER": ""}, ""), ({"PAGER": "cat"}, "")],
)
def test_pager_is_the_one_that_git_would_take(environment: dict[str, str], command: str) -> None:
    assert pager_command(environment) == command


def test_pager_gets_the_text_and_the_options_of_less_that_git_sets(repository: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "<$LESS>"\nsed s/^/:/\n')
    pager.chmod(0o755)
    shown, code = in_terminal(
        repository, "retry failed parts", "-k", "1", "--code", "--pager", environment={"PAGER": str(pager)}
    )
    first, second, *_ = ANSI.sub("", shown).splitlines()
    assert (code, first) == (0, "<FRX>")
    assert second.startswith(":src/upload.py:2-4")
    assert "\x1b[" in shown  # in colour, though the pager is a pipe


def test_pager_that_quits_early_or_is_missing_is_no_error(repository: Path) -> None:
    for pager in ("head -c 1", "/no/such/pager"):
        shown, code = in_terminal(repository, "failed parts", "--pager", environment={"PAGER": pager})
        assert code == 0
        assert "Error" not in shown
        assert "Traceback" not in shown


@pytest.mark.skipif(shutil.which("less") is None, reason="no less")
def test_what_fits_on_the_screen_stays_there_without_a_key(repository: Path) -> None:
    shown, code = in_terminal(repository, "retry failed parts", "-k", "1", "--code", "--pager")
    assert code == 0
    assert "retry_failed_parts" in ANSI.sub("", shown)
