"""Run files of a retrieval benchmark: what was asked, expected and found, and what that is worth. Asks nothing itself.

A run file has one JSON object for each question and line:

    {"level": "files" or "declarations", "repo", "language", "category", "query", "at",
     "expected": [{"path", "start", "end"}], "results": [{"path", "start", "end"}, …], "ms", "cost"}

Results stand best first; lines count from 1, both ends included, and are null where a whole file is expected. A
question for one declaration has its path, start and end also beside them. `cost` is that of the repository's index.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

SHOWN = 10  # hits that a user sees
EXACT = 0.5  # of the lines of a hit and of the declaration together that they must share
FILES, DECLARATIONS = "files", "declarations"
MEASURES = {
    FILES: ("NDCG@10", "each file once"),
    DECLARATIONS: ("success@1", "success@5", "success@10", "exact@1", "exact@10", "MRR"),
}


@dataclass(frozen=True)
class Place:
    """Lines of a file, or a file where they are None."""

    path: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Answer:
    """One question and what was found for it; `ms` is what the search took."""

    level: str
    repo: str
    language: str
    category: str
    query: str
    expected: tuple[Place, ...]
    results: tuple[Place, ...]
    ms: float
    at: str | None = None
    cost: Mapping[str, float] = field(default_factory=dict)

    @property
    def question(self) -> tuple[object, ...]:
        """What tells it from the other questions of its run."""
        return self.repo, self.query, self.at, self.expected

    def rank(self, share: float = 0.0) -> int | None:
        """The first rank that overlaps an expected place, by at least a share of the lines of both."""
        for rank, result in enumerate(self.results[:SHOWN], 1):
            for place in self.expected:
                shared = _shared(result, place)
                if shared and shared >= share * _together(result, place):
                    return rank
        return None

    def measures(self) -> list[float]:
        """The MEASURES of its level."""
        if self.level == FILES:
            return [ndcg(self.results, self.expected), ndcg(_each_file_once(self.results), _files(self.expected))]
        found, exact = self.rank(), self.rank(EXACT)
        cuts = [float(found is not None and found <= cut) for cut in (1, 5, 10)]
        return [*cuts, *(float(exact is not None and exact <= cut) for cut in (1, 10)), 1 / found if found else 0.0]


def _shared(result: Place, place: Place) -> int:
    """Lines in both; 0 for other files."""
    if result.path != place.path or None in (result.start, result.end, place.start, place.end):
        return 0
    return max(min(result.end, place.end) - max(result.start, place.start) + 1, 0)


def _together(result: Place, place: Place) -> int:
    return max(result.end or 0, place.end or 0) - min(result.start or 0, place.start or 0) + 1


def ndcg(results: Sequence[Place], targets: Sequence[Place]) -> float:
    """Binary NDCG@10 of a list as it stands.

    A target counts at the first result whose path ends with its own at a `/` and, where it has lines, that overlaps
    them. Targets that are first found at one rank count there once.
    """
    ranks = set()
    for target in targets:
        fits = (rank for rank, result in enumerate(results[:SHOWN], 1) if _answers(result, target))
        ranks.update([first] if (first := next(fits, None)) else [])
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(SHOWN, len(targets)) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / ideal if ideal else 0.0


def _answers(result: Place, target: Place) -> bool:
    if not f"/{result.path}".endswith(f"/{target.path}"):
        return False
    if None in (result.start, result.end, target.start, target.end):
        return True
    return result.start <= target.end and target.start <= result.end


def _files(places: Sequence[Place]) -> list[Place]:
    return [Place(place.path) for place in places]


def _each_file_once(places: Sequence[Place]) -> list[Place]:
    return list(dict.fromkeys(_files(places)))


# --- files ------------------------------------------------------------------------------------------------------


def write_run(answers: Iterable[Answer], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for answer in answers:
            row = asdict(answer)
            if answer.level == DECLARATIONS and len(answer.expected) == 1:
                row |= asdict(answer.expected[0])
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_run(path: Path) -> list[Answer]:
    """The answers of a run file; SystemExit for what is none."""
    answers = []
    try:
        for line in path.read_text("utf-8").rstrip("\n").split("\n"):
            row = json.loads(line)
            places = {key: tuple(Place(**place) for place in row[key]) for key in ("expected", "results")}
            known = {key: row[key] for key in Answer.__dataclass_fields__ if key not in places}
            answers.append(Answer(**known, **places))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} is no run file: {error}") from error
    if not answers:
        raise SystemExit(f"{path} has no answers.")
    return answers
