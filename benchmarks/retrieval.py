"""Measures what codesearch finds and what it costs, on questions with known answers, through the product's own engine.

    python benchmarks/retrieval.py --checkouts FOLDER --annotations FOLDER --repositories FILE   questions for files
    python benchmarks/retrieval.py --questions FOLDER                   doc comments ask for their declarations
    python benchmarks/retrieval.py --checkouts FOLDER --docs 30         the same, made here of any repository
    python benchmarks/retrieval.py --checkouts FOLDER --commits 20      subjects of commits ask for what they changed
    python benchmarks/retrieval.py --checkouts FOLDER --names 60        names ask for what is declared under them
    python benchmarks/retrieval.py --compare RUN1 RUN2                  what got worse and what better

* files: FILE lists repositories (name, language, benchmark_root), `--annotations` has a `NAME.json` for each (query,
  category, relevant and secondary files, some with lines). Only what lies below the benchmark_root is searched.
* declarations: the folder of `--questions` has `queries.jsonl` (repo, language, query, path, start, end) and a tree
  for each repository, without its doc comments. success@k: one of the first k hits overlaps the declaration;
  exact@k: and shares at least half of their lines taken together.
* `--docs` and `--commits` make their questions from every repository below `--checkouts`, as `codesearch eval` does;
  doc comments are asked of a copy that lacks them, subjects of the commit's parent.
* `--names` takes names of at least four letters, of each kind in turn; any declaration of the name answers.

`--run FILE` keeps every question with its hits. `--only NAME` (may be repeated) takes some of the repositories.
Each repository is indexed from scratch by the command (its seconds and memory are those of the whole process tree)
and then searched in a process of its own (its largest memory; of each search the fastest of three, once the view is
open and without the check for edited files; with `--commits` that asks git for the commit, and the memory is that of
indexing the parents). `--home FOLDER` keeps the indexes for the next run, which then does not measure that.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby, islice, zip_longest
from pathlib import Path

from measuring import ROOT, command, describe_machine, environment, peak_memory, run_measured

sys.path.insert(0, str(ROOT))

from run_tables import compare, report
from runs import DECLARATIONS, FILES, SHOWN, Answer, Place, read_run, write_run

from codesearch.engine import Engine
from codesearch.errors import CodesearchError, RepositoryError
from codesearch.evaluation import Case
from codesearch.harvesting import from_docs, from_history
from codesearch.harvesting.docs import LARGEST_FILE
from codesearch.harvesting.questions import declarations_of
from codesearch.languages import Languages, load_languages
from codesearch.locations import parse_location
from codesearch.repository import Repository
from codesearch.settings import Settings
from codesearch.terms import own_name
from codesearch.types import Filters, Kind

SHORTEST_NAME = 4  # letters; `x` is declared everywhere
NO_NAMES = (Kind.SECTION, Kind.TEST, Kind.NAMESPACE)
ROUNDS = 3  # of searches; the fastest counts, since other programs can only slow one down


@dataclass(frozen=True)
class Asked:
    """A repository, the part of it that is searched, and its questions: answers without results."""

    name: str
    folder: Path
    root: str | None
    questions: list[Answer]


# --- questions --------------------------------------------------------------------------------------------------


def file_questions(arguments: argparse.Namespace) -> Iterator[Asked]:
    for row in json.loads(arguments.repositories.read_text("utf-8")):
        name = row["name"]
        if arguments.only and name not in arguments.only:
            continue
        questions = [
            Answer(FILES, name, row["language"], each["category"], each["query"], _targets(each), (), 0.0)
            for each in json.loads((arguments.annotations / f"{name}.json").read_text("utf-8"))
        ]
        yield Asked(name, arguments.checkouts / name, row["benchmark_root"], questions)


def _targets(row: Mapping) -> tuple[Place, ...]:
    targets = [{"path": t} if isinstance(t, str) else t for t in [*row["relevant"], *row.get("secondary", [])]]
    lines = [(t["path"], t.get("start_line"), t.get("end_line")) for t in targets]
    return tuple(Place(path, int(a), int(b)) if a and b else Place(path) for path, a, b in lines)


def declaration_questions(arguments: argparse.Namespace) -> Iterator[Asked]:
    asked: dict[str, Asked] = {}
    for line in (arguments.questions / "queries.jsonl").read_text("utf-8").rstrip("\n").split("\n"):
        row = json.loads(line)
        name = row["repo"]
        if arguments.only and name not in arguments.only:
            continue
        place = Place(row["path"], row["start"], row["end"])
        each = asked.setdefault(name, Asked(name, arguments.questions / name, None, []))
        each.questions.append(Answer(DECLARATIONS, name, row["language"], "docs", row["query"], (place,), (), 0.0))
    yield from asked.values()


def made_questions(arguments: argparse.Namespace, scratch: Path) -> Iterator[Asked]:
    """Questions that are made of every repository of a folder."""
    languages = load_languages()
    for folder in sorted(path for path in arguments.checkouts.iterdir() if path.is_dir()):
        if arguments.only and folder.name not in arguments.only:
            continue
        repository = Engine.open(folder, Settings()).repository
        if repository.root != folder.resolve():
            print(f"{folder.name}: no repository by itself, left out", file=sys.stderr)
            continue
        if arguments.names:
            copy, category = folder, "names"
            cases = declared_names(repository, languages, arguments.names)
        elif arguments.docs:
            copy = scratch / "copies" / folder.name
            copy.mkdir(parents=True)
            cases, category = from_docs(repository, languages, arguments.docs, copy), "docs"
        else:
            copy, category = folder, "commits"
            cases = from_history(repository, languages, arguments.commits)
        yield Asked(folder.name, copy, None, [_question(folder.name, case, category, languages) for case in cases])


def declared_names(repository: Repository, languages: Languages, count: int) -> list[Case]:
    """Names of the working tree, of each kind in turn, each with all the places that declare it."""
    places: dict[str, list[str]] = {}
    names: dict[Kind, list[str]] = {}
    for entry in repository.snapshot().entries:
        try:
            content = repository.read_file(entry.path, max_bytes=LARGEST_FILE)
        except (OSError, RepositoryError):
            continue
        for each in declarations_of(languages, entry.path, content):
            name = own_name(each.symbol)
            if len(name) >= SHORTEST_NAME and name.isidentifier() and each.kind not in NO_NAMES:
                places.setdefault(name, []).append(f"{entry.path}:{each.span.start_line}-{each.span.end_line}")
                names.setdefault(each.kind, []).append(name)
    for some in names.values():
        random.Random(count).shuffle(some)
    in_turn = dict.fromkeys(name for row in zip_longest(*names.values()) for name in row if name)
    return [Case(name, tuple(places[name])) for name in islice(in_turn, count)]


def _question(repo: str, case: Case, category: str, languages: Languages) -> Answer:
    found = [parse_location(text, lambda _: False) for text in case.expected]
    places = tuple(Place(each.path, each.first, each.last or each.first) for each in found)
    language = languages.for_path(places[0].path, b"")
    name = language.name if language is not None else "other"
    return Answer(DECLARATIONS, repo, name, category, case.query, places, (), 0.0, case.at)


# --- asking -----------------------------------------------------------------------------------------------------


def measure(asked: Asked, home: Path, model: str | None) -> list[Answer]:
    """Indexes a repository and asks its questions."""
    first = ["--at", asked.questions[0].at] if asked.questions[0].at else []
    flags = ["--model", model] if model else []
    usage = run_measured(command("-C", str(asked.folder), "index", "--json", *first, *flags), environment(home))
    indexed = json.loads(usage.output)
    cost = {}
    if indexed["files"]["parsed"] and not indexed["files"]["reused"]:
        cost = {"index_s": usage.seconds, "index_cpu_s": usage.cpu, "index_mb": usage.proportional}
    # A process for each repository: what one has mapped and remembered must not count for the next.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        answers, megabytes = pool.submit(search_all, asked, Settings(home=home, model=model)).result()
    cost["search_mb"] = megabytes
    return [replace(answer, cost=cost) for answer in answers]


def search_all(asked: Asked, settings: Settings) -> tuple[list[Answer], float]:
    """The answers of a repository, and the largest memory of this process in MB."""
    engine = Engine.open(asked.folder, settings)
    filters = Filters(paths=(asked.root,)) if asked.root else Filters()
    answers = []
    for at, group in groupby(asked.questions, key=lambda question: question.at):
        engine.search("anything at all", limit=1, at=at, update=False)  # opens the view; that of a parent is made here
        questions = list(group)
        rounds = [[ask(engine, question, filters) for question in questions] for _ in range(ROUNDS)]
        answers += [min(same, key=lambda answer: answer.ms) for same in zip(*rounds, strict=True)]
    return answers, peak_memory()


def ask(engine: Engine, question: Answer, filters: Filters) -> Answer:
    started = time.perf_counter()
    hits = engine.search(question.query, limit=SHOWN, filters=filters, at=question.at, update=False).hits
    took = (time.perf_counter() - started) * 1000
    results = tuple(Place(hit.path, hit.start_line, hit.end_line) for hit in hits)
    return replace(question, results=results, ms=round(took, 2))


def run(chosen: Iterator[Asked], home: Path, arguments: argparse.Namespace) -> tuple[list[Answer], bool]:
    """The answers of all repositories, kept in the run file as they come, and whether every one could be asked."""
    answers: list[Answer] = []
    complete = True
    for asked in chosen:
        started = time.perf_counter()
        try:
            answers += measure(asked, home, arguments.model) if asked.questions else []
            outcome = f"{len(asked.questions)} questions"
        except (RuntimeError, CodesearchError) as error:  # one bad repository must not cost the others' hour
            complete, outcome = False, f"failed: {error}"
        if arguments.run:
            write_run(answers, arguments.run)
        print(f"{asked.name}: {outcome}, {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
    return answers, complete


def questions_of(arguments: argparse.Namespace, scratch: Path) -> Iterator[Asked]:
    if arguments.questions:
        return declaration_questions(arguments)
    if arguments.annotations and arguments.repositories and arguments.checkouts:
        return file_questions(arguments)
    if arguments.checkouts and (arguments.docs or arguments.commits or arguments.names):
        return made_questions(arguments, scratch)
    raise SystemExit(
        "Give --questions, or --checkouts with --annotations and --repositories, --docs, --commits or --names."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("questions", "checkouts", "annotations", "repositories", "run", "home"):
        parser.add_argument(f"--{flag}", type=Path)
    for flag in ("docs", "commits", "names"):
        parser.add_argument(f"--{flag}", type=positive, metavar="N")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--model", metavar="NAME")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("RUN1", "RUN2"))
    arguments = parser.parse_args()
    if arguments.compare:
        print(compare(*map(read_run, arguments.compare)))
        return
    print(describe_machine())
    with tempfile.TemporaryDirectory(prefix="codesearch-retrieval-") as folder:
        scratch = Path(folder).resolve()
        home = (arguments.home or scratch / "indexes").resolve()
        answers, complete = run(questions_of(arguments, scratch), home, arguments)
    if not answers:
        raise SystemExit("There are no questions.")
    print("\n" + report(answers))
    if not complete:
        raise SystemExit("Some repositories are missing; see above.")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


if __name__ == "__main__":
    main()
