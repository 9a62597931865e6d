"""The retrieval benchmark: what it counts, and the program over a real repository."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from git_helpers import init

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
from run_tables import compare, means  # noqa: E402
from runs import DECLARATIONS, FILES, Answer, Place, ndcg, read_run, write_run  # noqa: E402

OVENS = '''\
def heat_oven(stones):
    """Lights a fire below the stones."""
    fire = stones.below()
    return fire.light()


def knead_dough(flour, water):
    """Works water into flour until it is elastic."""
    dough = flour + water
    return dough.fold(times=40)
'''


def answer(
    *results: Place, expected: tuple[Place, ...] = (Place("a.py", 10, 19),), level: str = DECLARATIONS
) -> Answer:
    return Answer(level, "bakery", "python", "docs", "heat the oven", expected, results, 1.5)


def program(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "retrieval.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("result", "overlaps", "is_exact"),
    [
        (Place("a.py", 10, 19), True, True),
        (Place("a.py", 1, 20), True, True),  # 10 of 20 lines
        (Place("a.py", 1, 21), True, False),
        (Place("a.py", 19, 30), True, False),
        (Place("a.py", 20, 30), False, False),
        (Place("b/a.py", 10, 19), False, False),
    ],
)
def test_a_hit_overlaps_a_declaration_and_is_exact_with_half_of_the_lines(
    result: Place, overlaps: bool, is_exact: bool
) -> None:
    found = answer(Place("other.py", 10, 19), result)
    assert (found.rank() == 2, found.rank(0.5) == 2) == (overlaps, is_exact)


def test_file_scores_count_a_target_at_its_first_hit_and_the_list_as_it_stands() -> None:
    hits = [Place("src/a.py", 1, 5), Place("src/a.py", 50, 60), Place("src/b.py", 1, 5)]
    assert ndcg(hits, [Place("a.py")]) == 1
    assert ndcg(hits, [Place("rc/a.py")]) == 0  # a path ends at a slash
    assert ndcg(hits, [Place("a.py", 55, 56)]) == pytest.approx(0.6309, abs=1e-4)  # the second hit
    assert ndcg(hits, [Place("b.py")]) == 0.5
    strict, once = answer(*hits, expected=(Place("b.py"),), level=FILES).measures()
    assert (strict, round(once, 4)) == (0.5, 0.6309)


def test_files_are_averaged_over_repositories_and_declarations_over_questions() -> None:
    good, bad = answer(Place("a.py", 10, 19)), answer()
    other = replace(bad, repo="mill")
    assert means([good, good, other], by_repo=True)[0] == 0.5
    assert means([good, good, other], by_repo=False)[0] == pytest.approx(2 / 3)


def test_two_runs_are_compared_by_question_and_losses_come_first(tmp_path: Path) -> None:
    right, wrong = Place("a.py", 10, 19), Place("b.py", 1, 3)
    lost, won = replace(answer(), query="lost\u2028case"), replace(answer(), query="won case")
    before = [replace(lost, results=(right,)), replace(won, results=(wrong, right)), replace(won, query="old")]
    now = [replace(lost, results=(wrong,)), replace(won, results=(right,)), replace(won, query="new")]
    write_run(before, tmp_path / "before.jsonl")
    assert read_run(tmp_path / "before.jsonl") == before
    text = compare(before, now)
    assert "2 questions in both runs, 3 in the first, 3 in the second" in text
    assert text.index("1 worse") < text.index("lost case") < text.index("1 better") < text.index("won case")
    assert "expected  a.py:10-19" in text
    assert "first     a.py:10-19  →  b.py:1-3" in text


def test_the_program_measures_questions_of_files_declarations_docs_and_commits(tmp_path: Path) -> None:
    checkouts = tmp_path / "checkouts"
    init(checkouts / "bakery", {"ovens.py": OVENS})
    (tmp_path / "bakery.json").write_text(
        json.dumps([{"query": "light a fire", "relevant": ["ovens.py"], "category": "semantic"}])
    )
    row = {"name": "bakery", "language": "python", "benchmark_root": None}
    (tmp_path / "list.json").write_text(json.dumps([row]))
    files, docs = tmp_path / "files.jsonl", tmp_path / "docs.jsonl"
    kept = ("--checkouts", checkouts, "--home", tmp_path / "home")
    done = program(*kept, "--annotations", tmp_path, "--repositories", tmp_path / "list.json", "--run", files)
    assert done.returncode == 0, done.stderr
    assert "| python | 1 | 1.000 | 1.000 |" in done.stdout
    done = program(*kept, "--docs", 5, "--run", docs)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in docs.read_text().splitlines()]
    assert {(row["query"], row["path"]) for row in rows} == {
        ("Lights a fire below the stones", "ovens.py"),
        ("Works water into flour until it is elastic", "ovens.py"),
    }
    assert all(row["results"] and row["cost"]["index_s"] > 0 for row in rows)
    done = program("--compare", docs, docs)
    assert "2 questions in both runs" in done.stdout
    assert "0 worse" in done.stdout
    assert program("--compare", files, docs).stderr == "The runs share no question.\n"
    assert program(*kept, "--commits", 5).stderr.endswith("There are no questions.\n")
