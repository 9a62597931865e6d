"""Whether a query has an answer in this repository at all, so that a search can say that it found nothing.

A score says how good a hit is among hits. Here the question is another one: the rarity of the query's words in this
repository, how much of it one place has together, how near in meaning the nearest place is, and the odds of the best
hit, weighed by a logistic regression. Its weights are data (`models/confidence.json`), fitted by
`training/confidence.py` on questions with known answers and on questions that have none.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from codesearch.queries import Query
from codesearch.retrieval import Lexical
from codesearch.terms import is_whole
from codesearch.view.corpus import Corpus

MODEL = Path(__file__).parent / "models" / "confidence.json"


def evidence(corpus: Corpus, query: Query, lexical: Lexical, *, odds: float, similarity: float) -> dict[str, float]:
    """What speaks for an answer; `odds` are the logarithm of the best hit's, `similarity` is the nearest one's.

    Rarity is that of BM25; a word that occurs nowhere is the rarest of all.
    """
    said = {term.term for term in query.terms}
    words = [(t.term, r) for t, r in zip(lexical.terms, lexical.rarity.tolist(), strict=True) if not is_whole(t.term)]
    rarest = math.log1p((len(corpus) + 0.5) / 0.5)
    total = sum(rarity or rarest for _, rarity in words) or 1.0
    together, number, named = (np.zeros(len(corpus.chunks)) for _ in range(3))
    for found in lexical.found:
        together[found.chunks] += found.rarity
        number[found.chunks] += 1
        named[found.named] += found.rarity
    having = lexical.chunks
    count = max(len(words), 1)
    return {
        "odds": odds,
        "known": sum(rarity for _, rarity in words) / total,  # share of the query's rarity that occurs anywhere
        "together": float(together[having].max(initial=0.0)) / total,  # … that one chunk has
        "number": float(number[having].max(initial=0.0)) / count,  # share of the query's words that one chunk has
        "named": float(named[having].max(initial=0.0)) / total,  # share of the rarity in one declaration's name
        "respelt": sum(rarity > 0 and term not in said for term, rarity in words) / count,
        "similarity": similarity,
        "words": float(count),
        "size": math.log(max(len(corpus), 1)),
    }


def confidence(found: dict[str, float]) -> float:
    """The logarithm of the odds that there is an answer, less the threshold: below 0, nothing was found."""
    model = load_model()
    return float(sum(model["weights"][name] * found[name] for name in model["weights"]) - model["threshold"])


@cache
def load_model() -> dict[str, Any]:
    """The shipped weights and threshold."""
    model: dict[str, Any] = json.loads(MODEL.read_text("utf-8"))
    return model
