"""Cases with known answers: read, made from a repository, asked, compared; and the verb as a script sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_helpers import commit, init, write
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.cases import append_case, read_cases
from codesearch.errors import UsageError
from codesearch.evaluation import Case, Evaluation, compare, evaluate, found_ranks, load, save
from codesearch.harvesting import from_docs, from_history
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
        append_case(tmp_path / name, case)
    assert read_cases(tmp_path / name) == cases


def test_what_stands_in_a_file_stays_when_a_case_is_added(tmp_path: Path) -> None:
    path = tmp_path / "golden.toml"
    path.write_text(f"# ours\n{GOLDEN.rstrip()}")
    append_case(path, Case("grind", ("mill.py",)))
    assert path.read_text().startswith(f"# ours\n{GOLDEN}")
    assert [case.query for case in read_cases(path)] == ["weigh the flour", "grind"]


@pytest.mark.parametrize(
    "content",
    ["", "nonsense", "[[question]]\nquery = 'a'\n", "[[question]]\nquery = ''\nexpected = ['b']\n", "[question]\n"],
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
    better = ask(engine, right, Case(wrong.query, ("stream.go",)))
    difference = compare(run, better)
    assert difference.scores["hit@1"].mean == 0.5
    assert difference.changed == (("open the gate", None, 1),)
    save(run, mill / "kept" / "run.json")
    assert load(mill / "kept" / "run.json") == run
    assert load(mill / "nowhere.json") is None


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
    assert (document["schema"], document["difference"]) == (1, None)
    assert document["runs"][0]["scores"]["hit@1"]["mean"] == 1
    added = codesearch(mill, "eval", str(golden), "--add", "mow the lawn", "--expect", "mill.py#Mill.sharpen")
    assert added.returncode == 0, added.stderr
    golden.write_text(golden.read_text().replace("weigh_flour", "grind_wheat"))
    second = codesearch(mill, "eval", str(golden))
    assert b"hit@1     0.000" in second.stdout
    assert b"0 better, 1 worse" in second.stdout
    assert b"mow the lawn" in second.stdout
    assert codesearch(mill, "eval", str(golden), "--fail-under", "0.2").returncode == 0
    assert codesearch(mill, "eval", str(golden), "--fail-under", "hit@1=0.2").returncode == 1


def test_the_command_refuses_what_it_cannot_do(mill: Path) -> None:
    for words in (
        ["eval"],
        ["eval", "golden.toml", "--from-docs", "3"],
        ["eval", "golden.toml", "--add", "q"],
        ["eval", "golden.toml", "--add", "q", "--expect", "mill.py#nothing"],
        ["eval", "golden.toml", "--fail-under", "hit@2=0.5"],
        ["eval", "golden.toml", "--fail-under", "many"],
        ["eval", "missing.toml"],
        ["eval", "--from-docs", "3", "--write", "made.toml"],
    ):
        result = codesearch(mill, *words)
        assert result.returncode == 2, words
        assert result.stderr.count(b"Error:") == 1
        assert b"Hint:" in result.stderr
    assert (mill / "golden.toml").read_text() == GOLDEN


def test_questions_of_the_history_can_be_kept_and_asked_again(mill: Path) -> None:
    write(mill, {"mill.py": MILL.replace("bag.weight - 2", "bag.weight - bag.tare")})
    commit(mill, "Subtract the tare of the bag")
    made = codesearch(mill, "eval", "--from-history", "5", "--write", "made.toml")
    assert made.returncode == 0, made.stderr
    assert b"1 question\n" in made.stdout
    again = codesearch(mill, "eval", "made.toml")
    assert again.stdout == made.stdout
    assert codesearch(mill, "eval", "--from-docs", "5").stdout.startswith(b"3 questions\n")
