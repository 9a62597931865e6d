"""Puts the best hits into another order, by a model that reads the query and the code of each together.

A CrossEncoder of sentence-transformers; off unless asked for. Needs the `transformers` extra.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codesearch.errors import ModelError
from codesearch.pretrained import load_pretrained
from codesearch.types import Hit, Reranker

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

RERANKED = 50  # hits: a small model reads some tens of texts a second, and what is further down is rarely an answer
NO_RERANKER = "none"  # turns off on the command line what a settings file has turned on
_LONGEST_TEXT = 4000  # characters; more than the 512 tokens that most such models read
_DIGITS = 6  # of a score; the ones behind depend on what else is in the batch
_HEADS = ("ForSequenceClassification", "ForCausalLM")


def load_reranker(name: str | None) -> Reranker | None:
    """The CrossEncoder of a folder or name, None for no name; ModelError where it or the library is missing."""
    return None if name is None or name == NO_RERANKER else CrossEncoderReranker(name)


class CrossEncoderReranker:
    """Scores texts by a CrossEncoder; remembers those of the last query, which `explain` asks for again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._model: CrossEncoder = load_pretrained(name, "CrossEncoder")
        self._query = ""
        self._known: dict[str, float] = {}
        transformer = self._model.model
        heads = getattr(transformer.config, "architectures", None) or () if transformer is not None else ()
        # Without a trained head, sentence-transformers would make one of random numbers, with no more than a warning.
        if self._model.num_labels != 1 or (len(self._model) == 1 and not any(map(_has_head, heads))):
            raise ModelError(
                f"The model {name} is no CrossEncoder that gives one score for a query and a text.",
                hint="Give --rerank one that does, such as cross-encoder/ms-marco-MiniLM-L6-v2.",
            )

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query, the more the better."""
        if query != self._query:
            self._query, self._known = query, {}
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            try:
                scores = self._model.predict([(query, text) for text in new], show_progress_bar=False)
            except Exception as error:  # whatever torch raises: memory, a tokenizer that does not fit the weights …
                reason = (str(error).strip() or type(error).__name__).splitlines()[0]
                raise ModelError(
                    f"The model {self._name} cannot score texts: {reason}", hint="Choose another --rerank, or none."
                ) from error
            self._known |= {text: _rounded(float(score)) for text, score in zip(new, scores, strict=True)}
        return [self._known[text] for text in texts]


def passage(hit: Hit, lines: Sequence[str]) -> str:
    """A hit as a reranker reads it: where it stands, what it is called, and its code."""
    names = f"{hit.path} {hit.qualified_name or hit.symbol}".strip()
    return "\n".join((names, *lines))[:_LONGEST_TEXT]


def new_order(scores: Sequence[float | None]) -> list[int]:
    """The places of the old order in the new one: by score, ties as they were; without a score, each where it was."""
    free = [at for at, score in enumerate(scores) if score is not None]
    best = iter(sorted(free, key=lambda at: -(scores[at] or 0.0)))
    return [at if score is None else next(best) for at, score in enumerate(scores)]


def _rounded(score: float) -> float:
    return -math.inf if math.isnan(score) else round(score, _DIGITS)


def _has_head(architecture: str) -> bool:
    return architecture.endswith(_HEADS)
