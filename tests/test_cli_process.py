"""The command as scripts see it: a real process in a real repository, its output and its exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

UPLOAD = '''\
"""Sends files to the bucket."""


class Uploader:
    """Uploads parts, one after the other."""

    def retry_failed_parts(self, attempts):
        """Sends again every part whose upload has failed."""
        for part in self.failed:
            for _ in range(attempts):
                if self.send(part):
                    break


def parse_config(path):
    """Reads the settings file."""
    return dict(line.split("=") for line in open(path))
'''
HOSTILE = 'def paint_terminal():\n    """Paints \x1b]0;pwned\x07 the terminal red."""\n    return "\x1b[31m"\n'


def codesearch(folder: Path, *arguments: str, **options) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"PYTHONPATH": str(PROJECT)} | options.pop("environment", {})
    return subprocess.run(
        [sys.executable, "-m", "codesearch", *arguments],
        cwd=folder, env=environment, capture_output=True, timeout=120, check=False, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    root = tmp_path_factory.mktemp("cli") / "repository"
    (root / "src").mkdir(parents=True)
    (root / "src" / "upload.py").write_text(UPLOAD)
    (root / os.fsdecode(b"src/p\xffint\x1b[31m.py")).write_text(HOSTILE)
    (root / "README.md").write_text("# Uploader\n\nHow uploads are retried.\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    assert codesearch(root, "index").returncode == 0
    return root


def test_hits_exit_0_with_exact_citations(repository: Path) -> None:
    result = codesearch(repository, "retry", "failed", "parts", "-k", "1", "--code")
    assert result.stderr == b""
    assert result.returncode == 0
    assert result.stdout.startswith(b"src/upload.py:7-12  Uploader.retry_failed_parts  method  ")


def test_first_search_indexes_and_leaves_a_clean_stderr(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "upload.py").write_text(UPLOAD)
    result = codesearch(tmp_path, "parse_config", "-l")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"upload.py\n", b"")


def test_nothing_found_exits_1_and_says_so_on_stderr(repository: Path) -> None:
    result = codesearch(repository, "qzxv wvjkq")
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.startswith("Nothing found for “qzxv wvjkq”.".encode())


def test_wrong_flag_exits_2_with_the_nearest_right_one(repository: Path) -> None:
    result = codesearch(repository, "x", "--jsno")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr == b"Error: No such option: --jsno\nHint: Did you mean --json?\n"


def test_wrong_language_exits_2_with_the_nearest_right_one(repository: Path) -> None:
    result = codesearch(repository, "x", "-t", "pyton")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr == b"Error: Unknown language: pyton\nHint: Did you mean python?\n"


def test_unknown_revision_exits_2(repository: Path) -> None:
    result = codesearch(repository, "x", "--at", "no-such-revision")
    assert result.returncode == 2
    assert re.fullmatch(rb"Error: [^\n]*no-such-revision[^\n]*\nHint: [^\n]+\n", result.stderr)


def test_json_document_has_the_keys_of_the_contract(repository: Path) -> None:
    document = json.loads(codesearch(repository, "parse_config", "--json", "-k", "1").stdout)
    assert list(document) == ["schema", "query", "snapshot", "took_ms", "hits"]
    assert list(document["snapshot"]) == ["commit", "ref", "dirty", "index_commit"]
    [hit] = document["hits"]
    assert list(hit) == [
        "rank", "score", "path", "start_line", "end_line", "symbol", "qualified_name", "kind", "language",
        "signature", "snippet", "snippet_start_line", "commit", "signals", "copies",
    ]  # fmt: skip
    assert hit["snippet"].split("\n")[0] == UPLOAD.split("\n")[hit["snippet_start_line"] - 1]
    assert (hit["path"], hit["start_line"], hit["end_line"]) == ("src/upload.py", 15, 17)
    assert (hit["symbol"], hit["kind"], hit["language"]) == ("parse_config", "function", "python")


def test_vimgrep_names_line_and_column(repository: Path) -> None:
    for flags in ([], ["--no-snippet"]):
        result = codesearch(repository, "parse_config", "--vimgrep", "-k", "1", *flags)
        assert result.stdout == b"src/upload.py:15:5:def parse_config(path):\n"


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (["--", "status"], "status"),
        (["--json", "--", "show", "the", "--explain", "flag"], "show the --explain flag"),
        (["search", "--json", "--", "--explain"], "--explain"),
        (["-k", "2", "--", "retry"], "retry"),
        (["-k2", "search", "retry"], "retry"),
    ],
)
def test_words_after_dashes_are_the_query(repository: Path, arguments: list[str], query: str) -> None:
    result = codesearch(repository, *(["--json"] if "--json" not in arguments else []), *arguments)
    assert result.returncode in (0, 1)
    assert json.loads(result.stdout)["query"] == query


def test_plain_folder_and_bare_repository_are_searched(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "upload.py").write_text(UPLOAD)
    first = codesearch(tmp_path / "plain", "parse_config", "-l", "-k1")
    assert (first.returncode, first.stdout) == (0, b"upload.py\n")
    assert re.fullmatch(rb"[^\n]*/plain is no git repository; indexing the whole folder into [^\n]+\n", first.stderr)
    assert codesearch(tmp_path / "plain", "parse_config", "-l", "-k1").stderr == b""
    subprocess.run(["git", "clone", "-q", "--bare", repository, tmp_path / "bare.git"], check=True)
    bare = codesearch(tmp_path / "bare.git", "parse_config", "-l", "-k1")
    assert (bare.returncode, bare.stdout, bare.stderr) == (0, b"src/upload.py\n", b"")


def test_context_lines_reach_past_the_declaration(repository: Path) -> None:
    shown = codesearch(repository, "parse_config", "-k", "1", "-C", "9").stdout.decode()
    assert "    12-                     break\n" in shown
    assert codesearch(repository, "parse_config", "-k1", "-C9", "--at", "HEAD").stdout.decode() == f"HEAD:{shown}"


def test_printed_locations_are_accepted_back_from_a_subfolder(repository: Path) -> None:
    line = codesearch(repository / "src", "parse_config", "-k", "1", "--no-snippet").stdout.decode()
    citation = line.split()[0]
    assert citation == "upload.py:15-17"
    shown = codesearch(repository / "src", "show", citation)
    assert shown.returncode == 0
    assert shown.stdout.decode().splitlines()[1] == "    15  def parse_config(path):"
    assert codesearch(repository / "src", "show", "src/upload.py#parse_config").returncode == 0


def test_filters_of_every_kind(repository: Path) -> None:
    def files(*arguments: str) -> list[str]:
        return codesearch(repository, "retry uploads", "-l", *arguments).stdout.decode().splitlines()

    assert "README.md" in files()
    assert files("src/upload.py") == ["src/upload.py"]
    assert "README.md" not in files("-t", "py")
    assert "README.md" not in files("--code")
    assert files("--docs") == ["README.md"]
    assert files("-g", "*.md") == ["README.md"]
    assert files("--symbol", "retry_failed_parts") == ["src/upload.py"]


def test_control_characters_of_names_and_code_never_reach_the_terminal(repository: Path) -> None:
    for flags in ([], ["-l"], ["--json"], ["--vimgrep"]):
        result = codesearch(repository, "paint_terminal", "-k", "1", *flags)
        assert result.returncode == 0
        assert re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", result.stdout) is None
        assert b"int" in result.stdout
    assert codesearch(repository, "paint_terminal", "-k1", "-l").stdout == b"src/p\\xffint\\x1b[31m.py\n"


def test_reader_that_closes_the_pipe_is_no_error(repository: Path) -> None:
    for verb in ("retry uploads", "status"):
        command = f"{sys.executable} -m codesearch {verb} 2>err | head -n 1 >out; cat err; rm err out"
        environment = os.environ | {"PYTHONPATH": str(PROJECT)}
        result = subprocess.run(["bash", "-c", command], cwd=repository, env=environment, capture_output=True)
        assert result.stdout + result.stderr == b""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        process = subprocess.run(
            [sys.executable, "-m", "codesearch", "uploads"], cwd=repository, stdout=closed,
            stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(PROJECT)}, check=False,
        )  # fmt: skip
    assert (process.returncode, process.stderr) == (0, b"")


def test_full_disk_and_closed_output_end_without_a_traceback(repository: Path) -> None:
    def run_in_shell(redirection: str) -> subprocess.CompletedProcess[bytes]:
        command = f"{sys.executable} -m codesearch parse_config {redirection}"
        environment = os.environ | {"PYTHONPATH": str(PROJECT)}
        return subprocess.run(["bash", "-c", command], cwd=repository, env=environment, capture_output=True)

    full = run_in_shell(">/dev/full")
    assert full.returncode == 2
    assert full.stderr.splitlines()[0] == b"Error: The output cannot be written: No space left on device."
    for arguments in ("--version", "--help", "search --help", "status", "parse_config --json"):
        command = [sys.executable, "-m", "codesearch", *arguments.split()]
        with Path("/dev/full").open("wb") as full_disk:
            result = subprocess.run(
                command, cwd=repository, stdout=full_disk, stderr=subprocess.PIPE, check=False,
                env=os.environ | {"PYTHONPATH": str(PROJECT)},
            )  # fmt: skip
        assert (result.returncode, result.stderr.splitlines()[0]) == (
            2, b"Error: The output cannot be written: No space left on device.",
        )  # fmt: skip
    closed = run_in_shell(">&-")
    assert (closed.returncode, closed.stderr) == (0, b"")


def test_modules_of_the_searched_folder_are_never_run(tmp_path: Path) -> None:
    """Python puts the current folder on the import path of `python -m` and of the processes it spawns."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for module in ("typing", "click", "numpy", "multiprocessing", "pickle"):
        (tmp_path / f"{module}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'a').write('{module} ')\n")
    for number in range(4):  # enough for worker processes to be started
        (tmp_path / f"notes_{number}.txt").write_text(f"Part {number}\n\n" + "All words are the same here.\n" * 28_000)
    result = codesearch(tmp_path, "index", environment={"CODESEARCH_JOBS": "2", "PYTHONSAFEPATH": ""})
    assert (result.returncode, result.stderr) == (0, b"")
    assert not (tmp_path / "run").exists()


