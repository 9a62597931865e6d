"""The command line against a recorded engine: what words and flags mean, and what is printed."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codesearch.cli import main
from codesearch.cli.progress import ProgressBars
from codesearch.cli.routing import route, split_words
from codesearch.cli.verbs import codesearch
from codesearch.errors import LocationError
from codesearch.results import (
    Cleaned,
    DeclarationCounts,
    FileCounts,
    FileOutline,
    IndexReport,
    LanguageInfo,
    Shown,
    Status,
)
from codesearch.types import Anchor, Filters, Hit, Kind, Progress, SearchResult, SnapshotInfo, Snippet

HIT = Hit(
    rank=1,
    score=0.83,
    path="src/upload.py",
    start_line=10,
    end_line=12,
    symbol="retry",
    qualified_name="Uploader.retry",
    kind=Kind.METHOD,
    language="python",
    signature="def retry(self)",
    snippet=Snippet(10, ("def retry(self):", "    send()"), frozenset({11})),
    commit="c0ffee",
    signals={"dense": 0.5},
    anchor=Anchor(10, 5, "def retry(self):"),
)


class RecordedEngine:
    """Answers every call with a fixed value and remembers what was asked."""

    def __init__(self) -> None:
        self.root: Path | None = None
        self.calls: list[tuple[str, object]] = []
        self.hits: tuple[Hit, ...] = (HIT,)
        self.near_misses: tuple[Hit, ...] = ()
        self.raises: BaseException | None = None
        self.barred_by: tuple[Filters, ...] = ()
        self.left_out = 0
        self.home = Path("/x/.git/codesearch")
        self.repository = types.SimpleNamespace(is_git=True, root=Path("/x"))
        self.indexed = True

    def has_index(self) -> bool:
        return self.indexed

    def index_bytes(self) -> int:
        return 1_400_000

    def search(self, query: str, **options: object) -> SearchResult:
        if self.raises:
            raise self.raises
        options.pop("progress")
        self.calls.append((query, options))
        return SearchResult(
            query, SnapshotInfo("c0ffee", "main", False), 1.0, self.hits, self.near_misses,
            barred_by=self.barred_by, left_out=self.left_out,
        )  # fmt: skip

    @property
    def asked(self) -> tuple[str, dict[str, object]]:
        return self.calls[-1]  # type: ignore[return-value]

    def finish(self, progress: object) -> None:
        self.calls.append(("finish", {}))

    def index(self, **options: object) -> IndexReport:
        options.pop("progress")
        self.calls.append(("index", options))
        return IndexReport("c0ffee", FileCounts(3, 3), DeclarationCounts(9, 9), (), 0.5)

    def status(self) -> Status:
        return Status("c0", "main", False, "c0", 0, (), 3, 9, 12, (), "static", 10, 20, "/x")

    def outline(self, paths: list[str], progress: object) -> tuple[FileOutline, ...]:
        self.calls.append(("outline", paths))
        return tuple(FileOutline(path, "python", ()) for path in paths)

    def show(self, location: str) -> Shown:
        self.calls.append(("show", location))
        if "missing" in location:
            raise LocationError("missing.py names nothing.", "Run: codesearch outline")
        return Shown("src/upload.py", 9, 13, "", "", None, "python", "", ("# above", "a", "b", "c", "d"))

    def languages(self) -> tuple[LanguageInfo, ...]:
        return (LanguageInfo("python", (".py",), (Kind.FUNCTION,)), LanguageInfo("go", (".go",), ()))

    def clean(self, *, everything: bool = True, dry_run: bool = False) -> Cleaned:
        self.calls.append(("clean", everything))
        return Cleaned(1_400_000, 2, 1, dry_run=dry_run)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Run:
    code: int
    out: str
    err: str


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RecordedEngine:
    recorded = RecordedEngine()

    class Engine:
        @staticmethod
        def open(path: Path, settings: object) -> RecordedEngine:
            recorded.root = path
            return recorded

    module = types.ModuleType("codesearch.engine")
    module.Engine = Engine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "codesearch.engine", module)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "upload.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    return recorded


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def run(*arguments: str) -> Run:
        code = main(arguments)
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


# --- which word is what -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "routed"),
    [
        ("retry failed uploads", "search retry failed uploads"),
        ("status", "status"),
        ("-C dir status --json", "status -C dir --json"),
        ("-Cdir --json status", "status -Cdir --json"),
        ("-k 3 status", "status -k 3"),
        ("-lk 3 foo", "search -lk 3 foo"),
        ("--lang status foo", "search --lang status foo"),
        ("--lang=go status", "status --lang=go"),
        ("search status", "search status"),
        ("-- status", "search -- status"),
        ("--json -- status", "search --json -- status"),
        ("how is status shown", "search how is status shown"),
        ("--help", "--help"),
        ("--version", "--version"),
        ("status --help", "status --help"),
        ("- status", "search - status"),
    ],
)
def test_first_word_that_names_a_verb_is_the_verb(arguments: str, routed: str) -> None:
    assert route(arguments.split(), codesearch.commands) == routed.split()


@pytest.mark.parametrize(
    ("words", "after", "query", "paths"),
    [
        (["retry", "uploads"], None, "retry uploads", ()),
        (["retry uploads", "src"], None, "retry uploads", ("src",)),
        (["retry", "src/"], None, "retry", ("src/",)),
        (["retry", "src"], None, "retry src", ()),  # a bare word is never taken for a folder
        (["handle", "application/json"], None, "handle application/json", ()),
        (["retry", "."], None, "retry", (".",)),
        (["src/"], None, "src/", ()),
        (["retry"], ["src"], "retry", ("src",)),
        ([], ["status"], "status", ()),
        ([], ["--json", "flag"], "--json flag", ()),
        ([], ["status", "--", "src"], "status", ("src",)),
    ],
)
def test_query_words_and_path_words(
    words: list[str], after: list[str] | None, query: str, paths: tuple[str, ...]
) -> None:
    assert split_words(words, after, lambda word: word in ("src", "src/")) == (query, paths)


def test_no_option_takes_a_value_in_one_verb_and_none_in_another() -> None:
    takes_value: dict[str, bool] = {}
    for command in codesearch.commands.values():
        for parameter in command.params:
            for name in (*parameter.opts, *parameter.secondary_opts) if parameter.opts[0][0] == "-" else ():
                assert takes_value.setdefault(name, not parameter.is_flag) == (not parameter.is_flag), name


# --- search -------------------------------------------------------------------------------------------------


def test_hits_exit_0_and_the_index_is_written_after_they_are_printed(engine: RecordedEngine, run) -> None:
    result = run("retry", "failed", "uploads")
    assert result == Run(
        0,
        "src/upload.py:10-12  Uploader.retry  method  0.83\n    10- def retry(self):\n    11:     send()\n",
        "",
    )
    assert [name for name, _ in engine.calls] == ["retry failed uploads", "finish"]


def test_no_hits_exit_1_with_the_nearest_on_stderr(engine: RecordedEngine, run) -> None:
    engine.hits, engine.near_misses = (), (HIT,)
    assert run("zzz") == Run(
        1,
        "",
        "Nothing found for “zzz”.\n"
        "Nearest, below the threshold:\n"
        "  src/upload.py:10-12  Uploader.retry  method  0.83\n",
    )


def test_misspelt_verb_that_finds_nothing_names_the_verb(engine: RecordedEngine, run) -> None:
    engine.hits = ()
    assert run("statsu").err.splitlines()[-1] == "Did you mean the command `codesearch status`?"


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        ("statsu", "status"),
        ("similr src/upload.py:10", "similar"),
        ("search statsu", None),  # the verb was given
        ("status of things", None),
        ("shows where parts are sent", None),  # a sentence
        ("look for parts", None),
    ],
)
def test_misspelt_verb_is_named_even_where_the_words_find_something(
    engine: RecordedEngine, run, words: str, verb: str | None
) -> None:
    result = run(*words.split()) if not words.startswith("status ") else run("--", *words.split())
    assert result.code == 0
    assert result.err == (f"Did you mean the command `codesearch {verb}`?\n" if verb else "")


def test_verb_misspelt_before_other_words_is_named_where_they_find_nothing(engine: RecordedEngine, run) -> None:
    engine.hits = ()
    assert run("serach", "foo", "bar").err.splitlines()[-1] == "Did you mean the command `codesearch search`?"
    assert "Did you mean" not in run("look", "foo", "bar").err


def test_every_flag_reaches_the_engine(engine: RecordedEngine, run) -> None:
    code = run(
        "retry uploads", "src/", "-p", "tests", "-t", "py,Go", "--kind", "method,class", "--symbol", "retry",
        "-g", "*.py", "--no-tests", "--code", "--at", "HEAD~1", "-k", "3", "--no-update",
        "--min-score", "0.5", "--all",
    ).code  # fmt: skip
    assert code == 0
    assert engine.calls[0] == (
        "retry uploads",
        {
            "limit": 3,
            "filters": Filters(
                paths=("tests", "src"),
                languages=("python", "go"),
                kinds=(Kind.METHOD, Kind.CLASS),
                symbols=("retry",),
                globs=("*.py",),
                tests=False,
                docs=False,
            ),
            "staged": False,
            "at": "HEAD~1",
            "update": False,
            "min_score": 0.5,
            "collapsed": False,
        },
    )


def test_paths_count_from_where_the_user_stands(engine: RecordedEngine, run, tmp_path: Path) -> None:
    result = run("-C", "src", "-p", "upload.py", "-p", "../tests", str(tmp_path / "src"), "-l")
    # one word with a slash is the query, not a path: there must be something to search for
    assert engine.calls[0][0] == str(tmp_path / "src")
    assert engine.calls[0][1]["filters"].paths == ("src/upload.py", "tests")
    assert engine.root == tmp_path.resolve()
    assert result.out == "upload.py\n"


def test_json_paths_count_from_the_root_wherever_the_user_stands(engine: RecordedEngine, run) -> None:
    assert json.loads(run("-C", "src", "retry", "--json").out)["hits"][0]["path"] == "src/upload.py"


def test_the_root_itself_restricts_nothing(engine: RecordedEngine, run) -> None:
    run("retry uploads", ".")
    assert engine.calls[0][1]["filters"] == Filters()


def test_dash_c_takes_a_folder_or_lines(engine: RecordedEngine, run) -> None:
    result = run("-C", "src", "retry", "-C", "2")
    assert ("show", f"{engine.root}/src/upload.py:9-13") in engine.calls
    assert result.out == (
        "upload.py:10-12  Uploader.retry  method  0.83\n     9- # above\n    10- a\n    11: b\n    12- c\n    13- d\n"
    )


@pytest.mark.parametrize(
    ("flags", "location"),
    [
        (["-A", "3"], "ROOT/src/upload.py:11-14"),
        (["-B", "30"], "ROOT/src/upload.py:1-11"),
        (["--context", "1", "-A", "0"], "ROOT/src/upload.py:10-11"),
        (["-C1", "--at", "HEAD~2"], "HEAD~2:src/upload.py:10-12"),
    ],
)
def test_context_is_read_around_the_lines_that_match(
    engine: RecordedEngine, run, flags: list[str], location: str
) -> None:
    run("retry", *flags)
    assert ("show", location.replace("ROOT", str(engine.root))) in engine.calls


def test_formats(engine: RecordedEngine, run) -> None:
    assert json.loads(run("retry", "--json").out)["hits"][0]["symbol"] == "retry"
    assert json.loads(run("retry", "--format", "jsonl").out)["rank"] == 1
    assert run("retry", "--vimgrep").out == "src/upload.py:10:5:def retry(self):\n"
    assert run("retry", "-l").out == "src/upload.py\n"
    assert run("retry", "--no-snippet").out == "src/upload.py:10-12  Uploader.retry  method  0.83\n"
    assert run("retry", "--no-snippet", "--explain").out.splitlines()[1] == "      dense +0.500"
    assert json.loads(run("retry", "--json", "--no-snippet").out)["hits"][0]["snippet"] == ""


def test_json_without_hits_is_still_one_document(engine: RecordedEngine, run) -> None:
    engine.hits = ()
    result = run("zzz", "--json")
    assert result.code == 1
    assert json.loads(result.out)["hits"] == []


def test_default_number_of_hits_comes_from_the_settings(
    engine: RecordedEngine, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESEARCH_TOP_K", "4")
    run("retry")
    run("retry", "-k", "2")
    assert [call[1]["limit"] for call in engine.calls if call[0] == "retry"] == [4, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["x", "--jsno"], "No such option: --jsno", "Did you mean --json?"),
        (["index", "--stagd"], "No such option: --stagd", "Did you mean --staged?"),
        (["x", "-t", "pyton"], "Unknown language: pyton", "Did you mean python?"),
        (["x", "-t", "zzz"], "Unknown language: zzz", "Run: codesearch languages"),
        (["x", "--kind", "methd"], "Unknown kind: methd", "Did you mean method?"),
        (
            ["x", "-k", "0"],
            "Invalid value for '-k' / '--top-k': 0 is not in the range 1<=x<=1000.",
            "--top-k takes a whole number from 1 to 1000.",
        ),
        (["x", "-k", "1001"], "1001 is not in the range 1<=x<=1000.", "--top-k takes a whole number from 1 to 1000."),
        (["x", "-k", "many"], "'many' is not a whole number.", "--top-k takes a whole number from 1 to 1000."),
        (["x", "-A", "-1"], "-1 is not in the range x>=0.", "--after-context takes a whole number from 0 on."),
        (["x", "--min-score", "high"], "'high' is not a number.", "Try: --min-score 0.5"),
        (["x", "--format", "jsn"], "'jsn' is not one of 'text', 'json',", "Did you mean --format json?"),
        (["x", "--color", "alway"], "'alway' is not one of", "Did you mean --color always?"),
        (["x", "--hyperlnk=auto"], "No such option: --hyperlnk", "Did you mean --hyperlink?"),
        (["x", "-t"], "Option '-t' requires an argument.", "Write -t LANG."),
        (["hook", "instal"], "There is no `hook instal`.", "Did you mean `codesearch hook install`?"),
        (["x", "--foo"], "No such option: --foo", "Run: codesearch search --help; to search for dashes:"),
        (["x", "--no-test"], "No such option: --no-test", "Did you mean --no-tests?"),
        (["x", "--tests", "--no-tests"], "--tests and --no-tests together admit nothing.", "Give one"),
        (["x", "--code", "--docs"], "--docs and --code together admit nothing.", "Give one"),
        (["x", "--min-score", "nan"], "--min-score must be a number, not nan.", "Try: --min-score 0.5"),
        (["x", "--min-score=-inf"], "--min-score must be a number, not -inf.", "Try: --min-score 0.5"),
        (["x", "-p", "nowhere"], "No such file or folder: nowhere", "Give -p a file or folder; it counts from where"),
        (["outline", "nowhere.py"], "There is no file or folder nowhere.py.", "Give a path from where you stand."),
        (
            ["show", "me", "the", "session"],
            "Got unexpected extra arguments (the session)",
            "`show` was taken as the command. To search for these words: codesearch -- show me the session",
        ),
        (
            ["status", "of", "the app", "-k", "2"],
            "No such option: -k",
            "`status` was taken as the command. To search for these words: codesearch -k 2 -- status of 'the app'",
        ),
        (
            ["-k", "3", "show", "me", "--", "src"],
            "No such option: -k",
            "`show` was taken as the command. To search for these words: codesearch -k 3 -- show me -- src",
        ),
        (
            ["outline", "of", "a", "lamp"],
            "There is no file or folder of.",
            "`outline` was taken as the command. To search for these words: codesearch -- outline of a lamp",
        ),
        (["x", "--json", "--vimgrep"], "Several output formats: json, vimgrep.", "Give one"),
        (["x", "--staged", "-A", "3"], "Context lines of what is staged cannot be shown.", "Leave out"),
        (["x", "--staged", "--at", "HEAD"], "--staged and --at name two different snapshots.", "Give one"),
        (["search"], "The query is empty.", "Run: codesearch"),
        (["--json"], "The query is empty.", "Run: codesearch"),
        (["a query", "nowhere"], "No such file or folder: nowhere", "Quote the whole query"),
        (["a query", "/"], "/ is outside the repository", "Use -C DIR"),
        (["x", "-C", "nowhere"], "nowhere does not exist.", "Give -C the folder"),
        (["show", "missing.py:3"], "missing.py names nothing.", "Run: codesearch outline"),
        (["show"], "Missing argument 'LOCATION'.", "Try: codesearch show src/upload.py:40"),
        (["outline"], "Missing argument 'PATH...'.", "Try: codesearch outline src/upload.py"),
    ],
)
def test_errors_are_one_error_and_one_hint_line(
    engine: RecordedEngine, run, arguments: list[str], error: str, hint: str
) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    first, second = result.err.splitlines()
    assert first.startswith("Error: ")
    assert error in first
    assert second.startswith(f"Hint: {hint}")


def test_filters_that_admit_nothing_are_named(engine: RecordedEngine, run) -> None:
    engine.hits, engine.barred_by = (), (Filters(languages=("go",)), Filters(globs=("nosuch/*",)))
    assert run("x", "-t", "go", "-g", "nosuch/*") == Run(
        1, "", "No file passes -t go.\nNo file passes -g 'nosuch/*'.\n"
    )


def test_files_that_changed_since_are_counted_without_update(engine: RecordedEngine, run) -> None:
    engine.left_out = 2
    assert run("retry").err == ""
    assert run("retry", "--no-update").err == (
        "2 changed files were left out; without --no-update they are searched as they are.\n"
    )


def test_path_through_a_symlink_means_what_it_leads_to(engine: RecordedEngine, run, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to("src")
    (tmp_path / "away").symlink_to("/")
    run("retry", "-p", "alias", "-p", "alias/upload.py")
    assert engine.calls[0][1]["filters"].paths == ("src", "src/upload.py")
    result = run("retry", "-p", "away")
    assert result.code == 2
    assert result.err.startswith("Error: away leads outside the repository ")


def test_first_index_of_a_plain_folder_says_what_is_indexed_and_where(engine: RecordedEngine, run) -> None:
    engine.repository.is_git, engine.indexed = False, False
    note = "/x is no git repository; indexing the whole folder into /x/.git/codesearch\n"
    assert run("retry").err == note
    assert run("index").err == note
    engine.indexed = True
    assert run("retry").err == ""


def test_clean_asks_only_where_a_person_can_answer(
    engine: RecordedEngine, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(text: str, *flags: str) -> Run:
        engine.calls.clear()
        monkeypatch.setattr("sys.stdin", Terminal(text))
        return run("clean", *flags)

    refused = answer("n\n")
    assert (refused.code, refused.out, engine.calls) == (1, "", [])
    assert "Remove the index, 1.4 MB in /x/.git/codesearch? [y/N]" in refused.err
    assert refused.err.endswith("Nothing was removed.\n")
    for text, flags in (("y\n", ()), ("", ("--yes",))):
        assert (answer(text, *flags).code, engine.calls) == (0, [("clean", True)])
    assert answer("").code == 130  # the terminal is gone


def test_unexpected_failure_has_a_traceback_only_with_debug(engine: RecordedEngine, run) -> None:
    engine.raises = ZeroDivisionError("divided \x1b[31mby zero")
    result = run("x")
    assert result.code == 2
    assert result.err.splitlines() == [
        "Error: Unexpected failure, ZeroDivisionError: divided \\x1b[31mby zero",
        "Hint: Run again with --debug to see where.",
    ]
    assert "Traceback" in run("x", "--debug").err


def test_interrupt_exits_130(engine: RecordedEngine, run) -> None:
    engine.raises = KeyboardInterrupt()
    assert run("x").code == 130


# --- other verbs --------------------------------------------------------------------------------------------


def test_verbs_ask_the_engine_and_print(engine: RecordedEngine, run) -> None:
    assert run("index", "--staged").out.splitlines()[0] == "Indexed c0ffee in 0.5 s"
    assert engine.asked == ("index", {"staged": True, "at": None})
    assert json.loads(run("index", "--json").out)["files"]["total"] == 3
    assert json.loads(run("status", "--json").out)["chunks"] == 12
    assert "up to date" in run("status").out
    assert run("languages").out == "python  .py\n        function\ngo      .go\n"
    assert json.loads(run("languages", "--json").out)["languages"][0]["extensions"] == [".py"]
    assert run("clean").out == "Removed the index: 1.4 MB freed.\n"
    removed = {"views": 2, "segments": 1, "units": 0, "texts": 0}
    document = {"schema": 1, "freed_bytes": 1_400_000, "removed": removed, "dry_run": False}
    assert json.loads(run("clean", "--json").out) == document
    assert run("clean", "--gc").out == "Removed 2 views, 1 segment: 1.4 MB freed.\n"
    assert run("clean", "--gc", "-n").out == "Would remove 2 views, 1 segment: 1.4 MB in files.\n"


def test_outline_and_show_take_paths_from_where_the_user_stands(engine: RecordedEngine, run) -> None:
    assert run("-C", "src", "outline", "upload.py", "--json").code == 0
    assert engine.asked == ("outline", [f"{engine.root}/src/upload.py"])
    for given, asked in [
        ("upload.py:3", "ROOT/src/upload.py:3"),
        ("upload.py:3-5", "ROOT/src/upload.py:3-5"),
        ("upload.py#retry", "ROOT/src/upload.py#retry"),
        ("src/upload.py:3", "ROOT/src/upload.py:3"),  # as JSON cites it
        ("HEAD~1:src/upload.py:3", "HEAD~1:src/upload.py:3"),
    ]:
        assert run("-C", "src", "show", given).code == 0
        assert engine.asked == ("show", asked.replace("ROOT", str(engine.root)))


# --- help and colour ----------------------------------------------------------------------------------------


def test_without_arguments_help_goes_to_stdout_and_exits_2(run) -> None:
    result = run()
    assert (result.code, result.err) == (2, "")
    assert result.out == run("--help").out
    assert run("--help").code == 0


def test_every_verb_and_every_option_has_help(run) -> None:
    for name, command in codesearch.commands.items():
        assert command.help, name
        examples = re.findall(r"^ *(?:\S+ \"\$\()?codesearch .*", command.help, re.MULTILINE)
        assert len(examples) >= 2, name
        for parameter in command.params:
            assert parameter.param_type_name == "argument" or parameter.help, (name, parameter.name)
        assert run(name, "--help").out.startswith(f"Usage: codesearch {name}")


def test_readme_names_every_verb_and_every_option() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    for name, command in codesearch.commands.items():
        assert f"`codesearch {name}" in readme, name
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                assert any(f"`{option}" in readme for option in parameter.opts), (name, parameter.opts)


@pytest.mark.parametrize(
    ("flags", "environment", "colored"),
    [
        ([], {}, False),  # not a terminal
        (["--color", "always"], {}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        ([], {"CODESEARCH_COLOR": "always"}, True),
        ([], {"CODESEARCH_COLOR": "always", "NO_COLOR": "1"}, False),
        (["--color", "never"], {"CODESEARCH_COLOR": "always"}, False),
    ],
)
def test_colour_follows_flag_then_no_color_then_setting(
    engine: RecordedEngine, run, monkeypatch, flags: list[str], environment: dict[str, str], colored: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run("retry", *flags).out) is colored


def test_progress_is_drawn_only_on_a_terminal_and_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(stream: io.StringIO, patience: float) -> str:
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setattr("codesearch.cli.progress.PATIENCE_S", patience)
        with ProgressBars() as progress:
            progress(Progress("parsing\x1b[2J", 1, None))
            progress(Progress("parsing\x1b[2J", 2, 4))
        return stream.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    assert r"parsing\x1b[2J" in drawn(Terminal(), 0.0)
    assert drawn(Terminal(), 60.0) == ""
    assert drawn(io.StringIO(), 0.0) == ""


def test_bars_tell_how_fast_it_goes_and_how_long_it_takes_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    monkeypatch.setattr("codesearch.cli.progress.PATIENCE_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with ProgressBars() as progress:
        for done in range(0, 9000, 1000):
            progress(Progress("parsing", done, 100_000))
            time.sleep(0.05)
        assert re.search(
            r"parsing .*000/100000 \d+,\d{3}/s 0:00:00 0:0\d left",
            re.sub(r"\x1b\[[0-9;?]*[a-z]", "", stream.getvalue()),
        )


def test_bars_have_room_on_a_terminal_of_twenty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    monkeypatch.setattr("codesearch.cli.progress.PATIENCE_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")
    with ProgressBars() as progress:
        progress(Progress("indexing", 7, 300))
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    assert "indexing   7/300" in shown
    assert "…" not in shown


@pytest.mark.parametrize(("total", "expected"), [(None, []), (0, []), (4, ["2/4"])])
def test_no_bar_and_no_count_while_the_total_is_unknown(
    monkeypatch: pytest.MonkeyPatch, total: int | None, expected: list[str]
) -> None:
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    monkeypatch.setattr("codesearch.cli.progress.PATIENCE_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressBars() as progress:
        progress(Progress("recording", 2 if total else 0, total))
    *_, frame = [line for line in stream.getvalue().split("\r") if "recording" in line]
    assert re.findall(r"\d+/[\d?]+", frame) == expected
    assert ("━" in frame) is bool(expected)


def test_a_file_name_that_is_not_utf8_is_printed(engine: RecordedEngine, run) -> None:
    engine.hits = (replace(HIT, path=os.fsdecode(b"src/\xff.py")),)
    assert run("retry", "-l").out == "src/\\xff.py\n"
    assert "\\udcff" in run("retry", "--json").out
