"""Fits the weights of the ranking's signals on questions whose answers are known.

Two kinds of questions, each over real checkouts:

* declarations: a folder with `queries.jsonl` (query, repo, language, path, start, end) and one source tree per
  repository, as evaluate.py reads it;
* files: `--annotations` with one `NAME.json` per repository (query, relevant and secondary files), `--repositories`
  (a list of name, benchmark_root) and `--checkouts` with one tree per name.

The product itself measures the signals of its candidates (codesearch.ranking.measure). For each group of query forms
a linear model in log-odds is fitted: the softmax over the candidates of a question should lie on right ones. It is
held near weights that were set by hand, so that what the questions do not show stays as it is. With `--folds` each
repository is scored by weights fitted on the others, and nothing is written; compare such figures only.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codesearch.engine import Engine
from codesearch.filtering import admitted
from codesearch.queries import Form, understand
from codesearch.ranking import WEIGHTS, copies, measure, places
from codesearch.ranking import names as names_of
from codesearch.retrieval import search_words
from codesearch.settings import Settings
from codesearch.signals import crowding
from codesearch.types import Filters, Kind
from codesearch.view.segment import KINDS, kind_code

GROUPS = {
    "sentence": (Form.SENTENCE, Form.COMMAND),
    "topic": (Form.QUESTION, Form.PHRASE),
    "identifier": (Form.IDENTIFIER,),
}
# What a hit more of one file costs: a sentence asks for one declaration wherever it is, the others for a place, "how …"
# for nothing else.
CROWDING = {Form.SENTENCE: 0.25, Form.COMMAND: 0.25, Form.QUESTION: 5.0, Form.PHRASE: 3.0, Form.IDENTIFIER: 1.0}
OVERLOAD = 2.0  # what a hit more of one name in a file costs: one of several constructors is enough on a page
# Where the fit starts, and what it is pulled to: weights set by hand, in log-odds.
PRIOR = {
    "keywords": 9, "meaning": 8.8, "path_meaning": 2.2, "exact_name": 4, "same_words": 2, "file_evidence": 6,
    "test": -4, "example": -2, "vendored": -3, "generated": -2, "docs": -2, "loose": -2.5, "data": -1.5,
    "nested": -1.5, "constructor": -1.5, "other_system": -1,
}  # fmt: skip
PRIOR_OF = {
    "identifier": {"exact_name": 16, "same_words": 4, "exact_in_file": 4}
}  # where a name is all that is asked, it counts more
# Doc comments name other declarations than their own, while who types a name into a query means it; and hardly any of
# these repositories holds foreign or generated code.
PINNED = ("exact_name", "same_words", "exact_in_file", "vendored", "generated", "test", "docs")
PULL = {"sentence": 0.03, "topic": 0.03, "identifier": 0.2}
SMALLEST_SPREAD = 0.05  # of a signal that hardly varies here; it must not get a large weight for it
DEEPEST = 140  # candidates by the prior that a question is fitted on, beside the right ones
MOST_RIGHT = 20
SHOWN = 10
SURE = 0.9
ONE_EACH = 1e3  # a cost of crowding that leaves one hit of each file


@dataclass
class Question:
    """A question, its candidates' signals and which of them are right."""

    repository: str
    language: str
    text: str
    form: Form
    is_file: bool
    signals: np.ndarray  # candidates x signals
    right: np.ndarray  # shape (candidates,): overlaps the asked declaration, or lies in a relevant file
    exact: np.ndarray  # shares half of its lines with the declaration
    citable: np.ndarray
    files: np.ndarray
    spans: np.ndarray
    callables: np.ndarray
    places: np.ndarray
    names: np.ndarray
    copies: np.ndarray
    targets: list[dict[str, Any]] = field(default_factory=list)
    paths: dict[int, str] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """Which weights it helps to fit."""
        return next(name for name, forms in GROUPS.items() if self.form in forms)

    @property
    def wanted(self) -> np.ndarray:
        """The candidates that should come first."""
        best = self.exact if self.exact.any() else self.right
        return best & self.citable


