"""Learns which short forms stand for which words in code: ctx for context, auth for authentication.

    python training/abbreviations.py pairs.npz distilled [--out codesearch/models/abbreviations.json]

Reads the pairs that `pairs.py` wrote and the model whose rows they name. A short form is the beginning of a word, or
its first letter and some of its consonants in order. That alone proves nothing (`can` begins "cancel"); it counts where
both stand together in one declaration (`ctx: Context`) far more often than by accident, in several repositories.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

DECLARATIONS = 5  # that have both, in a repository that counts
REPOSITORIES = 5  # that must count
LIFT = 4.0  # how much more often both are together than they would be by accident
SHARE = 0.03  # of the declarations with the short form that must have the word
SHORTEST, SHORTEST_WORD = 3, 5  # letters
MOST = 3  # words of a short form, and short forms of a word
_VOWELS = frozenset("aeiou")
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "r", "or", "ion", "ions", "al", "ly")  # of one word's forms


def short_forms(word: str) -> Iterator[str]:
    """What may be a short form of a word, by its letters."""
    yield from (word[:size] for size in range(SHORTEST, len(word) - 1))
    consonants = [letter for letter in word[1:] if letter not in _VOWELS]
    for size in (2, 3):
        yield from (word[0] + "".join(chosen) for chosen in combinations(consonants, size))


def is_form(short: str, word: str, known: set[str]) -> bool:
    """Whether a short form is the same word in another form, or one of two words written together."""
    rest = word[len(short) :]
    return word.startswith(short) and (rest in _ENDINGS or rest in known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("model", type=Path, help="the folder of the model that the pairs were made for")
    parser.add_argument("--out", type=Path, default=Path("codesearch/models/abbreviations.json"))
    arguments = parser.parse_args()
    terms = (arguments.model / "vocabulary.txt").read_text("utf-8").split("\n")
    with np.load(arguments.pairs, allow_pickle=False) as arrays:
        repositories = np.unique(arrays["repository"], return_inverse=True)[1]
        starts, rows = arrays["body_starts"], arrays["body_rows"]
    declarations = np.repeat(np.arange(len(repositories)), np.diff(starts))
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], np.arange(len(terms) + 1))
    having = {
        term: declarations[order[bounds[row] : bounds[row + 1]]]
        for row, term in enumerate(terms)
        if term.isascii() and term.isalpha() and len(term) >= SHORTEST
    }
    common = {term for term, where in having.items() if len(where) >= DECLARATIONS * REPOSITORIES}
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for word in sorted(term for term in common if len(term) >= SHORTEST_WORD):
        for short in sorted(set(short_forms(word)) & common):
            if is_form(short, word, common):
                continue
            both = np.intersect1d(having[word], having[short], assume_unique=True)
            lift = len(both) * len(repositories) / (len(having[word]) * len(having[short]))
            counting = int((np.bincount(repositories[both]) >= DECLARATIONS).sum()) if len(both) else 0
            if lift >= LIFT and len(both) >= SHARE * len(having[short]) and counting >= REPOSITORIES:
                found[short].append((len(both), word))
    table = {short: [word for _, word in sorted(words, reverse=True)[:MOST]] for short, words in sorted(found.items())}
    arguments.out.write_text(
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in table.items()) + "\n}" + "\n", "utf-8"
    )
    print(f"{len(table)} short forms of {len({word for words in table.values() for word in words})} words")


if __name__ == "__main__":
    main()
