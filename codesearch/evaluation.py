"""Measures retrieval on cases with known answers: hit@k, MRR and NDCG, how sure they are, and what changed.

A case is a query and the places that answer it. Nothing here searches: what is measured is handed in as a function.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codesearch.locations import Location, parse_location
from codesearch.types import Hit

CUTS = (1, 3, 5, 10)
DEPTH = max(CUTS)
METRICS = (*(f"hit@{cut}" for cut in CUTS), "mrr", "ndcg@10")
_FORMAT = 2  # of a kept evaluation
_RESAMPLES = 1000
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Case:
    """A query, and the places (FILE#symbol, FILE:A-B, FILE:LINE or FILE) of which each is a right answer.

    `at` is the revision that it is asked of, None for the working tree.
    """

    query: str
    expected: tuple[str, ...]
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The ranks, from 1, at which a case's places were found, each counted once; and the best of them."""

    case: Case
    ranks: tuple[int, ...]

    @property
    def rank(self) -> int | None:
        """The first rank with a right answer, None for none among the hits that were looked at."""
        return min(self.ranks, default=None)

    def value(self, metric: str) -> float:
        """One of METRICS, or hit@k of any k, for this case; MRR and NDCG look at the first ten hits."""
        if metric.startswith("hit@"):
            return float(self.rank is not None and self.rank <= int(metric.removeprefix("hit@")))
        shown = [rank for rank in self.ranks if rank <= DEPTH]
        if metric == "mrr":
            return 1 / min(shown) if shown else 0.0
        ideal = sum(1 / math.log2(place + 1) for place in range(1, min(DEPTH, len(self.case.expected)) + 1))
        return sum(1 / math.log2(rank + 1) for rank in shown) / ideal


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over cases and the interval that holds it in 95 of 100 resamples of the cases."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcomes of all cases under one name (a model, a file of settings), and the mean of each metric.

    `depth` is how many hits of each case were looked at; `taken` says when and of which commit.
    """

    name: str
    outcomes: tuple[Outcome, ...]
    scores: Mapping[str, Score]
    depth: int = DEPTH
    taken: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two evaluations of the same cases: how much the second is better, and the cases whose rank differs.

    `cases` is how many both have, `changed` are (query, rank before, rank now), the losses first.
    """

    cases: int

    scores: Mapping[str, Score]
    changed: tuple[tuple[str, int | None, int | None], ...]


def metrics_to(depth: int) -> tuple[str, ...]:
    """METRICS and, where more hits than ten are looked at, the share of cases answered by any of them."""
    return METRICS if depth <= DEPTH else (*METRICS, f"hit@{depth}")


def evaluate(
    name: str,
    cases: Sequence[Case],
    search: Callable[[Case], Sequence[Hit]],
    *,
    depth: int = DEPTH,
    taken: str = "",
) -> Evaluation:
    """Asks every case; `search` gives the hits of one, best first, of which `depth` are looked at."""
    outcomes = tuple(Outcome(case, found_ranks(case, search(case)[:depth])) for case in cases)
    return _summed(name, outcomes, depth, taken)


def _summed(name: str, outcomes: tuple[Outcome, ...], depth: int, taken: str) -> Evaluation:
    scores = {metric: score_of([outcome.value(metric) for outcome in outcomes]) for metric in metrics_to(depth)}
    return Evaluation(name, outcomes, scores, depth, taken)


def found_ranks(case: Case, hits: Sequence[Hit]) -> tuple[int, ...]:
    """For each expected place the first rank of a hit that shows it."""
    ranks = set()
    paths = {hit.path for hit in hits} | {copy.path for hit in hits for copy in hit.copies}
    for text in case.expected:
        place = parse_location(text, paths.__contains__)
        ranks.update([rank for rank, hit in enumerate(hits, 1) if answers(hit, place)][:1])
    return tuple(sorted(ranks))


def answers(hit: Hit, place: Location) -> bool:
    """Whether a hit, or a copy listed with it, shows an expected place."""
    spots: list[tuple[str, int, int, tuple[str, ...]]] = [
        (hit.path, hit.start_line, hit.end_line, (hit.symbol, hit.qualified_name))
    ]
    spots += [(copy.path, copy.start_line, copy.end_line, (copy.symbol,)) for copy in hit.copies]
    return any(path == place.path and _holds(first, last, names, place) for path, first, last, names in spots)


def _holds(first: int, last: int, names: tuple[str, ...], place: Location) -> bool:
    if place.symbol is not None:
        return place.symbol in names
    if place.first is None:
        return True
    return first <= (place.last or place.first) and place.first <= last


def compare(before: Evaluation, now: Evaluation) -> Difference:
    """What became of the cases that both have: the same query with the same answers."""
    depth = min(before.depth, now.depth)
    earlier = {outcome.case: outcome for outcome in before.outcomes}
    pairs = [(earlier[outcome.case], outcome) for outcome in now.outcomes if outcome.case in earlier]
    scores = {
        metric: score_of([b.value(metric) - a.value(metric) for a, b in pairs])
        for metric in now.scores
        if metric in before.scores
    }
    ranks = [(b.case.query, _within(depth, a.rank), _within(depth, b.rank)) for a, b in pairs]
    changed = sorted((each for each in ranks if each[1] != each[2]), key=lambda each: (_gain(each), each[0]))
    return Difference(len(pairs), scores, tuple(changed))


def _within(depth: int, rank: int | None) -> int | None:
    return rank if rank is not None and rank <= depth else None


def _gain(change: tuple[str, int | None, int | None]) -> float:
    _, before, now = change
    return (1 / now if now else 0.0) - (1 / before if before else 0.0)


def score_of(values: Sequence[float]) -> Score:
    """Mean and bootstrap interval (Efron 1979) of paired or single values; seeded, so that equal runs agree."""
    if not values:
        return Score(0.0, 0.0, 0.0)
    sample = np.array(values)
    rng = np.random.default_rng(len(sample))
    means = sample[rng.integers(0, len(sample), (_RESAMPLES, len(sample)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return Score(float(sample.mean()), float(low), float(high))


def save(evaluation: Evaluation, path: Path) -> None:
    """Keeps an evaluation for the next one to be compared with."""
    rows = [
        {"query": o.case.query, "expected": o.case.expected, "at": o.case.at, "ranks": o.ranks}
        for o in evaluation.outcomes
    ]
    kept = {"format": _FORMAT, "name": evaluation.name, "depth": evaluation.depth, "taken": evaluation.taken}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept | {"outcomes": rows}), "utf-8")


def load(path: Path) -> Evaluation | None:
    """The evaluation that was kept, None where there is none that can be read."""
    try:
        kept = json.loads(path.read_text("utf-8"))
        if kept["format"] != _FORMAT:
            return None
        outcomes = tuple(
            Outcome(Case(row["query"], tuple(row["expected"]), row["at"]), tuple(row["ranks"]))
            for row in kept["outcomes"]
        )
        return _summed(str(kept["name"]), outcomes, int(kept["depth"]), str(kept["taken"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