def ask(engine: Engine, text: str, root: str | None, names: list[str]) -> dict[str, Any] | None:
    """The signals of a query's candidates, and what each would cite; None for a query without words."""
    corpus, _, _ = engine._corpora.corpus(False, None, False, None)
    query = understand(text)
    if query.is_empty:
        return None
    documents, _ = admitted(corpus, Filters(paths=(root,)) if root else Filters())
    measured = measure(corpus, query, engine._embedder.embed_query(text), search_words(corpus, query), documents)
    names[:] = list(measured.signals)
    spans, callables = [], []
    for document in measured.documents.tolist():
        segment, local = corpus.segment_of_chunk(int(corpus.chunk_of[document]))
        row = segment.chunks[local]
        unit = segment.units[int(segment.unit_of_chunk[local])]
        inside = int(row["declaration"])
        cited = segment.declarations[int(unit["first_declaration"]) + inside] if inside >= 0 else row
        spans.append((int(cited["first"]), int(cited["last"])))
        callables.append(KINDS[int(cited["kind"])].is_callable)
    files = corpus.file_of[measured.documents]
    kinds = corpus.chunks["kind"][corpus.chunk_of[measured.documents]]
    return {
        "form": query.form,
        "signals": np.stack([measured.signals[name] for name in names], axis=1).astype(np.float32),
        "files": files,
        "paths": {file: corpus.path(file) for file in np.unique(files).tolist()},
        "spans": np.array(spans).reshape(-1, 2),
        "callables": np.array(callables, bool),
        "citable": kinds != kind_code(Kind.FILE),
        "places": places(corpus, measured.documents),
        "names": names_of(corpus, measured.documents),
        "copies": copies(corpus, measured.documents),
    }


def declaration_questions(folder: Path, home: Path, names: list[str]) -> Iterator[Question]:
    """Questions for one declaration, from queries.jsonl."""
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    engines: dict[str, Engine] = {}
    for row in sorted(rows, key=lambda row: row["repo"]):
        if row["repo"] not in engines:
            engines = {row["repo"]: opened(folder / row["repo"], home)}
        if (asked := ask(engines[row["repo"]], row["query"], None, names)) is None:
            continue
        here = np.array([asked["paths"][file] == row["path"] for file in asked["files"].tolist()], bool)
        first, last = asked["spans"][:, 0], asked["spans"][:, 1]
        shared = np.minimum(last, row["end"]) - np.maximum(first, row["start"]) + 1
        union = np.maximum(last, row["end"]) - np.minimum(first, row["start"]) + 1
        right = here & (shared > 0) & asked["citable"]
        yield Question(
            row["repo"], row["language"], row["query"], is_file=False,
            right=right, exact=right & (shared / union >= 0.5), **asked,
        )  # fmt: skip


def file_questions(
    checkouts: Path, annotations: Path, repositories: Path, home: Path, names: list[str]
) -> Iterator[Question]:
    """Questions for files."""
    for repository in json.loads(repositories.read_text("utf-8")):
        name, root = repository["name"], repository["benchmark_root"]
        engine = opened(checkouts / name, home)
        for row in json.loads((annotations / f"{name}.json").read_text("utf-8")):
            if (asked := ask(engine, row["query"], root, names)) is None:
                continue
            targets = [{"path": t} if isinstance(t, str) else t for t in [*row["relevant"], *row.get("secondary", [])]]
            ends = tuple("/" + target["path"] for target in targets)
            relevant = [file for file, path in asked["paths"].items() if ("/" + path).endswith(ends)]
            right = np.isin(asked["files"], relevant) & asked["citable"]
            yield Question(
                name, repository["language"], row["query"], is_file=True,
                right=right, exact=right, targets=targets, **asked,
            )  # fmt: skip


def opened(path: Path, home: Path) -> Engine:
    """An engine over an up-to-date index of a checkout."""
    engine = Engine.open(path, Settings(home=home))
    engine.index()
    print(path, file=sys.stderr, flush=True)
    return engine


def prior_of(group: str, names: Sequence[str]) -> np.ndarray:
    """The weights set by hand, one for each signal."""
    given = PRIOR | PRIOR_OF.get(group, {})
    return np.array([given.get(name, 0.0) for name in names], np.float32)


