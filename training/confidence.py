"""Fits when a search says that it found nothing: codesearch/models/confidence.json.

Answered: the questions that ranking.py reads, half a name of a declaration, a name without one of its words.
Unanswered: benchmarks/questions/nothing.toml, and identifiers of other repositories that this one does not have.
Each kind weighs the same, however many there are. The threshold keeps `--keep` of the questions.

Before it writes, it cross-validates: repositories and unanswered questions that are judged were not fitted on.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from ranking import add_questions

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codesearch.confidence import MODEL, evidence
from codesearch.engine import Engine
from codesearch.ranking import odds_of
from codesearch.retrieval import search_names
from codesearch.searching import Searcher
from codesearch.settings import Settings
from codesearch.terms import split_identifier

NOTHING = Path(__file__).resolve().parents[1] / "benchmarks" / "questions" / "nothing.toml"
PARTIAL, WORDS, FOREIGN = 25, 15, 40  # names, words and other repositories' identifiers asked of each repository
SHARES = {"file": 1, "doc": 1, "partial": 0.7, "nothing": 1.2, "foreign": 0.8}  # of the loss, before both sides are
IDENTIFIER = re.compile(r"[A-Za-z_]\w*[a-z][A-Z_]\w*|[A-Z]\w+")
FOLDS = 4
PULL = 1e-3
SEED = 7


@dataclass
class Asked:
    """A query asked of a repository, of one kind; `values` is its evidence."""

    repository: str
    text: str
    kind: str
    values: dict[str, float]

    @property
    def is_answered(self) -> bool:
        """Whether the repository has what is asked."""
        return self.kind not in ("nothing", "foreign")


def judged(searcher: Searcher, text: str) -> dict[str, float] | None:
    """The evidence for a query, None for one without words."""
    asked = searcher.ask(text)
    if asked is None:
        return None
    measured = searcher.measure(asked)
    odds = float(odds_of(asked.query, measured).max(initial=-20.0))
    return evidence(searcher.corpus, asked.query, asked.lexical, odds=odds, similarity=measured.closest)


def names_of(searcher: Searcher) -> list[str]:
    """Names of several words that the repository declares."""
    strings = [s.strings[int(n)] for s in searcher.corpus.segments for n in np.unique(s.declarations["symbol"])]
    fitting = {name for name in strings if name.isascii() and name.replace("_", "").isalnum()}
    return sorted(name for name in fitting if 3 <= len(split_identifier(name)) <= 5)


def questions(args: argparse.Namespace) -> Iterator[tuple[str, Path, str, str]]:
    """Repository, its folder, kind and text of every question with an answer."""
    for row in json.loads(args.repositories.read_text("utf-8")):
        for question in json.loads((args.annotations / f"{row['name']}.json").read_text("utf-8")):
            yield row["name"], args.checkouts / row["name"], "file", question["query"]
    for line in (args.questions / "queries.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        yield question["repo"], args.questions / question["repo"], "doc", question["query"]


def ask_all(args: argparse.Namespace) -> list[Asked]:
    rng = random.Random(SEED)
    everything = sorted(questions(args), key=lambda each: str(each[1]))
    identifiers = sorted({(name, text) for name, _, _, text in everything if IDENTIFIER.fullmatch(text)})
    nothing = [text for texts in tomllib.loads(NOTHING.read_text("utf-8")).values() for text in texts]
    result: list[Asked] = []
    for folder in dict.fromkeys(each[1] for each in everything):
        engine = Engine.open(folder, Settings(home=args.home))
        engine.index()
        corpus, _, commit = engine._corpora.corpus(False, None, True, None)
        searcher = engine._searcher(corpus, commit, False, None, None)
        name = folder.name
        asked = [(kind, text) for _, where, kind, text in everything if where == folder]
        if any(kind == "file" for kind, _ in asked):
            names = names_of(searcher)
            identifiers += [(name, each) for each in rng.sample(names, min(len(names), PARTIAL))]
            for whole in rng.sample(names, min(len(names), PARTIAL)):
                parts = split_identifier(whole)
                at, left_out = rng.randrange(len(parts) - 1), rng.randrange(len(parts))
                asked.append(("partial", "_".join(parts[at : at + 2])))
                asked.append(("partial", " ".join(part for i, part in enumerate(parts) if i != left_out)))
            asked += [("nothing", text) for text in nothing]
            others = [text for owner, text in identifiers if owner != name]
            asked += [("foreign", text) for text in rng.sample(others, min(len(others), FOREIGN))]
        for kind, text in asked:
            found = searcher.ask(text) if kind == "foreign" else None
            if found is not None and search_names(corpus, found.query, found.lexical.terms):
                continue  # it is declared here as well
            if (values := judged(searcher, text)) is not None:
                result.append(Asked(name, text, kind, values))
        print(folder, len(result), file=sys.stderr, flush=True)
    return result


def fit(values: np.ndarray, answered: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Weights and, last, the offset of a logistic regression over standardised values."""
    x, y, w = torch.from_numpy(values), torch.from_numpy(answered.astype(float)), torch.from_numpy(share)
    weights = torch.zeros(values.shape[1] + 1, dtype=torch.double, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        each = torch.nn.functional.binary_cross_entropy_with_logits(x @ weights[:-1] + weights[-1], y, reduction="none")
        total = (each * w).sum() / w.sum() + PULL * (weights[:-1] ** 2).sum()
        total.backward()
        return total

    optimiser.step(loss)
    return weights.detach().numpy()


def shares(kinds: np.ndarray) -> np.ndarray:
    """What each question counts: its kind's share, and as much for all answered as for all unanswered ones."""
    result = np.zeros(len(kinds))
    for side in (("file", "doc", "partial"), ("nothing", "foreign")):
        present = [kind for kind in side if (kinds == kind).any()]
        for kind in present:
            result[kinds == kind] = SHARES[kind] / sum(SHARES[k] for k in present) / (kinds == kind).sum()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_questions(parser)
    parser.add_argument("--keep", type=float, default=0.993, help="share of questions that keep their answers")
    args = parser.parse_args()

    asked = ask_all(args)
    names = list(asked[0].values)
    raw = np.array([[each.values[name] for name in names] for each in asked])
    mean, spread = raw.mean(axis=0), raw.std(axis=0) + 1e-9
    values = (raw - mean) / spread
    kinds = np.array([each.kind for each in asked])
    answered = np.array([each.is_answered for each in asked])
    repositories = np.array([each.repository for each in asked])
    number = {text: at for at, text in enumerate(sorted({each.text for each in asked if not each.is_answered}))}
    half = np.array([number.get(each.text, -1) % 2 if not each.is_answered else -1 for each in asked])

    scores = np.zeros(len(asked))
    for fold in range(FOLDS):
        out = np.isin(repositories, sorted(set(repositories))[fold::FOLDS])
        for left_out in (0, 1):
            known = ~out & (half != left_out)
            weights = fit(values[known], answered[known], shares(kinds[known]))
            here = out & ((half == left_out) | (answered if left_out == 0 else False))
            scores[here] = values[here] @ weights[:-1] + weights[-1]
    questions_ = np.isin(kinds, ("file", "doc"))
    threshold = np.quantile(scores[questions_], 1 - args.keep)
    print("cross-validated, said to have no answer:")
    for kind in SHARES:
        print(f"  {kind:8} {(scores[kinds == kind] < threshold).mean():.4f} of {(kinds == kind).sum()}")

    weights = fit(values, answered, shares(kinds))
    own = values @ weights[:-1] + weights[-1]
    scaled = weights[:-1] / spread
    threshold = np.quantile(own[questions_], 1 - args.keep) - weights[-1] + float(scaled @ mean)
    model = {
        "threshold": round(float(threshold), 4),
        "weights": {name: round(float(weight), 4) for name, weight in zip(names, scaled, strict=True)},
    }
    MODEL.write_text(json.dumps(model, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
