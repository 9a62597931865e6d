"""Cases with known answers: read, made from a repository, asked, compared; and the verb as a script sees it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from git_helpers import commit, git, init, write
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.cases import append_cases, read_cases
from codesearch.cli.run import run
from codesearch.errors import UsageError
from codesearch.evaluation import Case, Evaluation, Outcome, compare, evaluate, found_ranks, load, save
from codesearch.harvesting import from_docs, from_history
from codesearch.harvesting.commits import question_of
from codesearch.settings import Settings

MILL = '''\
"""Grinds grain."""


class Mill:
    """A mill with two stones."""

    def grind_wheat(self, sacks):
        """Turns the sacks of wheat into fine white flour."""
        return [self.stones.turn(sack) for sack in sacks]

    def sharpen(self):
        # Cuts new furrows into both of the worn stones.
        self.stones.furrow()


def weigh_flour(bag):
    """Puts a bag of flour onto the big scales."""
    return bag.weight - 2
'''
STREAM = "// Opens the gate so that water drives the wheel.\nfunc OpenGate(height int) int {\n\treturn height * 2\n}\n"
GOLDEN = '[[question]]\nquery = "weigh the flour"\nexpected = ["mill.py#weigh_flour"]\n'


@pytest.fixture
def mill(tmp_path: Path) -> Path:
    root = init(tmp_path / "mill", {"mill.py": MILL, "stream.go": "package stream\n\n" + STREAM})
    (root / "golden.toml").write_text(GOLDEN)
    return root


def ask(engine: Engine, *cases: Case) -> Evaluation:
    return evaluate("model", cases, lambda case: engine.search(case.query, at=case.at).hits)


# --- golden files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["golden.toml", "golden.jsonl"])
def test_what_is_added_is_read_back(tmp_path: Path, name: str) -> None:
    cases = [Case('say "hi" \\ \t there\x7f', ("a/b.py#C.d", "a/b.py:3-4")), Case("größer", ("x",), "HEAD~1")]
    for case in cases:
        assert append_cases(tmp_path / name, [case]) == 1
    assert read_cases(tmp_path / name) == cases
    assert append_cases(tmp_path / name, [*cases, Case("new", ("y",))]) == 1
    assert read_cases(tmp_path / name) == [*cases, Case("new", ("y",))]


def test_what_stands_in_a_file_stays_when_a_case_is_added(tmp_path: Path) -> None:
    path = tmp_path / "golden.toml"
    path.write_text(f"# ours\n{GOLDEN.rstrip()}")
    append_cases(path, [Case("grind", ("mill.py",))])
    assert path.read_text().startswith(f"# ours\n{GOLDEN}")
    assert [case.query for case in read_cases(path)] == ["weigh the flour", "grind"]


@pytest.mark.parametrize("content", ["question = []\n", "nonsense"])
def test_a_file_that_would_be_spoilt_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "golden.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"golden\.toml"):
        append_cases(path, [Case("grind", ("mill.py",))])
    assert path.read_text() == content


@pytest.mark.parametrize(
    "content",
    [
        "",
        "nonsense",
        "[[question]]\nquery = 'a'\n",
        "[[question]]\nquery = ''\nexpected = ['b']\n",
        "[[question]]\nquery = 'a'\nexpected = ['b.py:9-3']\n",
        "[question]\n",
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "golden.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"golden\.toml"):
        read_cases(path)


# --- figures -------------------------------------------------------------------------------------------------


def test_each_form_of_answer_counts_at_the_first_hit_that_shows_it(mill: Path) -> None:
    hits = Engine.open(mill, Settings()).search("weigh the flour").hits
    assert hits[0].symbol == "weigh_flour"
    for place in ("mill.py#weigh_flour", "mill.py:16", "mill.py:15-18", "mill.py"):
        assert found_ranks(Case("q", (place,)), hits) == (1,), place
    assert found_ranks(Case("q", ("stream.go#weigh_flour", "mill.py#nothing", "mill.py:200")), hits) == ()


def test_means_and_what_changed_between_two_runs(mill: Path) -> None:
    engine = Engine.open(mill, Settings())
    right, wrong = Case("weigh the flour", ("mill.py#weigh_flour",)), Case("open the gate", ("mill.py#Mill.sharpen:1",))
    run = ask(engine, right, wrong)
    assert run.scores["hit@1"].mean == 0.5
    assert run.scores["mrr"].mean == 0.5
    assert run.scores["ndcg@10"].mean == 0.5
    assert run.scores["hit@1"].low <= 0.5 <= run.scores["hit@1"].high
    better = evaluate(
        "model", [right, wrong], lambda case: engine.search("weigh the flour").hits if case == right else []
    )
    assert compare(run, better).changed == ()
    opened = Outcome(wrong, (1,))
    difference = compare(run, replace(better, outcomes=(better.outcomes[0], opened)))
    assert difference.cases == 2
    assert difference.scores["hit@1"].mean == 0.5
    assert difference.changed == (("open the gate", None, 1),)
    edited = Outcome(replace(wrong, expected=("stream.go",)), (1,))
    assert compare(run, replace(better, outcomes=(better.outcomes[0], edited))).cases == 1
    save(run, mill / "kept" / "run.json")
    assert load(mill / "kept" / "run.json") == run
    assert load(mill / "nowhere.json") is None


def test_hits_beyond_ten_count_for_hit_at_k_alone() -> None:
    found = Outcome(Case("q", ("a.py",)), (12,))
    assert [found.value(metric) for metric in ("hit@10", "mrr", "ndcg@10", "hit@20")] == [0, 0, 0, 1]


# --- cases made of a repository ------------------------------------------------------------------------------


def test_docs_ask_for_their_declarations_in_files_without_docs(mill: Path, tmp_path: Path) -> None:
    engine = Engine.open(mill, Settings())
    folder = tmp_path / "copy"
    cases = {case.query: case for case in from_docs(engine.repository, engine.language_set, 10, folder)}
    assert set(cases) == {
        "Turns the sacks of wheat into fine white flour",
        "Puts a bag of flour onto the big scales",
        "Opens the gate so that water drives the wheel",
    }
    copied = (folder / "mill.py").read_text()
    assert "white flour" not in copied
    assert "A mill with two stones" not in copied
    assert "Cuts new furrows" in copied  # a comment inside is code's own
    assert copied.count("\n") == MILL.count("\n")
    assert (folder / "stream.go").read_text().startswith("package stream\n\n\nfunc OpenGate")
    run = ask(Engine.open(folder, Settings(home=tmp_path / "home")), *cases.values())
    assert run.scores["hit@3"].mean == 1


def test_a_doc_that_names_its_declaration_or_is_not_alone_asks_nothing(tmp_path: Path) -> None:
    docs = {
        "CloseGate": "CloseGate lets no more water onto the wheel.",  # its own name is no part of the question
        "openGate": "Used to open gates for the water.",
        "Drain": "Takes what is left out of the pond.",
        "Empty": "takes what is left out of the pond!",
        "Fill": "TODO: fill it from the river again.",
        "Freeze": "@brief Turns all of the water into ice. There is no way back.",
        "Skate": "@param pond what to glide over",
    }
    source = "".join(f"// {doc}\nfunc {name}(pond int) int {{\n\treturn pond\n}}\n\n" for name, doc in docs.items())
    engine = Engine.open(init(tmp_path / "pond", {"pond.go": f"package pond\n\n{source}"}), Settings())
    cases = from_docs(engine.repository, engine.language_set, 10, tmp_path / "copy")
    assert {case.query for case in cases} == {"lets no more water onto the wheel", "Turns all of the water into ice"}


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("Retry uploads that have failed (#12)", "Retry uploads that have failed"),
        ("fix(upload): retry what has failed before", "retry what has failed before"),
        ("ABC-12: Retry uploads that have `failed`.", "Retry uploads that have failed"),
        ("docs: say how uploads are retried", ""),
        ('Revert "Retry uploads that have failed"', ""),
        ("revert: retry uploads that have failed", ""),
        ("Bump actions/checkout from 3 to 4", ""),
        ("Fix a typo in the uploader", ""),
        ("Retry uploads", ""),
    ],
)
def test_subjects_that_say_nothing_about_code_ask_nothing(subject: str, question: str) -> None:
    assert question_of(subject) == question


def test_a_shallow_clone_has_the_questions_whose_parents_it_has(mill: Path, tmp_path: Path) -> None:
    for number, subject in enumerate(("Take the tare off the scales", "Take the sack off the scales")):
        write(mill, {"mill.py": MILL.replace("bag.weight - 2", f"bag.weight - {number}")})
        commit(mill, subject)
    git(tmp_path, "clone", "-q", "--depth", "2", mill.as_uri(), "shallow")
    engine = Engine.open(tmp_path / "shallow", Settings())
    (case,) = from_history(engine.repository, engine.language_set, 5)
    assert case.query == "Take the sack off the scales"


def test_history_asks_on_the_parent_for_what_a_commit_changed(mill: Path) -> None:
    write(mill, {"mill.py": MILL.replace("bag.weight - 2", "bag.weight - bag.tare")})
    commit(mill, "Put the bag onto the scales without flour (#12)")
    write(mill, {"stream.go": "package stream\n\n" + STREAM.replace("* 2", "* 3")})
    commit(mill, "fix typo")
    engine = Engine.open(mill, Settings())
    (case,) = from_history(engine.repository, engine.language_set, 5)
    assert case.query == "Put the bag onto the scales without flour"
    assert case.expected == ("mill.py:16-18",)
    assert case.at == engine.repository.resolve("HEAD~2")
    assert ask(engine, case).scores["hit@5"].mean == 1


# --- the command ---------------------------------------------------------------------------------------------


def test_the_command_measures_remembers_and_fails_below_a_threshold(mill: Path, tmp_path: Path) -> None:
    (mill / "golden.toml").rename(golden := tmp_path / "golden.toml")
    first = codesearch(mill, "eval", str(golden), "--json")
    assert first.returncode == 0, first.stderr
    document = json.loads(first.stdout)
    assert (document["schema"], document["source"], document["difference"]) == (1, "golden", None)
    assert document["runs"][0]["scores"]["hit@1"]["mean"] == 1
    added = codesearch(mill, "eval", str(golden), "--add", "mow the lawn", "--expect", "mill.py#Mill.sharpen", "--json")
    assert json.loads(added.stdout)["added"] == {"query": "mow the lawn", "expected": ["mill.py#Mill.sharpen"]}
    write(mill, {"mill.py": MILL.replace("weigh_flour", "measure").replace("sharpen", "blunt")})
    second = codesearch(mill, "eval", str(golden))
    assert b"hit@1     0.000" in second.stdout
    assert b"0 better, 1 worse (of 1 that both have)" in second.stdout
    assert b"mill.py declares no weigh_flour." in second.stdout
    assert codesearch(mill, "eval", str(golden), "--fail-under", "0").returncode == 0
    failed = codesearch(mill, "eval", str(golden), "--fail-under", "hit@1=0.2")
    assert (failed.returncode, failed.stderr) == (1, b"hit@1 is 0.000, below 0.2.\n")
    assert b": no change" in failed.stdout


def test_two_settings_are_compared_by_question(mill: Path, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('exclude = ["mill.py"]\n')
    result = codesearch(mill, "eval", "golden.toml", "--compare", str(tmp_path / "other.toml"), "-k", "12", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert [run["name"] for run in document["runs"]] == ["built-in model", "other.toml"]
    assert document["difference"]["changed"] == [{"query": "weigh the flour", "before": 1, "now": None}]
    assert document["difference"]["scores"]["hit@12"]["mean"] == -1
    assert codesearch(tmp_path, "-C", "mill", "eval", "golden.toml").stdout.endswith(b"ndcg@10   1.000 (1.000-1.000)\n")


def test_the_command_refuses_what_it_cannot_do(
    mill: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(mill)
    write(
        mill,
        {".gitignore": "dust.py\n", "dust.py": "def blow(): ...\n", "twice.py": MILL.replace("sharpen", "grind_wheat")},
    )
    asked = ["eval", "golden.toml", "--add", "q", "--expect"]
    for words, expected in (
        (["eval"], "Give one of"),
        (["eval", "golden.toml", "--from-docs", "3"], "Give one of"),
        (["eval", "golden.toml", "--add", "q"], "--expect"),
        ([*asked, "mill.py#nothing"], "declares no nothing"),
        ([*asked, "twice.py#Mill.grind_wheat"], "Candidates: twice.py:7"),
        ([*asked, "dust.py#blow"], "ignored by git"),
        ([*asked, "mil.py"], "Did you mean mill.py?"),
        (["eval", "golden.toml", "--add", "weigh the flour", "--expect", "mill.py"], "already"),
        (["eval", "golden.toml", "--fail-under", "hit@2=0.5"], "hit@1, hit@3"),
        (["eval", "golden.toml", "--fail-under", "many"], "METRIC=VALUE"),
        (["eval", "golden.toml", "--compare", "missing.toml"], "no file missing.toml"),
        (["eval", "missing.toml"], "cannot be read"),
        (["eval", "mill.py"], "neither .toml nor .jsonl"),
        (["eval", "--from-docs", "3", "--write", "made.toml"], "--from-history"),
        (["eval", "--from-history"], "No commit makes a question"),
    ):
        assert run(words) == 2, words
        errors = capsys.readouterr().err
        assert errors.count("Error:") == 1
        assert "Hint:" in errors
        assert expected in errors, words
    assert (mill / "golden.toml").read_text() == GOLDEN


def test_questions_of_the_history_can_be_kept_and_asked_again(mill: Path) -> None:
    write(mill, {"mill.py": MILL.replace("bag.weight - 2", "bag.weight - bag.tare")})
    commit(mill, "Subtract the tare of the bag")
    made = codesearch(mill, "eval", "--from-history", "--write", "made.toml")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith(b"1 question from commits, each asked of the commit's parent\n")
    again = codesearch(mill, "eval", "made.toml")
    assert again.stdout.splitlines()[1:] == made.stdout.splitlines()[1:]
    assert (
        b"0 questions written to made.toml, 1 there already"
        in codesearch(mill, "eval", "--from-history", "5", "--write", "made.toml").stderr
    )
    with (mill / "made.toml").open("a") as file:
        file.write('[[question]]\nquery = "q"\nexpected = "mill.py"\nat = "0123456789"\n')
    assert b"1 question not asked: this clone lacks the revision." in codesearch(mill, "eval", "made.toml").stderr
    assert codesearch(mill, "eval", "--from-docs", "5").stdout.startswith(
        b"3 questions from doc comments, asked of a copy"
    )