def fit(questions: Sequence[Question], names: Sequence[str], group: str) -> np.ndarray:
    """The weights, one for each signal, that rank the wanted candidates of a group's questions first."""
    usable = [question for question in questions if question.wanted.any()]
    prior = prior_of(group, names)
    spread = np.maximum(np.concatenate([q.signals for q in usable]).std(axis=0), SMALLEST_SPREAD)
    width = DEEPEST + MOST_RIGHT
    values = torch.zeros(len(usable), width, len(names))
    valid = torch.zeros(len(usable), width, dtype=torch.bool)
    wanted = torch.zeros(len(usable), width, dtype=torch.bool)
    for number, question in enumerate(usable):
        scores = np.where(question.citable, question.signals @ prior, -np.inf)
        chosen = np.union1d(np.argsort(-scores)[:DEEPEST], np.flatnonzero(question.wanted)[:MOST_RIGHT])
        values[number, : len(chosen)] = torch.from_numpy(question.signals[chosen] / spread)
        valid[number, : len(chosen)] = torch.from_numpy(question.citable[chosen])
        wanted[number, : len(chosen)] = torch.from_numpy(question.wanted[chosen])
    start = torch.from_numpy(prior * spread)
    pulls = torch.tensor([PULL[group] * (100 if name in PINNED else 1) for name in names])
    weights = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        scores = values @ weights
        every = torch.logsumexp(scores.masked_fill(~valid, -1e9), dim=1)
        right = torch.logsumexp(scores.masked_fill(~wanted, -1e9), dim=1)
        total = (every - right).mean() + (pulls * (weights - start) ** 2).sum()
        total.backward()
        return total

    optimiser.step(loss)
    return weights.detach().numpy() / spread


def shown(question: Question, odds: np.ndarray, cost: float) -> list[int]:
    """The candidates that a user would see first."""
    first = np.unique(question.copies[order := np.lexsort((question.places, -odds))], return_index=True)[1]
    hidden = np.ones(len(odds), bool)
    hidden[order[first]] = False  # copies are listed with the best of them
    odds = np.where(hidden, -np.inf, odds)
    odds = odds + crowding(odds, question.names, question.places, question.citable, OVERLOAD)
    odds = odds + crowding(odds, question.files, question.places, question.citable, cost)
    seen: dict[int, list[tuple[int, int, bool]]] = defaultdict(list)
    result: list[int] = []
    for at in np.lexsort((question.places, -odds)).tolist():
        (first, last), file, function = question.spans[at].tolist(), int(question.files[at]), question.callables[at]
        if not question.citable[at] or any(
            (first, last) == (a, b) or (whole and function and a <= first and last <= b) for a, b, whole in seen[file]
        ):
            continue
        seen[file].append((first, last, bool(function)))
        result.append(at)
        if len(result) == SHOWN:
            break
    return result


def ndcg(question: Question, hits: list[int]) -> float:
    """NDCG@10 of relevant files, each counted once."""
    found = set()
    for target in question.targets:
        first, last = target.get("start_line"), target.get("end_line")
        for rank, hit in enumerate(hits):
            path = question.paths[int(question.files[hit])]
            inside = not (first and last) or (
                question.spans[hit][1] >= int(first) and question.spans[hit][0] <= int(last)
            )
            if ("/" + path).endswith("/" + target["path"]) and inside:
                found.add(rank)
                break
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(SHOWN, len(question.targets))))
    return sum(1 / math.log2(rank + 2) for rank in found) / ideal


def report(
    questions: Sequence[Question], odds_of: Callable[[Question], np.ndarray], costs: Mapping[Form, float]
) -> str:
    """NDCG of files, mean over repositories; success@k and exact@k of declarations."""
    files: dict[str, list[float]] = defaultdict(list)
    ranks = []
    for question in questions:
        hits = shown(question, odds_of(question), costs[question.form])
        if question.is_file:
            files[question.repository].append(ndcg(question, hits))
        else:
            ranks.append(
                [next((r for r, h in enumerate(hits, 1) if w[h]), 0) for w in (question.right, question.exact)]
            )
    table = np.array(ranks).reshape(-1, 2)
    columns = [f"files {np.mean([np.mean(scores) for scores in files.values()]):.3f}"]
    for which, label in enumerate(("success", "exact")):
        columns += [f"{label}@{k} {((table[:, which] > 0) & (table[:, which] <= k)).mean():.3f}" for k in (1, 5, 10)]
    return "  ".join(columns)