def test_interrupt_exits_130_without_a_traceback(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for number in range(3000):  # long enough to be interrupted while it is indexed
        (tmp_path / f"upload_{number}.py").write_text(UPLOAD.replace("part", f"part_{number}"))
    process = subprocess.Popen(
        [sys.executable, "-m", "codesearch", "index"], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(PROJECT)}, start_new_session=True,
    )  # fmt: skip
    time.sleep(1.0)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: to all processes of the terminal's group
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize("module", ["codesearch.cli", "click", "codesearch.render.text", "codesearch.engine", "numpy"])
def test_interrupt_while_modules_load_exits_130_without_a_traceback(
    repository: Path, tmp_path: Path, module: str
) -> None:
    """As if Ctrl-C came at the moment when a module is about to be loaded."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}"}
    result = codesearch(repository, "parse_config", environment=environment)
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"")


def test_colour_only_when_asked_for_in_a_pipe(repository: Path) -> None:
    assert b"\x1b[" not in codesearch(repository, "uploads").stdout
    assert b"\x1b[" in codesearch(repository, "uploads", "--color", "always").stdout
    no_color = {"NO_COLOR": "1", "CODESEARCH_COLOR": "always"}
    assert b"\x1b[" not in codesearch(repository, "uploads", environment=no_color).stdout


def test_ascii_only_streams_do_not_crash(repository: Path) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    assert codesearch(repository, "qzxv é", environment=ascii_only).returncode == 1
    assert codesearch(repository, "paint_terminal", environment=ascii_only).returncode == 0


@pytest.mark.parametrize("arguments", [["--help"], ["search", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(repository: Path, arguments: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "codesearch", *arguments], cwd=repository,
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(PROJECT)}, check=True,
    )  # fmt: skip
    loaded = {line.rsplit("|", 1)[1].strip() for line in result.stderr.splitlines() if "|" in line}
    assert loaded & HEAVY == set()
    assert "codesearch.engine" not in loaded


HEAVY = {"numpy", "rich", "lancedb", "pyarrow", "git", "tree_sitter", "textual", "torch", "pygments"}


def test_plain_search_of_a_fresh_index_loads_neither_store_nor_colour(repository: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "codesearch", "parse_config"], cwd=repository,
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(PROJECT)}, check=True,
    )  # fmt: skip
    loaded = {line.rsplit("|", 1)[1].strip() for line in result.stderr.splitlines() if "|" in line}
    assert loaded & (HEAVY - {"numpy"}) == set()


def test_verbs_print_json_by_the_contract(repository: Path) -> None:
    index = json.loads(codesearch(repository, "index", "--json").stdout)
    assert list(index) == ["schema", "commit", "files", "declarations", "skipped", "seconds"]
    assert list(index["files"]) == ["total", "parsed", "reused", "skipped"]
    assert list(index["declarations"]) == ["total", "embedded", "reused", "moved", "removed"]
    status = json.loads(codesearch(repository, "status", "--json").stdout)
    assert list(status) == [
        "schema", "commit", "ref", "dirty", "index_commit", "behind", "files", "declarations", "chunks",
        "skipped", "model", "store_bytes", "view_bytes",
    ]  # fmt: skip
    [file] = json.loads(codesearch(repository, "outline", "src/upload.py", "--json").stdout)["files"]
    spans = [(each["qualified_name"], each["start_line"], each["end_line"]) for each in file["declarations"]]
    assert spans == [
        ("Uploader", 4, 12), ("Uploader.retry_failed_parts", 7, 12), ("parse_config", 15, 17),
    ]  # fmt: skip
    known = json.loads(codesearch(repository, "languages", "--json").stdout)["languages"]
    assert "python" in [language["name"] for language in known]


def test_languages_count_what_is_indexed_and_are_known_without_an_index_and_outside_a_repository(
    tmp_path: Path, repository: Path
) -> None:
    assert codesearch(repository, "index").returncode == 0
    document = json.loads(codesearch(repository, "languages", "--json").stdout)
    assert document["schema"] == 1
    (python,) = [each for each in document["languages"] if each["name"] == "python"]
    assert list(python) == ["name", "extensions", "filenames", "kinds", "files", "declarations"]
    assert (python["extensions"][0], python["filenames"][0]) == (".py", "SConstruct")
    assert {"function", "method", "class"} <= set(python["kinds"])
    assert python["files"] > 0 < python["declarations"]
    line = rb"python +\.py \.pyi \.pyw SConstruct SConscript wscript  \d+ files?, \d+ declarations\n +function method"
    assert re.search(line, codesearch(repository, "languages").stdout)

    folder = tmp_path / "no repository"
    folder.mkdir()
    outside = json.loads(codesearch(folder, "languages", "--json").stdout)["languages"]
    assert [each["name"] for each in outside] == [each["name"] for each in document["languages"]]
    assert {each["files"] for each in outside} == {None}
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("word", "near"), [("pyton", "python"), ("javscript", "javascript"), ("Rusty", "rust")])
def test_misspelt_language_is_answered_with_the_nearest(repository: Path, word: str, near: str) -> None:
    done = codesearch(repository, "search", "parse", "-t", word)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"Error: Unknown language: {word}\nHint: Did you mean {near}?\n"


def test_clean_removes_the_index(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "upload.py").write_text(UPLOAD)
    assert codesearch(tmp_path, "parse_config").returncode == 0
    freed = json.loads(codesearch(tmp_path, "clean", "--json").stdout)["freed_bytes"]
    assert freed > 0
    assert json.loads(codesearch(tmp_path, "clean", "--json").stdout)["freed_bytes"] == 0
