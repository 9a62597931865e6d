"""Asks the first sentences of doc comments for their declarations, through the product's own engine.

    python benchmarks/doc_questions.py QUESTIONS.jsonl CHECKOUTS

QUESTIONS.jsonl has one object a line: repo (a folder of CHECKOUTS whose doc comments are blanked), language, query,
path, start and end (the lines of the declaration that must be found). Prints, by language and over all, the share of
questions for which a hit among the first 1, 5 and 10 overlaps the declaration, and for which it shares at least half
of their lines taken together (exact).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from pathlib import Path

from codesearch.engine import Engine
from codesearch.settings import Settings
from codesearch.types import Hit

CUTS = (1, 5, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("checkouts", type=Path)
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in arguments.questions.read_text().splitlines()]
    ranks: dict[str, list[tuple[int | None, int | None]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as home:
        engines: dict[str, Engine] = {}
        for question in questions:
            name = question["repo"]
            if name not in engines:
                engines[name] = Engine.open(arguments.checkouts / name, Settings(home=Path(home)))
                engines[name].index()
            hits = engines[name].search(question["query"], limit=max(CUTS), update=False).hits
            found = (rank_of(hits, question, share=0.0), rank_of(hits, question, share=0.5))
            ranks[question["language"]].append(found)
            ranks["all"].append(found)
    for language, found_ranks in sorted(ranks.items()):
        print(f"{language:12} {len(found_ranks):4} questions", end="")
        for place, label in enumerate(("success", "exact")):
            for cut in CUTS:
                hit = sum(1 for pair in found_ranks if pair[place] is not None and pair[place] <= cut)
                print(f"  {label}@{cut} {hit / len(found_ranks):.3f}", end="")
        print()


def rank_of(hits: tuple[Hit, ...], question: dict, share: float) -> int | None:
    """The rank of the first hit in the right file that overlaps the declaration by at least this share of both."""
    for hit in hits:
        if hit.path != question["path"]:
            continue
        common = min(hit.end_line, question["end"]) - max(hit.start_line, question["start"]) + 1
        union = max(hit.end_line, question["end"]) - min(hit.start_line, question["start"]) + 1
        if common > 0 and common / union >= share:
            return hit.rank
    return None


if __name__ == "__main__":
    main()