def calibrate(questions: Sequence[Question], weights: np.ndarray) -> tuple[float, float]:
    """Slope and offset that turn odds into those that a shown hit is right, by logistic regression.

    Where nearly every first hit is right, wrong ones say little about it: then its median gets the odds of SURE.
    """
    odds, right, first = [], [], []
    for question in questions:
        values = question.signals @ weights
        hits = shown(question, values, ONE_EACH)
        odds += values[hits].tolist()
        marks = (question.exact if question.exact.any() else question.right)[hits]
        right += marks.tolist()
        if marks[:1].any():
            first.append(float(values[hits[0]]))
    x, y = torch.tensor(odds), torch.tensor(right, dtype=torch.float32)
    line = torch.tensor([1.0, -float(x.mean())], requires_grad=True)
    optimiser = torch.optim.LBFGS([line], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        total = torch.nn.functional.binary_cross_entropy_with_logits(line[0] * x + line[1], y)
        total.backward()
        return total

    optimiser.step(loss)
    slope, offset = line.tolist()
    if len(first) > SURE * len(questions):
        offset = math.log(SURE / (1 - SURE)) - slope * float(np.median(first))
    return slope, offset


def add_questions(parser: argparse.ArgumentParser) -> None:
    """The arguments that say which questions there are; confidence.py asks the same."""
    parser.add_argument("questions", type=Path, help="folder with queries.jsonl and the source trees")
    parser.add_argument("--checkouts", type=Path, required=True, help="trees that the file questions are asked of")
    parser.add_argument("--annotations", type=Path, required=True, help="folder of file questions")
    parser.add_argument("--repositories", type=Path, required=True, help="list of repositories with their roots (JSON)")
    parser.add_argument("--home", type=Path, required=True, help="where the indexes are kept")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_questions(parser)
    parser.add_argument("--folds", type=int, default=0, help="only cross-validate, leaving out that share each time")
    parser.add_argument("--measured", type=Path, help="keep the measured signals here (.npy, pickled), or reuse them")
    parser.add_argument("--without", action="append", default=[], metavar="SIGNAL", help="as if it were always 0")
    args = parser.parse_args()

    names: list[str] = []
    if args.measured and args.measured.exists():
        names, questions = np.load(args.measured, allow_pickle=True)[0]
    else:
        questions = list(declaration_questions(args.questions, args.home, names))
        questions += file_questions(args.checkouts, args.annotations, args.repositories, args.home, names)
        if args.measured:
            holder = np.empty(1, object)
            holder[0] = (names, questions)
            np.save(args.measured, holder)
    for question in questions:
        question.signals[:, [names.index(name) for name in args.without]] = 0
    print("by hand        ", report(questions, lambda q: q.signals @ prior_of(q.group, names), CROWDING))
    if args.folds:
        repositories = sorted({question.repository for question in questions})
        odds: dict[int, np.ndarray] = {}
        for fold in range(args.folds):
            left_out = set(repositories[fold :: args.folds])
            for group in GROUPS:
                mine = [question for question in questions if question.group == group]
                weights = fit([q for q in mine if q.repository not in left_out], names, group)
                odds |= {id(q): q.signals @ weights for q in mine if q.repository in left_out}
        print("cross-validated", report(questions, lambda q: odds[id(q)], CROWDING))
        return
    groups = {}
    fitted = {}
    for group, forms in GROUPS.items():
        mine = [question for question in questions if question.group == group]
        fitted[group] = fit(mine, names, group)
        slope, offset = calibrate(mine, fitted[group])
        groups[group] = {
            "forms": [str(form) for form in forms],
            "bias": round(offset, 3),
            "crowding": {str(form): round(slope * CROWDING[form], 3) for form in forms},
            "overload": round(slope * OVERLOAD, 3),
            "weights": {name: round(slope * float(w), 3) for name, w in zip(names, fitted[group], strict=True)},
        }
    print("fitted on these", report(questions, lambda q: q.signals @ fitted[q.group], CROWDING))
    WEIGHTS.write_text(json.dumps({"groups": groups}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
